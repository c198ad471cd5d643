/* SPDX-License-Identifier: Apache-2.0 */
/* The database boundary: values of every kind, transactions, words, and versions of a format. */
#include "store/db.h"

#include "store/db_testing.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static struct rh_db *make_db(void **state)
{
    char *path = rh_path_join(*state, "db");
    struct rh_db *db = open_db(path);
    free(path);
    return db;
}

static struct rh_db_statement *prepare(struct rh_db *db, const char *sql)
{
    struct rh_db_statement *statement;
    assert_status(RH_OK, rh_db_prepare(db, sql, &statement));
    return statement;
}

static int64_t ask(struct rh_db *db, const char *sql)
{
    int64_t number;
    assert_status(RH_OK, rh_db_number(db, sql, -1, &number));
    return number;
}

/* --- values, rows and transactions --- */

static void values_come_back(void **state)
{
    struct rh_db *db = make_db(state);
    assert_status(RH_OK, rh_db_define(db, "CREATE TABLE t (a {number}, b TEXT, c {blob}, d {blob},"
                                          " e {number})"));
    struct rh_db_statement *insert = prepare(db, "INSERT INTO t VALUES (?, ?, ?, ?, ?)");
    assert_status(RH_OK, rh_db_change(insert, RH_DB_VALUES(rh_db_int(INT64_MIN), rh_db_text("text"),
                                                           rh_db_blob("\0\1", 2),
                                                           rh_db_blob(NULL, 0), rh_db_null())));
    struct rh_db_statement *row = prepare(db, "SELECT a, b, c, d, e FROM t");
    bool more;
    assert_status(RH_OK, rh_db_step(row, &more));
    assert_true(more);
    static const enum rh_db_value_kind kinds[] = {RH_DB_INT, RH_DB_TEXT, RH_DB_BLOB, RH_DB_BLOB,
                                                  RH_DB_NULL};
    static const size_t lens[] = {0, 4, 2, 0, 0};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(rh_db_column(row, i).kind, kinds[i]);
        assert_int_equal(rh_db_column(row, i).len, lens[i]);
    }
    assert_true(rh_db_column(row, 0).number == INT64_MIN);
    assert_string_equal(rh_db_column_text(row, 1), "text");
    assert_memory_equal(rh_db_column(row, 2).bytes, "\0\1", 2);
    assert_null(rh_db_column_text(row, 0));
    assert_null(rh_db_column_text(row, 4));
    assert_status(RH_OK, rh_db_step(row, &more));
    assert_false(more);
    rh_db_finish(row);
    rh_db_finish(insert);
    rh_db_close(db);
}

static void numbers_are_taken_within_limits(void **state)
{
    struct rh_db *db = make_db(state);
    struct rh_db_statement *row = prepare(db, "SELECT 7, -1, 4294967296, 'x', NULL, 1.5");
    bool more;
    uint64_t number;
    uint32_t small;
    assert_status(RH_OK, rh_db_step(row, &more));
    assert_true(rh_db_take(row, 0, 8, &number) && number == 7);
    assert_false(rh_db_take(row, 0, 7, &number));
    assert_false(rh_db_take(row, 1, RH_DB_LIMIT64, &number));
    assert_true(rh_db_take(row, 2, RH_DB_LIMIT64, &number) && number == 1ull << 32);
    assert_false(rh_db_take32(row, 2, RH_DB_LIMIT32, &small));
    for (int i = 3; i < 6; i++)
        assert_false(rh_db_take32(row, i, RH_DB_LIMIT32, &small));
    assert_true(rh_db_take_optional(row, 4, 1, 99, &small) && small == 99);
    assert_true(rh_db_take_optional(row, 0, 8, 99, &small) && small == 7);
    assert_false(rh_db_take_optional(row, 0, 7, 99, &small));
    assert_false(rh_db_take_optional(row, 3, RH_DB_LIMIT32, 99, &small));
    assert_int_equal(rh_db_counter(UINT64_MAX).number, INT64_MAX);
    rh_db_finish(row);
    rh_db_close(db);
}

static void the_database_numbers_rows(void **state)
{
    struct rh_db *db = make_db(state);
    assert_status(RH_OK, rh_db_define(db, "CREATE TABLE t (number {serial}, a {number})"));
    struct rh_db_statement *insert = prepare(db, "INSERT INTO t (a) VALUES (?) RETURNING number");
    int64_t number;
    for (int64_t i = 1; i <= 3; i++) {
        assert_status(RH_OK, rh_db_insert(insert, RH_DB_VALUES(rh_db_int(10 * i)), &number));
        assert_int_equal(number, i);
    }
    assert_int_equal(ask(db, "SELECT a FROM t WHERE number = 3"), 30);
    rh_db_finish(insert);
    rh_db_close(db);
}

static void transactions_happen_or_do_not(void **state)
{
    struct rh_db *db = make_db(state);
    assert_status(RH_OK, rh_db_exec(db, "CREATE TABLE t (a INTEGER)"));
    assert_status(RH_OK, rh_db_begin(db, true));
    assert_status(RH_OK, rh_db_exec(db, "INSERT INTO t VALUES (1)"));
    assert_status(RH_OK, rh_db_end(db, RH_OK));
    assert_status(RH_OK, rh_db_begin(db, true));
    assert_status(RH_OK, rh_db_exec(db, "DELETE FROM t"));
    rh_fail(RH_ERR_INPUT, "the reason");
    assert_status(RH_ERR_INPUT, rh_db_end(db, RH_ERR_INPUT));
    assert_string_equal(rh_error_text(), "the reason");
    assert_int_equal(ask(db, "SELECT count(*) FROM t"), 1);
    rh_db_close(db);
}

/* A statement that fails is told with the name of the file. */
static void failures_name_the_database(void **state)
{
    struct rh_db *db = make_db(state);
    struct rh_db_statement *statement;
    assert_status(RH_ERR_INPUT, rh_db_prepare(db, "SELECT a FROM nowhere", &statement));
    if (!strstr(rh_error_text(), "/db: no such table: nowhere"))
        fail_msg("the message is: %s", rh_error_text());
    assert_status(RH_ERR_INTERNAL, rh_db_define(db, "CREATE TABLE t (a {unknown})"));
    rh_db_close(db);
}

/* --- versions --- */

static const struct rh_db_migration sound_steps[] = {
    {.define = "CREATE TABLE t (a {number}); INSERT INTO t VALUES (1)"},
    {.define = "ALTER TABLE t RENAME COLUMN a TO b"},
    {.define = "ALTER TABLE t ADD COLUMN c {number}; UPDATE t SET c = 10 * b"},
};

/* The format when it had its first `count` versions, which start at 4. */
static struct rh_db_format make_format(const struct rh_db_migration *steps, int count)
{
    return (struct rh_db_format){
        .id = 0x1234,
        .kind = "test",
        .if_too_old = "throw it away",
        .oldest = 4,
        .steps = steps,
        .step_count = count,
    };
}

static void make_version(struct rh_db *db, int count)
{
    const struct rh_db_format format = make_format(sound_steps, count);
    assert_status(RH_OK, rh_db_begin(db, true));
    assert_status(RH_OK, rh_db_end(db, rh_db_make(db, &format)));
}

static void every_version_is_migrated_to_the_newest(void **state)
{
    const struct rh_db_format newest = make_format(sound_steps, 3);
    for (int count = 1; count <= 3; count++) {
        char *path = rh_format("%s/%d", (char *)*state, count);
        struct rh_db *db = open_db(path);
        bool is_empty, is_current;
        assert_status(RH_OK, rh_db_is_empty(db, &is_empty));
        assert_true(is_empty);
        make_version(db, count);
        assert_status(RH_OK, rh_db_is_empty(db, &is_empty));
        assert_false(is_empty);
        assert_status(RH_OK, rh_db_check_format(db, &newest, &is_current));
        assert_int_equal(is_current, count == 3);
        assert_status(RH_OK, rh_db_migrate(db, &newest));
        assert_status(RH_OK, rh_db_check_format(db, &newest, &is_current));
        assert_true(is_current);
        assert_int_equal(ask(db, "SELECT c FROM t WHERE b = 1"), 10);
        /* Once more does nothing. */
        assert_status(RH_OK, rh_db_migrate(db, &newest));
        assert_int_equal(ask(db, "SELECT count(*) FROM t"), 1);
        rh_db_close(db);
        free(path);
    }
}

static void other_versions_and_formats_are_refused(void **state)
{
    struct rh_db *db = make_db(state);
    bool is_current;
    make_version(db, 3);
    const struct rh_db_format older = make_format(sound_steps, 2);
    assert_status(RH_ERR_INPUT, rh_db_check_format(db, &older, &is_current));
    assert_non_null(strstr(rh_error_text(), "its format is version 6 and this racehive"));
    assert_non_null(strstr(rh_error_text(), "knows up to 5: update racehive"));
    assert_status(RH_ERR_INPUT, rh_db_migrate(db, &older));
    struct rh_db_format later = make_format(sound_steps, 3);
    later.oldest = 7;
    assert_status(RH_ERR_INPUT, rh_db_check_format(db, &later, &is_current));
    assert_non_null(strstr(rh_error_text(), "is version 6, of an older racehive: throw it away"));
    assert_status(RH_ERR_INPUT, rh_db_migrate(db, &later));
    struct rh_db_format other = make_format(sound_steps, 3);
    other.id++;
    assert_status(RH_ERR_INPUT, rh_db_check_format(db, &other, &is_current));
    assert_non_null(strstr(rh_error_text(), "it is not a test"));
    assert_int_equal(ask(db, "SELECT c FROM t"), 10);
    rh_db_close(db);
}

/* Fills more pages than the cache has, so that some are in the file before the end. */
static enum rh_status write_much(struct rh_db *db)
{
    return rh_db_exec(db, "PRAGMA cache_size = 1; CREATE TABLE much (a);"
                          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                          " WHERE i < 500) INSERT INTO much SELECT zeroblob(1000) FROM n");
}

static enum rh_status fail_after_writing(struct rh_db *db)
{
    enum rh_status status = write_much(db);
    return status == RH_OK ? rh_fail(RH_ERR_INPUT, "the step failed") : status;
}

static enum rh_status die_after_writing(struct rh_db *db)
{
    if (write_much(db) == RH_OK)
        raise(SIGKILL);
    return RH_ERR_INTERNAL;
}

static void assert_is_version_4(struct rh_db *db)
{
    const struct rh_db_format first = make_format(sound_steps, 1);
    bool is_current;
    assert_status(RH_OK, rh_db_check_format(db, &first, &is_current));
    assert_true(is_current);
    assert_int_equal(ask(db, "SELECT a FROM t"), 1);
    assert_int_equal(ask(db, "SELECT count(*) FROM sqlite_schema"), 1);
}

static void a_failed_step_leaves_the_old_version(void **state)
{
    static const struct rh_db_migration steps[] = {
        {.define = "CREATE TABLE t (a {number}); INSERT INTO t VALUES (1)"},
        {.define = "ALTER TABLE t RENAME COLUMN a TO b"},
        {.define = "UPDATE t SET b = 2", .convert = fail_after_writing},
    };
    const struct rh_db_format format = make_format(steps, 3);
    struct rh_db *db = make_db(state);
    make_version(db, 1);
    assert_status(RH_ERR_INPUT, rh_db_migrate(db, &format));
    assert_string_equal(rh_error_text(), "the step failed");
    assert_is_version_4(db);
    rh_db_close(db);
}

static void a_kill_in_the_middle_leaves_the_old_version(void **state)
{
    static const struct rh_db_migration steps[] = {
        {.define = "CREATE TABLE t (a {number}); INSERT INTO t VALUES (1)"},
        {.define = "ALTER TABLE t RENAME COLUMN a TO b; UPDATE t SET b = 2",
         .convert = die_after_writing},
    };
    const struct rh_db_format format = make_format(steps, 2), sound = make_format(sound_steps, 3);
    char *path = rh_path_join(*state, "db");
    char *journal = rh_format("%s-journal", path);
    struct rh_db *db = open_db(path);
    make_version(db, 1);
    rh_db_close(db);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(rh_db_open_shared(path, "test", RH_DB_MAKE, &db) != RH_OK ||
              rh_db_migrate(db, &format) != RH_OK);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    /* Else it was killed too early to test anything. */
    assert_int_equal(access(journal, F_OK), 0);
    db = open_db(path);
    assert_is_version_4(db);
    assert_status(RH_OK, rh_db_migrate(db, &sound));
    assert_int_equal(ask(db, "SELECT c FROM t"), 10);
    rh_db_close(db);
    assert_intact(path);
    free(journal);
    free(path);
}

/* Many at once: each finds it migrated, once. */
static void rivals_migrate_once(void **state)
{
    enum { RIVALS = 8 };
    const struct rh_db_format format = make_format(sound_steps, 3);
    char *path = rh_path_join(*state, "db");
    struct rh_db *db = open_db(path);
    make_version(db, 1);
    rh_db_close(db);
    for (int i = 0; i < RIVALS; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(rh_db_open_shared(path, "test", RH_DB_MAKE, &db) != RH_OK ||
                  rh_db_migrate(db, &format) != RH_OK);
    }
    for (int i = 0; i < RIVALS; i++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(ask_sql(path, "SELECT c FROM t"), 10);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(values_come_back),
        SCRATCH_TEST(numbers_are_taken_within_limits),
        SCRATCH_TEST(the_database_numbers_rows),
        SCRATCH_TEST(transactions_happen_or_do_not),
        SCRATCH_TEST(failures_name_the_database),
        SCRATCH_TEST(every_version_is_migrated_to_the_newest),
        SCRATCH_TEST(other_versions_and_formats_are_refused),
        SCRATCH_TEST(a_failed_step_leaves_the_old_version),
        SCRATCH_TEST(a_kill_in_the_middle_leaves_the_old_version),
        SCRATCH_TEST(rivals_migrate_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
