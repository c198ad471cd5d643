#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command under callgrind: callgrind.py FILE PROGRAM ARGUMENT...

The program is run from a copy without debug information, which valgrind 3.19 cannot read when it is
of DWARF 5.
"""
import os
import subprocess
import sys

out, program, *arguments = sys.argv[1:]
copy = program + ".stripped"
subprocess.run(["strip", "--strip-debug", "-o", copy, program], check=True)
os.execvp("valgrind", ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", copy,
                       *arguments])
