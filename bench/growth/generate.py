# SPDX-License-Identifier: Apache-2.0
"""Writes a modular C program of about N thousand lines.

Each module of 1,000 lines has a type, a list, a table and locks of its own, functions that use them
under a lock of the list or of the element, functions that do not, and a table of functions; the
threads call one function of each module. So what may race grows with the number of modules, as it
does in programs that people write, and not with its square.
"""
import os
import random

LINES = 1000

HEADER = """#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""

TYPES = """struct node_{m} {{
    struct node_{m} *next;
    long key;
    int count;
    char name[24];
    pthread_mutex_t lock;
}};
static struct node_{m} *head_{m};
static pthread_mutex_t lock_{m} = PTHREAD_MUTEX_INITIALIZER;
static long total_{m};
static int table_{m}[64];
static int unguarded_{m};
"""

OWN_LOCK = """static int {f}(struct node_{m} *p, int x)
{{
    int sum = 0;
    pthread_mutex_lock(&p->lock);
    p->count += x;
    p->key ^= x;
    for (int i = 0; i < 24; i++)
        sum += p->name[i] * x;
    p->name[x & 15] = (char)sum;
    pthread_mutex_unlock(&p->lock);
    return sum;
}}
"""

INSERT = """static int {f}(struct node_{m} *p, int x)
{{
    struct node_{m} *q = calloc(1, sizeof *q);
    if (!q)
        return p->count;
    pthread_mutex_init(&q->lock, NULL);
    q->key = x;
    pthread_mutex_lock(&lock_{m});
    q->next = head_{m};
    head_{m} = q;
    pthread_mutex_unlock(&lock_{m});
    return x;
}}
"""

WALK = """static int {f}(struct node_{m} *p, int x)
{{
    int n = p != NULL;
    pthread_mutex_lock(&lock_{m});
    total_{m} += x;
    for (struct node_{m} *q = head_{m}; q; q = q->next)
        n++;
    table_{m}[x & 63] += n;
    pthread_mutex_unlock(&lock_{m});
    return n;
}}
"""

RACE = """static int {f}(struct node_{m} *p, int x)
{{
    char text[64];
    int hash = p != NULL;
    unguarded_{m}++;
    snprintf(text, sizeof text, "%d", x);
    for (char *s = text; *s; s++)
        hash = hash * 31 + *s;
    return hash;
}}
"""

PRIVATE = """static int {f}(struct node_{m} *p, int x)
{{
    int a = x, b = x * 3;
    while (a > 1 && b < 1000) {{
        if (a & 1)
            a = a * 3 + b;
        else
            a >>= 1;
        b ^= a;
    }}
    return p ? a + b : b;
}}
"""

CALLS = """static int {f}(struct node_{m} *p, int x)
{{
    int r = {calls[0]}(p, x);
    r += {calls[1]}(p, x + r);
    return r + {calls[2]}(p, r);
}}
"""

RUN = """static int (*const operations_{m}[])(struct node_{m} *, int) = {{{last}}};
__attribute__((noinline)) int run_{m}(int x)
{{
    struct node_{m} first = {{.lock = PTHREAD_MUTEX_INITIALIZER}}, *p;
    int r = 0;
    pthread_mutex_lock(&lock_{m});
    p = head_{m};
    pthread_mutex_unlock(&lock_{m});
    if (!p)
        return {f}(&first, x);
{calls}    return r + operations_{m}[x & 7](p, x);
}}
"""

MAIN = """#include "all.h"
static void *work(void *a)
{{
    int x = (int)(long)a, r = 0;
{calls}    return (void *)(long)r;
}}
int main(void)
{{
    pthread_t threads[4];
    for (long i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i))
            return 1;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}}
"""


def module(m, chance):
    text, functions = '#include "all.h"\n' + TYPES.format(m=m), []
    while text.count("\n") < LINES - 60 or len(functions) < 8:
        kind = chance.choice([OWN_LOCK, INSERT, WALK, RACE, PRIVATE, CALLS])
        if kind is CALLS and len(functions) < 3:
            continue
        calls = chance.sample(functions, 3) if kind is CALLS else None
        functions.append(f"do_{m}_{len(functions)}")
        text += kind.format(m=m, f=functions[-1], calls=calls)
    calls = "".join(f"    r += {f}(p, x);\n" for f in functions[::4])
    return text + RUN.format(m=m, f=functions[0], last=", ".join(functions[-8:]), calls=calls)


def write(folder, kloc):
    """The names of the source files."""
    os.makedirs(folder, exist_ok=True)
    chance = random.Random(kloc)
    header, files = HEADER, []
    for m in range(kloc):
        header += f"int run_{m}(int);\n"
        files.append(f"part_{m}.c")
        with open(os.path.join(folder, files[-1]), "w", encoding="ascii") as out:
            out.write(module(m, chance))
    with open(os.path.join(folder, "all.h"), "w", encoding="ascii") as out:
        out.write(header)
    with open(os.path.join(folder, "main.c"), "w", encoding="ascii") as out:
        out.write(MAIN.format(calls="".join(f"    r += run_{m}(x);\n" for m in range(kloc))))
    return files + ["main.c"]
