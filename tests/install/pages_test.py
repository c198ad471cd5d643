#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What of a page agrees with an output, and what does not."""
import os
import tempfile
import unittest

import pages


class Agreement(unittest.TestCase):
    def test_words_must_agree(self):
        self.assertTrue(pages.agrees(["two races"], "two races\n"))
        self.assertFalse(pages.agrees(["two races"], "three races\n"))
        self.assertFalse(pages.agrees(["two races"], "two races\nand a line\n"))
        self.assertFalse(pages.agrees(["two races", "and a line"], "two races\n"))

    def test_numbers_may_differ(self):
        self.assertTrue(pages.agrees(["after 20 runs"], "after 3 runs\n"))
        self.assertTrue(pages.agrees(["1. score 85  a676089e67dcaa11"], "1. score 9  0123456789abcdef\n"))
        self.assertFalse(pages.agrees(["after 20 runs"], "after some runs\n"))

    def test_places_may_not(self):
        self.assertTrue(pages.agrees(["bank.c:20:22: first"], "bank.c:20:22: first\n"))
        self.assertFalse(pages.agrees(["bank.c:20:22: first"], "bank.c:20:23: first\n"))
        self.assertFalse(pages.agrees(["bank.c:20: first"], "bank.c:21: first\n"))

    def test_dots_are_any_lines_or_words(self):
        self.assertTrue(pages.agrees(["a", "...", "d"], "a\nb\nc\nd\n"))
        self.assertTrue(pages.agrees(["a", "..."], "a\n"))
        self.assertTrue(pages.agrees(["true race 1 of 2: ..."], "true race 4 of 9: on x\n"))
        self.assertFalse(pages.agrees(["a", "...", "d"], "b\nd\n"))


class Steps(unittest.TestCase):
    def test_blocks_are_told_apart(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.md")
            with open(path, "w", encoding="utf-8") as file:
                file.write("```sh\ncd x\nmake\n```\n```\nnot run\n```\n"
                           "```console\n$ ls\na\n$ true\n```\n")
            steps = pages.read_steps(path, "page.md")
        self.assertEqual([(s.where, s.commands, s.printed) for s in steps],
                         [("page.md:2", "cd x\nmake", None), ("page.md:9", "ls", ["a"]),
                          ("page.md:11", "true", [])])


if __name__ == "__main__":
    unittest.main()
