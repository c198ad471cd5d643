/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic escape analysis by reachability: which memory can more than one thread reach? After
 * Biswas, Cao, Zhang, Bond and Wood, "Lightweight Data Race Detection for Production Runs" (CC
 * 2017), for C.
 *
 * How it works. Memory is *private* to a thread or has *escaped*. Private are the blocks of the
 * heap that instrumented code allocates (heap.h) and the thread's own stack, until a pointer to
 * them is stored where others can reach it. Everything else has escaped from the beginning:
 * globals, mappings, what code without bitcode allocates, other threads' stacks. So whatever is not
 * known counts as escaped, and only a store that nobody shows can make the analysis wrong.
 *
 * Before each store that may write a pointer, the instrumented code tells of it. If the place has
 * escaped and the value points into memory of the thread's own, that memory escapes, with all that
 * is reachable from its words: any word that holds an address in a private block, with or without
 * tags in its low bits or above its 47 bits, counts as a pointer into it, one behind the block's
 * end too. The closure is complete before the hook returns, and so before anybody can see the
 * store.
 *
 * Only the owner makes a block escape, and so scans a block that no other thread writes or frees.
 * That is enough because nobody else can have a pointer to it. Who touches another thread's private
 * block all the same has got the pointer in a way that C hides (a file, a packed or computed
 * pointer, code without bitcode): the block escapes then, too late, and is counted
 * (RH_LOSS_ESCAPE_HIDDEN).
 *
 * What a thread did to a block before it escaped cannot race, if the store that let it escape is
 * ordered with the loads that find it. A *racy* store, which is in a candidate itself or a relaxed
 * atomic, is not: then the accesses before it may race, too. So each block has an *origin*, a
 * number of where it was allocated, and a racy store marks the origins of all blocks that it makes
 * reachable. Whoever asks about a private block learns its origin.
 *
 * A stack escapes as a whole. Whenever a pointer into it is handed on once more, the bytes behind
 * that address are scanned again, because arguments that are passed by value come to lie there
 * without a store.
 */
#ifndef RH_RUNTIME_ESCAPE_H
#define RH_RUNTIME_ESCAPE_H

#include "rt.h"

/* Blocks whose words are still to be scanned. Grows; stays with the thread. */
struct rt_escape_work {
    uintptr_t *items;
    size_t count, room;
};

/* What it keeps of a thread; zeroed when that begins. Hooks within hooks, of signal handlers, have
 * work of their own. */
enum { RT_ESCAPE_DEPTH = 2 };
struct rt_escape {
    struct rt_escape_work work[RT_ESCAPE_DEPTH];
    uintptr_t sp;    /* the thread's stack pointer; set before each call that takes a store */
    uint64_t length; /* of the copy that comes next */
    uintptr_t gone;  /* the escaped block that was given back last */
    bool is_racy;    /* the store that is told; set like the stack pointer */
    bool has_stack;  /* its stack has escaped */
};

RT_HIDDEN bool rt_escape_start(void);
/* The thread begins, perhaps with the stack of one that is gone. */
RT_HIDDEN void rt_escape_begin(struct rt_escape *own);
RT_HIDDEN void rt_escape_end(struct rt_escape *own);

/* Has this address escaped, for the thread that touches it? If not, *origin is that of its block,
 * RT_ESCAPE_STACK on the stack. */
enum { RT_ESCAPE_STACK = 0 };
RT_HIDDEN bool rt_escape_ask(struct rt_thread *self, struct rt_escape *own, uintptr_t address,
                             uint16_t *origin);
/* Has a racy store made blocks of this origin reachable? */
RT_HIDDEN bool rt_escape_is_racy(uint16_t origin);
/* How many origins there are for which it has. */
RT_HIDDEN uint32_t rt_escape_racy_count(void);

/* A value is about to be stored at an address, or, if that is 0, somewhere where others reach it.
 */
RT_HIDDEN void rt_escape_store(struct rt_thread *self, struct rt_escape *own, uintptr_t address,
                               uintptr_t value);
/* Bytes are about to be copied there. */
RT_HIDDEN void rt_escape_copy(struct rt_thread *self, struct rt_escape *own, uintptr_t address,
                              uintptr_t from, uint64_t size);
/* A word was stored piece by piece: the one that these bytes are of. */
RT_HIDDEN void rt_escape_word(struct rt_thread *self, struct rt_escape *own, uintptr_t address);
/* A block was allocated. A realloc may have left it where it was: then others may still have its
 * address, if they had it before. */
RT_HIDDEN void rt_escape_alloc(struct rt_thread *self, struct rt_escape *own, uintptr_t start,
                               uint64_t size, uint16_t origin, bool is_realloc);
/* These bytes are about to be given back. */
RT_HIDDEN void rt_escape_gone(struct rt_escape *own, uintptr_t start, uint64_t size);

#endif
