# SPDX-License-Identifier: Apache-2.0
# xz (C): built twice as Debian does, with a shared liblzma for its own tests and with a static one,
# so that the program and the library's threads are one whole.

rw_packages() {
    echo xz-utils
}

rw_source() {
    echo xz-utils
}

# build_in FOLDER OPTION...
build_in() {
    mkdir "$1"
    (
        cd "$1" || exit
        ../xz-utils/configure --disable-dependency-tracking --enable-threads "${@:2}"
        make -j2 V=1
    )
}

rw_build() {
    build_in shared --disable-static
    build_in static --disable-shared --disable-nls
    make -C shared/tests -j2 V=1 check TESTS=
}

rw_build_bench() {
    build_in static --disable-shared --disable-nls
}

pack() {
    "$xz" -c -T"$threads" -"$level" --block-size="$block"
}

unpack() {
    "$xz" -d -c -T"$threads"
}

check() {
    xz -d -c
}

rw_test() {
    local xz threads level=0 block bytes kind
    make -C shared check
    for bytes in 0 1 65537 "$(rw_scaled 12000000 1000000)"; do
        for kind in text random zeros; do
            rw_data "$kind" "$bytes" >"$RW_TMP/data"
            for threads in 1 2 4; do
                for xz in static/src/xz/xz shared/src/xz/xz; do
                    echo "$kind, $bytes bytes, $threads threads, $xz"
                    block=$((bytes / 7 + 4096))
                    rw_round_trip pack unpack check "$RW_TMP/data"
                done
            done
        done
    done
    rw_data text "$(rw_scaled 6000000 500000)" >"$RW_TMP/data"
    xz=static/src/xz/xz threads=2 level=6 block=$(rw_scaled 1000000 100000)
    rw_round_trip pack unpack check "$RW_TMP/data"
}

rw_bench() {
    rw_data text "$(rw_scaled 10000000 1000000)" >"$RW_TMP/data"
    echo "$(rw_command "$RW_DIR/static/src/xz/xz" -k -c -T2 -1 \
        --block-size="$(rw_scaled 500000 100000)" "$RW_TMP/data") >/dev/null"
}
