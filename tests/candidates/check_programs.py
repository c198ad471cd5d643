#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the annotated programs (see annotations.py).

With --racehive, against the candidates of an optimised build: every annotated race has a candidate
with its two lines (unless it says CANDIDATES: misses, and then some have none), and no candidate
touches a line marked NORACE or contradicts itself about locks. With --tsan, the annotations
themselves against ThreadSanitizer: it reports no race that is not annotated, and none that touches
a NORACE line; which annotated races it saw is printed, and a program that it saw none of must say
so (TSAN: misses). With --lines, that an access is left on each RACE line of the optimised program.

Usage: check_programs.py [--racehive=BUILD] [--tsan] [--lines] [PROGRAM...]
"""
import argparse
import glob
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tools  # noqa: E402
from annotations import Annotations  # noqa: E402
from optimised import optimised_lines  # noqa: E402

TSAN_RUNS = 4


def check_candidates(notes, build, folder):
    name = os.path.basename(notes.path)
    program = os.path.join(folder, "program")
    tools.build_racehive(build, [notes.path], program, notes.options + notes.needs)
    candidates = tools.candidates_of(build, program)
    pairs = tools.candidate_pairs(candidates)
    missing = {(a, b): race for (a, b), race in notes.races.items()
               if tools.pair((name, a), (name, b)) not in pairs}
    if notes.misses:
        print(f"EXPECTED FAILURE: {name}: {notes.misses}")
        if not missing:
            yield f"{name}: every race has a candidate, but CANDIDATES says that some have none"
        missing = {}
    for (a, b), race in missing.items():
        label = f" ({race})" if race else ""
        yield f"{name}:{a} and {b}: race{label} without a candidate"
    for c in candidates:
        if "one side holds a lock" in c["why"] and bool(c["first"]["locks"]) == bool(c["second"]["locks"]):
            yield f"{name}: candidate {c['id']} speaks of one side's lock beside what both sides hold"
    for a, b in sorted(pairs):
        for file, line in {a, b}:
            if file == name and line in notes.silent:
                yield f"{name}:{line}: marked NORACE, but in the candidate {tools.show((a, b))}"


def check_tsan(notes, folder):
    name = os.path.basename(notes.path)
    program = os.path.join(folder, "tsan")
    tools.build_tsan([notes.path], program, notes.options + notes.needs)
    seen, lost = tools.tsan_races(tools.run_tsan(program, TSAN_RUNS), [name])
    races = {tools.pair((name, a), (name, b)) for a, b in notes.races}
    for p in sorted(seen - races):
        yield f"ThreadSanitizer sees a race that is not annotated: {tools.show(p)}"
    for place in sorted({x for p in seen for x in p}):
        if place[1] in notes.silent:
            yield f"ThreadSanitizer sees a race at {place[0]}:{place[1]}, marked NORACE"
    for title in lost:
        yield f"ThreadSanitizer: {title}"
    if races and not seen & races and notes.tsan == "sees":
        yield "ThreadSanitizer sees none of the annotated races"
    print(f"{name}: ThreadSanitizer saw {len(seen & races)} of {len(races)} races", flush=True)


def check_lines(notes, folder):
    name = os.path.basename(notes.path)
    alive = optimised_lines(folder, [notes.path], notes.options + notes.needs)
    for line in sorted({x for r in notes.races for x in r}):
        if (name, line) not in alive:
            yield f"{name}:{line}: no access is left in the optimised program"


def can_build(notes, folder):
    """Whether the compiler can do what the program needs, tried on an empty program."""
    if not notes.needs:
        return True
    empty = os.path.join(folder, "empty.c")
    with open(empty, "w", encoding="utf-8") as file:
        file.write("int main(void) { return 0; }\n")
    try:
        tools.compile_program([tools.CLANG], [empty], os.path.join(folder, "empty"), notes.needs)
    except tools.BuildError:
        return False
    return True


def check(path, options, counts):
    notes = Annotations(path)
    if not notes.races and not notes.silent:
        return [f"{path}: no annotations"]
    wrong = []
    with tools.WorkFolder(False) as folder:
        if not can_build(notes, folder):
            counts["skipped"] += 1
            print(f"SKIPPED: {os.path.basename(path)}: the compiler has no {' '.join(notes.needs)}")
            return []
        try:
            if options.racehive:
                wrong += check_candidates(notes, options.racehive, folder)
            if options.tsan and notes.tsan != "cannot":
                wrong += check_tsan(notes, folder)
            if options.lines:
                wrong += check_lines(notes, folder)
        except (tools.BuildError, subprocess.TimeoutExpired) as error:
            wrong.append(str(error))
    counts["races"] += len(notes.races)
    counts["silent"] += len(notes.silent)
    return [f"{os.path.basename(path)}: {w}" if not w.startswith(os.path.basename(path)) else w
            for w in wrong]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--racehive", metavar="BUILD")
    parser.add_argument("--tsan", action="store_true")
    parser.add_argument("--lines", action="store_true")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args()
    if not (options.racehive or options.tsan or options.lines):
        parser.error("say what to check: --racehive=BUILD, --tsan or --lines")
    programs = options.programs or sorted(
        glob.glob(os.path.join(tools.HERE, "programs", "*.c")) +
        glob.glob(os.path.join(tools.HERE, "programs", "*.cc")))
    counts = {"races": 0, "silent": 0, "skipped": 0}
    failed = 0
    for path in programs:
        wrong = check(path, options, counts)
        failed += bool(wrong)
        for text in wrong:
            print(text, flush=True)
    print(f"{len(programs)} programs with {counts['races']} races and {counts['silent']} silent "
          f"lines, {failed} failed, {counts['skipped']} skipped")
    return 1 if failed or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
