/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables that racehive-instrument leaves in an instrumented image (executable or shared
 * library) and that the runtime reads. Both sides include this file; nothing else is shared.
 *
 * A *site* is one memory access. A *key* is the switch before one or more sites: sites of one block
 * whose addresses differ by constants share a key, and then have consecutive numbers. A *place* is
 * where a key stands in the code; it may stand in several places, or in none.
 *
 * A function with more than a key has a second body, its *twin*. Its keys stand there alone; the
 * plain body has a *gate*, a key without sites, at its entry and in its loops, that leads to the
 * same point of the twin. Keys of atomics and fences stand in both bodies.
 *
 * Off, a key in the code is the five bytes of `test $imm32, %eax` whose immediate is the distance
 * to the key's stub; on, it is `jmp` with that same distance: one byte differs, so it can be
 * switched under running threads by a single byte store (docs/architecture.md, "Keys").
 */
#ifndef RACEHIVE_IMAGE_H
#define RACEHIVE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#define RH_IMAGE_MAGIC   0x56494852u /* "RHIV" */
#define RH_IMAGE_VERSION 6u
/* The ELF note by which tools know an instrumented image. */
#define RH_NOTE_SECTION ".note.racehive"

/* What a site does to memory: one row per kind (enum suffix, name in commands and JSON). */
#define RH_ACCESSES(X)                                                                             \
    X(READ, "read")                                                                                \
    X(WRITE, "write")                                                                              \
    X(ATOMIC_READ, "atomic read")                                                                  \
    X(ATOMIC_WRITE, "atomic write")                                                                \
    X(ATOMIC_UPDATE, "atomic update")                                                              \
    X(FENCE, "fence")

enum rh_access_kind {
#define RH_ACCESS_ENUM(id, name) RH_ACCESS_##id,
    RH_ACCESSES(RH_ACCESS_ENUM)
#undef RH_ACCESS_ENUM
        RH_ACCESS_COUNT
};

enum rh_site_flags {
    RH_SITE_SIZED = 1,   /* size known only when it runs (memcpy and friends) */
    RH_SITE_PARTIAL = 2, /* may touch fewer bytes than size (masked vector access) */
    RH_SITE_VOLATILE = 4,
    RH_SITE_AT_LEAST = 8, /* may touch more bytes than size (strings) */
    RH_SITE_AT_MOST = 16, /* may touch fewer, but the first if there is one (strncmp) */
    RH_SITE_OBJECT = 32,  /* a lock or its like, whose bytes the library changes as others use it */
};

struct rh_site_record {
    uint32_t size;      /* bytes; 0 when RH_SITE_SIZED */
    int32_t offset;     /* of its address from the key's address */
    uint8_t access : 4; /* enum rh_access_kind */
    uint8_t order : 4;  /* C11 memory order of an atomic: enum rh_memory_order */
    uint8_t flags;      /* enum rh_site_flags */
    uint16_t kin;       /* the same for sites that name the same member or variable; 0: none */
};
_Static_assert(sizeof(struct rh_site_record) == 12, "packed for size: there are 100,000s");

/* Memory orders, weakest first; PLAIN is an access that is not atomic. */
enum rh_memory_order {
    RH_MO_PLAIN,
    RH_MO_UNORDERED,
    RH_MO_RELAXED,
    RH_MO_ACQUIRE,
    RH_MO_RELEASE,
    RH_MO_ACQ_REL,
    RH_MO_SEQ_CST,
};

enum rh_key_kind {
    RH_KEY_ACCESS, /* before its sites */
    RH_KEY_AFTER,  /* after an atomic or fence that may acquire */
    RH_KEY_GATE,   /* in a function's plain body: leads to its twin, which carries the keys */
    RH_KEY_ESCAPE, /* where a pointer may be stored, or a block is allocated: enum rh_escape_event
                    */
};

/* What a key tells the escape analysis (runtime/escape/escape.h) of the program. The frame's
 * `address` is that of the memory written to, 0 where anybody may reach it; `size` is what stands
 * behind the name. */
enum rh_escape_event {
    RH_ESCAPE_STORE,   /* the value that is about to be stored */
    RH_ESCAPE_LENGTH,  /* how many bytes the next copy copies */
    RH_ESCAPE_COPY,    /* where it copies from */
    RH_ESCAPE_WORD,    /* nothing: a part of a word was stored */
    RH_ESCAPE_ALLOC,   /* how many bytes the block at `address` has, which was just allocated */
    RH_ESCAPE_REALLOC, /* the same of realloc */
    RH_ESCAPE_EVENTS
};
/* Or'ed to it: nothing may order the store with the one who loads the pointer. */
#define RH_ESCAPE_RACY 0x80u

#define RH_NO_GATE 0xffffffffu

struct rh_key_record {
    /* Of a gate: its function's number in the image, from 1; 0: none. Of a RH_ESCAPE_COPY: how many
     * bytes; 0: the RH_ESCAPE_LENGTH before it has told. */
    uint32_t first_site;
    uint16_t site_count; /* 0 for gates and RH_KEY_ESCAPE */
    uint8_t kind;        /* enum rh_key_kind */
    uint8_t escape;      /* enum rh_escape_event, perhaps with RH_ESCAPE_RACY; of RH_KEY_ESCAPE */
    uint32_t gate;       /* key that must be on for this one to be reached, or RH_NO_GATE */
};
_Static_assert(sizeof(struct rh_key_record) == 12, "packed for size");

/* Or'ed to the key of a place: it stands at the entry of the gate's function, and asks a sampler
 * (racehive/sampled.h). It is switched for detectors that sample alone. */
#define RH_PLACE_ENTRY 0x80000000u

/* Written by the assembly of the key itself; distances are from the field that holds them. */
struct rh_key_place {
    int32_t code; /* to the key's first byte */
    int32_t flag; /* to the key's byte of data in flag mode; 0 in patch mode */
    uint32_t key; /* number of the key in its image, perhaps with RH_PLACE_ENTRY */
};
_Static_assert(sizeof(struct rh_key_place) == 12, "the assembly emits three longs");

/* What the stub and thunk leave on the stack for the hook, lowest address first. `site_sp` is the
 * stack pointer of the code at the key; `resume` is where it goes on. */
struct rh_hook_frame {
    uint64_t rbx, rbp, r11, r10, r9, r8, rsi, rdx, rcx, rax;
    uint64_t address; /* of the access the key stands for */
    uint64_t stub;    /* return address into the stub */
    uint64_t rdi;
    uint64_t size; /* of a RH_SITE_SIZED access, else 0 */
    uint64_t key;
    uint8_t red_zone[128];
};

enum rh_image_flags {
    RH_IMAGE_OPAQUE = 1, /* it has code that may order threads in ways that keys do not show */
    RH_IMAGE_FREES = 2,  /* it gives memory back by functions that are not free or realloc */
    RH_IMAGE_CHECKS = 4, /* the testing profile: its twins have checks (racehive/check.h) */
    RH_IMAGE_ESCAPE = 8, /* it has keys of RH_KEY_ESCAPE wherever they are needed */
};

struct rh_image {
    uint32_t magic;
    uint32_t version;
    /* Called by the image's thunk; set by the runtime before it switches any key on. */
    void (*hook)(struct rh_image *image, struct rh_hook_frame *frame);
    const struct rh_key_record *keys;
    const struct rh_site_record *sites;
    /* Key count, site count, enum rh_image_flags, candidate count, function count. */
    const uint32_t *counts;
    /* The best candidates, as pairs of sites: for a run that nobody commands. */
    const uint32_t (*candidates)[2];
    const struct rh_key_place *places_begin, *places_end;
    void *runtime; /* the runtime's own record of this image */
    /* Functions with a gate, by number less 1: what tells whether a function has changed. */
    const uint64_t *functions;
    uint32_t function_base; /* added to their numbers; set by the runtime */
    /* Called when a check has failed, with less saved than for the hook; set like that. `shape` is
     * what the check's stub has for a size: enum rh_check_shape. False: the hook is called. */
    bool (*check)(struct rh_image *image, uintptr_t address, uint64_t key, uint64_t shape,
                  uintptr_t stack);
};
#define RH_IMAGE_FUNCTION_BASE 80 /* offset of function_base, for assembly */

#endif
