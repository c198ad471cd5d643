/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what a candidate's attempts are, of screening, and of simulated users. */
#include "hive/pool_testing.h"

/* --- attempts --- */

static const uint32_t pauses_ms[] = {1, 51, 101, 151, 200};
enum { PAUSES = sizeof pauses_ms / sizeof pauses_ms[0] };

static void check_attempts(bool processes)
{
    struct plan plan = even_plan(1);
    start(&plan, &usual);
    expect_attempt(RH_STAGE_ORDER, RH_ORDER_PRIMARY, 0);
    for (uint32_t i = 0; i < PAUSES; i++) {
        if (processes)
            reopen(&usual);
        expect_attempt(RH_STAGE_STEER, RH_ORDER_ALTERNATE, pauses_ms[i]);
        if (processes)
            reopen(&usual);
        expect_attempt(RH_STAGE_STEER, RH_ORDER_PRIMARY, pauses_ms[i]);
    }
    for (uint32_t i = 0; i < 20; i++) {
        struct rh_assignment a = assign();
        assert_int_equal(a.tasks[0].order, i % 2 ? RH_ORDER_PRIMARY : RH_ORDER_ALTERNATE);
        assert_in_range(a.tasks[0].pause_us, 1, 200 * MS);
        complete(&a, &vain);
    }
}

static void test_attempts(void **state)
{
    (void)state;
    check_attempts(false);
}

static void test_attempts_go_on_in_other_processes(void **state)
{
    (void)state;
    check_attempts(true);
}

static void test_one_site_has_one_order(void **state)
{
    (void)state;
    struct plan plan = {.count = 1, .scores = {50}, .same = {true}};
    start(&plan, &usual);
    expect_attempt(RH_STAGE_ORDER, RH_ORDER_PRIMARY, 0);
    for (uint32_t i = 0; i < PAUSES; i++)
        expect_attempt(RH_STAGE_STEER, RH_ORDER_PRIMARY, pauses_ms[i]);
}

/* Another run has watched its order already. */
static void test_order_that_was_watched(void **state)
{
    (void)state;
    struct plan plan = even_plan(1);
    struct rh_assignment a = {.count = 1};
    start(&plan, &usual);
    a.tasks[0] = assign().tasks[0];
    rh_pool_abandoned(pool, &(struct rh_assignment){.tasks = {a.tasks[0]}, .validating = 1});
    a.tasks[0].stage = RH_STAGE_MEET;
    complete(&a, &(struct rh_runs_answer){.outcome = RH_OUTCOME_NO_RACE, .seen = RH_SEEN_MEET});
    expect_attempt(RH_STAGE_STEER, RH_ORDER_PRIMARY, 1);
}

static void test_without_steering(void **state)
{
    (void)state;
    struct plan plan = even_plan(2);
    struct rh_pool_options options = usual;
    options.steers = false;
    start(&plan, &options);
    for (uint32_t i = 0; i < 6; i++)
        expect_attempt(RH_STAGE_ORDER, RH_ORDER_PRIMARY, 0);
}

/* An execution that there was, of the site that is to wait. */
static void test_skips(void **state)
{
    (void)state;
    struct plan plan = even_plan(1);
    struct rh_runs_answer often = vain;
    uint32_t skipping = 0, far = 0;
    often.executions[0] = 1000;
    often.executions[1] = 3;
    start(&plan, &usual);
    complete(&(struct rh_assignment){.tasks = {assign().tasks[0]}, .count = 1, .validating = 1},
             &often);
    for (uint32_t i = 0; i < 300; i++) {
        struct rh_assignment a = assign();
        assert_in_range(a.skips[0], 0, a.tasks[0].order == RH_ORDER_ALTERNATE ? 999 : 2);
        skipping += a.skips[0] > 0;
        far += a.skips[0] > 10;
        complete(&a, &often);
    }
    assert_in_range(skipping, 30, 200);
    assert_true(far > 5);
}

/* --- screening --- */

static void test_screening(void **state)
{
    (void)state;
    struct plan plan = even_plan(20);
    struct rh_pool_options options = usual;
    uint32_t seen[20] = {0};
    options.screened_per_run = 5;
    start(&plan, &options);
    uint64_t race = 0;
    for (uint32_t i = 0; i < 20; i++) {
        struct rh_assignment a = assign();
        assert_int_equal(a.count, 6);
        for (size_t t = 0; t < a.count; t++) {
            assert_int_equal(a.tasks[t].stage == RH_STAGE_MEET, t >= a.validating);
            if (t >= a.validating)
                assert_int_not_equal(a.tasks[t].candidate.id, race);
            for (size_t u = 0; u < t; u++)
                assert_int_not_equal(a.tasks[t].candidate.id, a.tasks[u].candidate.id);
            seen[candidate_of(&a.tasks[t])] += t >= a.validating;
        }
        if (i == 0)
            race = a.tasks[0].candidate.id;
        a.count = i == 0 ? 1 : a.count;
        complete(&a, i == 0 ? &raced : &not_seen);
    }
    uint32_t unseen = 0;
    for (uint32_t c = 0; c < 20; c++)
        unseen += seen[c] == 0;
    assert_in_range(unseen, 0, 1); /* but for the true race */
}

/* Beside another's task, that is: each still has its runs. */
static void test_hot_sites_are_not_screened(void **state)
{
    (void)state;
    enum { COUNT = 8, RUNS = 40 };
    struct plan plan = even_plan(COUNT);
    struct rh_pool_options options = usual;
    struct rh_runs_answer hot = met;
    uint32_t runs_of[COUNT] = {0};
    hot.executions[1] = 1000000;
    options.screened_per_run = COUNT / 2;
    start(&plan, &options);
    struct rh_assignment a = assign();
    assert_int_equal(a.count, 1 + COUNT / 2);
    complete(&a, &hot);
    for (int run = 0; run < RUNS; run++) {
        if (run % 10 == 5)
            reopen(&options);
        a = assign();
        assert_in_range(a.count, 1, COUNT - COUNT / 2);
        runs_of[candidate_of(&a.tasks[0])]++;
        complete(&a, &hot);
        assert_true(run == 0 || a.count == 1);
    }
    for (int i = 0; i < COUNT; i++)
        assert_true(runs_of[i] > 0);
}

static void test_screening_has_a_limit(void **state)
{
    (void)state;
    struct plan plan = even_plan(3);
    struct rh_pool_options options = usual;
    options.screened_per_run = RH_MAX_TASKS;
    start(&plan, &options);
    assert_int_equal(assign().count, 3);
}

/* --- users --- */

static void test_users_have_candidates_of_their_own(void **state)
{
    (void)state;
    struct plan plan = even_plan(8);
    uint32_t users[8] = {0};
    struct rh_pool_share share;
    start(&plan, &usual);
    for (uint32_t i = 0; i < 24; i++) {
        assert_true(rh_pool_draw(pool, &share));
        users[share.entry]++;
        for (uint32_t c = 0; c < 8; c++)
            assert_in_range(users[c], i / 8, i / 8 + 1);
    }
}

static bool try_user(const struct rh_pool_share *share, uint32_t attempt,
                     const struct rh_runs_answer *answer, struct rh_runs_task *task)
{
    struct rh_assignment a;
    if (!rh_pool_assign_user(pool, share, attempt, &a))
        return false;
    *task = a.tasks[0];
    complete(&a, answer);
    return true;
}

/* His pauses grow in the order that he was given, whoever else gets the candidate meanwhile. */
static void test_attempts_of_a_user(void **state)
{
    (void)state;
    struct plan plan = even_plan(1);
    struct rh_pool_share share, others[PAUSES];
    struct rh_runs_task task;
    start(&plan, &usual);
    assert_true(rh_pool_draw(pool, &share));
    assert_true(try_user(&share, 0, &vain, &task));
    assert_int_equal(task.stage, RH_STAGE_ORDER);
    for (uint32_t i = 0; i < PAUSES; i++) {
        assert_true(try_user(&share, i + 1, &vain, &task));
        assert_int_equal(task.stage, RH_STAGE_STEER);
        assert_int_equal(task.order, share.order);
        assert_int_equal(task.pause_us, pauses_ms[i] * MS);
        assert_true(rh_pool_draw(pool, &others[i]));
        assert_int_equal(others[i].order == share.order, i % 2 == 1);
    }
    assert_false(try_user(&share, PAUSES + 1, &vain, &task));
}

static void test_users_give_up(void **state)
{
    (void)state;
    struct plan plan = even_plan(2);
    struct rh_pool_share share;
    struct rh_runs_task task;
    start(&plan, &usual);
    assert_true(rh_pool_draw(pool, &share));
    for (uint32_t i = 0; i < 3; i++)
        assert_true(try_user(&share, i, &not_seen, &task));
    assert_false(try_user(&share, 3, &not_seen, &task)); /* the sites do not meet */
    assert_true(rh_pool_draw(pool, &share));
    assert_true(try_user(&share, 0, &raced, &task));
    assert_false(try_user(&share, 1, &vain, &task)); /* a true race */
    for (uint32_t i = 0; i < 5; i++) {
        struct rh_pool_share next;
        assert_true(rh_pool_draw(pool, &next));
        assert_int_not_equal(next.entry, share.entry);
    }
}

static void test_users_without_steering(void **state)
{
    (void)state;
    struct plan plan = even_plan(1);
    struct rh_pool_options options = usual;
    struct rh_pool_share share;
    struct rh_runs_task task;
    options.steers = false;
    start(&plan, &options);
    assert_true(rh_pool_draw(pool, &share));
    assert_true(try_user(&share, 0, &met, &task));
    assert_false(try_user(&share, 1, &met, &task));
}

int main(void)
{
    use_fast_folder();
    const struct CMUnitTest tests[] = {
        CASE(test_attempts),
        CASE(test_attempts_go_on_in_other_processes),
        CASE(test_one_site_has_one_order),
        CASE(test_order_that_was_watched),
        CASE(test_without_steering),
        CASE(test_skips),
        CASE(test_screening),
        CASE(test_hot_sites_are_not_screened),
        CASE(test_screening_has_a_limit),
        CASE(test_users_have_candidates_of_their_own),
        CASE(test_attempts_of_a_user),
        CASE(test_users_give_up),
        CASE(test_users_without_steering),
    };
    return cmocka_run_group_tests_name("pool attempts", tests, NULL, NULL);
}
