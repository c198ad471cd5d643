#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the table of wrapped functions against the objects made from it: every symbol of the list
# is defined by the dynamic objects as a weak one, and by the static ones as __wrap_SYM, and nothing
# is wrapped that the list does not have; what hooks reach calls no libc.
# Usage: check_symbols.sh NM LIST DYNAMIC_OBJECTS STATIC_OBJECTS HOOK_OBJECTS (each a ;-list)
set -eu
nm=$1
list=$(sort "$2")
IFS=';'
annotations='^(Annotate|__rh_|__tsan_|ompt_start_tool)'
dynamic=$($nm $3 | sed -n 's/^[0-9a-f]* W //p' | grep -vE "$annotations" | sort)
static=$($nm $4 | sed -n 's/^[0-9a-f]* T __wrap_//p' | sort)
called=$($nm -u $5 | sed -n 's/^ *U //p' | grep -vE '^(rt_|_GLOBAL_OFFSET_TABLE_$)' || true)
failed=0
compare() {
    if [ "$1" != "$2" ]; then
        echo "$3: the list has:"
        echo "$1"
        echo "the objects have:"
        echo "$2"
        failed=1
    fi
}
compare "$list" "$dynamic" "dynamic wrappers"
compare "$list" "$static" "static wrappers"
if [ -n "$called" ]; then
    echo "hooks reach: $called"
    failed=1
fi
exit $failed
