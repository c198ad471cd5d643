/* SPDX-License-Identifier: Apache-2.0 */
/* Walking the stack: see stack.h. */
#include "stack/stack.h"

#include "arch/x86_64/code.h"
#include "keys.h"
#include "probe.h"
#include "stack/cache.h"
#include "stack/images.h"

struct rt_row_slot rt_row_slots[1 << RT_ROW_SLOT_BITS];

/*
 * The part of the stack that may be read: from the walk's first frame to the thread's end of the
 * stack.
 *
 * Where that end is not known (a thread from before the runtime, a signal's or a coroutine's own
 * stack) the walk feels its way up: the pages from the stack pointer on, one after the other, as
 * far as frames ask for them, each asked of the kernel before it is read, until the first that is
 * not there. A stack is one mapping, so everything of the same stack is found that way, and a wild
 * address beyond a gap is not.
 */
struct window {
    uintptr_t low, high;
    uintptr_t limit; /* how far high may be moved */
};

/* Such a stack is given up beyond this size, and a frame in it beyond that: asking page by page for
 * what a wild register says must have an end. */
#define UNKNOWN_STACK_MAX (16u << 20)
#define UNKNOWN_FRAME_MAX (1u << 20)

struct walk {
    struct rt_cfi_memory memory; /* first, so that reads find the walk again */
    const struct rt_thread *thread;
    struct rt_registers r;
    struct window window;
    uintptr_t shift; /* from the addresses of the stack to where it is read: a copy, if not 0 */
    uint32_t generation;
    bool is_exact;   /* pc is an instruction to come, not one behind a call */
    bool is_lacking; /* ended because the value of a register was not known */
};

/* --- memory --- */

static bool extend(struct window *w, uintptr_t to)
{
    if (to - w->high > UNKNOWN_FRAME_MAX)
        return false;
    while (w->high < to) {
        if (w->high >= w->limit || !rt_can_read(w->high))
            return false;
        w->high += RT_PROBE_PAGE;
    }
    return true;
}

static bool is_stack(struct window *w, uintptr_t address, size_t size)
{
    return address >= w->low && address <= UINTPTR_MAX - size &&
           (rt_likely(address + size <= w->high) || extend(w, address + size));
}

static bool is_same_page(uintptr_t a, uintptr_t b)
{
    return a / RT_PROBE_PAGE == b / RT_PROBE_PAGE;
}

/* Where a thread has run over the end of its stack, the stack pointer is in the guard below it. */
static uintptr_t skip_guard(uintptr_t stack)
{
    enum { GUARD_PAGES_MAX = 256 };
    uintptr_t page = stack & -(uintptr_t)RT_PROBE_PAGE;
    for (int i = 1; i <= GUARD_PAGES_MAX; i++)
        if (rt_can_read(page + (uintptr_t)i * RT_PROBE_PAGE))
            return page + (uintptr_t)i * RT_PROBE_PAGE;
    return stack;
}

/* Of the frame the walk is at. Interrupted code may have left values below its stack pointer, and
 * have that anywhere, even out of its stack. */
static void set_window(struct walk *w, bool is_interrupted)
{
    uintptr_t stack = w->r.value[RT_REGISTER_STACK], red = stack - RT_RED_ZONE, low = stack;
    const struct rt_thread *t = w->thread;
    if (is_interrupted && !rt_can_read(stack))
        stack = low = skip_guard(stack);
    else if (is_interrupted && (is_same_page(red, stack) || rt_can_read(red)))
        low = red;
    w->window.low = low;
    if (t && t->stack_low && stack >= t->stack_low && stack < t->stack_high) {
        w->window.high = w->window.limit = t->stack_high;
        return;
    }
    w->window.high = w->window.limit = stack & -(uintptr_t)RT_PROBE_PAGE;
    if (w->window.limit < UINTPTR_MAX - UNKNOWN_STACK_MAX)
        w->window.limit += UNKNOWN_STACK_MAX;
}

static bool can_read_all(uintptr_t address, size_t size)
{
    uintptr_t last = address + size - 1;
    return rt_can_read(address) && (is_same_page(address, last) || rt_can_read(last));
}

/* For rows that are more than a sum: the stack, and the code of images, which our thunk's row reads
 * to see where the stub goes on. */
static bool read_memory(struct rt_cfi_memory *memory, uintptr_t address, unsigned size,
                        uint64_t *value)
{
    struct walk *w = (struct walk *)memory;
    struct rt_stack_image image;
    uintptr_t shift = w->shift;
    if (!is_stack(&w->window, address, size)) {
        shift = 0;
        if (!rt_stack_image_at(address, &image) || size > image.high - address ||
            !can_read_all(address, size))
            return false;
    }
    const uint8_t *bytes = (const uint8_t *)(address + shift);
    *value = 0;
    for (unsigned i = 0; i < size; i++)
        *value |= (uint64_t)bytes[i] << (8 * i);
    return true;
}

/* --- one step outwards --- */

static uint64_t load(const struct walk *w, uintptr_t address)
{
    return *(const uint64_t *)(address + w->shift);
}

/* True if a frame that ends at `cfa` lies above what has been walked, inside the stack. */
static bool is_frame_end(struct walk *w, uintptr_t cfa)
{
    return cfa > w->r.value[RT_REGISTER_STACK] && cfa % 8 == 0 && is_stack(&w->window, cfa - 8, 8);
}

static bool go_to(struct walk *w, uintptr_t pc, uintptr_t stack)
{
    w->r.value[RT_REGISTER_PC] = pc;
    w->r.value[RT_REGISTER_STACK] = stack;
    w->is_exact = false;
    return pc != 0;
}

static bool step_packed(struct walk *w, const struct rt_row *row)
{
    static const uint8_t registers[RT_SAVED_COUNT] = RT_SAVED_REGISTERS;
    uint32_t base = rt_row_register(row);
    if (rt_unlikely(!(w->r.known >> base & 1))) {
        w->is_lacking = true;
        return false;
    }
    uintptr_t cfa = w->r.value[base] + (uintptr_t)(intptr_t)rt_row_offset(row);
    if (rt_unlikely(!is_frame_end(w, cfa)))
        return false;
    uint32_t known = w->r.known & (RT_SAVED_MASK | 1u << RT_REGISTER_STACK | 1u << RT_REGISTER_PC);
    for (uint32_t i = 0; row->saved >> (8 * i); i++) {
        uint32_t below = rt_row_saved(row, i);
        if (!below)
            continue;
        if (rt_unlikely(below > cfa - w->window.low)) {
            if (!w->shift)
                return false;
            continue; /* on its way out, the code has taken it off the stack already */
        }
        w->r.value[registers[i]] = load(w, cfa - below);
        known |= 1u << registers[i];
    }
    w->r.known = known;
    return go_to(w, load(w, cfa + RT_RETURN_OFFSET), cfa);
}

/* A row that could not be packed. */
static bool step_full(struct walk *w, const struct rt_cfi_tables *tables,
                      const struct rt_cfi_row *row)
{
    struct rt_registers caller;
    enum rt_cfi_step step = rt_cfi_apply(tables, row, &w->r, &w->memory, &caller);
    w->is_lacking = step == RT_CFI_LACKING;
    if (step != RT_CFI_STEPPED)
        return false;
    uintptr_t stack = caller.value[RT_REGISTER_STACK];
    /* longjmp may be interrupted when it has the stack pointer of where it goes, but not the pc. */
    bool has_moved = w->is_exact && stack == w->r.value[RT_REGISTER_STACK];
    if (!row->is_signal && !has_moved && !is_frame_end(w, stack))
        return false;
    if (row->is_signal && w->shift)
        return false; /* beyond a handler there may be another stack, of which there is no copy */
    for (int i = 0; i < RT_REGISTER_COUNT; i++) {
        w->r.value[i] = caller.value[i];
        __asm__ volatile("" ::: "memory"); /* no call of memcpy: see cfi.c */
    }
    w->r.known = caller.known;
    w->is_exact = row->is_signal;
    if (row->is_signal)
        set_window(w, true); /* the handler may have had a stack of its own */
    return w->r.value[RT_REGISTER_PC] != 0;
}

/* The stack itself holds no calls, only bytes that may look like one. How far up it goes is not
 * always known; an image that lies there is code all the same. */
static bool is_in_stack(const struct walk *w, uintptr_t pc)
{
    struct rt_stack_image image;
    return pc >= w->window.low && pc - w->window.low < UNKNOWN_STACK_MAX &&
           !rt_stack_image_at(pc, &image);
}

/* Code outside images may be anything executable; that a call stands right before the address is a
 * better sign of a return address than the protection of its page would be. */
static bool is_return_address(const struct walk *w, uintptr_t pc)
{
    if (pc < RT_PROBE_PAGE || is_in_stack(w, pc) ||
        !can_read_all(pc - RT_CALL_LENGTH, RT_CALL_LENGTH))
        return false;
    return rt_arch_is_call((const uint8_t *)(pc - RT_CALL_LENGTH));
}

/* True unless the call whose return address this is went somewhere else than to pc: a call through
 * a pointer, or to one of the linker's stubs, may have gone anywhere. */
static bool may_have_called(uintptr_t return_address, uintptr_t pc)
{
    enum { LEAF_MAX = 4096 };
    uintptr_t target = rt_arch_call_target(return_address);
    if (target == 0 || (target <= pc && pc - target < LEAF_MAX))
        return true;
    return can_read_all(target, RT_JUMP_LENGTH) && rt_arch_is_jump((const uint8_t *)target);
}

/* True if the interrupted code has made no frame, so that the return address is on top of the
 * stack: a leaf function, one of the linker's stubs, which may have been jumped to from anywhere,
 * or an address where there is no code. */
static bool is_frameless(struct walk *w, uintptr_t pc, uintptr_t stack)
{
    if (!w->is_exact || !is_frame_end(w, stack + 8) || !is_return_address(w, load(w, stack)))
        return false;
    return may_have_called(load(w, stack), pc) || !can_read_all(pc, RT_JUMP_LENGTH) ||
           rt_arch_is_jump((const uint8_t *)pc);
}

/* Interrupted in the stub of a key, on the way to the thunk or back: the caller, as far as that is
 * one, is the code at the key, with the registers of now. */
static bool leave_stub(struct walk *w, uintptr_t pc, uintptr_t stack)
{
    uintptr_t resume;
    intptr_t above;
    if (!w->is_exact || !can_read_all(pc - RT_STUB_BEFORE, RT_STUB_BEFORE + RT_STUB_LENGTH) ||
        !rt_arch_leave_stub((const uint8_t *)pc, &resume, &above))
        return false;
    return go_to(w, resume, stack + (uintptr_t)above);
}

/* Without a row: the frame pointer, if it looks like one. */
static bool step_blind(struct walk *w)
{
    uintptr_t stack = w->r.value[RT_REGISTER_STACK], frame = w->r.value[RT_REGISTER_FRAME];
    uintptr_t pc = w->r.value[RT_REGISTER_PC];
    if (leave_stub(w, pc, stack))
        return true;
    if (is_frameless(w, pc, stack))
        return go_to(w, load(w, stack), stack + 8);
    bool has_frame = w->r.known >> RT_REGISTER_FRAME & 1 && frame >= stack;
    if (!has_frame || !is_frame_end(w, frame + 16) || !is_stack(&w->window, frame, 8) ||
        !is_return_address(w, load(w, frame + 8)))
        return false;
    w->r.value[RT_REGISTER_FRAME] = load(w, frame);
    w->r.known = 1u << RT_REGISTER_FRAME | 1u << RT_REGISTER_STACK | 1u << RT_REGISTER_PC;
    return go_to(w, load(w, frame + 8), frame + 16);
}

static bool step_by_kind(struct walk *w, const struct rt_row *row)
{
    switch (rt_row_kind(row)) {
    case RT_ROW_STEP:
        return step_packed(w, row);
    case RT_ROW_ABSENT:
        return step_blind(w);
    case RT_ROW_OUTERMOST:
        break;
    }
    return false;
}

__attribute__((noinline)) static bool step_uncached(struct walk *w, uintptr_t pc)
{
    struct rt_stack_image image;
    struct rt_cfi_row row;
    struct rt_row packed = rt_row_make(RT_ROW_ABSENT, 0, 0);
    if (!rt_stack_image_at(pc, &image) || !image.tables.bytes || !rt_stack_image_is_there(&image))
        return step_blind(w);
    switch (rt_cfi_find(&image.tables, pc, &row)) {
    case RT_CFI_NONE:
        break;
    case RT_CFI_ROW:
        if (!rt_row_pack(&row, &packed))
            return step_full(w, &image.tables, &row);
        break;
    case RT_CFI_BAD:
        return false;
    }
    rt_row_put(pc, w->generation, &packed);
    return step_by_kind(w, &packed);
}

/* To the caller. False if there is none, or none that can be found. */
static bool step(struct walk *w)
{
    struct rt_row row;
    uintptr_t pc = w->r.value[RT_REGISTER_PC] - !w->is_exact;
    if (rt_likely(rt_row_get(pc, w->generation, &row)))
        return step_by_kind(w, &row);
    return step_uncached(w, pc);
}

/* --- whole walks --- */

enum start { START_KEY, START_HERE, START_SIGNAL };

/* The first registers have been set. */
static void begin(struct walk *w, const struct rt_thread *thread, enum start start)
{
    w->memory.read = read_memory;
    w->thread = thread;
    w->shift = 0;
    w->generation = atomic_load_explicit(&rt_stack_generation, memory_order_acquire);
    w->is_exact = start != START_KEY;
    w->is_lacking = false;
    set_window(w, start == START_SIGNAL);
}

static uint32_t collect(struct walk *w, uintptr_t *pcs, uint32_t max)
{
    uint32_t count = 0;
    while (count < max) {
        pcs[count++] = w->r.value[RT_REGISTER_PC] + w->is_exact;
        if (!step(w))
            break;
    }
    return count;
}

/* Walks out of the hook itself: the long way to the registers that are not in the hook's frame, for
 * the rare row that needs them. Saving them in every hook would cost all for the sake of few. */
__attribute__((noinline)) static bool walk_to_key(struct walk *w, const struct rt_thread *self,
                                                  const struct rh_hook_frame *frame)
{
    uintptr_t target = rt_arch_stack(frame);
    rt_arch_registers_here(&w->r);
    begin(w, self, START_HERE);
    while (w->r.value[RT_REGISTER_STACK] < target)
        if (!step(w))
            return false;
    return w->r.value[RT_REGISTER_STACK] == target &&
           w->r.value[RT_REGISTER_PC] == rt_arch_resume(frame);
}

uint32_t rt_stack_at_key(const struct rt_thread *self, const struct rh_hook_frame *frame,
                         uintptr_t *pcs, uint32_t max)
{
    struct walk w;
    rt_arch_registers_at_key(frame, &w.r);
    begin(&w, self, START_KEY);
    uint32_t count = collect(&w, pcs, max);
    if (rt_unlikely(w.is_lacking) && walk_to_key(&w, self, frame))
        count = collect(&w, pcs, max);
    return count;
}

__attribute__((noinline)) uint32_t rt_stack_here(const struct rt_thread *self, uintptr_t *pcs,
                                                 uint32_t max)
{
    struct walk w;
    rt_arch_registers_here(&w.r);
    begin(&w, self, START_HERE);
    return step(&w) ? collect(&w, pcs, max) : 0;
}

uint32_t rt_stack_at_signal(const struct rt_thread *self, const void *context, uintptr_t *pcs,
                            uint32_t max)
{
    struct walk w;
    rt_arch_registers_at_signal(context, &w.r);
    begin(&w, self, START_SIGNAL);
    return collect(&w, pcs, max);
}

/* The instruction before the pc is the one meant, but it is over: the registers are those of the
 * pc. */
uint32_t rt_stack_in_copy(const struct rt_registers *r, const void *bytes, size_t size,
                          uintptr_t *pcs, uint32_t max)
{
    struct walk w;
    for (int i = 0; i < RT_REGISTER_COUNT; i++) {
        w.r.value[i] = r->value[i];
        __asm__ volatile("" ::: "memory"); /* no call of memcpy: see cfi.c */
    }
    w.r.known = r->known;
    begin(&w, NULL, START_HERE);
    w.window.low = r->value[RT_REGISTER_STACK];
    w.window.high = w.window.limit = w.window.low + size;
    w.shift = (uintptr_t)bytes - w.window.low;
    uint32_t count = collect(&w, pcs, max);
    if (count > 0)
        pcs[0]--;
    return count;
}
