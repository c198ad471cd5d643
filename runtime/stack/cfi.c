/* SPDX-License-Identifier: Apache-2.0 */
/* Finding, executing and applying call frame information: see cfi.h. */
#include "stack/cfi.h"

#include "stack/cfi_read.h"

enum {
    ENCODING_OMITTED = 0xff,
    ENCODING_FORMAT = 0x0f,
    BASE_ABSOLUTE = 0x00,
    BASE_FIELD = 0x10,  /* relative to the place of the value itself */
    BASE_HEADER = 0x30, /* relative to .eh_frame_hdr */
};

/* Deeper than compilers nest: they keep one row while an epilogue in the middle is described. */
#define REMEMBERED_MAX 8

static uintptr_t address_of(const struct rt_cfi_tables *t, const uint8_t *at)
{
    return t->address + (uintptr_t)(at - t->bytes);
}

static struct rt_cursor cursor_at(const struct rt_cfi_tables *t, uint64_t position)
{
    bool bad = position > t->size;
    const uint8_t *at = bad ? t->bytes : t->bytes + position;
    return (struct rt_cursor){.at = at, .end = t->bytes + t->size, .bad = bad};
}

static uint64_t read_value(struct rt_cursor *c, uint8_t format)
{
    switch (format) {
    case 0x00: /* of the size of an address */
    case 0x04:
    case 0x0c:
        return rt_read_unsigned(c, 8);
    case 0x01:
        return rt_read_leb(c, false);
    case 0x02:
        return rt_read_unsigned(c, 2);
    case 0x03:
        return rt_read_unsigned(c, 4);
    case 0x09:
        return rt_read_leb(c, true);
    case 0x0a:
        return (uint64_t)rt_read_signed(c, 2);
    case 0x0b:
        return (uint64_t)rt_read_signed(c, 4);
    default:
        c->bad = true;
        return 0;
    }
}

/* An address in one of the encodings that occur for code. Indirect ones, and those relative to
 * other bases, occur for personality routines only, which are skipped by their format. */
static uintptr_t read_address(const struct rt_cfi_tables *t, struct rt_cursor *c, uint8_t encoding)
{
    uintptr_t field = address_of(t, c->at);
    uint64_t value = read_value(c, encoding & ENCODING_FORMAT);
    switch (encoding & ~ENCODING_FORMAT) {
    case BASE_ABSOLUTE:
        return value;
    case BASE_FIELD:
        return field + value;
    case BASE_HEADER:
        return t->address + t->header + value;
    default:
        c->bad = true;
        return 0;
    }
}

/* --- entries --- */

/* An FDE together with its CIE. */
struct entry {
    uintptr_t low, high; /* the code it describes */
    uint64_t code_unit;
    int64_t data_unit;
    uint8_t return_register;
    uint8_t encoding; /* of addresses in the FDE */
    bool has_length;  /* the FDE's augmentation */
    bool is_signal;
    struct rt_cursor shared, own; /* the programs of CIE and FDE */
};

/* Opens the CIE or FDE at `position`: `c` then covers what follows its length. False at the mark of
 * the list's end. Lengths of 64 bits are not made by anyone for .eh_frame. */
static bool open_entry(const struct rt_cfi_tables *t, uint64_t position, struct rt_cursor *c)
{
    *c = cursor_at(t, position);
    uint64_t length = rt_read_unsigned(c, 4);
    if (c->bad || length == 0 || length > (uint64_t)(c->end - c->at))
        return false;
    c->end = c->at + length;
    return true;
}

static void read_augmentation(struct entry *e, struct rt_cursor *c, const uint8_t *letters)
{
    if (*letters == 'z') {
        uint64_t length = rt_read_leb(c, false);
        struct rt_cursor rest = *c;
        rt_read_bytes(&rest, length);
        c->end = rest.at;
        c->bad = rest.bad;
        e->has_length = true;
    } else if (*letters) {
        c->bad = true; /* without a length, what follows cannot be told */
    }
    for (letters += *letters == 'z'; *letters; letters++) {
        if (*letters == 'R')
            e->encoding = (uint8_t)rt_read_unsigned(c, 1);
        else if (*letters == 'P')
            read_value(c, (uint8_t)rt_read_unsigned(c, 1) & ENCODING_FORMAT);
        else if (*letters == 'L')
            rt_read_unsigned(c, 1);
        else if (*letters == 'S')
            e->is_signal = true;
        else
            return; /* the length has it */
    }
}

static bool read_cie(const struct rt_cfi_tables *t, uint64_t position, struct entry *e)
{
    struct rt_cursor c;
    if (!open_entry(t, position, &c) || rt_read_unsigned(&c, 4) != 0)
        return false;
    uint64_t version = rt_read_unsigned(&c, 1);
    const uint8_t *letters = c.at;
    while (rt_read_unsigned(&c, 1))
        ;
    if (c.bad || (version != 1 && version != 3))
        return false;
    e->code_unit = rt_read_leb(&c, false);
    e->data_unit = (int64_t)rt_read_leb(&c, true);
    uint64_t column = version == 1 ? rt_read_unsigned(&c, 1) : rt_read_leb(&c, false);
    if (column >= RT_REGISTER_COUNT)
        return false;
    e->return_register = (uint8_t)column;
    struct rt_cursor more = c;
    read_augmentation(e, &more, letters);
    if (more.bad)
        return false;
    if (e->has_length)
        c.at = more.end;
    e->shared = c;
    return true;
}

/* What is at `position` if it is an FDE for pc. `next`, if given, is where the next entry begins, 0
 * at the end. */
static enum rt_cfi_found read_fde(const struct rt_cfi_tables *t, uint64_t position, uintptr_t pc,
                                  struct entry *e, uint64_t *next)
{
    struct rt_cursor c;
    bool opened = open_entry(t, position, &c);
    if (next)
        *next = opened ? (uint64_t)(c.end - t->bytes) : 0;
    if (!opened)
        return next ? RT_CFI_NONE : RT_CFI_BAD;
    uint64_t here = (uint64_t)(c.at - t->bytes);
    uint64_t distance = rt_read_unsigned(&c, 4);
    if (distance == 0 || c.bad)
        return RT_CFI_NONE; /* a CIE */
    e->encoding = BASE_ABSOLUTE;
    e->has_length = e->is_signal = false;
    if (distance > here || !read_cie(t, here - distance, e))
        return RT_CFI_BAD;
    if ((e->encoding & ~ENCODING_FORMAT) == BASE_HEADER)
        return RT_CFI_BAD; /* here it would mean another base, which x86-64 has no use for */
    e->low = read_address(t, &c, e->encoding);
    e->high = e->low + read_value(&c, e->encoding & ENCODING_FORMAT);
    if (e->has_length)
        rt_read_bytes(&c, rt_read_leb(&c, false));
    e->own = c;
    if (c.bad)
        return RT_CFI_BAD;
    return pc >= e->low && pc < e->high ? RT_CFI_ROW : RT_CFI_NONE;
}

/* --- the index --- */

/* An entry of the index as all linkers make it: two signed distances from .eh_frame_hdr. */
enum { INDEX_ENCODING = 0x3b, INDEX_ENTRY = 8 };

static int32_t read_index(const uint8_t *at)
{
    struct rt_cursor c = {.at = at, .end = at + 4};
    return (int32_t)rt_read_signed(&c, 4);
}

/* The position of the FDE with the highest beginning that is not above pc. */
static bool search_index(const struct rt_cfi_tables *t, const uint8_t *index, uint64_t count,
                         uintptr_t pc, uint64_t *position)
{
    int64_t wanted = (int64_t)(pc - (t->address + t->header));
    uint64_t low = 0, high = count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (read_index(index + middle * INDEX_ENTRY) <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    int64_t fde = (int64_t)t->header + read_index(index + (low - 1) * INDEX_ENTRY + 4);
    *position = (uint64_t)fde; /* if negative, beyond any size */
    return true;
}

/* Where there is no index, one entry after the other. */
static enum rt_cfi_found search_list(const struct rt_cfi_tables *t, uint64_t position, uintptr_t pc,
                                     struct entry *e)
{
    uint64_t next;
    for (; position < t->size; position = next) {
        enum rt_cfi_found found = read_fde(t, position, pc, e, &next);
        if (found != RT_CFI_NONE || next <= position)
            return found;
    }
    return RT_CFI_NONE;
}

static enum rt_cfi_found find_entry(const struct rt_cfi_tables *t, uintptr_t pc, struct entry *e)
{
    struct rt_cursor c = cursor_at(t, t->header);
    if (c.bad || t->header_size > (uint64_t)(c.end - c.at))
        return RT_CFI_BAD;
    c.end = c.at + t->header_size;
    uint64_t version = rt_read_unsigned(&c, 1);
    uint8_t list_encoding = (uint8_t)rt_read_unsigned(&c, 1);
    uint8_t count_encoding = (uint8_t)rt_read_unsigned(&c, 1);
    uint8_t index_encoding = (uint8_t)rt_read_unsigned(&c, 1);
    uintptr_t list = read_address(t, &c, list_encoding);
    if (version != 1 || c.bad)
        return RT_CFI_BAD;
    if (count_encoding == ENCODING_OMITTED || index_encoding != INDEX_ENCODING)
        return search_list(t, list - t->address, pc, e);
    uint64_t count = read_address(t, &c, count_encoding);
    uint64_t position, room = (uint64_t)(c.end - c.at) / INDEX_ENTRY;
    if (c.bad || count > room)
        return RT_CFI_BAD;
    if (!search_index(t, c.at, count, pc, &position))
        return RT_CFI_NONE;
    return read_fde(t, position, pc, e, NULL);
}

/* --- the programs --- */

enum operand { NOTHING, FIXED_1, FIXED_2, FIXED_4, FIXED_8, UNSIGNED, SIGNED, BLOCK, ADDRESS };

enum action {
    INVALID,
    IGNORE,
    ADVANCE,
    GO_TO,
    SET_RULE,
    RESTORE,
    REMEMBER,
    RECALL,
    SET_CFA,
    SET_CFA_REGISTER,
    SET_CFA_OFFSET,
    SET_CFA_EXPRESSION,
};

/* What each instruction does, with what. `scale` multiplies its last operand by the CIE's unit for
 * data, and by itself. */
struct instruction {
    uint8_t action;
    uint8_t first, second; /* enum operand */
    uint8_t rule;          /* for SET_RULE */
    int8_t scale;
};

static const struct instruction instructions[0x40] = {
    [0x00] = {IGNORE, NOTHING, NOTHING, 0, 0},
    [0x01] = {GO_TO, ADDRESS, NOTHING, 0, 0},
    [0x02] = {ADVANCE, FIXED_1, NOTHING, 0, 0},
    [0x03] = {ADVANCE, FIXED_2, NOTHING, 0, 0},
    [0x04] = {ADVANCE, FIXED_4, NOTHING, 0, 0},
    [0x05] = {SET_RULE, UNSIGNED, UNSIGNED, RT_CFI_SAVED, 1},
    [0x06] = {RESTORE, UNSIGNED, NOTHING, 0, 0},
    [0x07] = {SET_RULE, UNSIGNED, NOTHING, RT_CFI_LOST, 0},
    [0x08] = {SET_RULE, UNSIGNED, NOTHING, RT_CFI_SAME, 0},
    [0x09] = {SET_RULE, UNSIGNED, UNSIGNED, RT_CFI_REGISTER, 0},
    [0x0a] = {REMEMBER, NOTHING, NOTHING, 0, 0},
    [0x0b] = {RECALL, NOTHING, NOTHING, 0, 0},
    [0x0c] = {SET_CFA, UNSIGNED, UNSIGNED, 0, 0},
    [0x0d] = {SET_CFA_REGISTER, UNSIGNED, NOTHING, 0, 0},
    [0x0e] = {SET_CFA_OFFSET, UNSIGNED, NOTHING, 0, 0},
    [0x0f] = {SET_CFA_EXPRESSION, BLOCK, NOTHING, 0, 0},
    [0x10] = {SET_RULE, UNSIGNED, BLOCK, RT_CFI_SAVED_EXPRESSION, 0},
    [0x11] = {SET_RULE, UNSIGNED, SIGNED, RT_CFI_SAVED, 1},
    [0x12] = {SET_CFA, UNSIGNED, SIGNED, 0, 1},
    [0x13] = {SET_CFA_OFFSET, SIGNED, NOTHING, 0, 1},
    [0x14] = {SET_RULE, UNSIGNED, UNSIGNED, RT_CFI_SUM, 1},
    [0x15] = {SET_RULE, UNSIGNED, SIGNED, RT_CFI_SUM, 1},
    [0x16] = {SET_RULE, UNSIGNED, BLOCK, RT_CFI_EXPRESSION, 0},
    [0x1d] = {ADVANCE, FIXED_8, NOTHING, 0, 0},               /* MIPS_advance_loc8 */
    [0x2e] = {IGNORE, UNSIGNED, NOTHING, 0, 0},               /* GNU_args_size */
    [0x2f] = {SET_RULE, UNSIGNED, UNSIGNED, RT_CFI_SAVED, -1} /* GNU_negative_offset_extended */
};

/* Those with an operand in the low six bits of their own byte, by the other two. */
static const struct instruction short_instructions[4] = {
    [1] = {ADVANCE, NOTHING, NOTHING, 0, 0},
    [2] = {SET_RULE, NOTHING, UNSIGNED, RT_CFI_SAVED, 1},
    [3] = {RESTORE, NOTHING, NOTHING, 0, 0},
};

struct machine {
    const struct rt_cfi_tables *t;
    const struct entry *entry;
    uintptr_t wanted, location;
    struct rt_cfi_row *row;
    struct rt_cfi_row initial; /* after the CIE's program: what RESTORE goes back to */
    struct rt_cfi_row remembered[REMEMBERED_MAX];
    uint32_t remembered_count;
};

/* In words, with a barrier that keeps the compiler from calling memcpy, which uses registers that
 * hooks have not saved. */
static void copy_row(struct rt_cfi_row *to, const struct rt_cfi_row *from)
{
    for (size_t i = 0; i < sizeof to->words / sizeof to->words[0]; i++) {
        to->words[i] = from->words[i];
        __asm__ volatile("" ::: "memory");
    }
}

static uint64_t read_operand(struct machine *m, struct rt_cursor *c, enum operand kind)
{
    const uint8_t *start = c->at;
    switch (kind) {
    case NOTHING:
        break;
    case FIXED_1:
    case FIXED_2:
    case FIXED_4:
    case FIXED_8:
        return rt_read_unsigned(c, 1u << (kind - FIXED_1));
    case UNSIGNED:
    case SIGNED:
        return rt_read_leb(c, kind == SIGNED);
    case BLOCK:
        rt_read_bytes(c, rt_read_leb(c, false));
        return (uint64_t)(start - m->t->bytes);
    case ADDRESS:
        return read_address(m->t, c, m->entry->encoding);
    }
    return 0;
}

/* Rows hold 32 bits: no frame is larger. Positions in the tables use the sign bit too. */
static bool fits(uint8_t rule, int64_t value)
{
    if (rule == RT_CFI_EXPRESSION || rule == RT_CFI_SAVED_EXPRESSION)
        return value >= 0 && value <= UINT32_MAX;
    return value >= INT32_MIN && value <= INT32_MAX;
}

/* Rules for registers we do not follow are read and dropped. */
static bool set_rule(struct rt_cfi_row *row, uint64_t reg, uint8_t rule, int64_t value)
{
    if (reg >= RT_REGISTER_COUNT)
        return true;
    row->rule[reg] = rule;
    row->value[reg] = (int32_t)value;
    return fits(rule, value);
}

static bool set_cfa(struct rt_cfi_row *row, uint8_t rule, uint64_t reg, int64_t value)
{
    row->cfa_rule = rule;
    row->cfa_register = (uint8_t)reg;
    row->cfa_value = (int32_t)value;
    return reg < RT_REGISTER_COUNT && fits(rule, value);
}

static bool remember(struct machine *m)
{
    if (m->remembered_count == REMEMBERED_MAX)
        return false;
    copy_row(&m->remembered[m->remembered_count++], m->row);
    return true;
}

static bool recall(struct machine *m)
{
    if (m->remembered_count == 0)
        return false;
    copy_row(m->row, &m->remembered[--m->remembered_count]);
    return true;
}

static bool restore(struct machine *m, uint64_t reg)
{
    if (reg < RT_REGISTER_COUNT) {
        m->row->rule[reg] = m->initial.rule[reg];
        m->row->value[reg] = m->initial.value[reg];
    }
    return true;
}

static bool execute(struct machine *m, const struct instruction *i, uint64_t a, uint64_t b)
{
    struct rt_cfi_row *row = m->row;
    switch (i->action) {
    case IGNORE:
        return true;
    case ADVANCE:
        m->location += a * m->entry->code_unit;
        return true;
    case GO_TO:
        m->location = a;
        return true;
    case SET_RULE:
        return set_rule(row, a, i->rule, (int64_t)b);
    case RESTORE:
        return restore(m, a);
    case REMEMBER:
        return remember(m);
    case RECALL:
        return recall(m);
    case SET_CFA:
        return set_cfa(row, RT_CFI_SUM, a, (int64_t)b);
    case SET_CFA_REGISTER:
        return row->cfa_rule == RT_CFI_SUM && set_cfa(row, RT_CFI_SUM, a, row->cfa_value);
    case SET_CFA_OFFSET:
        return row->cfa_rule == RT_CFI_SUM &&
               set_cfa(row, RT_CFI_SUM, row->cfa_register, (int64_t)a);
    case SET_CFA_EXPRESSION:
        return set_cfa(row, RT_CFI_EXPRESSION, 0, (int64_t)a);
    default:
        return false;
    }
}

/* Executes up to the wanted instruction. Each turn reads at least a byte, so it ends. */
static bool run(struct machine *m, struct rt_cursor c)
{
    m->location = m->entry->low;
    while (c.at < c.end && m->location <= m->wanted) {
        uint8_t byte = (uint8_t)rt_read_unsigned(&c, 1);
        bool is_short = byte >> 6 != 0;
        const struct instruction *i =
            is_short ? &short_instructions[byte >> 6] : &instructions[byte];
        uint64_t a = is_short ? byte & 0x3f : read_operand(m, &c, i->first);
        uint64_t b = read_operand(m, &c, i->second);
        uint64_t unit = (uint64_t)m->entry->data_unit * (uint64_t)i->scale;
        if (i->scale && i->second)
            b *= unit;
        else if (i->scale)
            a *= unit;
        if (c.bad || !execute(m, i, a, b))
            return false;
    }
    return true;
}

enum rt_cfi_found rt_cfi_find(const struct rt_cfi_tables *t, uintptr_t pc, struct rt_cfi_row *row)
{
    struct entry entry;
    enum rt_cfi_found found = find_entry(t, pc, &entry);
    if (found != RT_CFI_ROW)
        return found;
    struct machine m;
    m.t = t;
    m.entry = &entry;
    m.wanted = pc;
    m.row = row;
    m.remembered_count = 0;
    for (size_t i = 0; i < sizeof row->words / sizeof row->words[0]; i++)
        row->words[i] = 0;
    row->return_register = entry.return_register;
    row->is_signal = entry.is_signal;
    copy_row(&m.initial, row);
    if (!run(&m, entry.shared))
        return RT_CFI_BAD;
    copy_row(&m.initial, row);
    return run(&m, entry.own) && row->cfa_rule != RT_CFI_DEFAULT ? RT_CFI_ROW : RT_CFI_BAD;
}

/* --- rows --- */

struct application {
    const struct rt_cfi_tables *t;
    const struct rt_cfi_row *row;
    const struct rt_registers *callee;
    struct rt_cfi_memory *memory;
    uint64_t cfa;
};

static bool is_known(const struct rt_registers *r, uint32_t reg)
{
    return r->known >> reg & 1;
}

static enum rt_cfi_step find_cfa(struct application *a)
{
    const struct rt_cfi_row *row = a->row;
    if (row->cfa_rule == RT_CFI_EXPRESSION)
        return rt_cfi_evaluate(a->t, (uint32_t)row->cfa_value, a->callee, a->memory, NULL, &a->cfa);
    if (!is_known(a->callee, row->cfa_register))
        return RT_CFI_LACKING;
    a->cfa = a->callee->value[row->cfa_register] + (uint64_t)(int64_t)row->cfa_value;
    return RT_CFI_STEPPED;
}

static enum rt_cfi_step load(struct application *a, uint64_t address, uint64_t *value)
{
    return a->memory->read(a->memory, address, 8, value) ? RT_CFI_STEPPED : RT_CFI_FAILED;
}

static enum rt_cfi_step take(struct application *a, uint32_t reg, uint64_t *value)
{
    *value = a->callee->value[reg];
    return is_known(a->callee, reg) ? RT_CFI_STEPPED : RT_CFI_LACKING;
}

/* The caller's value of a register. */
static enum rt_cfi_step find_value(struct application *a, uint32_t reg, uint64_t *value)
{
    int32_t given = a->row->value[reg];
    uint64_t sum = a->cfa + (uint64_t)(int64_t)given;
    enum rt_cfi_step step;
    switch (a->row->rule[reg]) {
    case RT_CFI_DEFAULT:
        return RT_SAVED_MASK >> reg & 1 ? take(a, reg, value) : RT_CFI_FAILED;
    case RT_CFI_SAME:
        return take(a, reg, value);
    case RT_CFI_REGISTER:
        return (uint32_t)given < RT_REGISTER_COUNT ? take(a, (uint32_t)given, value)
                                                   : RT_CFI_FAILED;
    case RT_CFI_SUM:
        *value = sum;
        return RT_CFI_STEPPED;
    case RT_CFI_SAVED:
        return load(a, sum, value);
    case RT_CFI_EXPRESSION:
        return rt_cfi_evaluate(a->t, (uint32_t)given, a->callee, a->memory, &a->cfa, value);
    case RT_CFI_SAVED_EXPRESSION:
        step = rt_cfi_evaluate(a->t, (uint32_t)given, a->callee, a->memory, &a->cfa, value);
        return step == RT_CFI_STEPPED ? load(a, *value, value) : step;
    default:
        return RT_CFI_FAILED;
    }
}

/* A register that cannot be found is unknown from here on, which ends the walk only if a row
 * further out needs it; without the CFA, the return address and the stack pointer there is no
 * caller. */
enum rt_cfi_step rt_cfi_apply(const struct rt_cfi_tables *t, const struct rt_cfi_row *row,
                              const struct rt_registers *callee, struct rt_cfi_memory *memory,
                              struct rt_registers *caller)
{
    struct application a = {.t = t, .row = row, .callee = callee, .memory = memory};
    enum rt_cfi_step step = find_cfa(&a);
    if (step != RT_CFI_STEPPED)
        return step;
    uint32_t back = row->return_register;
    if (row->rule[back] == RT_CFI_LOST)
        return RT_CFI_OUTERMOST;
    caller->known = 0;
    for (uint32_t reg = 0; reg < RT_REGISTER_COUNT; reg++) {
        step = RT_CFI_STEPPED;
        if (reg == RT_REGISTER_STACK && row->rule[reg] == RT_CFI_DEFAULT)
            caller->value[reg] = a.cfa;
        else
            step = find_value(&a, reg, &caller->value[reg]);
        if (step == RT_CFI_STEPPED)
            caller->known |= 1u << reg;
        else if (reg == back || reg == RT_REGISTER_STACK)
            return step;
    }
    caller->value[RT_REGISTER_PC] = caller->value[back];
    caller->known |= 1u << RT_REGISTER_PC;
    return RT_CFI_STEPPED;
}
