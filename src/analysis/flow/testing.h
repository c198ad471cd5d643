/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of the flow analysis: modules from short text, and the one question that
 * matters: what becomes of two accesses to the same memory.
 *
 * Accesses are loads with a name, written "function:name". That they are no writes makes no
 * difference to when they run and what they hold.
 */
#ifndef RH_ANALYSIS_FLOW_TESTING_H
#define RH_ANALYSIS_FLOW_TESTING_H

#include "ir/testing.h"

#include "analysis/flow/flow.h"

#define LOCK(m)       "  call i32 @pthread_mutex_lock(ptr " m ")\n"
#define UNLOCK(m)     "  call i32 @pthread_mutex_unlock(ptr " m ")\n"
#define READ(name, p) "  %" name " = load i32, ptr " p "\n"
#define START(handle, fn)                                                                          \
    "  call i32 @pthread_create(ptr " handle ", ptr null, ptr " fn ", ptr null)\n"
#define JOIN(name, handle) "  %" name " = load i64, ptr " handle "\n" JOIN_VALUE("%" name)
#define JOIN_VALUE(value)  "  call i32 @pthread_join(i64 " value ", ptr null)\n"
#define RETURN             "  ret ptr null\n}\n"

static const char flow_prelude[] = "@x = internal global i32 0\n"
                                   "@y = internal global i32 0\n"
                                   "%lock = type { i64, i64, i64, i64, i64 }\n"
                                   "@m = internal global %lock zeroinitializer\n"
                                   "@n = internal global %lock zeroinitializer\n"
                                   "declare i32 @pthread_create(ptr, ptr, ptr, ptr)\n"
                                   "declare i32 @pthread_join(i64, ptr)\n"
                                   "declare void @pthread_exit(ptr)\n"
                                   "declare i32 @pthread_mutex_lock(ptr)\n"
                                   "declare i32 @pthread_mutex_trylock(ptr)\n"
                                   "declare i32 @pthread_mutex_unlock(ptr)\n"
                                   "declare i32 @pthread_rwlock_rdlock(ptr)\n"
                                   "declare i32 @pthread_rwlock_wrlock(ptr)\n"
                                   "declare i32 @pthread_rwlock_unlock(ptr)\n"
                                   "declare i32 @pthread_cond_wait(ptr, ptr)\n"
                                   "declare ptr @malloc(i64)\n"
                                   "declare ptr @signal(i32, ptr)\n"
                                   "declare void @exit(i32)\n"
                                   "declare void @unknown()\n"
                                   "declare void @tell_unknown(ptr)\n";

/* Two threads that run @w. */
#define TWO_WORKERS                                                                                \
    "define i32 @main() {\n"                                                                       \
    "  %t = alloca i64\n"                                                                          \
    "  %u = alloca i64\n" START("%t", "@w") START("%u", "@w") "  ret i32 0\n}\n"

struct flow_case {
    struct rh_module *m;
    struct rh_pointsto *p;
    struct rh_flow *f;
};

static inline struct flow_case open_case_as(const char *text, bool is_library)
{
    struct flow_case c;
    char *all = NULL;
    size_t size = strlen(flow_prelude) + strlen(text) + 1;
    all = test_malloc(size);
    strcpy(all, flow_prelude);
    strcat(all, text);
    c.m = open_text(all);
    test_free(all);
    c.p = rh_pointsto_solve(c.m, &(struct rh_pointsto_options){.is_library = is_library});
    c.f = rh_flow_run(c.m, c.p, &(struct rh_flow_options){.is_library = is_library});
    return c;
}

static inline struct flow_case open_case(const char *text)
{
    return open_case_as(text, false);
}

static inline void close_case(struct flow_case *c)
{
    rh_flow_free(c->f);
    rh_pointsto_free(c->p);
    rh_ir_close(c->m);
}

/* The access called "function:name". */
static inline struct rh_access find_access(const struct flow_case *c, const char *where)
{
    const char *colon = strchr(where, ':');
    char fn[64] = "";
    assert_true(colon && colon - where < 64);
    memcpy(fn, where, (size_t)(colon - where));
    struct rh_value *inst = get_value(get_function(c->m, fn), colon + 1);
    return (struct rh_access){
        .inst = inst, .pointer = rh_ir_pointer(inst), .size = inst->access->size};
}

enum fate { SERIAL, GUARDED, RACY };

static inline enum fate judge_instances(const struct flow_case *c, const struct rh_access *a,
                                        uint32_t a_instance, const struct rh_access *b,
                                        uint32_t b_instance)
{
    enum fate worst = SERIAL;
    uint32_t a_count, b_count;
    const struct rh_occurrence *x = rh_flow_occurrences(c->f, a_instance, a->inst, &a_count);
    const struct rh_occurrence *y = rh_flow_occurrences(c->f, b_instance, b->inst, &b_count);
    for (uint32_t i = 0; i < a_count; i++) {
        for (uint32_t k = 0; k < b_count; k++) {
            struct rh_guarded one = {a_instance, a, &x[i]}, other = {b_instance, b, &y[k]};
            if (!rh_flow_parallel(c->f, &x[i], &y[k]))
                continue;
            enum fate here = rh_flow_guards(c->f, &one, &other) ? GUARDED : RACY;
            /* Which of the two is asked first must not matter. */
            assert_true(rh_flow_parallel(c->f, &y[k], &x[i]));
            assert_int_equal(rh_flow_guards(c->f, &other, &one), here == GUARDED);
            worst = here > worst ? here : worst;
        }
    }
    return worst;
}

/* The worst that can become of two accesses. */
static inline enum fate judge(const struct flow_case *c, const char *one, const char *other)
{
    struct rh_access a = find_access(c, one), b = find_access(c, other);
    uint32_t a_count, b_count;
    const uint32_t *x = rh_pointsto_instances_of(c->p, a.inst->fn, &a_count);
    const uint32_t *y = rh_pointsto_instances_of(c->p, b.inst->fn, &b_count);
    enum fate worst = SERIAL;
    for (uint32_t i = 0; i < a_count; i++) {
        for (uint32_t k = 0; k < b_count; k++) {
            enum fate here = judge_instances(c, &a, x[i], &b, y[k]);
            worst = here > worst ? here : worst;
        }
    }
    return worst;
}

/* One question of a table: what becomes of the two. */
struct expected {
    const char *one, *other;
    enum fate fate;
};

static inline void check_case_as(const char *text, bool is_library, const struct expected *rows,
                                 size_t count)
{
    static const char *const names[] = {"serial", "guarded", "racy"};
    struct flow_case c = open_case_as(text, is_library);
    for (size_t i = 0; i < count; i++) {
        enum fate fate = judge(&c, rows[i].one, rows[i].other);
        if (fate != rows[i].fate)
            fail_msg("%s and %s are %s, not %s", rows[i].one, rows[i].other, names[fate],
                     names[rows[i].fate]);
    }
    close_case(&c);
}

#define check_case(text, ...)                                                                      \
    do {                                                                                           \
        const struct expected rows_[] = {__VA_ARGS__};                                             \
        check_case_as((text), false, rows_, sizeof rows_ / sizeof rows_[0]);                       \
    } while (0)

#endif
