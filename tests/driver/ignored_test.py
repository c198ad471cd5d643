# SPDX-License-Identifier: Apache-2.0
"""RH_IGNORE_FUNCTION and no_sanitize("thread"): no site in such a function, wherever it is inlined."""
import json

import harness
from harness import DriverTest

# Each variable is changed by one function alone, so its name says whose access it is.
C = """#include <pthread.h>
#include <racehive/annotations.h>
int hidden_kept, hidden_inline, hidden_always, hidden_attribute, hidden_forced, hidden_read;
int hidden_brackets;
int seen_plain, seen_address, seen_in_caller;
static RH_IGNORE_FUNCTION __attribute__((noinline)) void kept(void) { hidden_kept++; }
static RH_IGNORE_FUNCTION inline void in_line(void) { hidden_inline++; }
RH_IGNORE_FUNCTION __attribute__((always_inline)) static inline void always(void)
{
    hidden_always++;
}
__attribute__((no_sanitize("thread"))) static inline void attribute(void) { hidden_attribute++; }
__attribute__((no_sanitize("undefined", "thread"), always_inline)) static inline void forced(void)
{
    hidden_forced++;
}
[[clang::no_sanitize("thread")]] static inline void brackets(void) { hidden_brackets++; }
static RH_IGNORE_FUNCTION inline int done(void) { return hidden_read; }
__attribute__((no_sanitize("address"))) static inline void address(void) { seen_address++; }
static void *work(void *arg)
{
    for (int i = 0; i < 1000 && !done(); i++) {
        kept();
        in_line();
        always();
        attribute();
        forced();
        brackets();
        address();
        seen_plain++;
    }
    seen_in_caller++;
    hidden_read = 1;
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

CXX = """#include <thread>
#include <racehive/annotations.h>
int hidden_lambda, hidden_attribute_lambda, hidden_template, hidden_template2;
int hidden_brackets, hidden_template3, hidden_both;
int seen_plain, seen_template;
struct base {
    int hidden_member = 0, hidden_virtual = 0, hidden_attribute_member = 0;
    RH_IGNORE_FUNCTION void member() { hidden_member++; }
    [[clang::no_sanitize("thread")]] void brackets() { hidden_member++; }
    __attribute__((no_sanitize("thread"))) void attribute() { hidden_attribute_member++; }
    RH_IGNORE_FUNCTION virtual void overridden() { hidden_virtual++; }
    virtual ~base() = default;
} shared;
template <typename T> RH_IGNORE_FUNCTION inline void bump(T &n) { n++; }
template <typename T> __attribute__((no_sanitize("thread"))) inline void bump2(T &n) { n++; }
template <typename T> [[clang::no_sanitize("thread")]] inline void bump4(T &n) { n++; }
[[clang::no_sanitize("thread")]] static inline void brackets() { hidden_brackets++; }
[[nodiscard, clang::no_sanitize("undefined", "thread"), gnu::always_inline]] static inline int both()
{
    return hidden_both++;
}
template <typename T> inline void bump3(T &n) { n++; }
static void work()
{
    auto lambda = [](int n) RH_IGNORE_FUNCTION { hidden_lambda += n; };
    auto attribute = [](int n) __attribute__((no_sanitize("thread"))) {
        hidden_attribute_lambda += n;
    };
    for (int i = 0; i < 1000; i++) {
        lambda(i);
        attribute(i);
        bump(hidden_template);
        bump2(hidden_template2);
        bump3(seen_template);
        bump4(hidden_template3);
        brackets();
        both() ? (void)0 : (void)0;
        shared.member();
        shared.brackets();
        shared.attribute();
        shared.overridden();
        seen_plain++;
    }
}
int main()
{
    std::thread a(work), b(work);
    a.join();
    b.join();
}
"""

LEVELS = ["-O0", "-O1", "-O2", "-O3"]


class IgnoredTest(DriverTest):
    def read_lines(self, source):
        """The texts of the lines that have a site in a candidate with a write on both sides."""
        lines = self.read(source).splitlines()
        found = self.run_ok("racehive", "candidates", "--json", "prog").out
        pairs = [(c["first"], c["second"]) for c in json.loads(found)["candidates"]]
        return [lines[side["line"] - 1] for pair in pairs for side in pair
                if side["file"].endswith(source) and not side.get("near")]

    def check(self, build, source, seen):
        for level in LEVELS:
            with self.subTest(level):
                build(level, "-Wall", "-Wextra", "-pthread", source, "-o", "prog")
                self.assert_instrumented("prog")
                lines = self.read_lines(source)
                for line in lines:
                    if "hidden_read = 1" not in line:
                        self.assertNotIn("hidden_", line)
                        self.assertNotIn("bump(", line)
                        self.assertNotIn("bump2(", line)
                        self.assertNotIn("bump4(", line)
                for name in seen:
                    self.assertTrue(any(name in line for line in lines), f"{name}: {lines}")

    def test_in_c(self):
        self.write("c.c", C)
        self.check(self.cc, "c.c", ["seen_plain++", "seen_address++", "seen_in_caller++",
                                    "hidden_read = 1"])

    def test_in_cplusplus(self):
        self.write("c.cc", CXX)
        self.check(lambda *words: self.cxx("-std=c++17", *words), "c.cc",
                   ["seen_plain++", "bump3(T &n)"])

    def test_programs_with_such_a_macro_build_without_a_word(self):
        self.write("m.c", "#define no_sanitize(what) unused\n"
                          "static __attribute__((no_sanitize(x))) int own;\n"
                          "int main(void) { return 0; }\n")
        self.cc("-Wall", "-Wextra", "-Werror", "-Weverything", "m.c", "-o", "m")

    def test_strict_code_builds_without_a_word(self):
        self.write("s.c", '__attribute__((no_sanitize("thread", "address"))) int f(int *p);\n'
                          "int f(int *p) { return *p; }\n"
                          "int main(void) { int x = 0; return f(&x); }\n")
        for language in ("-std=c89", "-std=c17"):
            self.cc(language, "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "s.c", "-o", "s")
        self.write("s.cc", '[[clang::no_sanitize("thread")]] static int f(int *p) { return *p; }\n'
                           "int main() { int x = 0; return f(&x); }\n")
        self.cxx("-std=c++11", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "s.cc", "-o", "t")


if __name__ == "__main__":
    harness.main()
