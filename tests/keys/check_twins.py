#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Twins compute what plain bodies do, wherever a thread changes from one to the other.

Random programs (random_program.py) and one with exceptions are built by plain clang and through
racehive-cc, at every level of optimisation; with keys off, all on, and flipped under running threads
they must print the same. Usage: check_twins.py CC FIRST COUNT CLANG CLANGXX, with the range of random
programs.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

import random_program

HERE = os.path.dirname(os.path.abspath(__file__))
CC = sys.argv[1]
CLANG, CLANGXX = sys.argv[4:6]
LEVELS = ("-O0", "-O1", "-O2", "-O3")
# A mode's name, the options of the run, and whether keys must have been switched.
MODES = (("off", "", False),
         ("on", "detector=count:keys=all", True),
         ("flip", "detector=count:keys=flip:flip_interval=0:seed=%d", True),
         ("slow flip", "detector=count:keys=flip:flip_interval=300:seed=%d", True))
ENOUGH = 0.01  # seconds of a plain run: time to flip keys many times


def fail(text):
    print(text)
    sys.exit(1)


def build(compiler, source, program, *options):
    env = dict(os.environ, XDG_DATA_HOME=os.path.dirname(program), RACEHIVE_SITES="all")
    command = [compiler, "-w", "-g", "-pthread", *options, source, "-o", program]
    done = subprocess.run(command, env=env, stderr=subprocess.PIPE, text=True)
    if done.returncode or done.stderr:
        fail(f"{' '.join(command)}: {done.stderr}")


def run(program, rounds, options=""):
    env = dict(os.environ, RACEHIVE_OPTIONS=options)
    try:
        done = subprocess.run([program, str(rounds)], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        fail(f"{program} {rounds} with {options!r} does not end")
    if done.returncode:
        fail(f"{program} {rounds} with {options!r}: status {done.returncode}, {done.stderr}")
    return done.stdout, done.stderr


def find_rounds(program):
    """Rounds that take long enough, and what the program then prints."""
    rounds = 50
    while True:
        start = time.monotonic()
        output, _ = run(program, rounds)
        if time.monotonic() - start >= ENOUGH or rounds > 1000000:
            return rounds, output
        rounds *= 2


class Totals:
    accesses = switches = runs = 0


def compare(program, rounds, wanted, seed, name):
    for mode, options, switches in MODES:
        options = options.replace("%d", str(seed))
        output, errors = run(program, rounds, options)
        if output != wanted:
            fail(f"{name} {mode} ({options!r}, {rounds} rounds): {output!r}, not {wanted!r}")
        Totals.runs += 1
        if not switches:
            continue
        counts = re.search(r"count: (\d+) accesses .*, (\d+) key switches", errors)
        if not counts:
            fail(f"{name} {mode}: no count in {errors!r}")
        Totals.accesses += int(counts[1])
        Totals.switches += int(counts[2])


def check(folder, source, name, compilers, levels, seed):
    plain, keyed = os.path.join(folder, "plain"), os.path.join(folder, "keyed")
    build(compilers[0], source, plain, "-O2")
    rounds, wanted = find_rounds(plain)
    for level in levels:
        keys = "flag" if seed % 5 == 0 else "patch"
        build(compilers[1], source, keyed, level, f"--rh-keys={keys}")
        compare(keyed, rounds, wanted, seed, f"{name} {level} {keys}")


def main():
    first, count = int(sys.argv[2]), int(sys.argv[3])
    cxx = os.path.join(os.path.dirname(CC), "racehive-c++")
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "random.c")
        for seed in range(first, first + count):
            with open(source, "w") as file:
                file.write(random_program.write(seed))
            check(folder, source, f"random program {seed}", (CLANG, CC), (LEVELS[seed % 4],), seed)
        check(folder, os.path.join(HERE, "throws.cpp"), "throws.cpp",
              (CLANGXX, cxx), LEVELS, 1)
    print(f"{Totals.runs} runs the same, {Totals.switches} key switches, "
          f"{Totals.accesses} accesses seen")
    if Totals.switches < 1000 * count or not Totals.accesses:
        fail("too few keys were switched")


main()
