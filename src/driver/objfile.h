/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Object files as the link sees them: what a file is, and where its bitcode lies.
 *
 * A fat object is an ELF object whose section .llvm.lto holds the same code as LLVM bitcode. Like
 * lld, which goes by the section's name alone, we do not ask for its type (0x6fff4c0c); clang's
 * older .llvmbc counts as well. Bitcode as such is recognised by its magic.
 *
 * Only headers are read, so inspecting a mapped file costs a few pages whatever its size. Every
 * offset that comes from a file is checked.
 */
#ifndef RH_DRIVER_OBJFILE_H
#define RH_DRIVER_OBJFILE_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

enum rh_objfile_kind {
    RH_OBJFILE_OTHER,   /* nothing we know: a linker script */
    RH_OBJFILE_FOREIGN, /* ELF object for another processor */
    RH_OBJFILE_NATIVE,  /* ELF object without bitcode */
    RH_OBJFILE_FAT,     /* ELF object with bitcode */
    RH_OBJFILE_BROKEN,  /* ELF object with bitcode that nobody can read, as `ld -r` makes them */
    RH_OBJFILE_BITCODE, /* bitcode alone */
    RH_OBJFILE_ARCHIVE
};

struct rh_objfile {
    enum rh_objfile_kind kind;
    size_t bitcode_at; /* the bitcode in the file: of FAT, BROKEN and BITCODE */
    size_t bitcode_len;
    size_t section_at; /* the section's header in the file: of FAT and BROKEN */
};

void rh_objfile_inspect(struct rh_objfile *object, const void *bytes, size_t len);

/* Whether lld would take the object for bitcode and drop its machine code. */
bool rh_objfile_has_bitcode(const struct rh_objfile *object);

/*
 * Adds a copy of a FAT or BROKEN object whose section has another name and type, so that a linker
 * sees the machine code alone.
 */
void rh_objfile_hide_bitcode(const struct rh_objfile *object, const void *bytes, size_t len,
                             struct rh_strbuf *out);

#endif
