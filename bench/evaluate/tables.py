# SPDX-License-Identifier: Apache-2.0
"""The tables of the page."""
import html
import re

import reports
import stats


def source_of_ratio(results, subject, arm, measure, base=None):
    base = base or results.data["arms"][arm]["base"]
    return f"measurements[subject={subject}, arm={arm} / arm={base}].{measure}"


def source_of_mean(arm, measure):
    return f"measurements[arm={arm} / its base].{measure}, geometric mean over subjects, by round"


def cell(text, source=None, kind=None):
    attributes = ""
    if source:
        attributes = f' data-from="{html.escape(source)}" title="{html.escape(source)}"'
    inner = f'<span class="{kind}">{text}</span>' if kind else text
    return f"<td{attributes}>{inner}</td>"


def table(head, rows):
    """`rows`: lists of cells that are made already, or of plain texts."""
    def as_cell(c):
        return c if isinstance(c, str) and c.startswith("<td") else cell(html.escape(str(c)))
    return ("<div class='scroll'><table><tr>" +
            "".join(f"<th>{html.escape(h)}</th>" for h in head) + "</tr>" +
            "".join("<tr>" + "".join(map(as_cell, row)) + "</tr>" for row in rows) +
            "</table></div>")


def ratio_cell(r, source):
    """The ratio and its bounds, or what can be said instead."""
    if r is None:
        return cell("too few runs", source, "none")
    bounds = f"{stats.digits(r.low)} to {stats.digits(r.high)}"
    if r.low <= 1 <= r.high:
        return cell(f"no difference<br><span class='bounds'>{bounds}</span>", source)
    if not stats.is_sure(r):
        return cell(f"unsure<br><span class='bounds'>{bounds}</span>", source)
    return cell(f"{stats.digits(r.middle)}<br><span class='bounds'>{bounds}</span>", source)


def measured_cell(results, subject, arm, measure):
    if results.failure(subject, arm):
        return cell("failed", f"failures[subject={subject}, arm={arm}]", "failed")
    if not results.values(subject, arm, measure):
        return cell("not measured", None, "none")
    return ratio_cell(results.ratio(subject, arm, measure),
                      source_of_ratio(results, subject, arm, measure))


def titles(results, names):
    return [results.data["arms"][name]["title"] for name in names]


def costs(results, subjects, names, measure):
    names = [n for n in names if n in results.data["arms"]]
    rows = []
    for s in subjects:
        middle, low, high = stats.interval(results.values(s, "native", measure))
        unit = 1024 if measure == "rss_kb" else 1
        bounds = f"{low / unit:.2f} to {high / unit:.2f}"
        native = cell(f"{middle / unit:.2f}<br><span class='bounds'>{bounds}</span>",
                      f"measurements[subject={s}, arm=native].{measure}")
        rows.append([s, native] + [measured_cell(results, s, n, measure) for n in names])
    for kind, words in (("kernel", "mean of kernels"), ("program", "mean of programs")):
        chosen = [s for s in subjects if results.data["subjects"][s]["kind"] == kind]
        if len(chosen) > 1:
            rows.append([words, ""] + [ratio_cell(results.mean(chosen, n, measure)[0],
                                                  source_of_mean(n, measure)) for n in names])
    unit = "native, MB" if measure == "rss_kb" else "native, s"
    return table(["subject", unit, *titles(results, names)], rows)


def score(results, subject, arm):
    """(found, known, false, runs) of a kernel; None where it is not known."""
    finding, known = results.finding(subject, arm), results.known(subject)
    if finding is None or known is None:
        return None
    hits, false = reports.match(finding["races"], known)
    return len(hits), len(known), len(false), finding["runs"]


def overview(results, subjects, names):
    rows = []
    for name in (n for n in names if n in results.data["arms"]):
        scores = [sc for sc in (score(results, s, name) for s in subjects) if sc]
        found = cell("looks for none", None, "none")
        false = cell("", None)
        if scores:
            source = f"findings[arm={name}].races, subjects.known"
            found = cell(f"{sum(s[0] for s in scores)} of {sum(s[1] for s in scores)}", source)
            false = cell(str(sum(s[2] for s in scores)), source)
        rows.append([results.data["arms"][name]["title"],
                     *(ratio_cell(results.mean(subjects, name, m)[0], source_of_mean(name, m))
                       for m in ("wall", "cpu", "rss_kb")), found, false])
    return table(["tool", "wall time", "processor time", "peak memory",
                  "known races found, kernels", "reports that are none"], rows)


def accounts(results, subjects):
    """What racehive's own runs say that they lost, as shares of what was measured."""
    names = [n for n in ("racemob", "racechaser", "litehb") if n in results.data["arms"]]
    rows = []
    for s in subjects:
        row = [s]
        for n in names:
            finding = results.finding(s, n)
            if not finding or not finding["measured_cpu"]:
                row.append(cell("not measured", None, "none"))
                continue
            hooks = finding["hook_ns"] / 1e9 / finding["measured_cpu"]
            pauses = finding["pause_ns"] / 1e9 / finding["measured_wall"]
            row.append(cell(f"{hooks:.2%} and {pauses:.2%}", f"findings[subject={s}, arm={n}]"))
        rows.append(row)
    return ("<h3>What the runs themselves say they lost</h3>"
            "<p>Hooks, as a share of processor time, and pauses, as a share of wall time. Hooks "
            "are timed one in 64, by a clock that goes on while a thread waits for a core: on a "
            "busy machine they look longer than they are.</p>" +
            table(["subject", *titles(results, names)], rows))


# ---- races ----

FINDERS = ("racemob", "racechaser", "litehb", "tsan", "helgrind", "drd")


def finding_cell(results, subject, arm):
    if results.failure(subject, arm):
        return cell("failed", f"failures[subject={subject}, arm={arm}]", "failed")
    finding = results.finding(subject, arm)
    if finding is None:
        return cell("not measured", None, "none")
    source = f"findings[subject={subject}, arm={arm}]"
    known = score(results, subject, arm)
    if known:
        text = f"{known[0]} of {known[1]}"
        if known[2]:
            text += f", <span class='failed'>{known[2]} false</span>"
    else:
        text = str(len(finding["races"]))
    if finding["elsewhere"]:
        text += f" <span class='of'>+{finding['elsewhere']:,} without a line of its own</span>"
    return cell(f"{text}<br><span class='of'>{finding['runs']} runs</span>", source)


def races(results, subjects):
    out = ["<h2 id='races'>What is found</h2>",
           "<p>A race is a pair of source lines; the same pair counts once, however often it was "
           "reported. The races of the kernels are known: they stand in comments of their source, "
           "and a report of any other pair is a false one. Of the real programs nobody knows all "
           "races. DRD tells the line of one access only, so it is given every known race at that "
           "line. A run of racehive asks about one candidate of many, so its detectors have more "
           "runs: they are meant to be spread over users.</p>"]
    for kind, words in (("kernel", "Kernels: found of known"), ("program", "Real programs: found")):
        chosen = [s for s in subjects if results.data["subjects"][s]["kind"] == kind]
        names = [n for n in FINDERS if n in results.data["arms"]]
        if chosen:
            out += [f"<h3>{words}</h3>",
                    table(["subject", *titles(results, names)],
                          [[s, *(finding_cell(results, s, n) for n in names)] for s in chosen])]
    return "".join(out)


# ---- instructions ----

def instructions(results):
    out = ["<h2 id='instructions'>Instructions while keys are off</h2>",
           "<p>Counted by callgrind: kernels with one thread, programs with the small load. "
           "Against the same compiler with the whole program in view, so that only the keys and "
           "the runtime differ. One count each; what depends on how threads meet differs from "
           "count to count.</p>"]
    names = [s for s in results.subjects() if results.count(s, "keyed")]
    rows = []
    for s in names:
        whole, keyed = results.count(s, "whole"), results.count(s, "keyed")
        source = f"instructions[subject={s}]"
        rows.append([s, cell(f"{whole / 1e6:,.1f}" if whole else "-", source),
                     cell(f"{keyed / 1e6:,.1f}", source),
                     cell(f"{keyed / whole:.4f}" if whole else "-", source)])
    if rows:
        out.append(table(["subject", "without keys, M", "with keys off, M", "ratio"], rows))
    else:
        out.append("<p>Not counted in this evaluation.</p>")
    check = results.data["check"]
    if check:
        out.append(f"<h3>Growth since the accepted counts: {check['state']}</h3><ul>" +
                   "".join(f"<li>{html.escape(line)}</li>" for line in check["lines"]) + "</ul>")
    return "".join(out)


# ---- parts, failures, arms ----

def markdown(text):
    """The little Markdown that the parts print: tables, headings and lines."""
    out, block = [], []

    def flush():
        if block and block[0].startswith("|"):
            rows = [[c.strip() for c in line.strip("|").split("|")] for line in block]
            out.append(table(rows[0], [r for r in rows[1:] if not re.fullmatch(r":?-+:?", r[0])]))
        elif block:
            out.append("<pre>" + html.escape("\n".join(block)) + "</pre>")
        block.clear()

    for line in [*text.splitlines(), ""]:
        if line.startswith("#"):
            flush()
            out.append(f"<h4>{html.escape(line.lstrip('# '))}</h4>")
        elif not line.strip() or (block and block[0].startswith("|") != line.startswith("|")):
            flush()
            if line.strip():
                block.append(line)
        else:
            block.append(line)
    flush()
    return "".join(out)


def parts(results):
    out = ["<h2 id='parts'>Parts</h2>",
           "<p>Measurements of single parts, as their own programs print them; the results hold "
           "the same text, and where a part keeps them, its raw figures.</p>"]
    for name, part in results.data["parts"].items():
        out.append(f"<section data-from='parts.{name}'><h3>{html.escape(part['title'])}</h3>")
        if "missing" in part:
            out.append(f"<p>Missing: {html.escape(part['missing'])}.</p>")
        elif "failed" in part:
            out.append(f"<p class='failed'>Failed: {html.escape(part['failed'])}</p>")
        else:
            out.append(markdown(re.sub(r"^## .*\n", "", part["text"])))
        out.append("</section>")
    if not results.data["parts"]:
        out.append("<p>None in this evaluation.</p>")
    return "".join(out)


def failures(results):
    rows = [[f["subject"], f["arm"], f["why"]] for f in results.data["failures"]]
    return "<h2 id='failures'>What failed</h2>" + (
        table(["subject", "arm", "why"], rows) if rows else "<p>Nothing.</p>")


def arms_and_subjects(results):
    data = results.data
    return ("<h2 id='arms'>Arms and subjects</h2>" +
            table(["arm", "what it is", "load", "compared with"],
                  [[a["title"], a["words"], a["scale"], a["base"] or ""]
                   for a in data["arms"].values()]) +
            table(["subject", "kind", "pattern", "stands for", "threads", "instrumented",
                   "known races"],
                  [[name, s["kind"], s["pattern"], s["of"], s["threads"], s["instrumented"],
                    "not known" if s["known"] is None else len(s["known"])]
                   for name, s in data["subjects"].items()]))
