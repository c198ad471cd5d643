/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The little of ELF that tells which build a program is and what it needs of others: its sections'
 * names, its build id, its undefined symbols and the libraries it asks for.
 *
 * Only 64-bit little-endian files are understood, the only ones racehive-cc makes. Every offset in
 * the file is checked before it is followed.
 */
#ifndef RH_BASE_ELF_H
#define RH_BASE_ELF_H

#include "base/fs.h"
#include "base/status.h"

#include <stdbool.h>

struct rh_elf {
    struct rh_fs_mapping file;
};

/* RH_ERR_INPUT if the file is not such an ELF file, or its tables do not lie within it. */
enum rh_status rh_elf_open(const char *path, struct rh_elf *elf);
void rh_elf_close(struct rh_elf *elf);

bool rh_elf_has_section(const struct rh_elf *elf, const char *name);

/* The build id in lower-case hexadecimal as a heap string, NULL if there is none. */
char *rh_elf_build_id(const struct rh_elf *elf);

/* RH_ERR_INPUT unless the text can be a build id: lower-case hexadecimal, two bytes or more. Paths
 * are made of it. */
enum rh_status rh_elf_check_build_id(const char *text);

/* Whether it has a table of symbols: without one, nothing is known of what it needs. */
bool rh_elf_has_symbols(const struct rh_elf *elf);

/* Names that a file mentions. */
enum rh_elf_names {
    RH_ELF_UNDEFINED, /* symbols that others must define */
    RH_ELF_DEFINED,   /* symbols that it defines for others */
    RH_ELF_NEEDED,    /* libraries that are loaded with it */
    RH_ELF_RUNPATH,   /* folders to look for them, separated by colons */
};

/* Calls `visit` with each name until it returns true; says whether it did. */
bool rh_elf_find(const struct rh_elf *elf, enum rh_elf_names names,
                 bool (*visit)(const char *name, void *arg), void *arg);

#endif
