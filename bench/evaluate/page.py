# SPDX-License-Identifier: Apache-2.0
"""The page: one HTML file that needs nothing else, made from the results alone.

Every figure carries where it comes from in the attribute data-from, as a path into results.json.
"""
import collections
import html
import os
import re

import charts
import paper_sections
import stats
import tables

HERE = os.path.dirname(os.path.abspath(__file__))
LIGHT = ("whole", "idle", "racemob", "racechaser", "litehb", "caper")
HEAVY = ("tsan", "helgrind", "drd")
MEASURES = {"wall": "Wall time", "cpu": "Processor time", "rss_kb": "Peak memory"}

Bar = collections.namedtuple("Bar", "low middle high sure source")


def bar_of(results, subject, arm, measure):
    r = results.ratio(subject, arm, measure) if arm in results.data["arms"] else None
    if not r:
        return None
    return Bar(r.low, r.middle, r.high, stats.is_sure(r),
               f"{subject}, {results.data['arms'][arm]['title']}, {measure}: {stats.show(r)}; "
               + tables.source_of_ratio(results, subject, arm, measure))


def measured(results):
    return [s for s in results.subjects() if results.values(s, "native", "wall")]


def plot(results, names, measure, title, log):
    subjects = measured(results)
    rows = [(s, [(arm, bar_of(results, s, arm, measure)) for arm in names]) for s in subjects]
    bars = [b for _, row in rows for _, b in row if b]
    if not bars:
        return ""
    low, high = min(b.low for b in bars), max(b.high for b in bars)
    if log:
        axis = charts.Axis(min(0.8, low), max(high * 1.1, 2), True)
    else:
        axis = charts.Axis(max(min(0.95, low - 0.01), 0.8), min(max(high + 0.01, 1.1), 1.5), False)
    show = (lambda t: f"{t:g}×") if log else (lambda t: f"{t:.2f}×")
    legend = charts.legend([(arm, results.data["arms"][arm]["title"]) for arm in names
                            if arm in results.data["arms"]])
    return (f"<figure><figcaption>{html.escape(title)}</figcaption>{legend}"
            f"{charts.intervals(title, rows, axis, show)}</figure>")


# ---- sections ----

def head(results):
    data, machine, versions = results.data, results.data["machine"], results.data["versions"]
    facts = [
        ("Date", data["began"]),
        ("Took", f"{data['seconds'] // 60} min {data['seconds'] % 60} s"),
        ("Machine", f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, "
                    f"{machine['kernel']}; load at the start "
                    + " ".join(f"{n:.1f}" for n in machine["load_at_start"])),
        ("Versions", "; ".join(f"{name}: {text or 'missing'}" for name, text in versions.items())),
        ("Repeats", f"{data['rounds']} rounds of the fast arms, {data['slow_rounds']} of "
                    f"ThreadSanitizer, Helgrind and DRD, interleaved; racehive's detectors had "
                    f"{data['first_runs']} runs with a small load before"),
    ]
    kind = "the quick one: some subjects, few rounds" if data["quick"] else "the whole one"
    listed = "".join(f"<dt>{k}</dt><dd>{html.escape(v)}</dd>" for k, v in facts)
    return ("<h1>What race detection costs, and what it finds</h1>"
            f"<p class='lead'>An evaluation of Racehive beside today's tools: {kind}.</p>"
            f"<dl>{listed}</dl>")


def tiles(results):
    subjects, out = measured(results), []
    for arm in (*LIGHT[1:], *HEAVY):
        if arm not in results.data["arms"]:
            continue
        mean, count = results.mean(subjects, arm, "wall")
        figure = "—"
        if mean:
            figure = f"{stats.digits(mean.middle)}×" if stats.is_sure(mean) else \
                f"{mean.low:.2f} to {mean.high:.2f}×"
        words = f"of {count} subjects" if mean else "no measurement"
        source = tables.source_of_mean(arm, "wall")
        out.append(f"<div class='tile {arm}' data-from='{source}' title='{source}'>"
                   f"{html.escape(results.data['arms'][arm]['title'])}<b>{figure}</b>"
                   f"<small>wall time, geometric mean {words}</small></div>")
    return f"<div class='tiles'>{''.join(out)}</div>"


def glance(results):
    return ("<h2 id='glance'>At a glance</h2>" + tiles(results) +
            "<p>Ratios are to the same subject built by plain clang -O2. A ratio is the median of "
            "the ratios round by round, with bounds that contain the true median with 95 % confidence. Where the "
            "bounds are farther apart than the effect is large, no ratio is given, only the "
            "bounds.</p>" +
            tables.overview(results, measured(results), (*LIGHT, *HEAVY)))


def costs(results):
    out = ["<h2 id='cost'>What it costs</h2>",
           "<p>Both sides of a comparison have the same code: the kernel, or everything that the "
           "program's Debian sources build into it; system libraries are left as they are. Only "
           "Helgrind and DRD instrument libraries, too, since they work on machine code; they run "
           "a smaller load, and so does what they are compared with. The time of a server is that "
           "of its load.</p>"]
    for measure, words in MEASURES.items():
        out.append(f"<h3>{words}</h3>")
        if measure != "rss_kb":
            out.append(plot(results, LIGHT, measure, f"{words}, tools for production; native = 1",
                            False))
        out.append(plot(results, HEAVY if measure != "rss_kb" else (*LIGHT, *HEAVY), measure,
                        f"{words}, {'tools for testing' if measure != 'rss_kb' else 'all tools'}; "
                        "native = 1, logarithmic", True))
        out.append(tables.costs(results, measured(results), (*LIGHT, *HEAVY), measure))
    return "".join(out) + tables.accounts(results, measured(results))


def sections(results):
    return [
        ("glance", "At a glance", glance(results)),
        ("cost", "Cost", costs(results)),
        ("races", "Races", tables.races(results, measured(results))),
        ("instructions", "Instructions", tables.instructions(results)),
        ("papers", "The papers", paper_sections.make(results)),
        ("parts", "Parts", tables.parts(results)),
        ("failures", "Failures", tables.failures(results)),
        ("arms", "Arms and subjects", tables.arms_and_subjects(results)),
    ]


def make(results):
    with open(os.path.join(HERE, "page.css"), encoding="utf-8") as file:
        style = re.sub(r"\s+", " ", file.read())
    parts = sections(results)
    nav = "".join(f"<a href='#{name}'>{html.escape(title)}</a>" for name, title, _ in parts)
    body = "".join(text for _, _, text in parts)
    return ("<!doctype html><html lang='en'><meta charset='utf-8'>"
            "<meta name='viewport' content='width=device-width, initial-scale=1'>"
            f"<title>Racehive: evaluation</title><style>{style}</style><main>"
            f"{head(results)}<nav>{nav}</nav>{body}</main></html>\n")


def write(results, folder):
    path = os.path.join(folder, "evaluation.html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(make(results))
    return path
