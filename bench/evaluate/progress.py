# SPDX-License-Identifier: Apache-2.0
"""Says on standard error what is being done and how long the rest may take."""
import sys
import time


class Progress:
    """`total` steps are planned. A step is one run of one arm, so what is left is told from the
    pace so far; arms differ, and so it is a guess."""

    def __init__(self, total, out=sys.stderr):
        self.total, self.out, self.done = total, out, 0
        self.began, self.width = time.monotonic(), 0

    def left(self):
        if not self.done:
            return "?"
        seconds = (time.monotonic() - self.began) / self.done * (self.total - self.done)
        return f"{int(seconds) // 60}:{int(seconds) % 60:02}"

    def say(self, what):
        """One line that the next replaces, on a terminal; else a line each."""
        line = f"[{self.done}/{self.total}, about {self.left()} left] {what}"
        if self.out.isatty():
            self.out.write("\r" + line.ljust(self.width))
            self.width = len(line)
        else:
            self.out.write(line + "\n")
        self.out.flush()

    def step(self, count=1):
        self.done = min(self.done + count, self.total)

    def note(self, text):
        """A line that stays."""
        self.out.write(("\r" + " " * self.width + "\r" if self.out.isatty() else "") + text + "\n")
        self.out.flush()
