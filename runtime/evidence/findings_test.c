/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of findings: each pair of sites once by order and proof, what is written of it, and that
 * what finds no room is counted; also when many threads report the same at once.
 */
#include "evidence/findings.c"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* --- the rest of the runtime --- */

static struct rh_shared *page;
static uintptr_t benign_at;
static _Atomic uint64_t losses[RH_LOSS_COUNT];
_Atomic uint64_t *_Atomic rt_losses = losses;

struct rh_shared *rt_shared(void)
{
    return page;
}

bool rt_shared_is_read(void)
{
    return true;
}

bool rt_is_benign(uintptr_t address, uint64_t size)
{
    return benign_at && rt_overlaps(address, size, benign_at, 1);
}

uint32_t rt_opaque_reasons(void)
{
    return 1 << RH_OPAQUE_STREAM;
}

/* One image, number 7, of the addresses from 0x400000 to 0x500000. */
static bool find_image(uintptr_t address, struct rt_stack_image *image)
{
    *image = (struct rt_stack_image){.base = 0x400000, .name = 7};
    return address >= 0x400000 && address < 0x500000;
}

bool rt_stack_image_at(uintptr_t address, struct rt_stack_image *image)
{
    return find_image(address, image);
}

bool rt_stack_image_around(uintptr_t address, struct rt_stack_image *image)
{
    return find_image(address, image);
}

/* One thread, number 9, with a stack. */
void rt_thread_each(bool (*visit)(struct rt_thread *, void *), void *arg)
{
    struct rt_thread thread = {.id = 9, .stack_low = 0x700000, .stack_high = 0x710000};
    visit(&thread, arg);
}

const char *rt_loss_words(enum rh_loss loss)
{
    (void)loss;
    return "";
}

int rt_log_open(void)
{
    return -1;
}

void rt_log_line(int log, struct rt_line *line)
{
    (void)log;
    (void)line;
}

void rt_log_close(int log)
{
    (void)log;
}

void rt_line_text(struct rt_line *line, const char *text)
{
    (void)line;
    (void)text;
}

void rt_line_number(struct rt_line *line, uint64_t number)
{
    (void)line;
    (void)number;
}

void rt_line_hex(struct rt_line *line, uint64_t number)
{
    (void)line;
    (void)number;
}

/* --- reporting --- */

static int set_up(void **state)
{
    (void)state;
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < TOLD; i++)
        atomic_store(&told[i], 0);
    for (int i = 0; i < RH_LOSS_COUNT; i++)
        atomic_store(&losses[i], 0);
    benign_at = 0;
    return page == MAP_FAILED;
}

static int tear_down(void **state)
{
    (void)state;
    return munmap(page, sizeof *page);
}

static struct rt_witness witness_of(uint32_t site, uint32_t thread, uintptr_t address)
{
    return (struct rt_witness){.site = {.site = site},
                               .thread = thread,
                               .parent = 1,
                               .address = address,
                               .size = 4,
                               .frame_count = 2,
                               .lock_count = 1,
                               .frames = {0x400010, 0x900000},
                               .locks = {0x450000}};
}

static bool report_at(uint32_t first, uint32_t second, enum rh_proof proof, uintptr_t address)
{
    struct rt_witness a = witness_of(first, 2, address), b = witness_of(second, 3, address + 2);
    const struct rt_finding f = {.proof = proof, .pause_us = 5, .first = &a, .second = &b};
    return rt_finding_report(&f);
}

static bool report(uint32_t first, uint32_t second, enum rh_proof proof)
{
    return report_at(first, second, proof, 0x600000);
}

static void each_is_kept_once_by_sites_order_and_proof(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        assert_true(report(1, 2, RH_PROOF_UNORDERED));
        assert_true(report(2, 1, RH_PROOF_UNORDERED));
        assert_true(report(1, 2, RH_PROOF_COLLISION));
        assert_true(report(1, 1, RH_PROOF_UNORDERED));
    }
    assert_int_equal(page->finding_count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(page->findings[i].ready, 1);
    assert_int_equal(page->findings[1].sides[0].site.site, 2);
    assert_int_equal(page->findings[1].sides[1].site.site, 1);
    assert_int_equal(page->findings[2].proof, RH_PROOF_COLLISION);
    assert_int_equal(losses[RH_LOSS_FINDING], 0);
}

/* Images count: the same site of another library is another site. */
static void an_uninstrumented_access_is_a_side_of_its_own(void **state)
{
    (void)state;
    struct rt_witness a = witness_of(0, 2, 0x600000), b = witness_of(3, 3, 0x600000);
    const struct rt_finding f = {.proof = RH_PROOF_CHANGED, .first = &a, .second = &b};
    rt_finding_report(&f);
    a.site.image = RH_NO_IMAGE;
    rt_finding_report(&f);
    rt_finding_report(&f);
    assert_int_equal(page->finding_count, 2);
    assert_false(rh_side_is_uninstrumented(&page->findings[0].sides[0]));
    assert_true(rh_side_is_uninstrumented(&page->findings[1].sides[0]));
}

static void what_is_written_has_places_and_no_addresses(void **state)
{
    (void)state;
    report_at(1, 2, RH_PROOF_UNORDERED, 0x400100);
    report_at(3, 4, RH_PROOF_UNORDERED, 0x700100);
    report_at(5, 6, RH_PROOF_UNORDERED, 0x900100);
    const struct rh_finding *f = &page->findings[0];
    const struct rh_finding_side *side = &f->sides[0];
    assert_int_equal(f->block, RH_BLOCK_GLOBAL);
    assert_int_equal(f->data.image, 7);
    assert_int_equal(f->data.offset, 0x102); /* where both access */
    assert_int_equal(f->opaque, 1 << RH_OPAQUE_STREAM);
    assert_int_equal(f->pause_us, 5);
    assert_int_equal(side->thread, 2);
    assert_int_equal(side->parent, 1);
    assert_int_equal(side->size, 4);
    assert_int_equal(side->frame_count, 2);
    assert_int_equal(side->frames[0].offset, 0x10);
    assert_int_equal(side->frames[1].image, RH_NO_IMAGE);
    assert_int_equal(side->frames[1].offset, 0);
    assert_int_equal(side->lock_count, 1);
    assert_int_equal(side->locks[0].offset, 0x50000);
    assert_int_not_equal(side->locks[0].tag, 0);
    assert_int_equal(side->locks[RH_MAX_LOCKS - 1].offset, 0);
    assert_int_equal(page->findings[1].block, RH_BLOCK_STACK);
    assert_int_equal(page->findings[1].block_thread, 9);
    assert_int_equal(page->findings[2].block, RH_BLOCK_OTHER);
    assert_int_equal(page->findings[2].data.offset, 0);
}

static void benign_races_are_counted_and_not_kept(void **state)
{
    (void)state;
    benign_at = 0x600005; /* of the second access alone */
    assert_false(report(1, 2, RH_PROOF_UNORDERED));
    assert_int_equal(page->benign, 1);
    assert_int_equal(page->finding_count, 0);
}

static void what_finds_no_room_is_counted_once(void **state)
{
    (void)state;
    enum { MORE = 500 };
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < RH_MAX_FINDINGS + MORE; i++)
            assert_true(report(i % 100, 100 + i / 100, RH_PROOF_UNORDERED));
    assert_int_equal(page->finding_count, RH_MAX_FINDINGS);
    assert_int_equal(losses[RH_LOSS_FINDING], MORE);
    for (uint32_t i = 0; i < RH_MAX_FINDINGS; i++)
        assert_int_equal(page->findings[i].ready, 1);
}

/* --- many threads --- */

enum { THREADS = 4, PAIRS = 1000 };

static void *report_all(void *arg)
{
    uint32_t from = (uint32_t)(uintptr_t)arg * PAIRS / THREADS;
    for (uint32_t i = 0; i < PAIRS; i++)
        report((from + i) % PAIRS, 5000, RH_PROOF_UNORDERED);
    return NULL;
}

static void threads_that_report_the_same_keep_it_once(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    bool seen[PAIRS] = {false};
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, report_all, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(page->finding_count, PAIRS);
    for (uint32_t i = 0; i < PAIRS; i++) {
        uint32_t site = page->findings[i].sides[0].site.site;
        assert_true(site < PAIRS && !seen[site] && page->findings[i].ready);
        seen[site] = true;
    }
}

/* --- a file without room --- */

/* Where a store would be a SIGBUS the finding is lost and counted, and the program goes on. */
static void a_full_file_system_loses_findings_only(void **state)
{
    (void)state;
    int fd = memfd_create("page", 0);
    size_t size = (offsetof(struct rh_shared, findings) / 4096 + 2) * 4096;
    struct rh_shared *whole = page;
    assert_true(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(page != MAP_FAILED);
    enum { REPORTS = 20 };
    for (uint32_t i = 0; i < REPORTS; i++)
        assert_true(report(i, 5000, RH_PROOF_UNORDERED));
    uint32_t kept = 0;
    for (uint32_t i = 0; i < REPORTS; i++)
        if ((char *)&page->findings[i + 1] <= (char *)page + size)
            kept += page->findings[i].ready;
    assert_true(kept > 0 && kept < REPORTS);
    assert_int_equal(losses[RH_LOSS_FINDING], REPORTS - kept);
    munmap(page, sizeof *page);
    close(fd);
    page = whole;
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(each_is_kept_once_by_sites_order_and_proof),
        CASE(an_uninstrumented_access_is_a_side_of_its_own),
        CASE(what_is_written_has_places_and_no_addresses),
        CASE(benign_races_are_counted_and_not_kept),
        CASE(what_finds_no_room_is_counted_once),
        CASE(threads_that_report_the_same_keep_it_once),
        CASE(a_full_file_system_loses_findings_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
