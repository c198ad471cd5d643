#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks how many instructions wrappers cost while no events are wanted.

Runs idle_bench under callgrind with the runtime and without, and compares what each of its functions
took per operation. The counts are exact: they depend on the compiler, but not on the machine's load.

usage: check_idle_instructions.py WITH_RUNTIME NATIVE
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77

# The most instructions that an operation may cost more than libc's own, and how often one call of
# the function does it (TIMES and FEW in idle_bench.c). Where it is two calls, such as lock and
# unlock, both are counted.
LIMITS = {
    "bench_mutex": (10, 1000),
    "bench_mutex_in_library": (10, 1000),
    "bench_read": (10, 1000),
    "bench_spin": (10, 1000),
    "bench_sem": (10, 1000),
    "bench_signal": (3, 1000),
    "bench_once": (11, 1000),
    "bench_heap": (3, 1000),
    "bench_free_nothing": (3, 1000),
    "bench_realloc": (3, 1000),
    "bench_refused_read": (13, 10),
    "bench_pipe": (16, 10),
}
NOT_IN_STATIC = {"bench_mutex_in_library"}


def count(program, folder):
    """{function: instructions of one call of it, with all that it calls}"""
    out = os.path.join(folder, "callgrind.out")
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program, "1"],
                   env=dict(os.environ, HARNESS_MODE="idle", LD_BIND_NOW="1"), check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100",
                           "--auto=no", out],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = re.findall(r"^ *([\d,]+) .*:(bench_\w+)(?: \[.*\])?$", text, re.M)
    return {name: int(number.replace(",", "")) for number, name in rows}


def main():
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        ours, native = (count(program, folder) for program in sys.argv[1:3])
    lost = LIMITS.keys() - (ours.keys() & native.keys())
    failed = not lost <= NOT_IN_STATIC
    for name in lost:
        print(f"{name}: not counted")
    for name, (limit, times) in LIMITS.items():
        if name in lost:
            continue
        more = (ours[name] - native[name]) / times
        failed |= more > limit
        print(f"{name:24} {native[name] / times:8.2f} {more:+7.2f}, at most {limit}"
              f"{'' if more <= limit else '  TOO MANY'}")
    return 1 if failed else 0


sys.exit(main())
