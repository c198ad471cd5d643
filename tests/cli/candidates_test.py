#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `racehive candidates`, on sidecars that make_candidates writes.

Usage: candidates_test.py RACEHIVE MAKE_CANDIDATES [unittest option...]
"""
import json
import os
import re
import signal
import subprocess
import sys
import unittest

from harness import ID_A, RACEHIVE, Case, elf

# The ids are hashes of the sites' fingerprints: they must never change.
BUSY, LOCKED, READ_WRITE, ITSELF, MIXED = (
    "f66f08be64f97f1f", "37382fc97ba06c65", "c87afed77487b6b9", "16b878c650cab9c9",
    "7a614ca1770714ca")


class CandidatesCase(Case):
    content = "few"

    def text(self, *words):
        """The first line, the blocks of candidates as lists of lines, and what follows them."""
        parts = self.succeed("candidates", "bank", *words).rstrip("\n").split("\n\n")
        blocks = [part.splitlines() for part in parts[1:] if re.match(r"\d+\. ", part)]
        return parts[0].rstrip("\n"), blocks, parts[1 + len(blocks):]

    def ids(self, *words):
        return [block[0][-16:] for block in self.text(*words)[1]]

    def json(self, *words):
        return json.loads(self.succeed("candidates", "--json", "bank", *words))


class Text(CandidatesCase):
    def test_all_is_told_best_first(self):
        summary, blocks, rest = self.text()
        self.assertEqual(summary, "bank: 5 candidates of 7 sites, in 4 groups")
        self.assertEqual(rest, [])
        self.assertEqual(blocks, [
            [f"1. score 100, busy wait  {BUSY}",
             "    write  /elsewhere/stop.c:?  -            in stop    by main, handler of SIGINT"
             "  holding no lock",
             "    read   bank.c:95:9          döne[?[31m]  in worker  by worker x many          "
             "  holding no lock",
             "    a loop waits for it (100)"],
            [f"2. score 85, heap block from bank.c:12  {LOCKED}",
             "    write  bank.c:41:7  account->balance  in deposit  by worker x many"
             "  holding no lock",
             "    read   bank.c:50:3  account->balance  in audit    by main         "
             "  holding &bank->lock",
             "    no lock in common (60), a lock elsewhere (25)"],
            [f"3. score 60, heap block from bank.c:12  {READ_WRITE}",
             "    read   bank.c:41:7  account->balance  in deposit  by worker x many"
             "  holding no lock",
             "    write  bank.c:41:7  account->balance  in deposit  by worker x many"
             "  holding no lock",
             "    no lock is held (60)"],
            [f"4. score 60, heap block from bank.c:12  {ITSELF}",
             "    write  bank.c:41:7  account->balance  in deposit  by worker x many"
             "  holding no lock",
             "    write  bank.c:41:7  account->balance  in deposit  by worker x many"
             "  holding no lock",
             "    no lock is held (60)"],
            [f"5. score 40, global counter  {MIXED}",
             "    read           near bank.c:80:1  counter  in audit                        by main"
             "           holding no lock",
             "    atomic update  stats.h:12:5      counter  in count (inlined into worker)  by worker"
             " x many  holding &stats",
             "    atomic meets plain (40)"],
        ])

    def test_limit(self):
        summary, blocks, rest = self.text("--limit=2")
        self.assertIn("5 candidates", summary)
        self.assertEqual(len(blocks), 2)
        self.assertEqual(rest, ["… and 3 more (--limit=0 shows all, --json for machines)"])
        self.assertEqual(len(self.text("--limit=0")[1]), 5)
        self.assertEqual(len(self.text("--limit=5")[2]), 0)

    def test_one_matching_site_is_enough(self):
        self.assertEqual(self.ids("--file=stats.h"), [MIXED])
        self.assertEqual(self.ids("--file=/elsewhere/*"), [BUSY])
        self.assertEqual(self.ids("--file=bank.c"), [BUSY, LOCKED, READ_WRITE, ITSELF, MIXED])
        self.assertEqual(self.ids("--function=audit"), [LOCKED, MIXED])
        self.assertEqual(self.ids("--function=tick"), [MIXED])
        self.assertEqual(self.ids("--function=deposit"), [LOCKED, READ_WRITE, ITSELF])
        self.assertEqual(self.ids("--file=stats.h", "--function=audit"), [])
        self.assertEqual(self.ids("--file=bank.c", "--line=80"), [MIXED])
        self.assertEqual(self.ids("--file=stats.h", "--line=12"), [MIXED])
        self.assertEqual(self.ids("--file=stats.h", "--line=80"), [])
        self.fail_with(2, "--line needs --file", "candidates", "bank", "--line=80")
        summary, _, rest = self.text("--function=audit", "--limit=1")
        self.assertEqual(summary, "bank: 5 candidates of 7 sites, in 4 groups; 2 match")
        self.assertEqual(rest, ["… and 1 more (--limit=0 shows all, --json for machines)"])
        self.assertIn("; 1 matches", self.text("--file=stats.h")[0])

    def test_no_candidates(self):
        self.make_sidecar("bank.racehive", ID_A, "none")
        self.assertEqual(self.succeed("candidates", "bank"), "bank: no candidates\n"
                         "No candidates: the build does not say why.\n")

    def test_filters(self):
        self.assertEqual(self.succeed("candidates", "bank", "--filters"),
                         "     PAIRS  FILTER\n"
                         "4000000000  one thread\n"
                         "        30  a common lock\n"
                         "         5  candidates\n"
                         "\n"
                         "MILLISECONDS  PHASE\n"
                         "        1500  points-to\n"
                         "          20  threads\n"
                         "\n"
                         "CALLS  OBJECTS  UNKNOWN FUNCTION\n"
                         "    2        7  ioctl\n")
        self.make_sidecar("bank.racehive", ID_A, "none")
        self.assertEqual(self.succeed("candidates", "bank", "--filters"),
                         "PAIRS  FILTER\n    0  candidates\n")

    def test_colours_only_on_a_terminal(self):
        os.environ.pop("NO_COLOR", None)
        self.assertNotIn("\033", self.succeed("candidates", "bank"))
        seen = self.on_terminal("candidates", "bank", TERM="xterm")
        self.assertIn(b"\033[1mscore 85\033[0m", seen)
        self.assertIn(b"\033[33mwrite\033[0m", seen)
        self.assertNotIn(b"\033[31m", seen)
        for words in (["--filters"], ["--why-not=bank.c:41"]):
            self.assertIn(b"\033[1m", self.on_terminal("candidates", "bank", *words, TERM="xterm"))
        self.assertNotIn(b"\033", self.on_terminal("candidates", "bank", TERM="dumb"))
        self.assertNotIn(b"\033", self.on_terminal("candidates", "bank", TERM="xterm",
                                                   NO_COLOR="1"))

    def test_sizes_of_strings_in_the_table_of_sites(self):
        self.assertRegex(self.succeed("sites", "bank"), r"bank\.c:99:3 +read +>=1 +audit +name ")


class Json(CandidatesCase):
    def test_all_fields(self):
        report = self.json()
        candidates = report.pop("candidates")
        self.assertEqual(report, {
            "tool": "racehive", "version": "0.1.0", "program": "bank", "build_id": ID_A,
            "totals": {"candidates": 5, "matching": 5, "sites": 7, "groups": 4},
            "filters": [{"name": "one thread", "pairs": 4000000000},
                        {"name": "a common lock", "pairs": 30},
                        {"name": "candidates", "pairs": 5}],
            "phases": [{"name": "points-to", "milliseconds": 1500},
                       {"name": "threads", "milliseconds": 20}],
            "unknown_functions": [{"name": "ioctl", "calls": 2, "objects": 7}]})
        self.assertEqual([c["id"] for c in candidates], [BUSY, LOCKED, READ_WRITE, ITSELF, MIXED])
        self.assertEqual({c["verdict"] for c in candidates}, {"unknown"})
        self.assertEqual([c["score"] for c in candidates], [100, 85, 60, 60, 40])
        self.assertEqual([c["busy_wait"] for c in candidates], [True] + 4 * [False])
        self.assertEqual(candidates[0]["object"], None)
        self.assertEqual(candidates[1], {
            "id": LOCKED, "verdict": "unknown",
            "first": {"file": self.path("bank.c"), "line": 41, "column": 7, "function": "deposit",
                      "access": "write", "size": 8, "expression": "account->balance", "locks": "",
                      "threads": "worker x many", "fingerprint": "0000000000000001"},
            "second": {"file": self.path("bank.c"), "line": 50, "column": 3, "function": "audit",
                       "access": "read", "size": 8, "expression": "account->balance",
                       "locks": "&bank->lock", "threads": "main",
                       "fingerprint": "0000000000000002"},
            "score": 85, "why": "no lock in common (60), a lock elsewhere (25)",
            "object": "heap block from bank.c:12", "busy_wait": False})

    def test_what_is_inlined_atomic_or_unknown(self):
        candidates = {c["id"]: c for c in self.json()["candidates"]}
        self.assertEqual(candidates[MIXED]["second"], {
            "file": self.path("stats.h"), "line": 12, "column": 5, "function": "count",
            "access": "atomic update", "size": 4, "order": "seq_cst", "expression": "counter",
            "inlined": [
                {"file": self.path("bank.c"), "line": 60, "column": 9, "function": "tick"},
                {"file": self.path("bank.c"), "line": 77, "column": 2, "function": "worker"}],
            "locks": "&stats", "threads": "worker x many", "fingerprint": "0000000000000003"})
        self.assertEqual(candidates[BUSY]["first"], {
            "file": "/elsewhere/stop.c", "line": 0, "column": 0, "function": "stop",
            "access": "write", "size": None, "expression": None, "locks": "",
            "threads": "main, handler of SIGINT", "fingerprint": "0000000000000006"})
        self.assertEqual(candidates[BUSY]["second"]["expression"], "döne[\033[31m]")

    def test_filters_and_limits_hold_for_json_too(self):
        report = self.json("--function=audit")
        self.assertEqual([c["id"] for c in report["candidates"]], [LOCKED, MIXED])
        self.assertEqual(report["totals"]["matching"], 2)
        self.assertEqual(len(self.json("--limit=3")["candidates"]), 3)
        self.assertEqual(len(self.json("--limit=0")["candidates"]), 5)
        self.make_sidecar("bank.racehive", ID_A, "none")
        self.assertEqual(self.json()["candidates"], [])


class WhyNot(CandidatesCase):
    def why_not(self, where):
        return self.succeed("candidates", "bank", "--why-not", where).splitlines()

    def test_sites_and_removed_accesses_of_a_line(self):
        self.assertEqual(self.why_not("bank.c:41"), [
            "bank.c:41:7: read of account->balance in deposit: in 1 candidate",
            "    score 60 with bank.c:41:7: write of account->balance in deposit",
            "bank.c:41:7: write of account->balance in deposit: in 3 candidates",
            "    score 85 with bank.c:50:3: read of account->balance in audit",
            "    score 60 with bank.c:41:7: read of account->balance in deposit",
            "    score 60 with itself in another thread",
            "bank.c:41:20: read of account in deposit: removed: stack slot"])
        self.assertEqual(self.why_not("bank.c:42"), [
            "bank.c:42:3: read of account->name in deposit: removed: a common lock "
            "(guarded by &bank->lock, as is the write at bank.c:30) (2 times)"])
        self.assertEqual(self.why_not("bank.c:99"), [
            "bank.c:99:3: read of name in audit: a site, but in no candidate"])

    def test_inlined_lines_count(self):
        expected = ["stats.h:12:5: atomic update of counter in count (inlined into worker): "
                    "in 1 candidate",
                    "    score 40 with near bank.c:80:1: read of counter in audit"]
        removed = ["stats.h:13:5: write in count (inlined into worker): removed: one thread"]
        self.assertEqual(self.why_not("stats.h:12"), expected)
        self.assertEqual(self.why_not("bank.c:77"), expected)
        self.assertEqual(self.why_not("bank.c:60"), expected + removed)

    def test_ways_to_name_the_line(self):
        expected = self.why_not("bank.c:42")
        for file in ("b*.c", self.path("bank.c"), "*/bank.c"):
            self.assertEqual(self.why_not(f"{file}:42"), expected)
        self.assertEqual(self.why_not("bank.c:42:3"), expected)
        self.assertEqual(self.why_not("bank.c:41:20"), self.why_not("bank.c:41")[-1:])

    def test_nothing_there(self):
        self.fail_with(1, "no memory access at bank.c:1", "candidates", "bank",
                       "--why-not=bank.c:1")
        self.fail_with(1, "at bank.c:42:4", "candidates", "bank", "--why-not=bank.c:42:4")
        self.fail_with(1, "no memory access in a file 'tank.c'", "candidates", "bank",
                       "--why-not=tank.c:42")

    def test_bad_places(self):
        for where in ("bank.c", "bank.c:", ":41", "bank.c:x", "bank.c:-1", "bank.c:0", "41", ""):
            self.fail_with(2, "--why-not needs a place as FILE:LINE", "candidates", "bank",
                           f"--why-not={where}")


class BadInput(CandidatesCase):
    def test_bad_usage(self):
        self.fail_with(2, "which program?", "candidates")
        self.fail_with(2, "one program at a time", "candidates", "bank", "bank")
        self.fail_with(2, "did you mean '--filters'?", "candidates", "--filter", "bank")
        self.fail_with(2, "needs a whole number", "candidates", "--limit=few", "bank")
        self.fail_with(2, "--json cannot be used with --filters", "candidates", "--json", "--filters",
                       "bank")
        self.fail_with(2, "--json cannot be used with --why-not", "candidates", "--json",
                       "--why-not=a.c:1", "bank")
        self.fail_with(2, "do not go together", "candidates", "--filters", "--why-not=a.c:1",
                       "bank")

    def test_bad_programs(self):
        self.fail_with(1, "there is no file 'missing'", "candidates", "missing")
        self.write("plain", elf(ID_A, instrumented=False))
        self.fail_with(1, "plain was not built with racehive-cc", "candidates", "plain")
        self.write("alone", elf("33aabbcc"))
        self.fail_with(1, "neither beside it nor", "candidates", "alone")
        self.fail_with(1, "belongs to another build", "candidates", "alone",
                       "--symbols=bank.racehive")

    def test_without_analysis(self):
        self.make_sidecar("bank.racehive", ID_A, "unanalysed")
        for words in ([], ["--json"], ["--filters"], ["--why-not=bank.c:41"]):
            self.fail_with(1, "left out the analysis of the program: the profile is testing",
                           "candidates", "bank", *words)

    def test_damaged_file(self):
        with open(self.path("bank.racehive"), "r+b") as file:
            file.truncate(20480)
        self.fail_with(1, "damaged", "candidates", "bank")


class Output(CandidatesCase):
    WAYS = (["candidates", "bank"], ["candidates", "bank", "--json"],
            ["candidates", "bank", "--filters"], ["candidates", "bank", "--why-not=bank.c:41"])

    def test_full_disk(self):
        for words in self.WAYS:
            with open("/dev/full", "wb") as full:
                self.fail_with(1, "No space left on device", *words, stdout=full)


class Vast(CandidatesCase):
    """Three classes of 2000 sites, all with each other: 18 million candidates."""
    content = "vast"
    # Held in memory, two numbers a candidate would already be twice as much.
    MEMORY_LIMIT_KB = 150 * 1024

    def test_a_few_are_shown_at_once(self):
        summary, blocks, rest = self.text()
        self.assertEqual(summary, "bank: 18003000 candidates of 6000 sites, in 6 groups")
        self.assertEqual(len(blocks), 50)
        self.assertEqual(rest, ["… and 18002950 more (--limit=0 shows all, --json for machines)"])
        summary, _, _ = self.text("--limit=1", "--function=bulk")
        self.assertNotIn("match", summary)

    def test_one_line_among_millions(self):
        lines = self.succeed("candidates", "bank", "--why-not=bulk.c:3000").splitlines()
        self.assertEqual(lines[0], "/bulk.c:3000:1: write of words[i] in bulk: in 6000 candidates")
        self.assertEqual(lines[-1], "    … and 5997 more")

    def stream(self, size, *words):
        """The first `size` bytes of the output, or all, and the most memory used, in KB."""
        # A sanitizer would keep much of what was freed.
        environment = dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=1")
        child = subprocess.Popen([RACEHIVE, "candidates", "bank", *words], cwd=self.folder,
                                 env=environment, stdout=subprocess.PIPE)
        head = child.stdout.read(size)
        child.stdout.close()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        return head, child.returncode, usage.ru_maxrss

    def test_output_is_streamed_in_little_memory(self):
        for words in (["--json"], ["--limit=0"]):
            head, status, memory = self.stream(32 << 20, *words)
            self.assertEqual((len(head), status), (32 << 20, -signal.SIGPIPE))
            self.assertLess(memory, self.MEMORY_LIMIT_KB)

    def test_a_long_document_is_whole(self):
        text, status, memory = self.stream(-1, "--json", "--limit=20000")
        self.assertEqual(status, 0)
        self.assertLess(memory, self.MEMORY_LIMIT_KB)
        candidates = json.loads(text)["candidates"]
        self.assertEqual(len({c["id"] for c in candidates}), 20000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
