#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the reports that other programs show, SARIF and HTML, and of hostile names in any form.

Usage: report_formats_test.py RACEHIVE MAKE_CANDIDATES MAKE_RUNS [unittest option...]
"""
import json
import os
import re
import sys
import unittest
import urllib.parse

from report_harness import BUSY, ITSELF, LOCKED, MIXED, READ_WRITE, Page, ReportCase


class Sarif(ReportCase):
    def sarif(self):
        return json.loads(self.report("--format=sarif"))

    def test_shape(self):
        log = self.sarif()
        self.assertEqual(log["version"], "2.1.0")
        self.assertIn("sarif-2.1.0", log["$schema"])
        run, = log["runs"]
        driver = run["tool"]["driver"]
        self.assertEqual(driver["name"], "racehive")
        self.assertEqual(len(run["results"]), 3)
        for result in run["results"]:
            self.assertEqual(result["level"], "error")
            self.assertEqual(driver["rules"][result["ruleIndex"]]["id"], result["ruleId"])
            self.assertEqual(len(result["locations"]), 1)
            self.assertEqual(len(result["relatedLocations"]), 1)
            self.assertEqual(len(result["codeFlows"][0]["threadFlows"]), 2)
            self.assertTrue(result["message"]["text"])
        self.assertEqual(run["originalUriBaseIds"]["SRCROOT"]["uri"],
                         "file://" + urllib.parse.quote(self.folder) + "/")

    def test_a_result(self):
        result = next(r for r in self.sarif()["runs"][0]["results"]
                      if LOCKED in r["partialFingerprints"].values())
        physical = result["locations"][0]["physicalLocation"]
        self.assertEqual(physical, {
            "artifactLocation": {"uri": "bank.c", "uriBaseId": "SRCROOT"},
            "region": {"startLine": 50, "startColumn": 3}})
        related = result["relatedLocations"][0]
        self.assertEqual(related["physicalLocation"]["region"], {"startLine": 41, "startColumn": 7})
        flows = result["codeFlows"][0]["threadFlows"]
        self.assertEqual([f["id"] for f in flows], ["T2", "T3"])
        self.assertEqual([f["locations"][-1]["executionOrder"] for f in flows], [1, 2])

    def test_flows_run_inwards(self):
        os.remove(self.store)
        self.make_runs(self.store, f"{MIXED}:race")
        result = self.sarif()["runs"][0]["results"][0]
        self.assertEqual(result["locations"][0]["properties"], {"near": True})
        self.assertNotIn("properties", result["relatedLocations"][0])
        flow = result["codeFlows"][0]["threadFlows"][1]
        names = [l["location"]["logicalLocations"][0]["fullyQualifiedName"]
                 for l in flow["locations"]]
        self.assertEqual(names, ["worker", "tick", "count"])
        self.assertEqual([l["nestingLevel"] for l in flow["locations"]], [0, 1, 2])

    def test_unknown_lines_and_absolute_paths(self):
        result = next(r for r in self.sarif()["runs"][0]["results"]
                      if BUSY in r["partialFingerprints"].values())
        self.assertEqual(result["locations"][0]["physicalLocation"],
                         {"artifactLocation": {"uri": "file:///elsewhere/stop.c"}})

    def test_no_races(self):
        os.remove(self.store)
        self.make_runs(self.store, f"{LOCKED}:no_race")
        self.assertEqual(self.sarif()["runs"][0]["results"], [])


class Html(ReportCase):
    def page(self):
        return Page(self.report("--format=html"))

    def test_all_is_inside(self):
        text = self.report("--format=html")
        page = Page(text)
        for tag, attributes in page.elements:
            self.assertNotIn(tag, ("link", "img", "iframe", "object", "base"))
            self.assertNotIn("src", attributes)
            self.assertTrue(attributes.get("href", "#").startswith("#"), attributes)
            self.assertFalse([name for name in attributes if name.startswith("on")])
        self.assertNotRegex(text, r"url\(|@import|https?:")
        self.assertIn("prefers-color-scheme:dark", text)
        self.assertIn("@media print", text)

    def test_one_run_is_one_run(self):
        os.remove(self.store)
        self.make_runs(self.store, f"{LOCKED}:race")
        shown = self.page().text()
        self.assertIn("1 run with racemob", shown)
        self.assertNotIn("1 runs", shown)

    def test_lines_around_an_access_are_shown_and_its_own_is_marked(self):
        article = re.search(f'<article[^>]* id="c{LOCKED}".*?</article>',
                            self.report("--format=html"), re.S).group()
        excerpts = re.findall(r"<pre>(.*?)</pre>", article, re.S)
        shown = [[(int(number), bool(hit)) for hit, number in re.findall(
            r'<span class="line( hit)?"><span class="gutter"> *(\d+) \| ', text)] for text in excerpts]
        self.assertEqual(shown, [[(48, False), (49, False), (50, True), (51, False), (52, False)],
                                 [(39, False), (40, False), (41, True), (42, False), (43, False)]])
        carets = [re.search(r'\| </span>( *)<span class="caret">', text).group(1) for text in excerpts]
        self.assertEqual([len(blanks) for blanks in carets], [2, 20])  # columns 3, and 7 behind tabs

    def test_candidates_of_the_same_lines_are_one_row(self):
        os.remove(self.store)
        self.make_runs(self.store, f"{LOCKED}:race")
        rows = {r[-1]: r for r in self.page().rows}
        self.assertEqual(rows[READ_WRITE][1:4], ["not tried", "60", "2"])
        self.assertNotIn(ITSELF, rows)
        self.assertEqual(rows[BUSY][3], "1")

    def test_it_says_what_the_text_says(self):
        shown = self.page().text()
        for words in ("3 true races, 1 likely false positive and 1 unknown of 5 candidates",
                      "write in deposit and read in audit race on account->balance",
                      "x account->balance += n;", "T3, created by T1 (main), holding no lock",
                      "collision: T3 was paused for 12.3 ms before its access",
                      "2 of 2 runs with audit first crashed (SIGSEGV), 0 of 73 others", "as audit does",
                      "Unordered, but not proved", "with confidence 0.999"):
            self.assertIn(words, shown)

    def test_table_of_candidates(self):
        rows = [r for r in self.page().rows if r[-1] in (BUSY, LOCKED, READ_WRITE, ITSELF, MIXED)]
        self.assertEqual([r[-1] for r in rows], [BUSY, LOCKED, ITSELF, READ_WRITE, MIXED])
        self.assertEqual(rows[3][:3], ["likely false positive", "synchronised", "60"])
        self.assertEqual(rows[3][7:11], ["0", "66", "0", "0"])
        self.assertEqual(rows[3][3], "1")  # pairs of these lines
        self.assertRegex(rows[3][11], r"^below [0-9.]+ %$")
        self.assertEqual(rows[0][11], "-")

    def test_links_lead_somewhere(self):
        elements = self.page().elements
        ids = [a["id"] for _, a in elements if "id" in a]
        self.assertEqual(len(ids), len(set(ids)))
        links = [a["href"][1:] for _, a in elements if "href" in a]
        self.assertEqual(len(links), 4)
        self.assertTrue(set(links) <= set(ids))


class Hostile(ReportCase):
    content = "hostile"
    runs = None
    name = "</td><script>alert('1')</script>&amp;\""

    def setUp(self):
        super().setUp()
        listed = json.loads(self.succeed("candidates", "--json", "bank"))
        self.make_runs(self.store, f"{listed['candidates'][0]['id']}:race")
        self.write("a <b>%20#?:.c", b"</pre><script>\xff & 'x' \x1b[31m\n")

    def test_html_is_text(self):
        page = Page(self.report("--format=html"))
        self.assertEqual([tag for tag, _ in page.elements].count("script"), 1)
        self.assertIn(self.name, page.text())
        self.assertIn("</pre><script>", page.text())
        self.assertIn("a <b>%20#?:.c:1:2", page.text())
        self.assertNotIn("\x1b", self.report("--format=html"))

    def test_uris_are_encoded(self):
        log = json.loads(self.report("--format=sarif"))
        artifact = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        self.assertEqual(artifact["artifactLocation"]["uri"], "a%20%3Cb%3E%2520%23%3F%3A.c")

    def test_terminals_are_safe(self):
        self.assertNotIn("\x1b", self.run_racehive("report", "bank").stdout.decode("latin-1"))

    def test_json(self):
        self.assertTrue(self.json()["candidates"][0]["first"]["expression"].startswith(self.name))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[4:])
