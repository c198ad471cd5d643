#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""First contact: a fresh Debian root, the package, and the commands of README.md and the tutorial; those of
Containerfile and of the CI job, too.

Usage: check_fresh_root.py --build=BUILD --version=VERSION --llvm=LLVM [--base=FOLDER] [PAGE...]

Makes the package of BUILD and a root with debootstrap (or copies FOLDER, one that was made before), lays
the package where the README takes it from, and follows each page's commands word for word in a shell of its
own there. What they print must agree with the page (pages.py says how). The root is removed at the end.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import pages

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = ["README.md", "docs/tutorial.md"]
MIRROR = "http://deb.debian.org/debian"
SUITE = "bookworm"
SKIPPED = 77
END = "--- end of step "
RACES = 66  # the exit status of runs that found a race


class Failure(Exception):
    pass


def skip(why):
    print(f"SKIPPED: the commands of {', '.join(PAGES)} in a fresh Debian root: {why}")
    sys.exit(SKIPPED)


def make_package(options):
    made = subprocess.run([os.path.join(TOP, "scripts", "make-deb"), options.build, options.version,
                           options.llvm], stdout=subprocess.PIPE, text=True, check=True)
    return made.stdout.splitlines()[-1]


def make_root(root, base):
    if base:
        subprocess.run(["cp", "-a", base + "/.", root], check=True)
        return
    log = os.path.join(root, "debootstrap.log")
    with open(log, "w", encoding="utf-8") as out:
        made = subprocess.run(["debootstrap", "--variant=minbase", SUITE, root, MIRROR], stdout=out,
                              stderr=subprocess.STDOUT, check=False)
    if made.returncode != 0:
        with open(log, encoding="utf-8") as text:
            print(text.read()[-2000:])
        skip(f"debootstrap from {MIRROR} does not work here")


def remove_root(root):
    """Only in the root's own file system: nothing is mounted there, but if it were, it should stay."""
    subprocess.run(["rm", "-rf", "--one-file-system", root], check=False)


class Shell:
    """A shell in the root, in namespaces of its own: what it leaves behind ends with it."""

    def __init__(self, root, work):
        self.script = os.path.join(root, "step")
        enter = (f'mount -t proc proc "{root}/proc" && mount --bind /dev "{root}/dev" && '
                 f'exec chroot "{root}" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin '
                 "DEBIAN_FRONTEND=noninteractive bash --norc")
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", enter],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.run(f"cd {work}")

    def run(self, commands):
        """Returns what the commands print, and the status of the last."""
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(commands + "\n")
        self.process.stdin.write(f". /step </dev/null; printf '\\n{END}%d\\n' $?\n")
        self.process.stdin.flush()
        output = ""
        for line in self.process.stdout:
            if line.startswith(END):
                return output[:-1], int(line[len(END):])
            output += line
        raise Failure(f"the shell ended:\n{output}")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def follow(root, page, package):
    work = "/root/" + os.path.basename(page)
    os.mkdir(root + work)
    shutil.copy(package, root + work)
    shell = Shell(root, work)
    try:
        for step in pages.read_steps(os.path.join(TOP, page), page):
            print(f"{step.where}: {step.commands.splitlines()[0]}", flush=True)
            output, status = shell.run(step.commands)
            if status not in (0, RACES if "racehive run" in step.commands else 0):
                raise Failure(f"{step.where}: status {status}:\n{step.commands}\n{output}")
            if step.printed is not None and not pages.agrees(step.printed, output):
                raise Failure(f"{step.where}: the page says\n" + "\n".join(step.printed) +
                              f"\nbut this is printed:\n{output}")
    finally:
        shell.close()


# A program with a race, for the CI job.
PROGRAM = r"""
#include <pthread.h>
#include <unistd.h>
int shared;
static void *work(void *arg) { for (int i = 0; i < 100; i++) { shared++; usleep(100); } return arg; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"""
CHECKS = (". /usr/share/bash-completion/completions/racehive && complete -p racehive",
          "test -e /usr/share/man/man1/racehive.1")


def follow_container(root, package):
    """What Containerfile and the CI job do, without an engine: their commands, one after the other."""
    commands, (target,) = pages.read_container(os.path.join(TOP, "Containerfile"))
    shutil.copy(package, root + target)
    with open(root + "/root/prog.c", "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    with open(root + "/root/Makefile", "w", encoding="utf-8") as file:
        file.write("prog: prog.c\n\t$(CC) -O1 -pthread $< -o $@\n")
    commands += pages.read_job(os.path.join(TOP, "examples", "ci", "github-actions.yml"))
    shell = Shell(root, "/root")
    try:
        for command in (*commands, *CHECKS):
            print(f"container: {command}", flush=True)
            output, status = shell.run(command)
            if status != 0:
                raise Failure(f"{command}: status {status}\n{output}")
    finally:
        shell.close()
    with open(root + "/root/races.sarif", encoding="utf-8") as file:
        if not json.load(file)["runs"][0]["results"]:
            raise Failure("the CI job's SARIF file has no race")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--llvm", required=True)
    parser.add_argument("--base")
    parser.add_argument("pages", nargs="*")
    options = parser.parse_args()
    if os.geteuid() != 0:
        skip("needs root")
    if not options.base and not shutil.which("debootstrap"):
        skip("needs debootstrap")
    options.pages = options.pages or PAGES
    root = tempfile.mkdtemp()
    try:
        os.chmod(root, 0o755)
        make_root(root, options.base)
        shutil.copy("/etc/resolv.conf", os.path.join(root, "etc"))
        package = make_package(options)
        for page in options.pages:
            follow(root, page, package)
        follow_container(root, package)
    except Failure as failure:
        print(f"FAILED: {failure}")
        return 1
    finally:
        remove_root(root)
    print("every command works, and prints what the pages say")
    return 0


if __name__ == "__main__":
    sys.exit(main())
