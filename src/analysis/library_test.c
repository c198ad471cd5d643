/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the library table: that it is sound as a table, some rows to the letter, bad input. */
#include "analysis/library.h"
#include "base/map.h"
#include "base/testing.h"

#include <string.h>

enum row_kind { ROW, ALIAS, VARIABLE };

static const struct table_row {
    enum row_kind kind;
    const char *name, *text;
} table[] = {
#define F(name, effects) {ROW, name, effects},
#define A(name, plain)   {ALIAS, name, plain},
#define V(name)          {VARIABLE, name, ""},
#include "analysis/library.def"
#undef F
#undef A
#undef V
};

enum { TABLE_ROWS = sizeof table / sizeof *table };

static const char *const words[] = {
#define WORD(id, word) [RH_EFFECT_##id] = word,
    RH_EFFECTS(WORD)
#undef WORD
};

/* --- the table --- */

static void test_every_row_parses(void **state)
{
    (void)state;
    for (int i = 0; i < TABLE_ROWS; i++) {
        const struct table_row *row = &table[i];
        if (row->kind != ROW)
            continue;
        const struct rh_library_row *found = rh_library_find(row->name);
        if (!found) {
            char *line = rh_format("%s %s", row->name, row->text);
            assert_int_equal(rh_library_add("library.def", line), RH_ERR_INPUT);
            free(line);
            fail_msg("%s", rh_error_text());
        }
        assert_string_equal(found->name, row->name);
    }
}

static void test_names_are_unique(void **state)
{
    (void)state;
    struct rh_strmap seen = RH_STRMAP_INIT;
    for (int i = 0; i < TABLE_ROWS; i++)
        if (!rh_strmap_put(&seen, table[i].name, NULL))
            fail_msg("%s stands twice in the table", table[i].name);
    assert_true(seen.len > 2000);
    rh_strmap_release(&seen);
}

static bool is_argument(int arg)
{
    return arg >= 0 && arg <= 9;
}

static bool is_argument_or(int arg, int other)
{
    return is_argument(arg) || arg == other;
}

static void check_value(const struct rh_effect_arg *v)
{
    assert_true(is_argument(v->arg) || (v->arg <= RH_NO_ARG && v->arg >= RH_HOLDER_ARG));
    assert_true(v->indirect <= 2);
    assert_true(is_argument(v->arg) || !v->indirect);
}

static void check_effect(const struct rh_effect *e)
{
    bool touches = e->kind == RH_EFFECT_READ || e->kind == RH_EFFECT_WRITE ||
                   e->kind == RH_EFFECT_SEND || e->kind == RH_EFFECT_RECEIVE;
    bool has_length = touches || e->kind == RH_EFFECT_COPY || e->kind == RH_EFFECT_ALLOC;
    bool has_bytes = touches || e->kind == RH_EFFECT_LINK || e->kind == RH_EFFECT_WALK;
    assert_true(e->kind < RH_EFFECT_COUNT);
    assert_true(is_argument_or(e->arg, RH_NO_ARG));
    assert_true(is_argument(e->arg) || !touches);
    assert_true(e->indirect <= 2);
    assert_true(is_argument_or(e->length, RH_NO_ARG) && (has_length || e->length == RH_NO_ARG));
    assert_true(e->scale == RH_NO_ARG || (is_argument(e->scale) && is_argument(e->length)));
    assert_true(has_bytes || !e->bytes);
    assert_true(is_argument_or(e->format, RH_NO_ARG) && (e->rest || e->format == RH_NO_ARG));
    assert_true(e->param_count <= RH_EFFECT_PARAMS);
    check_value(&e->from);
    for (int i = 0; i < e->param_count; i++)
        check_value(&e->params[i]);
}

static void test_effects_make_sense(void **state)
{
    (void)state;
    for (int i = 0; i < TABLE_ROWS; i++) {
        if (table[i].kind != ROW)
            continue;
        const struct rh_library_row *row = rh_library_find(table[i].name);
        assert_non_null(row);
        assert_int_equal(row->effect_count == 0, *table[i].text == '\0');
        for (uint32_t e = 0; e < row->effect_count; e++)
            check_effect(&row->effects[e]);
    }
}

static void test_aliases_lead_to_rows(void **state)
{
    (void)state;
    for (int i = 0; i < TABLE_ROWS; i++) {
        if (table[i].kind != ALIAS)
            continue;
        const struct rh_library_row *row = rh_library_find(table[i].name);
        if (!row)
            fail_msg("%s leads to %s, which has no row", table[i].name, table[i].text);
        assert_string_equal(row->name, table[i].text);
    }
}

/* --- some rows to the letter --- */

static void add_value(struct rh_strbuf *out, const char *label, const struct rh_effect_arg *v)
{
    rh_strbuf_addf(out, " %s%d%s", label, v->arg, v->inside ? " inside" : "");
    if (v->indirect)
        rh_strbuf_addf(out, " %s%d", v->any ? "any" : "first", v->indirect);
}

static void add_field(struct rh_strbuf *out, const char *label, int value, int usual)
{
    if (value != usual)
        rh_strbuf_addf(out, " %s%d", label, value);
}

/* Every field that is not as usual, by name. */
static void add_effect(struct rh_strbuf *out, const struct rh_effect *e)
{
    rh_strbuf_addf(out, "%s%s", out->len ? "; " : "", words[e->kind]);
    add_field(out, "arg", e->arg, RH_NO_ARG);
    add_field(out, e->any ? "any" : "first", e->indirect, 0);
    add_field(out, "inside", e->inside, 0);
    add_field(out, "rest", e->rest, 0);
    add_field(out, "format", e->format, RH_NO_ARG);
    add_field(out, "length", e->length, RH_NO_ARG);
    add_field(out, "scale", e->scale, RH_NO_ARG);
    add_field(out, "bytes", (int)e->bytes, 0);
    if (e->from.arg != RH_NO_ARG || e->from.inside)
        add_value(out, "from", &e->from);
    add_field(out, "success", e->success, 0);
    for (int i = 0; i < e->param_count; i++)
        add_value(out, "param", &e->params[i]);
}

static void expect(const char *name, const char *expected)
{
    const struct rh_library_row *row = rh_library_find(name);
    struct rh_strbuf said = RH_STRBUF_INIT;
    assert_non_null(row);
    for (uint32_t i = 0; i < row->effect_count; i++)
        add_effect(&said, &row->effects[i]);
    assert_string_equal(rh_strbuf_text(&said), expected);
    rh_strbuf_release(&said);
}

static void test_memory_rows(void **state)
{
    (void)state;
    expect("sin", "");
    expect("malloc", "alloc length0");
    expect("realloc", "alloc length1; copy from0; ret from0; free arg0");
    expect("posix_memalign", "w arg0 bytes8; alloc arg0");
    expect("memcpy", "w arg0 length2; r arg1 length2; copy arg0 length2 from1; ret from0");
    expect("fread", "w arg0 length1 scale2");
    expect("strtol", "w arg1 bytes8; r arg0; put arg1 from0 inside");
    expect("strsep", "w arg0 bytes8; w arg0 first1; r arg1; put arg0 from0 inside first1; "
                     "ret from0 first1");
    expect("readv", "r arg1; w arg1 any1");
    expect("vsnprintf", "w arg0 length1; w arg3 bytes24; r arg2; r arg3 any2");
    expect("getaddrinfo",
           "w arg3 bytes8; r arg0; r arg1; r arg2 bytes48; alloc arg3 from-1 inside");
    expect("epoll_wait", "w arg1; give arg1 inside1");
    expect("localtime", "r arg0 bytes8; static");
    expect("strerror", "own");
    expect("_ZdlPvm", "free arg0");
}

static void test_format_rows(void **state)
{
    (void)state;
    expect("printf", "r arg0; r arg1 rest1 format0");
    expect("__printf_chk", "r arg1; r arg2 rest1 format1");
    expect("__sprintf_chk", "w arg0; r arg3; r arg4 rest1 format3");
    expect("__isoc99_sscanf", "r arg0; r arg1; w arg2 rest1 format1; alloc arg2 rest1 format1");
}

static void test_calling_rows(void **state)
{
    (void)state;
    expect("qsort_r", "w arg0 length1 scale2; copy arg0 from0 inside; "
                      "call arg3 param0 inside param0 inside param4");
    expect("tsearch", "w arg1 bytes8; alloc arg1 from-1 inside; put arg1 first1 from0; "
                      "call arg2 param0 param1 first2; ret from1 first1");
    expect("atexit", "later arg0");
    expect("exit", "runs; exits");
    expect("sigaction",
           "w arg2 bytes152; r arg1 bytes152; handler arg1 first1 param-1 param-4 param-1");
    expect("pthread_key_create", "w arg0 bytes4; later arg1 param-3");
    expect("deflateEnd", "w arg0 bytes112; call arg0 any1 param0 any1 param-2");
}

static void test_thread_rows(void **state)
{
    (void)state;
    expect("pthread_create", "w arg0 bytes8; r arg1 bytes56; thread arg2 from0 param3");
    expect("thrd_create", "w arg0 bytes8; thread arg1 from0 param2");
    expect("timer_create", "w arg2 bytes8; r arg1 bytes64; thread arg1 any1 param1 any1; "
                           "keep arg1 any1");
    expect("sigqueue", "keep arg2");
    expect("pthread_join", "w arg1 bytes8; join arg0; give arg1");
    expect("pthread_tryjoin_np", "w arg1 bytes8; give arg1");
    expect("pthread_mutex_timedlock", "r arg0 bytes40; trylock arg0; r arg1 bytes16");
    expect("__cxa_guard_acquire", "trylock arg0 success1");
    expect("pthread_rwlock_rdlock", "r arg0 bytes56; rlock arg0");
    expect("pthread_cond_timedwait", "r arg0 bytes48; wait arg1; r arg2 bytes16");
    expect("sem_wait", "r arg0 bytes32");
    expect("pthread_getspecific", "tgive");
    expect("pthread_once", "once arg1");
    expect("_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
           "w arg0 bytes8; w arg1 bytes8; vthread arg1 from0");
    expect("_ZNSt6thread4joinEv", "w arg0 bytes8; join arg0 first1");
    expect("_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
           "r arg1 bytes8; wait arg1 first1");
    expect("_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base", "r arg0 bytes32; walk arg0 bytes32");
    expect("_ZNSt8__detail15_List_node_base7_M_hookEPS0_",
           "w arg0 bytes16; w arg1 bytes16; w arg1 any1 bytes16; link arg0 bytes16 param1");
}

static void test_names_have_many_forms(void **state)
{
    (void)state;
    assert_ptr_equal(rh_library_find("open64"), rh_library_find("open"));
    assert_ptr_equal(rh_library_find("__isoc23_strtoul"), rh_library_find("strtol"));
    assert_ptr_equal(rh_library_find("__memcpy_chk"), rh_library_find("memcpy"));
    assert_ptr_equal(rh_library_find("\01read"), rh_library_find("read"));
    assert_ptr_equal(rh_library_find("\01pread64"), rh_library_find("pread"));
    assert_null(rh_library_find("dlsym"));
    assert_null(rh_library_find("printf_"));
    assert_null(rh_library_find("rint64"));
    assert_null(rh_library_find(""));
    assert_true(rh_library_guards("_ZSt4cout"));
    assert_false(rh_library_guards("printf"));
    assert_null(rh_library_find("_ZSt4cout"));
}

/* --- rows of the user --- */

static void test_added_rows_win(void **state)
{
    (void)state;
    const char *text = "# ours\n\n  pool_get  alloc # new\r\n\tpool_put\tfree0\nours_pure\n"
                       "pool_put w0:9 free0\nfopen64 r0\nfdopen r0=1048576";
    assert_null(rh_library_find("pool_get"));
    assert_int_equal(rh_library_add("ours", text), RH_OK);
    expect("pool_get", "alloc");
    expect("pool_put", "w arg0 length9; free arg0");
    expect("ours_pure", "");
    expect("fopen64", "r arg0");
    expect("fopen", "r arg0; r arg1; static");
    expect("fdopen", "r arg0 bytes1048576");

    assert_int_equal(rh_library_add("ours", "lseek exits\n\01ours_raw own"), RH_OK);
    expect("lseek", "exits");
    expect("ours_raw", "own");
    assert_int_equal(rh_library_add("ours", ""), RH_OK);
    assert_int_equal(rh_library_add("ours", "freopen own"), RH_OK);
    expect("freopen64", "own");
}

static void test_bad_rows_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"f reads0", "rows:1: f: bad effect `reads0`: there is no such effect"},
        {"# x\n\nf alloc r10", "rows:3: f: bad effect `r10`: arguments are numbered 0 to 9"},
        {"a r0\nb w\nc r0", "rows:2: b: bad effect `w`: a number is missing"},
        {"f r0:", "rows:1: f: bad effect `r0:`: a number is missing"},
        {"f r0:1*", "rows:1: f: bad effect `r0:1*`: a number is missing"},
        {"f r0=", "rows:1: f: bad effect `r0=`: a number is missing"},
        {"f r0=0", "rows:1: f: bad effect `r0=0`: no bytes"},
        {"f r0=4294967297", "rows:1: f: bad effect `r0=4294967297`: too large a number"},
        {"f r0x", "rows:1: f: bad effect `r0x`: it does not end where it should"},
        {"f r*~0", "rows:1: f: bad effect `r*~0`: a number is missing"},
        {"f copy0", "rows:1: f: bad effect `copy0`: `<ARGUMENT` is missing"},
        {"f put0", "rows:1: f: bad effect `put0`: `=ARGUMENT` is missing"},
        {"f put0=x", "rows:1: f: bad effect `put0=x`: a number is missing"},
        {"f call0", "rows:1: f: bad effect `call0`: `(` is missing"},
        {"f call0(1", "rows:1: f: bad effect `call0(1`: `)` is missing"},
        {"f call0(1,)", "rows:1: f: bad effect `call0(1,)`: a number is missing"},
        {"f call0(1,2,3,4,5)", "rows:1: f: bad effect `call0(1,2,3,4,5)`: too many parameters"},
        {"f link0()", "rows:1: f: bad effect `link0()`: `=BYTES` is missing"},
        {"f alloc...", "rows:1: f: bad effect `alloc...`: it does not end where it should"},
        {"f r?", "rows:1: f: bad effect `r?`: a number is missing"},
        {"f exits0", "rows:1: f: bad effect `exits0`: it does not end where it should"},
        {"f 0", "rows:1: f: bad effect `0`: there is no such effect"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(rh_library_add("rows", cases[i].text), RH_ERR_INPUT);
        assert_string_equal(rh_error_text(), cases[i].message);
    }
    assert_null(rh_library_find("a"));
    assert_null(rh_library_find("f"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_parses),      cmocka_unit_test(test_names_are_unique),
        cmocka_unit_test(test_effects_make_sense),    cmocka_unit_test(test_aliases_lead_to_rows),
        cmocka_unit_test(test_memory_rows),           cmocka_unit_test(test_format_rows),
        cmocka_unit_test(test_calling_rows),          cmocka_unit_test(test_thread_rows),
        cmocka_unit_test(test_names_have_many_forms), cmocka_unit_test(test_added_rows_win),
        cmocka_unit_test(test_bad_rows_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
