# SPDX-License-Identifier: Apache-2.0
"""The measurement of one subject: ThreadSanitizer's runs, then each arm for as much processor time."""
import json
import os
import statistics

import arms
import builds
import pairs
import reports
import results
import stages

NATIVE_EVERY = 6   # one native run beside so many of an arm: what the ratio is of
ALIAS_RUNS = 32    # after so many the scout is compared with the dynamic alias analysis


def bounded(detector, share, words):
    return arms.kind(f"{detector}, {share}", "keyed", words,
                     asked=(f"--detector={detector}", f"--max-overhead={share}"))


# name: (what it is, the share of ThreadSanitizer's pairs that it is to find)
ARMS = {
    "racemob-0.1": (bounded("racemob", 0.1, "a budget of 10 %"), 0.9),
    "racemob-0.02": (bounded("racemob", 0.02, "the default budget"), 0.7),
    "racechaser-0.1": (bounded("racechaser", 0.1, "a budget of 10 %"), 0.6),
}
ALIAS = arms.kind("alias", "keyed", "dynamic alias analysis", asked=("--detector=alias",))


class Reference:
    """ThreadSanitizer's runs, interleaved with native ones: what it reports, and the processor time
    that every arm gets. Kept in the work folder, since it does not depend on racehive."""

    def __init__(self, options, subject, progress):
        self.options, self.subject, self.progress = options, subject, progress
        self.path = os.path.join(options.work, "equal", f"{subject.name}.json")
        self.data = {}

    def stamp(self):
        """Of what the runs depend on."""
        return [self.options.rounds_of_tsan,
                self.subject.command(self.options, "tsan", "full"),
                builds.stamp(self.options, "tsan", self.subject.sources)]

    def read(self):
        """Takes the runs of the last time, if they are of the same build."""
        self.subject.build(self.options, "tsan")
        try:
            with open(self.path) as file:
                kept = json.load(file)
        except (OSError, ValueError):
            return False
        self.data = kept if kept["stamp"] == self.stamp() else {}
        return bool(self.data)

    def measure(self):
        every = {name: arms.make(self.options, self.subject, name) for name in ("native", "tsan")}
        cpus = {name: [] for name in every}
        for number in range(self.options.rounds_of_tsan):
            for name, arm in every.items():
                self.progress(f"{name}, run {number + 1} of {self.options.rounds_of_tsan}")
                cpus[name].append(arm.measure().cpu)
        self.data = {"stamp": self.stamp(), **cpus, **every["tsan"].finding()}
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, "w") as file:
            json.dump(self.data, file)

    def races(self):
        """Pairs of lines; a race of which only one side is the subject's own is none."""
        every = {results.as_race(race) for race in self.data["races"]}
        return {race for race in every if None not in race}

    def budget(self):
        return sum(self.data["tsan"])


class Spending:
    """An arm's runs, until they have taken as much processor time as there is."""

    def __init__(self, options, subject, name, progress):
        self.options, self.subject, self.name, self.progress = options, subject, name, progress
        self.arm = arms.OpenArm(options, subject, name, ARMS[name][0])
        self.native = arms.make(options, subject, "native")
        self.cpus, self.natives, self.failure = [], [], None
        self.seen = None   # pairs that met without a common lock in the first ALIAS_RUNS runs

    def run_once(self):
        if len(self.cpus) % NATIVE_EVERY == 0:
            self.natives.append(self.native.measure().cpu)
        self.cpus.append(self.arm.measure().cpu)
        if len(self.cpus) == ALIAS_RUNS:
            self.look()

    def look(self):
        self.arm.settle()
        self.seen = stages.Runs(self.arm.store).unlocked()

    def spend(self, budget):
        """A run that fails ends it; what was found until then counts."""
        try:
            self.arm.open()
            while sum(self.cpus) < budget:
                self.progress(f"{self.name}, run {len(self.cpus) + 1}, "
                              f"{sum(self.cpus):.1f} of {budget:.1f} s")
                self.run_once()
            self.arm.settle()
        except arms.ToolFailed as error:
            self.failure = str(error)
        finally:
            self.arm.close(True)

    def result(self):
        with open(self.arm.report) as file:
            report = json.load(file)
        return report, {
            "runs": len(self.cpus), "cpus": self.cpus, "natives": self.natives,
            "ratio": statistics.median(self.cpus) / statistics.median(self.natives)
            if self.cpus else None,
            "failure": self.failure, "hook_ns": report["totals"]["hook_ns"],
            "pause_ns": report["totals"]["pause_ns"]}


class Trial:
    """One subject, all arms; `data` is what it says, for the tables and as JSON."""

    def __init__(self, options, subject, progress):
        self.options, self.subject = options, subject
        self.progress = lambda text: progress(f"{subject.name}: {text}")
        self.data = {"subject": subject.name, "kind": subject.kind, "arms": {}, "failures": {}}
        self.alias = None   # stages.Runs

    def run(self):
        reference = Reference(self.options, self.subject, self.progress)
        if not (reference.read() and self.options.reuse):
            reference.measure()
        races = reference.races()
        self.data["tsan"] = {"races": reports.sort_races(races), "cpu": reference.budget(),
                             "runs": len(reference.data["tsan"]),
                             "elsewhere": reference.data["elsewhere"],
                             "ratio": statistics.median(reference.data["tsan"]) /
                             statistics.median(reference.data["native"])}
        self.subject.build(self.options, "keyed")
        sidecar = stages.Sidecar(self.subject.sidecar(self.options))
        try:
            self.run_alias()
            for name in self.options.arms:
                self.run_arm(name, races, reference.budget(), sidecar)
        finally:
            sidecar.close()
        return self.data

    def run_alias(self):
        """One run of the dynamic alias analysis: what there is to see."""
        if not self.options.alias:
            return
        self.progress("alias")
        arm = arms.OpenArm(self.options, self.subject, "alias", ALIAS)
        try:
            arm.open()
            cpu = arm.measure().cpu
            arm.settle()
            self.alias = stages.Runs(arm.store)
            self.data["alias"] = {"cpu": cpu, "met": len(self.alias.met),
                                  "unlocked": len(self.alias.unlocked())}
        except arms.ToolFailed as error:
            self.data["failures"]["alias"] = str(error)
        finally:
            arm.close(True)

    def run_arm(self, name, races, budget, sidecar):
        spending = Spending(self.options, self.subject, name, self.progress)
        spending.spend(budget)
        if not spending.cpus:
            self.data["failures"][name] = spending.failure
            return
        report, told = spending.result()
        matched, runs = pairs.match(races, report), stages.Runs(spending.arm.store)
        told.update(self.find(matched), **self.scout(spending, runs))
        told["lost"] = [{"race": race, **stages.place_lost(race, sidecar, runs, self.alias)._asdict()}
                        for race in reports.sort_races(races - matched.found)]
        self.data["candidates"] = report["totals"]["candidates"]
        self.data["arms"][name] = told

    def find(self, matched):
        """Found races; of a kernel all are known, and any other is false."""
        known = self.subject.known
        return {"found": reports.sort_races(matched.found),
                "moved": [[race, other] for race, other in matched.moved.items()],
                "others": reports.sort_races(matched.others),
                "false": None if known is None else
                reports.sort_races(reports.match(matched.others, known)[1])}

    def scout(self, spending, runs):
        """What met, and how much of what the alias analysis saw meet without a common lock."""
        told = {"met": len(runs.met), "unlocked": len(runs.unlocked()), "seen_of_alias": None}
        if self.alias:
            there, seen = self.alias.unlocked(), spending.seen
            seen = runs.unlocked() if seen is None else seen
            told["seen_of_alias"] = {"runs": min(len(spending.cpus), ALIAS_RUNS),
                                     "seen": len(there & seen), "of": len(there)}
        return told
