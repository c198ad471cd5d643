/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF file of a process with all that can be learned of it offline: its symbol tables, and the
 * debug information in it or in the file that a distribution keeps apart.
 *
 * A file is only taken if it has the build id that the process had: names from another build would
 * be wrong names. Nothing is fetched over a network.
 */
#ifndef RH_REPORT_BINARY_H
#define RH_REPORT_BINARY_H

#include "base/vec.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct rh_binary_symbol {
    uint64_t address, size;
    const char *name; /* as the linker sees it; lives as long as the binary */
    int binding;      /* STB_GLOBAL, ... */
};

struct rh_binary_symbols RH_VEC_BODY(struct rh_binary_symbol);

struct rh_binary_file {
    int fd;
    Elf *elf; /* NULL if there is no file */
};

struct rh_binary {
    struct rh_binary_file file;
    struct rh_binary_file debug; /* a file of its own, if there is one */
    Dwarf *dwarf;                /* NULL if there is no debug information */
    struct rh_binary_symbols functions, variables;
};

/* A build id of no bytes is of an image that has none: then the path alone decides. */
struct rh_build_id {
    const uint8_t *bytes;
    size_t len;
};

/*
 * Opens the file at the path if it is there and has the build id, else what the system keeps under
 * that build id; false, with an empty binary, if there is neither. The path may be NULL.
 */
bool rh_binary_open(struct rh_binary *binary, const char *path, struct rh_build_id build_id);
void rh_binary_close(struct rh_binary *binary);

/* The smallest symbol that the address lies in; NULL if it lies in none. Addresses are those in the
 * file. A function whose symbol has no size reaches to the next one. */
const struct rh_binary_symbol *rh_binary_find(const struct rh_binary_symbols *symbols,
                                              uint64_t address);

/* The symbol with this name, or NULL. */
const struct rh_binary_symbol *rh_binary_get(const struct rh_binary_symbols *symbols,
                                             const char *name);

#endif
