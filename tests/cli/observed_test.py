#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `racehive candidates --observed`, on stores that make_runs writes.

Usage: observed_test.py RACEHIVE MAKE_CANDIDATES MAKE_RUNS [unittest option...]
"""
import json
import re
import sqlite3
import sys
import unittest

from report_harness import BUSY, ITSELF, LOCKED, MIXED, READ_WRITE, ReportCase

# By falling score BUSY, LOCKED, READ_WRITE; the first two met in order.
MEETINGS = [f"{BUSY}:not_seen,met_locked", f"{LOCKED}:not_seen,met_unlocked",
            f"{LOCKED}:not_seen,met_locked", f"{READ_WRITE}:not_seen,met_unordered",
            f"{READ_WRITE}:race,met_locked,met_unlocked", f"{MIXED}:not_seen"]


class Observed(ReportCase):
    runs = MEETINGS

    def observed(self, *words):
        return json.loads(self.succeed("candidates", "--observed", "--json", *words, "bank"))

    def ids(self, *words):
        return [c["id"] for c in self.observed(*words)["candidates"]]

    def test_what_met_is_listed_most_interesting_first(self):
        report = self.observed()
        self.assertEqual(report["totals"], {"candidates": 5, "matching": 3, "sites": 7,
                                            "groups": 4})
        candidates = report["candidates"]
        self.assertEqual([c["id"] for c in candidates], [READ_WRITE, LOCKED, BUSY])
        self.assertEqual([c.pop("met") for c in candidates], [
            {"runs": 2, "locked": 1, "unlocked": 2, "ordered": 1, "unordered": 1},
            {"runs": 2, "locked": 1, "unlocked": 1, "ordered": 2, "unordered": 0},
            {"runs": 1, "locked": 1, "unlocked": 0, "ordered": 1, "unordered": 0}])

    def test_all_else_is_as_in_the_list_of_all(self):
        listed = {c["id"]: c for c in
                  json.loads(self.succeed("candidates", "--json", "bank"))["candidates"]}
        for candidate in self.observed()["candidates"]:
            del candidate["met"]
            self.assertEqual(candidate, listed[candidate["id"]])

    def test_text(self):
        parts = self.succeed("candidates", "--observed", "bank").rstrip("\n").split("\n\n")
        self.assertEqual(parts[0], "bank: 5 candidates of 7 sites, in 4 groups; 3 pairs met in runs")
        self.assertEqual([re.search(r"\w{16}$", part, re.M)[0] for part in parts[1:]],
                         [READ_WRITE, LOCKED, BUSY])
        self.assertEqual([part.splitlines()[-1] for part in parts[1:]], [
            "    met in 2 runs: unordered in 1, without a common lock in 2, with one in 1",
            "    met in 2 runs: unordered in 0, without a common lock in 1, with one in 1",
            "    met in 1 run: unordered in 0, without a common lock in 0, with one in 1"])

    def test_limits_and_filters(self):
        self.assertEqual(self.ids("--limit=1"), [READ_WRITE])
        self.assertEqual(self.ids("--function=audit"), [LOCKED])
        self.assertEqual(self.ids("--file=stats.h"), [])
        self.assertEqual(self.observed("--function=deposit")["totals"]["matching"], 2)
        self.assertIn("\n… and 2 more", self.succeed("candidates", "--observed", "--limit=1",
                                                     "bank"))

    def test_pairs_that_are_no_candidates(self):
        with sqlite3.connect(self.store) as store:
            store.execute("INSERT INTO met (id, first, second, runs, locked, unlocked, ordered, "
                          "unordered, hinted, first_print, second_print, elsewhere) "
                          "VALUES (1, 7, 2, 3, 0, 3, 0, 3, 0, 72, 22, 0)")
        pair = self.observed("--limit=2")["candidates"][1]
        self.assertEqual([pair[name] for name in ("score", "why", "object", "busy_wait")],
                         [None, None, None, False])
        self.assertEqual((pair["first"]["line"], pair["second"]["line"]), (50, 99))
        self.assertEqual((pair["met"]["runs"], pair["second"]["threads"]), (3, ""))
        self.assertIn("    no candidate: the analysis ruled it out\n    met in 3 runs",
                      self.succeed("candidates", "--observed", "bank"))

    def test_sites_that_do_not_exist(self):
        with sqlite3.connect(self.store) as store:
            store.execute("UPDATE met SET second = 8")
        self.fail_with(1, "tell of sites that bank does not have", "candidates", "--observed",
                       "bank")

    def test_stores_of_all_detectors_add_up(self):
        self.make_runs(self.store.replace("racemob", "alias"), f"{LOCKED}:not_seen,met_unlocked",
                       f"{ITSELF}:not_seen,met_unlocked", detector="alias")
        candidates = self.observed()["candidates"]
        self.assertEqual([c["id"] for c in candidates], [READ_WRITE, LOCKED, ITSELF, BUSY])
        self.assertEqual(candidates[1]["met"], {"runs": 3, "locked": 1, "unlocked": 2,
                                                "ordered": 3, "unordered": 0})

    def test_one_store(self):
        other = self.path("other.runs")
        self.make_runs(other, f"{MIXED}:not_seen,met_unlocked", detector="litehb")
        self.assertEqual(self.ids(f"--store={other}"), [MIXED])
        self.assertEqual(self.ids(), [READ_WRITE, LOCKED, BUSY])

    def test_usage(self):
        self.fail_with(2, "--observed cannot be used with --filters", "candidates", "--observed",
                       "--filters", "bank")
        self.fail_with(2, "--observed cannot be used with --why-not", "candidates", "--observed",
                       "--why-not=bank.c:41", "bank")
        self.fail_with(2, "--store needs --observed", "candidates", "--store=x", "bank")
        self.fail_with(1, "none.runs", "candidates", "--observed", "--store=none.runs", "bank")

    def test_runs_of_another_build(self):
        other = self.path("other.runs")
        self.make_runs(other)
        with sqlite3.connect(other) as store:
            store.execute("UPDATE meta SET value = 'ffff' WHERE name = 'build_id'")
        self.fail_with(1, "are of another build (build id ffff)", "candidates", "--observed",
                       f"--store={other}", "bank")


class NoRuns(ReportCase):
    runs = None

    def test_there_are_none(self):
        self.fail_with(1, "there are no runs of bank yet: make some with 'racehive run'",
                       "candidates", "--observed", "bank")

    def test_none_met(self):
        self.make_runs(self.store, f"{MIXED}:not_seen")
        self.assertEqual(self.succeed("candidates", "--observed", "bank"),
                         "bank: 5 candidates of 7 sites, in 4 groups; 0 pairs met in runs\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
