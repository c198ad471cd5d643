/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the points-to analysis among themselves: see pointsto.h for what it computes.
 *
 * Every value that may hold a pointer, and every cell whose contents matter, is a *node*; nodes
 * that must have equal sets are merged (union-find). A node has the set it knows, the part of it
 * that was not passed on yet, edges along which the set flows (plain copies, and shifts that move
 * every cell by an offset), and *uses*: what else must happen for each new cell (load through it,
 * call it).
 */
#ifndef RH_ANALYSIS_POINTSTO_INTERNAL_H
#define RH_ANALYSIS_POINTSTO_INTERNAL_H

#include "analysis/pointsto/pointsto.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "ir/debug/layout.h"

enum { RH_POINTER_BYTES = 8 };
#define NO_NODE 0xffffffffu

/* How a pointer moves within its object. */
struct shift {
    int64_t offset;
    uint64_t stride; /* 0: by `offset` alone */
    int64_t start;   /* with an extent: where the array begins, from the pointer */
    uint64_t extent;
    bool down;  /* may also move towards the beginning, out of its array */
    bool below; /* may also move towards the beginning of its array: p[i] with i < 0 */
    bool loose; /* from a pointer that may lie before the object: a[i + 5] as (a + i) + 5, i < 0 */
    const struct rh_type *as; /* not moved, but seen as this struct: views.c */
    bool by_elements;         /* the stride is the size of structs or arrays that a pointer is to */
};

struct shift_edge {
    uint32_t to;
    struct shift by;
};

enum use_kind {
    USE_LOAD,      /* `node` gets what the cell holds */
    USE_STORE,     /* the cell gets what `node` holds */
    USE_CALL,      /* the function is called by `call` */
    USE_LOAD_ALL,  /* `node` gets what the cell and those behind it hold, no one knows how many */
    USE_STORE_ALL, /* they get what `node` holds */
    USE_COPY_FROM, /* copy number `node` reads the cell's object */
    USE_COPY_TO,   /* copy number `node` writes it */
    USE_START,     /* the function is started as a thread or handler by `call` */
    USE_LIBRARY,   /* the function is called by a library function: effect `row` of `call` */
    USE_TABLE,     /* `node` gets the cell if it may be a table of virtual functions */
    USE_OUTSIDE,   /* the outside knows the cell */
};

struct use {
    enum use_kind kind;
    uint32_t node; /* see the kinds; USE_START: what the function is called with, if not NO_NODE */
    uint64_t bytes;
    int64_t offset; /* USE_LOAD, USE_STORE: from the cell */
    uint32_t tag;   /* USE_LOAD, USE_STORE: of the access */
    uint32_t call;  /* number of the call record */
    const struct rh_effect *effect;
};

struct node {
    uint32_t rep; /* itself, or the node it was merged into */
    uint32_t rank;
    struct rh_idset cells; /* what it knows and has passed on */
    struct rh_idset news;  /* what it knows and has not passed on */
    struct rh_idset copies;
    RH_VEC(struct shift_edge) shifts;
    RH_VEC(struct use) uses;
    bool queued;
    bool single; /* of a value that one load or one shift alone defines */
};

/* What the solver keeps about an object besides what is public. */
struct field {
    uint32_t cell;
    uint32_t node;  /* what is read from it */
    uint32_t entry; /* what is written to it: another node if the cell is strided, so that reading
                       any element of an array does not mix the elements */
};
/* A copy of memory that reads the object. */
struct watcher {
    uint32_t copy;
    uint32_t cell; /* from where */
};
struct object {
    struct rh_object public;
    const struct rh_type *type;  /* of what it holds, an element if it is an array; may be NULL */
    bool keeps_type;             /* and is never used as anything else */
    RH_VEC(struct field) fields; /* contents of cells that were asked for */
    RH_VEC(struct watcher) watchers;
    bool no_contents; /* functions */
    bool outside;     /* the outside knows it */
    bool collapsed;   /* looked at in too many ways: from then on as a whole */
    uint32_t whole;   /* cell of all its bytes, or NO_NODE if not made yet */
    uint32_t cell_count;
    bool is_view; /* of the block `base`, as its `type` */
    uint32_t base;
};

/* A copy of memory of known length: what the source's cells hold, by distance from its begin, goes
 * through an object of its own, so that n sources and m destinations cost n + m. (Where the length
 * is unknown, what any word of the source holds may come to any of the destination: that is one
 * USE_LOAD_ALL and one USE_STORE_ALL.) */
struct copy {
    uint32_t middle; /* object */
    uint64_t bytes;
    struct rh_idset from, to; /* cells */
};

struct call {
    struct rh_value *inst;
    uint32_t instance;
    struct rh_idset targets; /* instances */
    struct rh_idset entries; /* instances started */
    RH_VEC(const struct rh_library_row *) libraries;
    struct rh_idset seen;                     /* functions connected already, by id */
    RH_VEC(uint32_t) target_list, entry_list; /* the sets as arrays, once solved */
    bool unknown;
};

struct instance {
    struct rh_instance public;
    uint32_t *nodes; /* of the function's arguments and instructions; NO_NODE if not made */
    uint32_t first_value;
    uint32_t result;  /* node of what it returns */
    uint32_t varargs; /* object that holds its variable arguments, or NO_NODE */
    uint32_t depth;   /* of cloning */
    bool is_entry;    /* made for a call that starts it in a thread */
};

struct rh_pointsto {
    struct rh_module *module;
    struct rh_pointsto_options options;
    uint64_t edges, rounds;     /* so far */
    struct rh_layouts *layouts; /* types of heap objects belong to it */
    RH_VEC(struct node) nodes;
    RH_VEC(struct rh_cell) cells;
    uint32_t *cell_slots; /* open addressing by the cell's contents: cell + 1 */
    size_t cell_room;
    struct rh_idset callable; /* cells of functions, and of the outside */
    RH_VEC(struct object) objects;
    RH_VEC(struct instance) instances;
    RH_VEC(struct copy) copies;
    RH_VEC(struct call) calls;
    struct rh_map call_of;   /* (instance, call's value id) -> call number */
    struct rh_map object_of; /* value id of a global or function -> object */
    struct rh_map constants; /* value id of a constant -> node */
    /* Of views.c. By value id: its declaration; by (instance, value id): the node before the
     * filter; by (block, type id): the view; by two type ids: whether one is taken for the other.
     */
    struct rh_map declared, raw_of, view_of, alike;
    RH_VEC(uint32_t) fields_of; /* by cell: number of its field in its object, or NO_NODE */
    struct instance_list RH_VEC_BODY(uint32_t) * instances_of; /* by function id */
    uint32_t *base_instance; /* by function id, or RH_NO_INSTANCE */
    uint8_t *wrapper;        /* by function id: analysed per call */
    uint64_t cloned;         /* instructions analysed more than once */
    uint64_t may_clone;      /* how many may be: a part of the program */
    /* What comes from outside is one cell, which stands for any object the outside knows; what goes
     * there ends in a sink that marks its object as known. */
    uint32_t outside_object, outside_cell, outside, sink, kept, own_kept, sent;
    struct rh_idset outside_cells; /* once solved: one cell of every object that is known there */
    bool outside_open;             /* some code is there that the analysis knows nothing of */
    struct rh_idset called_from_outside; /* instances */
    RH_VEC(uint32_t) outside_list;
    struct rh_idset outside_seen; /* functions by id */
    RH_VEC(struct rh_unknown_function) unknown;
    struct rh_map unknown_of; /* function id -> position */
    RH_VEC(uint32_t) pending; /* instances whose body was not read yet */
    RH_VEC(uint32_t) heap;    /* worklist by rank */
    RH_VEC(uint32_t) later;   /* for the next round */
    uint32_t current_rank;
    uint64_t new_edges;
    struct rh_idset empty;
};

/* --- cells.c: objects and their cells --- */
uint32_t pt_add_object(struct rh_pointsto *p, enum rh_object_kind kind, struct rh_value *value,
                       uint32_t instance, uint64_t size);
uint32_t pt_object_of(struct rh_pointsto *p, struct rh_value *global_or_function);
uint32_t pt_cell(struct rh_pointsto *p, const struct rh_cell *cell);
/* The cell of any byte of the object. */
uint32_t pt_whole(struct rh_pointsto *p, uint32_t object);
/* Has the object so many cells that it is better looked at as a whole? */
bool pt_is_crowded(const struct rh_pointsto *p, const struct object *o);
/* The cell itself, or the whole of its object if that is collapsed. */
uint32_t pt_settle(struct rh_pointsto *p, uint32_t cell);
uint64_t pt_gcd(uint64_t a, uint64_t b);

/* --- shift.c: moved pointers --- */
/* Where an array begins and ends that a pointer to `offset` may be indexed in. C lets a pointer to
 * an element move within its array, and a pointer to a member stay in the member. */
void pt_reach(const struct object *o, int64_t offset, int64_t *begin, int64_t *end);
/* The cell moved; false if that leads out of the object. */
bool pt_shift(struct rh_pointsto *p, uint32_t cell, const struct shift *by, uint32_t *out);

/* --- contents.c: the fields of objects --- */
/* The field of the cell, made if there is none; false if it can hold no pointer. */
bool pt_field(struct rh_pointsto *p, uint32_t cell, struct field *out);
/* The same, NULL if it was not made yet. */
const struct field *pt_known_field(const struct rh_pointsto *p, uint32_t cell);
/* The node of what is read from the cell, and of what is written to it; NO_NODE if it can hold no
 * pointer. */
uint32_t pt_contents(struct rh_pointsto *p, uint32_t cell);
uint32_t pt_entry(struct rh_pointsto *p, uint32_t cell);
/* Lets the outside read and write a field of an object that it knows. */
void pt_open_field(struct rh_pointsto *p, uint32_t object, const struct field *field);
/* Lets each pointer-sized part of `bytes` behind the cell flow into the node, or the node into
 * them. */
void pt_read_parts(struct rh_pointsto *p, const struct use *use, uint32_t cell);
void pt_write_parts(struct rh_pointsto *p, const struct use *use, uint32_t cell);
/* The same for all that lies behind the cell in its array. */
void pt_read_all(struct rh_pointsto *p, uint32_t node, uint32_t cell);
void pt_write_all(struct rh_pointsto *p, uint32_t node, uint32_t cell);

/* --- copies.c: copies of memory --- */
uint32_t pt_add_copy(struct rh_pointsto *p, uint64_t bytes);
/* Copies a field that is new to an object that a copy is made from. */
void pt_copy_field(struct rh_pointsto *p, const struct watcher *w, const struct field *field);
void pt_copy_from(struct rh_pointsto *p, uint32_t copy, uint32_t cell);
void pt_copy_to(struct rh_pointsto *p, uint32_t copy, uint32_t cell);

/* --- solve.c: nodes, edges, the worklist --- */
uint32_t pt_add_node(struct rh_pointsto *p);
uint32_t pt_add_single(struct rh_pointsto *p);
uint32_t pt_find(struct rh_pointsto *p, uint32_t node);
void pt_add_cell(struct rh_pointsto *p, uint32_t node, uint32_t cell);
void pt_add_copy_edge(struct rh_pointsto *p, uint32_t from, uint32_t to);
void pt_add_shift_edge(struct rh_pointsto *p, uint32_t from, uint32_t to, const struct shift *by);
void pt_add_use(struct rh_pointsto *p, uint32_t node, const struct use *use);
void pt_solve(struct rh_pointsto *p);

/* --- likeness.c: which structs may lie in which --- */
bool pt_hides_members(const struct rh_type *t);
bool pt_is_same(const struct rh_type *a, const struct rh_type *b);
/* May a `t` lie at this offset of what `in` describes? */
bool pt_holds(struct rh_pointsto *p, const struct rh_type *in, uint64_t offset,
              const struct rh_type *t);
/* Where: a cell for each place; false if it may be anywhere. */
bool pt_find_places(struct rh_pointsto *p, const struct rh_type *in, struct rh_cell at,
                    const struct rh_type *t, struct rh_idset *out);
/* Asks of the places of a `t` in what lies at `at`, repeated at `step` if that is not 0, until the
 * answer is yes. Unions do not show their members: any place up to `end` may be one. */
typedef bool pt_meets_at(void *arg, int64_t offset, uint32_t step, int64_t end);
bool pt_nests(const struct rh_type *in, int64_t at, uint32_t step, const struct rh_type *t,
              pt_meets_at *meets, void *arg);

/* --- views.c: pointers by their declarations --- */
/* What the value is declared to point to; NULL if nothing says so, or that does not count. */
const struct rh_type *pt_declared(struct rh_pointsto *p, const struct rh_value *v);
/* The node of a value for what defines it: that of pt_node_of, or the one before its filter. */
uint32_t pt_def_of(struct rh_pointsto *p, uint32_t instance, struct rh_value *v);
/* Does the struct end in an array of unknown length? Then it is followed by that, and else by more
 * of its kind. */
bool pt_is_open(const struct rh_type *t);
/* Behind the struct of a view lies its open end as one, or more structs, all alike. */
void pt_settle_in_view(const struct object *view, struct rh_cell *c);
/* What remains of a cell in a pointer that is declared to point to a `t`. */
void pt_see(struct rh_pointsto *p, uint32_t cell, const struct rh_type *t, struct rh_idset *out);

/* --- values.c: nodes of values, constraints of instructions --- */
bool pt_may_carry(const struct rh_type *type);
/* The node of a value in an instance, or of a constant; NO_NODE if it holds no pointer. */
uint32_t pt_node_of(struct rh_pointsto *p, uint32_t instance, struct rh_value *value);
void pt_read_instance(struct rh_pointsto *p, uint32_t instance);
void pt_read_initialisers(struct rh_pointsto *p);
/* The two variables in which std::call_once leaves for __once_proxy what to call. */
bool pt_is_of_once(const char *name);

/* --- calls.c: calls, library functions, the outside --- */
void pt_read_call(struct rh_pointsto *p, uint32_t instance, struct rh_value *inst);
/* The node of a value that is called, with what the guide says is called. */
uint32_t pt_guided(struct rh_pointsto *p, uint32_t instance, struct rh_value *v);
void pt_use_function(struct rh_pointsto *p, const struct use *use, uint32_t object);
void pt_use_outside(struct rh_pointsto *p, uint32_t cell);
uint32_t pt_base_instance(struct rh_pointsto *p, struct rh_function *fn);
/* The instance that a call starting threads begins them with: one for each such call. */
uint32_t pt_entry_instance(struct rh_pointsto *p, struct rh_function *fn, uint32_t call);
void pt_call_from_outside(struct rh_pointsto *p, struct rh_function *fn);

/* --- library.c: what library functions do; small steps that make constraints --- */
/* The node of a call's argument or result; NO_NODE if there is none or it holds no pointer. All of
 * these do nothing with NO_NODE. */
uint32_t pt_argument(struct rh_pointsto *p, uint32_t call, int arg);
uint32_t pt_result(struct rh_pointsto *p, uint32_t call);
void pt_flow(struct rh_pointsto *p, uint32_t from, uint32_t to);
uint32_t pt_load(struct rh_pointsto *p, uint32_t pointer);
void pt_store(struct rh_pointsto *p, uint32_t pointer, uint32_t value);
void pt_copy_memory(struct rh_pointsto *p, uint32_t to, uint32_t from, uint64_t bytes);
uint32_t pt_make_pointer(struct rh_pointsto *p, uint32_t object);
void pt_connect_library(struct rh_pointsto *p, uint32_t call, struct rh_value *fn,
                        const struct rh_library_row *row);
void pt_connect_callback(struct rh_pointsto *p, const struct use *use, struct rh_function *fn);

/* --- wrappers.c: which functions are analysed per call --- */
void pt_find_wrappers(struct rh_pointsto *p);

#endif
