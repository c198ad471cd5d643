#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `racehive report`, on sidecars and stores that make_candidates and make_runs write.

Usage: report_test.py RACEHIVE MAKE_CANDIDATES MAKE_RUNS [unittest option...]
"""
import json
import os
import re
import shutil
import sys
import unittest
import unittest.mock

from harness import ID_A, ID_B, elf
from report_harness import BUSY, ENOUGH, ITSELF, LOCKED, MIXED, READ_WRITE, Page, ReportCase


class Text(ReportCase):
    def block(self, title):
        """The lines that tell of one true race."""
        blocks = self.report().split("\n\n")
        found = [b.splitlines() for b in blocks if re.match(r"true race \d", b) and title in b]
        self.assertEqual(len(found), 1, title)
        return found[0]

    def test_head_and_table(self):
        text = self.report()
        self.assertEqual(text.splitlines()[:2], [
            "bank: 3 true races, 1 likely false positive and 1 unknown of 5 candidates",
            f"{len(self.runs)} runs with racemob, build id {ID_A}"])
        self.assertEqual(text.split("\n\n")[-1].splitlines(), [
            "VERDICT                GROUND                 CANDIDATES",
            "true race              causes hang                     1",
            "                       causes crash                    1",
            "                       both orders                     0",
            "                       single order                    1",
            "likely false positive  synchronised                    1",
            "unknown                unordered, not proved           1",
            "all                                                    5",
            "A likely false positive has at least 66 runs that speak against a race: it races in at "
            "most 10 % of such runs, with confidence 0.999."])

    def test_a_race_is_told_in_full(self):
        self.assertEqual(self.block("audit"), [
            f"true race 2 of 3: write in deposit and read in audit race on account->balance  {LOCKED}",
            "bank.c:50:3: first: read of 8 bytes of account->balance in audit",
            "    48 | line 48",
            "    49 | line 49",
            "    50 | line 50",
            "       |   ^",
            "    51 | line 51",
            "    52 | line 52",
            "       by T2, created by T1 (main), holding &bank->lock",
            "       #0  audit  bank.c:50:3",
            "bank.c:41:7: then: write of 8 bytes to account->balance in deposit",
            "    39 | line 39",
            "    40 | line 40",
            "    41 |                 x account->balance += n;",
            "       |                     ^",
            "    42 | line 42",
            "    43 | line 43",
            "       by T3, created by T1 (main), holding no lock",
            "       #0  deposit  bank.c:41:7",
            "  memory: heap block from bank.c:12",
            "  order: only the first access is made under a lock (&bank->lock)",
            "  proof: collision: T3 was paused for 12.3 ms before its access, and T2 made its own "
            "meanwhile; nothing orders the two",
            "  runs: raced in 3 of 4 runs that had it as a task, in both orders, by collision in 1",
            "  consequence: 2 of 2 runs with audit first crashed (SIGSEGV), 0 of 73 others",
            "  try: hold &bank->lock in deposit (bank.c:41:7) too, as audit does"])

    def test_races_come_by_score_then_the_suspected(self):
        text = self.report()
        order = [text.index(word) for word in (BUSY, LOCKED, ITSELF, "Unordered, but not proved")]
        self.assertEqual(order, sorted(order))
        self.assertIn("because the process holds a library without keys", text)
        self.assertIn("\n  near bank.c:80:1 read and stats.h:12:5 atomic update of counter "
                      "(unordered, not proved)\n", text)

    def test_unordered_proof_and_advice_for_the_creator(self):
        lines = self.block("races with itself")
        self.assertIn("  proof: unordered: no chain of synchronisation was seen from the access of "
                      "T2 to that of T1", lines)
        self.assertIn("       by T1 (main), holding no lock", lines)
        self.assertIn("  consequence: none seen", lines)
        self.assertTrue(any(l.startswith("  try: neither side holds a lock") for l in lines))
        self.assertTrue(any(l.startswith("  try: T1 created T2: ") for l in lines))

    def test_flags_and_unknown_lines(self):
        lines = self.block(BUSY)
        self.assertIn("/elsewhere/stop.c:?: first: write in stop", lines)
        self.assertIn("  try: make döne[?[31m] atomic: a loop waits for it, and a plain variable may "
                      "be read once and never again; store it with release and load it with acquire "
                      "order", lines)
        self.assertIn("  consequence: 2 of 2 runs with stop first hung, 0 of 73 others", lines)

    def test_without_sources_there_are_places_alone(self):
        os.remove(self.path("bank.c"))
        self.assertNotIn(" | ", self.report())
        self.assertIn("bank.c:50:3: first: ", self.report())

    def test_races_of_the_same_lines_are_told_together(self):
        os.remove(self.store)
        self.make_runs(self.store, f"{READ_WRITE}:race", *[f"{ITSELF}:race,crash"] * 2,
                       f"{LOCKED}:race", *[f"{LOCKED}:not_seen"] * 9)
        titles = re.findall(r"^(?:true race \d|  variant).*$", self.report(), re.M)
        self.assertEqual(titles, [
            f"true race 1 of 2: write in deposit and read in audit race on account->balance  {LOCKED}",
            "true race 2 of 2: read in deposit and write in deposit race on account->balance  "
            + READ_WRITE,
            "  variant: write in deposit races with itself on account->balance (causes crash)  "
            + ITSELF])
        self.assertIn("2 true races (3 pairs of accesses), ", self.report())
        page = Page(self.report("--format=html"))
        self.assertEqual([a["id"] for _, a in page.elements if a.get("id", "").startswith("c")
                          and a["id"] != "candidates"],
                         ["c" + LOCKED, "c" + READ_WRITE, "c" + ITSELF])

    def test_the_first_races_and_a_pointer_to_the_rest(self):
        text = self.report("--limit=1")
        self.assertEqual(len(re.findall(r"^true race \d", text, re.M)), 1)
        self.assertIn("\n\u2026 and 2 more true races: racehive report --limit=0 bank shows all, "
                      "--format=html as a page to search\n", text)
        self.assertEqual(len(re.findall(r"^true race \d", self.report("--limit=0"), re.M)), 3)
        self.assertNotIn("more true race", self.report("--limit=3"))

    def test_the_pointer_repeats_the_options(self):
        self.make_runs(self.path("other.runs"), *self.runs, detector="racechaser")
        text = self.report("--limit=1", "--store=other.runs", "--detector=racechaser")
        self.assertIn("racehive report --limit=0 --detector=racechaser --store=other.runs bank "
                      "shows all", text)

    def test_runs_that_hung_are_said(self):
        self.assertEqual(self.report().splitlines()[2], "2 runs crashed, 2 runs hung and were ended")

    def test_a_line_that_races_with_itself_is_shown_once(self):
        lines = self.block("races with itself")
        self.assertEqual(len([l for l in lines if l.startswith("    41 | ")]), 1)

    def test_the_evidence_that_names_both_threads_is_shown(self):
        os.remove(self.store)
        self.make_runs(self.store, f"{ITSELF}:race,forgotten")
        self.assertIn("by an unknown thread", self.report())
        self.make_runs(self.store, f"{ITSELF}:race")
        self.assertNotIn("an unknown thread", self.report())

    def test_same_output_twice(self):
        for name in ("text", "json", "sarif", "html"):
            self.assertEqual(self.report("--format=" + name), self.report("--format=" + name))

    def test_colours_only_on_a_terminal(self):
        os.environ.pop("NO_COLOR", None)
        self.assertNotIn("\033", self.report())
        words = ("report", f"--store={self.store}", "bank")
        self.assertIn(b"\033[1;31mtrue race", self.on_terminal(*words, TERM="xterm"))
        self.assertNotIn(b"\033", self.on_terminal(*words, TERM="xterm", NO_COLOR="1"))


class Suppressions(ReportCase):
    """LOCKED is a write in deposit and a read in audit of bank.c; ITSELF a write in deposit; BUSY is in
    stop.c."""

    def ask(self, *words, **env):
        """The report with variables of the environment set."""
        with unittest.mock.patch.dict(os.environ, env):
            ran = self.run_racehive("report", *words, "bank")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout.decode(), ran.stderr.decode()

    def hidden(self, rules, *words, where="rules", **env):
        """Titles that a file of rules hides, and what is said on standard error."""
        before = set(re.findall(r"^true race.*: (.*?)  ", self.report("--no-suppressions"), re.M))
        if rules is not None:
            self.write(where, rules.encode())
        self.text, said = self.ask(*words, **env)
        after = set(re.findall(r"^true race.*: (.*?)  ", self.text, re.M))
        return before - after, said

    def test_rules_match_functions_files_and_their_parts(self):
        for rule, count in (("race:deposit", 2), ("race:^audit$", 1), ("race:audi", 1),
                            ("race:^udit", 0), ("race:bank.c$", 3), ("race:stop.c$", 1), ("race:*", 3),
                            ("race_top:deposit", 2), ("race_top:nothing", 0), ("mutex:deposit", 0)):
            titles, said = self.hidden(rule + "\n", "--suppressions=rules")
            self.assertEqual(len(titles), count, rule)
            unused = count == 0 and rule.startswith("race")
            self.assertEqual(said, f"rules:1: {rule} matched nothing\n" if unused else "", rule)

    def test_what_is_hidden_is_counted(self):
        self.hidden("race:deposit # why=known\n", "--suppressions=rules")
        self.assertRegex(self.text, r"\n3 candidates, 2 of them true races, are hidden by "
                                    r"suppressions \(--no-suppressions shows all\)\n")
        self.assertIn("bank: 1 true race, 0 likely", self.text)
        report = self.json("--suppressions=rules")
        self.assertEqual(report["totals"]["suppressed_true_races"], 2)
        self.assertEqual(report["totals"]["candidates"], 2)
        page = self.report("--suppressions=rules", "--format=html")
        self.assertIn("hidden by suppressions", page)
        results = json.loads(self.report("--suppressions=rules", "--format=sarif"))
        self.assertEqual(len(results["runs"][0]["results"]), 1)

    def test_every_source_of_rules(self):
        for words, env, where in ((["--suppressions=rules"], {}, "rules"),
                                  ([], {"RACEHIVE_OPTIONS": "verbose=1:suppressions=rules"}, "rules"),
                                  ([], {}, "bank.suppressions")):
            titles, _ = self.hidden("race:audit\n", *words, where=where, **env)
            self.assertEqual(len(titles), 1, where)
            os.remove(self.path(where))

    def test_frames_around_count_for_race_alone(self):
        os.remove(self.store)
        self.make_runs(self.store, f"{MIXED}:race")   # count, inlined into tick, into worker
        self.assertEqual(len(self.hidden("race:^worker$\n", "--suppressions=rules")[0]), 1)
        self.assertEqual(len(self.hidden("race_top:^worker$\n", "--suppressions=rules")[0]), 0)
        self.assertEqual(len(self.hidden("race_top:^count$\n", "--suppressions=rules")[0]), 1)

    def test_expired_rules_are_said(self):
        titles, said = self.hidden("race:audit # until=2001-01-31 why=mended\n",
                                   "--suppressions=rules")
        self.assertEqual(titles, set())
        self.assertIn("rules:1: this rule has expired", said)

    def test_mistakes_have_file_and_line(self):
        self.write("rules", b"# known\nrace deposit\n")
        self.fail_with(2, "rules:2: expected race:PATTERN", "report", "--suppressions=rules", "bank")
        self.fail_with(1, "nosuch", "report", "--suppressions=nosuch", "bank")


class Advice(ReportCase):
    runs = None

    def advice(self, run):
        """What is advised after one run."""
        if os.path.exists(self.store):
            os.remove(self.store)
        self.make_runs(self.store, run)
        return re.findall(r"^  try: (.*)$", self.report(), re.M)

    def test_locks(self):
        self.assertIn("as audit does", self.advice(f"{LOCKED}:race")[0])
        self.assertIn("different locks, lock L1 and &bank->lock",
                      self.advice(f"{LOCKED}:race,lock0,lock1")[0])
        self.assertIn("a lock in common", self.advice(f"{LOCKED}:race,common")[0])
        self.assertIn("hold lock L1 in deposit", self.advice(f"{ITSELF}:race,lock1")[0])

    def test_mixed(self):
        self.assertEqual(self.advice(f"{MIXED}:race")[0],
                         "make the access in audit (near bank.c:80:1) atomic too: the one in "
                         "count (stats.h:12:5) is")

    def test_stack(self):
        self.assertIn("the memory is on the stack of thread 2",
                      " ".join(self.advice(f"{ITSELF}:race,stack")))


class Json(ReportCase):
    def test_head(self):
        report = self.json()
        del report["candidates"]
        self.assertEqual(report, {
            "tool": "racehive", "version": "0.1.0", "program": "bank", "build_id": ID_A,
            "detector": "racemob", "runs": 75,
            "images": [],
            "totals": {"candidates": 5, "listed": 5, "suppressed": 0,
                       "suppressed_true_races": 0, "crashed_runs": 2, "hung_runs": 2,
                       "wall_ns": 75000, "hook_ns": 1500, "pause_ns": 150, "losses": {},
                       "confidence": 0.999, "grounds": {
                "causes hang": 1, "causes crash": 1, "both orders": 0, "single order": 1,
                "unordered, not proved": 1, "synchronised": 1, "longest pause timed out": 0,
                "synchronised in too few runs": 0, "timed out in too few runs": 0, "not aliasing": 0, "single thread": 0, "not seen": 0, "not tried": 0}}})

    def test_losses(self):
        self.make_runs(self.store, f"{LOCKED}:no_race,lost", f"{LOCKED}:no_race,lost")
        self.assertEqual(self.json()["totals"]["losses"],
                         {"findings not kept": 6, "events not kept, the ring was full": 2})
        self.assertIn("findings not kept: 6; events not kept, the ring was full: 2\n", self.report())

    def test_order_and_verdicts(self):
        self.assertEqual([(c["id"], c["verdict"], c["ground"]) for c in self.json()["candidates"]], [
            (BUSY, "true-race", "causes hang"), (LOCKED, "true-race", "causes crash"),
            (ITSELF, "true-race", "single order"),
            (READ_WRITE, "likely-false-positive", "synchronised"),
            (MIXED, "unknown", "unordered, not proved")])

    def test_a_race(self):
        race = self.candidates()[LOCKED]
        self.assertEqual(race["first"], {
            "file": self.path("bank.c"), "line": 41, "column": 7, "function": "deposit",
            "access": "write", "size": 8, "expression": "account->balance", "locks": "",
            "threads": "worker x many"})
        self.assertEqual(race["second"]["locks"], "&bank->lock")
        self.assertEqual(race["outcomes"], {"race": 3, "no_race": 0, "timeout": 0, "not_seen": 1})
        self.assertEqual(race["ends"], {
            "primary": {"with": {"runs": 1, "crashes": 0, "hangs": 0},
                        "without": {"runs": 74, "crashes": 2, "hangs": 2}},
            "alternate": {"with": {"runs": 2, "crashes": 2, "hangs": 0},
                          "without": {"runs": 73, "crashes": 0, "hangs": 2}}})
        evidence = race["evidence"]
        threads = evidence.pop("threads")
        self.assertEqual(evidence, {
            "order": "alternate", "kind": "collision", "consequence": "crash", "signal": 11,
            "pause_us": 12345, "block": "heap",
            "stacks": [["audit bank.c:50"], ["deposit bank.c:41"]]})
        self.assertEqual([(t["id"], t["creator"], t["access"]) for t in threads],
                         [(2, 1, "second"), (3, 1, "first")])
        self.assertEqual(threads[0]["locks"], [{"name": None, "tag": 7}])
        self.assertEqual(threads[1]["frames"], [
            {"function": "deposit", "file": self.path("bank.c"), "line": 41, "column": 7,
             "library": None, "inlined": False}])
        self.assertIsNone(race["bound"])
        self.assertIsNone(race["suspicion"])

    def test_kinds(self):
        kind = lambda *runs: (os.remove(self.store), self.make_runs(self.store, *runs),
                              self.candidates()[LOCKED]["evidence"]["kind"])[-1]
        self.assertEqual(kind(f"{LOCKED}:race"), "unordered")
        self.assertEqual(kind(f"{LOCKED}:race", f"{LOCKED}:race,alternate"), "both-orders")
        self.assertEqual(kind(f"{LOCKED}:race", f"{LOCKED}:race,alternate,collision"), "collision")

    def test_outer_frames(self):
        """Libraries are named where nothing more is known; how libc starts threads is left out."""
        os.remove(self.store)
        self.make_runs(self.store, f"{LOCKED}:race,libc0,ghost0,libc0,libc0")
        self.assertEqual(self.candidates()[LOCKED]["evidence"]["stacks"],
                         [["deposit bank.c:41", "? libc.so.6", "? libghost.so"],
                          ["audit bank.c:50"]])
        self.assertIn("       #1  ...      2 frames of libraries, from libghost.so\n", self.report())
        self.assertIn("       #2  ?        libghost.so\n", self.report("--full"))

    def test_no_evidence(self):
        candidates = self.candidates()
        self.assertIsNone(candidates[READ_WRITE]["evidence"])
        self.assertTrue(0.09 < candidates[READ_WRITE]["bound"] < 0.1)
        self.assertIsNone(candidates[READ_WRITE]["ends"])
        self.assertIsNone(candidates[MIXED]["evidence"])
        self.assertEqual(candidates[MIXED]["suspicion"]["stacks"],
                         [["audit bank.c:80"],
                          ["count stats.h:12", "tick bank.c:60", "worker bank.c:77"]])
        self.assertEqual([f["inlined"] for f in
                          candidates[MIXED]["suspicion"]["threads"][1]["frames"]],
                         [True, True, False])
        self.assertTrue(candidates[MIXED]["first"]["near"])
        self.assertNotIn("near", candidates[MIXED]["second"])
        self.assertTrue(candidates[MIXED]["suspicion"]["threads"][0]["frames"][0]["near"])

    def test_a_crash_without_a_race_is_not_its_consequence(self):
        os.remove(self.store)
        self.make_runs(self.store, f"{LOCKED}:no_race,crash")
        self.assertIsNone(self.candidates()[LOCKED]["evidence"])
        self.assertEqual(self.json()["totals"]["crashed_runs"], 1)

    def test_one_crash_is_shown_but_not_blamed(self):
        os.remove(self.store)
        self.make_runs(self.store, f"{ITSELF}:race,crash", *[f"{LOCKED}:not_seen"] * 20)
        self.assertEqual(self.candidates()[ITSELF]["ground"], "single order")
        self.assertEqual(self.candidates()[ITSELF]["evidence"]["consequence"], "none")
        self.assertIn("  consequence: 1 of 1 run with it crashed (SIGSEGV), 0 of 20 others, which may be "
                      "chance\n", self.report())

    def test_a_program_that_crashes_anyway(self):
        os.remove(self.store)
        self.make_runs(self.store, *[f"{ITSELF}:race,crash"] * 3, *[f"{LOCKED}:not_seen,crash"] * 9)
        self.assertEqual(self.candidates()[ITSELF]["ground"], "single order")
        self.assertIn("3 of 3 runs with it crashed (SIGSEGV), 9 of 9 others, which may be chance",
                      self.report())

    def test_few_ordered_runs_are_unknown(self):
        os.remove(self.store)
        self.make_runs(self.store, f"{LOCKED}:no_race", *[f"{READ_WRITE}:no_race"] * (ENOUGH - 1),
                       f"{ITSELF}:timeout,exhausted", *[f"{BUSY}:not_seen,apart"] * 70)
        grounds = {c["id"]: (c["verdict"], c["ground"]) for c in self.json()["candidates"]}
        self.assertEqual(grounds[LOCKED], ("unknown", "synchronised in too few runs"))
        self.assertEqual(grounds[READ_WRITE], ("unknown", "synchronised in too few runs"))
        self.assertEqual(grounds[ITSELF], ("unknown", "timed out in too few runs"))
        self.assertEqual(grounds[BUSY], ("unknown", "not aliasing"))
        self.assertIn("at least 66 runs", self.report())

    def test_many_untried_are_counted_not_all_listed(self):
        self.make_sidecar("bank.racehive", ID_A, "vast")
        first = json.loads(self.succeed("candidates", "--json", "--limit=1", "bank"))
        tried = first["candidates"][0]["id"]
        os.remove(self.store)
        self.make_runs(self.store, f"{tried}:race")
        report = self.json()
        self.assertEqual(report["totals"]["candidates"], 18003000)
        self.assertEqual(report["totals"]["grounds"]["not tried"], 18002999)
        self.assertEqual(len(report["candidates"]), 10000)
        ids = [c["id"] for c in report["candidates"]]
        self.assertEqual(ids[0], tried)
        self.assertEqual(len(set(ids)), 10000)


class UninstrumentedAccesses(ReportCase):
    """What the first site of LOCKED, the write in deposit, has with code that is no site."""
    runs = [f"{LOCKED}:uninstrumented", *[f"{LOCKED}:no_race"] * ENOUGH]

    def uninstrumented(self):
        found, = [c for c in self.json()["candidates"] if c["second"].get("uninstrumented")]
        return found

    def test_text(self):
        text = self.report()
        self.assertIn("bank: 1 true race, 1 likely false positive and 4 unknown of 6 candidates", text)
        block, = [b.splitlines() for b in text.split("\n\n") if b.startswith("true race 1 of 1")]
        self.assertEqual(block[:3], [
            "true race 1 of 1: write in deposit and write in unknown code race on account->balance  "
            + self.uninstrumented()["id"],
            "?: first: write to account->balance in unknown code",
            "       by an unknown thread, holding locks that are not known"])
        self.assertIn("bank.c:41:7: then: write of 8 bytes to account->balance in deposit", block)
        self.assertIn("  proof: collision: T3 was paused for 12.3 ms before its access, and the value "
                      "changed meanwhile; the writer was not seen", block)
        self.assertIn("  runs: seen in 1 run", block)
        tries = [line for line in block if line.startswith("  try: ")]
        self.assertEqual(len(tries), 1)
        self.assertIn("find out who else writes account->balance", tries[0])

    def test_json(self):
        found = self.uninstrumented()
        self.assertEqual(found["verdict"], "true-race")
        self.assertEqual(found["first"]["line"], 41)
        second = found["second"]
        self.assertEqual((second["file"], second["line"], second["function"], second["access"],
                          second["size"]), (None, 0, "unknown code", "write", None))
        evidence = found["evidence"]
        self.assertEqual(evidence["kind"], "collision")
        self.assertEqual(evidence["pause_us"], 12345)
        self.assertEqual(evidence["stacks"], [["unknown code"], ["deposit bank.c:41"]])
        self.assertEqual([t["id"] for t in evidence["threads"]], [None, 3])
        self.assertEqual(self.candidates()[LOCKED]["verdict"], "likely-false-positive")

    def test_who_may_have_been_the_uninstrumented_access_is_told_with_it(self):
        self.make_runs(self.store, f"{LOCKED}:race")   # with a read, which changes nothing
        self.assertIn("true race 2 of 2: write in deposit and write in unknown code", self.report())
        self.make_runs(self.store, f"{ITSELF}:race")   # with the same write in another thread
        text = self.report()
        self.assertIn("  variant: write in deposit and write in unknown code race on "
                      "account->balance (single order)", text)
        self.assertNotIn("by an unknown thread", text)

    def test_watched(self):
        self.make_runs(self.store, f"{LOCKED}:watched,libc0")
        found = self.uninstrumented()   # one entry, with the better evidence
        self.assertEqual(found["outcomes"]["race"], 2)
        self.assertEqual([t["id"] for t in found["evidence"]["threads"]], [2, 3])
        self.assertEqual(found["evidence"]["stacks"][0], ["? libc.so.6"])
        self.assertIn("the processor saw T2 write it", self.report())

    def test_sarif(self):
        result, = json.loads(self.report("--format=sarif"))["runs"][0]["results"]
        region = result["locations"][0]["physicalLocation"]["region"]
        self.assertEqual(region["startLine"], 41)   # a place must be known
        self.assertNotIn("physicalLocation", result["relatedLocations"][0])
        self.assertEqual([f["id"] for f in result["codeFlows"][0]["threadFlows"]],
                         ["unknown", "T3"])

    def test_html(self):
        page = self.report("--format=html")
        self.assertIn("write in deposit and write in unknown code race on", page)
        self.assertIn("the writer was not seen", page)


class Finding(ReportCase):
    """Which files are read and written, and what is said where they cannot be."""

    def test_a_store_is_enough(self):
        text = self.report()
        shutil.copy(self.store, self.path("copy.db"))
        for words in ([self.store], ["copy.db"], ["--store=copy.db"], ["--store=copy.db", "bank"],
                      ["--symbols=bank.racehive", "copy.db"], ["bank.racehive"]):
            self.assertEqual(self.succeed("report", *words), text, words)

    def test_the_sidecar_is_found_by_build_id(self):
        text = self.report()
        folder = f"data/racehive/by-build-id/{ID_A[:2]}"
        os.makedirs(self.path(folder))
        os.rename(self.path("bank.racehive"), self.path(f"{folder}/{ID_A[2:]}.racehive"))
        self.assertEqual(self.succeed("report", self.store), text)
        self.make_sidecar("bank.racehive", ID_B)
        self.assertEqual(self.succeed("report", self.store), text)

    def test_no_sidecar(self):
        os.remove(self.path("bank.racehive"))
        self.fail_with(1, "name it with --symbols=FILE", "report", self.store)
        self.fail_with(1, "built with racehive-cc", "report", "bank")

    def test_no_runs_yet(self):
        os.remove(self.store)
        self.fail_with(1, "there are no runs of bank yet: make some with 'racehive run bank'",
                       "report", "bank")
        self.make_runs(self.store)
        self.fail_with(1, "no run of bank has ended yet", "report", "bank")
        self.fail_with(1, "", "report", "missing.runs")
        self.fail_with(1, "there is no file 'missing'", "report", "missing")

    def test_other_build(self):
        self.write("bank", elf(ID_B))
        self.make_sidecar("bank.racehive", ID_B)
        self.fail_with(1, "no runs of bank yet", "report", "bank")
        self.fail_with(1, "of another build", "report", f"--store={self.store}", "bank")
        self.fail_with(1, "of another build", "report", "--symbols=bank.racehive", self.store)

    def test_other_detector(self):
        self.make_runs(self.store.replace("racemob", "caper"), f"{LOCKED}:no_race",
                       detector="caper")
        self.assertEqual(self.json("--detector=caper")["detector"], "caper")
        self.assertEqual(self.json()["detector"], "racemob")

    def test_output(self):
        text = self.report()
        self.assertEqual(self.report("--output=out.txt"), "")
        with open(self.path("out.txt"), encoding="utf-8") as file:
            self.assertEqual(file.read(), text)
        self.assertEqual(self.report("--output=/dev/null"), "")
        self.fail_with(1, "no/such/folder", "report", "--output=no/such/folder/x", "bank")
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["bank", "bank.c", "bank.racehive", "data", "out.txt"])

    def test_a_full_disk_shows(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for name in ("text", "json", "sarif", "html"):
                self.fail_with(1, "cannot write", "report", "--format=" + name, "bank", stdout=full)

    def test_usage(self):
        self.fail_with(2, "did you mean 'html'?", "report", "--format=htm", "bank")
        self.fail_with(2, "text, json, sarif or html", "report", "--format=pdf", "bank")
        self.fail_with(2, "which program, or which store", "report")
        self.fail_with(2, "one program or store at a time", "report", "bank", "bank")
        self.assertIn("Examples:", self.succeed("report", "--help"))

    def test_damaged_stores(self):
        self.write("bad.runs", b"SQLite format 3\0" + bytes(200))
        self.fail_with(1, "bad.runs", "report", "bad.runs")
        self.write("empty.runs", b"")
        self.fail_with(1, "empty.runs", "report", "empty.runs")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[4:])
