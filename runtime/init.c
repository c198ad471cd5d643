/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start and end of the runtime in a process: reads the options, chooses the detector, switches the
 * first keys on, and lets the detector have the last word at exit.
 */
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "budget.h"
#include "crash.h"
#include "detect/detect.h"
#include "evidence/findings.h"
#include "keys.h"
#include "opaque.h"
#include "options.h"
#include "service.h"
#include "shared.h"
#include "stack/stack.h"
#include "sys.h"
#include "text.h"

_Atomic int rt_mode = RT_MODE_NEW;
const struct rt_detector *rt_detector;
_Atomic uint32_t rt_sync_live;

static const struct rt_detector *const detectors[RH_DETECTOR_COUNT] = {
#define RT_DETECTOR_ROW(name, work, profile, summary) &rt_detector_##name,
    RH_DETECTORS(RT_DETECTOR_ROW)
#undef RT_DETECTOR_ROW
};

static const struct rt_detector *find_detector(const char *name)
{
    for (size_t i = 0; i < RH_DETECTOR_COUNT; i++)
        if (rt_equal(rh_detectors[i].name, name))
            return detectors[i];
    rt_complain("RACEHIVE_OPTIONS: no detector '", name, "' in this build; running idle");
    return NULL;
}

/* The environment as the kernel handed it over: libc may not have looked at it yet. A program with
 * raised privileges takes no orders from it. */
static const char *find_variable(char **environment, const char *name)
{
    size_t length = rt_length(name);
    if (!environment || getauxval(AT_SECURE))
        return NULL;
    for (; *environment; environment++) {
        size_t i = 0;
        while (i < length && (*environment)[i] == name[i])
            i++;
        if (i == length && (*environment)[i] == '=')
            return *environment + length + 1;
    }
    return NULL;
}

/* A program may change its folder; the log stays where the user meant it. */
static void make_log_path_absolute(void)
{
    const char *path = rt_options.log_path;
    if (!path || !*path || *path == '/')
        return;
    enum { SIZE = 8192 };
    char *whole = rt_map(SIZE);
    long length = whole ? rt_arch_syscall(SYS_getcwd, (long)whole, SIZE / 2, 0, 0, 0, 0) : 0;
    if (length <= 0)
        return;
    whole[length - 1] = '/';
    for (size_t i = 0; i <= rt_length(path) && (size_t)length + i < SIZE - 1; i++)
        whole[(size_t)length + i] = path[i];
    rt_options.log_path = whole;
}

/* A sampler and what it samples are one detector: what the former leaves out is the latter's. */
static const struct rt_detector *join(const struct rt_detector *sampler)
{
    static struct rt_detector both;
    if (!sampler->sampled)
        return sampler;
    both = *sampler->sampled;
    both.sampled = sampler->sampled;
    both.start = sampler->start;
    both.hook = sampler->hook;
    both.thread_begin = sampler->thread_begin;
    both.thread_end = sampler->thread_end;
    both.after_fork = sampler->after_fork;
    both.functions = sampler->functions;
    if (sampler->finish)
        both.finish = sampler->finish;
    return &both;
}

static void go_live(const struct rt_detector *detector)
{
    rt_shared_open(rt_options.control, rt_options.pages);
    rt_budget_start(rt_options.max_overhead,
                    rt_options.pause_floor ? rt_options.pause_floor : detector->pause_floor_ms);
    if (!detector->start())
        return;
    rt_detector = detector;
    rt_thread_start_main();
    atomic_store(&rt_mode, RT_MODE_LIVE);
    rt_sync_switch(detector->wants_syncs);
    rt_stack_refresh();
    rt_opaque_check_images();
    rt_crash_start();
    atexit(rt_finish);
    rt_shared_enter();
    rt_post(RH_EVENT_START, 0, (uint64_t)rt_sys_getpid(), 0, 0, 0);
    rt_service_first_keys();
}

static void start_with(char **environment)
{
    int expected = RT_MODE_NEW;
    if (!atomic_compare_exchange_strong(&rt_mode, &expected, RT_MODE_OFF))
        return;
    rt_options_parse(&rt_options, find_variable(environment, "RACEHIVE_OPTIONS"));
    if (rt_options.off)
        return;
    if (rt_options.help)
        rt_options_help();
    if (!rt_options.detector[0])
        return;
    make_log_path_absolute();
    const struct rt_detector *detector = find_detector(rt_options.detector);
    if (detector)
        go_live(join(detector));
}

void rt_start(void)
{
    if (rt_unlikely(atomic_load(&rt_mode) == RT_MODE_NEW))
        start_with(environ);
}

void rt_finish(void)
{
    static _Atomic bool finished;
    if (atomic_load(&rt_mode) != RT_MODE_LIVE || atomic_exchange(&finished, true))
        return;
    rt_detector->finish();
    rt_findings_log(rt_options.detector);
    rt_post(RH_EVENT_FINISH, 0, (uint64_t)rt_sys_getpid(), 0, 0, 0);
    rt_shared_leave();
}

static void start_before_all(int count, char **arguments, char **environment)
{
    (void)count;
    (void)arguments;
    start_with(environment);
}

__attribute__((section(".preinit_array"),
               used)) static void (*const preinit)(int, char **, char **) = start_before_all;
