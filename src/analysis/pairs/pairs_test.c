/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the whole search on small modules: what becomes of each access, and why. Accesses are
 * loads with a name, and the stores of a function by their number. */
#include "analysis/analysis.h"
#include "analysis/flow/testing.h"
#include "base/strbuf.h"

#define STORE(p) "  store i32 1, ptr " p "\n"

struct pairs_case {
    struct rh_module *m;
    struct rh_analysis a;
};

static struct pairs_case search(const char *text)
{
    struct pairs_case c;
    char *all = test_malloc(strlen(flow_prelude) + strlen(text) + 1);
    strcpy(all, flow_prelude);
    strcat(all, text);
    c.m = open_text(all);
    test_free(all);
    assert_true(rh_analysis_run(c.m, &(struct rh_analysis_options){0}, &c.a));
    return c;
}

static void close_search(struct pairs_case *c)
{
    rh_analysis_release(&c->a);
    rh_ir_close(c->m);
}

static enum rh_skip reason_of(const struct pairs_case *c, const struct rh_value *inst)
{
    for (uint32_t i = 0; i < c->a.accesses.all.len; i++)
        if (c->a.accesses.all.data[i].inst == inst)
            return c->a.accesses.all.data[i].skip;
    fail_msg("no access");
    return RH_SKIP_COUNT;
}

static enum rh_skip reason_of_load(const struct pairs_case *c, const char *fn, const char *name)
{
    return reason_of(c, get_value(get_function(c->m, fn), name));
}

static enum rh_skip reason_of_store(const struct pairs_case *c, const char *fn, uint32_t number)
{
    return reason_of(c, get_nth(get_function(c->m, fn), RH_OP_STORE, number));
}

static void test_no_lock(void **state)
{
    (void)state;
    struct pairs_case c =
        search("define ptr @w(ptr %a) {\n" READ("v", "@x") STORE("@x") RETURN TWO_WORKERS);
    assert_int_equal(reason_of_load(&c, "w", "v"), RH_SKIP_COUNT);
    assert_int_equal(reason_of_store(&c, "w", 0), RH_SKIP_COUNT);
    /* The store with the load, and with itself in the other thread. */
    assert_int_equal(c.a.pairs.pairs[RH_PAIR_CANDIDATE], 2);
    close_search(&c);
}

static void test_reasons(void **state)
{
    (void)state;
    struct pairs_case c = search(
        "@only_read = internal global i32 7\n"
        "@early = internal global i32 0\n"
        "@counter = internal global i32 0\n"
        "define ptr @w(ptr %a) {\n" LOCK("@m") READ("locked", "@x") STORE("@x") UNLOCK("@m")
            READ("constant", "@only_read")
                READ("before", "@early") "  %atomic = atomicrmw add ptr @counter, i32 1 monotonic\n"
                                         "  %own = call ptr @malloc(i64 4)\n" STORE("%own")
                                             READ("mine", "%own") RETURN
        "define i32 @main() {\n"
        "  %t = alloca i64\n"
        "  %u = alloca i64\n" STORE("@early") START("%t", "@w")
            START("%u", "@w") "  ret i32 0\n}\n");
    assert_int_equal(reason_of_load(&c, "w", "locked"), RH_SKIP_GUARDED);
    assert_int_equal(reason_of_store(&c, "w", 0), RH_SKIP_GUARDED);
    assert_int_equal(reason_of_load(&c, "w", "constant"), RH_SKIP_ONLY_READ);
    assert_int_equal(reason_of_load(&c, "w", "before"), RH_SKIP_NOT_PARALLEL);
    assert_int_equal(reason_of_load(&c, "w", "atomic"), RH_SKIP_ATOMIC);
    assert_int_equal(reason_of_load(&c, "w", "mine"), RH_SKIP_ONE_THREAD);
    assert_int_equal(c.a.pairs.groups.len, 0);
    close_search(&c);
}

/* Each thread has its element of an array; without the index they have the same one. */
#define ELEMENTS(index)                                                                            \
    "@parts = internal global [4 x i32] zeroinitializer\n"                                         \
    "define ptr @w(ptr %a) {\n" STORE("%a") RETURN                                                 \
        "define i32 @main() {\n"                                                                   \
        "  %t = alloca [4 x i64]\n"                                                                \
        "  br label %more\n"                                                                       \
        "more:\n"                                                                                  \
        "  %i = phi i64 [ 0, %0 ], [ %next, %more ]\n"                                             \
        "  %h = getelementptr [4 x i64], ptr %t, i64 0, i64 %i\n"                                  \
        "  %e = getelementptr [4 x i32], ptr @parts, i64 0, i64 " index "\n"                       \
        "  call i32 @pthread_create(ptr %h, ptr null, ptr @w, ptr %e)\n"                           \
        "  %next = add i64 %i, 1\n"                                                                \
        "  %c = icmp eq i64 %next, 4\n"                                                            \
        "  br i1 %c, label %end, label %more\n"                                                    \
        "end:\n"                                                                                   \
        "  ret i32 0\n}\n"

static void test_own_parts(void **state)
{
    (void)state;
    struct pairs_case c = search(ELEMENTS("%i"));
    assert_int_equal(reason_of_store(&c, "w", 0), RH_SKIP_OWN);
    close_search(&c);
    c = search(ELEMENTS("0"));
    assert_int_equal(reason_of_store(&c, "w", 0), RH_SKIP_COUNT);
    close_search(&c);
}

/* A block is filled in and given away under a lock, or without. */
#define PUBLISH(lock, unlock)                                                                      \
    "@head = internal global ptr null\n"                                                           \
    "define ptr @w(ptr %a) {\n"                                                                    \
    "  %p = call ptr @malloc(i64 4)\n" STORE("%p") lock                                            \
        "  store ptr %p, ptr @head\n" unlock lock                                                  \
        "  %q = load ptr, ptr @head\n" unlock READ("v", "%q") RETURN TWO_WORKERS

static void test_publishing(void **state)
{
    (void)state;
    struct pairs_case c = search(PUBLISH(LOCK("@m"), UNLOCK("@m")));
    assert_int_equal(reason_of_store(&c, "w", 0), RH_SKIP_UNPUBLISHED);
    assert_int_equal(reason_of_load(&c, "w", "v"), RH_SKIP_UNPUBLISHED);
    close_search(&c);
    c = search(PUBLISH("", ""));
    assert_int_equal(reason_of_store(&c, "w", 0), RH_SKIP_COUNT);
    assert_int_equal(reason_of_load(&c, "w", "v"), RH_SKIP_COUNT);
    close_search(&c);
}

/* One thread's function runs in several instances: a pair that one of them makes harmless is still
 * a candidate by the others. */
static void test_instances_with_different_locks(void **state)
{
    (void)state;
    struct pairs_case c =
        search("define internal void @step() noinline {\n" STORE(
            "@x") "  ret void\n}\n"
                  "define ptr @w(ptr %a) {\n" LOCK("@m") "  call void @step()\n" UNLOCK("@m") RETURN
               "define ptr @v(ptr %a) {\n" LOCK("@n") "  call void @step()\n" UNLOCK("@n") RETURN
               "define i32 @main() {\n"
               "  %t = alloca i64\n"
               "  %u = alloca i64\n" START("%t", "@w") START("%u", "@v") "  ret i32 0\n}\n");
    assert_int_equal(reason_of_store(&c, "step", 0), RH_SKIP_COUNT);
    close_search(&c);
}

static void test_what_is_worse_comes_first(void **state)
{
    (void)state;
    struct pairs_case c =
        search("@p = internal global ptr null\n"
               "define ptr @w(ptr %a) {\n" READ("v", "@x") STORE("@y")
                   LOCK("@m") "  store ptr @x, ptr @p\n" UNLOCK("@m") "  %q = load "
                                                                      "ptr, ptr "
                                                                      "@p\n" RETURN TWO_WORKERS);
    assert_true(c.a.pairs.groups.len >= 2);
    const struct rh_group *best = &c.a.pairs.groups.data[0];
    struct rh_strbuf why = RH_STRBUF_INIT, object = RH_STRBUF_INIT;
    rh_score_explain_group(best->reasons, &why);
    rh_pairs_describe_object(&c.a.pairs, best->object, &object);
    assert_string_equal(rh_strbuf_text(&object), "global p");
    assert_non_null(strstr(rh_strbuf_text(&why), "a pointer is written"));
    assert_non_null(strstr(rh_strbuf_text(&why), "one side holds a lock, the other none"));
    for (size_t i = 1; i < c.a.pairs.groups.len; i++)
        assert_true(c.a.pairs.groups.data[i].score <= c.a.pairs.groups.data[i - 1].score);
    rh_strbuf_release(&why);
    rh_strbuf_release(&object);
    close_search(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_lock),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_own_parts),
        cmocka_unit_test(test_publishing),
        cmocka_unit_test(test_instances_with_different_locks),
        cmocka_unit_test(test_what_is_worse_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
