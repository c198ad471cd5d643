# SPDX-License-Identifier: Apache-2.0
# What the recipes in programs/ share; read by `run` before a recipe, never on its own.
#
# A recipe programs/NAME.sh defines five functions. `run` calls each in a shell of its own with
# -euo pipefail, so that the first command that fails fails the phase:
#   rw_packages  prints the Debian packages needed to build and test, beyond those of `run` itself
#   rw_source    prints the source packages; each is unpacked into the folder $RW_DIR/PACKAGE
#   rw_build     builds there with the program's own build system and $CC, $CXX, $CFLAGS, $CXXFLAGS
#   rw_test      runs the program's own tests or a workload with verified results
#   rw_bench     prepares a bounded, deterministic workload and prints its command lines
# may define two more
#   rw_build_bench  builds what rw_bench and rw_load need, where that takes much less time
#   rw_load      as rw_bench, where that has one thread: a load that keeps the threads busy
# and has these variables, all of them folders with absolute paths but RW_SCALE:
#   RW_HERE      where this file is
#   RW_DIR       the unpacked and built sources; the current folder when a function is called
#   RW_TMP       an empty folder for the phase's data
#   RW_SCALE     full, or small where every access may cost ten times its price
#
# A command line of rw_bench is for `bash -c` from any folder. It puts $RW_WRAP, a command prefix
# from the environment, before the program under test and before nothing else: empty for a plain
# run, `valgrind --tool=callgrind --callgrind-out-file=F` for instruction counts, or
# `/usr/bin/time -o F -f %U` for the program's time alone, without that of the clients of a server.

# rw_fail MESSAGE
rw_fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# rw_scaled FULL SMALL: the number that fits the scale.
rw_scaled() {
    if [[ $RW_SCALE == small ]]; then
        echo "$2"
    else
        echo "$1"
    fi
}

# rw_data KIND BYTES: writes deterministic data, one of text, random, zeros, to standard output.
rw_data() {
    python3 "$RW_HERE/make_data.py" "$1" "$2"
}

# rw_command WORD...: prints a bench's command line that wraps the given program.
rw_command() {
    # shellcheck disable=SC2016 # for whoever runs the line to expand
    printf '$RW_WRAP'
    printf ' %q' "$@"
    printf '\n'
}

# rw_recipe_command PROGRAM FUNCTION: prints a bench's command line that calls a recipe's function.
rw_recipe_command() {
    # shellcheck disable=SC2016 # for the other shell to expand
    local script='. "$RW_HERE/lib.sh"; . "$RW_HERE/programs/$0.sh"; "$1"'
    printf '%q ' env RW_HERE="$RW_HERE" RW_DIR="$RW_DIR" RW_TMP="$RW_TMP" RW_SCALE="$RW_SCALE" \
        bash -euo pipefail -c "$script" "$1" "$2"
    printf '\n'
}

# rw_round_trip PACK UNPACK CHECK FILE: each of the three names a function that filters standard
# input to standard output; CHECK unpacks with the system's own tool, so that a mistake that
# packing and unpacking have in common is seen.
rw_round_trip() {
    local packed=$RW_TMP/packed
    "$1" <"$4" >"$packed" || rw_fail "cannot pack"
    "$2" <"$packed" | cmp - "$4" || rw_fail "what was packed is not what is unpacked"
    "$3" <"$packed" | cmp - "$4" || rw_fail "the system's own tool unpacks something else"
}

# ---- servers ----

rw_server=

# rw_serve WORD...: starts a server, wrapped by $RW_WRAP if that is set, in a process group of its
# own, so that both can be stopped together however the recipe ends.
rw_serve() {
    trap rw_kill_server EXIT
    trap 'exit 1' INT TERM HUP
    set -m
    # shellcheck disable=SC2086 # a prefix of several words
    ${RW_WRAP:-} "$@" >"$RW_TMP/server.log" 2>&1 &
    rw_server=$!
    set +m
}

rw_kill_server() {
    if [[ -n $rw_server ]]; then
        kill -KILL -- "-$rw_server" 2>/dev/null || true
        wait "$rw_server" 2>/dev/null || true
    fi
    rw_server=
}

# rw_free_port: a port of 127.0.0.1 that nobody listens on now, below those that the kernel hands
# out to clients, so that none of them takes it before the server does.
rw_free_port() {
    python3 - <<'END'
import random
import socket

while True:
    port = random.randrange(10000, 32000)
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        continue
    print(port)
    break
END
}

# rw_await COMMAND...: until the command succeeds; fails if the server ends before.
rw_await() {
    until "$@" 2>/dev/null; do
        kill -0 "$rw_server" 2>/dev/null || {
            cat "$RW_TMP/server.log" >&2
            rw_fail "the server ended: see above"
        }
        sleep 0.1
    done
}

# rw_await_end: waits for a server that was asked to stop, which must end well.
rw_await_end() {
    local status=0
    wait "$rw_server" || status=$?
    rw_server=
    [[ $status -eq 0 ]] || {
        cat "$RW_TMP/server.log" >&2
        rw_fail "the server ended with status $status: see above"
    }
}
