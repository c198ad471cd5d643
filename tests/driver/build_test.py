# SPDX-License-Identifier: Apache-2.0
"""Whole builds with racehive-cc as the compiler: make, configure scripts, CMake."""
import os
import shutil

import harness
from harness import DriverTest

# The shape of autoconf's tests: write conftest.c, compile, link or run it; what counts is the
# status and whether anything was said.
CONFIGURE = r"""
try() {
    name=$1 mode=$2
    cat >conftest.c
    rm -f conftest.o conftest conftest.err
    if [ "$mode" = compile ]; then
        $CC $CFLAGS -c conftest.c 2>conftest.err
    else
        $CC $CFLAGS -o conftest conftest.c $LIBS 2>conftest.err
    fi
    status=$?
    if [ "$mode" = run ] && [ $status = 0 ]; then
        ./conftest
        status=$?
    fi
    said=no
    [ -s conftest.err ] && said=yes
    echo "$name $status $said"
}
echo '{ local: *; };' >conftest.map
CFLAGS= LIBS=
echo 'int main(void) { return 0; }' | try works run
echo '#include <stdlib.h>' | try header_there compile
echo '#include <nosuch_header.h>' | try header_missing compile
echo 'char strlen(); int main(void) { return strlen(); }' | try function_there link
echo 'char nosuch(); int main(void) { return nosuch(); }' | try function_missing link
echo 'char cos(); int main(void) { return cos(); }' | LIBS=-lm try library_there link
echo 'int main(void) { return 0; }' | LIBS=-lnosuch try library_missing link
echo 'int main(void) { return 0; }' | LIBS=-Wl,--version-script=conftest.map try flag_there link
echo 'int main(void) { return 0; }' | LIBS=-Wl,--nosuch-flag try flag_missing link
echo 'int main(void) { return 0; }' | CFLAGS=-Werror try werror link
echo 'int main(void) { return 3; }' | try status_of_program run
echo 'int a[sizeof(long) == 8 ? 1 : -1]; int main(void) { return 0; }' | try right_size run
echo 'int a[sizeof(long) == 4 ? 1 : -1];' | try wrong_size compile
"""


THREADS = """\
#include <pthread.h>
static int shared;
static void *run(void *arg) { shared++; return arg; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, run, 0);
    pthread_create(&b, 0, run, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return shared == 0;
}
"""


class Builds(DriverTest):
    def test_configure_finds_what_clang_finds(self):
        self.write("configure", CONFIGURE)
        theirs = self.run_ok("sh", "configure", env={"CC": harness.options.clang}).out
        ours = self.run_ok("sh", "configure", env={"CC": "racehive-cc"}).out
        self.assertEqual(ours, theirs)
        self.assertIn("works 0 no\n", ours)
        self.assertIn("function_missing 1 yes\n", ours)
        self.assert_no_temps()

    def test_trials_leave_no_copy_in_the_data_folder(self):
        self.write("threads.c", THREADS)
        for name, kept in (("conftest", 0), ("cmTC_1a2b3", 0), ("program", 1)):
            self.run_ok("racehive-cc", "-O2", "-pthread", "threads.c", "-o", name)
            self.assertTrue(os.path.exists(self.path(name + ".racehive")))
            copies = [f for _, _, files in os.walk(self.env["XDG_DATA_HOME"]) for f in files]
            self.assertEqual(len(copies), kept)

    def test_parallel_make_with_many_links(self):
        count = 24
        for i in range(count):
            self.write(f"p{i}.c",
                       "#include <stdio.h>\nint common(int);\n"
                       f"int main(void) {{ printf(\"%d\\n\", common({i})); return 0; }}\n")
        self.write("common.c", "int common(int x) { return x * 3; }\n")
        self.write("Makefile", "PROGS = " + " ".join(f"p{i}" for i in range(count)) + "\n"
                   "all: $(PROGS)\n"
                   "$(PROGS): %: %.o libcommon.a\n\t$(CC) $(CFLAGS) $< -L. -lcommon -o $@\n"
                   "libcommon.a: common.o\n\tar rcs $@ $^\n")
        result = self.run_ok("make", "-s", "-j4", env={"CC": "racehive-cc", "CFLAGS": "-O1"})
        self.assertEqual(result.err, "")
        for i in range(count):
            self.assert_instrumented(f"p{i}")
            self.assert_output(f"{3 * i}\n", f"./p{i}")
        self.assert_no_temps()

    def test_cmake(self):
        if not shutil.which("cmake"):
            self.skipTest("no cmake")
        self.write("CMakeLists.txt",
                   "cmake_minimum_required(VERSION 3.13)\nproject(p C CXX)\n"
                   "include(CheckFunctionExists)\ninclude(CheckCSourceRuns)\n"
                   "check_function_exists(strlen HAVE_STRLEN)\n"
                   "check_function_exists(nosuch_function HAVE_NOSUCH)\n"
                   "check_c_source_runs(\"int main(void) { return 0; }\" RUNS)\n"
                   "if(NOT HAVE_STRLEN OR HAVE_NOSUCH OR NOT RUNS)\n"
                   "message(FATAL_ERROR \"wrong answers\")\nendif()\n"
                   "add_library(s SHARED s.c)\nadd_library(a STATIC a.c)\n"
                   "add_executable(prog main.cc)\ntarget_link_libraries(prog s a)\n")
        self.write("s.c", "int s(void) { return 40; }\n")
        self.write("a.c", "int a(void) { return 2; }\n")
        self.write("main.cc", "#include <cstdio>\nextern \"C\" { int s(); int a(); }\n"
                              "int main() { std::printf(\"%d\\n\", s() + a()); }\n")
        os.mkdir(self.path("b"))
        self.run_ok("cmake", "-G", "Unix Makefiles", "-S", ".", "-B", "b",
                    "-DCMAKE_C_COMPILER=" + self.prefix.cc,
                    "-DCMAKE_CXX_COMPILER=" + self.prefix.cxx, "-DCMAKE_BUILD_TYPE=Release")
        self.run_ok("cmake", "--build", "b", "-j2")
        self.assert_instrumented("b/prog")
        self.assert_instrumented("b/libs.so")
        self.assert_output("42\n", "b/prog")
        self.assert_no_temps()

    def test_cmake_with_interprocedural_optimisation(self):
        if not shutil.which("cmake"):
            self.skipTest("no cmake")
        self.write("CMakeLists.txt",
                   "cmake_minimum_required(VERSION 3.13)\nproject(p C CXX)\n"
                   "include(CheckIPOSupported)\ncheck_ipo_supported()\n"
                   "set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)\n"
                   "add_library(a STATIC a.c)\n"
                   "add_executable(prog main.cc)\ntarget_link_libraries(prog a)\n")
        self.write("a.c", "int a(void) { return 42; }\n")
        self.write("main.cc", "#include <cstdio>\nextern \"C\" int a();\n"
                              "int main() { std::printf(\"%d\\n\", a()); }\n")
        self.run_ok("cmake", "-G", "Unix Makefiles", "-S", ".", "-B", "b",
                    "-DCMAKE_C_COMPILER=" + self.prefix.cc,
                    "-DCMAKE_CXX_COMPILER=" + self.prefix.cxx)
        self.run_ok("cmake", "--build", "b")
        self.assert_instrumented("b/prog")
        self.assert_output("42\n", "b/prog")

    def test_build_without_proc(self):
        enter = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
                 'mount -t tmpfs none /proc && exec "$@"', "sh"]
        if self.run_any(*enter, "true").status != 0:
            self.skipTest("no namespaces here")
        with open(self.prefix.cc, "rb") as tool:
            if b"__asan_init" in tool.read():
                self.skipTest("AddressSanitizer needs /proc")
        self.write("main.c", "int main(void) { return 0; }\n")
        self.run_ok(*enter, "racehive-cc", "-O2", "main.c", "-o", "prog")
        self.assert_instrumented("prog")
        self.run_ok("./prog")

    def test_libtool(self):
        system = shutil.which("libtool")
        if not system:
            self.skipTest("no libtool")
        # A libtool as a configure script with CC=racehive-cc would have made it.
        with open(system) as file:
            lines = file.read().splitlines()
        lines = ['CC="racehive-cc"' if line.startswith("CC=") else line for line in lines]
        self.write("libtool", "\n".join(lines) + "\n")
        self.write("main.c", "#include <stdio.h>\nint f(int);\n"
                             "int main(void) { printf(\"%d\\n\", f(1)); return 0; }\n")
        self.write("f.c", "int f(int x) { return x + 41; }\n")
        script = ["bash", "libtool", "--tag=CC", "--silent"]
        self.run_ok(*script, "--mode=compile", "racehive-cc", "-c", "f.c")
        self.run_ok(*script, "--mode=link", "racehive-cc", "f.lo", "-rpath", self.path("lib"),
                    "-o", "libf.la")
        self.assert_instrumented(".libs/libf.so.0.0.0")
        self.run_ok(*script, "--mode=link", "racehive-cc", "main.c", "libf.la", "-o", "prog")
        self.assert_instrumented(".libs/prog")
        self.assert_output("42\n", "./prog")
        self.run_ok(*script, "--mode=link", "racehive-cc", "-static", "main.c", "libf.la",
                    "-o", "static_prog")
        self.assert_instrumented("static_prog")
        self.assert_output("42\n", "./static_prog")
        self.assert_no_temps()


if __name__ == "__main__":
    harness.main()
