#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that bench/detectors measures: two executions of a kernel in each arm, and its tables.

Usage: detectors_test.py BUILD
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench")
ARMS = {"native", "tsan", "fasttrack", "literace", "atexrace"}
EXECUTIONS = 2


class Detectors(unittest.TestCase):
    def test_run(self):
        with tempfile.TemporaryDirectory(prefix="racehive-detectors-") as folder:
            for name in ("bin", "lib", "include"):
                os.symlink(os.path.join(os.path.abspath(sys.argv[1]), name),
                           os.path.join(folder, name))
            raw = os.path.join(folder, "raw.json")
            done = subprocess.run([os.path.join(BENCH, "detectors", "run"), f"--build={folder}",
                                   f"--executions={EXECUTIONS}", f"--json={raw}", "pool"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=500)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            with open(raw) as file:
                arms = json.load(file)["pool"]
        self.assertEqual(set(arms), ARMS)
        for name, measured in arms.items():
            self.assertEqual(len(measured["cpu"]), EXECUTIONS)
            self.assertTrue(all(s > 0 for s in measured["cpu"]), name)
            self.assertTrue(all(kb > 500 for kb in measured["rss_kb"]), name)
            self.assertEqual(measured["races"], sorted(measured["races"]))
        self.assertEqual(arms["native"]["races"][-1], 0)
        self.assertGreater(arms["atexrace"]["pairs"][-1], 0)
        for title in ("fasttrack beside ThreadSanitizer", "Figure 8", "Table 1 and Figure 9",
                      "Figure 11"):
            self.assertRegex(done.stdout, rf"(?m)^### {title}.*\n\n\| kernel \|(.*\n)+\| pool \|")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
