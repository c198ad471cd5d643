#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""End-to-end tests of keys: what hooks are told, and that switching never changes a program.

Usage: check_keys.py CC CASE, with CASE one of those listed by `check_keys.py CC list`.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = tempfile.TemporaryDirectory()
CC = sys.argv[1]


def fail(text):
    print(text)
    sys.exit(1)


def build(source, *options):
    program = os.path.join(FOLDER.name, "program")
    command = [CC, "-O2", "-pthread", *options, os.path.join(HERE, source), "-o", program]
    env = dict(os.environ, XDG_DATA_HOME=FOLDER.name, RACEHIVE_SITES="all")
    done = subprocess.run(command, env=env,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode or done.stderr:
        fail(f"build failed: {done.stderr}")
    return program


def run(command, options, wrap=()):
    """Runs with RACEHIVE_OPTIONS; returns (exit status, output, standard error, log)."""
    log = os.path.join(FOLDER.name, "log")
    for name in os.listdir(FOLDER.name):
        if name.startswith("log."):
            os.unlink(os.path.join(FOLDER.name, name))
    env = dict(os.environ, RACEHIVE_OPTIONS=f"{options}:log_path={log}" if options else "")
    done = subprocess.run([*wrap, *command], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    text = "".join(open(os.path.join(FOLDER.name, n)).read()
                   for n in sorted(os.listdir(FOLDER.name)) if n.startswith("log."))
    return done.returncode, done.stdout, done.stderr, text


def check_addresses(*options):
    """Every line `expect KIND ADDRESS SIZE` must appear in the trace, in order."""
    program = build("addresses.c", *options)
    status, output, _, log = run([program], "detector=trace:keys=all")
    if status:
        fail(f"the program ended with {status}")
    wanted = [line.split(" ", 1)[1] for line in output.splitlines() if line.startswith("expect ")]
    told = [f"{m[1]} {m[2]} {m[3]}" for m in
            re.finditer(r"thread \d+ ([a-z ]+) site \d+ at (0x[0-9a-f]+) size (\d+)", log)
            if not m[1].startswith("after")]
    at = 0
    for line in wanted:
        try:
            at = told.index(line, at) + 1
        except ValueError:
            fail(f"the hook was not told: {line}")
    if len(wanted) < 20:
        fail(f"only {len(wanted)} expectations")
    print(f"{len(wanted)} addresses as expected, {len(told)} accesses seen")


def summary(log):
    found = re.search(r"count: (\d+) accesses at (\d+) sites in (\d+) threads?, (\d+) sync"
                      r".*, (\d+) key switches", log)
    if not found:
        fail(f"no count in the log: {log}")
    return [int(n) for n in found.groups()]


def check_stress(*options, wrap=(), wanted=100000):
    """Results with flipping keys must be those without; at least `wanted` keys are switched."""
    program = build("stress.c", *options)
    rounds = 20000
    while True:
        _, plain, _, _ = run([program, str(rounds)], "")
        status, output, errors, log = run([program, str(rounds)],
                                          "detector=count:keys=flip:flip_interval=0", wrap)
        if status or output != plain or not output.startswith("right"):
            fail(f"status {status}, output {output!r}, wanted {plain!r}, errors {errors}")
        accesses, sites, threads, _, switches = summary(log)
        print(f"{switches} key switches, {accesses} accesses at {sites} sites, {rounds} rounds")
        if switches >= wanted:
            return
        rounds *= 2


def check_all_on(*options, wrap=()):
    program = build("stress.c", *options)
    _, plain, _, _ = run([program, "2000"], "")
    status, output, errors, log = run([program, "2000"], "detector=count:keys=all", wrap)
    if status or output != plain:
        fail(f"status {status}, output {output!r}, wanted {plain!r}, errors {errors}")
    accesses, sites, threads, syncs, _ = summary(log)
    if accesses < 2000 * 4 * 64 or threads != 5 or syncs < 12:
        fail(f"too little was seen: {log}")
    print(f"{accesses} accesses at {sites} sites in {threads} threads")


def sandbox(mode):
    tool = os.path.join(FOLDER.name, "sandbox")
    subprocess.run(["cc", "-O1", os.path.join(HERE, "sandbox.c"), "-o", tool], check=True)
    probe = subprocess.run([tool, mode, "true"])
    if probe.returncode == 77:
        print(f"SKIPPED: {mode}: this kernel does not allow it")
        sys.exit(77)
    return (tool, mode)


def check_idle_in_sandbox(mode):
    """Where nothing can be patched the program runs, idle, and one line says so."""
    program = build("stress.c")
    _, plain, _, _ = run([program, "500"], "")
    status, output, errors, log = run([program, "500"], "detector=count:keys=all", sandbox(mode))
    lines = [line for line in errors.splitlines() if "keys cannot be switched" in line]
    if status or output != plain or len(lines) != 1:
        fail(f"status {status}, output {output!r}, errors {errors!r}")
    if summary(log)[0] != 0:
        fail(f"accesses were seen all the same: {log}")
    print(lines[0])


def check_idle():
    """Without options, with `off`, and with an unknown detector no key is ever on."""
    program = build("stress.c")
    for options in ("", "off"):
        status, output, errors, log = run([program, "500"], options)
        if status or errors or log:
            fail(f"options {options!r}: status {status}, errors {errors!r}, log {log!r}")
    _, _, errors, _ = run([program, "500"], "detector=nonesuch")
    if errors.count("\n") != 1 or "no detector 'nonesuch'" not in errors:
        fail(f"unknown detector: {errors!r}")
    _, _, errors, _ = run([program, "500"], "colour=blue")
    if errors.count("\n") != 1 or "unknown option 'colour'" not in errors:
        fail(f"unknown option: {errors!r}")
    print("idle as it should be")


def check_control():
    """A task given while the program runs switches that site on, and nothing else."""
    program = build("until_closed.c")
    tool = os.path.join(FOLDER.name, "controller")
    subprocess.run(["cc", "-I", os.path.join(HERE, "..", "..", "include"),
                    os.path.join(HERE, "controller.c"), "-o", tool], check=True)
    racehive = os.path.join(os.path.dirname(CC), "racehive")
    listing = subprocess.run([racehive, "sites", "--json", program], check=True,
                             stdout=subprocess.PIPE).stdout
    site = next(s["number"] for s in json.loads(listing)["sites"]
                if s["expression"] == "watched" and s["access"] == "write"
                and s["function"] == "count_watched")
    done = subprocess.run([tool, os.path.join(FOLDER.name, "page"), str(site), program],
                          stdout=subprocess.PIPE, text=True)
    events = [line.split() for line in done.stdout.splitlines()]
    counts = [e for e in events if e[0] == "count"]
    kinds = [e[0] for e in events]
    if (done.returncode or kinds[0] != "start" or "applied" not in kinds or "finish" not in kinds
            or [int(c[1]) for c in counts] != [site] or int(counts[0][2]) == 0
            or ["applied", "1", "1", "0"] not in events):
        fail(f"status {done.returncode}, events: {done.stdout}")
    print(done.stdout)


def check_last_thread(*options):
    """Our own thread must not keep a process alive whose threads have all ended."""
    program = build("last_thread.c", *options)
    for keys in ("all", "flip"):
        status, output, errors, log = run([program], f"detector=count:keys={keys}")
        if status or output != "last\n" or errors:
            fail(f"keys={keys}: status {status}, output {output!r}, errors {errors!r}")
        summary(log)
    print("ended with its last thread")


def check_debugger():
    probe = subprocess.run(["sh", "-c", "command -v gdb"], stdout=subprocess.DEVNULL)
    if probe.returncode:
        print("SKIPPED: breakpoints: there is no gdb")
        sys.exit(77)
    program = build("stress.c")
    log = os.path.join(FOLDER.name, "log")
    env = dict(os.environ, RACEHIVE_OPTIONS=f"detector=count:keys=flip:flip_interval=0:log_path={log}")
    done = subprocess.run(["gdb", "-nx", "-batch", "-ex", "run 2000", program], env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if "right " not in done.stdout or "exited normally" not in done.stdout:
        fail(done.stdout)
    print("right under gdb")


CASES = {
    "addresses": lambda: check_addresses(),
    "addresses-O0": lambda: check_addresses("-O0"),
    "addresses-O3": lambda: check_addresses("-O3"),
    "addresses-flag": lambda: check_addresses("--rh-keys=flag"),
    "addresses-no-pie": lambda: check_addresses("-no-pie"),
    "addresses-static": lambda: check_addresses("-static"),
    "addresses-static-pie": lambda: check_addresses("-static-pie"),
    "addresses-no-red-zone": lambda: check_addresses("-mno-red-zone", "-fno-omit-frame-pointer"),
    "all-on": lambda: check_all_on(),
    "all-on-flag": lambda: check_all_on("--rh-keys=flag"),
    "all-on-static": lambda: check_all_on("-static"),
    "all-on-no-aslr": lambda: check_all_on(wrap=("setarch", "-R")),
    "stress": lambda: check_stress(),
    "stress-flag": lambda: check_stress("--rh-keys=flag"),
    "stress-static": lambda: check_stress("-static"),
    "stress-mdwe": lambda: check_stress(wrap=sandbox("mdwe"), wanted=10000),
    "sandbox-no-patching": lambda: check_idle_in_sandbox("no-patching"),
    "sandbox-no-membarrier": lambda: check_idle_in_sandbox("no-membarrier"),
    "idle": check_idle,
    "control": check_control,
    "last-thread": lambda: check_last_thread(),
    "last-thread-static": lambda: check_last_thread("-static"),
    "debugger": check_debugger,
}

if sys.argv[2] == "list":
    print("\n".join(CASES))
else:
    CASES[sys.argv[2]]()
