#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that commands say which images take part in a search for races, and why there is nothing to
find, if so: nobody is told `0 of 0 candidates` without a reason.

Usage: check_images.py --build=FOLDER
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

MAIN = "int shared; int main(void) { return shared++; }\n"
THREADS = """#include <pthread.h>
static _Thread_local int own;
static void *work(void *arg) { own++; return arg; }
int main(void)
{
    pthread_t t;
    return pthread_create(&t, 0, work, 0) || pthread_join(t, 0) || own;
}
"""
USER = """int add(int *to);
int value;
int main(void) { return add(&value) - 1; }
"""
LIBRARY = "int add(int *to) { return ++*to; }\n"


class Images:
    def __init__(self, build, folder):
        self.bin, self.folder, self.wrong = os.path.join(build, "bin"), folder, []
        self.env = dict(os.environ, XDG_DATA_HOME=folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, name, text, *options):
        source = self.path(name + ".c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run([os.path.join(self.bin, "racehive-cc"), "-O2", "-g", source, *options, "-o",
                        self.path(name)], check=True, env=self.env)
        return self.path(name)

    def say(self, *words):
        done = subprocess.run([os.path.join(self.bin, "racehive"), *words], text=True, env=self.env,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout

    def expect(self, program, *texts, never=()):
        for words in (("candidates", program), ("run", "--runs=1", program)):
            said = self.say(*words)
            for text in texts:
                if text not in said:
                    self.wrong.append(f"{' '.join(words)}: no '{text}' in:\n{said}")
            for text in never:
                if text in said:
                    self.wrong.append(f"{' '.join(words)}: '{text}' in:\n{said}")


def check(images):
    images.expect(images.compile("alone", MAIN),
                  "No candidates: the program starts no thread, and nothing it is linked with can.",
                  never=["Images:"])
    images.expect(images.compile("threads", THREADS, "-pthread"),
                  "No candidates: no two threads", never=["Images:"])
    images.expect(images.compile("brings_code", "#include <dlfcn.h>\n" + MAIN.replace(
        "return", "if (dlopen(\"none\", 1)) return 1; shared = 0; return")),
                  "gives no function to code without bitcode that can start some (dlopen)")
    images.compile("libkeyed.so", LIBRARY, "-shared", "-fPIC")
    images.expect(images.compile("user", USER, "-L" + images.folder, "-lkeyed",
                                 "-Wl,-rpath," + images.folder),
                  "Images: the program takes part. Libraries with keys (racehive run --image=NAME "
                  "validates their candidates): libkeyed.so.")
    bare = images.path("libbare.so")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", images.path("libkeyed.so.c"), "-o", bare],
                   check=True)
    images.expect(images.compile("user2", USER, "-L" + images.folder, "-lbare",
                                 "-Wl,-rpath," + images.folder),
                  "Libraries without keys (not built with racehive-cc): libbare.so.")
    os.remove(bare)
    if "Libraries not found: libbare.so." not in images.say("candidates", images.path("user2")):
        images.wrong.append("a missing library is not named")


def check_subjects(images):
    """A library and a plugin with a race inside, found under the library's name, whichever program
    runs it; and nothing in one without a race."""
    sources = os.path.join(os.path.dirname(os.path.abspath(__file__)), "images")
    with open(os.path.join(sources, "library.c"), encoding="utf-8") as file:
        racy = file.read()
    with open(os.path.join(sources, "program.c"), encoding="utf-8") as file:
        program = file.read()
    line = 1 + racy[:racy.index("// RACE")].count("\n")
    library = images.compile("libcount.so", racy, "-fPIC", "-shared", "-pthread")
    clean = images.compile("libclean.so", racy.replace("    visits++; // RACE\n", ""), "-fPIC",
                           "-shared", "-pthread")
    linked = images.compile("linked", program, "-pthread", "-DLINKED", "-L" + images.folder,
                            "-lcount", "-Wl,-rpath," + images.folder)
    host = images.compile("host", program, "-pthread")
    for label, subject, command in (("linked", "libcount.so", [linked]),
                                    ("plugin", library, [host, library]),
                                    ("clean", clean, [host, clean])):
        result = images.path(label + ".json")
        said = images.say("run", "--runs=30", "--store=" + images.path(label + ".runs"),
                          "--json=" + result, "--image=" + subject, *command)
        with open(result, encoding="utf-8") as file:
            report = json.load(file)
        races = {(side["image"], side["line"]) for c in report["candidates"]
                 if c["verdict"] == "true-race" for side in (c["first"], c["second"])}
        wanted = set() if label == "clean" else {("libcount.so", line)}
        if races != wanted:
            images.wrong.append(f"{label}: found {races}, not {wanted}:\n{said}")
    images.say("run", "--image=libcount.so", linked)
    if "libcount.so: " not in images.say("report", library):
        images.wrong.append("what was found of a library is not kept by its build id")
    if "is neither a file nor a library" not in images.say("run", "--image=libnone.so", linked):
        images.wrong.append("a library that is not there is not refused")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        images = Images(os.path.abspath(options.build), folder)
        check(images)
        check_subjects(images)
    for text in images.wrong:
        print(text)
    return 1 if images.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
