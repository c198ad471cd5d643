#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the evaluation (bench/evaluate): what it reads of tools' reports, its statistics, the check
of instruction counts, the comparison of two results, and that the page shows the results and no
more."""
import html.parser
import io
import os
import random
import re
import subprocess
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.join(HERE, "..", "..", "bench")
sys.path.insert(0, os.path.join(BENCH, "evaluate"))
import arms  # noqa: E402
import builds  # noqa: E402
import compare  # noqa: E402
import instructions  # noqa: E402
import page  # noqa: E402
import papers  # noqa: E402
import progress  # noqa: E402
import reports  # noqa: E402
import results  # noqa: E402
import stats  # noqa: E402
import subjects  # noqa: E402
import tables  # noqa: E402

HELGRIND = """\
==7== Thread #3 was created
==7==    at 0x4A4EB3F: clone (./misc/../sysdeps/unix/sysv/linux/x86_64/clone.S:76)
==7==    by 0x109276: main (/src/a.c:99)
==7== ----------------------------------------------------------------
==7== Possible data race during read of size 4 at 0x10C054 by thread #3
==7== Locks held: none
==7==    at 0x109815: trace (/src/a.c:27)
==7==    by 0x1096DA: work (/src/a.c:72)
==7== This conflicts with a previous write of size 4 by thread #2
==7== Locks held: none
==7==    at 0x484C7D6: memcpy (in /usr/libexec/valgrind/vgpreload_helgrind-amd64-linux.so)
==7==    by 0x10946F: operate (/src/b.c:87)
==7==  Address 0x10c054 is 0 bytes inside data symbol "trace_on"
==7== Possible data race during write of size 8 at 0x10C058 by thread #3
==7== Locks held: 1, at address 0x10C060
==7==    at 0x109820: count (/src/a.c:30)
==7==  Address 0x10c058 is 0 bytes inside data symbol "left_out"
==7== Possible data race during write of size 8 at 0x5000000 by thread #2
==7== Locks held: none
==7==    at 0x4A4EB3F: free (./malloc/malloc.c:3000)
==7==    by 0x4A4EB3F: ??? (in /usr/lib/libz.so)
"""

DRD = """\
==9== Thread 3:
==9== Conflicting load by thread 3 at 0x0010c054 size 4
==9==    at 0x109815: trace (/src/a.c:27)
==9==    by 0x1096DA: work (/src/a.c:72)
==9== Allocation context: Data section of /src/a
==9== Other segment start (thread 2)
==9==    at 0x4A6FB42: clone (clone.S:83)
==9== Other segment end (thread 2)
==9==    at 0x10947E: operate (/src/a.c:88)
==9== Conflicting load by thread 3 at 0x0010c054 size 4
==9==    at 0x109815: trace (/src/a.c:27)
==9== Conflicting store by thread 2 at 0x0500000 size 8
==9==    at 0x4842000: memset (in /usr/lib/x86_64-linux-gnu/libz.so)
"""

TSAN = """\
==================
WARNING: ThreadSanitizer: data race (pid=5)
  Write of size 8 at 0x5628 by thread T2:
    #0 hash /src/a.c:90:22 (a+0xe4)
    #1 main /src/a.c:10:1 (a+0xe5)

  Previous read of size 8 at 0x5628 by thread T3:
    #0 memcpy <null> (a+0x5)
    #1 look /src/b.c:120:19 (a+0xe6)

  Location is global 'bytes' of size 8 at 0x5628
==================
==================
WARNING: ThreadSanitizer: thread leak (pid=5)
  Thread T1 (tid=1, finished) created by main thread at:
    #0 pthread_create <null> (a+0x5)
==================
"""


class Reports(unittest.TestCase):
    names = {"a.c", "b.c"}

    def test_helgrind(self):
        found = reports.read_helgrind(HELGRIND, self.names)
        self.assertEqual(found.races, {(("a.c", 27), ("b.c", 87)), (None, ("a.c", 30))})
        self.assertEqual(found.elsewhere, 1)

    def test_drd_knows_one_side(self):
        found = reports.read_drd(DRD, self.names)
        self.assertEqual(found.races, {(None, ("a.c", 27))})
        self.assertEqual(found.elsewhere, 1)

    def test_tsan(self):
        found = reports.read_tsan(TSAN, self.names)
        self.assertEqual(found.races, {(("a.c", 90), ("b.c", 120))})
        self.assertEqual(found.elsewhere, 0)

    def test_nothing_found(self):
        for read in (reports.read_helgrind, reports.read_drd, reports.read_tsan):
            self.assertEqual(read("a program's own output\n", self.names), (set(), 0))

    def test_racehive_counts_true_races_by_lines(self):
        def candidate(verdict, first, second):
            return {"verdict": verdict, "first": {"file": "/x/a.c", "line": first},
                    "second": {"file": "/x/a.c", "line": second}}
        report = {"candidates": [candidate("true-race", 9, 4), candidate("true-race", 4, 9),
                                 candidate("unknown", 1, 2), candidate("true-race", 0, 7)]}
        self.assertEqual(reports.read_racehive(report).races,
                         {(("a.c", 4), ("a.c", 9)), (None, ("a.c", 7))})

    def test_match(self):
        known = {(("a.c", 1), ("a.c", 2)), (("a.c", 3), ("a.c", 3))}
        hits, false = reports.match({(("a.c", 1), ("a.c", 2)), (("a.c", 1), ("a.c", 3))}, known)
        self.assertEqual(hits, {(("a.c", 1), ("a.c", 2))})
        self.assertEqual(false, {(("a.c", 1), ("a.c", 3))})
        hits, false = reports.match({(None, ("a.c", 3)), (None, ("a.c", 4))}, known)
        self.assertEqual(hits, {(("a.c", 3), ("a.c", 3))})
        self.assertEqual(false, {(None, ("a.c", 4))})

    def test_races_survive_json(self):
        races = {(None, ("a.c", 3)), (("a.c", 1), ("b.c", 2))}
        listed = [[side and list(side) for side in race] for race in reports.sort_races(races)]
        self.assertEqual({results.as_race(r) for r in listed}, races)


class Statistics(unittest.TestCase):
    def test_six_values_hold_the_median_by_their_ends(self):
        self.assertEqual(stats.interval([3, 1, 2, 6, 5, 4]), (3.5, 1, 6))

    def test_nine_values_leave_out_the_ends(self):
        self.assertEqual(stats.interval(range(1, 10)), (5, 2, 8))

    def test_the_interval_holds_the_true_median(self):
        chance, held = random.Random(1), 0
        for _ in range(2000):
            _, low, high = stats.interval([chance.lognormvariate(0, 1) for _ in range(15)])
            held += low <= 1 <= high
        self.assertGreater(held / 2000, 0.94)

    def test_too_few_values_say_nothing(self):
        self.assertIsNone(stats.ratio([1.5] * (stats.FEWEST - 1)))
        self.assertEqual(stats.show(None), "too few runs")

    def test_no_ratio_is_said_whose_interval_is_wider_than_the_effect(self):
        wide = stats.ratio([1.02, 1.03, 1.05, 1.05, 1.08, 1.12])
        self.assertFalse(stats.is_sure(wide))
        self.assertEqual(stats.show(wide), "between 1.020 and 1.120")
        narrow = stats.ratio([1.10, 1.10, 1.11, 1.11, 1.12, 1.12])
        self.assertTrue(stats.is_sure(narrow))
        self.assertEqual(stats.show(narrow), "1.110 (1.100 to 1.120)")
        none = stats.ratio([0.98, 0.99, 1.0, 1.0, 1.01, 1.02])
        self.assertEqual(stats.show(none), "no difference seen (0.980 to 1.020)")


class Instructions(unittest.TestCase):
    now = {"clang": "19", "libc": "2", "valgrind": "3", "avx2": True}

    def accepted(self, count):
        return {"environment": self.now, "counts": {"k": {"instructions": count, "source": "s"}}}

    def test_growth_fails_and_noise_does_not(self):
        for count, state in ((1000, "passed"), (1019, "passed"), (1021, "failed"), (900, "passed")):
            self.assertEqual(instructions.compare(self.accepted(1000), {"k": count}, {"k": "s"},
                                                  self.now)[0], state, count)

    def test_another_compiler_is_not_compared(self):
        state, lines = instructions.compare(self.accepted(1000), {"k": 5000}, {"k": "s"},
                                            dict(self.now, clang="20"))
        self.assertEqual(state, "skipped")
        self.assertIn("clang is 20, was 19", lines[0])

    def test_a_changed_kernel_is_not_compared(self):
        state, lines = instructions.compare(self.accepted(1000), {"k": 5000}, {"k": "t"}, self.now)
        self.assertEqual(state, "skipped")
        self.assertIn("has changed", lines[0])

    def test_nothing_accepted(self):
        self.assertEqual(instructions.compare(None, {"k": 1}, {"k": "s"}, self.now)[0], "skipped")

    def test_what_is_accepted_passes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "instructions.json")
            kernel = subjects.Kernel("stencil")
            told = made_results({})
            told.add_instructions("stencil", "keyed", 1000)
            instructions.accept([kernel], told, path)
            accepted = instructions.load_accepted(path)
            self.assertEqual(accepted["counts"]["stencil"]["instructions"], 1000)
            state, _ = instructions.compare(accepted, {"stencil": 1000},
                                            {"stencil": instructions.source_of(kernel)},
                                            instructions.environment(told.data["versions"]))
            self.assertEqual(state, "passed")


def made_results(walls):
    """Results of the kernel nbody, whose arms took these seconds."""
    options = types.SimpleNamespace(quick=True, rounds=6, slow_rounds=6, first_runs=20,
                                    build="nowhere", arms=list(arms.ARMS))
    told = results.Results.begin(options, [subjects.Kernel("nbody")])
    for arm, seconds in walls.items():
        for number, wall in enumerate(seconds):
            told.add_measurement("nbody", arm, number,
                                 arms.Measurement(wall, 2 * wall, wall, wall, 1000))
    return told


SIX = [1.00, 1.01, 1.02, 1.03, 1.04, 1.05]


class Comparison(unittest.TestCase):
    def quiet(self, a, b):
        stdout, sys.stdout = sys.stdout, io.StringIO()
        try:
            return compare.run(a, b), sys.stdout.getvalue()
        finally:
            sys.stdout = stdout

    def test_the_same_agrees(self):
        a = made_results({"native": SIX, "tsan": [5 * w for w in SIX]})
        b = made_results({"native": SIX[::-1], "tsan": [5.01 * w for w in SIX]})
        status, text = self.quiet(a, b)
        self.assertEqual(status, 0, text)
        self.assertIn("0 with intervals that do not overlap", text)

    def test_a_difference_is_named(self):
        a = made_results({"native": SIX, "tsan": [5 * w for w in SIX]})
        b = made_results({"native": SIX, "tsan": [7 * w for w in SIX]})
        status, text = self.quiet(a, b)
        self.assertEqual(status, 1)
        self.assertIn("nbody, tsan, wall: 5.00 to 5.00, then 7.00 to 7.00", text)

    def test_nothing_in_common_is_no_agreement(self):
        self.assertEqual(self.quiet(made_results({}), made_results({}))[0], 1)


class PageParser(html.parser.HTMLParser):
    """Collects what is loaded from elsewhere, where figures come from, and open elements."""
    void = ("meta", "br")

    def __init__(self):
        super().__init__()
        self.outside, self.sources, self.open, self.wrong = [], [], [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.outside += [v for k, v in attributes.items()
                         if k in ("src", "href") and not v.startswith("#")]
        if "data-from" in attributes:
            self.sources.append(attributes["data-from"])
        if tag in ("script", "link", "img", "iframe"):
            self.outside.append(tag)
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


class GoingOn(unittest.TestCase):
    def test_what_is_there_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            made_results({"native": SIX}).save(folder)
            kept = results.Results.load(os.path.join(folder, "results.json"))
        fresh = made_results({})
        fresh.data["subjects"]["flags"] = {"kind": "kernel"}
        told = kept.go_on(fresh)
        self.assertTrue(told.has_measured("nbody"))
        self.assertFalse(told.has_measured("flags"))
        self.assertEqual(told.values("nbody", "native", "wall"), SIX)

    def test_another_way_of_measuring_is_refused(self):
        fresh = made_results({})
        fresh.data["rounds"] = 7
        with self.assertRaisesRegex(builds.BenchError, "rounds was 6, is 7"):
            made_results({}).go_on(fresh)


class Page(unittest.TestCase):
    def setUp(self):
        self.told = made_results({
            "native": SIX, "whole": SIX, "idle": [w * f for w, f in zip(SIX, SIX[::-1])],
            "racemob": [1.5 * w for w in SIX], "tsan": [8 * w for w in SIX],
            "native-small": SIX})
        self.told.add_failure("nbody", "drd", "it <broke>")
        self.told.add_finding("nbody", "tsan", {"runs": 6, "races": [
            [["nbody.c", 1], ["nbody.c", 2]]], "elsewhere": 0})
        self.told.data["detectors"] = {"racemob": "there", "caper": "no detector 'caper'"}
        self.text = page.make(self.told)
        self.parser = PageParser()
        self.parser.feed(self.text)

    def test_it_is_whole_and_alone(self):
        self.assertEqual(self.parser.wrong, [])
        self.assertEqual(self.parser.outside, [])

    def test_figures_say_where_they_come_from(self):
        wanted = "measurements[subject=nbody, arm=tsan / arm=native].wall"
        self.assertTrue([s for s in self.parser.sources if wanted in s])
        cells = re.findall(r"<td( data-from=\"[^\"]+\")?[^>]*>\d+\.\d+", self.text)
        bare = [c for c in re.findall(r"<td>(\d[\d.,]*)</td>", self.text)
                if c not in paper_figures()]
        self.assertTrue(cells)
        self.assertEqual(bare, [])

    def test_what_failed_and_what_is_missing_is_said(self):
        self.assertIn("it &lt;broke&gt;", self.text)
        self.assertIn("missing: no detector", self.text)
        self.assertIn("not measured", self.text)

    def test_a_ratio_that_is_not_sure_is_not_printed(self):
        r = self.told.ratio("nbody", "idle", "wall")
        self.assertFalse(stats.is_sure(r))
        row = tables.costs(self.told, ["nbody"], ["idle"], "wall")
        self.assertNotIn(f">{stats.digits(r.middle)}<br>", row)

    def test_it_is_made_of_the_saved_results_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            self.told.save(folder)
            again = results.Results.load(os.path.join(folder, "results.json"))
            self.assertEqual(page.make(again), self.text)
            with open(os.path.join(folder, "results.csv")) as file:
                lines = file.read().splitlines()
        self.assertIn("nbody,tsan,0,wall,8.0", lines)
        self.assertEqual(len([row for row in lines if row.startswith("nbody,native,")]),
                         len(SIX) * len(results.MEASURES))


def paper_figures():
    """What the papers print, and what describes a subject: no measurement of ours."""
    figures = {str(value) for row in papers.RACEMOB.values() for value in row}
    figures |= {f"{row.overhead:.2f}" for row in papers.RACEMOB.values()}
    figures |= {f"{row.tsan_overhead:,.0f}" for row in papers.RACEMOB.values()}
    figures |= {str(n) for pair in papers.RACECHASER_TABLE_2.values() for n in pair}
    figures |= {"53", f"{papers.RACEMOB_MEAN:.2f}", str(papers.RACECHASER_MEAN),
                str(papers.LITEHB_MEAN)}
    return figures | {str(subjects.Kernel.threads), str(len(subjects.Kernel("nbody").known))}


class Papers(unittest.TestCase):
    def test_verdicts_add_up_to_the_candidates(self):
        for name, row in papers.RACEMOB.items():
            self.assertEqual(sum(getattr(row, ground) for ground in papers.GROUNDS),
                             row.candidates, name)

    def test_the_mean_is_that_of_the_programs(self):
        overheads = [row.overhead for row in papers.RACEMOB.values()]
        self.assertAlmostEqual(sum(overheads) / len(overheads), papers.RACEMOB_MEAN, places=2)
        self.assertEqual(max(overheads), papers.RACEMOB_WORST)

    def test_the_races_of_racechaser_add_up(self):
        self.assertEqual([sum(n) for n in zip(*papers.RACECHASER_TABLE_2.values())], [53, 53])


class Arms(unittest.TestCase):
    def test_every_arm_has_a_base_of_its_own_scale(self):
        for name, kind in arms.ARMS.items():
            if kind.base:
                self.assertEqual(arms.ARMS[kind.base].scale, kind.scale, name)

    def test_every_kernel_is_a_subject(self):
        files = {name[:-2] for name in os.listdir(os.path.join(BENCH, "kernels"))
                 if name.endswith(".c")}
        self.assertEqual(files, set(subjects.PATTERNS))

    def test_progress_says_what_is_left(self):
        out = io.StringIO()
        shown = progress.Progress(10, out)
        shown.step(5)
        shown.say("nbody: tsan, round 1 of 6")
        self.assertRegex(out.getvalue(),
                         r"^\[5/10, about \d+:\d\d left\] nbody: tsan, round 1 of 6\n$")


class Kernels(unittest.TestCase):
    """Each kernel runs small with several numbers of threads, and fails if it is called wrongly."""

    def test_kernels(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, pattern in subjects.PATTERNS.items():
                with self.subTest(kernel=name):
                    kernel, program = subjects.Kernel(name), os.path.join(folder, name)
                    reports.tools.compile_program(
                        [reports.tools.CLANG], [kernel.source], program,
                        ["-std=gnu17", "-D_GNU_SOURCE", "-pthread", "-O2", "-Wall", "-Wextra",
                         "-Werror"])
                    for threads in ("1", "2", "5"):
                        done = subprocess.run([program, str(pattern.sizes.small), threads],
                                              stderr=subprocess.PIPE, text=True)
                        self.assertEqual((done.returncode, done.stderr), (0, ""), threads)
                    for words in ([], ["1"], ["x", "2"], ["1", "0"], ["1", "1000"]):
                        done = subprocess.run([program, *words], stderr=subprocess.PIPE, text=True)
                        self.assertEqual(done.returncode, 2, words)


if __name__ == "__main__":
    unittest.main()
