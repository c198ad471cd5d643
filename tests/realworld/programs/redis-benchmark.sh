# SPDX-License-Identifier: Apache-2.0
# redis-benchmark (C): redis' load generator with 1 to 4 threads against Debian's own server, which
# counts what it was sent.

rw_packages() {
    echo libjemalloc-dev redis-tools
}

rw_source() {
    echo redis
}

rw_build() {
    make -C redis/src -j2 V=1 CC="$CC" CFLAGS="$CFLAGS" USE_JEMALLOC=yes \
        USE_SYSTEM_JEMALLOC=yes redis-benchmark
}

cli() {
    redis-cli -h 127.0.0.1 -p "$port" "$@"
}

answers() {
    [[ $(cli PING) == PONG ]]
}

# start_server: sets `port`. Debian's redis-check-rdb is the server, which goes by its own name, and
# comes without a service that the package redis-server would start.
start_server() {
    port=$(rw_free_port)
    ln -sf "$(command -v redis-check-rdb)" "$RW_TMP/redis-server"
    RW_WRAP='' rw_serve "$RW_TMP/redis-server" --bind 127.0.0.1 \
        --port "$port" --dir "$RW_TMP" --save ''
    rw_await answers
}

stop_server() {
    cli SHUTDOWN NOSAVE
    rw_await_end
}

# load_server THREADS REQUESTS TESTS
load_server() {
    # shellcheck disable=SC2086 # a prefix of several words
    ${RW_WRAP:-} "$RW_DIR/redis/src/redis-benchmark" -h 127.0.0.1 -p "$port" -q \
        --threads "$1" -c 50 -P 8 -n "$2" -r 10000 -t "$3"
}

# check_count WHAT LEAST: each client ends the batch it has begun, so there may be a few more.
check_count() {
    local calls
    calls=$(cli INFO commandstats | sed -n "s/^cmdstat_$1:calls=\([0-9]*\),.*/\1/p")
    [[ $calls -ge $2 && $calls -le $(($2 + 400)) ]] ||
        rw_fail "$calls calls of $1 in place of $2"
}

rw_test() {
    local port threads requests command
    requests=$(rw_scaled 40000 5000)
    for threads in 1 2 4; do
        start_server
        load_server "$threads" "$requests" set,get,incr,lpush,sadd,zadd
        for command in set get incr lpush sadd zadd; do
            check_count "$command" "$requests"
        done
        stop_server
    done
}

# bench THREADS
bench() {
    local port
    start_server
    load_server "$1" "$(rw_scaled 160000 20000)" set,get
    stop_server
}

bench_one() {
    bench 1
}

bench_threads() {
    bench 2
}

rw_bench() {
    rw_recipe_command redis-benchmark bench_one
}

rw_load() {
    rw_recipe_command redis-benchmark bench_threads
}
