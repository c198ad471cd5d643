/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When and under which locks each instruction runs: thread classes, which threads may be alive, and
 * the locks that are surely held.
 *
 * A *thread* here is a class: all threads that one call starts in one instance, the main thread,
 * the team that one OpenMP region runs in, the handler that one call registers for a signal, in a
 * shared library whoever calls an exported function, and all threads that code without bitcode may
 * start. Threads are found by following calls from each entry (rh_pointsto_entries).
 *
 * Code without bitcode may run what it was given in threads of its own, if it can start any
 * (`outside_starts`): then every call of an unknown function may start such threads, any number of
 * them, and nothing is known of their end. A team is many threads; all have ended when the call
 * that started them returns. The calling thread is one of them.
 *
 * How it works: for every thread, its functions are walked from the entry with a state that is
 * exact in what matters: (a) *alive*: the other threads that may run at this point, as the walking
 * thread can know it: those it (or a thread it started) has started and not yet surely joined; (b)
 * *locks*: the locks that are held on every way here. A function is walked once for each distinct
 * state it is entered with (a *context*), so that a helper called before the first thread is
 * started and under a lock later is not confused; a function with too many contexts falls back to
 * one whose alive set is the union and whose locks are the intersection of all. What a call does to
 * the state is read off the contexts of its targets at their returns.
 *
 * Joins. A join is understood if the handle it is given comes from memory that only starts of
 * threads write. It takes a thread out of `alive` if that is the only one of theirs that is there;
 * a loop of joins takes out a class of many, if it goes round as often as the loop that started
 * them (joins.c says why that is enough). Taking a thread out takes out those that only it can
 * have started and that it has waited for itself.
 *
 * Locks are named by how the code reaches them (see struct rh_lock), in the terms of the function
 * being walked: a global, or a value plus an offset; entering a function, names are put in terms of
 * its parameters, and back at its return. Two names are the same lock only when they must be. A
 * release of a lock that is known to be held undoes that taking; any other takes out every lock
 * that may be the one released (points-to). When the value a name hangs on is computed anew (a loop
 * comes round), the name goes. Values loaded from *stable* memory, which is not written while other
 * threads run, are the same value whenever the address is. What is stable shows only when it is
 * known what runs alone, so everything is walked twice.
 */
#ifndef RH_ANALYSIS_FLOW_FLOW_H
#define RH_ANALYSIS_FLOW_FLOW_H

#include "analysis/access.h"
#include "analysis/pointsto/pointsto.h"

enum rh_thread_kind {
    RH_THREAD_MAIN,
    RH_THREAD_CREATED,
    RH_THREAD_HANDLER, /* of a signal */
    RH_THREAD_CALLER,  /* of an exported function of a shared library */
    RH_THREAD_TEAM,    /* of an OpenMP region */
    RH_THREAD_OUTSIDE, /* started by code without bitcode */
    RH_THREAD_KINDS
};

struct rh_thread {
    uint32_t id;
    enum rh_thread_kind kind;
    struct rh_value *call;   /* that starts or registers it; NULL for main and callers */
    uint32_t instance;       /* of that call */
    struct rh_idset entries; /* instances it begins with */
    bool many;               /* several of the class may run at the same time */
};

/* How a lock is held. */
enum rh_lock_mode { RH_LOCK_WRITE, RH_LOCK_READ };

/*
 * The name of a lock in a function: root + offset + sum of index * scale. The root is a global, an
 * argument or an instruction, canonical: of values that must be equal the same one is taken, which
 * for what stable memory holds may be a load of another function, and for a block that exists once
 * is what makes the block. A lock may be listed under several names.
 */
struct rh_lock {
    const struct rh_value *root;
    int64_t offset;
    uint32_t term_count;
    struct {
        const struct rh_value *index;
        int64_t scale;
    } terms[2];
    enum rh_lock_mode mode;
};

/* One way in which an instruction runs. */
struct rh_occurrence {
    uint32_t thread;
    uint32_t alive; /* number of a set of threads */
    uint32_t locks; /* number of a set of locks: rh_flow_locks */
};

struct rh_flow;

struct rh_flow_options {
    bool is_library;
    bool outside_starts;          /* code without bitcode may start threads */
    struct rh_deadline *deadline; /* once passed, the result is worth nothing; may be NULL */
};

struct rh_flow *rh_flow_run(struct rh_module *m, const struct rh_pointsto *p,
                            const struct rh_flow_options *o);
void rh_flow_free(struct rh_flow *f);

uint32_t rh_flow_thread_count(const struct rh_flow *f);
const struct rh_thread *rh_flow_thread(const struct rh_flow *f, uint32_t id);
/* The ways an instruction of an instance runs, without duplicates, those with the same locks next
 * to each other; none: it never runs. */
const struct rh_occurrence *rh_flow_occurrences(const struct rh_flow *f, uint32_t instance,
                                                const struct rh_value *inst, uint32_t *count);
const struct rh_lock *rh_flow_locks(const struct rh_flow *f, uint32_t set, uint32_t *count);

/* May the two happen at the same time, in two threads? */
bool rh_flow_parallel(const struct rh_flow *f, const struct rh_occurrence *a,
                      const struct rh_occurrence *b);

/* An access as seen by the question whether a lock guards it. */
struct rh_guarded {
    uint32_t instance;
    const struct rh_access *access; /* NULL: one of several; only locks that all share count */
    const struct rh_occurrence *occurrence;
};
/* If the two accesses touch the same memory, do they surely hold the same lock, one of them for
 * writing? True for a global lock held by both; for a lock at the same distance from the accessed
 * address (p->lock and p->data; lock[i] and data[i]) only when touching the same bytes implies that
 * both started from the same pointer. */
bool rh_flow_guards(const struct rh_flow *f, const struct rh_guarded *a,
                    const struct rh_guarded *b);
/* The locks held, as people name them (`&q->lock`), comma-separated into `out`; "" for none. */
struct rh_strbuf;
void rh_flow_describe_locks(const struct rh_flow *f, uint32_t set, struct rh_strbuf *out);

#endif
