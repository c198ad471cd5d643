# SPDX-License-Identifier: Apache-2.0
"""The threads of a generated program: who starts, joins and waits for whom, and their bodies in C.

A *role* is a thread function; its body is a list of steps. Pieces of code that touch shared memory
are put into the steps of kind "slot" later. Instances are the threads that will run.
"""
from .model import Graph


class Step:
    def __init__(self, kind, **fields):
        self.kind = kind
        self.nodes = {}   # instance -> node
        self.calls = []   # slots: (piece, how it is called)
        self.__dict__.update(fields)


class Instance:
    def __init__(self, role, index, parent):
        self.role, self.id = role, index
        self.path = f"{parent.path}.{role.name}_{index}" if parent else role.name
        self.children = {}


class Role:
    def __init__(self, name, count, parent):
        self.name, self.count, self.parent = name, count, parent
        self.steps = []
        self.sequential = False   # each instance is joined before the next is created
        self.start = "direct"     # how it is created: direct, helper, table
        self.unjoined = 0         # that many of the first instances are joined after the last reads
        self.detached = False
        self.file = 0


class Link:
    """One role waits for another: sem, cond and release order, relaxed and plain only delay."""

    def __init__(self, number, kind, post, wait):
        self.number, self.kind, self.post, self.wait = number, kind, post, wait
        self.orders = kind in ("sem", "cond", "release")


class Threads:
    def __init__(self, rng, mode):
        self.rng, self.mode = rng, mode
        self.main = Role("main", 1, None)
        self.roles = [self.main]
        self.links = []
        self.onces = []
        self._plan_main()
        self._plan_nested()
        self._plan_barriers()
        if mode != "guarded":
            self._plan_waits()
        if not self.instantiate():
            raise AssertionError("the threads wait in a circle")

    def _new_role(self, parent, count):
        role = Role(f"role_{len(self.roles)}", count, parent)
        role.steps = [Step("slot") for _ in range(self.rng.choice((1, 1, 2)))]
        if self.mode != "guarded":
            role.start = self.rng.choice(("direct", "direct", "helper", "table"))
        self.roles.append(role)
        return role

    def _plan_main(self):
        rng, steps = self.rng, self.main.steps
        stages = rng.randint(1, 3)
        plan = []
        for _ in range(rng.randint(1, 4)):
            role = self._new_role(self.main, rng.choice((1, 1, 2, 3)))
            first = rng.randrange(stages)
            plan.append((role, first, rng.randrange(first, stages)))
            if self.mode == "guarded":
                continue
            role.sequential = role.count > 1 and rng.random() < 0.15
            role.detached = not role.sequential and rng.random() < 0.12
            if not role.sequential and not role.detached and rng.random() < 0.15:
                role.unjoined = rng.randint(1, role.count)
        steps += [Step("init"), Step("slot")]
        for stage in range(stages):
            for role, first, _ in plan:
                if first == stage:
                    steps.append(Step("create", role=role))
                    if role.sequential:
                        steps.append(Step("join", role=role, indices=range(role.count)))
                    elif rng.random() < 0.3:
                        steps.append(Step("slot"))
            steps.append(Step("slot"))
            for role, _, last in plan:
                if last == stage and not role.sequential and not role.detached:
                    steps.append(Step("join", role=role,
                                      indices=range(role.unjoined, role.count)))
            if rng.random() < 0.6:
                steps.append(Step("slot"))
        steps.append(Step("final"))
        for role, _, _ in plan:
            if role.unjoined:
                steps.append(Step("join", role=role, indices=range(role.unjoined)))
            if role.detached:
                self._plan_done(role)

    def _plan_done(self, role):
        post, wait = Step("post"), Step("wait")
        role.steps.append(post)
        kinds = ("sem", "cond", "release", "relaxed")
        if self.mode != "mixed":
            kinds = kinds[:3]
        self.links.append(Link(len(self.links), self.rng.choice(kinds), post, wait))
        post.link = wait.link = self.links[-1]
        final = next(n for n, s in enumerate(self.main.steps) if s.kind == "final")
        self.main.steps.insert(final, wait)

    def _plan_nested(self):
        for parent in self.roles[1:]:
            if self.rng.random() < 0.2 and len(self.roles) < 7:
                child = self._new_role(parent, self.rng.choice((1, 2)))
                at = self.rng.randint(0, 1)
                parent.steps[at:at] = [Step("create", role=child), Step("slot"),
                                       Step("join", role=child, indices=range(child.count))]

    def _plan_barriers(self):
        for role in self.roles[1:]:
            if (self.mode != "guarded" and role.count > 1 and role.parent is self.main
                    and not role.sequential and self.rng.random() < 0.4):
                at = self.rng.randint(1, len(role.steps) - role.detached)
                role.steps[at:at] = [Step("barrier"), Step("slot")]

    def _place(self, role, step):
        """Puts a step somewhere into a body, with a slot behind it."""
        low, high = 0, len(role.steps)
        if role is self.main:
            low = 2
            high = next(n for n, s in enumerate(role.steps) if s.kind == "final")
        elif role.detached:
            high -= 1
        at = self.rng.randint(low, high)
        # A join that follows its create in one loop is one statement with it.
        if at and role.steps[at - 1].kind == "create" and role.steps[at - 1].role.sequential:
            at -= 1
        added = [step, Step("slot")]
        role.steps[at:at] = added
        return added

    def _plan_waits(self):
        kinds = ["sem", "cond", "release"] + (["relaxed", "plain"] if self.mode == "mixed" else [])
        for _ in range(self.rng.choice((0, 1, 1, 2))):
            self.instantiate()
            one, other = self.rng.sample(self.roles, 2)
            if one.total > 1 and other.total > 1:
                continue
            kind = self.rng.choice(kinds)
            if kind == "plain" and one.total > 1:
                continue
            post, wait = Step("post"), Step("wait")
            link = post.link = wait.link = Link(len(self.links), kind, post, wait)
            added = [(one, s) for s in self._place(one, post)]
            added += [(other, s) for s in self._place(other, wait)]
            self.links.append(link)
            if not self.instantiate():
                self.links.remove(link)
                for role, step in added:
                    role.steps.remove(step)
        if self.rng.random() < 0.5:
            self._plan_once()

    def _plan_once(self):
        steps = []
        roles = self.rng.sample(self.roles, min(len(self.roles), self.rng.randint(1, 3)))
        for role in roles:
            step = Step("once", number=len(self.onces))
            self._place(role, step)
            steps.append(step)
        self.onces.append(steps)

    def instantiate(self):
        """Makes instances, nodes and edges anew; False if threads would wait in a circle."""
        self.graph, self.instances = Graph(), []
        for role in self.roles:
            role.total = 0
            for step in role.steps:
                step.nodes = {}
        self._walk(self.main, Instance(self.main, 0, None))
        for link in self.links:
            for a in link.post.nodes.values():
                for b in link.wait.nodes.values():
                    self.graph.edge(a, b, link.orders)
        return self.graph.close()

    def _walk(self, role, instance):
        self.instances.append(instance)
        role.total += 1
        instance.first = instance.last = None
        for step in role.steps:
            if step.kind == "barrier" and step.nodes:
                node = next(iter(step.nodes.values()))
            else:
                node = self.graph.node()
            step.nodes[instance] = node
            if instance.last is None:
                instance.first = node
            else:
                self.graph.edge(instance.last, node)
            instance.last = node
            if step.kind == "create":
                self._start(step.role, instance, node)
            elif step.kind == "join":
                for index in step.indices:
                    self.graph.edge(instance.children[step.role][index].last, node)

    def _start(self, role, parent, node):
        children = parent.children[role] = []
        for index in range(role.count):
            child = Instance(role, index, parent)
            if self.shares_argument(role):
                child.id = parent.id
            self._walk(role, child)
            self.graph.edge(node, child.first)
            if role.sequential and children:
                self.graph.edge(children[-1].last, child.first)
            children.append(child)

    def shares_argument(self, role):
        """In guarded programs threads that threads start get their parent's argument: one made in
        the frame of a function that several threads run would have to be told apart by thread."""
        return self.mode == "guarded" and role.parent is not self.main

    def slots(self):
        return [(role, step) for role in self.roles for step in role.steps if step.kind == "slot"]


# ---- C ----

ORDERS = {"release": ("__ATOMIC_RELEASE", "__ATOMIC_ACQUIRE"),
          "relaxed": ("__ATOMIC_RELAXED", "__ATOMIC_RELAXED")}


class Bodies:
    """Turns roles into C. `new_tag` gives the comment that marks an access."""

    def __init__(self, threads, new_tag):
        self.threads, self.new_tag = threads, new_tag
        self.tables = []       # thread functions that are started through a table
        for link in threads.links:
            self._tag(link)

    def _tag(self, link):
        names = ["post", "wait"] + (["put", "get"] if not link.orders else [])
        link.tags = {name: self.new_tag() for name in names}

    def declarations(self):
        """(declaration, definition) of what the steps need."""
        for link in self.threads.links:
            n = link.number
            if link.kind == "sem":
                yield f"extern sem_t sem_{n};", f"sem_t sem_{n};"
            elif link.kind == "cond":
                yield f"extern int ready_{n};", f"int ready_{n};"
                yield (f"extern pthread_mutex_t gate_{n};",
                       f"pthread_mutex_t gate_{n} = PTHREAD_MUTEX_INITIALIZER;")
                yield (f"extern pthread_cond_t bell_{n};",
                       f"pthread_cond_t bell_{n} = PTHREAD_COND_INITIALIZER;")
            else:
                volatile = "volatile " if link.kind == "plain" else ""
                yield f"extern {volatile}int flag_{n};", f"{volatile}int flag_{n};"
                if not link.orders:
                    yield f"extern int message_{n};", f"int message_{n};"
        for role, step in self._barriers():
            yield (f"extern pthread_barrier_t meet_{role.name}_{step.number};",
                   f"pthread_barrier_t meet_{role.name}_{step.number};")
        for n, _ in enumerate(self.threads.onces):
            yield (f"extern pthread_once_t once_{n};",
                   f"pthread_once_t once_{n} = PTHREAD_ONCE_INIT;")
            yield f"void setup_{n}(void);", ""

    def _barriers(self):
        for role in self.threads.roles:
            barriers = [s for s in role.steps if s.kind == "barrier"]
            for number, step in enumerate(barriers):
                step.number = number
                yield role, step

    def set_up(self):
        for link in self.threads.links:
            if link.kind == "sem":
                yield f"    sem_init(&sem_{link.number}, 0, 0);"
        for role, step in self._barriers():
            yield (f"    pthread_barrier_init(&meet_{role.name}_{step.number}, NULL, "
                   f"{len(step.nodes)});")

    def function(self, role, extra=()):
        """The lines of a thread function, or of main, whose set-up code is `extra`."""
        if role is self.threads.main:
            lines = ["int main(void)", "{", "    struct arg self;", "    struct arg *a = &self;"]
        else:
            lines = [f"void *{role.name}(void *raw)", "{", "    struct arg *a = raw;",
                     "    (void)a;"]
        for step in role.steps:
            if step.kind == "create":
                lines += self._storage(step.role)
        for step in role.steps:
            lines += list(extra) if step.kind == "init" else getattr(self, "_" + step.kind)(step)
        return lines + ["    return 0;" if role is self.threads.main else "    return NULL;", "}"]

    def fill_early(self):
        """In guarded programs all arguments are made before the first thread: whoever makes them
        in the loop that creates the threads writes beside elements that others already read."""
        lines = []
        if self.threads.mode == "guarded":
            for role in self.threads.roles:
                if role.parent is self.threads.main:
                    lines += [f"    for (int i = 0; i < {role.count}; i++) {{",
                              f"        args_{role.name}[i] = *a;",
                              f"        args_{role.name}[i].id = i;", "    }"]
        return lines

    def _storage(self, role):
        lines = [f"    pthread_t t_{role.name}[{role.count}];"]
        if self._frame_outlives(role) and not self.threads.shares_argument(role):
            lines.append(f"    struct arg args_{role.name}[{role.count}];")
        return lines

    @staticmethod
    def _frame_outlives(role):
        return not role.detached

    def _create(self, step):
        role = step.role
        if role.start == "table" and role not in self.tables:
            self.tables.append(role)
        entry = f"entries[{self.tables.index(role)}]" if role.start == "table" else role.name
        if self.threads.shares_argument(role):
            inner = ["        struct arg *next_arg = a;"]
        elif self._frame_outlives(role):
            inner = [f"        struct arg *next_arg = &args_{role.name}[i];"]
        else:
            inner = ["        struct arg *next_arg = xmalloc(sizeof *next_arg);"]
        if self.threads.mode != "guarded":
            inner.append("        fill_arg(next_arg, i, a);")
        if role.start == "helper":
            inner.append(f"        start_thread(&t_{role.name}[i], {entry}, next_arg);")
        else:
            inner += [f"        if (pthread_create(&t_{role.name}[i], NULL, {entry}, next_arg))",
                      "            abort();"]
        if role.sequential:
            inner += [f"        if (pthread_join(t_{role.name}[i], NULL))", "            abort();"]
        if role.detached:
            inner.append(f"        pthread_detach(t_{role.name}[i]);")
        return [f"    for (int i = 0; i < {role.count}; i++) {{", *inner, "    }"]

    def _join(self, step):
        if step.role.sequential or not step.indices:
            return []
        low, high = step.indices[0], step.indices[-1] + 1
        lines = [f"    for (int i = {low}; i < {high}; i++) {{"]
        if step.role.start == "helper":
            lines.append(f"        finish_thread(t_{step.role.name}[i]);")
        else:
            lines += [f"        if (pthread_join(t_{step.role.name}[i], NULL))",
                      "            abort();"]
        return lines + ["    }"]

    def _barrier(self, step):
        role = next(iter(step.nodes)).role
        return [f"    pthread_barrier_wait(&meet_{role.name}_{step.number});"]

    def _once(self, step):
        return [f"    pthread_once(&once_{step.number}, setup_{step.number});"]

    def _post(self, step):
        link, n = step.link, step.link.number
        tag = link.tags["post"]
        if link.kind == "sem":
            return [f"    for (int i = 0; i < {len(link.wait.nodes)}; i++)",
                    f"        sem_post(&sem_{n});"]
        if link.kind == "cond":
            return [f"    pthread_mutex_lock(&gate_{n});",
                    f"    ready_{n}++; {tag}",
                    f"    pthread_cond_broadcast(&bell_{n});",
                    f"    pthread_mutex_unlock(&gate_{n});"]
        lines = [] if link.orders else ["    shake();",
                                        f"    message_{n} = (int)next(); {link.tags['put']}"]
        if link.kind == "plain":
            return lines + [f"    flag_{n} = 1; {tag}"]
        return lines + [f"    __atomic_fetch_add(&flag_{n}, 1, {ORDERS[link.kind][0]}); {tag}"]

    def _wait(self, step):
        link, n = step.link, step.link.number
        posts, tag = len(link.post.nodes), link.tags["wait"]
        if link.kind == "sem":
            return [f"    for (int i = 0; i < {posts}; i++)", f"        sem_wait(&sem_{n});"]
        if link.kind == "cond":
            return [f"    pthread_mutex_lock(&gate_{n});",
                    f"    while (ready_{n} < {posts}) {tag}",
                    f"        pthread_cond_wait(&bell_{n}, &gate_{n});",
                    f"    pthread_mutex_unlock(&gate_{n});"]
        if link.kind == "plain":
            lines = [f"    while (!flag_{n}) {tag}", "        sched_yield();"]
        else:
            order = ORDERS[link.kind][1]
            lines = [f"    while (__atomic_load_n(&flag_{n}, {order}) < {posts}) {tag}",
                     "        sched_yield();"]
        return lines + ([] if link.orders else
                        [f"    keep((unsigned long)message_{n}); {link.tags['get']}"])

    def _slot(self, step):
        lines = []
        for piece, how in step.calls:
            lines.append("    shake();")
            if how == "loop":
                lines += ["    for (int i = 0; i < 3; i++)", f"        {piece.name}(a);"]
            elif how == "table":
                lines.append(f"    jobs[{piece.job}](a);")
            elif how == "deep":
                lines.append(f"    descend(a, 3, {piece.name});")
            else:
                lines.append(f"    {piece.name}(a);")
        return lines

    @staticmethod
    def _final(_):
        return ["    read_all(a);"]
