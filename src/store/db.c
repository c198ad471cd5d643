/* A thin layer over SQLite: opening, statements, and messages for everything that can fail. */
#include "store/db.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/strbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* SQLite's codes whose own wording would not help a user, by primary code. */
static const struct failure {
    int rc;
    enum rh_status status;
    const char *reason; /* NULL: the system's errno tells it */
} failures[] = {
    {SQLITE_FULL, RH_ERR_IO, "no space left on the device"},
    {SQLITE_IOERR, RH_ERR_IO, NULL},
    {SQLITE_CANTOPEN, RH_ERR_IO, NULL},
    {SQLITE_PERM, RH_ERR_IO, NULL},
    {SQLITE_READONLY, RH_ERR_IO, "it may not be written"},
    {SQLITE_NOMEM, RH_ERR_IO, "out of memory"},
    {SQLITE_TOOBIG, RH_ERR_IO, "a value is larger than SQLite can store"},
    {SQLITE_CORRUPT, RH_ERR_INPUT, "the file is damaged or truncated"},
    {SQLITE_NOTADB, RH_ERR_INPUT, "the file is not a .racehive file, or it is damaged"},
};

static const struct failure *find_failure(int rc)
{
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
        if (failures[i].rc == (rc & 0xFF))
            return &failures[i];
    return NULL;
}

enum rh_status rh_db_fail(const struct rh_db *db, int rc)
{
    const struct failure *failure = find_failure(rc);
    const char *verb = db->writes ? "write" : "read";
    /* SQLite does not note the errno of a failed COMMIT; every call here starts with errno 0. */
    int error = errno;
    if (db->handle && sqlite3_system_errno(db->handle) != 0)
        error = sqlite3_system_errno(db->handle);
    if (failure && failure->reason)
        return rh_fail(failure->status, "cannot %s %s: %s", verb, db->shown, failure->reason);
    if (failure && error) {
        errno = error;
        return rh_fail_errno(failure->status, "cannot %s %s", verb, db->shown);
    }
    /* What is left when reading is a table or column that is missing, in SQLite's words. */
    enum rh_status status = db->writes ? RH_ERR_IO : RH_ERR_INPUT;
    return rh_fail(status, "cannot %s %s: %s", verb, db->shown,
                   db->handle ? sqlite3_errmsg(db->handle) : sqlite3_errstr(rc));
}

/* The path as a URI, so that options can follow and no character in it means anything. */
static char *make_uri(const char *absolute, const char *options)
{
    struct rh_strbuf uri = RH_STRBUF_INIT;
    rh_strbuf_add(&uri, "file://");
    for (const char *at = absolute; *at; at++) {
        if (strchr("%?#", *at))
            rh_strbuf_addf(&uri, "%%%02X", (unsigned char)*at);
        else
            rh_strbuf_addc(&uri, *at);
    }
    rh_strbuf_addf(&uri, "?%s", options);
    return rh_strbuf_detach(&uri);
}

static enum rh_status open_file(struct rh_db *db, const char *path, const char *options, int flags)
{
    char *absolute;
    enum rh_status status = rh_path_absolute(path, &absolute);
    if (status != RH_OK)
        return status;
    char *uri = make_uri(absolute, options);
    errno = 0;
    int rc = sqlite3_open_v2(uri, &db->handle, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    free(uri);
    free(absolute);
    return rc == SQLITE_OK ? RH_OK : rh_db_fail(db, rc);
}

static enum rh_status open_and_set(struct rh_db *db, const char *path, const char *options,
                                   int flags, const char *settings)
{
    enum rh_status status = open_file(db, path, options, flags);
    if (status == RH_OK)
        status = rh_db_exec(db, settings);
    if (status != RH_OK)
        rh_db_close(db);
    return status;
}

enum rh_status rh_db_open_draft(struct rh_db *db, const char *path, const char *shown)
{
    *db = (struct rh_db){.shown = rh_strdup(shown), .writes = true};
    return open_and_set(db, path, "mode=rw", SQLITE_OPEN_READWRITE,
                        "PRAGMA page_size = 4096;"
                        "PRAGMA journal_mode = OFF;"
                        "PRAGMA synchronous = OFF;"
                        "PRAGMA locking_mode = EXCLUSIVE;");
}

/* Told apart before SQLite sees the file: it would block on a pipe, and it words these poorly. */
static enum rh_status check_regular(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return rh_fail_errno(errno == ENOENT ? RH_ERR_NOT_FOUND : RH_ERR_IO, "cannot read %s",
                             path);
    if (S_ISDIR(info.st_mode))
        return rh_fail(RH_ERR_INPUT, "cannot read %s: it is a directory", path);
    if (!S_ISREG(info.st_mode))
        return rh_fail(RH_ERR_INPUT, "cannot read %s: it is not a regular file", path);
    return RH_OK;
}

enum rh_status rh_db_open_finished(struct rh_db *db, const char *path)
{
    *db = (struct rh_db){0};
    enum rh_status status = check_regular(path);
    if (status != RH_OK)
        return status;
    db->shown = rh_strdup(path);
    /* The file may come from a stranger: its schema must not be able to do anything. */
    return open_and_set(db, path, "mode=ro&immutable=1", SQLITE_OPEN_READONLY,
                        "PRAGMA trusted_schema = OFF;"
                        "PRAGMA cell_size_check = ON;");
}

void rh_db_close(struct rh_db *db)
{
    sqlite3_close(db->handle);
    free(db->shown);
    *db = (struct rh_db){0};
}

enum rh_status rh_db_exec(const struct rh_db *db, const char *sql)
{
    errno = 0;
    int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? RH_OK : rh_db_fail(db, rc);
}

enum rh_status rh_db_prepare(const struct rh_db *db, const char *sql, sqlite3_stmt **statement)
{
    errno = 0;
    int rc = sqlite3_prepare_v2(db->handle, sql, -1, statement, NULL);
    return rc == SQLITE_OK ? RH_OK : rh_db_fail(db, rc);
}

enum rh_status rh_db_step(const struct rh_db *db, sqlite3_stmt *statement, bool *row)
{
    errno = 0;
    int rc = sqlite3_step(statement);
    *row = rc == SQLITE_ROW;
    if (*row)
        return RH_OK;
    enum rh_status status = rc == SQLITE_DONE ? RH_OK : rh_db_fail(db, rc);
    sqlite3_reset(statement);
    return status;
}

enum rh_status rh_db_number(const struct rh_db *db, const char *sql, int64_t fallback,
                            int64_t *number)
{
    sqlite3_stmt *statement;
    enum rh_status status = rh_db_prepare(db, sql, &statement);
    if (status != RH_OK)
        return status;
    bool row;
    status = rh_db_step(db, statement, &row);
    bool present = row && sqlite3_column_type(statement, 0) != SQLITE_NULL;
    *number = present ? sqlite3_column_int64(statement, 0) : fallback;
    sqlite3_finalize(statement);
    return status;
}

struct rh_db_value rh_db_none(void)
{
    return (struct rh_db_value){.kind = RH_DB_NONE};
}

struct rh_db_value rh_db_int(int64_t number)
{
    return (struct rh_db_value){.kind = RH_DB_INT, .number = number};
}

struct rh_db_value rh_db_text(const char *text)
{
    return (struct rh_db_value){.kind = text ? RH_DB_TEXT : RH_DB_NONE, .bytes = text};
}

struct rh_db_value rh_db_blob(const void *bytes, size_t len)
{
    return (struct rh_db_value){.kind = RH_DB_BLOB, .bytes = bytes, .len = len};
}

/* The bytes stay with the caller, who holds them until the row is inserted. */
static int bind_value(sqlite3_stmt *statement, int at, const struct rh_db_value *value)
{
    switch (value->kind) {
    case RH_DB_NONE:
        return sqlite3_bind_null(statement, at);
    case RH_DB_INT:
        return sqlite3_bind_int64(statement, at, value->number);
    case RH_DB_TEXT:
        return sqlite3_bind_text(statement, at, value->bytes, -1, SQLITE_STATIC);
    case RH_DB_BLOB:
        return sqlite3_bind_blob64(statement, at, value->bytes, value->len, SQLITE_STATIC);
    }
    return SQLITE_MISUSE;
}

enum rh_status rh_db_insert(const struct rh_db *db, sqlite3_stmt *statement,
                            const struct rh_db_value *values, int count)
{
    errno = 0;
    int rc = SQLITE_OK;
    for (int i = 0; i < count && rc == SQLITE_OK; i++)
        rc = bind_value(statement, i + 1, &values[i]);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    enum rh_status status = rc == SQLITE_DONE ? RH_OK : rh_db_fail(db, rc);
    sqlite3_reset(statement);
    return status;
}
