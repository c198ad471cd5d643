# SPDX-License-Identifier: Apache-2.0
"""The results: everything that was measured, as plain data that is saved as JSON and CSV, and the
questions that the page, the comparison and the tests ask of it."""
import csv
import datetime
import json
import os
import platform

import arms
import builds
import reports
import stats

FORMAT = 1
MEASURES = arms.Measurement._fields


def processor_name():
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def memory_gb():
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2 ** 30, 1)


def describe_machine():
    return {"processor": processor_name(), "cores": os.cpu_count(), "memory_gb": memory_gb(),
            "kernel": f"{platform.system()} {platform.release()}",
            "load_at_start": os.getloadavg()}


def describe_versions(options):
    tree = os.path.join(builds.HERE, "..", "..")
    return {
        "racehive": builds.version_of([os.path.join(options.build, "bin", "racehive"),
                                       "--version"]),
        "parts": builds.stamp(options, "keyed", [])[:12],
        "commit": builds.version_of(["git", "-C", tree, "describe", "--always", "--dirty"]),
        "clang": builds.version_of([reports.tools.CLANG, "--version"]),
        "libc": " ".join(platform.libc_ver()),
        "valgrind": builds.version_of(["valgrind", "--version"]),
    }


class Results:
    def __init__(self, data):
        self.data = data

    @classmethod
    def begin(cls, options, subjects):
        return cls({
            "format": FORMAT, "quick": options.quick,
            "began": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "rounds": options.rounds, "slow_rounds": options.slow_rounds,
            "first_runs": options.first_runs,
            "machine": describe_machine(), "versions": describe_versions(options),
            "arms": {name: arms.ARMS[name]._asdict() for name in options.arms},
            "subjects": {s.name: s.describe() for s in subjects},
            "seconds": 0, "measurements": [], "failures": [], "findings": [], "instructions": [],
            "check": None, "detectors": {}, "parts": {}})

    @classmethod
    def load(cls, path):
        with open(path) as file:
            data = json.load(file)
        if data.get("format") != FORMAT:
            raise builds.BenchError(f"{path} is of format {data.get('format')}, not {FORMAT}")
        return cls(data)

    def go_on(self, fresh):
        """These results with the subjects of fresh ones. What is measured and how must be the same,
        but not the commit, as long as racehive's parts are."""
        for name in ("quick", "rounds", "slow_rounds", "first_runs", "versions", "arms"):
            # By way of JSON, which has lists where we have tuples.
            was, now = (json.loads(json.dumps(d[name])) for d in (self.data, fresh.data))
            if name == "versions":
                was["commit"] = now["commit"]
            if was != now:
                raise builds.BenchError(f"cannot go on: {name} was {was}, is {now}")
        self.data["subjects"] = {**self.data["subjects"], **fresh.data["subjects"]}
        return self

    # ---- filling ----

    def add_measurement(self, subject, arm, number, measured):
        self.data["measurements"].append({"subject": subject, "arm": arm, "round": number,
                                          **measured._asdict()})

    def add_failure(self, subject, arm, why):
        self.data["failures"].append({"subject": subject, "arm": arm, "why": why})

    def add_finding(self, subject, arm, finding):
        self.data["findings"].append({"subject": subject, "arm": arm, **finding})

    def add_instructions(self, subject, build, count):
        self.data["instructions"].append({"subject": subject, "build": build, "count": count})

    # ---- saving ----

    def save(self, folder):
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "results.json")
        with open(path + ".new", "w") as file:
            json.dump(self.data, file, indent=1)
            file.write("\n")
        os.replace(path + ".new", path)
        with open(os.path.join(folder, "results.csv"), "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["subject", "arm", "round", "measure", "value"])
            writer.writerows(self.rows())

    def rows(self):
        for m in self.data["measurements"]:
            for measure in MEASURES:
                yield m["subject"], m["arm"], m["round"], measure, m[measure]
        for i in self.data["instructions"]:
            yield i["subject"], i["build"], "", "instructions", i["count"]
        for f in self.data["findings"]:
            yield f["subject"], f["arm"], "", "races", len(f["races"])

    # ---- asking ----

    def has_measured(self, subject):
        return any(m["subject"] == subject
                   for m in [*self.data["measurements"], *self.data["failures"]])

    def values(self, subject, arm, measure):
        """By round; empty if there are none."""
        rows = [m for m in self.data["measurements"]
                if m["subject"] == subject and m["arm"] == arm]
        return [m[measure] for m in sorted(rows, key=lambda m: m["round"])]

    def ratio_values(self, subject, arm, measure, base=None):
        """Ratios round by round to the arm's base, or another."""
        base = base or self.data["arms"][arm]["base"]
        return stats.ratios(self.values(subject, base, measure), self.values(subject, arm, measure))

    def ratio(self, subject, arm, measure, base=None):
        return stats.ratio(self.ratio_values(subject, arm, measure, base))

    def mean(self, chosen, arm, measure, base=None):
        """The geometric mean over subjects, taken in each round, since rounds are independent of
        each other; (Ratio or None, number of subjects that have one)."""
        table = [self.ratio_values(s, arm, measure, base) for s in chosen]
        table = [row for row in table if row]
        return stats.ratio([stats.geometric_mean(row) for row in zip(*table)]), len(table)

    def failure(self, subject, arm):
        for f in self.data["failures"]:
            if f["subject"] == subject and f["arm"] == arm:
                return f["why"]
        return None

    def finding(self, subject, arm):
        for f in self.data["findings"]:
            if f["subject"] == subject and f["arm"] == arm:
                return dict(f, races={as_race(r) for r in f["races"]})
        return None

    def known(self, subject):
        known = self.data["subjects"][subject]["known"]
        return None if known is None else {as_race(r) for r in known}

    def count(self, subject, build):
        for i in self.data["instructions"]:
            if i["subject"] == subject and i["build"] == build:
                return i["count"]
        return None

    def subjects(self, kind=None):
        return [name for name, s in self.data["subjects"].items() if kind in (None, s["kind"])]


def as_race(listed):
    """JSON has lists where we have tuples."""
    return tuple(None if place is None else tuple(place) for place in listed)
