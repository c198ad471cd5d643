/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What functions outside the module do: the C, POSIX and C++ libraries in one data file.
 *
 * How it works: library.def has one row per function, its name and its effects in a small language;
 * the rows are parsed once into `struct rh_effect`s and found by name. A function without a row is
 * unknown, and analyses must assume that it keeps, changes and calls whatever it can reach. A row
 * without effects is a function that touches no memory of the program's.
 *
 * The language: effects separated by blanks. Arguments are numbered 0 to 9; wherever a number
 * stands for memory or a pointer,
 *
 *     *0        is the first word of the memory at arg0, **0 the first word of what that points to
 *     ~0        is any pointer stored in the memory at arg0, ~~0 any stored in what those point to
 *     0+        as a value is any pointer into what arg0 points to; as a place to store in, any
 *               word of it
 *
 * and a value may also be `?`, memory of the library's own, `?kept`, such memory that holds what
 * was kept by any function, `kept`, that itself, or `tkept`, what was kept for this thread. What
 * the functions that a library calls return is kept. What was kept is also found in variables of
 * the library's that the module declares (`optarg`, `environ`).
 *
 *     r0        reads the memory at arg0, as far as it likes (strings)  w0  writes likewise
 *     r0:2      reads at most arg2 bytes at arg0                        w0:2
 *     r0:1*2    reads at most arg1 * arg2 bytes at arg0                 w0:1*2
 *     r0=8      reads at most 8 bytes at arg0                           w0=8
 *     r1...%0   reads what all pointers among the arguments from 1 on point to. The format string
 *               arg0 tells more: in a printf, a %n is written instead  w1...%0 (scanf), r1...
 *     r*0 r~0   reads what the pointers stored at arg0 point to (iovec); r~~0 one deeper (va_list)
 *     copy0<1   copies the bytes at arg1, pointers among them, to those at arg0; copy0<1:2 arg2
 *               bytes; copy0<1+ moves them about, from anywhere to anywhere (qsort);
 *               copy<0 copies to the memory that is returned (realloc)
 *     alloc     returns memory nobody else knows                     alloc@0  stores it in *arg0
 *     alloc:0   the same, arg0 bytes of it                           alloc:0*1, alloc=24
 *     alloc+    the same, with pointers into itself (lists)          alloc+@0+  in any word there
 *     alloc@1...%0  may store such memory through each pointer from 1 on (a %m of scanf)
 *     free0     frees the memory at arg0, which counts as writing all of it
 *     ret0      returns arg0                                         ret0+    a pointer into it
 *     put1=0+   stores in *arg1 a pointer into what arg0 points to   put1=0   arg0 itself
 *     static    returns memory of the library's own, the same for all threads
 *     static@0  stores a pointer to such memory in *arg0
 *     own       returns memory of the library's own, one for each thread (errno)
 *     keep0     the library keeps arg0 and may hand it out later     (all threads)
 *     give      returns something that was kept, by any function     give+ a pointer into it
 *     give@1    stores something that was kept in *arg1
 *     tkeep1    keeps arg1 for this thread alone; tgive returns it   (pthread_setspecific)
 *     send1:2   sends the bytes at arg1 to whoever receives, if they are known to be few: then
 *               pointers among them may be meant (pipes)
 *     receive1:2  stores what was sent, by any function, in the first bytes at arg1
 *     link1(2,3)=32  relinks a list or tree: of the nodes at arg1, arg2, arg3 and all that are
 *               reached from them by pointers in a node's first 32 bytes, any may afterwards be
 *               pointed to from those bytes of any other
 *     walk0=32  returns a node that is reached in this way from arg0, or arg0
 *     call2(0+,1)  calls arg2 in this thread, with a pointer into arg0's memory and with arg1
 *     call~0(?) calls the functions that the memory at arg0 holds
 *     later0(1) keeps arg0, which is called later with arg1, in any thread: by functions that
 *               `runs`, by unknown ones, and when a thread ends
 *     runs      calls, in this thread, what was kept to be called later (exit, event loops)
 *     thread2(3)=0  starts a thread: arg2 called with arg3; its handle is stored in *arg0
 *     vthread1=0    starts a thread on the object *arg1 (std::thread): the virtual function in
 *               slot 2 of the object *arg1 points to, then that in slot 1, which destroys it; its
 *               handle is arg0's object
 *     team2(?,3...)  calls arg2 in a team of threads, the calling one among them, with memory of
 *               the library's own, then with the arguments from 3 on; returns when all are done
 *               (OpenMP)
 *     join0     waits for the end of the thread whose handle is arg0; join*0 of *arg0
 *     detach0   gives up that thread's handle
 *     handler1()  arg1 is called when a signal comes, with what stands in the brackets;
 *               handler*1(): the first word of *arg1 is
 *     lock0 rlock0 unlock0      takes for writing, takes for reading, releases the lock at arg0
 *     trylock0 tryrlock0        the same if the call returns 0;  trylock0=1: if it returns 1
 *     wait1     releases and takes again the lock at arg1 (condition variables)
 *     wait*1    the same for the lock that the first word of *arg1 points to (std::unique_lock)
 *     once1     calls arg1 at most once in the process (pthread_once)
 *     exits     does not return
 */
#ifndef RH_ANALYSIS_LIBRARY_H
#define RH_ANALYSIS_LIBRARY_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One row per effect: enum suffix, word in the language. */
#define RH_EFFECTS(X)                                                                              \
    X(READ, "r")                                                                                   \
    X(WRITE, "w")                                                                                  \
    X(COPY, "copy")                                                                                \
    X(ALLOC, "alloc")                                                                              \
    X(FREE, "free")                                                                                \
    X(RETURN, "ret")                                                                               \
    X(PUT, "put")                                                                                  \
    X(STATIC, "static")                                                                            \
    X(OWN, "own")                                                                                  \
    X(KEEP, "keep")                                                                                \
    X(GIVE, "give")                                                                                \
    X(THREAD_KEEP, "tkeep")                                                                        \
    X(THREAD_GIVE, "tgive")                                                                        \
    X(SEND, "send")                                                                                \
    X(RECEIVE, "receive")                                                                          \
    X(LINK, "link")                                                                                \
    X(WALK, "walk")                                                                                \
    X(CALL, "call")                                                                                \
    X(LATER, "later")                                                                              \
    X(RUNS, "runs")                                                                                \
    X(THREAD, "thread")                                                                            \
    X(VIRTUAL_THREAD, "vthread")                                                                   \
    X(TEAM, "team")                                                                                \
    X(JOIN, "join")                                                                                \
    X(DETACH, "detach")                                                                            \
    X(HANDLER, "handler")                                                                          \
    X(LOCK, "lock")                                                                                \
    X(READ_LOCK, "rlock")                                                                          \
    X(UNLOCK, "unlock")                                                                            \
    X(TRY_LOCK, "trylock")                                                                         \
    X(TRY_READ_LOCK, "tryrlock")                                                                   \
    X(WAIT, "wait")                                                                                \
    X(ONCE, "once")                                                                                \
    X(EXITS, "exits")

enum rh_effect_kind {
#define RH_EFFECT_ENUM(id, word) RH_EFFECT_##id,
    RH_EFFECTS(RH_EFFECT_ENUM)
#undef RH_EFFECT_ENUM
        RH_EFFECT_COUNT
};

enum { RH_EFFECT_PARAMS = 4 };

/* What stands where no argument does. */
enum {
    RH_NO_ARG = -1,          /* nothing; the return value; as a value: the library's memory (`?`) */
    RH_KEPT_ARG = -2,        /* `kept` */
    RH_THREAD_KEPT_ARG = -3, /* `tkept` */
    RH_HOLDER_ARG = -4,      /* `?kept` */
};

/* A value as an effect mentions it. */
struct rh_effect_arg {
    int8_t arg;
    uint8_t indirect; /* how many `*` or `~` */
    bool any;         /* they are `~`: any word, not only the first */
    bool inside;      /* `+`: any pointer into what the value points to */
    bool rest;        /* `...`, of the last parameter: and the arguments behind it, in order */
};

struct rh_effect {
    enum rh_effect_kind kind;
    int8_t arg;       /* what it is about; RH_NO_ARG for the return value */
    uint8_t indirect; /* how many `*` or `~` */
    bool any;         /* they are `~` */
    bool inside;      /* `+`: stores in any word at the place, not only in the first */
    bool rest;        /* `...`: about the pointers among all arguments from `arg` on */
    int8_t format;    /* with `rest`: argument with the format string, or RH_NO_ARG */
    int8_t length;    /* READ, WRITE, COPY, ALLOC, SEND, RECEIVE: argument with the length, or
                         RH_NO_ARG */
    int8_t scale;     /* argument the length is multiplied with, or RH_NO_ARG */
    uint32_t bytes;   /* constant length, or 0; LINK, WALK: of a node's pointers */
    struct rh_effect_arg from; /* COPY, RETURN, PUT: the other argument; ALLOC, GIVE: `inside`;
                                  THREAD, VIRTUAL_THREAD: the handle, or RH_NO_ARG */
    int8_t success;            /* what a try returns when it took the lock */
    uint8_t param_count;       /* CALL, LATER, THREAD: what the function is called with; LINK:
                                  more nodes */
    struct rh_effect_arg params[RH_EFFECT_PARAMS];
};

struct rh_library_row {
    const char *name;
    uint32_t effect_count;
    const struct rh_effect *effects;
};

/* NULL if the function is unknown. The table is parsed at the first call and lives for good. Names
 * may have the forms glibc's headers and compilers make of them: `__isoc99_sscanf`, `__memcpy_chk`,
 * `\01_open`, `open64` each have a row of their own or are found by their plain name. */
const struct rh_library_row *rh_library_find(const char *name);

/* Is the variable an object that library functions use from several threads at once and guard
 * themselves (`std::cout`), so that what they do to it is no access of the program's? */
bool rh_library_guards(const char *variable);

/* Adds rows of the same language, one `name effects` a line, `#` comments (--rh-config). Bad
 * syntax: RH_ERR_INPUT with the line's number, and nothing is added. Rows win over those of the
 * table and over earlier ones. */
enum rh_status rh_library_add(const char *source, const char *text);

#endif
