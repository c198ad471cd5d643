/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an offset in a type to the names of the members and elements that lie there, for the files
 * of src/ir alone: 24 bytes into a `struct queue` is `.ring[2].next`.
 *
 * A path is only as long as it is certain: where several members could be meant (a union,
 * bit-fields that share a word, an access that covers two members) it ends at what holds them all.
 */
#ifndef RH_IR_NAMES_MEMBER_PATH_H
#define RH_IR_NAMES_MEMBER_PATH_H

#include "base/strbuf.h"
#include "ir/debug/ditype.h"
#include "ir/ir.h"

/* Bytes that depend on a variable: (index + add) * scale. */
struct rh_member_term {
    int64_t scale;
    int64_t add;
    const char *name; /* of the index as the programmer wrote it, "" if it has none */
};

/* The struct that the compiler itself says the access goes through, and how far into it. */
enum rh_struct_hint_kind {
    RH_HINT_NONE,
    RH_HINT_TAG,     /* `name` is a struct's own name in C */
    RH_HINT_MANGLED, /* `name` is the mangled name of a C++ type */
    RH_HINT_LLVM,    /* `name` is LLVM's name of the type, without "struct." and the like */
};
struct rh_struct_hint {
    enum rh_struct_hint_kind kind;
    const char *name;
    int64_t offset;
};

/* What to find the path to: bytes at an offset in an object, or behind a pointer, of known type. */
struct rh_member_query {
    const struct rh_value *inst; /* the access */
    int64_t offset;
    uint64_t size; /* of the access; 0 if unknown */
    struct rh_member_term *terms;
    uint32_t term_count;
    struct rh_struct_hint hint;
    bool is_unoptimised; /* the access has the type that the programmer gave it */
};

enum rh_member_fit {
    RH_FIT_WRONG, /* the type has no such offset */
    RH_FIT_VAGUE, /* the path ends early: what it names contains the bytes */
    RH_FIT_EXACT,
};

#define RH_MEMBER_STEPS 12
#define RH_MEMBER_INDEX 32

struct rh_member_step {
    const char *member;          /* NULL for an element */
    char index[RH_MEMBER_INDEX]; /* of the element */
};

struct rh_member_path {
    uint32_t count;
    struct rh_member_step steps[RH_MEMBER_STEPS];
    struct rh_ditype *top;     /* where it starts; NULL if unknown */
    struct rh_ditype *leaf;    /* what lies at its end; NULL if unknown */
    struct rh_ditype *library; /* the outermost C++ library type whose members were left out */
    bool indexes_pointer;      /* the first step indexes the pointer itself */
    bool is_ambiguous;         /* it ends early because several members could be meant */
    bool has_hint;             /* it passes the struct of the query's hint */
};

/* The path to these bytes of an object of this type, or of what a pointer to this type points to.
 */
enum rh_member_fit rh_member_path_in_object(struct rh_ditypes *types, struct rh_ditype *type,
                                            const struct rh_member_query *wanted,
                                            struct rh_member_path *path);
enum rh_member_fit rh_member_path_behind_pointer(struct rh_ditypes *types,
                                                 struct rh_ditype *pointee,
                                                 const struct rh_member_query *wanted,
                                                 struct rh_member_path *path);

/* Whether two paths have the same steps. */
bool rh_member_path_equal(const struct rh_member_path *a, const struct rh_member_path *b);

/* Adds the path with `base` in front: as an object (`base.a[1]`), or as a pointer (`base->a[1]`,
 * `*base`). */
void rh_member_path_print_object(const struct rh_member_path *path, const char *base,
                                 struct rh_strbuf *out);
void rh_member_path_print_pointer(const struct rh_member_path *path, const char *base,
                                  struct rh_strbuf *out);

/* The bits, counted from the lowest of the accessed ones, that a load or store of a bit-field's
 * word is about; 0 if that cannot be told. */
uint64_t rh_member_bits(const struct rh_value *inst);

/* Whether the program computes with the integer that it loads or stores. If not, it may only be
 * copying the bits of something else. */
bool rh_member_is_number(const struct rh_value *inst);

#endif
