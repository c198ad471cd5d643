#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the detector caper leaves no race out, on the programs of tests/racemob and on
generated ones.

Every annotated race of a program must be among the pairs that `racehive candidates --escaped`
lists, and of a generated one every race that racemob proves, as far as both sites ran. Caper runs a
program a few times; it goes on while a race is missing, because a site that did not run shows
nothing. One line for each program, and the sums:

    pass   racy/wrong_lock.c: 4 of 9 candidates, 1 race
    FAIL   racy/wrong_lock.c: 3 of 9 candidates, 1 of 1 races left out

Usage: check_caper.py --build=FOLDER [--only=PATTERN] [--runs=N] [--more=N] [--jobs=J]
       [--seeds=A-B [--racemob=N]]
"""
import argparse
import concurrent.futures
import contextlib
import glob
import json
import os
import sqlite3
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.append(os.path.join(TESTS, "racemob"))
import programs  # noqa: E402
import runs  # noqa: E402
import tools  # noqa: E402

TIME_LIMIT = 300


class Failure(Exception):
    pass


class Subject:
    """A program that was built, with its runs."""

    def __init__(self, build, folder, title):
        self.build, self.folder, self.title = build, folder, title
        self.program = os.path.join(folder, "program")
        self.env = dict(os.environ, XDG_DATA_HOME=folder)
        self.said = ""   # the last command, on standard error

    def racehive(self, *words):
        command = [os.path.join(self.build, "bin", "racehive"), *words]
        done = subprocess.run(command, env=self.env, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace",
                              timeout=TIME_LIMIT)
        if done.returncode not in (0, runs.RACE_FOUND):
            raise Failure(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stderr}")
        self.said = done.stderr
        return done.stdout

    def candidates(self, *options):
        return json.loads(self.racehive("candidates", "--json", *options, self.program))["candidates"]

    def run_caper(self, count, args):
        self.racehive("run", "--detector=caper", f"--runs={count}", "--exitcode=0", self.program,
                      *args)

    def ran(self):
        """The fingerprints of the sites that caper has seen run."""
        store, = glob.glob(os.path.join(self.folder, "racehive", "runs", "*-caper.runs"))
        with contextlib.closing(sqlite3.connect(store)) as db:
            numbers = {n for n, in db.execute("SELECT number FROM sites")}
        with contextlib.closing(sqlite3.connect(self.program + ".racehive")) as db:
            return {f"{p & (1 << 64) - 1:016x}"
                    for n, p in db.execute("SELECT number, fingerprint FROM sites") if n in numbers}

    def proved(self, count):
        """The ids of the races that racemob proves."""
        report = os.path.join(self.folder, "report.json")
        self.racehive("run", f"--runs={count}", "--max-overhead=10", "--tasks-per-run=8",
                      "--exitcode=0", f"--json={report}", self.program)
        with open(report, encoding="utf-8") as file:
            return {c["id"] for c in json.load(file)["candidates"] if c["verdict"] == "true-race"}


def judge(subject, wanted, kept, options, args):
    """Runs caper until all that is wanted is kept, or often enough. Returns what is missing."""
    subject.run_caper(options.runs, args)
    for _ in range(options.more):
        if wanted <= kept(subject):
            break
        subject.run_caper(options.runs, args)
    return wanted - kept(subject)


def kept_lines(subject):
    return tools.candidate_pairs(subject.candidates("--escaped"))


def kept_ids(subject):
    return {c["id"] for c in subject.candidates("--escaped")}


def check_program(program, options):
    title = f"{program.group}/{program.name}"
    with tools.WorkFolder(False) as folder:
        if not program.can_be_built(folder):
            return "skip", f"{title}: the compiler cannot build it", 0, 0
        subject = Subject(options.build, folder, title)
        tools.build_racehive(options.build, [program.path], subject.program, program.options, "-O2")
        found = tools.candidate_pairs(subject.candidates())
        missing, count = set(), 0
        for args, names in program.notes.args:
            wanted = program.races(names) & found
            count += len(wanted)
            missing |= judge(subject, wanted, kept_lines, options, args)
        return summary(subject, missing, count, tools.show)


def check_generated(seed, options):
    with tools.WorkFolder(False) as folder:
        subject = Subject(options.build, folder, f"generated {seed}")
        generate = os.path.join(TESTS, "candidates", "generate.py")
        subprocess.run([sys.executable, "-B", generate, f"--seed={seed}", "--mode=mixed", "-o",
                        folder], check=True, stdout=subprocess.DEVNULL)
        sources = glob.glob(os.path.join(folder, "*.c"))
        tools.build_racehive(options.build, sources, subject.program, ["-pthread"], "-O2")
        wanted = subject.proved(options.racemob) & {c["id"] for c in subject.candidates()}
        missing = judge(subject, wanted, kept_ids, options, [])
        ran = subject.ran()
        missing = {c["id"] for c in subject.candidates() if c["id"] in missing and
                   c["first"]["fingerprint"] in ran and c["second"]["fingerprint"] in ran}
        return summary(subject, missing, len(wanted), str)


def summary(subject, missing, count, show):
    kept, found = len(subject.candidates("--escaped")), len(subject.candidates())
    text = f"{subject.title}: {kept} of {found} candidates, "
    if missing:
        text += f"{len(missing)} of {count} races left out: " + "; ".join(map(show, sorted(missing)))
    else:
        text += f"{count} race{'' if count == 1 else 's'}"
    return "FAIL" if missing else "pass", text, kept, found


def guarded(check, what, options):
    try:
        return check(what, options)
    except (Failure, tools.BuildError, subprocess.SubprocessError) as error:
        return "ERROR", f"{getattr(what, 'name', what)}: {error}", 0, 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", default="build", metavar="FOLDER")
    parser.add_argument("--only", default="*", metavar="PATTERN")
    parser.add_argument("--runs", type=int, default=2, metavar="N")
    parser.add_argument("--more", type=int, default=10, metavar="N")
    parser.add_argument("--jobs", type=int, default=1, metavar="J")
    parser.add_argument("--racemob", type=int, default=4, metavar="N",
                        help="runs of racemob that a generated program gets")
    parser.add_argument("--seeds", metavar="A-B", help="generated programs instead")
    options = parser.parse_args()
    if options.seeds:
        first, last = map(int, options.seeds.split("-"))
        work = [(check_generated, seed) for seed in range(first, last + 1)]
    else:
        work = [(check_program, program) for program in
                programs.find_programs(("racy", "figures"), options.only)]
    states, kept, found = {}, 0, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for state, text, few, many in pool.map(lambda w: guarded(*w, options), work):
            print(f"{state:6} {text}", flush=True)
            if state == "skip":
                print(f"SKIPPED: {text}", flush=True)
            states[state] = states.get(state, 0) + 1
            kept, found = kept + few, found + many
    print(f"{len(work)} programs: " + ", ".join(f"{n} {state}" for state, n in states.items()) +
          f"; {kept} of {found} candidates kept")
    return 1 if not work or states.get("FAIL") or states.get("ERROR") else 0


if __name__ == "__main__":
    sys.exit(main())
