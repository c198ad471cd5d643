/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Type tags of accesses: which pairs of accesses the language forbids to meet.
 *
 * How it works: at -O1 and above clang marks an access with the struct it goes through, the offset
 * in it and the scalar type at that offset (LLVM's TBAA). From these a tag keeps the *path*: the
 * struct, the struct nested in it at the offset, and so on down to the scalar. Two accesses may
 * meet if their scalars agree and one path passes through a step of the other; an access to a bare
 * scalar may meet any access to such a scalar; characters and accesses without a mark meet
 * anything.
 *
 * Programs bend these rules, and a race missed costs more than one suspected, so two habits are
 * allowed for: long and long long are one type, and structs that begin alike, with a header that is
 * repeated instead of nested, are taken for each other in what they have in common.
 */
#ifndef RH_IR_READ_TAGS_H
#define RH_IR_READ_TAGS_H

#include <llvm-c/Core.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "ir/ir.h"

struct rh_tag_type;

/* A step of the path: `offset` bytes into a value of the type. */
struct rh_tag_step {
    const struct rh_tag_type *type;
    uint64_t offset;
};

struct rh_tag {
    const struct rh_tag_type *scalar;
    const struct rh_tag_type *root; /* of the language: C and C++ code has not the same */
    uint32_t count;                 /* of steps above the scalar, outermost first; 0: bare */
    struct rh_tag_step *steps;
};

struct rh_tags {
    LLVMContextRef context;
    unsigned kind;             /* LLVM's number of the metadata */
    struct rh_map by_node;     /* tag node -> tag's number */
    struct rh_map types;       /* type node -> struct rh_tag_type * */
    struct rh_strmap scalars;  /* by root and name */
    RH_VEC(struct rh_tag) all; /* 0 is the tag that meets anything */
    uint8_t *answers;          /* whether two tags meet, by rows of `asked` */
    size_t asked;
    struct rh_arena arena;
};

/* The tables of a module, empty. */
struct rh_tags *rh_tags_new(LLVMContextRef context);
/* `tags` may be NULL. */
void rh_tags_free(struct rh_tags *tags);
/* The number of an instruction's tag; 0 if it may meet anything. Questions about tags are asked
 * through ir.h. */
uint32_t rh_tags_of(struct rh_tags *tags, LLVMValueRef inst);

#endif
