/* SPDX-License-Identifier: Apache-2.0 */
/* The SQLite backend: opening files, statements, and messages for everything that can fail. */
#include "store/db_internal.h"

#include "base/fs.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long to wait for other processes, about half a minute in all. Each holds a shared file for
 * some milliseconds; many at once on a slow disk take turns. */
enum { TRIES = 20000, LEAST_WAIT_US = 500, MORE_WAIT_US = 2000 };

struct connection {
    struct rh_db db;
    sqlite3 *handle;
    char *path;
    enum access { DRAFT, FINISHED, SHARED } access;
};

struct statement {
    struct rh_db_statement statement;
    sqlite3_stmt *handle;
};

static struct connection *connection_of(struct rh_db *db)
{
    return (struct connection *)db;
}

static sqlite3_stmt *handle_of(const struct rh_db_statement *statement)
{
    return ((const struct statement *)statement)->handle;
}

/* --- failures --- */

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

/* Makes the message for SQLite's result code `rc`. */
static enum rh_status fail(const struct connection *c, int rc)
{
    const struct failure *failure = find_failure(rc);
    const char *verb = c->db.writes ? "write" : "read";
    /* SQLite does not note the errno of a failed COMMIT; every call here starts with errno 0. */
    int error = errno;
    if (c->handle && sqlite3_system_errno(c->handle) != 0)
        error = sqlite3_system_errno(c->handle);
    if ((rc & 0xFF) == SQLITE_NOTADB)
        return rh_fail(RH_ERR_INPUT, "cannot %s %s: the file is not a %s, or it is damaged", verb,
                       c->db.name, c->db.kind);
    if (failure && failure->reason)
        return rh_fail(failure->status, "cannot %s %s: %s", verb, c->db.name, failure->reason);
    if (failure && error) {
        errno = error;
        return rh_fail_errno(failure->status, "cannot %s %s", verb, c->db.name);
    }
    /* What is left is a missing table or column, or a row that cannot be, in SQLite's words. A file
     * that was there before is damaged then. */
    enum rh_status status = c->access == DRAFT ? RH_ERR_IO : RH_ERR_INPUT;
    return rh_fail(status, "cannot %s %s: %s", verb, c->db.name,
                   c->handle ? sqlite3_errmsg(c->handle) : sqlite3_errstr(rc));
}

/* --- opening --- */

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

static const struct rh_db_backend backend;

static struct connection *make_connection(const char *path, const char *name, const char *kind,
                                          enum access access)
{
    struct connection *c = rh_calloc(1, sizeof *c);
    c->db = (struct rh_db){.backend = &backend, .name = rh_strdup(name), .kind = kind};
    c->path = rh_strdup(path);
    c->access = access;
    return c;
}

static void close_connection(struct rh_db *db)
{
    struct connection *c = connection_of(db);
    sqlite3_close(c->handle);
    free(c->path);
    free(db->name);
    free(c);
}

static enum rh_status exec(struct rh_db *db, const char *sql)
{
    struct connection *c = connection_of(db);
    errno = 0;
    int rc = sqlite3_exec(c->handle, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? RH_OK : fail(c, rc);
}

static enum rh_status open_file(struct connection *c, const char *options, int flags)
{
    char *absolute;
    enum rh_status status = rh_path_absolute(c->path, &absolute);
    if (status != RH_OK)
        return status;
    char *uri = make_uri(absolute, options);
    errno = 0;
    int rc = sqlite3_open_v2(uri, &c->handle, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    free(uri);
    free(absolute);
    if (rc != SQLITE_OK)
        return fail(c, rc);
    sqlite3_extended_result_codes(c->handle, 1);
    return RH_OK;
}

/* Hands a connection to the caller, or closes it after a failure. */
static enum rh_status hand_over(struct connection *c, enum rh_status status, struct rh_db **db)
{
    if (status == RH_OK)
        *db = &c->db;
    else
        close_connection(&c->db);
    return status;
}

enum rh_status rh_db_open_draft(const char *path, const char *name, struct rh_db **db)
{
    struct connection *c = make_connection(path, name, "new file", DRAFT);
    c->db.writes = true;
    enum rh_status status = open_file(c, "mode=rw", SQLITE_OPEN_READWRITE);
    if (status == RH_OK)
        status = exec(&c->db, "PRAGMA page_size = 4096;"
                              "PRAGMA journal_mode = OFF;"
                              "PRAGMA synchronous = OFF;"
                              "PRAGMA locking_mode = EXCLUSIVE;");
    return hand_over(c, status, db);
}

/* Checked before SQLite sees the file: it would block on a pipe, and its own messages for these say
 * less. */
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

/* The file may come from anyone, so its schema must not be able to run code. */
#define DISTRUST                                                                                   \
    "PRAGMA trusted_schema = OFF;"                                                                 \
    "PRAGMA cell_size_check = ON;"

enum rh_status rh_db_open_finished(const char *path, const char *kind, struct rh_db **db)
{
    enum rh_status status = check_regular(path);
    if (status != RH_OK)
        return status;
    struct connection *c = make_connection(path, path, kind, FINISHED);
    status = open_file(c, "mode=ro&immutable=1", SQLITE_OPEN_READONLY);
    if (status == RH_OK)
        status = exec(&c->db, DISTRUST);
    return hand_over(c, status, db);
}

/* Makes the file here, because SQLite does not tell why it could not. A file that exists is not
 * opened: closing it would release the locks that this process may have on it. */
static enum rh_status make_empty(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno == EEXIST ? RH_OK : rh_fail_errno(RH_ERR_IO, "cannot write %s", path);
    close(fd);
    return RH_OK;
}

/* SQLite opens a file without write permission all the same, to read it. */
static enum rh_status check_writable(const struct connection *c)
{
    return sqlite3_db_readonly(c->handle, "main") == 1 ? fail(c, SQLITE_READONLY) : RH_OK;
}

/* SQLite's own busy handler sleeps longer after each try, so that two processes which write all the
 * time keep a third out for seconds. Here every try waits equally long, plus a random time that
 * keeps processes from retrying in step. */
static int wait_for_others(void *context, int tries)
{
    (void)context;
    unsigned noise;
    sqlite3_randomness(sizeof noise, &noise);
    usleep(LEAST_WAIT_US + noise % MORE_WAIT_US);
    return tries < TRIES;
}

static enum rh_status set_shared(struct connection *c, enum rh_db_mode mode)
{
    sqlite3_busy_handler(c->handle, wait_for_others, NULL);
    enum rh_status status = exec(&c->db, DISTRUST "PRAGMA temp_store = MEMORY;"
                                                  "PRAGMA synchronous = FULL;");
    if (status == RH_OK && mode == RH_DB_READ)
        status = exec(&c->db, "PRAGMA query_only = ON");
    return status;
}

/*
 * The journal is SQLite's default, a rollback journal: while a transaction changes pages, a file
 * beside the database holds them as they were. A write-ahead log would let readers go on meanwhile.
 * But it needs memory that processes share, which network and container file systems often refuse,
 * and it creates files beside the database even for readers, whose folder may be read-only.
 * Transactions here take milliseconds and no reader keeps one open, so there is little to gain.
 *
 * Everything is flushed: a store gathers the runs of months, and a power cut must not cost them.
 */
enum rh_status rh_db_sqlite_open_shared(const char *path, const char *kind, enum rh_db_mode mode,
                                        struct rh_db **db)
{
    enum rh_status status = check_regular(path);
    if (status == RH_ERR_NOT_FOUND && mode == RH_DB_MAKE)
        status = make_empty(path);
    if (status != RH_OK)
        return status;
    bool makes = mode == RH_DB_MAKE;
    struct connection *c = make_connection(path, path, kind, SHARED);
    c->db.writes = makes;
    /* Readers open it for writing too: they must undo what a killed process left half done. */
    status = open_file(c, makes ? "mode=rwc" : "mode=rw",
                       SQLITE_OPEN_READWRITE | (makes ? SQLITE_OPEN_CREATE : 0));
    if (status == RH_OK && makes)
        status = check_writable(c);
    c->db.writes = false;
    if (status == RH_OK)
        status = set_shared(c, mode);
    return hand_over(c, status, db);
}

enum rh_status rh_db_is_file(const char *path, bool *is_database)
{
    static const char magic[] = "SQLite format 3";
    struct rh_fs_mapping file;
    enum rh_status status = rh_fs_map(path, &file);
    if (status != RH_OK)
        return status;
    *is_database = file.len >= sizeof magic && memcmp(file.data, magic, sizeof magic) == 0;
    rh_fs_unmap(&file);
    return RH_OK;
}

/* --- transactions --- */

/* The write lock is taken at once: two processes that both read first and then want to write would
 * each wait for the other. */
static enum rh_status begin(struct rh_db *db, bool writes)
{
    return exec(db, writes ? "BEGIN IMMEDIATE" : "BEGIN");
}

static enum rh_status commit(struct rh_db *db)
{
    return exec(db, "COMMIT");
}

/* Some failures have ended the transaction already. */
static void rollback(struct rh_db *db)
{
    sqlite3 *handle = connection_of(db)->handle;
    if (!sqlite3_get_autocommit(handle))
        sqlite3_exec(handle, "ROLLBACK", NULL, NULL, NULL);
}

/* --- statements --- */

static enum rh_status prepare(struct rh_db *db, const char *sql, struct rh_db_statement **result)
{
    struct connection *c = connection_of(db);
    sqlite3_stmt *handle;
    errno = 0;
    int rc = sqlite3_prepare_v2(c->handle, sql, -1, &handle, NULL);
    if (rc != SQLITE_OK)
        return fail(c, rc);
    struct statement *statement = rh_calloc(1, sizeof *statement);
    *statement = (struct statement){{db}, handle};
    *result = &statement->statement;
    return RH_OK;
}

static void finish(struct rh_db_statement *statement)
{
    sqlite3_finalize(handle_of(statement));
    free(statement);
}

/* SQLITE_STATIC: the bytes stay with the caller until the statement has run. */
static int bind_value(sqlite3_stmt *handle, int at, const struct rh_db_value *value)
{
    switch (value->kind) {
    case RH_DB_NULL:
        return sqlite3_bind_null(handle, at);
    case RH_DB_INT:
        return sqlite3_bind_int64(handle, at, value->number);
    case RH_DB_TEXT:
        return sqlite3_bind_text(handle, at, value->bytes, (int)value->len, SQLITE_STATIC);
    case RH_DB_BLOB:
        return value->len == 0
                   ? sqlite3_bind_zeroblob(handle, at, 0)
                   : sqlite3_bind_blob64(handle, at, value->bytes, value->len, SQLITE_STATIC);
    case RH_DB_OTHER:
        break;
    }
    return SQLITE_MISUSE;
}

static enum rh_status bind(struct rh_db_statement *statement, int at,
                           const struct rh_db_value *value)
{
    int rc = bind_value(handle_of(statement), at + 1, value);
    return rc == SQLITE_OK ? RH_OK : fail(connection_of(statement->db), rc);
}

static enum rh_status step(struct rh_db_statement *statement, bool *more)
{
    errno = 0;
    int rc = sqlite3_step(handle_of(statement));
    *more = rc == SQLITE_ROW;
    if (*more)
        return RH_OK;
    enum rh_status status = rc == SQLITE_DONE ? RH_OK : fail(connection_of(statement->db), rc);
    sqlite3_reset(handle_of(statement));
    return status;
}

static void reset(struct rh_db_statement *statement)
{
    sqlite3_reset(handle_of(statement));
}

static struct rh_db_value column(const struct rh_db_statement *row, int at)
{
    sqlite3_stmt *handle = handle_of(row);
    struct rh_db_value value = {0};
    switch (sqlite3_column_type(handle, at)) {
    case SQLITE_NULL:
        return rh_db_null();
    case SQLITE_INTEGER:
        return rh_db_int(sqlite3_column_int64(handle, at));
    case SQLITE_TEXT:
        value.kind = RH_DB_TEXT;
        value.bytes = sqlite3_column_text(handle, at);
        break;
    case SQLITE_BLOB:
        value.kind = RH_DB_BLOB;
        value.bytes = sqlite3_column_blob(handle, at);
        break;
    default:
        value.kind = RH_DB_OTHER;
        return value;
    }
    value.len = (size_t)sqlite3_column_bytes(handle, at);
    /* No memory for the conversion: no value is better than half of one. */
    if (!value.bytes && (value.len > 0 || value.kind == RH_DB_TEXT))
        value.kind = RH_DB_OTHER;
    return value;
}

/* --- the file as a whole --- */

/* The format's id and version have fields of their own in the header of the file. */
static enum rh_status get_format(struct rh_db *db, int64_t *id, int64_t *version)
{
    enum rh_status status = rh_db_number(db, "PRAGMA application_id", 0, id);
    return status == RH_OK ? rh_db_number(db, "PRAGMA user_version", 0, version) : status;
}

static enum rh_status set_format(struct rh_db *db, int32_t id, int version)
{
    char *sql = rh_format("PRAGMA application_id = %d; PRAGMA user_version = %d", id, version);
    enum rh_status status = exec(db, sql);
    free(sql);
    return status;
}

static enum rh_status is_empty(struct rh_db *db, bool *result)
{
    int64_t id, tables;
    enum rh_status status = rh_db_number(db, "PRAGMA application_id", 0, &id);
    if (status == RH_OK)
        status = rh_db_number(db, "SELECT count(*) FROM sqlite_schema", 0, &tables);
    *result = status == RH_OK && id == 0 && tables == 0;
    return status;
}

/* SQLite itself fills up a last page that was cut off. A table with a root page of 0 is virtual. */
static enum rh_status check_shape(struct rh_db *db)
{
    const struct connection *c = connection_of(db);
    const char *const queries[] = {
        "PRAGMA page_size", "PRAGMA page_count",
        c->access == SHARED
            ? "SELECT 1 FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR rootpage = 0"
            : "SELECT 1 FROM sqlite_schema WHERE type <> 'table' OR rootpage = 0"};
    int64_t numbers[3];
    for (int i = 0; i < 3; i++) {
        enum rh_status status = rh_db_number(db, queries[i], 0, &numbers[i]);
        if (status != RH_OK)
            return status;
    }
    struct stat info;
    if (stat(c->path, &info) != 0)
        return rh_fail_errno(RH_ERR_IO, "cannot read %s", db->name);
    int64_t size = numbers[0] * numbers[1];
    if (info.st_size < size)
        return rh_db_fail_damaged(db, "it was cut off");
    if (c->access == FINISHED && info.st_size > size)
        return rh_db_fail_damaged(db, "its size is wrong");
    return numbers[2] == 0 ? RH_OK : rh_db_fail_damaged(db, "it holds more than tables");
}

static const struct rh_db_word words[] = {
    {"{number}", "INTEGER"}, {"{id}", "INTEGER PRIMARY KEY"},  {"{serial}", "INTEGER PRIMARY KEY"},
    {"{blob}", "BLOB"},      {"{clustered}", "WITHOUT ROWID"}, {NULL, NULL},
};

static const struct rh_db_backend backend = {
    .words = words,
    .close = close_connection,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .exec = exec,
    .is_empty = is_empty,
    .check_shape = check_shape,
    .get_format = get_format,
    .set_format = set_format,
    .prepare = prepare,
    .finish = finish,
    .bind = bind,
    .step = step,
    .reset = reset,
    .column = column,
};
