/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the store: changes and queries databases behind the back of the code under test. */
#ifndef RH_STORE_DB_TESTING_H
#define RH_STORE_DB_TESTING_H

#include "base/testing.h"
#include "store/db.h"

static inline struct rh_db *open_db(const char *path)
{
    struct rh_db *db;
    assert_status(RH_OK, rh_db_open_shared(path, "database", RH_DB_MAKE, &db));
    return db;
}

/* Runs statements on a file, which is made if it is not there. */
static inline void run_sql(const char *path, const char *sql)
{
    struct rh_db *db = open_db(path);
    if (rh_db_exec(db, sql) != RH_OK)
        fail_msg("%s: %s", sql, rh_error_text());
    rh_db_close(db);
}

/* The number that a query gives, or 0. */
static inline int64_t ask_sql(const char *path, const char *sql)
{
    struct rh_db *db = open_db(path);
    int64_t number;
    if (rh_db_number(db, sql, 0, &number) != RH_OK)
        fail_msg("%s: %s", sql, rh_error_text());
    rh_db_close(db);
    return number;
}

static inline void assert_intact(const char *path)
{
    struct rh_db *db = open_db(path);
    struct rh_db_statement *row;
    bool more;
    assert_status(RH_OK, rh_db_prepare(db, "PRAGMA integrity_check", &row));
    assert_status(RH_OK, rh_db_step(row, &more));
    assert_true(more);
    assert_string_equal(rh_db_column_text(row, 0), "ok");
    rh_db_finish(row);
    rh_db_close(db);
}

#endif
