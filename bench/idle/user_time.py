#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command and writes its user time in seconds to a file: user_time.py FILE COMMAND..."""
import os
import sys

child = os.spawnvp(os.P_NOWAIT, sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(child, 0)
with open(sys.argv[1], "w") as file:
    file.write(f"{usage.ru_utime}")
sys.exit(os.waitstatus_to_exitcode(status))
