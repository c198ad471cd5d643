#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks `racehive test`, and which detectors a program of the testing profile takes.

Usage: check_commands.py BUILD
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(os.path.dirname(HERE), "racemob")
RACE_FOUND, BAD_USAGE = 66, 2

# The child of a fork without exec races; so does the program that it becomes, in `exec`.
FORKS = r"""
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static long shared;
static void *work(void *arg) { shared++; return arg; }
static void race(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "race") == 0) {
        race();
        return 0;
    }
    if (fork() == 0) {
        if (argc > 1)
            execl(argv[0], argv[0], "race", (char *)NULL);
        race();
        _exit(0);
    }
    int status;
    wait(&status);
    return status != 0;
}
"""

failures = []


def expect(holds, what, result):
    if not holds:
        failures.append(what)
        print(f"FAIL: {what}: status {result.returncode}\n{result.stdout}{result.stderr}")


class Bench:
    def __init__(self, build, folder):
        self.bin, self.folder = os.path.join(build, "bin"), folder
        self.env = dict(os.environ, XDG_DATA_HOME=os.path.join(folder, "data"), TMPDIR=folder)
        self.env.pop("RACEHIVE_OPTIONS", None)

    def build(self, source, name, *flags, profile="testing"):
        subprocess.run([os.path.join(self.bin, "racehive-cc"), f"--rh-profile={profile}", "-O2", "-g",
                        source, "-o", name, "-pthread", *flags], cwd=self.folder, env=self.env,
                       check=True)

    def racehive(self, *words):
        return subprocess.run([os.path.join(self.bin, "racehive"), *words], cwd=self.folder,
                              env=self.env, capture_output=True, text=True, timeout=300)

    def races(self, report):
        with open(os.path.join(self.folder, report), encoding="utf-8") as file:
            found = json.load(file)
        return {p["program"]: p["candidates"] for p in found.get("programs", [found])}


def check_statuses(bench):
    clean = bench.racehive("test", "--", "sh", "-c", "./clean; ./clean; exit 3")
    expect(clean.returncode == 3, "the command's status without a race", clean)
    expect("2 instrumented processes, 0 true races" in clean.stdout, "both are counted", clean)
    racy = bench.racehive("test", "--json=one.json", "--", "sh", "-c", "./racy; exit 3")
    expect(racy.returncode == RACE_FOUND, "66 with a race", racy)
    spared = bench.racehive("test", "--exitcode=0", "--", "sh", "-c", "./racy; exit 3")
    expect(spared.returncode == 3, "--exitcode=0 keeps the command's", spared)
    missing = bench.racehive("test", "--", "./nosuch")
    expect(missing.returncode == 127, "a command that is not there", missing)
    nothing = bench.racehive("test")
    expect(nothing.returncode == BAD_USAGE, "no command", nothing)
    wrong = bench.racehive("test", "--detector=racemob", "--", "./clean")
    expect(wrong.returncode == BAD_USAGE, "a detector that needs tasks", wrong)


def check_merging(bench):
    merged = bench.racehive("test", "--store=all", "--json=all.json", "--", "sh", "-c",
                            "./clean; for i in 1 2 3; do ./racy; done; ./forks & wait; ./forks exec")
    expect(merged.returncode == RACE_FOUND, "several programs", merged)
    races = bench.races("all.json")
    expect(set(races) == {"clean", "racy", "forks"}, "all programs are in the report", merged)
    expect(not races.get("clean") and races.get("racy") and races.get("forks"),
           "races are with their programs, children included", merged)
    for candidate in races.get("racy", []) + races.get("forks", []):
        stacks = candidate["evidence"]["stacks"]
        expect(candidate["verdict"] == "true-race" and all(stacks), "both stacks are shown", merged)
    expect(not [f for f in os.listdir(bench.folder) if f.startswith("racehive-test.")],
           "nothing is left behind", merged)


def check_library(bench):
    source = os.path.join(HERE, "library.c")
    bench.build(source, "liblibrary.so", "-DLIBRARY", "-fPIC", "-shared")
    bench.build(source, "library", "./liblibrary.so")
    with open(source, encoding="utf-8") as file:
        racy = {number for number, text in enumerate(file, 1) if "// RACE" in text}
    for _ in range(10):
        result = bench.racehive("run", "--json=library.json", "./library")
        found = {side["line"] for race in bench.races("library.json")["library"]
                 if race["verdict"] == "true-race" for side in (race["first"], race["second"])}
        if found or result.returncode != 0:
            break
    expect(result.returncode == RACE_FOUND and found == racy, "checks in a library", result)


def check_suppressions(bench):
    command = ("--", "sh", "-c", "./racy; ./forks")
    with open(os.path.join(bench.folder, "rules"), "w", encoding="utf-8") as file:
        file.write("race:forks.c # why=a child alone\nrace:nosuch\n")
    some = bench.racehive("test", "--suppressions=rules", "--json=some.json", *command)
    races = bench.races("some.json")
    expect(some.returncode == RACE_FOUND and races.get("racy") and not races.get("forks"),
           "a rule hides the races of one program", some)
    expect("hidden by suppressions" in some.stdout and "rules:2: race:nosuch" in some.stderr and
           "forks.c" not in some.stderr, "what is hidden is counted, idle rules are named", some)
    for program in ("racy", "forks"):
        with open(os.path.join(bench.folder, f"{program}.suppressions"), "w",
                  encoding="utf-8") as file:
            file.write("race:*\n")
    none = bench.racehive("test", *command)
    expect(none.returncode == 0 and " 0 true races, " in none.stdout, "rules beside programs", none)
    shown = bench.racehive("test", "--no-suppressions", *command)
    expect(shown.returncode == RACE_FOUND, "--no-suppressions", shown)


def check_detectors(bench):
    default = bench.racehive("run", "--json=run.json", "./racy")
    expect(default.returncode == RACE_FOUND, "fasttrack is the default for testing builds", default)
    refused = bench.racehive("run", "--detector=racemob", "./racy")
    expect(refused.returncode == BAD_USAGE and "--rh-profile=testing" in refused.stderr,
           "racemob is refused", refused)
    idle = subprocess.run(["./racy"], cwd=bench.folder, capture_output=True, text=True, timeout=60,
                          env=dict(bench.env, RACEHIVE_OPTIONS="detector=racemob:keys=all"))
    expect(idle.returncode == 0 and "running idle" in idle.stderr, "it runs idle then", idle)
    keyed = bench.racehive("run", "--detector=fasttrack", "./keyed")
    expect(keyed.returncode == RACE_FOUND, "fasttrack takes keys, too", keyed)
    every = bench.racehive("run", "./every")
    expect(every.returncode == RACE_FOUND, "--rh-sites=all, without candidates", every)
    static = bench.racehive("run", "./static")
    expect(static.returncode == RACE_FOUND, "static executables", static)


def main():
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(sys.argv[1]), folder)
        with open(os.path.join(folder, "forks.c"), "w", encoding="utf-8") as file:
            file.write(FORKS)
        racy = os.path.join(PROGRAMS, "racy", "struct_copy.c")
        bench.build(racy, "racy")
        bench.build(racy, "static", "-static")
        bench.build(racy, "every", "--rh-sites=all")
        bench.build(racy, "keyed", profile="production")
        bench.build(os.path.join(PROGRAMS, "clean", "mutex.c"), "clean")
        bench.build("forks.c", "forks")
        check_statuses(bench)
        check_merging(bench)
        check_detectors(bench)
        check_suppressions(bench)
        check_library(bench)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
