# SPDX-License-Identifier: Apache-2.0
"""Pieces that are more than an access to an object: lists that grow, queues, memory of one thread.

Their effects name keys of their own instead of objects. Where an order always exists that the
graph does not show (whoever finds a node in a list has taken the lock under which it was put
there), the event is given that lock.
"""
from .model import Event


class KeyEffect:
    """`keys`: function of the instance; `locks`: held by all."""

    def __init__(self, tag, keys, write, locks=()):
        self.tag, self.keys, self.write, self.locks = tag, keys, write, dict(locks)

    def events(self, instance, node):
        yield Event(self.tag, instance, node, frozenset(self.keys(instance)), self.write, False,
                    self.locks)


class Feature:
    """`nodes`: paths of those that may have put a node into the list, filled while placing."""

    def __init__(self, number, maker, new_tag):
        self.number, self.maker, self.new_tag = number, maker, new_tag
        self.nodes = set()
        self.key = f"feature {number}"
        self.lock = (f"{self.key} lock", "w")

    def declarations(self):
        n = self.number
        yield f"extern struct item *top_{n};", f"struct item *top_{n};"
        yield (f"extern pthread_mutex_t guard_{n};",
               f"pthread_mutex_t guard_{n} = PTHREAD_MUTEX_INITIALIZER;")

    def _top(self, _):
        return [f"{self.key} top"]

    def _own(self, piece, member):
        def keys(instance):
            self.nodes.add((instance.path, piece.name))
            return [f"{self.key} {instance.path} {piece.name} {member}"]
        return keys

    def _any(self, member):
        return lambda _: [f"{self.key} {path} {name} {member}" for path, name in self.nodes]

    def _guarded(self, lines, really=True):
        if not really:
            return lines
        return [f"    pthread_mutex_lock(&guard_{self.number});", *lines,
                f"    pthread_mutex_unlock(&guard_{self.number});"]

    def _make(self, effects_and_lines):
        piece = self.maker.new_piece()
        lines = effects_and_lines(piece)
        piece.lines = [f"NOINLINE void {piece.name}(struct arg *a)", "{", "    (void)a;",
                       *lines, "}"]
        return piece

    def _push(self, piece, held):
        fill, link, publish = self.new_tag(), self.new_tag(), self.new_tag()
        locks = [self.lock] if held else []
        n = self.number
        piece.effects += [KeyEffect(fill, self._own(piece, "value"), True, [self.lock]),
                          KeyEffect(link, self._own(piece, "next"), True, [self.lock]),
                          KeyEffect(link, self._top, False, locks),
                          KeyEffect(publish, self._top, True, locks)]
        return ["    struct item *made = xmalloc(sizeof *made);",
                f"    made->value = (int)next(); {fill}",
                *self._guarded([f"    made->next = top_{n}; {link}",
                                f"    top_{n} = made; {publish}"], held)]


class Published(Feature):
    """A list that threads add to, with a walk that should hold the lock."""

    def push(self):
        return self._make(lambda piece: self._push(piece, True))

    def walk(self, held):
        def write(piece):
            first, value, following = self.new_tag(), self.new_tag(), self.new_tag()
            locks = [self.lock] if held else []
            piece.effects += [KeyEffect(first, self._top, False, locks),
                              KeyEffect(value, self._any("value"), False, locks),
                              KeyEffect(following, self._any("next"), False, locks)]
            # Without something between each read and the head of the loop, the two reads of a
            # pointer become one, of either address, without a line.
            return self._guarded([f"    struct item *at = top_{self.number}; {first}",
                                  "    keep(1);", "    while (at) {",
                                  f"        keep((unsigned long)at->value); {value}",
                                  f"        at = at->next; {following}",
                                  "        keep(2);", "    }"], held)
        return self._make(write)


class Queue(Feature):
    """Items handed from thread to thread: whoever takes one out is alone with it."""

    def put(self, touch_again):
        def write(piece):
            lines = self._push(piece, True)
            if touch_again:
                tag = self.new_tag()
                piece.effects.append(KeyEffect(tag, self._own(piece, "value"), True))
                lines.append(f"    made->value += 1; {tag}")
            return lines
        return self._make(write)

    def take(self):
        def write(piece):
            first, off, use = self.new_tag(), self.new_tag(), self.new_tag()
            n = self.number
            # The lock stands for having taken the item out: nobody else gets the same one.
            piece.effects += [KeyEffect(first, self._top, False, [self.lock]),
                              KeyEffect(off, self._any("next"), False, [self.lock]),
                              KeyEffect(off, self._top, True, [self.lock]),
                              KeyEffect(use, self._any("value"), True, [self.lock])]
            return [*self._guarded([f"    struct item *got = top_{n}; {first}", "    if (got)",
                                    f"        top_{n} = got->next; {off}"]),
                    "    if (got)", f"        got->value += 5; {use}"]
        return self._make(write)


def private_heap(maker, new_tag):
    """Memory that one thread allocates, uses and frees."""
    piece = maker.new_piece()
    store, load = new_tag(), new_tag()
    piece.free_tags = [store, load]
    piece.lines = [f"static NOINLINE int use_{piece.name}(struct item *mine)", "{",
                   f"    return mine->value + 1; {load}", "}", "",
                   f"NOINLINE void {piece.name}(struct arg *a)", "{",
                   "    struct item *mine = xmalloc(sizeof *mine);",
                   f"    mine->value = a->id + (int)next(); {store}",
                   f"    keep((unsigned long)use_{piece.name}(mine));", "    free(mine);", "}"]
    return piece


def private_stack(maker, new_tag):
    """A local variable that a callee gets the address of."""
    piece = maker.new_piece()
    tag = new_tag()
    piece.free_tags = [tag]
    piece.lines = [f"static NOINLINE void add_{piece.name}(int *sum, int n)", "{",
                   f"    *sum += n; {tag}", "    if (n > 0)",
                   f"        add_{piece.name}(sum, n - 1);", "}", "",
                   f"NOINLINE void {piece.name}(struct arg *a)", "{",
                   "    int sum = a->id;", f"    add_{piece.name}(&sum, 4);",
                   "    keep((unsigned long)sum);", "}"]
    return piece


def thread_local(maker, new_tag):
    piece = maker.new_piece()
    tag = new_tag()
    piece.free_tags = [tag]
    piece.lines = [f"static _Thread_local int own_{piece.name};", "",
                   f"NOINLINE void {piece.name}(struct arg *a)", "{",
                   f"    own_{piece.name} += a->id; {tag}",
                   f"    keep((unsigned long)own_{piece.name});", "}"]
    return piece


PRIVATE = (private_heap, private_stack, thread_local)
