#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `racehive run` on real programs: what it exits with, prints, keeps and leaves behind,
also when it, or the program, is interrupted or killed.

Usage: run_test.py RACEHIVE RACEHIVE_CC [unittest option...]
"""
import fcntl
import json
import os
import pty
import random
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import termios
import time
import unittest

from run_harness import (BUILT, PATIENCE, RACEHIVE, RACEHIVE_CC, RACY, RunCase, build,
                         is_running)

CANDIDATE_FIELDS = {"id", "verdict", "first", "second", "outcomes", "evidence"}
SIDE_FIELDS = {"file", "line", "column", "function", "access", "size", "expression"}
EVIDENCE_FIELDS = {"order", "kind", "consequence", "stacks"}


class Status(RunCase):
    def test_the_programs_own(self):
        self.assertEqual(self.status("./subject", "nothing"), 0)
        self.assertEqual(self.status("./subject", "nothing", "5"), 5)
        self.assertEqual(self.status("--runs=3", "./subject", "nothing", "5"), 5)
        self.assertEqual(self.status("./subject", "abort"), 128 + signal.SIGABRT)
        self.assertEqual(self.status("subject", "fault"), 128 + signal.SIGSEGV)

    def test_a_true_race(self):
        self.assertEqual(self.status("--runs=20", "./subject", "race", "3"), 66)
        # What is known stays known.
        self.assertEqual(self.status("./subject", "nothing", "3"), 66)
        self.assertEqual(self.status("--exitcode=17", "./subject", "nothing", "3"), 17)
        self.assertEqual(self.status("--exitcode=0", "./subject", "nothing", "3"), 3)
        self.assertEqual(self.status("--exitcode=0", "./subject", "nothing"), 0)

    def test_no_race_no_exitcode(self):
        self.assertEqual(self.status("--exitcode=17", "./subject", "nothing"), 0)
        self.assertEqual(self.status("--exitcode=17", "./subject", "nothing", "3"), 3)


class Runs(RunCase):
    def test_as_often_as_asked(self):
        self.assertEqual(self.status("./subject", "nothing"), 0)
        self.assertEqual(len(self.lines()), 1)
        self.assertEqual(self.runs(), 1)
        # A second call adds to the first.
        self.assertEqual(self.status("--runs=7", "./subject", "nothing"), 0)
        self.assertEqual((len(self.lines()), self.runs()), (8, 8))
        self.assertEqual(self.status("--runs=9", "--jobs=4", "./subject", "nothing"), 0)
        self.assertEqual((len(self.lines()), self.runs()), (17, 17))
        self.assert_nothing_left()

    def test_jobs_run_at_once(self):
        process = self.start("--runs=3", "--jobs=3", "./subject", "wait")
        self.wait_for(lambda: len(self.lines("waits")) == 3, "three runs at once")
        process.terminate()
        process.communicate(timeout=PATIENCE)
        self.assert_nothing_left()

    def test_users(self):
        self.assertEqual(self.status("--users=3", "--jobs=2", "--exitcode=0", "./subject"), 0)
        runs = self.runs()
        self.assertGreaterEqual(runs, 2)
        self.assertEqual(len(self.lines()), runs)

    def test_users_find_races(self):
        for _ in range(10):
            if self.status("--users=10", "./subject") == 66:
                return
        self.fail("no true race")

    def test_default_store_is_by_build_id(self):
        subprocess.run([RACEHIVE, "run", "./subject", "nothing"], cwd=self.folder, check=True,
                       env=self.environment(), stdout=subprocess.DEVNULL)
        stores = os.listdir(self.path("data/racehive/runs"))
        self.assertEqual(len([s for s in stores if s.endswith("-racemob.runs")]), 1, stores)

    def test_no_candidates(self):
        self.write("quiet.c", b"int main(void) { return 4; }\n")
        subprocess.run([RACEHIVE_CC, "quiet.c", "-o", "quiet"], cwd=self.folder, check=True,
                       env=self.environment())
        self.assertEqual(self.status("--runs=3", "./quiet"), 4)
        self.assertEqual(self.runs(), 3)


class Streams(RunCase):
    def test_every_run_reads_all_of_the_input(self):
        data = random.Random(1).randbytes(200000)
        for words in (["--runs=5", "--jobs=3"], ["--runs=1"]):
            self.assertEqual(self.status(*words, "./subject", "read", data=data), 0)
        read = [text for _, text in self.lines() if text.startswith("read ")]
        self.assertEqual(len(read), 6)
        self.assertEqual(len(set(read)), 1)
        self.assertEqual(read[0].split()[1], "200000")
        self.assert_nothing_left()

    def test_no_input(self):
        self.assertEqual(self.status("--runs=2", "./subject", "read"), 0)
        self.assertEqual([text for _, text in self.lines() if text != "read"], ["read 0 0"] * 2)

    def test_output_of_the_first_run_only(self):
        _, output, error = self.run_it("--runs=4", "./subject", "print")
        self.assertEqual(output.count("to standard output\n"), 1)
        self.assertEqual(error, "to standard error\n")
        self.assertEqual(len(self.lines()), 4)
        _, output, error = self.run_it("--runs=4", "--show-output", "./subject", "print")
        self.assertEqual(output.count("to standard output\n"), 4)
        self.assertEqual(error.count("to standard error\n"), 4)

    def test_no_progress_in_a_pipe(self):
        _, output, error = self.run_it("--runs=4", "./subject", "nothing")
        self.assertEqual(error, "")
        self.assertNotIn("\r", output)
        self.assertIn("VERDICT", output)


class Json(RunCase):
    def test_form(self):
        report = self.path("out.json")
        self.assertEqual(self.status("--runs=20", f"--json={report}", "./subject"), 66)
        with open(report, encoding="utf-8") as file:
            text = json.load(file)
        self.assertEqual((text["tool"], text["program"], text["detector"], text["runs"]),
                         ("racehive", "subject", "racemob", 20))
        self.assertRegex(text["version"], r"^\d+\.\d+\.\d+$")
        self.assertRegex(text["build_id"], r"^[0-9a-f]{8,}$")
        self.assertEqual(len(text["candidates"]), 2)
        for candidate in text["candidates"]:
            self.check_candidate(candidate)
        self.assertIn("true-race", [c["verdict"] for c in text["candidates"]])

    def check_candidate(self, candidate):
        self.assertLessEqual(CANDIDATE_FIELDS - {"evidence"}, set(candidate))
        self.assertIn(candidate["verdict"], ("true-race", "likely-false-positive", "unknown"))
        for side in ("first", "second"):
            self.assertLessEqual(SIDE_FIELDS, set(candidate[side]))
            self.assertTrue(candidate[side]["file"].endswith("run_subject.c"))
            self.assertEqual(candidate[side]["expression"], "shared")
        self.assertLessEqual({"race", "no_race", "timeout", "not_seen"},
                             set(candidate["outcomes"]))
        if candidate["verdict"] != "true-race":
            return
        self.assertGreater(candidate["outcomes"]["race"], 0)
        evidence = candidate["evidence"]
        self.assertLessEqual(EVIDENCE_FIELDS, set(evidence))
        self.assertIn(evidence["order"], ("primary", "alternate"))
        self.assertIn(evidence["kind"], ("unordered", "collision", "both-orders"))
        self.assertEqual(evidence["consequence"], "none")
        self.assertEqual(len(evidence["stacks"]), 2)
        for stack in evidence["stacks"]:
            self.assertRegex(stack[0], r"^change .*run_subject\.c:\d+$")

    def test_a_file_that_cannot_be_written(self):
        status, _, error = self.run_it("--json=nowhere/out.json", "./subject", "nothing")
        self.assertEqual(status, 1)
        self.assertIn("nowhere", error)
        self.assertEqual(self.runs(), 1)  # which is not lost


class Met(RunCase):
    """What runs show to meet, whatever they were asked."""

    def observed(self):
        ran = subprocess.run([RACEHIVE, "candidates", "--observed", "--json",
                              f"--store={self.store}", "subject"], cwd=self.folder,
                             env=self.environment(), stdout=subprocess.PIPE, check=True)
        return json.loads(ran.stdout)["candidates"]

    def test_a_detector_without_tasks(self):
        status, output, error = self.run_it("--runs=3", "--detector=alias", "./subject", "race")
        self.assertEqual((status, error), (0, ""))
        self.assertEqual(output, "subject: 2 pairs of sites met, 2 of them without a common lock, "
                         "in 3 runs\n\nWhat met: racehive candidates --observed "
                         f"--store={self.store} ./subject\n")
        candidates = self.observed()
        self.assertEqual([c["first"]["access"] for c in candidates], ["write", "read"])
        for candidate in candidates:
            self.assertEqual(candidate["second"]["expression"], "shared")
            self.assertEqual(candidate["met"], {"runs": 3, "locked": 0, "unlocked": 3,
                                                "ordered": 0, "unordered": 0})

    def test_nothing_met(self):
        _, output, _ = self.run_it("--detector=alias", "./subject", "nothing")
        self.assertIn("subject: 0 pairs of sites met, 0 of them without a common lock, in 1 run\n",
                      output)
        self.assertEqual(self.observed(), [])

    def test_no_users_without_tasks(self):
        status, output, error = self.run_it("--users=2", "--detector=alias", "./subject")
        self.assertEqual((status, output), (2, ""))
        self.assertIn("--users does not go with the detector alias", error)

    def test_every_run_of_racemob(self):
        self.run_it("--runs=4", "./subject", "race")
        for candidate in self.observed():   # where locks are not known, a common one is assumed
            self.assertGreater(candidate["met"]["unordered"], 0)
        self.assertEqual(len(self.observed()), 2)


class BadUsage(RunCase):
    def refuse(self, status, message, *words):
        got, output, error = self.run_it(*words)
        self.assertEqual((got, output), (status, ""), error)
        self.assertRegex(error, r"\Aracehive: error: [^\n]+\n\Z")
        self.assertIn(message, error)
        self.assertFalse(os.path.exists(self.store) and self.runs())

    def test_options(self):
        self.refuse(2, "frobnicate", "--detector=frobnicate", "./subject")
        self.refuse(2, "do not go together", "--runs=2", "--users=2", "./subject")
        self.refuse(2, "which program?")
        self.refuse(2, "--jobs", "--jobs=0", "./subject")
        self.refuse(2, "--runs must be at least 1", "--runs=0", "./subject")
        self.refuse(2, "--users must be at least 1", "--users=0", "./subject")
        self.refuse(2, "whole number", "--runs=many", "./subject")
        self.refuse(2, "--exitcode", "--exitcode=256", "./subject")
        self.refuse(2, "--pause", "--pause=300", "./subject")
        self.refuse(2, "did you mean '--runs'?", "--run=3", "./subject")

    def test_programs(self):
        self.refuse(1, "missing", "./missing")
        self.refuse(1, "was not built with racehive-cc", "/bin/true")
        self.refuse(1, "script", self.script())
        os.chmod(self.path("subject"), 0o644)
        self.refuse(1, "cannot run ./subject", "./subject")
        os.remove(self.path("subject.racehive"))
        self.refuse(1, "subject", "./subject")

    def script(self):
        self.write("script", b"#!/bin/sh\nexec ./subject\n")
        os.chmod(self.path("script"), 0o755)
        return "./script"

    def test_anothers_store(self):
        with open(self.store, "wb") as file:
            file.write(b"not a store, but something dear to its owner\n" * 100)
        got, _, error = self.run_it("./subject", "nothing")
        self.assertEqual(got, 1, error)
        with open(self.store, "rb") as file:
            self.assertTrue(file.read().startswith(b"not a store"))
        self.assertEqual(self.lines(), [])

    def test_switched_off(self):
        ran = subprocess.run([RACEHIVE, "run", "--symbols=subject.racehive", "./subject", "nothing"],
                             cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=dict(self.environment(), RACEHIVE_OPTIONS="off"))
        self.assertEqual(ran.returncode, 0)
        self.assertIn(b"did not start Racehive's runtime", ran.stderr)


class Verdicts(RunCase):
    COUNTERS = b"""#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int plain, hidden;
static void pass(void) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); }
static void *early(void *arg) { plain++; hidden++; pass(); return arg; }
static void *late(void *arg) { plain++; usleep(20000); pass(); hidden++; return arg; }
int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], 0, early, 0);
    pthread_create(&threads[1], 0, late, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return plain + hidden == 0;
}
"""

    def test_few_runs_never_call_a_race_likely_false(self):
        """Both counters race. A run mostly sees the second ordered, by a lock that is taken in between
        and does not guard it."""
        self.write("counters.c", self.COUNTERS)
        subprocess.run([RACEHIVE_CC, "-O1", "-pthread", "counters.c", "-o", "counters"],
                       cwd=self.folder, check=True, env=self.environment())
        seen, ordered = set(), 0
        for runs in [1] * 8 + [5] * 4:
            self.assertIn(self.status(f"--runs={runs}", "./counters"), (0, 66))
            candidates = self.report()["candidates"]
            seen |= {c["verdict"] for c in candidates}
            ordered += any(c["outcomes"]["no_race"] for c in candidates)
            os.remove(self.store)
        self.assertLessEqual(seen, {"true-race", "unknown"})
        self.assertGreater(ordered, 0)


class Consequences(RunCase):
    """Programs that fail in one of the two orders."""

    def explore(self, name, consequence, *words):
        self.take(build(name, os.path.join(RACY, name + ".c")))
        for _ in range(10):
            status, output, _ = self.run_it("--runs=12", *words, f"./{name}")
            if f"(causes {consequence})" in output:
                break
        self.assertEqual(status, 66)
        candidate, = [c for c in self.report()["candidates"] if c["verdict"] == "true-race"]
        self.assertEqual(candidate["evidence"]["consequence"], consequence)
        self.assertRegex(output, rf"causes {consequence} +1\n")
        counts = {"crash": "crashes", "hang": "hangs"}[consequence]
        ends = [(e["with"], e["without"]) for e in candidate["ends"].values()]
        self.assertTrue(any(w[counts] >= 2 and w[counts] * o["runs"] > o[counts] * w["runs"]
                            for w, o in ends), ends)
        self.assert_nothing_left()

    def test_crash(self):
        self.explore("crash_if_flipped", "crash")

    def test_hang(self):
        self.explore("hang_if_flipped", "hang", "--timeout=1")


class Programs(RunCase):
    """What a program does to itself is its own affair."""

    def test_own_handler_runs(self):
        self.assertEqual(self.status("./subject", "handle"), 42)
        self.assertEqual(self.status("--runs=2", "./subject", "handle"), 42)
        self.assertEqual(len(self.lines("handled")), 3)

    def test_ends_as_it_would_without(self):
        """By the same signal, with a core dump if there would be one."""
        for mode in ("fault", "abort", "kill"):
            ends = set()
            for options in ("off", "detector=racemob:log_path=/dev/null"):
                child = subprocess.Popen(
                    ["./subject", mode], cwd=self.folder, stderr=subprocess.DEVNULL,
                    env=dict(self.environment(), RACEHIVE_OPTIONS=options),
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (1 << 20,) * 2))
                ends.add(os.waitpid(child.pid, 0)[1])
                child.returncode = 0
            self.assertEqual(len(ends), 1, mode)
            self.assertTrue(os.WIFSIGNALED(ends.pop()), mode)

    def test_killed(self):
        """That run counts, with all that it had found."""
        status = self.status("--runs=20", "--exitcode=0", "./subject", "kill")
        self.assertEqual(status, 128 + signal.SIGKILL)
        report = self.report()
        self.assertEqual(report["runs"], 20)
        self.assertIn("true-race", [c["verdict"] for c in report["candidates"]])
        self.assert_nothing_left()

    def test_forks(self):
        self.assertIn(self.status("--runs=4", "./subject", "fork"), (0, 66))
        self.assertEqual(len(self.lines("child")), 12)
        self.assertEqual(self.runs(), 4)
        self.assert_nothing_left()

    def test_execs(self):
        self.assertEqual(self.status("--exitcode=0", "--runs=2", "./subject", "exec"), 7)
        self.assertEqual(self.status("--exitcode=0", "--runs=2", "./subject", "exec-self"), 0)
        self.assertEqual(len(self.lines("race")), 2)
        self.assertEqual(self.runs(), 4)
        self.assert_nothing_left()

    def test_becomes_a_daemon(self):
        self.assertIn(self.status("--runs=3", "./subject", "daemon"), (0, 66))
        self.wait_for(lambda: len(self.lines("daemon")) == 6, "daemon that comes to its end")
        self.assertEqual(self.runs(), 3)
        self.assert_nothing_left()

    def test_closes_everything(self):
        self.assertEqual(self.status("--runs=20", "--exitcode=0", "./subject", "close"), 3)
        self.assertEqual(len(self.lines("closed")), 20)
        self.assertIn("true-race", [c["verdict"] for c in self.report()["candidates"]])

    def test_limits_its_memory(self):
        self.assertIn(self.status("--runs=3", "./subject", "limit"), (0, 66))
        self.assertEqual(len(self.lines("limited")), 3)


class Interrupts(RunCase):
    def interrupt(self, number, *words):
        """Interrupts racehive once its program waits; its status."""
        process = self.start(*words, "./subject", "wait")
        self.wait_for(lambda: self.lines("waits"), "run under way")
        process.send_signal(number)
        output, error = process.communicate(timeout=PATIENCE)
        self.assert_nothing_left()
        return process.returncode, output.decode(), error.decode()

    def test_many_runs(self):
        self.assertEqual(self.status("--runs=3", "--exitcode=0", "./subject"), 0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            status, output, error = self.interrupt(number, "--runs=100", "--jobs=2",
                                                   "--exitcode=0")
            self.assertEqual((status, error), (128 + number, ""))
            self.assertIn("VERDICT", output)
            self.assertEqual(self.runs(), 3)  # those that were complete
            os.remove(self.log)

    def test_a_race_that_was_found_is_said_all_the_same(self):
        self.assertEqual(self.status("--runs=20", "./subject", "race"), 66)
        self.assertEqual(self.interrupt(signal.SIGINT, "--runs=5")[0], 66)

    def test_a_single_run(self):
        """The program gets the signal, and its end is that of a run."""
        for done, number in enumerate((signal.SIGTERM, signal.SIGINT), 1):
            status, _, _ = self.interrupt(number, "--exitcode=0")
            self.assertEqual(status, 128 + number)
            self.assertEqual(self.runs(), done)
            os.remove(self.log)

    def interrupt_at_terminal(self, answer, *words):
        """What the terminal shows when somebody types an interrupt, and then an answer."""
        child, master = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execve(RACEHIVE, [RACEHIVE, "run", f"--store={self.store}", *words, "./subject",
                                 "wait"], self.environment())
        self.wait_for(lambda: self.lines("waits"), "run under way")
        os.write(master, b"\x03" + answer)
        text = b""
        try:
            while chunk := os.read(master, 4096):
                text += chunk
        except OSError:
            pass  # how a terminal says that the other side is closed
        os.close(master)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 128 + signal.SIGINT)
        os.remove(self.log)
        return text

    def count_hung(self):
        store = sqlite3.connect(self.store)
        hung = store.execute("SELECT hung FROM totals").fetchone()[0]
        store.close()
        return hung

    def test_asks_whether_it_misbehaved(self):
        for answer, hung in ((b"y\n", 1), (b"n\n", 1), (b"\n", 1), (b"\x04", 1), (b"Y\n", 2)):
            self.assertIn(b"hang or do something wrong?",
                          self.interrupt_at_terminal(answer, "--ask", "--exitcode=0"))
            self.assertEqual(self.count_hung(), hung)
        self.assertNotIn(b"wrong?", self.interrupt_at_terminal(b"y\n", "--exitcode=0"))
        self.assertEqual(self.count_hung(), 2)
        status, _, error = self.interrupt(signal.SIGINT, "--ask", "--exitcode=0")
        self.assertEqual((status, self.count_hung()), (128 + signal.SIGINT, 2), error)

    def test_while_reading_the_input(self):
        process = self.start("--runs=3", "./subject", "read", stdin=subprocess.PIPE)
        process.stdin.write(b"x" * 100000)
        process.stdin.flush()
        self.wait_for(lambda: not self.pipe_is_full(process), "input that is read")
        process.terminate()
        process.communicate(timeout=PATIENCE)
        self.assertIn(process.returncode, (-signal.SIGTERM, 128 + signal.SIGTERM))
        self.assert_nothing_left()

    @staticmethod
    def pipe_is_full(process):
        waiting = fcntl.ioctl(process.stdin, termios.FIONREAD, struct.pack("i", 0))
        return struct.unpack("i", waiting)[0] > 0

    def test_what_was_ignored_stays_ignored(self):
        """As below nohup."""
        process = self.start("--runs=2", "./subject", "wait", preexec_fn=lambda: signal.signal(
            signal.SIGHUP, signal.SIG_IGN))
        self.wait_for(lambda: self.lines("waits"), "run under way")
        pid = self.lines("waits")[0][0]
        for target in (process.pid, pid):
            os.kill(target, signal.SIGHUP)
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        self.assertTrue(is_running(pid))
        process.terminate()
        process.communicate(timeout=PATIENCE)
        self.assert_nothing_left()


class Kills(RunCase):
    """racehive itself is killed, and can do nothing about it."""

    def kill_at(self, seconds, *words):
        process = self.start(*words)
        time.sleep(seconds)
        process.kill()
        process.communicate(timeout=PATIENCE)

    def test_single_runs_end_too(self):
        process = self.start("./subject", "wait")
        self.wait_for(lambda: self.lines("waits"), "run under way")
        process.kill()
        process.communicate(timeout=PATIENCE)
        self.assert_nothing_left(pages=False)
        self.assertTrue(self.list_pages() - self.pages)
        self.assertIn(self.status("./subject", "nothing"), (0, 66))
        self.assert_nothing_left()

    def test_at_any_moment(self):
        choice = random.Random(2)
        runs = 0
        for _ in range(25):
            self.kill_at(choice.uniform(0, 0.3), "--runs=1000", "--jobs=3", "./subject",
                         choice.choice(("nothing", "race")))
            if os.path.exists(self.store) and os.path.getsize(self.store):
                now = self.runs()
                self.assertGreaterEqual(now, runs)
                runs = now
        self.assertGreater(runs, 0)
        self.assert_nothing_left(pages=False)
        self.assertIn(self.status("./subject", "nothing"), (0, 66))
        self.assertEqual(self.runs(), runs + 1)
        self.assert_nothing_left()


class Disks(RunCase):
    def as_nobody(self):
        """Options for a child that may not write everywhere."""
        if os.geteuid() != 0:
            return {}
        try:
            subprocess.run([RACEHIVE, "--version"], user=65534, check=True,
                           stdout=subprocess.DEVNULL)
        except (OSError, subprocess.SubprocessError):
            self.skipTest("root cannot become another user that may run racehive")
        return {"user": 65534}

    def test_folder_that_may_not_be_written(self):
        nobody = self.as_nobody()
        locked = self.path("locked")
        os.mkdir(locked, 0o555)
        self.store = os.path.join(locked, "store")
        got, output, error = self.run_it("./subject", "nothing", **nobody)
        self.assertEqual((got, output), (1, ""), error)
        self.assertRegex(error, r"\Aracehive: error: [^\n]*locked[^\n]*\n\Z")
        self.assertEqual((os.listdir(locked), self.lines()), ([], []))

    def test_store_that_may_not_be_written(self):
        nobody = self.as_nobody()
        kept = self.path("kept")
        os.mkdir(kept)
        self.store = os.path.join(kept, "store")
        self.assertEqual(self.status("./subject", "nothing"), 0)
        before = self.runs()
        os.chmod(self.store, 0o444)
        os.chmod(kept, 0o555)
        got, output, error = self.run_it("./subject", "nothing", **nobody)
        os.chmod(kept, 0o755)
        self.assertEqual((got, output), (1, ""), error)
        self.assertIn("store", error)
        self.assertEqual(self.runs(), before)

    def test_no_room_for_the_page(self):
        """Files may be so small that not even the control page fits."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (80000, 80000))
        self.assertEqual(self.status("./subject", "nothing"), 0)
        got, _, error = self.run_it("--runs=3", "./subject", "nothing", preexec_fn=limit)
        self.assertEqual(got, 1)
        self.assertIn("no room for the control page", error)
        self.assertEqual(self.runs(), 1)
        self.assert_nothing_left()

    def test_full_disk(self):
        """What was complete before stays, and the message says why there is no more."""
        small = self.path("small")
        os.mkdir(small)
        mount = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
        script = ('mount -t tmpfs -o size=256k tmpfs small || exit 77\n'
                  '"$0" run --store=small/store --runs=2 ./subject nothing >/dev/null || exit 78\n'
                  'dd if=/dev/zero of=small/ballast bs=1k 2>/dev/null\n'
                  '"$0" run --store=small/store --runs=200 ./subject nothing >/dev/null\n'
                  'echo status $?; rm small/ballast\n'
                  '"$0" report --format=json small/store')
        ran = subprocess.run([*mount, "sh", "-c", script, RACEHIVE], cwd=self.folder,
                             env=self.environment(), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
        if ran.returncode not in (0, 1, 78):
            self.skipTest("a small file system cannot be mounted here")
        error = ran.stderr.decode()
        self.assertEqual(ran.returncode, 0, error)
        first, _, report = ran.stdout.decode().partition("\n")
        self.assertEqual(first, "status 1", error)
        self.assertRegex(error, r"racehive: error: [^\n]*(full|space|room)")
        self.assertGreaterEqual(json.loads(report)["runs"], 2)
        self.assert_nothing_left()


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
    finally:
        shutil.rmtree(BUILT)
