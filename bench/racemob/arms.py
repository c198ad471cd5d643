"""The ways in which a program is run: by itself, or as the runs of a hive that waits between them."""
import json
import os
import re
import sqlite3
import subprocess
import sys

import builds

SERVERS = ("memcached", "redis")
IO_THREADS = "2"   # of redis: with more, those that spin would fight for two cores


def compile_usage(options):
    """Linked without a build id, since `racehive run` wants that to be the program's, if any."""
    out = os.path.join(options.work, "usage")
    if not os.path.exists(out):
        subprocess.run(["clang-19", "-O2", "-Wl,--build-id=none",
                        os.path.join(builds.HERE, "usage.c"), "-o", out], check=True)
    return out


class Arm:
    """A program as its users run it."""
    asks = False

    def __init__(self, options, program, name, build):
        self.options, self.program, self.name = options, program, name
        self.folder = os.path.join(options.work, "runs")
        self.label = os.path.join(self.folder, f"{program}-{name.replace(' ', '-')}")
        self.command = builds.build(options, program, build)
        self.times, self.output = self.label + ".times", self.label + ".output"
        self.wrap = f"{compile_usage(options)} {self.times}"
        self.wall, self.processor = [], []

    def environment(self):
        env = dict(os.environ, RW_WRAP=self.wrap, RELAY_WRAP=self.wrap, RELAY_OUTPUT=self.output,
                   RW_IO_THREADS=IO_THREADS)
        env.pop("RACEHIVE_OPTIONS", None)
        return env

    def execute(self):
        """Runs the workload; returns its exit status."""
        with open(self.output, "w") as file:
            return subprocess.run(["bash", "-c", self.command], env=self.environment(),
                                  stdout=file, stderr=subprocess.STDOUT).returncode

    def measure(self):
        """Wall and processor time of one run, in seconds."""
        status = self.execute()
        with open(self.output, errors="replace") as file:
            text = file.read()
        if status:
            raise builds.BenchError(f"{self.program}, {self.name}: ended with {status}\n"
                                    f"{text[-2000:]}")
        with open(self.times) as file:
            wall, user, system = map(float, file.read().split())
        # A server waits to be asked: its wall time is that of the load.
        load = re.search(r"([0-9.]+) seconds$", text, re.M) if self.program in SERVERS else None
        return float(load[1]) if load else wall, user + system

    def record(self):
        wall, processor = self.measure()
        self.wall.append(wall)
        self.processor.append(processor)

    def close(self):
        pass


class AskedArm(Arm):
    """The runs of one `racehive run`, which opens its pool once and then waits for each run to be
    wanted: with some 100 million candidates that takes a minute."""
    asks = True

    def __init__(self, options, program, name, build, run_options):
        super().__init__(options, program, name, build)
        self.run_options = run_options
        self.store, self.report = self.label + ".runs", self.label + ".json"
        self.go, self.done = self.label + ".go", self.label + ".done"
        self.hive = None
        for path in (self.store, self.report, self.go, self.done):
            if os.path.exists(path):
                os.unlink(path)

    def open(self, runs, store=None):
        """Starts the hive, with a copy of another's store if one is given."""
        if store:
            old, new = sqlite3.connect(store), sqlite3.connect(self.store)
            old.backup(new)
            old.close()
            new.close()
        os.mkfifo(self.go)
        os.mkfifo(self.done)
        self.before = self.sums()
        self.hive = subprocess.Popen(
            [os.path.join(self.options.build, "bin", "racehive"), "run", f"--runs={runs}",
             *self.run_options, f"--store={self.store}", f"--json={self.report}",
             f"--symbols={builds.sidecar_of(self.options, self.program)}", "--exitcode=0",
             "--timeout=100000", compile_usage(self.options), os.devnull,
             os.path.join(builds.HERE, "relay"), self.go, self.done],
            env=self.environment(), stdout=subprocess.DEVNULL, stderr=sys.stderr)

    def execute(self):
        with open(self.go, "w") as file:   # waits until the hive has a run
            file.write(self.command + "\n")
        with open(self.done) as file:
            return int(file.read())

    def sums(self):
        """What the hive's runs took so far, by the store."""
        if not os.path.exists(self.store):
            return 0, 0
        store = sqlite3.connect(self.store)
        row = store.execute("SELECT hook_ns, pause_ns FROM totals").fetchone()
        store.close()
        return row

    def close(self):
        """The hive ends when it has had its runs, or with us."""
        if self.hive:
            if len(self.wall) < self.options.rounds:
                self.hive.terminate()
            self.hive.wait()

    def accounts(self):
        """Shares of its time that the runtime says that hooks and pauses took."""
        with open(self.report) as file:
            totals = json.load(file)["totals"]
        return ((totals["hook_ns"] - self.before[0]) / 1e9 / sum(self.processor),
                (totals["pause_ns"] - self.before[1]) / 1e9 / sum(self.wall))
