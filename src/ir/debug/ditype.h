/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types as debug information describes them, in plain structs that are read on demand, for the
 * files of src/ir alone.
 *
 * Typedefs and qualifiers are gone: a node that only renames or qualifies gives the struct of the
 * type behind it. What a type leads to (its target, its members) is read when first asked for, so
 * that naming one member of one struct never reads a whole program's types. Everything belongs to
 * the `struct rh_ditypes` and dies with it; one node always gives the same struct.
 */
#ifndef RH_IR_DEBUG_DITYPE_H
#define RH_IR_DEBUG_DITYPE_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

enum rh_ditype_kind {
    RH_DITYPE_OPAQUE, /* void, functions, structs that are only declared */
    RH_DITYPE_SCALAR, /* numbers, enumerations, vectors, pointers to members */
    RH_DITYPE_POINTER,
    RH_DITYPE_REFERENCE,
    RH_DITYPE_ARRAY,
    RH_DITYPE_RECORD, /* struct, class, union */
};

struct rh_dimember {
    const char *name; /* "" for an anonymous struct or union and for a base class */
    uint64_t bit_offset;
    uint64_t bit_size;
    struct rh_ditype *type;
    bool is_bitfield;
};

struct rh_ditype {
    enum rh_ditype_kind kind;
    const char *keyword; /* "struct", "class", "union" of a record whose own name it is, else "" */
    const char *name;    /* of an unnamed record the typedef's, if it has one; "" if none */
    const char *tag;     /* the record's own name, "" if none */
    const char *mangled; /* of a C++ record that other files can name, else "" */
    uint64_t size;       /* in bytes; 0 if unknown */
    bool is_union;
    bool is_float;
    bool is_library;    /* declared in namespace std: its members are no names users know */
    uint32_t dim_count; /* of an array */
    uint64_t *dims;     /* elements of each dimension; 0 if unknown */
    uint32_t member_count;
    struct rh_dimember *members;
    struct rh_ditype *next; /* the next record of the same name */
    /* How far it was read. */
    LLVMMetadataRef node;
    struct rh_ditype *target;
    bool has_target, has_members, was_queued;
};

struct rh_ditype_queue RH_VEC_BODY(struct rh_ditype *);

struct rh_ditypes {
    LLVMContextRef context;
    struct rh_arena arena;
    struct rh_map by_node;        /* DIType -> struct rh_ditype * */
    struct rh_strmap by_name;     /* tag or mangled name -> first struct rh_ditype * of that name */
    struct rh_ditype_queue queue; /* reached, but not yet looked into */
};

void rh_ditypes_init(struct rh_ditypes *types, LLVMContextRef context);
void rh_ditypes_release(struct rh_ditypes *types);

/* The type behind a node; NULL (void) for NULL. */
struct rh_ditype *rh_ditype_of(struct rh_ditypes *types, LLVMMetadataRef node);
/* What a pointer or reference points to, or an array is made of; NULL for void. */
struct rh_ditype *rh_ditype_target(struct rh_ditypes *types, struct rh_ditype *type);
/* Reads the members of a record, base classes among them, in the order of declaration. */
void rh_ditype_read_members(struct rh_ditypes *types, struct rh_ditype *type);

/* Lets the records that `type` leads to, over any number of steps, be found by name; may be NULL.
 */
void rh_ditype_reach(struct rh_ditypes *types, struct rh_ditype *type);
/* The first record with this mangled name, or this tag if it has none, among those reached; more
 * follow in `next`. */
struct rh_ditype *rh_ditype_find(struct rh_ditypes *types, const char *name);

/* Whether the scope lies in a namespace of the C++ library. */
bool rh_ditype_is_library_scope(struct rh_ditypes *types, LLVMMetadataRef scope);

#endif
