# SPDX-License-Identifier: Apache-2.0
"""What a lock costs with more and more threads, plain, with keys off, and tracked all the time."""
import json
import os
import subprocess

import builds
import stats

HERE = os.path.dirname(os.path.abspath(__file__))
ARMS = ("plain", "idle", "tracked")


def compile_locks(options, how):
    source = os.path.join(HERE, "locks.c")
    out = os.path.join(options.work, f"locks-{how}")
    env = dict(os.environ, XDG_DATA_HOME=options.work)
    if how == "plain":
        env["RACEHIVE_PROFILE"] = "off"
    subprocess.run([os.path.join(options.build, "bin", "racehive-cc"), "-O2", "-g", "-pthread",
                    source, "-o", out], env=env, check=True)
    return out


def run_tracked(options, program, words):
    """One run whose task is the program's only candidate. Nothing may end the tracking early."""
    store, report = (os.path.join(options.work, f"locks.{end}") for end in ("runs", "json"))
    if os.path.exists(store):
        os.unlink(store)
    done = subprocess.run([os.path.join(options.build, "bin", "racehive"), "run", "--runs=1",
                           "--screen=0", "--no-steering", "--max-overhead=1000", "--exitcode=0",
                           f"--store={store}", f"--json={report}", program, *words],
                          stdout=subprocess.PIPE, text=True, check=True)
    with open(report) as file:
        told = json.load(file)
    if not told["totals"]["hook_ns"]:
        raise builds.BenchError("the mark was not tracked: no event was seen")
    return done.stdout


def cost(options, built, arm, threads):
    words = [str(threads), str(options.operations // threads)]
    if arm == "tracked":
        text = run_tracked(options, built["keyed"], words)
    else:
        program = built["plain" if arm == "plain" else "keyed"]
        text = subprocess.run([program, *words], stdout=subprocess.PIPE, text=True,
                              check=True).stdout
    processor, wall = map(float, text.split("\n", 1)[0].split())
    return processor, wall


def measure(options, built, threads):
    costs = {arm: [] for arm in ARMS}
    for _ in range(options.rounds):
        for arm in ARMS:
            costs[arm].append(cost(options, built, arm, threads))
    return costs


def show(results, index):
    rows = []
    for threads, costs in results.items():
        of = {arm: [c[index] for c in costs[arm]] for arm in ARMS}
        row = [threads]
        for arm in ARMS:
            row.append("{:.0f} ({:.0f} to {:.0f})".format(*stats.interval(of[arm])))
        for arm in ARMS[1:]:
            added = [b - a for a, b in zip(of["plain"], of[arm])]
            row.append("{:+.0f} ({:+.0f} to {:+.0f})".format(*stats.interval(added)))
        rows.append(row)
    stats.print_table(["threads", "plain, ns", "idle, ns", "tracked, ns", "idle adds",
                       "tracked adds"], rows)


def run(options):
    """Returns {threads: {arm: [(processor ns, wall ns), ...]}}."""
    built = {how: compile_locks(options, how) for how in ("plain", "keyed")}
    results = {threads: measure(options, built, threads) for threads in options.threads}
    print("Processor time of one lock, change and unlock:\n")
    show(results, 0)
    print("Wall time of the same, divided by the operations of all threads:\n")
    show(results, 1)
    return results
