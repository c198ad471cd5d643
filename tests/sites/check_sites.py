#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which accesses of an annotated program are sites.

Each source line may carry expectations in a comment:
    // SITE write q->head       the line has such a site (access kind and expression)
    // SITE write               the same, whatever the expression
    // NOSITE                   the line has no site at all
A site belongs to its own line and to the lines it was inlined at. Lines without a comment are not
looked at. Usage: check_sites.py CC RACEHIVE SOURCE [CC OPTION...]
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ACCESSES = ["atomic update", "atomic write", "atomic read", "fence", "read", "write"]


def expectations(source):
    for number, line in enumerate(open(source), 1):
        comment = re.search(r"// (SITE .*|NOSITE)\s*$", line)
        if not comment:
            continue
        for part in comment.group(1).split(";"):
            part = part.strip()
            if part == "NOSITE":
                yield number, None, None
                continue
            text = part.removeprefix("SITE ").strip()
            access = next(a for a in ACCESSES if text.startswith(a))
            yield number, access, text[len(access):].strip() or None


def sites_by_line(racehive, program, source):
    out = subprocess.run([racehive, "sites", "--json", program], check=True,
                         stdout=subprocess.PIPE).stdout
    lines = {}
    for site in json.loads(out)["sites"]:
        for place in [site, *site["inlined_at"]]:
            if os.path.basename(place["file"] or "") == os.path.basename(source):
                lines.setdefault(place["line"], []).append(site)
    return lines


def main():
    cc, racehive, source, *options = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        subprocess.run([cc, "-O1", "-pthread", *options, source, "-o", program], check=True,
                       env=dict(os.environ, XDG_DATA_HOME=folder, RACEHIVE_SITES="all"))
        lines = sites_by_line(racehive, program, source)
        ran = subprocess.run([program], stdout=subprocess.DEVNULL)
    wrong = 0 if ran.returncode == 0 else 1
    if wrong:
        print(f"{source}: the program itself ended with {ran.returncode}")
    checked = 0
    for number, access, expression in expectations(source):
        checked += 1
        found = lines.get(number, [])
        if access is None:
            good = not found
        else:
            good = any(s["access"] == access and expression in (None, s["expression"])
                       for s in found)
        if not good:
            wrong += 1
            seen = ", ".join(f"{s['access']} {s['expression']}" for s in found) or "nothing"
            print(f"{source}:{number}: expected {access or 'no site'} {expression or ''}, "
                  f"found {seen}")
    if not checked:
        print(f"{source}: no expectations")
        wrong = 1
    print(f"{checked} expectations, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main())
