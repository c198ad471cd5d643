# SPDX-License-Identifier: Apache-2.0
"""Which of the detectors that the papers have this version of racehive has."""
import os
import subprocess
import tempfile

import subjects

PLANNED = ("racemob", "racechaser", "litehb", "caper", "fasttrack", "literace", "atexrace", "ifrit")
COMMANDS = {"portend": "classify", "gist": "sketch"}   # they are no detectors but commands


def answer(command):
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    lines = done.stderr.strip().splitlines()
    return done.returncode, lines[0] if lines else ""


def probe(options):
    """{name: "there" or what racehive says instead}. Asked of racehive itself, so that nothing here
    grows stale."""
    kernel = subjects.Kernel("ctrace")
    kernel.build(options, "keyed")
    racehive, states = os.path.join(options.build, "bin", "racehive"), {}
    for name in PLANNED:
        with tempfile.TemporaryDirectory(prefix="racehive-bench-") as folder:
            status, said = answer([racehive, "run", f"--detector={name}", "--exitcode=0",
                                   f"--store={folder}/runs", kernel.path(options, "keyed"), "10",
                                   "2"])
        states[name] = "there" if status == 0 else said
    for name, command in COMMANDS.items():
        status, said = answer([racehive, command, "--help"])
        states[name] = "there" if status == 0 else said
    return states
