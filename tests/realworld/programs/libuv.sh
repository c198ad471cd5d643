# SPDX-License-Identifier: Apache-2.0
# libuv (C): its own tests of threads and of the thread pool, and a driver of ours that keeps a pool
# busy which has a race planted: its workers count what they do without a lock.

rw_packages() {
    echo cmake
}

rw_source() {
    echo libuv1
}

# plant_race: a copy of the sources in which every worker counts the items it has worked on. The
# counter is static, and read by the driver at its end.
plant_race() {
    local file=planted/src/threadpool.c
    rm -rf planted
    cp -r libuv1 planted
    sed -i -e 's/^static unsigned int nthreads;/&\nstatic unsigned int items_done;/' \
        -e 's/^    w->work(w);/&\n    items_done++;/' \
        -e '$a unsigned int uv_items_done(void) { return items_done; }' "$file"
    [[ $(grep -c items_done "$file") -eq 3 ]] || rw_fail "the worker is not where it was"
}

# build_library SOURCES BUILD TARGET: without a build type, cmake adds no flags to ours.
build_library() {
    cmake -S "$1" -B "$2" -DCMAKE_BUILD_TYPE=None
    make -C "$2" -j2 VERBOSE=1 "$3"
}

rw_build_bench() {
    plant_race
    build_library planted build uv_a
    # shellcheck disable=SC2086 # several flags
    "$CC" $CFLAGS -Iplanted/include "$RW_HERE/programs/libuv_work.c" build/libuv_a.a \
        -o libuv_work -pthread -ldl -lrt
}

rw_build() {
    rw_build_bench
    build_library libuv1 plain uv_run_tests_a
}

# list_tests: the library's tests of what it has for threads.
list_tests() {
    plain/uv_run_tests_a --list |
        grep -E '^(threadpool|thread|mutex|rwlock|semaphore|barrier|condvar|async)(_|$)'
}

rw_test() {
    local test threads
    export UV_RUN_AS_ROOT=1   # which its tests of files may not; those of threads may
    list_tests >"$RW_TMP/tests"
    [[ $(wc -l <"$RW_TMP/tests") -gt 20 ]] || rw_fail "it has fewer tests than it had"
    while read -r test; do
        (cd plain && ./uv_run_tests_a "$test") || rw_fail "$test"
    done <"$RW_TMP/tests"
    for threads in 1 2 4; do
        UV_THREADPOOL_SIZE=$threads ./libuv_work "$(rw_scaled 100000 5000)"
    done
}

rw_bench() {
    echo "UV_THREADPOOL_SIZE=1 $(rw_command "$RW_DIR/libuv_work" "$(rw_scaled 300000 10000)")"
}

rw_load() {
    echo "UV_THREADPOOL_SIZE=4 $(rw_command "$RW_DIR/libuv_work" "$(rw_scaled 300000 10000)")"
}
