#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the samplers on the programs of Figures 2 and 6 of the AtexRace paper: AtexRace finds what
LiteRace may miss, and its pairs of functions are carried from run to run and from build to build.

Usage: check_sampling.py BUILD
"""
import glob
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RACE_FOUND = 66
MOST_RUNS = 20  # on a loaded machine the two threads need not meet in each run
FREQUENT = 2

failures = []


def expect(holds, what, details=""):
    if not holds:
        failures.append(what)
        print(f"FAIL: {what}\n{details}")


class Bench:
    def __init__(self, build, folder):
        self.bin = os.path.join(build, "bin")
        self.folder = folder
        self.data = os.path.join(folder, "data")
        self.environment = dict(os.environ, XDG_DATA_HOME=self.data)
        self.environment.pop("RACEHIVE_OPTIONS", None)

    def build(self, name, *options):
        path = os.path.join(self.folder, name)
        subprocess.run([os.path.join(self.bin, "racehive-cc"), "--rh-profile=testing",
                        "--rh-sites=all", "-O2", "-g",
                        "-pthread", *options, os.path.join(HERE, name + ".c"), "-o", path],
                       check=True, env=self.environment)
        return path

    def run(self, *words, **more):
        return subprocess.run(words, env=dict(self.environment, **more), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True, timeout=600,
                              cwd=self.folder, check=False)

    def racehive(self, *words):
        return self.run(os.path.join(self.bin, "racehive"), *words)

    def names(self, detector, program, runs):
        """The variables on which the detector has found races after so many runs, and the status."""
        path = os.path.join(self.folder, "report.json")
        done = self.racehive("run", f"--detector={detector}", f"--runs={runs}", f"--json={path}",
                             program)
        with open(path, encoding="utf-8") as file:
            races = [c for c in json.load(file)["candidates"] if c["verdict"] == "true-race"]
        sides = [race[side] for race in races for side in ("first", "second")]
        return {side.get("expression") for side in sides}, done

    def stores(self):
        return set(glob.glob(os.path.join(self.data, "racehive", "runs", "*-atexrace.runs")))


def ask(store, question):
    with sqlite3.connect(store) as database:
        return database.execute(question).fetchall()


def frequent_pairs(store, calls=0):
    return set(ask(store, "SELECT first, second FROM pairs"
                          f" WHERE streak >= {FREQUENT} AND calls >= {calls}"))


def find(bench, detector, program, wanted):
    """Runs until the races on all variables wanted are found."""
    found = set()
    for _ in range(MOST_RUNS):
        found, done = bench.names(detector, program, 1)
        if wanted <= found:
            break
    expect(wanted <= found, f"{detector} finds the races of {os.path.basename(program)}",
           f"found {found}\n{done.stdout}")
    expect(found <= wanted, f"{detector} finds no others in {os.path.basename(program)}",
           f"found {found}\n{done.stdout}")
    expect(done.returncode == RACE_FOUND, "the status tells of the races", done.stdout)


def check_figure(bench, name, wanted):
    program = bench.build(name)
    find(bench, "fasttrack", program, wanted)
    find(bench, "atexrace", program, wanted)
    found, _ = bench.names("literace", program, 1)
    expect(found <= wanted, f"literace makes no race up in {name}", str(found))
    print(f"{name}: literace found {sorted(found)} of {sorted(wanted)} in a run")
    direct = bench.run(program, RACEHIVE_OPTIONS="detector=atexrace")
    expect("atexrace: true race" in direct.stdout, "atexrace needs no store", direct.stdout)


def check_carrying(bench):
    program = bench.build("figure6")
    for store in bench.stores():
        os.remove(store)
    bench.racehive("run", "--detector=atexrace", "--runs=4", "--jobs=2", program)
    (store,) = bench.stores()
    expect(ask(store, "SELECT executions FROM sampled") == [(4,)], "each run is an execution")
    rows = ask(store, "SELECT calls, streak FROM pairs ORDER BY calls DESC")
    expect(rows and rows[0][1] == 4, "f5 and f6 were seen in each run", str(rows))
    expect(rows[0][0] > 1000, "their calls add up", str(rows))
    expect(not ask(store, "SELECT * FROM losses WHERE reason = 'PAIR'"), "no pair is lost")


def check_changed_build(bench):
    """What the pairs that are dropped have in common is the function that has changed, f4. Pairs
    that are seen in a few calls may be missing in any run."""
    for store in bench.stores():
        os.remove(store)
    bench.racehive("run", "--detector=atexrace", "--runs=2", bench.build("figure2"))
    (store,) = bench.stores()
    before = frequent_pairs(store, calls=500)
    bench.racehive("run", "--detector=atexrace", "--runs=1", bench.build("figure2", "-DWEIGHT=3"))
    (changed,) = bench.stores() - {store}
    after = frequent_pairs(changed)
    expect(before & after, "the pairs of unchanged functions are kept", f"{before}\n{after}")
    dropped = [set(pair) for pair in before - after]
    expect(dropped and len(set.intersection(*dropped)) == 1,
           "the pairs of the changed function are dropped, and no others", f"{before}\n{after}")


def check_suite(bench):
    program = bench.build("figure2")
    for detector in ("literace", "atexrace"):
        done = bench.racehive("test", f"--detector={detector}", "--", "sh", "-c",
                              f"{program}; {program}")
        expect(detector != "atexrace" or done.returncode == RACE_FOUND,
               "a suite reports what atexrace finds", done.stdout)
        expect("racehive: no process" not in done.stdout, "its processes report", done.stdout)


def main():
    build = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="racehive-sampling-") as folder:
        bench = Bench(build, folder)
        check_figure(bench, "figure2", {"y"})
        check_figure(bench, "figure6", {"x", "y"})
        check_carrying(bench)
        check_changed_build(bench)
        check_suite(bench)
    print("failed" if failures else "passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
