#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the check of claims: a small tree that it accepts, and one offence of each kind in it.

Usage: check_claims_test.py
"""
import contextlib
import io
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_claims  # noqa: E402

LICENCE = check_claims.LICENCE
MARKS = {".c": f"/* {LICENCE} */\n", ".h": f"/* {LICENCE} */\n", ".def": f"/* {LICENCE} */\n",
         ".cc": f"// {LICENCE}\n", ".py": f"# {LICENCE}\n", ".txt": f"# {LICENCE}\n"}

TEST_LIST = "# The units of this room.\nadd_test(NAME vec_test)\n"
SOUND = {
    "src/base/README.md": "What every other room stands on.\n\nMay use: libc. Read `vec.h` first.\n",
    "src/base/CMakeLists.txt": TEST_LIST,
    "src/base/vec.c": '/* Vectors that grow. */\n#include "base/vec.h"\n',
    "src/base/vec.h": "/* Vectors that grow, and who owns them. */\n",
    "src/base/vec_test.c": '/* Tests the vectors. */\n#include "base/vec.h"\n',
    "src/ir/ir.h": "/*\n * Modules in our own words.\n * Read this first.\n */\n",
    "src/ir/ir.c": '/* Reads a module. */\n#include "ir/ir.h"\n#include <llvm-c/Core.h>\n'
                   "LLVMModuleRef module;\n",
    "src/store/README.md": "What is kept.\n\nMay use: base, candidate,\ninclude/racehive.\n",
    "src/store/db_sqlite.c": "/* The SQLite backend. */\n#include <sqlite3.h>\nsqlite3 *db;\n",
    "src/store/runs.c": "/* Runs; db_sqlite.c calls sqlite3_open for LLVMModuleRef. */\n",
    "runtime/rt.h": "/*\n * The runtime's inside.\n * Read this first.\n */\n",
    "runtime/sys.c": '/* System calls of its own. */\n#include "rt.h"\n',
    "runtime/stack/stack.h": "/*\n * Stacks of threads.\n * Read this first.\n */\n",
    "scripts/check": "#!/bin/sh\n# Runs the tests.\n",
    "docs/guide.md": "See `src/base/vec.h`, `src/store/db_*.c` and [the store](../src/store).\n",
}


def long_function(lines):
    return "/* A function. */\nstatic int sum(int a,\n               int b)\n{\n" + \
        "    a++;\n" * (lines - 4) + "}\n"


def licensed(path, text):
    """The text with its licence, where there is room for one."""
    if text.startswith("#!"):
        first, rest = text.split("\n", 1)
        return f"{first}\n# {LICENCE}\n{rest}"
    return MARKS.get(os.path.splitext(path)[1], "") + text


def introduction(room):
    """The README.md of a room, with what it may use."""
    names = {"racehive": "include/racehive", "runtime": "the runtime's core"}
    used = [names.get(u, u.removeprefix("src/")) for u in check_claims.MAY_USE.get(room, ())]
    return f"A room.\n\nMay use: {', '.join(used) or 'nothing'}. Read it.\n"


class Claims(unittest.TestCase):
    def check(self, extra, bare=None):
        """(status, output) of the check on the sound tree with `extra`, licensed, and `bare`."""
        files = {path: licensed(path, text) for path, text in {**SOUND, **extra}.items()}
        with tempfile.TemporaryDirectory() as top:
            for path, text in {**files, **(bare or {})}.items():
                place = os.path.join(top, path)
                os.makedirs(os.path.dirname(place), exist_ok=True)
                with open(place, "w", encoding="utf-8") as file:
                    file.write(text)
            with contextlib.redirect_stdout(io.StringIO()) as output:
                status = check_claims.main(top)
        return status, output.getvalue()

    def assert_sound(self, extra):
        status, text = self.check(extra)
        self.assertEqual(status, 0, text)

    def assert_offence(self, check, complaint, extra, bare=None):
        """One check complains, in these words, and no other does."""
        status, text = self.check(extra, bare)
        self.assertEqual(status, 1, text)
        self.assertIn(complaint + "\n", text)
        failed = [line for line in text.split("\n") if line.endswith(": FAILED")]
        self.assertEqual(failed, [f"{check}: FAILED"], text)

    def test_a_sound_tree_passes(self):
        self.assert_sound({})

    def test_unknown_room(self):
        self.assert_offence("rooms_are_known",
                            "src/cellar: is no room that tests/claims/check_claims.py knows",
                            {"src/cellar/README.md": "What is kept below.\n",
                             "src/cellar/wine.c": "/* Keeps the wine. */\n"})

    def test_unknown_room_of_the_runtime(self):
        self.assert_offence("rooms_are_known",
                            "runtime/cellar: is no room that tests/claims/check_claims.py knows",
                            {"runtime/cellar/README.md": "What is kept below.\n",
                             "runtime/cellar/wine.c": "/* Keeps the wine. */\n"})

    def test_layers(self):
        self.assert_offence("layers", "src/base/log.c: includes ir/ir.h, of a room that src/base "
                            "may not use",
                            {"src/base/log.c": '/* Writes to a log. */\n#include "ir/ir.h"\n'})

    def test_layers_inside_a_room(self):
        self.assert_offence("layers_of_folders", "src/ir/debug/di.c: includes ir/read/read.h, of a "
                            "folder that debug may not use",
                            {"src/ir/read/read.h": "/*\n * Reads modules.\n * Read this first.\n */\n",
                             "src/ir/debug/README.md": "Debug information.\n",
                             "src/ir/debug/di.c": '/* Reads nodes. */\n#include "ir/read/read.h"\n'})

    def test_layers_by_a_relative_path(self):
        self.assert_offence("layers", "src/base/log.c: includes ../ir/ir.h, of a room that "
                            "src/base may not use",
                            {"src/base/log.c": '/* Writes to a log. */\n#include "../ir/ir.h"\n'})

    def test_layers_hold_for_tests_of_a_room(self):
        self.assert_offence("layers", "src/base/vec_test.c: includes ir/ir.h, of a room that "
                            "src/base may not use",
                            {"src/base/vec_test.c": '/* Tests vectors. */\n#include "ir/ir.h"\n'})

    def include(self, room, other):
        """Two files: one of `room` that includes one of `other`."""
        extra = {f"{r}/README.md": introduction(r) for r in (room, other)}
        name = f"{other.removeprefix('src/').removeprefix('runtime/')}/other.h"
        if other == "runtime":
            name = "other.h"
        extra[f"{other}/other.h"] = "/* A part of the other. */\n"
        extra[f"{room}/part.c"] = f'/* A part of it. */\n#include "{name}"\n'
        return name, extra

    def test_every_room_may_include_what_it_may_and_nothing_else(self):
        for top in ("src", "runtime"):
            rooms = [r for r in check_claims.MAY_USE if r.split("/")[0] == top]
            for room in rooms:
                for other in set(rooms) - {room}:
                    name, extra = self.include(room, other)
                    if other in check_claims.MAY_USE[room]:
                        self.assert_sound(extra)
                    else:
                        self.assert_offence("layers", f"{room}/part.c: includes {name}, of a room "
                                            f"that {room} may not use", extra)

    def test_shared_layouts_are_for_some_rooms(self):
        include = {"include/racehive/README.md": "What they share.\n\nMay use: nothing.\n",
                   "include/racehive/page.h": "/* The page of it. */\n"}
        text = "/* A part of it. */\n#include <racehive/page.h>\n"
        self.assert_sound({**include, "src/store/page.c": text})
        self.assert_offence("layers", "src/base/page.c: includes racehive/, which src/base may not "
                            "use", {**include, "src/base/page.c": text})

    def test_runtime_includes_nothing_of_the_tools(self):
        for name in ("base/vec.h", "../src/base/vec.h"):
            status, text = self.check(
                {"runtime/keys.c": f'/* Switches the keys. */\n#include "{name}"\n'})
            self.assertEqual(status, 1)
            self.assertIn(f"runtime/keys.c: includes {name}, ", text)

    def test_tools_include_nothing_of_the_runtime(self):
        self.assert_offence("layers", "src/base/log.c: includes rt.h, which is not in the tree or "
                            "not for this room",
                            {"src/base/log.c": '/* Writes to a log. */\n#include "rt.h"\n'})

    def test_libraries(self):
        for path, header, home in (("src/base/log.c", "sqlite3.h", "src/store/db_*.c"),
                                   ("src/store/runs.c", "sqlite3.h", "src/store/db_*.c"),
                                   ("src/store/runs.c", "llvm-c/Core.h", "src/ir/*"),
                                   ("src/ir/solve.c", "z3.h", "src/symex/*"),
                                   ("runtime/keys.c", "zstd.h", "src/store/*")):
            self.assert_offence("libraries", f"{path}: includes {header}, which only {home} may",
                                {path: f"/* A part of the room. */\n#include <{header}>\n"})

    def test_llvm_outside_ir(self):
        for path in ("src/store/runs.c", "runtime/sys.c", "src/base/vec_test.c"):
            self.assert_offence("llvm_only_in_ir", f"{path}: names LLVMGetOperand outside src/ir",
                                {path: "/* Some code. */\nint n = LLVMGetOperand(0, 0);\n"})
        self.assert_sound({"src/store/runs.c": '/* Of LLVM. */\nconst char *s = "LLVMGetOperand";\n'})

    def test_database_outside_its_door(self):
        for path in ("src/store/runs.c", "src/base/vec.c", "src/store/runs.h", "runtime/sys.c"):
            self.assert_offence("database_only_behind_its_door",
                                f"{path}: names sqlite3_step outside src/store/db_*.c",
                                {path: "/* Some code of it. */\nint n = sqlite3_step(0);\n"})
        self.assert_offence("database_only_behind_its_door",
                            "src/store/runs.c: names PQexec outside src/store/db_*.c",
                            {"src/store/runs.c": "/* Some code of it. */\nint n = PQexec(0);\n"})

    def test_cpp(self):
        self.assert_offence("no_cpp", "src/base/vec.cc: is C++ in the product",
                            {"src/base/vec.cc": "// Vectors that grow.\n"})

    def test_first_sentences(self):
        for path, text in (("src/base/log.c", "int a;\n"), ("src/base/log.h", "/* */\nint a;\n"),
                           ("scripts/tool", "#!/bin/sh\nset -e\n"),
                           ("scripts/tool", "#!/usr/bin/env python3\nimport os\n"),
                           ("tests/x/run.py", "import os\n"), ("tests/CMakeLists.txt", "add(x)\n")):
            self.assert_offence("first_sentences", f"{path}: does not open with a sentence",
                                {path: text})

    def test_licences(self):
        for path, text in (("src/base/log.c", "/* Writes to a log. */\n"),
                           ("src/base/log.h", "/* Writes to a log. */\n/* " + LICENCE + " */\n"),
                           ("scripts/tool", "#!/bin/sh\n# Does what it does.\n"),
                           ("tests/CMakeLists.txt", "# All of the tests.\n")):
            self.assert_offence("licences", f"{path}: does not begin with {LICENCE}", {},
                                {path: text})
        status, text = self.check({}, {"examples/a.c": f"/* {LICENCE}\n * An example of it.\n */\n"})
        self.assertEqual(status, 0, text)

    def test_sizes_of_files(self):
        for path, text in (("src/base/log.c", "/* Writes to a log. */\n"),
                           ("tests/x/run.py", '"""Runs all of it."""\n')):
            self.assert_sound({path: text + "\n" * 598})
            self.assert_offence("sizes_of_files", f"{path}: has 601 lines, more than 600",
                                {path: text + "\n" * 599})
        for path in ("src/base/table.def", "src/ir/testdata/big.c"):
            self.assert_sound({path: "/* A table of things. */\n" + "\n" * 700})

    def test_sizes_of_functions(self):
        self.assert_sound({"src/base/sum.c": long_function(70)})
        self.assert_offence("sizes_of_functions",
                            "src/base/sum.c:sum: (line 3) has 71 lines, more than 70",
                            {"src/base/sum.c": long_function(71)})

    def test_sizes_of_folders(self):
        parts = [f"src/base/part{i}{end}" for i in range(19)
                 for end in (".c", ".h", "_test.c", "_internal.h", "_hard_test.c")]
        names = " ".join(os.path.basename(p).removesuffix("_test.c") for p in parts)
        many = {p: "/* One of the parts. */\n" for p in parts}
        many["src/base/CMakeLists.txt"] = TEST_LIST + f"# {names}\n"
        self.assert_sound(many)
        self.assert_offence("sizes_of_folders", "src/base: has 21 modules, more than 20",
                            {**many, "src/base/one_more.h": "/* One part more. */\n"})

    def test_rooms_introduce_themselves(self):
        for folder in ("src/hive", "src/ir/read", "runtime/intercept"):
            self.assert_offence("rooms_introduce_themselves", f"{folder}: has neither a README.md "
                                "nor a head header that introduces it",
                                {f"{folder}/part.h": "/* A part of the room. */\n"})
        self.assert_sound({"src/hive/hive.h": "/*\n * What the hive is\n * for.\n */\n"})

    def test_rooms_say_what_they_may_use(self):
        for text, complaint in (("May use: libc, ir.", "src/ir"), ("Uses libc.", "no such line"),
                                ("May use: the cellar.", "src/the cellar")):
            self.assert_offence("rooms_say_what_they_may_use", "src/base/README.md: does not say "
                                f"`May use:` as tests/claims/check_claims.py does: {complaint}",
                                {"src/base/README.md": f"What all need.\n\n{text}\n"})
        self.assert_offence("rooms_say_what_they_may_use", "src/store/README.md: does not say `May "
                            "use:` as tests/claims/check_claims.py does: src/candidate",
                            {"src/store/README.md": "Runs.\n\nMay use: base, include/racehive.\n"})

    def test_registered_tests(self):
        for path, text in (("src/base/log_test.c", "/* Tests the log. */\n"),
                           ("runtime/log_test.c", "/* Tests the log. */\n"),
                           ("tests/x/log_test.py", '"""Tests the log."""\n')):
            self.assert_offence("tests_are_registered", f"{path}: is in no CMakeLists.txt",
                                {path: text})

    def test_functions_that_only_tests_call(self):
        tested = {"src/base/log.c": "/* Writes logs. */\nvoid rh_log(int a,\n    int b)\n{\n}\n",
                  "src/base/log.h": "/* Writes logs. */\nvoid rh_log(int a, int b);\n",
                  "src/base/log_test.c": "/* Tests rh_log. */\nint x = rh_log(1, 2);\n",
                  "src/base/CMakeLists.txt": TEST_LIST + "# log\n"}
        self.assert_offence("functions_have_callers",
                            "src/base/log.c:rh_log: is called by tests alone", tested)
        self.assert_sound({**tested, "src/store/runs.c": "/* Runs of it. */\nint x = rh_log(1);\n"})
        self.assert_sound({**tested, "src/base/log.h":
                           tested["src/base/log.h"] + "#define LOG(x) rh_log(x, 0)\n"})

    def test_documents(self):
        for text, complaint in (("`src/base/gone.h`", "names src/base/gone.h"),
                                ("`src/base/gone_*.h`", "names src/base/gone_*.h"),
                                ("[there](gone.md)", "links to gone.md"),
                                ("[there](gone.md#part)", "links to gone.md")):
            self.assert_offence("docs_name_real_files",
                                f"docs/guide.md: {complaint}, which does not exist",
                                {"docs/guide.md": text})

    def test_what_is_known_is_forgiven_and_nothing_else(self):
        offence = {"src/base/log.c": "/* Writes to a log. */\n" + "\n" * 599,
                   "src/base/fs.c": "/* Reads files and folders. */\n" + "\n" * 599}
        status, text = self.check({**offence, "tests/claims/known.txt":
                                   "sizes_of_files src/base/log.c\nlayers src/base/fs.c\n"})
        self.assertEqual(status, 1)
        self.assertIn("known: src/base/log.c: has 601 lines", text)
        self.assertIn("\nsrc/base/fs.c: has 601 lines", text)
        self.assertIn("`layers src/base/fs.c` forgives nothing any more", text)
        self.assert_sound({**offence, "tests/claims/known.txt": "sizes_of_files src/base/*.c\n"})


if __name__ == "__main__":
    unittest.main()
