# SPDX-License-Identifier: Apache-2.0
"""Which stage lost a race that ThreadSanitizer reports: asked of the program's sidecar and of the
store of its runs, whose tables src/store/sidecar.h and src/store/runs.h describe.

Candidates are read as groups of classes, of the classes in question only: a program may have a
thousand million of them.
"""
import collections
import os
import sqlite3

# From the first to the last: each needs what the one before needs, and more.
STAGES = ("no site", "no candidate", "never on", "not met", "met but ordered",
          "met, unordered, not proved", "asked, not proved")
NO_SITE, NO_CANDIDATE, NEVER_ON, NOT_MET, ORDERED, UNORDERED, ASKED = STAGES

# enum rh_stage of include/racehive/control.h: of a task that validates, not one that watches.
STEER = 2

Lost = collections.namedtuple("Lost", "stage why")


def unpack(packed):
    """The numbers of a sequence as src/base/packed.h packs it."""
    values, value, shift = [], 0, 0
    for byte in packed:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            values.append(value)
            value = shift = 0
    numbers, end = [], 0
    for gap, more in zip(values[::2], values[1::2]):
        numbers += range(end + gap, end + gap + more + 1)
        end += gap + more + 1
    return numbers


def connect(path):
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


class Sidecar:
    """The sites of a program by place, and whether a candidate joins two."""

    def __init__(self, path):
        self.db = connect(path)
        self.places = self.read_places()
        self.own = collections.defaultdict(list)   # locations by place and by function
        for number, at in self.places.items():
            for place in at[:2]:
                self.own[place].append(number)
        self.classes = dict(self.db.execute("SELECT site, class FROM class_sites"))

    def close(self):
        self.db.close()

    def read_places(self):
        """{location: [its place, that of its function, then the same of the calls that it was
        inlined through]}."""
        files = {number: os.path.basename(path or "")
                 for number, path in self.db.execute("SELECT id, path FROM files")}
        places = {}
        for number, file, line, name, caller in self.db.execute(
                "SELECT l.id, l.file, l.line, f.name, inlined_at FROM locations l "
                "JOIN functions f ON l.function = f.id ORDER BY l.id"):
            file = files.get(file, "")
            places[number] = [(file, line), (file, name), *places.get(caller, ())]
        return places

    def rows_at(self, table, place):
        """Numbers of a table's rows at a place: of those that have this line, or if it has none
        this function, as their own; else of those that were inlined there."""
        own = self.rows_of(table, self.own[place])
        return own or self.rows_of(table, (n for n, at in self.places.items() if place in at))

    def rows_of(self, table, locations):
        marks = ",".join(map(str, locations))
        rows = self.db.execute(f"SELECT number FROM {table} WHERE location IN ({marks})")
        return [number for number, in rows]

    def functions_at(self, place):
        """The functions that a line is in, as places."""
        return {self.places[number][1] for number in self.own[place]}

    def sites_at(self, place):
        return self.rows_at("sites", place)

    def why_no_site(self, place):
        """What the analysis says of the accesses there, which it removed."""
        marks = ",".join(map(str, self.rows_at("removed", place)))
        rows = self.db.execute("SELECT DISTINCT text FROM removed JOIN texts ON reason = id "
                               f"WHERE removed.number IN ({marks})")
        return ", ".join(text for text, in rows) or "no access there"

    def joined(self, firsts, seconds):
        """The pairs of sites that are candidates, lower number first."""
        wanted = [tuple(sorted((a, b))) for a in firsts for b in seconds]
        classed = {pair: tuple(sorted(self.classes[site] for site in pair))
                   for pair in wanted if all(site in self.classes for site in pair)}
        partners = self.read_partners({low for low, _ in classed.values()})
        return {pair for pair, (low, high) in classed.items() if high in partners.get(low, ())}

    def read_partners(self, classes):
        partners = collections.defaultdict(set)
        marks = ",".join(map(str, classes))
        for first, packed in self.db.execute(
                f'SELECT first, partners FROM "groups" WHERE first IN ({marks})'):
            partners[first].update(unpack(packed))
        return partners


class Runs:
    """What a store of runs knows of sites and pairs of them."""

    def __init__(self, path):
        db = connect(path)
        self.met = {tuple(sorted(row[:2])): row[2:] for row in db.execute(
            "SELECT first, second, locked, unlocked, unordered FROM met")}
        # What met ran, too: not every site is counted while it runs.
        self.ran = {number for number, in db.execute("SELECT number FROM sites")}.union(*self.met)
        self.asked = collections.Counter(tuple(sorted(row)) for row in db.execute(
            f"SELECT first, second FROM tasks WHERE stage = {STEER} AND outcome IS NOT NULL"))
        self.suspected = {tuple(sorted(row)) for row in db.execute(
            "SELECT first, second FROM candidates WHERE suspected > 0")}
        # Whether there was no room for more pairs: a loss of include/racehive/control.h.
        self.full = bool(db.execute("SELECT 1 FROM losses WHERE reason = 'MET_FULL'").fetchall())
        db.close()

    def unlocked(self):
        """Pairs that met without a common lock."""
        return {pair for pair, (_, unlocked, _) in self.met.items() if unlocked}


def describe(place):
    return f"{place[0]}:{place[1]}"


def place_lost(race, sidecar, runs, alias=None):
    """The stage that lost a race, and more on it. `alias`: the Runs of the dynamic alias analysis,
    which sees every pair that meets; None if there is none."""
    sites = {place: sidecar.sites_at(place) for place in race}
    for place in race:
        if not sites[place]:
            return Lost(NO_SITE, f"{describe(place)}: {sidecar.why_no_site(place)}")
    pairs = sidecar.joined(*(sites[place] for place in race))
    if not pairs:
        return Lost(NO_CANDIDATE, "")
    met = [pair for pair in pairs if pair in runs.met]
    asked = sum(runs.asked[pair] for pair in met)
    if asked:
        return Lost(ASKED, f"{asked} times")
    if any(runs.met[pair][2] or pair in runs.suspected for pair in met):
        return Lost(UNORDERED, "")
    if met:
        locks = "without" if any(runs.met[pair][1] for pair in met) else "always with"
        return Lost(ORDERED, f"{locks} a common lock")
    return place_unmet(race, sites, pairs, runs, alias)


def place_unmet(race, sites, pairs, runs, alias):
    """The stage of a race whose sites never met."""
    unseen = [place for place in race if not runs.ran.intersection(sites[place])]
    if unseen:
        return Lost(NEVER_ON, ", ".join(map(describe, unseen)))
    if alias is None:
        return Lost(NOT_MET, "")
    return Lost(NOT_MET, "met under alias" if any(pair in alias.met for pair in pairs)
                else "nor under alias")
