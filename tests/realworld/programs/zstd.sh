# SPDX-License-Identifier: Apache-2.0
# zstd (C): the multi-threaded program, its shared library, and the library's own thread tests.

rw_packages() {
    echo zstd
}

rw_source() {
    echo libzstd
}

rw_build() {
    make -C libzstd -j2 CC="$CC" V=1 lib-release zstd-release
    make -C libzstd/tests -j2 CC="$CC" V=1 poolTests zstreamtest
}

rw_build_bench() {
    make -C libzstd -j2 CC="$CC" V=1 zstd-release
}

pack() {
    libzstd/programs/zstd -q -c -T"$threads" -"$level" "${job[@]}"
}

unpack() {
    libzstd/programs/zstd -q -d -c
}

check() {
    zstd -q -d -c
}

rw_test() {
    local threads level job=() bytes kind
    (cd libzstd/tests && ./poolTests && ./zstreamtest --newapi -s1 -i"$(rw_scaled 400 20)" -v)
    for bytes in 0 1 131073 "$(rw_scaled 40000000 4000000)"; do
        for kind in text random zeros; do
            rw_data "$kind" "$bytes" >"$RW_TMP/data"
            for threads in 1 2 4; do
                for level in 1 3 9; do
                    echo "$kind, $bytes bytes, $threads threads, level $level"
                    rw_round_trip pack unpack check "$RW_TMP/data"
                done
            done
        done
    done
    # Small jobs make many hand-overs between the threads.
    rw_data text "$(rw_scaled 40000000 3000000)" >"$RW_TMP/data"
    threads=3 level=1 job=(-B524288)
    rw_round_trip pack unpack check "$RW_TMP/data"
}

rw_bench() {
    rw_data text "$(rw_scaled 40000000 4000000)" >"$RW_TMP/data"
    echo "$(rw_command "$RW_DIR/libzstd/programs/zstd" -q -c -T2 -5 "$RW_TMP/data") >/dev/null"
}
