# SPDX-License-Identifier: Apache-2.0
"""How far pauses slow down a program that runs longer than t_min: alone, and under racechaser at
several bounds, where every pause times out. A bound of 0 shows what keys and hooks cost alone."""
import os
import sqlite3
import subprocess

import scaling
import stats
from scaling import tools

BOUNDS = (0.0, 0.01, 0.05, 0.1)


def seconds(options, folder, program, words, bound):
    command = [program, *words]
    store = os.path.join(folder, "slowdown.store")
    if bound is not None:
        command = [os.path.join(options.build, "bin", "racehive"), "run", "--detector=racechaser",
                   "--runs=1", "--seed=1", f"--max-overhead={bound}", "--exitcode=0",
                   f"--store={store}", *command]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True,
                          env=dict(os.environ, XDG_DATA_HOME=folder))
    paused = 0
    if bound is not None:
        with sqlite3.connect(store) as db:
            paused = db.execute("SELECT pause_ns FROM runs").fetchone()[0]
        os.unlink(store)
    return float(done.stdout.split("\n", 1)[0]), paused / 1e9


def run(options):
    rounds = stats.FEWEST
    rows = []
    with tools.WorkFolder(False) as folder:
        keyed = scaling.compile_subject(options, folder, "keyed")
        for threads in (2, 32) if options.quick else (2, 8, 32):
            work = 30_000_000 if options.quick else 80_000_000
            words = ["apart", str(threads), str(work // threads)]
            times = {bound: [] for bound in (None, *BOUNDS)}
            for _ in range(rounds):
                for bound in times:
                    times[bound].append(seconds(options, folder, keyed, words, bound))
            base = [taken for taken, _ in times[None]]
            for bound in BOUNDS:
                taken = [t for t, _ in times[bound]]
                parts = [paused / t for t, paused in times[bound]]
                rows.append((threads, f"{stats.interval(base)[0]:.2f} s", f"{bound * 100:.0f} %",
                             f"{max(parts) * 100:.2f} %",
                             stats.show_ratio(stats.ratios(base, taken))))
    stats.print_table(("threads", "alone, keys off", "bound", "most that was waited",
                       "time, to alone"), rows)
