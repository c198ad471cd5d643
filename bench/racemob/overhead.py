"""What a run loses: real programs plain, with keys off, and with tasks, in interleaved runs."""
import json
import os
import re
import shlex
import subprocess
import sys

import builds
import stats

PROGRAMS = ("pbzip2", "zstd", "xz", "memcached", "redis")
SERVERS = ("memcached", "redis")
IO_THREADS = "2"   # of redis: with more, those that spin would fight for two cores

# (name, build, options of `racehive run` or None)
ARMS = (("plain", "plain", None),
        ("whole", "whole", None),
        ("idle", "keyed", None),
        ("one task", "keyed", ("--screen=0",)),
        ("and 31 watched", "keyed", ()))
BASES = ("whole", "plain")

IDLE_GOAL, TASK_GOAL, WORST_GOAL = 1.01, 1.02, 1.04


def compile_usage(options):
    out = os.path.join(options.work, "usage")
    subprocess.run(["clang-19", "-O2", "-Wl,--build-id=none",
                    os.path.join(builds.HERE, "usage.c"), "-o", out], check=True)
    return out


class Arm:
    def __init__(self, options, program, name, build, run_options):
        self.name = name
        self.program = program
        self.folder = os.path.join(options.work, "runs")
        self.command = builds.build(options, program, build)
        self.wall, self.processor = [], []
        self.times = os.path.join(self.folder, "times")
        self.report = None
        wrap = [compile_usage(options), self.times]
        if run_options is not None:
            wrap = self.run_command(options, build, run_options) + wrap
        self.wrap = " ".join(map(shlex.quote, wrap))
        if " ".join(wrap) != self.wrap:
            raise builds.BenchError("no blanks in the names of folders, please")

    def run_command(self, options, build, run_options):
        label = f"{self.program}-{self.name.replace(' ', '-')}"
        store = os.path.join(self.folder, f"{label}.runs")
        self.report = os.path.join(self.folder, f"{label}.json")
        for path in (store, self.report):
            if os.path.exists(path):
                os.unlink(path)
        sidecar = builds.path_of(options, self.program, build) + ".racehive"
        return [os.path.join(options.build, "bin", "racehive"), "run", "--runs=1", *run_options,
                f"--store={store}", f"--json={self.report}", f"--symbols={sidecar}",
                "--exitcode=0", "--timeout=600"]

    def measure(self):
        env = dict(os.environ, RW_WRAP=self.wrap, RW_IO_THREADS=IO_THREADS)
        env.pop("RACEHIVE_OPTIONS", None)
        # What `racehive run` has to say must not be counted as the program's output.
        done = subprocess.run(["bash", "-c", self.command], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace")
        if done.returncode:
            raise builds.BenchError(f"{self.program}, {self.name}: ended with "
                                      f"{done.returncode}\n{done.stdout[-500:]}\n"
                                      f"{done.stderr[-1500:]}")
        with open(self.times) as file:
            wall, user, system = map(float, file.read().split())
        self.processor.append(user + system)
        self.wall.append(self.load_time(done.stdout) or wall)

    def load_time(self, text):
        """A server waits to be asked: its wall time is that of the load."""
        found = re.search(r"([0-9.]+) seconds$", text, re.M)
        return float(found[1]) if found and self.program in SERVERS else None

    def accounts(self):
        """Shares of its time that the runtime itself says it took."""
        if not self.report:
            return None
        with open(self.report) as file:
            totals = json.load(file)["totals"]
        return (totals["hook_ns"] / 1e9 / sum(self.processor),
                totals["pause_ns"] / max(totals["wall_ns"], 1))


def measure(options, program):
    arms = [Arm(options, program, *arm) for arm in ARMS]
    print(f"{program}: {options.rounds} rounds of {len(arms)}", file=sys.stderr)
    for _ in range(options.rounds):
        for arm in arms:
            arm.measure()
    return {arm.name: arm for arm in arms}


def show_times(results, measure_name, base):
    names = [arm[0] for arm in ARMS if arm[0] != base]
    rows = []
    for program, arms in results.items():
        of = {name: getattr(arm, measure_name) for name, arm in arms.items()}
        seconds, low, high = stats.interval(of[base])
        rows.append([program, f"{seconds:.2f} ({low:.2f} to {high:.2f})"] +
                    [stats.show_ratio(stats.ratios(of[base], of[name])) for name in names])
    stats.print_table(["program", f"{base}, s"] + names, rows)


def show_accounts(results):
    rows = []
    for program, arms in results.items():
        for arm in arms.values():
            if arm.report:
                hooks, pauses = arm.accounts()
                rows.append([program, arm.name, f"{hooks:.2%}", f"{pauses:.2%}"])
    stats.print_table(["program", "runs with", "hooks, of processor time", "pauses, of wall time"],
                      rows)


def ratios_of(arms, name, base, measure_name):
    return stats.ratios(getattr(arms[base], measure_name), getattr(arms[name], measure_name))


def mean_by_round(results, name, base, measure_name):
    """Rounds are independent of each other: the mean over programs is taken in each."""
    table = [ratios_of(arms, name, base, measure_name) for arms in results.values()]
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
                             for name, arm in arms.items()}
                   for program, arms in results.items()}, file, indent=1)


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


def run_instructions(options):
    """Callgrind runs one thread at a time, which suits keys that are off and no pause."""
    rows = []
    for program in options.programs or PROGRAMS:
        counts = [count_instructions(options, program, build) for build in ("whole", "keyed")]
        rows.append([program] + [f"{count / 1e6:,.1f}" for count in counts] +
                    [f"{counts[1] / counts[0]:.4f}"])
    stats.print_table(["program", "whole, M instructions", "idle, M", "ratio"], rows)


def count_instructions(options, program, build):
    out = os.path.join(options.work, "callgrind.out")
    wrapper = os.path.join(builds.HERE, "..", "idle", "callgrind.py")
    env = dict(os.environ, RW_WRAP=f"{sys.executable} {wrapper} {out}")
    env.pop("RACEHIVE_OPTIONS", None)
    subprocess.run(["bash", "-c", builds.build(options, program, build)], env=env, check=True,
                   stdout=subprocess.DEVNULL)
    with open(out) as file:
        return int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M)[1])
