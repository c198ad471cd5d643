/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of executions: what is read from the control page of a run. The program that is run is this
 * one again: with a control page in its options it writes there what a runtime would, and ends.
 */
#include "agent/execution.h"
#include "agent/page.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *self_path;

enum { COPY_OF_7 = 199, LIBRARY = 1 };

/* --- the program --- */

static struct rh_finding *add_finding(struct rh_shared *page, uint32_t first, uint32_t second,
                                      enum rh_proof proof)
{
    struct rh_finding *finding = &page->findings[page->finding_count++];
    const uint32_t sites[] = {first, second};
    for (int i = 0; i < 2; i++) {
        bool is_none = sites[i] == RH_RUNS_UNINSTRUMENTED;
        finding->sides[i].site =
            (struct rh_site_name){is_none ? RH_NO_IMAGE : 0, is_none ? 0 : sites[i]};
        finding->sides[i].thread = (uint32_t)i + 1;
    }
    finding->proof = proof;
    finding->ready = 1;
    return finding;
}

/* Of the task's sites 3 and 5: a race in the second order. Of sites 8 and 2, which are no task: one
 * that is proved, and one that is suspected. */
static void write_some(struct rh_shared *page)
{
    add_finding(page, 5, 3, RH_PROOF_COLLISION)->pause_us = 77;
    add_finding(page, 8, 2, RH_PROOF_UNORDERED);
    add_finding(page, 2, 8, RH_PROOF_UNORDERED)->opaque = 1;
    add_finding(page, RH_RUNS_UNINSTRUMENTED, 3, RH_PROOF_CHANGED);
}

/* What cannot be named, or was not completed. */
static void write_unknown(struct rh_shared *page)
{
    add_finding(page, 1000, 3, RH_PROOF_UNORDERED);
    add_finding(page, 3, 5, RH_PROOF_UNORDERED)->sides[1].site.image = 1;
    add_finding(page, 3, 5, RH_PROOF_COUNT);
    add_finding(page, 3, 5, RH_PROOF_UNORDERED)->ready = 0;
    page->losses[RH_LOSS_FINDING] = 10;
    page->losses[RH_LOSS_EVENT] = 2;
}

static void write_all(struct rh_shared *page)
{
    for (uint32_t i = 0; i < RH_MAX_FINDINGS; i++)
        add_finding(page, i % 64, 64 + i / 64, RH_PROOF_UNORDERED);
    page->finding_count = 0xffffffff; /* the program may have written over it */
}

static void add_meeting(struct rh_shared *page, uint32_t at, uint32_t a, uint32_t b,
                        enum rh_met_count locks)
{
    struct rh_met_pair *pair = &page->scout.met[at];
    pair->counts[locks] = 4;
    pair->counts[RH_MET_ORDERED] = 3;
    pair->counts[RH_MET_UNORDERED] = 1;
    pair->sites = rh_met_sites(a, b);
}

/* Site 0 with itself, the task's sites, two pairs that have one name, one with a site of a library,
 * one of the library, one of no site; and the wishes, as what ran. */
static void write_sights(struct rh_shared *page)
{
    add_meeting(page, 0, 5, 3, RH_MET_LOCKED);
    add_meeting(page, 77, 0, 0, RH_MET_UNLOCKED);
    add_meeting(page, 78, 12, COPY_OF_7, RH_MET_LOCKED);
    add_meeting(page, RH_MET_PAIRS - 1, 7, 12, RH_MET_UNLOCKED);
    add_meeting(page, 1000, rh_site_word(LIBRARY, 3), 5, RH_MET_LOCKED);
    add_meeting(page, 1002, rh_site_word(LIBRARY, 3), rh_site_word(LIBRARY, 5), RH_MET_LOCKED);
    page->keyed[0].state = page->keyed[LIBRARY].state = RH_KEYED_LOADED;
    add_meeting(page, 1001, 3, 1000, RH_MET_LOCKED);
    page->scout.met_lost = 6;
    for (uint32_t i = 0; i < RH_SCOUT_SITES; i++)
        page->scout.ran[i] = page->scout.wishes[i];
}

static const struct {
    const char *name;
    void (*write)(struct rh_shared *page);
    int signal;
} programs[] = {
    {"nothing", NULL, 0},           {"some", write_some, 0},        {"unknown", write_unknown, 0},
    {"all", write_all, 0},          {"abort", write_some, SIGABRT}, {"trap", write_some, SIGTRAP},
    {"ended", write_some, SIGTERM}, {"sights", write_sights, 0},
};

static int run_program(const char *options, const char *name)
{
    const char *path = strstr(options, "control=") + strlen("control=");
    int fd = open(path, O_RDWR);
    struct rh_shared *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || page == MAP_FAILED)
        return 1;
    page->ring.head = 1;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        if (strcmp(programs[i].name, name) != 0)
            continue;
        if (programs[i].write)
            programs[i].write(page);
        if (programs[i].signal)
            raise(programs[i].signal);
    }
    return 0;
}

/* --- running it --- */

/* Sites up to 199 of the program, in the first part, and of the library, in the second; between the
 * two there are none. The candidate's first site is the smaller one. */
static bool name_pair(void *context, struct rh_site_name a, struct rh_site_name b,
                      struct rh_execution_name *name)
{
    (void)context;
    uint32_t image = a.image == RH_NO_IMAGE ? b.image : a.image;
    if (a.image != RH_NO_IMAGE && b.image != RH_NO_IMAGE && a.image != b.image)
        return false;
    uint32_t first = a.image == RH_NO_IMAGE ? RH_RUNS_UNINSTRUMENTED : a.site;
    uint32_t second = b.image == RH_NO_IMAGE ? RH_RUNS_UNINSTRUMENTED : b.site;
    first = first == COPY_OF_7 ? 7 : first;
    second = second == COPY_OF_7 ? 7 : second;
    uint32_t low = first < second ? first : second, high = first < second ? second : first;
    if (image > LIBRARY || low >= 200 || (high >= 200 && high != RH_RUNS_UNINSTRUMENTED))
        return false;
    *name = (struct rh_execution_name){
        image, {(uint64_t)low << 32 | high, low, high}, .is_reversed = first > second};
    return true;
}

static bool place(void *context, uint32_t image, uint32_t *part)
{
    (void)context;
    *part = image;
    return image <= LIBRARY;
}

static const struct rh_execution_task task = {
    .task = {.candidate = {.id = 42, .first = 3, .second = 5},
             .stage = RH_STAGE_STEER,
             .pause_us = 1000},
    .first = {.site = 3},
    .second = {.site = 5},
};

/* The last ones are for sites that there is no place for. */
enum { WISHES = RH_SCOUT_SITES + 64, PROGRAM_SITES = 1000 };
static uint8_t wishes[WISHES];

static struct rh_execution *start(const char *program, bool names)
{
    const char *const argv[] = {self_path, program, NULL};
    const struct rh_execution_image images[] = {
        {"0a0b", PROGRAM_SITES, wishes},
        {"0c0d", WISHES - PROGRAM_SITES, wishes + PROGRAM_SITES},
    };
    const struct rh_execution_request request = {
        .argv = argv,
        .options = "",
        .detector = "racemob",
        .tasks = &task,
        .task_count = 1,
        .images = images,
        .image_count = sizeof images / sizeof images[0],
        .longest_pause_us = 1000,
        .input = -1,
        .namer = {.name = names ? name_pair : NULL, .place = place},
    };
    struct rh_execution *e;
    assert_int_equal(rh_execution_start(&request, &e), RH_OK);
    return e;
}

static struct rh_execution *run(const char *program, bool names, struct rh_execution_ending *ending)
{
    struct rh_execution *e = start(program, names);
    rh_execution_finish(e, false, ending);
    assert_true(ending->started);
    return e;
}

static void release(struct rh_execution *e, struct rh_execution_ending *ending)
{
    rh_execution_ending_release(ending);
    rh_execution_free(e);
}

static void a_run_without_findings_has_none(void **state)
{
    (void)state;
    struct rh_execution_ending ending;
    struct rh_execution *e = run("nothing", true, &ending);
    assert_int_equal(ending.parts[0].answers.len, 1);
    assert_int_equal(ending.parts[0].answers.data[0].outcome, RH_OUTCOME_NOT_SEEN);
    assert_int_equal(ending.parts[0].found.len + ending.parts[0].findings.len, 0);
    release(e, &ending);
}

static void findings_are_of_the_candidate_of_their_sites(void **state)
{
    (void)state;
    struct rh_execution_ending ending;
    struct rh_execution *e = run("some", true, &ending);
    assert_int_equal(ending.parts[0].findings.len, 4);
    assert_int_equal(ending.parts[0].found.len, 2);
    assert_int_equal(ending.parts[0].answers.len, 3);
    const struct rh_runs_answer *asked = &ending.parts[0].answers.data[0], *beside = asked + 1;
    assert_int_equal(asked->outcome, RH_OUTCOME_RACE);
    assert_true(!asked->raced[RH_ORDER_PRIMARY] && asked->raced[RH_ORDER_ALTERNATE]);
    assert_true(asked->collided && !asked->suspected);
    assert_int_equal(ending.parts[0].findings.data[0].candidate, 42);
    assert_int_equal(ending.parts[0].findings.data[0].order, RH_ORDER_ALTERNATE);
    assert_int_equal(ending.parts[0].findings.data[0].finding.pause_us, 77);

    assert_int_equal(ending.parts[0].found.data[0].candidate.first, 2);
    assert_int_equal(ending.parts[0].found.data[0].candidate.second, 8);
    assert_int_equal(beside->outcome, RH_OUTCOME_RACE);
    assert_true(!beside->raced[RH_ORDER_PRIMARY] && beside->raced[RH_ORDER_ALTERNATE]);
    assert_true(!beside->collided && beside->suspected);
    assert_true(ending.parts[0].findings.data[1].proved &&
                !ending.parts[0].findings.data[2].proved);
    assert_int_equal(ending.parts[0].findings.data[2].order, RH_ORDER_PRIMARY);

    assert_int_equal(ending.parts[0].found.data[1].candidate.first, 3);
    assert_int_equal(ending.parts[0].found.data[1].candidate.second, RH_RUNS_UNINSTRUMENTED);
    assert_true(ending.parts[0].answers.data[2].raced[RH_ORDER_ALTERNATE]);
    for (int i = 0; i < RH_LOSS_COUNT; i++)
        assert_int_equal(ending.end.losses[i], 0);
    release(e, &ending);
}

static void what_cannot_be_kept_is_counted(void **state)
{
    (void)state;
    struct rh_execution_ending ending;
    struct rh_execution *e = run("unknown", true, &ending);
    assert_int_equal(ending.parts[0].findings.len, 0);
    assert_int_equal(ending.end.losses[RH_LOSS_FINDING], 14);
    assert_int_equal(ending.end.losses[RH_LOSS_EVENT], 2);
    release(e, &ending);
    e = run("some", false, &ending); /* only the task's sites have a name */
    assert_int_equal(ending.parts[0].findings.len, 1);
    assert_int_equal(ending.end.losses[RH_LOSS_FINDING], 3);
    release(e, &ending);
}

static void all_findings_are_read(void **state)
{
    (void)state;
    struct rh_execution_ending ending;
    struct rh_execution *e = run("all", true, &ending);
    assert_int_equal(ending.parts[0].findings.len, RH_MAX_FINDINGS);
    assert_int_equal(ending.parts[0].found.len, RH_MAX_FINDINGS);
    release(e, &ending);
}

static void assert_meeting(const struct rh_runs_meeting *meeting, uint32_t first, uint32_t second,
                           uint32_t locked, uint32_t unlocked)
{
    assert_int_equal(meeting->candidate.first, first);
    assert_int_equal(meeting->candidate.second, second);
    assert_int_equal(meeting->counts[RH_MET_LOCKED], locked);
    assert_int_equal(meeting->counts[RH_MET_UNLOCKED], unlocked);
    assert_int_equal(meeting->counts[RH_MET_ORDERED], 3 * (locked + unlocked) / 4);
    assert_int_equal(meeting->counts[RH_MET_UNORDERED], (locked + unlocked) / 4);
}

static void meetings_are_of_the_candidate_of_their_sites(void **state)
{
    (void)state;
    struct rh_execution_ending ending;
    struct rh_execution *e = run("sights", true, &ending);
    assert_int_equal(ending.parts[0].met.len, 3);
    assert_meeting(&ending.parts[0].met.data[0], 0, 0, 0, 4);
    assert_int_equal(ending.parts[0].met.data[1].candidate.id, 42);
    assert_meeting(&ending.parts[0].met.data[1], 3, 5, 4, 0);
    assert_meeting(&ending.parts[0].met.data[2], 7, 12, 4, 4);
    assert_int_equal(ending.end.losses[RH_LOSS_MET_FULL], 6);
    assert_int_equal(ending.end.losses[RH_LOSS_MET_UNNAMED], 8);
    assert_int_equal(ending.parts[LIBRARY].met.len, 1);
    assert_meeting(&ending.parts[LIBRARY].met.data[0], 3, 5, 4, 0);
    release(e, &ending);
}

/* Wishes reach the program before it starts; it answers with the same numbers. */
static void wishes_go_in_and_what_ran_comes_out(void **state)
{
    (void)state;
    struct rh_execution_ending ending;
    wishes[0] = RH_RAN_ONE_THREAD;
    wishes[9] = 200; /* what the program may have written over */
    wishes[RH_SCOUT_SITES - 1] = RH_RAN_THREADS;
    memset(&wishes[RH_SCOUT_SITES], RH_RAN_THREADS, WISHES - RH_SCOUT_SITES);
    struct rh_execution *e = run("sights", true, &ending);
    assert_int_equal(ending.parts[0].ran.len, 1);
    assert_int_equal(ending.parts[LIBRARY].ran.len, 1);
    assert_int_equal(ending.parts[0].ran.data[0].site, 0);
    assert_false(ending.parts[0].ran.data[0].in_threads);
    assert_int_equal(ending.parts[LIBRARY].ran.data[0].site, RH_SCOUT_SITES - 1 - PROGRAM_SITES);
    assert_true(ending.parts[LIBRARY].ran.data[0].in_threads);
    release(e, &ending);
    memset(wishes, 0, sizeof wishes);
}

/* What a program did before it died is told, and whether it died of itself. */
static void crashes_are_told_from_other_ends(void **state)
{
    (void)state;
    static const struct {
        const char *program;
        bool crashed;
    } ends[] = {{"some", false}, {"abort", true}, {"trap", true}, {"ended", false}};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct rh_execution_ending ending;
        struct rh_execution *e = run(ends[i].program, true, &ending);
        assert_int_equal(ending.parts[0].findings.len, 4);
        assert_int_equal(rh_runs_crashed(&ending.end), ends[i].crashed);
        assert_int_equal(ending.parts[0].answers.data[1].crashed, ends[i].crashed);
        release(e, &ending);
    }
}

/* The file is as long as all findings, and has memory only up to them. */
static void a_page_is_sparse(void **state)
{
    (void)state;
    struct rh_page page;
    struct stat info;
    assert_int_equal(rh_page_make(&page), RH_OK);
    assert_int_equal(fstat(page.fd, &info), 0);
    assert_int_equal(info.st_size, sizeof(struct rh_shared));
    size_t block = 65536;
    assert_true((size_t)info.st_blocks * 512 < offsetof(struct rh_shared, findings) + block);
    assert_true(sizeof(struct rh_shared) > 2 * offsetof(struct rh_shared, findings));
    rh_page_release(&page);
}

int main(int argc, char **argv)
{
    const char *options = getenv("RACEHIVE_OPTIONS");
    if (argc == 2 && options && strstr(options, "control="))
        return run_program(options, argv[1]);
    self_path = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_without_findings_has_none),
        cmocka_unit_test(findings_are_of_the_candidate_of_their_sites),
        cmocka_unit_test(what_cannot_be_kept_is_counted),
        cmocka_unit_test(all_findings_are_read),
        cmocka_unit_test(meetings_are_of_the_candidate_of_their_sites),
        cmocka_unit_test(wishes_go_in_and_what_ran_comes_out),
        cmocka_unit_test(crashes_are_told_from_other_ends),
        cmocka_unit_test(a_page_is_sparse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
