# SPDX-License-Identifier: Apache-2.0
"""A whole generated program: what it has, where its parts go, and which of its lines race."""
import json
import os
import random
import re

from . import features, locks, objects, pieces, threads
from .model import Event, Model

MODES = ("mixed", "racefree", "guarded")
ROGUE = 0.15  # how often code of a mixed program breaks the rule of its object

HEADER = """\
/* What the files of this generated program share. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

/* Other schedules, for checks of this program by running it. */
#ifdef SHAKE
#include <time.h>
#include <unistd.h>
static inline void shake(void)
{{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    unsigned long dice = (unsigned long)now.tv_nsec * 0x9e3779b97f4a7c15ul >> 32;
    if (dice % 2)
        usleep((useconds_t)(dice % 16 == 1 ? 20000 : dice / 16 % 512));
}}
#else
#define shake() ((void)0)
#endif

struct arg {{
    int id;
    void *slot[{slots}];
    intptr_t word[{slots}];
}};
struct item {{
    int value;
    struct item *next;
}};
struct box {{
    int weight;
    void *pointer;
}};
union anything {{
    void *p;
    uintptr_t bits;
}};

extern _Thread_local volatile unsigned noise;
extern _Thread_local volatile unsigned long sink;
extern int targets[4];
extern struct box boxes[{slots}];
extern union anything unions[{slots}];
extern void *registry[{slots}], *inners[{slots}];
extern void *(*entries[])(void *);
extern void (*jobs[])(struct arg *);

static inline unsigned next(void)
{{
    return noise++;
}}

static inline void keep(unsigned long value)
{{
    sink = value;
}}

void *xmalloc(size_t size);
void *look_up(int index);
void apply(void (*fn)(void *), void *p);
void descend(struct arg *a, int depth, void (*fn)(struct arg *));
void start_thread(pthread_t *handle, void *(*fn)(void *), struct arg *a);
void finish_thread(pthread_t handle);
void init_recursive(pthread_mutex_t *lock);
void fill_arg(struct arg *a, int id, const struct arg *from);
void read_all(struct arg *a);
"""

COMMON = """\
_Thread_local volatile unsigned noise;
_Thread_local volatile unsigned long sink;
int targets[4] = {{1, 2, 3, 4}};
struct box boxes[{slots}];
union anything unions[{slots}];
void *registry[{slots}], *inners[{slots}];

NOINLINE void *xmalloc(size_t size)
{{
    void *p = calloc(1, size);
    if (!p)
        abort();
    return p;
}}

NOINLINE void *look_up(int index)
{{
    return registry[index];
}}

NOINLINE void apply(void (*fn)(void *), void *p)
{{
    fn(p);
}}

NOINLINE void descend(struct arg *a, int depth, void (*fn)(struct arg *))
{{
    if (depth > 0)
        descend(a, depth - 1, fn);
    else
        fn(a);
}}

NOINLINE void start_thread(pthread_t *handle, void *(*fn)(void *), struct arg *a)
{{
    if (pthread_create(handle, NULL, fn, a))
        abort();
}}

NOINLINE void finish_thread(pthread_t handle)
{{
    if (pthread_join(handle, NULL))
        abort();
}}

NOINLINE void init_recursive(pthread_mutex_t *lock)
{{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(lock, &attributes);
}}

NOINLINE void fill_arg(struct arg *a, int id, const struct arg *from)
{{
    *a = *from;
    a->id = id;
}}
"""


class Program:
    def __init__(self, seed, size=8, mode="mixed"):
        self.seed, self.size, self.mode = seed, size, mode
        self.rng = random.Random(f"{mode} {seed}")
        self.files = self.rng.randint(1, 3) + size // 50
        self.last_tag = 0
        self.threads = threads.Threads(self.rng, mode)
        self.model = Model(self.threads.graph)
        self.bodies = threads.Bodies(self.threads, self.new_tag)
        self.memory = objects.Memory(self.rng, mode, self.files)
        self.maker = pieces.PieceMaker(self.rng, mode, self.files, self.new_tag)
        self.locks, self.placed, self.jobs, self.features = [], [], [], []
        self.finals, self.onces = {}, []
        for role in self.threads.roles[1:]:
            role.file = self.rng.randrange(self.files)
        self._add_link_events()
        for number, steps in enumerate(self.threads.onces):
            self._add_once(number, steps)
        for _ in range(size):
            self._add_object()
        self._add_features()

    def new_tag(self):
        self.last_tag += 1
        return f"/* A{self.last_tag} */"

    # ---- what happens ----

    def _add_link_events(self):
        for link in self.threads.links:
            n, tags = link.number, link.tags
            for name, step in (("post", link.post), ("wait", link.wait)):
                if link.kind == "sem":
                    self.model.free.add(tags[name])
                    continue
                locks = {f"gate {n}": "w"} if link.kind == "cond" else {}
                atomic = link.kind in ("release", "relaxed")
                self.model.add([Event(tags[name], i, node, frozenset([f"flag {n}"]),
                                      name == "post", atomic, locks)
                                for i, node in step.nodes.items()])
            if not link.orders:
                for name, step in (("put", link.post), ("get", link.wait)):
                    self.model.add([Event(tags[name], i, node, frozenset([f"message {n}"]),
                                          name == "put", False, {})
                                    for i, node in step.nodes.items()])
                for pair in (("post", "wait"), ("put", "get")):
                    self.model.certain.add(tuple(sorted(tags[name] for name in pair)))

    def _add_once(self, number, steps):
        """The function that pthread_once calls runs in one of the callers, before all others go
        on: an event for each caller that may be the first."""
        graph, tag = self.threads.graph, self.new_tag()
        obj = self.memory.new_object(shape="one")
        obj.storage = "global"
        leaf = self.rng.choice(obj.type.leaves)
        callers = [(i, node, step) for step in steps for i, node in step.nodes.items()]
        firsts = [c for c in callers
                  if not any(o is not c and graph.delays(o[1], c[1]) for o in callers)]
        events = []
        for instance, its, _ in firsts:
            node = graph.node()
            for edges, orders in ((graph.waits, False), (graph.before, True)):
                for previous in [n for n, nexts in enumerate(edges) if its in nexts]:
                    graph.edge(previous, node, orders)
            self.model.after[node] = [c[1] for c in callers]
            events.append(Event(tag, instance, node, obj.keys([0], [leaf]), True, False,
                                {f"once {number}": "w"}))
        graph.close()
        self.model.add(events)
        target = obj.name + (f".{leaf.path}" if leaf.path else "")
        value = "&targets[next() % 4]" if leaf.is_pointer else f"({leaf.ctype})next()"
        self.onces.append([f"NOINLINE void setup_{number}(void)", "{",
                           f"    {target} = {value}; {tag}", "}"])
        self._add_final(obj)
        self._add_pieces(obj, lambda: (self.rng.choice(("read", "read", "update")), None, False))

    def _add_final(self, obj):
        """The reads at the end of main; in a program without races, only where they are ordered."""
        step = next(s for s in self.threads.main.steps if s.kind == "final")
        (instance, node), = step.nodes.items()
        atoms, lines = set(), []
        for leaf in obj.type.leaves:
            if leaf.atom in atoms:
                continue
            atoms.add(leaf.atom)
            tag = self.new_tag()
            event = Event(tag, instance, node, obj.keys(range(obj.count), [leaf]), False, False, {})
            if self.mode == "mixed" or self.model.accepts([event]):
                self.model.add([event])
                target = f"p->{leaf.path}" if leaf.path else "*p"
                lines.append(f"keep((unsigned long){target}); {tag}")
        self.finals[obj] = lines

    def _new_lock(self, kind, place, count=1):
        if place != "array" and place != "embedded":
            same = [l for l in self.locks if (l.kind, l.place) == (kind, place)]
            if same and self.rng.random() < 0.3:
                return self.rng.choice(same)
        self.locks.append(locks.Lock(len(self.locks), kind, place, count))
        return self.locks[-1]

    def _add_object(self):
        rules = ["lock", "lock", "embedded", "embedded", "array", "rw", "phase", "readonly"]
        if self.mode != "guarded":
            rules += ["atomic", "phase"]
        if self.mode == "mixed":
            rules.append("nothing")
        getattr(self, "_rule_" + self.rng.choice(rules))()

    def _guard(self, lock, mode):
        style = locks.choose_style(self.rng, lock, mode, self.mode != "mixed")
        return locks.Guard(lock, mode, style)

    def _kind(self):
        return self.rng.choice(("read", "write", "update"))

    def _rogue(self):
        return self.mode == "mixed" and self.rng.random() < ROGUE

    def _rule_lock(self):
        kinds = ["mutex", "mutex", "recursive", "spin"] + ["sem"] * (self.mode != "guarded")
        place = self.rng.choice(("global", "global", "pointer"))
        lock = self._new_lock(self.rng.choice(kinds), place)
        self._locked(self.memory.new_object(), lock)

    def _rule_embedded(self):
        kind = self.rng.choice(("mutex", "mutex", "spin", "rw"))
        obj = self.memory.new_object(lock=locks.KINDS[kind][0])
        self._locked(obj, self._new_lock(kind, "embedded"))

    def _rule_array(self):
        obj = self.memory.new_object(shape="array")
        self._locked(obj, self._new_lock(self.rng.choice(("mutex", "rw")), "array", obj.count))

    def _rule_rw(self):
        self._locked(self.memory.new_object(), self._new_lock("rw", "global"))

    def _locked(self, obj, lock):
        def choose():
            kind = self._kind()
            if self._rogue():
                wrong = self.rng.choice(("none", "other", "read"))
                if wrong == "other":
                    other = self._new_lock("mutex", "global")
                    return kind, self._guard(other, "w"), False
                if wrong == "read" and lock.kind == "rw":
                    return kind, locks.Guard(lock, "r", "direct"), False
                return kind, None, False
            if lock.kind == "rw" and kind == "read" and self.rng.random() < 0.8:
                return kind, locks.Guard(lock, "r", "direct"), False
            return kind, self._guard(lock, "w"), False
        self._add_final(obj)
        self._add_pieces(obj, choose)

    def _rule_phase(self):
        """Nothing but the order of the threads keeps accesses apart."""
        obj = self.memory.new_object()
        obj.exact = self.mode != "guarded"
        self._add_final(obj)
        self._add_pieces(obj, lambda: (self._kind(), None, False), careful=True)

    def _rule_readonly(self):
        obj = self.memory.new_object()
        obj.exact = self.mode != "guarded"
        self._add_final(obj)
        self._add_pieces(obj, lambda: ("write" if self._rogue() else "read", None, False))

    def _rule_atomic(self):
        obj = self.memory.new_object()
        self._add_final(obj)
        self._add_pieces(obj, lambda: (self._kind(), None, not self._rogue()))

    def _rule_nothing(self):
        obj = self.memory.new_object()
        self._add_final(obj)
        self._add_pieces(obj, lambda: (self._kind(), None, False))

    def _add_pieces(self, obj, choose, careful=False):
        """`careful`: put pieces only where they race with nothing, apart from rogues."""
        for _ in range(self.rng.randint(2, 4)):
            kind, guard, atomic = choose()
            wanted = [kind] + ([self._same_need(kind)] if self.rng.random() < 0.3 else [])
            piece = self.maker.make(obj, self.memory.routes(), wanted, guard, atomic)
            if piece.effects:
                self._place(piece, careful)

    def _same_need(self, kind):
        """A second access that the protection of the first allows."""
        return "read" if kind == "read" else self._kind()

    def _place(self, piece, careful=False):
        done = False
        slots = self.threads.slots()
        for role, step in self.rng.sample(slots, min(len(slots), self.rng.choice((1, 1, 2, 3)))):
            events = [e for instance, node in step.nodes.items()
                      for e in piece.events(instance, node)]
            strict = self.mode != "mixed" or (careful and self.rng.random() > ROGUE)
            if strict and not self.model.accepts(events):
                continue
            self.model.add(events)
            self.model.free.update(piece.free_tags)
            step.calls.append((piece, self._call_style(piece)))
            done = True
        if done:
            self.placed.append(piece)
        return done

    def _call_style(self, piece):
        how = self.rng.choice(("direct", "direct", "loop") +
                              (() if self.mode == "guarded" else ("table", "deep")))
        if how == "table" and piece.job is None:
            piece.job = len(self.jobs)
            self.jobs.append(piece)
        return how

    def _add_features(self):
        for _ in range(1 + self.size // 8):
            self._place(self.rng.choice(features.PRIVATE)(self.maker, self.new_tag))
        if self.mode == "guarded":
            return
        for _ in range(1 + self.size // 16):
            kind = self.rng.choice((features.Published, features.Queue))
            feature = kind(len(self.features), self.maker, self.new_tag)
            self.features.append(feature)
            makers = ([feature.push, feature.push] if kind is features.Published
                      else [lambda: feature.put(self._rogue() or self._rogue())] * 2)
            for make in makers:
                self._place(make())
            for _ in range(2):
                self._place(feature.walk(not self._rogue()) if kind is features.Published
                            else feature.take())

    # ---- the files ----

    def texts(self):
        """Name of file -> text."""
        slots = max(1, len(self.memory.objects))
        header = [HEADER.format(slots=slots)]
        parts = [[] for _ in range(self.files)]
        for t in self.memory.types:
            header += [*t.declaration(), *t.prototypes()]
            if t.copies:
                parts[self.rng.randrange(self.files)] += [*t.helpers(), ""]
        heads, shared = self.maker.shared_functions()
        header += heads
        parts[self.rng.randrange(self.files)] += shared
        self._put_globals(header, parts)
        for role in self.threads.roles[1:]:
            header.append(f"void *{role.name}(void *raw);")
        body = {role: self.bodies.function(role, self._set_up() if role.name == "main" else ())
                for role in self.threads.roles}
        for piece in self.placed:
            header.append(f"void {piece.name}(struct arg *a);")
            parts[piece.file] += [*piece.lines, ""]
        for role in self.threads.roles[1:]:
            parts[role.file] += [*body[role], ""]
        texts = {"shared.h": "\n".join(header) + "\n"}
        for n, part in enumerate(parts):
            texts[f"part_{n}.c"] = "\n".join(
                [f"/* Part {n} of a generated program. */", '#include "shared.h"', "", *part])
        texts["main.c"] = self._main_file(body[self.threads.main], slots)
        return texts

    def _put_globals(self, header, parts):
        for o in self.memory.objects:
            if o.storage == "local" or "getter" not in o.routes:
                o.home %= self.files
            for declaration, definition in o.declarations():
                header.append(declaration)
                parts[o.home] += definition.split("\n")
            parts[o.home] += ["", *o.init(), "", *self._final_function(o), ""]
            header.append(f"void final_{o.number}(void);")
        owners = [self.bodies, *self.locks, *self.features]
        for owner in owners:
            for declaration, definition in owner.declarations():
                header.append(declaration)
                parts[self.rng.randrange(self.files)] += definition.split("\n")
        for declaration, definition in locks.wrappers():
            header.append(declaration)
            parts[self.rng.randrange(self.files)] += [*definition.split("\n"), ""]
        for lines in self.onces:
            parts[self.rng.randrange(self.files)] += [*lines, ""]

    def _final_function(self, o):
        reads = self.finals[o]
        head = [f"NOINLINE void final_{o.number}(void)", "{"]
        if not reads:
            return [*head, "}"]
        t = o.type.name
        if o.shape == "tree":
            walk = f"final_walk_{o.number}"
            return [f"static NOINLINE void {walk}({t} *p)", "{", "    if (!p)", "        return;",
                    *pieces.indent(reads), f"    {walk}(p->link_left);",
                    f"    {walk}(p->link_right);", "}", "", *head, f"    {walk}({o.base()});", "}"]
        if o.shape == "list":
            return [*head, f"    for ({t} *p = {o.base()}; p; p = p->link_next) {{",
                    *pieces.indent(reads, 2), "    }", "}"]
        return [*head, f"    {t} *p = {o.base()};",
                f"    for (int e = 0; e < {o.count}; e++, p++) {{",
                *pieces.indent(reads, 2), "    }", "}"]

    def _set_up(self):
        lines = []
        for o in self.memory.objects:
            lines += o.main_local()
        for lock in self.locks:
            lines += lock.set_up()
        lines += [*self.bodies.set_up()]
        lines += [f"    init_{o.number}();" for o in self.memory.objects]
        return lines + ["    fill_self(a);", *self.bodies.fill_early()]

    def _main_file(self, main, slots):
        lines = ["/* The main file of a generated program. */", '#include "shared.h"', ""]
        lines += COMMON.format(slots=slots).split("\n")
        entries = ", ".join(r.name for r in self.bodies.tables) or "NULL"
        jobs = ", ".join(p.name for p in self.jobs) or "NULL"
        lines += [f"void *(*entries[])(void *) = {{{entries}}};",
                  f"void (*jobs[])(struct arg *) = {{{jobs}}};", "",
                  "static NOINLINE void fill_self(struct arg *a)", "{",
                  "    memset(a, 0, sizeof *a);"]
        for o in self.memory.objects:
            if o.routes & {"slot", "twice"}:
                lines.append(f"    a->slot[{o.index}] = {o.base()};")
            if "word" in o.routes:
                lines.append(f"    a->word[{o.index}] = (intptr_t){o.base()};")
        lines += ["}", "", "NOINLINE void read_all(struct arg *a)", "{", "    (void)a;"]
        lines += [f"    final_{o.number}();" for o in self.memory.objects]
        return "\n".join([*lines, "}", "", *main]) + "\n"

    # ---- the truth ----

    def truth(self, texts):
        places = {}
        for name, text in texts.items():
            for number, line in enumerate(text.split("\n"), 1):
                for tag in re.findall(r"/\* A\d+ \*/", line):
                    places[tag] = {"file": name, "line": number}
        races, maybe = self.model.races()
        touched = {tag for pair in races | maybe for tag in pair}
        free = {tag for tag in self.model.tags | self.model.free if tag not in touched}

        def pairs(tags):
            return [[places[a], places[b]] for a, b in sorted(tags)]
        return {"seed": self.seed, "size": self.size, "mode": self.mode,
                "sources": sorted(n for n in texts if n.endswith(".c")),
                "threads": len(self.threads.instances),
                "races": pairs(races), "maybe": pairs(maybe),
                "race_free": sorted((places[t] for t in free if t in places),
                                    key=lambda p: (p["file"], p["line"]))}

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        texts = self.texts()
        for name, text in texts.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        truth = self.truth(texts)
        with open(os.path.join(folder, "truth.json"), "w", encoding="utf-8") as file:
            json.dump(truth, file, indent=1)
        return truth
