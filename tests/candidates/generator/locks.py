# SPDX-License-Identifier: Apache-2.0
"""The locks of generated programs and the many ways in which code takes and releases them."""

# kind: C type, take, release, try, take for reading
KINDS = {
    "mutex": ("pthread_mutex_t", "pthread_mutex_lock", "pthread_mutex_unlock",
              "pthread_mutex_trylock", None),
    "recursive": ("pthread_mutex_t", "pthread_mutex_lock", "pthread_mutex_unlock",
                  "pthread_mutex_trylock", None),
    "spin": ("pthread_spinlock_t", "pthread_spin_lock", "pthread_spin_unlock",
             "pthread_spin_trylock", None),
    "rw": ("pthread_rwlock_t", "pthread_rwlock_wrlock", "pthread_rwlock_unlock",
           "pthread_rwlock_trywrlock", "pthread_rwlock_rdlock"),
    "sem": ("sem_t", "sem_wait", "sem_post", "sem_trywait", None),
}


class Lock:
    """`place`: global, pointer (to heap memory), array, or embedded in the object's elements."""

    def __init__(self, number, kind, place, count=1):
        self.number, self.kind, self.place, self.count = number, kind, place, count
        self.ctype, self.take, self.release, self.attempt, self.take_read = KINDS[kind]
        self.styles = set()

    def key(self, obj, element):
        if self.place == "embedded":
            return f"lock in {obj.number}[{element}]"
        return f"lock {self.number}[{element if self.place == 'array' else 0}]"

    def address(self):
        """As code with `p`, the element, and `e`, its index, writes it."""
        return {"global": f"&lock_{self.number}", "pointer": f"lock_{self.number}",
                "array": f"&lock_{self.number}[e]", "embedded": "&p->lock"}[self.place]

    def declarations(self):
        """(declaration, definition)"""
        n, t = self.number, self.ctype
        if self.place == "global":
            yield f"extern {t} lock_{n};", f"{t} lock_{n};"
        elif self.place == "pointer":
            yield f"extern {t} *lock_{n};", f"{t} *lock_{n};"
        elif self.place == "array":
            yield f"extern {t} lock_{n}[{self.count}];", f"{t} lock_{n}[{self.count}];"
        if "named" in self.styles:
            for verb, call in (("enter", self.take), ("leave", self.release)):
                yield (f"void {verb}_{n}(void);", f"NOINLINE void {verb}_{n}(void)\n{{\n"
                       f"    {call}({self.address()});\n}}")

    def set_up(self):
        if self.place == "embedded":
            return
        if self.place == "pointer":
            yield f"    lock_{self.number} = xmalloc(sizeof *lock_{self.number});"
        for e in range(self.count):
            at = self.address().replace("[e]", f"[{e}]")
            yield {"mutex": f"    pthread_mutex_init({at}, NULL);",
                   "recursive": f"    init_recursive({at});",
                   "spin": f"    pthread_spin_init({at}, 0);",
                   "rw": f"    pthread_rwlock_init({at}, NULL);",
                   "sem": f"    sem_init({at}, 0, 1);"}[self.kind]


class Guard:
    """How one piece of code holds a lock. `mode`: "w" or "r".

    direct, wrapped (a function that gets the lock), named (a function that knows it), twice
    (recursive), spun (try until it works), tried (only if free), sometimes (odd thread ids only)
    """

    def __init__(self, lock, mode, style):
        self.lock, self.mode, self.style = lock, mode, style
        lock.styles.add(style)

    def lines(self):
        """(before, after)"""
        lock, at = self.lock, self.lock.address()
        take = lock.take_read if self.mode == "r" else lock.take
        release = f"{lock.release}({at});"
        if self.style == "wrapped":
            return [f"take_{lock.kind}({at});"], [f"drop_{lock.kind}({at});"]
        if self.style == "named":
            return [f"enter_{lock.number}();"], [f"leave_{lock.number}();"]
        if self.style == "twice":
            return [f"{take}({at});", f"{take}({at});"], [release, release]
        if self.style == "spun":
            return [f"while ({lock.attempt}({at}) != 0)", "    sched_yield();"], [release]
        if self.style == "tried":
            return [f"if ({lock.attempt}({at}) == 0) {{"], [release, "}"]
        if self.style == "sometimes":
            return ["if (a->id & 1)", f"    {take}({at});"], ["if (a->id & 1)", f"    {release}"]
        return [f"{take}({at});"], [release]

    def held_by(self, instance):
        return self.style != "sometimes" or bool(instance.id & 1)


def choose_style(rng, lock, mode, guarded):
    styles = ["direct", "direct"]
    if mode == "w":
        if lock.kind != "recursive":
            styles.append("wrapped")
        if lock.place in ("global", "pointer"):
            styles.append("named")
        if lock.kind == "recursive":
            styles += ["twice", "twice"]
        styles += ["spun", "tried"]
        if not guarded:
            styles.append("sometimes")
    return rng.choice(styles)


def wrappers():
    """Definitions of take_KIND and drop_KIND; prototypes come first in each pair."""
    for kind in ("mutex", "spin", "rw", "sem"):
        ctype, take, release, _, _ = KINDS[kind]
        for verb, call in (("take", take), ("drop", release)):
            head = f"void {verb}_{kind}({ctype} *lock)"
            yield head + ";", f"NOINLINE {head}\n{{\n    {call}(lock);\n}}"
