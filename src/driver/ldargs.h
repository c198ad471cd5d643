/* SPDX-License-Identifier: Apache-2.0 */
/* A linker's command line as a list of arguments with their meaning. */
#ifndef RH_DRIVER_LDARGS_H
#define RH_DRIVER_LDARGS_H

#include "base/arena.h"
#include "base/status.h"
#include "base/vec.h"
#include "driver/wordlist.h"

#include <stdbool.h>

enum rh_ld_role {
    RH_LD_OPTION, /* of no interest to us */
    RH_LD_INPUT,
    RH_LD_LIBRARY,
    RH_LD_LIBRARY_PATH,
    RH_LD_OUTPUT,
    RH_LD_SIDE,   /* writes or prints something beside the output, or makes warnings errors */
    RH_LD_PLUGIN, /* for the plugin that does link-time optimisation in GNU ld */
    RH_LD_LTO_LEVEL,
    RH_LD_FAT_LTO, /* whether bitcode in fat objects counts: for us to say, step by step */
    RH_LD_EMIT,    /* asks for an intermediate form in place of the program */
    RH_LD_SHARED,
    RH_LD_PIE,
    RH_LD_NO_PIE,
    RH_LD_RELOCATABLE,
    RH_LD_STATIC,
    RH_LD_DYNAMIC,
    RH_LD_PUSH_STATE,
    RH_LD_POP_STATE,
    RH_LD_START_LIB,
    RH_LD_END_LIB,
    RH_LD_FORMAT,
    RH_LD_EMULATION,
    RH_LD_DYNAMIC_LINKER,
    RH_LD_SYSROOT,
    RH_LD_NO_DEFAULT_PATHS,
    RH_LD_BUILD_ID,
    RH_LD_QUERY
};

/* What an input means to the steps. */
enum rh_ld_content {
    RH_LD_NATIVE,        /* no bitcode: the same in every step */
    RH_LD_BITCODE,       /* an object or an archive that is bitcode through and through */
    RH_LD_MIXED_ARCHIVE, /* an archive with bitcode in some members */
};

struct rh_ld_arg {
    enum rh_ld_role role;
    const char *words[2];
    size_t word_count;
    const char *value; /* the operand, joined or separate; NULL if none */
    bool is_static;    /* of a library: look for archives alone */
    bool in_lib;       /* between --start-lib and --end-lib */

    /* Of inputs and libraries, by rh_inputs_inspect(): */
    const char *path; /* NULL: none found */
    enum rh_ld_content content;
    bool is_archive;
    bool is_native;          /* machine code alone: an object, or an archive of such */
    bool has_broken;         /* bitcode that nobody can read, which must be hidden from lld */
    bool can_hide;           /* a fat object: without its bitcode it is still an object */
    bool hidden;             /* its bitcode is to be ignored */
    const char *merge_path;  /* stands in for it when bitcode is merged; NULL: itself */
    const char *native_path; /* what is left of a mixed archive without its bitcode */
};

struct rh_ld_args RH_VEC_BODY(struct rh_ld_arg);

struct rh_ld {
    struct rh_arena arena;
    struct rh_wordlist words;
    struct rh_ld_args args;
    struct rh_wordlist library_paths; /* as given, then those that need no giving */
    size_t given_paths;
    const char *output;
    const char *emulation;
    const char *sysroot;
    const char *cpu; /* NULL: unknown */
    const char *lto_level;
    const char *foreign; /* the first input for another processor, NULL: none */
    bool shared, pie, relocatable, query, emit;
    bool has_dynamic_linker, has_build_id, has_input, has_plain_bitcode;
    bool no_default_paths;
};

/* Reads `argv[0..argc)`, which is without the linker's name; response files are expanded. */
void rh_ld_parse(struct rh_ld *ld, size_t argc, const char *const *argv);
void rh_ld_release(struct rh_ld *ld);

/* An executable that the dynamic loader has no part in. */
bool rh_ld_is_static(const struct rh_ld *ld);

/* Whether a word names the C library, as `-lc` or by its file. */
bool rh_ld_has_libc(const struct rh_ld *ld);

/* The sanitizer's runtime in the arguments, or NULL. */
const char *rh_ld_find_sanitizer(const struct rh_ld *ld);

#endif
