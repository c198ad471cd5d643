#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds detectors to a copy of the runtime, each by one file and one line, builds it and runs a program.

`empty` does nothing: the program must run as it does without. `pairs` keeps something of each thread
and reports two accesses of different threads to the same bytes, without any task: each pair of sites
must be in the log once for each order.

Usage: check_new_detector.py CMAKE GENERATOR CC LLD OBJCOPY SOURCE_FOLDER BUILD_FOLDER
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CMAKE, GENERATOR, CC, LLD, OBJCOPY, SOURCE, BUILD = sys.argv[1:]
DETECTORS = {"empty": "DIAGNOSE", "pairs": "FIND"}

PROJECT = """cmake_minimum_required(VERSION 3.20)
project(runtime C ASM)
add_compile_definitions(_GNU_SOURCE RH_VERSION="test")
add_subdirectory(runtime)
"""


def fail(text):
    print(text)
    sys.exit(1)


def call(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)
    if done.returncode:
        fail(f"{' '.join(command)} failed:\n{done.stdout}")
    return done.stdout


def add_detectors(folder):
    """One file each, and one line each."""
    table = os.path.join(folder, "include/racehive/detectors.h")
    with open(table) as file:
        text = file.read()
    head = re.search(r"#define RH_DETECTORS\(X\) *\\\n", text)
    lines = "".join(f'    X({name}, {work}, PRODUCTION, "added by a test") \\\n'
                    for name, work in DETECTORS.items())
    with open(table, "w") as file:
        file.write(text[:head.end()] + lines + text[head.end():])
    for name in DETECTORS:
        shutil.copy(os.path.join(HERE, f"{name}.c"), os.path.join(folder, "runtime/detect"))


def build_runtime(folder):
    """As the project builds it; the result is folder/prefix, with the project's tools beside."""
    for part in ("runtime", "include"):
        shutil.copytree(os.path.join(SOURCE, part), os.path.join(folder, part))
    add_detectors(folder)
    with open(os.path.join(folder, "CMakeLists.txt"), "w") as file:
        file.write(PROJECT)
    prefix = os.path.join(folder, "prefix")
    call(CMAKE, "-G", GENERATOR, "-S", folder, "-B", prefix, "-DCMAKE_BUILD_TYPE=Release",
         "-DCMAKE_C_FLAGS=-std=gnu17", f"-DCMAKE_C_COMPILER={CC}", f"-DRH_LLD={LLD}",
         f"-DRH_OBJCOPY={OBJCOPY}")
    call(CMAKE, "--build", prefix, "--target", "runtime")
    os.mkdir(os.path.join(prefix, "bin"))
    shutil.copy(os.path.join(BUILD, "bin/racehive-cc"), os.path.join(prefix, "bin"))
    shutil.copy(os.path.join(BUILD, "lib/racehive/racehive-ld"),
                os.path.join(prefix, "lib/racehive"))
    os.symlink(os.path.join(folder, "include"), os.path.join(prefix, "include"))
    os.symlink(os.path.join(BUILD, "lib/racehive/racehive-instrument"),
               os.path.join(prefix, "lib/racehive/racehive-instrument"))
    return os.path.join(prefix, "bin/racehive-cc")


def run(folder, program, detector):
    """How the program ended, and what is in its log."""
    log = os.path.join(folder, f"log.{detector}")
    options = f"detector={detector}:keys=all:log_path={log}" if detector else "off"
    done = subprocess.run([program], env=dict(os.environ, RACEHIVE_OPTIONS=options),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    text = "".join(open(os.path.join(folder, name)).read() for name in os.listdir(folder)
                   if name.startswith(f"log.{detector}."))
    return (done.returncode, done.stdout, done.stderr), text


def check(folder):
    cc = build_runtime(folder)
    program = os.path.join(folder, "program")
    call(cc, "-O1", "-g", "-pthread", os.path.join(HERE, "program.c"), "-o", program,
         env=dict(os.environ, XDG_DATA_HOME=folder))
    plain, _ = run(folder, program, None)
    if plain != (0, "done\n", ""):
        fail(f"without a detector: {plain}")
    ended, log = run(folder, program, "empty")
    if ended != plain or log:
        fail(f"empty: {ended}, and in the log:\n{log}")
    ended, log = run(folder, program, "pairs")
    if ended != plain:
        fail(f"pairs: {ended}")
    found = re.findall(r"pairs: true race, two threads collided\n.*?first site (\d+) in thread"
                       r" (\d+).*?then site (\d+) in thread (\d+)", log, re.S)
    if not found or len({(a, b) for a, _, b, _ in found}) != len(found):
        fail(f"pairs found {found}, and in the log:\n{log}")
    if any(one == other for _, one, _, other in found) or "state of another" in log:
        fail(f"pairs mixed up its threads:\n{log}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check(folder)
    print(f"{len(DETECTORS)} detectors added")


main()
