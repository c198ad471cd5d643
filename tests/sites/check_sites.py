#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which accesses of an annotated program are sites.

Each source line may carry expectations in a comment:
    // SITE write q->head       the line has such a site (access kind and expression)
    // SITE write               the same, whatever the expression
    // SITE near write          the same, and its line is only the nearest known
    // NOSITE                   the line has no site at all
A site belongs to its own line and to the lines it was inlined at. Lines without a comment are not
looked at. Every site of the program must have a file and a line. Usage: check_sites.py CC RACEHIVE SOURCE [CC OPTION...]
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
                yield number, None, None, False
                continue
            text = part.removeprefix("SITE ").strip()
            near = text.startswith("near ")
            text = text.removeprefix("near ")
            access = next(a for a in ACCESSES if text.startswith(a))
            yield number, access, text[len(access):].strip() or None, near


def list_sites(racehive, program):
    out = subprocess.run([racehive, "sites", "--json", program], check=True,
                         stdout=subprocess.PIPE).stdout
    return json.loads(out)["sites"]


def sites_by_line(sites, source):
    lines = {}
    for site in sites:
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
        sites = list_sites(racehive, program)
        lines = sites_by_line(sites, source)
        ran = subprocess.run([program], stdout=subprocess.DEVNULL)
    wrong = 0 if ran.returncode == 0 else 1
    if wrong:
        print(f"{source}: the program itself ended with {ran.returncode}")
    checked = 0
    for site in sites:
        if not site["file"] or not site["line"]:
            wrong += 1
            print(f"{source}: no line for {site['access']} {site['expression']} "
                  f"in {site['function']}")
    for number, access, expression, near in expectations(source):
        checked += 1
        found = lines.get(number, [])
        if access is None:
            good = not found
        else:
            good = any(s["access"] == access and expression in (None, s["expression"])
                       and (not near or s.get("near")) for s in found)
        if not good:
            wrong += 1
            seen = ", ".join(f"{s['access']} {s['expression']}" for s in found) or "nothing"
            print(f"{source}:{number}: expected {'near ' if near else ''}"
                  f"{access or 'no site'} {expression or ''}, "
                  f"found {seen}")
    if not checked:
        print(f"{source}: no expectations")
        wrong = 1
    print(f"{checked} expectations, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main())
