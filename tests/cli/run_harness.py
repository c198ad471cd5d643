# SPDX-License-Identifier: Apache-2.0
"""What the tests of `racehive run` share: programs made once, runs in folders of their own."""
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from harness import RACEHIVE, Case

RACEHIVE_CC = os.path.abspath(sys.argv[2])
HERE = os.path.dirname(os.path.abspath(__file__))
RACY = os.path.join(os.path.dirname(HERE), "racemob", "racy")
BUILT = tempfile.mkdtemp()
PATIENCE = 120  # seconds; only what hangs comes near

# Whoever runs the tests in the background ignores interrupts; the programs under test must not.
signal.signal(signal.SIGINT, signal.default_int_handler)


def build(name, source):
    """A program, made once for all tests."""
    path = os.path.join(BUILT, name)
    if not os.path.exists(path):
        subprocess.run([RACEHIVE_CC, "-g", "-O1", "-pthread", source, "-o", path], check=True,
                       env=dict(os.environ, XDG_DATA_HOME=BUILT))
    return path


def is_running(pid):
    """Neither gone nor a zombie that nobody has collected yet."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class RunCase(Case):
    """Each test has a folder with the program, a data folder, and a folder for temporary files."""

    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o755)
        for name in ("data", "tmp"):
            os.mkdir(self.path(name))
        self.take(build("subject", os.path.join(HERE, "run_subject.c")))
        self.log = self.path("log")
        self.store = self.store_in_memory()
        self.pages = self.list_pages()

    def store_in_memory(self):
        """Where each of the many transactions need not wait for a disk."""
        if not os.access("/dev/shm", os.W_OK | os.X_OK):
            return self.path("store")
        folder = tempfile.mkdtemp(dir="/dev/shm")
        self.addCleanup(shutil.rmtree, folder)
        return os.path.join(folder, "store")

    def take(self, program):
        for end in ("", ".racehive"):
            shutil.copy2(program + end, self.folder)

    @staticmethod
    def list_pages():
        try:
            return {name for name in os.listdir("/dev/shm") if name.startswith("racehive-run.")}
        except OSError:
            return set()

    def environment(self, **more):
        env = dict(os.environ, XDG_DATA_HOME=self.path("data"), TMPDIR=self.path("tmp"),
                   SUBJECT_LOG=self.log, **more)
        env.pop("RACEHIVE_OPTIONS", None)
        return env

    def start(self, *words, **options):
        for stream in ("stdout", "stderr"):
            options.setdefault(stream, subprocess.PIPE)
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen([RACEHIVE, "run", f"--store={self.store}", *words],
                                cwd=self.folder, env=self.environment(), **options)

    def run_it(self, *words, data=None, **options):
        """(status, output, error) of `racehive run` with these words."""
        if data is not None:
            options["stdin"] = subprocess.PIPE
        process = self.start(*words, **options)
        try:
            output, error = process.communicate(data, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return process.returncode, output.decode(), error.decode()

    def status(self, *words, **options):
        return self.run_it(*words, **options)[0]

    def lines(self, what=None):
        """What the program left in its log, as (process, text)."""
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="ascii") as file:
            rows = [line.rstrip("\n").split(" ", 1) for line in file]
        return [(int(pid), text) for pid, text in rows if what is None or text == what]

    def report(self):
        ran = subprocess.run([RACEHIVE, "report", "--format=json", self.store], cwd=self.folder,
                             env=self.environment(), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        if b"has ended yet" in ran.stderr:
            return {"runs": 0, "candidates": []}
        self.assertEqual((ran.returncode, ran.stderr), (0, b""))
        return json.loads(ran.stdout)

    def runs(self):
        return self.report()["runs"]

    def wait_for(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, f"no {what}")
            time.sleep(0.01)

    def assert_nothing_left(self, pages=True):
        pids = {pid for pid, _ in self.lines()}
        self.wait_for(lambda: not any(map(is_running, pids)), "end of the programs")
        self.assertEqual(os.listdir(self.path("tmp")), [])
        if pages:
            self.assertFalse(self.pages_left())

    def pages_left(self):
        """Pages that nobody uses. Others make theirs before they lock it, so only those count that
        stay without a lock."""
        left = self.list_pages() - self.pages
        for _ in range(20):
            left = {p for p in left if os.path.exists(os.path.join("/dev/shm", p)) and
                    not self.is_others(p)}
            if not left:
                break
            time.sleep(0.05)
        return left

    @staticmethod
    def is_others(page):
        """Other tests may run at the same time: who uses a page holds a lock on it."""
        try:
            with open(os.path.join("/dev/shm", page), "rb+") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
        except OSError:
            return True
