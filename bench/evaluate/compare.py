# SPDX-License-Identifier: Apache-2.0
"""Compares two evaluations of one machine: where do their intervals not overlap?"""
import stats

MEASURES = ("wall", "cpu", "rss_kb")


def common_ratios(a, b):
    """(subject, arm, measure, Ratio of a, Ratio of b) for each that both have."""
    for subject in a.subjects():
        for arm, kind in a.data["arms"].items():
            if not kind["base"] or subject not in b.subjects() or arm not in b.data["arms"]:
                continue
            for measure in MEASURES:
                first, second = (r.ratio(subject, arm, measure) for r in (a, b))
                if first and second:
                    yield subject, arm, measure, first, second


def overlap(first, second):
    return first.low <= second.high and second.low <= first.high


def only_in(a, b):
    """Races that one evaluation found and the other did not, with the tool."""
    for f in a.data["findings"]:
        other = b.finding(f["subject"], f["arm"])
        if other:
            missing = a.finding(f["subject"], f["arm"])["races"] - other["races"]
            if missing:
                yield f["subject"], f["arm"], len(missing)


def run(a, b):
    """Prints what differs; returns 1 if an interval does not overlap its counterpart."""
    for name in ("processor", "cores"):
        if a.data["machine"][name] != b.data["machine"][name]:
            print(f"another {name}: {a.data['machine'][name]} and {b.data['machine'][name]}")
    count, apart = 0, 0
    for subject, arm, measure, first, second in common_ratios(a, b):
        count += 1
        if not overlap(first, second):
            apart += 1
            print(f"{subject}, {arm}, {measure}: {stats.digits(first.low)} to "
                  f"{stats.digits(first.high)}, then {stats.digits(second.low)} to "
                  f"{stats.digits(second.high)}")
    print(f"{count} ratios compared, {apart} with intervals that do not overlap")
    for one, other, words in ((a, b, "first"), (b, a, "second")):
        for subject, arm, number in only_in(one, other):
            print(f"{subject}, {arm}: {number} races found in the {words} alone")
    return 1 if apart or not count else 0
