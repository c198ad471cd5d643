# SPDX-License-Identifier: Apache-2.0
"""Proves races of generated programs by collision: two threads stopped right before the two
accesses at the same time, at overlapping addresses, with the locks they then hold.

ThreadSanitizer reports one race for each eight bytes and is blinded by locks that happen to order
two accesses; this asks for one pair at a time. A pair that is not met is not disproved.
"""
import os
import re
import shutil
import subprocess

import tools

RUNS = 12

MEET = r"""
/* Where two threads meet right before two accesses. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct waiter {
    int side;
    pthread_t thread;
    const volatile char *at;
    size_t size;
};

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t bell = PTHREAD_COND_INITIALIZER;
static struct waiter waiting[64];
static int count, calls;

static int collide(const struct waiter *a, const struct waiter *b)
{
    if (pthread_equal(a->thread, b->thread) || (SIDES == 2 && a->side == b->side))
        return 0;
    return !a->size || !b->size || (a->at < b->at + b->size && b->at < a->at + a->size);
}

void meet(int side, const volatile void *at, size_t size)
{
    struct waiter me = {side, pthread_self(), at, size};
    struct timespec until;
    int run = atoi(getenv("MEET_RUN"));
    pthread_mutex_lock(&gate);
    for (int i = 0; i < count; i++)
        if (collide(&me, &waiting[i]))
            _exit(99);
    if (!calls++)
        srand((unsigned)run);
    /* Each run holds one side, so that its locks do not keep the other away, and later runs hold
     * fewer, so that a thread gets past its first accesses while the other is still there. */
    if (count < 64 && (side + run) % 2 == 0 && calls < 60 && rand() % (1 + run / 2) == 0) {
        waiting[count++] = me;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 300000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        while (pthread_cond_timedwait(&bell, &gate, &until) == 0)
            ;
        for (int i = 0; i < count; i++)
            if (pthread_equal(waiting[i].thread, me.thread))
                waiting[i] = waiting[--count];
    }
    pthread_mutex_unlock(&gate);
}
"""

# What an access touches, by the form of its line; the first that matches counts.
FORMS = [
    (r"keep\(\(unsigned long\)__atomic_load_n\(&(.+?), __ATOMIC", "{}"),
    (r"__atomic_\w+\(&(.+?), ", "{}"),
    (r"mem(?:cpy|set)\((p), ", "*{}"),
    (r"memcpy\(&copy, (p), ", "*{}"),
    (r"copy = \*p;", "*p"),
    (r"\*p = fresh;", "*p"),
    (r"keep\(\(unsigned long\)(.+?)\);", "{}"),
    (r"(?:int|struct item) \*\w+ = (.+?);", "{}"),
    (r"(?:made|got)->(?:value) (?:\+?=) ", None),
    (r"(?:top_\d+ = |made->next = )", ""),
    (r"(.+?) (?:\+=|=) ", "{}"),
]


def stop_before(line, side):
    """The line with a call of meet in front; None if that cannot be done."""
    code = line.strip()
    if re.match(r"while|return|for|if", code) or "message_" in code or "flag_" in code:
        return None
    for pattern, target in FORMS:
        m = re.match(pattern, code)
        if m:
            break
    if target is None:
        place = code.split(" ", 1)[0]
    else:
        place = target.format(*m.groups())
    place = re.sub(r"\.[ab]$", "", place)   # perhaps a bit-field, which has no address
    call = f"meet({side}, &({place}), sizeof({place}))" if place else f"meet({side}, 0, 0)"
    declares = re.match(r"(?:int|struct \w+) \*", code)
    return line.replace(code, f"{call}{';' if declares else ','} {code}", 1)


def confirm(folder, sources, race):
    """True: the two accesses met; False: they did not; None: not tried."""
    work = os.path.join(folder, "confirm")
    shutil.rmtree(work, ignore_errors=True)
    os.mkdir(work)
    sides = 1 if race[0] == race[1] else 2
    for name in [*sources, "shared.h"]:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            lines = file.read().split("\n")
        for side, (where, number) in enumerate(race[:sides]):
            if where == name:
                lines[number - 1] = stop_before(lines[number - 1], side)
                if lines[number - 1] is None:
                    return None
        if name == "shared.h":
            lines.append("void meet(int side, const volatile void *at, size_t size);\n")
        with open(os.path.join(work, name), "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
    with open(os.path.join(work, "meet.c"), "w", encoding="utf-8") as file:
        file.write(MEET)
    program = os.path.join(work, "program")
    tools.compile_program([tools.CLANG], [os.path.join(work, s) for s in [*sources, "meet.c"]],
                          program, ["-O0", "-g", "-w", "-pthread", f"-DSIDES={sides}", "-DSHAKE"])
    for run in range(RUNS):
        # With one side there is only one to hold; every run then holds it.
        number = run * 2 if sides == 1 else run
        done = subprocess.run([program], env=dict(os.environ, MEET_RUN=str(number)),
                              timeout=tools.TIME_LIMIT)
        if done.returncode == 99:
            return True
        if done.returncode:
            raise tools.BuildError(f"{program} ended with {done.returncode}")
    return False
