/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises loops that wait for a variable: see spin.h. */
#include "analysis/flow/spin.h"

#include <string.h>

#include "base/vec.h"
#include "ir/graph/cfg.h"

static bool is_idle_call(const struct rh_value *call)
{
    static const char *const names[] = {"sched_yield", "usleep", "nanosleep",      "thrd_yield",
                                        "sleep",       "poll",   "clock_nanosleep"};
    if (call->intrinsic || (call->callee && call->callee->kind == RH_VALUE_ASM))
        return true;
    if (!call->callee || call->callee->kind != RH_VALUE_FUNCTION)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], call->callee->fn->name) == 0)
            return true;
    return false;
}

static bool is_idle(const struct rh_value *inst)
{
    switch (inst->op) {
    case RH_OP_STORE:
    case RH_OP_RMW:
    case RH_OP_CMPXCHG:
    case RH_OP_INVOKE:
    case RH_OP_CALLBR:
        return false;
    case RH_OP_CALL:
        return is_idle_call(inst);
    default:
        return true;
    }
}

static bool loop_is_idle(const struct rh_loop *loop)
{
    for (uint32_t b = 0; b < loop->block_count; b++)
        for (const struct rh_value *v = loop->blocks[b]->first; v; v = v->next)
            if (!is_idle(v))
                return false;
    return true;
}

/* Does a branch out of (or into) the loop depend on the value, through a few comparisons? */
static bool decides(const struct rh_value *v, const struct rh_loop *loop, int depth)
{
    for (uint32_t i = 0; depth && i < v->user_count; i++) {
        const struct rh_value *user = v->users[i];
        if (user->kind != RH_VALUE_INST)
            continue;
        if (user->op == RH_OP_BR || user->op == RH_OP_SWITCH) {
            for (uint32_t s = 0; s < user->block->succ_count; s++) {
                bool from = rh_cfg_loop_contains(loop, user->block);
                bool to = rh_cfg_loop_contains(loop, user->block->succs[s]);
                if (from != to)
                    return true;
            }
        } else if (user->op != RH_OP_PHI && user->op != RH_OP_CALL &&
                   decides(user, loop, depth - 1)) {
            return true;
        }
    }
    return false;
}

static bool is_invariant(const struct rh_loop *loop, const struct rh_value *pointer)
{
    return pointer->kind != RH_VALUE_INST || !rh_cfg_loop_contains(loop, pointer->block);
}

/* The loops of one function. */
struct loops {
    struct rh_cfg *cfg;
    RH_VEC(const struct rh_loop *) endless; /* those that do nothing, for ever */
};

static void build_loops(struct loops *l, struct rh_function *fn)
{
    l->cfg = rh_cfg_build(fn);
    rh_vec_clear(&l->endless);
    for (uint32_t i = 0; i < l->cfg->loop_count; i++)
        if (l->cfg->loops[i].exit_count == 0 && loop_is_idle(&l->cfg->loops[i]))
            rh_vec_push(&l->endless, &l->cfg->loops[i]);
}

static bool waits_at(const struct loops *l, const struct rh_access *access)
{
    enum { DEPTH = 4 };
    const struct rh_value *load = access->inst;
    const struct rh_loop *own = rh_cfg_loop_of(l->cfg, load->block);
    if (own && is_invariant(own, access->pointer) && decides(load, own, DEPTH) && loop_is_idle(own))
        return true;
    rh_vec_each (const struct rh_loop *, loop, &l->endless)
        if (!rh_cfg_loop_contains(*loop, load->block) && decides(load, *loop, DEPTH))
            return true;
    return false;
}

void rh_spin_find(const struct rh_accesses *accesses, struct rh_bitset *waiting)
{
    struct loops loops = {0};
    for (uint32_t i = 0; i < accesses->all.len; i++) {
        const struct rh_access *a = &accesses->all.data[i];
        if (a->inst->op != RH_OP_LOAD || a->kind != RH_ACCESS_READ || a->skip != RH_SKIP_COUNT)
            continue;
        /* They stand by function. */
        if (!loops.cfg || loops.cfg->fn != a->inst->fn) {
            rh_cfg_free(loops.cfg);
            build_loops(&loops, a->inst->fn);
        }
        if (waits_at(&loops, a))
            rh_bitset_set(waiting, i);
    }
    rh_cfg_free(loops.cfg);
    rh_vec_free(&loops.endless);
}
