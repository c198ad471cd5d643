#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks fasttrack on programs that are hard to follow: threads that join main, a main that ends by
pthread_exit, a thousand threads alive, a hundred thousand in sequence, fork without exec, plugins, a
lock in each of many objects; also linked with -static, and with 4 GB of addresses. A program that
names plugins behind `// PLUGIN:` is built once more for each, as a library, with -DPLUGIN=NAME; it
finds them in FOLDER.

Each ends as it does alone. It reports the races of its comments; none if it has no such comment. A
race whose program is listed in PERHAPS need not be found: two threads may share a clock.

Usage: check_special.py BUILD [--sanitized]
"""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "special")
PERHAPS = ("thousand_alive",)
STATIC = ("forks", "main_exits")
GIGABYTE = 1 << 30
RACE_FOUND = 66
TRIES = 10

failures = []


def limit_addresses():
    resource.setrlimit(resource.RLIMIT_AS, (4 * GIGABYTE, 4 * GIGABYTE))


def lines_of(source):
    """The lines that race, by the program's comments."""
    with open(source) as file:
        return {number for number, text in enumerate(file, 1) if "// RACE" in text}


class Bench:
    def __init__(self, build, folder):
        self.bin, self.folder = os.path.join(build, "bin"), folder

    def compile(self, name, options):
        program = os.path.join(self.folder, name + "".join(options))
        source = os.path.join(PROGRAMS, f"{name}.c")
        with open(source) as file:
            plugins = re.findall(r"// PLUGIN: (\w+)", file.read())
        for plugin in plugins:
            self.build("-fPIC", "-shared", f"-DPLUGIN={plugin}", source, "-o",
                       os.path.join(self.folder, plugin + ".so"))
        self.build(*(["-rdynamic", f'-DFOLDER="{self.folder}"'] if plugins else []), *options, source,
                   "-o", program)
        return program

    def build(self, *words):
        subprocess.run([os.path.join(self.bin, "racehive-cc"), "--rh-profile=testing", "-O2", "-g",
                        "-pthread", *words], check=True)

    def run(self, program, prepare):
        """Status and racing lines of one execution."""
        report = f"{program}.json"
        done = subprocess.run([os.path.join(self.bin, "racehive"), "run", "--detector=fasttrack",
                               f"--store={program}.runs", f"--json={report}", program],
                              preexec_fn=prepare, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=900)
        with open(report) as file:
            races = [c for c in json.load(file)["candidates"] if c["verdict"] == "true-race"]
        return done, {side["line"] for race in races for side in (race["first"], race["second"])}

    def check(self, name, options=(), prepare=None):
        what = " ".join([name, *options, *(["with 4 GB"] if prepare else [])])
        program = self.compile(name, list(options))
        wanted = lines_of(os.path.join(PROGRAMS, f"{name}.c"))
        for _ in range(TRIES if wanted and name not in PERHAPS else 1):
            done, found = self.run(program, prepare)
            status = RACE_FOUND if found else 0
            if done.returncode != status or found - wanted or found == wanted:
                break
        is_right = done.returncode == status and found <= wanted and (
            found == wanted or name in PERHAPS)
        print(f"{'pass' if is_right else 'FAIL'}   {what}")
        if not is_right:
            failures.append(what)
            print(f"status {done.returncode}, lines {sorted(found)} of {sorted(wanted)}\n"
                  f"{done.stdout}")


def main():
    with tempfile.TemporaryDirectory(prefix="racehive-special-") as folder:
        os.environ["XDG_DATA_HOME"] = folder
        bench = Bench(sys.argv[1], folder)
        for source in sorted(os.listdir(PROGRAMS)):
            bench.check(os.path.splitext(source)[0])
        bench.check("many_locks", ("--rh-sites=all",))
        for name in STATIC:
            bench.check(name, ("-static",))
        if "--sanitized" in sys.argv:
            print("SKIPPED: 4 GB of addresses: racehive built with AddressSanitizer needs more")
            return 1 if failures else 0
        for name in ("forks", "thousand_alive"):
            bench.check(name, prepare=limit_addresses)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
