#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the search follows pointers through nested structs, arrays and copies of them.

Each generated program stores addresses of variables somewhere in nested structs and arrays, at
indices that the compiler cannot foresee, copies parts of these about, and reads pointers from
places in them. A thread then writes through each pointer that was read while main writes the
variables. Which pointer leads to which variable is found out by running the program; each such pair
of lines is a race, and must have a candidate.

Usage: run_pointers.py --racehive=BUILD --seeds=A-B [--jobs=J] [--keep]
"""
import argparse
import concurrent.futures
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tools  # noqa: E402

HEAD = """#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers that the compiler cannot foresee, made in three ways. */
static volatile int zero, less = -3, numbers[40];
#define V(n) numbers[n]
#define W(n) ((n) + zero)
#define X(n) ((n) + 3 + less)
#define STEP static __attribute__((noinline)) void
"""


class Member:
    """`dims`: of an array, empty if it is none; `struct`: number of a struct, None for int *."""

    def __init__(self, name, struct, dims):
        self.name, self.struct, self.dims = name, struct, dims

    def declare(self):
        base = "int *" if self.struct is None else f"struct s{self.struct} "
        return base + self.name + "".join(f"[{n}]" for n in self.dims)


class Program:
    def __init__(self, seed):
        self.random = random.Random(f"pointers {seed}")
        self.variables, self.slots, self.middles = self.random.randint(2, 5), 0, []
        self.usual = self.random.randrange(12)
        self.structs = []
        for number in range(self.random.randint(2, 5)):
            self.structs.append([self.make_member(f"m{i}", number)
                                 for i in range(self.random.randint(1, 5))])
        self.places = [self.make_place(i) for i in range(self.random.randint(2, 4))]
        self.steps = []
        for make, most in ((self.make_store, 10), (self.make_step, 20), (self.make_copy, 10),
                           (self.make_read, 16)):
            for _ in range(self.random.randint(most // 2, most)):
                self.steps.append(make())

    def make_dims(self):
        count = self.random.choice((0, 0, 1, 1, 2))
        return [self.random.choice((2, 2, 3, 3, 5, 40)) if i == 0 else self.random.randint(2, 4)
                for i in range(count)]

    def make_member(self, name, number):
        nested = number and self.random.random() < 0.5
        return Member(name, self.random.randrange(number) if nested else None, self.make_dims())

    def make_place(self, i):
        """A variable, or a block of memory that a variable leads to; mostly of the struct that may
        hold all others, so that there is something to copy."""
        last = len(self.structs) - 1
        struct = last if self.random.random() < 0.7 else self.random.randint(0, last)
        dims = self.make_dims()[:1] if self.random.random() < 0.5 else []
        return Member(f"g{i}" if self.random.random() < 0.6 else f"h{i}", struct, dims)

    def index(self, size):
        """Mostly the same one, so that what is stored is read."""
        n = (self.usual if self.random.random() < 0.8 else self.random.randrange(size)) % size
        way = self.random.choice("VVWX") if self.random.random() < 0.6 else ""
        return f"[{way}({n})]" if way else f"[{n}]"

    def walk(self, until=None):
        """(expression, member, dimensions left) of a way into a place: to a pointer, or to where
        `until` says to stop."""
        place = at = self.random.choice(self.places)
        text, left = at.name, list(at.dims)
        if at.name[0] == "h" and not left:
            text = f"(*{at.name})"
        while True:
            is_block = at is place and left and at.name[0] == "h"
            if until and not is_block and until(at, left):
                return text, at, left
            if left:
                text += self.index(left.pop(0))
            elif at.struct is None:
                return text, at, left
            else:
                at = self.random.choice(self.structs[at.struct])
                text, left = f"{text}.{at.name}", list(at.dims)

    def make_store(self):
        text, _, _ = self.walk()
        return f"{text} = &v{self.random.randrange(self.variables)};"

    def make_copy(self):
        """An assignment of structs, or a copy of an array, from one place to another."""
        depth = self.random.random() * 0.6

        def stop(at, left):
            return (at.struct is not None or left) and self.random.random() > depth
        a, at, dims = self.walk(stop)
        for _ in range(60):
            b, other, others = self.walk(stop)
            if (at.struct, dims) == (other.struct, others) and a != b:
                if not dims and self.random.random() < 0.6:
                    return f"{a} = {b};"
                return f"memmove(&{a}, &{b}, sizeof {a});"
        return self.make_store()

    def make_walk(self):
        """Through a pointer into an array, that is indexed or moves along."""
        text, _, left = self.walk(lambda at, left: at.struct is None and len(left) == 1)
        variable = self.random.randrange(self.variables)
        if not left:
            return f"{text} = &v{variable};"
        if self.random.random() < 0.5:
            return f"int **w = {text}; w{self.index(left[0])} = &v{variable};"
        n = self.random.randrange(left[0])
        return (f"int **w = {text}; for (int i = 0; i < V({n}); i++) w++; "
                f"*w = &v{variable};")

    def point_to_middle(self):
        """A static pointer that a step of its own sets to an element of an array, and the way from
        there to another: (text, member), or None."""
        text, at, left = self.walk(lambda at, left: len(left) == 1)
        if not left:
            return None
        size = left[0]
        middle = self.random.randrange(size)
        target = (self.usual if self.random.random() < 0.8 else self.random.randrange(size)) % size
        name = f"middle{len(self.middles)}"
        kind = "int *" if at.struct is None else f"struct s{at.struct} "
        self.middles.append(f"static {kind}*{name};")
        self.steps.append(f"{name} = &{text}[{self.random.choice('WV')}({middle})];"
                          if self.random.random() < 0.3 else f"{name} = &{text}[{middle}];")
        way = self.random.choice((
            f"{name}[W({target - middle})]", f"{name}[V({target}) - {middle}]",
            f"{name}[{target} - V({middle})]", f"({name} - V({middle}))[{target}]",
            f"({name} - {middle})[V({target})]"))
        if target < middle and self.random.random() < 0.3:
            self.steps.append(f"for (int i = 0; i < V({middle - target}); i++) {name}--;")
            way = f"(*{name})"
        return way, at

    def make_middle(self):
        """Through a pointer to the middle of an array, to lower elements as well."""
        found = self.point_to_middle()
        if not found:
            return self.make_store()
        text, at = found
        return f"{self.finish(text, at)} = &v{self.random.randrange(self.variables)};"

    def finish(self, text, at):
        """On from an element to a pointer in it."""
        while at.struct is not None:
            at = self.random.choice(self.structs[at.struct])
            text = f"{text}.{at.name}" + "".join(self.index(n) for n in at.dims)
        return text

    def make_back(self):
        """To a member, and from there back to the struct that has it, to another member."""
        text, at, _ = self.walk(lambda at, left: at.struct is not None and not left)
        if at.struct is None:
            return self.make_store()
        struct, members = at.struct, self.structs[at.struct]
        member, target = self.random.choice(members), self.random.choice(members)
        way = f"o->{target.name}" + "".join(self.index(n) for n in target.dims)
        if target.struct is not None:
            return self.make_store()
        return (f"char *m = (char *)&{text}.{member.name}; struct s{struct} *o = "
                f"(void *)(m - offsetof(struct s{struct}, {member.name})); "
                f"{way} = &v{self.random.randrange(self.variables)};")

    def make_step(self):
        make = self.random.choices((self.make_store, self.make_copy, self.make_walk,
                                    self.make_back, self.make_middle), (4, 5, 2, 1, 3))[0]
        return make()

    def make_read(self):
        self.slots += 1
        slot = f"slot{self.slots - 1}"
        found = self.point_to_middle() if self.random.random() < 0.2 else None
        if found:
            return f"{slot} = {self.finish(*found)};"
        text, _, left = self.walk(lambda at, left: at.struct is None and len(left) == 1 and
                                  self.random.random() < 0.3)
        if left:
            return f"int **w = {text}; {slot} = w{self.index(left[0])};"
        return f"{slot} = {text};"

    def write(self):
        """(text, lines of the slots, lines of the variables)"""
        out = HEAD.splitlines()
        for number, members in enumerate(self.structs):
            out.append(f"struct s{number} {{ " +
                       " ".join(f"{m.declare()};" for m in members) + " long end; };")
        for p in self.places:
            star = "*" if p.name[0] == "h" else ""
            dims = "" if star else "".join(f"[{n}]" for n in p.dims)
            out.append(f"static struct s{p.struct} {star}{p.name}{dims};")
        out += self.middles + [f"static int v{i};" for i in range(self.variables)]
        out += [f"static int *slot{i};" for i in range(self.slots)]
        for number, step in enumerate(self.steps):
            out.append(f"STEP step{number}(void) {{ {step} }}")
        out += ["static void *work(void *arg)", "{"]
        slots = []
        for i in range(self.slots):
            out += [f"    if (slot{i})", f"        *slot{i} = zero;"]
            slots.append(len(out))
        out += ["    return arg;", "}", "int main(void)", "{", "    pthread_t thread;",
                "    for (int i = 0; i < 40; i++)", "        numbers[i] = i;"]
        for p in self.places:
            if p.name[0] == "h":
                count = "".join(f"{n} * " for n in p.dims)
                out += [f"    if (!({p.name} = calloc(1, {count}sizeof *{p.name})))",
                        "        return 1;"]
        out += [f"    step{i}();" for i in range(len(self.steps))]
        for i in range(self.slots):
            out.append(f'    printf("%d\\n", ' + " : ".join(
                f"slot{i} == &v{k} ? {k}" for k in range(self.variables)) + " : -1);")
        out += ["    fflush(stdout);", "    if (pthread_create(&thread, NULL, work, NULL))",
                "        return 1;"]
        variables = []
        for i in range(self.variables):
            out.append(f"    v{i} = 1;")
            variables.append(len(out))
        out += ["    return pthread_join(thread, NULL);", "}"]
        return "\n".join(out) + "\n", slots, variables


def check(seed, build, folder):
    """(number of races, complaint or None)"""
    text, slots, variables = Program(seed).write()
    name = f"pointers{seed}.c"
    source, program = os.path.join(folder, name), os.path.join(folder, f"pointers{seed}")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    tools.build_racehive(build, [source], program, ["-pthread"])
    done = subprocess.run([program], stdout=subprocess.PIPE, text=True, timeout=tools.TIME_LIMIT)
    if done.returncode:
        return 0, f"seed {seed}: ended with {done.returncode}"
    leads = list(map(int, done.stdout.split()))
    races = {tools.pair((name, slots[i]), (name, variables[k]))
             for i, k in enumerate(leads) if k >= 0}
    missing = races - tools.candidate_pairs(tools.candidates_of(build, program))
    if missing:
        return len(races), f"seed {seed}: without a candidate: " + \
            ", ".join(map(tools.show, sorted(missing)))
    for path in (source, program, program + ".racehive"):
        os.unlink(path)
    return len(races), None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--racehive", required=True, metavar="BUILD")
    parser.add_argument("--seeds", required=True, metavar="A-B")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    first, last = map(int, options.seeds.split("-"))
    build = os.path.abspath(options.racehive)
    races, failed = 0, 0
    with tools.WorkFolder(keep=options.keep) as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for count, complaint in pool.map(lambda seed: check(seed, build, folder),
                                         range(first, last + 1)):
            races += count
            failed += complaint is not None
            if complaint:
                print(complaint, flush=True)
    print(f"{last - first + 1} programs with {races} races, {failed} failed")
    return 1 if failed or not races else 0


if __name__ == "__main__":
    sys.exit(main())
