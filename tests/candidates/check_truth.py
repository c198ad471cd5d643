#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the generator itself: is truth.json true of the programs it is written for?

- Every race that ThreadSanitizer sees is in the truth (or undecided), and programs that are to have
  none give no warning of any kind, lock order included.
- Every line of the truth still has an access in the optimised whole program (`--lines`), which is
  what racehive analyses; the merged module is made by clang and lld, without racehive.
ThreadSanitizer misses races; how many of the truth it saw is printed, not judged. With --confirm=K,
up to K of those it missed in each program are tried one by one (see confirm.py).

Usage: check_truth.py --seeds=A-B [--mode=MODE] [--size=S] [--runs=R] [--lines] [--confirm=K]
       [--keep]
"""
import argparse
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import confirm  # noqa: E402
import tools  # noqa: E402
from generator.program import MODES, Program  # noqa: E402
from optimised import optimised_lines  # noqa: E402

def places(pairs):
    return {tuple(sorted((p["file"], p["line"]) for p in pair)) for pair in pairs}


class Totals:
    def __init__(self):
        self.programs = self.races = self.seen = self.maybe = self.maybe_seen = self.free = 0
        self.tried = self.confirmed = self.wrong = 0

    def complain(self, seed, text):
        self.wrong += 1
        print(f"seed {seed}: {text}")


def check(seed, options, totals):
    with tools.WorkFolder(options.keep) as folder:
        truth = Program(seed, options.size, options.mode).write(folder)
        sources = [os.path.join(folder, s) for s in truth["sources"]]
        races, maybe = places(truth["races"]), places(truth["maybe"])
        totals.programs += 1
        totals.races += len(races)
        totals.maybe += len(maybe)
        totals.free += len(truth["race_free"])
        if options.mode != "mixed" and (races or maybe):
            totals.complain(seed, "a race-free program has races in its truth")
        program = os.path.join(folder, "program")
        tools.build_tsan(sources, program, ["-DSHAKE"])
        seen, lost = tools.tsan_races(tools.run_tsan(program, options.runs),
                                      [*truth["sources"], "shared.h"])
        totals.seen += len(seen & races)
        totals.maybe_seen += len(seen & maybe)
        for p in sorted(seen - races - maybe):
            totals.complain(seed, f"race not in the truth: {tools.show(p)}")
        for title in lost:
            totals.complain(seed, title)
        for p in sorted(races - seen)[:options.confirm]:
            met = confirm.confirm(folder, truth["sources"], p)
            totals.tried += met is not None
            totals.confirmed += met is True
            if met is False:
                print(f"seed {seed}: not met: {tools.show(p)}", flush=True)
        if options.lines:
            alive = optimised_lines(folder, sources)
            for place in sorted({p for r in races for p in r} - alive):
                totals.complain(seed, f"no access left at {place[0]}:{place[1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=tools.seed_range, required=True, metavar="A-B")
    parser.add_argument("--mode", choices=MODES, default="mixed")
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--runs", type=int, default=1, help="runs of each program (1)")
    parser.add_argument("--lines", action="store_true", help="look for the lines in optimised code")
    parser.add_argument("--confirm", type=int, default=0, metavar="K")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    totals = Totals()
    for seed in options.seeds:
        try:
            check(seed, options, totals)
        except (tools.BuildError, subprocess.TimeoutExpired) as error:
            totals.complain(seed, str(error))
    share = 100 * totals.seen / totals.races if totals.races else 0
    print(f"{totals.programs} {options.mode} programs: {totals.races} races, ThreadSanitizer saw "
          f"{totals.seen} ({share:.0f} %); {totals.maybe} undecided pairs, it saw "
          f"{totals.maybe_seen}; {totals.free} race-free lines; {totals.wrong} wrong")
    if options.confirm:
        print(f"of {totals.tried} races it missed, {totals.confirmed} were confirmed by collision")
    return 1 if totals.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
