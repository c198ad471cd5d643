/*
 * A thin layer over SQLite: opens files, runs statements, and turns every failure into one message
 * that names the file as the user knows it.
 *
 * RH_ERR_NOT_FOUND means there is no such file, RH_ERR_INPUT that it is not what it should be,
 * RH_ERR_IO that the system refused (no space, no permission, a broken disk).
 */
#ifndef RH_STORE_DB_H
#define RH_STORE_DB_H

#include "base/status.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rh_db {
    sqlite3 *handle;
    char *shown;      /* the name of the file in messages */
    const char *kind; /* what the file should be, in messages */
    bool writes;
    bool is_draft;
};

/*
 * Opens an existing, empty file to be filled by this process alone. Nothing is journalled or
 * flushed: a file that was not finished is worthless and its owner removes it.
 */
enum rh_status rh_db_open_draft(struct rh_db *db, const char *path, const char *shown);

/* Opens a finished file as it is: no lock, no journal, no other file beside it is ever touched. */
enum rh_status rh_db_open_finished(struct rh_db *db, const char *path);

/*
 * Opens a file that several processes read and write at once, and that none of them damages by
 * being killed. Writing needs a file and a folder that may be written. With RH_DB_MAKE a file that
 * is not there is made, empty; with RH_DB_READ nothing is written but what a killed writer left
 * undone.
 */
enum rh_db_mode { RH_DB_READ, RH_DB_MAKE };
enum rh_status rh_db_open_shared(struct rh_db *db, const char *path, const char *kind,
                                 enum rh_db_mode mode);

/*
 * A transaction on a shared file: all that is read in it belongs together, all that is written in
 * it comes to be at once or not at all. rh_db_end keeps the changes if `status` is RH_OK and undoes
 * them if not; it returns the first failure. In between, messages speak of writing if `writes`.
 */
enum rh_status rh_db_begin(struct rh_db *db, bool writes);
enum rh_status rh_db_end(struct rh_db *db, enum rh_status status);

void rh_db_close(struct rh_db *db);

/* Makes the message for SQLite's result code `rc`. */
enum rh_status rh_db_fail(const struct rh_db *db, int rc);

/* Runs statements that give no rows. */
enum rh_status rh_db_exec(const struct rh_db *db, const char *sql);

enum rh_status rh_db_prepare(const struct rh_db *db, const char *sql, sqlite3_stmt **statement);

/* Moves to the next row; *row is false at the end, where the statement is ready to run again. */
enum rh_status rh_db_step(const struct rh_db *db, sqlite3_stmt *statement, bool *row);

/* The one number that a statement gives; `fallback` if it gives no row or NULL. */
enum rh_status rh_db_number(const struct rh_db *db, const char *sql, int64_t fallback,
                            int64_t *number);

/* One value of a row to insert. */
struct rh_db_value {
    enum rh_db_value_kind { RH_DB_NONE, RH_DB_INT, RH_DB_TEXT, RH_DB_BLOB } kind;
    int64_t number;
    const void *bytes;
    size_t len; /* of a blob */
};

/* Values by kind; a text of NULL is SQL's NULL. */
struct rh_db_value rh_db_none(void);
struct rh_db_value rh_db_int(int64_t number);
struct rh_db_value rh_db_text(const char *text);
struct rh_db_value rh_db_blob(const void *bytes, size_t len);

/* Gives a statement its first parameters, in their order; what they point to must stay until it was
 * run. */
enum rh_status rh_db_bind(const struct rh_db *db, sqlite3_stmt *statement,
                          const struct rh_db_value *values, int count);

/* Runs an INSERT, UPDATE or DELETE with its parameters, in their order. */
enum rh_status rh_db_insert(const struct rh_db *db, sqlite3_stmt *statement,
                            const struct rh_db_value *values, int count);

#endif
