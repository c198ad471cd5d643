#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what `racehive run` hides, and of the command that it names next.

Usage: run_suppress_test.py RACEHIVE RACEHIVE_CC [unittest option...]
"""
import sys
import unittest

from run_harness import RunCase


class Suppressed(RunCase):
    def test_a_race_that_is_suppressed(self):
        with open(self.path("subject.suppressions"), "w", encoding="ascii") as file:
            file.write("race:^change$\nrace:gone\n")
        got, output, error = self.run_it("--runs=20", "./subject", "race", "3")
        self.assertEqual(got, 3, error)
        self.assertIn(" hidden by suppressions", output)
        self.assertIn("subject.suppressions:2: race:gone matched nothing\n", error)
        self.assertEqual(self.status("--no-suppressions", "./subject", "nothing", "3"), 66)

    def test_names_of_variables(self):
        for rule, is_hidden in (("race:^shared$", True), ("race_top:^share", True), ("race:^hared", False)):
            with open(self.path("rules"), "w", encoding="ascii") as file:
                file.write(rule + "\n")
            got, output, error = self.run_it("--runs=20", "--suppressions=rules", "./subject", "race", "3")
            self.assertEqual(got, 3 if is_hidden else 66, error)
            self.assertEqual(" hidden by suppressions" in output, is_hidden, rule)
            self.assertEqual(f"rules:1: {rule} matched nothing\n" in error, not is_hidden, rule)

    def test_the_next_command_repeats_the_options(self):
        _, output, _ = self.run_it("--runs=2", "--detector=racechaser", "./subject", "nothing")
        self.assertIn(f"racehive report --detector=racechaser --store={self.store} ./subject", output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
