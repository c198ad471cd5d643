/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime's core as far as the wrappers need it, and a detector that records: see harness.h.
 */
#include "harness.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "intercept/fork.h"
#include "keys.h"
#include "lock.h"
#include "service.h"
#include "shared.h"
#include "sync.h"
#include "sys.h"
#include "thread.h"

_Atomic int rt_mode = RT_MODE_NEW;
const struct rt_detector *rt_detector;
_Atomic uint32_t rt_sync_live;

enum { EVENTS_KEPT = 4096, USES_KEPT = 64, GONE_KEPT = 64, OBJECTS = 1 << 16 };

struct state {
    struct harness_event events[EVENTS_KEPT];
    uint32_t event_count;
    struct rt_use uses[USES_KEPT];
    uint32_t use_count;
    struct range {
        uintptr_t start;
        size_t size;
    } gone[GONE_KEPT]; /* the last ones, in a ring */
    uint32_t gone_count;
    uint32_t known[HARNESS_NUMBERS];
    struct state *next;
};

static struct {
    bool is_exact;
    bool is_toggled;
    _Atomic bool records_uses;
    _Atomic uint64_t counts[RT_SYNC_COUNT];
    _Atomic uint64_t begun, ended, forks, finishes;
    harness_hook *_Atomic hook;
    harness_gone_hook *_Atomic gone_hook;
    struct rt_lock lock; /* of what follows; signals are blocked while it is held */
    struct state *free;
    struct object {
        uintptr_t address; /* 0: unused */
        uint32_t known[HARNESS_NUMBERS];
    } * objects;
} harness;

static uint64_t lock_model(void)
{
    uint64_t signals = rt_signals_block();
    rt_lock(&harness.lock);
    return signals;
}

static void unlock_model(uint64_t signals)
{
    rt_unlock(&harness.lock);
    rt_signals_restore(signals);
}

/* --- the model --- */

static struct object *object_at(uintptr_t address)
{
    size_t i = (address * 0x9e3779b97f4a7c15ull) >> 48;
    while (harness.objects[i].address && harness.objects[i].address != address)
        i = (i + 1) % OBJECTS;
    harness.objects[i].address = address;
    return &harness.objects[i];
}

static void merge(uint32_t *into, const uint32_t *from)
{
    for (int i = 0; i < HARNESS_NUMBERS; i++)
        if (into[i] < from[i])
            into[i] = from[i];
}

static void forget_object(struct object *object)
{
    for (int i = 0; i < HARNESS_NUMBERS; i++)
        object->known[i] = 0;
}

static const struct {
    bool releases, acquires;
} effects[] = {
#define EFFECT_ROW(id, name, rel, acq) {rel, acq},
    RT_SYNCS(EFFECT_ROW)
#undef EFFECT_ROW
};

/* --- signals: the one they go to, or everyone, learns at once --- */

struct signal {
    const struct state *from;
    const volatile void *target;
};

static bool learn_by_signal(struct rt_thread *thread, void *arg)
{
    const struct signal *signal = arg;
    struct state *state = thread->detector;
    const volatile void *object = rt_thread_object(thread->id);
    if (signal->target && signal->target != object)
        return true;
    /* One that has not begun yet learns when it does. */
    merge(state ? state->known : object_at((uintptr_t)object)->known, signal->from->known);
    return true;
}

static void send_signal(const struct state *from, uintptr_t target)
{
    struct signal signal = {from, (const volatile void *)target};
    rt_thread_each(learn_by_signal, &signal);
}

static void update_model(struct state *state, enum rt_sync what, uintptr_t address)
{
    if (what == RT_SYNC_SIGNAL_SEND) {
        send_signal(state, address);
        return;
    }
    struct object *object = object_at(address);
    if (what == RT_SYNC_OBJECT_INIT || what == RT_SYNC_OBJECT_DESTROY)
        forget_object(object);
    if (effects[what].releases)
        merge(object->known, state->known);
    if (effects[what].acquires)
        merge(state->known, object->known);
}

/* --- the detector --- */

static bool start_recording(void)
{
    return true;
}

static void begin_thread(struct rt_thread *self)
{
    atomic_fetch_add(&harness.begun, 1);
    uint64_t signals = lock_model();
    struct state *state = harness.free;
    if (state)
        harness.free = state->next;
    unlock_model(signals);
    if (!state)
        state = rt_map(sizeof *state);
    if (!state)
        harness_fail(__FILE__, __LINE__, "no memory");
    state->event_count = state->use_count = state->gone_count = 0;
    for (int i = 0; i < HARNESS_NUMBERS; i++)
        state->known[i] = 0;
    self->detector = state;
}

static void end_thread(struct rt_thread *gone)
{
    atomic_fetch_add(&harness.ended, 1);
    struct state *state = gone->detector;
    if (!state)
        return; /* its creation failed */
    gone->detector = NULL;
    uint64_t signals = lock_model();
    state->next = harness.free;
    harness.free = state;
    unlock_model(signals);
}

static void record(struct rt_thread *self, enum rt_sync what, const volatile void *object)
{
    atomic_fetch_add(&harness.counts[what], 1);
    harness_hook *hook = atomic_load(&harness.hook);
    if (hook)
        hook(what);
    struct state *state = self->detector;
    if (!state)
        return;
    uint64_t signals = lock_model();
    if (state->event_count < EVENTS_KEPT)
        state->events[state->event_count++] = (struct harness_event){what, object};
    update_model(state, what, (uintptr_t)object);
    unlock_model(signals);
}

static void record_use(struct rt_thread *self, const struct rt_use *use)
{
    struct state *state = self->detector;
    CHECK(self->in_hook && use->size);
    if (!state || !atomic_load(&harness.records_uses))
        return;
    uint64_t signals = lock_model();
    int kind = (use->is_write ? 2 : 1) * RT_SYNC_COUNT + (int)use->what;
    if (state->event_count < EVENTS_KEPT)
        state->events[state->event_count++] =
            (struct harness_event){(enum rt_sync)kind, (const volatile void *)use->address};
    if (state->use_count < USES_KEPT)
        state->uses[state->use_count++] = *use;
    unlock_model(signals);
}

static void record_gone(struct rt_thread *self, uintptr_t start, size_t size)
{
    harness_gone_hook *hook = atomic_load(&harness.gone_hook);
    if (hook)
        hook(start, size);
    struct state *state = self->detector;
    CHECK(self->in_hook && size);
    if (state)
        state->gone[state->gone_count++ % GONE_KEPT] = (struct range){start, size};
}

static void no_access(struct rt_thread *self, const struct rt_access *a)
{
    (void)self;
    (void)a;
}

static void after_fork(struct rt_thread *self)
{
    atomic_store(&harness.lock.word, 0);
    atomic_fetch_add(&harness.forks, 1);
    CHECK(self->detector);
}

static void finish(void)
{
    atomic_fetch_add(&harness.finishes, 1);
}

static const struct rt_detector recorder = {
    .start = start_recording,
    .access = no_access,
    .after = no_access,
    .sync = record,
    .use = record_use,
    .gone = record_gone,
    .thread_begin = begin_thread,
    .thread_end = end_thread,
    .after_fork = after_fork,
    .finish = finish,
};

/* What is measured idle is the runtime, not the recorder. */
static const struct rt_detector nobody = {
    .start = start_recording,
    .access = no_access,
    .after = no_access,
    .finish = finish,
};

/* --- what tests ask --- */

static struct state *state_of_self(void)
{
    struct rt_thread *self = rt_thread_self();
    CHECK(self && self->detector);
    return self->detector;
}

bool harness_is_exact(void)
{
    return harness.is_exact;
}

bool harness_is_on(void)
{
    return atomic_load(&rt_mode) == RT_MODE_LIVE;
}

static void write_text(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        abort();
}

void harness_fail(const char *file, int line, const char *what)
{
    char text[512];
    snprintf(text, sizeof text, "%s:%d: failed: %s\n", file, line, what);
    write_text(text);
    abort();
}

static const char *sync_name(enum rt_sync what)
{
    static const char *const names[] = {
#define SYNC_NAME(id, name, rel, acq) name,
        RT_SYNCS(SYNC_NAME)
#undef SYNC_NAME
    };
    return names[what];
}

static void show(const char *title, const struct harness_event *events, size_t count)
{
    static const char *const kinds[] = {"", "read for ", "write for "};
    char text[256];
    for (size_t i = 0; i < count; i++) {
        unsigned what = events[i].what;
        snprintf(text, sizeof text, "  %s: %s%s %p\n", title, kinds[what / RT_SYNC_COUNT],
                 sync_name(what % RT_SYNC_COUNT), (void *)(uintptr_t)events[i].object);
        write_text(text);
    }
}

static bool are_equal(const struct harness_event *a, const struct harness_event *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i].what != b[i].what || a[i].object != b[i].object)
            return false;
    return true;
}

void harness_expect(const char *file, int line, const struct harness_event *events, size_t count)
{
    if (!harness.is_exact)
        return;
    struct state *state = state_of_self();
    if (state->event_count != count || !are_equal(state->events, events, count)) {
        show("expected", events, count);
        show("told", state->events, state->event_count);
        harness_fail(file, line, "the events of this thread");
    }
    state->event_count = state->use_count = 0;
}

void harness_keep_only(const volatile void *object)
{
    if (!harness.is_exact)
        return;
    struct state *state = state_of_self();
    uint32_t kept = 0;
    for (uint32_t i = 0; i < state->event_count; i++)
        if (state->events[i].object == object)
            state->events[kept++] = state->events[i];
    state->event_count = kept;
}

void harness_forget(void)
{
    if (!harness.is_exact)
        return;
    struct state *state = state_of_self();
    state->event_count = state->use_count = state->gone_count = 0;
}

void harness_record_uses(void)
{
    atomic_store(&harness.records_uses, true);
}

struct rt_use harness_use(uint32_t i)
{
    const struct state *state = state_of_self();
    CHECK(i < state->use_count);
    return state->uses[i];
}

bool harness_was_gone(const volatile void *start, size_t size)
{
    if (!harness.is_exact)
        return true;
    const struct state *state = state_of_self();
    uintptr_t first = (uintptr_t)start;
    for (uint32_t i = 0; i < state->gone_count && i < GONE_KEPT; i++)
        if (state->gone[i].start <= first &&
            first + size <= state->gone[i].start + state->gone[i].size)
            return true;
    return false;
}

uint32_t harness_gone_count(void)
{
    return harness.is_exact ? state_of_self()->gone_count : 0;
}

void harness_set_gone_hook(harness_gone_hook *hook)
{
    atomic_store(&harness.gone_hook, hook);
}

void harness_set_hook(harness_hook *hook)
{
    atomic_store(&harness.hook, hook);
}

uint64_t harness_count(enum rt_sync what)
{
    return atomic_load(&harness.counts[what]);
}

uint64_t harness_threads_begun(void)
{
    return atomic_load(&harness.begun);
}

uint64_t harness_threads_ended(void)
{
    return atomic_load(&harness.ended);
}

uint64_t harness_forks_seen(void)
{
    return atomic_load(&harness.forks);
}

uint64_t harness_finishes(void)
{
    return atomic_load(&harness.finishes);
}

void harness_tell(int number, uint32_t value)
{
    if (harness_is_on())
        state_of_self()->known[number] = value;
}

uint32_t harness_knows(int number)
{
    return harness_is_on() ? state_of_self()->known[number] : 0;
}

uint32_t harness_held_count(void)
{
    return rt_thread_self()->held_count + rt_thread_self()->held_more;
}

/* --- the core --- */

static const char *find_mode(char **environment)
{
    static const char name[] = "HARNESS_MODE=";
    for (; *environment; environment++)
        if (strncmp(*environment, name, sizeof name - 1) == 0)
            return *environment + sizeof name - 1;
    return "live";
}

static void start(int count, char **arguments, char **environment)
{
    (void)count;
    (void)arguments;
    const char *mode = find_mode(environment);
    harness.is_exact = strcmp(mode, "live") == 0;
    harness.is_toggled = strcmp(mode, "toggle") == 0;
    if (strcmp(mode, "off") == 0) {
        atomic_store(&rt_mode, RT_MODE_OFF);
        return;
    }
    harness.objects = rt_map(OBJECTS * sizeof *harness.objects);
    CHECK(harness.objects);
    rt_detector = strcmp(mode, "idle") == 0 ? &nobody : &recorder;
    rt_thread_start_main();
    atomic_store(&rt_mode, RT_MODE_LIVE);
    rt_sync_switch(harness.is_exact);
    atomic_store(&rt_memory_live, harness.is_exact);
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **,
                                                                              char **) = start;

void rt_start(void)
{
    CHECK(atomic_load(&rt_mode) != RT_MODE_NEW);
}

void rt_finish(void)
{
    static _Atomic bool finished;
    if (atomic_load(&rt_mode) == RT_MODE_LIVE && !atomic_exchange(&finished, true))
        rt_detector->finish();
}

/* Made without libc, as nothing of libc's may be used in it: it borrows its maker's thread-local
 * memory. libc does not count it, so the process still ends with its last thread. */
static int toggle_for_ever(void *arg)
{
    (void)arg;
    uint64_t random = 88172645463325252ull;
    _Atomic uint32_t never = 0;
    for (;;) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        rt_sync_switch(random & 1);
        atomic_store(&rt_memory_live, random >> 1 & 1);
        rt_sys_futex_wait(&never, 0, (int64_t)(random >> 8) % 100000);
    }
    return 0;
}

__attribute__((constructor)) static void start_toggling(void)
{
    rt_service_start();
}

void rt_service_wake(void)
{
}

void rt_service_start(void)
{
    enum { SIZE = 64 * 1024 };
    if (!harness.is_toggled)
        return;
    char *stack = rt_map(SIZE);
    uint64_t signals = rt_signals_block();
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    CHECK(stack && clone(toggle_for_ever, stack + SIZE, flags, NULL) > 0);
    rt_signals_restore(signals);
}

void rt_service_fork_before(void)
{
}

void rt_service_fork_after(void)
{
}

void rt_keys_fork_before(void)
{
}

void rt_keys_fork_after(void)
{
}

void rt_shared_enter(void)
{
}

void rt_post(enum rh_event_kind kind, uint32_t thread, uint64_t a, uint64_t b, uint64_t c,
             uint64_t d)
{
    (void)kind, (void)thread, (void)a, (void)b, (void)c, (void)d;
}
