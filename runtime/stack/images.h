/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The images of the process: where their code lies, and their call frame information.
 *
 * How it works: the list is made outside hooks, with dl_iterate_phdr, and read in hooks without a
 * lock. There are two lists, one in use and one that the next refresh writes; a version, odd while
 * it is written, tells a reader that the list it began with was written again meanwhile. Lists are
 * never unmapped, for a reader may be in them; a larger one replaces the spare, doubling each time,
 * so that no more than four times the memory in use is ever kept.
 */
#ifndef RH_RUNTIME_STACK_IMAGES_H
#define RH_RUNTIME_STACK_IMAGES_H

#include "stack/cfi.h"

enum { RT_STACK_IMAGE_WORDS = 13, RT_STACK_MARK_SIZE = 16 };

struct rt_stack_image {
    union {
        struct {
            uintptr_t low, high;           /* its executable part */
            struct rt_cfi_tables tables;   /* bytes is NULL if it has none we can read */
            uint64_t mark[2];              /* the first RT_STACK_MARK_SIZE bytes of .eh_frame_hdr */
            uintptr_t base;                /* what the loader adds to its addresses */
            uintptr_t span_low, span_high; /* all of it, data too */
            uint64_t name;                 /* number in rt_image_names, or RH_NO_IMAGE */
        };
        uint64_t words[RT_STACK_IMAGE_WORDS]; /* the whole, to be copied */
    };
};
_Static_assert(sizeof(struct rt_stack_image) == RT_STACK_IMAGE_WORDS * 8, "copied in words");

/* Counts the unloadings of images that were noticed; 0 before the first list. */
extern RT_HIDDEN _Atomic uint32_t rt_stack_generation;
/* How many lists have been mapped, kept ones included. */
extern RT_HIDDEN _Atomic uint32_t rt_stack_lists;

/* The image that has code at pc. Safe in hooks. */
RT_HIDDEN bool rt_stack_image_at(uintptr_t pc, struct rt_stack_image *image);
/* The image that has this address anywhere between its first and last byte. Safe in hooks. */
RT_HIDDEN bool rt_stack_image_around(uintptr_t address, struct rt_stack_image *image);
/* False if the image is no longer there: unloaded, and nobody has told us yet. Without this its
 * tables must not be read. Safe in hooks. */
RT_HIDDEN bool rt_stack_image_is_there(const struct rt_stack_image *image);

#endif
