# SPDX-License-Identifier: Apache-2.0
# unbound (C): the resolver with 1 to 4 threads under a verified load on loopback, commands that its
# threads hand to each other meanwhile, and its own unit tests.

rw_packages() {
    echo bison flex libexpat1-dev libssl-dev
}

rw_source() {
    echo unbound
}

rw_build() {
    cd unbound || exit
    ./configure --with-pthreads --disable-shared
    make -j2 unbound unbound-control unittest
}

# The program that stops the server needs no keys, which would make its link slower.
rw_build_bench() {
    cd unbound || exit
    ./configure --with-pthreads --disable-shared
    make -j2 unbound
    RACEHIVE_PROFILE=off make unbound-control
}

control() {
    "$RW_DIR/unbound/unbound-control" -c "$RW_TMP/unbound.conf" "$@"
}

answers() {
    control status >/dev/null
}

# configure_unbound THREADS: few sockets for questions to others, since valgrind does not let the
# server raise its limit of open files.
configure_unbound() {
    cat <<END
server:
    num-threads: $1
    interface: 127.0.0.1@$port
    do-daemonize: no
    do-ip6: no
    directory: "$RW_TMP"
    chroot: ""
    username: ""
    pidfile: ""
    use-syslog: no
    module-config: "iterator"
    outgoing-range: 64
    num-queries-per-thread: 1024
    incoming-num-tcp: 32
    do-not-query-localhost: no
    qname-minimisation: no
    prefetch: yes
    serve-expired: yes
    include: "$RW_TMP/zone.conf"
stub-zone:
    name: "stub.example."
    stub-addr: 127.0.0.1@$upstream
remote-control:
    control-enable: yes
    control-interface: "$RW_TMP/control"
    control-use-cert: no
END
}

# start_unbound THREADS: sets `port` and `upstream`, where the load's own name server is.
start_unbound() {
    port=$(rw_free_port)
    upstream=$(rw_free_port)
    python3 "$RW_HERE/dns_load.py" zone >"$RW_TMP/zone.conf"
    configure_unbound "$1" >"$RW_TMP/unbound.conf"
    rw_serve "$RW_DIR/unbound/unbound" -c "$RW_TMP/unbound.conf"
    rw_await answers
}

# stop_unbound: by its own command, since a signal might reach a wrapper only.
stop_unbound() {
    control stop
    rw_await_end
}

# load_unbound KIND CLIENTS QUERIES
load_unbound() {
    python3 "$RW_HERE/dns_load.py" "$1" "$port" "$upstream" "$2" "$3"
}

# loaded: whether the load has begun, or ended.
loaded() {
    control stats_noreset >"$RW_TMP/stats"
    grep '^total.num.queries=[1-9]' "$RW_TMP/stats" || ! kill -0 "$load"
}

# disturb_unbound: commands that the thread that gets them hands to all others.
disturb_unbound() {
    control stats >"$RW_TMP/stats"
    control dump_cache >"$RW_TMP/cache"
    control local_data new.local.example. A 10.0.0.1
    control flush_zone stub.example.
    control reload
    rw_await answers
}

rw_test() {
    local port upstream threads load
    for threads in 1 2 4; do
        start_unbound "$threads"
        load_unbound mixed 20 "$(rw_scaled 12000 1500)" &
        load=$!
        rw_await loaded
        disturb_unbound
        wait "$load"
        stop_unbound
    done
    cd unbound || exit
    # Its main ends with pthread_exit, after which ThreadSanitizer's own thread would keep it alive.
    grep -q __tsan_init unittest || ./unittest
}

# One thread unless the caller asks for more.
bench() {
    local port upstream
    start_unbound "${RW_THREADS:-1}"
    load_unbound stream 20 "$(rw_scaled 2000 100)"
    stop_unbound
}

rw_bench() {
    rw_recipe_command unbound bench
}

bench_threads() {
    RW_THREADS=2 bench
}

rw_load() {
    rw_recipe_command unbound bench_threads
}
