/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PROG.racehive, the sidecar of a program: its sites, its keys, what the analysis of the whole
 * program says of them and the module they were made from, in one SQLite file that is written once
 * by the build and only read afterwards.
 *
 * The format. The file header's application_id is RH_SIDECAR_ID and its user_version is the format
 * version. A reader refuses any version but its own. Sidecars are never migrated, unlike stores of
 * runs: every link makes a new one, and what a later version adds comes from the program's code,
 * which an old file does not have. The message asks to build the program again.
 *
 * All primary keys that are numbers are dense and start at 0, so that a row's number is also its
 * position; only class_sites may leave some out.
 *
 *     meta       facts about the build; see RH_SIDECAR_META for the names
 *       name           text      primary key
 *       value          text
 *     skipped    accesses that did not become sites, counted by reason: nothing is dropped silently
 *       reason         text      primary key
 *       count          integer
 *     files
 *       id             integer   primary key
 *       path           text      as the compiler recorded it
 *     functions  one row for each distinct name, linkage name and file
 *       id             integer   primary key
 *       name           text      in the source's words
 *       linkage        text      as the linker sees it; NULL if the same
 *       file           integer   files.id; NULL if unknown
 *       line           integer   where it is defined; 0 if unknown
 *     locations  interned: two sites at one location share a row
 *       id             integer   primary key
 *       file           integer   files.id; NULL if unknown
 *       line           integer   0 if unknown
 *       "column"       integer   0 if unknown
 *       function       integer   functions.id: whose source line this is
 *       inlined_at     integer   locations.id of the call that was inlined, always a smaller id
 *                                than the row's own; NULL at the outermost function
 *       near           integer   1 if the compiler recorded no line, and this is the nearest known
 *     sites
 *       number         integer   primary key: the site's number in the image
 *       fingerprint    integer   64 bits, seen as signed
 *       "key"          integer   keys.number; NULL if the site has no key
 *       access         integer   enum rh_access_kind of racehive/image.h
 *       "order"        integer   enum rh_memory_order
 *       size           integer   bytes; 0 if known only when it runs
 *       flags          integer   enum rh_site_flags, or'ed
 *       function       integer   functions.id: who holds the site in the optimised program
 *       location       integer   locations.id, the innermost; NULL if unknown
 *       expression     text      what it touches, in the source's words; NULL if unknown
 *     keys
 *       number         integer   primary key: the key's number in the image
 *       kind           integer   enum rh_key_kind
 *       first_site     integer   sites.number of the first of its sites
 *       site_count     integer   0 for gates
 *       gate           integer   keys.number of the gate that leads here; NULL if none
 *     module     one row: the program before instrumentation
 *       size           integer   bytes of bitcode
 *       bitcode        blob      the same as one zstd frame with checksum
 *
 * The tables of the analysis (sidecar_analysis.h), all empty if there was none:
 *
 *     texts      interned: a word of an analysis is said of many rows (removed rows take 26 bytes
 *                instead of 94)
 *       id             integer   primary key
 *       text           text
 *     removed    accesses that are no sites because the analysis showed that they cannot race
 *       number         integer   primary key
 *       access, "order", size, flags, function, location     as in sites
 *       expression     integer   texts.id; NULL if unknown
 *       reason         integer   texts.id: the filter that removed it
 *       detail         integer   texts.id: what the filter saw; NULL if there is no more to say
 *     phases     of the analysis, in the order they ran
 *       number         integer   primary key
 *       name           text
 *       milliseconds   integer   NULL where SOURCE_DATE_EPOCH asks for a build that can be
 *                                reproduced
 *     filters    in the order they ran; the last row is what remains: the candidates. The table is
 *                empty only if the program was not analysed
 *       number         integer   primary key
 *       name           text
 *       pairs          integer   pairs of accesses removed by the filter
 *     unknown_functions          outside the program, of which nothing is known, and that mattered
 *       number         integer   primary key
 *       name           text
 *       calls          integer   how many calls of it the program has
 *       objects        integer   how many objects it was the first to hand to the outside
 *     classes    of sites that are in the same candidates as each other
 *       number         integer   primary key
 *       threads        integer   texts.id: who runs its sites
 *       locks          integer   texts.id: the locks surely held at its sites, "" for none
 *     class_sites
 *       site           integer   primary key, sites.number: a site is in one class at most
 *       class          integer   classes.number
 *     "groups"   of candidates: every pair of a site of `first` and a site of a partner; if that is
 *                the same class, every unordered pair of its sites, each site with itself too
 *       number         integer   primary key
 *       first          integer   classes.number
 *       partners       blob      classes.number of some, none below first, packed as
 *                                base/packed.h says; two classes are in one group at most
 *       score          integer   0 to 100: how likely and how severe a race would be; what the
 *                                sites name is not in it (candidate/score.h)
 *       flags          integer   enum rh_sidecar_group_flags, or'ed
 *       why            integer   texts.id: why the pairs remain, and what the score is made of
 *       object         integer   texts.id: the memory they meet in; NULL if unknown
 *
 * Format 5 is all of the above; format 4 lacked locations.near; format 3 had a row for each pair of
 * classes in groups.
 */
#ifndef RH_STORE_SIDECAR_H
#define RH_STORE_SIDECAR_H

#include "base/status.h"

#include <racehive/image.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RH_SIDECAR_ID      0x52485343 /* "RHSC" */
#define RH_SIDECAR_VERSION 5
#define RH_SIDECAR_SUFFIX  ".racehive"

/* Facts about the build: enum suffix, name in the table. The writer sets the first two itself. */
#define RH_SIDECAR_METAS(X)                                                                        \
    X(VERSION, "version")       /* of racehive */                                                  \
    X(CREATED, "created")       /* UTC, or what SOURCE_DATE_EPOCH says */                          \
    X(PROGRAM, "program")       /* the file's name when it was linked */                           \
    X(BUILD_ID, "build_id")     /* lower-case hexadecimal */                                       \
    X(PROFILE, "profile")       /* production, testing, ifrit */                                   \
    X(KEYS, "keys")             /* patch, flag, none */                                            \
    X(IMAGE, "image")           /* exe, shared */                                                  \
    X(CONFIG, "config")         /* the text of --rh-config, for the commands that obey it */       \
    X(THREADS, "threads")       /* classes of threads beside main that the search has found */     \
    X(STARTER, "starter")       /* code without bitcode that can start threads; absent if none */  \
    X(UNANALYSED, "unanalysed") /* why the analysis was left out; absent if it was not */

enum rh_sidecar_meta {
#define RH_SIDECAR_META_ENUM(id, name) RH_SIDECAR_META_##id,
    RH_SIDECAR_METAS(RH_SIDECAR_META_ENUM)
#undef RH_SIDECAR_META_ENUM
        RH_SIDECAR_META_COUNT
};

/* A function. Strings may be NULL where the format allows it; `linkage` may repeat `name`. */
struct rh_sidecar_function {
    const char *name;
    const char *linkage;
    const char *file;
    uint32_t line;
};

/* A location in the source. `function` and `linkage` name the function that the line belongs to. */
struct rh_sidecar_location {
    const char *file;
    uint32_t line;
    uint32_t column;
    const char *function;
    const char *linkage;
    const struct rh_sidecar_location *inlined_at; /* NULL at the outermost function */
    bool is_near; /* the compiler recorded no line: this is the nearest known */
};

#define RH_SIDECAR_NO_KEY 0xffffffffu

/* A site, resolved. */
struct rh_sidecar_site {
    uint32_t number;
    uint64_t fingerprint;
    uint32_t key; /* or RH_SIDECAR_NO_KEY */
    enum rh_access_kind access;
    enum rh_memory_order order;
    uint32_t size;
    uint32_t flags;
    const struct rh_sidecar_function *function;
    const struct rh_sidecar_location *location;
    const char *expression;
    const char *image; /* name of the shared library that it is in; NULL: of the program */
};

/*
 * Writing. Nothing appears under the file's name before the commit, and nothing remains of an
 * aborted or failed file. The functions between create and commit do not report failures: the first
 * one is kept, what follows it is ignored, and the commit reports it. Strings are copied.
 */
struct rh_sidecar_writer;

enum rh_status rh_sidecar_create(const char *path, struct rh_sidecar_writer **writer);

void rh_sidecar_set_meta(struct rh_sidecar_writer *writer, enum rh_sidecar_meta name,
                         const char *value);
void rh_sidecar_set_skipped(struct rh_sidecar_writer *writer, const char *reason, uint64_t count);

/* Sites and keys come in the order of their numbers, none left out. */
void rh_sidecar_add_site(struct rh_sidecar_writer *writer, const struct rh_sidecar_site *site);
void rh_sidecar_add_key(struct rh_sidecar_writer *writer, uint32_t number,
                        const struct rh_key_record *key);

/* Compresses and stores the module; `level` is zstd's. */
void rh_sidecar_set_module(struct rh_sidecar_writer *writer, const void *bytes, size_t len,
                           int level);

/* Both end the writer, whatever they return. */
enum rh_status rh_sidecar_commit(struct rh_sidecar_writer *writer);
void rh_sidecar_abort(struct rh_sidecar_writer *writer);

/*
 * Reading. What is handed out belongs to the sidecar and lives until it is closed, with one
 * exception: the expression that rh_sidecar_next_site gives lives until the next site is asked for.
 * A file that is not a sidecar, is damaged or is of another version is RH_ERR_INPUT.
 */
struct rh_sidecar;

enum rh_status rh_sidecar_open(const char *path, struct rh_sidecar **sidecar);
void rh_sidecar_close(struct rh_sidecar *sidecar);

/* NULL if the build did not say. */
const char *rh_sidecar_get_meta(const struct rh_sidecar *sidecar, enum rh_sidecar_meta name);

/* Walks the skipped accesses by reason: start with *at = 0; false at the end. */
bool rh_sidecar_next_skipped(const struct rh_sidecar *sidecar, size_t *at, const char **reason,
                             uint64_t *count);

uint32_t rh_sidecar_key_count(const struct rh_sidecar *sidecar);

/* The next site in the order of numbers; at the end *more is false and the walk starts again. */
enum rh_status rh_sidecar_next_site(struct rh_sidecar *sidecar, struct rh_sidecar_site *site,
                                    bool *more);

/* All sites by their numbers, for random access; the walk of rh_sidecar_next_site starts again. */
enum rh_status rh_sidecar_load_sites(struct rh_sidecar *sidecar,
                                     const struct rh_sidecar_site **sites, uint32_t *count);

/*
 * Compares sites as qsort wants it, by location: file, line, column, and the number where all these
 * are the same. Unknown files come last.
 */
int rh_sidecar_compare_locations(const struct rh_sidecar_site *a, const struct rh_sidecar_site *b);

/* The module's bitcode as a heap block. */
enum rh_status rh_sidecar_load_module(struct rh_sidecar *sidecar, void **bytes, size_t *len);

/* Names for people and JSON; NULL for a plain access's order. */
const char *rh_sidecar_access_name(enum rh_access_kind access);
const char *rh_sidecar_order_name(enum rh_memory_order order);

/*
 * Finding. The sidecar of a program stands beside it (PROG.racehive); a copy by build id in the
 * user's data folder still identifies a program that was installed, moved or renamed.
 */

/*
 * The path of the program's sidecar, a heap string: `symbols` if not NULL, else the file beside the
 * program, else the copy, whichever has the program's build id. A program that is itself a sidecar
 * is the answer.
 */
enum rh_status rh_sidecar_find(const char *program, const char *symbols, char **path);

/* The copy of the sidecar of a build; RH_ERR_NOT_FOUND if there is none. */
enum rh_status rh_sidecar_find_build(const char *build_id, char **path);

/* The sidecar of an image that a run had loaded: beside the file, if that is still the same build,
 * else the copy. `path` may be "". */
enum rh_status rh_sidecar_find_loaded(const char *path, const char *build_id, char **sidecar);

/* Copies a sidecar to the user's data folder under its build id. */
enum rh_status rh_sidecar_publish(const char *path, const char *build_id);

#endif
