# SPDX-License-Identifier: Apache-2.0
"""What a generated program does, as events in a partial order, and which pairs of them race.

Every thread that will run is an *instance*; the steps of its body are nodes of a graph. Two kinds
of edges join nodes: those that give a happens-before order whatever the schedule (program order,
create, join, barriers, semaphores, condition variables, release/acquire flags), and those that
only make a thread wait (flags with relaxed or plain accesses). Locks give no edges: an event
carries the locks that are held.

Two events race if they touch a common key (object and member), one writes, not both are atomic,
no lock excludes them and no happens-before edges order them. That is exact, not a guess: nothing
but the past of the two steps has to run before them, no step waits while it holds a lock, and locks
are nested in one order, so a schedule exists that stops one thread before each of the two accesses;
whatever either thread releases afterwards is too late to order them.

Where only waiting orders two events, the first thread may release a lock on the way that the other
takes, in every schedule. Such pairs are `maybe`: neither claimed as races nor called race-free,
except those that the program was built to have (`certain`), with nothing in between.
"""


class Graph:
    def __init__(self):
        self.before, self.waits = [], []  # node -> list of next nodes

    def node(self):
        self.before.append([])
        self.waits.append([])
        return len(self.before) - 1

    def edge(self, first, second, orders=True):
        self.waits[first].append(second)
        if orders:
            self.before[first].append(second)

    def close(self):
        """Computes what each node reaches; False if the threads would wait in a circle."""
        count = len(self.waits)
        missing = [0] * count
        for nexts in self.waits:
            for n in nexts:
                missing[n] += 1
        order = [n for n in range(count) if not missing[n]]
        for n in order:
            for m in self.waits[n]:
                missing[m] -= 1
                if not missing[m]:
                    order.append(m)
        if len(order) < count:
            return False
        self.reach_before, self.reach_waits = [0] * count, [0] * count
        for reach, nexts in ((self.reach_before, self.before), (self.reach_waits, self.waits)):
            for n in reversed(order):
                reach[n] = 1 << n
                for m in nexts[n]:
                    reach[n] |= reach[m]
        return True

    def orders(self, a, b):
        return bool(self.reach_before[a] >> b & 1)

    def delays(self, a, b):
        return bool(self.reach_waits[a] >> b & 1)


class Event:
    """One access by one instance. `locks`: key of a lock -> "w" or "r"."""
    __slots__ = ("tag", "instance", "node", "keys", "write", "atomic", "locks", "contended")

    def __init__(self, tag, instance, node, keys, write, atomic, locks, contended=None):
        self.tag, self.instance, self.node = tag, instance, node
        self.keys, self.write, self.atomic, self.locks = keys, write, atomic, locks
        self.contended = contended  # happens only while another instance holds this lock


class Model:
    def __init__(self, graph):
        self.graph = graph
        self.by_key = {}
        self.tags = set()      # of accesses that happen
        self.free = set()      # tags that are race-free for a reason the events do not show
        self.certain = set()   # pairs of tags, see above
        self.sections = []     # (lock, instance, node): where locks are held
        self.after = {}        # node of a once function -> nodes that come after it in any case

    def add(self, events):
        for e in events:
            self.tags.add(e.tag)
            for key in e.keys:
                self.by_key.setdefault(key, []).append(e)
            for lock in e.locks:
                self.sections.append((lock, e.instance, e.node))

    def _before(self, a, b):
        g = self.graph
        return g.orders(a, b) or any(g.orders(n, b) for n in self.after.get(a, ()))

    def _delayed(self, a, b):
        g = self.graph
        return g.delays(a, b) or any(g.delays(n, b) for n in self.after.get(a, ()))

    def _contention_happens(self, e, others=()):
        """Does an instance, not one of `others`, hold the lock at a time when `e` may fail?"""
        return any(lock == e.contended and instance is not e.instance and instance not in others
                   and not self._delayed(node, e.node) and not self._delayed(e.node, node)
                   for lock, instance, node in self.sections)

    def judge(self, a, b):
        """None, "race" or "maybe" for two events with a common key."""
        if a.instance is b.instance or not (a.write or b.write) or (a.atomic and b.atomic):
            return None
        if any(lock in b.locks and "w" in (mode, b.locks[lock])
               for lock, mode in a.locks.items()):
            return None
        if self._before(a.node, b.node) or self._before(b.node, a.node):
            return None
        if any(e.contended and not self._contention_happens(e) for e in (a, b)):
            return None
        # Two that fail at the same time need a third that holds the lock; with fewer they may still
        # fail one after the other, if they try often enough.
        if a.contended and b.contended and not (
                self._contention_happens(a, (b.instance,)) and
                self._contention_happens(b, (a.instance,))):
            return "maybe"
        if not self._delayed(a.node, b.node) and not self._delayed(b.node, a.node):
            return "race"
        return "race" if tuple(sorted((a.tag, b.tag))) in self.certain else "maybe"

    def accepts(self, events):
        """Would adding the events make no race?"""
        for n, e in enumerate(events):
            others = [o for key in e.keys for o in self.by_key.get(key, ())]
            others += [o for o in events[n + 1:] if o.keys & e.keys]
            if any(self.judge(e, o) for o in others):
                return False
        return True

    def races(self):
        """Two sets of pairs of tags: races, and pairs that may or may not be."""
        found = {"race": set(), "maybe": set()}
        for events in self.by_key.values():
            for n, a in enumerate(events):
                for b in events[n + 1:]:
                    pair = tuple(sorted((a.tag, b.tag)))
                    if pair not in found["race"]:
                        verdict = self.judge(a, b)
                        if verdict:
                            found[verdict].add(pair)
        return found["race"], found["maybe"] - found["race"]
