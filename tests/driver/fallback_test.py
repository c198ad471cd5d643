# SPDX-License-Identifier: Apache-2.0
"""When something goes wrong: a build that plain clang passes still passes, the user's own mistakes
are told as a linker tells them, and nothing half-made is left behind."""
import os
import re
import resource
import shutil
import signal
import subprocess

import harness
from harness import DriverTest

MAIN = "#include <stdio.h>\nint f(int);\nint main(void) { printf(\"%d\\n\", f(1)); return 0; }\n"
F = "int f(int x) { return x + 41; }\n"

# A program that does not fit on a small disk.
BIG = ("volatile char big[1 << 20] = {1};\n"
       "int main(int argc, char **argv) { (void)argv; return big[argc]; }\n")


class Faults(DriverTest):
    """Our own parts fail, one after the other."""

    fake = True

    def setUp(self):
        super().setUp()
        self.write("main.c", MAIN)
        self.write("f.c", F)
        self.cc("-c", "main.c", "f.c")

    def check_falls_back(self, *args, reason, fault=""):
        self.write("prog.racehive", "of an older program")
        result = self.run_ok(self.prefix.cc, *args, "-o", "prog", env={"FAKE_FAULT": fault})
        self.assertEqual(result.out, "")
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertTrue(result.err.startswith("racehive: warning: prog is not instrumented: "),
                        result.err)
        self.assertIn(reason, result.err)
        self.assert_plain("prog")
        self.assert_no_temps()
        self.assert_output("42\n", "./prog")

    def check_fault(self, fault, reason):
        self.check_falls_back("main.o", "f.o", fault=fault, reason=reason)

    def test_instrumentation_refuses(self):
        self.check_fault("start", "the fake cannot start")

    def test_instrumentation_crashes(self):
        self.check_fault("crash", "signal 11")

    def test_instrumentation_says_nothing(self):
        self.check_fault("silent", "no object")

    def test_instrumentation_says_something_else(self):
        self.check_fault("chatter", "nonsense")

    def test_object_cannot_be_linked(self):
        self.check_fault("object", "cannot be linked")

    def test_sidecar_cannot_be_written(self):
        self.check_fault("sidecar", "cannot write its sidecar")

    def test_bitcode_that_cannot_be_merged(self):
        path = self.path("f.bc")
        self.run_ok(harness.options.objcopy, f"--dump-section=.llvm.lto={path}", "f.o",
                    "/dev/null")
        with open(path, "r+b") as file:
            file.seek(40)
            file.write(b"\xff" * 64)
        self.run_ok(harness.options.objcopy, f"--update-section=.llvm.lto={path}", "f.o")
        self.check_falls_back("main.o", "f.o", reason="cannot be merged")

    def test_no_room_for_temporary_files(self):
        self.env["TMPDIR"] = "/proc"
        result = self.run_ok(self.prefix.cc, "main.o", "f.o", "-o", "prog")
        self.assertIn("prog is not instrumented", result.err)
        self.assert_plain("prog")
        self.assert_output("42\n", "./prog")

    def test_runtime_is_missing(self):
        moved = self.prefix.file("glue.o")
        os.rename(moved, moved + ".away")
        self.addCleanup(os.rename, moved + ".away", moved)
        self.check_falls_back("main.o", "f.o", reason="glue.o")

    def test_symbol_that_collides_with_the_runtime(self):
        self.write("mine.c", "int __rh_image_register(void *p) { return !p; }\n")
        self.check_falls_back("main.o", "f.o", "mine.c", reason="duplicate symbol")

    def test_program_that_needs_the_systems_linker(self):
        """lld has no -Ttext-segment; GNU ld has."""
        if "GNU ld" not in self.run_any("ld", "--version").out:
            self.skipTest("the system's linker is not GNU ld")
        self.check_falls_back("main.o", "f.o", "-Wl,-Ttext-segment=0x10000000", "-no-pie",
                              reason="Ttext-segment")

    def test_relocatable_that_cannot_be_merged(self):
        result = self.run_ok(self.prefix.cc, "-r", "main.o", "f.o", "-o", "all.o",
                             env={"FAKE_FAULT": "merge"})
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertIn("the fake cannot merge", result.err)
        self.assert_fat("all.o", False)
        self.assert_no_temps()
        self.cc_names("all.o", "all.o", "-o", "prog")
        self.assert_output("42\n", "./prog")

    def test_objects_with_clashing_assembly_are_left_out(self):
        """Each file may have its own local `helper`; in one module there can be only one."""
        assembly = "__asm__(\".local helper\\nhelper: movl ${}, %eax\\nret\\n\");\nint helper(void);\n"
        self.write("a.c", assembly.format(40) + "int a(void) { return helper(); }\n")
        self.write("b.c", assembly.format(1) + "int b(void) { return helper(); }\n")
        self.write("f.c", "int a(void), b(void);\nint f(int x) { return x + a() + b(); }\n")
        self.cc("-c", "main.c", "f.c", "a.c", "b.c")
        result = self.run_ok(self.prefix.cc, "main.o", "f.o", "a.o", "b.o", "-o", "prog")
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertIn("a.o, b.o", result.err)
        self.assert_instrumented("prog")
        self.assert_no_temps()
        self.assert_output("42\n", "./prog")


class UserErrors(DriverTest):
    """What plain clang fails too."""

    def check_fails(self, *args, says, **more):
        """Status and diagnostics must be plain clang's, but for names of temporary objects."""
        ours = self.run_any(self.prefix.cc, *args, **more)
        theirs = self.run_any(harness.options.clang, *args, **more)
        self.assertNotEqual(ours.status, 0)
        self.assertIn(says, ours.err)
        names = [re.sub(r"/tmp/(\w+)-\w+\.o", r"\1.o", text.err) for text in (ours, theirs)]
        self.assertEqual((ours.status, names[0]), (theirs.status, names[1]))
        self.assert_no_temps()

    def check_leaves_nothing(self):
        self.assertFalse(self.exists("prog"))
        self.assertFalse(self.exists("prog.racehive"))

    def test_undefined_function(self):
        self.write("main.c", MAIN)
        self.write("prog.racehive", "old")
        self.check_fails("-g", "main.c", "-o", "prog", says="undefined reference to `f'")
        self.check_leaves_nothing()

    def test_duplicate_function(self):
        self.write("main.c", MAIN + F)
        self.write("f.c", F)
        self.check_fails("-g", "main.c", "f.c", "-o", "prog", says="multiple definition of `f'")
        self.check_leaves_nothing()

    def test_diagnostics_of_the_users_linker(self):
        self.write("main.c", MAIN)
        self.check_fails("-g", "-fuse-ld=lld", "main.c", "-o", "prog", says="undefined symbol: f")
        self.check_leaves_nothing()

    def test_missing_input_file(self):
        self.check_fails("nosuch.o", "-o", "prog", says="nosuch.o")
        self.check_leaves_nothing()

    def test_missing_library(self):
        self.write("main.c", "int main(void) { return 0; }\n")
        self.check_fails("main.c", "-lnosuch", "-o", "prog", says="nosuch")
        self.check_leaves_nothing()

    def test_unknown_linker_option(self):
        self.write("main.c", "int main(void) { return 0; }\n")
        self.check_fails("main.c", "-Wl,--nosuch-option", "-o", "prog", says="nosuch-option")
        self.check_leaves_nothing()

    def test_damaged_archive(self):
        self.write("main.c", MAIN)
        self.write("f.c", F)
        self.cc("-c", "f.c")
        self.run_ok("ar", "rcs", "lib.a", "f.o")
        with open(self.path("lib.a"), "r+b") as file:
            file.truncate(200)
        self.check_fails("main.c", "lib.a", "-o", "prog", says="lib.a")
        self.check_leaves_nothing()

    def test_output_folder_does_not_exist(self):
        self.write("main.c", "int main(void) { return 0; }\n")
        self.check_fails("main.c", "-o", "nosuch/prog", says="nosuch/prog")

    def test_unwritable_output_folder(self):
        self.write("main.c", "int main(void) { return 0; }\n")
        self.cc("-c", "main.c")
        self.check_fails("main.o", "-o", "/proc/prog", says="/proc/prog")

    def test_file_size_limit(self):
        self.write("main.c", BIG)
        self.cc("-c", "main.c")

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18))

        result = self.run_any(self.prefix.cc, "main.o", "-o", "prog", preexec_fn=limit)
        self.assertNotEqual(result.status, 0)
        self.assert_no_temps()
        self.check_leaves_nothing()
        self.assertEqual([name for name in os.listdir(self.work) if "prog" in name], [])

    def test_full_disk(self):
        if os.geteuid() != 0 or not shutil.which("unshare"):
            self.skipTest("only root can mount a small disk")
        os.mkdir(self.path("small"))
        mount = "mount -t tmpfs -o size=256k none small"
        if self.run_any("unshare", "-m", "sh", "-c", mount).status != 0:
            self.skipTest("no mounts here")
        self.write("main.c", BIG)
        self.cc("-c", "main.c")
        result = self.run_any("unshare", "-m", "sh", "-c",
                              f'{mount} && "$0" main.o -o small/prog; s=$?; ls small; exit $s',
                              self.prefix.cc)
        self.assertNotEqual(result.status, 0, str(result))
        self.assertEqual(result.out, "")
        self.assertIn("No space left on device", result.err)
        self.assert_no_temps()


class Interrupted(DriverTest):
    """A build that is killed in the middle of a link leaves nothing half-made behind."""

    fake = True

    def setUp(self):
        super().setUp()
        self.write("main.c", "int main(void) { return 0; }\n")
        self.cc("-c", "main.c")

    def start(self, fault):
        """Starts a link and returns when its instrumentation waits."""
        pipe = self.path("pipe")
        for name in (pipe, pipe + ".answer"):
            if not os.path.exists(name):
                os.mkfifo(name)
        process = subprocess.Popen([self.prefix.cc, "main.o", "-o", "prog"], cwd=self.work,
                                   env={**self.env, "FAKE_FAULT": fault, "FAKE_PIPE": pipe},
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        with open(pipe) as said:
            self.assertEqual(said.read(), "waiting\n")
        self.assertNotEqual(os.listdir(self.temps), [])
        return process

    def linker_of(self, process):
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as children:
            return int(children.read().split()[0])

    def finish(self, process):
        """Waits until everyone who holds the process's output is gone."""
        process.communicate()
        self.assertNotEqual(process.returncode, 0)
        self.assert_no_temps()

    def assert_nothing(self):
        self.assertEqual([name for name in os.listdir(self.work) if name.startswith("prog")], [])

    def test_signal_to_all(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                process = self.start("wait-early")
                os.killpg(process.pid, number)
                self.finish(process)
                self.assert_nothing()

    def test_signal_to_the_linker_alone(self):
        process = self.start("wait-early")
        os.kill(self.linker_of(process), signal.SIGTERM)
        self.finish(process)
        self.assert_nothing()

    def test_signal_while_the_sidecar_is_finished(self):
        """It may finish, and then stays with the program; or clang takes the program away."""
        process = self.start("wait-late")
        os.kill(self.linker_of(process), signal.SIGTERM)
        with open(self.path("pipe.answer"), "w") as answer:
            answer.write("go on\n")
        self.finish(process)
        self.assertFalse(self.exists("prog.racehive.new"))
        if self.exists("prog"):
            self.assert_instrumented("prog")


if __name__ == "__main__":
    harness.main()
