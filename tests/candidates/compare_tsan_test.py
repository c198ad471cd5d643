#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests compare_tsan.py on a recorded log of two programs (library_memcpy.c, double_checked.c)."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
LOG = os.path.join(HERE, "testdata", "two_programs.tsan.txt")
# What the log tells: two interceptors whose callers count, one plain pair, and one allocation.
RACES = [("library_memcpy.c", 8, "library_memcpy.c", 28),
         ("library_memcpy.c", 29, "library_memcpy.c", 13),
         ("double_checked.c", 13, "double_checked.c", 25)]

LOST = """
==================
WARNING: ThreadSanitizer: data race (pid=1)
  Write of size 4 at 0x1 by thread T1:
    #0 put /src/a.c:5:1 (a+0x1)

  Previous write of size 4 at 0x1 by thread T2:
    [failed to restore the stack]

SUMMARY: ThreadSanitizer: data race /src/a.c:5:1 in put
==================
"""
DEADLOCK = """
==================
WARNING: ThreadSanitizer: lock-order-inversion (potential deadlock) (pid=1)
  Cycle in lock order graph: M0 (0x1) => M1 (0x2) => M0

  Mutex M1 acquired here while holding mutex M0 in main thread:
    #0 pthread_mutex_lock <null> (a+0x1)
    #1 main /src/a.c:9:1 (a+0x2)

SUMMARY: ThreadSanitizer: lock-order-inversion /src/a.c:9:1 in main
==================
"""
IN_LIBRARY = """
==================
WARNING: ThreadSanitizer: data race (pid=1)
  Atomic write of size 4 at 0x1 by thread T1:
    #0 std::vector<int>::push_back(int const&) /usr/include/c++/12/bits/stl_vector.h:1287:6 (a+0x1)
    #1 fill(int) /src/a.cc:7:3 (a+0x2)

  Previous read of size 4 at 0x1 by main thread (mutexes: write M0):
    #0 get /src/a.cc:12 (a+0x3)

SUMMARY: ThreadSanitizer: data race /src/a.cc:7:3 in fill
==================
"""
# The optimiser has made one access of several, and the first frame has no line.
LINELESS = """
==================
WARNING: ThreadSanitizer: data race (pid=1)
  Write of size 4 at 0x1 by main thread:
    #0 tick /src/b.c (b+0x1) (BuildId: 12)
    #1 main /src/b.c:50:5 (b+0x2) (BuildId: 12)

  Previous read of size 4 at 0x1 by thread T1:
    #0 work /src/b.c:9:59 (b+0x3) (BuildId: 12)

SUMMARY: ThreadSanitizer: data race /src/b.c in tick
==================
"""

# The same where no side has a line.
NAMELESS = LINELESS.replace("#0 work /src/b.c:9:59", "#0 work /src/b.c")

# A racehive that knows one race, and tells it to those who ask for a line or function of it.
RACEHIVE = """#!/bin/sh
case "$*" in
"candidates --json --file=double_checked.c --line=13 prog") cat "$0.json" ;;
"candidates --json --file=b.c --function=tick prog") cat "$0.json" ;;
*) echo '{"candidates": []}' ;;
esac
"""


def candidates(races, function="f"):
    def side(file, line):
        return {"file": f"/somewhere/{file}", "line": line, "column": 1, "function": function,
                "access": "write", "size": 4, "expression": "x"}
    return {"candidates": [{"id": str(n), "verdict": "unknown", "first": side(*race[:2]),
                            "second": side(*race[2:])} for n, race in enumerate(races)]}


class CompareTest(unittest.TestCase):
    def compare(self, races, more="", *options, function="f"):
        with tempfile.TemporaryDirectory() as folder:
            log, found = os.path.join(folder, "log"), os.path.join(folder, "candidates.json")
            with open(LOG, encoding="utf-8") as recorded, open(log, "w", encoding="utf-8") as file:
                file.write(recorded.read() + more)
            with open(found, "w", encoding="utf-8") as file:
                json.dump(candidates(races, function), file)
            done = subprocess.run([sys.executable, os.path.join(HERE, "compare_tsan.py"),
                                   f"--candidates={found}", f"--log={log}", *options],
                                  stdout=subprocess.PIPE, text=True)
        return done.returncode, done.stdout

    def test_all_covered_in_either_order(self):
        code, text = self.compare(RACES)
        self.assertEqual(code, 0, text)
        self.assertIn("3 races in the log, 0 without a candidate", text)
        self.assertIn("1 with an allocation", text)

    def test_each_missing_one_is_named(self):
        for n, (file, line, _, other) in enumerate(RACES):
            code, text = self.compare(RACES[:n] + RACES[n + 1:])
            low, high = sorted((line, other))
            self.assertEqual(code, 1)
            self.assertIn(f"race without a candidate: {file}:{low} and {file}:{high}\n", text)
            self.assertIn("1 without a candidate", text)

    def test_line_of_a_caller_does_not_cover(self):
        code, text = self.compare([("library_memcpy.c", 20, "library_memcpy.c", 28), *RACES[1:]])
        self.assertEqual(code, 1, text)

    def test_two_halves_do_not_make_a_pair(self):
        code, _ = self.compare([("library_memcpy.c", 8, "library_memcpy.c", 29),
                                ("library_memcpy.c", 13, "library_memcpy.c", 28), RACES[2]])
        self.assertEqual(code, 1)

    def test_lost_stack_is_counted(self):
        code, text = self.compare(RACES, LOST)
        self.assertEqual(code, 0)
        self.assertIn("1 that cannot be compared", text)

    def test_deadlock_is_no_race(self):
        code, text = self.compare(RACES, DEADLOCK)
        self.assertEqual(code, 0)
        self.assertIn("0 that cannot be compared", text)

    def test_frames_of_libraries_are_passed_over(self):
        code, text = self.compare(RACES, IN_LIBRARY)
        self.assertEqual(code, 1)
        self.assertIn("a.cc:7 and a.cc:12", text)
        code, _ = self.compare([*RACES, ("a.cc", 12, "a.cc", 7)], IN_LIBRARY)
        self.assertEqual(code, 0)

    def test_function_counts_where_there_is_no_line(self):
        known = [*RACES, ("b.c", 4, "b.c", 9)]
        code, text = self.compare(known, LINELESS, function="tick")
        self.assertEqual(code, 0, text)
        self.assertIn("4 races in the log", text)
        code, text = self.compare(known, LINELESS, function="tock")
        self.assertEqual(code, 1)
        self.assertIn("race without a candidate: b.c:9 and b.c:tick\n", text)

    def ask(self, known, log, function="f"):
        with tempfile.TemporaryDirectory() as folder:
            racehive, path = (os.path.join(folder, name) for name in ("racehive", "log"))
            for name, text in ((racehive, RACEHIVE), (path, log),
                               (racehive + ".json", json.dumps(candidates(known, function)))):
                with open(name, "w", encoding="utf-8") as file:
                    file.write(text)
            os.chmod(racehive, 0o700)
            done = subprocess.run([sys.executable, os.path.join(HERE, "compare_tsan.py"),
                                   "--program=prog", f"--racehive={racehive}", f"--log={path}"],
                                  stdout=subprocess.PIPE, text=True)
        return done.returncode, done.stdout

    def test_racehive_is_asked_for_each_line(self):
        with open(LOG, encoding="utf-8") as file:
            code, text = self.ask(RACES[2:], file.read())
        self.assertEqual(code, 1)
        self.assertIn("3 races in the log, 2 without a candidate", text)
        self.assertNotIn("race without a candidate: double_checked.c", text)

    def test_racehive_is_asked_for_functions_without_lines(self):
        log = NAMELESS.replace("#0 work", "#0 tick")
        code, text = self.ask([("b.c", 4, "b.c", 9)], log, function="tick")
        self.assertEqual((code, text.split(",")[0]), (0, "1 races in the log"))
        code, text = self.ask([("b.c", 4, "b.c", 9)], log, function="tock")
        self.assertEqual(code, 1)
        self.assertIn("race without a candidate: b.c:tick and b.c:tick\n", text)

    def test_sources_restrict_what_is_the_programs_own(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "double_checked.c"), "w", encoding="utf-8"):
                pass
            code, text = self.compare([RACES[2]], "", f"--sources={folder}")
        self.assertEqual(code, 0, text)
        self.assertIn("1 races in the log", text)
        self.assertIn("2 that cannot be compared", text)


if __name__ == "__main__":
    unittest.main()
