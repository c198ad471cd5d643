/* SPDX-License-Identifier: Apache-2.0 */
/* Stores that are not as they should be, and systems that refuse: each is told in one message, none
 * crashes, and what cannot be used is left as it is. */
#include "store/runs.h"

#include "store/runs_testing.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

static const struct rh_runs_end end_of_run = {.wall_ns = 5};

static void put_bytes(const char *path, const void *bytes, size_t len)
{
    unlink(path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

/* A store in which every table has rows; run 1 is under way. */
static void fill_store(const char *path)
{
    struct rh_runs *runs = open_store(path);
    struct rh_runs_task tasks[40];
    struct rh_runs_answer answers[40];
    for (size_t i = 0; i < 40; i++) {
        tasks[i] = make_task(i * 0x9e3779b97f4a7c15u);
        answers[i] = (struct rh_runs_answer){.outcome = i % RH_OUTCOME_COUNT, .seen = i % 8};
    }
    begin_run(runs, tasks, 40);
    for (int i = 0; i < 4; i++) {
        struct rh_runs_finding races[] = {make_race(0, i % 2, RH_PROOF_COLLISION, true, 1),
                                          make_race(0, 0, RH_PROOF_UNORDERED, i % 2, 2)};
        uint64_t run = begin_run(runs, tasks, 40);
        assert_status(RH_OK, rh_runs_complete(runs, run, &end_of_run, answers, 40, races, 2, NULL));
    }
    rh_runs_close(runs);
}

/* A fresh copy of that store: to make it takes long on a slow disk. */
static char *make_store(const char *folder)
{
    static struct rh_strbuf first;
    char *path = rh_path_join(folder, "p.runs");
    if (first.len == 0) {
        fill_store(path);
        assert_status(RH_OK, rh_fs_read(path, &first));
    }
    put_bytes(path, first.data, first.len);
    return path;
}

static enum rh_status read_states(struct rh_runs *runs)
{
    size_t seen = 0;
    struct rh_runs_state known;
    for (bool more = true; more;) {
        enum rh_status status = rh_runs_next_state(runs, &known, &more);
        if (status != RH_OK)
            return status;
        seen += more ? strlen(rh_ground_words(rh_verdict_ground(&known.tally))) : 0;
    }
    return seen < SIZE_MAX ? RH_OK : RH_ERR_INTERNAL;
}

/* Looks at every string, so that a wild index cannot pass unseen. */
static enum rh_status read_races(struct rh_runs *runs)
{
    size_t at = 0, seen = 0;
    struct rh_runs_finding race;
    struct rh_runs_end end;
    for (bool more = true; more;) {
        enum rh_status status = rh_runs_next_finding(runs, 0, &at, &race, &end, &more);
        if (status != RH_OK)
            return status;
        for (uint32_t i = 0; more && i < race.finding.sides[0].frame_count; i++)
            if (race.finding.sides[0].frames[i].image != RH_NO_IMAGE)
                seen += strlen(race.images[race.finding.sides[0].frames[i].image].path);
    }
    return seen < SIZE_MAX ? RH_OK : RH_ERR_INTERNAL;
}

/* Reads all there is; the first failure wins. */
static enum rh_status read_everything(const char *path)
{
    struct rh_runs *runs;
    enum rh_status status = rh_runs_open_existing(path, &runs);
    if (status != RH_OK)
        return status;
    struct rh_runs_totals totals;
    status = rh_runs_sum(runs, &totals);
    if (status == RH_OK)
        status = read_states(runs);
    if (status == RH_OK)
        status = read_races(runs);
    rh_runs_close(runs);
    return status;
}

/* Completes run 1, which is under way. */
static enum rh_status complete_first(struct rh_runs *runs)
{
    const struct rh_runs_answer answers[40] = {{.outcome = RH_OUTCOME_NO_RACE}};
    const struct rh_runs_finding race = make_race(0, 0, RH_PROOF_COLLISION, true, 3);
    return rh_runs_complete(runs, 1, &end_of_run, answers, 40, &race, 1, NULL);
}

static enum rh_status write_something(const char *path)
{
    struct rh_runs *runs;
    enum rh_status status = rh_runs_open(path, &fixture_program, &runs);
    if (status != RH_OK)
        return status;
    status = complete_first(runs);
    rh_runs_close(runs);
    return status;
}

static void assert_bytes(const char *path, const struct rh_strbuf *expected)
{
    struct rh_strbuf now = RH_STRBUF_INIT;
    assert_status(RH_OK, rh_fs_read(path, &now));
    assert_int_equal(now.len, expected->len);
    assert_memory_equal(now.data, expected->data, now.len);
    rh_strbuf_release(&now);
}

static void truncated_stores_are_refused_and_left_alone(void **state)
{
    char *path = make_store(*state);
    char *victim = rh_path_join(*state, "victim.runs");
    struct rh_strbuf sound = RH_STRBUF_INIT, cut = RH_STRBUF_INIT;
    assert_status(RH_OK, rh_fs_read(path, &sound));
    /* To SQLite, a file of one byte is an empty one. */
    for (size_t len = 2; len < sound.len; len += len < 120 ? 7 : 1021) {
        rh_strbuf_reset(&cut);
        rh_strbuf_addn(&cut, sound.data, len);
        put_bytes(victim, cut.data, len);
        assert_status(RH_ERR_INPUT, read_everything(victim));
        assert_status(RH_ERR_INPUT, write_something(victim));
        assert_bytes(victim, &cut);
    }
    assert_int_equal(count_entries(*state), 2);
    rh_strbuf_release(&sound);
    rh_strbuf_release(&cut);
    free(victim);
    free(path);
}

/* Left by a process that was killed before it could make the store. */
static void an_empty_file_becomes_a_store(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    put_bytes(path, "", 0);
    assert_status(RH_ERR_INPUT, read_everything(path));
    assert_non_null(strstr(rh_error_text(), "it is not a store of runs"));
    rh_runs_close(open_store(path));
    assert_status(RH_OK, read_everything(path));
    free(path);
}

static bool is_expected(enum rh_status status)
{
    return status == RH_OK || status == RH_ERR_INPUT || status == RH_ERR_IO;
}

static void flipped_bytes_never_crash_nor_spread(void **state)
{
    enum { ROUNDS = 1000 };
    char *path = make_store(*state);
    char *victim = rh_path_join(*state, "victim.runs");
    struct rh_strbuf sound = RH_STRBUF_INIT, copy = RH_STRBUF_INIT;
    assert_status(RH_OK, rh_fs_read(path, &sound));
    unsigned refused = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        rh_strbuf_reset(&copy);
        rh_strbuf_addn(&copy, sound.data, sound.len);
        size_t span = round % 2 ? sound.len : 8192;
        for (uint64_t i = 1; i <= 1 + round % 8; i++)
            copy.data[draw(round, 2 * i) % span] = (char)draw(round, 2 * i + 1);
        put_bytes(victim, copy.data, copy.len);
        enum rh_status read_status = read_everything(victim);
        if (!is_expected(read_status))
            fail_msg("round %llu: %s", (unsigned long long)round, rh_error_text());
        /* Now and then: writing is slow. The run may also look completed, or gone. */
        enum rh_status write_status = round % 4 == 0 ? write_something(victim) : RH_OK;
        if (!is_expected(write_status) && write_status != RH_ERR_INTERNAL &&
            write_status != RH_ERR_NOT_FOUND)
            fail_msg("round %llu: %s", (unsigned long long)round, rh_error_text());
        if (write_status != RH_OK)
            assert_bytes(victim, &copy);
        refused += read_status != RH_OK || write_status != RH_OK;
    }
    print_message("%u of %u damaged stores refused\n", refused, ROUNDS);
    assert_in_range(refused, ROUNDS / 4, ROUNDS);
    rh_strbuf_release(&sound);
    rh_strbuf_release(&copy);
    free(victim);
    free(path);
}

/* One row per way in which well-formed SQLite is no sound store, and who notices. */
static const struct wound {
    const char *sql;
    const char *message;
    bool reader_is_content;
} wounds[] = {
    {"PRAGMA application_id = 0", "not a store of runs", false},
    {"PRAGMA application_id = 1", "not a store of runs", false},
    {"PRAGMA user_version = 1000", "update racehive", false},
    {"PRAGMA user_version = 1", "of an older racehive", false},
    {"PRAGMA user_version = 0", "damaged", false},
    {"PRAGMA user_version = -1", "damaged", false},
    {"DROP TABLE meta", "meta", false},
    {"DROP TABLE runs", "runs", false},
    {"DROP TABLE tasks", "tasks", false},
    {"DROP TABLE candidates", "candidates", false},
    {"DROP TABLE findings", "findings", false},
    {"DROP TABLE images", "images", false},
    {"DROP TABLE totals", "totals", false},
    {"DROP TABLE losses", "losses", false},
    {"DROP TABLE libraries", "libraries", false},
    {"DROP TABLE pairs", "pairs", false},
    {"DROP TABLE sampled", "sampled", false},
    {"DROP TABLE adopted", "adopted", false},
    {"INSERT INTO losses VALUES ('FINDING', -1)", "losses", false},
    {"ALTER TABLE candidates DROP COLUMN hangs", "hangs", false},
    {"CREATE TRIGGER t AFTER UPDATE ON runs BEGIN DELETE FROM findings; END", "more than tables",
     false},
    {"CREATE VIEW v AS SELECT 1", "more than tables", false},
    {"DELETE FROM meta WHERE name = 'detector'", "detector", false},
    {"UPDATE meta SET value = NULL WHERE name = 'sidecar'", "sidecar", false},
    {"DELETE FROM totals", "totals", false},
    {"UPDATE totals SET wall_ns = -1", "totals", false},
    {"UPDATE totals SET opaque = 1 << 33", "totals", false},
    {"UPDATE candidates SET race = -1", "candidates", false},
    {"UPDATE candidates SET first = 1 << 32", "candidates", false},
    {"UPDATE candidates SET hangs = 'x'", "candidates", false},
    {"UPDATE candidates SET timed_out_primary = NULL", "candidates", false},
    {"UPDATE tasks SET \"order\" = 2 WHERE run = 1", "tasks", true},
    {"UPDATE tasks SET stage = -1 WHERE run = 1", "tasks", true},
    {"UPDATE tasks SET candidate = 'x' WHERE run = 1", "tasks", true},
    {"DELETE FROM tasks WHERE run = 1 AND number = 7", "tasks", true},
};

static void unsound_contents_are_refused_and_left_alone(void **state)
{
    for (size_t i = 0; i < sizeof wounds / sizeof wounds[0]; i++) {
        const struct wound *wound = &wounds[i];
        char *path = make_store(*state);
        run_sql(path, wound->sql);
        struct rh_strbuf before = RH_STRBUF_INIT;
        assert_status(RH_OK, rh_fs_read(path, &before));
        enum rh_status status = read_everything(path);
        if (status != (wound->reader_is_content ? RH_OK : RH_ERR_INPUT))
            fail_msg("after \"%s\" reading is %s", wound->sql, status_name(status));
        if (!wound->reader_is_content && !strstr(rh_error_text(), wound->message))
            fail_msg("after \"%s\" the message is: %s", wound->sql, rh_error_text());
        if (write_something(path) != RH_ERR_INPUT || !strstr(rh_error_text(), wound->message))
            fail_msg("after \"%s\" writing says: %s", wound->sql, rh_error_text());
        assert_bytes(path, &before);
        rh_strbuf_release(&before);
        free(path);
    }
}

/* Only those who ask for races meet these. */
static void unsound_races_are_refused(void **state)
{
    static const struct {
        const char *sql;
        const char *message;
    } rows[] = {
        {"UPDATE findings SET finding = x'00'", "findings"},
        {"UPDATE findings SET finding = x'02' || substr(finding, 2)", "findings"},
        {"UPDATE findings SET finding = substr(finding, 1, length(finding) - 1)", "findings"},
        {"UPDATE findings SET finding = NULL", "findings"},
        {"UPDATE findings SET finding = zeroblob(length(finding)) WHERE proof = 1", "findings"},
        {"UPDATE findings SET proof = 2 WHERE proof = 1", "findings"},
        {"UPDATE findings SET run = 99", "findings"},
        {"UPDATE findings SET run = 1", "findings"},
        {"UPDATE findings SET proved = 2", "findings"},
        {"UPDATE runs SET opaque = -1", "findings"},
        {"DELETE FROM images WHERE number = 5", "images"},
        {"UPDATE images SET number = 64 WHERE number = 63", "images"},
        {"UPDATE images SET path = NULL", "images"},
        {"UPDATE images SET path = printf('%.228c', 'x')", "images"},
        {"UPDATE images SET build_id = zeroblob(21)", "images"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *path = make_store(*state);
        run_sql(path, rows[i].sql);
        if (read_everything(path) != RH_ERR_INPUT || !strstr(rh_error_text(), rows[i].message))
            fail_msg("after \"%s\" the message is: %s", rows[i].sql, rh_error_text());
        free(path);
    }
}

static void other_files_are_refused_and_left_alone(void **state)
{
    char *path = rh_path_join(*state, "other");
    struct rh_runs *runs;
    assert_status(RH_ERR_NOT_FOUND, rh_runs_open_existing(path, &runs));
    assert_int_equal(count_entries(*state), 0);
    assert_status(RH_ERR_INPUT, rh_runs_open_existing(*state, &runs));
    assert_status(RH_ERR_INPUT, rh_runs_open(*state, &fixture_program, &runs));
    assert_non_null(strstr(rh_error_text(), "is a directory"));
    assert_status(RH_ERR_INPUT, rh_runs_open("/dev/null", &fixture_program, &runs));
    struct rh_strbuf text = RH_STRBUF_INIT;
    for (int i = 0; i < 500; i++)
        rh_strbuf_add(&text, "no store\n");
    put_bytes(path, text.data, text.len);
    assert_status(RH_ERR_INPUT, rh_runs_open_existing(path, &runs));
    assert_status(RH_ERR_INPUT, rh_runs_open(path, &fixture_program, &runs));
    assert_non_null(strstr(rh_error_text(), "not a store of runs, or it is damaged"));
    assert_bytes(path, &text);
    /* Another's database, and one that nobody has named. */
    for (int id = 0; id < 2; id++) {
        unlink(path);
        char *sql = rh_format("PRAGMA application_id = %d; CREATE TABLE t (x)", id);
        run_sql(path, sql);
        rh_strbuf_reset(&text);
        assert_status(RH_OK, rh_fs_read(path, &text));
        assert_status(RH_ERR_INPUT, rh_runs_open(path, &fixture_program, &runs));
        assert_non_null(strstr(rh_error_text(), "it is not a store of runs"));
        assert_bytes(path, &text);
        free(sql);
    }
    rh_strbuf_release(&text);
    free(path);
}

/* Root may write anywhere; without its rights it may not. */
static bool drop_rights(void)
{
    return geteuid() != 0 || seteuid(65534) == 0;
}

/* What a user without rights meets: in turn the folder, the file, and both are read-only. */
static void what_may_not_be_written_can_be_read(void **state)
{
    static const struct {
        mode_t folder, file;
        const char *message;
    } rows[] = {
        {0555, 0666, "its folder may not be written"},
        {0777, 0444, "it may not be written"},
        {0555, 0444, "it may not be written"},
    };
    for (size_t i = 0; i < 3; i++) {
        char *path = make_store(*state);
        chmod(path, rows[i].file);
        chmod(*state, rows[i].folder);
        uid_t user = geteuid();
        bool dropped = drop_rights();
        bool is_free = eaccess(path, W_OK) == 0 && eaccess(*state, W_OK) == 0;
        enum rh_status read_status = is_free ? RH_OK : read_everything(path);
        enum rh_status write_status = is_free ? RH_OK : write_something(path);
        assert_int_equal(seteuid(user), 0);
        chmod(*state, 0755);
        if (!dropped || is_free) {
            print_message("SKIPPED: %s: this user may write everything\n", __func__);
            free(path);
            skip();
        }
        assert_int_equal(read_status, RH_OK);
        assert_int_equal(write_status, RH_ERR_IO);
        if (!strstr(rh_error_text(), "cannot write") || !strstr(rh_error_text(), rows[i].message))
            fail_msg("the message is: %s", rh_error_text());
        assert_status(RH_OK, write_something(path));
        free(path);
    }
}

static void what_may_not_be_made_or_read_says_so(void **state)
{
    char *path = make_store(*state);
    char *fresh = rh_path_join(*state, "fresh.runs");
    chmod(path, 0000);
    chmod(*state, 0555);
    uid_t user = geteuid();
    struct rh_runs *runs;
    bool dropped = drop_rights() && eaccess(path, R_OK) != 0;
    enum rh_status read_status = dropped ? rh_runs_open_existing(path, &runs) : RH_OK;
    bool read_told = strstr(rh_error_text(), "p.runs: Permission denied") != NULL;
    enum rh_status make_status = dropped ? rh_runs_open(fresh, &fixture_program, &runs) : RH_OK;
    bool make_told = strstr(rh_error_text(), "fresh.runs: Permission denied") != NULL;
    assert_int_equal(seteuid(user), 0);
    chmod(*state, 0755);
    if (!dropped) {
        print_message("SKIPPED: %s: this user may read everything\n", __func__);
        skip();
    }
    assert_int_equal(read_status, RH_ERR_IO);
    assert_true(read_told);
    assert_int_equal(make_status, RH_ERR_IO);
    if (!make_told)
        fail_msg("the message is: %s", rh_error_text());
    assert_int_equal(count_entries(*state), 1);
    free(fresh);
    free(path);
}

/* The files as a process leaves them that is killed half-way through a transaction. */
static void copy_half_done(const char *path, const char *copy)
{
    struct rh_db *db = open_db(path);
    /* A cache this small puts changed pages into the file before the end. */
    assert_status(RH_OK, rh_db_exec(db, "PRAGMA cache_size = 1; BEGIN; DELETE FROM findings;"
                                        "DELETE FROM tasks; DELETE FROM candidates"));
    static const char *const suffixes[] = {"", "-journal"};
    for (int i = 0; i < 2; i++) {
        char *from = rh_format("%s%s", path, suffixes[i]);
        char *to = rh_format("%s%s", copy, suffixes[i]);
        struct rh_strbuf bytes = RH_STRBUF_INIT;
        assert_status(RH_OK, rh_fs_read(from, &bytes));
        put_bytes(to, bytes.data, bytes.len);
        rh_strbuf_release(&bytes);
        free(from);
        free(to);
    }
    rh_db_close(db);
}

static void what_a_killed_process_left_is_undone_also_by_readers(void **state)
{
    char *path = make_store(*state);
    char *copy = rh_path_join(*state, "copy.runs");
    struct rh_strbuf sound = RH_STRBUF_INIT, half = RH_STRBUF_INIT;
    assert_status(RH_OK, rh_fs_read(path, &sound));
    copy_half_done(path, copy);
    assert_status(RH_OK, rh_fs_read(copy, &half));
    assert_true(half.len != sound.len || memcmp(half.data, sound.data, sound.len) != 0);
    /* Who may not undo it may not read it: half of a transaction is not to be believed. */
    chmod(copy, 0444);
    chmod(*state, 0555);
    uid_t user = geteuid();
    bool dropped = drop_rights() && eaccess(copy, W_OK) != 0;
    enum rh_status status = dropped ? read_everything(copy) : RH_ERR_IO;
    assert_int_equal(seteuid(user), 0);
    chmod(*state, 0755);
    assert_int_equal(status, RH_ERR_IO);
    if (dropped)
        assert_non_null(strstr(rh_error_text(), "a process was killed while it wrote"));
    assert_bytes(copy, &half);
    chmod(copy, 0644);
    assert_status(RH_OK, read_everything(copy));
    assert_bytes(copy, &sound);
    assert_int_equal(count_entries(*state), 2);
    rh_strbuf_release(&sound);
    rh_strbuf_release(&half);
    free(copy);
    free(path);
}

/* A limit on the size of files stands in for a disk that is full at this point. */
static void set_limit(rlim_t size)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = size;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void a_full_disk_costs_a_run_and_nothing_else(void **state)
{
    char *path = make_store(*state);
    struct rh_strbuf before = RH_STRBUF_INIT;
    assert_status(RH_OK, rh_fs_read(path, &before));
    signal(SIGXFSZ, SIG_IGN);
    struct rh_runs *runs = open_store(path);
    unsigned failures = 0;
    for (rlim_t limit = 0; limit < before.len; limit += 1500) {
        set_limit(limit);
        enum rh_status status = complete_first(runs);
        set_limit(RLIM_INFINITY);
        if (status == RH_OK)
            break;
        failures++;
        assert_int_equal(status, RH_ERR_IO);
        assert_non_null(strstr(rh_error_text(), "cannot write"));
        assert_non_null(strstr(rh_error_text(), "File too large"));
        /* Unlike a full disk, the limit stops also what would be written back: whoever comes next
         * does that. */
        assert_int_equal(count_runs(runs), 4);
        assert_bytes(path, &before);
    }
    assert_true(failures > 0);
    enum rh_status status = complete_first(runs);
    assert_true(status == RH_OK || status == RH_ERR_INTERNAL);
    assert_int_equal(count_runs(runs), 5);
    rh_runs_close(runs);
    assert_intact(path);
    signal(SIGXFSZ, SIG_DFL);
    rh_strbuf_release(&before);
    free(path);
}

static void a_full_disk_makes_no_half_store(void **state)
{
    char *path = rh_path_join(*state, "p.runs");
    struct rh_runs *runs;
    signal(SIGXFSZ, SIG_IGN);
    enum rh_status status = RH_ERR_IO;
    for (rlim_t limit = 0; status != RH_OK; limit += 1500) {
        set_limit(limit);
        status = rh_runs_open(path, &fixture_program, &runs);
        set_limit(RLIM_INFINITY);
        assert_true(status == RH_OK || status == RH_ERR_IO);
    }
    rh_runs_close(runs);
    assert_status(RH_OK, read_everything(path));
    assert_intact(path);
    signal(SIGXFSZ, SIG_DFL);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(truncated_stores_are_refused_and_left_alone),
        SCRATCH_TEST(an_empty_file_becomes_a_store),
        SCRATCH_TEST(flipped_bytes_never_crash_nor_spread),
        SCRATCH_TEST(unsound_contents_are_refused_and_left_alone),
        SCRATCH_TEST(unsound_races_are_refused),
        SCRATCH_TEST(other_files_are_refused_and_left_alone),
        SCRATCH_TEST(what_may_not_be_written_can_be_read),
        SCRATCH_TEST(what_may_not_be_made_or_read_says_so),
        SCRATCH_TEST(what_a_killed_process_left_is_undone_also_by_readers),
        SCRATCH_TEST(a_full_disk_costs_a_run_and_nothing_else),
        SCRATCH_TEST(a_full_disk_makes_no_half_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
