/* SPDX-License-Identifier: Apache-2.0 */
/* The assembly of entries and gates of functions that may be sampled: see entries.h. */
#include "instrument/entries.h"

#include "base/hash.h"
#include "racehive/image.h"
#include "racehive/sampled.h"

/* --- assembly --- */

/* Leaves the thread's struct rh_sampled in %r11, and goes to `target` if there is none. */
static void add_thread(struct rh_strbuf *t, const char *target, bool has_runtime)
{
    if (has_runtime)
        rh_strbuf_add(t, "\tmovq %fs:__rh_sampled@tpoff,%r11\n");
    else
        rh_strbuf_add(t, "\tmovq __rh_sampled@gottpoff(%rip),%r11\n\tmovq %fs:(%r11),%r11\n");
    rh_strbuf_addf(t, "\ttestq %%r11,%%r11\n\tje %s\n", target);
}

/* Leaves the function's number in the process in %r10d. */
static void add_number(struct rh_strbuf *t, uint32_t number)
{
    rh_strbuf_addf(t, "\tmovl __rh_image+%d(%%rip),%%r10d\n\taddl $$%u,%%r10d\n",
                   RH_IMAGE_FUNCTION_BASE, number);
}

void rh_entry_add(struct rh_strbuf *t, uint32_t number, bool has_runtime)
{
    _Static_assert(RH_SAMPLED_FUNCTIONS == 1 << 16, "the index is cut to 16 bits");
    rh_strbuf_add(t, ".Lrh_ask${:uid}:\n");
    add_thread(t, ".Lrh_back${:uid}", has_runtime);
    add_number(t, number);
    rh_strbuf_addf(t,
                   "\tmovl %%r10d,%d(%%r11)\n"
                   "\tmovl $$0,%d(%%r11)\n"
                   "\tmovzwl %%r10w,%%r10d\n"
                   "\tsubl $$1,%d(%%r11,%%r10,4)\n"
                   "\tjns .Lrh_back${:uid}\n",
                   (int)offsetof(struct rh_sampled, current),
                   (int)offsetof(struct rh_sampled, watched),
                   (int)offsetof(struct rh_sampled, left));
}

void rh_entry_add_gate(struct rh_strbuf *t, uint32_t number, bool has_runtime)
{
    rh_strbuf_add(t, ".Lrh_ask${:uid}:\n");
    add_thread(t, "${0:l}", has_runtime);
    add_number(t, number);
    rh_strbuf_addf(t, "\tcmpl %%r10d,%d(%%r11)\n\tje ${0:l}\n\tjmp .Lrh_back${:uid}\n",
                   (int)offsetof(struct rh_sampled, watched));
}

/* --- fingerprints --- */

enum { DEEPEST = 6 }; /* of constants in constants; what lies deeper is left out */

/* Names that the compiler numbers through the whole module, for strings and the like. */
static bool is_numbered(const char *name)
{
    return *name == '.' || *name == '\0';
}

static void add_value(struct rh_hash *hash, const struct rh_value *v, uint32_t first, int depth);

static void add_gep(struct rh_hash *hash, const struct rh_gep *gep)
{
    rh_hash_add_u64(hash, (uint64_t)gep->offset);
    for (uint32_t i = 0; i < gep->term_count; i++)
        rh_hash_add_u64(hash, (uint64_t)gep->terms[i].scale);
}

/* What an instruction or a constant expression does, and to what. */
static void add_operation(struct rh_hash *hash, const struct rh_value *v, uint32_t first, int depth)
{
    rh_hash_add_u64(hash, v->op);
    rh_hash_add_u64(hash, v->predicate);
    rh_hash_add_u64(hash, v->order);
    rh_hash_add_u64(hash, v->is_volatile);
    rh_hash_add_u64(hash, v->type ? v->type->size : 0);
    rh_hash_add_u64(hash, v->access ? v->access->size : 0);
    if (v->gep)
        add_gep(hash, v->gep);
    if (v->callee)
        add_value(hash, v->callee, first, depth + 1);
    rh_hash_add_u64(hash, v->op_count);
    for (uint32_t i = 0; i < v->op_count; i++)
        add_value(hash, v->ops[i], first, depth + 1);
}

static void add_value(struct rh_hash *hash, const struct rh_value *v, uint32_t first, int depth)
{
    rh_hash_add_u64(hash, v->kind);
    switch (v->kind) {
    case RH_VALUE_INST:
    case RH_VALUE_ARG:
        rh_hash_add_u64(hash, (uint32_t)(v->id - first));
        break;
    case RH_VALUE_GLOBAL:
    case RH_VALUE_FUNCTION:
    case RH_VALUE_ALIAS:
        rh_hash_add_string(hash, is_numbered(v->name) ? "" : v->name);
        break;
    case RH_VALUE_INT:
        rh_hash_add_u64(hash, (uint64_t)v->num);
        break;
    case RH_VALUE_EXPR:
        if (depth < DEEPEST)
            add_operation(hash, v, first, depth);
        break;
    default:
        break;
    }
}

uint64_t rh_entry_fingerprint(const struct rh_function *fn)
{
    struct rh_hash hash;
    rh_hash_init(&hash);
    rh_hash_add_string(&hash, fn->name);
    uint32_t first = fn->block_count ? fn->blocks[0]->first->id : 0;
    for (uint32_t b = 0; b < fn->block_count; b++) {
        const struct rh_block *block = fn->blocks[b];
        for (const struct rh_value *i = block->first; i; i = i->next)
            add_operation(&hash, i, first, 0);
        for (uint32_t s = 0; s < block->succ_count; s++)
            rh_hash_add_u64(&hash, block->succs[s]->id);
    }
    uint64_t fingerprint = rh_hash_finish(&hash);
    return fingerprint ? fingerprint : 1;
}
