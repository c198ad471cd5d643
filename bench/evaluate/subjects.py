# SPDX-License-Identifier: Apache-2.0
"""The subjects: kernels of our own, and real programs from Debian's sources."""
import collections
import glob
import itertools
import os
import re
import shlex
import subprocess

import builds
import reports
from annotations import Annotations

KERNELS = os.path.join(builds.HERE, "..", "kernels")
RECIPES = os.path.join(builds.REALWORLD, "programs")
SCALES = ("full", "small")   # small: for tools that take a hundred times as long
IO_THREADS = "2"             # of redis: with more, those that spin would fight for two cores
SOURCES = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".hh")

# Sizes for 0.3 to 0.5 s natively, for a few seconds under Helgrind, and for a count of instructions
# with one thread (None: it depends on the clock, or it spins).
Sizes = collections.namedtuple("Sizes", "full small counted")
Pattern = collections.namedtuple("Pattern", "words of sizes quick")

PATTERNS = {
    "nbody": Pattern("n-body, locks in cells", "Barnes, Fmm", Sizes(24, 2, 4), True),
    "stencil": Pattern("stencil, barriers", "Ocean", Sizes(900, 70, 70), True),
    "cluster": Pattern("clustering, barriers", "streamcluster", Sizes(900, 80, 100), False),
    "pipeline": Pattern("pipeline, queues", "dedup, ferret", Sizes(30000, 3000, 4000), True),
    "pool": Pattern("pool of threads", "Knot", Sizes(70000, 7000, 8000), False),
    "table": Pattern("read-mostly table", "Memcached", Sizes(3000000, 60000, None), False),
    "flags": Pattern("ad-hoc flags", "several", Sizes(3000, 300, None), True),
    "bbuf": Pattern("bounded buffer", "bbuf", Sizes(2500000, 40000, 150000), False),
    "ctrace": Pattern("trace library", "ctrace", Sizes(25000, 1500, None), True),
    "pfscan": Pattern("parallel scan of a file", "Pfscan", Sizes(2500, 200, 150), False),
    "aget": Pattern("parallel download", "Aget", Sizes(60, 6, None), False),
}

# Where the program lies that a recipe's load runs, in the folder that it is built in.
PROGRAMS = {
    "pbzip2": "pbzip2/pbzip2",
    "zstd": "libzstd/programs/zstd",
    "xz": "static/src/xz/xz",
    "memcached": "memcached/memcached",
    "redis": "redis/src/redis-server",
    "sqlite3": "sqlite3/sqlite3_threads",
    "leveldb": "build/db_bench",
    "x264": "x264/x264",
    "unbound": "unbound/unbound",
}
# The same for programs that are compared at equal cost alone (bench/equal).
EXTRA = {
    "redis-benchmark": "redis/src/redis-benchmark",
    "libuv": "libuv_work",
}
# They wait to be asked: their wall time is that of the load.
SERVERS = ("memcached", "redis", "unbound")
QUICK_PROGRAMS = ("pbzip2",)


class Kernel:
    kind = "kernel"
    threads = 2

    def __init__(self, name):
        self.name, self.pattern = name, PATTERNS[name]
        self.quick, self.sizes = self.pattern.quick, self.pattern.sizes
        self.source = os.path.normpath(os.path.join(KERNELS, f"{name}.c"))
        self.sources = [self.source, os.path.normpath(os.path.join(KERNELS, "kernel.h"))]
        self.names = {os.path.basename(path) for path in self.sources}
        self.known = {reports.tools.pair((f"{name}.c", a), (f"{name}.c", b))
                      for a, b in Annotations(self.source).races}

    def describe(self):
        return {"kind": self.kind, "pattern": self.pattern.words, "of": self.pattern.of,
                "threads": self.threads, "instrumented": "the kernel",
                "known": reports.sort_races(self.known)}

    def path(self, options, how):
        return os.path.join(options.work, how, self.name)

    def build(self, options, how):
        path, record = self.path(options, how), self.path(options, how) + ".stamp"
        wanted = builds.stamp(options, how, self.sources)
        if builds.is_fresh(record, wanted):
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        try:
            reports.tools.compile_program([builds.compilers(options, how)[0]], [self.source], path,
                                          ["-std=gnu17", "-D_GNU_SOURCE", "-pthread",
                                           *builds.FLAGS])
        except reports.tools.BuildError as error:
            raise builds.BenchError(str(error)) from error
        with open(record, "w") as file:
            file.write(wanted)

    def command_with(self, options, how, size, threads):
        return f"$RW_WRAP {shlex.quote(self.path(options, how))} {size} {threads}"

    def command(self, options, how, scale):
        return self.command_with(options, how, getattr(self.sizes, scale), self.threads)

    def sidecar(self, options):
        return self.path(options, "keyed") + ".racehive"

    def read_wall(self, output):
        return None


def recipe_of(name):
    return os.path.join(RECIPES, f"{name}.sh")


class Program:
    kind = "program"
    threads = 2
    known = None

    def __init__(self, name):
        self.name, self.quick = name, name in QUICK_PROGRAMS
        self.recipe = recipe_of(name)
        # The recipe, and programs that stand beside it.
        self.sources = [self.recipe, *sorted(glob.glob(os.path.join(RECIPES, f"{name}_*.c")))]
        with open(self.recipe, encoding="utf-8") as file:
            words = itertools.takewhile(lambda line: line.startswith("#"), file)
            self.title = " ".join(line.strip("# \n") for line in list(words)[1:])   # no licence
        self.names = {os.path.basename(path) for path in self.sources[1:]}

    def describe(self):
        return {"kind": self.kind, "pattern": self.title, "of": self.name, "threads": self.threads,
                "instrumented": "all that its Debian sources build into the program; no system "
                                "library", "known": None}

    def record(self, options, how):
        return os.path.join(options.work, how, f"{self.name}.loads")

    def folder(self, options, how):
        return os.path.join(options.work, how, self.name, "build")

    def build(self, options, how):
        wanted = builds.stamp(options, how, self.sources)
        record = self.record(options, how)
        if not builds.is_fresh(record, wanted):
            self.build_anew(options, how, record, wanted)
        for folder, _, names in os.walk(self.folder(options, how)):
            self.names.update(name for name in names if name.endswith(SOURCES))

    def build_anew(self, options, how, record, wanted):
        work = os.path.dirname(record)
        os.makedirs(work, exist_ok=True)
        cc, cxx = builds.compilers(options, how)
        flags = " ".join(builds.FLAGS)
        done = subprocess.run(
            [os.path.join(builds.REALWORLD, "run"), f"--cc={cc}", f"--cxx={cxx}",
             f"--work={work}", "--loads", self.name],
            env=dict(os.environ, CFLAGS=flags, CXXFLAGS=flags), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        loads = [line.split("\t", 2) for line in done.stdout.splitlines()]
        if [load[1:2] for load in loads] != [[scale] for scale in SCALES]:
            raise builds.BenchError(f"cannot be built ({how}): {done.stderr.strip()[-500:]}")
        with open(record, "w") as file:
            file.write("\n".join([wanted] + [command for _, _, command in loads]) + "\n")

    def command(self, options, how, scale):
        with open(self.record(options, how)) as file:
            return file.read().splitlines()[1 + SCALES.index(scale)]

    def sidecar(self, options):
        """By build id, since some build systems copy a program to another place."""
        path = os.path.join(self.folder(options, "keyed"), {**PROGRAMS, **EXTRA}[self.name])
        notes = subprocess.run(["readelf", "-n", path], stdout=subprocess.PIPE, text=True).stdout
        found = re.search(r"Build ID: (\w\w)(\w+)", notes)
        if not found:
            raise builds.BenchError(f"{path} has no build id")
        return os.path.join(options.work, "keyed", "data", "racehive", "by-build-id", found[1],
                            f"{found[2]}.racehive")

    def read_wall(self, output):
        load = re.search(r"([0-9.]+) seconds$", output, re.M) if self.name in SERVERS else None
        return float(load[1]) if load else None


def find(names, quick, programs=tuple(PROGRAMS)):
    """The subjects of these names, or all of them; kernels first."""
    every = [Kernel(name) for name in PATTERNS] + [Program(name) for name in programs]
    unknown = set(names) - {subject.name for subject in every}
    if unknown:
        raise builds.BenchError(f"no subject {', '.join(sorted(unknown))}: there are "
                                f"{', '.join(subject.name for subject in every)}")
    if names:
        return [subject for subject in every if subject.name in names]
    return [subject for subject in every if subject.quick or not quick]
