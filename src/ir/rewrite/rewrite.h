/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes to the underlying LLVM module: inserting assembly, splitting blocks, giving functions
 * a twin, adding data, and writing the result. Debug locations stay right: what is inserted takes
 * the location of the instruction it stands before.
 *
 * All functions work on the handles of ir.h's values. Order does not matter, because handles stay
 * valid: nothing here deletes or replaces an instruction that the snapshot names. Two exceptions:
 * LLVM's own list of kept symbols, llvm.compiler.used, is replaced when something is added to it,
 * and rh_ir_write_object uses the module up.
 *
 * What cannot be done is RH_ERR_UNSUPPORTED, and then nothing was changed.
 */
#ifndef RH_IR_REWRITE_REWRITE_H
#define RH_IR_REWRITE_REWRITE_H

#include "ir/ir.h"

/* An operand of inserted assembly. */
struct rh_asm_operand {
    struct rh_value *value;
    void *handle;   /* overrides value->handle when set (a value of a twin) */
    bool is_memory; /* passed as an indirect memory operand ("*m") of an i8 */
    /* Passed as one word: the `lane`th of the `lanes` words of a vector or an integer, multiplied
     * with the value behind the handle `times`, if that is not NULL. */
    bool is_word;
    uint32_t lane, lanes;
    void *times;
};

/* Gives a function that the module only declares another name for the linker; the snapshot keeps
 * the old one. */
void rh_rewrite_rename(struct rh_module *m, const struct rh_function *fn, const char *name);

/* Inserts `call void asm sideeffect text, constraints (operands)` right before (or right after) the
 * instruction behind `handle`. Unsupported: before a phi, a landing pad, or the return of a tail
 * call that the program relies on; after a terminator (an invoke too), a phi or such a call. */
enum rh_status rh_rewrite_insert_asm(struct rh_module *m, void *handle, bool after,
                                     const char *text, const char *constraints,
                                     const struct rh_asm_operand *operands, uint32_t count);

/* The handle of an instruction's operand, as it is now: a twin that is finished may have given the
 * return that both bodies share another one. */
void *rh_rewrite_operand(void *handle, uint32_t i);

/* Splits the block of `inst` before it: the instructions from `inst` on stay in the old block (so
 * that no phi of a successor changes), the ones before it move to a new block that the
 * predecessors now reach and that ends in a branch to the old one; phis move along. In the entry
 * block all allocas of fixed size go with the prefix, also those behind `inst` and `inst` itself.
 * Gives the new block's handle. The work grows with the length of the prefix: split a block from
 * front to back. Unsupported where assembly cannot stand before `inst`. */
enum rh_status rh_rewrite_split_before(struct rh_module *m, struct rh_value *inst, void **prefix);

/*
 * A twin is a second body of a function. The plain body has gates: assembly that goes on, or jumps
 * to the same point of the twin, from where the run stays in the twin until the function returns.
 * A gate at the entry is passed by every call; gates further inside, at the headers of loops, are
 * for runs that are under way already. Arguments and stack memory of fixed size belong to both
 * bodies. Everything that is alive at a gate is carried over.
 *
 * Making one takes two steps, because what is inserted into the twin must see the right values too:
 * rh_rewrite_twin_begin copies the body and builds the gates, then assembly is inserted before
 * copies of instructions, with copies as operands, and rh_rewrite_twin_finish settles for each use
 * in the twin whether it sees the copy's value or, behind a gate, the original's. In between the
 * module is not valid. Other functions may be rewritten meanwhile.
 */
struct rh_twin;
/* `gates` are blocks of `fn` with a gate each, the entry among them or not; `text` is assembly with
 * one label operand (constraints "!i,...") that jumps there, or falls through. Blocks that begin
 * with a landing pad get no gate. Unsupported: indirect jumps, blocks whose address is taken, calls
 * that must not be duplicated or may return twice, assembly that defines symbols, tokens, funclets.
 */
enum rh_status rh_rewrite_twin_begin(struct rh_module *m, struct rh_function *fn,
                                     struct rh_block *const *gates, uint32_t count,
                                     const char *text, const char *constraints,
                                     struct rh_twin **out);
/* The twin's handle of a value; NULL if both bodies share it, or if no gate leads to it. */
void *rh_twin_of(const struct rh_twin *twin, const struct rh_value *value);
/* The same of a block. */
void *rh_twin_of_block(const struct rh_twin *twin, const struct rh_block *block);
/* The end of what both bodies share at the entry of the function: each call passes it first, and
 * assembly may be inserted before it. */
void *rh_twin_entry(const struct rh_twin *twin);
/* Ends the work on a twin and releases `twin`. */
void rh_rewrite_twin_finish(struct rh_twin *twin);
/* Assembly that stands before a loop for what an instruction does in all its rounds. Operand 0 is a
 * register with the address; if the sweep has a stride, that is the lowest of all addresses, and
 * operand 1 is a register with `shape`, a number below 1 << count_at, and above it how many
 * accesses they are: `run` for each round. */
struct rh_sweep;
struct rh_sweep_text {
    const char *text, *constraints;
    uint64_t shape;
    uint32_t count_at;
    uint32_t run; /* accesses of each round */
};
/* Inserts it at the end of the block before the loop, in the twin, or in the plain body if that is
 * NULL. `pointer` is the address at `inst`. Unsupported: that block is not in the twin. */
enum rh_status rh_rewrite_insert_sweep(struct rh_module *m, const struct rh_twin *twin,
                                       const struct rh_sweep *sweep, struct rh_value *inst,
                                       struct rh_value *pointer, const struct rh_sweep_text *text);
/* Gives a loop of a finished twin a copy without the assembly that rh_rewrite_insert_asm has put
 * into it, which runs instead unless `text` (as for gates) jumps. `blocks` are the handles of the
 * loop's blocks, its header first; no call in it but to intrinsics and inserted assembly.
 * Unsupported: several entries, blocks that end in more than branches, values that are used behind
 * several exits.
 */
enum rh_status rh_rewrite_bypass(struct rh_module *m, void *const *blocks, uint32_t count,
                                 const char *text, const char *constraints);

/* Adds a constant of raw bytes; `section` may be NULL; `exported` gives it external linkage with
 * hidden visibility under `name`, otherwise it is kept by llvm.compiler.used. */
enum rh_status rh_rewrite_add_data(struct rh_module *m, const char *name, const char *section,
                                   const void *bytes, size_t size, uint32_t align, bool exported);

/* How code is generated. */
struct rh_codegen {
    unsigned opt_level; /* 0 to 3 */
    bool pic;           /* position independent: shared libraries and PIE */
    const char *cpu;    /* NULL: generic for the triple */
    const char *features;
};

/* Verifies the module; an invalid one is RH_ERR_INTERNAL with LLVM's first complaint. */
enum rh_status rh_ir_verify(struct rh_module *m);
/* Verifies first and writes atomically. Generating code changes the module on the way: after it
 * only rh_ir_close is left. Code that cannot be generated (assembly that does
 * not assemble) is RH_ERR_INPUT; but some faults LLVM only answers by ending the process. */
enum rh_status rh_ir_write_object(struct rh_module *m, const struct rh_codegen *cg,
                                  const char *path);

#endif
