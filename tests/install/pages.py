# SPDX-License-Identifier: Apache-2.0
"""The commands of a Markdown page, and what the page says that they print; those of a Containerfile and of
a CI job.

A block of ```sh is commands. A block of ```console has a command behind each `$ `, and below it what
is printed: a line `...` stands for any lines, `...` in a line for any words, a number for any number
(runs decide some of them), except in places such as bank.c:20:22.
"""
import re


class Step:
    """Commands, and the lines that they print; None if the page does not say."""

    def __init__(self, page, line, commands, printed=None):
        self.where = f"{page}:{line}"
        self.commands = commands
        self.printed = printed


def read_blocks(path):
    """Yields the kind, first line and lines of each block."""
    kind, first, lines = None, 0, []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file.read().splitlines(), 1):
            if not line.startswith("```"):
                lines.append(line)
            elif kind is None:
                kind, first, lines = line[3:].strip(), number, []
            else:
                yield kind, first, lines
                kind = None


def read_steps(path, name):
    steps = []
    for kind, first, lines in read_blocks(path):
        if kind == "sh":
            steps.append(Step(name, first + 1, "\n".join(lines)))
        elif kind == "console":
            for number, line in enumerate(lines, first + 1):
                if line.startswith("$ "):
                    steps.append(Step(name, number, line[2:], []))
                else:
                    steps[-1].printed.append(line)
    return steps


def read_container(path):
    """The commands of a Containerfile's RUN lines, and the target folder of each COPY."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().replace("\\\n", "").splitlines()
    commands = [line[4:] for line in lines if line.startswith("RUN ")]
    return commands, [line.split()[-1] for line in lines if line.startswith("COPY ")]


def read_job(path):
    """The commands of a CI job's steps, each on the line of its `run`."""
    with open(path, encoding="utf-8") as file:
        return re.findall(r"^ +- run: (.+)$", file.read(), re.M)


PLACE = r"\S+\.\w+:\d+(?::\d+)?"
VARIABLE = re.compile(rf"(?P<place>{PLACE})|(?P<any>\.\.\.)|(?P<id>\b[0-9a-f]{{16,}}\b)|"
                      r"(?P<number>\d+(?:\.\d+)?)")
PATTERNS = {"any": r".*", "id": r"[0-9a-f]+", "number": r"\d+(?:\.\d+)?"}


def make_pattern(line):
    pattern, end = "", 0
    for match in VARIABLE.finditer(line):
        pattern += re.escape(line[end:match.start()])
        pattern += PATTERNS.get(match.lastgroup) or re.escape(match.group())
        end = match.end()
    return pattern + re.escape(line[end:])


def agrees(printed, output):
    """Whether the output is what the page prints."""
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else make_pattern(line.rstrip()) + r"[ ]*\n"
                      for line in printed)
    return re.fullmatch(pattern, output if output.endswith("\n") or not output else output + "\n") is not None
