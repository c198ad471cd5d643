/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the unit tests of src/ir: cmocka, modules from text, instructions by name.
 */
#ifndef RH_IR_TESTING_H
#define RH_IR_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "ir/ir.h"

static inline struct rh_module *open_text(const char *text)
{
    struct rh_module *m = NULL;
    enum rh_status status = rh_ir_open_memory("test.ll", text, strlen(text), &m);

    if (status != RH_OK)
        fail_msg("%s", rh_error_text());
    return m;
}

static inline struct rh_function *get_function(const struct rh_module *m, const char *name)
{
    struct rh_function *f = rh_ir_find_function(m, name);

    if (!f)
        fail_msg("no function %s", name);
    return f;
}

/* The argument or instruction called `name`. */
static inline struct rh_value *get_value(const struct rh_function *f, const char *name)
{
    for (uint32_t i = 0; i < f->arg_count; i++) {
        if (strcmp(f->args[i]->name, name) == 0)
            return f->args[i];
    }
    for (uint32_t i = 0; i < f->block_count; i++) {
        for (struct rh_value *v = f->blocks[i]->first; v; v = v->next) {
            if (strcmp(v->name, name) == 0)
                return v;
        }
    }
    fail_msg("no value %s in %s", name, f->name);
    return NULL;
}

static inline const char *op_name(enum rh_op op)
{
    static const char *const names[] = {
#define RH_OP_NAME(id, name) name,
        RH_OPS(RH_OP_NAME)
#undef RH_OP_NAME
    };

    return names[op];
}

/* The nth instruction (from 0) with this operation. */
static inline struct rh_value *get_nth(const struct rh_function *f, enum rh_op op, uint32_t n)
{
    for (uint32_t i = 0; i < f->block_count; i++) {
        for (struct rh_value *v = f->blocks[i]->first; v; v = v->next) {
            if (v->op == op && n-- == 0)
                return v;
        }
    }
    fail_msg("not enough of %s in %s", op_name(op), f->name);
    return NULL;
}

static inline struct rh_value *get_first(const struct rh_function *f, enum rh_op op)
{
    return get_nth(f, op, 0);
}

#endif
