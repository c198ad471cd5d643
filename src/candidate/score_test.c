/* SPDX-License-Identifier: Apache-2.0 */
/* What expressions name, and what scores are made of. */
#include "candidate/score.h"

#include "base/testing.h"
#include "candidate/member.h"

#include <string.h>

static void assert_name(const char *expression, const char *name)
{
    struct rh_member got = rh_member_of(expression);
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

static void members_are_the_same_by_name_and_depth(void **state)
{
    (void)state;
    assert_true(rh_member_same("it->flags", "item->flags"));
    assert_false(rh_member_same("it->flags", "it->flag"));
    assert_false(rh_member_same("it->flags", "it->flags[0]"));
    assert_true(rh_member_same("it->flags[0]", "*it->flags"));
    assert_false(rh_member_same("count", "count"));
    assert_false(rh_member_same(NULL, NULL));
}

static void scores_are_sums_within_bounds(void **state)
{
    (void)state;
    assert_int_equal(rh_score_group(0), 40);
    assert_int_equal(rh_score_group(1 << RH_REASON_ONE_LOCKED | 1 << RH_REASON_EXACT), 65);
    assert_int_equal(rh_score_group(RH_REASONS_BOTH_LOCKED), 40);
    assert_int_equal(rh_score_group(1 << RH_REASON_VAGUE | 1 << RH_REASON_OUTSIDE), 0);
    assert_int_equal(rh_score_group((1 << RH_REASON_BOTH_VOLATILE) - 1), RH_SCORE_MAX);
    assert_int_equal(rh_score_candidate(30, false), 30);
    assert_int_equal(rh_score_candidate(30, true), 60);
    assert_int_equal(rh_score_candidate(90, true), RH_SCORE_MAX);
}

static void kin_share_the_last_name(void **state)
{
    (void)state;
    assert_int_equal(rh_member_kin("it->flags"), rh_member_kin("items[i].flags"));
    assert_int_equal(rh_member_kin("c->stats.hits"), rh_member_kin("hits[x[2]][...]"));
    assert_int_equal(rh_member_kin("*p"), rh_member_kin("p[4]"));
    assert_int_not_equal(rh_member_kin("it->flags"), rh_member_kin("it->flag"));
    assert_int_not_equal(rh_member_kin("count"), 0);
    assert_int_equal(rh_member_kin(""), 0);
    assert_int_equal(rh_member_kin("?"), 0);
    assert_int_equal(rh_member_kin(NULL), 0);
}

static void assert_group_text(uint32_t reasons, const char *expected)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    rh_score_explain_group(reasons, &text);
    assert_string_equal(rh_strbuf_text(&text), expected);
    rh_strbuf_release(&text);
}

static void scores_are_explained(void **state)
{
    (void)state;
    struct rh_strbuf text = RH_STRBUF_INIT;
    assert_group_text(0, "no lock guards both");
    assert_group_text(RH_REASONS_BOTH_LOCKED, "no lock is surely common to both");
    assert_group_text(1 << RH_REASON_BOTH_WRITE | 1 << RH_REASON_BOTH_VOLATILE,
                      "no lock guards both; both write (+5), both are volatile (-10)");
    rh_score_explain_candidate("no lock", "it->flags", &text);
    assert_string_equal(rh_strbuf_text(&text), "no lock, both name flags (+30)");
    rh_strbuf_reset(&text);
    rh_score_explain_candidate("no lock", NULL, &text);
    assert_string_equal(rh_strbuf_text(&text), "no lock");
    rh_strbuf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_members),
        cmocka_unit_test(members_are_the_same_by_name_and_depth),
        cmocka_unit_test(kin_share_the_last_name),
        cmocka_unit_test(scores_are_sums_within_bounds),
        cmocka_unit_test(scores_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
