#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that crashes dies as it would have, and leaves a record first. Usage: check_crash.py CC"""
import os
import re
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "crash")
        subprocess.run([sys.argv[1], "-O1", "-pthread", os.path.join(HERE, "crash.c"), "-o", program],
                       check=True, env=dict(os.environ, XDG_DATA_HOME=folder))
        for how, status, record in (("segv", -signal.SIGSEGV, "SIGSEGV"),
                                    ("abort", -signal.SIGABRT, "SIGABRT"),
                                    ("raise", -signal.SIGSEGV, "SIGSEGV"),
                                    ("own", 9, None), ("none", 0, None)):
            log = os.path.join(folder, how)
            env = dict(os.environ, RACEHIVE_OPTIONS=f"detector=count:keys=all:log_path={log}")
            done = subprocess.run([program, how], env=env, stdout=subprocess.PIPE)
            text = "".join(open(os.path.join(folder, n)).read() for n in os.listdir(folder)
                           if n.startswith(how + "."))
            good = done.returncode == status and "count: " in text
            if record:
                found = re.search(rf"crash: {record} in thread 2 at 0x[0-9a-f]+", text)
                frames = len(re.findall(r"crash:   #\d+ 0x[0-9a-f]+ \(code \+ 0x", text))
                good = good and found and frames >= 3
            else:
                good = good and "crash:" not in text
            if how == "own":
                good = good and done.stdout == b"handled\n"
            print(f"{how}: {'ok' if good else 'FAILED'} (status {done.returncode})")
            if not good:
                wrong += 1
                print(text)
    return 1 if wrong else 0


sys.exit(main())
