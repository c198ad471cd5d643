/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotations, our own and those of other tools: they order threads, mark bytes as benign, and
 * switch watching off and on. Built with __RACEHIVE__ defined, as racehive-cc does.
 */
#include "racehive/annotations.h"

#include <pthread.h>

#include "harness.h"

void AnnotateHappensBefore(const char *file, int line, const volatile void *address);
void AnnotateHappensAfter(const char *file, int line, const volatile void *address);
void AnnotateRWLockCreate(const char *file, int line, const volatile void *lock);
void AnnotateRWLockDestroy(const char *file, int line, const volatile void *lock);
void AnnotateRWLockAcquired(const char *file, int line, const volatile void *lock, long write);
void AnnotateRWLockReleased(const char *file, int line, const volatile void *lock, long write);
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *address, long size,
                             const char *why);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreSyncBegin(const char *file, int line);
void AnnotateIgnoreSyncEnd(const char *file, int line);
void AnnotateThreadName(const char *file, int line, const char *name);

static _Atomic bool is_told;
static int object;

static void *tell(void *arg)
{
    (void)arg;
    harness_tell(1, 4);
    RH_HAPPENS_BEFORE(&object);
    atomic_store(&is_told, true);
    return NULL;
}

/* The order is of the program's own making: a flag that we do not see. */
static void test_order(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, tell, NULL) == 0);
    while (!atomic_load(&is_told))
        ;
    CHECK(!harness_is_exact() || harness_knows(1) == 0);
    harness_forget();
    RH_HAPPENS_AFTER(&object);
    EXPECT({RT_SYNC_ANNOTATED_AFTER, &object});
    CHECK_KNOWS(1, 4);
    CHECK(pthread_join(thread, NULL) == 0);
    harness_forget();
    AnnotateHappensBefore(__FILE__, __LINE__, &object);
    AnnotateHappensAfter(__FILE__, __LINE__, &object);
    AnnotateRWLockCreate(__FILE__, __LINE__, &object);
    AnnotateRWLockAcquired(__FILE__, __LINE__, &object, 1);
    AnnotateRWLockReleased(__FILE__, __LINE__, &object, 1);
    AnnotateRWLockAcquired(__FILE__, __LINE__, &object, 0);
    AnnotateRWLockReleased(__FILE__, __LINE__, &object, 0);
    AnnotateRWLockDestroy(__FILE__, __LINE__, &object);
    AnnotateThreadName(__FILE__, __LINE__, "main");
    EXPECT({RT_SYNC_ANNOTATED_BEFORE, &object}, {RT_SYNC_ANNOTATED_AFTER, &object},
           {RT_SYNC_OBJECT_INIT, &object}, {RT_SYNC_RWLOCK_WRITE, &object},
           {RT_SYNC_RWLOCK_WRITE_UNLOCK, &object}, {RT_SYNC_RWLOCK_READ, &object},
           {RT_SYNC_RWLOCK_READ_UNLOCK, &object}, {RT_SYNC_OBJECT_DESTROY, &object});
}

static void test_benign(void)
{
    static char bytes[64];
    uintptr_t start = (uintptr_t)bytes;
    if (!harness_is_on())
        return;
    CHECK(!rt_is_benign(start + 16, 4));
    for (int i = 0; i < 100000; i++)
        RH_BENIGN_RACE(bytes + 16, 8, "a counter that may lose some");
    AnnotateBenignRaceSized(__FILE__, __LINE__, bytes + 40, 4, "the same");
    CHECK(rt_is_benign(start + 16, 4) && rt_is_benign(start + 23, 1) && rt_is_benign(start, 17));
    CHECK(!rt_is_benign(start + 24, 8) && !rt_is_benign(start + 12, 4));
    CHECK(rt_is_benign(start + 42, 8) && !rt_is_benign(start + 44, 8));
}

/* Inside, nothing is told; the depth is kept per thread and may nest. */
static void test_ignore(void)
{
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
    RH_HAPPENS_BEFORE(&object);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
    RH_HAPPENS_BEFORE(&object);
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
    EXPECT_NOTHING();
    RH_HAPPENS_BEFORE(&object);
    EXPECT({RT_SYNC_ANNOTATED_BEFORE, &object});
    if (!harness_is_on())
        return;
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    CHECK(rt_thread_self()->ignore_reads == 1 && rt_thread_self()->ignore_writes == 0);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    CHECK(rt_thread_self()->ignore_reads == 0);
}

int main(void)
{
    harness_forget();
    test_order();
    test_benign();
    test_ignore();
    return 0;
}
