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

    def copy(self, name):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(read(name))

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
                  "gives no function to what can start some (dlopen). Libraries and plugins built "
                  "with racehive-cc take part")
    images.compile("libkeyed.so", LIBRARY, "-shared", "-fPIC")
    images.expect(images.compile("user", USER, "-L" + images.folder, "-lkeyed",
                                 "-Wl,-rpath," + images.folder),
                  "Images: the program takes part. Libraries with keys, which take part: "
                  "libkeyed.so.")
    os.rename(images.path("libkeyed.so"), images.path("libkeyed.so.1.2"))
    os.symlink("libkeyed.so.1.2", images.path("libkeyed.so"))
    images.say("run", "--runs=1", images.path("user"))
    if "take part: libkeyed.so.\n" not in images.say("report", images.path("user")):
        images.wrong.append("a library behind a link is not named once")
    bare = images.path("libbare.so")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", images.path("libkeyed.so.c"), "-o", bare],
                   check=True)
    images.expect(images.compile("user2", USER, "-L" + images.folder, "-lbare",
                                 "-Wl,-rpath," + images.folder),
                  "Libraries without keys (not built with racehive-cc): libbare.so.")
    report = images.say("report", images.path("user2"))
    if not report.endswith("Libraries without keys (not built with racehive-cc): libbare.so.\n"):
        images.wrong.append(f"report: its last line is another:\n{report}")
    os.remove(bare)
    if "Libraries not found: libbare.so." not in images.say("candidates", images.path("user2")):
        images.wrong.append("a missing library is not named")


SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "images")


def read(name):
    with open(os.path.join(SOURCES, name), encoding="utf-8") as file:
        return file.read()


def line_of(text):
    return 1 + text[:text.index("// RACE")].count("\n")


def check_races(images, label, wanted, *words):
    """Runs a program and compares the races that are found, as (image, line) of both sides, with
    those wanted."""
    result = images.path(label + ".json")
    said = images.say("run", "--runs=30", "--store=" + images.path(label + ".runs"),
                      "--json=" + result, *words)
    with open(result, encoding="utf-8") as file:
        report = json.load(file)
    races = {frozenset((side.get("image"), side["line"]) for side in (c["first"], c["second"]))
             for c in report["candidates"] if c["verdict"] == "true-race"}
    if races != wanted:
        images.wrong.append(f"{label}: found {races}, not {wanted}:\n{said}")
    return said, report


def check_within(images):
    """A library and a plugin with a race inside, found under the library's name, whichever program
    runs it and whether or not the library is named; and nothing in one without a race."""
    racy, program = read("library.c"), read("program.c")
    library = images.compile("libcount.so", racy, "-fPIC", "-shared", "-pthread")
    clean = images.compile("libclean.so", racy.replace("    visits++; // RACE\n", ""), "-fPIC",
                           "-shared", "-pthread")
    linked = images.compile("linked", program, "-pthread", "-DLINKED", "-L" + images.folder,
                            "-lcount", "-Wl,-rpath," + images.folder)
    host = images.compile("host", program, "-pthread")
    race = {frozenset([("libcount.so", line_of(racy))])}
    check_races(images, "linked", race, linked)
    check_races(images, "plugin", race, host, library)
    check_races(images, "named", race, "--image=libcount.so", linked)
    check_races(images, "clean", set(), host, clean)
    check_races(images, "deep", set(), host, clean, "deep")
    images.say("run", linked)
    images.say("run", host, library)
    said = images.say("report", library)
    if "libcount.so: " not in said or "2 runs with racemob" not in said:
        images.wrong.append("what was found of a library is not kept by its build id:\n" + said)
    said = images.say("report", linked)
    if "in library_visit of libcount.so" not in said or "which take part: libcount.so" not in said:
        images.wrong.append("the report of a program has no races of its library:\n" + said)
    if "is neither a file nor a library" not in images.say("run", "--image=libnone.so", linked):
        images.wrong.append("a library that is not there is not refused")


def check_frames(images):
    """Frames of the program have names in the report of a library."""
    library = images.path("libcount.so")
    report = json.loads(images.say("report", "--format=json", library))
    words = json.dumps([c["evidence"]["stacks"] for c in report["candidates"]
                        if c["verdict"] == "true-race"])
    if "work program" not in words and "work linked.c" not in words and "work host.c" not in words:
        images.wrong.append("the program's frames have no names in a library's report: " + words)


def check_between(images):
    """Races between program and plugin, and between two plugins that are loaded where the other was,
    are of both images; with locks there are none."""
    images.copy("shared.h")
    made = {}
    for kind, options in (("racy", ["-DRACY"]), ("calm", [])):
        made[kind] = [images.compile(kind + "_host", read("between.c"), "-pthread", *options)]
        for name, more in (("_a.so", []), ("_b.so", ["-DPAD=7"])):
            made[kind].append(images.compile(kind + name, read("plugin.c"), "-fPIC", "-shared",
                                             "-pthread", *options, *more))
    own, plugin = line_of(read("between.c")), line_of(read("plugin.c"))
    host, first, second = made["racy"]
    check_races(images, "between", {frozenset([(None, own), ("racy_a.so", plugin)])}, host, first)
    said, _ = check_races(images, "plugins",
                          {frozenset([("racy_a.so", plugin), ("racy_b.so", plugin)])},
                          host, first, second)
    if "which take part: racy_a.so, racy_b.so." not in said:
        images.wrong.append("plugins that take part are not named:\n" + said)
    host, first, second = made["calm"]
    check_races(images, "calm_between", set(), host, first)
    check_races(images, "calm_plugins", set(), host, first, second)
    images.say("run", "--detector=alias", host, first)
    said = images.say("candidates", "--observed", host)
    if "of calm_a.so" not in said or "of two images" not in said:
        images.wrong.append("what alias saw of two images is not listed:\n" + said)


def check_variable(images):
    """A race of a library's own thread with a program that starts none, on a variable that the
    library exports and that nobody hands over."""
    racy = read("ticking.c")
    program, library = racy.split("#else\n")
    images.compile("libticking.so", racy, "-fPIC", "-shared", "-pthread", "-DLIBRARY")
    path = images.compile("ticked", racy, "-L" + images.folder, "-lticking",
                          "-Wl,-rpath," + images.folder)
    own = line_of(program)
    other = program.count("\n") + 1 + line_of(library)
    said, _ = check_races(images, "variable", {frozenset([(None, own), ("libticking.so", other)])},
                          path)
    if "starts no thread" not in images.say("candidates", path):
        images.wrong.append("a program without threads of its own has candidates:\n" + said)


def check_lost_sidecar(images):
    """A library whose sidecar is gone does not take part, and is named with the reason."""
    library = images.compile("libgone.so", read("library.c"), "-fPIC", "-shared", "-pthread")
    os.remove(library + ".racehive")
    for folder, _, names in os.walk(images.path("racehive/by-build-id")):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                if b"libgone.so" in file.read():
                    os.remove(path)
    said = images.say("run", images.path("host"), library)
    if "that were loaded and do not take part: libgone.so (its .racehive file is" not in said:
        images.wrong.append("a library without a sidecar is not named:\n" + said)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        images = Images(os.path.abspath(options.build), folder)
        check(images)
        check_within(images)
        check_frames(images)
        check_between(images)
        check_variable(images)
        check_lost_sidecar(images)
    for text in images.wrong:
        print(text)
    return 1 if images.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
