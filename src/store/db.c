/* A thin layer over SQLite: opening, statements, and messages for everything that can fail. */
#include "store/db.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long to wait for other processes, about half a minute in all. Each holds a shared file for
 * some milliseconds; many at once on a slow disk take turns. */
enum { TRIES = 20000, LEAST_WAIT_US = 500, MORE_WAIT_US = 2000 };

/* SQLite's codes whose own wording would not help a user: primary codes, and before these the
 * extended ones that deserve another reason. */
static const struct failure {
    int rc;
    enum rh_status status;
    const char *reason; /* NULL: the system's errno tells it */
} failures[] = {
    {SQLITE_READONLY_DIRECTORY, RH_ERR_IO, "its folder may not be written"},
    {SQLITE_READONLY_ROLLBACK, RH_ERR_IO,
     "a process was killed while it wrote, and what it left may not be cleared up by this user"},
    {SQLITE_BUSY, RH_ERR_IO, "another process keeps it locked"},
    {SQLITE_LOCKED, RH_ERR_IO, "another process keeps it locked"},
    {SQLITE_FULL, RH_ERR_IO, "no space left on the device"},
    {SQLITE_IOERR, RH_ERR_IO, NULL},
    {SQLITE_CANTOPEN, RH_ERR_IO, NULL},
    {SQLITE_PERM, RH_ERR_IO, NULL},
    {SQLITE_READONLY, RH_ERR_IO, "it may not be written"},
    {SQLITE_NOMEM, RH_ERR_IO, "out of memory"},
    {SQLITE_TOOBIG, RH_ERR_IO, "a value is larger than SQLite can store"},
    {SQLITE_CORRUPT, RH_ERR_INPUT, "the file is damaged or truncated"},
};

static const struct failure *find_failure(int rc)
{
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
        if (failures[i].rc == rc || failures[i].rc == (rc & 0xFF))
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
    if ((rc & 0xFF) == SQLITE_NOTADB)
        return rh_fail(RH_ERR_INPUT, "cannot %s %s: the file is not a %s, or it is damaged", verb,
                       db->shown, db->kind);
    if (failure && failure->reason)
        return rh_fail(failure->status, "cannot %s %s: %s", verb, db->shown, failure->reason);
    if (failure && error) {
        errno = error;
        return rh_fail_errno(failure->status, "cannot %s %s", verb, db->shown);
    }
    /* What is left where the file was there before is a table or column that is missing, or a row
     * that cannot be, in SQLite's words. */
    enum rh_status status = db->is_draft ? RH_ERR_IO : RH_ERR_INPUT;
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
    if (rc != SQLITE_OK)
        return rh_db_fail(db, rc);
    sqlite3_extended_result_codes(db->handle, 1);
    return RH_OK;
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
    *db = (struct rh_db){.shown = rh_strdup(shown), .writes = true, .is_draft = true};
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
    db->kind = ".racehive file";
    /* The file may come from a stranger: its schema must not be able to do anything. */
    return open_and_set(db, path, "mode=ro&immutable=1", SQLITE_OPEN_READONLY,
                        "PRAGMA trusted_schema = OFF;"
                        "PRAGMA cell_size_check = ON;");
}

/* Makes the file: where SQLite fails to do so, it forgets why. One that is there is not touched,
 * since closing it would take away the locks that this process may have on it. */
static enum rh_status make_empty(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno == EEXIST ? RH_OK : rh_fail_errno(RH_ERR_IO, "cannot write %s", path);
    close(fd);
    return RH_OK;
}

/* SQLite opens a file that it may not write all the same, to read it. */
static enum rh_status check_writable(const struct rh_db *db)
{
    return sqlite3_db_readonly(db->handle, "main") == 1 ? rh_db_fail(db, SQLITE_READONLY) : RH_OK;
}

/* SQLite's own way of waiting sleeps longer and longer, so that two processes which write all the
 * time keep a third out for seconds. Here all wait alike, and by chance not in step. */
static int wait_for_others(void *context, int tries)
{
    (void)context;
    unsigned noise;
    sqlite3_randomness(sizeof noise, &noise);
    usleep(LEAST_WAIT_US + noise % MORE_WAIT_US);
    return tries < TRIES;
}

static enum rh_status set_shared(const struct rh_db *db, enum rh_db_mode mode)
{
    sqlite3_busy_handler(db->handle, wait_for_others, NULL);
    enum rh_status status = rh_db_exec(db, "PRAGMA trusted_schema = OFF;"
                                           "PRAGMA cell_size_check = ON;"
                                           "PRAGMA temp_store = MEMORY;"
                                           "PRAGMA synchronous = FULL;");
    if (status == RH_OK && mode == RH_DB_READ)
        status = rh_db_exec(db, "PRAGMA query_only = ON");
    return status;
}

/*
 * The journal is SQLite's oldest: the pages as they were lie in a file beside while a transaction
 * changes them. A write-ahead log would let readers go on meanwhile, but it needs memory that
 * processes share, which network and container file systems often refuse, and it makes files beside
 * also for readers, who may have a folder that they cannot write. Transactions here take
 * milliseconds, and no reader keeps one open, so there is little to gain.
 *
 * Everything is flushed: a store gathers the runs of months, and a power cut must not cost them.
 * A new file has this journal from the start; that of a file which was there is left as it is.
 */
enum rh_status rh_db_open_shared(struct rh_db *db, const char *path, const char *kind,
                                 enum rh_db_mode mode)
{
    *db = (struct rh_db){0};
    enum rh_status status = check_regular(path);
    if (status == RH_ERR_NOT_FOUND && mode == RH_DB_MAKE)
        status = make_empty(path);
    if (status != RH_OK)
        return status;
    bool makes = mode == RH_DB_MAKE;
    *db = (struct rh_db){.shown = rh_strdup(path), .kind = kind, .writes = makes};
    /* Also readers open it to write, since they must undo what a killed process left half done. */
    status = open_file(db, path, makes ? "mode=rwc" : "mode=rw",
                       SQLITE_OPEN_READWRITE | (makes ? SQLITE_OPEN_CREATE : 0));
    if (status == RH_OK && makes)
        status = check_writable(db);
    db->writes = false;
    if (status == RH_OK)
        status = set_shared(db, mode);
    if (status != RH_OK)
        rh_db_close(db);
    return status;
}

/* The right to write is taken at once: two that both read first and then want to write would each
 * wait for the other. */
enum rh_status rh_db_begin(struct rh_db *db, bool writes)
{
    db->writes = writes;
    enum rh_status status = rh_db_exec(db, writes ? "BEGIN IMMEDIATE" : "BEGIN");
    if (status != RH_OK)
        db->writes = false;
    return status;
}

enum rh_status rh_db_end(struct rh_db *db, enum rh_status status)
{
    if (status == RH_OK)
        status = rh_db_exec(db, "COMMIT");
    /* The first message stays. Some failures have ended the transaction already. */
    if (status != RH_OK && !sqlite3_get_autocommit(db->handle))
        sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    db->writes = false;
    return status;
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

enum rh_status rh_db_bind(const struct rh_db *db, sqlite3_stmt *statement,
                          const struct rh_db_value *values, int count)
{
    int rc = SQLITE_OK;
    for (int i = 0; i < count && rc == SQLITE_OK; i++)
        rc = bind_value(statement, i + 1, &values[i]);
    return rc == SQLITE_OK ? RH_OK : rh_db_fail(db, rc);
}

enum rh_status rh_db_insert(const struct rh_db *db, sqlite3_stmt *statement,
                            const struct rh_db_value *values, int count)
{
    errno = 0;
    enum rh_status status = rh_db_bind(db, statement, values, count);
    if (status != RH_OK)
        return status;
    int rc = sqlite3_step(statement);
    status = rc == SQLITE_DONE ? RH_OK : rh_db_fail(db, rc);
    sqlite3_reset(statement);
    return status;
}
