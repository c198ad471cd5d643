/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that are killed while they use a store: it opens afterwards, it is intact, and every
 * run whose completion was reported as done is in it.
 */
#include "store/runs.h"

#include "store/runs_testing.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

/* How long to go on if the disk is slow; so many kills must have come about by then. */
enum { MOST_SECONDS = 5, FEWEST_KILLS = 30 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Completes runs until it is killed; the number of each goes into the pipe once it is done. */
static void work_until_killed(const char *path, int out)
{
    struct rh_runs *runs;
    if (rh_runs_open(path, &fixture_program, &runs) != RH_OK)
        goto fail;
    for (uint32_t i = 0;; i++) {
        struct rh_runs_task tasks[20];
        struct rh_runs_answer answers[20];
        for (size_t t = 0; t < 20; t++) {
            tasks[t] = make_task(t == 0 ? 1 : draw((uint64_t)getpid(), 20 * i + t));
            answers[t] = (struct rh_runs_answer){.outcome = RH_OUTCOME_NO_RACE};
        }
        const struct rh_runs_finding race =
            make_race(i % 8, i % 2, i % 2 ? RH_PROOF_COLLISION : RH_PROOF_UNORDERED, true, i);
        const struct rh_runs_end end = {.wall_ns = 1, .signal = i % 3 ? 0 : SIGSEGV};
        const struct rh_runs_meeting met = {.candidate = {1, 3, 5},
                                            .counts = {[RH_MET_UNLOCKED] = 1}};
        const struct rh_runs_ran ran = {3, true};
        const struct rh_runs_sights sights = {
            .met = &met, .met_count = 1, .ran = &ran, .ran_count = 1};
        uint64_t run;
        if (rh_runs_begin(runs, 1, tasks, 20, &run) != RH_OK ||
            rh_runs_complete(runs, run, &end, answers, 20, &race, 1, &sights) != RH_OK)
            goto fail;
        if (write(out, &run, sizeof run) != sizeof run)
            _exit(2);
    }
fail:
    fprintf(stderr, "child: %s\n", rh_error_text());
    _exit(1);
}

struct worker {
    pid_t pid;
    int in; /* numbers of runs that it has completed */
};

static struct worker start_worker(const char *path)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        work_until_killed(path, ends[1]);
    }
    close(ends[1]);
    return (struct worker){pid, ends[0]};
}

struct acknowledged {
    uint64_t runs[100000];
    size_t count;
};

/* Takes what the worker has reported, as long as there is some, and until `most` have come. */
static void take_reports(const struct worker *worker, struct acknowledged *all, size_t most)
{
    for (size_t i = 0; i < most; i++) {
        uint64_t run;
        if (read(worker->in, &run, sizeof run) != sizeof run)
            return;
        assert_true(all->count < sizeof all->runs / sizeof all->runs[0]);
        all->runs[all->count++] = run;
    }
}

static void end_worker(struct worker *worker, struct acknowledged *all)
{
    int status;
    assert_int_equal(kill(worker->pid, SIGKILL), 0);
    assert_int_equal(waitpid(worker->pid, &status, 0), worker->pid);
    /* It must not have failed by itself. */
    assert_true(WIFSIGNALED(status));
    take_reports(worker, all, SIZE_MAX);
    close(worker->in);
}

static void sleep_us(uint64_t microseconds)
{
    struct timespec time = {0, (long)microseconds * 1000};
    nanosleep(&time, NULL);
}

/* Every run counts in candidate 1: the totals, its tally and the runs must tell the same. */
static uint64_t check_store(const char *path)
{
    struct rh_runs *runs;
    assert_status(RH_OK, rh_runs_open_existing(path, &runs));
    uint64_t count = count_runs(runs);
    if (count > 0)
        assert_int_equal(state_of(runs, 1).tally.outcomes[RH_OUTCOME_NO_RACE], count);
    size_t at = 0;
    struct rh_runs_finding race;
    struct rh_runs_end end;
    for (bool more = true; more;)
        assert_status(RH_OK, rh_runs_next_finding(runs, 1, &at, &race, &end, &more));
    rh_runs_close(runs);
    assert_int_equal(ask_sql(path, "SELECT sum(completed) FROM runs"), count);
    assert_int_equal(ask_sql(path, "SELECT count(*) FROM tasks WHERE outcome IS NOT NULL"),
                     20 * count);
    assert_int_equal(ask_sql(path, "SELECT COALESCE(sum(runs), 0) FROM met"), count);
    assert_int_equal(ask_sql(path, "SELECT COALESCE(sum(in_threads), 0) FROM sites"), count);
    assert_intact(path);
    return count;
}

static void assert_all_there(const char *path, const struct acknowledged *all)
{
    struct rh_db *db = open_db(path);
    struct rh_db_statement *row;
    assert_status(RH_OK, rh_db_prepare(db, "SELECT completed FROM runs WHERE number = ?", &row));
    for (size_t i = 0; i < all->count; i++) {
        bool more;
        assert_status(RH_OK,
                      rh_db_find(row, &more, RH_DB_VALUES(rh_db_int((int64_t)all->runs[i]))));
        assert_true(more);
        assert_int_equal(rh_db_column(row, 0).number, 1);
        rh_db_reset(row);
    }
    rh_db_finish(row);
    rh_db_close(db);
}

/* Kills one worker after another on one store, `rivals` at a time, after some runs and some time.
 */
static void kill_workers(const char *path, size_t rivals, uint64_t kills_wanted)
{
    static struct acknowledged all;
    all.count = 0;
    double until = seconds() + MOST_SECONDS;
    uint64_t kills = 0, count = 0, journals = 0;
    char *journal = rh_format("%s-journal", path);
    while (kills < kills_wanted && (kills < FEWEST_KILLS || seconds() < until)) {
        struct worker workers[2];
        for (size_t i = 0; i < rivals; i++)
            workers[i] = start_worker(path);
        for (size_t i = 0; i < rivals; i++) {
            take_reports(&workers[i], &all, draw(kills, i) % 2);
            sleep_us(draw(kills, 10 + i) % 10000);
            end_worker(&workers[i], &all);
        }
        kills += rivals;
        journals += access(journal, F_OK) == 0;
        count = check_store(path);
        assert_in_range(count, all.count, all.count + kills);
    }
    assert_all_there(path, &all);
    print_message("%llu kills, %llu of them in a transaction, %llu runs, %zu acknowledged\n",
                  (unsigned long long)kills, (unsigned long long)journals,
                  (unsigned long long)count, all.count);
    /* Else nothing was tested. */
    assert_true(journals > 0);
    free(journal);
}

static void a_killed_process_loses_its_run_alone(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    kill_workers(path, 1, 250);
    free(path);
}

static void rivals_that_are_killed_leave_a_sound_store(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    kill_workers(path, 2, 100);
    free(path);
}

static void a_store_can_be_made_after_its_maker_was_killed(void **state)
{
    enum { ROUNDS = 150 };
    static struct acknowledged all;
    unsigned unmade = 0, round = 0;
    double until = seconds() + MOST_SECONDS;
    for (; round < ROUNDS && (round < FEWEST_KILLS || seconds() < until); round++) {
        char *path = rh_format("%s/%d.runs", (char *)*state, (int)round);
        struct worker worker = start_worker(path);
        sleep_us(draw(round, 1) % 12000);
        all.count = 0;
        end_worker(&worker, &all);
        unmade += access(path, F_OK) != 0 || ask_sql(path, "PRAGMA application_id") == 0;
        rh_runs_close(open_store(path));
        assert_in_range(check_store(path), all.count, all.count + 1);
        free(path);
    }
    print_message("%u of %u makers were killed too early\n", unmade, round);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(a_killed_process_loses_its_run_alone),
        SCRATCH_TEST(rivals_that_are_killed_leave_a_sound_store),
        SCRATCH_TEST(a_store_can_be_made_after_its_maker_was_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
