#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the runs of one build of a program, or of one detector, leave to those of another.

Usage: earlier_test.py RACEHIVE RACEHIVE_CC [unittest option...]
"""
import glob
import os
import sqlite3
import subprocess
import unittest

from harness import RACEHIVE
from run_harness import RACEHIVE_CC, RunCase

NOTHING, MET, RACED = range(3)   # enum rh_runs_elsewhere

# Two counters, each with a race; what differs between builds comes before them.
SOURCE = """
#include <pthread.h>
#include <unistd.h>
static int stays, changes;
static void *work(void *arg)
{
    for (int i = 0; i < 200; i++) {
        stays++;
        usleep(50);
    }
    return arg;
}
static void *other(void *arg)
{
    for (int i = 0; i < 200; i++) {
        CHANGE;
        usleep(50);
    }
    return arg;
}
int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, i % 2 ? work : other, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"""


class Earlier(RunCase):
    def make(self, name="prog", statement="changes++", above=""):
        """A program that has one build more with every call; its build id."""
        source = self.path("prog.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(above + SOURCE.replace("CHANGE", statement))
        subprocess.run([RACEHIVE_CC, "-g", "-O1", "-pthread", source, "-o", self.path(name)],
                       check=True, env=self.environment())
        with sqlite3.connect(self.path(name + ".racehive")) as db:
            return db.execute("SELECT value FROM meta WHERE name = 'build_id'").fetchone()[0]

    def run_detector(self, detector, *words, program="./prog"):
        subprocess.run([RACEHIVE, "run", f"--detector={detector}", "--exitcode=0", *words, program],
                       cwd=self.folder, env=self.environment(), check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def path_of(self, build, detector):
        return self.path(os.path.join("data", "racehive", "runs", f"{build}-{detector}.runs"))

    def elsewhere(self, build, detector):
        """How many pairs of sites raced elsewhere, for all that the store says."""
        with sqlite3.connect(self.path_of(build, detector)) as db:
            return db.execute("SELECT count(*) FROM met WHERE elsewhere = ?", [RACED]).fetchone()[0]

    def raced(self, build, detector):
        with sqlite3.connect(self.path_of(build, detector)) as db:
            return db.execute("SELECT count(*) FROM met WHERE unordered > 0").fetchone()[0]

    def test_another_build(self):
        first = self.make()
        self.run_detector("racemob", "--runs=3")
        raced = self.raced(first, "racemob")
        self.assertGreater(raced, 2)
        # Lines move, and nothing else.
        second = self.make(above="/* one line more */")
        self.assertNotEqual(first, second)
        self.run_detector("racemob", "--runs=1")
        self.assertEqual(self.elsewhere(second, "racemob"), raced)
        # Half of the races are no more.
        third = self.make(statement="__atomic_fetch_add(&changes, 1, 0)")
        self.run_detector("racemob", "--runs=1")
        kept = self.elsewhere(third, "racemob")
        self.assertGreater(kept, 0)
        self.assertLess(kept, raced)

    def test_another_detector(self):
        build = self.make()
        self.run_detector("racemob", "--runs=1")
        self.assertEqual(self.elsewhere(build, "racemob"), 0)
        self.run_detector("racechaser", "--runs=3")
        raced = self.raced(build, "racechaser")
        self.assertGreater(raced, 0)
        self.run_detector("racemob", "--runs=1")
        self.assertEqual(self.elsewhere(build, "racemob"), raced)

    def test_another_program(self):
        self.make()
        self.run_detector("racemob", "--runs=3")
        other = self.make(name="other", above="/* one line more */")
        self.run_detector("racemob", "--runs=1", program="./other")
        self.assertEqual(self.elsewhere(other, "racemob"), 0)

    def test_what_cannot_be_read_is_passed_over(self):
        self.make()
        self.run_detector("racemob", "--runs=1")
        for path in glob.glob(self.path("data/racehive/runs/*.runs")):
            with open(path, "w", encoding="ascii") as file:
                file.write("nonsense")
        build = self.make(above="/* one line more */")
        self.run_detector("racemob", "--runs=1")
        self.assertEqual(self.elsewhere(build, "racemob"), 0)


if __name__ == "__main__":
    unittest.main(argv=["earlier_test.py"])
