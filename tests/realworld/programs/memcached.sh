# SPDX-License-Identifier: Apache-2.0
# memcached (C): its own tests, and a load on loopback whose answers are all verified.

rw_packages() {
    echo libevent-dev perl
}

rw_source() {
    echo memcached
}

rw_build() {
    cd memcached || exit
    ./configure
    make -j2
}

# start_memcached THREADS: sets `port`; the server picks a free one and tells it in a file. It sets
# its limit of open files to the connections it allows, and valgrind lets it set the old limit only.
start_memcached() {
    local file=$RW_TMP/port
    ulimit -Sn 1024
    rm -f "$file"
    MEMCACHED_PORT_FILENAME=$file rw_serve "$RW_DIR/memcached/memcached" \
        -l 127.0.0.1 -p -1 -U 0 -u "$(id -un)" -A -t "$1" -m 256 -c 1024
    rw_await test -s "$file"
    port=$(sed -n 's/^TCP INET: //p' "$file")
}

# stop_memcached: by its own command, since a signal might reach a wrapper only.
stop_memcached() {
    printf 'shutdown graceful\r\n' >"/dev/tcp/127.0.0.1/$port"
    rw_await_end
}

# load_memcached KIND CONNECTIONS COMMANDS
load_memcached() {
    python3 "$RW_HERE/server_load.py" "$1" memcached "$port" "$2" "$3"
}

rw_test() {
    local port threads tests=(t/{cas,getset,incrdecr,noreply,evictions}.t)
    for threads in 1 2 4; do
        start_memcached "$threads"
        load_memcached mixed 16 "$(rw_scaled 8000 1500)"
        stop_memcached
    done
    [[ $RW_SCALE == small ]] || tests+=(t/{chunked-items,lru-crawler,slabs-reassign2}.t)
    cd memcached || exit
    ./testapp
    prove "${tests[@]}"
}

bench() {
    local port
    start_memcached 2
    load_memcached stream 8 "$(rw_scaled 60000 1500)"
    stop_memcached
}

rw_bench() {
    rw_recipe_command memcached bench
}
