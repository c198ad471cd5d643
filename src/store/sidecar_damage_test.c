/* SPDX-License-Identifier: Apache-2.0 */
/* Sidecars that are not as the writer left them: each is refused or read, none crashes the reader.
 */
#include "store/candidates.h"

#include "base/hash.h"
#include "base/mem.h"
#include "store/db_testing.h"

#include <stdio.h>
#include <string.h>

enum { SITE_COUNT = 400, KEY_COUNT = 400, REMOVED_COUNT = 200, CLASS_COUNT = 100 };

static void add_analysis(struct rh_sidecar_writer *writer)
{
    const struct rh_sidecar_function function = {"push", NULL, "/src/a.h", 1};
    const struct rh_sidecar_location at = {"/src/a.h", 3, 9, "push", NULL, NULL, false};
    for (uint32_t i = 0; i < REMOVED_COUNT; i++)
        rh_sidecar_add_removed(
            writer, &(struct rh_sidecar_removed){RH_ACCESS_READ, RH_MO_PLAIN, 8, 0, &function, &at,
                                                 "queue->head", "guarded", i % 2 ? "&lock" : NULL});
    rh_sidecar_add_phase(writer, "points-to", 12);
    rh_sidecar_add_filter(writer, "guarded", 7);
    rh_sidecar_add_filter(writer, "candidates", 3);
    rh_sidecar_add_unknown(writer, "ioctl", 1, 2);
    for (uint32_t i = 0; i < CLASS_COUNT; i++) {
        const uint32_t sites[] = {i, i + CLASS_COUNT};
        rh_sidecar_add_class(writer, &(struct rh_sidecar_class){i, "main", ""}, sites, 2);
        rh_sidecar_add_group(
            writer, &(struct rh_sidecar_group){i, 0, 50, 0, "why", "global", NULL, 0}, &i, 1);
    }
}

/* A sidecar in which every table has rows, sites with inlining chains among them. */
static char *make_sidecar(const char *folder)
{
    char *path = rh_path_join(folder, "p.racehive");
    struct rh_sidecar_writer *writer;
    assert_status(RH_OK, rh_sidecar_create(path, &writer));
    rh_sidecar_set_meta(writer, RH_SIDECAR_META_PROGRAM, "p");
    rh_sidecar_set_meta(writer, RH_SIDECAR_META_BUILD_ID, "0123456789abcdef");
    rh_sidecar_set_skipped(writer, "constant data", 5);
    for (uint32_t i = 0; i < SITE_COUNT; i++) {
        char name[32];
        snprintf(name, sizeof name, "function_%u", i / 10);
        struct rh_sidecar_function function = {name, "linkage", "/src/a.c", i};
        struct rh_sidecar_location outer = {"/src/a.c", i, 5, name, NULL, NULL, false};
        struct rh_sidecar_location inner = {"/src/a.h", i, 9, "push", NULL, &outer, false};
        struct rh_sidecar_site site = {.number = i,
                                       .fingerprint = i,
                                       .key = i,
                                       .access = i % 3 ? RH_ACCESS_READ : RH_ACCESS_WRITE,
                                       .size = 8,
                                       .function = &function,
                                       .location = i % 2 ? &outer : &inner,
                                       .expression = "queue->slots[i].state"};
        rh_sidecar_add_site(writer, &site);
        rh_sidecar_add_key(writer, i, &(struct rh_key_record){i, 1, 0, 0, RH_NO_GATE});
    }
    add_analysis(writer);
    char module[20000];
    for (size_t i = 0; i < sizeof module; i++)
        module[i] = (char)(i * i >> 5);
    rh_sidecar_set_module(writer, module, sizeof module, 3);
    assert_status(RH_OK, rh_sidecar_commit(writer));
    return path;
}

/* Looks at every string, so that a wild pointer cannot pass unseen. */
static size_t visit_site(const struct rh_sidecar_site *site)
{
    size_t seen = strlen(site->function->name) + strlen(site->function->linkage);
    seen += strlen(rh_sidecar_access_name(site->access));
    seen += site->expression ? strlen(site->expression) : 0;
    for (const struct rh_sidecar_location *at = site->location; at; at = at->inlined_at)
        seen += strlen(at->function) + (at->file ? strlen(at->file) : 0);
    return seen;
}

static enum rh_status read_all_sites(struct rh_sidecar *sidecar)
{
    size_t seen = 0;
    for (;;) {
        struct rh_sidecar_site site;
        bool more;
        enum rh_status status = rh_sidecar_next_site(sidecar, &site, &more);
        if (status != RH_OK)
            return status;
        if (!more)
            return seen < SIZE_MAX ? RH_OK : RH_ERR_INTERNAL;
        seen += visit_site(&site);
    }
}

static size_t length(const char *text)
{
    return text ? strlen(text) : 0;
}

static size_t visit_removed(struct rh_sidecar *sidecar, enum rh_status *status)
{
    size_t seen = 0;
    struct rh_sidecar_removed removed;
    for (bool more = true; more && *status == RH_OK;) {
        *status = rh_sidecar_next_removed(sidecar, &removed, &more);
        if (*status == RH_OK && more)
            seen += strlen(removed.reason) + length(removed.detail) + length(removed.expression) +
                    strlen(removed.function->name) + strlen(rh_sidecar_access_name(removed.access));
    }
    return seen;
}

static size_t visit_costs(struct rh_sidecar *sidecar, enum rh_status *status)
{
    size_t seen = 0;
    struct rh_sidecar_phase phase;
    struct rh_sidecar_filter filter;
    struct rh_sidecar_unknown unknown;
    for (bool more = true; more && *status == RH_OK;) {
        *status = rh_sidecar_next_phase(sidecar, &phase, &more);
        seen += *status == RH_OK && more ? strlen(phase.name) : 0;
    }
    for (bool more = true; more && *status == RH_OK;) {
        *status = rh_sidecar_next_filter(sidecar, &filter, &more);
        seen += *status == RH_OK && more ? strlen(filter.name) : 0;
    }
    for (bool more = true; more && *status == RH_OK;) {
        *status = rh_sidecar_next_unknown(sidecar, &unknown, &more);
        seen += *status == RH_OK && more ? strlen(unknown.name) : 0;
    }
    return seen;
}

static size_t visit_candidates(struct rh_sidecar *sidecar, enum rh_status *status)
{
    struct rh_candidates *candidates;
    if (*status == RH_OK)
        *status = rh_candidates_open(sidecar, NULL, &candidates);
    if (*status != RH_OK)
        return 0;
    size_t seen = 0;
    struct rh_candidate candidate;
    while (rh_candidates_next(candidates, &candidate))
        seen += visit_site(candidate.first) + visit_site(candidate.second) +
                strlen(candidate.group->why) + length(candidate.group->object) +
                strlen(candidate.first_class->threads) + strlen(candidate.second_class->locks);
    rh_candidates_close(candidates);
    return seen;
}

static enum rh_status read_analysis(struct rh_sidecar *sidecar)
{
    enum rh_status status = RH_OK;
    size_t seen = visit_removed(sidecar, &status);
    seen += visit_costs(sidecar, &status);
    seen += visit_candidates(sidecar, &status);
    return seen < SIZE_MAX ? status : RH_ERR_INTERNAL;
}

/* Reads all there is; the first failure wins. */
static enum rh_status read_everything(const char *path)
{
    struct rh_sidecar *sidecar;
    enum rh_status status = rh_sidecar_open(path, &sidecar);
    if (status != RH_OK)
        return status;
    status = read_all_sites(sidecar);
    if (status == RH_OK)
        status = read_analysis(sidecar);
    if (status == RH_OK) {
        void *bytes;
        size_t len;
        status = rh_sidecar_load_module(sidecar, &bytes, &len);
        if (status == RH_OK)
            free(bytes);
    }
    rh_sidecar_close(sidecar);
    return status;
}

/* Some file systems flush a file that is emptied and filled again; a new one is quicker. */
static void put_bytes(const char *path, const char *bytes, size_t len)
{
    unlink(path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

/* A fixed sequence of numbers: a failure can be repeated by its round. */
static uint64_t draw(uint64_t round, uint64_t index)
{
    struct rh_hash hash;
    rh_hash_init(&hash);
    rh_hash_add_u64(&hash, round);
    rh_hash_add_u64(&hash, index);
    return rh_hash_finish(&hash);
}

static bool is_expected(enum rh_status status)
{
    return status == RH_OK || status == RH_ERR_INPUT || status == RH_ERR_IO ||
           status == RH_ERR_NOT_FOUND;
}

static void flipped_bytes_never_crash_the_reader(void **state)
{
    enum { ROUNDS = 3000 };
    char *path = make_sidecar(*state);
    char *victim = rh_path_join(*state, "victim.racehive");
    struct rh_strbuf sound = RH_STRBUF_INIT, copy = RH_STRBUF_INIT;
    assert_status(RH_OK, rh_fs_read(path, &sound));
    unsigned refused = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        rh_strbuf_reset(&copy);
        rh_strbuf_addn(&copy, sound.data, sound.len);
        /* Half of the rounds hurt the first pages, which hold the schema and the trees' roots. */
        size_t span = round % 2 ? sound.len : 8192;
        for (uint64_t i = 1; i <= 1 + round % 8; i++)
            copy.data[draw(round, 2 * i) % span] = (char)draw(round, 2 * i + 1);
        put_bytes(victim, copy.data, copy.len);
        enum rh_status status = read_everything(victim);
        if (!is_expected(status))
            fail_msg("round %llu: %s", (unsigned long long)round, rh_error_text());
        refused += status != RH_OK;
    }
    print_message("%u of %u damaged files refused\n", refused, ROUNDS);
    assert_in_range(refused, ROUNDS / 4, ROUNDS);
    rh_strbuf_release(&sound);
    rh_strbuf_release(&copy);
    free(victim);
    free(path);
}

static void truncated_files_are_refused(void **state)
{
    char *path = make_sidecar(*state);
    char *victim = rh_path_join(*state, "victim.racehive");
    struct rh_strbuf sound = RH_STRBUF_INIT;
    assert_status(RH_OK, rh_fs_read(path, &sound));
    for (size_t len = 0; len < sound.len; len += len < 200 ? 1 : 509) {
        put_bytes(victim, sound.data, len);
        assert_status(RH_ERR_INPUT, read_everything(victim));
    }
    rh_strbuf_addc(&sound, 'x');
    put_bytes(victim, sound.data, sound.len);
    assert_status(RH_ERR_INPUT, read_everything(victim));
    rh_strbuf_release(&sound);
    free(victim);
    free(path);
}

static void assert_refused(void **state, const char *sql, const char *part_of_message)
{
    char *path = make_sidecar(*state);
    assert_status(RH_OK, read_everything(path));
    run_sql(path, sql);
    assert_status(RH_ERR_INPUT, read_everything(path));
    if (!strstr(rh_error_text(), part_of_message))
        fail_msg("after \"%s\" the message is: %s", sql, rh_error_text());
    free(path);
}

/* One row per way in which well-formed SQLite is no sound sidecar. */
static const struct wound {
    const char *sql;
    const char *message;
} wounds[] = {
    {"PRAGMA application_id = 1", "not a .racehive file"},
    {"PRAGMA user_version = 1000", "update racehive"},
    {"PRAGMA user_version = 1", "of an older racehive: build the program again"},
    {"PRAGMA user_version = 0", "damaged"},
    {"PRAGMA user_version = -1", "damaged"},
    {"DROP TABLE meta", "meta"},
    {"DROP TABLE skipped", "skipped"},
    {"DROP TABLE files", "files"},
    {"DROP TABLE functions", "functions"},
    {"DROP TABLE locations", "locations"},
    {"DROP TABLE sites", "sites"},
    {"DROP TABLE keys", "keys"},
    {"DROP TABLE module", "module"},
    {"DROP TABLE texts", "texts"},
    {"DROP TABLE removed", "removed"},
    {"DROP TABLE phases", "phases"},
    {"DROP TABLE filters", "filters"},
    {"DROP TABLE unknown_functions", "unknown_functions"},
    {"DROP TABLE classes", "classes"},
    {"DROP TABLE class_sites", "class_sites"},
    {"DROP TABLE \"groups\"", "groups"},
    {"ALTER TABLE sites DROP COLUMN expression", "expression"},
    {"DELETE FROM files WHERE id = 0", "files"},
    {"UPDATE files SET path = NULL WHERE id = 1", "files"},
    {"DELETE FROM functions WHERE id = 3", "functions"},
    {"UPDATE functions SET file = 99 WHERE id = 3", "functions"},
    {"UPDATE functions SET line = -1 WHERE id = 3", "functions"},
    {"UPDATE functions SET name = NULL WHERE id = 3", "functions"},
    {"UPDATE locations SET inlined_at = id", "locations"},
    {"UPDATE locations SET inlined_at = 500 WHERE id = 2", "locations"},
    {"UPDATE locations SET function = NULL WHERE id = 2", "locations"},
    {"UPDATE locations SET line = 1 << 40 WHERE id = 2", "locations"},
    {"UPDATE locations SET \"column\" = 'x' WHERE id = 2", "locations"},
    {"UPDATE locations SET near = 2 WHERE id = 2", "locations"},
    {"DELETE FROM sites WHERE number = 7", "sites"},
    {"UPDATE sites SET number = -5 WHERE number = 7", "sites"},
    {"UPDATE sites SET access = 6 WHERE number = 7", "sites"},
    {"UPDATE sites SET \"order\" = 7 WHERE number = 7", "sites"},
    {"UPDATE sites SET \"key\" = 400 WHERE number = 7", "sites"},
    {"UPDATE sites SET function = 400 WHERE number = 7", "sites"},
    {"UPDATE sites SET location = 1 << 33 WHERE number = 7", "sites"},
    {"UPDATE sites SET size = x'00' WHERE number = 7", "sites"},
    {"UPDATE keys SET number = 1 << 40 WHERE number = 399", "keys"},
    {"UPDATE skipped SET count = -1", "skipped"},
    {"DELETE FROM texts WHERE id = 1", "texts"},
    {"UPDATE texts SET text = NULL WHERE id = 1", "texts"},
    {"DELETE FROM removed WHERE number = 7", "removed"},
    {"UPDATE removed SET access = 6 WHERE number = 7", "removed"},
    {"UPDATE removed SET function = NULL WHERE number = 7", "removed"},
    {"UPDATE removed SET location = -1 WHERE number = 7", "removed"},
    {"UPDATE removed SET expression = 99 WHERE number = 7", "removed"},
    {"UPDATE removed SET reason = NULL WHERE number = 7", "removed"},
    {"UPDATE removed SET reason = 'guarded' WHERE number = 7", "removed"},
    {"UPDATE removed SET detail = 1 << 40 WHERE number = 7", "removed"},
    {"UPDATE phases SET name = NULL", "phases"},
    {"UPDATE phases SET milliseconds = -1", "phases"},
    {"DELETE FROM filters WHERE number = 0", "filters"},
    {"UPDATE filters SET pairs = NULL", "filters"},
    {"UPDATE unknown_functions SET calls = 'x'", "unknown_functions"},
    {"UPDATE unknown_functions SET objects = -1", "unknown_functions"},
    {"DELETE FROM classes WHERE number = 7", "classes"},
    {"DELETE FROM classes WHERE number = 99", "damaged"},
    {"UPDATE classes SET number = 1 << 40 WHERE number = 99", "classes"},
    {"UPDATE classes SET threads = 99 WHERE number = 7", "classes"},
    {"UPDATE classes SET locks = NULL WHERE number = 7", "classes"},
    {"UPDATE class_sites SET site = 400 WHERE site = 7", "class_sites"},
    {"UPDATE class_sites SET site = -1 WHERE site = 7", "class_sites"},
    {"UPDATE class_sites SET class = 100 WHERE site = 7", "class_sites"},
    {"UPDATE class_sites SET class = NULL WHERE site = 7", "class_sites"},
    {"DELETE FROM \"groups\" WHERE number = 7", "groups"},
    {"UPDATE \"groups\" SET first = 8 WHERE number = 7", "groups"},
    {"UPDATE \"groups\" SET partners = x'6400' WHERE number = 7", "groups"},
    {"UPDATE \"groups\" SET partners = x'0780' WHERE number = 7", "groups"},
    {"UPDATE \"groups\" SET partners = x'' WHERE number = 7", "groups"},
    {"UPDATE \"groups\" SET partners = NULL WHERE number = 7", "groups"},
    {"UPDATE \"groups\" SET partners = '88' WHERE number = 7", "groups"},
    {"UPDATE \"groups\" SET score = 101 WHERE number = 7", "groups"},
    {"UPDATE \"groups\" SET flags = -1 WHERE number = 7", "groups"},
    {"UPDATE \"groups\" SET why = NULL WHERE number = 7", "groups"},
    {"UPDATE \"groups\" SET object = 99 WHERE number = 7", "groups"},
    {"UPDATE module SET size = size + 1", "module"},
    {"UPDATE module SET size = 1 << 62", "module"},
    {"UPDATE module SET size = -1", "module"},
    {"UPDATE module SET bitcode = NULL", "module"},
    {"UPDATE module SET bitcode = substr(bitcode, 1, length(bitcode) - 9)", "module"},
    {"UPDATE module SET bitcode = x'28b52ffd'", "module"},
    {"DROP TABLE keys; CREATE VIEW keys AS WITH RECURSIVE n(number) AS (SELECT 0 UNION ALL"
     " SELECT number + 1 FROM n) SELECT number FROM n",
     "more than tables"},
    {"CREATE INDEX by_key ON sites(\"key\")", "more than tables"},
};

static void unsound_contents_are_refused(void **state)
{
    for (size_t i = 0; i < sizeof wounds / sizeof wounds[0]; i++)
        assert_refused(state, wounds[i].sql, wounds[i].message);
}

static void a_damaged_module_is_noticed(void **state)
{
    char *path = make_sidecar(*state);
    run_sql(path, "UPDATE module SET bitcode = substr(bitcode, 1, 900) || x'5a' || "
                  "substr(bitcode, 902)");
    assert_status(RH_ERR_INPUT, read_everything(path));
    free(path);
}

static void other_files_are_refused(void **state)
{
    char *path = rh_path_join(*state, "other");
    struct rh_sidecar *sidecar;
    assert_status(RH_ERR_NOT_FOUND, rh_sidecar_open(path, &sidecar));
    assert_status(RH_ERR_INPUT, rh_sidecar_open(*state, &sidecar));
    assert_non_null(strstr(rh_error_text(), "is a directory"));
    assert_status(RH_ERR_INPUT, rh_sidecar_open("/dev/null", &sidecar));
    char text[4096];
    memset(text, 'a', sizeof text);
    put_bytes(path, text, sizeof text);
    assert_status(RH_ERR_INPUT, rh_sidecar_open(path, &sidecar));
    assert_non_null(strstr(rh_error_text(), "not a .racehive file"));
    assert_int_equal(mkfifo(path, 0600), -1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_status(RH_ERR_INPUT, rh_sidecar_open(path, &sidecar));
    free(path);
}

/* A journal beside a sidecar is not ours; SQLite would "recover" from it and then delete it. */
static void a_journal_beside_is_left_alone(void **state)
{
    char *path = make_sidecar(*state);
    char *journal = rh_format("%s-journal", path);
    char *wal = rh_format("%s-wal", path);
    put_bytes(journal, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 and more", 17);
    put_bytes(wal, "\x37\x7f\x06\x82", 4);
    assert_status(RH_OK, read_everything(path));
    assert_int_equal(count_entries(*state), 3);
    free(wal);
    free(journal);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(flipped_bytes_never_crash_the_reader),
        SCRATCH_TEST(truncated_files_are_refused),
        SCRATCH_TEST(unsound_contents_are_refused),
        SCRATCH_TEST(a_damaged_module_is_noticed),
        SCRATCH_TEST(other_files_are_refused),
        SCRATCH_TEST(a_journal_beside_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
