# SPDX-License-Identifier: Apache-2.0
"""Shared libraries, archives and relocatable objects made and used with racehive-cc."""
import os

import harness
from harness import DriverTest

MAIN = "#include <stdio.h>\nint f(int);\nint main(void) { printf(\"%d\\n\", f(1)); return 0; }\n"
F = "int f(int x) { return x + 41; }\n"

# Loads ./libf.so, prints what f(1) gives, unloads it.
LOADER = ("#include <dlfcn.h>\n#include <stdio.h>\n"
          "int main(void) {\n"
          "    void *lib = dlopen(\"./libf.so\", RTLD_NOW);\n"
          "    int (*f)(int) = lib ? (int (*)(int))dlsym(lib, \"f\") : 0;\n"
          "    if (!f) { puts(dlerror()); return 1; }\n"
          "    printf(\"%d\\n\", f(1));\n"
          "    return dlclose(lib);\n}\n")


class Shared(DriverTest):
    def test_shared_library(self):
        self.write("main.c", MAIN)
        self.write("f.c", F)
        self.cc("-shared", "-fPIC", "f.c", "-o", "libf.so", "-Wl,-soname,libf.so")
        self.assert_instrumented("libf.so")
        self.assertIn("f", self.symbols("libf.so", "-D"))
        self.cc("main.c", "-L.", "-lf", "-Wl,-rpath,$ORIGIN", "-o", "prog")
        self.assert_instrumented("prog")
        self.assert_output("42\n", "./prog")

    def test_library_loaded_by_an_instrumented_program(self):
        self.write("main.c", LOADER)
        self.write("f.c", F)
        self.cc("-shared", "-fPIC", "f.c", "-o", "libf.so")
        self.cc("main.c", "-o", "prog")
        self.assert_instrumented("prog")
        self.assert_output("42\n", "./prog")

    def test_library_loaded_by_a_plain_program(self):
        self.write("main.c", LOADER)
        self.write("f.c", F)
        self.cc("-shared", "-fPIC", "f.c", "-o", "libf.so")
        self.clang("main.c", "-o", "prog")
        self.assert_output("42\n", "./prog")

    def test_plain_library_loaded_by_an_instrumented_program(self):
        self.write("main.c", LOADER)
        self.write("f.c", F)
        self.clang("-shared", "-fPIC", "f.c", "-o", "libf.so")
        self.cc("main.c", "-o", "prog")
        self.assert_output("42\n", "./prog")

    def test_plain_program_with_an_instrumented_library(self):
        self.write("main.c", MAIN)
        self.write("f.c", F)
        self.cc("-shared", "-fPIC", "f.c", "-o", "libf.so")
        self.clang("main.c", "-L.", "-lf", "-Wl,-rpath,$ORIGIN", "-o", "prog")
        self.assert_output("42\n", "./prog")

    def test_version_script(self):
        self.write("main.c", MAIN)
        self.write("f.c", "int helper(void) { return 41; }\nint f(int x) { return x + helper(); }\n")
        self.write("map", "V1 { global: f; not_there; local: *; };\n")
        self.cc("-shared", "-fPIC", "f.c", "-Wl,--version-script=map", "-o", "libf.so")
        self.assert_instrumented("libf.so")
        exported = self.symbols("libf.so", "-D", "--defined-only")
        self.assertIn("f@@V1", exported)
        self.assertFalse({name for name in exported if "helper" in name or "__rh_" in name})
        self.cc("main.c", "-L.", "-lf", "-Wl,-rpath,$ORIGIN", "-o", "prog")
        self.assert_output("42\n", "./prog")

    def test_symver(self):
        self.write("f.c", "int f_old(int x) { return x; }\nint f_new(int x) { return x + 41; }\n"
                          "__asm__(\".symver f_old,f@V1\");\n__asm__(\".symver f_new,f@@V2\");\n")
        self.write("map", "V1 { global: f; local: *; };\nV2 { global: f; } V1;\n")
        self.write("main.c", MAIN)
        self.cc("-O2", "-shared", "-fPIC", "f.c", "-Wl,--version-script,map", "-o", "libf.so")
        self.assertTrue({"f@V1", "f@@V2"} <= self.symbols("libf.so", "-D"))
        self.cc("main.c", "-L.", "-lf", "-Wl,-rpath,$ORIGIN", "-o", "prog")
        self.assert_output("42\n", "./prog")

    def test_no_undefined(self):
        self.write("f.c", F)
        self.cc("-shared", "-fPIC", "-Wl,-z,defs", "f.c", "-o", "libf.so")
        self.assert_instrumented("libf.so")

    def test_interposition_stays_possible(self):
        self.write("f.c", "int g(void) { return 1; }\nint f(int x) { return x + g(); }\n")
        self.write("main.c", MAIN + "int g(void) { return 41; }\n")
        self.cc("-O2", "-shared", "-fPIC", "-fsemantic-interposition", "f.c", "-o", "libf.so")
        self.cc("-O2", "main.c", "-L.", "-lf", "-Wl,-rpath,$ORIGIN", "-o", "prog")
        self.assert_output("42\n", "./prog")

    def test_exceptions_across_libraries(self):
        self.write("f.cc", 'extern "C" int f(int x) { if (x == 1) throw 42; return x; }\n')
        self.write("main.cc", '#include <cstdio>\nextern "C" int f(int);\n'
                              "int main() { try { f(1); } catch (int x) "
                              '{ std::printf("%d\\n", x); } }\n')
        self.cxx("-shared", "-fPIC", "f.cc", "-o", "libf.so")
        self.cxx("main.cc", "-L.", "-lf", "-Wl,-rpath,$ORIGIN", "-o", "prog")
        self.assert_output("42\n", "./prog")


class Registration(DriverTest):
    """Images make themselves known to the runtime in the executable, asked of the stand-in."""

    fake = True

    def test_loaded_and_unloaded_library_is_counted(self):
        self.write("f.c", F)
        self.write("main.c", "#include <dlfcn.h>\n#include <stdio.h>\nint __rh_fake_images(void);\n"
                             "int main(void) {\n int before = __rh_fake_images();\n"
                             " void *lib = dlopen(\"./libf.so\", RTLD_NOW);\n"
                             " int during = __rh_fake_images();\n dlclose(lib);\n"
                             " printf(\"%d %d %d\\n\", before, during, __rh_fake_images());\n"
                             " return 0; }\n")
        self.cc("-shared", "-fPIC", "f.c", "-o", "libf.so")
        self.cc("main.c", "-o", "prog")
        self.assert_output("1 2 1\n", "./prog")

    def test_linked_library_is_counted(self):
        self.write("f.c", F)
        self.write("main.c", "int __rh_fake_images(void);\nint f(int);\n"
                             "int main(void) { return __rh_fake_images() + f(-41) - 2; }\n")
        self.cc("-shared", "-fPIC", "f.c", "-o", "libf.so")
        self.cc("main.c", "-L.", "-lf", "-Wl,-rpath,$ORIGIN", "-o", "prog")
        self.run_ok("./prog")


class Loading(DriverTest):
    def test_library_searches_its_own_paths(self):
        """dlopen goes by who calls it, also through the runtime's wrapper."""
        os.mkdir(self.path("sub"))
        self.write("b.c", "int b(void) { return 42; }\n")
        self.write("a.c", "#include <dlfcn.h>\nint a(void) {\n"
                          "    void *lib = dlopen(\"libb.so\", RTLD_NOW);\n"
                          "    int (*b)(void) = lib ? (int (*)(void))dlsym(lib, \"b\") : 0;\n"
                          "    return b ? b() : 0; }\n")
        self.write("main.c", "#include <dlfcn.h>\n#include <stdio.h>\nint a(void);\n"
                             "int main(void) { printf(\"%d\\n\", a());\n"
                             "    return dlopen(\"libno.so\", RTLD_NOW) != 0; }\n")
        self.clang("-shared", "-fPIC", "b.c", "-o", "sub/libb.so")
        self.clang("-shared", "-fPIC", "a.c", "-o", "liba.so",
                   "-Wl,--enable-new-dtags,-rpath,$ORIGIN/sub")
        self.cc("main.c", "-o", "prog", "-L.", "-la", "-Wl,-rpath,$ORIGIN")
        self.assert_instrumented("prog")
        self.assert_output("42\n", "./prog")

class Archives(DriverTest):
    def setUp(self):
        super().setUp()
        self.write("main.c", MAIN)
        self.write("f.c", "int g(void);\nint f(int x) { return x + g(); }\n")
        self.write("g.c", "int g(void) { return 41; }\n")
        self.write("unused.c", "int missing(void);\nint unused(void) { return missing(); }\n")

    def check(self, *args):
        self.cc(*args, "-o", "prog")
        self.assert_instrumented("prog")
        self.assert_output("42\n", "./prog")

    def test_archive(self):
        self.cc("-c", "main.c", "f.c", "g.c", "unused.c")
        self.run_ok("ar", "rcs", "lib.a", "f.o", "g.o", "unused.o")
        self.check("main.o", "lib.a")
        self.check("-static", "main.o", "lib.a")

    def test_thin_archive(self):
        os.mkdir(self.path("sub"))
        self.cc("-c", "f.c", "-o", "sub/f.o")
        self.cc("-c", "g.c", "-o", "sub/g.o")
        self.run_ok("ar", "rcsT", "sub/lib.a", "sub/f.o", "sub/g.o")
        self.check("main.c", "sub/lib.a")

    def test_program_in_archives_alone(self):
        self.cc("-c", "main.c", "f.c", "g.c")
        self.run_ok("ar", "rcs", "libmain.a", "main.o")
        self.run_ok("ar", "rcs", "libf.a", "f.o", "g.o")
        self.check("libmain.a", "libf.a")

    def test_member_without_bitcode(self):
        self.cc("-c", "main.c", "f.c")
        self.clang("-c", "g.c", "-o", "a_member_with_a_rather_long_name.o")
        for flags in ("rcs", "rcsT"):
            with self.subTest(flags=flags):
                self.run_ok("ar", flags, "lib.a", "f.o", "a_member_with_a_rather_long_name.o")
                self.check("main.o", "lib.a")
                self.check("main.o", "-Wl,--whole-archive", "lib.a", "-Wl,--no-whole-archive")
                os.remove(self.path("lib.a"))

    def test_bitcode_reached_through_machine_code(self):
        self.cc("-c", "main.c", "g.c")
        self.clang("-c", "f.c")
        self.run_ok("ar", "rcs", "lib.a", "f.o", "g.o")
        self.check("main.o", "lib.a")

    def test_allocator_in_members_of_its_own(self):
        """A free that the runtime wraps too stays with the malloc it belongs to."""
        self.write("main.c", "#include <stdlib.h>\n"
                             "int main(void) { void *volatile p = malloc(9); free(p); return 0; }\n")
        self.write("m.c", "#include <stddef.h>\nstatic char block[1 << 16];\nstatic size_t used;\n"
                          "void *malloc(size_t n) { used += (n + 15) & ~15ul;\n"
                          "    return block + used - ((n + 15) & ~15ul); }\n"
                          "void *calloc(size_t n, size_t m) { return malloc(n * m); }\n")
        self.write("f.c", "#include <unistd.h>\nvoid free(void *p) {\n"
                          "    if (p && write(1, \"own\\n\", 4) < 0) _exit(1); }\n")
        for compile in (self.cc, self.clang):
            with self.subTest(compile=compile.__name__):
                compile("-c", "-fno-builtin", "m.c", "f.c")
                self.run_ok("ar", "rcs", "lib.a", "m.o", "f.o")
                if compile == self.cc:
                    self.cc("main.c", "lib.a", "-o", "prog")
                else:
                    self.cc_names("lib.a", "main.c", "lib.a", "-o", "prog")
                self.assert_instrumented("prog")
                self.assertIn("own\n", self.run_ok("./prog").out)
                os.remove(self.path("lib.a"))

    def test_whole_archive(self):
        self.write("c.c", "#include <stdio.h>\n__attribute__((constructor)) static void c(void)"
                          " { puts(\"constructed\"); }\n")
        self.cc("-c", "main.c", "f.c", "g.c", "c.c")
        self.run_ok("ar", "rcs", "lib.a", "f.o", "g.o", "c.o")
        self.check("main.o", "lib.a")
        self.cc("main.o", "-Wl,--whole-archive", "lib.a", "-Wl,--no-whole-archive", "-o", "prog")
        self.assert_output("constructed\n42\n", "./prog")

    def test_shared_library_from_whole_archive(self):
        self.cc("-fPIC", "-c", "f.c", "g.c")
        self.run_ok("ar", "rcs", "lib.a", "f.o", "g.o")
        self.cc("-shared", "-Wl,--whole-archive", "lib.a", "-Wl,--no-whole-archive", "-o",
                "libf.so")
        self.assert_instrumented("libf.so")
        self.check("main.c", "./libf.so")

    def test_groups_and_cycles(self):
        self.write("g.c", "int h(void);\nint g(void) { return h(); }\n")
        self.write("h.c", "int k(void);\nint h(void) { return k(); }\n")
        self.write("k.c", "int k(void) { return 41; }\n")
        self.cc("-c", "main.c", "f.c", "g.c", "h.c", "k.c")
        self.run_ok("ar", "rcs", "lib1.a", "f.o", "h.o")
        self.run_ok("ar", "rcs", "lib2.a", "g.o", "k.o")
        self.check("main.o", "-Wl,--start-group", "lib1.a", "lib2.a", "-Wl,--end-group")

    def test_start_lib(self):
        self.cc("-c", "main.c", "f.c", "g.c", "unused.c")
        self.check("-Wl,--start-lib", "f.o", "g.o", "unused.o", "-Wl,--end-lib", "main.o")

    def test_two_members_of_one_name(self):
        os.mkdir(self.path("sub"))
        self.cc("-c", "f.c", "-o", "x.o")
        self.cc("-c", "g.c", "-o", "sub/x.o")
        self.run_ok("ar", "qcs", "lib.a", "x.o", "sub/x.o")
        members = self.run_ok("ar", "t", "lib.a").out.split()
        self.assertEqual(members, ["x.o", "x.o"])
        self.check("main.c", "lib.a")

    def test_library_lookup(self):
        """The first folder that has either form wins; in it, the shared library."""
        self.write("one/f.c", "int f(int x) { return x; }\n")
        self.write("two/f.c", F)
        for folder in ("one", "two"):
            self.cc("-fPIC", "-c", f"{folder}/f.c", "-o", f"{folder}/f.o")
            self.run_ok("ar", "rcs", f"{folder}/libf.a", f"{folder}/f.o")
        self.check("main.c", "-Ltwo", "-Lone", "-lf")
        self.check("main.c", "-Ltwo", "-Lone", "-l", "f")
        self.check("main.c", "-Lone", "-Ltwo", "-l:../two/libf.a")
        os.remove(self.path("one/libf.a"))
        self.check("main.c", "-Lone", "-Ltwo", "-lf")
        self.cc("-shared", "one/f.o", "-o", "two/libf.so")
        self.cc("main.c", "-Ltwo", "-lf", "-Wl,-rpath,two", "-o", "prog")
        self.assert_output("1\n", "./prog")
        self.check("main.c", "-Ltwo", "-Wl,-Bstatic", "-lf", "-Wl,-Bdynamic")
        self.check("main.c", "-Ltwo", "-Wl,--push-state,-Bstatic", "-lf", "-Wl,--pop-state")

    def test_library_lookup_of_a_mixed_archive(self):
        self.cc("-c", "f.c")
        self.clang("-c", "g.c")
        self.run_ok("ar", "rcs", "libf.a", "f.o", "g.o")
        self.check("main.c", "-L.", "-lf")

    def test_exclude_libs(self):
        self.cc("-fPIC", "-c", "f.c")
        self.clang("-fPIC", "-c", "g.c")
        self.run_ok("ar", "rcs", "libg.a", "g.o")
        self.cc_names("libg.a", "-shared", "f.o", "libg.a", "-Wl,--exclude-libs,libg.a", "-o", "libf.so")
        exported = self.symbols("libf.so", "-D", "--defined-only")
        self.assertIn("f", exported)
        self.assertNotIn("g", exported)


class Relocatable(DriverTest):
    def setUp(self):
        super().setUp()
        self.write("main.c", MAIN)
        self.write("f.c", "int g(void);\nint f(int x) { return x + g(); }\n")
        self.write("g.c", "int g(void) { return 41; }\n")

    def check(self, *args):
        self.cc(*args, "-o", "prog")
        self.assert_instrumented("prog")
        self.assert_output("42\n", "./prog")

    def test_relocatable_object_is_fat_again(self):
        self.cc("-c", "main.c", "f.c", "g.c")
        self.cc("-r", "f.o", "g.o", "-o", "both.o")
        self.assert_fat("both.o")
        self.check("main.o", "both.o")
        self.cc("-r", "main.o", "both.o", "-o", "all.o")
        self.assert_fat("all.o")
        self.check("all.o")

    def test_relocatable_object_is_native_too(self):
        self.cc("-c", "f.c", "g.c")
        self.cc("-r", "f.o", "g.o", "-o", "both.o")
        self.clang("main.c", "both.o", "-o", "prog")
        self.assert_output("42\n", "./prog")

    def test_relocatable_of_one(self):
        self.cc("-r", "f.c", "-o", "one.o")
        self.assert_fat("one.o")
        self.check("main.c", "one.o", "g.c")

    def test_relocatable_of_archives(self):
        self.write("unused.c", "int missing(void);\nint unused(void) { return missing(); }\n")
        self.cc("-c", "f.c", "g.c", "unused.c")
        self.run_ok("ar", "rcs", "lib.a", "g.o", "unused.o")
        self.cc("-r", "f.o", "lib.a", "-o", "both.o")
        self.assert_fat("both.o")
        self.assertNotIn("unused", self.symbols("both.o"))
        self.check("main.c", "both.o")
        self.run_ok("ar", "rcs", "all.a", "f.o", "g.o")
        self.cc("-r", "-Wl,--whole-archive", "all.a", "-o", "whole.o")
        self.assert_fat("whole.o")
        self.check("main.c", "whole.o")

    def test_relocatable_with_a_part_without_bitcode(self):
        self.cc("-c", "f.c")
        self.clang("-c", "g.c")
        result = self.run_ok(self.prefix.cc, "-r", "f.o", "g.o", "-o", "both.o")
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertIn("g.o has none", result.err)
        self.assert_fat("both.o", False)
        self.assert_no_temps()
        self.cc_names("both.o", "main.c", "both.o", "-o", "prog")
        self.assert_instrumented("prog")
        self.assert_output("42\n", "./prog")

    def test_relocatable_without_any_bitcode_is_silent(self):
        self.clang("-c", "f.c", "g.c")
        self.cc("-r", "f.o", "g.o", "-o", "both.o")
        self.assert_fat("both.o", False)

    def test_plain_bitcode_in_a_relocatable_object(self):
        self.clang("-flto", "-c", "g.c")
        self.cc("-c", "f.c")
        self.cc("-r", "f.o", "g.o", "-o", "both.o")
        self.check("main.c", "both.o")


if __name__ == "__main__":
    harness.main()
