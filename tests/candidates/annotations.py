# SPDX-License-Identifier: Apache-2.0
"""Reads the annotations of the programs in programs/.

    // RACE: name     an access on this line races with one on the other lines of that name
    // RACE           the same with the other lines that have no name
    // NORACE         no candidate touches this line

    // APART: names  these races (all, without names) never overlap in time: whoever comes second has
                     waited for the first, only by a word that orders nothing

A name on one line alone is a race of the line with itself. A name on two lines is that pair; on
more, every pair of them. Several names, separated by commas, are several pairs. A program may also
carry
    // OPTIONS: ...   options for the compiler
    // ARGS: ...      arguments for the program; several such lines are several ways to run it.
    // ARGS: ... -> names   the same, if only the named races are on that way (none: no race)
    // NEEDS: ...     options without which it cannot be built; skipped where the compiler cannot;
                      pkg:NAME stands for what pkg-config says of NAME, $NAME for a variable
    // CANDIDATES: misses, WHY   the races have no candidate yet: an expected failure, listed
    // TSAN: misses, WHY   ThreadSanitizer is not expected to see the races
    // TSAN: wrong, WHY    ThreadSanitizer complains without reason
    // TSAN: cannot, WHY   the program cannot run under it
"""
import os
import re
import shutil
import subprocess


def expand(words):
    """The options that NEEDS stands for. A package that is not there leaves a word that no compiler
    understands."""
    for word in map(os.path.expandvars, words):
        if not word.startswith("pkg:") or not shutil.which("pkg-config"):
            yield word
            continue
        done = subprocess.run(["pkg-config", "--cflags", "--libs", word[4:]], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        yield from done.stdout.split() if done.returncode == 0 else [word]


class Annotations:
    def __init__(self, path):
        self.path = path
        self.options, self.needs = [], []
        self.tsan = "sees"
        self.misses = None        # why the races have no candidate yet
        self.silent = set()       # lines
        self.apart = None         # names of races that never overlap, empty for all
        self.args = []            # (arguments, names of the races or None for all)
        names = {}
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                self._read(number, line, names)
        self.races = {}           # pair of lines -> name
        for name, lines in names.items():
            for a in lines:
                for b in lines:
                    if a < b or len(lines) == 1:
                        self.races[a, b] = name
        self.args = self.args or [([], None)]
        for _, wanted in self.args:
            for name in set(wanted or ()) - set(names):
                raise ValueError(f"{path}: ARGS names {name}, which no line has")

    def races_with(self, names):
        """The races on one of the ways in `args`."""
        return {pair for pair, name in self.races.items() if names is None or name in names}

    def is_apart(self, pair):
        return self.apart is not None and (not self.apart or self.races[pair] in self.apart)

    def _read(self, number, line, names):
        m = re.search(r"// (RACE|NORACE|APART|OPTIONS|ARGS|NEEDS|TSAN|CANDIDATES)\b(?::\s*(.*?))?\s*$", line)
        if not m:
            return
        word, text = m.group(1), m.group(2) or ""
        if word == "NORACE":
            self.silent.add(number)
        elif word == "RACE":
            for name in text.split(",") if text else [""]:
                names.setdefault(name.strip(), []).append(number)
        elif word == "APART":
            self.apart = set(text.replace(",", " ").split())
        elif word == "CANDIDATES":
            self.misses = re.fullmatch(r"misses, (.+)", text).group(1)
        elif word == "TSAN":
            self.tsan = re.match(r"misses|wrong|cannot", text).group(0)
        elif word == "ARGS":
            args, arrow, wanted = text.partition("->")
            self.args.append((args.split(), wanted.replace(",", " ").split() if arrow else None))
        else:
            (self.options if word == "OPTIONS" else self.needs).extend(expand(text.split()))
