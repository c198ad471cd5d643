/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The database boundary: connections, transactions, prepared statements and rows, for everything
 * in the store. Nothing here belongs to one database. Each backend is one file (db_sqlite.c) that
 * fills in the table of operations of db_internal.h.
 *
 * Status codes: RH_ERR_NOT_FOUND means there is no such file, RH_ERR_INPUT that the database is
 * damaged or not what it should be, RH_ERR_IO that the system refused (no space, no permission, a
 * broken disk) or that another process kept it locked for too long. Every message names the
 * database as the user knows it.
 *
 * SQL is limited to what SQLite and PostgreSQL both understand:
 *   - parameters are `?`, bound by position; a backend that numbers its parameters rewrites them;
 *   - a row is replaced by INSERT ... ON CONFLICT (key) DO UPDATE SET column = excluded.column;
 *   - the number that the database gives to a new row is read with RETURNING;
 *   - names that one of them reserves are quoted ("column", "groups", "order", "user");
 *   - where they spell the definition of a table differently, it has a word in braces, which
 *     rh_db_define replaces by the backend's own:
 *
 *       word        meaning                                          SQLite
 *       {number}    a whole number of 64 bits, signed                INTEGER
 *       {id}        the same as primary key, given by the store      INTEGER PRIMARY KEY
 *       {serial}    the same as primary key, given by the database   INTEGER PRIMARY KEY
 *       {blob}      bytes                                            BLOB
 *       {clustered} after a table: rows lie in the key's order       WITHOUT ROWID
 */
#ifndef RH_STORE_DB_H
#define RH_STORE_DB_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- connections --- */

struct rh_db_backend;

struct rh_db {
    const struct rh_db_backend *backend;
    char *name;       /* in messages */
    const char *kind; /* what it should be, in messages */
    bool writes;      /* messages speak of writing, not of reading */
};

/*
 * Opens an existing, empty file to be filled by this process alone. Nothing is journalled or
 * flushed: a file that was not finished is worthless, and its owner removes it.
 */
enum rh_status rh_db_open_draft(const char *path, const char *name, struct rh_db **db);

/* Opens a finished file as it is. It is never locked, and no file beside it is touched. */
enum rh_status rh_db_open_finished(const char *path, const char *kind, struct rh_db **db);

/*
 * Opens a database that several processes read and write at once; a process that is killed does
 * not damage it. With RH_DB_MAKE a file that is missing is made, empty, and both file and folder
 * must be writable. With RH_DB_READ nothing is written, except to undo what a killed process left
 * half done.
 */
enum rh_db_mode { RH_DB_READ, RH_DB_MAKE };
enum rh_status rh_db_open_shared(const char *location, const char *kind, enum rh_db_mode mode,
                                 struct rh_db **db);

/* Whether a file looks like a database that these functions open. */
enum rh_status rh_db_is_file(const char *path, bool *is_database);

/* All statements must have been finished; NULL is allowed. */
void rh_db_close(struct rh_db *db);

/* RH_ERR_INPUT with a message that the database is damaged; `what` names the part. */
enum rh_status rh_db_fail_damaged(const struct rh_db *db, const char *what);

/* Whether it holds nothing at all: it was just made, or who made it was killed. */
enum rh_status rh_db_is_empty(struct rh_db *db, bool *is_empty);

/*
 * RH_ERR_INPUT if the database was cut off, or defines more than tables: a trigger or a view of a
 * file that someone else made would run as code. Indexes are allowed in shared files only. Shared
 * files are checked within a transaction, since others change their size.
 */
enum rh_status rh_db_check_shape(struct rh_db *db);

/* --- transactions --- */

/*
 * What is read in one transaction belongs together; what is written in it appears at once or not
 * at all. rh_db_end keeps the changes if `status` is RH_OK and undoes them if not. It returns the
 * first failure.
 */
enum rh_status rh_db_begin(struct rh_db *db, bool writes);
enum rh_status rh_db_end(struct rh_db *db, enum rh_status status);

/* --- statements --- */

struct rh_db_statement {
    struct rh_db *db;
};

/* A value to bind, or a column of a row. */
struct rh_db_value {
    enum rh_db_value_kind { RH_DB_NULL, RH_DB_INT, RH_DB_TEXT, RH_DB_BLOB, RH_DB_OTHER } kind;
    int64_t number;
    const void *bytes; /* of a text: ends in a NUL; of an empty blob: may be NULL */
    size_t len;        /* of bytes, without the NUL */
};

struct rh_db_value rh_db_null(void);
struct rh_db_value rh_db_int(int64_t number);
struct rh_db_value rh_db_text(const char *text); /* NULL becomes SQL's NULL */
struct rh_db_value rh_db_blob(const void *bytes, size_t len);

/* A counter: databases hold nothing above INT64_MAX, where it stops. No counter gets there unless
 * the program under test overwrote it. */
struct rh_db_value rh_db_counter(uint64_t number);

/* Values as the two arguments that the functions below take. */
#define RH_DB_VALUES(...)                                                                          \
    (const struct rh_db_value[]){__VA_ARGS__},                                                     \
        (int)(sizeof((const struct rh_db_value[]){__VA_ARGS__}) / sizeof(struct rh_db_value))

enum rh_status rh_db_prepare(struct rh_db *db, const char *sql, struct rh_db_statement **statement);
void rh_db_finish(struct rh_db_statement *statement); /* NULL is allowed */

/* Binds the first parameters. What values point to must live until the statement has run. */
enum rh_status rh_db_bind(struct rh_db_statement *statement, const struct rh_db_value *values,
                          int count);

/* Moves to the next row. At the end *more is false and the statement may run again. */
enum rh_status rh_db_step(struct rh_db_statement *statement, bool *more);

/* Ends a statement before its last row: an open one keeps other processes from writing. */
void rh_db_reset(struct rh_db_statement *statement);

/* Binds and moves to the first row; *more is false if there is none. */
enum rh_status rh_db_find(struct rh_db_statement *statement, bool *more,
                          const struct rh_db_value *values, int count);

/* Runs an INSERT, UPDATE or DELETE to its end. */
enum rh_status rh_db_change(struct rh_db_statement *statement, const struct rh_db_value *values,
                            int count);

/* Runs an INSERT ... RETURNING number. */
enum rh_status rh_db_insert(struct rh_db_statement *statement, const struct rh_db_value *values,
                            int count, int64_t *number);

/* --- the row that a statement is at; what it points to lives until the next step --- */

struct rh_db_value rh_db_column(const struct rh_db_statement *row, int column);

/* NULL if the column holds no text. */
const char *rh_db_column_text(const struct rh_db_statement *row, int column);

/* False if the column holds no number, or one below 0 or not below `limit`. */
bool rh_db_take(const struct rh_db_statement *row, int column, uint64_t limit, uint64_t *number);
bool rh_db_take32(const struct rh_db_statement *row, int column, uint64_t limit, uint32_t *number);

/* The same where NULL may stand, which becomes `none`. */
bool rh_db_take_optional(const struct rh_db_statement *row, int column, uint64_t limit,
                         uint32_t none, uint32_t *number);

#define RH_DB_LIMIT64 ((uint64_t)INT64_MAX + 1)
#define RH_DB_LIMIT32 ((uint64_t)UINT32_MAX + 1)

/* --- whole statements --- */

/* Runs statements that give no rows. */
enum rh_status rh_db_exec(struct rh_db *db, const char *sql);

/* The same, with the words in braces replaced (see above). */
enum rh_status rh_db_define(struct rh_db *db, const char *sql);

/* The one number that a query gives; `fallback` if it gives no row or NULL. */
enum rh_status rh_db_number(struct rh_db *db, const char *sql, int64_t fallback, int64_t *number);

/* --- formats and their versions --- */

/* A step from one version to the next: tables to define, then rows to convert; each may be NULL. */
struct rh_db_migration {
    const char *define;
    enum rh_status (*convert)(struct rh_db *db);
};

/*
 * What a database holds, and all its versions since the first that is still understood. steps[0]
 * makes the tables of version `oldest`; steps[i] leads from version oldest + i - 1 to the next. A
 * new database is made by all steps one after the other, so it cannot differ from a migrated one.
 */
struct rh_db_format {
    int32_t id;             /* tells databases of this format from others */
    const char *kind;       /* in messages: "it is not a ..." */
    const char *if_too_old; /* in messages: what to do with a version before `oldest` */
    int oldest;
    const struct rh_db_migration *steps;
    int step_count;
};

/* Makes the tables in an empty database. The caller has begun a transaction. */
enum rh_status rh_db_make(struct rh_db *db, const struct rh_db_format *format);

/* RH_ERR_INPUT unless the database is of this format, in a version that is understood. *is_current
 * is false if it must be migrated before it is used. */
enum rh_status rh_db_check_format(struct rh_db *db, const struct rh_db_format *format,
                                  bool *is_current);

/* Takes a database to the newest version, in one transaction: after a failure or a kill it is in
 * its old version, as it was. Two processes may try at once. */
enum rh_status rh_db_migrate(struct rh_db *db, const struct rh_db_format *format);

#endif
