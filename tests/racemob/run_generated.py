#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks `racehive run` on generated programs whose races are known (tests/candidates/generate.py).

A true race on lines that do not race is a failure in any program; guarded and race-free programs
have none at all. Of mixed programs the share of known races that became true races is computed, and
those missed are listed with what became of their candidates; pairs of which the generator cannot
say count neither way. With --at-least=PERCENT a smaller share is a failure, too.

Exit status: 0, 1 after a failure, 2 after nothing worse than a program that could not be asked.

Usage: run_generated.py --build=FOLDER --seeds=A-B [--mode=MODE]... [--size=S] [--shake]
       [--runs=N | --users=N] [--repeat=N] [-O1] [-O2] [--detector=NAME] [--options=TEXT]
       [--run-options=TEXT] [--jobs=J]
"""
import argparse
import concurrent.futures
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import runs  # noqa: E402
import tools  # noqa: E402
from generator.program import MODES, Program  # noqa: E402


class Totals:
    def __init__(self):
        self.programs = self.races = self.found = self.undecided = self.false = self.errors = 0
        self.failures = 0

    def add(self, other):
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def share(self):
        return 100 * self.found / self.races if self.races else 100


def pairs_of(truth, kind):
    return {tools.pair(*((place["file"], place["line"]) for place in pair)) for pair in truth[kind]}


def judge(truth, report, totals):
    """Compares a report with the truth; yields what there is to say."""
    races, undecided = pairs_of(truth, "races"), pairs_of(truth, "maybe")
    totals.races += len(races)
    totals.found += len(races & report.pairs)
    totals.undecided += len(undecided & report.pairs)
    for pair in sorted(races - report.pairs):
        yield f"missed: {tools.show(pair)}: {runs.fate(report, pair)}"
    for candidate in report.false(races | undecided):
        totals.false += 1
        yield f"FALSE: {runs.show(candidate)}\n{runs.proof(candidate)}"
    if report.status != report.expected_status:
        totals.failures += 1
        yield f"FAILED: ended with {report.status}, not {report.expected_status}"


def check(seed, mode, level, options):
    """(what there is to say, totals) of one program."""
    totals, said = Totals(), []
    totals.programs = 1
    with tools.WorkFolder(options.keep) as folder:
        truth = Program(seed, options.size, mode).write(folder)
        sources = [os.path.join(folder, s) for s in truth["sources"]]
        built = os.path.join(folder, "program")
        try:
            runs.build(options, sources, built, ["-DSHAKE"] if options.shake else [], level)
            for number in range(options.repeat):
                report = runs.run(options, built, [], folder, str(number))
                if report:
                    said += judge(truth, report, totals)
                else:
                    totals.failures += 1
                    said.append(f"FAILED: did not end in {options.time_limit:.0f} s")
        except runs.SetUpError as error:
            totals.errors += 1
            said.append(f"ERROR: {error}")
    return said, totals


def check_mode(mode, level, options):
    totals = Totals()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda s: check(s, mode, level, options), options.seeds)
        for seed, (said, more) in zip(options.seeds, results):
            for text in said:
                print(f"seed {seed} ({mode} {level}): {text}", flush=True)
            totals.add(more)
    text = f"{totals.programs} {mode} programs at {level}: {totals.false} false true races"
    if mode == "mixed":
        text += (f"; {totals.found} of {totals.races} known races found ({totals.share():.1f} %), "
                 f"{totals.undecided} undecided ones")
    print(f"{text}; {totals.failures} failed runs, {totals.errors} errors", flush=True)
    return totals


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=tools.seed_range, required=True, metavar="A-B")
    parser.add_argument("--mode", action="append", dest="modes", choices=MODES,
                        help="several may be given (guarded and mixed)")
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--shake", action="store_true", help="build with random sleeps")
    parser.add_argument("--at-least", type=float, default=0, metavar="PERCENT")
    runs.add_options(parser)
    options = parser.parse_args()
    try:
        runs.check_tools(options)
    except runs.SetUpError as error:
        print(error)
        return 2
    failed, errors = False, 0
    for level in runs.levels(options):
        for mode in options.modes or ("guarded", "mixed"):
            totals = check_mode(mode, level, options)
            errors += totals.errors
            failed = failed or bool(totals.false or totals.failures)
            failed = failed or totals.share() < options.at_least
    return 1 if failed else 2 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
