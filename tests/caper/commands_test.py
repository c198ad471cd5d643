#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `racehive run --detector=caper` says, keeps and hands on: on a program that publishes blocks in
every way there is (ways.c).

Usage: commands_test.py --build=FOLDER
"""
import argparse
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE)
import check_caper  # noqa: E402
import tools  # noqa: E402

SOURCE = os.path.join(HERE, "ways.c")
BUILD = "build"


def lines_with(word):
    with open(SOURCE, encoding="utf-8") as file:
        return {number for number, text in enumerate(file, 1)
                if re.search(rf"// {word}( \d+)?$", text)}


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = tools.WorkFolder(False)
        self.addCleanup(self.folder.__exit__, None, None, None)
        self.subject = check_caper.Subject(BUILD, self.folder.__enter__(), "ways")
        self.build()

    def build(self, *options):
        tools.build_racehive(BUILD, [SOURCE], self.subject.program, ["-g", *options], "-O1")

    def kept_lines(self):
        read, = lines_with("READ")
        return {line for pair in check_caper.kept_lines(self.subject) for _, line in pair
                if ("ways.c", read) in pair} - {read}

    def test_every_way_is_seen(self):
        said = self.subject.racehive("run", "--detector=caper", "--runs=2", self.subject.program)
        self.assertRegex(said, r"program: \d+ of \d+ candidates may race as far as 2 runs have seen")
        self.assertEqual(self.kept_lines(), lines_with("WAY"))
        self.assertNotIn("in a way that was not seen", self.subject.said)

    def test_many_runs_at_once(self):
        self.subject.racehive("run", "--detector=caper", "--runs=6", "--jobs=3",
                              self.subject.program)
        self.assertEqual(self.kept_lines(), lines_with("WAY"))

    def test_another_build_knows(self):
        self.subject.run_caper(1, [])
        before = check_caper.kept_ids(self.subject)
        self.build("-DUNUSED", "-Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567")
        with self.assertRaisesRegex(check_caper.Failure, "there are no runs of program with caper"):
            self.subject.candidates("--escaped")
        said = self.subject.racehive("run", "--detector=caper", self.subject.program)
        self.assertRegex(said, "as far as 1 run has seen")
        self.assertEqual(check_caper.kept_ids(self.subject), before)

    def test_validation_draws_from_it(self):
        with self.assertRaisesRegex(check_caper.Failure, "there are no runs with caper yet"):
            self.subject.racehive("run", "--from=caper", self.subject.program)
        self.subject.run_caper(2, [])
        kept = check_caper.kept_ids(self.subject)
        report = os.path.join(self.folder.path, "report.json")
        self.subject.racehive("run", "--from=caper", "--runs=6", "--tasks-per-run=8",
                              f"--json={report}", self.subject.program)
        with open(report, encoding="utf-8") as file:
            tried = {c["id"] for c in check_caper.json.load(file)["candidates"]
                     if sum(c["outcomes"].values())}
        self.assertTrue(tried)
        self.assertLessEqual(tried, kept | {c["id"] for c in self.subject.candidates("--observed")})

    def test_a_build_without_keys_says_so(self):
        self.build("--rh-escape=off")
        self.subject.racehive("run", "--detector=caper", self.subject.program)
        self.assertIn("built without keys at pointer stores", self.subject.said)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    options, rest = parser.parse_known_args()
    BUILD = options.build
    unittest.main(argv=[sys.argv[0], *rest])
