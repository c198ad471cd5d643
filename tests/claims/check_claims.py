#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What we say about our own tree, checked: layers, sizes, first sentences, licences, registered
tests, functions that are called, files that documents name. A complaint that tests/claims/known.txt lists is printed and forgiven.

Usage: check_claims.py SOURCE_TREE
"""
import collections
import fnmatch
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tree import CODE, Tree, code_of, functions, is_data, without_comments  # noqa: E402

# The rooms of docs/architecture.md, and which rooms each may include; every room may use itself.
# `racehive` is include/racehive, the layouts that tools and runtime share.
MAY_USE = {
    "src/base": (),
    "src/candidate": ("src/base",),
    "src/ir": ("src/base", "racehive"),
    "src/analysis": ("src/base", "src/candidate", "src/ir", "racehive"),
    "src/instrument": ("src/base", "src/candidate", "src/ir", "src/analysis", "racehive"),
    "src/driver": ("src/base", "racehive"),
    "src/store": ("src/base", "src/candidate", "racehive"),
    "src/linkstep": ("src/base", "src/candidate", "src/ir", "src/analysis", "src/instrument",
                     "src/store", "racehive"),
    "src/hive": ("src/base", "src/store", "racehive"),
    "src/agent": ("src/base", "src/store", "racehive"),
    "src/campaign": ("src/base", "src/store", "src/hive", "src/agent", "racehive"),
    "src/symex": ("src/base", "src/ir", "src/store", "racehive"),
    "src/report": ("src/base", "src/candidate", "src/store", "racehive"),
    "src/cli": ("src/base", "src/store", "src/hive", "src/campaign", "src/symex", "src/report",
                "racehive"),
    "runtime": ("runtime/arch", "runtime/stack", "runtime/evidence", "runtime/detect", "racehive"),
    "runtime/arch": ("runtime", "racehive"),
    "runtime/stack": ("runtime", "runtime/arch", "racehive"),
    "runtime/evidence": ("runtime", "runtime/arch", "runtime/stack", "racehive"),
    "runtime/scout": ("runtime", "runtime/arch", "runtime/evidence", "racehive"),
    "runtime/fasttrack": ("runtime", "runtime/arch", "runtime/stack", "runtime/evidence",
                          "runtime/scout", "racehive"),
    "runtime/sampling": ("runtime", "runtime/arch", "racehive"),
    "runtime/alias": ("runtime", "runtime/arch", "runtime/scout", "racehive"),
    "runtime/escape": ("runtime", "runtime/arch", "racehive"),
    "runtime/detect": ("runtime", "runtime/arch", "runtime/stack", "runtime/evidence",
                       "runtime/scout", "runtime/fasttrack", "runtime/sampling", "runtime/alias",
                       "runtime/escape", "racehive"),
    "runtime/intercept": ("runtime", "runtime/arch", "runtime/stack", "runtime/kernel", "racehive"),
    "runtime/kernel": ("runtime", "runtime/intercept", "racehive"),
    "racehive": (),
}

# Folders of a room that are in layers of their own, and which of them each may include besides the
# files that lie in the room itself; tests may include any.
FOLDERS_MAY_USE = {
    "src/ir": {"": (), "debug": (), "graph": (), "read": ("debug", "graph"), "names": ("debug",),
               "rewrite": ()},
}

# Libraries, by their headers, and the only files that may include them.
LIBRARIES = {
    "llvm-c/*": "src/ir/*",
    "sqlite3.h": "src/store/db_*.c",
    "libpq*": "src/store/db_*.c",
    "zstd.h": "src/store/*",
    "elfutils/*": "src/report/*",
    "dwarf.h": "src/report/*",
    "gelf.h": "src/report/*",
    "libelf.h": "src/report/*",
    "z3*.h": "src/symex/*",
}

LICENCE = "SPDX-License-Identifier: Apache-2.0"
MOST_LINES = 600
MOST_LINES_OF_FUNCTION = 70
MOST_MODULES = 20

# The header to read first, where it does not have its room's name.
HEADS = {"runtime": "rt.h"}

# Folders whose files are programs of their own, one subject each: more of them is more coverage.
COLLECTIONS = ("tests/candidates/programs", "tests/racemob/clean", "tests/racemob/racy",
               "tests/runtime")


def room_of(path):
    """The room that a file lies in, or None."""
    parts = path.split("/")
    if parts[0] == "src" and len(parts) > 2:
        return "/".join(parts[:2])
    if parts[0] == "runtime":
        return "/".join(parts[:2]) if len(parts) > 2 else "runtime"
    return "racehive" if path.startswith("include/racehive/") else None


def check_rooms_are_known(tree):
    """The table above has every room."""
    for room in sorted({room_of(f) for f in tree.c_files("src/", "runtime/")} - {None}):
        if room not in MAY_USE:
            yield room, "is no room that tests/claims/check_claims.py knows"


def check_layers(tree):
    """A file includes only what its room may use, and nothing that is not there; tests may share
    what is for tests."""
    for path in tree.c_files("src/", "runtime/", "include/"):
        room = room_of(path)
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', tree.read(path), re.M):
            target = tree.include_of(path, name)
            if target is None:
                yield path, f"includes {name}, which is not in the tree or not for this room"
                continue
            other = room_of(target)
            is_shared_by_tests = path.endswith(("_test.c", "testing.h")) and name.endswith("testing.h")
            if other != room and other not in MAY_USE.get(room, ()) and not is_shared_by_tests:
                yield path, f"includes {name}, of a room that {room} may not use"
        for name in re.findall(r"^\s*#\s*include\s*<racehive/", tree.read(path), re.M):
            if room != "racehive" and "racehive" not in MAY_USE.get(room, ()):
                yield path, f"includes racehive/, which {room} may not use"


def check_layers_of_folders(tree):
    """Inside a room, a file includes only what its folder may use."""
    for room, folders in FOLDERS_MAY_USE.items():
        def folder_of(path):
            return os.path.dirname(path)[len(room) + 1:]

        for path in tree.c_files(room + "/"):
            folder = folder_of(path)
            if is_data(path) or re.search(r"_test\.c$|testing\w*\.h$", path):
                continue
            if folder not in folders:
                yield path, f"is in no folder of {room} that tests/claims/check_claims.py knows"
                continue
            for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', tree.read(path), re.M):
                target = tree.include_of(path, name)
                if not target or room_of(target) != room:
                    continue
                if folder_of(target) not in ("", folder, *folders[folder]):
                    yield path, f"includes {name}, of a folder that {folder or room} may not use"


def check_libraries(tree):
    """Each library is included by one room alone; the runtime and the headers it shares by none."""
    for path in tree.c_files("src/", "runtime/", "include/"):
        for name in re.findall(r"^\s*#\s*include\s*[<\"]([^>\"]+)[>\"]", tree.read(path), re.M):
            for pattern, home in LIBRARIES.items():
                if fnmatch.fnmatch(name, pattern) and not fnmatch.fnmatch(path, home):
                    yield path, f"includes {name}, which only {home} may"


def check_llvm_only_in_ir(tree):
    for path in tree.c_files("src/", "runtime/", "include/"):
        if not path.startswith("src/ir/"):
            for name in sorted(set(re.findall(r"\bLLVM[A-Z]\w*", code_of(tree.read(path))))):
                yield path, f"names {name} outside src/ir"


def check_database_only_behind_its_door(tree):
    for path in tree.c_files("src/", "runtime/", "include/"):
        if not fnmatch.fnmatch(path, "src/store/db_*.c"):
            names = re.findall(r"\b(?:sqlite3|PQ[a-z]|PG(?:conn|result)\b)\w*",
                               code_of(tree.read(path)))
            if names:
                yield path, f"names {names[0]} outside src/store/db_*.c"


def check_no_cpp(tree):
    for path in tree.files:
        if path.startswith(("src/", "runtime/")) and path.endswith((".cc", ".cpp", ".cxx")):
            if not is_data(path):
                yield path, "is C++ in the product"


def opening(path, text):
    """The opening comment of a source file, or None if it has none."""
    python = path.endswith(".py") or re.match(r"#!.*python", text)
    text = re.sub(r"\A#![^\n]*\n", "", text)
    text = re.sub(rf"\A(/\*|//|#) {LICENCE}( \*/)?\n", lambda m: "" if m.group(2) or
                  m.group(1) != "/*" else "/*\n", text)
    if path.endswith((".c", ".h", ".S", ".cc", ".cpp", ".def", ".css")):
        found = re.match(r"(?://[^\n]*\n)+|/\*.*?\*/", text, re.S)
    elif python:
        found = re.match(r'(?:#[^\n]*\n)*""".*?"""', text, re.S)
    else:
        found = re.match(r"(?:#[^\n]*\n)+", text)
    return found.group(0) if found else None


def sources(tree):
    """All code of ours, of whatever kind."""
    kinds = (".c", ".h", ".S", ".cc", ".cpp", ".def", ".py", ".sh", ".cmake", ".css")
    for path in tree.files:
        if path.startswith((*CODE, ".ci/", "Makefile", "CMakeLists.txt")) and not is_data(path):
            if path.endswith(kinds) or os.path.basename(path) in ("Makefile", "CMakeLists.txt") or \
                    tree.read(path).startswith("#!"):
                yield path


def check_first_sentences(tree):
    for path in sources(tree):
        words = re.findall(r"[A-Za-z]+", opening(path, tree.read(path)) or "")
        if len(words) < 2:
            yield path, "does not open with a sentence"


def check_licences(tree):
    """Every source says its licence in its first line, or behind the line with its interpreter."""
    for path in sources(tree):
        lines = re.sub(r"\A#![^\n]*\n", "", tree.read(path)).split("\n", 1)
        if LICENCE not in lines[0]:
            yield path, f"does not begin with {LICENCE}"


def check_sizes_of_files(tree):
    for path in tree.files:
        if path.startswith(CODE) and path.endswith((".c", ".h", ".S", ".cc", ".cpp", ".py", ".sh")):
            lines = tree.read(path).count("\n")
            if lines > MOST_LINES and not is_data(path):
                yield path, f"has {lines} lines, more than {MOST_LINES}"


def check_sizes_of_functions(tree):
    for path in tree.c_files():
        for name, line, lines in functions(tree.read(path)):
            if lines > MOST_LINES_OF_FUNCTION:
                yield f"{path}:{name}", (f"(line {line}) has {lines} lines, more than "
                                         f"{MOST_LINES_OF_FUNCTION}")


def modules(names):
    """The modules among the files of a folder: a source with its headers and its tests is one."""
    stems = {os.path.splitext(n)[0] for n in names if n.endswith((".c", ".h", ".S", ".cc", ".cpp",
                                                                 ".py"))}
    found = {s for s in stems if not re.search(r"_(test|testing|internal)$", s) and s != "testing"}
    for stem in stems - found:
        while "_" in stem and stem not in found:
            stem = stem.rpartition("_")[0]
        if stem not in found and stem not in ("testing", "test"):
            found.add(stem)
    return found


def check_sizes_of_folders(tree):
    for folder in tree.folders("src/", "runtime/", "include/", "bench/", "tests/"):
        count = len(modules([os.path.basename(f) for f in tree.files
                             if os.path.dirname(f) == folder]))
        if count > MOST_MODULES and folder not in COLLECTIONS:
            yield folder, f"has {count} modules, more than {MOST_MODULES}"


def check_rooms_introduce_themselves(tree):
    """A room has a README.md, or a header of its name that opens with three lines or more."""
    for folder in tree.folders("src/", "runtime/", "include/"):
        if f"{folder}/README.md" in tree.known:
            continue
        head = f"{folder}/{HEADS.get(folder, os.path.basename(folder) + '.h')}"
        if head not in tree.known or (opening(head, tree.read(head)) or "").count("\n") < 2:
            yield folder, "has neither a README.md nor a head header that introduces it"


# What a README.md may list besides rooms.
OUTSIDE = ("nothing", "libc", "LLVM's C interface", "elfutils", "libstdc++'s demangler")


def check_rooms_say_what_they_may_use(tree):
    """The sentence `May use: base, store, include/racehive.` of a room's README.md is the table above."""
    def room_named(name, room):
        names = {"include/racehive": "racehive", "the runtime's core": "runtime"}
        return names.get(name, name if room.startswith("runtime") else f"src/{name}")

    for room, allowed in MAY_USE.items():
        path = f"{'include/racehive' if room == 'racehive' else room}/README.md"
        if path not in tree.known:
            continue
        found = re.search(r"^May use: (.*?)\.(?:\s|$)", tree.read(path), re.M | re.S)
        names = re.split(r",\s+", re.sub(r"\s+", " ", found.group(1))) if found else []
        named = {room_named(n, room) for n in names if n not in OUTSIDE}
        if not found or named != set(allowed):
            wanted = ", ".join(sorted(named ^ set(allowed))) if found else "no such line"
            yield path, f"does not say `May use:` as tests/claims/check_claims.py does: {wanted}"


def check_tests_are_registered(tree):
    for path in tree.files:
        if not path.endswith(("_test.c", "_test.py")):
            continue
        name = os.path.basename(path)
        part = re.sub(r"_test\.\w+$", "", name)
        parts = path.split("/")
        lists = ["/".join(parts[:i]) + "/CMakeLists.txt" for i in range(1, len(parts))]
        if parts[0] == "runtime":
            lists += ["tests/stack/CMakeLists.txt", "tests/runtime/CMakeLists.txt"]
        texts = "".join(tree.read(l) for l in lists if l in tree.known)
        if not re.search(rf"\b{re.escape(part)}(_test)?\b", texts):
            yield path, "is in no CMakeLists.txt"


def check_functions_have_callers(tree):
    """A public function is named by more than its definition, its declaration and tests."""
    product = [f for f in tree.files if f.startswith(("src/", "runtime/", "include/")) and
               f.endswith((".c", ".h", ".S", ".def")) and not is_data(f) and
               not re.search(r"_test\.c$|testing\w*\.h$", f)]
    counts = {".h": collections.Counter(), "other": collections.Counter()}
    for path in product:
        kind = ".h" if path.endswith(".h") else "other"
        counts[kind].update(re.findall(r"\w+", without_comments(tree.read(path))))
    for path in product:
        if not path.endswith(".c"):
            continue
        for name in re.findall(r"^(?!static\b)[a-z][\w *]*\b(\w+)\([^;{]*\)\s*\n\{",
                               code_of(tree.read(path)), re.M):
            if counts[".h"][name] == 1 and counts["other"][name] == 1:
                yield f"{path}:{name}", "is called by tests alone"


def check_docs_name_real_files(tree):
    for path in tree.files:
        if not path.endswith(".md"):
            continue
        text, folder = tree.read(path), os.path.dirname(path)
        for name in re.findall(r"`([A-Za-z0-9_./*-]+\.(?:c|h|S|py|md|def|sh|yml))`", text):
            wanted = [name, f"include/{name}", os.path.normpath(os.path.join(folder, name))]
            if "/" in name and "NAME" not in name and \
                    not any(fnmatch.filter(tree.files, w) for w in wanted):
                yield path, f"names {name}, which does not exist"
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if not re.match(r"[a-z]+:", link):
                target = os.path.normpath(os.path.join(folder, link))
                if not os.path.exists(os.path.join(tree.top, target)):
                    yield path, f"links to {link}, which does not exist"


CHECKS = (check_rooms_are_known, check_layers, check_layers_of_folders, check_libraries,
          check_llvm_only_in_ir, check_database_only_behind_its_door, check_no_cpp,
          check_first_sentences, check_licences, check_sizes_of_files, check_sizes_of_functions,
          check_sizes_of_folders, check_rooms_introduce_themselves, check_rooms_say_what_they_may_use,
          check_tests_are_registered,
          check_functions_have_callers, check_docs_name_real_files)


def read_known(tree):
    """Offences that are forgiven until they are mended: lines `check where`, with wildcards."""
    path = "tests/claims/known.txt"
    if path not in tree.known:
        return []
    return [tuple(line.split()) for line in tree.read(path).splitlines()
            if line.strip() and not line.startswith("#")]


def main(top):
    tree = Tree(top)
    known, met, failed = read_known(tree), set(), 0
    for check in CHECKS:
        name = check.__name__.removeprefix("check_")
        wrong = 0
        for where, what in check(tree):
            excuses = {(n, w) for n, w in known if n == name and fnmatch.fnmatch(where, w)}
            met |= excuses
            wrong += not excuses
            print(f"{'known: ' if excuses else ''}{where}: {what}")
        print(f"{name}: {'FAILED' if wrong else 'ok'}")
        failed += wrong
    for name, where in known:
        if (name, where) not in met:
            print(f"tests/claims/known.txt: `{name} {where}` forgives nothing any more")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
