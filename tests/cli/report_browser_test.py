# SPDX-License-Identifier: Apache-2.0
"""The HTML report in a real browser (headless Chromium): nothing sticks out of the page, and filter and
sort do what they say, with as many rows as a page may have.

Usage: report_browser_test.py RACEHIVE MAKE_CANDIDATES MAKE_RUNS [unittest's arguments]
"""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from harness import ID_A, MAKE_SIDECAR
from report_harness import BUSY, ITSELF, LOCKED, ReportCase

# Runs behind the page's own script, and leaves what it saw where --dump-dom shows it.
PROBE = """<script>
(function () {
  var out = {}, get = function (id) { return document.getElementById(id); };
  function ids(all) { return Array.from(document.querySelectorAll('article')).filter(function (it) {
    return all || !it.hidden; }).map(function (it) { return it.id; }); }
  function rows() { return Array.from(document.querySelectorAll('#candidates tbody tr')); }
  function set(id, value, event) { get(id).value = value; get(id).dispatchEvent(new Event(event)); }
  out.width = document.documentElement.scrollWidth; out.room = window.innerWidth;
  out.rows = rows().length; out.races = ids(true);
  set('words', 'audit', 'input'); out.words = ids(false);
  out.wordRows = rows().filter(function (it) { return !it.hidden; }).length;
  set('words', 'nowhere-to-be-found', 'input'); out.none = ids(false);
  set('words', '', 'input'); out.all = ids(false);
  set('verdict', 'unknown', 'change'); out.unknown = ids(false);
  out.unknownRows = rows().filter(function (it) {
    return !it.hidden && !it.classList.contains('unknown'); }).length;
  set('verdict', '', 'change');
  set('order', 'runs', 'change'); out.byRuns = Array.from(get('races').children).map(function (it) {
    return +it.dataset.runs; });
  set('order', 'place', 'change'); out.byPlace = Array.from(get('races').children).map(function (it) {
    return it.querySelector('.place').textContent; });
  var head = document.querySelector('#candidates th'); head.click();
  out.down = head.getAttribute('aria-sort');
  out.first = rows().map(function (it) { return it.cells[0].textContent; });
  head.click(); out.up = head.getAttribute('aria-sort');
  out.last = rows().map(function (it) { return it.cells[0].textContent; });
  out.broken = []; out.places = document.querySelectorAll('article .place').length;
  for (var width = 900; window.innerWidth > 1000 && width < 1240; width += 5) {
    document.body.style.width = width + 'px';
    document.querySelectorAll('article .place').forEach(function (it) {
      if (it.getClientRects().length > 1) out.broken.push(width + ': ' + it.textContent); }); }
  var note = document.createElement('pre'); note.id = 'probe'; note.textContent = JSON.stringify(out);
  document.body.appendChild(note);
})();
</script></body>"""


def find_browser():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@unittest.skipUnless(find_browser(), "no Chromium")
class Browser(ReportCase):
    def look(self, width):
        """What the probe saw in a window of this width."""
        page = self.report("--format=html").replace("</body>", PROBE)
        self.write("page.html", page.encode())
        command = [find_browser(), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                   "--user-data-dir=" + self.path("browser"), f"--window-size={width},900",
                   "file://" + self.path("page.html")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=True)
        found = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.S)
        self.assertTrue(found, done.stderr[-2000:])
        return json.loads(found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))

    def check(self, seen):
        self.assertLessEqual(seen["width"], seen["room"])
        self.assertIn("c" + LOCKED, seen["words"])
        self.assertNotIn("c" + BUSY, seen["words"])
        self.assertEqual(seen["none"], [])
        self.assertEqual(seen["all"], seen["races"])
        self.assertNotIn("c" + LOCKED, seen["unknown"])
        self.assertEqual(seen["unknownRows"], 0)
        self.assertEqual(seen["byRuns"], sorted(seen["byRuns"], reverse=True))
        self.assertGreater(len(set(seen["byPlace"])), 1)
        self.assertEqual((seen["down"], seen["up"]), ("descending", "ascending"))

    def test_filter_and_sort(self):
        for width in (1280, 390):
            with self.subTest(width):
                seen = self.look(width)
                self.check(seen)
                self.assertEqual(seen["first"], seen["last"][::-1])
                self.assertNotEqual(seen["first"], seen["last"])

    def test_long_paths(self):
        """Folders may be broken anywhere, the name and line of a file nowhere, not even at a blank."""
        folder = "/home/somebody/a-" + "folder_with_a_long_name" * 9
        for kind, places in (("few", 8), ("hostile", 2)):
            subprocess.run([MAKE_SIDECAR, self.path("bank.racehive"), ID_A, folder, kind], check=True)
            if kind == "hostile":
                listed = json.loads(self.succeed("candidates", "--json", "bank"))["candidates"]
                os.remove(self.store)
                self.make_runs(self.store, listed[0]["id"] + ":race")
            for width in (1280, 390):
                with self.subTest(kind=kind, width=width):
                    seen = self.look(width)
                    self.assertLessEqual(seen["width"], seen["room"])
                    self.assertEqual((seen["places"], seen["broken"]), (places, []))

    def test_as_many_rows_as_there_may_be(self):
        self.make_sidecar("bank.racehive", ID_A, "vast")
        first = json.loads(self.succeed("candidates", "--json", "--limit=1", "bank"))
        os.remove(self.store)
        self.make_runs(self.store, f"{first['candidates'][0]['id']}:race")
        seen = self.look(390)
        self.assertLessEqual(seen["width"], seen["room"])
        self.assertLessEqual(seen["rows"], 10000)
        self.assertEqual(len(seen["races"]), 1)


if __name__ == "__main__":
    if not find_browser():
        print("SKIPPED: the HTML report in a browser: no Chromium")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
