/* SPDX-License-Identifier: Apache-2.0 */
/* Findings that go into a store: the best are kept, and come back with their images. */
#include "store/runs.h"

#include "store/runs_testing.h"

#include <signal.h>

static char *store_path(void **state)
{
    return rh_path_join(*state, "p.runs");
}

/* A run of candidate 1 that ended so and brought these races. */
static void run_with_races(struct rh_runs *runs, const struct rh_runs_end *end,
                           const struct rh_runs_finding *races, size_t count)
{
    const struct rh_runs_task task = make_task(1);
    const struct rh_runs_answer answer = {.outcome = RH_OUTCOME_RACE, .raced[0] = true};
    uint64_t run = begin_run(runs, &task, 1);
    assert_status(RH_OK, rh_runs_complete(runs, run, end, &answer, 1, races, count, NULL));
}

/* The marks of the kept races of candidate 1, in the order in which they come. */
static void assert_marks(struct rh_runs *runs, const uint32_t *marks, size_t count)
{
    size_t at = 0;
    struct rh_runs_finding race;
    struct rh_runs_end end;
    bool more;
    for (size_t i = 0; i < count; i++) {
        assert_status(RH_OK, rh_runs_next_finding(runs, 1, &at, &race, &end, &more));
        assert_true(more);
        assert_int_equal(race.finding.pause_us, marks[i]);
    }
    assert_status(RH_OK, rh_runs_next_finding(runs, 1, &at, &race, &end, &more));
    assert_false(more);
}

static const struct rh_runs_end quiet = {.exit_status = 3};
static const struct rh_runs_end crash = {.signal = SIGSEGV};
static const struct rh_runs_end hang = {.signal = SIGKILL, .hung = true};

static void a_race_comes_back_with_its_images(void **state)
{
    char *path = store_path(state);
    struct rh_runs *runs = open_store(path);
    struct rh_runs_finding race = make_race(1, RH_ORDER_ALTERNATE, RH_PROOF_COLLISION, true, 77);
    struct rh_finding original = race.finding;
    /* What has no meaning is not kept: it may hold anything. */
    race.finding.ready = 1;
    race.finding.sides[0].frames[2].offset = 0xdead;
    race.finding.sides[1].locks[2].offset = 0xdead;
    race.finding.sides[1].locks[1].offset = 0x7fff12345678;
    run_with_races(runs, &quiet, &race, 1);
    rh_runs_close(runs);
    assert_status(RH_OK, rh_runs_open_existing(path, &runs));
    size_t at = 0;
    struct rh_runs_finding kept;
    struct rh_runs_end end;
    bool more;
    assert_status(RH_OK, rh_runs_next_finding(runs, 1, &at, &kept, &end, &more));
    assert_true(more && kept.proved);
    assert_int_equal(kept.candidate, 1);
    assert_int_equal(end.exit_status, 3);
    original.sides[1].locks[1].offset = 0;
    assert_memory_equal(&kept.finding, &original, sizeof original);
    static const uint32_t named[] = {0, 2, 5, 63};
    for (size_t i = 0; i < 4; i++)
        assert_memory_equal(&kept.images[named[i]], &race.images[named[i]], sizeof race.images[0]);
    assert_int_equal(kept.images[1].ready, 0);
    assert_int_equal(ask_sql(path, "SELECT count(*) FROM images"), 4);
    rh_runs_close(runs);
    free(path);
}

static void races_come_best_first(void **state)
{
    char *path = store_path(state);
    struct rh_runs *runs = open_store(path);
    const struct rh_runs_finding first[] = {
        make_race(1, 0, RH_PROOF_UNORDERED, false, 8),
        make_race(1, 0, RH_PROOF_COLLISION, false, 6),
        make_race(1, 0, RH_PROOF_UNORDERED, true, 4),
        make_race(1, 0, RH_PROOF_COLLISION, true, 2),
        make_race(2, 0, RH_PROOF_COLLISION, true, 99),
    };
    const struct rh_runs_finding second[] = {
        make_race(1, 1, RH_PROOF_UNORDERED, false, 7),
        make_race(1, 1, RH_PROOF_COLLISION, false, 5),
        make_race(1, 1, RH_PROOF_UNORDERED, true, 3),
        make_race(1, 1, RH_PROOF_COLLISION, true, 1),
    };
    run_with_races(runs, &quiet, first, 5);
    run_with_races(runs, &crash, second, 4);
    assert_marks(runs, (const uint32_t[]){1, 2, 3, 4, 5, 6, 7, 8}, 8);
    rh_runs_close(runs);
    free(path);
}

static void the_first_few_races_are_kept(void **state)
{
    char *path = store_path(state);
    struct rh_runs *runs = open_store(path);
    struct rh_runs_finding races[10];
    for (uint32_t i = 0; i < 10; i++)
        races[i] = make_race(1, RH_ORDER_PRIMARY, RH_PROOF_UNORDERED, true, i);
    run_with_races(runs, &quiet, races, 6);
    assert_marks(runs, (const uint32_t[]){0, 1, 2, 3}, 4);
    run_with_races(runs, &(struct rh_runs_end){.signal = SIGTERM}, &races[6], 1);
    assert_marks(runs, (const uint32_t[]){0, 1, 2, 3}, 4);
    run_with_races(runs, &crash, &races[7], 1);
    run_with_races(runs, &hang, &races[8], 1);
    assert_marks(runs, (const uint32_t[]){7, 8, 0, 1}, 4);
    for (int i = 0; i < 3; i++)
        run_with_races(runs, &crash, &races[9], 1);
    assert_marks(runs, (const uint32_t[]){7, 8, 9, 9}, 4);
    /* Another order is another matter; what was dropped left nothing behind. */
    races[0].order = RH_ORDER_ALTERNATE;
    run_with_races(runs, &quiet, races, 1);
    assert_marks(runs, (const uint32_t[]){7, 8, 9, 9, 0}, 5);
    assert_int_equal(ask_sql(path, "SELECT count(*) FROM findings"), 5);
    assert_int_equal(ask_sql(path, "SELECT count(*) FROM images"), 20);
    rh_runs_close(runs);
    free(path);
}

static void races_that_name_both_threads_are_better(void **state)
{
    char *path = store_path(state);
    struct rh_runs *runs = open_store(path);
    struct rh_runs_finding races[6];
    for (uint32_t i = 0; i < 6; i++) {
        races[i] = make_race(1, RH_ORDER_PRIMARY, RH_PROOF_UNORDERED, true, i);
        races[i].finding.sides[0].thread = i == 1 || i == 5 ? 2 : 0;
    }
    run_with_races(runs, &quiet, races, 5);
    assert_marks(runs, (const uint32_t[]){0, 1, 2, 3}, 4);
    run_with_races(runs, &quiet, &races[5], 1);
    assert_marks(runs, (const uint32_t[]){0, 1, 2, 5}, 4);
    rh_runs_close(runs);
    free(path);
}

/* A program that writes over the shared memory costs its races, not the store. */
static void nonsense_for_a_race_is_left_out(void **state)
{
    char *path = store_path(state);
    struct rh_runs *runs = open_store(path);
    struct rh_runs_finding races[6];
    for (uint32_t i = 0; i < 6; i++)
        races[i] = make_race(1, RH_ORDER_PRIMARY, RH_PROOF_UNORDERED, true, i);
    races[0].order = 2;
    races[1].finding.proof = 77;
    races[2].finding.sides[0].frame_count = RH_MAX_FRAMES + 1;
    races[3].finding.sides[1].lock_count = UINT32_MAX;
    races[4].finding.block = 3;
    races[5].finding.sides[0].frames[1].image = RH_MAX_IMAGES;
    struct rh_image_name images[RH_MAX_IMAGES];
    memcpy(images, fixture_images(), sizeof images);
    memset(images[0].path, 'x', sizeof images[0].path);
    images[0].build_id_size = 21;
    races[5].images = images;
    run_with_races(runs, &quiet, races, 6);
    size_t at = 0;
    struct rh_runs_finding kept;
    struct rh_runs_end end;
    bool more;
    assert_status(RH_OK, rh_runs_next_finding(runs, 1, &at, &kept, &end, &more));
    assert_int_equal(kept.finding.pause_us, 5);
    assert_int_equal(kept.finding.sides[0].frames[1].image, RH_NO_IMAGE);
    assert_int_equal(kept.finding.sides[0].frames[1].offset, 0);
    assert_int_equal(strlen(kept.images[0].path), sizeof images[0].path - 1);
    assert_int_equal(kept.images[0].build_id_size, 0);
    assert_status(RH_OK, rh_runs_next_finding(runs, 1, &at, &kept, &end, &more));
    assert_false(more);
    rh_runs_close(runs);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(a_race_comes_back_with_its_images),
        SCRATCH_TEST(races_come_best_first),
        SCRATCH_TEST(the_first_few_races_are_kept),
        SCRATCH_TEST(races_that_name_both_threads_are_better),
        SCRATCH_TEST(nonsense_for_a_race_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
