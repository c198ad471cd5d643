#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `racehive symbolize` and `racehive doctor`.

Usage: tools_test.py RACEHIVE RACEHIVE_CC [unittest option...]
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

RACEHIVE, RACEHIVE_CC = (os.path.abspath(path) for path in sys.argv[1:3])

PROGRAM = r"""
#include <pthread.h>
#include <unistd.h>
static int shared;
static __attribute__((noinline)) void change(void) { shared++; } /* line 5 */
static void *work(void *arg)
{
    for (int i = 0; i < 200; i++) {
        change();
        usleep(50);
    }
    return arg;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"""


class ToolCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.env = dict(os.environ, XDG_DATA_HOME=os.path.join(self.folder, "data"))
        self.env.pop("RACEHIVE_OPTIONS", None)

    def run_tool(self, *words, status=0, **env):
        ran = subprocess.run(words, cwd=self.folder, text=True, capture_output=True, timeout=300,
                             env=dict(self.env, **env), check=False)
        self.assertEqual(ran.returncode, status, ran.stderr)
        return ran.stdout, ran.stderr


class Symbolize(ToolCase):
    def log(self):
        """The log of a run that raced; it does in nearly every run."""
        with open(os.path.join(self.folder, "prog.c"), "w", encoding="ascii") as file:
            file.write(PROGRAM)
        self.run_tool(RACEHIVE_CC, "-g", "-O1", "-pthread", "prog.c", "-o", "prog")
        for _ in range(20):
            _, said = self.run_tool("./prog", RACEHIVE_OPTIONS="detector=racemob:max_overhead=10")
            if " race, " in said:
                return said
        raise self.failureException("no race in 20 runs")

    def symbolize(self, log, *words):
        with open(os.path.join(self.folder, "log"), "w", encoding="ascii") as file:
            file.write(log)
        return self.run_tool(RACEHIVE, "symbolize", *words, "log")[0]

    def test_frames_have_names_and_lines(self):
        log = self.log()
        self.assertNotIn("change", log)
        text = self.symbolize("before\n" + log + "behind\n")
        self.assertRegex(text, r"#0 change prog.c:5:\d+\n")
        self.assertRegex(text, r"#1 work prog.c:9:\d+\n")
        self.assertTrue(text.startswith("before\n") and text.endswith("behind\n"))

    def test_suppressions(self):
        log = self.log()
        for rule, hides in (("race:^work$", True), ("race_top:^work$", False), ("race:no such name", False)):
            with open(os.path.join(self.folder, "rules"), "w", encoding="ascii") as file:
                file.write(rule + "\n")
            text = self.symbolize(log, "--suppressions=rules")
            self.assertEqual("hidden by suppressions" in text, hides, rule)
            self.assertEqual(" race, " in text, not hides, rule)
            self.assertIn(" race, ", self.symbolize(log, "--suppressions=rules",
                                                    "--no-suppressions"))

    def test_what_is_unknown_stays(self):
        line = "racehive:     #0 /no/such/library.so + 0x12\n"
        self.assertEqual(self.symbolize(line), line)
        self.assertEqual(self.symbolize("hello # world + 0x1\n"), "hello # world + 0x1\n")


class Doctor(ToolCase):
    def test_all_is_well_where_the_tests_run(self):
        text, _ = self.run_tool(RACEHIVE, "doctor")
        self.assertIn("compiler", text)
        self.assertNotIn("missing", text)

    def test_json(self):
        report = json.loads(self.run_tool(RACEHIVE, "doctor", "--json")[0])
        self.assertTrue(report["usable"])
        names = [check["name"] for check in report["checks"]]
        for name in ("clang", "patching", "watchpoints", "store"):
            self.assertIn(name, names)

    def test_what_is_missing_has_advice(self):
        text, _ = self.run_tool(RACEHIVE, "doctor", status=1, PATH="/nowhere")
        self.assertRegex(text, r"missing +compiler +clang-\d+ was not found: install clang-\d+")
        os.mkdir(os.path.join(self.folder, "data"))
        report = json.loads(self.run_tool(RACEHIVE, "doctor", "--json", status=1,
                                          PATH="/nowhere")[0])
        self.assertFalse(report["usable"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
