# SPDX-License-Identifier: Apache-2.0
"""The shared memory of a generated program: types, objects, and the ways code reaches them.

A *leaf* is what one plain access touches; leaves with the same atom share bytes (members of a
union, neighbouring bit-fields). An object has one or more elements (array, list, tree).
"""

ROUTES = ("name", "getter", "slot", "word", "registry", "box", "union", "inner", "twice")
# What an analysis can be expected to follow without losing which object it is.
PLAIN_ROUTES = ("name", "getter", "slot")


class Leaf:
    def __init__(self, path, ctype, atom, bits=False):
        self.path, self.ctype, self.atom, self.bits = path, ctype, atom, bits

    @property
    def is_pointer(self):
        return self.ctype == "int *"


class Type:
    """A struct, or a scalar if it has a single leaf without a path."""

    def __init__(self, number, rng, lock=None, links=()):
        self.name = f"struct t{number}"
        self.number, self.lock, self.links = number, lock, links
        self.leaves, self.members = [], []
        for n in range(rng.randint(2, 5)):
            rng.choice((self._scalar, self._scalar, self._nested, self._array, self._union,
                        self._bits, self._pointer))(n, rng)
        if lock:
            self.members.append(f"{lock} lock;")
        for link in links:
            self.members.append(f"{self.name} *{link};")
        self.copies = not lock and not links and not any(l.is_pointer for l in self.leaves)

    def _scalar(self, n, rng):
        ctype = rng.choice(("int", "long", "short", "char", "unsigned"))
        self.members.append(f"{ctype} f{n};")
        self.leaves.append(Leaf(f"f{n}", ctype, f"f{n}"))

    def _nested(self, n, _):
        self.members.append(f"struct {{ short a; short b; int c; }} f{n};")
        for part, ctype in (("a", "short"), ("b", "short"), ("c", "int")):
            self.leaves.append(Leaf(f"f{n}.{part}", ctype, f"f{n}.{part}"))

    def _array(self, n, rng):
        ctype = rng.choice(("int", "char"))
        self.members.append(f"{ctype} f{n}[4];")
        for i in range(4):
            self.leaves.append(Leaf(f"f{n}[{i}]", ctype, f"f{n}.{i}"))

    def _union(self, n, _):
        self.members.append(f"union {{ int i; unsigned u; char c[4]; }} f{n};")
        for part, ctype in (("i", "int"), ("u", "unsigned"), ("c[0]", "char")):
            self.leaves.append(Leaf(f"f{n}.{part}", ctype, f"f{n}"))

    def _bits(self, n, _):
        # Both in one byte: no width the compiler may choose for the access tells them apart. In a
        # struct of their own: bit-fields that follow each other are one memory location.
        self.members.append(f"struct {{ unsigned a : 3, b : 5; }} f{n};")
        for part in "ab":
            self.leaves.append(Leaf(f"f{n}.{part}", "unsigned", f"f{n}", bits=True))

    def _pointer(self, n, _):
        # Points to one of several ints that are only ever read.
        self.members.append(f"int *f{n};")
        self.leaves.append(Leaf(f"f{n}", "int *", f"f{n}"))

    def declaration(self):
        return [f"{self.name} {{", *(f"    {m}" for m in self.members), "};"]

    def helpers(self):
        """Functions that make and use whole values, so that no part of a copy is dead."""
        if not self.copies:
            return []
        lines = [f"NOINLINE void make_t{self.number}({self.name} *v)", "{"]
        lines += [f"    v->{l.path} = ({l.ctype})next();" for l in self.leaves]
        lines += ["}", "", f"NOINLINE void use_t{self.number}(const {self.name} *v)", "{"]
        lines += [f"    keep((unsigned long)v->{l.path});" for l in self.leaves]
        return lines + ["}"]

    def prototypes(self):
        if not self.copies:
            return []
        return [f"void make_t{self.number}({self.name} *v);",
                f"void use_t{self.number}(const {self.name} *v);"]


class Scalar:
    lock, links, copies = None, (), False

    def __init__(self, ctype):
        self.name = ctype
        self.leaves = [Leaf("", ctype, "v")]


class Object:
    """One shared object. `shape`: one, array, list or tree."""

    def __init__(self, number, ctype, storage, shape, count, home):
        self.number, self.type, self.storage, self.shape = number, ctype, storage, shape
        self.count, self.home = count, home
        self.index = 0           # in arg->slot, registry and the like
        self.exact = True        # elements are told apart
        self.routes = set()      # those used besides the name

    @property
    def name(self):
        return f"g_{self.number}" if self.storage == "global" else f"h_{self.number}"

    def keys(self, elements, leaves):
        return frozenset(f"{self.number}[{e if self.exact else '*'}].{l.atom}"
                         for e in elements for l in leaves)

    def base(self):
        """An expression for a pointer to the first element."""
        if self.storage == "global":
            return self.name if self.shape == "array" else f"&{self.name}"
        return self.name

    def declarations(self):
        """(declaration for all files, definition in its home file)"""
        t = self.type.name
        if self.storage == "global":
            size = f"[{self.count}]" if self.shape == "array" else ""
            yield f"extern {t} {self.name}{size};", f"{t} {self.name}{size};"
        else:
            yield f"extern {t} *{self.name};", f"{t} *{self.name};"
        if self.storage == "static":
            size = f"[{self.count}]"
            yield "", f"static {t} hidden_{self.number}{size};"
        if "getter" in self.routes:
            yield (f"{t} *get_{self.number}(void);",
                   f"NOINLINE {t} *get_{self.number}(void)\n{{\n    return {self.base()};\n}}")
        yield f"void init_{self.number}(void);", ""

    def main_local(self):
        return [f"    {self.type.name} local_{self.number}[{self.count}];",
                f"    h_{self.number} = local_{self.number};"] if self.storage == "local" else []

    def init(self):
        """The function that makes the object before the first thread is created."""
        t, n = self.type.name, self.number
        lines = [f"NOINLINE void init_{n}(void)", "{"]
        if self.storage == "static":
            lines.append(f"    h_{n} = hidden_{n};")
        if self.storage == "heap" and self.shape in ("one", "array"):
            lines.append(f"    h_{n} = xmalloc({self.count} * sizeof({t}));")
        if self.shape == "list":
            lines += [f"    for (int i = 0; i < {self.count}; i++) {{",
                      f"        {t} *p = xmalloc(sizeof *p);",
                      f"        p->link_next = h_{n};", f"        h_{n} = p;",
                      *self._fill(), "    }"]
        elif self.shape == "tree":
            lines += [f"    {t} **at = &h_{n};", f"    for (int i = 0; i < {self.count}; i++) {{",
                      f"        {t} *p = xmalloc(sizeof *p);",
                      "        *at = p;", "        at = i & 1 ? &p->link_left : &p->link_right;",
                      *self._fill(), "    }"]
        else:
            lines += [f"    {t} *p = {self.base()};",
                      f"    for (int i = 0; i < {self.count}; i++, p++) {{",
                      *self._fill(), "    }"]
        return lines + self._route_set_up() + ["}"]

    def _fill(self):
        lines = []
        for leaf in self.type.leaves:
            target = f"p->{leaf.path}" if leaf.path else "*p"
            value = "&targets[next() % 4]" if leaf.is_pointer else f"({leaf.ctype})next()"
            lines.append(f"        {target} = {value};")
        if self.type.lock:
            init = {"pthread_mutex_t": "pthread_mutex_init(&p->lock, NULL);",
                    "pthread_rwlock_t": "pthread_rwlock_init(&p->lock, NULL);",
                    "pthread_spinlock_t": "pthread_spin_init(&p->lock, 0);"}[self.type.lock]
            lines.append("        " + init)
        return lines

    def _route_set_up(self):
        k, base = self.index, self.base()
        each = {"registry": f"    registry[{k}] = {base};",
                "box": f"    boxes[{k}].pointer = {base};",
                "union": f"    unions[{k}].p = {base};"}
        lines = [each[r] for r in sorted(self.routes) if r in each]
        if "inner" in self.routes:
            lines.append(f"    inners[{k}] = (char *){base} + {self._inner_offset()};")
        return lines

    def _inner_offset(self):
        leaf = next((l for l in self.type.leaves if l.path and not l.bits), None)
        return f"offsetof({self.type.name}, {leaf.path})" if leaf else "0"

    def route(self, route):
        """Lines that declare `p`, a pointer to the first element; they touch nothing that changes
        once threads run."""
        self.routes.add(route)
        t, k = self.type.name, self.index
        return {
            "name": [f"    {t} *p = {self.base()};"],
            "getter": [f"    {t} *p = get_{self.number}();"],
            "slot": [f"    {t} *p = a->slot[{k}];"],
            "word": [f"    {t} *p = ({t} *)a->word[{k}];"],
            "registry": [f"    {t} *p = look_up({k});"],
            "box": ["    struct box copied;", f"    memcpy(&copied, &boxes[{k}], sizeof copied);",
                    f"    {t} *p = copied.pointer;"],
            "union": ["    union anything mixed;", f"    mixed.bits = unions[{k}].bits;",
                      f"    {t} *p = mixed.p;"],
            "inner": [f"    {t} *p = ({t} *)(void *)((char *)inners[{k}] - "
                      f"{self._inner_offset()});"],
            "twice": [f"    void **place = &a->slot[{k}];", f"    {t} *p = *place;"],
        }[route]


class Memory:
    """All objects of a program and the types they have."""

    def __init__(self, rng, mode, files):
        self.rng, self.mode, self.files = rng, mode, files
        self.types, self.objects = [], []

    def _type(self, lock=None, links=()):
        same = [t for t in self.types if t.lock == lock and t.links == links]
        if same and self.rng.random() < 0.5:
            return self.rng.choice(same)
        self.types.append(Type(len(self.types), self.rng, lock, links))
        return self.types[-1]

    def new_object(self, lock=None, shape=None):
        """`lock`: C type of a lock embedded in each element."""
        rng = self.rng
        shape = shape or rng.choice(("one", "one", "array", "list", "tree"))
        count = 1 if shape == "one" else rng.randint(2, 4)
        if shape in ("list", "tree"):
            storage = "heap"
            links = ("link_next",) if shape == "list" else ("link_left", "link_right")
            ctype = self._type(lock, links)
        else:
            storage = rng.choice(("global", "global", "heap", "heap", "static", "local"))
            scalar = not lock and rng.random() < 0.4
            ctype = (Scalar(rng.choice(("int", "long", "short", "unsigned"))) if scalar
                     else self._type(lock))
        o = Object(len(self.objects), ctype, storage, shape, count, rng.randrange(self.files))
        o.index = o.number
        self.objects.append(o)
        return o

    def routes(self):
        return PLAIN_ROUTES if self.mode == "guarded" else ROUTES
