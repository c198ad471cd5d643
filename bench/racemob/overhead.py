"""What a run loses: real programs plain, with keys off, and with tasks, in interleaved runs."""
import json
import os
import re
import subprocess
import sys

import arms
import builds
import stats

PROGRAMS = ("pbzip2", "zstd", "xz", "memcached", "redis")

# (name, build, options of `racehive run` or None)
ARMS = (("plain", "plain", None),
        ("whole", "whole", None),
        ("idle", "keyed", None),
        ("one task", "keyed", ("--screen=0",)),
        ("and 31 watched", "keyed", ()))
BASES = ("whole", "plain")

IDLE_GOAL, TASK_GOAL, WORST_GOAL = 1.01, 1.02, 1.04


def make_arm(options, program, name, build, run_options):
    if run_options is None:
        return arms.Arm(options, program, name, build)
    return arms.AskedArm(options, program, name, build, run_options)


def warm_up(options, asked, rounds):
    """Fresh candidates are mostly of code that does not run. A hive that has seen some runs asks
    about sites that meet, and only that shows what tasks cost."""
    first = asked[-1]
    first.open(options.warm_up + rounds)
    for _ in range(options.warm_up):
        first.measure()
    first.before = first.sums()
    for arm in asked[:-1]:
        arm.open(rounds, first.store)


def measure(options, program):
    chosen = [make_arm(options, program, *arm) for arm in ARMS]
    try:
        print(f"{program}: {options.warm_up} runs to warm up", file=sys.stderr)
        warm_up(options, [arm for arm in chosen if arm.asks], options.rounds)
        print(f"{program}: {options.rounds} rounds of {len(chosen)}", file=sys.stderr)
        for _ in range(options.rounds):
            for arm in chosen:
                arm.record()
    finally:
        for arm in chosen:
            arm.close()
    return {arm.name: arm for arm in chosen}


def show_times(results, measure_name, base):
    names = [arm[0] for arm in ARMS if arm[0] != base]
    rows = []
    for program, by_name in results.items():
        of = {name: getattr(arm, measure_name) for name, arm in by_name.items()}
        seconds, low, high = stats.interval(of[base])
        rows.append([program, f"{seconds:.2f} ({low:.2f} to {high:.2f})"] +
                    [stats.show_ratio(stats.ratios(of[base], of[name])) for name in names])
    stats.print_table(["program", f"{base}, s"] + names, rows)


def show_accounts(results):
    rows = []
    for program, by_name in results.items():
        for arm in by_name.values():
            if arm.asks:
                hooks, pauses = arm.accounts()
                rows.append([program, arm.name, f"{hooks:.2%}", f"{pauses:.2%}"])
    stats.print_table(["program", "runs with", "hooks, of processor time", "pauses, of wall time"],
                      rows)


def ratios_of(by_name, name, base, measure_name):
    return stats.ratios(getattr(by_name[base], measure_name), getattr(by_name[name], measure_name))


def mean_by_round(results, name, base, measure_name):
    """Rounds are independent of each other: the mean over programs is taken in each."""
    table = [ratios_of(by_name, name, base, measure_name) for by_name in results.values()]
    return [stats.geometric_mean(row) for row in zip(*table)]


def show_goals(results, base):
    rows = []
    for measure_name in ("processor", "wall"):
        for name, goal in (("idle", IDLE_GOAL), ("one task", TASK_GOAL),
                           ("and 31 watched", TASK_GOAL)):
            mean = mean_by_round(results, name, base, measure_name)
            worst = max(results, key=lambda p: stats.interval(
                ratios_of(results[p], name, base, measure_name))[0])
            of_worst = ratios_of(results[worst], name, base, measure_name)
            rows.append([f"{measure_name} time", name,
                         f"at most {goal:.2f}: {stats.show_goal(mean, goal)}",
                         f"{worst}, at most {WORST_GOAL:.2f}: "
                         f"{stats.show_goal(of_worst, WORST_GOAL)}"])
    stats.print_table(["measure", "runs", "mean of the programs", "the worst program"], rows)


def save(options, results):
    """All numbers, for whoever wants to look closer."""
    path = os.path.join(options.work, "overhead.json")
    with open(path, "w") as file:
        json.dump({program: {name: {"wall": arm.wall, "processor": arm.processor}
                             for name, arm in by_name.items()}
                   for program, by_name in results.items()}, file, indent=1)


def run(options):
    os.makedirs(os.path.join(options.work, "runs"), exist_ok=True)
    results = {}
    for program in options.programs or PROGRAMS:
        try:
            results[program] = measure(options, program)
        except builds.BenchError as error:
            print(error, file=sys.stderr)
            continue
        save(options, results)
    if not results:
        raise builds.BenchError("no program could be measured")
    for base in BASES:
        for measure_name, words in (("processor", "User and system time"), ("wall", "Wall time")):
            print(f"{words}, as ratios to `{base}`:\n")
            show_times(results, measure_name, base)
    print("What the runs themselves say they took:\n")
    show_accounts(results)
    print(f"Goals, against `{BASES[0]}`:\n")
    show_goals(results, BASES[0])


def count_instructions(options, arm):
    """One workload under callgrind. Redis gets one I/O thread, since others spin."""
    out = os.path.join(options.work, "callgrind.out")
    wrapper = os.path.join(builds.HERE, "..", "idle", "callgrind.py")
    env = dict(os.environ, RW_WRAP=f"{sys.executable} {wrapper} {out}")
    env.pop("RACEHIVE_OPTIONS", None)
    subprocess.run(["bash", "-c", arm.command], env=env, check=True, stdout=subprocess.DEVNULL)
    with open(out) as file:
        return int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M)[1])


def run_instructions(options):
    """Instructions do not depend on what else the machine does; but under callgrind neither pauses
    nor the budget are as they are, so only keys that are off are counted."""
    os.makedirs(os.path.join(options.work, "runs"), exist_ok=True)
    rows = []
    for program in options.programs or PROGRAMS:
        counts = [count_instructions(options, make_arm(options, program, *arm))
                  for arm in ARMS[1:3]]
        rows.append([program] + [f"{count / 1e6:,.1f}" for count in counts] +
                    [f"{counts[1] / counts[0]:.4f}"])
    stats.print_table(["program", "whole, M instructions", "idle, M", "ratio"], rows)
