# SPDX-License-Identifier: Apache-2.0
# redis (C): the server with 1 to 4 I/O threads under a verified load on loopback, its own
# benchmark program, and some of its own tests.

rw_packages() {
    echo libjemalloc-dev procps tcl
}

rw_source() {
    echo redis
}

# Debian's patches want the system's jemalloc, as Debian's own build does.
rw_build() {
    make -C redis -j2 V=1 CC="$CC" CFLAGS="$CFLAGS" USE_JEMALLOC=yes USE_SYSTEM_JEMALLOC=yes
}

# The bench's client needs no keys; its link would take as long as the server's.
rw_build_bench() {
    local options=(V=1 CC="$CC" CFLAGS="$CFLAGS" USE_JEMALLOC=yes USE_SYSTEM_JEMALLOC=yes)
    make -C redis/src -j2 "${options[@]}" redis-server
    RACEHIVE_PROFILE=off make -C redis/src "${options[@]}" redis-cli
}

cli() {
    "$RW_DIR/redis/src/redis-cli" -h 127.0.0.1 -p "$port" "$@"
}

answers() {
    [[ $(cli PING) == PONG ]]
}

# start_redis IO_THREADS: sets `port`.
start_redis() {
    port=$(rw_free_port)
    rw_serve "$RW_DIR/redis/src/redis-server" --bind 127.0.0.1 --port "$port" --dir "$RW_TMP" \
        --save '' --io-threads "$1" --io-threads-do-reads yes
    rw_await answers
}

# stop_redis: by its own command, since a signal might reach a wrapper only.
stop_redis() {
    cli SHUTDOWN NOSAVE
    rw_await_end
}

# load_redis KIND CONNECTIONS COMMANDS
load_redis() {
    python3 "$RW_HERE/server_load.py" "$1" redis "$port" "$2" "$3"
}

# check_saving: a snapshot by a forked child while clients write, read back unharmed.
check_saving() {
    local keys
    cli BGSAVE
    load_redis mixed 8 "$1"
    until [[ $(cli INFO persistence) == *rdb_bgsave_in_progress:0* ]]; do
        sleep 0.1
    done
    cli SAVE
    keys=$(cli DBSIZE)
    "$RW_DIR/redis/src/redis-check-rdb" "$RW_TMP/dump.rdb" | tee "$RW_TMP/check-rdb"
    grep -q "\[info\] $keys keys read" "$RW_TMP/check-rdb"
}

rw_test() {
    local port io_threads
    for io_threads in 1 2 4; do
        start_redis "$io_threads"
        load_redis mixed 24 "$(rw_scaled 4000 600)"
        "$RW_DIR/redis/src/redis-benchmark" -h 127.0.0.1 -p "$port" -q --threads 2 -c 50 -P 8 \
            -n "$(rw_scaled 40000 5000)" -r 10000 -t ping,set,get,incr,lpush,lpop,sadd,zadd
        stop_redis
    done
    start_redis 3
    check_saving "$(rw_scaled 4000 400)"
    stop_redis
    [[ $RW_SCALE == small ]] || (
        cd redis || exit
        ./runtest --clients 1 --config io-threads 3 --single unit/type/string --single unit/protocol
    )
}

# One I/O thread unless the caller asks for more: they spin while they wait, which would be counted
# as work.
bench() {
    local port
    start_redis "${RW_IO_THREADS:-1}"
    load_redis stream 8 "$(rw_scaled 60000 2000)"
    stop_redis
}

rw_bench() {
    rw_recipe_command redis bench
}
