# SPDX-License-Identifier: Apache-2.0
"""What the tests of `racehive report` share: candidates, a store with a run of each kind, ways to ask
for the report."""
import html.parser
import json
import os
import subprocess
import sys

from harness import ID_A, Case

MAKE_RUNS = os.path.abspath(sys.argv[3])

# The candidates of make_candidates' `few`, as in candidates_test.py, and the one of `hostile`.
BUSY, LOCKED, READ_WRITE, ITSELF, MIXED = (
    "f66f08be64f97f1f", "37382fc97ba06c65", "c87afed77487b6b9", "16b878c650cab9c9",
    "7a614ca1770714ca")

# The runs without a race that a likely false positive needs, and more than enough of them to tell what
# a race causes.
ENOUGH = 66

# Runs of each kind: three true races, one likely false positive, one unknown.
RUNS = [f"{LOCKED}:race,lock1", f"{LOCKED}:race,alternate,collision,crash,lock0",
        f"{LOCKED}:race,alternate,crash,lock0",
        f"{LOCKED}:not_seen", f"{ITSELF}:race,main", f"{ITSELF}:timeout",
        f"{BUSY}:race,hang", f"{BUSY}:race,hang", *[f"{READ_WRITE}:no_race"] * ENOUGH,
        f"{MIXED}:not_seen,suspected"]

SOURCE = "".join(f"line {n}\n" for n in range(1, 41)) + "\t\tx account->balance += n;\n" + \
    "".join(f"line {n}\n" for n in range(42, 100))


class ReportCase(Case):
    content = "few"
    runs = RUNS

    def setUp(self):
        super().setUp()
        self.store = self.path("data/racehive/runs/" + ID_A + "-racemob.runs")
        os.makedirs(os.path.dirname(self.store))
        if self.runs is not None:
            self.make_runs(self.store, *self.runs)
        self.write("bank.c", SOURCE.encode())

    def make_runs(self, store, *runs, detector="racemob"):
        subprocess.run([MAKE_RUNS, self.path("bank.racehive"), store, detector, *runs], check=True)

    def report(self, *words):
        return self.succeed("report", *words, "bank")

    def json(self, *words):
        return json.loads(self.report("--format=json", *words))

    def candidates(self):
        return {c["id"]: c for c in self.json()["candidates"]}


class Page(html.parser.HTMLParser):
    """What a browser would make of a page: balanced elements, their attributes, their texts."""

    VOID = {"meta", "input", "br"}

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.texts, self.rows = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style"):
            return
        self.texts.append(data)
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data

    def text(self):
        return "".join(self.texts)
