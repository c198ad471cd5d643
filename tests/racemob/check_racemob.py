#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks `racehive run` on the programs of this folder.

Clean programs must give no true race. In racy ones and in the figures every annotated race must be
a true race at its two lines, and no other pair of lines may be; on each way a program can be run
(see ARGS in tests/candidates/annotations.py). The programs must end as they do alone. What was
missed or falsely reported is printed with what the report says of it. One line for each program:

    pass   clean/mutex.c -O2 (2.1 s)
    FAIL   racy/wrong_lock.c -O2: 1 of 1 races missed, 1 false (3.0 s)
    ERROR  ...: could not be asked (not built, no report, not in the documented form)
    skip   ...: the compiler cannot build it, or it has too many candidates

Exit status: 0, 1 after a FAIL, 2 after nothing worse than an ERROR.

Usage: check_racemob.py --build=FOLDER [--clean] [--racy] [--figures] [--only=PATTERN]
       [--overlapping] [--most-candidates=N] [--runs=N | --users=N] [--repeat=N] [--more=N] [-O1]
       [-O2] [--detector=NAME] [--options=TEXT] [--run-options=TEXT] [--jobs=J]
"""
import argparse
import concurrent.futures
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import programs  # noqa: E402
import runs  # noqa: E402
import tools  # noqa: E402


class Result:
    """What came of one program at one level of optimisation."""

    def __init__(self, program, level):
        self.title = f"{program.group}/{program.name} {level}"
        self.state = "pass"
        self.wanted = self.missed = self.false = 0
        self.seconds = 0.0
        self.details = []

    def fail(self, text):
        self.state = "FAIL"
        self.details.append(text)

    def give_up(self, state, text):
        self.state = state
        self.details.append(text)

    def line(self):
        what = []
        if self.missed:
            what.append(f"{self.missed} of {self.wanted} races missed")
        if self.false:
            what.append(f"{self.false} false")
        if self.state == "FAIL" and not what:
            what.append("did not end as it does alone")
        text = f": {', '.join(what)}" if what else ""
        return f"{self.state:6} {self.title}{text} ({self.seconds:.1f} s)"


def judge(result, report, races, way, spared):
    """Compares a report with the races that are there; those spared need not be found."""
    wanted = races - spared
    result.wanted += len(wanted)
    result.seconds += report.seconds
    for pair in sorted(wanted - report.pairs):
        result.missed += 1
        result.fail(f"{way}missed: {tools.show(pair)}: {runs.fate(report, pair)}")
    for candidate in report.false(races):
        result.false += 1
        result.fail(f"{way}false: {runs.show(candidate)}\n{runs.proof(candidate)}")
    if report.status != report.expected_status:
        result.fail(f"{way}ended with {report.status}, not {report.expected_status}")


def check(program, level, options):
    result = Result(program, level)
    with tools.WorkFolder(options.keep) as folder:
        try:
            if not program.can_be_built(folder):
                result.give_up("skip", f"the compiler has no {' '.join(program.notes.needs)}")
                return result
            built = os.path.join(folder, "program")
            runs.build(options, [program.path], built, program.options, level)
            if options.most_candidates:
                count = len(tools.candidates_of(options.build, built))
                if count > options.most_candidates:
                    result.give_up("skip", f"it has {count} candidates")
                    return result
            for number in range(options.repeat):
                run_ways(result, program, built, folder, number, options)
        except runs.SetUpError as error:
            result.give_up("ERROR", str(error))
    return result


def run_ways(result, program, built, folder, number, options):
    for n, (args, names) in enumerate(program.notes.args):
        way = f"with {' '.join(args)}: " if args else ""
        if options.repeat > 1:
            way = f"round {number + 1}: {way}"
        spared = program.apart() if options.overlapping else set()
        report = runs.run(options, built, args, folder, f"{number}-{n}")
        for _ in range(options.more):
            if report is None or program.races(names) - spared <= report.pairs:
                break
            report = runs.run(options, built, args, folder, f"{number}-{n}")
        if report is None:
            result.fail(f"{way}did not end in {options.time_limit:.0f} s")
        else:
            judge(result, report, program.races(names), way, spared)


def show(result):
    print(result.line(), flush=True)
    for text in result.details:
        print("\n".join(f"         {line}" for line in text.rstrip().split("\n")), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    for group in programs.GROUPS:
        parser.add_argument(f"--{group}", action="append_const", dest="groups", const=group)
    parser.add_argument("--only", default="*", metavar="PATTERN",
                        help="programs whose name or path here matches, with * and ?")
    parser.add_argument("--overlapping", action="store_true",
                        help="races that never overlap in time (APART) need not be found")
    parser.add_argument("--most-candidates", type=int, metavar="N",
                        help="leave programs out that have more: each would need a run")
    parser.add_argument("--programs", default=programs.HERE, metavar="FOLDER",
                        help="where clean, racy and figures are (here)")
    runs.add_options(parser)
    options = parser.parse_args()
    try:
        runs.check_tools(options)
        chosen = programs.find_programs(options.groups or programs.GROUPS, options.only,
                                        options.programs)
    except (runs.SetUpError, ValueError) as error:
        print(error)
        return 2
    if not chosen:
        print("no program matches")
        return 2
    work = [(program, level) for level in runs.levels(options) for program in chosen]
    counts, wanted, missed, false = {}, 0, 0, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(lambda w: check(*w, options), work):
            show(result)
            if result.state == "skip":
                print(f"SKIPPED: {result.title}: {result.details[-1]}", flush=True)
            counts[result.state] = counts.get(result.state, 0) + 1
            wanted += result.wanted
            missed += result.missed
            false += result.false
    print(f"{len(work)} programs: " +
          ", ".join(f"{counts.get(s, 0)} {s}" for s in ("pass", "FAIL", "ERROR", "skip")) +
          f"; {wanted - missed} of {wanted} races found, {false} false")
    return 1 if counts.get("FAIL") else 2 if counts.get("ERROR") else 0


if __name__ == "__main__":
    sys.exit(main())
