/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of numbers against a plain array of bits, on random operations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/idset.h"

enum { RANGE = 700, STEPS = 4000 };

static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void check(const struct rh_idset *s, const bool *bits)
{
    uint32_t id, count = 0;
    uint64_t at = 0;
    for (uint32_t i = 0; i < RANGE; i++) {
        count += bits[i];
        assert_int_equal(rh_idset_has(s, i), bits[i]);
        if (!bits[i])
            continue;
        assert_true(rh_idset_next(s, &at, &id));
        assert_int_equal(id, i);
    }
    assert_false(rh_idset_next(s, &at, &id));
    assert_int_equal(rh_idset_count(s), count);
    assert_int_equal(rh_idset_is_empty(s), count == 0);
}

static void single_members_come_and_stay(void **state)
{
    (void)state;
    struct rh_idset s = RH_IDSET_INIT;
    bool bits[RANGE] = {0};
    uint64_t seed = 1;
    for (int i = 0; i < STEPS; i++) {
        uint32_t id = next(&seed) % RANGE;
        assert_int_equal(rh_idset_add(&s, id), !bits[id]);
        bits[id] = true;
    }
    check(&s, bits);
    rh_idset_release(&s);
}

static void fill(struct rh_idset *s, bool *bits, uint64_t *seed)
{
    rh_idset_clear(s);
    memset(bits, 0, RANGE * sizeof *bits);
    for (uint32_t n = next(seed) % 40; n; n--) {
        uint32_t id = next(seed) % RANGE;
        rh_idset_add(s, id);
        bits[id] = true;
    }
}

static void sets_are_united(void **state)
{
    (void)state;
    struct rh_idset a = RH_IDSET_INIT, b = RH_IDSET_INIT, c = RH_IDSET_INIT;
    struct rh_idset common = RH_IDSET_INIT;
    bool x[RANGE], y[RANGE], z[RANGE], both[RANGE];
    uint64_t seed = 7;
    for (int round = 0; round < 500; round++) {
        bool grows = false, adds = false, meets = false;
        fill(&a, x, &seed);
        fill(&b, y, &seed);
        fill(&c, z, &seed);
        for (int i = 0; i < RANGE; i++)
            meets |= x[i] && y[i];
        assert_int_equal(rh_idset_meets(&a, &b), meets);
        rh_idset_both(&common, &a, &b);
        for (int i = 0; i < RANGE; i++)
            both[i] = x[i] && y[i];
        check(&common, both);
        for (int i = 0; i < RANGE; i++) {
            adds |= y[i] && !z[i] && !x[i];
            x[i] |= y[i] && !z[i];
        }
        assert_int_equal(rh_idset_unite_new(&a, &b, &c), adds);
        check(&a, x);
        for (int i = 0; i < RANGE; i++) {
            grows |= y[i] && !x[i];
            x[i] |= y[i];
        }
        assert_int_equal(rh_idset_unite(&a, &b), grows);
        check(&a, x);
        rh_idset_copy(&c, &a);
        assert_true(rh_idset_equal(&a, &c));
        assert_true(rh_idset_hash(&a) == rh_idset_hash(&c));
    }
    rh_idset_release(&a);
    rh_idset_release(&b);
    rh_idset_release(&c);
    rh_idset_release(&common);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_members_come_and_stay),
        cmocka_unit_test(sets_are_united),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
