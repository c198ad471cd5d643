# SPDX-License-Identifier: Apache-2.0
"""Ratios of interleaved measurements, in words that claim no more than they show, and tables."""
import collections
import math
import statistics

FEWEST = 6   # of fewer, not even the smallest and the largest contain the median with 95 %

Ratio = collections.namedtuple("Ratio", "middle low high count")


def interval(values):
    """The median, and bounds of it: the narrowest pair of order statistics that holds the true
    median with 95 % or more, whatever the distribution. Takes FEWEST values or more."""
    values = sorted(values)
    n, cut = len(values), 0
    while 2 * sum(math.comb(n, k) for k in range(cut + 2)) / 2 ** n <= 0.05:
        cut += 1
    return statistics.median(values), values[cut], values[-1 - cut]


def ratios(base, other):
    return [b / a for a, b in zip(base, other) if a > 0]


def ratio(values):
    """A Ratio, or None if there are too few values to say anything with 95 %."""
    if len(values) < FEWEST:
        return None
    return Ratio(*interval(values), len(values))


def is_sure(r):
    """Whether a ratio may be printed: its interval is not wider than the effect that it shows."""
    return r.high - r.low <= abs(r.middle - 1)


def digits(value):
    return f"{value:.3f}" if value < 2 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def show(r):
    """A Ratio in words. Where it is not sure, the bounds are said and no ratio."""
    if r is None:
        return "too few runs"
    bounds = f"{digits(r.low)} to {digits(r.high)}"
    if r.low <= 1 <= r.high:
        return f"no difference seen ({bounds})"
    if is_sure(r):
        return f"{digits(r.middle)} ({bounds})"
    return f"between {digits(r.low)} and {digits(r.high)}"


def show_ratio(values):
    return show(ratio(values)) if values else "-"


def show_goal(values, limit):
    """Whether a ratio is at most `limit`, as far as its bounds tell."""
    middle, low, high = interval(values)
    verdict = "holds" if high <= limit else "does not hold" if low > limit else \
        "holds at the median, not beyond doubt" if middle <= limit else \
        "does not hold at the median, not beyond doubt"
    return f"{verdict}: {middle:.3f} ({low:.3f} to {high:.3f})"


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(v) for v in values))


def print_table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print(flush=True)
