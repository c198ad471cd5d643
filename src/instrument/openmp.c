/* SPDX-License-Identifier: Apache-2.0 */
/* Leads OpenMP's calls through the runtime: see openmp.h. */
#include "instrument/openmp.h"

#include <string.h>

#include "base/strbuf.h"
#include "ir/rewrite/rewrite.h"
#include "racehive/openmp.h"

static const char *const followed[] = {
#define ROW(name) #name,
    RH_OPENMP_FOLLOWED(ROW)
#undef ROW
};

/*
 * Functions that order nothing, or of which the library tells its tool in time: regions, barriers,
 * tasks without detachment. A star stands for any end. What is not here is not followed: task
 * loops, whose tasks take over memory of others unseen, reductions of tasks, events, target
 * devices, gcc's entry points.
 */
static const char *const seen[] = {
    "__kmpc_fork_call*",
    "__kmpc_for_static_*",
    "__kmpc_dist_for_static_*",
    "__kmpc_distribute_static_*",
    "__kmpc_dispatch_*",
    "__kmpc_global_*",
    "__kmpc_bound_*",
    "__kmpc_push_num_threads*",
    "__kmpc_push_proc_bind",
    "__kmpc_serialized_parallel",
    "__kmpc_end_serialized_parallel",
    "__kmpc_barrier*",
    "__kmpc_end_barrier_master",
    "__kmpc_cancel*",
    "__kmpc_master",
    "__kmpc_end_master",
    "__kmpc_masked",
    "__kmpc_end_masked",
    "__kmpc_single",
    "__kmpc_end_single",
    "__kmpc_copyprivate",
    "__kmpc_begin",
    "__kmpc_end",
    "__kmpc_in_parallel",
    "__kmpc_ok_to_fork",
    "__kmpc_threadprivate_*",
    "__kmpc_doacross_init",
    "__kmpc_doacross_fini",
    "__kmpc_omp_task",
    "__kmpc_omp_task_with_deps",
    "__kmpc_omp_taskwait",
    "__kmpc_omp_taskyield",
    "__kmpc_taskgroup",
    "__kmpc_end_taskgroup",
    "__kmpc_omp_task_begin_if0",
    "__kmpc_omp_task_complete_if0",
    "omp_get_*",
    "omp_set_num_threads",
    "omp_set_dynamic",
    "omp_set_nested",
    "omp_set_schedule",
    "omp_set_max_active_levels",
    "omp_in_*",
    "omp_init_*",
    "omp_destroy_*",
};

static bool is_openmp(const char *name)
{
    static const char *const prefixes[] = {"__kmpc_", "kmpc_", "kmp_", "omp_", "GOMP_", "__tgt_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static bool is_followed(const char *name)
{
    for (size_t i = 0; i < sizeof followed / sizeof followed[0]; i++)
        if (strcmp(name, followed[i]) == 0)
            return true;
    return false;
}

static bool is_seen(const char *name)
{
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++) {
        size_t len = strlen(seen[i]);
        if (seen[i][len - 1] == '*' ? strncmp(name, seen[i], len - 1) == 0
                                    : strcmp(name, seen[i]) == 0)
            return true;
    }
    return false;
}

static bool is_used(const struct rh_function *fn)
{
    return !fn->block_count && fn->value->user_count;
}

bool rh_openmp_is_opaque(const struct rh_module *m, bool can_lead)
{
    for (uint32_t i = 0; i < rh_ir_function_count(m); i++) {
        const struct rh_function *fn = rh_ir_function(m, i);
        if (is_used(fn) && is_openmp(fn->name) &&
            (!can_lead || (!is_seen(fn->name) && !is_followed(fn->name))))
            return true;
    }
    return false;
}

void rh_openmp_lead(struct rh_module *m)
{
    for (uint32_t i = 0; i < rh_ir_function_count(m); i++) {
        const struct rh_function *fn = rh_ir_function(m, i);
        if (!is_used(fn) || !is_followed(fn->name))
            continue;
        struct rh_strbuf name = RH_STRBUF_INIT;
        rh_strbuf_addf(&name, "%s%s", RH_OPENMP_PREFIX, fn->name);
        rh_rewrite_rename(m, fn, rh_strbuf_text(&name));
        rh_strbuf_release(&name);
    }
}
