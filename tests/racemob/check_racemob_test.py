#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests check_racemob.py and run_generated.py against a racehive that only plays the part: a script
that writes the report it was told to."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import runs  # noqa: E402

# Builds nothing: a program is a copy of its first source. FAKE_CC_FAILS names one that does not
# build.
FAKE_CC = """#!{python}
import os, shutil, sys
source = [a for a in sys.argv[1:] if a.endswith((".c", ".cc"))][0]
if os.path.basename(source) == os.environ.get("FAKE_CC_FAILS"):
    sys.exit("meant to fail")
with open(os.environ["FAKE_LOG"], "a") as log:
    log.write(f"cc {{' '.join(sys.argv[1:])}}\\n")
shutil.copy(source, sys.argv[sys.argv.index("-o") + 1])
"""

# Writes FAKE_REPORT, in which races are told by (file, line, line) and may depend on the arguments. A
# second line of 0 is an uninstrumented access.
FAKE_RACEHIVE = """#!{python}
import json, os, sys, time
play = json.loads(os.environ["FAKE_REPORT"])
with open(os.environ["FAKE_LOG"], "a") as log:
    log.write(f"{{os.environ.get('RACEHIVE_OPTIONS', '')}}|{{' '.join(sys.argv[1:])}}\\n")
assert sys.argv[1] == "run"
options = dict(a[2:].split("=", 1) for a in sys.argv[2:] if a.startswith("--") and "=" in a)
args = sys.argv[2 + sum(a.startswith("--") and "=" in a for a in sys.argv[2:]) + 1:]
assert not os.path.exists(options["store"])
if "sleep" in play:
    time.sleep(play["sleep"])
def side(file, line):
    return {{"file": "/somewhere/" + (file or ""), "line": line, "column": 1, "function": "f",
             "access": "write", "size": 4, "expression": "x"}}
candidates = []
for kind in ("true-race", "unknown"):
    for file, a, b in play.get(kind, {{}}).get(" ".join(args), []):
        candidates.append({{
            "id": str(len(candidates)), "verdict": kind, "first": side(file, a),
            "second": side(file, b) if b else dict(side("", 0), file=None, uninstrumented=True),
            "outcomes": {{"race": 1, "no_race": 2, "timeout": 3, "not_seen": 4}},
            "evidence": {{"order": "primary", "kind": "collision", "consequence": "none",
                          "stacks": [["f"], ["g"]]}}}})
report = {{"tool": "racehive", "version": "0", "program": "p", "build_id": "0",
           "detector": options.get("detector", "racemob"), "runs": 1, "candidates": candidates}}
report.update(play.get("replace", {{}}))
for name in play.get("drop", []):
    del report[name]
if not play.get("silent"):
    with open(options["json"], "w") as file:
        file.write(play.get("text") or json.dumps(report))
sys.exit(play.get("status", 66 if play.get("true-race", {{}}).get(" ".join(args)) else 0))
"""

PROGRAMS = {
    "clean/good.c": "int x;\n",
    "clean/better.cc": "int x;\n",
    "racy/bad.c": "int x; // RACE: x\nint y; // NORACE\nint z; // RACE: x\n",
    "racy/alone.c": "int x; // RACE\n",
    "figures/ways.c": "int x; // RACE: x\nint y; // RACE: y\n"
                      "// ARGS: in1 -> x\n// ARGS: --in2 -> y\n// ARGS: both\n// ARGS: none ->\n",
}


class Stage(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.log = os.path.join(self.folder, "log")
        os.makedirs(os.path.join(self.folder, "bin"))
        for name, text in (("racehive", FAKE_RACEHIVE), ("racehive-cc", FAKE_CC),
                           ("racehive-c++", FAKE_CC)):
            self.write(f"bin/{name}", text.format(python=sys.executable))
            os.chmod(os.path.join(self.folder, "bin", name), 0o755)
        for name, text in PROGRAMS.items():
            self.write(f"programs/{name}", text)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def logged(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read()

    def call(self, script, play, *options, **env):
        done = subprocess.run([sys.executable, "-B", os.path.join(HERE, script),
                               f"--build={self.folder}", *options],
                              env=dict(os.environ, FAKE_LOG=self.log, FAKE_REPORT=json.dumps(play),
                                       **env),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout


class CheckTest(Stage):
    def check(self, play, *options, **env):
        return self.call("check_racemob.py", play, f"--programs={self.folder}/programs", *options,
                         **env)

    def test_clean_programs_pass_without_races(self):
        code, text = self.check({"unknown": {"": [["good.c", 1, 1]]}}, "--clean")
        self.assertEqual(code, 0, text)
        self.assertIn("pass   clean/good.c -O2", text)
        self.assertIn("2 programs: 2 pass, 0 FAIL, 0 ERROR, 0 skip; 0 of 0 races found, 0 false",
                      text)

    def test_a_race_in_a_clean_program_is_shown_with_its_evidence(self):
        code, text = self.check({"true-race": {"": [["good.c", 1, 1]]}}, "--only=good.c")
        self.assertEqual(code, 1)
        self.assertIn("FAIL   clean/good.c -O2: 1 false", text)
        self.assertIn("false: good.c:1 and good.c:1", text)
        self.assertIn('"kind": "collision"', text)

    def test_a_race_in_a_library_is_false_too(self):
        code, text = self.check({"true-race": {"": [["atomic_base.h", 9, 9]]}}, "--only=good.c")
        self.assertEqual(code, 1, text)

    def test_an_access_without_a_place_is_no_reason_to_stumble(self):
        code, text = self.check({"true-race": {"": [[None, 0, 0]]}}, "--only=good.c")
        self.assertEqual(code, 1)
        self.assertIn("1 false", text)

    def test_a_race_counts_in_either_order(self):
        for a, b in ((1, 3), (3, 1)):
            code, text = self.check({"true-race": {"": [["bad.c", a, b]]}}, "--only=bad.c")
            self.assertEqual(code, 0, text)
            self.assertIn("1 of 1 races found, 0 false", text)

    def test_a_line_may_race_with_itself(self):
        code, text = self.check({"true-race": {"": [["alone.c", 1, 1]]}}, "--only=alone.c")
        self.assertEqual(code, 0, text)

    def test_a_missed_race_is_named_with_its_fate(self):
        code, text = self.check({"unknown": {"": [["bad.c", 1, 3]]}}, "--only=bad.c")
        self.assertEqual(code, 1)
        self.assertIn("FAIL   racy/bad.c -O2: 1 of 1 races missed", text)
        self.assertIn("missed: bad.c:1 and bad.c:3: unknown, race 1, no_race 2, timeout 3, "
                      "not_seen 4", text)
        code, text = self.check({}, "--only=bad.c")
        self.assertIn("missed: bad.c:1 and bad.c:3: no candidate has these lines", text)

    def test_other_pairs_in_a_racy_program_are_false(self):
        for a, b in ((2, 2), (1, 2), (1, 1), (3, 3)):
            code, text = self.check({"true-race": {"": [["bad.c", 1, 3], ["bad.c", a, b]]}},
                                    "--only=bad.c")
            self.assertEqual(code, 1)
            self.assertIn("FAIL   racy/bad.c -O2: 1 false", text)

    def test_an_uninstrumented_access_may_only_be_where_there_is_a_race(self):
        race = ["bad.c", 1, 3]
        code, text = self.check({"true-race": {"": [race, ["bad.c", 3, 0]]}}, "--only=bad.c")
        self.assertEqual(code, 0, text)
        code, text = self.check({"true-race": {"": [race, ["bad.c", 2, 0]]}}, "--only=bad.c")
        self.assertEqual(code, 1)
        self.assertIn("false: bad.c:2 and an uninstrumented access", text)
        code, text = self.check({"true-race": {"": [["bad.c", 1, 0]]}}, "--only=bad.c")
        self.assertIn("missed: bad.c:1 and bad.c:3", text)
        code, text = self.check({"true-race": {"": [["good.c", 1, 0]]}}, "--clean")
        self.assertEqual(code, 1)

    def test_each_way_has_races_of_its_own(self):
        x, y = ["ways.c", 1, 1], ["ways.c", 2, 2]
        right = {"in1": [x], "--in2": [y], "both": [x, y]}
        code, text = self.check({"true-race": right}, "--figures")
        self.assertEqual(code, 0, text)
        self.assertIn("4 of 4 races found", text)
        code, text = self.check({"true-race": dict(right, none=[x])}, "--figures")
        self.assertEqual(code, 1)
        self.assertIn("with none: false: ways.c:1 and ways.c:1", text)
        code, text = self.check({"true-race": dict(right, in1=[y])}, "--figures")
        self.assertIn("with in1: missed: ways.c:1 and ways.c:1", text)
        self.assertIn("with in1: false: ways.c:2 and ways.c:2", text)

    def test_an_unexpected_status_is_a_failure(self):
        code, text = self.check({"status": 139}, "--only=good.c")
        self.assertEqual(code, 1)
        self.assertIn("FAIL   clean/good.c -O2: did not end as it does alone", text)
        self.assertIn("ended with 139, not 0", text)
        code, text = self.check({"true-race": {"": [["bad.c", 1, 3]]}, "status": 0}, "--only=bad.c")
        self.assertEqual(code, 1)
        self.assertIn("ended with 0, not 66", text)

    def test_a_run_without_end_is_a_failure(self):
        code, text = self.check({"sleep": 60}, "--only=good.c", "--time-limit=0.5")
        self.assertEqual(code, 1)
        self.assertIn("did not end in 0 s", text)

    def test_what_cannot_be_asked_is_an_error_and_no_finding(self):
        for play in ({"silent": True, "status": 1}, {"status": 2, "silent": True},
                     {"text": "nonsense"}, {"text": "[]"}, {"drop": ["build_id"]},
                     {"replace": {"tool": "other"}}, {"replace": {"candidates": [{"id": "1"}]}}):
            code, text = self.check(play, "--only=good.c")
            self.assertEqual(code, 2, text)
            self.assertIn("ERROR  clean/good.c", text)
            self.assertIn("0 FAIL, 1 ERROR", text)

    def test_a_program_that_does_not_build_is_an_error_among_others(self):
        code, text = self.check({}, "--clean", FAKE_CC_FAILS="better.cc")
        self.assertEqual(code, 2)
        self.assertIn("1 pass, 0 FAIL, 1 ERROR", text)
        self.assertIn("meant to fail", text)
        code, text = self.check({}, FAKE_CC_FAILS="better.cc")
        self.assertEqual(code, 1, "a failure outweighs an error")

    def test_missing_tools_and_programs_are_said(self):
        code, text = self.call("check_racemob.py", {}, "--build=/nowhere")
        self.assertEqual(code, 2)
        self.assertIn("/nowhere/bin/racehive is not there", text)
        code, text = self.check({}, "--only=nothing*")
        self.assertEqual(code, 2)
        self.assertIn("no program matches", text)

    def test_annotations_that_cannot_be_meant_are_said(self):
        self.write("programs/clean/odd.c", "int x; // RACE\n")
        code, text = self.check({})
        self.assertEqual(code, 2)
        self.assertIn("a clean program with races", text)
        self.write("programs/clean/odd.c", "// ARGS: a -> b\n")
        code, text = self.check({})
        self.assertEqual(code, 2)
        self.assertIn("ARGS names b, which no line has", text)

    def test_options_reach_the_tools(self):
        code, text = self.check({}, "--only=good.c", "--detector=racechaser", "--runs=7", "-O1",
                                "-O2", "--options=pause=9", "--repeat=2", "--jobs=2",
                                RACEHIVE_OPTIONS="max_overhead=1")
        self.assertEqual(code, 0, text)
        log = self.logged()
        self.assertEqual(log.count("max_overhead=1:pause=9|run --detector=racechaser --runs=7 "
                                   "--json="), 4)
        self.assertEqual(log.count("cc -O1"), 1)
        self.assertEqual(log.count("cc -O2"), 1)
        self.assertIn("2 programs: 2 pass", text)
        self.check({}, "--only=good.c", "--users=3", "--run-options=--pause=50 --seed=1")
        self.assertIn("|run --users=3 --pause=50 --seed=1 --json=", self.logged())

    def test_every_round_must_find_the_races(self):
        code, text = self.check({}, "--only=alone.c", "--repeat=3")
        self.assertEqual(code, 1)
        self.assertIn("3 of 3 races missed", text)
        self.assertIn("round 3: missed: alone.c:1 and alone.c:1", text)


class GeneratedTest(Stage):
    SEED = "--seeds=5"

    def truth(self, mode):
        done = subprocess.run([sys.executable, "-B", os.path.join(
            os.path.dirname(HERE), "candidates", "generate.py"), "--seed=5", f"--mode={mode}",
            "-o", os.path.join(self.folder, mode)], stdout=subprocess.PIPE)
        self.assertEqual(done.returncode, 0)
        with open(os.path.join(self.folder, mode, "truth.json"), encoding="utf-8") as file:
            return json.load(file)

    def generated(self, play, *options):
        return self.call("run_generated.py", play, self.SEED, *options)

    def test_the_share_is_that_of_known_races(self):
        races = [[a["file"], a["line"], b["line"]] for a, b in self.truth("mixed")["races"]
                 if a["file"] == b["file"]]
        total = len({tuple(sorted((p["file"], p["line"]) for p in pair))
                     for pair in self.truth("mixed")["races"]})
        self.assertGreater(len(races), 0)
        code, text = self.generated({"true-race": {"": races[:1]}}, "--mode=mixed")
        self.assertEqual(code, 0, text)
        self.assertIn(f"0 false true races; 1 of {total} known races found", text)
        self.assertEqual(text.count("missed: "), total - 1)
        code, text = self.generated({"true-race": {"": races[:1]}}, "--mode=mixed",
                                    "--at-least=100.5")
        self.assertEqual(code, 1)

    def test_a_race_on_free_lines_is_a_failure(self):
        for mode in ("mixed", "guarded", "racefree"):
            place = self.truth(mode)["race_free"][0]
            code, text = self.generated(
                {"true-race": {"": [[place["file"], place["line"], place["line"]]]}},
                f"--mode={mode}")
            self.assertEqual(code, 1)
            self.assertIn(f"1 {mode} programs at -O2: 1 false true races", text)
            self.assertIn(f"FALSE: {place['file']}:{place['line']}", text)

    def test_guarded_and_mixed_are_asked_unless_told_otherwise(self):
        code, text = self.generated({}, "--jobs=2", "-O1")
        self.assertEqual(code, 0, text)
        self.assertIn("1 guarded programs at -O1: 0 false true races; 0 failed runs, 0 errors",
                      text)
        self.assertIn("1 mixed programs at -O1: 0 false true races; 0 of ", text)

    def test_errors_are_no_findings(self):
        code, text = self.generated({"text": "nonsense"}, "--mode=guarded")
        self.assertEqual(code, 2)
        self.assertIn("0 false true races; 0 failed runs, 1 errors", text)


class ReportTest(unittest.TestCase):
    def test_the_documented_example_is_read(self):
        """The form of the report as users are told it."""
        text = json.dumps({
            "tool": "racehive", "version": "0.1.0", "program": "bank", "build_id": "ab",
            "detector": "racemob", "runs": 64, "candidates": [{
                "id": "1", "verdict": "true-race",
                "first": {"file": "bank.c", "line": 41, "column": 7, "function": "deposit",
                          "access": "write", "size": 8, "expression": "account->balance"},
                "second": {"file": "bank.c", "line": 9, "column": 7, "function": "audit",
                           "access": "read", "size": 8, "expression": "account->balance"},
                "outcomes": {"race": 3, "no_race": 0, "timeout": 1, "not_seen": 20},
                "evidence": {"order": "primary", "kind": "unordered", "consequence": "none",
                             "stacks": [["deposit bank.c:41", "worker bank.c:77"],
                                        ["audit bank.c:9"]]}}]})
        report = runs.Report(runs.read_report(text, "here"), 66, 1.0)
        self.assertEqual(report.pairs, {(("bank.c", 9), ("bank.c", 41))})
        with self.assertRaises(runs.SetUpError):
            runs.read_report(text.replace('"stacks"', '"piles"'), "here")


if __name__ == "__main__":
    unittest.main()
