#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What of a page agrees with an output, and what does not; what the README shows first."""
import os
import re
import tempfile
import unittest
import xml.etree.ElementTree

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

    def test_container_and_job(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x")
            with open(path, "w", encoding="utf-8") as file:
                file.write("FROM debian\nCOPY a.deb /tmp/\nRUN a && \\\n    b\n")
            self.assertEqual(pages.read_container(path), (["a &&     b"], ["/tmp/"]))
            with open(path, "w", encoding="utf-8") as file:
                file.write("steps:\n  - uses: x\n  - run: make all\n")
            self.assertEqual(pages.read_job(path), ["make all"])


class FirstScreen(unittest.TestCase):
    TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

    def setUp(self):
        with open(os.path.join(self.TOP, "README.md"), encoding="utf-8") as file:
            self.screen = "".join(file.readlines()[:30])

    def test_what_it_is_and_for_whom(self):
        opening = self.screen.split("\n\n")[1].replace("\n", " ")
        self.assertRegex(opening, r"finds data races in C and C\+\+ programs.*It is for ")

    def test_it_is_compared_with_threadsanitizer_by_figures(self):
        rows = [line for line in self.screen.splitlines() if line.startswith("| ")]
        self.assertIn("ThreadSanitizer |", rows[0])
        self.assertGreaterEqual(len([row for row in rows if len(re.findall(r"\d", row)) >= 2]), 3)
        self.assertIn("](docs/measurements/evaluation.md)", self.screen)

    def test_the_picture_is_of_a_report(self):
        path, = re.findall(r"^!\[.*\]\((.*\.svg)\)$", self.screen, re.M)
        root = xml.etree.ElementTree.parse(os.path.join(self.TOP, path)).getroot()
        self.assertTrue(root.tag.endswith("}svg"))
        text = " ".join("".join(it.itertext()) for it in root.iter() if it.tag.endswith("}text"))
        for words in ("racehive report ./bank", "true race 1 of 2:", "first:", "then:", "order", "proof", "^"):
            self.assertIn(words, text)


if __name__ == "__main__":
    unittest.main()
