#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what racechaser reports of values that change while a thread is paused.

Programs of uninstrumented/ with a line marked UNINSTRUMENTED have a race there with code that has no
key: it must be found, as a true race at that line; with values=0 it must not. Where a comment names
functions behind WATCHED, the stack must begin in one of them, or in libc if that tells no names, if
the kernel grants a watchpoint; with watch=0 it must tell nothing. In all other programs no
uninstrumented access may be found, however often it is tried.

Usage: check_uninstrumented.py --build=FOLDER [--runs=N]
"""
import argparse
import ctypes
import glob
import os
import re
import struct
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "racemob"))
import runs  # noqa: E402
import tools  # noqa: E402

ATTEMPTS = 20      # on a loaded machine the other thread may not come during a whole pause
HARD = ["--max-overhead=10", "--exitcode=0"]


def has_watchpoints():
    """Whether the kernel lends one, asked as the runtime asks (perf_event_open, x86-64)."""
    call, breakpoint, write, length = 298, 5, 2, 8
    disabled_user_only = 1 | 1 << 5 | 1 << 6
    word = ctypes.c_long(0)
    attr = ctypes.create_string_buffer(struct.pack(
        "IIQQQQQIIQQ", breakpoint, 72, 0, 1, 0, 0, disabled_user_only, 0, write,
        ctypes.addressof(word), length))
    fd = ctypes.CDLL(None, use_errno=True).syscall(call, attr, 0, -1, -1, 8)
    if fd >= 0:
        os.close(fd)
    return fd >= 0 and not is_filtered()


def is_filtered():
    with open("/proc/self/status", encoding="ascii") as file:
        return not re.search(r"^Seccomp:\s*0$", file.read(), re.MULTILINE)


class Subject:
    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.lines = {n for n, line in enumerate(text.splitlines(), 1)
                      if line.endswith("// UNINSTRUMENTED")}
        watched = re.search(r"// WATCHED: ([\w, ]+)$", text, re.MULTILINE)
        self.watched = watched.group(1).split(", ") if watched else []


def writer_of(candidate):
    """The stack of the uninstrumented access, which came first."""
    return candidate["evidence"]["stacks"][0]


class Check:
    def __init__(self, options, subject, folder):
        self.options, self.subject, self.folder = options, subject, folder
        self.program = os.path.join(folder, "program")
        self.count, self.wrong = 0, []
        runs.build(options, [subject.path], self.program, [], "-O2")

    def run(self, count, setting=""):
        self.count += 1
        self.options.runs, self.options.options = count, setting
        report = runs.run(self.options, self.program, [], self.folder, str(self.count))
        if report is None:
            raise runs.SetUpError(f"{self.subject.name} did not end")
        for candidate in report.uninstrumented:
            if candidate["first"]["line"] not in self.subject.lines:
                self.wrong.append(f"false, with '{setting}':\n{runs.proof(candidate)}")
        return report.uninstrumented

    def find(self, setting, is_good):
        """Tries until an uninstrumented access is found that is as it should be."""
        seen = []
        for _ in range(ATTEMPTS):
            found = self.run(4, setting)
            if any(is_good(c) for c in found):
                return
            seen += found
        self.wrong.append(f"not found with '{setting}'" +
                          "".join(f"\n{runs.proof(c)}" for c in seen[:1]))

    def check(self, lends):
        subject = self.subject
        if not subject.lines:
            self.run(self.options.many)
            return
        self.find("watch=0", lambda c: writer_of(c) == ["unknown code"])
        if self.run(self.options.many, "values=0"):
            self.wrong.append("found with values=0")
        if not subject.watched:
            self.find("", lambda c: writer_of(c) == ["unknown code"])
        elif lends:
            names = [*subject.watched, "libc"]
            self.find("", lambda c: any(name in writer_of(c)[0] for name in names) and
                      any(subject.name in frame for frame in writer_of(c)[1:]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", default="build", metavar="FOLDER")
    parser.add_argument("--runs", dest="many", type=int, default=10, metavar="N",
                        help="runs of what must find nothing (10)")
    options = parser.parse_args()
    options.detector, options.users, options.run_options = "racechaser", None, HARD
    options.time_limit = 300
    runs.check_tools(options)
    lends = has_watchpoints()
    if not lends:
        print("SKIPPED: stacks of uninstrumented accesses: the kernel lends no watchpoint here")
    failed = 0
    for path in sorted(glob.glob(os.path.join(HERE, "uninstrumented", "*.c"))):
        with tools.WorkFolder(False) as folder:
            check = Check(options, Subject(path), folder)
            check.check(lends)
        failed += bool(check.wrong)
        print(f"{'FAIL' if check.wrong else 'pass'} {check.subject.name}", flush=True)
        for text in check.wrong:
            print(f"     {text}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
