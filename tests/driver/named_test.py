# SPDX-License-Identifier: Apache-2.0
"""Rules of --rh-config about functions that synchronise, on locks made by hand in assembly."""
import json
import os

import harness
from harness import DriverTest

HEAD = "#include <pthread.h>\nextern void grab(int *), drop(int *);\n"

INLINE = HEAD + """
__attribute__((used)) void grab(int *lock)
{
    int taken;
    do {
        taken = 1;
        __asm__ volatile("xchgl %0, %1" : "+r"(taken), "+m"(*lock) : : "memory");
    } while (taken);
}
__attribute__((used)) void drop(int *lock)
{
    __asm__ volatile("movl $0, %0" : "=m"(*lock) : : "memory");
}
"""

ASSEMBLY = """.text
.globl grab, drop
.type grab, @function
.type drop, @function
grab: movl $1, %eax
1:    xchgl %eax, (%rdi)
      testl %eax, %eax
      jnz grab
      ret
drop: movl $0, (%rdi)
      ret
.section .note.GNU-stack,"",@progbits
"""

FILE_SCOPE = HEAD + "__asm__(" + "".join(json.dumps(line + "\n") for line in
                                         ASSEMBLY.splitlines()[:-1]) + ");\n"

MAIN = """
static int lock;
int shared;
static void *work(void *arg)
{
    for (int i = 0; i < 2000; i++) {
        %s
    }
    return arg;
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&t[i], 0, work, 0))
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
"""
CLEAN = MAIN % "grab(&lock); shared++; drop(&lock);"
RACY = MAIN % "grab(&lock); drop(&lock); shared++;"

LOCKS = "lock:grab:0\nunlock:drop:0\n"
ORDER = "acquire:grab:0\nrelease:drop:0\n"

STARTS = """
extern int launch(void *(*start)(void *), void *arg);
__asm__(".text\\n.globl launch\\nlaunch: ret\\n");
int shared;
static void *work(void *arg) { shared++; return arg; }
int main(void) { launch(work, 0); return shared; }
"""


class Named(DriverTest):
    def racehive(self, *args):
        return self.run_any(os.path.join(os.path.dirname(self.prefix.cc), "racehive"), *args)

    def candidates(self):
        return len(json.loads(self.racehive("candidates", "--json", "prog").out)["candidates"])

    def build(self, source, rules, *more):
        self.write("a.c", source)
        self.write("conf", rules)
        self.write("locks.S", ASSEMBLY)
        result = self.run_any(self.prefix.cc, "-pthread", "--rh-config=conf", "a.c", *more, "-o",
                              "prog")
        self.assertEqual(result.status, 0, result.err)
        self.assert_instrumented("prog")
        return result.err

    def run_program(self, runs):
        result = self.racehive("run", "--runs=%d" % runs, "--exitcode=66", "--json=out.json", "--",
                               "./prog")
        with open(self.path("out.json"), encoding="utf-8") as file:
            return result, json.load(file)["candidates"]

    def each_form(self):
        """A home-made lock in inline assembly, at file scope and in a file of its own."""
        return ((INLINE, ()), (FILE_SCOPE, ()), (HEAD, ("locks.S",)))

    def test_locks_guard_what_is_under_them(self):
        for level in ("-O0", "-O2", "-O3"):
            for head, more in self.each_form():
                self.assertEqual(self.build(head + CLEAN, LOCKS, level, *more), "")
                self.assertEqual(self.candidates(), 0)
                self.build(head + RACY, LOCKS, level, *more)
                self.assertGreater(self.candidates(), 0)

    def test_rules_for_other_functions_change_nothing(self):
        for rules in ("lock:grabs:0\nunlock:drops:0\n", "lock:gra:0\nunlock:dro:0\n",
                      "unlock:drop:0\n"):
            self.build(INLINE + CLEAN, rules, "-O2")
            self.assertGreater(self.candidates(), 0, rules)

    def test_what_is_ordered_is_quiet_and_the_rest_is_found(self):
        for head, more in self.each_form():
            self.build(head + CLEAN, ORDER, "-O2", *more)
            self.assertGreater(self.candidates(), 0)
            result, known = self.run_program(20)
            self.assertEqual(result.status, 0, result.out + result.err)
            self.assertNotIn("not proved", result.out)  # nothing is unordered, in no opaque process
            self.build(head + RACY, ORDER, "-O2", *more)
            result, known = self.run_program(20)
            self.assertEqual(result.status, 66, result.out + result.err)
            self.assertIn("true-race", [c["verdict"] for c in known])

    def test_a_rule_for_one_side_orders_nothing(self):
        self.build(INLINE + CLEAN, "acquire:grab:0\n", "-O2")
        result, _ = self.run_program(5)
        self.assertNotEqual(result.status, 66, "assembly that no rule names makes it opaque")

    def test_threads_of_named_functions(self):
        for rules, found in (("", False), ("thread:launches:0\n", False), ("thread:launch:0\n", True)):
            self.build(STARTS, rules, "-O1")
            self.assertEqual(self.candidates() > 0, found, rules)

    def test_an_argument_that_is_gone_is_told_of(self):
        source = (INLINE.replace("__attribute__((used)) void drop", "static void drop")
                  .replace("grab(int *), drop", "grab"))
        for program in (CLEAN, RACY):
            err = self.build(source + program, LOCKS, "-O2")
            self.assertRegex(err, r"conf:2: drop has no pointer as argument 0, [^\n]*\n\Z")
            self.assertGreater(self.candidates(), 0)
        err = self.build(INLINE + CLEAN, "# ours\nlock:grab:3\n", "-O2")
        self.assertRegex(err, r"conf:2: grab has no pointer as argument 3, ")

    def test_always_inline_yields_to_a_rule(self):
        source = INLINE.replace("__attribute__((used)) void drop",
                                "__attribute__((always_inline)) inline void drop")
        self.assertEqual(self.build(source + CLEAN, LOCKS, "-O2"), "")
        self.assertEqual(self.candidates(), 0)
        # At -O0 it does not: then no lock may seem to be held.
        for program in (CLEAN, RACY):
            err = self.build(source + program, LOCKS, "-O0")
            self.assertRegex(err, r"conf:2: drop is inlined, so no rule [^\n]*\n\Z")
            self.assertGreater(self.candidates(), 0)

    def test_mistakes_are_refused(self):
        self.write("a.c", INLINE + CLEAN)
        for rule in ("lock:grab", "unlock:drop:x", "acquire::0", "release:put:10", "thread:go:-1"):
            self.write("conf", "race:a\n" + rule + "\n")
            result = self.run_any(self.prefix.cc, "--rh-config=conf", "a.c", "-o", "prog")
            self.assertEqual(result.status, 2, rule)
            self.assertRegex(result.err, r"\A[^\n]*error: conf:2: expected " + rule.split(":")[0] +
                             ":NAME:ARG")


if __name__ == "__main__":
    harness.main()
