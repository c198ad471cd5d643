# SPDX-License-Identifier: Apache-2.0
"""Runs the arms of a subject interleaved, A B C A B C, and keeps every measurement."""
import arms
import builds


def rounds_of(options, name):
    """Slow tools get fewer rounds; they differ by factors, not by hundredths."""
    return options.slow_rounds if arms.ARMS[name].valgrind or name in ("tsan", "native-small") \
        else options.rounds


def runs_of(options, name):
    """All runs of an arm, also those that only teach the hive."""
    return rounds_of(options, name) + (options.first_runs if arms.ARMS[name].asked else 0)


class Measuring:
    """One subject, all arms."""

    def __init__(self, options, subject, progress, results):
        self.options, self.subject, self.progress = options, subject, progress
        self.results, self.arms = results, {}

    def fail(self, name, why):
        self.results.add_failure(self.subject.name, name, str(why))
        self.progress.note(f"{self.subject.name}, {name}: failed: {why}")
        arm = self.arms.pop(name, None)
        if arm:
            arm.close(False)

    def prepare(self, name):
        what = "first runs" if arms.ARMS[name].asked else "build"
        self.progress.say(f"{self.subject.name}: {name}, {what}")
        try:
            arm = self.arms[name] = arms.make(self.options, self.subject, name)
            arm.open(rounds_of(self.options, name))
            self.progress.step(runs_of(self.options, name) - rounds_of(self.options, name))
        except (arms.ToolFailed, builds.BenchError) as error:
            self.fail(name, error)
            self.progress.step(runs_of(self.options, name))

    def run_once(self, name, number):
        rounds = rounds_of(self.options, name)
        self.progress.say(f"{self.subject.name}: {name}, round {number + 1} of {rounds}")
        try:
            measured = self.arms[name].measure()
        except arms.ToolFailed as error:
            self.progress.step(rounds - number)
            self.fail(name, error)
            return
        self.results.add_measurement(self.subject.name, name, number, measured)
        self.progress.step()

    def run(self):
        try:
            for name in self.options.arms:
                self.prepare(name)
            for number in range(max(self.options.rounds, self.options.slow_rounds)):
                for name in list(self.arms):
                    if number < rounds_of(self.options, name):
                        self.run_once(name, number)
        except BaseException:
            for arm in self.arms.values():
                arm.close(False)
            raise
        for name, arm in self.arms.items():
            arm.close(True)
            finding = arm.finding()
            if finding:
                self.results.add_finding(self.subject.name, name, finding)
