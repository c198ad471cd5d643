/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared memory between a run and its controller: tasks go in; results, findings and events
 * come out. The controller makes a file of sizeof(struct rh_shared), maps it, and names it in the
 * run's RACEHIVE_OPTIONS (control=PATH). The run only ever reads and writes memory: it never waits
 * for the file, and goes on if the controller dies. What the run has written stays when it is
 * killed.
 *
 * Images. What a site is in a run: the number of its image and its own number in that image. What
 * it is across runs: the image's build id, by which the image's sidecar and its store of runs are
 * found, and its number there; across builds: the image's name and the site's fingerprint.
 *
 * The number of an image is its row in `keyed`, which has its build id. 0 is the program that the
 * controller starts. The controller enters the libraries that it knows before the start, so that it
 * can ask for their sites; any process of the run enters what it loads beside these. A row is never
 * given to another build: a library that is unloaded and loaded again has its old number, one that
 * comes to lie at the addresses of another has a number of its own, and the processes of a run (a
 * child of fork, or another program that it executes) agree on all of them. An image that gets no
 * number, because it has no build id, or because there is no room or another copy of it has it
 * already, does not take part: its keys stay off.
 *
 * Tasks, wishes, meetings and findings may be about sites of any of these images, and of two.
 *
 * All counters only grow, and every record is complete once the word that announces it is set, so
 * the controller may look at any time.
 */
#ifndef RACEHIVE_CONTROL_H
#define RACEHIVE_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

#define RH_SHARED_MAGIC   0x52534852u /* "RHSR" */
#define RH_SHARED_VERSION 10u
#define RH_MAX_TASKS      64u
#define RH_RING_SIZE      1024u /* events; a power of two */
#define RH_MAX_IMAGES     64u
#define RH_MAX_KEYED      64u /* instrumented images */
#define RH_MAX_PROCESSES  64u
#define RH_MAX_FINDINGS   4096u
#define RH_MAX_FRAMES     32u
#define RH_MAX_LOCKS      8u
#define RH_MAX_PAIRS      (1u << 14)

/* A site of an image, by its number in the run. */
struct rh_site_name {
    uint32_t image;
    uint32_t site;
};

enum { RH_BUILD_ID_SIZE = 20 }; /* of longer ones the first bytes are taken */

/* Who has a row of `keyed`. */
enum rh_keyed_state {
    RH_KEYED_FREE,
    RH_KEYED_TAKEN, /* someone is about to fill it in; one who dies then leaves it so */
    RH_KEYED_KNOWN, /* complete, by the controller: no process has loaded it yet */
    RH_KEYED_LOADED /* complete, and a process had it loaded at some time */
};

/* An instrumented image of the run; its number is that of the row. */
struct rh_keyed_image {
    _Atomic uint32_t state; /* enum rh_keyed_state; set last */
    uint32_t site_count;    /* those without keys, which come last, may be left out */
    /* Of its first site, in the scout's wishes and in what ran; may lie beyond these. */
    uint32_t first_site;
    uint32_t build_id_size; /* never 0 */
    uint8_t build_id[RH_BUILD_ID_SIZE];
    uint32_t reserved;
    char path[216]; /* as the loader knows it, "" for the executable, or if it is too long */
};
_Static_assert(sizeof(struct rh_keyed_image) == 256, "layout shared by runtime and tools");

/* How far a candidate has come. A task of one stage does the work of the earlier ones too. */
enum rh_stage {
    RH_STAGE_MEET,  /* do two threads touch the same bytes at the two sites? */
    RH_STAGE_ORDER, /* happens-before on demand */
    RH_STAGE_STEER, /* and a pause before the access that would come too early */
};

/* Which of the two accesses goes first. */
enum rh_race_order { RH_ORDER_PRIMARY, RH_ORDER_ALTERNATE };

/* What a run is asked to do for one candidate. */
struct rh_task {
    uint32_t id;       /* the controller's own */
    uint32_t stage;    /* enum rh_stage */
    uint32_t order;    /* enum rh_race_order: the one to steer to */
    uint32_t pause_us; /* the longest pause */
    uint32_t skip;     /* executions of the site to let pass before the pause */
    uint32_t reserved;
    struct rh_site_name first, second;
};

/* What has been seen of a task: one row per flag (suffix, name). */
#define RH_SEEN_FLAGS(X)                                                                           \
    X(FIRST, "first ran")                                                                          \
    X(SECOND, "second ran")                                                                        \
    X(THREADS, "both ran, in different threads")                                                   \
    X(MEET, "two threads touched the same bytes at the two sites")                                 \
    X(STEERED, "the order asked for was brought about by a pause")                                 \
    X(HOT, "a key was too hot for the budget, and was off for some time")                          \
    X(UNTRACKED, "it was not followed for some time, for the budget")

enum rh_seen_bit {
#define RH_SEEN_ENUM(id, name) RH_SEEN_BIT_##id,
    RH_SEEN_FLAGS(RH_SEEN_ENUM)
#undef RH_SEEN_ENUM
};
enum rh_seen {
#define RH_SEEN_ENUM(id, name) RH_SEEN_##id = 1 << RH_SEEN_BIT_##id,
    RH_SEEN_FLAGS(RH_SEEN_ENUM)
#undef RH_SEEN_ENUM
};

/* The result of the task with the same index. Arrays of two are by order or by site. */
struct rh_result {
    _Atomic uint32_t seen;       /* enum rh_seen, or'ed */
    _Atomic uint32_t ordered[2]; /* second accesses whose thread had learned of the first */
    _Atomic uint32_t raced[2];   /* second accesses whose thread had not, or that met a pause */
    _Atomic uint32_t tracked;    /* first accesses that were recorded */
    _Atomic uint32_t learned;    /* of these, those that every thread learned of */
    _Atomic uint32_t pauses;
    _Atomic uint32_t timeouts; /* pauses in which nothing came */
    _Atomic uint32_t reserved;
    _Atomic uint64_t executions[2]; /* of first and second; complete at the end of the run */
};

/* --- evidence --- */

#define RH_NO_IMAGE 0xffffffffu

/* Code or data as an offset in an image, the same in every run. */
struct rh_place {
    uint32_t image; /* in `images`, or RH_NO_IMAGE: then the offset is 0 */
    uint32_t tag;   /* of a lock: equal if it is the same one; else 0 */
    uint64_t offset;
};

/* An image of the process, in the order they were seen; not the numbers of struct rh_site_name. */
struct rh_image_name {
    _Atomic uint32_t ready; /* set last */
    uint32_t build_id_size; /* 0 if it has none */
    uint8_t build_id[RH_BUILD_ID_SIZE];
    char path[228]; /* as the loader knows it, its end if it is too long; "" for the executable */
};
_Static_assert(sizeof(struct rh_image_name) == 256, "layout shared by runtime and tools");

enum rh_proof {
    RH_PROOF_UNORDERED, /* no chain of synchronisation leads from the first access to the second */
    RH_PROOF_COLLISION, /* one thread was paused before its access while the other made its own */
    /* The first access is uninstrumented: the value changed while a thread was paused before its
     * access; and the processor saw who wrote it. */
    RH_PROOF_CHANGED,
    RH_PROOF_WATCHPOINT,
    RH_PROOF_COUNT
};

enum rh_block_kind {
    RH_BLOCK_GLOBAL, /* in an image */
    RH_BLOCK_STACK,  /* of a thread */
    RH_BLOCK_OTHER,  /* the heap, or other mapped memory */
};

/* One of the two accesses. frames[0] is the site; each place is a return address, so the byte
 * before it belongs to the code meant. An *uninstrumented access* has no site: its image is
 * RH_NO_IMAGE, and its thread and frames may be missing. */
struct rh_finding_side {
    struct rh_site_name site;
    uint32_t thread; /* ids as the runtime counts them: 1 is the main thread; 0 if unknown */
    uint32_t parent; /* id of its creator, 0 if unknown */
    uint32_t frame_count;
    uint32_t lock_count; /* locks that it is known to hold */
    uint32_t size;
    uint32_t reserved;
    struct rh_place frames[RH_MAX_FRAMES];
    struct rh_place locks[RH_MAX_LOCKS];
};

static inline int rh_side_is_uninstrumented(const struct rh_finding_side *side)
{
    return side->site.image == RH_NO_IMAGE;
}

/* Two accesses that race. A finding knows nothing of tasks: the candidate that it answers is the
 * one of its two sites, whoever came first. A run has each pair of sites at most once in each order
 * and with each proof; a second time if the first stack was not known to begin with. */
struct rh_finding {
    uint32_t proof;        /* enum rh_proof */
    uint32_t opaque;       /* 1 << enum rh_opaque: synchronisation that may have been missed */
    uint32_t block;        /* enum rh_block_kind */
    uint32_t block_thread; /* whose stack */
    /* Set last. Not at the beginning or end, which are stored to when the finding is made room for.
     */
    _Atomic uint32_t ready;
    uint32_t pause_us;               /* how long the paused thread had waited; 0 if none was */
    struct rh_place data;            /* of a global */
    struct rh_finding_side sides[2]; /* in the order in which they came */
};

/* --- what the scout is asked, and what it saw --- */

#define RH_SCOUT_SITES (1u << 18) /* sites of all images together that it can tell of */
#define RH_MET_BITS    15
#define RH_MET_PAIRS   (1u << RH_MET_BITS)

/* How much a run shall look at a site: one row per wish. */
enum rh_scout_wish {
    RH_SCOUT_USUAL, /* as often as any other */
    RH_SCOUT_RAN,   /* the same, but earlier runs have seen it: it will run */
    RH_SCOUT_FOCUS, /* it met another without a common lock, and no race is proved yet */
    RH_SCOUT_KNOWN, /* earlier runs have shown enough of it: for narrow windows of its kin alone */
};

/* What a run showed of a site. */
enum rh_scout_ran {
    RH_RAN_NOT_SEEN,
    RH_RAN_ONE_THREAD,
    RH_RAN_THREADS,
    RH_RAN_ESCAPED, /* it touched memory that others can reach; told by caper alone */
};

enum rh_met_count {
    RH_MET_ORDERED,
    RH_MET_UNORDERED,
    RH_MET_LOCKED,
    RH_MET_UNLOCKED,
    RH_MET_HINTED, /* in different windows, without a common lock; not a meeting, but a hint at one
                    */
    RH_MET_COLLIDED, /* of the unordered ones */
    RH_MET_COUNTS
};

/* Two sites that met: two threads touched common bytes at them, at least one writing. */
struct rh_met_pair {
    _Atomic uint64_t sites; /* rh_met_sites; 0: free */
    /* Meetings by enum rh_met_count; about a thousand is the most that is counted. */
    _Atomic uint32_t counts[RH_MET_COUNTS];
};

/* A site in one word: the image's number above, the site's below. */
#define RH_SITE_WORD_BITS 24
static inline uint32_t rh_site_word(uint32_t image, uint32_t site)
{
    return image << RH_SITE_WORD_BITS | site;
}
static inline struct rh_site_name rh_site_name_of(uint32_t word)
{
    return (struct rh_site_name){word >> RH_SITE_WORD_BITS, word & ((1u << RH_SITE_WORD_BITS) - 1)};
}

/* Two site words, the smaller one above, and never 0: images are fewer than 128. */
static inline uint64_t rh_met_sites(uint32_t a, uint32_t b)
{
    return (a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a) | 1ull << 63;
}
static inline uint32_t rh_met_first(uint64_t sites)
{
    return (uint32_t)(sites >> 32) & 0x7fffffffu;
}
static inline uint32_t rh_met_second(uint64_t sites)
{
    return (uint32_t)sites;
}

struct rh_scout {
    uint8_t wishes[RH_SCOUT_SITES]; /* enum rh_scout_wish; by the controller, before the start */
    _Atomic uint8_t ran[RH_SCOUT_SITES];  /* enum rh_scout_ran */
    struct rh_met_pair met[RH_MET_PAIRS]; /* in any order, with gaps */
    _Atomic uint32_t met_lost;            /* meetings of pairs that found no room */
    _Atomic uint32_t windows;             /* that were opened */
    _Atomic uint32_t ambushes;            /* threads that lay in ambush, and */
    _Atomic uint32_t collisions;          /* accesses that collided with one */
};

/* --- pairs of functions --- */

/* Two functions that ran at the same time in two threads, by their fingerprints, the smaller one
 * first. A run may have one several times. */
struct rh_function_pair {
    uint64_t first, second;
    uint32_t known;        /* calls of earlier runs in which it was seen; by the controller */
    _Atomic uint32_t seen; /* calls of this run; 0: not seen, or not complete */
};

/* The controller enters those it knows before the start; the run adds others. */
struct rh_pairs {
    _Atomic uint32_t count;
    uint32_t reserved;
    struct rh_function_pair at[RH_MAX_PAIRS];
};

/* --- the ways in and out --- */

/* The controller writes tasks, then task_count, then adds one to `generation` and wakes it as a
 * futex; the run switches its keys and then sets `applied` to that generation. Results go on
 * counting if the tasks of the next generation are of the same candidates, by index. */
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
    X(CRASH, "crash", "signal, image, offset in it, tasks that had steered or raced, as bits")     \
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
 * full it drops the event and counts it (RH_LOSS_EVENT), it never waits. */
struct rh_ring {
    _Atomic uint64_t head; /* next position to write */
    _Atomic uint64_t tail; /* next position to read; only the reader moves it */
    struct rh_event events[RH_RING_SIZE];
};

/* Why the process may hold synchronisation that is not seen: one row per reason. */
#define RH_OPAQUES(X)                                                                              \
    X(LIBRARY, "a library without keys that may synchronise by itself")                            \
    X(ASSEMBLY, "in the program, assembly, code without bitcode, functions looked up by name, or " \
                "functions that the C library calls under its locks")                              \
    X(STREAM, "a stdio stream on a pipe or socket")                                                \
    X(KEYS, "keys of atomic operations could not be switched on")                                  \
    X(THREAD, "a thread that could not be registered")                                             \
    X(HELPER, "a thread that the C library makes itself, for aio, timers or lookups")              \
    X(OPENMP, "OpenMP that is not followed: untied or detached tasks, or a library without tools") \
    X(CLONE, "a thread made by clone")                                                             \
    X(SHARED, "memory that is shared with other processes, through which these may pass order on") \
    X(APART, "a library loaded with RTLD_DEEPBIND or by dlmopen, which calls libc past the "       \
             "runtime")

enum rh_opaque {
#define RH_OPAQUE_ENUM(id, name) RH_OPAQUE_##id,
    RH_OPAQUES(RH_OPAQUE_ENUM)
#undef RH_OPAQUE_ENUM
        RH_OPAQUE_COUNT
};

/* What a run could not do or keep, counted by reason: one row per reason. None of it makes a wrong
 * report; each may hide a race or a part of its evidence. */
#define RH_LOSSES(X)                                                                               \
    X(FINDING, "findings not kept")                                                                \
    X(EVENT, "events not kept, the ring was full")                                                 \
    X(MET_FULL, "meetings not kept, of too many pairs of sites")                                   \
    X(MET_UNNAMED, "meetings not kept, of an image without a sidecar")                             \
    X(IMAGE, "images that do not take part, without a build id, too many or in two copies")        \
    X(HOOK_NESTED, "accesses not seen, a signal handler ran inside a hook")                        \
    X(HOOK_NO_THREAD, "accesses not seen, their thread could not be registered")                   \
    X(BARRIER, "waits at barriers not followed, shared between processes or too many")             \
    X(BENIGN, "annotations of benign races not noted, too many")                                   \
    X(UNCOUNTED, "accesses not counted, no memory or too many images")                             \
    X(KEY_TEXT_READ_ONLY, "accesses not watched, code cannot be changed here")                     \
    X(KEY_CORES_NOT_SYNCED, "accesses not watched, the kernel refuses membarrier")                 \
    X(KEY_FOREIGN_BYTE, "accesses not watched, their code was changed by someone else")            \
    X(KEY_STACK_ADDRESS, "accesses not watched, their address counts from the stack or a segment") \
    X(KEY_NO_MEMORY, "accesses not watched, no memory for their keys")                             \
    X(SHADOW, "accesses not kept, no shadow memory or its holder did not come back")               \
    X(SHADOW_DROPPED, "times that all earlier accesses were dropped, at the limit of memory")      \
    X(ORIGIN, "stacks of earlier accesses not kept, too many or no memory")                        \
    X(PAIR, "pairs of functions not kept, too many")                                               \
    X(SHARED_CLOCK, "threads that share a clock with another, as more than 64 are alive")          \
    X(ESCAPE_BLOCK, "blocks taken to have escaped from the beginning, no memory to follow them")   \
    X(ESCAPE_SCAN, "blocks whose pointers were not followed, no memory")                           \
    X(ESCAPE_HIDDEN, "blocks that reached another thread in a way that was not seen")              \
    X(ESCAPE_SITE, "sites that touched escaped memory and found no room, too many")

enum rh_loss {
#define RH_LOSS_ENUM(id, words) RH_LOSS_##id,
    RH_LOSSES(RH_LOSS_ENUM)
#undef RH_LOSS_ENUM
        RH_LOSS_COUNT
};

/* `findings` comes last: the controller gives the file memory up to there, and what lies behind
 * costs nothing until it is written. */
struct rh_shared {
    uint32_t magic;
    uint32_t version;
    struct rh_control control;
    struct rh_result results[RH_MAX_TASKS];
    _Atomic uint32_t opaque; /* reasons, 1 << enum rh_opaque */
    _Atomic uint32_t benign; /* races left out because an annotation says they are meant */
    _Atomic uint64_t hook_ns, pause_ns; /* spent so far, as far as it is known */
    _Atomic uint64_t losses[RH_LOSS_COUNT];
    _Atomic uint32_t finding_count; /* slots taken in `findings`, never more than it has */
    _Atomic uint32_t site_count;    /* sites of the images in `keyed` */
    /* The processes of the run: each that starts, or is forked, enters itself if there is room, and
     * leaves when it ends in good order. 0: free. */
    _Atomic int32_t processes[RH_MAX_PROCESSES];
    char program[1024]; /* path of the executable; only if the runtime has made the page itself */
    struct rh_keyed_image keyed[RH_MAX_KEYED];
    struct rh_image_name images[RH_MAX_IMAGES];
    struct rh_ring ring;
    struct rh_scout scout;
    struct rh_pairs pairs;
    struct rh_finding findings[RH_MAX_FINDINGS];
};

#endif
