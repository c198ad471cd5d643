#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes one random multithreaded C program and truth.json, which lines of it race.

The same seed, size and mode give the same program. truth.json has
    races      pairs of lines that truly race
    maybe      pairs of which the generator cannot say
    race_free  lines whose accesses race with nothing
Programs end quickly and never crash, whatever the schedule. Modes: mixed (the default: some code
breaks the rule of its object), racefree (no races, by any means), guarded (no races, by means an
analysis must see through: locks, locks in objects, arrays of locks, rwlocks, fork and join).

Usage: generate.py --seed=N [--size=S] [--mode=MODE | --guarded] -o FOLDER
"""
import argparse
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from generator.program import MODES, Program  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--size", type=int, default=8, help="number of shared objects (8)")
    parser.add_argument("--mode", choices=MODES, default="mixed")
    parser.add_argument("--guarded", action="store_const", dest="mode", const="guarded")
    parser.add_argument("-o", dest="folder", required=True)
    options = parser.parse_args()
    truth = Program(options.seed, options.size, options.mode).write(options.folder)
    print(f"{len(truth['races'])} races, {len(truth['maybe'])} undecided pairs, "
          f"{len(truth['race_free'])} race-free lines, {truth['threads']} threads")


if __name__ == "__main__":
    main()
