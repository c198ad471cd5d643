# SPDX-License-Identifier: Apache-2.0
"""Checks that gdb finds its way from a hook through the thunk to the code at the key.

usage: gdb_test.py GDB PROGRAM, where PROGRAM is keys.c. Status 77 if gdb cannot run programs here.
"""
import re
import subprocess
import sys

# The first hook, and the first whose key's caller has its frame in a register that gdb must have
# carried through the thunk.
EXPECTED = [
    (0, ["hook_reached", "hook", "__rh_thunk", "leaf_with_key", "run_keys", "main"]),
    (13, ["hook_reached", "hook", "__rh_thunk", "key_forms", "through_r12", "run_keys", "main"]),
]


def main():
    gdb, program = sys.argv[1:]
    for ignored, expected in EXPECTED:
        result = subprocess.run(
            [gdb, "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex",
             "break hook_reached", "-ex", f"ignore 1 {ignored}", "-ex", "run", "-ex", "bt", program],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True)
        names = re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(\S+) \(", result.stdout, re.MULTILINE)
        if not names and re.search("ptrace|trace", result.stdout):
            print("SKIPPED: stacks in gdb: it cannot run programs here\n" + result.stdout)
            sys.exit(77)
        if names != expected:
            print(f"expected {expected}, got {names}\n{result.stdout}")
            sys.exit(1)


main()
