# SPDX-License-Identifier: Apache-2.0
# leveldb (C++): its own tests of threads and recovery, and its own benchmark with checked answers.

rw_packages() {
    echo cmake libbenchmark-dev libgmock-dev libgtest-dev libsnappy-dev
}

rw_source() {
    echo leveldb
}

# Without a build type, cmake adds no flags to ours, which is what Debian does.
rw_build() {
    cmake -S leveldb -B build -DCMAKE_BUILD_TYPE=None
    make -C build -j2 VERBOSE=1 db_bench c_test cache_test db_test env_test \
        fault_injection_test recovery_test skiplist_test
}

rw_build_bench() {
    cmake -S leveldb -B build -DCMAKE_BUILD_TYPE=None
    make -C build -j2 VERBOSE=1 db_bench
}

# check_bench THREADS ENTRIES: every read must find its key, since fillseq has written them all.
check_bench() {
    local output=$RW_TMP/db_bench.out
    build/db_bench --db="$RW_TMP/db" --threads="$1" --num="$2" --reads="$2" \
        --benchmarks=fillseq,overwrite,readrandom,readseq,compact,readrandom,readreverse \
        >"$output" 2>"$RW_TMP/db_bench.err"
    cat "$output"
    [[ $(grep -c "($2 of $2 found)" "$output") -eq 2 ]] || rw_fail "a key was not found"
}

rw_test() {
    local test threads tests=(c_test cache_test env_test skiplist_test)
    local filter=DBTest.MultiThreaded:DBTest.ReadWrite:DBTest.GetFromImmutableLayer
    export TEST_TMPDIR=$RW_TMP
    if [[ $RW_SCALE != small ]]; then
        tests+=(fault_injection_test recovery_test)
        # It fails now and then with any compiler: a compaction of the background may come first.
        filter=-DBTest.HiddenValuesAreRemoved
    fi
    for test in "${tests[@]}"; do
        "build/$test"
    done
    build/db_test --gtest_filter="$filter" >"$RW_TMP/db_test.out" 2>&1 || {
        cut -c1-200 "$RW_TMP/db_test.out"
        rw_fail "db_test: see above"
    }
    for threads in 1 2 4; do
        check_bench "$threads" "$(rw_scaled 100000 5000)"
    done
}

# One thread, so that the work does not depend on how writers meet; the background has its own.
rw_bench() {
    rw_command "$RW_DIR/build/db_bench" --db="$RW_TMP/db" --threads=1 --num=200000 \
        --benchmarks=fillseq,readrandom,readseq
}

rw_load() {
    rw_command "$RW_DIR/build/db_bench" --db="$RW_TMP/db" --threads=2 \
        --num="$(rw_scaled 150000 10000)" --benchmarks=fillseq,readrandom,readseq
}
