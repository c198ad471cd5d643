/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the wrappers stand on: the runtime without its core, with a detector that
 * records what it is told and keeps a model of who knows of what.
 *
 * HARNESS_MODE says how a test runs: `live` (default), `off` (the runtime is switched off: only the
 * program's own results are checked), `toggle` (a thread that libc does not know of switches events
 * on and off at random: again only results, and that nothing crashes or hangs), `idle` (the runtime
 * is on, but wants no events: for measuring).
 */
#ifndef RH_TESTS_RUNTIME_HARNESS_H
#define RH_TESTS_RUNTIME_HARNESS_H

#include <stddef.h>

#include "model.h"
#include "rt.h"

/* --- what the calling thread has done since it last asked --- */

struct harness_event {
    enum rt_sync what;
    const volatile void *object;
};

void harness_expect(const char *file, int line, const struct harness_event *events, size_t count);
/* Forgets events of other objects: libraries may lock too, such as the one that unwinds stacks. */
void harness_keep_only(const volatile void *object);

/* EXPECT({RT_SYNC_MUTEX_LOCK, &m}, ...): exactly these, in this order. EXPECT_NOTHING(): none. */
#define EXPECT(...)                                                                                \
    do {                                                                                           \
        const struct harness_event expected_[] = {__VA_ARGS__};                                    \
        harness_expect(__FILE__, __LINE__, expected_, sizeof expected_ / sizeof expected_[0]);     \
    } while (0)
#define EXPECT_NOTHING() harness_expect(__FILE__, __LINE__, NULL, 0)

/* Uses (struct rt_use) are recorded among the events once a test has asked for it: as a READ_FOR or
 * a WRITE_FOR of the event that they belong to. harness_use gives the i-th of the calling thread
 * since it last expected something or forgot. */
void harness_record_uses(void);
struct rt_use harness_use(uint32_t i);
#define READ_FOR(id)  ((enum rt_sync)(RT_SYNC_COUNT + RT_SYNC_##id))
#define WRITE_FOR(id) ((enum rt_sync)(2 * RT_SYNC_COUNT + RT_SYNC_##id))

/* Called in a thread that is about to tell of an event, before the model learns of it: a test can
 * stop it there. */
typedef void harness_hook(enum rt_sync what);
void harness_set_hook(harness_hook *hook);

/* --- memory that was given back --- */

/* Whether the calling thread has told, since it last forgot, that these bytes go; true when events
 * are not exact. */
bool harness_was_gone(const volatile void *start, size_t size);
/* How often it has told so. */
uint32_t harness_gone_count(void);
/* Called in a thread that tells so, while the memory must still be there. */
typedef void harness_gone_hook(uintptr_t start, size_t size);
void harness_set_gone_hook(harness_gone_hook *hook);

/* How many events of a kind there have been in all threads. */
uint64_t harness_count(enum rt_sync what);
uint64_t harness_threads_begun(void);
uint64_t harness_threads_ended(void);
uint64_t harness_forks_seen(void);
uint64_t harness_finishes(void);

/* Locks the calling thread holds, as the runtime lists them. */
uint32_t harness_held_count(void);

#endif
