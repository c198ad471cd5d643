/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which value holds which variable at which instruction: the variable locations of a module's debug
 * information, for the files of src/ir alone.
 *
 * A variable here is one instance of a source variable: if a function was inlined twice, each copy
 * has its own. A definition says that from there on, until the next definition, the variable has
 * this value. The optimiser moves code, so a value that held a variable at its definition need not
 * hold it at its use. `rh_varlocs_at` says which definition of a variable reaches an instruction,
 * over all paths to it.
 */
#ifndef RH_IR_DEBUG_VARLOC_H
#define RH_IR_DEBUG_VARLOC_H

#include "ir/debug/ditype.h"
#include "ir/module.h"

/* What a definition says about its value. */
enum rh_vardef_kind {
    RH_VARDEF_VALUE,    /* the variable is value + plus */
    RH_VARDEF_MEMORY,   /* the variable is the memory at value + plus, wherever it is in scope */
    RH_VARDEF_INDIRECT, /* the memory at value holds the address of the variable */
    RH_VARDEF_LOST,     /* debug information does not say where the variable is */
};

#define RH_VARDEF_NONE UINT32_MAX

struct rh_vardef {
    enum rh_vardef_kind kind;
    uint32_t variable;
    uint32_t same;     /* the variable's first definition that says the same; may be itself */
    uint32_t of_value; /* next definition with the same value, or RH_VARDEF_NONE */
    uint32_t block;
    uint32_t before; /* id of the instruction that it stands before */
    int64_t plus;
    /* An instruction or argument; NULL if LOST. What a getelementptr adds to it by constants is in
     * `plus`, so that pointers into the same thing are found together. */
    struct rh_value *value;
};

struct rh_variable {
    LLVMMetadataRef node;
    LLVMMetadataRef scope;
    LLVMMetadataRef inlined_at; /* NULL if not inlined */
    const char *name;
    struct rh_ditype *type; /* NULL if unknown */
    bool is_part;           /* only the part of it at `offset`, `size` bytes */
    uint64_t offset, size;
    bool is_hidden;        /* made by the compiler: not a name that anyone wrote */
    uint32_t first, count; /* its definitions in `defs`, in the order of the code */
};

struct rh_varlocs;

/* Walks the module once. The types of variables are read through `types`, which must live on, and
 * are reached there. */
struct rh_varlocs *rh_varlocs_read(struct rh_module *m, struct rh_ditypes *types);
void rh_varlocs_free(struct rh_varlocs *vl);

const struct rh_vardef *rh_varlocs_def(const struct rh_varlocs *vl, uint32_t def);
const struct rh_variable *rh_varlocs_variable(const struct rh_varlocs *vl, uint32_t variable);
/* The first definition with this value; the others follow in `of_value`. */
uint32_t rh_varlocs_of(const struct rh_varlocs *vl, const struct rh_value *value);

/* The definition in force right before `inst` (its `same`), or RH_VARDEF_NONE if there is none or
 * more than one, depending on how `inst` was reached. */
uint32_t rh_varlocs_at(struct rh_varlocs *vl, uint32_t variable, const struct rh_value *inst);
/* The same at the end of a block. */
uint32_t rh_varlocs_after(struct rh_varlocs *vl, uint32_t variable, const struct rh_block *block);
/* Whether every way to `inst` passes a definition that says the same as `def`. */
bool rh_varlocs_passed(struct rh_varlocs *vl, uint32_t def, const struct rh_value *inst);

#endif
