# SPDX-License-Identifier: Apache-2.0
"""The ways in which a subject is built, and when it must be built again."""
import hashlib
import os
import subprocess

import reports

HERE = os.path.dirname(os.path.abspath(__file__))
REALWORLD = os.path.join(HERE, "..", "..", "tests", "realworld")

# The same flags in every build. Valgrind 3.19 cannot read what clang writes by default, DWARF 5.
FLAGS = ["-O2", "-gdwarf-4"]

# What each build adds to clang. `native` is what a program's user has; `whole` is the same compiler
# with the whole program in view, as racehive-cc has it, so that what keys cost is told from what
# that wins; `keyed` is racehive-cc in its default profile, `testing` in its testing profile.
ADDED = {
    "native": [],
    "whole": ["-flto=full", "-ffat-lto-objects", "-fuse-ld=lld"],
    "keyed": None,
    "testing": ["--rh-profile=testing"],
    "tsan": ["-fsanitize=thread"],
}


class BenchError(Exception):
    pass


def compilers(options, how):
    """(C compiler, C++ compiler) of a build."""
    ours = tuple(os.path.join(options.build, "bin", name)
                 for name in ("racehive-cc", "racehive-c++"))
    if how == "keyed":
        return ours
    plain = dict(zip(("cc", "c++"), ours)) if how == "testing" else \
        {"cc": reports.tools.CLANG, "c++": reports.tools.CLANGXX}
    return tuple(reports.tools.write_wrapper(os.path.join(options.work, f"{how}-{name}"), compiler,
                                             ADDED[how])
                 for name, compiler in plain.items())


def version_of(command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except OSError:
        return None
    return done.stdout.splitlines()[0].strip() if done.returncode == 0 and done.stdout else None


def stamp(options, how, sources):
    """Changes when a subject must be built again."""
    text = hashlib.sha256(repr((FLAGS, ADDED[how])).encode())
    text.update(str(version_of([reports.tools.CLANG, "--version"])).encode())
    library = os.path.join(options.build, "lib", "racehive")
    parts = []
    if how in ("keyed", "testing") and os.path.isdir(library):
        parts = [os.path.join(library, name) for name in os.listdir(library)]
    for path in sorted(parts) + sorted(sources):
        with open(path, "rb") as file:
            text.update(file.read())
    return text.hexdigest()


def is_fresh(record, wanted):
    if not os.path.exists(record):
        return False
    with open(record) as file:
        return file.readline().strip() == wanted
