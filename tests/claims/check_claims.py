#!/usr/bin/env python3
"""What we say about our own tree, checked: layers, first sentences, registered tests, named files.

Usage: check_claims.py SOURCE_TREE
"""
import os
import re
import subprocess
import sys

TOP = sys.argv[1]
WRONG = []


def wrong(text):
    WRONG.append(text)
    print(text)


def files():
    """Tracked and new files; the whole tree where there is no git."""
    done = subprocess.run(["git", "-C", TOP, "ls-files", "-co", "--exclude-standard"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if done.returncode == 0:
        return [f for f in done.stdout.splitlines() if os.path.exists(os.path.join(TOP, f))]
    found = []
    for folder, folders, names in os.walk(TOP):
        folders[:] = [f for f in folders if not f.startswith((".", "build"))]
        found += [os.path.relpath(os.path.join(folder, n), TOP) for n in names]
    return found


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


ALL = files()
SOURCES = [f for f in ALL if f.endswith((".c", ".h")) and f.split("/")[0] in
           ("src", "runtime", "include", "bench", "examples", "tests")]


def check_first_sentences():
    for path in SOURCES:
        if "/testdata/" not in path and not read(path).startswith(("/*", "//")):
            wrong(f"{path}: does not open with a sentence")


def check_llvm_only_in_ir():
    for path in SOURCES:
        if path.startswith(("src/", "runtime/")) and not path.startswith("src/ir/"):
            if re.search(r"\bLLVM[A-Z][A-Za-z]*(Ref\b|\()|llvm-c/", read(path)):
                wrong(f"{path}: names LLVM outside src/ir")


# Who may include whom: the rooms of docs/architecture.md.
MAY_USE = {
    "base": {"base"},
    "ir": {"base", "ir"},
    "analysis": {"base", "ir", "analysis", "racehive"},
    "instrument": {"base", "ir", "analysis", "instrument", "racehive"},
    "driver": {"base", "driver"},
    "store": {"base", "store", "racehive"},
    "report": {"base", "store", "report", "racehive"},
}


def check_layers():
    for path in SOURCES:
        parts = path.split("/")
        if parts[0] != "src" or parts[1] not in MAY_USE or parts[-1].endswith("_test.c"):
            continue
        for room in re.findall(r'#include ["<]([a-z]+)/', read(path)):
            known = room in MAY_USE or room in ("cli", "racehive")
            if known and room not in MAY_USE[parts[1]]:
                wrong(f"{path}: includes {room}/, which {parts[1]} may not use")


def check_runtime_is_alone():
    for path in SOURCES:
        if not path.startswith("runtime/") or path.endswith("_test.c"):
            continue
        for name in re.findall(r'#include "([^"]+)"', read(path)):
            here = os.path.join(os.path.dirname(path), name)
            if not any(p in ALL for p in (os.path.normpath(here), f"runtime/{name}",
                                          f"include/{name}")):
                wrong(f"{path}: includes {name}, which is not the runtime's")


def check_no_cpp():
    for path in ALL:
        if path.startswith(("src/", "runtime/")) and path.endswith((".cc", ".cpp", ".cxx")):
            if "/testdata/" not in path:
                wrong(f"{path}: C++ in the product")


def check_tests_are_registered():
    for path in ALL:
        if not path.endswith("_test.c"):
            continue
        part = os.path.basename(path)[:-len("_test.c")]
        room = "/".join(path.split("/")[:2])
        lists = [os.path.dirname(path) + "/CMakeLists.txt", room + "/CMakeLists.txt",
                 "tests/stack/CMakeLists.txt", "tests/runtime/CMakeLists.txt"]
        texts = "".join(read(l) for l in lists if l in ALL)
        if not re.search(rf"\b{re.escape(part)}(_test)?\b", texts):
            wrong(f"{path}: no CMakeLists.txt speaks of it")


def check_docs_name_real_files():
    for path in ALL:
        if not path.endswith(".md"):
            continue
        for name in re.findall(r"`([A-Za-z0-9_./-]+\.(?:c|h|S|py|md|def))`", read(path)):
            if "/" in name and name not in ALL:
                wrong(f"{path}: names {name}, which does not exist")


for check in (check_first_sentences, check_llvm_only_in_ir, check_layers, check_runtime_is_alone,
              check_no_cpp, check_tests_are_registered, check_docs_name_real_files):
    before = len(WRONG)
    check()
    print(f"{check.__name__}: {'ok' if len(WRONG) == before else 'FAILED'}")
sys.exit(1 if WRONG else 0)
