/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that the user says synchronise (--rh-config): every use of such a function in the
 * module becomes one of a wrapper, which calls the function and, before or behind that, an event
 * with the argument that was named. Done before the snapshot, so that the analysis sees the event
 * as it sees pthread_mutex_lock.
 */
#ifndef RH_IR_REWRITE_NAMED_H
#define RH_IR_REWRITE_NAMED_H

#include "ir/ir.h"

struct rh_named {
    const char *name;  /* of the function */
    unsigned argument; /* that the event is about */
    const char *event; /* function of the runtime to call with it */
    bool after;        /* behind the call, not before it */
    bool with_next;    /* the event takes the argument behind it, too */
    unsigned wrapped;  /* out: functions of the name, and of its copies in other files */
    unsigned refused;  /* out: those that have no such pointer, or any number of arguments */
};

struct rh_named_list {
    struct rh_named *rows;
    size_t count;
};

/* As rh_ir_open, with the functions of the list wrapped. */
enum rh_status rh_ir_open_named(const char *path, struct rh_named_list *list,
                                struct rh_module **out);

/* Is it a function of that name? Files that have one each, `static`, are told apart by a number. */
bool rh_named_is(const char *function, const char *name);

#endif
