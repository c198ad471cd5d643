# SPDX-License-Identifier: Apache-2.0
# pbzip2 (C++) with bzip2's library (C) compiled in: both are built with the compiler under test.

rw_packages() {
    echo bzip2
}

rw_source() {
    echo bzip2 pbzip2
}

rw_build() {
    make -C bzip2 -j2 CC="$CC" CFLAGS="$CFLAGS -D_FILE_OFFSET_BITS=64" libbz2.a bzip2
    # The makefile's target pbzip2-static wants the library and its header in its own folder.
    cp bzip2/libbz2.a bzip2/bzlib.h pbzip2
    # The environment's flags are added to by the makefile. Its C++98 text needs one of them.
    CXXFLAGS="$CXXFLAGS -Wno-reserved-user-defined-literal" make -C pbzip2 pbzip2-static
    if readelf -d pbzip2/pbzip2 | grep 'NEEDED.*libbz2'; then
        rw_fail "pbzip2 uses the system's libbz2"
    fi
}

pack() {
    pbzip2/pbzip2 -c -p"$threads" -b"$block"
}

unpack() {
    pbzip2/pbzip2 -d -c -p"$threads"
}

check() {
    bzip2 -d -c
}

rw_test() {
    local threads block=1 bytes kind
    make -C bzip2 test
    for bytes in 0 1 99999 100001 "$(rw_scaled 12000000 600000)"; do
        for kind in text random zeros; do
            rw_data "$kind" "$bytes" >"$RW_TMP/data"
            for threads in 1 2 4; do
                echo "$kind, $bytes bytes, $threads threads"
                rw_round_trip pack unpack check "$RW_TMP/data"
            done
        done
    done
    block=9 threads=3
    rw_data text "$(rw_scaled 12000000 2000000)" >"$RW_TMP/data"
    rw_round_trip pack unpack check "$RW_TMP/data"
}

rw_bench() {
    rw_data text "$(rw_scaled 14000000 1500000)" >"$RW_TMP/data"
    echo "$(rw_command "$RW_DIR/pbzip2/pbzip2" -k -c -p2 -b1 "$RW_TMP/data") >/dev/null"
}
