/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the flow analysis among themselves: see flow.h for what it computes.
 *
 * Everything that makes up a state is interned and has a number: sets of threads and of cells
 * (sets.c), canonical values and names (nodes.c, names.c), sets of locks (locks.c). A *body*
 * is what matters of one instance: the calls that change the state or that lead to others' code,
 * block by block. A *context* is a body entered with one state.
 */
#ifndef RH_ANALYSIS_FLOW_INTERNAL_H
#define RH_ANALYSIS_FLOW_INTERNAL_H

#include <string.h>

#include "analysis/flow/flow.h"
#include "analysis/flow/fresh.h"
#include "base/arena.h"
#include "base/bitset.h"
#include "base/map.h"
#include "base/vec.h"
#include "ir/graph/cfg.h"

#define FLOW_NONE 0xffffffffu
/* A number for "all cells": the lock may be anywhere. */
#define FLOW_ANY 0xfffffffeu

/* The empty set has number 0 in every table. */
struct flow_sets {
    RH_VEC(struct rh_idset *) all;
    RH_VEC(uint32_t) next; /* of the same hash */
    struct rh_map first;   /* hash -> number */
    struct rh_map unions;  /* two numbers -> their union */
};

/*
 * Sets of threads have, for each thread that may be alive, the bit ALIVE; MANY if more than one of
 * its class may be; OLD if one may be that was not started in the present round: before the present
 * run of the function, or of the loop, that starts it.
 */
enum flow_alive_bit { ALIVE, MANY, OLD, ALIVE_BITS = 4 };

/* What is not reachable has `alive` FLOW_NONE. */
struct flow_state {
    uint32_t alive; /* number in alive_sets */
    uint32_t locks; /* number in lock_sets */
};

/* --- canonical values and names --- */

enum flow_node_kind {
    NODE_GLOBAL, /* address of a global or function */
    NODE_OBJECT, /* address of an object that is one block at run time */
    NODE_CONST,
    NODE_ARG,
    NODE_LOCAL, /* an instruction, or anything else of which nothing is known */
    NODE_LOAD,  /* what stable memory holds */
    NODE_OP,    /* of one or two other nodes, without memory */
};

struct flow_node {
    enum flow_node_kind kind;
    enum rh_op op;
    const struct rh_value *value; /* the first one met; what GLOBAL, ARG and LOCAL are */
    uint32_t a, b;                /* LOAD: a is a name; OP: nodes; else FLOW_NONE */
    int64_t num;                  /* CONST: itself; OP: width or predicate; OBJECT: its number;
                                     LOAD: bytes */
    uint32_t depth;
    bool absolute; /* the same value wherever in the program it is written */
    bool loads;    /* depends on memory */
    bool is_local; /* depends on an instruction */
    uint32_t next; /* of the same hash */
};

struct flow_name {
    uint32_t node;
    uint32_t term_count;
    int64_t offset;
    struct flow_term {
        uint32_t node;
        int64_t scale;
    } terms[2];
    bool absolute, loads, is_local;
    uint32_t next;
    /* Where such a lock was first taken, for people. */
    const struct rh_value *call;
    struct rh_value *pointer;
};

/* --- locks --- */

struct flow_held {
    uint32_t name;
    uint32_t cells; /* where the lock may be: number in cell_sets, or FLOW_ANY */
    /* Names of one taking have one group: the first of them in the set. Locks of different groups
     * were taken one by one, so that releasing one leaves the other held, whether or not they are
     * the same. */
    uint32_t group;
    uint32_t pending; /* id + 1 of the try that takes it if its result says so; 0: it is held */
    uint32_t mode;    /* enum rh_lock_mode */
};

enum { FLOW_MOST_HELD = 24 };

struct flow_lockset {
    uint32_t count;
    struct flow_held *held;
    uint32_t next;
};

/* What may be released. */
struct flow_release {
    uint32_t cells;
    bool outside; /* all that the outside knows */
};

/* --- bodies --- */

/* Calls of more than this many targets share a bundle: a body of its own that calls them all. */
enum { FLOW_MOST_TARGETS = 8 };

struct flow_event {
    struct rh_value *inst;
    struct rh_call_targets call;
    uint32_t bundle;   /* for its targets, if they are many, or FLOW_NONE */
    bool direct;       /* the targets are given the call's own arguments */
    bool runs_outside; /* may call whatever the outside knows */
    bool ends_thread;
    uint32_t starts;       /* thread that is started or registered, or FLOW_NONE */
    bool is_team;          /* and that has ended when the call returns */
    struct rh_idset joins; /* one of these is waited for; empty: nothing is known */
    bool own_handle;       /* by a handle that only this run of the function knows */
};

/* What passing an edge says about threads. */
enum flow_edge_kind {
    EDGE_ROUND,  /* a new round begins: those alive are OLD */
    EDGE_ABSENT, /* none was started in the present round */
    EDGE_JOINED, /* a loop that joins is left at its end */
};

struct flow_edge {
    const struct rh_block *from; /* NULL: from anywhere outside `loop` */
    const struct rh_block *to;
    const struct rh_loop *loop;
    enum flow_edge_kind kind;
    /* Which threads; JOINED: those of which as many were joined as one round starts. */
    struct rh_idset threads;
    struct rh_idset joins; /* JOINED: as in struct flow_event */
    bool own_handle;
    int64_t rounds; /* JOINED: how many were joined, if that is a number, or 0 */
};

struct flow_caller {
    uint32_t instance;
    const struct flow_event *event;
    bool starts;
};

struct flow_body {
    uint32_t instance;
    struct rh_function *fn;  /* NULL for bundles */
    const uint32_t *targets; /* of bundles */
    uint32_t target_count;
    bool repeats; /* bundle: calls any of them, any number of times */
    struct flow_event *events;
    uint32_t event_count;
    uint32_t *first_event;       /* by block id, block count + 1 entries */
    bool has_locks, has_threads; /* here or in what it calls */
    RH_VEC(struct flow_caller) callers;
    RH_VEC(struct flow_edge) edges;
    RH_VEC(uint32_t) contexts;
    uint32_t summary; /* number of the summary, or FLOW_NONE */
    int8_t runs_once; /* -1: not known yet; 2: being found out */
};

/* All that an instance and what it calls may do, whatever the context. */
struct flow_summary {
    struct flow_release release;
    uint32_t starts; /* number in alive_sets */
};

/* --- threads --- */

struct flow_thread {
    struct rh_thread public;
    struct rh_idset children, descendants, dominated;
    struct rh_bitset overlaps; /* threads with which it may run at the same time */
    uint32_t exit_alive;       /* what it has started and not waited for when it ends */
    bool is_single;            /* there is one in each run of the program */
    bool is_walked;
    RH_VEC(uint32_t) joiners; /* contexts */
};

/* --- contexts --- */

struct flow_context {
    uint32_t instance; /* RH_NO_INSTANCE: the beginning of the thread */
    uint32_t thread;
    bool is_merged;
    struct flow_state entry, exit;
    struct flow_release release; /* what it may release of its callers' */
    bool starts_first;           /* may start a thread when none is alive */
    bool queued, walking;
    struct flow_state *states; /* by segment; NULL: the same everywhere, `inside` */
    struct flow_state inside;
    RH_VEC(uint32_t) callers; /* contexts */
};

/* A write, for stability and for handles. */
enum flow_write_kind { WRITE_ANY, WRITE_ZERO, WRITE_HANDLE };
struct flow_write {
    uint32_t instance;
    struct rh_value *inst;
    struct rh_value *pointer; /* NULL if the memory is reached through another pointer */
    const struct rh_idset *cells;
    const struct rh_idset *objects; /* anywhere in these, if not NULL */
    uint64_t size;                  /* 0: unknown */
    enum flow_write_kind kind;
};

/* All writes to one set of cells or objects. */
struct flow_write_set {
    RH_VEC(uint32_t) writes;
};

struct flow_unstable {
    uint32_t cell;
    uint64_t size;
};

struct rh_flow {
    struct rh_deadline *deadline;
    struct rh_module *module;
    const struct rh_pointsto *pointsto;
    bool is_library;
    bool has_callers;    /* threads that it does not start call into it: thread 1 stands for them */
    bool outside_starts; /* unknown functions may start threads */
    uint32_t outside_thread; /* that stands for those, or FLOW_NONE */
    struct rh_arena arena;
    struct rh_cfg **cfgs; /* by function id; made when asked for */
    struct rh_fresh *fresh;

    /* bodies and threads */
    struct flow_body *bodies; /* by instance; bundles behind them */
    uint32_t body_count, bundle_count;
    uint32_t outside_bundle; /* of what the outside may call, or FLOW_NONE */
    uint32_t ends_bundle; /* of what may be called when a thread but the main one ends, likewise */
    uint32_t *outside;    /* instances that the outside may call */
    uint32_t outside_count;
    struct rh_bitset outside_objects;
    bool outside_has_locks, has_locks, can_cancel;
    RH_VEC(struct flow_thread) threads;
    struct rh_map thread_of; /* (instance, call) -> thread */
    uint32_t *first_run;     /* instances that the main thread runs one after the other */
    uint32_t first_run_count;
    RH_VEC(struct flow_summary) summaries;

    /* interned */
    struct flow_sets alive_sets, cell_sets;
    RH_VEC(struct flow_node) nodes;
    RH_VEC(struct flow_name) names;
    struct rh_map node_of, name_of; /* hash -> first */
    struct rh_map canonical;        /* (instance, value id) -> name */
    struct rh_map scalar;           /* (instance, value id) -> node */
    RH_VEC(struct flow_lockset) lock_sets;
    struct rh_map lock_set_of;             /* hash -> first */
    struct rh_map meets;                   /* two lock sets -> what both have */
    struct rh_map cells_meet;              /* two cell sets -> 1 or 0 */
    struct rh_map public_locks;            /* lock set -> as rh_flow_locks gives it */
    RH_VEC(struct rh_idset) alive_threads; /* by number in alive_sets: public form */

    /* the walk */
    struct rh_arena walk_arena;
    RH_VEC(struct flow_context *) contexts;
    RH_VEC(uint32_t) queue;
    size_t queue_at;
    uint32_t depth;
    struct rh_map context_of;  /* hash of the key -> context */
    struct rh_map called_by;   /* (caller, callee) seen */
    struct rh_map noted;       /* (thread, alive set) of creations seen */
    struct rh_map joined_by;   /* (thread, context) seen */
    struct rh_map occurrences; /* (instance, segment) -> struct flow_ways */

    /* stability */
    RH_VEC(struct flow_write) writes;
    RH_VEC(struct rh_idset *) own_sets; /* of writes through other pointers */
    struct rh_map contents;             /* object -> set of objects */
    RH_VEC(struct flow_write_set) write_sets;
    struct write_numbers RH_VEC_BODY(uint32_t) * writes_of; /* by object: sets */
    struct rh_map stored; /* (instance, load) -> the one value there is to load, or 0 */
    struct rh_map kept;   /* (instance, load) -> 1 if not written again, or 0 */
    struct unstable_list RH_VEC_BODY(struct flow_unstable) * unstable; /* by object; NULL: not
                                                                          known yet */
    struct rh_bitset unstable_objects;                                 /* as a whole */
    struct rh_map stable; /* (instance, load) -> 1 or 0 */
    struct rh_map sides;  /* (instance, pointer) -> struct side, see guards.c */
    struct rh_expr *expr;
};

static inline uint64_t flow_pair(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

/* Hashes of what is interned; they never leave the process. `size` is a multiple of 4. */
static inline uint64_t flow_hash(const void *bytes, size_t size)
{
    uint64_t h = size;
    for (size_t i = 0; i < size; i += sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, (const char *)bytes + i, sizeof word);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return h;
}

/* What is called when a thread has run to its end, or FLOW_NONE. */
uint32_t flow_bundle_at_end(const struct rh_flow *f, const struct rh_thread *thread);

/* --- sets.c --- */
void flow_sets_init(struct flow_sets *s);
void flow_sets_release(struct flow_sets *s);
uint32_t flow_set_intern(struct flow_sets *s, const struct rh_idset *set);
const struct rh_idset *flow_set(const struct flow_sets *s, uint32_t id);
uint32_t flow_set_unite(struct flow_sets *s, uint32_t a, uint32_t b);
uint32_t flow_cells_unite(struct rh_flow *f, uint32_t a, uint32_t b);
bool flow_cells_overlap(const struct rh_flow *f, const struct rh_idset *a, uint64_t a_size,
                        const struct rh_idset *b, uint64_t b_size);
/* May the lock at `cells` be among those released? */
bool flow_is_released(struct rh_flow *f, uint32_t cells, const struct flow_release *r);
void flow_release_unite(struct rh_flow *f, struct flow_release *to,
                        const struct flow_release *from);
/* Where a pointer may point to, as a number in cell_sets. */
uint32_t flow_cells_of(struct rh_flow *f, uint32_t instance, struct rh_value *pointer);
bool flow_touches_outside(const struct rh_flow *f, const struct rh_idset *cells);

/* --- nodes.c --- */
uint32_t flow_make_leaf(struct rh_flow *f, enum flow_node_kind kind, const struct rh_value *v);
uint32_t flow_make_const(struct rh_flow *f, const struct rh_value *v, int64_t num);
/* These two are FLOW_NONE if the node would grow too deep, or is made of FLOW_NONE. */
uint32_t flow_make_op(struct rh_flow *f, const struct rh_value *v, enum rh_op op, int64_t num,
                      uint32_t a, uint32_t b);
uint32_t flow_make_load(struct rh_flow *f, const struct rh_value *v, int64_t bytes, uint32_t name);
uint32_t flow_intern_name(struct rh_flow *f, struct flow_name n);
/* The node itself if the name is nothing but a node; else FLOW_NONE. */
uint32_t flow_node_of_name(const struct rh_flow *f, uint32_t name);
/* Adds index * scale, or all but the root of a name; false if the name has no room. Numbers wrap as
 * addresses do. */
bool flow_add_term(const struct rh_flow *f, struct flow_name *n, uint32_t node, int64_t scale);
bool flow_add_name(const struct rh_flow *f, struct flow_name *to, const struct flow_name *n);
uint32_t flow_name_of_object(struct rh_flow *f, uint32_t object, int64_t offset);
uint32_t flow_name_of_node(struct rh_flow *f, uint32_t node);

/* --- names.c --- */
/* The canonical name of a pointer, and the canonical node of any other value. */
uint32_t flow_name_of(struct rh_flow *f, uint32_t instance, const struct rh_value *pointer);
uint32_t flow_node_of(struct rh_flow *f, uint32_t instance, const struct rh_value *value);
/* Does the operation give the same for the same operands, whatever memory holds? */
bool flow_is_pure(enum rh_op op);
bool flow_node_depends(const struct rh_flow *f, uint32_t node, const struct rh_block *b);
bool flow_name_depends(const struct rh_flow *f, uint32_t name, const struct rh_block *b);
/* The value of the instance that the name's root was read from: all of the pointer but offset and
 * indices. */
const struct rh_value *flow_root_value(struct rh_flow *f, uint32_t instance,
                                       const struct rh_value *pointer);
/* Forgets canonical values, so that they are found again with what is known to be stable. */
void flow_names_reset(struct rh_flow *f);

/* --- rename.c --- */
/* That two names are the same: `from` seen from where the state is, `to` where it goes. */
struct flow_rename {
    uint32_t from; /* name */
    uint32_t to;   /* node */
};
struct flow_renames {
    RH_VEC(struct flow_rename) all;
    /* What stays as it is: everything absolute, and with `keep` what is not computed in it. */
    const struct rh_block *keep;
};
enum { FLOW_MOST_NAMES = 4 };
/* The names, at most FLOW_MOST_NAMES, that a name has after renaming. */
uint32_t flow_rename(struct rh_flow *f, uint32_t name, const struct flow_renames *r,
                     uint32_t out[FLOW_MOST_NAMES]);
/* What a call gives for a parameter; NULL if that is not known. */
const struct rh_value *flow_given(const struct flow_event *ev, const struct rh_function *callee,
                                  const struct rh_value *param);
/* A callee's name in the terms of its caller; FLOW_NONE if there is none. */
uint32_t flow_name_at_caller(struct rh_flow *f, uint32_t name, uint32_t caller,
                             const struct flow_event *ev, const struct rh_function *callee);

/* --- locks.c --- */
const struct flow_lockset *flow_lockset(const struct rh_flow *f, uint32_t id);
uint32_t flow_locks_intern(struct rh_flow *f, struct flow_held *held, uint32_t count);
uint32_t flow_locks_meet(struct rh_flow *f, uint32_t a, uint32_t b);
uint32_t flow_locks_take(struct rh_flow *f, uint32_t locks, uint32_t instance,
                         const struct rh_value *call, struct rh_value *pointer,
                         enum rh_lock_mode mode, bool is_try);
/* Takes out what is released; adds to `release` what was not known to be held. */
uint32_t flow_locks_release(struct rh_flow *f, uint32_t locks, uint32_t instance,
                            struct rh_value *pointer, struct flow_release *release);
uint32_t flow_locks_without(struct rh_flow *f, uint32_t locks, const struct flow_release *r);
uint32_t flow_locks_without_loads(struct rh_flow *f, uint32_t locks);
/* What is known once a try returned `success`, or did not. */
uint32_t flow_locks_decide(struct rh_flow *f, uint32_t locks, const struct rh_value *call,
                           bool success);
/* Along an edge of the function: phis get their values, old values go. */
uint32_t flow_locks_pass_edge(struct rh_flow *f, uint32_t locks, uint32_t instance,
                              const struct rh_block *from, const struct rh_block *to);
uint32_t flow_locks_at_return(struct rh_flow *f, uint32_t locks);
uint32_t flow_locks_enter(struct rh_flow *f, uint32_t locks, uint32_t caller,
                          const struct flow_event *ev, const struct rh_function *callee);
uint32_t flow_locks_leave(struct rh_flow *f, uint32_t locks, uint32_t caller,
                          const struct flow_event *ev, const struct flow_context *callee);

/* --- body.c --- */
void flow_bodies_build(struct rh_flow *f);
void flow_bodies_release(struct rh_flow *f);
struct rh_cfg *flow_cfg(struct rh_flow *f, const struct rh_function *fn);
bool flow_in_cycle(struct rh_flow *f, const struct rh_block *b);
bool flow_runs_once(struct rh_flow *f, uint32_t instance);
/* The same of one instruction in it. */
bool flow_runs_at_most_once(struct rh_flow *f, uint32_t instance, const struct rh_value *inst);
bool flow_is_single(struct rh_flow *f, uint32_t object);
/* Adds to `seen` all bodies that are reached by calls from those in it. */
void flow_follow_calls(const struct rh_flow *f, struct rh_bitset *seen);
/* The bodies that a call leads to: instances and bundles. */
uint32_t flow_callees(const struct rh_flow *f, const struct flow_event *ev,
                      uint32_t out[FLOW_MOST_TARGETS + 1]);
const struct flow_summary *flow_summary_of(struct rh_flow *f, uint32_t instance);
/* The state number of an instruction's segment; `is_event`: the next segment begins behind it. */
uint32_t flow_segment(const struct flow_body *body, const struct rh_value *inst, bool *is_event);

/* --- threads.c --- */
void flow_threads_find(struct rh_flow *f);
void flow_threads_release(struct rh_flow *f);
void flow_threads_reset(struct rh_flow *f);
uint32_t flow_alive_start(struct rh_flow *f, uint32_t alive, uint32_t thread);
/* One of the threads is waited for. */
/* The threads of a class have all ended. */
uint32_t flow_alive_end(struct rh_flow *f, uint32_t alive, uint32_t thread);
uint32_t flow_alive_join(struct rh_flow *f, uint32_t alive, const struct rh_idset *threads);
/* May a join in `by` only wait for threads that it knows of? */
bool flow_joins_known(const struct rh_flow *f, uint32_t by, const struct rh_idset *threads,
                      bool own_handle);
bool flow_alive_has(const struct rh_flow *f, uint32_t alive, uint32_t thread,
                    enum flow_alive_bit bit);
uint32_t flow_alive_pass_edge(struct rh_flow *f, uint32_t alive, const struct flow_edge *edge);
/* Takes note that `thread` is started while `alive` run. */
void flow_note_start(struct rh_flow *f, uint32_t thread, uint32_t alive);
void flow_finish_overlaps(struct rh_flow *f);

/* --- joins.c --- */
/* Fills in `joins` of the events and the edges of the bodies. */
void flow_joins_find(struct rh_flow *f);
void flow_joins_forget(struct flow_body *body);

/* --- tries.c --- */
/* What taking the edge says about the results of tries. */
uint32_t flow_decide_tries(struct rh_flow *f, uint32_t locks, const struct rh_block *from,
                           const struct rh_block *to);

/* --- walk.c --- */
void flow_walk(struct rh_flow *f);

/* --- writes.c --- */
void flow_writes_collect(struct rh_flow *f);
void flow_writes_release(struct rh_flow *f);
/* Calls `visit` for each write that may touch `size` bytes at the cells, until it returns false;
 * false if it did, or if the writes cannot be known. */
typedef bool flow_write_visitor(struct rh_flow *f, const struct flow_write *w, void *data);
bool flow_each_write(struct rh_flow *f, const struct rh_idset *cells, uint64_t size,
                     flow_write_visitor *visit, void *data);

/* --- stable.c --- */
void flow_find_unstable(struct rh_flow *f);
bool flow_is_stable(struct rh_flow *f, uint32_t instance, const struct rh_value *load);
void flow_stable_release(struct rh_flow *f);

#endif
