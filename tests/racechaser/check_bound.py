#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the time in which racechaser pauses threads never exceeds its bound: in no run more
than r_max of the run's time or of t_min, whichever is longer. Sites that are cold, warm and in a
tight loop (bound.c), with few threads and many, for several bounds.

Usage: check_bound.py --build=FOLDER [--runs=N] [--length=MS] [--threads=N]... [--bound=SHARE]...
"""
import argparse
import os
import sqlite3
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "candidates"))
import tools  # noqa: E402

SHAPES = ("cold", "warm", "tight")
T_MIN_NS = 1_000_000_000   # racechaser's pause_floor
# Milliseconds of a pause: it must fit in r_max of t_min, with the head start that is paid with it.
DELAYS = {0.01: 5}


def run(options, program, folder, arm):
    shape, threads, bound = arm
    store = os.path.join(folder, f"{shape}-{threads}-{bound}.store")
    env = dict(os.environ, XDG_DATA_HOME=folder,
               RACEHIVE_OPTIONS=f"delay={DELAYS.get(bound, 10)}")
    subprocess.run([os.path.join(options.build, "bin", "racehive"), "run", "--detector=racechaser",
                    f"--runs={options.runs}", f"--max-overhead={bound}", f"--store={store}",
                    "--exitcode=0", program, shape, str(threads), str(options.length)],
                   env=env, check=True, stdout=subprocess.DEVNULL)
    with sqlite3.connect(store) as db:
        return db.execute("SELECT wall_ns, pause_ns FROM runs WHERE completed").fetchall()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--build", default="build", metavar="FOLDER")
    parser.add_argument("--runs", type=int, default=100, metavar="N")
    parser.add_argument("--length", type=int, default=150, metavar="MS")
    parser.add_argument("--threads", type=int, action="append", metavar="N")
    parser.add_argument("--bound", type=float, action="append", metavar="SHARE")
    options = parser.parse_args()
    paused = over = runs = 0
    with tools.WorkFolder(False) as folder:
        program = os.path.join(folder, "bound")
        tools.build_racehive(options.build, [os.path.join(HERE, "bound.c")], program, [], "-O2")
        for arm in [(s, t, b) for s in SHAPES for t in options.threads or (2, 8, 32)
                    for b in options.bound or (0.01, 0.05, 0.1)]:
            rows = run(options, program, folder, arm)
            parts = [pause / (arm[2] * max(T_MIN_NS, wall)) for wall, pause in rows]
            runs += len(rows)
            over += sum(part > 1 for part in parts)
            paused += sum(pause > 0 for _, pause in rows)
            print(f"{arm[0]:5} site, {arm[1]:2} threads, bound {arm[2]:.2f}: at most "
                  f"{max(parts):.3f} of it was used in {len(rows)} runs", flush=True)
    print(f"{runs} runs, {paused} with pauses, {over} beyond the bound")
    return 1 if over or 2 * paused < runs else 0   # without pauses the test shows nothing


if __name__ == "__main__":
    sys.exit(main())
