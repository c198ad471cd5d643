# SPDX-License-Identifier: Apache-2.0
"""Compiling with racehive-cc: what goes through clang untouched, and what gets bitcode."""
import json
import os
import re

import harness
from harness import DriverTest

HELLO = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'

# Two races, in functions and on variables of different names.
COUNTS = """#include <pthread.h>
int a, b;
__attribute__((noinline)) static void count_a(void) { a++; }
__attribute__((noinline)) static void count_b(void) { b++; }
static void *work(void *arg) { count_a(); count_b(); return arg; }
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&t[i], 0, work, 0))
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return a + b == 4 ? 0 : 1;
}
"""

# A function that only somebody outside can call.
CALLED = """static int events;
__attribute__((visibility("default"), used)) void on_event(void) { events++; }
int main(void) { return events; }
"""


class Objects(DriverTest):
    def test_compile_only_makes_a_fat_object(self):
        self.write("a.c", HELLO)
        self.cc("-c", "a.c")
        self.assert_fat("a.o")
        self.assertIn(".debug_info", self.sections("a.o"))

    def test_output_option_joined_and_separate(self):
        self.write("a.c", HELLO)
        self.cc("-c", "a.c", "-o", "x.o")
        self.cc("-c", "a.c", "-oy.o")
        self.assert_fat("x.o")
        self.assert_fat("y.o")

    def test_several_sources_at_once(self):
        self.write("a.c", "int f(void); int main(void) { return f(); }\n")
        self.write("b.c", "int f(void) { return 0; }\n")
        self.cc("-c", "a.c", "b.c")
        self.assert_fat("a.o")
        self.assert_fat("b.o")
        self.cc("a.c", "b.c", "-o", "prog")
        self.assert_instrumented("prog")
        self.run_ok("./prog")

    def test_language_from_x_option(self):
        self.write("a.txt", "int main(void) { int class = 0; return class; }\n")
        self.write("b.txt", "class A {}; int main() { A a; (void)a; return 0; }\n")
        self.cc("-x", "c", "a.txt", "-o", "a")
        self.cxx("-xc++", "b.txt", "-o", "b")
        self.assert_instrumented("a")
        self.assert_instrumented("b")

    def test_source_from_standard_input(self):
        self.cc("-x", "c", "-", "-o", "prog", stdin=HELLO)
        self.assert_instrumented("prog")
        self.assert_output("hello\n", "./prog")

    def test_no_lto_by_the_user_is_respected(self):
        self.write("a.c", HELLO)
        self.cc("-fno-lto", "-c", "a.c")
        self.assert_fat("a.o", False)
        self.cc("-fno-lto", "-flto", "-c", "a.c")
        self.assert_fat("a.o")

    def test_lto_by_the_user_still_makes_fat_objects(self):
        self.write("a.c", HELLO)
        for flag in ("-flto", "-flto=thin", "-flto=full"):
            with self.subTest(flag=flag):
                self.cc(flag, "-O2", "-c", "a.c")
                self.assert_fat("a.o")
                self.cc(flag, "-O2", "a.o", "-o", "prog")
                self.assert_instrumented("prog")
                self.assert_output("hello\n", "./prog")

    def test_other_assembler_gets_no_bitcode(self):
        self.write("a.c", HELLO)
        self.cc("-fno-integrated-as", "-c", "a.c")
        self.assert_fat("a.o", False)

    def test_save_temps(self):
        self.write("a.c", HELLO)
        self.cc("-save-temps", "a.c", "-o", "prog")
        self.assertTrue(self.exists("a.i") or self.exists("prog-a.i"))
        self.assert_instrumented("prog")
        self.assert_output("hello\n", "./prog")

    def test_macro_and_annotations_are_there(self):
        self.write("a.c", "#include <racehive/annotations.h>\n"
                          "#ifndef __RACEHIVE__\n#error no macro\n#endif\n"
                          "int x; int main(void) { RH_HAPPENS_BEFORE(&x); return 0; }\n")
        self.cc("a.c", "-o", "prog")
        self.run_ok("./prog")

    def test_dependency_files(self):
        self.write("h.h", "int f(void);\n")
        self.write("a.c", '#include "h.h"\nint f(void) { return 0; }\n')
        self.cc("-MD", "-MF", "ours.d", "-MT", "target", "-c", "a.c")
        self.clang("-MD", "-MF", "theirs.d", "-MT", "target", "-c", "a.c")
        # racehive-cc's own header is listed as clang's own are, and left out as they are.
        ours = re.sub(r" \S+/racehive/attributes\.h", "", self.read("ours.d").replace("\\ ", "_"))
        self.assertEqual(ours.replace("\\\n", "").split(), self.read("theirs.d").split())
        self.cc("-MMD", "-MF", "ours.d", "-MT", "target", "-c", "a.c")
        self.assertEqual(self.read("ours.d"), self.read("theirs.d"))
        self.cc("-MMD", "-MP", "-c", "a.c", "-o", "b.o")
        self.assertIn("h.h", self.read("b.d"))

    def test_response_file(self):
        self.write("a.c", HELLO)
        self.write("flags", "-c\n'a.c' -DX=\"a b\"\n-o \"out put.o\"\n")
        self.cc("@flags")
        self.assert_fat("out put.o")

    def test_response_file_with_an_option_of_ours(self):
        self.write("a.c", HELLO)
        self.write("flags", "a.c --rh-profile=off -o prog")
        self.cc("@flags")
        self.assert_plain("prog")

    def test_files_behind_two_dashes(self):
        self.write("a.c", HELLO)
        self.cc("-o", "prog", "--", "a.c")
        self.assert_instrumented("prog")

    def test_precompiled_header(self):
        self.write("h.h", "#include <stdio.h>\n")
        self.write("a.c", '#include "h.h"\nint main(void) { puts("hello"); return 0; }\n')
        self.cc("-x", "c-header", "h.h", "-o", "h.h.pch")
        self.cc("-include-pch", "h.h.pch", "a.c", "-o", "prog")
        self.assert_output("hello\n", "./prog")


class Untouched(DriverTest):
    """What must come out exactly as clang's own."""

    def test_preprocess(self):
        self.write("a.c", "#define X 1\nint x = X;\n")
        self.assert_same_as_clang("-E", "-P", "a.c")

    def test_assembly_is_plain(self):
        self.write("a.c", "int f(int x) { return x + 1; }\n")
        self.assert_same_as_clang("-O2", "-S", "a.c", "-o", "-")
        self.cc("-S", "a.c")
        self.cc("-c", "a.s")
        self.assert_fat("a.o", False)

    def test_ir(self):
        self.write("a.c", "int f(int x) { return x + 1; }\n")
        self.assert_same_as_clang("-emit-llvm", "-S", "a.c", "-o", "-")

    def test_dependencies_alone(self):
        self.write("a.c", "#include <stddef.h>\n")
        self.assert_same_as_clang("-M", "a.c")
        self.assert_same_as_clang("-MM", "a.c")

    def test_syntax_only(self):
        self.write("a.c", "int f(void) { return }\n")
        self.assertNotEqual(self.assert_same_as_clang("-fsyntax-only", "a.c").status, 0)

    def test_questions_about_clang(self):
        self.write("a.c", "")
        for question in (["--version"], ["-dumpmachine"], ["-dumpversion"], ["-v"],
                         ["-print-prog-name=ld"], ["-print-search-dirs"],
                         ["--print-file-name=libc.so"], ["-print-multi-os-directory"],
                         ["-###", "-c", "a.c"], ["-E", "-v", "-P", "-x", "c", os.devnull, "-###"]):
            with self.subTest(question=question):
                self.assert_same_as_clang(*question)

    def test_bad_command_lines(self):
        self.write("a.c", "int x;\n")
        for args in ([], ["-c", "a.c", "-o"], ["-c"], ["-c", "nosuch.c"], ["--nosuch", "-c", "a.c"],
                     ["-c", "a.c", "-include"]):
            with self.subTest(args=args):
                self.assertNotEqual(self.assert_same_as_clang(*args).status, 0)

    def test_compile_errors(self):
        self.write("a.c", "int f(void) { return x; }\nint g(int) { retrn 1; }\n")
        self.assertEqual(self.assert_same_as_clang("-c", "a.c").status, 1)
        self.write("a.cc", "struct A { A(int); };\nA a;\n")
        self.assertEqual(
            self.assert_same_as_clang("-c", "a.cc", compiler=harness.clangxx()).status, 1)

    def test_warnings(self):
        self.write("a.c", "int f(void) { int unused; }\n")
        result = self.assert_same_as_clang("-Wall", "-Wextra", "-c", "a.c")
        self.assertIn("unused", result.err)

    def test_werror_is_unaffected(self):
        self.write("a.c", "int main(void) { return 0; }\n")
        self.cc("-Wall", "-Wextra", "-Weverything", "-Wno-unsafe-buffer-usage", "-Werror",
                "a.c", "-o", "prog")
        self.cc("-Werror", "-c", "a.c")
        self.cc("-Werror", "a.o", "-o", "prog2")
        self.write("b.s", ".globl b\nb: ret\n.section .note.GNU-stack\n")
        self.cc("-Werror", "-c", "b.s")
        self.write("w.c", "int main(void) { int unused; return 0; }\n")
        self.assertEqual(self.assert_same_as_clang("-Wall", "-Werror", "-c", "w.c").status, 1)

    def test_unused_argument_warning_for_the_users_own(self):
        self.write("a.c", "int main(void) { return 0; }\n")
        self.assertIn("-lfoo", self.assert_same_as_clang("-c", "a.c", "-lfoo").err)


class OwnOptions(DriverTest):
    def usage_error(self, *args, env=None):
        result = self.run_any(self.prefix.cc, *args, env=env)
        self.assertEqual(result.status, 2, str(result))
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertTrue(result.err.startswith("racehive: error: "), result.err)
        return result.err

    def test_help(self):
        text = self.run_ok(self.prefix.cc, "--rh-help").out
        for word in ("--rh-profile=", "RACEHIVE_PROFILE", "--rh-config=", "--rh-keys=",
                     "--rh-keep-temps"):
            self.assertIn(word, text)

    def test_unknown_option(self):
        self.assertIn("--rh-nosuch", self.usage_error("--rh-nosuch", "-c", "a.c"))

    def test_profiles_of_later_versions(self):
        self.assertIn("ifrit", self.usage_error("--rh-profile=ifrit", "a.c"))
        self.assertIn("ifrit", self.usage_error("a.c", env={"RACEHIVE_PROFILE": "ifrit"}))
        self.assertIn("nosuch", self.usage_error("--rh-profile=nosuch", "a.c"))

    def test_unknown_keys(self):
        self.assertIn("nosuch", self.usage_error("--rh-keys=nosuch", "a.c"))

    def test_missing_and_superfluous_values(self):
        self.usage_error("--rh-config", "a.c")
        self.usage_error("--rh-keep-temps=x", "a.c")

    def test_unreadable_configuration(self):
        self.write("a.c", HELLO)
        result = self.run_any(self.prefix.cc, "--rh-config=nosuch", "a.c")
        self.assertEqual(result.status, 2)
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertIn("nosuch", result.err)
        self.assertFalse(self.exists("a.out"))

    def test_profile_off_is_plain_clang(self):
        self.write("a.c", HELLO)
        self.cc("--rh-profile=off", "-c", "a.c")
        ours = self.read_bytes("a.o")
        self.clang("-c", "a.c")
        self.assertEqual(ours, self.read_bytes("a.o"))
        self.cc("a.c", "-o", "prog", env={"RACEHIVE_PROFILE": "off"})
        self.assert_plain("prog")
        self.assert_output("hello\n", "./prog")

    def read_bytes(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_option_beats_variable(self):
        self.write("a.c", HELLO)
        self.cc("--rh-profile=production", "a.c", "-o", "prog", env={"RACEHIVE_PROFILE": "off"})
        self.assert_instrumented("prog")

    def test_empty_variable_counts_as_unset(self):
        self.write("a.c", HELLO)
        self.cc("a.c", "-o", "prog", env={"RACEHIVE_PROFILE": "", "RACEHIVE_KEYS": ""})
        self.assert_instrumented("prog")

    def test_flag_keys(self):
        self.write("a.c", HELLO)
        self.cc("--rh-keys=flag", "a.c", "-o", "prog")
        self.assert_instrumented("prog")
        self.assert_output("hello\n", "./prog")
        steps = self.run_ok(self.prefix.cc, "-v", "a.c", "-o", "prog",
                            env={"RACEHIVE_KEYS": "flag"}).err
        self.assertIn("--keys=flag", steps)

    def test_configuration_reaches_the_instrumentation(self):
        self.write("a.c", HELLO)
        self.write("conf", "race:nothing\n")
        steps = self.run_ok(self.prefix.cc, "-v", "--rh-config=conf", "a.c", "-o", "prog").err
        self.assertIn("--config=conf", steps)
        self.assert_instrumented("prog")

    def candidates_of(self, program):
        """Functions of both sides."""
        listed = self.run_ok(os.path.join(os.path.dirname(self.prefix.cc), "racehive"),
                             "candidates", "--json", program).out
        return {tuple(sorted((c["first"]["function"], c["second"]["function"])))
                for c in json.loads(listed)["candidates"]}

    def test_suppressions_leave_accesses_out(self):
        self.write("a.c", COUNTS)
        a, b = ("count_a", "count_a"), ("count_b", "count_b")
        for rules, left in (("", {a, b}), ("race:count_a\n", {b}), ("race:^b$\nmutex:x\n", {a}),
                            ("# all\nrace:a.c$\n", set())):
            self.write("conf", rules)
            self.cc("-O1", "-pthread", "--rh-config=conf", "a.c", "-o", "prog")
            self.assertEqual(self.candidates_of("prog"), left, rules)

    def test_expired_suppressions_no_longer_hold(self):
        self.write("a.c", COUNTS)
        self.write("conf", "race:count_a # until=2001-01-31 why=mended\n"
                           "race:count_b # until=2999-01-31 why=to be mended\n")
        result = self.run_any(self.prefix.cc, "-O1", "-pthread", "--rh-config=conf", "a.c", "-o",
                              "prog")
        self.assertEqual(result.status, 0, result.err)
        self.assertIn("conf:1: ", result.err)
        self.assertEqual(self.candidates_of("prog"), {("count_a", "count_a")})

    def test_entries_are_called_by_threads_of_their_own(self):
        self.write("a.c", CALLED)
        self.cc("-O1", "-rdynamic", "a.c", "-o", "prog")
        self.assertEqual(self.candidates_of("prog"), set())
        self.write("conf", "entry:^on_event$\n")
        self.cc("-O1", "-rdynamic", "--rh-config=conf", "a.c", "-o", "prog")
        self.assertEqual(self.candidates_of("prog"), {("main", "on_event"), ("on_event", "on_event")})

    def test_a_configuration_with_a_mistake_is_refused(self):
        self.write("a.c", HELLO)
        self.write("conf", "race:a\nrace b\n")
        result = self.run_any(self.prefix.cc, "--rh-config=conf", "a.c", "-o", "prog")
        self.assertEqual(result.status, 2)
        self.assertRegex(result.err, r"\A[^\n]*error: conf:2: expected [^\n]+\n\Z")
        self.assertFalse(self.exists("prog"))

    def test_verbose_shows_the_steps(self):
        self.write("a.c", HELLO)
        steps = self.run_ok(self.prefix.cc, "-v", "a.c", "-o", "prog").err
        ours = [line for line in steps.splitlines() if line.startswith("racehive: ")]
        self.assertIn("--lto-emit-llvm", ours[0])
        self.assertIn("racehive-instrument", ours[1])
        self.assertIn("program.o", ours[2])
        self.assertIn("-cc1", steps)

    def test_keep_temps(self):
        self.write("a.c", HELLO)
        for option, env in ((["--rh-keep-temps"], {}), ([], {"RACEHIVE_KEEP_TEMPS": "1"})):
            self.cc(*option, "a.c", "-o", "prog", env=env)
            kept = sorted(os.listdir(self.path("prog.racehive-temps")))
            self.assertIn("merged.bc", kept)
            self.assertIn("program.o", kept)
            self.assert_instrumented("prog")

    def test_sanitizer_is_left_alone_with_a_note(self):
        self.write("a.c", HELLO)
        self.cc("-fsanitize=undefined", "-fsanitize-trap=all", "-c", "a.c")
        self.assert_fat("a.o", False)
        result = self.run_ok(self.prefix.cc, "-fsanitize=undefined",
                             "-fsanitize-trap=all", "a.o", "-o", "prog")
        self.assertEqual(
            result.err, "racehive: note: the program is not instrumented: -fsanitize=undefined\n")
        self.assert_plain("prog")

    def test_other_targets_are_left_alone(self):
        self.write("a.c", "int f(void) { return 0; }\n")
        self.cc("-m32", "-c", "a.c")
        self.assert_fat("a.o", False)
        self.cc("--target=aarch64-linux-gnu", "-c", "a.c")
        self.assert_fat("a.o", False)
        self.cc("-target", "x86_64-pc-linux-gnu", "-c", "a.c")
        self.assert_fat("a.o")


if __name__ == "__main__":
    harness.main()
