# SPDX-License-Identifier: Apache-2.0
"""The arms of the evaluation: a subject by itself or under a tool, and what one run of it says."""
import collections
import json
import os
import re
import select
import shlex
import shutil
import signal
import sqlite3
import subprocess
import time

import builds
import reports
import subjects

RUN_LIMIT = 100    # seconds; only a tool that hangs comes near
HIVE_LIMIT = 300   # the same for the hive, which opens its pool before it gives a run
MOST_RUNS = 100000   # of an arm that ends when it is told to

# What an arm is: the build it runs, its scale, what it is compared with, the options of
# `racehive run` (asked) or the valgrind tool, and all of that in words.
Kind = collections.namedtuple("Kind", "title build scale base asked valgrind words")


def kind(title, build, words, scale="full", base="native", asked=None, valgrind=None):
    return Kind(title, build, scale, base, asked, valgrind, words)


ARMS = {
    "native": kind("native", "native", "clang -O2, no tool", base=None),
    "whole": kind("whole", "whole", "clang -O2 with the whole program in view, as racehive-cc has "
                  "it; no tool"),
    "idle": kind("racehive, idle", "keyed", "racehive-cc, default profile, no detector: all keys "
                 "off"),
    "racemob": kind("racemob", "keyed", "each run validates one candidate and watches 31 others",
                    asked=("--detector=racemob",)),
    "racechaser": kind("racechaser", "keyed", "each run chases one candidate, bound 5 %",
                       asked=("--detector=racechaser", "--max-overhead=0.05")),
    "litehb": kind("litehb", "keyed", "each run follows the order of one candidate's accesses",
                   asked=("--detector=litehb",)),
    "caper": kind("caper", "keyed", "each run notes which sites touch memory that several threads can "
                  "reach; the first runs, which are not measured, leave it little to note",
                  asked=("--detector=caper",)),
    "tsan": kind("ThreadSanitizer", "tsan", "clang -O2 -fsanitize=thread"),
    "native-small": kind("native, small", "native", "the native build with the small load",
                         scale="small", base=None),
    "helgrind": kind("Helgrind", "native", "the native build under valgrind, which instruments all "
                     "code, libraries too", scale="small", base="native-small",
                     valgrind="helgrind"),
    "drd": kind("DRD", "native", "the native build under valgrind, which instruments all code, "
                "libraries too", scale="small", base="native-small", valgrind="drd"),
}

Measurement = collections.namedtuple("Measurement", "wall cpu user system rss_kb")


class ToolFailed(Exception):
    """A tool cannot do a subject; the message says why."""


def compile_usage(options):
    """Linked without a build id, since `racehive run` wants that to be the program's, if any."""
    out = os.path.join(options.work, "usage")
    source = os.path.join(builds.HERE, "usage.c")
    if not os.path.exists(out) or os.path.getmtime(out) < os.path.getmtime(source):
        subprocess.run([reports.tools.CLANG, "-O2", "-Wl,--build-id=none", source, "-o", out],
                       check=True)
    return out


def end_session(process):
    """Asks first, so that a script can end the server that it started in a group of its own."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(10)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass


class Arm:
    """A subject by itself, or under a tool that a run has to itself."""
    limit = RUN_LIMIT

    def __init__(self, options, subject, name, what):
        self.options, self.subject, self.name, self.kind = options, subject, name, what
        self.folder = os.path.join(options.work, "runs", subject.name, name)
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.times, self.output = (os.path.join(self.folder, n) for n in ("times", "output"))
        self.found, self.runs = reports.Found(set(), 0), 0
        if self.kind.valgrind and not shutil.which("valgrind"):
            raise ToolFailed("valgrind is not installed")
        subject.build(options, self.kind.build)
        self.command = subject.command(options, self.kind.build, self.kind.scale)

    def wrap(self):
        words = [compile_usage(self.options), self.times]
        if self.kind.valgrind:
            words += ["valgrind", "-q", f"--tool={self.kind.valgrind}", "--fullpath-after=",
                      f"--log-file={self.folder}/log.%p"]
        return " ".join(map(shlex.quote, words))

    def environment(self):
        env = dict(os.environ, RW_WRAP=self.wrap(), RW_IO_THREADS=subjects.IO_THREADS,
                   TSAN_OPTIONS=f"exitcode=0:log_path={self.folder}/log")
        env.pop("RACEHIVE_OPTIONS", None)
        return env

    def execute(self, command):
        """Runs the load; returns its exit status."""
        with open(self.output, "w") as file:
            process = subprocess.Popen(["bash", "-c", command], env=self.environment(), stdout=file,
                                       stderr=subprocess.STDOUT, start_new_session=True)
        try:
            return process.wait(self.limit)
        except subprocess.TimeoutExpired:
            raise ToolFailed(f"did not end in {self.limit} s") from None
        finally:
            if process.returncode is None:
                end_session(process)

    def measure(self):
        """One run. Raises ToolFailed if it does not end as the subject does alone."""
        status = self.execute(self.command)
        with open(self.output, errors="replace") as file:
            text = file.read()
        if status:
            raise ToolFailed(f"ended with {status}: {self.last_words(text)}")
        with open(self.times) as file:
            wall, user, system, rss_kb = map(float, file.read().split())
        self.runs += 1
        self.read_logs()
        return Measurement(self.subject.read_wall(text) or wall, user + system, user, system,
                           int(rss_kb))

    def last_words(self, output):
        """What may say why a run failed: the end of its output, or of the tool's log."""
        lines = [line for log in [output, *self.take_logs()] for line in log.splitlines()
                 if line.strip(" =*0123456789")]
        return " / ".join(line.strip()[:160] for line in lines[-3:]) or "it said nothing"

    def take_logs(self):
        for name in sorted(os.listdir(self.folder)):
            if name.startswith("log."):
                path = os.path.join(self.folder, name)
                with open(path, errors="replace") as file:
                    yield file.read()
                os.unlink(path)

    def read_logs(self):
        read = {"helgrind": reports.read_helgrind, "drd": reports.read_drd,
                "tsan": reports.read_tsan}.get(self.name)
        for log in self.take_logs() if read else ():
            found = read(log, self.subject.names)
            self.found = reports.Found(self.found.races | found.races,
                                       self.found.elsewhere + found.elsewhere)

    def open(self, rounds):
        pass

    def close(self, complete):
        pass

    def finding(self):
        """What it found, as a dict for the results; None if it is no tool that looks for races."""
        if self.name not in ("tsan", "helgrind", "drd"):
            return None
        return {"runs": self.runs, "races": reports.sort_races(self.found.races),
                "elsewhere": self.found.elsewhere}


class AskedArm(Arm):
    """The runs of one `racehive run`, which opens its pool once and then waits for each run to be
    wanted: with some 100 million candidates that takes a minute. Its first runs have the small load
    and are not measured: fresh candidates are mostly of code that does not run, and only a hive
    that has seen some runs asks about sites that meet, which is what tasks cost."""

    def __init__(self, options, subject, name, what):
        super().__init__(options, subject, name, what)
        self.small = subject.command(options, self.kind.build, "small")
        self.store, self.report = (os.path.join(self.folder, n) for n in ("runs", "report.json"))
        self.go, self.done = (os.path.join(self.folder, n) for n in ("go", "done"))
        self.hive, self.done_fd = None, None

    def environment(self):
        env = super().environment()
        env.update(RELAY_WRAP=env["RW_WRAP"], RELAY_OUTPUT=self.output)
        return env

    def start(self, runs):
        """Starts the hive."""
        os.mkfifo(self.go)
        os.mkfifo(self.done)
        self.done_fd = os.open(self.done, os.O_RDWR)   # so that it is never at its end
        with open(os.path.join(self.folder, "hive"), "w") as file:
            self.hive = subprocess.Popen(
                [os.path.join(self.options.build, "bin", "racehive"), "run",
                 f"--runs={runs}", *self.kind.asked,
                 f"--store={self.store}", f"--json={self.report}",
                 f"--symbols={self.subject.sidecar(self.options)}", "--exitcode=0",
                 "--timeout=100000", compile_usage(self.options), os.devnull,
                 os.path.join(builds.HERE, "relay"), self.go, self.done],
                env=self.environment(), stdout=file, stderr=subprocess.STDOUT,
                start_new_session=True)

    def open(self, rounds):
        """Starts the hive and gives it its first runs."""
        self.start(self.options.first_runs + rounds)
        for _ in range(self.options.first_runs):
            if self.execute(self.small):
                with open(self.output, errors="replace") as file:
                    raise ToolFailed(f"a first run failed: {self.last_words(file.read())}")
            self.runs += 1
        self.before = self.sums()
        self.walls = self.cpus = 0

    def ask(self, command):
        """Hands a command to the hive's next run, as soon as there is one."""
        limit = time.monotonic() + HIVE_LIMIT
        while True:
            try:
                fd = os.open(self.go, os.O_WRONLY | os.O_NONBLOCK)
                break
            except OSError as error:
                if self.hive.poll() is not None or time.monotonic() > limit:
                    with open(os.path.join(self.folder, "hive")) as file:
                        said = file.read().strip()[-300:]
                    raise ToolFailed(f"racehive run has no run to give: {said}") from error
                time.sleep(0.01)
        os.write(fd, command.encode() + b"\n")
        os.close(fd)

    def execute(self, command):
        self.ask(command)
        if not select.select([self.done_fd], [], [], self.limit)[0]:
            raise ToolFailed(f"did not end in {self.limit} s")
        return int(os.read(self.done_fd, 16))

    def measure(self):
        measured = super().measure()
        self.walls += measured.wall
        self.cpus += measured.cpu
        return measured

    def query(self, sql):
        """Rows of the store of runs; none before the first run is completed."""
        store = sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)
        try:
            return store.execute(sql).fetchall()
        finally:
            store.close()

    def sums(self):
        """What the hive's runs took so far, by the store."""
        rows = self.query("SELECT hook_ns, pause_ns FROM totals")
        return rows[0] if rows else (0, 0)

    def close(self, complete):
        """The hive ends when it has had its runs, or with us."""
        if not self.hive:
            return
        try:
            self.hive.wait(60 if complete else 0)
        except subprocess.TimeoutExpired:
            end_session(self.hive)
        os.close(self.done_fd)

    def finding(self):
        with open(self.report) as file:
            report = json.load(file)
        found, totals = reports.read_racehive(report), report["totals"]
        return {"runs": report["runs"], "races": reports.sort_races(found.races),
                "elsewhere": found.elsewhere, "candidates": totals["candidates"],
                "grounds": totals["grounds"],
                "hook_ns": totals["hook_ns"] - self.before[0],
                "pause_ns": totals["pause_ns"] - self.before[1],
                "measured_wall": self.walls, "measured_cpu": self.cpus}


class OpenArm(AskedArm):
    """The runs of one `racehive run` on a fresh store, as many as its caller wants. The first
    counts like any other."""

    def open(self, rounds=None):
        self.start(MOST_RUNS)
        self.before, self.walls, self.cpus = (0, 0), 0, 0

    def settle(self):
        """Waits until the store has what the last run showed."""
        limit = time.monotonic() + HIVE_LIMIT
        while self.query("SELECT runs FROM totals") != [(self.runs,)]:
            if self.hive.poll() is not None or time.monotonic() > limit:
                raise ToolFailed(f"racehive run did not keep its run {self.runs}")
            time.sleep(0.01)

    def tell(self):
        """The report on the runs so far."""
        done = subprocess.run([os.path.join(self.options.build, "bin", "racehive"), "report",
                               "--format=json", f"--symbols={self.subject.sidecar(self.options)}",
                               self.store], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            raise ToolFailed(f"racehive report: {done.stderr.decode().strip()[-300:]}")
        return json.loads(done.stdout)

    def close(self, complete):
        """The hive would go on; asked to end, it still writes its report."""
        if not self.hive:
            return
        self.hive.terminate()
        super().close(complete)


def make(options, subject, name):
    what = ARMS[name]
    return (AskedArm if what.asked else Arm)(options, subject, name, what)


def count_instructions(options, subject, how, size=None):
    """Instructions of one run under callgrind: of a kernel with one thread, of a program with the
    small load."""
    subject.build(options, how)
    out = os.path.join(options.work, "callgrind.out")
    wrap = " ".join(map(shlex.quote, [
        "python3", os.path.join(builds.HERE, "..", "idle", "callgrind.py"), out]))
    command = subject.command_with(options, how, size, 1) if size else \
        subject.command(options, how, "small")
    env = dict(os.environ, RW_WRAP=wrap)
    env.pop("RACEHIVE_OPTIONS", None)
    done = subprocess.run(["bash", "-c", command], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode:
        raise ToolFailed(f"callgrind ended with {done.returncode}: {done.stdout.strip()[-200:]}")
    with open(out) as file:
        return int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M)[1])
