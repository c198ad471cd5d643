# SPDX-License-Identifier: Apache-2.0
"""Measurements that stand on their own and print tables, which are taken into the results."""
import json
import os
import subprocess
import tempfile
import time

import builds

BENCH = os.path.normpath(os.path.join(builds.HERE, ".."))
TOP = os.path.dirname(BENCH)


def run_keys(options, folder):
    program = os.path.join(folder, "cost")
    subprocess.run([os.path.join(options.build, "bin", "racehive-cc"), "-O2", "-pthread",
                    "-D_GNU_SOURCE", f"-I{TOP}/runtime", f"-I{TOP}/include",
                    os.path.join(BENCH, "keys", "cost.c"), "-o", program],
                   env=dict(os.environ, XDG_DATA_HOME=folder), check=True)
    return [program]


def command_of(path, *arguments):
    """A part that is a command of its own: PART --build=BUILD [--quick], and what else it takes."""
    def make(options, folder):
        command = [os.path.join(BENCH, path), f"--build={options.build}",
                   *(a.format(folder=folder) for a in arguments)]
        return command + (["--quick"] if options.quick else [])
    return make


# name: (title, whether it is quick, the command, its file if that may be missing)
PARTS = {
    "keys": ("What a key costs", True, run_keys, None),
    "stack": ("What a stack costs", True,
              lambda options, folder: [os.path.join(BENCH, "stack", "run")], None),
    "locks": ("What a lock costs with more threads", True,
              command_of("racemob/run", "--only=threads", "--json={folder}/raw.json"), None),
    "figures": ("Races that accidents hide", True,
                command_of("racemob/run", "--only=figures", "--json={folder}/raw.json"), None),
    "detectors": ("The detectors of the testing profile", True,
                  command_of("detectors/run", "--json={folder}/raw.json"), None),
    "racechaser": ("RaceChaser: coverage and scaling", False,
                   command_of("racechaser/run", "--quick"), "racechaser/run"),
    "equal": ("Equal cost, equal races", False,
              command_of("equal/run", "--json={folder}/raw.json"), None),
    "idle": ("What keys cost while off, every site keyed", False,
             lambda options, folder: [os.path.join(BENCH, "idle", "run"),
                                      f"--build={options.build}", "--sites=all", "--no-time",
                                      "pbzip2", "xz"], None),
}


def chosen(options):
    return [name for name, part in PARTS.items()
            if (part[1] or not options.quick) and (not options.only or name in options.only)]


def run(options, name):
    """What a part says, as a dict for the results."""
    title, _, make, needed = PARTS[name]
    if needed and not os.path.exists(os.path.join(BENCH, needed)):
        return {"title": title, "missing": f"bench/{needed} is not part of this tree yet"}
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="racehive-bench-") as folder:
        try:
            done = subprocess.run(make(options, folder), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
            failed = done.returncode and f"ended with {done.returncode}: {done.stderr[-500:]}"
        except (OSError, subprocess.CalledProcessError) as error:
            return {"title": title, "failed": str(error)}
        if failed:
            return {"title": title, "failed": failed, "text": done.stdout}
        result = {"title": title, "text": done.stdout,
                  "seconds": round(time.monotonic() - began, 1)}
        raw = os.path.join(folder, "raw.json")
        if os.path.exists(raw):
            with open(raw) as file:
                result["raw"] = json.load(file)
        return result
