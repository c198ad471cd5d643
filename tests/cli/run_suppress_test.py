#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what `racehive run` hides, of the command that it names next, and of what a program says that
cannot take part.

Usage: run_suppress_test.py RACEHIVE RACEHIVE_CC [unittest option...]
"""
import os
import struct
import subprocess
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

    def test_the_next_command_is_quoted(self):
        self.store = self.path("my store")
        for detector, option in (("alias", "--observed"), ("caper", "--escaped")):
            _, output, _ = self.run_it("--detector=" + detector, "./subject", "race")
            self.assertIn(f": racehive candidates {option} --store='{self.store}' ./subject\n", output)
            os.remove(self.store)

    def test_where_nothing_was_found_or_tried_the_next_command_is_named(self):
        _, output, _ = self.run_it("--detector=racechaser", "./subject", "nothing", "0", "a b")
        self.assertIn("and inputs that reach other code: racehive run --runs=64 --detector=racechaser "
                      f"--store={self.store} ./subject nothing 0 'a b'\n", output)
        _, output, _ = self.run_it("--runs=20", f"--store={self.path('raced')}", "./subject", "race")
        self.assertIn("True races:", output)
        self.assertNotIn("Not tried:", output)


class OtherPages(RunCase):
    """A program that was linked by another racehive than the one that runs it."""

    MAGIC = b"RHSR"

    def test_the_program_runs_and_says_what_to_do(self):
        for name, begin in (("newer", self.MAGIC + struct.pack("<I", 1000)), ("else", b"\0" * 8)):
            page = self.path(name)
            with open(page, "wb") as file:
                file.write(begin)
                file.truncate(1 << 30)  # sparse, and larger than any page
            done = subprocess.run(["./subject", "nothing", "5"], cwd=self.folder, text=True,
                                  capture_output=True, check=False, env=dict(
                                      self.environment(), RACEHIVE_OPTIONS=f"detector=racemob:control={page}"))
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn(f"not a control page of this version: {page}; running without: was the program "
                          "linked by another racehive? then link it again\n", done.stderr)
            self.assertEqual(len(self.lines()), 1)
            os.remove(self.log)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
