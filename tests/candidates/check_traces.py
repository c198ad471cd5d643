#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs programs under the detector `trace` and checks that what the search trusts hides no pair of
accesses that met.

Each program is linked twice, with --rh-trust=no-declarations and with the default. The first runs
with all keys on. From its trace come the pairs of sites that touched the same bytes in two threads
without a common lock, one of them writing. Each such pair that is a candidate of the first build
must be one of the second, and no function that ran may be out of reach for the second one's search.

Memory that is freed and allocated again would give pairs of types that never met, so nothing is
freed in these runs.

Usage: check_traces.py --racehive=BUILD [--allow=N] [--work=FOLDER PROGRAM...]
       (without PROGRAM: kernels of bench/kernels and programs of this folder; else recipes of
       ../realworld)
"""
import argparse
import collections
import glob
import os
import re
import shlex
import sqlite3
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tools  # noqa: E402

# Programs of this folder in which memory without a type is used as several.
PROGRAMS = ("declared_views", "declared_apart", "pool_of_links", "punned_memory", "union_pointer",
            "memcpy_pointers", "container_of", "tree")
HERE = tools.HERE
KERNELS = os.path.join(HERE, "..", "..", "bench", "kernels")
REALWORLD = os.path.join(HERE, "..", "realworld", "run")
TRUSTS = ("no-declarations", "all")
# Kernels and sizes at which each of them makes few enough accesses to be traced in a second.
SIZES = {"bbuf": 100, "ctrace": 5, "flags": 20, "pfscan": 3, "pipeline": 5, "pool": 50, "table": 100}
KEEP = r"""
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
void free(void *block) { (void)block; }
void *realloc(void *block, size_t size) {
    size_t old = block ? malloc_usable_size(block) : 0;
    void *larger = malloc(size);
    if (larger && block)
        memcpy(larger, block, old < size ? old : size);
    return larger;
}
"""
ACCESS = re.compile(r"thread (\d+) (?:atomic )?(read|write|update)\w* site (\d+) at "
                    r"(0x[0-9a-f]+) size (\d+)")
LOCK = re.compile(r"thread (\d+) (?!kernel|signal|thread|object|condition)\S.* "
                  r"(unlock|lock) at (0x[0-9a-f]+)")
MOST_BYTES = 4096   # of an access: longer ones are copies of whole tables


class Met:
    """The pairs of sites that met without a common lock."""

    def __init__(self):
        self.held = collections.defaultdict(frozenset)
        self.seen = collections.defaultdict(dict)   # granule -> {(thread, site, locks, ...): True}
        self.pairs = set()
        self.ran = set()

    def lock(self, thread, what, address):
        change = self.held[thread].union if what == "lock" else self.held[thread].difference
        self.held[thread] = frozenset(change((address,)))

    def access(self, thread, writes, site, begin, size):
        self.ran.add(site)
        end = begin + min(size, MOST_BYTES)
        for granule in range(begin >> 3, (end + 7) >> 3):
            mine = (thread, site, self.held[thread], writes, max(begin, granule << 3),
                    min(end, (granule + 1) << 3))
            known = self.seen[granule]
            if mine in known:
                continue
            for other in known:
                if other[0] != thread and (writes or other[3]) and other[4] < mine[5] and \
                        mine[4] < other[5] and not other[2] & mine[2]:
                    self.pairs.add((min(site, other[1]), max(site, other[1])))
            known[mine] = True


def read_traces(paths):
    met = Met()
    for path in paths:
        met.held.clear()
        met.seen.clear()
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                access = ACCESS.search(line)
                if access:
                    thread, kind, site, address, size = access.groups()
                    met.access(thread, kind != "read", int(site), int(address, 16), int(size))
                    continue
                lock = LOCK.search(line)
                if lock:
                    met.lock(*lock.groups())
    return met


def unpack(blob):
    """The numbers of src/base/packed.h."""
    values, value, shift, end = [], 0, 0, 0
    for byte in blob:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            values.append(value)
            value = shift = 0
    for gap, more in zip(values[::2], values[1::2]):
        yield from range(end + gap, end + gap + more + 1)
        end += gap + more + 1


class Candidates:
    """The candidates of a program, by what its sites are."""

    def __init__(self, program):
        with sqlite3.connect(f"file:{program}.racehive?mode=ro", uri=True) as db:
            self.places = dict(db.execute(
                "SELECT s.number, f.path || ':' || l.line || ' ' || s.expression FROM sites s "
                "LEFT JOIN locations l ON l.id = s.location LEFT JOIN files f ON f.id = l.file"))
            self.prints = dict(db.execute("SELECT number, fingerprint FROM sites"))
            self.functions = dict(db.execute(
                "SELECT s.number, f.name FROM sites s JOIN functions f ON f.id = s.function"))
            classes = dict(db.execute("SELECT site, class FROM class_sites"))
            self.groups = set()
            for first, blob in db.execute('SELECT first, partners FROM "groups"'):
                for second in unpack(blob):
                    self.groups.add((min(first, second), max(first, second)))
            self.unreached = {name for (name,) in db.execute(
                "SELECT DISTINCT f.name FROM removed r JOIN functions f ON f.id = r.function "
                "JOIN texts t ON t.id = r.reason WHERE t.text LIKE '%no thread reaches%'")}
            self.count = db.execute(
                "SELECT pairs FROM filters WHERE name = 'candidates'").fetchone()[0]
        self.classes = collections.defaultdict(set)   # by fingerprint: sites may be copies
        for site, klass in classes.items():
            self.classes[self.prints[site]].add(klass)

    def has(self, first, second):
        return any((min(a, b), max(a, b)) in self.groups
                   for a in self.classes.get(first, ()) for b in self.classes.get(second, ()))


def compare(name, free, trusting, traces, allowed):
    """Prints what the trust hides of what met; whether that is as it should be."""
    before, after, met = Candidates(free), Candidates(trusting), read_traces(traces)
    checked = [(a, b) for a, b in sorted(met.pairs)
               if before.has(before.prints[a], before.prints[b])]
    hidden = [(a, b) for a, b in checked if not after.has(before.prints[a], before.prints[b])]
    lost = sorted({before.functions[s] for s in met.ran if s in before.functions} &
                  (after.unreached - before.unreached))
    print(f"{name}: {before.count} candidates, {after.count} with the trust; of {len(checked)} "
          f"pairs that met without a common lock {len(hidden)} are hidden", flush=True)
    for a, b in hidden:
        print(f"  hidden: {before.places[a]} and {before.places[b]}")
    for function in lost:
        print(f"  ran, but is not reached: {function}")
    return len(hidden) <= allowed and not lost and bool(met.ran)


def trace_environment(folder, keeper):
    return {"LD_PRELOAD": keeper,
            "RACEHIVE_OPTIONS": f"detector=trace:keys=all:log_path={folder}/trace"}


def check_source(options, folder, source, arguments, keeper):
    programs, name = [], os.path.basename(source).removesuffix(".c")
    for trust in TRUSTS:
        programs.append(os.path.join(folder, f"{name}-{trust}"))
        tools.build_racehive(options.racehive, [source], programs[-1],
                             [f"--rh-trust={trust}", "-lm"])
    logs = os.path.join(folder, name)
    os.mkdir(logs)
    subprocess.run([programs[0], *arguments], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, **trace_environment(logs, keeper)},
                   timeout=tools.TIME_LIMIT)
    return compare(name, *programs, glob.glob(logs + "/trace.*"), options.allow)


def build_real(options, work, program, trust):
    """Builds a real program; returns the commands of its benchmark."""
    compilers = [os.path.join(options.racehive, "bin", c) for c in ("racehive-cc", "racehive-c++")]
    done = subprocess.run(
        [REALWORLD, f"--cc={compilers[0]}", f"--cxx={compilers[1]}", f"--work={work}", "--bench",
         program], env=dict(os.environ, RACEHIVE_TRUST=trust, RW_SCALE="small"),
        stdout=subprocess.PIPE, text=True, check=True)
    return [line.split("\t")[1] for line in done.stdout.splitlines()]


def check_real(options, folder, program, keeper):
    builds = {}
    for trust in TRUSTS:
        work = os.path.join(options.work or folder, trust)
        builds[trust] = (work, build_real(options, work, program, trust))
    work, commands = builds[TRUSTS[0]]
    logs = os.path.join(folder, program)
    os.mkdir(logs)
    wrap = " ".join(["env", *(shlex.quote(f"{key}={value}") for key, value
                              in trace_environment(logs, keeper).items())])
    for command in commands:
        subprocess.run(["bash", "-c", command], env=dict(os.environ, RW_WRAP=wrap), check=True,
                       stdout=subprocess.DEVNULL)
    found = [path.removesuffix(".racehive") for path in
             glob.glob(f"{work}/{program}/build/**/{program}.racehive", recursive=True)
             if "static" in path or program != "xz"]
    other = found[0].replace(os.path.join("", work, ""), os.path.join("", builds["all"][0], ""))
    return compare(program, found[0], other, glob.glob(logs + "/trace.*"), options.allow)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--racehive", required=True)
    parser.add_argument("--allow", type=int, default=0, help="how many pairs may be hidden")
    parser.add_argument("--work", help="where real programs are built, and kept")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args()
    options.racehive = os.path.abspath(options.racehive)
    with tools.WorkFolder(keep=False) as folder:
        source, keeper = os.path.join(folder, "keep.c"), os.path.join(folder, "keep.so")
        with open(source, "w", encoding="utf-8") as file:
            file.write(KEEP)
        subprocess.run([tools.CLANG, "-O1", "-shared", "-fPIC", source, "-o", keeper], check=True)
        if options.programs:
            good = [check_real(options, folder, p, keeper) for p in options.programs]
        else:
            good = [check_source(options, folder, os.path.join(KERNELS, name + ".c"),
                                 [str(size), "3"], keeper) for name, size in sorted(SIZES.items())]
            good += [check_source(options, folder, os.path.join(HERE, "programs", name + ".c"), [],
                                  keeper) for name in PROGRAMS]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
