/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The detector `count`: which sites ran, in which threads, how often. It finds no races; it proves
 * that the way from the key to the report is whole.
 *
 * Each thread counts in a table of its own per image, without atomics; a thread that ends adds its
 * table to the image's totals. Totals name the first few threads of a site.
 */
#include "detect.h"
#include "hook.h"
#include "keys.h"
#include "lock.h"
#include "loss.h"
#include "options.h"
#include "shared.h"
#include "sys.h"
#include "text.h"

enum { MAX_IMAGES = 64, NAMED_THREADS = 4 };

/* Of a thread. */
struct counts {
    uint64_t *hits[MAX_IMAGES]; /* per image, per site */
    uint64_t syncs;
    uint64_t is_used; /* there was something to count */
};

struct site_total {
    uint64_t hits;
    uint32_t threads;
    uint32_t named[NAMED_THREADS];
};

static struct rt_lock totals_lock;
static struct site_total *totals[MAX_IMAGES];
static uint64_t total_syncs;
static uint32_t total_threads;

static bool count_start(void)
{
    return true;
}

static struct counts *counts_of(const struct rt_thread *thread)
{
    return thread->detector;
}

static void count_access(struct rt_thread *self, const struct rt_access *a)
{
    const struct rt_image *image = a->image->runtime;
    if (a->ignored)
        return;
    struct counts *counts = counts_of(self);
    counts->is_used = true;
    if (rt_unlikely(image->number >= MAX_IMAGES)) {
        rt_lose(RH_LOSS_UNCOUNTED);
        return;
    }
    uint64_t *hits = counts->hits[image->number];
    if (rt_unlikely(!hits)) {
        hits = rt_map(image->site_count * sizeof *hits);
        if (!hits) {
            rt_lose(RH_LOSS_UNCOUNTED);
            return;
        }
        __atomic_store_n(&counts->hits[image->number], hits, __ATOMIC_RELEASE);
    }
    hits[a->site]++;
}

static void count_after(struct rt_thread *self, const struct rt_access *a)
{
    (void)self;
    (void)a; /* counted before */
}

static void count_sync(struct rt_thread *self, enum rt_sync what, const volatile void *object)
{
    (void)what;
    (void)object;
    struct counts *counts = counts_of(self);
    counts->is_used = true;
    counts->syncs++;
}

static void add_hits(uint32_t number, const uint64_t *hits, uint32_t thread)
{
    const struct rt_image *image = rt_image_at(number);
    if (!image || !hits)
        return;
    if (!totals[number])
        totals[number] = rt_map(image->site_count * sizeof(struct site_total));
    struct site_total *total = totals[number];
    for (uint32_t s = 0; total && s < image->site_count; s++) {
        if (!hits[s])
            continue;
        total[s].hits += hits[s];
        if (total[s].threads < NAMED_THREADS)
            total[s].named[total[s].threads] = thread;
        total[s].threads++;
    }
}

/* Adds a thread's table to the totals, under totals_lock. */
static bool add_thread(struct rt_thread *thread, void *arg)
{
    (void)arg;
    const struct counts *counts = counts_of(thread);
    if (!counts->is_used)
        return true;
    total_threads++;
    total_syncs += counts->syncs;
    for (uint32_t i = 0; i < MAX_IMAGES; i++)
        add_hits(i, __atomic_load_n(&counts->hits[i], __ATOMIC_ACQUIRE), thread->id);
    return true;
}

/* Under totals_lock: the report may be under way, and must not find it again. */
static void release(struct counts *counts)
{
    counts->is_used = false;
    for (uint32_t i = 0; i < MAX_IMAGES; i++) {
        const struct rt_image *image = counts->hits[i] ? rt_image_at(i) : NULL;
        if (image)
            rt_unmap(counts->hits[i], image->site_count * sizeof(uint64_t));
        counts->hits[i] = NULL;
    }
}

static void count_thread_end(struct rt_thread *gone)
{
    rt_lock(&totals_lock);
    add_thread(gone, NULL);
    release(counts_of(gone));
    rt_unlock(&totals_lock);
}

/* The child has one thread and starts from nothing: what the parent counted is the parent's to
 * tell. */
static void count_after_fork(struct rt_thread *self)
{
    atomic_store(&totals_lock.word, 0);
    release(counts_of(self));
    counts_of(self)->syncs = 0;
    for (uint32_t i = 0; i < MAX_IMAGES; i++) {
        totals[i] = NULL;
        atomic_signal_fence(memory_order_seq_cst); /* or it would become a call of memset */
    }
    total_syncs = 0;
    total_threads = 0;
}

static void report_site(int log, uint32_t image, uint32_t site, const struct site_total *total)
{
    rt_post(RH_EVENT_COUNT, 0, (uint64_t)image << 32 | site, total->hits, total->threads, 0);
    if (!rt_options.verbose)
        return;
    struct rt_line line = {0};
    rt_line_text(&line, "count: site ");
    if (image) {
        rt_line_number(&line, image);
        rt_line_text(&line, ":");
    }
    rt_line_number(&line, site);
    rt_line_text(&line, " ran ");
    rt_line_number(&line, total->hits);
    rt_line_text(&line, " times in ");
    rt_line_number(&line, total->threads);
    rt_line_text(&line, total->threads == 1 ? " thread:" : " threads:");
    for (uint32_t t = 0; t < total->threads && t < NAMED_THREADS; t++) {
        rt_line_text(&line, " ");
        rt_line_number(&line, total->named[t]);
    }
    rt_line_text(&line, total->threads > NAMED_THREADS ? " ..." : "");
    rt_log_line(log, &line);
}

static void report_summary(int log, uint64_t hits, uint64_t sites)
{
    struct rt_line line = {0};
    rt_line_text(&line, "count: ");
    rt_line_number(&line, hits);
    rt_line_text(&line, " accesses at ");
    rt_line_number(&line, sites);
    rt_line_text(&line, " sites in ");
    rt_line_number(&line, total_threads);
    rt_line_text(&line, total_threads == 1 ? " thread, " : " threads, ");
    rt_line_number(&line, total_syncs);
    rt_line_text(&line, " synchronisation events, ");
    rt_line_number(&line, atomic_load(&rt_key_switches));
    rt_line_text(&line, " key switches");
    rt_log_line(log, &line);
}

static void count_finish(void)
{
    uint64_t hits = 0, sites = 0;
    rt_lock(&totals_lock);
    rt_thread_each(add_thread, NULL);
    int log = rt_log_open();
    for (uint32_t i = 0; i < MAX_IMAGES; i++) {
        const struct rt_image *image = totals[i] ? rt_image_at(i) : NULL;
        for (uint32_t s = 0; image && s < image->site_count; s++) {
            if (!totals[i][s].hits)
                continue;
            hits += totals[i][s].hits;
            sites++;
            report_site(log, i, s, &totals[i][s]);
        }
    }
    report_summary(log, hits, sites);
    rt_log_close(log);
    rt_unlock(&totals_lock);
}

const struct rt_detector rt_detector_count = {
    .thread_size = sizeof(struct counts),
    .start = count_start,
    .access = count_access,
    .after = count_after,
    .wants_syncs = true,
    .sync = count_sync,
    .thread_end = count_thread_end,
    .after_fork = count_after_fork,
    .finish = count_finish,
};
