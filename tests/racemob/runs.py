# SPDX-License-Identifier: Apache-2.0
"""What check_racemob.py and run_generated.py share: calling `racehive run` and reading its report.

A SetUpError says that the question could not be asked (no such tool, a program that does not build,
a report that is not as documented); what the report then says of races is the caller's to judge.
"""
import json
import os
import shlex
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), "candidates"))
import tools  # noqa: E402

VERDICTS = ("true-race", "likely-false-positive", "unknown")
OUTCOMES = ("race", "no_race", "timeout", "not_seen")
RACE_FOUND = 66   # exit status of `racehive run`, whatever the program's own is
BAD_USAGE = 2


class SetUpError(Exception):
    pass


class Report:
    """One report: its candidates, and the pairs of places of those that are called true races; beside
    them, the races of a site with an uninstrumented access."""

    def __init__(self, candidates, status, seconds):
        self.status, self.seconds = status, seconds
        self.candidates = [c for c in candidates if not c["second"].get("uninstrumented")]
        self.true = [c for c in self.candidates if c["verdict"] == "true-race"]
        self.uninstrumented = [c for c in candidates if c["second"].get("uninstrumented")]
        self.pairs = tools.candidate_pairs(self.true)

    @property
    def expected_status(self):
        return RACE_FOUND if self.true or self.uninstrumented else 0

    def false(self, races):
        """What is called a true race and is none of these; an uninstrumented access may be
        whatever a place races with."""
        places = {place for pair in races for place in pair}
        return ([c for c in self.true if pair_of(c) not in races] +
                [c for c in self.uninstrumented if tools.place_of(c["first"]) not in places])

    def at(self, pair):
        return [c for c in self.candidates if pair_of(c) == pair]


def pair_of(candidate):
    return tools.pair(tools.place_of(candidate["first"]), tools.place_of(candidate["second"]))


def show(candidate):
    """The two places of a candidate, or the one of a race with an uninstrumented access."""
    if candidate["second"].get("uninstrumented"):
        file, line = tools.place_of(candidate["first"])
        return f"{file}:{line} and an uninstrumented access"
    return tools.show(pair_of(candidate))


def add_options(parser):
    """The options that say how programs are built and run."""
    parser.add_argument("--build", default="build", metavar="FOLDER",
                        help="where racehive was built (build)")
    parser.add_argument("-O", dest="levels", action="append", choices="0123s", metavar="LEVEL",
                        help="optimise so; several may be given (-O2)")
    parser.add_argument("--detector", metavar="NAME")
    how_often = parser.add_mutually_exclusive_group()
    how_often.add_argument("--runs", type=int, metavar="N", help="runs of each program (40)")
    how_often.add_argument("--users", type=int, metavar="N", help="simulated users instead")
    parser.add_argument("--repeat", type=int, default=1, metavar="N",
                        help="do all of it so often, each time with an empty store (1)")
    parser.add_argument("--more", type=int, default=0, metavar="N",
                        help="go on up to N times while a race is missed (0)")
    parser.add_argument("--options", metavar="TEXT", help="appended to RACEHIVE_OPTIONS")
    parser.add_argument("--run-options", type=shlex.split, default=[], metavar="TEXT",
                        help="more options for `racehive run`, say --run-options=--pause=50")
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help="programs at a time (1)")
    parser.add_argument("--time-limit", type=float, default=300, metavar="SECONDS",
                        help="for one `racehive run` (300)")
    parser.add_argument("--keep", action="store_true", help="keep programs, stores and reports")


def levels(options):
    return [f"-O{level}" for level in options.levels or "2"]


def check_tools(options):
    for name in ("racehive", "racehive-cc", "racehive-c++"):
        path = os.path.join(options.build, "bin", name)
        if not os.access(path, os.X_OK):
            raise SetUpError(f"{path} is not there; say where with --build=FOLDER")


def build(options, sources, program, flags, level):
    try:
        tools.build_racehive(options.build, sources, program, flags, level)
    except tools.BuildError as error:
        raise SetUpError(str(error)) from error


def environment(options, folder):
    env = dict(os.environ, XDG_DATA_HOME=folder)
    if options.options:
        env["RACEHIVE_OPTIONS"] = ":".join(filter(None, (env.get("RACEHIVE_OPTIONS"),
                                                         options.options)))
    return env


def run(options, program, args, folder, label):
    """Runs a program under racehive with a store of its own. Returns a Report, or None if it did
    not end in time."""
    report, store = (os.path.join(folder, f"{label}.{end}") for end in ("json", "store"))
    command = [os.path.join(options.build, "bin", "racehive"), "run"]
    if options.detector:
        command.append(f"--detector={options.detector}")
    command.append(f"--users={options.users}" if options.users else f"--runs={options.runs or 40}")
    command += [*options.run_options, f"--json={report}", f"--store={store}", program, *args]
    begun = time.monotonic()
    status, text = execute(command, environment(options, folder), options.time_limit)
    if status is None:
        return None
    if status == BAD_USAGE:
        raise SetUpError(f"{' '.join(command)}\nsays that it was called wrongly:\n{text}")
    if not os.path.exists(report):
        raise SetUpError(f"{' '.join(command)}\nended with {status} and wrote no report:\n{text}")
    with open(report, encoding="utf-8") as file:
        candidates = read_report(file.read(), report)
    return Report(candidates, status, time.monotonic() - begun)


def execute(command, env, time_limit):
    """(status, output), or (None, output) if time ran out; then the programs it runs are ended,
    too, since they are in its session."""
    process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
                               start_new_session=True)
    try:
        text, _ = process.communicate(timeout=time_limit)
        return process.returncode, text
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None, process.communicate()[0]


def read_report(text, where):
    """The candidates of a report, after a look at its form."""
    def need(condition, what):
        if not condition:
            raise SetUpError(f"{where}: {what}")
    try:
        report = json.loads(text)
    except ValueError as error:
        raise SetUpError(f"{where}: no JSON: {error}") from error
    need(isinstance(report, dict), "not an object")
    for field in ("tool", "version", "program", "build_id", "detector", "runs", "candidates"):
        need(field in report, f"no {field}")
    need(report["tool"] == "racehive", f"made by {report['tool']}")
    for c in report["candidates"]:
        name = f"candidate {c.get('id')}"
        need(c.get("verdict") in VERDICTS, f"{name}: verdict {c.get('verdict')}")
        for side in ("first", "second"):
            for field in ("file", "line", "function", "access"):
                need(field in c.get(side, ()), f"{name}: {side} has no {field}")
        for outcome in OUTCOMES:
            need(isinstance(c.get("outcomes", {}).get(outcome), int), f"{name}: no {outcome}")
        if c["verdict"] == "true-race":
            evidence = c.get("evidence") or {}
            for field in ("order", "kind", "consequence", "stacks"):
                need(field in evidence, f"{name}: evidence without {field}")
            need(len(evidence["stacks"]) == 2 and all(evidence["stacks"]),
                 f"{name}: evidence without two stacks")
    return report["candidates"]


def proof(candidate):
    """A candidate as the report has it, for whoever has to find out why it is there; without the
    chains of inlining and the frames in full, which the stacks say in short."""
    shown = dict(candidate, evidence=dict(candidate["evidence"]))
    for side in ("first", "second"):
        shown[side] = {k: v for k, v in candidate[side].items() if k != "inlined"}
    shown["evidence"].pop("threads", None)
    return json.dumps(shown, indent=2, ensure_ascii=False)


def fate(report, pair):
    """What became of a race that was not reported, in one line."""
    candidates = report.at(pair)
    if not candidates:
        return "no candidate has these lines"
    return "; ".join(
        f"{c['verdict']}, " + ", ".join(f"{o} {c['outcomes'][o]}" for o in OUTCOMES)
        for c in candidates)
