/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of threads: see thread.h. Reached by hooks, so it calls nothing of libc's. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#include "lock.h"
#include "sync.h"
#include "sys.h"
#include "thread.h"

enum { FIRST_CHUNK = 64, CHUNKS = 16, BUCKETS = 1024 };

/* Structs lie in chunks, each twice the size of the one before, that are never given back: a
 * pointer into them can always be read. Buckets hold the threads that can be joined, by handle. */
static struct {
    struct rt_lock lock;
    int32_t process;
    uint64_t signals_of_fork; /* of the thread that holds the lock during a fork */
    uint32_t last_id;
    _Atomic uint32_t slot_count;
    struct rt_thread *_Atomic chunks[CHUNKS];
    char *states[CHUNKS]; /* of the detector, for the threads of each chunk */
    struct rt_thread *free;
    struct rt_thread *leaving_first, *leaving_last;
    struct rt_thread *buckets[BUCKETS];
    uintptr_t self_to_handle; /* the same distance in every thread of libc's making */
} registry;

static _Thread_local struct rt_thread *self_pointer __attribute__((tls_model("initial-exec")));

/* --- structs: all under the lock --- */

static struct rt_thread *thread_at(uint32_t slot)
{
    uint32_t chunk = 31 - (uint32_t)__builtin_clz(slot / FIRST_CHUNK + 1);
    struct rt_thread *threads = atomic_load(&registry.chunks[chunk]);
    return &threads[slot - FIRST_CHUNK * ((1u << chunk) - 1)];
}

static void push_free(struct rt_thread *t)
{
    t->id = 0;
    atomic_store(&t->state, RT_THREAD_FREE);
    t->next_free = registry.free;
    registry.free = t;
}

static struct rt_thread *pop_free(void)
{
    struct rt_thread *t = registry.free;
    if (t)
        registry.free = t->next_free;
    return t;
}

static void push_leaving(struct rt_thread *t)
{
    t->next_free = NULL;
    if (registry.leaving_last)
        registry.leaving_last->next_free = t;
    else
        registry.leaving_first = t;
    registry.leaving_last = t;
}

static struct rt_thread *pop_leaving(void)
{
    struct rt_thread *t = registry.leaving_first;
    if (t)
        registry.leaving_first = t->next_free;
    if (!registry.leaving_first)
        registry.leaving_last = NULL;
    return t;
}

/* 0 while the kernel has the thread, -ESRCH once it is gone; any other refusal is a sandbox's. */
static long ask_kernel(const struct rt_thread *t)
{
    return rt_arch_syscall(SYS_tgkill, registry.process, t->tid, 0, 0, 0, 0);
}

/* Two looks per new thread keep up with one more leaving thread each time, even if some appear to
 * stay because their number was given to a new thread. Where the kernel may not be asked, we trust
 * that a thread that has told of its end is gone by now. */
static struct rt_thread *take_over_gone(void)
{
    for (int looks = 0; looks < 2; looks++) {
        struct rt_thread *t = pop_leaving();
        if (!t || ask_kernel(t) != 0)
            return t;
        push_leaving(t);
    }
    return NULL;
}

/* Nothing tells us when an adopted thread ends, so we ask before memory would grow. */
static void collect_adopted(void)
{
    uint32_t count = atomic_load(&registry.slot_count);
    for (uint32_t slot = 0; slot < count; slot++) {
        struct rt_thread *t = thread_at(slot);
        bool is_running = t->adopted && atomic_load(&t->state) == RT_THREAD_RUNNING;
        if (is_running && ask_kernel(t) == -ESRCH) {
            atomic_store(&t->state, RT_THREAD_ENDED);
            push_leaving(t);
        }
    }
}

/* What a detector keeps of a thread, in whole cache lines: threads write to their own all the time.
 */
static size_t state_size(void)
{
    enum { LINE = 64 };
    return rt_detector ? (rt_detector->thread_size + LINE - 1) / LINE * LINE : 0;
}

static void *state_at(uint32_t slot)
{
    uint32_t chunk = 31 - (uint32_t)__builtin_clz(slot / FIRST_CHUNK + 1);
    char *states = registry.states[chunk];
    return states ? states + (slot - FIRST_CHUNK * ((1u << chunk) - 1)) * state_size() : NULL;
}

static bool make_chunk(uint32_t chunk)
{
    size_t count = (size_t)FIRST_CHUNK << chunk, size = state_size();
    struct rt_thread *threads = rt_map(count * sizeof *threads);
    char *states = size ? rt_map(count * size) : NULL;
    if (threads && (states || !size)) {
        registry.states[chunk] = states;
        atomic_store(&registry.chunks[chunk], threads);
        return true;
    }
    if (threads)
        rt_unmap(threads, count * sizeof *threads);
    if (states)
        rt_unmap(states, count * size);
    return false;
}

static struct rt_thread *add_slot(void)
{
    uint32_t slot = atomic_load(&registry.slot_count);
    uint32_t chunk = 31 - (uint32_t)__builtin_clz(slot / FIRST_CHUNK + 1);
    if (chunk >= CHUNKS)
        return NULL;
    if (!atomic_load(&registry.chunks[chunk])) {
        collect_adopted();
        struct rt_thread *gone = take_over_gone();
        if (gone)
            return gone;
        if (!make_chunk(chunk))
            return NULL;
    }
    struct rt_thread *t = thread_at(slot);
    t->slot = slot;
    t->detector = state_at(slot);
    atomic_store(&registry.slot_count, slot + 1);
    return t;
}

static struct rt_thread **bucket_of(uintptr_t handle)
{
    return &registry.buckets[(handle >> 6) * 0x9e3779b97f4a7c15ull >> 54];
}
_Static_assert(BUCKETS == 1 << (64 - 54), "bucket_of takes the upper ten bits");

static struct rt_thread *find_handle(uintptr_t handle)
{
    struct rt_thread *t = *bucket_of(handle);
    while (t && t->pthread != handle)
        t = t->next_same;
    return t;
}

static void remove_handle(struct rt_thread *gone)
{
    struct rt_thread **at = bucket_of(gone->pthread);
    while (*at && *at != gone)
        at = &(*at)->next_same;
    if (*at)
        *at = gone->next_same;
}

/* If the handle is still there, its thread was joined or detached without our seeing it (a library
 * loaded with RTLD_DEEPBIND): it must not be found any more. */
static void add_handle(struct rt_thread *t, uintptr_t handle)
{
    struct rt_thread *stale = find_handle(handle);
    if (stale)
        remove_handle(stale);
    __atomic_store_n(&t->pthread, handle, __ATOMIC_RELEASE);
    struct rt_thread **bucket = bucket_of(handle);
    t->next_same = *bucket;
    *bucket = t;
}

/* --- the life of a thread --- */

/* Word by word, because the compiler would make a call of memset out of anything plainer. */
static void clear_words(void *start, size_t size)
{
    volatile uint64_t *words = start;
    for (size_t i = 0; i < size / sizeof *words; i++)
        words[i] = 0;
}

/* Everything but the slot and its state starts from zero, and so does what is in the state: whoever
 * visits threads may be looking at it now. */
static void clear(struct rt_thread *t)
{
    size_t kept = offsetof(struct rt_thread, slot) + sizeof t->slot + sizeof t->id;
    t->id = 0;
    clear_words((char *)t + kept, sizeof *t - kept);
    if (t->detector)
        clear_words(t->detector, rt_detector->thread_size);
}
_Static_assert(offsetof(struct rt_thread, id) == 12 && sizeof(struct rt_thread) % 8 == 0,
               "what is kept is two words, and the rest is cleared by words");

/* In its own name: the caller may be about to adopt itself and have none yet. */
static void tell_gone(struct rt_thread *t)
{
    if (rt_sync_is_live())
        rt_sync_event_as(t, RT_SYNC_OBJECT_DESTROY, rt_thread_object(t->id));
    if (rt_detector && rt_detector->thread_end)
        rt_detector->thread_end(t);
}

/* The threads of one slot seem to come one behind the other. */
static bool wants_fresh_slot(void)
{
    return rt_detector && atomic_load(&registry.slot_count) < rt_detector->fresh_slots;
}

/* A new struct with a new id; signals are blocked. */
static struct rt_thread *enter(uint32_t parent, bool joinable)
{
    rt_lock(&registry.lock);
    struct rt_thread *t = wants_fresh_slot() ? add_slot() : pop_free();
    if (!t)
        t = take_over_gone();
    if (!t)
        t = add_slot();
    uint32_t id = t ? ++registry.last_id : 0;
    rt_unlock(&registry.lock);
    if (!t)
        return NULL;
    if (t->id)
        tell_gone(t);
    clear(t);
    t->id = id;
    t->parent = parent;
    t->joinable = joinable;
    atomic_store(&t->references, joinable ? 2 : 1);
    atomic_store(&t->state, RT_THREAD_STARTING);
    return t;
}

struct rt_creation rt_thread_create_begin(bool joinable)
{
    struct rt_creation c = {0};
    rt_start();
    if (atomic_load(&rt_mode) != RT_MODE_LIVE)
        return c;
    c.signals = rt_signals_block();
    if (rt_detector->creating)
        rt_detector->creating();
    struct rt_thread *self = rt_thread_self();
    c.thread = enter(self ? self->id : 0, joinable);
    if (!c.thread) {
        rt_signals_restore(c.signals);
        return c;
    }
    c.id = c.thread->id;
    c.thread->signals = c.signals;
    rt_sync(RT_SYNC_THREAD_CREATE, rt_thread_object(c.id));
    return c;
}

/* The thread may be gone by now, and its struct another's: only `id` tells. If it is still ours and
 * has no handle, the thread waits for the lock before it runs any of the program's code, so what
 * `handle` points to cannot have been freed yet. */
void rt_thread_create_end(const struct rt_creation *c, const pthread_t *handle)
{
    struct rt_thread *t = c->thread;
    if (!t)
        return;
    if (!handle)
        tell_gone(t);
    rt_lock(&registry.lock);
    if (!handle)
        push_free(t);
    else if (t->id == c->id && t->joinable && !t->pthread)
        add_handle(t, (uintptr_t)*handle);
    rt_unlock(&registry.lock);
    rt_signals_restore(c->signals);
}

void rt_thread_begin(struct rt_thread *self, uintptr_t handle)
{
    self_pointer = self;
    self->tid = rt_sys_gettid();
    if (self->joinable && !__atomic_load_n(&self->pthread, __ATOMIC_ACQUIRE)) {
        rt_lock(&registry.lock);
        if (!self->pthread)
            add_handle(self, handle);
        rt_unlock(&registry.lock);
    } else if (!self->joinable) {
        self->pthread = handle;
    }
    atomic_store(&self->state, RT_THREAD_RUNNING);
    if (rt_detector && rt_detector->thread_begin)
        rt_detector->thread_begin(self);
    rt_sync(RT_SYNC_THREAD_BEGIN, rt_thread_object(self->id));
    rt_signals_restore(self->signals);
}

/* Counts down the two things the struct lives for. */
static void drop_reference(struct rt_thread *t)
{
    if (atomic_fetch_sub(&t->references, 1) != 1)
        return;
    uint64_t signals = rt_signals_block();
    rt_lock(&registry.lock);
    push_leaving(t);
    rt_unlock(&registry.lock);
    rt_signals_restore(signals);
}

void rt_thread_end(struct rt_thread *self)
{
    rt_sync(RT_SYNC_OWNER_END, rt_dead_owners());
    rt_sync(RT_SYNC_THREAD_END, rt_thread_object(self->id));
    atomic_store(&self->state, RT_THREAD_ENDED);
    drop_reference(self);
}

struct rt_handle rt_thread_find(uintptr_t handle)
{
    struct rt_handle h = {0};
    if (atomic_load(&rt_mode) != RT_MODE_LIVE)
        return h;
    uint64_t signals = rt_signals_block();
    rt_lock(&registry.lock);
    h.thread = find_handle(handle);
    h.id = h.thread ? h.thread->id : 0;
    rt_unlock(&registry.lock);
    rt_signals_restore(signals);
    return h;
}

/* Takes the handle away from the thread; false if it has none left. Under the lock. */
static bool give_up_handle(struct rt_handle h)
{
    struct rt_thread *t = h.thread;
    if (t->id != h.id || !t->joinable)
        return false;
    t->joinable = false;
    remove_handle(t);
    return true;
}

/* The thread is gone, whether or not its destructors have told us. */
void rt_thread_joined(struct rt_handle h)
{
    if (!h.thread)
        return;
    uint64_t signals = rt_signals_block();
    rt_lock(&registry.lock);
    bool ours = give_up_handle(h);
    rt_unlock(&registry.lock);
    if (ours) {
        if (rt_sync_is_live()) {
            rt_sync_event_as(h.thread, RT_SYNC_THREAD_END, rt_thread_object(h.id));
            rt_sync_event(RT_SYNC_THREAD_JOIN, rt_thread_object(h.id));
        }
        tell_gone(h.thread);
        rt_lock(&registry.lock);
        push_free(h.thread);
        rt_unlock(&registry.lock);
    }
    rt_signals_restore(signals);
}

void rt_thread_detached(struct rt_handle h)
{
    if (!h.thread)
        return;
    uint64_t signals = rt_signals_block();
    rt_lock(&registry.lock);
    bool ours = give_up_handle(h);
    rt_unlock(&registry.lock);
    rt_signals_restore(signals);
    if (ours)
        drop_reference(h.thread);
}

/* --- the calling thread --- */

static void begin_adopted(struct rt_thread *self)
{
    self->adopted = true;
    self->tid = rt_sys_gettid();
    atomic_store(&self->state, RT_THREAD_RUNNING);
    if (rt_detector && rt_detector->thread_begin)
        rt_detector->thread_begin(self);
}

/* A signal handler may have adopted the thread before we have blocked signals. */
__attribute__((noinline)) static struct rt_thread *adopt(void)
{
    if (atomic_load(&rt_mode) != RT_MODE_LIVE)
        return NULL;
    uint64_t signals = rt_signals_block();
    struct rt_thread *self = self_pointer;
    if (!self)
        self = enter(0, false);
    if (self && !self_pointer) {
        self->pthread = (uintptr_t)&self_pointer + registry.self_to_handle;
        self_pointer = self;
        begin_adopted(self);
    }
    rt_signals_restore(signals);
    return self;
}

/* --- threads that share thread-local storage --- */

/* Some thread may have another's: then only the kernel's number tells who is calling. */
static _Atomic bool storage_is_shared;

void rt_thread_cloning(bool shares_storage)
{
    if (shares_storage)
        atomic_store(&storage_is_shared, true);
    uint64_t signals = rt_signals_block();
    if (rt_detector->creating)
        rt_detector->creating();
    rt_signals_restore(signals);
}

static struct rt_thread *find_number(int32_t tid)
{
    uint32_t count = atomic_load(&registry.slot_count);
    for (uint32_t slot = 0; slot < count; slot++) {
        struct rt_thread *t = thread_at(slot);
        if (t->adopted && t->tid == tid && atomic_load(&t->state) == RT_THREAD_RUNNING)
            return t;
    }
    return NULL;
}

/* Its storage belongs to another, so neither we nor libc may note anything there: it counts as
 * armed. */
__attribute__((noinline)) static struct rt_thread *tell_apart(struct rt_thread *owner)
{
    int32_t tid = rt_sys_gettid();
    if (owner && owner->tid == tid)
        return owner;
    uint64_t signals = rt_signals_block();
    struct rt_thread *self = find_number(tid);
    if (!self) {
        self = enter(0, false);
        if (self) {
            self->armed = true;
            begin_adopted(self);
        }
    }
    rt_signals_restore(signals);
    return self;
}

struct rt_thread *rt_thread_self(void)
{
    struct rt_thread *self = self_pointer;
    if (rt_unlikely(!self))
        return adopt();
    if (rt_unlikely(atomic_load_explicit(&storage_is_shared, memory_order_relaxed)))
        return tell_apart(self);
    return self;
}

void rt_thread_each(bool (*visit)(struct rt_thread *, void *), void *arg)
{
    uint32_t count = atomic_load(&registry.slot_count);
    for (uint32_t slot = 0; slot < count; slot++) {
        struct rt_thread *t = thread_at(slot);
        if (atomic_load(&t->state) != RT_THREAD_FREE && !visit(t, arg))
            return;
    }
}

/* Up to two. One that is about to begin counts: on a busy machine it has often not begun when its
 * creator is at the site. */
static bool count_thread(struct rt_thread *t, void *arg)
{
    uint32_t *threads = arg, state = atomic_load(&t->state);
    *threads += state == RT_THREAD_RUNNING || state == RT_THREAD_STARTING;
    return *threads < 2;
}

bool rt_thread_is_alone(void)
{
    uint32_t threads = 0;
    rt_thread_each(count_thread, &threads);
    return threads < 2;
}

struct rt_thread *rt_thread_enter_main(uintptr_t handle)
{
    registry.process = rt_sys_getpid();
    registry.self_to_handle = handle - (uintptr_t)&self_pointer;
    uint64_t signals = rt_signals_block();
    struct rt_thread *self = enter(0, true);
    if (self) {
        self->signals = signals;
        rt_thread_begin(self, handle);
    } else {
        rt_signals_restore(signals);
    }
    return self;
}

/* --- fork --- */

void rt_thread_fork_before(void)
{
    uint64_t signals = rt_signals_block();
    rt_lock(&registry.lock);
    registry.signals_of_fork = signals;
}

void rt_thread_fork_parent(void)
{
    uint64_t signals = registry.signals_of_fork;
    rt_unlock(&registry.lock);
    rt_signals_restore(signals);
}

static void forget_others(const struct rt_thread *self)
{
    registry.free = registry.leaving_first = registry.leaving_last = NULL;
    for (uint32_t i = 0; i < BUCKETS; i++) {
        registry.buckets[i] = NULL;
        atomic_signal_fence(memory_order_seq_cst); /* or it would become a call of memset */
    }
    uint32_t count = atomic_load(&registry.slot_count);
    for (uint32_t slot = count; slot-- > 0;) {
        struct rt_thread *t = thread_at(slot);
        if (t != self)
            push_free(t);
    }
}

uint64_t rt_thread_fork_child(void)
{
    struct rt_thread *self = self_pointer;
    registry.process = rt_sys_getpid();
    forget_others(self);
    if (self) {
        self->tid = rt_sys_gettid();
        if (self->joinable)
            add_handle(self, self->pthread);
    }
    atomic_store(&registry.lock.word, 0);
    return registry.signals_of_fork;
}
