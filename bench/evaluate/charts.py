# SPDX-License-Identifier: Apache-2.0
"""Plots as SVG that takes its colours from the page around it."""
import html
import math

WIDTH, LABELS, RIGHT, TOP, LINE = 860, 120, 24, 8, 12


def nice_log_ticks(low, high):
    ticks = [m * 10 ** e for e in range(-2, 6) for m in (1, 2, 5)]
    return [t for t in ticks if low <= t <= high]


def nice_ticks(low, high):
    step = 10 ** math.floor(math.log10(high - low))
    while (high - low) / step < 5:
        step /= 2
    first = math.ceil(low / step)
    return [i * step for i in range(first, int(math.floor(high / step)) + 1)]


class Axis:
    def __init__(self, low, high, log):
        self.low, self.high, self.log = low, high, log
        self.ticks = nice_log_ticks(low, high) if log else nice_ticks(low, high)

    def place(self, value):
        value = min(max(value, self.low), self.high)
        low, high = self.low, self.high
        if self.log:
            value, low, high = map(math.log, (value, low, high))
        return LABELS + (WIDTH - LABELS - RIGHT) * (value - low) / (high - low)


def text(x, y, words, kind, anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">' \
           f'{html.escape(words)}</text>'


def grid(axis, height, show):
    parts = []
    for tick in axis.ticks:
        x = axis.place(tick)
        kind = "one" if abs(tick - 1) < 1e-9 else "grid"
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{height - 22}" '
                     f'class="{kind}"/>')
        parts.append(text(x, height - 8, show(tick), "tick", "middle"))
    return parts


def mark(axis, y, series, bar):
    """An interval, and a dot at its middle if the ratio may be said; arrows where it leaves the
    plot."""
    low, high = axis.place(bar.low), axis.place(bar.high)
    parts = [f'<line x1="{low:.1f}" x2="{max(high, low + 1):.1f}" y1="{y}" y2="{y}" '
             f'class="bar {series}"/>']
    if bar.high > axis.high:
        parts.append(f'<path d="M{high:.1f} {y - 4} l7 4 l-7 4 z" class="dot {series}"/>')
    if bar.low < axis.low:
        parts.append(f'<path d="M{low:.1f} {y - 4} l-7 4 l7 4 z" class="dot {series}"/>')
    if bar.sure and axis.low <= bar.middle <= axis.high:
        parts.append(f'<circle cx="{axis.place(bar.middle):.1f}" cy="{y}" r="3.5" '
                     f'class="dot {series}"/>')
    return parts


def intervals(title, rows, axis, show):
    """`rows`: [(label, [(series, bar or None)])]; a bar has low, middle, high, sure, source."""
    lines = sum(len(bars) for _, bars in rows)
    height = TOP + lines * LINE + len(rows) * 8 + 28
    parts = grid(axis, height, show)
    y = TOP + 8
    for label, bars in rows:
        middle = y + (len(bars) - 1) * LINE / 2
        parts.append(text(LABELS - 10, middle + 4, label, "label", "end"))
        for series, bar in bars:
            if bar:
                drawn = "".join(mark(axis, y, series, bar))
                parts.append(f'<g data-from="{html.escape(bar.source)}"><title>'
                             f'{html.escape(bar.source)}</title>{drawn}</g>')
            y += LINE
        y += 8
    return (f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{html.escape(title)}">'
            f'{"".join(parts)}</svg>')


def legend(series):
    """`series`: [(class, words)]."""
    items = "".join(f'<span class="key"><svg viewBox="0 0 14 14" class="swatch"><circle cx="7" '
                    f'cy="7" r="5" class="dot {kind}"/></svg>{html.escape(words)}</span>'
                    for kind, words in series)
    return f'<p class="legend">{items}</p>'
