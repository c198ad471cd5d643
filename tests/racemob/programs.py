# SPDX-License-Identifier: Apache-2.0
"""The programs of this folder with what their annotations (tests/candidates/annotations.py) say."""
import fnmatch
import glob
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), "candidates"))
import check_programs  # noqa: E402
import tools  # noqa: E402
from annotations import Annotations  # noqa: E402

# The groups are folders: clean programs have no race, racy ones have those that are annotated, and
# figures are the paper's, whose races hide behind accidents.
GROUPS = ("clean", "racy", "figures")


class Program:
    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)
        self.group = os.path.basename(os.path.dirname(os.path.abspath(path)))
        self.notes = Annotations(path)
        if self.group == "clean" and self.notes.races:
            raise ValueError(f"{path}: a clean program with races")
        if self.group != "clean" and not self.notes.races:
            raise ValueError(f"{path}: no races are annotated")

    @property
    def options(self):
        return self.notes.options + self.notes.needs

    def races(self, names):
        """Pairs of places that race on a way of the program (see Annotations.args)."""
        return {tools.pair((self.name, a), (self.name, b)) for a, b in self.notes.races_with(names)}

    def apart(self):
        """Those that no two threads can be at in the same moment."""
        return {tools.pair((self.name, a), (self.name, b)) for a, b in self.notes.races
                if self.notes.is_apart((a, b))}

    def can_be_built(self, folder):
        return check_programs.can_build(self.notes, folder)


def find_programs(groups=GROUPS, pattern="*", folder=HERE):
    paths = [path for group in groups for end in ("*.c", "*.cc")
             for path in glob.glob(os.path.join(folder, group, end))]
    return [Program(path) for path in sorted(paths)
            if fnmatch.fnmatch(os.path.relpath(path, folder), pattern) or
            fnmatch.fnmatch(os.path.basename(path), pattern)]
