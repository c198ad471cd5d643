# SPDX-License-Identifier: Apache-2.0
"""Races that accidents hide: the paper's four small programs, under racehive run and under clang's
ThreadSanitizer with the same number of runs."""
import os
import sys
import types

import builds
import stats

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests")
sys.path += [os.path.join(TESTS, "racemob"), os.path.join(TESTS, "candidates")]
import programs  # noqa: E402
import runs  # noqa: E402
import tools  # noqa: E402


class Score:
    """Races found and reports without one, over all ways of running a program."""

    def __init__(self):
        self.wanted = self.found = self.false = 0
        self.hits = []   # of each race: runs in which it was found

    def show(self):
        text = f"{self.found} of {self.wanted}"
        if self.hits:
            text += f" (in {', '.join(map(str, self.hits))} runs)"
        return text + (f", {self.false} false" if self.false else "")


def try_racehive(options, program, folder):
    score, built = Score(), os.path.join(folder, "racehive")
    how = types.SimpleNamespace(build=options.build, detector=None, users=None, options=None,
                                runs=options.figure_runs, run_options=[], time_limit=300)
    runs.build(how, [program.path], built, program.options, "-O2")
    for number, (args, names) in enumerate(program.notes.args):
        races = program.races(names)
        report = runs.run(how, built, args, folder, str(number))
        if report is None:
            raise builds.BenchError(f"{program.name} did not end")
        score.wanted += len(races)
        score.found += len(races & report.pairs)
        score.false += len(report.pairs - races)
    return score


def try_tsan(options, program, folder):
    score, built = Score(), os.path.join(folder, "tsan")
    tools.build_tsan([program.path], built, program.options)
    for args, names in program.notes.args:
        races = program.races(names)
        seen = [tools.tsan_races(tools.run_tsan(built, 1, args), [program.name])[0]
                for _ in range(options.figure_runs)]
        hits = [sum(race in pairs for pairs in seen) for race in sorted(races)]
        score.wanted += len(races)
        score.found += sum(map(bool, hits))
        score.false += len(set().union(*seen) - races)
        score.hits += hits
    return score


def run(options):
    """Returns {program: {tool: Score as a dict}}."""
    raw = {}
    for program in programs.find_programs(["figures"]):
        with tools.WorkFolder(False) as folder:
            raw[program.name.removesuffix(".c")] = {
                "racehive": try_racehive(options, program, folder),
                "tsan": try_tsan(options, program, folder)}
    stats.print_table(["program", f"racehive run, {options.figure_runs} runs",
                       f"ThreadSanitizer, {options.figure_runs} runs"],
                      [[name, *(score.show() for score in scores.values())]
                       for name, scores in raw.items()])
    return {name: {tool: vars(score) for tool, score in scores.items()}
            for name, scores in raw.items()}
