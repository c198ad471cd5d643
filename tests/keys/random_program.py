# SPDX-License-Identifier: Apache-2.0
"""Writes random C programs whose output must not depend on keys.

Functions of nested loops, gotos (into loops too), switches and calls work on a state that belongs to
one thread but is reached through a pointer, so that nearly every access has a key. All arithmetic is
unsigned and every loop burns fuel, so that a program has one meaning and ends. Several threads
compute the same and the program prints what each has found.
"""
import random

HEADER = """
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 32, THREADS = 3 };

struct state {
    uint32_t words[SIZE];
    uint64_t wide[SIZE];
    uint8_t bytes[SIZE];
    double real;
    uint32_t fuel, depth, hash;
    struct state *self;
};

static unsigned rounds;

__attribute__((noinline)) static void touch(struct state *s, uint32_t *slot, uint32_t by)
{
    *slot = *slot * 31 + by;
    s->hash ^= *slot;
    s->hash = s->hash << 5 | s->hash >> 27;
}
"""

FOOTER = """
static void *work(void *arg)
{
    struct state *s = arg;
    for (unsigned i = 0; i < rounds; i++) {
        s->fuel = FUEL;
        s->depth = 0;
        s->hash += f%d(s, i, s->words[i %% SIZE]) + i;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct state states[THREADS];
    pthread_t threads[THREADS];
    rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
    for (int t = 0; t < THREADS; t++) {
        for (uint32_t i = 0; i < SIZE; i++) {
            states[t].words[i] = i * 2654435761u;
            states[t].wide[i] = i * 0x9e3779b97f4a7c15u;
            states[t].bytes[i] = (uint8_t)(i * 7);
        }
        states[t].self = &states[t];
        if (pthread_create(&threads[t], NULL, work, &states[t]))
            return 1;
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        uint64_t hash = states[t].hash;
        for (uint32_t i = 0; i < SIZE; i++)
            hash = hash * 31 + states[t].words[i] + states[t].wide[i] + states[t].bytes[i];
        printf("%%016llx %%.17g\\n", (unsigned long long)hash, states[t].real);
    }
    return 0;
}
"""


class Function:
    """One function; `r` is the random source, `number` its name, calls go to smaller ones."""

    def __init__(self, r, number):
        self.r, self.number = r, number
        self.labels = self.loops = 0
        self.budget = r.randint(15, 45)
        self.lines = []

    def line(self, depth, text):
        self.lines.append("    " * depth + text)

    def local(self):
        return self.r.choice(["a", "b", "c", "d", "e"])

    def value(self, deep=2):
        """An expression of 32 bits without effects."""
        r = self.r
        if deep == 0 or r.random() < 0.25:
            return r.choice([self.local(), self.local(), f"{r.randint(0, 99)}u", "s->hash",
                             "(uint32_t)w", "s->fuel"])
        x, y = self.value(deep - 1), self.value(deep - 1)
        return r.choice([
            f"({x} + {y})", f"({x} * {y})", f"({x} ^ {y})", f"({x} - {y})", f"({x} >> ({y} & 31))",
            f"({x} < {y} ? {x} : {y})", f"s->words[{x} % SIZE]", f"(uint32_t)s->wide[{x} % SIZE]",
            f"s->bytes[{x} % SIZE]", f"s->self->words[{x} % SIZE]", f"local[{x} % 8]",
        ])

    def call(self):
        r = self.r
        if self.number and r.random() < 0.8:
            return f"f{r.randrange(self.number)}(s, {self.value(1)}, {self.value(1)})"
        return f"(s->depth < 6 ? s->depth++, f{self.number}(s, {self.value(1)}, a) : 7u)"

    def simple(self, depth):
        r = self.r
        self.line(depth, r.choice([
            lambda: f"{self.local()} = {self.value()};",
            lambda: f"{self.local()} += {self.value()};",
            lambda: f"w = w * 3 + {self.value()};",
            lambda: f"s->words[{self.value(1)} % SIZE] = {self.value()};",
            lambda: f"s->words[{self.value(1)} % SIZE] += {self.value(1)};",
            lambda: f"s->wide[{self.value(1)} % SIZE] ^= w + {self.value(1)};",
            lambda: f"s->bytes[{self.value(1)} % SIZE]++;",
            lambda: f"s->real += (double)({self.value(1)} & 15) / 4;",
            lambda: f"local[{self.value(1)} % 8] ^= {self.value()};",
            lambda: f"touch(s, &local[{self.value(1)} % 8], {self.local()});",
            lambda: f"touch(s, &s->words[{self.value(1)} % SIZE], {self.local()});",
            lambda: f"memcpy(&s->words[{r.randint(0, 9)}], &s->words[{r.randint(16, 22)}], "
                    f"({self.value(1)} % 8) * 4);",
            lambda: f"{self.local()} ^= {self.call()};",
        ])())

    def burn(self, depth):
        self.line(depth, "if (s->fuel == 0)")
        self.line(depth + 1, f"return {self.value(1)};")
        self.line(depth, "s->fuel--;")

    def loop(self, depth, enclosing):
        r = self.r
        self.loops += 1
        i = f"i{self.loops}"
        kind = r.randrange(3)
        bound = f"({self.value(1)} % {r.randint(2, 12)} + 1)"
        if kind == 0:
            self.line(depth, f"for (uint32_t {i} = 0, n{i} = {bound}; {i} < n{i}; {i}++) {{")
        elif kind == 1:
            self.line(depth, f"while ({self.value(1)} % 7 != {r.randint(0, 6)}) {{")
        else:
            self.line(depth, "do {")
        if kind or r.random() < 0.3:
            self.burn(depth + 1)
        if r.random() < 0.15:
            self.labels += 1
            self.line(depth + 1, f"into{self.labels}:;")
            self.inner.append(self.labels)
        self.block(depth + 1, enclosing + 1)
        self.line(depth, f"}} while ({self.value(1)} % 5 > 1);" if kind == 2 else "}")

    def switch(self, depth, enclosing):
        self.line(depth, f"switch ({self.value(1)} % 6) {{")
        for case in self.r.sample(range(6), self.r.randint(2, 5)):
            self.line(depth, f"case {case}:")
            self.block(depth + 1, enclosing, 2)
            if self.r.random() < 0.6:
                self.line(depth + 1, "break;")
        self.line(depth, "default:")
        self.simple(depth + 1)
        self.line(depth, "}")

    def leave(self, depth, enclosing):
        choices = ["return"] + ["break", "continue"] * (2 if enclosing else 0) + ["goto"]
        what = self.r.choice(choices)
        self.line(depth, f"if ({self.value()} % {self.r.randint(2, 9)} == 1) {{")
        if what == "return":
            self.line(depth + 1, f"return {self.value()};")
        elif what == "goto":
            self.burn(depth + 1)
            self.line(depth + 1, self.r.choice(["goto again;", "goto out;", "goto middle;"]))
        else:
            if what == "continue":
                self.burn(depth + 1)
            self.line(depth + 1, f"{what};")
        self.line(depth, "}")

    def block(self, depth, enclosing, most=5):
        for _ in range(self.r.randint(1, most)):
            self.budget -= 1
            p = self.r.random()
            if self.budget < 0 or depth > 6 or p < 0.5:
                self.simple(depth)
            elif p < 0.72:
                self.loop(depth, enclosing)
            elif p < 0.8:
                self.switch(depth, enclosing)
            elif p < 0.9:
                self.leave(depth, enclosing)
            else:
                self.line(depth, f"if ({self.value()} % 3) {{")
                self.block(depth + 1, enclosing, 3)
                self.line(depth, "} else {")
                self.block(depth + 1, enclosing, 2)
                self.line(depth, "}")

    def text(self):
        self.inner = []
        self.block(1, 0)
        first, self.lines = self.lines, []
        self.block(1, 0)
        last, self.lines = self.lines, []
        for label in self.inner:  # ways into the middle of loops
            self.line(1, f"if (w % {self.r.randint(3, 9)} == 2) {{")
            self.burn(2)
            self.line(2, "w++;")
            self.line(2, f"goto into{label};")
            self.line(1, "}")
        # A jump into a loop passes by the start of its counter: those are set here.
        counters = [f"i{n}" for n in range(1, self.loops + 1)]
        declared = "".join(f", {c} = 0, n{c} = 0" for c in counters)
        body = "\n".join(first + ["    middle:;"] + last + ["    out:;"] + self.lines)
        body = body.replace("for (uint32_t ", "for (")
        return (f"__attribute__((noinline)) static uint32_t f{self.number}(struct state *s, "
                f"uint32_t a, uint32_t b)\n{{\n"
                f"    uint32_t c = a + b, d = a ^ b, e = 1, local[8] = {{a, b, 3}}{declared};\n"
                f"    uint64_t w = a;\n    (void)c, (void)d, (void)e;\n"
                f"    again:;\n{body}\n"
                f"    if (w & 64 && s->fuel) {{\n        s->fuel--;\n        w = w * 5 + 1;\n"
                f"        goto middle;\n    }}\n"
                f"    return a + b * 3 + c + d + e + local[a % 8] + (uint32_t)w;\n}}\n")


def write(seed):
    r = random.Random(seed)
    count = r.randint(3, 6)
    texts = [f"enum {{ FUEL = {r.randint(300, 3000)} }};\n"]
    texts += [f"static uint32_t f{n}(struct state *s, uint32_t a, uint32_t b);" for n in range(count)]
    texts += [Function(r, n).text() for n in range(count)]
    return HEADER + "\n".join(texts) + FOOTER % (count - 1)


if __name__ == "__main__":
    import sys
    print(write(int(sys.argv[1])))
