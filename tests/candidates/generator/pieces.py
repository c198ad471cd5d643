# SPDX-License-Identifier: Apache-2.0
"""Pieces: functions that touch one shared object under some protection, in many forms of C.

Keeping lines alive in an optimised whole-program build (each of these was seen to go wrong):
- Pieces and the functions they use are noinline unless locks stand around the access, or the
  optimiser forwards a store to a load of the next piece, drops the first of two stores, or joins
  neighbouring stores into one vector store, whose line is then that of one of them or 0.
- A piece touches a member once, and only one access of a piece stands in its own body, for the
  same reason; the others are in functions of their own.
- Values stored come from a volatile thread-local counter (`next`), else a variable that only ever
  gets one value becomes a constant or a single bit; values read go to a volatile thread-local
  sink (`keep`), else the read is dead.
- Every member of every object is read at the end of main, else stores to it are dead.
- A function that only reads through a pointer parameter may have the read moved into its callers,
  with their lines (argument promotion): readers by pointer are in a table of functions too, which
  takes their address and stops that.
- The two branches of a trylock never start with the same access: it would be moved in front of the
  branch and lose its line. The failing branch calls a function.
- Whole-struct reads are given to a function that uses all members, or the copy shrinks to those
  that are used.
"""
from .model import Event

ALL = None  # instead of a leaf: the whole element
PLAIN_KINDS = ("read", "write", "update")


class Effect:
    """An access in the source: what it touches, under which guard."""

    def __init__(self, tag, obj, leaves, write, atomic=False, guard=None, contended=None,
                 elements=None):
        self.tag, self.obj, self.leaves, self.write = tag, obj, leaves, write
        self.atomic, self.guard, self.contended = atomic, guard, contended
        self.elements = elements   # function of the instance

    def events(self, instance, node):
        for e in self.elements(instance):
            locks = {}
            if self.guard and self.guard.held_by(instance):
                locks[self.guard.lock.key(self.obj, e)] = self.guard.mode
            contended = self.contended.key(self.obj, e) if self.contended else None
            yield Event(self.tag, instance, node, self.obj.keys([e], self.leaves), self.write,
                        self.atomic, locks, contended)


class Piece:
    def __init__(self, number, file):
        self.name = f"piece_{number}"
        self.file = file
        self.lines, self.effects = [], []
        self.inline = False
        self.job = None        # index in the table of jobs, if it is called from there
        self.free_tags = []    # accesses that no other thread can see

    def events(self, instance, node):
        return [e for effect in self.effects for e in effect.events(instance, node)]


def element_choice(rng, obj):
    """(C expression for the index or None for a loop over all, elements as function of instance)"""
    if obj.shape in ("list", "tree"):
        return None, lambda instance: range(obj.count)
    if obj.shape == "one":
        return "0", lambda instance: (0,)
    how = rng.choice(("constant", "id", "loop"))
    if how == "constant":
        c = rng.randrange(obj.count)
        return str(c), lambda instance: (c,)
    if how == "id":
        return f"a->id % {obj.count}", lambda instance: (instance.id % obj.count,)
    return None, lambda instance: range(obj.count)


class PieceMaker:
    def __init__(self, rng, mode, files, new_tag):
        self.rng, self.mode, self.files, self.new_tag = rng, mode, files, new_tag
        self.pieces = []
        self.shared = {}        # (ctype, kind) -> tag of the function all objects share
        self.count = 0          # of functions made

    def new_piece(self):
        self.count += 1
        return Piece(self.count, self.rng.randrange(self.files))

    def make(self, obj, routes, wanted, guard=None, atomic=False):
        """`wanted`: kinds of access ("read", "write", "update"), at most one leaf each."""
        piece = self.new_piece()
        index, elements = element_choice(self.rng, obj)
        self.obj, self.guard, self.elements, self.atomic = obj, guard, elements, atomic
        self.piece, self.above = piece, []
        body = self._accesses(wanted)
        before, after = guard.lines() if guard else ([], [])
        if guard and guard.style == "tried" and self.mode == "mixed" and self.rng.random() < 0.5:
            after = after[:-1] + ["} else {", *self._failing_branch(), "}"]
        inner = before + body + after
        head = [f"void {piece.name}(struct arg *a)"]
        piece.inline = bool(guard) and guard.style != "tried" and self.rng.random() < 0.3
        if not piece.inline:
            head = ["NOINLINE " + head[0]]
        route = obj.route(self.rng.choice(routes))
        if obj.shape == "tree":
            walk = f"walk_{piece.name}"
            self.above += [f"static NOINLINE void {walk}(struct arg *a, {obj.type.name} *p)", "{",
                           "    (void)a;", "    if (!p)", "        return;",
                           *indent(inner), f"    {walk}(a, p->link_left);",
                           f"    {walk}(a, p->link_right);", "}", ""]
            lines = [*route, f"    {walk}(a, p);"]
        elif obj.shape == "list":
            lines = [*route, "    for (; p; p = p->link_next) {", *indent(inner, 2), "    }"]
        elif index is None and self.mode == "guarded":
            lines = [*route, f"    {obj.type.name} *first = p;",
                     f"    for (int e = 0; e < {obj.count}; e++) {{", "        p = first + e;",
                     *indent(inner, 2), "    }"]
        elif index is None:
            lines = [*route, f"    for (int e = 0; e < {obj.count}; e++, p++) {{",
                     *indent(inner, 2), "    }"]
        else:
            step = [] if obj.shape == "one" else [f"    int e = {index};", "    p += e;"]
            lines = [*route, *step, *indent(inner)]
        piece.lines = [*self.above, *head, "{", "    (void)a;", *lines, "}"]
        return piece

    def _accesses(self, wanted):
        body, taken = [], set()
        whole = (self.obj.type.copies and not self.atomic and self.mode != "guarded"
                 and self.rng.random() < 0.35)
        if whole:
            return self._whole(self.rng.choice(wanted))
        for n, kind in enumerate(wanted):
            leaves = [l for l in self.obj.type.leaves if l.atom not in taken]
            if self.atomic:
                leaves = [l for l in leaves if not l.bits and not l.is_pointer]
            if not leaves:
                break
            leaf = self.rng.choice(leaves)
            taken.add(leaf.atom)
            body += self._one(leaf, kind, self._stays_inside(n))
        return body

    def _stays_inside(self, n):
        # A callee that gets the element knows nothing of the index by which its lock was found.
        if self.mode == "guarded" and self.guard and self.guard.lock.place == "array":
            return True
        return n == 0 and self.rng.random() < 0.6

    def _effect(self, leaves, write, tag, contended=None):
        self.piece.effects.append(Effect(
            tag, self.obj, leaves, write, self.atomic,
            None if contended else self.guard, contended, self.elements))

    def _one(self, leaf, kind, inside):
        """Lines for one access, either here or in a function."""
        if self.atomic:
            tag = self.new_tag()
            self._effect([leaf], kind != "read", tag)
            lines = self._atomic_lines(leaf, kind, tag)
        elif not inside and self._may_share(leaf):
            return self._shared_function(leaf, kind)
        else:
            tag = self.new_tag()
            self._effect([leaf], kind != "read", tag)
            lines = self._plain_lines(leaf, kind, tag)
        return lines if inside else self._own_function(lines)

    def _may_share(self, leaf):
        return (self.mode != "guarded" and not leaf.bits and leaf.ctype in ("int", "long")
                and self.rng.random() < 0.5)

    @staticmethod
    def _target(leaf):
        return f"p->{leaf.path}" if leaf.path else "*p"

    def _plain_lines(self, leaf, kind, tag):
        target = self._target(leaf)
        if leaf.is_pointer:
            if kind == "read":
                at = f"at_{tag.split()[1]}"
                return [f"int *{at} = {target}; {tag}", f"keep((unsigned long)*{at});"]
            return [f"{target} = &targets[next() % 4]; {tag}"]
        if not leaf.bits and self.rng.random() < 0.2:
            target = f"*(volatile {leaf.ctype} *)&{target}"
        if kind == "read":
            return [f"keep((unsigned long){target}); {tag}"]
        if kind == "write":
            return [f"{target} = ({leaf.ctype})next(); {tag}"]
        return [f"{target} = ({leaf.ctype})({target} + 3); {tag}"]

    def _atomic_lines(self, leaf, kind, tag):
        at = f"&{self._target(leaf)}"
        order = self.rng.choice(("RELAXED", "SEQ_CST"))
        if kind == "read":
            return [f"keep((unsigned long)__atomic_load_n({at}, __ATOMIC_{order})); {tag}"]
        if kind == "write":
            return [f"__atomic_store_n({at}, ({leaf.ctype})next(), __ATOMIC_{order}); {tag}"]
        return [f"__atomic_fetch_add({at}, 1, __ATOMIC_{order}); {tag}"]

    def _own_function(self, lines):
        """Puts the lines into a function, called directly or back from one that gets it."""
        name = f"do_{self.count}"
        self.count += 1
        t = self.obj.type.name
        if self.mode != "guarded" and self.rng.random() < 0.3:
            self.above += [f"static NOINLINE void {name}(void *raw)", "{", f"    {t} *p = raw;",
                           *indent(lines), "}", ""]
            return [f"apply({name}, p);"]
        self.above += [f"static NOINLINE void {name}({t} *p)", "{", *indent(lines), "}", ""]
        return [f"{name}(p);"]

    def _shared_function(self, leaf, kind):
        """Through one function for all objects; directly, by a table, or with varargs."""
        key = (leaf.ctype, kind)
        how = self.rng.choice(("direct", "table", "varargs"))
        if how == "varargs":
            key = (leaf.ctype, kind, "varargs")
        if key not in self.shared:
            self.shared[key] = self.new_tag()
        self._effect([leaf], kind != "read", self.shared[key])
        address = f"&{self._target(leaf)}"
        if how == "varargs":
            return [f"each_{kind}_{leaf.ctype}(1, {address});"]
        if how == "table":
            return [f"ops_{leaf.ctype}[{PLAIN_KINDS.index(kind)}]({address});"]
        return [f"one_{kind}_{leaf.ctype}({address});"]

    def _whole(self, kind):
        t, tag = self.obj.type, self.new_tag()
        by_call = self.rng.random() < 0.5
        self._effect(t.leaves, kind != "read", tag)
        if kind == "read":
            copy = "memcpy(&copy, p, sizeof copy);" if by_call else "copy = *p;"
            return [f"{t.name} copy;", f"{copy} {tag}", f"use_t{t.number}(&copy);"]
        if kind == "write":
            copy = "memcpy(p, &fresh, sizeof *p);" if by_call else "*p = fresh;"
            return [f"{t.name} fresh;", f"make_t{t.number}(&fresh);", f"{copy} {tag}"]
        return [f"memset(p, (int)(next() & 1), sizeof *p); {tag}"]

    def _failing_branch(self):
        leaf = self.rng.choice(self.obj.type.leaves)
        tag = self.new_tag()
        self._effect([leaf], True, tag, contended=self.guard.lock)
        return ["    " + l for l in self._own_function(self._plain_lines(leaf, "write", tag))]

    def shared_functions(self):
        """(prototypes, definitions) of the functions that serve all objects."""
        heads, lines = [], []
        statement = {"read": "keep((unsigned long)*p);", "write": "*p = ({})next();",
                     "update": "*p += 3;"}
        for ctype in ("int", "long"):
            names = [f"one_{kind}_{ctype}" for kind in PLAIN_KINDS]
            for kind, name in zip(PLAIN_KINDS, names):
                tag = self.shared.get((ctype, kind), "")
                heads.append(f"void {name}({ctype} *p);")
                lines += [f"NOINLINE void {name}({ctype} *p)", "{",
                          f"    {statement[kind].format(ctype)} {tag}".rstrip(), "}", ""]
                if (ctype, kind, "varargs") in self.shared:
                    tag = self.shared[ctype, kind, "varargs"]
                    heads.append(f"void each_{kind}_{ctype}(int count, ...);")
                    lines += [f"NOINLINE void each_{kind}_{ctype}(int count, ...)", "{",
                              "    va_list list;", "    va_start(list, count);",
                              "    while (count--) {",
                              f"        {ctype} *p = va_arg(list, {ctype} *);",
                              f"        {statement[kind].format(ctype)} {tag}", "    }",
                              "    va_end(list);", "}", ""]
            heads.append(f"extern void (*ops_{ctype}[])({ctype} *);")
            lines += [f"void (*ops_{ctype}[])({ctype} *) = {{{', '.join(names)}}};", ""]
        return heads, lines


def indent(lines, levels=1):
    return ["    " * levels + l for l in lines]
