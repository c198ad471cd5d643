# SPDX-License-Identifier: Apache-2.0
"""What the papers report beside what we measure, with a sentence on each difference."""
import html

import papers
import stats
import tables
from tables import cell, table

PERCENT = 100


def percent(r):
    """A ratio as an overhead in percent, as far as it can be said."""
    if r is None:
        return "too few runs"
    low, middle, high = ((x - 1) * PERCENT for x in (r.low, r.middle, r.high))
    bounds = f"{low:+.1f} to {high:+.1f}"
    if stats.is_sure(r):
        return f"{middle:+.1f} <span class='bounds'>{bounds}</span>"
    return f"<span class='bounds'>{bounds}</span>"


def overhead_cell(results, subject, arm, base=None):
    if subject is None:
        return cell("no subject here", None, "none")
    if results.failure(subject, arm):
        return cell("failed", f"failures[subject={subject}, arm={arm}]", "failed")
    if not results.values(subject, arm, "wall"):
        return cell("not measured", None, "none")
    return cell(percent(results.ratio(subject, arm, "wall", base)),
                tables.source_of_ratio(results, subject, arm, "wall", base))


def sum_grounds(finding, names):
    return sum(finding["grounds"].get(name, 0) for name in names)


def verdicts(results):
    """RaceMob, Table 1."""
    rows = []
    for program, row in papers.RACEMOB.items():
        finding = results.finding(row.ours, "racemob") if row.ours else None
        paper = [getattr(row, ground) for ground in ("candidates", *papers.GROUNDS)]
        rows.append([program, "paper", *paper])
        if finding:
            source = f"findings[subject={row.ours}, arm=racemob].grounds"
            rows.append([f"→ {row.ours}",
                         cell(f"ours, {finding['runs']} runs", source, "of"),
                         cell(f"{finding['candidates']:,}", source),
                         *(cell(f"{sum_grounds(finding, names):,}", source)
                           for names in papers.GROUNDS.values())])
        else:
            rows.append([f"→ {row.ours or 'none'}", "ours", cell("not measured", None, "none"),
                         *[""] * len(papers.GROUNDS)])
    head = ["program", "", "candidates",
            *(name.replace("_", " ") for name in papers.GROUNDS)]
    return ("<h3>RaceMob, Table 1: candidates and verdicts</h3>"
            "<p>Our candidates are pairs of accesses of the optimised program, where RELAY's are "
            "pairs of source lines of a smaller old version, so there are more of them; with as "
            "few runs as here, most of those of real programs have not been tried, and count as "
            "unknown. Barnes and Fmm, Ocean, Knot, Aget and Pfscan are kernels of our own with the "
            "same pattern, not the same program.</p>" + table(head, rows))


def overheads(results):
    """RaceMob, Table 2 and Figure 5."""
    rows = []
    for program, row in papers.RACEMOB.items():
        rows.append([program, row.ours or "none", f"{row.overhead:.2f}",
                     overhead_cell(results, row.ours, "racemob"),
                     overhead_cell(results, row.ours, "racemob", "whole"),
                     overhead_cell(results, row.ours, "idle", "whole")])
    chosen = sorted({r.ours for r in papers.RACEMOB.values() if r.ours} &
                    {s for s in results.subjects() if results.values(s, "racemob", "wall")})
    rows.append(["mean", f"{len(chosen)} subjects", f"{papers.RACEMOB_MEAN:.2f}",
                 *(cell(percent(results.mean(chosen, arm, "wall", base)[0]),
                        tables.source_of_mean(arm, "wall"))
                   for arm, base in (("racemob", "native"), ("racemob", "whole"),
                                     ("idle", "whole")))])
    return ("<h3>RaceMob, Table 2 and Figure 5: overhead in percent of wall time</h3>"
            f"<p>The paper's mean is {papers.RACEMOB_MEAN} %, at most {papers.RACEMOB_WORST} %; "
            f"instrumentation alone stays below {papers.RACEMOB_IDLE} %, but for Fmm "
            f"({papers.RACEMOB_IDLE_WORST} %). Ours validates one candidate a run, too, and "
            "watches 31 others beside it. Runs of the kernels last under a second, so that what a "
            "run may lose at its start weighs more than in a program that runs for long.</p>" +
            table(["paper's program", "ours", "paper, %", "racemob to native, %",
                   "racemob to whole, %", "idle to whole, %"], rows))


def tool_comparison(results):
    """RaceMob, Tables 3 and 4."""
    rows = []
    for program, row in papers.RACEMOB.items():
        if not row.ours:
            continue
        found = [results.finding(row.ours, arm) for arm in ("racemob", "tsan")]
        true = row.hang + row.crash + row.both_orders + row.single_order
        rows.append([program, row.ours, f"{true} / {row.tsan_races}",
                     " / ".join(str(len(f["races"])) if f else "-" for f in found),
                     f"{row.tsan_overhead:,.0f}", overhead_cell(results, row.ours, "tsan")])
    return ("<h3>RaceMob, Tables 3 and 4: beside ThreadSanitizer</h3>"
            "<p>The paper's ThreadSanitizer is the first one, on valgrind; today's is part of the "
            "compiler and much faster. Races are pairs of lines.</p>" +
            table(["paper's program", "ours", "paper: races, RaceMob / TSan",
                   "ours: races, racemob / TSan", "paper: TSan overhead, %",
                   "ours: TSan overhead, %"], rows))


def hidden_races(results):
    """RaceMob, Table 5."""
    part = results.data["parts"].get("figures", {})
    raw = part.get("raw", {}).get("figures")
    if not raw:
        text = part.get("failed") or part.get("missing") or "not measured in this evaluation"
        return f"<h3>RaceMob, Table 5: races that accidents hide</h3><p>{html.escape(text)}.</p>"
    rows = [[name, papers.RACEMOB_TABLE_5.get(name, "-"),
             *(cell(f"{scores[tool]['found']}/{scores[tool]['wanted']}" +
                    (f", {scores[tool]['false']} false" if scores[tool]["false"] else ""),
                    f"parts.figures.raw.figures.{name}.{tool}") for tool in ("racehive", "tsan"))]
            for name, scores in raw.items()]
    return ("<h3>RaceMob, Table 5: races that accidents hide</h3>"
            "<p>The paper's four small programs, written anew. ThreadSanitizer stands where the "
            "paper has Portend, which is not built yet; the part below has the number of "
            "runs.</p>" +
            table(["program", "paper, RaceMob", "ours, racemob", "ThreadSanitizer"], rows))


def threads(results):
    """RaceMob, Figure 9."""
    words = "See the part on what a lock costs below." if "locks" in results.data["parts"] else \
        "Not measured in this evaluation."
    return ("<h3>RaceMob, Figure 9: overhead with more threads</h3>"
            "<p>The paper's overhead is highest with as many threads as cores, and 2.31 % there "
            "for Apache. Ours is measured where it could grow, at a lock that all threads take, "
            f"plain, with keys off and tracked. {words}</p>")


def chased(results):
    """RaceChaser, Table 2 and Figure 2."""
    rows = [[name, *pair, ""] for name, pair in papers.RACECHASER_TABLE_2.items()]
    rows.append(["paper, sum", *map(sum, zip(*papers.RACECHASER_TABLE_2.values())), ""])
    total = [0, 0, 0]
    for s in results.subjects():
        found = [results.finding(s, arm) for arm in ("racechaser", "litehb")]
        if not all(found):
            continue
        both = found[0]["races"] & found[1]["races"]
        counts = [len(f["races"]) for f in found] + [len(both)]
        total = [a + b for a, b in zip(total, counts)]
        rows.append([s, *(cell(str(n), f"findings[subject={s}, arm=racechaser and litehb].races")
                          for n in counts)])
    rows.append(["ours, sum", *total])
    chosen = [s for s in results.subjects() if results.values(s, "racechaser", "wall")]
    means = {arm: results.mean(chosen, arm, "wall", "whole")[0] for arm in ("racechaser", "litehb")}
    cost = table(["", "paper, Java programs, %", "ours, to whole, %"],
                 [[arm, paper, cell(percent(means[arm]), tables.source_of_mean(arm, "wall"))]
                  for arm, paper in (("racechaser", papers.RACECHASER_MEAN),
                                     ("litehb", papers.LITEHB_MEAN))])
    return ("<h3>RaceChaser, Table 2: races found by racechaser and litehb</h3>"
            "<p>The paper has Java programs and ten trials of every candidate; ours have "
            f"{results.data['first_runs']} runs and the measured ones for all candidates of a "
            "subject together. Held threads find races whose accesses come close in time; order "
            "finds those that do not, but not those that an accident orders.</p>" +
            table(["program", "racechaser", "litehb", "both"], rows) +
            "<h3>RaceChaser, Figure 2: mean overhead in percent of wall time</h3>"
            "<p>Bound of 5 %. Our litehb carries one bit for each tracked access where the paper's "
            "has vector clocks.</p>" + cost)


def scaling(results):
    part = results.data["parts"].get("racechaser", {})
    text = part.get("missing") or part.get("failed")
    words = f"Missing: {html.escape(text)}." if text else \
        "See the part on RaceChaser below." if part else "Not measured in this evaluation."
    return f"<h3>RaceChaser, Figure 3: scaling with threads</h3><p>{words}</p>"


def missing(results):
    rows = [[name, cell("there", "detectors", "ok") if state == "there" else
             cell("missing: " + html.escape(state), "detectors", "none")]
            for name, state in results.data["detectors"].items()]
    return ("<h3>Detectors of the other papers</h3>"
            "<p>As racehive itself answers when it is asked for them. What is missing has no "
            "figure on this page.</p>" + (table(["detector", "state"], rows) if rows else ""))


def make(results):
    parts = (verdicts, overheads, tool_comparison, hidden_races, threads, chased, scaling, missing)
    return "<h2 id='papers'>The papers</h2>" + "".join(part(results) for part in parts)
