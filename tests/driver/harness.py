# SPDX-License-Identifier: Apache-2.0
"""What the driver's end-to-end tests share: the tools under test, a scratch folder, commands.

Call: NAME_test.py --bin=DIR --clang=PATH --objcopy=PATH [unittest's arguments]
DIR is the folder of racehive-cc in a build tree or an installation. A test class that sets
`fake = True`, and every class while DIR's own racehive-instrument does not exist, runs against a
copy of the driver beside the stand-ins of fake/, which can be made to fail on demand.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
options = None


def parse_command_line():
    global options
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--clang", required=True)
    parser.add_argument("--objcopy", required=True)
    options, rest = parser.parse_known_args()
    return rest


def llvm_tool(name):
    """A tool of the LLVM that the driver uses."""
    folder, objcopy = os.path.split(options.objcopy)
    return os.path.join(folder, objcopy.replace("llvm-objcopy", name))


def clangxx():
    folder, name = os.path.split(options.clang)
    return os.path.join(folder, name.replace("clang", "clang++"))


class Prefix:
    """An installation of the driver: the real one, or a copy with the stand-ins."""

    fake_folder = None

    def __init__(self, fake):
        self.root = os.path.dirname(os.path.abspath(options.bin))
        self.fake = fake or not os.path.exists(self.file("racehive-instrument"))
        if self.fake:
            self.root = self.make_fake(self.root)
        self.cc = os.path.join(self.root, "bin", "racehive-cc")
        self.cxx = os.path.join(self.root, "bin", "racehive-c++")

    def file(self, name):
        return os.path.join(self.root, "lib", "racehive", name)

    @classmethod
    def make_fake(cls, real):
        if cls.fake_folder:
            return cls.fake_folder.name
        cls.fake_folder = tempfile.TemporaryDirectory(prefix="racehive fake ")
        root = cls.fake_folder.name
        lib = os.path.join(root, "lib", "racehive")
        source = os.path.join(HERE, "fake")
        os.makedirs(os.path.join(root, "bin"))
        os.makedirs(lib)
        shutil.copy(os.path.join(real, "bin", "racehive-cc"), os.path.join(root, "bin"))
        os.symlink("racehive-cc", os.path.join(root, "bin", "racehive-c++"))
        shutil.copytree(os.path.join(HERE, "..", "..", "include"), os.path.join(root, "include"))
        shutil.copy(os.path.join(real, "lib", "racehive", "racehive-ld"), lib)
        shutil.copy(os.path.join(source, "instrument"), os.path.join(lib, "racehive-instrument"))
        for target, name, flags in (("rt.o", "rt.c", []),
                                    ("rt_static.o", "rt.c", ["-DFAKE_STATIC"]),
                                    ("glue.o", "glue.c", [])):
            subprocess.run([options.clang, "-O2", "-fPIC", *flags, "-c",
                            os.path.join(source, name), "-o", os.path.join(lib, target)],
                           check=True)
        with open(os.path.join(lib, "wrapped-symbols"), "w") as out:
            out.write("pthread_mutex_lock\n")
        return root


class Result:
    def __init__(self, process):
        self.status = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    def __str__(self):
        return f"status {self.status}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class DriverTest(unittest.TestCase):
    """A test case in a scratch folder of its own."""

    fake = False

    def skipTest(self, reason):
        print(f"SKIPPED: {self.id()}: {reason}", flush=True)
        super().skipTest(reason)

    @classmethod
    def setUpClass(cls):
        cls.prefix = Prefix(cls.fake)

    def setUp(self):
        # A blank in the path: nothing may split it.
        self.folder = tempfile.TemporaryDirectory(prefix="racehive test ")
        self.addCleanup(self.folder.cleanup)
        self.temps = os.path.join(self.folder.name, "tmp")
        os.mkdir(self.temps)
        self.work = os.path.join(self.folder.name, "work")
        os.mkdir(self.work)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("RACEHIVE_")}
        self.env.update(TMPDIR=self.temps, LC_ALL="C",
                        XDG_DATA_HOME=os.path.join(self.folder.name, "data"),
                        FAKE_LLVM=os.path.dirname(options.objcopy),
                        FAKE_SUFFIX=os.path.basename(llvm_tool("llc"))[len("llc"):])
        self.env["PATH"] = os.path.join(self.prefix.root, "bin") + ":" + self.env["PATH"]

    def path(self, name):
        return os.path.join(self.work, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as out:
            out.write(text)
        return name

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def exists(self, name):
        return os.path.exists(self.path(name))

    # ---- commands ----

    def run_any(self, *argv, stdin="", env=None, **more):
        """Runs a command in the scratch folder, whatever its end."""
        process = subprocess.run(argv, cwd=self.work, env={**self.env, **(env or {})}, input=stdin,
                                 capture_output=True, text=True, errors="replace", **more)
        return Result(process)

    def run_ok(self, *argv, **more):
        result = self.run_any(*argv, **more)
        self.assertEqual(result.status, 0, f"{argv}: {result}")
        return result

    def cc(self, *args, **more):
        """Builds with racehive-cc, which must succeed and say nothing."""
        return self.quiet(self.prefix.cc, *args, **more)

    def cxx(self, *args, **more):
        return self.quiet(self.prefix.cxx, *args, **more)

    def quiet(self, *argv, **more):
        result = self.run_ok(*argv, **more)
        self.assertEqual(result.out + result.err, "", f"{argv}: {result}")
        self.assert_no_temps()
        return result

    def cc_names(self, names, *args):
        """Builds with racehive-cc, which names these files in one line because they have no bitcode."""
        result = self.run_ok(self.prefix.cc, *args)
        self.assertRegex(result.out + result.err, r"\Aracehive: note: [^\n]* no bitcode[^\n]*: " +
                         re.escape(names) + r"\n\Z")
        self.assert_no_temps()

    def clang(self, *args, **more):
        return self.run_ok(options.clang, *args, **more)

    # ---- what must hold ----

    def assert_no_temps(self):
        self.assertEqual(os.listdir(self.temps), [], "temporary files are left")

    def assert_instrumented(self, name):
        self.assertTrue(self.exists(name), f"{name} was not made")
        self.assertTrue(self.exists(name + ".racehive"), f"{name} has no sidecar")
        self.assertGreater(os.path.getsize(self.path(name + ".racehive")), 0)
        if self.prefix.fake:
            self.assertEqual(self.read(name + ".racehive").strip(), self.build_id(name))

    def assert_plain(self, name):
        self.assertTrue(self.exists(name), f"{name} was not made")
        self.assertFalse(self.exists(name + ".racehive"), f"{name} has a sidecar")

    def assert_fat(self, name, fat=True):
        self.assertEqual(".llvm.lto" in self.sections(name), fat, name)

    def assert_output(self, expected, *argv, **more):
        self.assertEqual(self.run_ok(*argv, **more).out, expected)

    def assert_same_as_clang(self, *args, compiler=None, **more):
        """Status, standard output and standard error must be clang's own."""
        ours = self.run_any(self.prefix.cxx if compiler else self.prefix.cc, *args, **more)
        theirs = self.run_any(compiler or options.clang, *args, **more)
        self.assertEqual((ours.status, ours.out, ours.err),
                         (theirs.status, theirs.out, theirs.err))
        return ours

    # ---- looking into files ----

    def sections(self, name):
        text = self.run_ok(llvm_tool("llvm-readelf"), "-SW", name).out
        return re.findall(r"^\s*\[\s*\d+\]\s+(\S+)", text, re.M)

    def dynamic(self, name):
        return self.run_ok(llvm_tool("llvm-readelf"), "-dW", name).out

    def symbols(self, name, *flags):
        text = self.run_ok(llvm_tool("llvm-nm"), *flags, name).out
        return {line.split()[-1] for line in text.splitlines() if line.strip()}

    def build_id(self, name):
        text = self.run_ok(llvm_tool("llvm-readelf"), "-n", name).out
        found = re.search(r"Build ID: (\w+)", text)
        return found.group(1) if found else "-"


def main():
    rest = parse_command_line()
    unittest.main(module="__main__", argv=[sys.argv[0], *rest], verbosity=2)
