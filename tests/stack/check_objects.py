# SPDX-License-Identifier: Apache-2.0
"""Checks that what hooks reach keeps the rules of hooks.

usage: check_objects.py NM OBJDUMP OBJECT...
The objects may use nothing but the runtime's own functions (stack/images.c also dl_iterate_phdr,
outside hooks), and no vector register.
"""
import re
import subprocess
import sys


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def check(nm, objdump, path):
    troubles = []
    for name in re.findall(r" U (\S+)", run(nm, "-u", path)):
        is_lister = "stack_images" in path and name == "dl_iterate_phdr"
        if not name.startswith("rt_") and name != "_GLOBAL_OFFSET_TABLE_" and not is_lister:
            troubles.append(f"{path}: uses {name}")
    vectors = re.findall(r"^.*%[xyz]mm\d+.*$", run(objdump, "-d", path), re.MULTILINE)
    return troubles + [f"{path}: vector register: {line.strip()}" for line in vectors[:3]]


def main():
    nm, objdump, *objects = sys.argv[1:]
    troubles = [trouble for path in objects for trouble in check(nm, objdump, path)]
    print("\n".join(troubles) or f"{len(objects)} objects keep the rules")
    sys.exit(bool(troubles) or not objects)


main()
