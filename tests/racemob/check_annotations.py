#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the programs of this folder say of themselves, without `racehive run`.

With --tsan, against ThreadSanitizer: it reports no race that is not annotated, none at all in clean
programs (unless they say that it is wrong), and some in every racy one (unless they say that it
misses them). With --racehive=BUILD: the program, built with racehive-cc and left alone, ends with 0
on each of its ways, and every annotated race has a candidate at its two lines. With --lines: an
access is left on each RACE line of the optimised program.

Usage: check_annotations.py [--racehive=BUILD] [--tsan] [--lines] [-O1] [--runs=N]
       [PROGRAM...]
"""
import argparse
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import Program, find_programs  # noqa: E402
import tools  # noqa: E402
from optimised import optimised_lines  # noqa: E402

LONG = 0.3   # seconds; a program that takes longer is named, since it will be run very often


def check_tsan(program, folder, runs):
    built = os.path.join(folder, "tsan")
    tools.build_tsan([program.path], built, program.options)
    seen, lost = set(), []
    for args, names in program.notes.args:
        found, strange = tools.tsan_races(tools.run_tsan(built, runs, args), [program.name])
        for pair in sorted(found - program.races(names)):
            if program.notes.tsan != "wrong":
                yield f"{' '.join(args)}: ThreadSanitizer sees {tools.show(pair)}, not annotated"
        seen |= found
        lost += strange
    if program.notes.tsan == "wrong":
        if not seen and not lost:
            yield "ThreadSanitizer has nothing to say, though the program says that it has"
        return
    for title in lost:
        yield f"ThreadSanitizer: {title}"
    races = program.races(None)
    if races and not seen and program.notes.tsan == "sees":
        yield "ThreadSanitizer sees none of the annotated races"
    if seen and program.notes.tsan == "misses":
        print(f"{program.name}: ThreadSanitizer saw a race for once", flush=True)
    for pair in sorted(races - seen):
        print(f"{program.name}: ThreadSanitizer did not see {tools.show(pair)}", flush=True)


def check_built(program, folder, build, level, runs):
    built = os.path.join(folder, "program")
    tools.build_racehive(build, [program.path], built, program.options, f"-O{level}")
    env = {k: v for k, v in os.environ.items() if k != "RACEHIVE_OPTIONS"}
    longest = 0
    for args, _ in program.notes.args:
        for _ in range(runs):
            begun = time.monotonic()
            done = subprocess.run([built, *args], env=env, timeout=tools.TIME_LIMIT)
            longest = max(longest, time.monotonic() - begun)
            if done.returncode:
                yield f"{' '.join(args)}: ended with {done.returncode}"
    if longest > LONG:
        print(f"{program.name}: took {longest:.2f} s", flush=True)
    pairs = tools.candidate_pairs(tools.candidates_of(build, built))
    for pair in sorted(program.races(None) - pairs):
        yield f"race without a candidate: {tools.show(pair)}"


def check_lines(program, folder):
    alive = optimised_lines(folder, [program.path], program.options)
    for place in sorted({place for pair in program.races(None) for place in pair}):
        if place not in alive:
            yield f"no access is left at {place[0]}:{place[1]}"


def check(program, options):
    wrong = []
    with tools.WorkFolder(False) as folder:
        if not program.can_be_built(folder):
            print(f"SKIPPED: {program.name}: the compiler has no "
                  f"{' '.join(program.notes.needs)}", flush=True)
            return wrong
        try:
            if options.tsan and program.notes.tsan != "cannot":
                wrong += check_tsan(program, folder, options.runs)
            if options.racehive:
                wrong += check_built(program, folder, options.racehive, options.level,
                                     options.runs)
            if options.lines:
                wrong += check_lines(program, folder)
        except (tools.BuildError, subprocess.TimeoutExpired) as error:
            wrong.append(str(error))
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--racehive", metavar="BUILD")
    parser.add_argument("--tsan", action="store_true")
    parser.add_argument("--lines", action="store_true")
    parser.add_argument("-O", dest="level", choices="0123s", default="2", metavar="LEVEL",
                        help="optimise so for racehive (-O2)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each program (3)")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args()
    if not (options.racehive or options.tsan or options.lines):
        parser.error("say what to check: --racehive=BUILD, --tsan or --lines")
    programs = [Program(path) for path in options.programs] or find_programs()
    failed = 0
    for program in programs:
        wrong = check(program, options)
        failed += bool(wrong)
        for text in wrong:
            print(f"{program.name}: {text}", flush=True)
    print(f"{len(programs)} programs, {failed} failed")
    return 1 if failed or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
