/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What racehive-cc must know of clang's command line: how far the work goes, and whether anything
 * in it rules out bitcode. Everything else is clang's business.
 */
#ifndef RH_DRIVER_FLAGS_H
#define RH_DRIVER_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

/* Where the work ends. The nearest end wins, whatever the order of the options. */
enum rh_flags_end {
    RH_FLAGS_END_LINK,
    RH_FLAGS_END_OBJECT, /* -c */
    RH_FLAGS_END_TEXT,   /* assembly, IR, preprocessed text, dependencies, diagnostics alone */
    RH_FLAGS_END_QUERY   /* clang is asked about itself */
};

/*
 * Reasons against bitcode, each ruled by the last option that has a say in it. With the foreign
 * ones nothing can be instrumented, and the link is not ours either.
 */
enum rh_flags_veto {
    RH_FLAGS_VETO_NONE,
    RH_FLAGS_VETO_LTO,       /* -fno-lto: the user does not want it */
    RH_FLAGS_VETO_ASSEMBLER, /* another assembler does not know the type of bitcode's section */
    RH_FLAGS_VETO_FOREIGN,   /* the first of the foreign ones */
    RH_FLAGS_VETO_SANITIZER = RH_FLAGS_VETO_FOREIGN,
    RH_FLAGS_VETO_OFFLOAD,
    RH_FLAGS_VETO_WIDTH,
    RH_FLAGS_VETO_TARGET,
    RH_FLAGS_VETO_COUNT
};

struct rh_flags {
    enum rh_flags_end end;
    bool has_input;
    bool dangling; /* the last option lacks its operand: what is appended would become it */
    bool verbose;  /* -v */
    bool save_temps;
    const char *fuse_ld; /* the values of -fuse-ld= and --ld-path=, or NULL */
    const char *ld_path;
    const char *vetoes[RH_FLAGS_VETO_COUNT]; /* the option that says so, or NULL */
    size_t options_end; /* index of "--", behind which all words are files; else the count */
};

/* Scans the words behind the program's name, response files already expanded. */
void rh_flags_scan(struct rh_flags *flags, size_t count, const char *const *words);

/* The option that asks for what we do not instrument at all, or NULL. */
const char *rh_flags_foreign(const struct rh_flags *flags);

/* Whether objects should carry bitcode. */
bool rh_flags_want_bitcode(const struct rh_flags *flags);

#endif
