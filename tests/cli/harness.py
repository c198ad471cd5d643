# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command racehive share: a program, its sidecar, ways to run racehive."""
import os
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

RACEHIVE, MAKE_SIDECAR = (os.path.abspath(path) for path in sys.argv[1:3])
ID_A, ID_B = "11aabbcc", "22aabbcc"


def elf(build_id, instrumented=True):
    """The smallest ELF file with a build id and, if instrumented, our note."""
    note = struct.pack("<III4s", 4, len(build_id) // 2, 3, b"GNU\0") + bytes.fromhex(build_id)
    names = b"\0.shstrtab\0" + (b".note.racehive\0" if instrumented else b".data\0")
    notes_at = 64 + 56
    names_at = notes_at + len(note)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 64,
                         names_at + len(names), 0, 64, 56, 1, 64, 3, 1)
    segment = struct.pack("<IIQQQQQQ", 4, 4, notes_at, 0, 0, len(note), len(note), 4)
    sections = (bytes(64) + struct.pack("<IIQQQQIIQQ", 1, 3, 0, 0, names_at, len(names), 0, 0, 1, 0)
                + struct.pack("<IIQQQQIIQQ", 11, 1, 2, 0, 0, 0, 0, 0, 1, 0))
    return header + segment + note + names + sections


class Case(unittest.TestCase):
    """Each test runs in a folder of its own that holds a program `bank` and its sidecar.

    The command under test and the program that makes sidecars are the first two arguments.
    """

    content = "0"  # the last argument of the program that makes sidecars

    def skipTest(self, reason):
        print(f"SKIPPED: {self.id()}: {reason}", flush=True)
        super().skipTest(reason)

    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o755)
        self.write("bank", elf(ID_A))
        self.make_sidecar("bank.racehive", ID_A)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(data)

    def make_sidecar(self, name, build_id, content=None):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        subprocess.run([MAKE_SIDECAR, self.path(name), build_id, self.folder,
                        str(content or self.content)], check=True)

    def run_racehive(self, *words, **options):
        environment = dict(os.environ, XDG_DATA_HOME=self.path("data"), TERM="xterm")
        environment.pop("NO_COLOR", None)
        options.setdefault("stdout", subprocess.PIPE)
        return subprocess.run([RACEHIVE, *words], cwd=self.folder, env=environment,
                              stderr=subprocess.PIPE, **options)

    def succeed(self, *words):
        ran = self.run_racehive(*words)
        self.assertEqual((ran.returncode, ran.stderr), (0, b""), words)
        return ran.stdout.decode()

    def fail_with(self, status, message, *words, **options):
        """Fails with one line on standard error that holds `message`, and prints nothing else."""
        ran = self.run_racehive(*words, **options)
        error = ran.stderr.decode()
        self.assertEqual(ran.returncode, status, error)
        self.assertIn(message, error)
        self.assertRegex(error, r"\Aracehive: error: [^\n]+\n\Z")
        if ran.stdout is not None:
            self.assertEqual(ran.stdout, b"")

    def on_terminal(self, *words, **environment):
        """What a terminal would receive."""
        master, slave = pty.openpty()
        child = subprocess.Popen([RACEHIVE, *words], cwd=self.folder, stdout=slave,
                                 env=dict(os.environ, **environment))
        os.close(slave)
        text = b""
        try:
            while chunk := os.read(master, 4096):
                text += chunk
        except OSError:
            pass  # how a terminal says that the other side is closed
        os.close(master)
        self.assertEqual(child.wait(), 0)
        return text
