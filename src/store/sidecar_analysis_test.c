/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the analysis, written and read back; and what the writer refuses. */
#include "store/sidecar_analysis.h"

#include "base/mem.h"
#include "base/packed.h"
#include "base/testing.h"

#include <stdio.h>
#include <string.h>

static const struct rh_sidecar_function push = {"push", "push", "/src/queue.c", 12};
static const struct rh_sidecar_location in_main = {"/src/main.c", 7, 1, "main", NULL, NULL, false};
static const struct rh_sidecar_location in_push = {"/src/queue.c", 14,       2,    "push",
                                                   NULL,           &in_main, false};

static struct rh_sidecar_writer *create(const char *path)
{
    struct rh_sidecar_writer *writer = NULL;
    assert_status(RH_OK, rh_sidecar_create(path, &writer));
    return writer;
}

static struct rh_sidecar *open_sidecar(const char *path)
{
    struct rh_sidecar *sidecar = NULL;
    assert_status(RH_OK, rh_sidecar_open(path, &sidecar));
    return sidecar;
}

static void add_sites(struct rh_sidecar_writer *writer, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char expression[32];
        snprintf(expression, sizeof expression, "slots[%u]", i);
        rh_sidecar_add_site(writer, &(struct rh_sidecar_site){.number = i,
                                                              .fingerprint = i,
                                                              .key = RH_SIDECAR_NO_KEY,
                                                              .function = &push,
                                                              .location = &in_push,
                                                              .expression = expression});
    }
}

static void assert_texts(const char *expected, const char *actual)
{
    if (!expected || !actual)
        assert_ptr_equal(expected, actual);
    else
        assert_string_equal(expected, actual);
}

static const struct rh_sidecar_removed removed_rows[] = {
    {RH_ACCESS_READ, RH_MO_PLAIN, 8, 0, &push, &in_push, "q->head", "guarded",
     "guarded by &q->lock, as is the write at q.c:30"},
    {RH_ACCESS_ATOMIC_UPDATE, RH_MO_SEQ_CST, UINT32_MAX, RH_SITE_VOLATILE, &push, NULL, NULL,
     "every conflicting access is atomic", NULL},
    {RH_ACCESS_WRITE, RH_MO_PLAIN, 0, RH_SITE_SIZED, &push, &in_main, "n\xc3\xa4he\n\xff",
     "guarded", NULL},
};

static void assert_removed(struct rh_sidecar *sidecar)
{
    struct rh_sidecar_removed got;
    bool more;
    for (size_t i = 0; i < sizeof removed_rows / sizeof removed_rows[0]; i++) {
        const struct rh_sidecar_removed *expected = &removed_rows[i];
        assert_status(RH_OK, rh_sidecar_next_removed(sidecar, &got, &more));
        assert_true(more);
        assert_int_equal(got.access, expected->access);
        assert_int_equal(got.order, expected->order);
        assert_int_equal(got.size, expected->size);
        assert_int_equal(got.flags, expected->flags);
        assert_string_equal(got.function->name, "push");
        assert_int_equal(got.function->line, 12);
        assert_int_equal(got.location != NULL, expected->location != NULL);
        if (got.location)
            assert_int_equal(got.location->line, expected->location->line);
        assert_texts(expected->expression, got.expression);
        assert_texts(expected->reason, got.reason);
        assert_texts(expected->detail, got.detail);
    }
    assert_status(RH_OK, rh_sidecar_next_removed(sidecar, &got, &more));
    assert_false(more);
}

static void removed_accesses_come_back(void **state)
{
    char *path = rh_path_join(*state, "p.racehive");
    struct rh_sidecar_writer *writer = create(path);
    for (size_t i = 0; i < sizeof removed_rows / sizeof removed_rows[0]; i++)
        rh_sidecar_add_removed(writer, &removed_rows[i]);
    assert_status(RH_OK, rh_sidecar_commit(writer));
    struct rh_sidecar *sidecar = open_sidecar(path);
    assert_removed(sidecar);
    assert_removed(sidecar);
    rh_sidecar_close(sidecar);
    free(path);
}

static void assert_costs(struct rh_sidecar *sidecar)
{
    struct rh_sidecar_phase phase;
    struct rh_sidecar_filter filter;
    struct rh_sidecar_unknown unknown;
    bool more;
    assert_status(RH_OK, rh_sidecar_next_phase(sidecar, &phase, &more));
    assert_string_equal(phase.name, "points-to");
    assert_int_equal(phase.milliseconds, 1500);
    assert_status(RH_OK, rh_sidecar_next_phase(sidecar, &phase, &more));
    assert_string_equal(phase.name, "candidates");
    assert_int_equal(phase.milliseconds, 0);
    assert_status(RH_OK, rh_sidecar_next_phase(sidecar, &phase, &more));
    assert_false(more);
    assert_status(RH_OK, rh_sidecar_next_filter(sidecar, &filter, &more));
    assert_string_equal(filter.name, "not parallel");
    assert_true(filter.pairs == 1ull << 40);
    assert_status(RH_OK, rh_sidecar_next_filter(sidecar, &filter, &more));
    assert_string_equal(filter.name, "candidates");
    assert_int_equal(filter.pairs, 3);
    assert_status(RH_OK, rh_sidecar_next_filter(sidecar, &filter, &more));
    assert_false(more);
    assert_status(RH_OK, rh_sidecar_next_unknown(sidecar, &unknown, &more));
    assert_string_equal(unknown.name, "g_thread_new");
    assert_int_equal(unknown.calls, 2);
    assert_int_equal(unknown.objects, 17);
    assert_status(RH_OK, rh_sidecar_next_unknown(sidecar, &unknown, &more));
    assert_false(more);
}

static void what_the_analysis_cost_comes_back(void **state)
{
    char *path = rh_path_join(*state, "p.racehive");
    struct rh_sidecar_writer *writer = create(path);
    rh_sidecar_add_phase(writer, "points-to", 1500);
    rh_sidecar_add_phase(writer, "candidates", 0);
    rh_sidecar_add_filter(writer, "not parallel", 1ull << 40);
    rh_sidecar_add_filter(writer, "candidates", 3);
    rh_sidecar_add_unknown(writer, "g_thread_new", 2, 17);
    assert_status(RH_OK, rh_sidecar_commit(writer));
    struct rh_sidecar *sidecar = open_sidecar(path);
    assert_status(RH_OK, rh_sidecar_check_analysed(sidecar));
    assert_costs(sidecar);
    assert_status(RH_OK, rh_sidecar_check_analysed(sidecar));
    assert_costs(sidecar);
    rh_sidecar_close(sidecar);
    free(path);
}

static void classes_and_groups_come_back(void **state)
{
    char *path = rh_path_join(*state, "p.racehive");
    struct rh_sidecar_writer *writer = create(path);
    add_sites(writer, 4);
    rh_sidecar_add_class(writer, &(struct rh_sidecar_class){0, "main", "&q->lock"},
                         (const uint32_t[]){3, 0}, 2);
    rh_sidecar_add_class(writer, &(struct rh_sidecar_class){1, "worker x many", ""},
                         (const uint32_t[]){2}, 1);
    rh_sidecar_add_group(
        writer,
        &(struct rh_sidecar_group){0, 0, 100, RH_GROUP_BUSY_WAIT, "why", "global counter", NULL, 0},
        (const uint32_t[]){0, 1}, 2);
    rh_sidecar_add_group(writer, &(struct rh_sidecar_group){1, 1, 0, 0, "main", "", NULL, 0},
                         (const uint32_t[]){1}, 1);
    assert_status(RH_OK, rh_sidecar_commit(writer));
    struct rh_sidecar *sidecar = open_sidecar(path);
    struct rh_sidecar_class classes[3];
    struct rh_sidecar_group groups[3];
    uint32_t site, class_number;
    bool more;
    for (int i = 0; i < 3; i++) {
        assert_status(RH_OK, rh_sidecar_next_class(sidecar, &classes[i], &more));
        assert_int_equal(more, i < 2);
        assert_status(RH_OK, rh_sidecar_next_group(sidecar, &groups[i], &more));
        assert_int_equal(more, i < 2);
    }
    assert_int_equal(classes[1].number, 1);
    assert_string_equal(classes[0].threads, "main");
    assert_string_equal(classes[0].locks, "&q->lock");
    assert_string_equal(classes[1].threads, "worker x many");
    assert_string_equal(classes[1].locks, "");
    assert_true(rh_packed_has(groups[0].partners, groups[0].partners_len, 0));
    assert_true(rh_packed_has(groups[0].partners, groups[0].partners_len, 1));
    assert_false(rh_packed_has(groups[1].partners, groups[1].partners_len, 0));
    assert_int_equal(groups[0].score, 100);
    assert_int_equal(groups[0].flags, RH_GROUP_BUSY_WAIT);
    assert_string_equal(groups[0].why, "why");
    assert_string_equal(groups[0].object, "global counter");
    assert_int_equal(groups[1].number, 1);
    assert_int_equal(groups[1].first, 1);
    assert_string_equal(groups[1].why, "main");
    assert_null(groups[1].object);
    static const uint32_t expected[][2] = {{0, 0}, {2, 1}, {3, 0}};
    for (int i = 0; i < 3; i++) {
        assert_status(RH_OK, rh_sidecar_next_class_site(sidecar, &site, &class_number, &more));
        assert_true(more);
        assert_int_equal(site, expected[i][0]);
        assert_int_equal(class_number, expected[i][1]);
    }
    assert_status(RH_OK, rh_sidecar_next_class_site(sidecar, &site, &class_number, &more));
    assert_false(more);
    rh_sidecar_close(sidecar);
    free(path);
}

static void all_sites_are_there_at_once(void **state)
{
    char *path = rh_path_join(*state, "p.racehive");
    struct rh_sidecar_writer *writer = create(path);
    add_sites(writer, 1000);
    assert_status(RH_OK, rh_sidecar_commit(writer));
    struct rh_sidecar *sidecar = open_sidecar(path);
    struct rh_sidecar_site site;
    bool more;
    assert_status(RH_OK, rh_sidecar_next_site(sidecar, &site, &more));
    for (int round = 0; round < 2; round++) {
        const struct rh_sidecar_site *sites;
        uint32_t count;
        assert_status(RH_OK, rh_sidecar_load_sites(sidecar, &sites, &count));
        assert_int_equal(count, 1000);
        assert_int_equal(sites[999].number, 999);
        assert_string_equal(sites[17].expression, "slots[17]");
        assert_string_equal(sites[999].expression, "slots[999]");
    }
    assert_status(RH_OK, rh_sidecar_next_site(sidecar, &site, &more));
    assert_int_equal(site.number, 0);
    rh_sidecar_close(sidecar);
    assert_status(RH_OK, rh_sidecar_commit(create(path)));
    sidecar = open_sidecar(path);
    const struct rh_sidecar_site *none;
    uint32_t count = 1;
    assert_status(RH_OK, rh_sidecar_load_sites(sidecar, &none, &count));
    assert_int_equal(count, 0);
    rh_sidecar_close(sidecar);
    free(path);
}

static void a_build_without_analysis_says_why(void **state)
{
    char *path = rh_path_join(*state, "p.racehive");
    assert_status(RH_OK, rh_sidecar_commit(create(path)));
    struct rh_sidecar *sidecar = open_sidecar(path);
    assert_status(RH_ERR_NOT_FOUND, rh_sidecar_check_analysed(sidecar));
    assert_non_null(strstr(rh_error_text(), "left out the analysis of the program"));
    rh_sidecar_close(sidecar);
    struct rh_sidecar_writer *writer = create(path);
    rh_sidecar_set_meta(writer, RH_SIDECAR_META_UNANALYSED, "it took too long");
    assert_status(RH_OK, rh_sidecar_commit(writer));
    sidecar = open_sidecar(path);
    assert_status(RH_ERR_NOT_FOUND, rh_sidecar_check_analysed(sidecar));
    assert_non_null(strstr(rh_error_text(), "of the program: it took too long"));
    rh_sidecar_close(sidecar);
    free(path);
}

static void times_do_not_spoil_reproducible_builds(void **state)
{
    char *path = rh_path_join(*state, "p.racehive");
    setenv("SOURCE_DATE_EPOCH", "86399", 1);
    struct rh_sidecar_writer *writer = create(path);
    rh_sidecar_add_phase(writer, "points-to", 1500);
    assert_status(RH_OK, rh_sidecar_commit(writer));
    unsetenv("SOURCE_DATE_EPOCH");
    struct rh_sidecar *sidecar = open_sidecar(path);
    struct rh_sidecar_phase phase;
    bool more;
    assert_status(RH_OK, rh_sidecar_next_phase(sidecar, &phase, &more));
    assert_true(phase.milliseconds == RH_SIDECAR_NO_TIME);
    rh_sidecar_close(sidecar);
    free(path);
}

/* One mistake of an analysis each; two sites and a sound class of the first precede it. */
enum mistake {
    CLASS_OUT_OF_ORDER,
    SITE_NOT_ADDED,
    SITE_IN_TWO_CLASSES,
    GROUP_OUT_OF_ORDER,
    CLASSES_SWAPPED,
    CLASS_NOT_ADDED,
    SCORE_TOO_HIGH,
    NO_PARTNERS,
    MISTAKE_COUNT
};

static void make_mistake(struct rh_sidecar_writer *writer, enum mistake mistake)
{
    static const uint32_t sites[] = {0, 1, 2};
    struct rh_sidecar_class row = {.number = 1, .threads = "main", .locks = ""};
    struct rh_sidecar_group group = {.why = "why"};
    row.number += mistake == CLASS_OUT_OF_ORDER;
    rh_sidecar_add_class(writer, &row,
                         &sites[mistake == SITE_NOT_ADDED        ? 2
                                : mistake == SITE_IN_TWO_CLASSES ? 0
                                                                 : 1],
                         1);
    group.number = mistake == GROUP_OUT_OF_ORDER;
    group.first = mistake == CLASSES_SWAPPED;
    group.score = mistake == SCORE_TOO_HIGH ? RH_SCORE_MAX + 1 : 0;
    rh_sidecar_add_group(writer, &group, &sites[mistake == CLASS_NOT_ADDED ? 2 : 0],
                         mistake != NO_PARTNERS);
}

static void unsound_tables_are_refused(void **state)
{
    char *path = rh_path_join(*state, "p.racehive");
    for (int mistake = 0; mistake <= MISTAKE_COUNT; mistake++) {
        struct rh_sidecar_writer *writer = create(path);
        add_sites(writer, 2);
        rh_sidecar_add_class(writer, &(struct rh_sidecar_class){0, "main", ""},
                             (const uint32_t[]){0}, 1);
        make_mistake(writer, (enum mistake)mistake);
        enum rh_status status = rh_sidecar_commit(writer);
        if (status != (mistake == MISTAKE_COUNT ? RH_OK : RH_ERR_INTERNAL))
            fail_msg("mistake %d: %s", mistake, status_name(status));
        assert_int_equal(count_entries(*state), mistake == MISTAKE_COUNT);
    }
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(removed_accesses_come_back),
        SCRATCH_TEST(what_the_analysis_cost_comes_back),
        SCRATCH_TEST(classes_and_groups_come_back),
        SCRATCH_TEST(all_sites_are_there_at_once),
        SCRATCH_TEST(a_build_without_analysis_says_why),
        SCRATCH_TEST(times_do_not_spoil_reproducible_builds),
        SCRATCH_TEST(unsound_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
