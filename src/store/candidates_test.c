/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates walked lazily, against every pair of sites looked at one by one. */
#include "store/candidates.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/packed.h"
#include "base/testing.h"
#include "base/vec.h"

#include <stdio.h>
#include <string.h>

enum { MAX_SITES = 64, MAX_CLASSES = 6, NO_GROUP = 1000 };

/* A program by numbers: what each site does, its class, and the group of each pair of classes. */
struct program {
    uint32_t site_count, class_count, group_count;
    struct rh_sidecar_site sites[MAX_SITES];
    struct rh_sidecar_location places[MAX_SITES];
    uint32_t class_of[MAX_SITES]; /* class_count: none */
    uint32_t group_of[MAX_CLASSES][MAX_CLASSES];
    struct rh_sidecar_group groups[MAX_CLASSES * MAX_CLASSES];
    uint32_t partners[MAX_CLASSES * MAX_CLASSES][MAX_CLASSES];
    uint32_t partner_counts[MAX_CLASSES * MAX_CLASSES];
    uint64_t wanted; /* a bit for each site */
};

static const struct {
    const char *text;
    int names; /* 0: no member */
} expressions[] = {{"p->a[0]", 1}, {"q.x->a[i]", 1}, {"b->b", 2}, {"(*s).b", 2},
                   {"p->a", 3},    {"a", 0},         {NULL, 0}};
enum { EXPRESSIONS = sizeof expressions / sizeof expressions[0] };

static const struct rh_sidecar_function worker = {"worker", "worker", "/src/a.c", 1};

static uint64_t draw(uint64_t round, uint64_t index)
{
    struct rh_hash hash;
    rh_hash_init(&hash);
    rh_hash_add_u64(&hash, round);
    rh_hash_add_u64(&hash, index);
    return rh_hash_finish(&hash);
}

static void draw_sites(struct program *p, uint64_t round)
{
    static const char *const files[] = {"/src/b.c", "/src/a.c", NULL};
    for (uint32_t i = 0; i < p->site_count; i++) {
        uint64_t dice = draw(round, 100 + i);
        p->places[i] = (struct rh_sidecar_location){files[dice % 3],
                                                    (uint32_t)(dice >> 8) % 4,
                                                    (uint32_t)(dice >> 16) % 2,
                                                    "f",
                                                    NULL,
                                                    NULL,
                                                    false};
        p->sites[i] = (struct rh_sidecar_site){
            .number = i,
            .fingerprint = draw(round, 200 + i),
            .key = RH_SIDECAR_NO_KEY,
            .access = (enum rh_access_kind)((dice >> 24) % RH_ACCESS_COUNT),
            .function = &worker,
            .location = &p->places[i],
            .expression = expressions[(dice >> 40) % EXPRESSIONS].text,
        };
        p->class_of[i] = (uint32_t)(dice >> 32) % (p->class_count + 1);
    }
}

/* The partners of a class are dealt to two groups, or to neither. */
static void draw_groups(struct program *p, uint64_t round)
{
    enum { SHARES = 3 };
    for (uint32_t a = 0; a < p->class_count; a++) {
        for (uint32_t share = 0; share < SHARES; share++) {
            uint32_t group = p->group_count, count = 0;
            for (uint32_t b = a; b < p->class_count; b++) {
                uint64_t dice = draw(round, 300 + a * MAX_CLASSES + b);
                if (dice % SHARES != share)
                    continue;
                p->group_of[a][b] = p->group_of[b][a] = share ? group : NO_GROUP;
                p->partners[group][count++] = b;
            }
            if (share == 0 || count == 0)
                continue;
            p->groups[group] =
                (struct rh_sidecar_group){.number = group,
                                          .first = a,
                                          .score = (uint32_t)draw(round, 900 + group) % 4 * 26,
                                          .flags = draw(round, 950 + group) % 2 * RH_GROUP_VAGUE,
                                          .why = "why"};
            p->partner_counts[group] = count;
            p->group_count++;
        }
    }
}

static void draw_program(struct program *p, uint64_t round)
{
    static const uint64_t masks[] = {UINT64_MAX, 0, 1, 0xF0, 0x123456789ABCDEF};
    *p = (struct program){.site_count = (uint32_t)(draw(round, 0) % MAX_SITES),
                          .class_count = (uint32_t)(draw(round, 1) % MAX_CLASSES),
                          .wanted = masks[round % 5]};
    draw_sites(p, round);
    draw_groups(p, round);
}

static struct rh_sidecar *write_program(const struct program *p, const char *path)
{
    struct rh_sidecar_writer *writer;
    assert_status(RH_OK, rh_sidecar_create(path, &writer));
    for (uint32_t i = 0; i < p->site_count; i++)
        rh_sidecar_add_site(writer, &p->sites[i]);
    for (uint32_t c = 0; c < p->class_count; c++) {
        uint32_t sites[MAX_SITES], count = 0;
        for (uint32_t i = 0; i < p->site_count; i++)
            if (p->class_of[i] == c)
                sites[count++] = i;
        rh_sidecar_add_class(writer, &(struct rh_sidecar_class){c, "main", ""}, sites, count);
    }
    for (uint32_t g = 0; g < p->group_count; g++)
        rh_sidecar_add_group(writer, &p->groups[g], p->partners[g], p->partner_counts[g]);
    assert_status(RH_OK, rh_sidecar_commit(writer));
    struct rh_sidecar *sidecar;
    assert_status(RH_OK, rh_sidecar_open(path, &sidecar));
    return sidecar;
}

static bool wants_by_bit(const void *context, const struct rh_sidecar_site *site)
{
    const struct program *p = context;
    return p->wanted >> site->number & 1;
}

/* The words of the definition, on purpose unlike the code under test. */
static bool may_race(const struct rh_sidecar_site *a, const struct rh_sidecar_site *b)
{
    const char *x = rh_sidecar_access_name(a->access), *y = rh_sidecar_access_name(b->access);
    bool x_atomic = strstr(x, "atomic") != NULL, y_atomic = strstr(y, "atomic") != NULL;
    bool x_writes = strstr(x, "write") || strstr(x, "update");
    bool y_writes = strstr(y, "write") || strstr(y, "update");
    return strcmp(x, "fence") != 0 && strcmp(y, "fence") != 0 && (x_writes || y_writes) &&
           !(x_atomic && y_atomic);
}

/* The group of a pair, NO_GROUP if it is no candidate. */
static uint32_t group_of_pair(const struct program *p, uint32_t a, uint32_t b)
{
    uint32_t x = p->class_of[a], y = p->class_of[b];
    if (x == p->class_count || y == p->class_count || !may_race(&p->sites[a], &p->sites[b]))
        return NO_GROUP;
    return p->group_of[x][y];
}

static void assert_totals(const struct program *p, const struct rh_candidates *candidates,
                          uint64_t walked)
{
    struct rh_candidates_totals totals;
    uint64_t all = 0, wanted = 0;
    bool grouped[MAX_CLASSES * MAX_CLASSES] = {false};
    uint64_t groups = 0;
    for (uint32_t a = 0; a < p->site_count; a++) {
        for (uint32_t b = a; b < p->site_count; b++) {
            uint32_t group = group_of_pair(p, a, b);
            if (group == NO_GROUP)
                continue;
            all++;
            wanted += (p->wanted >> a & 1) || (p->wanted >> b & 1);
            groups += !grouped[group];
            grouped[group] = true;
        }
    }
    rh_candidates_count(candidates, &totals);
    assert_int_equal(totals.candidates, all);
    assert_int_equal(totals.wanted, wanted);
    assert_int_equal(totals.groups, groups);
    assert_int_equal(walked, wanted);
}

static bool name_the_same(const char *a, const char *b)
{
    int named[2] = {0};
    for (int i = 0; i < EXPRESSIONS; i++) {
        if (a && expressions[i].text && strcmp(a, expressions[i].text) == 0)
            named[0] = expressions[i].names;
        if (b && expressions[i].text && strcmp(b, expressions[i].text) == 0)
            named[1] = expressions[i].names;
    }
    return named[0] && named[0] == named[1];
}

static uint32_t expected_score(const struct rh_candidate *got)
{
    bool better = got->group->flags & RH_GROUP_VAGUE &&
                  name_the_same(got->first->expression, got->second->expression);
    uint32_t score = got->group->score + (better ? 30 : 0);
    return score > RH_SCORE_MAX ? RH_SCORE_MAX : score;
}

static void assert_candidate(const struct program *p, const struct rh_candidate *got,
                             bool seen[MAX_SITES][MAX_SITES])
{
    uint32_t a = got->first->number, b = got->second->number;
    assert_false(seen[a][b]);
    seen[a][b] = seen[b][a] = true;
    assert_true((p->wanted >> a & 1) || (p->wanted >> b & 1));
    assert_int_equal(group_of_pair(p, a, b), got->group->number);
    assert_int_equal(got->first_class->number, p->class_of[a]);
    assert_int_equal(got->second_class->number, p->class_of[b]);
    assert_true(rh_sidecar_compare_locations(got->first, got->second) <= 0);
    struct rh_hash hash;
    uint64_t x = got->first->fingerprint, y = got->second->fingerprint;
    rh_hash_init(&hash);
    rh_hash_add_u64(&hash, x < y ? x : y);
    rh_hash_add_u64(&hash, x < y ? y : x);
    assert_true(rh_hash_finish(&hash) == got->id);
}

static void assert_walk(const struct program *p, struct rh_candidates *candidates)
{
    bool seen[MAX_SITES][MAX_SITES] = {{false}};
    struct rh_candidate got;
    uint32_t score = UINT32_MAX, group = 0;
    uint64_t walked = 0;
    for (; rh_candidates_next(candidates, &got); walked++) {
        assert_candidate(p, &got, seen);
        assert_int_equal(got.score, expected_score(&got));
        assert_true(got.score < score || (got.score == score && got.group->number >= group));
        score = got.score;
        group = got.group->number;
    }
    assert_false(rh_candidates_next(candidates, &got));
    assert_totals(p, candidates, walked);
}

/* Looked up in either order, whatever is wanted. */
static void assert_found(const struct program *p, struct rh_candidates *candidates)
{
    for (uint32_t a = 0; a < p->site_count; a++) {
        for (uint32_t b = 0; b < p->site_count; b++) {
            struct rh_candidate got;
            uint32_t group = group_of_pair(p, a, b);
            bool found = rh_candidates_find(candidates, &p->sites[a], &p->sites[b], &got);
            assert_int_equal(found, group != NO_GROUP);
            assert_true(rh_candidate_id(&p->sites[b], &p->sites[a]) == got.id);
            assert_true(rh_sidecar_compare_locations(got.first, got.second) <= 0);
            assert_int_equal(got.first->number + got.second->number, a + b);
            bool has_class = p->class_of[got.first->number] != p->class_count;
            assert_string_equal(got.first_class->threads, has_class ? "main" : "");
            if (!found) {
                assert_true(!got.group && got.score == 0);
                continue;
            }
            assert_int_equal(got.group->number, group);
            assert_int_equal(got.score, expected_score(&got));
            assert_int_equal(got.second_class->number, p->class_of[got.second->number]);
        }
    }
}

static void every_pair_comes_once_and_no_other(void **state)
{
    enum { ROUNDS = 300 };
    char *path = rh_path_join(*state, "p.racehive");
    struct program *p = rh_alloc(sizeof *p);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        draw_program(p, round);
        struct rh_sidecar *sidecar = write_program(p, path);
        struct rh_candidates_filter filter = {wants_by_bit, p};
        struct rh_candidates *candidates;
        assert_status(RH_OK, rh_candidates_open(sidecar, &filter, &candidates));
        assert_walk(p, candidates);
        p->wanted = ~p->wanted;
        rh_candidates_restart(candidates, &filter);
        assert_walk(p, candidates);
        p->wanted = UINT64_MAX;
        rh_candidates_restart(candidates, NULL);
        assert_walk(p, candidates);
        assert_found(p, candidates);
        rh_candidates_close(candidates);
        rh_sidecar_close(sidecar);
    }
    free(p);
    free(path);
}

/* The link step's way to candidates ends where that of everyone else does. */
static struct rh_candidates *assemble(const struct program *p, struct rh_sidecar_class *classes,
                                      struct rh_candidates_member *members,
                                      struct rh_sidecar_group *groups, struct rh_strbuf *packed)
{
    struct rh_candidates_parts parts = {
        .sites = p->sites, .classes = classes, .members = members, .groups = groups};
    for (uint32_t c = 0; c < p->class_count; c++)
        classes[parts.class_count++] = (struct rh_sidecar_class){c, "main", ""};
    for (uint32_t i = 0; i < p->site_count; i++)
        if (p->class_of[i] != p->class_count)
            members[parts.member_count++] = (struct rh_candidates_member){i, p->class_of[i]};
    for (uint32_t g = 0; g < p->group_count; g++) {
        packed[g] = (struct rh_strbuf)RH_STRBUF_INIT;
        rh_packed_add(&packed[g], p->partners[g], p->partner_counts[g]);
        groups[g] = p->groups[g];
        groups[g].partners = rh_strbuf_text(&packed[g]);
        groups[g].partners_len = packed[g].len;
        parts.group_count++;
    }
    return rh_candidates_assemble(&parts);
}

static void parts_in_memory_make_the_same_candidates(void **state)
{
    enum { ROUNDS = 100, GROUPS = MAX_CLASSES * MAX_CLASSES };
    char *path = rh_path_join(*state, "p.racehive");
    struct program *p = rh_alloc(sizeof *p);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct rh_sidecar_class classes[MAX_CLASSES];
        struct rh_candidates_member members[MAX_SITES];
        struct rh_sidecar_group groups[GROUPS];
        struct rh_strbuf packed[GROUPS];
        struct rh_candidates *stored, *made;
        struct rh_candidate a, b;
        draw_program(p, round);
        struct rh_sidecar *sidecar = write_program(p, path);
        assert_status(RH_OK, rh_candidates_open(sidecar, NULL, &stored));
        made = assemble(p, classes, members, groups, packed);
        while (rh_candidates_next(stored, &a)) {
            assert_true(rh_candidates_next(made, &b));
            assert_true(a.id == b.id && a.score == b.score);
            assert_int_equal(a.first->number, b.first->number);
            assert_int_equal(a.second->number, b.second->number);
        }
        assert_false(rh_candidates_next(made, &b));
        rh_candidates_close(made);
        rh_candidates_close(stored);
        rh_sidecar_close(sidecar);
        for (uint32_t g = 0; g < p->group_count; g++)
            rh_strbuf_release(&packed[g]);
    }
    free(p);
    free(path);
}

static void places_are_ordered_unknown_ones_last(void **state)
{
    (void)state;
    static const struct rh_sidecar_location at[] = {
        {"a.c", 9, 9, "f", NULL, NULL, false}, {"b.c", 1, 2, "f", NULL, NULL, false},
        {"b.c", 1, 3, "f", NULL, NULL, false}, {"b.c", 2, 1, "f", NULL, NULL, false},
        {NULL, 1, 1, "f", NULL, NULL, false},
    };
    for (uint32_t i = 0; i < 5; i++) {
        for (uint32_t j = 0; j < 5; j++) {
            struct rh_sidecar_site a = {.number = 5 - i, .location = &at[i]};
            struct rh_sidecar_site b = {.number = 5 - j, .location = &at[j]};
            int order = rh_sidecar_compare_locations(&a, &b);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
    }
    struct rh_sidecar_site low = {.number = 1, .location = &at[1]};
    struct rh_sidecar_site high = {.number = 2, .location = &at[1]};
    assert_true(rh_sidecar_compare_locations(&low, &high) < 0);
    low.location = NULL;
    assert_true(rh_sidecar_compare_locations(&low, &high) > 0);
}

enum { VAST_CLASSES = 3, VAST_SITES = 20000 };

/* Three classes of many writes, all in groups with each other: billions of candidates. */
static struct rh_sidecar *write_vast_program(const char *path)
{
    struct rh_sidecar_writer *writer;
    assert_status(RH_OK, rh_sidecar_create(path, &writer));
    for (uint32_t i = 0; i < VAST_CLASSES * VAST_SITES; i++)
        rh_sidecar_add_site(writer, &(struct rh_sidecar_site){.number = i,
                                                              .fingerprint = i,
                                                              .key = RH_SIDECAR_NO_KEY,
                                                              .access = RH_ACCESS_WRITE,
                                                              .function = &worker});
    for (uint32_t c = 0; c < VAST_CLASSES; c++) {
        uint32_t sites[VAST_SITES];
        for (uint32_t i = 0; i < VAST_SITES; i++)
            sites[i] = c * VAST_SITES + i;
        rh_sidecar_add_class(writer, &(struct rh_sidecar_class){c, "main", ""}, sites, VAST_SITES);
    }
    for (uint32_t a = 0, number = 0; a < VAST_CLASSES; a++)
        for (uint32_t b = a; b < VAST_CLASSES; b++)
            rh_sidecar_add_group(
                writer, &(struct rh_sidecar_group){number++, a, 50, 0, "why", NULL, NULL, 0}, &b,
                1);
    assert_status(RH_OK, rh_sidecar_commit(writer));
    struct rh_sidecar *sidecar;
    assert_status(RH_OK, rh_sidecar_open(path, &sidecar));
    return sidecar;
}

static bool wants_last(const void *context, const struct rh_sidecar_site *site)
{
    (void)context;
    return site->number == VAST_CLASSES * VAST_SITES - 1;
}

/* Whoever expanded the pairs would not end here. */
static void billions_are_counted_and_searched_without_expanding(void **state)
{
    char *path = rh_path_join(*state, "p.racehive");
    struct rh_sidecar *sidecar = write_vast_program(path);
    struct rh_candidates *candidates;
    struct rh_candidates_totals totals;
    struct rh_candidate got;
    assert_status(RH_OK, rh_candidates_open(sidecar, NULL, &candidates));
    rh_candidates_count(candidates, &totals);
    uint64_t sites = VAST_CLASSES * VAST_SITES;
    assert_int_equal(totals.candidates, sites * (sites + 1) / 2);
    assert_int_equal(totals.wanted, totals.candidates);
    assert_int_equal(totals.sites, sites);
    assert_int_equal(totals.groups, 6);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(rh_candidates_next(candidates, &got));
        assert_int_equal(got.first->number, 0);
        assert_int_equal(got.second->number, i);
    }
    rh_candidates_restart(candidates, &(struct rh_candidates_filter){wants_last, NULL});
    rh_candidates_count(candidates, &totals);
    assert_int_equal(totals.wanted, sites);
    uint64_t walked = 0;
    for (; rh_candidates_next(candidates, &got); walked++)
        assert_int_equal(got.second->number, sites - 1);
    assert_int_equal(walked, sites);
    rh_candidates_close(candidates);
    rh_sidecar_close(sidecar);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(every_pair_comes_once_and_no_other),
        SCRATCH_TEST(parts_in_memory_make_the_same_candidates),
        cmocka_unit_test(places_are_ordered_unknown_ones_last),
        SCRATCH_TEST(billions_are_counted_and_searched_without_expanding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
