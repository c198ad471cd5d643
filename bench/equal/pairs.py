# SPDX-License-Identifier: Apache-2.0
"""Which of the pairs of lines that ThreadSanitizer reports racehive found.

Both compilers inline and both name an access by its innermost line, but not always by the same one:
where lines were merged, one names the call that was inlined, or no line but only the function. So a
pair counts as found if it was found at the very lines; else if it was found with one side at the
very line, and with the other side's line among the calls that the access was inlined through, or,
where ThreadSanitizer knows no line, with the other side in that function. Never by the callers on
the stack: they are the same for many accesses.
"""
import collections

import reports

# Races of ThreadSanitizer's that were found; {race: the race it was found as} for those that were
# not at the very lines; and races that it did not report.
Matched = collections.namedtuple("Matched", "found moved others")


def chain_of(side):
    """The place of an access, that of its function, and those of the calls that it was inlined
    through."""
    own = reports.tools.place_of(side)
    calls = map(reports.tools.place_of, side.get("inlined") or ())
    return [own, (own[0], side["function"]), *calls]


def read_chains(report):
    """{race: chains of its two sides} for the true races of a racehive report with both lines."""
    chains = {}
    for candidate in report["candidates"]:
        sides = [chain_of(candidate[name]) for name in ("first", "second")]
        if candidate["verdict"] == "true-race" and all(all(side[0]) for side in sides):
            sides.sort(key=lambda side: reports.tools.place_order(side[0]))
            chains.setdefault(reports.race(sides[0][0], sides[1][0]), []).append(sides)
    return chains


def is_moved(race, sides):
    """Whether a race is that of two sides by the rule above."""
    for first, second in (sides, sides[::-1]):
        exact = race[0] == first[0] or race[1] == second[0]
        if exact and race[0] in first and race[1] in second:
            return True
    return False


def match(reported, report):
    chains = read_chains(report)
    true = reports.read_racehive(report).races
    exact, moved = reported & true, {}
    for race in reports.sort_races(reported - exact):
        for other, each in chains.items():
            if other not in reported and any(is_moved(race, sides) for sides in each):
                moved[race] = other
    return Matched(exact | set(moved), moved, true - reported - set(moved.values()))


def find_near(race, report, functions_at):
    """A race that was found with one side of `race`, and with another line of the other side's
    function, or None. It may be the same race: compilers read a variable once for two lines. It is
    only shown, and does not count as found. `functions_at`: gives the places of the functions of a
    line."""
    for other, each in sorted(read_chains(report).items()):
        for sides in each:
            for first, second in (sides, sides[::-1]):
                for here, there in (race, race[::-1]):
                    if first[0] == here and second[1] in functions_at(there):
                        return other
    return None
