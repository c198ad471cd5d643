/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the database boundary that is the same for every backend: see db.h. */
#include "store/db.h"

#include "base/strbuf.h"
#include "store/db_internal.h"

#include <string.h>

/* Which backend a location belongs to: the first whose prefix it has. A path has none. */
static const struct scheme {
    const char *prefix;
    enum rh_status (*open)(const char *location, const char *kind, enum rh_db_mode mode,
                           struct rh_db **db);
} schemes[] = {
    {"", rh_db_sqlite_open_shared},
};

enum rh_status rh_db_open_shared(const char *location, const char *kind, enum rh_db_mode mode,
                                 struct rh_db **db)
{
    const struct scheme *scheme = schemes;
    while (strncmp(location, scheme->prefix, strlen(scheme->prefix)) != 0)
        scheme++;
    return scheme->open(location, kind, mode, db);
}

void rh_db_close(struct rh_db *db)
{
    if (db)
        db->backend->close(db);
}

enum rh_status rh_db_fail_damaged(const struct rh_db *db, const char *what)
{
    return rh_fail(RH_ERR_INPUT, "cannot read %s: the file is damaged (%s)", db->name, what);
}

enum rh_status rh_db_is_empty(struct rh_db *db, bool *is_empty)
{
    return db->backend->is_empty(db, is_empty);
}

enum rh_status rh_db_check_shape(struct rh_db *db)
{
    return db->backend->check_shape(db);
}

/* --- transactions --- */

enum rh_status rh_db_begin(struct rh_db *db, bool writes)
{
    db->writes = writes;
    enum rh_status status = db->backend->begin(db, writes);
    if (status != RH_OK)
        db->writes = false;
    return status;
}

enum rh_status rh_db_end(struct rh_db *db, enum rh_status status)
{
    if (status == RH_OK)
        status = db->backend->commit(db);
    /* The first message stays. */
    if (status != RH_OK)
        db->backend->rollback(db);
    db->writes = false;
    return status;
}

/* --- values --- */

struct rh_db_value rh_db_null(void)
{
    return (struct rh_db_value){.kind = RH_DB_NULL};
}

struct rh_db_value rh_db_int(int64_t number)
{
    return (struct rh_db_value){.kind = RH_DB_INT, .number = number};
}

struct rh_db_value rh_db_counter(uint64_t number)
{
    return rh_db_int(number > INT64_MAX ? INT64_MAX : (int64_t)number);
}

struct rh_db_value rh_db_text(const char *text)
{
    if (!text)
        return rh_db_null();
    return (struct rh_db_value){.kind = RH_DB_TEXT, .bytes = text, .len = strlen(text)};
}

struct rh_db_value rh_db_blob(const void *bytes, size_t len)
{
    return (struct rh_db_value){.kind = RH_DB_BLOB, .bytes = bytes, .len = len};
}

/* --- statements --- */

enum rh_status rh_db_prepare(struct rh_db *db, const char *sql, struct rh_db_statement **statement)
{
    return db->backend->prepare(db, sql, statement);
}

void rh_db_finish(struct rh_db_statement *statement)
{
    if (statement)
        statement->db->backend->finish(statement);
}

enum rh_status rh_db_bind(struct rh_db_statement *statement, const struct rh_db_value *values,
                          int count)
{
    enum rh_status status = RH_OK;
    for (int i = 0; i < count && status == RH_OK; i++)
        status = statement->db->backend->bind(statement, i, &values[i]);
    return status;
}

enum rh_status rh_db_step(struct rh_db_statement *statement, bool *more)
{
    return statement->db->backend->step(statement, more);
}

void rh_db_reset(struct rh_db_statement *statement)
{
    statement->db->backend->reset(statement);
}

enum rh_status rh_db_find(struct rh_db_statement *statement, bool *more,
                          const struct rh_db_value *values, int count)
{
    enum rh_status status = rh_db_bind(statement, values, count);
    return status == RH_OK ? rh_db_step(statement, more) : status;
}

enum rh_status rh_db_change(struct rh_db_statement *statement, const struct rh_db_value *values,
                            int count)
{
    bool more;
    return rh_db_find(statement, &more, values, count);
}

enum rh_status rh_db_insert(struct rh_db_statement *statement, const struct rh_db_value *values,
                            int count, int64_t *number)
{
    bool more;
    enum rh_status status = rh_db_find(statement, &more, values, count);
    if (status != RH_OK)
        return status;
    *number = rh_db_column(statement, 0).number;
    return rh_db_step(statement, &more);
}

/* --- rows --- */

struct rh_db_value rh_db_column(const struct rh_db_statement *row, int column)
{
    return row->db->backend->column(row, column);
}

const char *rh_db_column_text(const struct rh_db_statement *row, int column)
{
    struct rh_db_value value = rh_db_column(row, column);
    return value.kind == RH_DB_TEXT ? value.bytes : NULL;
}

static bool is_below(const struct rh_db_value *value, uint64_t limit)
{
    return value->kind == RH_DB_INT && value->number >= 0 && (uint64_t)value->number < limit;
}

bool rh_db_take(const struct rh_db_statement *row, int column, uint64_t limit, uint64_t *number)
{
    struct rh_db_value value = rh_db_column(row, column);
    *number = (uint64_t)value.number;
    return is_below(&value, limit);
}

bool rh_db_take32(const struct rh_db_statement *row, int column, uint64_t limit, uint32_t *number)
{
    uint64_t value;
    bool fits = rh_db_take(row, column, limit, &value);
    *number = (uint32_t)value;
    return fits;
}

bool rh_db_take_optional(const struct rh_db_statement *row, int column, uint64_t limit,
                         uint32_t none, uint32_t *number)
{
    struct rh_db_value value = rh_db_column(row, column);
    *number = value.kind == RH_DB_NULL ? none : (uint32_t)value.number;
    return value.kind == RH_DB_NULL || is_below(&value, limit);
}

/* --- whole statements --- */

enum rh_status rh_db_exec(struct rh_db *db, const char *sql)
{
    return db->backend->exec(db, sql);
}

static const struct rh_db_word *find_word(const struct rh_db *db, const char *text)
{
    const struct rh_db_word *word = db->backend->words;
    while (word->word && strncmp(text, word->word, strlen(word->word)) != 0)
        word++;
    return word->word ? word : NULL;
}

static enum rh_status replace_words(const struct rh_db *db, const char *sql, struct rh_strbuf *text)
{
    while (*sql) {
        size_t plain = strcspn(sql, "{");
        rh_strbuf_addn(text, sql, plain);
        sql += plain;
        if (!*sql)
            break;
        const struct rh_db_word *word = find_word(db, sql);
        if (!word)
            return rh_fail(RH_ERR_INTERNAL, "no database knows the word at: %.40s", sql);
        rh_strbuf_add(text, word->text);
        sql += strlen(word->word);
    }
    return RH_OK;
}

enum rh_status rh_db_define(struct rh_db *db, const char *sql)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    enum rh_status status = replace_words(db, sql, &text);
    if (status == RH_OK)
        status = rh_db_exec(db, rh_strbuf_text(&text));
    rh_strbuf_release(&text);
    return status;
}

enum rh_status rh_db_number(struct rh_db *db, const char *sql, int64_t fallback, int64_t *number)
{
    struct rh_db_statement *statement;
    enum rh_status status = rh_db_prepare(db, sql, &statement);
    if (status != RH_OK)
        return status;
    bool more;
    status = rh_db_step(statement, &more);
    *number = fallback;
    if (status == RH_OK && more && rh_db_column(statement, 0).kind == RH_DB_INT)
        *number = rh_db_column(statement, 0).number;
    rh_db_finish(statement);
    return status;
}
