/* SPDX-License-Identifier: Apache-2.0 */
/* Stores of older versions: they are migrated when they are opened, once, and lose nothing. */
#include "store/runs.h"

#include "store/runs_testing.h"

#include <signal.h>
#include <sys/wait.h>

/* A store of version 2, as that version made it: one of its runs raced twice. The text never
 * changes. Races are added below, as the struct of that time. */
static const char version_2[] =
    "PRAGMA application_id = 1380471380; PRAGMA user_version = 2; BEGIN;"
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
    "CREATE TABLE runs (number INTEGER PRIMARY KEY, user INTEGER, started INTEGER,"
    " completed INTEGER, exit_status INTEGER, signal INTEGER, hung INTEGER, opaque INTEGER,"
    " wall_ns INTEGER, hook_ns INTEGER, pause_ns INTEGER);"
    "CREATE TABLE tasks (run INTEGER, number INTEGER, candidate INTEGER, first INTEGER,"
    " second INTEGER, stage INTEGER, \"order\" INTEGER, pause_us INTEGER, outcome INTEGER,"
    " seen INTEGER, flags INTEGER, executions_first INTEGER, executions_second INTEGER,"
    " PRIMARY KEY (run, number)) WITHOUT ROWID;"
    "CREATE TABLE candidates (id INTEGER PRIMARY KEY, first INTEGER, second INTEGER,"
    " executions_first INTEGER, executions_second INTEGER, vain_primary INTEGER,"
    " vain_alternate INTEGER, last_run INTEGER, attempts INTEGER, explored INTEGER, race INTEGER,"
    " no_race INTEGER, timeout INTEGER, not_seen INTEGER, raced_primary INTEGER,"
    " raced_alternate INTEGER, collisions INTEGER, suspected INTEGER, met INTEGER, apart INTEGER,"
    " one_thread INTEGER, exhausted INTEGER, crashes INTEGER, hangs INTEGER);"
    "CREATE TABLE races (number INTEGER PRIMARY KEY, candidate INTEGER, run INTEGER,"
    " \"order\" INTEGER, proof INTEGER, proved INTEGER, hurt INTEGER, layout INTEGER, race BLOB);"
    "CREATE INDEX races_by_candidate ON races (candidate);"
    "CREATE TABLE images (race INTEGER, number INTEGER, build_id BLOB, path TEXT,"
    " PRIMARY KEY (race, number)) WITHOUT ROWID;"
    "CREATE TABLE totals (runs INTEGER, crashed INTEGER, hung INTEGER, opaque INTEGER,"
    " wall_ns INTEGER, hook_ns INTEGER, pause_ns INTEGER);"
    "INSERT INTO totals VALUES (2, 1, 0, 3, 9000, 90, 9);"
    "INSERT INTO meta VALUES ('build_id', '0123456789abcdef'), ('name', 'prog'),"
    " ('detector', 'racemob'), ('sidecar', '/bin/prog.racehive');"
    "INSERT INTO runs VALUES (1, 7, 1700000000, 1, 0, 11, 0, 3, 5000, 50, 5),"
    " (2, 7, 1700000001, 1, 0, 0, 0, 0, 4000, 40, 4), (3, 7, 1700000002, 0, NULL, NULL, NULL, NULL,"
    " NULL, NULL, NULL);"
    "INSERT INTO tasks VALUES (1, 0, 1, 3, 5, 2, 1, 250, 0, 15, 1, 10, 20),"
    " (2, 0, 1, 3, 5, 2, 1, 500, 2, 15, 16, 11, 19),"
    " (3, 0, 1, 3, 5, 2, 1, 250, NULL, NULL, NULL, NULL, NULL);"
    "INSERT INTO candidates VALUES (1, 3, 5, 11, 20, 0, 500, 2, 2, 1, 1, 0, 1, 0, 1, 0, 1, 0, 2, 0,"
    " 0, 0, 1, 0);"
    "INSERT INTO images VALUES (1, 0, x'aabb', ''), (1, 5, NULL, '/lib/a.so'), (2, 0, x'aabb', ''),"
    " (2, 5, NULL, '/lib/a.so'), (3, 9, x'cc', '/lib/gone.so');"
    "COMMIT;";

/* The struct that version 2 kept, by the offsets of its words. */
enum { WORDS_OF_RACE = 348, WORDS_OF_SIDE = 168, FIRST_SIDE = 12 };

struct old_race {
    uint32_t words[WORDS_OF_RACE];
};

static struct old_race make_old_race(uint32_t proof, uint32_t pause_us)
{
    struct old_race race = {{0}};
    race.words[1] = 99; /* task, of no meaning */
    race.words[3] = proof;
    race.words[4] = 2; /* opaque */
    race.words[7] = pause_us;
    race.words[8] = 5; /* data: image, tag, offset */
    race.words[10] = 0x4010;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t *side = &race.words[FIRST_SIDE + i * WORDS_OF_SIDE];
        side[0] = 0;       /* image */
        side[1] = 3 + i;   /* site */
        side[2] = 1 + i;   /* thread */
        side[3] = i;       /* parent */
        side[4] = 1;       /* frames */
        side[5] = 1;       /* locks */
        side[6] = 8;       /* size */
        side[10] = 0x1000; /* offset of the first frame, in image 0 */
        side[8 + 4 * 32] = RH_NO_IMAGE;
        side[8 + 4 * 32 + 1] = 77; /* tag of the first lock */
    }
    return race;
}

static void add_old_race(const char *path, int64_t number, int64_t layout,
                         const struct old_race *race)
{
    struct rh_db *db = open_db(path);
    struct rh_db_statement *insert;
    assert_status(
        RH_OK, rh_db_prepare(db, "INSERT INTO races VALUES (?, 1, 1, 0, ?, 1, 1, ?, ?)", &insert));
    assert_status(
        RH_OK,
        rh_db_change(insert, RH_DB_VALUES(rh_db_int(number), rh_db_int(race->words[3]),
                                          rh_db_int(layout), rh_db_blob(race, sizeof *race))));
    rh_db_finish(insert);
    rh_db_close(db);
}

/* Two races, and one of a layout that was never read. */
static char *make_version_2(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    run_sql(path, version_2);
    const struct old_race races[] = {make_old_race(RH_PROOF_COLLISION, 1000),
                                     make_old_race(RH_PROOF_UNORDERED, 2000)};
    for (int i = 0; i < 2; i++)
        add_old_race(path, i + 1, 2, &races[i]);
    add_old_race(path, 3, 1, &races[0]);
    return path;
}

static void assert_finding(struct rh_runs *runs, size_t *at, enum rh_proof proof, uint32_t pause_us)
{
    struct rh_runs_finding kept;
    struct rh_runs_end end;
    bool more;
    assert_status(RH_OK, rh_runs_next_finding(runs, 1, at, &kept, &end, &more));
    assert_true(more && kept.proved);
    assert_int_equal(end.signal, SIGSEGV);
    assert_int_equal(kept.order, RH_ORDER_PRIMARY);
    assert_int_equal(kept.finding.proof, proof);
    assert_int_equal(kept.finding.opaque, 2);
    assert_int_equal(kept.finding.pause_us, pause_us);
    assert_int_equal(kept.finding.data.image, 5);
    assert_int_equal(kept.finding.data.offset, 0x4010);
    for (uint32_t i = 0; i < 2; i++) {
        const struct rh_finding_side *side = &kept.finding.sides[i];
        assert_int_equal(side->site.site, 3 + i);
        assert_int_equal(side->thread, 1 + i);
        assert_int_equal(side->parent, i);
        assert_int_equal(side->size, 8);
        assert_int_equal(side->frame_count, 1);
        assert_int_equal(side->frames[0].offset, 0x1000);
        assert_int_equal(side->lock_count, 1);
        assert_int_equal(side->locks[0].image, RH_NO_IMAGE);
        assert_int_equal(side->locks[0].tag, 77);
    }
    assert_memory_equal(kept.images[0].build_id, "\xaa\xbb", 2);
}

static void assert_contents(struct rh_runs *runs)
{
    struct rh_runs_totals totals;
    assert_status(RH_OK, rh_runs_sum(runs, &totals));
    assert_int_equal(totals.runs, 2);
    assert_int_equal(totals.wall_ns, 9000);
    struct rh_runs_state known = state_of(runs, 1);
    assert_int_equal(known.timed_out_us[RH_ORDER_ALTERNATE], 500);
    assert_int_equal(known.tally.outcomes[RH_OUTCOME_RACE], 1);
    assert_int_equal(known.tally.outcomes[RH_OUTCOME_TIMEOUT], 1);
    assert_int_equal(known.tally.crashes, 1);
    size_t at = 0;
    struct rh_runs_finding kept;
    struct rh_runs_end end;
    bool more;
    assert_finding(runs, &at, RH_PROOF_COLLISION, 1000);
    assert_string_equal(rh_runs_program_of(runs)->name, "prog");
    assert_status(RH_OK, rh_runs_next_finding(runs, 1, &at, &kept, &end, &more));
    assert_true(more);
    assert_int_equal(kept.finding.pause_us, 2000);
    assert_status(RH_OK, rh_runs_next_finding(runs, 1, &at, &kept, &end, &more));
    assert_false(more);
}

static void a_reader_migrates(void **state)
{
    char *path = make_version_2(state);
    struct rh_runs *runs;
    for (int i = 0; i < 2; i++) {
        assert_status(RH_OK, rh_runs_open_existing(path, &runs));
        assert_contents(runs);
        rh_runs_close(runs);
        assert_int_equal(ask_sql(path, "PRAGMA user_version"), RH_RUNS_VERSION);
    }
    assert_int_equal(ask_sql(path, "SELECT count(*) FROM findings"), 2);
    assert_int_equal(ask_sql(path, "SELECT count(*) FROM images"), 4);
    assert_int_equal(ask_sql(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'races'"), 0);
    assert_intact(path);
    free(path);
}

/* And goes on where the old version was: run 3 is still under way. */
static void a_writer_migrates(void **state)
{
    char *path = make_version_2(state);
    struct rh_runs *runs = open_store(path);
    assert_contents(runs);
    const struct rh_runs_answer answer = {.outcome = RH_OUTCOME_NO_RACE};
    const struct rh_runs_end end = {.wall_ns = 1};
    const struct rh_runs_finding finding = make_race(1, 1, RH_PROOF_COLLISION, true, 9);
    assert_status(RH_OK, rh_runs_complete(runs, 3, &end, &answer, 1, &finding, 1, NULL));
    assert_int_equal(count_runs(runs), 3);
    const struct rh_runs_task task = make_task(1);
    assert_int_equal(begin_run(runs, &task, 1), 4);
    rh_runs_close(runs);
    assert_int_equal(ask_sql(path, "SELECT max(number) FROM findings"), 3);
    free(path);
}

static void assert_ends(const struct rh_ends *ends, uint64_t runs, uint64_t crashes, uint64_t hangs)
{
    assert_int_equal(ends->runs, runs);
    assert_int_equal(ends->crashes, crashes);
    assert_int_equal(ends->hangs, hangs);
}

/* What the orders of a candidate led to follows from the tasks: flags 1 and 2 are races of the two
 * orders, 64 a crash, 128 a hang; 16 of what was seen is an order that a pause brought about. */
static void ends_follow_from_the_tasks(void **state)
{
    char *path = make_version_2(state);
    run_sql(path, "INSERT INTO tasks VALUES"
                  " (4, 0, 1, 3, 5, 2, 0, 250, 0, 31, 66, 1, 1),"  /* both orders, crashed */
                  " (5, 0, 1, 3, 5, 2, 1, 250, 3, 31, 128, 1, 1)," /* alternate enforced, hung */
                  " (6, 0, 1, 3, 5, 2, 0, 250, 0, 15, 1, 1, 1),"   /* two tasks of one run */
                  " (6, 1, 1, 3, 5, 2, 0, 250, 0, 31, 65, 1, 1),"
                  " (8, 0, 1, 3, 5, 2, 0, 250, 1, 15, 0, 1, 1),"  /* ordered, validated */
                  " (9, 0, 1, 3, 5, 0, 0, 0, 1, 15, 0, 1, 1),"    /* ordered, watched */
                  " (7, 0, 2, 3, 5, 2, 0, 250, 0, 15, 65, 1, 1);" /* of another candidate */
                  "INSERT INTO candidates SELECT 9, first, second, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1,"
                  " 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM candidates");
    struct rh_runs *runs = open_store(path);
    struct rh_runs_state known = state_of(runs, 1);
    assert_ends(&known.tally.with[RH_ORDER_PRIMARY], 3, 2, 0);
    assert_ends(&known.tally.with[RH_ORDER_ALTERNATE], 2, 1, 1);
    assert_ends(&known.tally.all, 2, 1, 0);
    assert_int_equal(known.tally.ordered, 1);
    known = state_of(runs, 9);
    assert_ends(&known.tally.with[RH_ORDER_PRIMARY], 0, 0, 0);
    assert_ends(&known.tally.with[RH_ORDER_ALTERNATE], 0, 0, 0);
    rh_runs_close(runs);
    free(path);
}

/* No table, column or index differs from those of a store that was made new. */
static void a_migrated_store_is_like_a_new_one(void **state)
{
    char *path = make_version_2(state);
    char *fresh = rh_path_join(*state, "fresh.runs");
    rh_runs_close(open_store(path));
    rh_runs_close(open_store(fresh));
    struct rh_db *db = open_db(path);
    char *sql = rh_format("ATTACH '%s' AS fresh", fresh);
    assert_status(RH_OK, rh_db_exec(db, sql));
    int64_t different;
    assert_status(RH_OK,
                  rh_db_number(db,
                               "SELECT count(*) FROM (SELECT m.name, c.name, c.pk"
                               " FROM sqlite_schema m, pragma_table_info(m.name) c"
                               " EXCEPT SELECT m.name, c.name, c.pk FROM"
                               " fresh.sqlite_schema m, pragma_table_info(m.name, 'fresh') c)",
                               -1, &different));
    assert_int_equal(different, 0);
    assert_status(RH_OK, rh_db_number(db,
                                      "SELECT (SELECT count(*) FROM sqlite_schema) -"
                                      " (SELECT count(*) FROM fresh.sqlite_schema)",
                                      -1, &different));
    assert_int_equal(different, 0);
    rh_db_close(db);
    free(sql);
    free(fresh);
    free(path);
}

static void assert_refused(const char *path, const char *message)
{
    struct rh_strbuf before = RH_STRBUF_INIT, after = RH_STRBUF_INIT;
    struct rh_runs *runs;
    assert_status(RH_OK, rh_fs_read(path, &before));
    for (int i = 0; i < 2; i++) {
        assert_status(RH_ERR_INPUT, i == 0 ? rh_runs_open_existing(path, &runs)
                                           : rh_runs_open(path, &fixture_program, &runs));
        if (!strstr(rh_error_text(), message))
            fail_msg("the message is: %s", rh_error_text());
    }
    assert_status(RH_OK, rh_fs_read(path, &after));
    assert_int_equal(after.len, before.len);
    assert_memory_equal(after.data, before.data, after.len);
    rh_strbuf_release(&before);
    rh_strbuf_release(&after);
}

static void what_cannot_be_migrated_is_left_alone(void **state)
{
    char *path = make_version_2(state);
    run_sql(path, "UPDATE races SET race = x'00' WHERE number = 2");
    assert_refused(path, "damaged (races)");
    run_sql(path, "DROP TABLE races");
    assert_refused(path, "no such table: races");
    run_sql(path, "CREATE TRIGGER t AFTER UPDATE ON runs BEGIN DELETE FROM images; END");
    assert_refused(path, "more than tables");
    run_sql(path, "PRAGMA user_version = 1");
    assert_refused(path, "is version 1, of an older racehive: move it away to start a new one");
    char *newer = rh_format("PRAGMA user_version = %d", RH_RUNS_VERSION + 1);
    char *message = rh_format("its format is version %d and this racehive", RH_RUNS_VERSION + 1);
    run_sql(path, newer);
    assert_refused(path, message);
    free(message);
    free(newer);
    free(path);
}

static void who_may_not_write_is_told_why(void **state)
{
    char *path = make_version_2(state);
    struct rh_runs *runs;
    chmod(path, 0444);
    chmod(*state, 0555);
    uid_t user = geteuid();
    bool dropped = (user != 0 || seteuid(65534) == 0) && eaccess(path, W_OK) != 0;
    enum rh_status status = dropped ? rh_runs_open_existing(path, &runs) : RH_ERR_IO;
    assert_int_equal(seteuid(user), 0);
    chmod(*state, 0755);
    if (!dropped) {
        free(path);
        skip_for("this user may write everything");
    }
    assert_int_equal(status, RH_ERR_IO);
    assert_non_null(strstr(rh_error_text(), "is of an older racehive and must be updated: cannot "
                                            "write"));
    free(path);
}

/* Wherever the kill comes, the store is one of the two versions, whole. */
static void kills_leave_one_version_or_the_other(void **state)
{
    enum { ROUNDS = 40 };
    unsigned old = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        char *path = make_version_2(state);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct rh_runs *runs;
            _exit(rh_runs_open_existing(path, &runs) != RH_OK);
        }
        usleep((useconds_t)(draw(round, 1) % (1000u << round % 6)));
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
        int64_t version = ask_sql(path, "PRAGMA user_version");
        assert_true(version == 2 || version == RH_RUNS_VERSION);
        old += version == 2;
        struct rh_runs *runs;
        assert_status(RH_OK, rh_runs_open_existing(path, &runs));
        assert_contents(runs);
        rh_runs_close(runs);
        assert_intact(path);
        unlink(path);
        free(path);
    }
    print_message("%u of %u kills came before the end of the migration\n", old, ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(a_reader_migrates),
        SCRATCH_TEST(a_writer_migrates),
        SCRATCH_TEST(ends_follow_from_the_tasks),
        SCRATCH_TEST(a_migrated_store_is_like_a_new_one),
        SCRATCH_TEST(what_cannot_be_migrated_is_left_alone),
        SCRATCH_TEST(who_may_not_write_is_told_why),
        SCRATCH_TEST(kills_leave_one_version_or_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
