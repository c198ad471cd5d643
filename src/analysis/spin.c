/* Recognises loops that wait for a variable: see spin.h. */
#include "analysis/spin.h"

#include <string.h>

#include "ir/cfg.h"

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

bool rh_spin_waits_at(const struct rh_access *access)
{
    enum { DEPTH = 4 };
    const struct rh_value *load = access->inst;
    bool waits = false;
    if (load->op != RH_OP_LOAD || access->kind != RH_ACCESS_READ)
        return false;
    struct rh_cfg *cfg = rh_cfg_build(load->fn);
    struct rh_loop *own = rh_cfg_loop_of(cfg, load->block);
    for (uint32_t i = 0; i < cfg->loop_count && !waits; i++) {
        const struct rh_loop *loop = &cfg->loops[i];
        bool inside = loop == own && is_invariant(loop, access->pointer);
        bool endless = loop->exit_count == 0 && !rh_cfg_loop_contains(loop, load->block);
        waits = (inside || endless) && loop_is_idle(loop) && decides(load, loop, DEPTH);
    }
    rh_cfg_free(cfg);
    return waits;
}
