/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole program as Racehive's analyses see it: types, values, blocks and functions in a small
 * vocabulary of our own, read once from an LLVM module.
 *
 * How it works: `rh_ir_open` parses a bitcode file and walks it once, building plain structs in the
 * module's arena; from then on analyses follow pointers and never call LLVM. Only src/ir names
 * LLVM. A value keeps an opaque `handle` so that rewrite.h can change the underlying module; after
 * a function was rewritten its snapshot still describes it as it was before, which is what sites
 * and candidates are about.
 *
 * Ownership: everything belongs to the module and dies with `rh_ir_close`. Ids are dense, start at
 * 0 and follow the order of the bitcode, so the same input gives the same ids; within a function,
 * arguments and instructions are numbered in one row. Debug information is no code: calls to
 * llvm.dbg functions are left out, however LLVM's version writes them.
 */
#ifndef RH_IR_IR_H
#define RH_IR_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "racehive/image.h" /* enum rh_memory_order */

struct rh_module;
struct rh_loc;

enum rh_type_kind {
    RH_TYPE_VOID,
    RH_TYPE_INT,
    RH_TYPE_FLOAT,
    RH_TYPE_PTR,
    RH_TYPE_STRUCT,
    RH_TYPE_ARRAY,
    RH_TYPE_VECTOR,
    RH_TYPE_FUNC,
    RH_TYPE_OTHER, /* labels, metadata, tokens, target types: never in memory */
};

struct rh_type {
    enum rh_type_kind kind;
    uint32_t id;
    uint32_t bits;          /* of integers and floats */
    uint32_t address_space; /* of pointers; 0 is ordinary memory */
    uint64_t size;          /* bytes a load or store of it touches; 0 if not known */
    uint64_t alloc_size;    /* distance between two of them in an array */
    uint32_t align;         /* ABI alignment; 0 for types without a known size */
    const char *name;       /* of a named struct, else NULL */
    uint64_t count;         /* fields of a struct, elements of an array or vector, parameters */
    struct rh_type **elems; /* struct fields or parameters; one entry for arrays and vectors */
    uint64_t *offsets;      /* byte offset of each struct field */
    struct rh_type *ret;    /* of functions */
    bool variadic;
    bool is_polymorphic; /* a class with virtual functions, as debug information says */
};

enum rh_value_kind {
    RH_VALUE_INST,
    RH_VALUE_ARG,
    RH_VALUE_GLOBAL, /* global variable */
    RH_VALUE_FUNCTION,
    RH_VALUE_ALIAS, /* ops[0] is what it stands for, or an ifunc's resolver (`is_ifunc`) */
    RH_VALUE_INT,   /* constant integer: `bits` and `num` */
    RH_VALUE_FP,
    RH_VALUE_NULL,      /* null pointer or all-zero aggregate */
    RH_VALUE_UNDEF,     /* undef or poison */
    RH_VALUE_EXPR,      /* constant expression: `op` and operands as for instructions */
    RH_VALUE_AGGREGATE, /* constant struct, array or vector: ops are the elements */
    RH_VALUE_DATA,      /* constant bytes without pointers (strings, number tables) */
    RH_VALUE_BLOCK,     /* address of `block` in `fn` */
    RH_VALUE_ASM,       /* inline assembly as a callee */
    RH_VALUE_OTHER,     /* metadata and the like: never memory, never a pointer */
};

/* One row per operation: enum suffix, printed name. */
#define RH_OPS(X)                                                                                  \
    X(RET, "ret")                                                                                  \
    X(BR, "br")                                                                                    \
    X(SWITCH, "switch")                                                                            \
    X(INDIRECTBR, "indirectbr")                                                                    \
    X(INVOKE, "invoke")                                                                            \
    X(CALLBR, "callbr")                                                                            \
    X(RESUME, "resume")                                                                            \
    X(UNREACHABLE, "unreachable")                                                                  \
    X(CALL, "call")                                                                                \
    X(ALLOCA, "alloca")                                                                            \
    X(LOAD, "load")                                                                                \
    X(STORE, "store")                                                                              \
    X(FENCE, "fence")                                                                              \
    X(CMPXCHG, "cmpxchg")                                                                          \
    X(RMW, "atomicrmw")                                                                            \
    X(GEP, "getelementptr")                                                                        \
    X(PHI, "phi")                                                                                  \
    X(SELECT, "select")                                                                            \
    X(ICMP, "icmp")                                                                                \
    X(FCMP, "fcmp")                                                                                \
    X(ADD, "add")                                                                                  \
    X(SUB, "sub")                                                                                  \
    X(MUL, "mul")                                                                                  \
    X(UDIV, "udiv")                                                                                \
    X(SDIV, "sdiv")                                                                                \
    X(UREM, "urem")                                                                                \
    X(SREM, "srem")                                                                                \
    X(SHL, "shl")                                                                                  \
    X(LSHR, "lshr")                                                                                \
    X(ASHR, "ashr")                                                                                \
    X(AND, "and")                                                                                  \
    X(OR, "or")                                                                                    \
    X(XOR, "xor")                                                                                  \
    X(FNEG, "fneg")                                                                                \
    X(FADD, "fadd")                                                                                \
    X(FSUB, "fsub")                                                                                \
    X(FMUL, "fmul")                                                                                \
    X(FDIV, "fdiv")                                                                                \
    X(FREM, "frem")                                                                                \
    X(TRUNC, "trunc")                                                                              \
    X(ZEXT, "zext")                                                                                \
    X(SEXT, "sext")                                                                                \
    X(FPTOUI, "fptoui")                                                                            \
    X(FPTOSI, "fptosi")                                                                            \
    X(UITOFP, "uitofp")                                                                            \
    X(SITOFP, "sitofp")                                                                            \
    X(FPTRUNC, "fptrunc")                                                                          \
    X(FPEXT, "fpext")                                                                              \
    X(PTRTOINT, "ptrtoint")                                                                        \
    X(INTTOPTR, "inttoptr")                                                                        \
    X(BITCAST, "bitcast")                                                                          \
    X(ADDRSPACECAST, "addrspacecast")                                                              \
    X(FREEZE, "freeze")                                                                            \
    X(EXTRACTELEMENT, "extractelement")                                                            \
    X(INSERTELEMENT, "insertelement")                                                              \
    X(SHUFFLEVECTOR, "shufflevector")                                                              \
    X(EXTRACTVALUE, "extractvalue")                                                                \
    X(INSERTVALUE, "insertvalue")                                                                  \
    X(VAARG, "va_arg")                                                                             \
    X(LANDINGPAD, "landingpad")                                                                    \
    X(OTHER, "other") /* Windows exception pads: never emitted for our targets */

enum rh_op {
#define RH_OP_ENUM(id, name) RH_OP_##id,
    RH_OPS(RH_OP_ENUM)
#undef RH_OP_ENUM
        RH_OP_COUNT
};

/* What a getelementptr adds: `offset` bytes plus, for each term, index * scale. */
struct rh_gep_term {
    struct rh_value *index;
    int64_t scale;
    int64_t start;   /* where the array that is indexed begins, by the constant indices before it */
    uint64_t extent; /* bytes of that array; 0 if the type does not say */
    bool is_pointer; /* the pointer itself is indexed: it may be to any element of the array */
};
struct rh_gep {
    struct rh_type *source; /* the type the indices walk through */
    int64_t offset;         /* sum of the constant indices; wraps */
    bool unknown;           /* passes a type whose size only the machine knows: the rest is void */
    bool is_loose;          /* not `inbounds`: on its way it may be outside of the object */
    uint32_t term_count;
    struct rh_gep_term *terms;
};

struct rh_value {
    enum rh_value_kind kind;
    enum rh_op op; /* of instructions and constant expressions */
    uint32_t id;   /* dense over the module, all kinds together */
    struct rh_type *type;
    const char *name; /* "" if none */
    /* Operands in LLVM's order, with two exceptions that make calls and branches readable: calls
     * and invokes hold the arguments only (the callee is `callee`), and blocks are never operands
     * (see `struct rh_block.succs`, and `targets` for phis: the incoming block of each operand).
     * A switch has its condition and then the value of each case. A global has its initialiser,
     * a function its personality, prefix and prologue data as far as present. */
    uint32_t op_count;
    struct rh_value **ops;
    struct rh_block **targets; /* one per operand; phi: incoming blocks; switch: default, cases */
    struct rh_value *callee;   /* of calls, invokes and callbrs */
    const char *intrinsic;  /* "llvm.memcpy" without type suffix, of calls and functions, or NULL */
    struct rh_gep *gep;     /* of getelementptr, instruction or expression */
    struct rh_type *access; /* type loaded, stored, exchanged, or allocated by alloca */
    uint32_t tag;           /* of loads, stores, rmw and cmpxchg: see rh_ir_tags_meet */
    uint32_t align;         /* of loads, stores, allocas and globals */
    enum rh_memory_order order;      /* of loads, stores, rmw, fences and cmpxchg on success */
    enum rh_memory_order fail_order; /* of cmpxchg */
    uint8_t predicate;               /* icmp, fcmp: LLVM's number; rmw: LLVM's operation number */
    bool is_ifunc;                   /* of aliases */
    bool is_volatile;
    bool single_thread;   /* sync scope of one thread only: signal fences */
    bool never_wraps;     /* of sums and products: nsw; nuw if of 64 bits, as no index is so large;
                             of `or`: a sum, as no bit is set in both */
    bool is_by_value;     /* argument that points to the callee's own copy (byval) */
    bool no_memory;       /* call that touches no memory at all */
    int64_t num;          /* constant integer, sign-extended; cut to 64 bits */
    uint32_t index_count; /* extractvalue, insertvalue; shufflevector: the mask, */
    const unsigned *indices; /* with UINT_MAX where the element is poison */
    struct rh_block *block;  /* of instructions and block addresses */
    struct rh_function *fn;  /* of instructions, arguments, block addresses; of functions, itself */
    struct rh_global *global; /* of globals */
    const struct rh_loc *loc; /* of instructions; NULL if none */
    struct rh_value *next;    /* next instruction of the block */
    /* Who uses this value as operand, callee or in an operand bundle of a call, once per use:
     * instructions, constants, globals, aliases, functions; the uses of one user in a row. */
    uint32_t user_count;
    struct rh_value **users;
    void *handle;
};

struct rh_global {
    struct rh_value *init; /* NULL if not known */
    struct rh_type *value_type;
    const char *section; /* "" if none */
    bool is_const;
    bool is_thread_local;
    bool is_local;       /* internal or private linkage: no code outside the module can name it */
    bool is_declaration; /* defined elsewhere; `init` is set all the same if it is known */
};

struct rh_block {
    uint32_t id; /* dense within the function; 0 is the entry */
    struct rh_function *fn;
    struct rh_value *first, *last; /* last is the terminator */
    uint32_t succ_count, pred_count;
    struct rh_block **succs, **preds; /* without duplicates, in the terminator's order */
    void *handle;
};

struct rh_function {
    struct rh_value *value;
    uint32_t id; /* dense over the module's functions */
    const char *name;
    struct rh_type *type;
    uint32_t arg_count;
    struct rh_value **args;
    uint32_t block_count; /* 0 for a declaration, and for a body whose code comes from elsewhere */
    struct rh_block **blocks;
    uint32_t inst_count;
    bool is_local;            /* as for globals */
    bool is_naked;            /* no code may be inserted */
    bool no_instrument;       /* asks not to be instrumented (RH_IGNORE_FUNCTION) */
    bool is_entry;            /* threads that nobody sees start call it: whoever knows, sets it */
    bool returns_twice;       /* contains a call that may return twice (setjmp, vfork) */
    const struct rh_loc *loc; /* where it is defined; NULL if unknown */
    void *handle;
};

/* A place in the source. `inlined_at` is where `function` was inlined, NULL at the outermost. */
struct rh_loc {
    /* As the compiler recorded it: directory joined when relative, no leading "./"; "" if unknown.
     */
    const char *file;
    uint32_t line; /* 0 if unknown */
    uint32_t column;
    const char *function; /* source name of the function the line belongs to */
    const char *linkage;  /* its mangled name, or the source name in C */
    bool is_near;    /* the compiler recorded no line: this is the nearest known (read/lines.c) */
    bool is_ignored; /* `function` asks not to be instrumented */
    const struct rh_loc *inlined_at;
};

/* Parses a bitcode file. What is no valid bitcode: RH_ERR_INPUT; other failures as rh_fs_map. */
enum rh_status rh_ir_open(const char *path, struct rh_module **out);
/* Parses bitcode or textual IR from memory (for tests). `name` is used in messages. */
enum rh_status rh_ir_open_memory(const char *name, const void *data, size_t size,
                                 struct rh_module **out);
void rh_ir_close(struct rh_module *m);

uint32_t rh_ir_function_count(const struct rh_module *m);
struct rh_function *rh_ir_function(const struct rh_module *m, uint32_t i);
struct rh_function *rh_ir_find_function(const struct rh_module *m, const char *name);
uint32_t rh_ir_global_count(const struct rh_module *m);
struct rh_value *rh_ir_global(const struct rh_module *m, uint32_t i);
struct rh_value *rh_ir_find_global(const struct rh_module *m, const char *name);
/* File-scope assembly of the module, "" if none. */
const char *rh_ir_inline_asm(const struct rh_module *m);

/* The text of inline assembly (RH_VALUE_ASM), of this length and without an end. */
const char *rh_ir_asm_text(const struct rh_value *assembly, size_t *len);

/* The bytes of a global variable that begins as a string; NULL for any other. */
const char *rh_ir_string(const struct rh_value *global, size_t *len);

/* The pointer a load, store, rmw or cmpxchg goes through; NULL for anything else. */
struct rh_value *rh_ir_pointer(const struct rh_value *inst);
/* Does the language allow accesses with these type tags to touch the same memory? Tag 0 is that of
 * accesses of which it says nothing. See read/tags.h. */
bool rh_ir_tags_meet(struct rh_module *m, uint32_t a, uint32_t b);
/* Is it about the word of an object that leads to the virtual functions of its class? */
bool rh_ir_tag_is_vtable(struct rh_module *m, uint32_t tag);
/* May an access with this tag be at this offset of memory that was made for a value of the type?
 * The offset is within one element if the memory is an array of such values; of memory behind the
 * type nothing is known. */
bool rh_ir_tag_fits(struct rh_module *m, uint32_t tag, const struct rh_type *type, uint64_t offset);
/* The outermost struct that an access with this tag goes through, by the name that debug
 * information gives it, and the offset in it; "" if it goes through none, or one without a name. */
const char *rh_ir_tag_struct(struct rh_module *m, uint32_t tag, uint64_t *offset);
/* Strips casts, getelementptrs, aliases and the marker of thread-local addresses; `offset` (may be
 * NULL) gets the constant part, and `exact` (may be NULL) whether that is all of it: false when a
 * variable index was passed over. */
struct rh_value *rh_ir_base(struct rh_value *ptr, int64_t *offset, bool *exact);
/* Does the value's address, or a pointer derived from it, ever leave the function: stored, passed
 * to a call that may keep it, returned, turned to an integer? For allocas and arguments. Calls to
 * intrinsics that only touch the memory, and arguments marked nocapture, do not count. */
bool rh_ir_escapes(const struct rh_value *ptr);

/* What one use does with a pointer. */
enum rh_use {
    RH_USE_HARMLESS,
    RH_USE_DERIVES,  /* the user is a pointer into the same memory */
    RH_USE_COMPARES, /* harmless if the other side is such a pointer too */
    RH_USE_ESCAPES,
};
enum rh_use rh_ir_judge_use(const struct rh_value *ptr, const struct rh_value *user);

#endif
