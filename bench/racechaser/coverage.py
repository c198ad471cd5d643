# SPDX-License-Identifier: Apache-2.0
"""Which races racechaser finds of those that litehb finds, as in the paper's second table: ten
trials of each candidate with litehb, ten of each of its two orders with racechaser at 5 %."""
import glob
import json
import os
import subprocess
import sys
import types

import stats

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.append(os.path.join(ROOT, "tests", "racemob"))
import programs  # noqa: E402
import runs  # noqa: E402
import tools  # noqa: E402
from generator.program import Program as Generated  # noqa: E402

TRIALS = 10
BOUND = "--max-overhead=0.05"
GENERATED_SIZE = 2
MOST_CANDIDATES = 300   # of a program: ten trials of each take their time


class Subject:
    """A program: its sources, how it is built, what is known of its races (None: nothing)."""

    def __init__(self, name, sources, options, ways, apart=frozenset()):
        self.name, self.sources, self.options = name, sources, options
        self.ways, self.apart = ways, apart   # ways: (arguments, races or None)


def annotated():
    for program in programs.find_programs(("racy",)):
        ways = [(args, program.races(names)) for args, names in program.notes.args]
        yield Subject(program.name, [program.path], program.options, ways, program.apart())


def examples():
    for path in sorted(glob.glob(os.path.join(ROOT, "examples", "*.c"))):
        yield Subject(os.path.basename(path), [path], ["-pthread"], [([], None)])


def generated(options, folder):
    for seed in range(1, 3 if options.quick else 11):
        place = os.path.join(folder, f"generated-{seed}")
        os.makedirs(place)
        truth = Generated(seed, GENERATED_SIZE, "mixed").write(place)
        sources = [os.path.join(place, s) for s in truth["sources"]]
        known = {tools.pair(*((at["file"], at["line"]) for at in pair))
                 for kind in ("races", "maybe") for pair in truth[kind]}
        yield Subject(f"generated {seed}", sources, [], [([], known)])


def count_candidates(options, built):
    done = subprocess.run([os.path.join(options.build, "bin", "racehive"), "candidates", "--json",
                           built], stdout=subprocess.PIPE, check=True, text=True)
    return len(json.loads(done.stdout)["candidates"])


def try_detector(options, detector, count, built, args, folder, label):
    how = types.SimpleNamespace(build=options.build, detector=detector, users=None, options=None,
                                runs=count, run_options=[BOUND], time_limit=3600)
    report = runs.run(how, built, args, folder, label)
    if report is None:
        sys.exit(f"{built} did not end")
    return report


class Score:
    def __init__(self):
        self.litehb = self.racechaser = self.both = self.apart = self.uninstrumented = self.false = 0
        self.candidates = 0
        self.missed = []

    def add(self, other):
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def row(self, name):
        lost = self.litehb - self.both
        return (name, self.candidates, self.litehb, self.racechaser, self.both,
                f"{lost} ({self.apart})" if lost else 0, self.uninstrumented, self.false)


def measure(options, subject, folder):
    score, built = Score(), os.path.join(folder, "program")
    how = types.SimpleNamespace(build=options.build)
    runs.build(how, subject.sources, built, subject.options, "-O2")
    score.candidates = count_candidates(options, built)
    if score.candidates > MOST_CANDIDATES:
        return None
    for number, (args, known) in enumerate(subject.ways):
        litehb = try_detector(options, "litehb", TRIALS * score.candidates, built, args, folder,
                              f"litehb-{number}")
        chaser = try_detector(options, "racechaser", 2 * TRIALS * score.candidates, built, args,
                              folder, f"racechaser-{number}")
        lost = litehb.pairs - chaser.pairs
        score.litehb += len(litehb.pairs)
        score.racechaser += len(chaser.pairs)
        score.both += len(litehb.pairs & chaser.pairs)
        score.apart += len(lost & subject.apart)
        score.uninstrumented += len(chaser.uninstrumented)
        score.false += len(chaser.false(known)) if known is not None else 0
        score.missed += [f"{subject.name}: {tools.show(pair)}"
                         for pair in sorted(lost - subject.apart)]
    return score


def run(options):
    rows, missed, left_out, total = [], [], [], Score()
    with tools.WorkFolder(False) as folder:
        subjects = [*examples(), *generated(options, folder)]
        if not options.quick:
            subjects += annotated()
        for number, subject in enumerate(subjects):
            place = os.path.join(folder, str(number))
            os.makedirs(place)
            score = measure(options, subject, place)
            if score is None:
                left_out.append(subject.name)
                continue
            missed += score.missed
            score.missed = []
            total.add(score)
            rows.append(score.row(subject.name))
    stats.print_table(("program", "candidates", "litehb", "racechaser", "both",
                       "missed (never overlap)", "uninstrumented", "false"),
                      [*rows, total.row("all")])
    for text in missed:
        print(f"- missed, though nothing is known to keep it from overlapping: {text}")
    if left_out:
        print(f"- left out for more than {MOST_CANDIDATES} candidates: {', '.join(left_out)}")
    print()
