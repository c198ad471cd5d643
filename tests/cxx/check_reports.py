#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports on C++ programs: the reader is led to the program's own lines, in its own words.

Usage: check_reports.py --build=BUILD [--runs=N] [--more=N] [NAME...]

Each program in programs/ has a race on the lines marked

    // HEADLINE

and is run until a race is proved, and a lock behind

    // HOLDS: name

is called by that name (from -O1 on: before, it is one of the C++ library's guard). Then, in text, HTML
and SARIF, every race must be headed by a marked line of the program's own file, and nothing may show a
mangled name, an allocator, a lock or a variable of the C++ library's implementation, or advice to lock
inside its headers. Some words are shown by --full alone:

    // FULL: words

A program that may fail at one level says so, and the reason is printed if it does:

    // EXPECTED FAILURE -O0: reason
"""
import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
PATIENCE = 600  # seconds; only what hangs comes near


class Failure(Exception):
    pass


class ExpectedFailure(Exception):
    pass


def expect(holds, what, text):
    if not holds:
        raise Failure(f"{what}:\n{text}")


class Subject:
    def __init__(self, build, name, folder, level):
        self.bin = os.path.join(build, "bin")
        self.name, self.folder = name, folder
        self.source = name + ".cc"
        shutil.copy(os.path.join(PROGRAMS, self.source), folder)
        with open(os.path.join(folder, self.source), encoding="utf-8") as file:
            lines = file.readlines()
        self.marked = {n for n, line in enumerate(lines, 1) if "// HEADLINE" in line}
        self.locks = [l.split("// HOLDS:")[1].strip() for l in lines
                      if "// HOLDS:" in l and level != "-O0"]
        self.full = [l.split("// FULL:")[1].strip() for l in lines if "// FULL:" in l]
        self.failures = [l.split(f"// EXPECTED FAILURE {level}:")[1].strip() for l in lines
                         if f"// EXPECTED FAILURE {level}:" in l]
        self.env = dict(os.environ, XDG_DATA_HOME=os.path.join(folder, "data"))
        self.call("racehive-c++", "-std=c++20", "-g", level, "-pthread", self.source, "-o", name)

    def call(self, tool, *words, status=0):
        done = subprocess.run([os.path.join(self.bin, tool), *words], cwd=self.folder, text=True,
                              env=self.env, timeout=PATIENCE, capture_output=True, check=False)
        if done.returncode not in (status, 66 if words[0] == "run" else status):
            raise Failure(f"{tool} {' '.join(words)}: status {done.returncode}\n{done.stderr}")
        return done.stdout

    def find_race(self, runs, more):
        for _ in range(1 + more):
            text = self.call("racehive", "run", f"--runs={runs}", "--timeout=60", "./" + self.name)
            if "True races:" in text:
                return text
        raise Failure("no race was proved")

    def report(self, *words):
        return self.call("racehive", "report", *words, "./" + self.name)

    def is_marked(self, path, line):
        """A line that is only near may be the head of the loop or the call around a marked one."""
        return os.path.basename(path) == self.source and \
            any(abs(int(line) - at) <= 2 for at in self.marked)


def check_words(text, what):
    """Nothing of the implementation, unless it is the name of a function that the program calls."""
    expect(not re.search(r"\b_Z[A-Z0-9]", text), f"{what} has a mangled name", text)
    expect("__mutex" not in text, f"{what} names a lock as the C++ library does", text)
    expect("std::allocator<" not in text and "basic_string<" not in text,
           f"{what} has names that nobody writes", text)
    expect(not re.search(r"hold \S+ in [^\n]*/include/c\+\+/", text),
           f"{what} advises to lock inside the C++ library", text)


def check_text(subject, run):
    text = subject.report("--limit=0")
    heads = re.findall(r"^(?:near )?(\S+?):(\d+):\d+: (?:first|then): ", text, re.M)
    expect(len(heads) >= 2, "no heads in the text", text)
    for path, line in heads:
        expect(subject.is_marked(path, line), f"the text heads {path}:{line}", text)
    firsts = re.findall(r"^ +#0  .*?(\S+):(\d+):\d+", text, re.M)
    expect(len(firsts) == len(heads), "a stack has no first frame", text)
    for path, line in firsts:
        expect(subject.is_marked(path, line), f"a stack begins at {path}:{line}", text)
    for lock in subject.locks:
        expect(f", holding {lock}\n" in text, f"no side holds {lock}", text)
    check_words(text, "the text")
    title = re.search(r"^true race [^\n]*/?\w+\.(?:h|tcc):\d", text, re.M)
    expect(not title, "a title names a line of the library", text)
    for path, line in re.findall(r"^  (?:near )?(\S+?):(\d+):\d+ \w+ ", run, re.M):
        expect(subject.is_marked(path, line), f"the run's table has {path}:{line}", run)
    check_words(run, "the run's table")
    full = subject.report("--full", "--limit=0") if subject.full else ""
    for words in subject.full:
        expect(words not in text, f"'{words}' is shown without --full", text)
        expect(words in full, f"'{words}' is not shown by --full", full)


def check_html(subject):
    page = subject.report("--format=html")
    for article in re.findall(r"<article.*?</article>", page, re.S):
        heads = re.findall(r'class="place">(?:near )?([^<]*?):(\d+):\d+<', article)
        expect(len(heads) == 2, "a race of the page does not have two places", article)
        for path, line in heads:
            expect(subject.is_marked(html.unescape(path), line), f"the page heads {path}:{line}",
                   article)
    check_words(html.unescape(re.sub(r"<[^>]*>", "", page)), "the page")


def check_sarif(subject):
    results = json.loads(subject.report("--format=sarif"))["runs"][0]["results"]
    expect(results, "no results in SARIF", results)
    for result in results:
        for location in result["locations"] + result["relatedLocations"]:
            at = location["physicalLocation"]
            expect(subject.is_marked(at["artifactLocation"]["uri"], at["region"]["startLine"]),
                   "SARIF points elsewhere", json.dumps(at))
        check_words(json.dumps(result["message"]), "SARIF's message")


def check_candidates(subject):
    check_words(subject.call("racehive", "candidates", subject.name), "the list of candidates")
    for candidate in json.loads(subject.call("racehive", "candidates", "--json", subject.name))["candidates"]:
        sides = [candidate[side][what] for side in ("first", "second") for what in ("locks", "threads")]
        check_words("\n".join([candidate["object"], *sides]), "a candidate as JSON")


def check(options, name, level):
    folder = tempfile.mkdtemp()
    try:
        subject = Subject(options.build, name, folder, level)
        run = subject.find_race(options.runs, options.more)
        try:
            check_text(subject, run)
            check_html(subject)
            check_sarif(subject)
        except Failure as failure:
            if subject.failures:
                raise ExpectedFailure("; ".join(subject.failures)) from failure
            raise
        finally:
            check_candidates(subject)
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--more", type=int, default=20)
    parser.add_argument("--level", default="-O2")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    names = options.names or sorted(n[:-3] for n in os.listdir(PROGRAMS) if n.endswith(".cc"))
    failed = 0
    for name in names:
        try:
            check(options, name, options.level)
            print(f"{name} {options.level}: ok", flush=True)
        except ExpectedFailure as failure:
            print(f"EXPECTED FAILURE: {name} {options.level}: {failure}", flush=True)
        except Failure as failure:
            failed += 1
            print(f"{name} {options.level}: FAILED: {failure}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
