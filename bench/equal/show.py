# SPDX-License-Identifier: Apache-2.0
"""The tables of the comparison at equal cost, as Markdown, from what the trials say."""
import collections
import textwrap

import reports
import results
import stages
import stats
import trial

NONE = "-"


def say(text):
    """A paragraph, in lines, since the page keeps them."""
    print(textwrap.fill(text, 100) + "\n")


def show_race(listed):
    """A race that has one side only is with an access that is not instrumented."""
    race = results.as_race(listed)
    if race[0] is None:
        return f"{reports.tools.show(race[1:])} and an uninstrumented access"
    return reports.tools.show(race)


def title_of(name):
    return trial.ARMS[name][0].title


def names_of(told):
    """The arms that were measured."""
    return [name for name in trial.ARMS if any(name in t["arms"] for t in told)]


def arms_of(told):
    """(trial, name of an arm, what it says) in order."""
    return [(t, name, t["arms"][name]) for t in told for name in trial.ARMS if name in t["arms"]]


def show_share(found, there):
    return f"{found / there:.0%}" if there else NONE


def score_row(t, name, arm):
    there, found = len(t["tsan"]["races"]), len(arm["found"])
    false = NONE if arm["false"] is None else len(arm["false"])
    return [t["subject"], title_of(name), there, found, show_share(found, there),
            len(arm["others"]), false, arm["runs"],
            f"{sum(arm['cpus']):.1f} of {t['tsan']['cpu']:.1f}",
            f"{arm['ratio']:.3f}"]


def sum_row(told, name):
    """All subjects of an arm together, and what it is to find."""
    mine = [(t, arm) for t, each, arm in arms_of(told) if each == name]
    there = sum(len(t["tsan"]["races"]) for t, _ in mine)
    found = sum(len(arm["found"]) for _, arm in mine)
    return ["all", title_of(name), there, found,
            f"{show_share(found, there)} (goal {trial.ARMS[name][1]:.0%})",
            sum(len(arm["others"]) for _, arm in mine),
            sum(len(arm["false"] or ()) for _, arm in mine), sum(arm["runs"] for _, arm in mine),
            f"{sum(sum(arm['cpus']) for _, arm in mine):.1f} of "
            f"{sum(t['tsan']['cpu'] for t, _ in mine):.1f}", NONE]


def print_scores(told):
    say("Pairs of lines that the runs of ThreadSanitizer report, and how many of them each arm "
        "finds in runs that take as much processor time in all:")
    stats.print_table(
        ["subject", "arm", "reported", "found", "share", "others", "false", "runs",
         "processor s", "to native"],
        [*(score_row(*each) for each in arms_of(told)),
         *(sum_row(told, name) for name in names_of(told))])


def print_stages(told):
    """How many races each stage lost."""
    counts = collections.defaultdict(collections.Counter)
    for _, name, arm in arms_of(told):
        counts[name].update(lost["stage"] for lost in arm["lost"])
    say("Pairs that each stage lost:")
    stats.print_table(["arm", *stages.STAGES],
                      [[title_of(name), *(counts[name][s] for s in stages.STAGES)]
                       for name in counts])


def lost_cell(arm, race):
    """What an arm did with a race that some arm lost."""
    if arm is None:
        return NONE
    for lost in arm["lost"]:
        if lost["race"] == race:
            near = f"{show_race(lost['near'])} found" if lost.get("near") else ""
            more = "; ".join(filter(None, (lost["why"], near)))
            return f"{lost['stage']} ({more})" if more else lost["stage"]
    return "found"


def print_lost(told):
    names, rows = names_of(told), []
    for t in told:
        arms = [t["arms"].get(name) for name in names]
        rows += [[t["subject"], show_race(race), *(lost_cell(arm, race) for arm in arms)]
                 for race in t["tsan"]["races"]
                 if any(lost["race"] == race for arm in t["arms"].values() for lost in arm["lost"])]
    if rows:
        say("Which stage lost which pair:")
        stats.print_table(["subject", "pair", *map(title_of, names)], rows)


def explain_other(arm, race):
    """What is known of a race that ThreadSanitizer did not report."""
    if arm["false"] is None:
        return "not reported"
    return "false" if race in arm["false"] else "known, not reported"


def print_others(told):
    """What ThreadSanitizer did not report, and what it reports at another line. In a kernel all
    races are known, and others are false."""
    finders = collections.defaultdict(list)
    for t, name, arm in arms_of(told):
        for race in arm["others"]:
            finders[t["subject"], show_race(race), explain_other(arm, race)].append(title_of(name))
        for race, other in arm["moved"]:
            finders[t["subject"], show_race(race),
                    f"found as {show_race(other)}"].append(title_of(name))
    if finders:
        say("Pairs that only racehive reports, and pairs that it names by other lines:")
        stats.print_table(["subject", "pair", "what", "arms"],
                          [[*key, "; ".join(names)] for key, names in finders.items()])


def seen_cell(arm):
    seen = arm and arm["seen_of_alias"]
    if not seen:
        return NONE
    return show_share(seen["seen"], seen["of"])


def potential_row(t):
    alias, arms = t.get("alias"), t["arms"]
    scouts = [arms.get(name) for name in trial.SCOUTS]
    row = [t["subject"], f"{t['candidates']:,}" if "candidates" in t else NONE]
    more = " or more" if alias and alias.get("full") else ""
    row += [f"{alias[key]:,}{more}" if alias else NONE for key in ("met", "unlocked")]
    for arm in scouts:
        row += [f"{arm['met']:,}" if arm else NONE, f"{arm['unlocked']:,}" if arm else NONE,
                seen_cell(arm)]
    true = {results.as_race(race) for arm in arms.values() for race in arm["found"] + arm["others"]
            if None not in race}
    return row + [len(true)]


def print_potential(told):
    """As Table 3 of the paper on RaceChaser: what may race, by analysis."""
    say(f"Potential races: pairs of sites that are candidates, that one run of the dynamic alias "
        f"analysis sees meet, and that the scout saw meet, with and without a common lock; `seen` "
        f"is the share of alias' pairs without a common lock that the scout has seen so after "
        f"{trial.SCOUT_RUNS} runs. Alias has the small load of a program. True races are pairs of "
        f"lines, of all arms:")
    scouted = [f"{what}, {name.partition('-')[2]}" for name in trial.SCOUTS
               for what in ("scouted", "no common lock", "seen")]
    stats.print_table(["subject", "static", "alias", "no common lock", *scouted, "true races"],
                      [potential_row(t) for t in told])


def one_line(text):
    """What a program said, as it may stand in a table."""
    return " ".join(text.split()).replace("|", "/")


def print_failures(told):
    rows = [[t["subject"], name, one_line(why)] for t in told
            for name, why in t["failures"].items()]
    rows += [[t["subject"], name, f"after {arm['runs']} runs: {one_line(arm['failure'])}"]
             for t, name, arm in arms_of(told) if arm["failure"]]
    if rows:
        say("What failed:")
        stats.print_table(["subject", "arm", "why"], rows)


def print_all(told):
    print_scores(told)
    print_stages(told)
    print_lost(told)
    print_others(told)
    print_potential(told)
    print_failures(told)
