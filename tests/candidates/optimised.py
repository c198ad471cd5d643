# SPDX-License-Identifier: Apache-2.0
"""Finds the lines that still have an access in an optimised whole program, without racehive."""
import os
import re
import subprocess

import tools

DISASSEMBLER = os.environ.get("LLVM_DIS", "llvm-dis-19")
ACCESS = re.compile(r"^\s+(?:%\S+ = )?(?:tail |musttail |notail )?"
                    r"(load|store|atomicrmw|cmpxchg|"
                    r"call .*@(?:llvm\.)?(?:mem|str|snprintf|read|free)\w*)\b.*!dbg !(\d+)")
LOCATION = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+),.*?scope: !(\d+)")
SCOPE = re.compile(r"^!(\d+) = (?:distinct )?!DI(?:Subprogram|LexicalBlock|LexicalBlockFile)\(.*?"
                   r"file: !(\d+)")
FILE = re.compile(r'^!(\d+) = !DIFile\(filename: "([^"]*)"')


def optimised_lines(folder, sources, options=()):
    """Places that still have an access after link-time optimisation."""
    program = os.path.join(folder, "lto")
    compiler = tools.CLANGXX if any(map(tools.is_cxx, sources)) else tools.CLANG
    tools.compile_program([compiler], sources, program,
                          ["-O2", "-g", "-flto=full", "-fuse-ld=lld", "-pthread",
                           "-Wl,--lto-emit-llvm", *options])
    text = subprocess.run([DISASSEMBLER, program, "-o", "-"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    locations, scopes, files, used = {}, {}, {}, set()
    for line in text.split("\n"):
        for pattern, table in ((LOCATION, locations), (SCOPE, scopes), (FILE, files)):
            m = pattern.match(line)
            if m:
                table[m.group(1)] = m.groups()[1:]
        m = ACCESS.match(line)
        if m:
            used.add(m.group(2))
    found = set()
    for number in used:
        line, scope = locations[number]
        if scope in scopes:
            found.add((os.path.basename(files[scopes[scope][0]][0]), int(line)))
    return found
