/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime's inside: what lives in the user's process and the rules it lives by.
 *
 * Ground rules, because this is someone else's process:
 * - No dependency but libc. Memory comes from rt_map (mmap) and is never given to the program.
 * - Hooks at keys run between two instructions of the program with only the general registers
 *   saved: everything they reach is compiled with -mgeneral-regs-only and calls no libc function;
 *   system calls go through rt_sys* (arch/), which leave errno alone.
 * - Wrappers of pthread functions are ordinary calls, but may be entered before the runtime has
 *   started, from other libraries' constructors, and in a child after fork.
 * - No lock of ours is held while the program's code runs; a thread that dies, forks or is
 *   cancelled leaves nothing locked.
 * - Nothing here exits, aborts, or prints, except what the user asked for with RACEHIVE_OPTIONS.
 */
#ifndef RH_RUNTIME_RT_H
#define RH_RUNTIME_RT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/x86_64/is_set.h"
#include "racehive/image.h"

#define rt_likely(x)   __builtin_expect(!!(x), 1)
#define rt_unlikely(x) __builtin_expect(!!(x), 0)
#define RT_HIDDEN      __attribute__((visibility("hidden")))
#define RT_EXPORT      __attribute__((visibility("default")))

/* --- threads (thread.c) --- */

/*
 * One thread of the program. `id` counts up and is never used twice in a process, so it can be kept
 * after the thread is gone; the struct itself (and `slot`) is reused. Found through a thread-local
 * pointer, never by pthread_t, which the program may see reused.
 */
struct rt_thread {
    /* The detector's own state of this thread, rt_detector->thread_size bytes; NULL if that is 0.
     * It and the slot belong to the struct and stay when that is reused. */
    void *detector;
    uint32_t slot;
    uint32_t id;     /* 1 is the main thread */
    uint32_t parent; /* id of the creator, 0 if unknown */
    int32_t tid;     /* the kernel's number */
    uintptr_t pthread;
    uintptr_t stack_low, stack_high; /* 0 if unknown; one that libc reuses may reach lower */
    _Atomic uint32_t state;          /* enum rt_thread_state */
    _Atomic uint32_t references; /* the thread itself, and its handle until joined or detached */
    uint32_t in_hook;            /* depth: a signal handler may run keys inside a hook */
    uint32_t ignore_reads, ignore_writes, ignore_syncs; /* annotated: depth of each */
    uint32_t held_epoch; /* rt_sync_switch during which the list below was made */
    uint32_t held_count; /* locks held, most recent last */
    uint32_t held_more;  /* held too, but there was no room: counted, not kept */
    struct rt_held {
        const void *lock;
        uint32_t depth;
        uint8_t mode; /* enum rt_held_mode */
    } held[16];
    uint32_t metered; /* hooks and events, for the budget (budget.h) */
    bool paused;      /* it was paused since the last measurement began */
    struct rt_thread *next_free;
    struct rt_thread *next_same; /* in the registry's bucket of `pthread` */
    bool joinable;
    bool adopted;       /* not created through us: its end is found out by asking the kernel */
    bool armed;         /* its destructor will tell us of its end */
    uint8_t end_rounds; /* of thread-specific destructors */
    uint64_t signals;   /* mask to begin with */
    size_t stack_size;  /* as asked for at creation */
    union {
        void *(*posix)(void *);
        int (*c11)(void *);
    } start;
    void *start_arg;
};

/* ENDED: it has announced its end, but its last destructors may still run; the struct stays its own
 * until the kernel thread is gone. */
enum rt_thread_state { RT_THREAD_FREE, RT_THREAD_STARTING, RT_THREAD_RUNNING, RT_THREAD_ENDED };
enum rt_held_mode { RT_HELD_EXCLUSIVE, RT_HELD_SHARED };

/* The calling thread; a thread that was not created through pthread_create (a raw clone, or one
 * older than the runtime) is entered at its first use. NULL only before rt_start or when memory
 * has run out: then the caller does without. Safe in hooks. */
RT_HIDDEN struct rt_thread *rt_thread_self(void);
/* All threads that may be alive now, ended ones that nobody has joined included (see `state`):
 * calls `visit` for each until it returns false. Takes no lock: a thread may end while it is
 * visited. */
RT_HIDDEN void rt_thread_each(bool (*visit)(struct rt_thread *, void *), void *arg);
/* The calling thread is the only one, and none is about to begin. */
RT_HIDDEN bool rt_thread_is_alone(void);
RT_HIDDEN void rt_thread_start_main(void);
/* The object of a thread's create, begin, end and join: no memory, but a number in the kernel's
 * half of the addresses, so that it is never anything else, nor another thread's. */
static inline const volatile void *rt_thread_object(uint32_t id)
{
    return (const volatile void *)(UINTPTR_MAX / 2 + 1 + ((uintptr_t)id << 4));
}

/* --- synchronisation (intercept, kernel) --- */

/*
 * What happened to a synchronisation object: suffix, name, whether the thread gives what it knows
 * to the object (release, announced before it happens) and whether it learns what the object knows
 * (acquire, announced after it happened).
 *
 * SIGNAL_SEND is of its own kind: its object is the thread (rt_thread_object) that a signal, a
 * cancellation or a new handler may reach at any instruction from now on, or NULL if it may be any.
 * There is no acquire: that thread, or every thread, learns at once what the sender knows; one that
 * was created and has not begun yet learns it with its THREAD_BEGIN.
 */
#define RT_SYNCS(X)                                                                                \
    X(MUTEX_LOCK, "mutex lock", 0, 1)                                                              \
    X(MUTEX_UNLOCK, "mutex unlock", 1, 0)                                                          \
    X(OWNER_END, "end of a possible owner", 1, 0)                                                  \
    X(OWNER_DIED, "lock of a dead owner", 0, 1)                                                    \
    X(RWLOCK_READ, "rwlock read lock", 0, 1)                                                       \
    X(RWLOCK_WRITE, "rwlock write lock", 0, 1)                                                     \
    X(RWLOCK_READ_UNLOCK, "rwlock read unlock", 1, 0)                                              \
    X(RWLOCK_WRITE_UNLOCK, "rwlock write unlock", 1, 0)                                            \
    X(SPIN_LOCK, "spin lock", 0, 1)                                                                \
    X(SPIN_UNLOCK, "spin unlock", 1, 0)                                                            \
    X(COND_SIGNAL, "condition signal", 1, 0)                                                       \
    X(COND_WAKE, "condition wake", 0, 1)                                                           \
    X(BARRIER_ARRIVE, "barrier arrive", 1, 0)                                                      \
    X(BARRIER_LEAVE, "barrier leave", 0, 1)                                                        \
    X(SEM_POST, "semaphore post", 1, 0)                                                            \
    X(SEM_WAIT, "semaphore wait", 0, 1)                                                            \
    X(ONCE_DONE, "once done", 1, 0)                                                                \
    X(ONCE_PASS, "once pass", 0, 1)                                                                \
    X(THREAD_CREATE, "thread create", 1, 0)                                                        \
    X(THREAD_BEGIN, "thread begin", 0, 1)                                                          \
    X(THREAD_END, "thread end", 1, 0)                                                              \
    X(THREAD_JOIN, "thread join", 0, 1)                                                            \
    X(KERNEL_SEND, "kernel send", 1, 0)                                                            \
    X(KERNEL_RECEIVE, "kernel receive", 0, 1)                                                      \
    X(SIGNAL_SEND, "signal send", 1, 0)                                                            \
    X(ANNOTATED_BEFORE, "annotated happens-before", 1, 0)                                          \
    X(ANNOTATED_AFTER, "annotated happens-after", 0, 1)                                            \
    X(OBJECT_INIT, "object init", 0, 0)                                                            \
    X(OBJECT_DESTROY, "object destroy", 0, 0)

enum rt_sync {
#define RT_SYNC_ENUM(id, name, rel, acq) RT_SYNC_##id,
    RT_SYNCS(RT_SYNC_ENUM)
#undef RT_SYNC_ENUM
        RT_SYNC_COUNT
};

/* Not 0 while a detector wants synchronisation events. Wrappers test it after an acquire and before
 * a release, so that an acquire that ends after the switch is never missed: whoever learns
 * something learns it from a thread that had seen the switch. rt_sync_switch sets it for good;
 * rt_sync_need and rt_sync_done come in pairs and may overlap in any way. Lists of held locks from
 * before are void: a list is complete for locks taken since, not for those taken earlier. */
extern RT_HIDDEN _Atomic uint32_t rt_sync_live;
RT_HIDDEN void rt_sync_switch(bool on);
RT_HIDDEN void rt_sync_need(void);
RT_HIDDEN void rt_sync_done(void);
RT_HIDDEN void rt_sync_event(enum rt_sync what, const volatile void *object);
static inline bool rt_sync_is_live(void)
{
    return rt_unlikely(rt_arch_is_set(&rt_sync_live));
}
static inline void rt_sync(enum rt_sync what, const volatile void *object)
{
    if (rt_sync_is_live())
        rt_sync_event(what, object);
}

/* --- memory that is given back (memory.c) --- */

/* How many ask to be told of it (the detector's `gone`). Who counts up must not rely on being told
 * before every thread has been seen to run since: a free that had looked before may still be on its
 * way. */
extern RT_HIDDEN _Atomic uint32_t rt_memory_live;
/* Tells the detector that these bytes are about to be given back. Not for hooks. */
RT_HIDDEN void rt_memory_gone(uintptr_t start, size_t size);

/* --- detectors (detect/NAME.c) --- */

struct rh_task;
struct rt_image;

struct rt_access {
    struct rh_image *image;
    uint32_t site; /* in its image */
    uint8_t kind;  /* enum rh_access_kind */
    uint8_t order; /* enum rh_memory_order */
    uint16_t flags;
    bool ignored;  /* it still orders threads, but is not to be watched as an access */
    uint8_t users; /* enum rt_keys_user: who asked to be told */
    uintptr_t address;
    uint64_t size;
    const struct rh_hook_frame *frame;
};

/*
 * Memory that a call touches and that no site shows. Whoever uses a synchronisation object reads
 * it; init and destroy write it. A system call reads what it sends and writes what it receives.
 *
 * A use is told before the event of the same call: what a lock acquires does not order the use of
 * that lock, what an unlock releases does. (Of an acquire both are told when the real call has
 * returned.) Only memory that a system call fills is told of after its event: nothing is filled
 * before the data has come.
 */
struct rt_use {
    enum rt_sync what; /* the event that it belongs to: KERNEL_SEND or KERNEL_RECEIVE of a buffer */
    bool is_write;
    uintptr_t address; /* the program's, and perhaps nonsense: not to be followed */
    size_t size;       /* never 0; of what is sent, as much as was asked for */
    uintptr_t caller;  /* return address of the call; rt_stack_here gives the whole stack */
};

/* One algorithm that watches a run. Its name and what tools know of it are in racehive/detectors.h.
 */
struct rt_detector {
    /* What it keeps of each thread, zeroed when the thread begins, at self->detector whenever it is
     * called. Always 0 or a multiple of 8. */
    uint32_t thread_size;
    /* False: it cannot work here (message already made), the program runs idle. */
    bool (*start)(void);
    void (*access)(struct rt_thread *self, const struct rt_access *a);
    /* Where keys that are on arrive, and checks that want the long way, instead of rt_hook, which
     * it may call; NULL: there. */
    void (*hook)(struct rh_image *image, struct rh_hook_frame *frame);
    /* Where checks arrive first (racehive/image.h); NULL: images with checks stay off. */
    bool (*check)(struct rh_image *image, uintptr_t address, uint64_t key, uint64_t shape,
                  uintptr_t stack);
    /* After an atomic or fence that may acquire. */
    void (*after)(struct rt_thread *self, const struct rt_access *a);
    uint32_t fresh_slots;    /* so many slots are given out before one is given out again */
    uint32_t pause_floor_ms; /* pauses may always take what this much running earns */
    /* It wants synchronisation events all the time; else only between rt_sync_need and
     * rt_sync_done. */
    bool wants_syncs;
    /* NULL when it needs no synchronisation events: then wrappers stay idle. Entered again, with
     * in_hook above 1, when a signal handler synchronises (sem_post) inside a hook or inside sync:
     * the release cannot be put off, so it must not wait for a lock this thread may hold. A thread
     * that is joined has announced its THREAD_END itself; the joiner announces it once more in its
     * name (self is then the thread that is gone), for what its last destructors did. */
    void (*sync)(struct rt_thread *self, enum rt_sync what, const volatile void *object);
    /* While events are live: a call touches memory on behalf of the program. NULL when it does not
     * matter. Entered again like `sync`. */
    void (*use)(struct rt_thread *self, const struct rt_use *use);
    /* While rt_memory_live is not 0: these bytes are about to be freed or unmapped, and what other
     * threads do with them later is about something else. NULL when it does not matter. Also told
     * when it then fails, or when a realloc leaves the block where it is. Entered again like
     * `sync`. */
    void (*gone)(struct rt_thread *self, uintptr_t start, size_t size);
    /* In the new thread, before its THREAD_BEGIN. */
    void (*thread_begin)(struct rt_thread *self);
    /* When the thread is gone and no more events of it can come; runs in the joiner, or in a thread
     * that takes over its struct, or not at all if the process ends first. */
    void (*thread_end)(struct rt_thread *gone);
    /* In the child after fork, when only the calling thread is left. */
    void (*after_fork)(struct rt_thread *self);
    /* At exit, and before exec: write what was found. May be called while other threads run. */
    void (*finish)(void);
    /* The tasks have changed; it switches their keys itself. Called by the runtime's own thread, or
     * before the program starts, never twice at once. False: not now, try again soon. NULL: it has
     * no use for tasks, but their sites shall be armed. */
    bool (*tasks)(const struct rh_task *tasks, uint32_t count);
    /* An image has been registered, before its code runs. */
    void (*image)(struct rt_image *image);
    /* It is about to be unloaded: other code and data may come to lie where it was. */
    void (*image_gone)(struct rt_image *image);
    /* Now and then, by the runtime's own thread, while there are tasks. */
    void (*tick)(void);
    /* When that thread has been made, also in a child after fork: it may make one of its own. */
    void (*serve)(void);
    /* Before a thread is created, in its creator, with signals blocked; not in a hook. */
    void (*creating)(void);
    /* An image, the executable too, is about to be armed: its functions want numbers. */
    void (*functions)(struct rt_image *image);
    /* It is not to be told of this site, whose image takes part. NULL: of all that are armed. */
    bool (*is_known)(const struct rt_image *image, uint32_t site);
    /* It follows where pointers are stored and blocks allocated: keys of RH_KEY_ESCAPE are on for
     * as long as it runs, and images without them stay off. */
    bool wants_stores;
    /* It samples this detector's accesses by function (racehive/sampled.h): the callbacks that
     * it does not define are the other's, and those it defines call the other's (init.c). */
    const struct rt_detector *sampled;
};

/* --- the process (init.c) --- */

enum rt_mode {
    RT_MODE_NEW,  /* rt_start has not run */
    RT_MODE_OFF,  /* switched off by the user, or nothing asked for: keys stay off */
    RT_MODE_LIVE, /* a detector runs */
};

extern RT_HIDDEN _Atomic int rt_mode;
extern RT_HIDDEN const struct rt_detector *rt_detector; /* NULL unless live */
/* Runs once, from .preinit_array or from the first wrapper that is called before. */
RT_HIDDEN void rt_start(void);
/* Ends the detector once; later calls do nothing. */
RT_HIDDEN void rt_finish(void);

/* True if the annotations say that races on these bytes are harmless. For reports, not for hooks.
 */
RT_HIDDEN bool rt_is_benign(uintptr_t address, uint64_t size);

/* --- fork (fork.c): run by fork through pthread_atfork, which also knows the forks libc itself
 * makes, and by the wrapper of _Fork, which runs no such handlers --- */
RT_HIDDEN void rt_fork_before(void);
RT_HIDDEN void rt_fork_parent(void);
RT_HIDDEN void rt_fork_child(void);

#endif
