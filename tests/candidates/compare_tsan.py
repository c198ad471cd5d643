#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says which races of a ThreadSanitizer log have no candidate at the same lines.

A race of the log is the pair of lines of the top frames of its two stacks that lie in the program's
own sources: frames above them (interceptors such as memcpy, code of libraries) act on their behalf.
Which sources are the program's own is what --sources says (folders or files), else all that lie
neither under /usr nor in the sanitizer's own sources.

Inlining: ThreadSanitizer's stacks list inlined functions as frames, so that the top frame is where
the access is written; a candidate's first.file:line and second.file:line are the same place. A race
is covered only by a candidate with exactly these two lines, in either order; lines of callers that
the access was inlined into do not count. Where ThreadSanitizer knows the function of an access but
no line of it, any line of that function counts.

Files are compared without folders. Warnings that are no data race (deadlocks, leaks) are left out;
races with an allocation too (see tools.py), but they are counted; so are races that cannot be
compared because a stack has no frame in the program.

The candidates of a large program are too many for a file: with --program, racehive is asked for
those of each line in the log.

Usage: compare_tsan.py (--candidates=FILE.json | --program=FILE --racehive=FILE) --log=FILE
                       [--sources=PATH]...
"""
import argparse
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tools  # noqa: E402

ENDINGS = (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inc")


def own_names(paths):
    """Names of the program's files; None: whatever is not a system's."""
    if not paths:
        return None
    names = set()
    for path in paths:
        if os.path.isfile(path):
            names.add(os.path.basename(path))
        for _, _, files in os.walk(path):
            names.update(f for f in files if f.endswith(ENDINGS))
    return names


def places_of(side):
    """The names that a place in a log may have for a side of a candidate."""
    name, line = tools.place_of(side)
    return (name, line), (name, side["function"])


def pairs_of(candidates):
    return {tools.pair(a, b) for c in candidates
            for a in places_of(c["first"]) for b in places_of(c["second"])}


def ask(racehive, program, races):
    """The candidates with a site on a line of each race, or in its function if it has no line."""
    candidates = []
    places = {next((place for place in race if isinstance(place[1], int)), race[0])
              for race in races}
    for name, place in sorted(places, key=tools.place_order):
        option = "--line" if isinstance(place, int) else "--function"
        done = subprocess.run([racehive, "candidates", "--json", f"--file={name}",
                               f"{option}={place}", program], stdout=subprocess.PIPE, check=True)
        candidates += tools.read_candidates(done.stdout)
    return candidates


def compare(candidates, log, names):
    """(races of the log, those without a candidate, warnings that cannot be compared, number of
    races with an allocation)"""
    races, lost, allocations = tools.read_races(log, names)
    lost = [t for t in lost if t.startswith(("data race", "race on", "heap-use"))]
    missing = sorted(races - pairs_of(candidates),
                     key=lambda race: [tools.place_order(place) for place in race])
    return races, missing, lost, allocations


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--candidates", metavar="FILE")
    source.add_argument("--program", metavar="FILE")
    parser.add_argument("--racehive", metavar="FILE", default="racehive")
    parser.add_argument("--log", required=True, metavar="FILE")
    parser.add_argument("--sources", action="append", metavar="PATH")
    options = parser.parse_args()
    with open(options.log, encoding="utf-8", errors="replace") as file:
        log = file.read()
    names = own_names(options.sources)
    if options.program:
        candidates = ask(options.racehive, options.program, tools.read_races(log, names)[0])
    else:
        with open(options.candidates, encoding="utf-8") as file:
            candidates = tools.read_candidates(file.read())
    races, missing, lost, allocations = compare(candidates, log, names)
    for p in missing:
        print(f"race without a candidate: {tools.show(p)}")
    for title in lost:
        print(f"cannot be compared: {title}")
    print(f"{len(races)} races in the log, {len(missing)} without a candidate, "
          f"{len(lost)} that cannot be compared, {allocations} with an allocation left out")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
