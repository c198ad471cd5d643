#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the candidates of a C++ program with and without the trust in the C++ library: what the
trust hides has both sides in the library's own code, and no line of the program's is among it.

Usage: trust_test.py --racehive=BUILD
"""
import argparse
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tools  # noqa: E402

SOURCE = os.path.join(tools.HERE, "programs", "async_map.cc")


def candidates(build, folder, trust):
    program = os.path.join(folder, trust)
    tools.build_racehive(build, [SOURCE], program, [f"--rh-trust={trust}"])
    return {c["id"]: c for c in tools.candidates_of(build, program)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--racehive", required=True)
    options = parser.parse_args()
    with tools.WorkFolder(keep=False) as folder:
        trusted = candidates(options.racehive, folder, "all")
        everything = candidates(options.racehive, folder, "no-cxx-library")
    hidden = [c for key, c in everything.items() if key not in trusted]
    print(f"{len(trusted)} candidates, {len(hidden)} more without the trust")
    wrong = [c for c in hidden
             if not all("/c++/" in c[side]["file"] for side in ("first", "second"))]
    for c in wrong:
        print(f"hidden: {tools.show(tools.pair(*map(tools.place_of, (c['first'], c['second']))))}")
    if set(trusted) - set(everything):
        print("the trust adds candidates")
        return 1
    return 1 if wrong or len(hidden) < len(trusted) else 0


if __name__ == "__main__":
    sys.exit(main())
