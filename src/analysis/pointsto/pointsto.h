/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every pointer of a whole program may point to, and whom every call may call.
 *
 * How it works: inclusion constraints (Andersen) over the module's values and the contents of
 * memory. Memory is split into *objects* (a global, a stack slot, what one call of malloc returns,
 * a function) and objects into *cells*: a byte offset, or, where an index is not constant, all
 * offsets at a stride from a first one. A points-to set is a set of cells. The solver keeps a
 * worklist in topological order, passes on only what is new, merges cycles of copies, and turns
 * pointer increments that feed themselves into strides. Calls through pointers and thread entries
 * are resolved as the sets grow.
 *
 * Functions that return memory they have just allocated (wrappers of malloc, constructors) are
 * analysed once per call, so that their objects differ by caller, and functions that threads begin
 * with once per call that starts them: such a function has several *instances*, any other has one.
 * All questions are about a value in an instance.
 *
 * What is outside the module is one object: library functions with a row in library.def do what it
 * says, unknown ones hand all they are given to the outside, which may store anything it knows into
 * anything it knows and call every function it knows.
 *
 * Objects are in memory terms: `many` says that one object may stand for several blocks at run
 * time (heap blocks, locals of recursive functions or of functions run by several threads), so that
 * two pointers to it need not be equal.
 */
#ifndef RH_ANALYSIS_POINTSTO_POINTSTO_H
#define RH_ANALYSIS_POINTSTO_POINTSTO_H

#include "analysis/deadline.h"
#include "analysis/idset.h"
#include "analysis/library.h"
#include "ir/ir.h"

enum rh_object_kind {
    RH_OBJECT_GLOBAL,
    RH_OBJECT_THREAD_LOCAL, /* thread-local variable: one for each thread */
    RH_OBJECT_STACK,
    RH_OBJECT_HEAP,
    RH_OBJECT_FUNCTION,
    RH_OBJECT_LIBRARY, /* memory a library function returned as its own; only libraries touch it */
    RH_OBJECT_OWN,     /* the same, one for each thread */
    RH_OBJECT_OUTSIDE, /* everything else that is not the module's: exactly one */
};

struct rh_object {
    enum rh_object_kind kind;
    uint32_t id;
    uint32_t instance;      /* of stack and heap objects */
    struct rh_value *value; /* global, alloca, allocating call, or function; NULL for OUTSIDE */
    uint64_t size;          /* bytes; 0 if unknown */
    bool is_const;
};

/* Part of an object: offset, or if stride is not 0, offset + n * stride for n >= 0 up to `end`. An
 * array within the elements of that array adds m * step up to `span`. */
struct rh_cell {
    uint32_t object;
    uint32_t stride;
    int64_t offset;
    int64_t end; /* of the array that is indexed; INT64_MAX if unknown; unused if stride is 0 */
    uint32_t step, span; /* both 0 if there is no array within */
};

/* One analysis of a function's body. */
struct rh_instance {
    uint32_t id;
    struct rh_function *fn;
    struct rh_value *call; /* the call it was made for; NULL if it serves all callers */
    uint32_t caller;       /* instance of that call */
};

#define RH_NO_INSTANCE 0xffffffffu

struct rh_pointsto;

struct rh_pointsto_options {
    bool is_library; /* a shared library: exported functions are called from outside */
    bool is_coarse;  /* tells objects apart, but not the places in them */
    /* Takes pointers by their declarations, and calls what this analysis of the module calls: see
     * views.c. NULL: takes nothing by its declaration. */
    const struct rh_pointsto *guide;
    struct rh_deadline *deadline; /* once passed, the result is worth nothing; may be NULL */
};

struct rh_pointsto *rh_pointsto_solve(struct rh_module *m, const struct rh_pointsto_options *o);
void rh_pointsto_free(struct rh_pointsto *p);

uint32_t rh_pointsto_instance_count(const struct rh_pointsto *p);
const struct rh_instance *rh_pointsto_instance(const struct rh_pointsto *p, uint32_t id);
/* The instances of a function, as ids. None: nothing reaches it. */
const uint32_t *rh_pointsto_instances_of(const struct rh_pointsto *p, const struct rh_function *f,
                                         uint32_t *count);

uint32_t rh_pointsto_object_count(const struct rh_pointsto *p);
const struct rh_object *rh_pointsto_object(const struct rh_pointsto *p, uint32_t id);
const struct rh_cell *rh_pointsto_cell(const struct rh_pointsto *p, uint32_t id);

/* The cells a pointer may point to: of a value of the instance's function, or of a constant, for
 * which the instance does not matter. Valid until the analysis is freed. */
const struct rh_idset *rh_pointsto_of(const struct rh_pointsto *p, uint32_t instance,
                                      const struct rh_value *pointer);
/* The cells that pointers stored in the object, at any of its offsets, may point to. */
void rh_pointsto_contents(const struct rh_pointsto *p, uint32_t object, struct rh_idset *out);
/* The cells that pointers stored in `bytes` at a cell (0: as far as it goes) may point to. */
void rh_pointsto_held(const struct rh_pointsto *p, uint32_t cell, uint64_t bytes,
                      struct rh_idset *out);
/* One cell of each object that the outside knows: what unknown functions were given, and what can
 * be reached from there. A pointer to the object of kind OUTSIDE may point to any of them. */
const struct rh_idset *rh_pointsto_outside(const struct rh_pointsto *p);
bool rh_pointsto_is_outside(const struct rh_pointsto *p, uint32_t object);
/* The cells that library functions keep and may hand out to any thread. */
const struct rh_idset *rh_pointsto_kept(const struct rh_pointsto *p);
/* What is handed from thread to thread in messages. */
const struct rh_idset *rh_pointsto_sent(const struct rh_pointsto *p);

/* May an access with this type tag be at the cell, by what the object was made for? */
bool rh_pointsto_fits(const struct rh_pointsto *p, uint32_t cell, uint32_t tag);

/* The object of the block that an object is a view of; itself if it is none. */
uint32_t rh_pointsto_block(const struct rh_pointsto *p, uint32_t object);
/* May so many bytes at the cells overlap, views of one block considered? */
bool rh_pointsto_meet(const struct rh_pointsto *p, uint32_t a, uint64_t a_size, uint32_t b,
                      uint64_t b_size);

/* At what distance the cell repeats, arrays within counted; 0 if it is one place. */
uint32_t rh_cell_stride(const struct rh_cell *c);
/* May `a_size` bytes at one cell and `b_size` at the other overlap? Size 0: as far as it goes. */
bool rh_cells_overlap(const struct rh_cell *a, uint64_t a_size, const struct rh_cell *b,
                      uint64_t b_size);

/*
 * Whom a call may call, in an instance. `targets` are instances of functions with a body that run
 * in the calling thread before the call returns: the callee, and functions that a library function
 * calls back. `library` is the described function called, or NULL. `unknown` says that it may be a
 * function outside the module that nothing is known of: it then may also call whatever
 * rh_pointsto_called_from_outside lists.
 */
struct rh_call_targets {
    uint32_t count;
    const uint32_t *targets;
    uint32_t library_count; /* a call through a pointer may reach several */
    const struct rh_library_row *const *libraries;
    bool unknown;
};
struct rh_call_targets rh_pointsto_call(const struct rh_pointsto *p, uint32_t instance,
                                        const struct rh_value *call);
/* Instances of functions that unknown functions may call, and that libraries may call later. */
const uint32_t *rh_pointsto_called_from_outside(const struct rh_pointsto *p, uint32_t *count);
/* Entry functions of the thread that a call starts (or of the handler that it registers), as
 * instances; none if the call does neither. */
const uint32_t *rh_pointsto_entries(const struct rh_pointsto *p, uint32_t instance,
                                    const struct rh_value *call, uint32_t *count);
/* The unknown functions that were called, and how many objects each handed to the outside first. */
struct rh_unknown_function {
    const struct rh_function *fn;
    uint64_t calls;
    uint64_t objects;
};
const struct rh_unknown_function *rh_pointsto_unknown(const struct rh_pointsto *p, size_t *count);

#endif
