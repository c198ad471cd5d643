#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of bench/equal: which races count as found, which stage lost one, how a budget is spent,
and what the tables show."""
import contextlib
import io
import json
import os
import re
import sqlite3
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.dont_write_bytecode = True
BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench")
sys.path[:0] = [os.path.join(BENCH, "equal"), os.path.join(BENCH, "evaluate")]
import arms  # noqa: E402
import pairs  # noqa: E402
import show  # noqa: E402
import stages  # noqa: E402
import trial  # noqa: E402


def side(file, line, function="f", inlined=()):
    return {"file": f"/x/{file}", "line": line, "function": function,
            "inlined": [side(*each) for each in inlined]}


def report(*candidates, verdict="true-race"):
    return {"candidates": [{"verdict": verdict, "first": a, "second": b} for a, b in candidates],
            "totals": {"candidates": 9, "wall_ns": 3, "hook_ns": 1, "pause_ns": 2}}


def race(a, b, first="a.c", second="a.c"):
    return (first, a), (second, b)


class Matching(unittest.TestCase):
    def test_the_very_lines(self):
        told = pairs.match({race(1, 2), race(3, 4)}, report((side("a.c", 2), side("a.c", 1)),
                                                            (side("a.c", 7), side("a.c", 8))))
        self.assertEqual(told, ({race(1, 2)}, {}, {race(7, 8)}))

    def test_only_true_races_count(self):
        told = pairs.match({race(1, 2)}, report((side("a.c", 1), side("a.c", 2)),
                                                verdict="unknown"))
        self.assertEqual(told, (set(), {}, set()))

    def test_one_side_may_be_the_call_that_was_inlined(self):
        inlined = side("b.c", 9, inlined=[("a.c", 2)])
        told = pairs.match({race(1, 2)}, report((inlined, side("a.c", 1))))
        found = race(1, 9, second="b.c")
        self.assertEqual(told, ({race(1, 2)}, {race(1, 2): found}, set()))

    def test_not_both_sides(self):
        told = pairs.match({race(1, 2)}, report((side("b.c", 9, inlined=[("a.c", 2)]),
                                                 side("b.c", 8, inlined=[("a.c", 1)]))))
        self.assertEqual(told.found, set())

    def test_one_side_is_not_taken_for_both(self):
        told = pairs.match({race(1, 2)}, report((side("a.c", 1, inlined=[("a.c", 2)]),
                                                 side("a.c", 5))))
        self.assertEqual(told.found, set())

    def test_what_has_no_line_is_known_by_its_function(self):
        reported = {race(1, "tick"), race(2, "tick")}
        told = pairs.match(reported, report((side("a.c", 40, "tick"), side("a.c", 1)),
                                            (side("a.c", 50, "tock"), side("a.c", 2))))
        self.assertEqual(told.found, {race(1, "tick")})
        self.assertEqual(told.others, {race(2, 50)})

    def test_what_answers_one_report_answers_no_other(self):
        told = pairs.match({race(1, 2), race(1, 9)},
                           report((side("a.c", 1), side("a.c", 9, inlined=[("a.c", 2)]))))
        self.assertEqual(told.found, {race(1, 9)})


class Near(unittest.TestCase):
    def near(self, *found):
        functions = {("a.c", 2): {("a.c", "loop")}}
        return pairs.find_near(race(1, 2), report(*found), lambda place: functions.get(place, ()))

    def test_another_line_of_the_function(self):
        self.assertEqual(self.near((side("a.c", 3, "loop"), side("a.c", 1))), race(1, 3))

    def test_neither_another_function_nor_another_side(self):
        self.assertIsNone(self.near((side("a.c", 3, "other"), side("a.c", 1))))
        self.assertIsNone(self.near((side("a.c", 3, "loop"), side("a.c", 9))))
        self.assertIsNone(self.near((side("a.c", 1, "loop"), side("a.c", 9))))


# Sites 0 to 4 are on lines 10 to 14 of a.c in main, each but 3 in the class of its number; site 5,
# on line 20 of b.c in leaf, was inlined at line 15 of a.c. Candidates: 0 with 1 and 2, 2 with 4,
# 1 with itself.
SIDECAR = """
CREATE TABLE files (id, path); INSERT INTO files VALUES (0, '/x/a.c'), (1, '/x/b.c');
CREATE TABLE functions (id, name); INSERT INTO functions VALUES (0, 'main'), (1, 'leaf');
CREATE TABLE locations (id, file, line, function, inlined_at);
INSERT INTO locations VALUES (0, 0, 10, 0, NULL), (1, 0, 11, 0, NULL), (2, 0, 12, 0, NULL),
    (3, 0, 13, 0, NULL), (4, 0, 14, 0, NULL), (5, 0, 15, 0, NULL), (6, 1, 20, 1, 5),
    (7, 0, 16, 0, NULL);
CREATE TABLE sites (number, location);
INSERT INTO sites VALUES (0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 6);
CREATE TABLE class_sites (site, class);
INSERT INTO class_sites VALUES (0, 0), (1, 1), (2, 2), (4, 4), (5, 5);
CREATE TABLE "groups" (first, partners);
INSERT INTO "groups" VALUES (0, x'0101'), (1, x'0100'), (2, x'0400');
CREATE TABLE texts (id, text); INSERT INTO texts VALUES (0, 'one thread');
CREATE TABLE removed (number, location, reason); INSERT INTO removed VALUES (0, 7, 0);
"""

STORE = """
CREATE TABLE sites (number); CREATE TABLE met (first, second, locked, unlocked, unordered);
CREATE TABLE tasks (first, second, stage, outcome);
CREATE TABLE candidates (first, second, suspected); CREATE TABLE losses (reason, count);
"""


class Lost(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.sidecar = stages.Sidecar(self.make("sidecar", SIDECAR))
        self.addCleanup(self.sidecar.close)

    def make(self, name, sql):
        path = os.path.join(self.folder, name)
        store = sqlite3.connect(path)
        store.executescript(sql)
        store.close()
        return path

    def runs(self, sql=""):
        name = str(len(os.listdir(self.folder)))
        return stages.Runs(self.make(name, STORE + sql))

    def lost(self, which, sql="", alias=None):
        return stages.place_lost(which, self.sidecar, self.runs(sql), alias)

    def test_numbers_are_unpacked(self):
        self.assertEqual(stages.unpack(bytes([0x01, 0x02, 0x80, 0x01, 0x00])), [1, 2, 3, 132])

    def test_sites_by_place(self):
        self.assertEqual(self.sidecar.sites_at(("a.c", 10)), [0])
        self.assertEqual(self.sidecar.sites_at(("b.c", 20)), [5])
        self.assertEqual(self.sidecar.sites_at(("a.c", 15)), [5])
        self.assertEqual(self.sidecar.sites_at(("b.c", "leaf")), [5])
        self.assertEqual(self.sidecar.sites_at(("a.c", 20)), [])

    def test_functions_by_place(self):
        self.assertEqual(self.sidecar.functions_at(("a.c", 10)), {("a.c", "main")})
        self.assertEqual(self.sidecar.functions_at(("a.c", 99)), set())

    def test_candidates_are_found_either_way(self):
        self.assertEqual(self.sidecar.joined([1, 2], [0, 4]), {(0, 1), (0, 2), (2, 4)})
        self.assertEqual(self.sidecar.joined([1], [1]), {(1, 1)})
        self.assertEqual(self.sidecar.joined([0], [0]), set())

    def test_no_site(self):
        self.assertEqual(self.lost(race(10, 16)), ("no site", "a.c:16: one thread"))
        self.assertEqual(self.lost(race(10, 99)), ("no site", "a.c:99: no access there"))

    def test_no_candidate(self):
        for line in (13, 14):   # without a class, and in another group
            self.assertEqual(self.lost(race(10, line)).stage, "no candidate")

    def test_never_on(self):
        self.assertEqual(self.lost(race(10, 11), "INSERT INTO sites VALUES (1)"),
                         ("never on", "a.c:10"))
        self.assertEqual(self.lost(race(10, 11), "INSERT INTO sites VALUES (1);"
                                   "INSERT INTO met VALUES (0, 2, 0, 1, 0)").stage, "not met")

    def test_not_met(self):
        ran = "INSERT INTO sites VALUES (0), (1)"
        self.assertEqual(self.lost(race(10, 11), ran), ("not met", ""))
        alias = self.runs("INSERT INTO met VALUES (0, 1, 0, 1, 0)")
        self.assertEqual(self.lost(race(10, 11), ran, alias), ("not met", "met under alias"))
        self.assertEqual(self.lost(race(10, 11), ran, self.runs()), ("not met", "nor under alias"))

    def test_met_but_ordered(self):
        self.assertEqual(self.lost(race(10, 11), "INSERT INTO met VALUES (1, 0, 3, 0, 0)"),
                         ("met but ordered", "always with a common lock"))
        self.assertEqual(self.lost(race(10, 11), "INSERT INTO met VALUES (0, 1, 3, 1, 0)"),
                         ("met but ordered", "without a common lock"))

    def test_unordered(self):
        for more in ("", "INSERT INTO tasks VALUES (0, 1, 1, 3)"):   # only watched
            self.assertEqual(self.lost(race(10, 11), "INSERT INTO met VALUES (0, 1, 0, 1, 1);" +
                                       more).stage, "met, unordered, not proved")
        self.assertEqual(self.lost(race(10, 11), "INSERT INTO met VALUES (0, 1, 0, 1, 0);"
                                   "INSERT INTO candidates VALUES (1, 0, 2)").stage,
                         "met, unordered, not proved")

    def test_the_stage_that_validates(self):
        with open(os.path.join(BENCH, "..", "include", "racehive", "control.h")) as file:
            listed = re.search(r"enum rh_stage \{(.*?)\}", file.read(), re.S)[1]
        names = re.findall(r"RH_STAGE_\w+", listed)
        self.assertEqual(names[stages.STEER], "RH_STAGE_STEER")

    def test_more_met_than_there_is_room_for(self):
        self.assertFalse(self.runs().full)
        self.assertTrue(self.runs("INSERT INTO losses VALUES ('MET_FULL', 7)").full)

    def test_asked(self):
        asked = "INSERT INTO tasks VALUES (0, 1, 2, 2), (1, 0, 2, 3), (0, 1, 2, NULL);"
        self.assertEqual(self.lost(race(10, 11), "INSERT INTO met VALUES (0, 1, 0, 1, 1);" + asked),
                         ("asked, not proved", "2 times"))
        ran = "INSERT INTO sites VALUES (0), (1);"
        self.assertEqual(self.lost(race(10, 11), ran + asked).stage, "not met")


class FakeArm:
    """Takes the given seconds of processor time, run by run; fails at a run that has None."""

    def __init__(self, cpus):
        self.cpus, self.runs, self.store, self.closed = cpus, 0, None, False

    def measure(self):
        cpu = self.cpus[self.runs]
        if cpu is None:
            raise arms.ToolFailed("it crashed")
        self.runs += 1
        return types.SimpleNamespace(cpu=cpu)

    def open(self):
        pass

    def settle(self):
        pass

    def tell(self):
        return report()

    def close(self, complete):
        self.closed = True


class Budget(unittest.TestCase):
    def spend(self, cpus, budget, scouts):
        runs = types.SimpleNamespace(unlocked=lambda: {(0, 1)})
        arm = FakeArm(cpus)
        with mock.patch.object(arms, "OpenArm", lambda *_: arm), \
                mock.patch.object(arms, "make", lambda *_: FakeArm([0.5] * 100)), \
                mock.patch.object(stages, "Runs", lambda _: runs):
            spending = trial.Spending(None, None, "racemob-0.1", lambda _: None)
            spending.spend(budget, scouts)
        self.assertTrue(arm.closed)
        return spending

    def test_it_ends_when_the_time_is_spent(self):
        spending = self.spend([1.0] * 10, 7.5, False)
        self.assertEqual(len(spending.cpus), 8)
        self.assertEqual(len(spending.natives), 2)
        told = spending.result()
        self.assertEqual((told["ratio"], told["failure"], told["runs"]), (2.0, None, 8))
        self.assertEqual(spending.seen_runs, 0)

    def test_the_scout_has_its_runs_beyond(self):
        spending = self.spend([1.0] * 40, 3, True)
        self.assertEqual(len(spending.cpus), 3)
        self.assertEqual((spending.seen_runs, spending.arm.runs), (32, 32))

    def test_the_scout_is_looked_at_on_the_way(self):
        spending = self.spend([1.0] * 40, 35, True)
        self.assertEqual((spending.seen_runs, spending.arm.runs), (32, 35))

    def test_a_failure_keeps_what_was_found(self):
        spending = self.spend([1.0, 1.0, None], 9, True)
        self.assertEqual((len(spending.cpus), spending.failure), (2, "it crashed"))
        self.assertIsNotNone(spending.report)

    def test_a_failure_at_once_has_no_report(self):
        spending = self.spend([None], 9, False)
        self.assertEqual((spending.report, spending.failure), (None, "it crashed"))


def told(**more):
    arm = {"runs": 3, "cpus": [1.0, 1.0, 1.5], "natives": [1.0], "ratio": 1.0, "failure": None,
           "found": [race(1, 2)], "moved": [[race(1, 2), race(1, 3)]], "others": [race(5, 6)],
           "false": None, "met": 7, "unlocked": 5,
           "seen_of_alias": {"runs": 32, "of": 4, "seen": 3},
           "lost": [{"race": race(8, 9), "stage": "not met", "why": "nor under alias"}], **more}
    return json.loads(json.dumps([{
        "subject": "nbody", "kind": "kernel", "candidates": 1234, "failures": {"alias": "too slow"},
        "tsan": {"races": [race(1, 2), race(8, 9)], "cpu": 3.25}, "arms": {"racemob-0.1": arm}}]))


class Tables(unittest.TestCase):
    def print(self, *every):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            show.print_all(*every)
        return out.getvalue()

    def test_what_they_show(self):
        text = self.print(told())
        for row in ("| nbody | racemob, 0.1 | 2 | 1 | 50% | 1 | - | 3 | 3.5 of 3.2 | 1.000 |",
                    "| all | racemob, 0.1 | 2 | 1 | 50% (goal 90%) | 1 | 0 | 3 | 3.5 of 3.2 | - |",
                    "| nbody | a.c:8 and a.c:9 | not met (nor under alias) |",
                    "| nbody | a.c:5 and a.c:6 | not reported | racemob, 0.1 |",
                    "| nbody | a.c:1 and a.c:2 | found as a.c:1 and a.c:3 | racemob, 0.1 |",
                    "| nbody | 1,234 | - | - | 7 | 5 | 75% | - | - | - | 2 |",
                    "| nbody | alias | too slow |"):
            self.assertIn(row, text)

    def test_alias_may_have_seen_more(self):
        every = told()
        every[0]["alias"] = {"cpu": 1.0, "met": 9000, "unlocked": 8000, "full": True}
        self.assertIn("| nbody | 1,234 | 9,000 or more | 8,000 or more | 7 |", self.print(every))

    def test_what_one_arm_lost_and_another_found(self):
        every = told()
        every[0]["arms"]["racechaser-0.1"] = dict(every[0]["arms"]["racemob-0.1"], lost=[])
        text = self.print(every)
        self.assertIn("| nbody | a.c:8 and a.c:9 | not met (nor under alias) | found |", text)
        self.assertIn("| not reported | racemob, 0.1; racechaser, 0.1 |", text)
        self.assertNotIn("| nbody | a.c:1 and a.c:2 | found | found |", text)

    def test_what_may_be_the_same_race(self):
        lost = [{"race": race(8, 9), "stage": "not met", "why": "", "near": race(8, 7)}]
        self.assertIn("| not met (a.c:8 and a.c:7 found) |", self.print(told(lost=lost)))

    def test_what_is_not_known_of_a_kernel_is_false(self):
        self.assertIn("| a.c:5 and a.c:6 | false |", self.print(told(false=[race(5, 6)])))
        self.assertIn("| a.c:5 and a.c:6 | known, not reported |", self.print(told(false=[])))

    def test_a_race_with_what_is_not_instrumented(self):
        self.assertIn("| a.c:4 and an uninstrumented access | not reported |",
                      self.print(told(others=[[None, ["a.c", 4]]])))

    def test_nothing_was_measured(self):
        failed = {"subject": "x264", "kind": "program", "failures": {"all": "no |\n compiler"},
                  "tsan": {"races": [], "cpu": 0}, "arms": {}}
        self.assertIn("| x264 | all | no / compiler |", self.print([failed]))


if __name__ == "__main__":
    unittest.main()
