/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a database backend provides: one table of operations, and connections and statements whose
 * first member is the struct of db.h.
 */
#ifndef RH_STORE_DB_INTERNAL_H
#define RH_STORE_DB_INTERNAL_H

#include "store/db.h"

/* The backend's spelling of a word in braces: see db.h. */
struct rh_db_word {
    const char *word;
    const char *text;
};

/* Operations make their own messages, with the name of the database in them. */
struct rh_db_backend {
    const struct rh_db_word *words; /* ends with a word of NULL */

    void (*close)(struct rh_db *db);
    enum rh_status (*begin)(struct rh_db *db, bool writes);
    enum rh_status (*commit)(struct rh_db *db);
    void (*rollback)(struct rh_db *db); /* of a transaction that may have ended by itself */
    enum rh_status (*exec)(struct rh_db *db, const char *sql);
    enum rh_status (*is_empty)(struct rh_db *db, bool *is_empty);
    enum rh_status (*check_shape)(struct rh_db *db);

    /* The format's id and version; both 0 if they were never set. */
    enum rh_status (*get_format)(struct rh_db *db, int64_t *id, int64_t *version);
    enum rh_status (*set_format)(struct rh_db *db, int32_t id, int version);

    enum rh_status (*prepare)(struct rh_db *db, const char *sql,
                              struct rh_db_statement **statement);
    void (*finish)(struct rh_db_statement *statement);
    enum rh_status (*bind)(struct rh_db_statement *statement, int at,
                           const struct rh_db_value *value); /* `at` counts from 0 */
    enum rh_status (*step)(struct rh_db_statement *statement, bool *more);
    void (*reset)(struct rh_db_statement *statement);
    struct rh_db_value (*column)(const struct rh_db_statement *row, int column);
};

/* --- the backends, by what opens a shared database --- */

enum rh_status rh_db_sqlite_open_shared(const char *path, const char *kind, enum rh_db_mode mode,
                                        struct rh_db **db);

#endif
