/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the list of what is trusted. */
#include "base/trust.h"

#include "base/testing.h"

static void lists_take_away(void **state)
{
    (void)state;
    bool trusts[RH_TRUST_COUNT];
    assert_true(rh_trust_parse("all", trusts));
    assert_true(trusts[RH_TRUST_CXX_LIBRARY] && trusts[RH_TRUST_DECLARATIONS]);
    assert_true(rh_trust_parse("none", trusts));
    assert_false(trusts[RH_TRUST_CXX_LIBRARY] || trusts[RH_TRUST_DECLARATIONS]);
    assert_true(rh_trust_parse("no-declarations", trusts));
    assert_true(trusts[RH_TRUST_CXX_LIBRARY] && !trusts[RH_TRUST_DECLARATIONS]);
    assert_true(rh_trust_parse("no-declarations,no-cxx-library", trusts));
    assert_false(trusts[RH_TRUST_CXX_LIBRARY] || trusts[RH_TRUST_DECLARATIONS]);
}

static void others_are_refused(void **state)
{
    (void)state;
    const char *const lists[] = {"",     "no-",       "declarations",     "no-declaration",
                                 "some", "all,none",  "no-declarations,", ",no-cxx-library",
                                 "ALL",  "no-nothing"};
    bool trusts[RH_TRUST_COUNT];
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        assert_false(rh_trust_parse(lists[i], trusts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_take_away),
        cmocka_unit_test(others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
