/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF expressions: the little stack machine that call frame information uses where a register and
 * an offset do not say it (signal frames, stubs of the linker, realigned stacks, our own thunk).
 */
#include "stack/cfi.h"
#include "stack/cfi_read.h"

/* Expressions in the wild need 4 places and 20 operations; jumps backwards could loop for ever. */
enum { STACK_MAX = 16, OPERATIONS_MAX = 256 };

enum operand { NOTHING, U1, S1, U2, S2, U4, S4, U8, UNSIGNED, SIGNED };

enum action {
    INVALID,
    IGNORE,
    PUSH,          /* the operand */
    PUSH_LOW,      /* the operation's distance from the first of its kind */
    PUSH_REGISTER, /* the same as a register's number, plus the operand */
    LOAD,          /* as many bytes as the operand says */
    PICK,          /* what is as deep as the operand says */
    DROP,
    SWAP,
    ROTATE,
    UNARY,
    ADD_OPERAND,
    BINARY,
    JUMP,
    JUMP_IF,
};

enum {
    OP_LIT0 = 0x30,
    OP_BREG0 = 0x70,
    OP_ABS = 0x19,
    OP_AND = 0x1a,
    OP_DIV = 0x1b,
    OP_MINUS = 0x1c,
    OP_MOD = 0x1d,
    OP_MUL = 0x1e,
    OP_NEG = 0x1f,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_SHRA = 0x26,
    OP_XOR = 0x27,
    OP_EQ = 0x29,
    OP_GE = 0x2a,
    OP_GT = 0x2b,
    OP_LE = 0x2c,
    OP_LT = 0x2d,
    OP_NE = 0x2e,
};

static const struct operation {
    uint8_t action;
    uint8_t operand; /* enum operand */
    uint8_t given;   /* the operand if none follows */
} operations[256] = {
    [0x03] = {PUSH, U8, 0}, /* addr */
    [0x06] = {LOAD, NOTHING, 8},
    [0x08] = {PUSH, U1, 0},
    [0x09] = {PUSH, S1, 0},
    [0x0a] = {PUSH, U2, 0},
    [0x0b] = {PUSH, S2, 0},
    [0x0c] = {PUSH, U4, 0},
    [0x0d] = {PUSH, S4, 0},
    [0x0e ... 0x0f] = {PUSH, U8, 0},
    [0x10] = {PUSH, UNSIGNED, 0},
    [0x11] = {PUSH, SIGNED, 0},
    [0x12] = {PICK, NOTHING, 0},
    [0x13] = {DROP, NOTHING, 0},
    [0x14] = {PICK, NOTHING, 1},
    [0x15] = {PICK, U1, 0},
    [0x16] = {SWAP, NOTHING, 0},
    [0x17] = {ROTATE, NOTHING, 0},
    [OP_ABS] = {UNARY, NOTHING, 0},
    [OP_AND... OP_MUL] = {BINARY, NOTHING, 0},
    [OP_NEG... OP_NOT] = {UNARY, NOTHING, 0},
    [OP_OR... OP_PLUS] = {BINARY, NOTHING, 0},
    [0x23] = {ADD_OPERAND, UNSIGNED, 0},
    [OP_SHL... OP_XOR] = {BINARY, NOTHING, 0},
    [0x28] = {JUMP_IF, S2, 0},
    [OP_EQ... OP_NE] = {BINARY, NOTHING, 0},
    [0x2f] = {JUMP, S2, 0},
    [OP_LIT0... OP_LIT0 + 31] = {PUSH_LOW, NOTHING, 0},
    [OP_BREG0... OP_BREG0 + 31] = {PUSH_REGISTER, SIGNED, 0},
    [0x94] = {LOAD, U1, 0},
    [0x96] = {IGNORE, NOTHING, 0},
};

struct machine {
    struct rt_cursor c;
    const uint8_t *begin; /* of the operations: jumps stay inside */
    const struct rt_registers *r;
    struct rt_cfi_memory *memory;
    uint64_t stack[STACK_MAX];
    uint32_t depth;
    enum rt_cfi_step state;
};

static uint64_t read_operand(struct rt_cursor *c, enum operand kind)
{
    switch (kind) {
    case NOTHING:
        break;
    case U1:
    case U2:
    case U4:
        return rt_read_unsigned(c, 1u << ((kind - U1) / 2));
    case S1:
    case S2:
    case S4:
        return (uint64_t)rt_read_signed(c, 1u << ((kind - S1) / 2));
    case U8:
        return rt_read_unsigned(c, 8);
    case UNSIGNED:
    case SIGNED:
        return rt_read_leb(c, kind == SIGNED);
    }
    return 0;
}

static void fail(struct machine *m)
{
    m->state = RT_CFI_FAILED;
}

static void push(struct machine *m, uint64_t value)
{
    if (m->depth == STACK_MAX)
        fail(m);
    else
        m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m)
{
    if (m->depth == 0) {
        fail(m);
        return 0;
    }
    return m->stack[--m->depth];
}

static void push_register(struct machine *m, uint32_t reg, uint64_t offset)
{
    if (reg >= RT_REGISTER_COUNT)
        fail(m);
    else if (!(m->r->known >> reg & 1))
        m->state = RT_CFI_LACKING;
    else
        push(m, m->r->value[reg] + offset);
}

static void load(struct machine *m, uint64_t size)
{
    uint64_t address = pop(m), value = 0;
    if (m->state != RT_CFI_STEPPED)
        return;
    if (size == 0 || size > 8 || !m->memory->read(m->memory, address, (unsigned)size, &value))
        fail(m);
    else
        push(m, value);
}

static void pick(struct machine *m, uint64_t depth)
{
    if (depth >= m->depth)
        fail(m);
    else
        push(m, m->stack[m->depth - 1 - depth]);
}

/* The top becomes the third, the second the top. */
static void rotate(struct machine *m)
{
    uint64_t first = pop(m), second = pop(m), third = pop(m);
    push(m, first);
    push(m, third);
    push(m, second);
}

static void swap(struct machine *m)
{
    uint64_t first = pop(m), second = pop(m);
    push(m, first);
    push(m, second);
}

static uint64_t compute_unary(uint8_t op, uint64_t a)
{
    if (op == OP_NOT)
        return ~a;
    return op == OP_NEG || (int64_t)a < 0 ? 0 - a : a;
}

static uint64_t divide(struct machine *m, int64_t a, int64_t b)
{
    if (b == 0 || (a == INT64_MIN && b == -1)) {
        fail(m);
        return 0;
    }
    return (uint64_t)(a / b);
}

static uint64_t shift(uint8_t op, uint64_t a, uint64_t by)
{
    if (op == OP_SHRA)
        return (uint64_t)((int64_t)a >> (by < 64 ? by : 63));
    if (by >= 64)
        return 0;
    return op == OP_SHL ? a << by : a >> by;
}

static bool compare(uint8_t op, int64_t a, int64_t b)
{
    switch (op) {
    case OP_EQ:
        return a == b;
    case OP_GE:
        return a >= b;
    case OP_GT:
        return a > b;
    case OP_LE:
        return a <= b;
    case OP_LT:
        return a < b;
    default:
        return a != b;
    }
}

static uint64_t compute_binary(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
    switch (op) {
    case OP_AND:
        return a & b;
    case OP_DIV:
        return divide(m, (int64_t)a, (int64_t)b);
    case OP_MINUS:
        return a - b;
    case OP_MOD:
        if (b == 0)
            fail(m);
        return b ? a % b : 0;
    case OP_MUL:
        return a * b;
    case OP_OR:
        return a | b;
    case OP_PLUS:
        return a + b;
    case OP_XOR:
        return a ^ b;
    case OP_SHL:
    case OP_SHR:
    case OP_SHRA:
        return shift(op, a, b);
    default:
        return compare(op, (int64_t)a, (int64_t)b);
    }
}

static void jump(struct machine *m, int64_t distance)
{
    if (distance < m->begin - m->c.at || distance > m->c.end - m->c.at)
        fail(m);
    else
        m->c.at += distance;
}

/* Operations that move values; false for the others. */
static bool move(struct machine *m, uint8_t op, uint8_t action, uint64_t operand)
{
    switch (action) {
    case PUSH:
        push(m, operand);
        return true;
    case PUSH_LOW:
        push(m, op - OP_LIT0);
        return true;
    case PUSH_REGISTER:
        push_register(m, op - OP_BREG0, operand);
        return true;
    case LOAD:
        load(m, operand);
        return true;
    case PICK:
        pick(m, operand);
        return true;
    case DROP:
        pop(m);
        return true;
    case SWAP:
        swap(m);
        return true;
    case ROTATE:
        rotate(m);
        return true;
    default:
        return false;
    }
}

static void compute(struct machine *m, uint8_t op, uint8_t action, uint64_t operand)
{
    uint64_t top;
    switch (action) {
    case IGNORE:
        break;
    case UNARY:
        push(m, compute_unary(op, pop(m)));
        break;
    case ADD_OPERAND:
        push(m, pop(m) + operand);
        break;
    case BINARY:
        top = pop(m);
        push(m, compute_binary(m, op, pop(m), top));
        break;
    case JUMP:
        jump(m, (int64_t)operand);
        break;
    case JUMP_IF:
        if (pop(m))
            jump(m, (int64_t)operand);
        break;
    default:
        fail(m);
    }
}

enum rt_cfi_step rt_cfi_evaluate(const struct rt_cfi_tables *t, uint32_t position,
                                 const struct rt_registers *r, struct rt_cfi_memory *memory,
                                 const uint64_t *start, uint64_t *value)
{
    struct machine m;
    if (position > t->size)
        return RT_CFI_FAILED;
    m.c = (struct rt_cursor){.at = t->bytes + position, .end = t->bytes + t->size};
    uint64_t length = rt_read_leb(&m.c, false);
    m.begin = m.c.at;
    rt_read_bytes(&m.c, length);
    if (m.c.bad)
        return RT_CFI_FAILED;
    m.c.end = m.c.at;
    m.c.at = m.begin;
    m.r = r;
    m.memory = memory;
    m.depth = 0;
    m.state = RT_CFI_STEPPED;
    if (start)
        push(&m, *start);
    for (int left = OPERATIONS_MAX; m.c.at < m.c.end; left--) {
        uint8_t op = (uint8_t)rt_read_unsigned(&m.c, 1);
        const struct operation *o = &operations[op];
        uint64_t operand = o->operand ? read_operand(&m.c, o->operand) : o->given;
        if (m.c.bad || left == 0)
            return RT_CFI_FAILED;
        if (!move(&m, op, o->action, operand))
            compute(&m, op, o->action, operand);
        if (m.state != RT_CFI_STEPPED)
            return m.state;
    }
    *value = pop(&m);
    return m.state;
}
