# SPDX-License-Identifier: Apache-2.0
"""Compares our rows of call frame information with readelf's, for whole ELF files.

usage: compare_rows.py ROWS READELF [--at-least=N] FILE...
Every row that readelf prints is asked of the program ROWS; fails on the first ones that differ, and
if there were fewer than N rows in all. Files that are not there are named and left out.
"""
import os
import re
import subprocess
import sys

REGISTERS = "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 ra".split()


def read_expected(readelf, path):
    """(address, CFA, {register: rule}) of each row in the file."""
    # Its exit status also tells of debug files that are missing, which are not needed.
    text = subprocess.run([readelf, "--debug-dump=frames-interp", "--wide", path],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
                          text=True).stdout
    section = text[text.index("Contents of the .eh_frame section"):]
    section = re.split(r"Contents of the \.debug_frame", section)[0]
    is_fde, columns = False, []
    for line in section.splitlines():
        words = re.sub(r"r\d+ \((\w+)\)", r"\1", line).split()
        if " FDE " in line or " CIE " in line:
            is_fde = " FDE " in line
            low, high = 0, 0
            if is_fde:
                low, high = (int(x, 16) for x in re.search(r"pc=(\w+)\.\.(\w+)", line).groups())
        elif words[:2] == ["LOC", "CFA"]:
            columns = words[2:]
        elif is_fde and words and re.fullmatch(r"[0-9a-f]{16}", words[0]):
            address = int(words[0], 16)
            if low <= address < high:  # some functions are empty
                yield address, words[1], dict(zip(columns, words[2:]))


def compare(rows, readelf, path):
    # Of several rows for one address, the last holds.
    expected = {address: (cfa, rules) for address, cfa, rules in read_expected(readelf, path)}
    asked = "".join(f"{address:x}\n" for address in expected)
    answers = subprocess.run([rows, path], input=asked, stdout=subprocess.PIPE, check=True,
                             text=True).stdout.splitlines()
    wrong = 0
    assert len(answers) == len(expected), "one answer for each question"
    for (address, (cfa, rules)), answer in zip(expected.items(), answers):
        words = answer.split()
        ours = dict(zip(REGISTERS, words[1:]))
        same = words[0] == cfa and all(
            ours[register] == rules.get(register, "u") for register in REGISTERS)
        if not same:
            wrong += 1
            if wrong <= 5:
                print(f"{path} {address:#x}: readelf {cfa} {rules}, ours {answer}")
    print(f"{path}: {len(expected)} rows, {wrong} differ")
    return len(expected), wrong


def main():
    rows, readelf, *files = sys.argv[1:]
    at_least, total, wrong = 1, 0, 0
    for path in files:
        if path.startswith("--at-least="):
            at_least = int(path.split("=")[1])
        elif not os.path.exists(path):
            print(f"{path}: not here, left out")
        else:
            count, differ = compare(rows, readelf, path)
            total += count
            wrong += differ
    sys.exit(wrong > 0 or total < at_least)


main()
