/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The detector `trace`: writes every access and synchronisation event to the log, one line each, as
 * they happen. For looking closely at a small program, and for tests of what hooks are told.
 */
#include "detect.h"
#include "text.h"

static const char *const access_names[] = {
#define ACCESS_NAME(id, name) name,
    RH_ACCESSES(ACCESS_NAME)
#undef ACCESS_NAME
};

static const char *const sync_names[] = {
#define SYNC_NAME(id, name, releases, acquires) name,
    RT_SYNCS(SYNC_NAME)
#undef SYNC_NAME
};

static bool trace_start(void)
{
    return true;
}

static void begin_line(struct rt_line *line, const struct rt_thread *self)
{
    rt_line_text(line, "trace: thread ");
    rt_line_number(line, self->id);
    rt_line_text(line, " ");
}

static void add_access(struct rt_line *line, const struct rt_access *a)
{
    rt_line_text(line, access_names[a->kind]);
    rt_line_text(line, " site ");
    rt_line_number(line, a->site);
    rt_line_text(line, " at 0x");
    rt_line_hex(line, a->address);
    rt_line_text(line, " size ");
    rt_line_number(line, a->size);
}

static void trace_access(struct rt_thread *self, const struct rt_access *a)
{
    struct rt_line line = {0};
    begin_line(&line, self);
    add_access(&line, a);
    rt_log(&line);
}

static void trace_after(struct rt_thread *self, const struct rt_access *a)
{
    struct rt_line line = {0};
    begin_line(&line, self);
    rt_line_text(&line, "after ");
    add_access(&line, a);
    rt_log(&line);
}

static void trace_sync(struct rt_thread *self, enum rt_sync what, const volatile void *object)
{
    struct rt_line line = {0};
    begin_line(&line, self);
    rt_line_text(&line, sync_names[what]);
    rt_line_text(&line, " at 0x");
    rt_line_hex(&line, (uintptr_t)object);
    rt_log(&line);
}

static void trace_thread_begin(struct rt_thread *self)
{
    struct rt_line line = {0};
    begin_line(&line, self);
    rt_line_text(&line, "begins, made by ");
    rt_line_number(&line, self->parent);
    rt_log(&line);
}

static void trace_thread_end(struct rt_thread *self)
{
    struct rt_line line = {0};
    begin_line(&line, self);
    rt_line_text(&line, "ends");
    rt_log(&line);
}

static void trace_after_fork(struct rt_thread *self)
{
    struct rt_line line = {0};
    begin_line(&line, self);
    rt_line_text(&line, "is the only one after fork");
    rt_log(&line);
}

static void trace_finish(void)
{
    rt_say("trace: end");
}

const struct rt_detector rt_detector_trace = {
    .start = trace_start,
    .access = trace_access,
    .after = trace_after,
    .wants_syncs = true,
    .sync = trace_sync,
    .thread_begin = trace_thread_begin,
    .thread_end = trace_thread_end,
    .after_fork = trace_after_fork,
    .finish = trace_finish,
};
