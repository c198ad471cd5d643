# SPDX-License-Identifier: Apache-2.0
"""The measurement of one subject: ThreadSanitizer's runs, then each arm for as much processor
time."""
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
SCOUT_RUNS = 32    # after so many the scout is compared with the dynamic alias analysis


def bounded(detector, share, words):
    return arms.kind(f"{detector}, {share}", "keyed", words,
                     asked=(f"--detector={detector}", f"--max-overhead={share}"))


# name: (what it is, the share of ThreadSanitizer's pairs that it is to find)
ARMS = {
    "racemob-0.1": (bounded("racemob", 0.1, "a budget of 10 %"), 0.9),
    "racemob-0.02": (bounded("racemob", 0.02, "the default budget"), 0.7),
    "racechaser-0.1": (bounded("racechaser", 0.1, "a budget of 10 %"), 0.6),
}
SCOUTS = ("racemob-0.1", "racemob-0.02")   # those that are compared with the alias analysis
# With the small load: on real programs it takes a hundred times as long as a native run, and more.
ALIAS = arms.kind("alias", "keyed", "dynamic alias analysis", scale="small",
                  asked=("--detector=alias",))
ALIAS_LIMIT = 900   # seconds


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
        self.name, self.progress = name, progress
        self.arm = arms.OpenArm(options, subject, name, ARMS[name][0])
        self.native = arms.make(options, subject, "native")
        self.cpus, self.natives, self.failure = [], [], None
        self.report, self.runs = None, None   # what there was when the time was spent
        self.seen = set()                     # pairs that met without a common lock in `seen_runs`
        self.seen_runs = 0

    def run_once(self, budget):
        self.progress(f"{self.name}, run {len(self.cpus) + 1}, {sum(self.cpus):.1f} of "
                      f"{budget:.1f} s")
        if len(self.cpus) % NATIVE_EVERY == 0:
            self.natives.append(self.native.measure().cpu)
        self.cpus.append(self.arm.measure().cpu)
        if self.arm.runs == SCOUT_RUNS:
            self.look()

    def look(self):
        """Keeps what the scout has seen so far."""
        self.arm.settle()
        self.seen, self.seen_runs = stages.Runs(self.arm.store).unlocked(), self.arm.runs

    def scout_on(self):
        """Runs that count for nothing but what the scout sees, until it had as many as it gets."""
        while self.arm.runs < SCOUT_RUNS:
            self.progress(f"{self.name}, run {self.arm.runs + 1} of {SCOUT_RUNS}")
            self.arm.measure()
        if not self.seen_runs:
            self.look()

    def spend(self, budget, scouts):
        """A run that fails ends it; what was found until then counts."""
        try:
            self.arm.open()
            while sum(self.cpus) < budget:
                self.run_once(budget)
            self.arm.settle()
            self.take()
            if scouts:
                self.scout_on()
        except arms.ToolFailed as error:
            self.failure = str(error)
            if self.cpus and not self.report:
                self.take()
        finally:
            self.arm.close(True)

    def take(self):
        self.report, self.runs = self.arm.tell(), stages.Runs(self.arm.store)

    def result(self):
        totals = self.report["totals"]
        return {"runs": len(self.cpus), "cpus": self.cpus, "natives": self.natives,
                "ratio": statistics.median(self.cpus) / statistics.median(self.natives),
                "failure": self.failure,
                **{name: totals[name] for name in ("wall_ns", "hook_ns", "pause_ns")}}


class Trial:
    """One subject, all arms; `data` is what it says, for the tables and as JSON."""

    def __init__(self, options, subject, progress):
        self.options, self.subject = options, subject
        self.progress = lambda text: progress(f"{subject.name}: {text}")
        self.data = {"subject": subject.name, "kind": subject.kind, "arms": {}, "failures": {},
                     "tsan": {"races": [], "cpu": 0}}
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

    def run_alias(self):
        """One run of the dynamic alias analysis: what there is to see."""
        if not self.options.alias:
            return
        self.progress("alias")
        what = ALIAS._replace(scale="full") if self.subject.kind == "kernel" else ALIAS
        arm = arms.OpenArm(self.options, self.subject, "alias", what)
        arm.limit = ALIAS_LIMIT
        try:
            arm.open()
            cpu = arm.measure().cpu
            arm.settle()
            self.alias = stages.Runs(arm.store)
            self.data["alias"] = {"cpu": cpu, "met": len(self.alias.met), "full": self.alias.full,
                                  "unlocked": len(self.alias.unlocked())}
        except arms.ToolFailed as error:
            self.data["failures"]["alias"] = str(error)
        finally:
            arm.close(True)

    def run_arm(self, name, races, budget, sidecar):
        spending = Spending(self.options, self.subject, name, self.progress)
        spending.spend(budget, self.alias and name in SCOUTS)
        if not spending.report:
            self.data["failures"][name] = spending.failure
            return
        matched, runs = pairs.match(races, spending.report), spending.runs
        told = {**spending.result(), **self.find(matched), **self.scout(spending)}
        told["lost"] = [
            {"race": race, **stages.place_lost(race, sidecar, runs, self.alias)._asdict(),
             "near": pairs.find_near(race, spending.report, sidecar.functions_at)}
            for race in reports.sort_races(races - matched.found)]
        self.data["candidates"] = spending.report["totals"]["candidates"]
        self.data["arms"][name] = told

    def find(self, matched):
        """Found races; of a kernel all are known, and any other is false."""
        known = self.subject.known
        return {"found": reports.sort_races(matched.found),
                "moved": [[race, other] for race, other in matched.moved.items()],
                "others": reports.sort_races(matched.others),
                "false": None if known is None else
                reports.sort_races(reports.match(matched.others, known)[1])}

    def scout(self, spending):
        """What met, and how much of what the alias analysis saw meet without a common lock."""
        told = {"met": len(spending.runs.met), "unlocked": len(spending.runs.unlocked()),
                "seen_of_alias": None}
        if self.alias and spending.seen_runs:
            there = self.alias.unlocked()
            told["seen_of_alias"] = {"runs": spending.seen_runs, "of": len(there),
                                     "seen": len(there & spending.seen)}
        return told
