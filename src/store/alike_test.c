/* What expressions name, and what becomes of a score. */
#include "store/alike.h"

#include "base/testing.h"

#include <string.h>

static void assert_name(const char *expression, const char *name)
{
    struct rh_alike_name got = rh_alike_name(expression);
    if (got.len != strlen(name) || (got.len && strncmp(got.text, name, got.len) != 0))
        fail_msg("%s names %.*s", expression, (int)got.len, got.text ? got.text : "");
}

static void names_are_members(void **state)
{
    (void)state;
    assert_name("it->flags", "flags");
    assert_name("c->stats.hits[it->id]", "hits");
    assert_name("table[i][j + k[2]].next", "next");
    assert_name("(struct item).next", "next");
    assert_name("s.x_2", "x_2");
    assert_name("count", "");
    assert_name("buffer[i]", "");
    assert_name("*p", "");
    assert_name("*p->name", "name");
    assert_name("->", "");
    assert_name("]", "");
    assert_name("[", "");
    assert_name("", "");
    assert_name(NULL, "");
}

static void the_same_name_betters_a_vague_score(void **state)
{
    (void)state;
    struct rh_sidecar_group group = {.score = 30, .flags = RH_GROUP_VAGUE, .why = "no lock"};
    struct rh_sidecar_site a = {.expression = "it->flags"}, b = {.expression = "item->flags"},
                           c = {.expression = "it->flag"}, d = {.expression = "it->flags[0]"},
                           e = {.expression = "*it->flags"};
    struct rh_strbuf text = RH_STRBUF_INIT;
    assert_true(rh_alike_in(&group, &a, &b));
    assert_false(rh_alike_in(&group, &a, &c));
    assert_false(rh_alike_in(&group, &a, &d));
    assert_true(rh_alike_in(&group, &d, &e));
    assert_int_equal(rh_alike_score(&group, true), 60);
    assert_int_equal(rh_alike_score(&group, false), 30);
    rh_alike_explain(&group, &a, &b, &text);
    assert_string_equal(rh_strbuf_text(&text), "no lock, both name flags (+30)");
    group.score = 90;
    assert_int_equal(rh_alike_score(&group, true), 100);
    group.flags = 0;
    assert_false(rh_alike_in(&group, &a, &b));
    rh_strbuf_reset(&text);
    rh_alike_explain(&group, &a, &b, &text);
    assert_string_equal(rh_strbuf_text(&text), "no lock");
    rh_strbuf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_members),
        cmocka_unit_test(the_same_name_betters_a_vague_score),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
