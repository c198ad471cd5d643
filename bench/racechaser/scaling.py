# SPDX-License-Identifier: Apache-2.0
"""How the time of a program grows with its threads: uninstrumented, under racechaser at 5 %, and
under litehb, which has no bound here or it would give up, as in the paper's third figure."""
import os
import subprocess
import sys

import stats

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "tests", "candidates"))
import tools  # noqa: E402

ARMS = ("plain", "racechaser", "litehb")
BOUNDS = {"racechaser": 0.05, "litehb": 1000}


def compile_subject(options, folder, how):
    out = os.path.join(folder, f"scaling-{how}")
    env = dict(os.environ, XDG_DATA_HOME=folder)
    if how == "plain":
        env["RACEHIVE_PROFILE"] = "off"
    subprocess.run([os.path.join(options.build, "bin", "racehive-cc"), "-O2", "-g", "-pthread",
                    os.path.join(HERE, "scaling.c"), "-o", out], env=env, check=True)
    return out


def seconds(options, folder, program, arm, threads):
    """What the program says of its own time; the command around it does not count."""
    words = ["shared", str(threads), str(options.scaling_work // threads)]
    command = [program, *words]
    if arm != "plain":
        store = os.path.join(folder, f"{arm}.store")
        if os.path.exists(store):
            os.unlink(store)   # every run is the first, about the same candidate
        command = [os.path.join(options.build, "bin", "racehive"), "run", f"--detector={arm}",
                   "--runs=1", "--seed=1", f"--max-overhead={BOUNDS[arm]}", "--exitcode=0",
                   f"--store={store}", *command]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True,
                          env=dict(os.environ, XDG_DATA_HOME=folder))
    return float(done.stdout.split("\n", 1)[0])


def run(options):
    options.scaling_work = 10_000_000 if options.quick else 40_000_000
    rounds = stats.FEWEST
    rows = []
    with tools.WorkFolder(False) as folder:
        plain, keyed = (compile_subject(options, folder, how) for how in ("plain", "keyed"))
        for threads in (1, 4, 16, 64) if options.quick else (1, 2, 4, 8, 16, 32, 64):
            times = {arm: [] for arm in ARMS}
            for _ in range(rounds):
                for arm in ARMS:
                    program = plain if arm == "plain" else keyed
                    times[arm].append(seconds(options, folder, program, arm, threads))
            base = times["plain"]
            rows.append((threads, f"{stats.interval(base)[0]:.3f} s",
                         *(stats.show_ratio(stats.ratios(base, times[arm])) for arm in ARMS[1:])))
    stats.print_table(("threads", "uninstrumented", "racechaser 5 %", "litehb"), rows)
