#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks racehive's candidates against generated programs whose races are known.

Every pair of lines that truly races must have a candidate with these two lines, or with those of a
call or function to which the optimiser has moved the access (the figure `moved`). Of lines that are
race-free it is counted how many candidates touch them; in guarded programs (see generate.py) any
candidate is a failure.

Usage: run_generated.py --racehive=BUILD --seeds=A-B [--guarded] [--size=S] [--jobs=J] [--keep]
"""
import argparse
import concurrent.futures
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tools  # noqa: E402
from generator.program import MODES, Program  # noqa: E402


def places(pair):
    return tools.pair(*((p["file"], p["line"]) for p in pair))


def read_callers(sources):
    """{place: places of the calls of the function that it is in}, for all lines of the program."""
    functions, calls = {}, {}
    for path in sources:
        file, inside = os.path.basename(path), None
        with open(path, encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                begin = re.match(r"\w[^;=]*?\b(\w+)\([^;]*$", line)
                inside = begin.group(1) if begin else inside
                functions[file, number] = inside
                call = re.match(r"\s+(\w+)\(.*\);", line)
                if call:
                    calls.setdefault(call.group(1), set()).add((file, number))
    return {place: calls.get(name, set()) for place, name in functions.items()}


def is_moved(race, candidates, callers):
    """The optimiser may read what a function is about to read in its caller, and pass the value.
    Then the read is at the line of the call, on which the programs do nothing else. Or it may leave
    out a copy that the function called on the next line only reads, as LLVM 22 does: then the
    function reads the original."""
    def stands_for(side, place):
        at = tools.place_of(side)
        next_line = (place[0], place[1] + 1)
        return at == place or (side["access"] == "read" and
                               (at in callers[place] or next_line in callers.get(at, ())))

    return any(stands_for(c["first"], a) and stands_for(c["second"], b)
               for c in candidates for a, b in (race, race[::-1]))


def judge(truth, candidates, sources):
    """(complaints, figures) for the candidates of one program."""
    complaints = []
    pairs = tools.candidate_pairs(candidates)
    races = {places(r) for r in truth["races"]}
    missing = races - pairs
    callers = read_callers(sources) if missing else {}
    moved = {race for race in missing if is_moved(race, candidates, callers)}
    for race in sorted(missing - moved):
        complaints.append(f"true race without a candidate: {tools.show(race)}")
    if truth["mode"] == "guarded":
        for c in candidates:
            complaints.append(f"candidate in a guarded program: {describe(c)}")
    free = {(p["file"], p["line"]) for p in truth["race_free"]}
    touched = {place for p in pairs for place in p}
    return complaints, {"races": len(races), "moved": len(moved), "candidates": len(candidates),
                        "pairs": len(pairs), "false pairs": sum(1 for p in pairs if set(p) & free),
                        "race-free lines": len(free), "touched": len(free & touched)}


def describe(candidate):
    sides = []
    for side in (candidate["first"], candidate["second"]):
        file, line = tools.place_of(side)
        sides.append(f"{side['access']} {side.get('expression') or '?'} at {file}:{line}")
    return " and ".join(sides)


def check(seed, options):
    with tools.WorkFolder(options.keep) as folder:
        truth = Program(seed, options.size, options.mode).write(folder)
        sources = [os.path.join(folder, s) for s in truth["sources"]]
        program = os.path.join(folder, "program")
        try:
            tools.build_racehive(options.racehive, sources, program)
            return judge(truth, tools.candidates_of(options.racehive, program), sources)
        except tools.BuildError as error:
            return [str(error)], {}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--racehive", required=True, metavar="BUILD")
    parser.add_argument("--seeds", type=tools.seed_range, required=True, metavar="A-B")
    parser.add_argument("--mode", choices=MODES, default="mixed")
    parser.add_argument("--guarded", action="store_const", dest="mode", const="guarded")
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    failed, totals = 0, {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for seed, (complaints, figures) in zip(
                options.seeds, pool.map(lambda s: check(s, options), options.seeds)):
            failed += bool(complaints)
            for text in complaints:
                print(f"seed {seed} ({options.mode}): {text}", flush=True)
            for name, value in figures.items():
                totals[name] = totals.get(name, 0) + value
    print(f"{len(options.seeds)} {options.mode} programs, {failed} failed; " +
          ", ".join(f"{name} {value}" for name, value in totals.items()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
