#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the command racehive, on a sidecar that make_sidecar writes.

Usage: cli_test.py RACEHIVE MAKE_SIDECAR [unittest option...]
"""
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import unittest

from harness import ID_A, ID_B, RACEHIVE, Case, elf


class Dispatch(Case):
    def test_version(self):
        self.assertEqual(self.succeed("--version"), "racehive 0.1.0\n")

    def test_help_lists_what_exists_and_nothing_else(self):
        text = self.succeed("--help")
        self.assertEqual(text, self.succeed("-h"))
        for present in ("candidates", "report", "run", "sites"):
            self.assertIn(f"\n  {present} ", text)
        for absent in ("hive serve", "classify", "sketch"):
            self.assertNotIn(f"\n  {absent}", text)

    def test_help_of_a_subcommand(self):
        text = self.succeed("sites", "--help")
        self.assertIn("Usage: racehive sites", text)
        for option in ("--json", "--symbols=FILE", "--file=GLOB", "--function=NAME", "--limit=N"):
            self.assertIn(f"\n  {option} ", text)

    def test_bad_usage(self):
        self.fail_with(2, "which subcommand?")
        self.fail_with(2, "did you mean 'sites'?", "site")
        self.fail_with(2, "unknown subcommand 'frobnicate'", "frobnicate")
        self.fail_with(2, "unknown subcommand ''", "")
        self.fail_with(2, "unknown option '--frobnicate'", "--frobnicate")
        self.fail_with(2, "did you mean '--version'?", "--verson")
        self.fail_with(2, "which program?", "sites")
        self.fail_with(2, "one program at a time", "sites", "bank", "bank")
        self.fail_with(2, "did you mean '--json'?", "sites", "--jsno", "bank")
        self.fail_with(2, "needs a value", "sites", "bank", "--symbols")
        self.fail_with(2, "needs a whole number", "sites", "bank", "--limit=many")

    def test_subcommands_of_later_versions(self):
        for name in ("hive", "agent", "classify", "sketch"):
            self.fail_with(2, f"'{name}' is not part of this version", name, "bank")


class Completion(Case):
    """What bash offers behind `racehive ...`, by the script that is installed."""

    SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts",
                          "completion", "racehive.bash")

    def offered(self, *words):
        path = os.path.dirname(RACEHIVE) + os.pathsep + os.environ["PATH"]
        done = subprocess.run(
            ["bash", "-c", 'source "$1"; shift; COMP_WORDS=(racehive "$@"); COMP_CWORD=$#; '
             'compopt() { :; }; _racehive; printf "%s\\n" "${COMPREPLY[@]}"',
             "bash", self.SCRIPT, *words],
            capture_output=True, text=True, cwd=self.folder, env=dict(os.environ, PATH=path),
            check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_subcommands(self):
        self.assertIn("report", self.offered("re"))
        self.assertNotIn("run", self.offered("re"))
        self.assertIn("run", self.offered(""))

    def test_options_are_those_of_the_subcommand(self):
        self.assertEqual(self.offered("sites", "--js"), ["--json"])
        self.assertEqual(self.offered("sites", "--lim"), ["--limit="])
        self.assertNotIn("--runs=", self.offered("sites", "--"))

    def test_files(self):
        self.assertEqual(self.offered("sites", "ban"), ["bank", "bank.racehive"])


class Manual(Case):
    FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "man")

    def manual(self, name):
        with open(os.path.join(self.FOLDER, name), encoding="utf-8") as page:
            return page.read()

    def test_options_and_manual_agree(self):
        for words, page in ((["candidates"], "racehive-candidates.1"),
                            (["report"], "racehive-report.1"),
                            (["run"], "racehive-run.1"),
                            (["sites"], "racehive-sites.1"),
                            (["symbolize"], "racehive-symbolize.1"),
                            (["test"], "racehive-test.1"),
                            (["doctor"], "racehive-doctor.1"), ([], "racehive.1")):
            known = set(re.findall(r"^ +(?:-h, )?--([\w-]+)", self.succeed(*words, "--help"), re.M))
            told = set(re.findall(r"^\.It .*Fl -([\w-]+)", self.manual(page), re.M))
            self.assertEqual(told, known, page)

    def test_subcommands_and_manual_agree(self):
        listed = self.succeed("--help").split("Subcommands:\n")[1].split("\n\n")[0]
        known = set(re.findall(r"^  (\w+) ", listed, re.M))
        told = set(re.findall(r"^\.It Cm (\w+)", self.manual("racehive.1"), re.M))
        self.assertEqual(told, known)

    def test_every_loss_is_explained(self):
        with open(os.path.join(self.FOLDER, "..", "..", "include", "racehive", "control.h"),
                  encoding="utf-8") as file:
            rows = file.read().split("#define RH_LOSSES(X)")[1].split("\n\n")[0]
        page = self.manual("racehive-report.1").split(".Sh LOSSES\n")[1].split("\n.Sh")[0]
        items = [item for line in re.findall(r"^\.It Li (.+)$", page, re.M) for item in line.split(" , ")]
        said = re.findall(r'X\(\w+, "([^"]+)"\)', rows)
        self.assertGreater(len(said), 20)
        for words in said:
            self.assertTrue(any(words.startswith(item) for item in items), words)

    def test_pages_are_well_formed(self):
        if not shutil.which("groff"):
            self.skipTest("there is no groff to format the manual")
        for name in sorted(os.listdir(self.FOLDER)):
            ran = subprocess.run(["groff", "-ww", "-mandoc", "-Tutf8",
                                  os.path.join(self.FOLDER, name)],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual((ran.returncode, ran.stderr), (0, b""), name)


class Table(Case):
    def rows(self, *words):
        """The words of each row, and the summary behind the empty line."""
        table, _, summary = self.succeed("sites", "bank", *words).rpartition("\n\n")
        return table.splitlines(), summary

    def test_columns_are_aligned(self):
        lines, _ = self.rows()
        columns = ("WHERE", "ACCESS", "FUNCTION", "EXPRESSION", "ID")
        starts = [lines[0].index(title) for title in columns]
        end_of_size = lines[0].index("SIZE") + 4
        self.assertEqual(len(lines), 7)
        for line in lines[1:]:
            for start in starts:
                self.assertEqual(line[start - 2:start].strip(), "", line)
                self.assertNotEqual(line[start], " ", line)
            self.assertNotEqual(line[end_of_size - 1], " ", line)
            self.assertRegex(line, r"[0-9a-f]{16}$")

    def test_rows_tell_all(self):
        lines, _ = self.rows()
        rows = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines[1:]]
        self.assertEqual(rows, [
            ["3", "/elsewhere/copy.c:?", "read", "varies", "worker", "-", "0000000000000003"],
            ["0", "bank.c:41:7", "read", "8", "deposit", "account->balance", "fedcba9876543210"],
            ["1", "bank.c:41:7", "write", "8", "deposit", "account->balance", "0000000000000001"],
            ["5", "near bank.c:91:1", "write", "<=32", "größe",
             "nähe[?[31m'\"?]", "0000000000000005"],
            ["2", "stats.h:12:5", "atomic update", "4", "count (inlined into worker)", "counter",
             "0000000000000002"],
            ["4", "?", "fence", "-", "_start", "-", "0000000000000004"],
        ])

    def test_summary(self):
        _, summary = self.rows()
        self.assertEqual(summary, "bank: 6 sites in 4 functions, 4 keys; 8 accesses skipped:\n"
                                  "         7  constant data\n"
                                  "         1  thread-local variable\n")

    def test_filters(self):
        def count(*words):
            lines, summary = self.rows(*words)
            self.assertIn(f"6 sites in 4 functions, 4 keys; {len(lines) - 1} shown; ", summary)
            return len(lines) - 1
        self.assertEqual(count("--file=bank.c"), 3)
        self.assertEqual(count("--file=*.h"), 1)
        self.assertEqual(count("--file=/elsewhere/*"), 1)
        self.assertEqual(count(f"--file={self.folder}/*"), 4)
        self.assertEqual(count("--function=deposit"), 2)
        self.assertEqual(count("--function=worker"), 2)
        self.assertEqual(count("--function=tick"), 1)
        self.assertEqual(count("--function=_Zodd"), 1)
        self.assertEqual(count("--limit=2"), 2)

    def test_nothing_matches(self):
        text = self.succeed("sites", "bank", "--function=nobody")
        self.assertTrue(text.startswith("bank: 6 sites in 4 functions, 4 keys; 0 shown; "), text)
        text = self.succeed("sites", "bank", "--limit=0")
        self.assertTrue(text.startswith("bank: 6 sites"), text)

    def test_from_another_folder_paths_stay_whole(self):
        ran = subprocess.run([RACEHIVE, "sites", self.path("bank")], cwd="/", check=True,
                             stdout=subprocess.PIPE)
        # The root folder is above everything: only its slash is cut off.
        self.assertIn(f"  {self.folder[1:]}/bank.c:41:7 ", ran.stdout.decode())
        inner = self.path("inner")
        os.mkdir(inner)
        ran = subprocess.run([RACEHIVE, "sites", "../bank"], cwd=inner, check=True,
                             stdout=subprocess.PIPE)
        self.assertIn(f"  {self.folder}/bank.c:41:7 ", ran.stdout.decode())

    def test_colours_only_on_a_terminal(self):
        os.environ.pop("NO_COLOR", None)
        self.assertNotIn("\033", self.succeed("sites", "bank"))
        self.assertIn(b"\033[1mWHERE\033[0m", self.on_terminal("sites", "bank", TERM="xterm"))
        self.assertNotIn(b"\033", self.on_terminal("sites", "bank", TERM="dumb"))
        self.assertNotIn(b"\033", self.on_terminal("sites", "bank", TERM="xterm", NO_COLOR="1"))


class Json(Case):
    def test_all_fields(self):
        report = json.loads(self.succeed("sites", "--json", "bank"))
        sites = {site["number"]: site for site in report.pop("sites")}
        self.assertEqual(report, {
            "tool": "racehive", "version": "0.1.0", "program": "bank", "build_id": ID_A,
            "skipped": {"constant data": 7, "gather or scatter": 0, "thread-local variable": 1}})
        bank, stats = self.path("bank.c"), self.path("stats.h")
        self.assertEqual(sites, {
            0: {"id": "fedcba9876543210", "number": 0, "file": bank, "line": 41, "column": 7,
                "function": "deposit", "access": "read", "size": 8,
                "expression": "account->balance", "key": 0, "inlined_at": []},
            1: {"id": "0000000000000001", "number": 1, "file": bank, "line": 41, "column": 7,
                "function": "deposit", "access": "write", "size": 8,
                "expression": "account->balance", "key": 0, "inlined_at": []},
            2: {"id": "0000000000000002", "number": 2, "file": stats, "line": 12, "column": 5,
                "function": "count", "access": "atomic update", "size": 4, "order": "seq_cst",
                "expression": "counter", "key": 1, "inlined_at": [
                    {"file": bank, "line": 60, "column": 9, "function": "tick"},
                    {"file": bank, "line": 77, "column": 2, "function": "worker"}]},
            3: {"id": "0000000000000003", "number": 3, "file": "/elsewhere/copy.c", "line": 0,
                "column": 0, "function": "worker", "access": "read", "size": None,
                "expression": None, "key": 2, "inlined_at": []},
            4: {"id": "0000000000000004", "number": 4, "file": None, "line": 0, "column": 0,
                "function": "_start", "access": "fence", "size": 0, "order": "acquire",
                "expression": None, "key": None, "inlined_at": []},
            5: {"id": "0000000000000005", "number": 5, "file": bank, "line": 91, "column": 1,
                "near": True,
                "function": "größe", "access": "write", "size": 32,
                "expression": "nähe[\033[31m'\"\n]", "key": 3, "inlined_at": []},
        })

    def test_filters_hold_for_json_too(self):
        report = json.loads(self.succeed("sites", "--json", "--file=*.h", "bank"))
        self.assertEqual([site["number"] for site in report["sites"]], [2])
        report = json.loads(self.succeed("sites", "--json", "--limit=0", "bank"))
        self.assertEqual(report["sites"], [])

    def test_many_sites(self):
        self.make_sidecar("bank.racehive", ID_A, content=20000)
        report = json.loads(self.succeed("sites", "bank", "--json"))
        self.assertEqual(sorted(site["number"] for site in report["sites"]), list(range(20006)))


class Finding(Case):
    def sites(self, *words):
        return len(json.loads(self.succeed("sites", "--json", *words))["sites"])

    def test_ways_that_lead_to_the_sidecar(self):
        self.assertEqual(self.sites("bank"), 6)
        self.assertEqual(self.sites(self.path("bank")), 6)
        self.assertEqual(self.sites("bank.racehive"), 6)
        os.symlink("bank", self.path("link"))
        self.assertEqual(self.sites("link"), 6)
        os.rename(self.path("bank.racehive"), self.path("moved"))
        self.assertEqual(self.sites("bank", "--symbols=moved"), 6)
        self.make_sidecar("data/racehive/by-build-id/11/aabbcc.racehive", ID_A, content=1)
        self.assertEqual(self.sites("bank"), 7)
        self.make_sidecar("bank.racehive", ID_B)
        self.assertEqual(self.sites("bank"), 7)

    def test_without_a_home(self):
        environment = {"PATH": os.environ["PATH"], "HOME": "not/absolute"}
        ran = subprocess.run([RACEHIVE, "sites", "bank"], cwd=self.folder, env=environment,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((ran.returncode, ran.stderr), (0, b""))


class BadInput(Case):
    def test_bad_programs(self):
        self.fail_with(1, "there is no file 'missing'", "sites", "missing")
        self.fail_with(1, "there is no file 'bank/x'", "sites", "bank/x")
        self.fail_with(1, "there is no file ''", "sites", "")
        self.fail_with(1, "is a directory", "sites", ".")
        self.fail_with(1, "not a regular file", "sites", "/dev/null")
        self.write("text", b"hello\n")
        self.fail_with(1, "not an ELF file", "sites", "text")
        self.write("empty", b"")
        self.fail_with(1, "not an ELF file", "sites", "empty")
        self.write("wrapper", b"#!/bin/sh\n")
        self.fail_with(1, "is a script", "sites", "wrapper")
        self.write("cut", elf(ID_A)[:100])
        self.fail_with(1, "truncated", "sites", "cut")
        self.write("plain", elf(ID_A, instrumented=False))
        self.fail_with(1, "plain was not built with racehive-cc", "sites", "plain")
        self.fail_with(1, "was not built with racehive-cc", "sites", RACEHIVE)
        self.write("new\nline", b"hello\n")
        self.fail_with(1, "not an ELF file", "sites", "new\nline")

    def test_bad_sidecars(self):
        self.write("alone", elf(ID_A))
        self.fail_with(1, "neither beside it nor", "sites", "alone")
        self.make_sidecar("bank.racehive", ID_B)
        self.fail_with(1, "belongs to another build of bank", "sites", "bank")
        self.fail_with(1, "belongs to another build", "sites", "alone", "--symbols=bank.racehive")
        self.fail_with(1, "missing", "sites", "bank", "--symbols=missing")
        self.fail_with(1, "is a directory", "sites", "bank", "--symbols=.")
        self.fail_with(1, "not a .racehive file", "sites", "bank", "--symbols=bank")
        self.write("bank.racehive", b"")
        self.fail_with(1, "not a .racehive file", "sites", "bank")
        self.write("bank.racehive", b"hello" * 1000)
        self.fail_with(1, "not a .racehive file", "sites", "bank")
        self.make_sidecar("bank.racehive", ID_A, content=1000)
        with open(self.path("bank.racehive"), "r+b") as file:
            file.truncate(20480)
        self.fail_with(1, "damaged", "sites", "bank")
        self.fail_with(1, "damaged", "sites", "--json", "bank.racehive")

    def test_newer_version(self):
        with open(self.path("bank.racehive"), "r+b") as file:
            file.seek(60)  # user_version in SQLite's header
            file.write(struct.pack(">I", 1000))
        self.fail_with(1, "update racehive", "sites", "bank")

    def test_older_version(self):
        with open(self.path("bank.racehive"), "r+b") as file:
            file.seek(60)
            file.write(struct.pack(">I", 1))
        self.fail_with(1, "build the program again", "sites", "bank")

    def as_nobody(self):
        """Options for a child that may not read everything; skips where there is no such child."""
        if os.geteuid() != 0:
            return {}
        try:
            subprocess.run([RACEHIVE, "--version"], user=65534, check=True,
                           stdout=subprocess.DEVNULL)
        except (OSError, subprocess.SubprocessError):
            self.skipTest("root cannot become another user that may run racehive")
        return {"user": 65534}

    def test_unreadable_files(self):
        nobody = self.as_nobody()
        os.chmod(self.path("bank.racehive"), 0)
        self.fail_with(1, "bank.racehive: Permission denied", "sites", "bank", **nobody)
        os.chmod(self.path("bank"), 0)
        self.fail_with(1, "bank: Permission denied", "sites", "bank", **nobody)

    def test_read_only_folder(self):
        nobody = self.as_nobody()
        before = sorted(os.listdir(self.folder))
        os.chmod(self.folder, 0o555)
        ran = self.run_racehive("sites", "bank", **nobody)
        os.chmod(self.folder, 0o755)
        self.assertEqual((ran.returncode, ran.stderr), (0, b""))
        self.assertEqual(sorted(os.listdir(self.folder)), before)


class Output(Case):
    WAYS = (["sites", "bank"], ["sites", "--json", "bank"], ["--help"], ["--version"])

    def test_full_disk(self):
        self.make_sidecar("bank.racehive", ID_A, content=2000)
        for words in self.WAYS:
            with open("/dev/full", "wb") as full:
                self.fail_with(1, "No space left on device", *words, stdout=full)

    def test_closed_output(self):
        for words in self.WAYS:
            self.fail_with(1, "cannot write", *words, stdout=None,
                           preexec_fn=lambda: os.close(1))

    def test_file_size_limit(self):
        self.make_sidecar("bank.racehive", ID_A, content=2000)

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
        for words in self.WAYS[:2]:
            with open(self.path("out"), "wb") as out:
                self.fail_with(1, "cannot write", *words, stdout=out, preexec_fn=limit)

    def test_broken_pipe_is_quiet(self):
        self.make_sidecar("bank.racehive", ID_A, content=20000)
        for ignored in (False, True):
            for words in self.WAYS[:2]:
                child = subprocess.Popen([RACEHIVE, *words], cwd=self.folder,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                         restore_signals=not ignored)
                child.stdout.readline()
                child.stdout.close()
                self.assertEqual(child.stderr.read(), b"")
                child.stderr.close()
                self.assertEqual(child.wait(), -signal.SIGPIPE)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
