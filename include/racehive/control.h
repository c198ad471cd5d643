/*
 * The page of shared memory between a run and whoever commands it: tasks go in, events come out.
 * The commander makes a file of sizeof(struct rh_shared), maps it, and names it in the run's
 * RACEHIVE_OPTIONS (control=PATH). The run only ever reads and writes memory: it never waits for
 * the file, and goes on if the commander dies.
 */
#ifndef RACEHIVE_CONTROL_H
#define RACEHIVE_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

#define RH_SHARED_MAGIC   0x52534852u /* "RHSR" */
#define RH_SHARED_VERSION 1u
#define RH_MAX_TASKS      64u
#define RH_RING_SIZE      4096u /* events; a power of two */

/* A site of an image: image 0 is the executable, others count up as they are loaded. */
struct rh_site_name {
    uint32_t image;
    uint32_t site;
};

/* What a run is asked to do for one candidate. */
struct rh_task {
    uint32_t id;
    uint32_t stage;
    uint32_t order;
    uint32_t pause_us;
    struct rh_site_name first, second;
};

/* The commander writes tasks, then task_count, then adds one to `generation` and wakes it as a
 * futex; the run switches its keys and then sets `applied` to that generation. */
struct rh_control {
    _Atomic uint32_t generation;
    _Atomic uint32_t applied;
    uint32_t task_count;
    uint32_t reserved;
    struct rh_task tasks[RH_MAX_TASKS];
};

/* One row per kind of event: suffix, name, what its words hold. */
#define RH_EVENTS(X)                                                                               \
    X(NONE, "none", "")                                                                            \
    X(START, "start", "process id")                                                                \
    X(APPLIED, "applied", "generation, 1 if every key could be switched")                          \
    X(FORK, "fork", "process id of the child")                                                     \
    X(COUNT, "count", "image and site, executions, threads")                                       \
    X(CRASH, "crash", "signal, offset of the instruction in image, fault address class")           \
    X(FINISH, "finish", "process id")

enum rh_event_kind {
#define RH_EVENT_ENUM(id, name, words) RH_EVENT_##id,
    RH_EVENTS(RH_EVENT_ENUM)
#undef RH_EVENT_ENUM
        RH_EVENT_COUNT_
};

/* `sequence` is set last, to the event's position plus one: a reader takes the event at position n
 * only when it is n + 1. */
struct rh_event {
    _Atomic uint64_t sequence;
    uint32_t kind;
    uint32_t thread; /* the runtime's thread id, 0 if none */
    uint64_t words[4];
};
_Static_assert(sizeof(struct rh_event) == 48, "layout shared by runtime and tools");

/* Many writers, one reader. A writer takes a position with an atomic addition; when the ring is
 * full it drops the event and counts it in `lost`, it never waits. */
struct rh_ring {
    _Atomic uint64_t head; /* next position to write */
    _Atomic uint64_t tail; /* next position to read; only the reader moves it */
    _Atomic uint64_t lost;
    uint64_t reserved;
    struct rh_event events[RH_RING_SIZE];
};

struct rh_shared {
    uint32_t magic;
    uint32_t version;
    struct rh_control control;
    struct rh_ring ring;
};

#endif
