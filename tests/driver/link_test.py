# SPDX-License-Identifier: Apache-2.0
"""Linking programs and libraries with racehive-cc: each case runs what it linked."""
import os
import shlex
import shutil

import harness
from harness import DriverTest, llvm_tool

MAIN = "#include <stdio.h>\nint f(int);\nint main(void) { printf(\"%d\\n\", f(1)); return 0; }\n"
F = "int f(int x) { return x + 41; }\n"

class Programs(DriverTest):
    def build_pair(self, *flags):
        self.write("main.c", MAIN)
        self.write("f.c", F)
        self.cc("-c", "main.c", "f.c")
        self.cc("main.o", "f.o", *flags, "-o", "prog")

    def check_pair(self, *flags):
        self.build_pair(*flags)
        self.assert_instrumented("prog")
        self.assert_output("42\n", "./prog")

    def test_objects(self):
        self.check_pair()
        self.assertIn("DYN", self.run_ok(llvm_tool("llvm-readelf"), "-h", "prog").out)

    def test_default_output_name(self):
        self.write("a.c", "int main(void) { return 0; }\n")
        self.cc("a.c")
        self.assert_instrumented("a.out")

    def test_output_in_another_folder(self):
        os.mkdir(self.path("sub folder"))
        self.write("a.c", "int main(void) { return 0; }\n")
        self.cc("a.c", "-o", "sub folder/my prog")
        self.assert_instrumented("sub folder/my prog")
        self.run_ok("sub folder/my prog")

    def test_linker_sets_survive_gc_sections(self):
        self.write("set.c", "#include <stdio.h>\n"
                            "__attribute__((used, section(\"names\"))) static const char *const a = \"a\";\n"
                            "__attribute__((used, section(\"names\"))) static const char *const b = \"b\";\n"
                            "extern const char *const __start_names[], *const __stop_names[];\n"
                            "int main(void) { for (const char *const *n = __start_names; "
                            "n < __stop_names; n++) puts(*n); return 0; }\n")
        for flags in ([], ["-ffunction-sections", "-fdata-sections"], ["-fuse-ld=gold"], ["-static"]):
            self.cc("-O2", *flags, "-Wl,--gc-sections", "set.c", "-o", "prog")
            self.assert_instrumented("prog")
            self.assert_output("a\nb\n", "./prog")

    def test_objects_for_another_processor_get_one_clear_line(self):
        self.write("main.c", MAIN)
        self.write("f.c", F)
        self.cc("--target=aarch64-linux-gnu", "-ffreestanding", "-c", "f.c")
        result = self.run_any(self.prefix.cc, "main.c", "f.o", "-o", "prog")
        self.assertNotEqual(result.status, 0)
        lines = [line for line in result.err.splitlines() if line.startswith("racehive: ")]
        self.assertEqual(lines, ["racehive: note: prog is not instrumented: f.o is not for x86-64, "
                                 "the one processor that Racehive knows"])

    def test_no_pie(self):
        self.check_pair("-no-pie")
        self.assertIn("EXEC", self.run_ok(llvm_tool("llvm-readelf"), "-h", "prog").out)

    def test_static(self):
        self.check_pair("-static")
        self.assertNotIn("NEEDED", self.dynamic("prog"))

    def test_static_pie(self):
        self.check_pair("-static-pie")
        self.assertNotIn("NEEDED", self.dynamic("prog"))

    def test_pthread(self):
        self.write("a.c", "#include <pthread.h>\n#include <stdio.h>\n"
                          "static void *run(void *p) { *(int *)p = 7; return p; }\n"
                          "int main(void) { pthread_t t; int x = 0;\n"
                          "pthread_create(&t, 0, run, &x); pthread_join(t, 0);\n"
                          "printf(\"%d\\n\", x); return 0; }\n")
        self.cc("-pthread", "-O2", "a.c", "-o", "prog")
        self.assert_instrumented("prog")
        self.assert_output("7\n", "./prog")

    def test_optimisation_levels(self):
        for level in ("-O0", "-O1", "-O2", "-O3", "-Os", "-Oz", "-Og"):
            with self.subTest(level=level):
                self.check_pair(level)

    def test_linker_options(self):
        self.check_pair("-Wl,-z,now,-rpath,/no such folder", "-Xlinker", "--defsym=zero=0",
                        "-Wl,--as-needed", "-lm")
        dynamic = self.dynamic("prog")
        self.assertIn("/no such folder", dynamic)
        self.assertIn("NOW", dynamic)
        self.assertNotIn("libm", dynamic)
        self.assertIn("zero", self.symbols("prog"))

    def test_map_and_dependency_file_tell_of_the_program(self):
        self.check_pair("-Wl,-Map=prog.map,--dependency-file=prog.d")
        self.assertIn("program.o", self.read("prog.map"))
        self.assertTrue(self.read("prog.d").startswith("prog:"))

    def test_gc_sections(self):
        self.write("main.c", MAIN)
        self.write("f.c", F + "int unused_function(int x) { return x; }\n")
        self.cc("-ffunction-sections", "-Wl,--gc-sections", "main.c", "f.c", "-o", "prog")
        self.assert_instrumented("prog")
        self.assert_output("42\n", "./prog")
        self.assertNotIn("unused_function", self.symbols("prog"))

    def test_strip_at_link(self):
        self.check_pair("-s")

    def test_export_dynamic(self):
        self.write("a.c", "#include <dlfcn.h>\nint found(void) { return 5; }\n"
                          "int main(void) { int (*f)(void) = (int (*)(void))dlsym(0, \"found\");\n"
                          "return f ? f() - 5 : 1; }\n")
        self.cc("-rdynamic", "-O2", "a.c", "-o", "prog")
        self.assert_instrumented("prog")
        self.run_ok("./prog")

    def test_build_id_of_the_user(self):
        self.check_pair("-Wl,--build-id=0x1234abcd")
        self.assertEqual(self.build_id("prog"), "1234abcd")

    def test_without_build_id(self):
        self.check_pair("-Wl,--build-id=none")

    def test_relinking_over_an_old_program(self):
        self.check_pair()
        first = self.build_id("prog")
        self.write("f.c", F.replace("41", "42"))
        self.cc("main.c", "f.c", "-o", "prog")
        self.assertNotEqual(self.build_id("prog"), first)
        self.assert_instrumented("prog")
        self.assert_output("43\n", "./prog")

    def test_user_chosen_linker_is_overridden(self):
        for option in ("-fuse-ld=lld", "-fuse-ld=bfd", "--ld-path=/nosuch/ld"):
            with self.subTest(option=option):
                self.check_pair(option)

    def test_link_line_in_a_response_file(self):
        self.write("main.c", MAIN)
        self.write("f.c", F)
        self.cc("-c", "main.c", "f.c")
        self.write("objects", "main.o\nf.o\n")
        self.cc("@objects", "-o", "prog")
        self.assert_instrumented("prog")
        self.cc("-Wl,@objects", "-o", "prog2")
        self.assert_instrumented("prog2")
        self.assert_output("42\n", "./prog2")

    def test_very_long_link_line(self):
        self.write("main.c", MAIN)
        self.write("f.c", F)
        self.cc("-c", "main.c", "f.c")
        paths = "\n".join(f"-L/nosuch/{'x' * 200}/{i}" for i in range(8000))
        self.write("options", paths)
        self.cc("@options", "main.o", "f.o", "-o", "prog")
        self.assert_instrumented("prog")
        self.assert_output("42\n", "./prog")


class Runtime(DriverTest):
    """What the link does for the runtime, asked of the stand-in."""

    fake = True

    def test_functions_of_libc_are_wrapped(self):
        self.write("a.c", "#include <pthread.h>\nint __rh_fake_locks(void);\n"
                          "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
                          "int main(void) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m);\n"
                          "return __rh_fake_locks() == 0; }\n")
        for kind in ([], ["-static"], ["-static-pie"]):
            with self.subTest(kind=kind):
                self.cc(*kind, "a.c", "-o", "prog")
                self.run_ok("./prog")

    def test_functions_of_the_program_are_not_wrapped(self):
        self.write("a.c", "int __rh_fake_locks(void);\nint own;\n"
                          "__attribute__((noinline)) int pthread_mutex_lock(void *m, int x)\n"
                          "{ own += x; return !m; }\n"
                          "int main(int argc, char **argv) { (void)argc;\n"
                          "pthread_mutex_lock(argv, 5); return own != 5 || __rh_fake_locks(); }\n")
        for kind in (["-static"], ["-static-pie", "-O2"], ["-static", "-fno-lto"]):
            with self.subTest(kind=kind):
                if "-fno-lto" in kind:
                    self.cc("-fno-builtin", "-w", *kind, "-c", "a.c", "-o", "own.o")
                    self.write("b.c", "int unused;\n")
                    self.cc_names("own.o", "-static", "own.o", "b.c", "-o", "prog")
                else:
                    self.cc("-fno-builtin", "-w", *kind, "a.c", "-o", "prog")
                self.assert_instrumented("prog")
                self.run_ok("./prog")

    def test_settings_of_the_link_reach_the_instrumentation(self):
        self.write("a.c", "int main(void) { return 0; }\n")
        for flags, words in (([], ["--type=exe", "--pic=1", "--opt=2", "--keys=patch"]),
                             (["-no-pie", "-O3"], ["--type=exe", "--pic=0", "--opt=3"]),
                             (["-static", "-O0"], ["--type=exe", "--pic=0", "--opt=0"]),
                             (["-static-pie", "-Os"], ["--type=exe", "--pic=1", "--opt=2"]),
                             (["-shared", "-fPIC"], ["--type=shared", "--pic=1"]),
                             (["-march=x86-64-v3"], ["--cpu=x86-64-v3"])):
            with self.subTest(flags=flags):
                steps = self.run_ok(self.prefix.cc, "-v", *flags, "a.c", "-o", "out").err
                step = next(line for line in steps.splitlines()
                            if line.startswith("racehive: ") and "--sidecar=" in line)
                for word in words + ["--program=out", "--sidecar=out.racehive"]:
                    self.assertIn(word, shlex.split(step))


class Languages(DriverTest):
    def test_cplusplus(self):
        self.write("a.cc", "#include <iostream>\n#include <string>\n"
                           "int main() { std::string s = \"hello\"; std::cout << s << '\\n'; }\n")
        self.cxx("-O2", "a.cc", "-o", "prog")
        self.assert_instrumented("prog")
        self.assert_output("hello\n", "./prog")
        self.cxx("-static", "a.cc", "-o", "prog")
        self.assert_output("hello\n", "./prog")

    def test_exceptions_across_c(self):
        self.write("thrower.cc", 'extern "C" void throw_it() { throw 42; }\n')
        self.write("middle.c", "void throw_it(void);\nvoid middle(void) { throw_it(); }\n")
        self.write("main.cc", '#include <cstdio>\nextern "C" void middle();\n'
                              "int main() { try { middle(); } catch (int x) "
                              '{ std::printf("%d\\n", x); } }\n')
        for level in ("-O0", "-O2"):
            with self.subTest(level=level):
                self.cc(level, "-fexceptions", "-c", "middle.c")
                self.cxx(level, "-c", "thrower.cc", "main.cc")
                self.cxx("main.o", "middle.o", "thrower.o", "-o", "prog")
                self.assert_instrumented("prog")
                self.assert_output("42\n", "./prog")

    def test_constructor_order(self):
        self.write("a.cc", "#include <cstdio>\nstruct A { A() { std::puts(\"a\"); } } a;\n")
        self.write("b.cc", "#include <cstdio>\nstruct B { B() { std::puts(\"b\"); } } b;\n"
                           "__attribute__((constructor(150))) static void early() "
                           "{ std::puts(\"early\"); }\n"
                           "__attribute__((destructor)) static void late() "
                           "{ std::puts(\"late\"); }\n")
        self.write("m.cc", "#include <cstdio>\nint main() { std::puts(\"main\"); }\n")
        self.cxx("-c", "a.cc", "b.cc", "m.cc")
        self.cxx("m.o", "a.o", "b.o", "-o", "ab")
        self.assert_output("early\na\nb\nmain\nlate\n", "./ab")
        self.cxx("b.o", "a.o", "m.o", "-o", "ba")
        self.assert_output("early\nb\na\nmain\nlate\n", "./ba")

    def test_thread_local_variables(self):
        self.write("tls.c", "__thread int counter = 3;\n"
                            "static _Thread_local int inner;\n"
                            "int *next(void) { inner++; counter += inner; return &counter; }\n")
        self.write("main.c", "#include <stdio.h>\nextern __thread int counter;\nint *next(void);\n"
                             "int main(void) { next(); next();\n"
                             "printf(\"%d\\n\", counter); return 0; }\n")
        for flags in ([], ["-static"], ["-no-pie"], ["-O2"]):
            with self.subTest(flags=flags):
                self.cc(*flags, "tls.c", "main.c", "-o", "prog")
                self.assert_instrumented("prog")
                self.assert_output("6\n", "./prog")

    def test_ifunc(self):
        self.write("a.c", "#include <stdio.h>\nstatic int one(void) { return 1; }\n"
                          "static int (*choose(void))(void) { return one; }\n"
                          "int chosen(void) __attribute__((ifunc(\"choose\")));\n"
                          "int main(void) { printf(\"%d\\n\", chosen()); return 0; }\n")
        for flags in (["-O0"], ["-O2"], ["-static"], ["-no-pie"]):
            with self.subTest(flags=flags):
                self.cc(*flags, "a.c", "-o", "prog")
                self.assert_instrumented("prog")
                self.assert_output("1\n", "./prog")


class WithoutBitcode(DriverTest):
    """Inputs that have machine code alone are linked as they are, and one line names them."""

    def test_object_of_another_compiler(self):
        if not shutil.which("gcc"):
            self.skipTest("no gcc")
        self.write("main.c", MAIN)
        self.write("f.c", F)
        self.run_ok("gcc", "-O2", "-c", "f.c")
        self.cc_names("f.o", "main.c", "f.o", "-o", "prog")
        self.assert_instrumented("prog")
        self.assert_output("42\n", "./prog")

    def test_many_objects_have_one_line(self):
        self.write("main.c", MAIN)
        names = [f"f{i}.c" for i in range(6)]
        for i, name in enumerate(names):
            self.write(name, F.replace("f(", f"f{i or ''}("))
        self.clang("-c", *names)
        self.run_ok("ar", "rcs", "libf.a", "f1.o")
        self.cc_names("f0.o, libf.a, f2.o, f3.o and 2 more", "main.c", "f0.o", "libf.a",
                      *[f"f{i}.o" for i in range(2, 6)], "-lm", "-o", "prog")
        self.cc("main.c", "-static", "-x", "c", "f0.c", "-o", "prog")  # not the C library

    def test_assembly_file(self):
        self.write("main.c", MAIN)
        self.write("f.s", ".globl f\n.type f,@function\nf: leal 41(%rdi), %eax\n ret\n"
                          ".section .note.GNU-stack,\"\",@progbits\n")
        self.write("g.S", "#define NAME g\n.globl NAME\nNAME: ret\n"
                          ".section .note.GNU-stack,\"\",@progbits\n")
        self.cc("-c", "f.s", "g.S")
        self.cc_names("f.o, g.o", "main.c", "f.o", "g.o", "-o", "prog")
        self.assert_instrumented("prog")
        self.assert_output("42\n", "./prog")

    def test_callbacks_between_both_worlds(self):
        self.write("main.c", "#include <stdio.h>\nint outer(int);\n"
                             "int inner(int x) { return x * 2; }\n"
                             "int main(void) { printf(\"%d\\n\", outer(20)); return 0; }\n")
        self.write("outer.c", "int inner(int);\nint outer(int x) { return inner(x + 1); }\n")
        self.clang("-O2", "-c", "outer.c")
        self.cc_names("outer.o", "-O2", "main.c", "outer.o", "-o", "prog")
        self.assert_instrumented("prog")
        self.assert_output("42\n", "./prog")

    def test_nothing_has_bitcode(self):
        self.write("main.c", MAIN)
        self.write("f.c", F)
        self.clang("-c", "main.c", "f.c")
        self.write("prog.racehive", "old")
        self.cc_names("main.o, f.o", "main.o", "f.o", "-o", "prog")
        self.assert_plain("prog")
        self.assert_output("42\n", "./prog")
        self.assertIn("no input has bitcode",
                      self.run_ok(self.prefix.cc, "-v", "main.o", "f.o", "-o", "prog").err)

    def test_bitcode_only_where_it_is_not_needed(self):
        self.write("main.c", MAIN)
        self.write("f.c", F)
        self.write("g.c", "int g(void) { return 0; }\n")
        self.clang("-c", "main.c", "f.c")
        self.cc("-c", "g.c")
        self.run_ok("ar", "rcs", "libg.a", "g.o")
        self.cc_names("main.o, f.o", "main.o", "f.o", "libg.a", "-o", "prog")
        self.assert_plain("prog")
        self.assert_output("42\n", "./prog")

    def test_plain_bitcode_file(self):
        self.write("main.c", MAIN)
        self.write("f.c", F)
        self.clang("-flto", "-c", "f.c")
        self.cc("main.c", "f.o", "-o", "prog")
        self.assert_instrumented("prog")
        self.assert_output("42\n", "./prog")

    def test_freestanding_program(self):
        self.write("a.c", "void _start(void) { __asm__ volatile(\"mov $60, %eax\\n\"\n"
                          "\"xor %edi, %edi\\nsyscall\"); __builtin_unreachable(); }\n")
        self.cc("-nostdlib", "-static", "-ffreestanding", "a.c", "-o", "prog")
        self.assert_plain("prog")
        self.run_ok("./prog")

    def test_output_to_a_device(self):
        self.write("a.c", "int main(void) { return 0; }\n")
        self.cc("a.c", "-o", "/dev/null")
        self.assertFalse(os.path.exists("/dev/null.racehive"))

    def test_file_scope_assembly(self):
        self.write("a.c", "#include <stdio.h>\n"
                          "__asm__(\".text\\n.globl asm_f\\nasm_f: movl $9, %eax\\nret\\n\");\n"
                          "__asm__(\".local asm_g\\nasm_g: movl $8, %eax\\nret\\n\");\n"
                          "int asm_f(void);\nint asm_g(void);\n"
                          "int main(void) { printf(\"%d %d\\n\", asm_f(), asm_g()); return 0; }\n")
        self.cc("-O2", "a.c", "-o", "prog")
        self.assert_instrumented("prog")
        self.assert_output("9 8\n", "./prog")

    def test_object_made_by_ld_r(self):
        """GNU ld glues the bitcode of its inputs together, and no one can read that."""
        if not shutil.which("ld.bfd"):
            self.skipTest("no ld.bfd")
        self.write("main.c", MAIN)
        self.write("f.c", F)
        self.write("c.c", "#include <stdio.h>\n__attribute__((constructor)) static void c(void)"
                          " { puts(\"c\"); }\n")
        self.cc("-c", "main.c", "f.c", "c.c")
        self.run_ok("ld.bfd", "-r", "f.o", "c.o", "-o", "both.o")
        result = self.run_ok(self.prefix.cc, "main.o", "both.o", "-o", "prog")
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertIn("both.o", result.err)
        self.assert_instrumented("prog")
        self.assert_output("c\n42\n", "./prog")
        self.run_ok("ar", "rcs", "libboth.a", "both.o")
        result = self.run_ok(self.prefix.cc, "main.o", "libboth.a", "-o", "prog")
        self.assert_instrumented("prog")
        self.assert_output("c\n42\n", "./prog")


if __name__ == "__main__":
    harness.main()
