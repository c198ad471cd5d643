/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotations in the program: our own (racehive/annotations.h), and those that programs carry for
 * ThreadSanitizer, Helgrind and their kin. All weak: a program that brings definitions of its own,
 * as many do with empty ones, keeps them.
 */
#include "loss.h"
#include "rt.h"

#include "sync.h"

#define ANNOTATION(name, params)                                                                   \
    RT_EXPORT __attribute__((weak)) void name params;                                              \
    void name params

/* --- order --- */

ANNOTATION(__rh_happens_before, (const volatile void *address))
{
    rt_sync(RT_SYNC_ANNOTATED_BEFORE, address);
}

ANNOTATION(__rh_happens_after, (const volatile void *address))
{
    rt_sync(RT_SYNC_ANNOTATED_AFTER, address);
}

/* What functions do that --rh-config names: see glue.c. */
ANNOTATION(__rh_lock, (const volatile void *address))
{
    rt_sync(RT_SYNC_SPIN_LOCK, address);
}

ANNOTATION(__rh_unlock, (const volatile void *address))
{
    rt_sync(RT_SYNC_SPIN_UNLOCK, address);
}

/* --- benign races --- */

/*
 * Kept in the order of their coming; a row is complete when its size is set. Read only when a race
 * is about to be reported. A program may annotate the same object again and again: such a row is
 * not repeated.
 */
enum { BENIGN_ROWS = 4096 };

static struct benign {
    _Atomic uintptr_t address;
    _Atomic uint64_t size;
} benign[BENIGN_ROWS];
static _Atomic uint32_t benign_count;

static uint32_t benign_rows(void)
{
    uint32_t count = atomic_load(&benign_count);
    return count < BENIGN_ROWS ? count : BENIGN_ROWS;
}

static bool is_noted(uintptr_t address, uint64_t size)
{
    for (uint32_t i = 0; i < benign_rows(); i++)
        if (atomic_load(&benign[i].size) >= size && atomic_load(&benign[i].address) == address)
            return true;
    return false;
}

ANNOTATION(__rh_benign_race, (const volatile void *address, size_t size, const char *why))
{
    (void)why; /* for whoever reads the source */
    if (atomic_load(&rt_mode) != RT_MODE_LIVE || is_noted((uintptr_t)address, size))
        return;
    uint32_t row = benign_rows() < BENIGN_ROWS ? atomic_fetch_add(&benign_count, 1) : BENIGN_ROWS;
    if (row >= BENIGN_ROWS) {
        rt_lose(RH_LOSS_BENIGN);
        return;
    }
    atomic_store(&benign[row].address, (uintptr_t)address);
    atomic_store(&benign[row].size, size);
}

bool rt_is_benign(uintptr_t address, uint64_t size)
{
    for (uint32_t i = 0; i < benign_rows(); i++) {
        uintptr_t start = atomic_load(&benign[i].address);
        uint64_t length = atomic_load(&benign[i].size);
        if (address < start + length && start < address + size)
            return true;
    }
    return false;
}

/* --- the names of others: file and line come first and tell us nothing new --- */

ANNOTATION(AnnotateHappensBefore, (const char *f, int l, const volatile void *address))
{
    (void)f, (void)l;
    rt_sync(RT_SYNC_ANNOTATED_BEFORE, address);
}

ANNOTATION(AnnotateHappensAfter, (const char *f, int l, const volatile void *address))
{
    (void)f, (void)l;
    rt_sync(RT_SYNC_ANNOTATED_AFTER, address);
}

ANNOTATION(__tsan_release, (void *address))
{
    rt_sync(RT_SYNC_ANNOTATED_BEFORE, address);
}

ANNOTATION(__tsan_acquire, (void *address))
{
    rt_sync(RT_SYNC_ANNOTATED_AFTER, address);
}

ANNOTATION(AnnotateRWLockCreate, (const char *f, int l, const volatile void *lock))
{
    (void)f, (void)l;
    rt_sync(RT_SYNC_OBJECT_INIT, lock);
}

ANNOTATION(AnnotateRWLockCreateStatic, (const char *f, int l, const volatile void *lock))
{
    (void)f, (void)l;
    rt_sync(RT_SYNC_OBJECT_INIT, lock);
}

ANNOTATION(AnnotateRWLockDestroy, (const char *f, int l, const volatile void *lock))
{
    (void)f, (void)l;
    rt_sync(RT_SYNC_OBJECT_DESTROY, lock);
}

ANNOTATION(AnnotateRWLockAcquired, (const char *f, int l, const volatile void *lock, long write))
{
    (void)f, (void)l;
    rt_sync(write ? RT_SYNC_RWLOCK_WRITE : RT_SYNC_RWLOCK_READ, lock);
}

ANNOTATION(AnnotateRWLockReleased, (const char *f, int l, const volatile void *lock, long write))
{
    (void)f, (void)l;
    rt_sync(write ? RT_SYNC_RWLOCK_WRITE_UNLOCK : RT_SYNC_RWLOCK_READ_UNLOCK, lock);
}

ANNOTATION(AnnotateCondVarSignal, (const char *f, int l, const volatile void *cond))
{
    (void)f, (void)l;
    rt_sync(RT_SYNC_COND_SIGNAL, cond);
}

ANNOTATION(AnnotateCondVarSignalAll, (const char *f, int l, const volatile void *cond))
{
    (void)f, (void)l;
    rt_sync(RT_SYNC_COND_SIGNAL, cond);
}

ANNOTATION(AnnotateCondVarWait,
           (const char *f, int l, const volatile void *cond, const volatile void *lock))
{
    (void)f, (void)l, (void)lock;
    rt_sync(RT_SYNC_COND_WAKE, cond);
}

ANNOTATION(AnnotateBenignRaceSized,
           (const char *f, int l, const volatile void *address, size_t size, const char *why))
{
    (void)f, (void)l;
    __rh_benign_race(address, size, why);
}

ANNOTATION(AnnotateBenignRace,
           (const char *f, int l, const volatile void *address, const char *why))
{
    (void)f, (void)l;
    __rh_benign_race(address, 1, why);
}

/* --- stretches of code that are not watched --- */

#define IGNORE_PAIR(what, member)                                                                  \
    ANNOTATION(AnnotateIgnore##what##Begin, (const char *f, int l))                                \
    {                                                                                              \
        struct rt_thread *self = rt_thread_self();                                                 \
        (void)f, (void)l;                                                                          \
        if (self)                                                                                  \
            self->member++;                                                                        \
    }                                                                                              \
    ANNOTATION(AnnotateIgnore##what##End, (const char *f, int l))                                  \
    {                                                                                              \
        struct rt_thread *self = rt_thread_self();                                                 \
        (void)f, (void)l;                                                                          \
        if (self && self->member)                                                                  \
            self->member--;                                                                        \
    }

IGNORE_PAIR(Reads, ignore_reads)
IGNORE_PAIR(Writes, ignore_writes)
IGNORE_PAIR(Sync, ignore_syncs)

/* --- called by programs that carry the whole set, without meaning for us --- */

#define WITHOUT_MEANING(name, params)                                                              \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wunused-parameter\"")        \
        ANNOTATION(name, params)                                                                   \
    {                                                                                              \
    }                                                                                              \
    _Pragma("GCC diagnostic pop")

WITHOUT_MEANING(AnnotateMutexIsNotPHB, (const char *f, int l, const volatile void *mutex))
WITHOUT_MEANING(AnnotateMutexIsUsedAsCondVar, (const char *f, int l, const volatile void *mutex))
WITHOUT_MEANING(AnnotateTraceMemory, (const char *f, int l, const volatile void *address))
WITHOUT_MEANING(AnnotateFlushState, (const char *f, int l))
WITHOUT_MEANING(AnnotateNewMemory,
                (const char *f, int l, const volatile void *address, size_t size))
WITHOUT_MEANING(AnnotateNoOp, (const char *f, int l, const volatile void *address))
WITHOUT_MEANING(AnnotateFlushExpectedRaces, (const char *f, int l))
WITHOUT_MEANING(AnnotateEnableRaceDetection, (const char *f, int l, int enable))
WITHOUT_MEANING(AnnotateExpectRace,
                (const char *f, int l, const volatile void *address, const char *why))
WITHOUT_MEANING(AnnotatePCQCreate, (const char *f, int l, const volatile void *queue))
WITHOUT_MEANING(AnnotatePCQDestroy, (const char *f, int l, const volatile void *queue))
WITHOUT_MEANING(AnnotatePCQPut, (const char *f, int l, const volatile void *queue))
WITHOUT_MEANING(AnnotatePCQGet, (const char *f, int l, const volatile void *queue))
WITHOUT_MEANING(AnnotatePublishMemoryRange,
                (const char *f, int l, const volatile void *address, size_t size))
WITHOUT_MEANING(AnnotateUnpublishMemoryRange,
                (const char *f, int l, const volatile void *address, size_t size))
WITHOUT_MEANING(AnnotateThreadName, (const char *f, int l, const char *name))
