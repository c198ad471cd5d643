# SPDX-License-Identifier: Apache-2.0
"""Reads what the tools say of races: ThreadSanitizer's, Helgrind's and DRD's logs, and racehive's
report.

A *place* is (file name without folders, line). A *race* is a pair of places, sorted; where a tool
knows only one side, the other is None and comes first. A place is that of the innermost frame in
one of the subject's own files: code of libraries above it makes the access on its behalf.
"""
import collections
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "tests", "candidates"))
import tools  # noqa: E402  (what the tests read ThreadSanitizer's logs with)

# Races, and how many reports had no line of the subject's own.
Found = collections.namedtuple("Found", "races elsewhere")

FRAME = re.compile(r"^==\d+==\s+(?:at|by) 0x[0-9A-F]+: (.*)$")
POSITION = re.compile(r"\(([^()]*):(\d+)\)$")


def race(first, second):
    """A race of two places, of which one or both may be unknown."""
    if first is None or second is None:
        return (None, first or second)
    return tools.pair(first, second)


def collect(pairs):
    """A Found of pairs of places."""
    races, elsewhere = set(), 0
    for first, second in pairs:
        if first is None and second is None:
            elsewhere += 1
        else:
            races.add(race(first, second))
    return Found(races, elsewhere)


def read_tsan(log, names):
    pairs = []
    for title, stacks in tools.tsan_warnings(log):
        if not title.startswith(("data race", "heap-use-after-free", "race on")):
            continue
        if any(map(tools.is_allocation, stacks)):
            continue   # an allocation is no access of the program (see tools.ALLOCATORS)
        places = [tools.own_place(stack, names) for stack in stacks[:2]] + [None, None]
        pairs.append(places[:2])
    return collect(pairs)


def place_in(lines, names):
    """The place of a valgrind stack that begins with the first of `lines`."""
    for line in lines:
        frame = FRAME.match(line)
        if not frame:
            break
        position = POSITION.search(frame[1])
        if position and os.path.basename(position[1]) in names:
            place = os.path.basename(position[1]), int(position[2])
            return place if all(place) else None   # line 0: code that belongs to no line
    return None


def stack_after(lines, start):
    """The lines of the stack that follows line `start`, past a line on locks."""
    begin = start + 1
    while begin < len(lines) and begin < start + 3 and not FRAME.match(lines[begin]):
        begin += 1
    return lines[begin:]


def read_helgrind(log, names):
    lines, pairs = log.splitlines(), []
    for number, line in enumerate(lines):
        if "Possible data race during" in line:
            pairs.append([place_in(stack_after(lines, number), names), None])
        elif "This conflicts with a previous" in line and pairs:
            pairs[-1][1] = place_in(stack_after(lines, number), names)
    return collect(pairs)


def read_drd(log, names):
    """DRD knows the place of one access; of the other only which stretch of code it was in."""
    lines = log.splitlines()
    return collect((place_in(lines[number + 1:], names), None)
                   for number, line in enumerate(lines)
                   if re.match(r"==\d+== Conflicting (?:load|store) by thread", line))


def read_racehive(report):
    true = [c for c in report["candidates"] if c["verdict"] == "true-race"]
    return collect((place_or_none(c["first"]), place_or_none(c["second"])) for c in true)


def place_or_none(side):
    place = tools.place_of(side)
    return place if all(place) else None


def sort_races(races):
    return sorted(races, key=lambda r: [tools.place_order(place or ("", 0)) for place in r])


def match(found, known):
    """(known races that were found, found ones that are not known). One that has only one side is
    any known race at that place, since it cannot be told which."""
    hits = {r for r in known if r in found or any((None, place) in found for place in r)}
    false = {r for r in found if r not in known and
             not (r[0] is None and any(r[1] in k for k in known))}
    return hits, false
