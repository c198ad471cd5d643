/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What debug information says of an address: whose line it is, through which calls it was inlined
 * there, and which variable lies there.
 *
 * The ranges of all units are read once: clang writes no .debug_aranges, on which libdw's own
 * search by address relies.
 */
#ifndef RH_REPORT_DWARF_H
#define RH_REPORT_DWARF_H

#include "base/arena.h"
#include "base/vec.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct rh_dwarf_unit {
    Dwarf_Die root; /* has the line table */
    Dwarf_Die tree; /* the same, or the split unit's root */
};

struct rh_dwarf_range {
    uint64_t begin, end;
    size_t unit;
};

struct rh_dwarf {
    RH_VEC(struct rh_dwarf_unit) units;
    RH_VEC(struct rh_dwarf_range) ranges;
};

/* Reads the ranges; without debug information, NULL, there are none. It must stay open. */
void rh_dwarf_init(struct rh_dwarf *dwarf, Dwarf *from);
void rh_dwarf_release(struct rh_dwarf *dwarf);

/* A function that an address belongs to. Strings may be NULL; they live as long as the debug
 * information, but for the file, which is in the arena. */
struct rh_dwarf_frame {
    const char *name, *linkage;
    const char *file;
    uint32_t line, column;
    bool inlined; /* into the next one */
};

struct rh_dwarf_frames RH_VEC_BODY(struct rh_dwarf_frame);

/* Adds the functions, innermost first; none if nothing is known of the address. */
void rh_dwarf_find(const struct rh_dwarf *dwarf, struct rh_arena *arena, uint64_t address,
                   struct rh_dwarf_frames *frames);

struct rh_dwarf_variable {
    const char *name, *linkage;
    uint64_t offset; /* of the address in it */
};

/* The variable of static storage at an address, also one of a function or of a C++ class. */
bool rh_dwarf_find_variable(const struct rh_dwarf *dwarf, uint64_t address,
                            struct rh_dwarf_variable *variable);

#endif
