/* SPDX-License-Identifier: Apache-2.0 */
/* Puts keys and their tables into a module: see keys.h. */
#include "instrument/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "instrument/checks.h"
#include "instrument/entries.h"
#include "ir/rewrite/rewrite.h"
#include "racehive/check.h"

/* The flags are all a key may change: test and cmp set them, and so may the hook. */
#define CLOBBERS         "~{dirflag},~{fpsr},~{flags}"
#define GATE_CONSTRAINTS "!i," CLOBBERS

/* How a key's assembly gets the address of the access. */
enum address_form {
    ADDRESS_MEMORY,   /* operand 0 is the memory itself */
    ADDRESS_REGISTER, /* operand 0 is a register that holds the address */
    ADDRESS_NONE,     /* a fence has none */
    ADDRESS_CHECKED,  /* a check has left it in %r9 */
};

struct inserter {
    struct rh_module *module;
    const struct rh_sites *sites;
    enum rh_key_mode mode;
    const struct rh_keys_facts *facts;
    struct rh_keys_result *result;
    uint32_t first;             /* key of the current function */
    struct rh_twin *twin;       /* its twin; NULL if it has none */
    RH_VEC(uint32_t) late;      /* keys in what both bodies share, which use a value of either */
    RH_VEC(uint64_t) functions; /* fingerprints of those that have numbers */
    struct rh_strbuf text;
};

/* --- assembly --- */

/* Ends in the label that a hook comes back to. `target` is the label of the stub or of the twin. */
static void add_switch(struct inserter *in, const char *target)
{
    struct rh_strbuf *t = &in->text;
    rh_strbuf_add(t, ".Lrh_key${:uid}:\n");
    if (in->mode == RH_KEYS_PATCH)
        rh_strbuf_addf(t, "\t.byte 0xa9\n\t.long %s-.-4\n", target);
    else
        rh_strbuf_addf(t, "\tcmpb $$0,.Lrh_flag${:uid}(%%rip)\n\tjne %s\n", target);
    rh_strbuf_add(t, ".Lrh_back${:uid}:\n");
}

/* The name of a function as the assembler must read it inside inline assembly. */
static void add_symbol(struct rh_strbuf *t, const char *name)
{
    if (*name == '\1') /* LLVM's mark for "not to be mangled" */
        name++;
    rh_strbuf_addc(t, '"');
    for (; *name; name++)
        rh_strbuf_add(t, *name == '$' ? "$$" : (char[]){*name, '\0'});
    rh_strbuf_addc(t, '"');
}

/* The record of the place is linked to its function: the linker drops both together. */
static void add_place(struct inserter *in, uint32_t key, const struct rh_function *fn)
{
    struct rh_strbuf *t = &in->text;
    bool flag = in->mode == RH_KEYS_FLAG;
    if (flag)
        rh_strbuf_add(t, "\t.pushsection .data.rh_flags,\"aw\",@progbits\n"
                         ".Lrh_flag${:uid}:\n\t.byte 0\n\t.popsection\n");
    rh_strbuf_add(t, "\t.pushsection __rh_places,\"ao\",@progbits,");
    add_symbol(t, fn->name);
    rh_strbuf_addf(t, "\n\t.long .Lrh_key${:uid}-.,%s,%u\n\t.popsection",
                   flag ? ".Lrh_flag${:uid}-." : "0", key);
}

/* A stub's code: see runtime/arch/x86_64/thunk.S for what it leaves on the stack. */
static void add_hook_call(struct inserter *in, uint32_t key, enum address_form form,
                          const char *size, int32_t lead)
{
    static const char *const addresses[] = {
        [ADDRESS_MEMORY] = "leaq $0,%rdi",
        [ADDRESS_REGISTER] = "movq $0,%rdi",
        [ADDRESS_NONE] = "xorl %edi,%edi",
        [ADDRESS_CHECKED] = "movq %r9,%rdi",
    };
    rh_strbuf_addf(&in->text,
                   "\tleaq -128(%%rsp),%%rsp\n"
                   "\tpushq $$%u\n"
                   "\tpushq %s\n"
                   "\tpushq %%rdi\n"
                   "\t%s\n",
                   key, size ? size : "$$0", addresses[form]);
    if (lead)
        rh_strbuf_addf(&in->text, "\tleaq %d(%%rdi),%%rdi\n", lead);
    rh_strbuf_addf(&in->text,
                   "\tcall %s\n"
                   "\tpopq %%rdi\n"
                   "\tleaq 144(%%rsp),%%rsp\n"
                   "\tjmp .Lrh_back${:uid}\n",
                   form == ADDRESS_CHECKED ? "__rh_check" : "__rh_thunk");
}

/* Each function has a cold section of its own, so that the linker can drop both together. */
static void begin_cold(struct inserter *in, uint32_t fn)
{
    rh_strbuf_addf(&in->text, "\t.pushsection .rh_cold,\"ax\",@progbits,unique,%u\n", fn);
}

static void end_cold(struct inserter *in)
{
    rh_strbuf_add(&in->text, "\t.popsection\n");
}

/* `size`: the operand that is the frame's size, or NULL. */
static void add_stub(struct inserter *in, uint32_t key, uint32_t fn, enum address_form form,
                     const char *size, int32_t lead)
{
    begin_cold(in, fn);
    rh_strbuf_add(&in->text, ".Lrh_stub${:uid}:\n");
    add_hook_call(in, key, form, size, lead);
    end_cold(in);
}

/* --- keys before and after accesses --- */

static bool is_on_stack(const struct rh_value *base)
{
    return (base->kind == RH_VALUE_INST && base->op == RH_OP_ALLOCA) ||
           (base->kind == RH_VALUE_ARG && base->is_by_value);
}

/* The stub's lea knows neither the stack pointer of before nor the base of a segment, which is
 * where a thread keeps its own variables. */
static enum address_form choose_form(struct rh_value *pointer)
{
    if (!pointer)
        return ADDRESS_NONE;
    struct rh_value *base = rh_ir_base(pointer, NULL, NULL);
    bool is_thread_local = base->kind == RH_VALUE_GLOBAL && base->global->is_thread_local;
    return is_on_stack(base) || is_thread_local ? ADDRESS_REGISTER : ADDRESS_MEMORY;
}

/* The handle to use for a value: the twin's if the key stands there and the twin has its own. */
static void *handle_in(const struct rh_twin *twin, const struct rh_value *value)
{
    void *copy = twin ? rh_twin_of(twin, value) : NULL;
    return copy ? copy : value->handle;
}

/* In the testing profile twins have checks: their gates are the switch. */
static bool has_check(const struct inserter *in, const struct rh_key *key,
                      const struct rh_twin *twin)
{
    return in->facts->has_checks && twin && key->kind == RH_KEY_ACCESS &&
           rh_check_suits(&in->sites->sites.data[key->first_site]);
}

static void add_check(struct inserter *in, uint32_t number, enum address_form form)
{
    const struct rh_key *key = &in->sites->keys.data[number];
    const struct rh_site *site = &in->sites->sites.data[key->first_site];
    rh_check_add(&in->text, site, form == ADDRESS_MEMORY ? "leaq $0,%r9" : "movq $0,%r9",
                 ".Lrh_stub${:uid}", in->facts->has_runtime);
    rh_strbuf_add(&in->text, ".Lrh_back${:uid}:\n");
    char shape[16];
    snprintf(shape, sizeof shape, "$$%u", rh_check_shape(site));
    begin_cold(in, key->fn->id);
    if (rh_check_has_second(site))
        rh_check_add_second(&in->text, site, ".Lrh_stub${:uid}", in->facts->has_runtime);
    rh_strbuf_add(&in->text, ".Lrh_stub${:uid}:\n");
    add_hook_call(in, number, ADDRESS_CHECKED, shape, 0);
    end_cold(in);
}

/* Puts a check before the loop in which its site stands. */
static enum rh_status insert_sweep(struct inserter *in, uint32_t number)
{
    const struct rh_key *key = &in->sites->keys.data[number];
    const struct rh_site *site = &in->sites->sites.data[key->first_site];
    struct rh_sweep_text text = {.count_at = RH_CHECK_SHAPE_COUNT_AT};
    rh_strbuf_reset(&in->text);
    if (site->sweep->stride) {
        text.constraints = "r,r," CLOBBERS "," RH_CHECK_CLOBBERS;
        text.shape = rh_check_sweep_shape(site);
        text.run = rh_check_sweep_run(site);
        rh_strbuf_add(&in->text, "\tmovq $0,%r9\n");
        if (site->lead)
            rh_strbuf_addf(&in->text, "\taddq $$%d,%%r9\n", site->lead);
        rh_strbuf_add(&in->text, "\tjmp .Lrh_stub${:uid}\n.Lrh_back${:uid}:\n");
        add_stub(in, number, key->fn->id, ADDRESS_CHECKED, "$1", 0);
    } else {
        text.constraints = "r," CLOBBERS "," RH_CHECK_CLOBBERS;
        add_check(in, number, ADDRESS_REGISTER);
    }
    text.text = rh_strbuf_text(&in->text);
    return rh_rewrite_insert_sweep(in->module, in->twin, site->sweep, site->inst, site->pointer,
                                   &text);
}

/* Puts a key into the twin, or into the plain body if that is NULL. */
static enum rh_status insert_key(struct inserter *in, uint32_t number, const struct rh_twin *twin)
{
    static const char *const constraints[] = {
        [ADDRESS_MEMORY] = "*m",
        [ADDRESS_REGISTER] = "r",
        [ADDRESS_NONE] = "",
    };
    const struct rh_key *key = &in->sites->keys.data[number];
    const struct rh_site *site = &in->sites->sites.data[key->first_site];
    enum address_form form = choose_form(site->pointer);
    bool sized = site->length != NULL && key->kind == RH_KEY_ACCESS;
    struct rh_asm_operand operands[2] = {{0}};
    uint32_t count = 0;
    if (form != ADDRESS_NONE)
        operands[count++] = (struct rh_asm_operand){
            .value = site->pointer,
            .handle = handle_in(twin, site->pointer),
            .is_memory = form == ADDRESS_MEMORY,
        };
    if (sized)
        operands[count++] = (struct rh_asm_operand){
            .value = site->length,
            .handle = handle_in(twin, site->length),
        };
    char text[96];
    bool is_check = has_check(in, key, twin);
    snprintf(text, sizeof text, "%s%s%s%s" CLOBBERS, constraints[form],
             form == ADDRESS_NONE ? "" : ",", sized ? "r," : "",
             is_check ? RH_CHECK_CLOBBERS "," : "");
    rh_strbuf_reset(&in->text);
    if (is_check) {
        add_check(in, number, form);
    } else {
        add_switch(in, ".Lrh_stub${:uid}");
        char shape[16];
        snprintf(shape, sizeof shape, "$$%u", site->run ? rh_check_shape(site) : 0);
        add_stub(in, number, key->fn->id, form, sized ? "$1" : shape, site->lead);
        add_place(in, number, key->fn);
    }
    return rh_rewrite_insert_asm(in->module, handle_in(twin, site->inst), key->kind == RH_KEY_AFTER,
                                 rh_strbuf_text(&in->text), text, operands, count);
}

/* The same for one that tells of a pointer store. */
static enum rh_status insert_store(struct inserter *in, uint32_t number, const struct rh_twin *twin)
{
    const struct rh_key *key = &in->sites->keys.data[number];
    const struct rh_store *store = key->store;
    enum address_form form = choose_form(store->address);
    struct rh_asm_operand operands[2] = {{0}};
    uint32_t count = 0;
    if (form == ADDRESS_MEMORY && store->after)
        form = ADDRESS_REGISTER; /* the block is the call's result */
    if (form != ADDRESS_NONE)
        operands[count++] = (struct rh_asm_operand){
            .value = store->address,
            .handle = handle_in(twin, store->address),
            .is_memory = form == ADDRESS_MEMORY,
        };
    if (store->value)
        operands[count++] = (struct rh_asm_operand){
            .value = store->value,
            .handle = store->inst->op == RH_OP_RET
                          ? rh_rewrite_operand(handle_in(twin, store->inst), 0)
                          : handle_in(twin, store->value),
            .is_word = true,
            .lane = store->lane,
            .lanes = store->lanes,
            .times = store->times ? handle_in(twin, store->times) : NULL,
        };
    static const char *const constraints[] = {
        [ADDRESS_MEMORY] = "*m,",
        [ADDRESS_REGISTER] = "r,",
        [ADDRESS_NONE] = "",
    };
    char text[96];
    snprintf(text, sizeof text, "%s%s" CLOBBERS, constraints[form], store->value ? "r," : "");
    rh_strbuf_reset(&in->text);
    add_switch(in, ".Lrh_stub${:uid}");
    add_stub(in, number, key->fn->id, form,
             store->value ? (form == ADDRESS_NONE ? "$0" : "$1") : NULL, 0);
    add_place(in, number, key->fn);
    return rh_rewrite_insert_asm(in->module, handle_in(twin, store->place), store->after,
                                 rh_strbuf_text(&in->text), text, operands, count);
}

static enum rh_status insert_anywhere(struct inserter *in, uint32_t number,
                                      const struct rh_twin *twin)
{
    return in->sites->keys.data[number].store ? insert_store(in, number, twin)
                                              : insert_key(in, number, twin);
}

/* A key that needs no gate stands in both bodies. */
static enum rh_status insert_site_key(struct inserter *in, uint32_t number)
{
    const struct rh_key *key = &in->sites->keys.data[number];
    const struct rh_value *inst =
        key->store ? key->store->place : in->sites->sites.data[key->first_site].inst;
    bool in_twin = in->twin && rh_twin_of(in->twin, inst);
    enum rh_status status = RH_OK;
    if (in->twin && !in_twin && key->store) {
        rh_vec_push(&in->late, number);
        return RH_OK;
    }
    if (!in_twin || key->gate == RH_NO_GATE)
        status = insert_anywhere(in, number, NULL);
    bool is_swept = in_twin && status == RH_OK && has_check(in, key, in->twin) &&
                    in->sites->sites.data[key->first_site].sweep &&
                    insert_sweep(in, number) == RH_OK;
    if (in_twin && status == RH_OK && !is_swept)
        status = insert_anywhere(in, number, in->twin);
    if (status != RH_ERR_UNSUPPORTED)
        return status;
    in->result->keys_refused++;
    in->result->stores_refused += key->store != NULL;
    return RH_OK;
}

/* --- gates --- */

/* The keys of a loop that has no way around them are reached through the function's gate alone. */
static void drop_loop_gate(struct inserter *in, uint32_t gate, uint32_t end)
{
    struct rh_key_record *records = in->result->records;
    for (uint32_t k = gate + 1; k < end; k++)
        if (records[k].gate == gate)
            records[k].gate = records[gate].gate;
}

/* The twin's blocks of a loop; false if not all have one. */
static bool find_blocks(const struct inserter *in, const struct rh_key *gate, void **out)
{
    bool all = true;
    for (uint32_t b = 0; b < gate->block_count && all; b++)
        all = (out[b] = rh_twin_of_block(in->twin, gate->blocks[b])) != NULL;
    return all;
}

static enum rh_status insert_loop_gate(struct inserter *in, uint32_t number, void *const *blocks,
                                       uint32_t end)
{
    const struct rh_key *key = &in->sites->keys.data[number];
    enum rh_status status = RH_ERR_UNSUPPORTED;
    if (blocks[0]) {
        rh_strbuf_reset(&in->text);
        add_switch(in, "${0:l}");
        add_place(in, number, key->fn);
        status = rh_rewrite_bypass(in->module, blocks, key->block_count, rh_strbuf_text(&in->text),
                                   GATE_CONSTRAINTS);
    }
    if (status != RH_ERR_UNSUPPORTED)
        return status;
    drop_loop_gate(in, number, end);
    return RH_OK;
}

/* Ends the function whose keys end before `end`: a loop is copied when its keys stand in it. */
static enum rh_status finish_function(struct inserter *in, uint32_t end)
{
    const struct rh_key *keys = in->sites->keys.data;
    enum rh_status status = RH_OK;
    if (!in->twin)
        return RH_OK;
    uint32_t gates = in->first + 1;
    while (gates < end && keys[gates].kind == RH_KEY_GATE)
        gates++;
    void ***blocks = rh_calloc(gates - in->first, sizeof *blocks);
    for (uint32_t k = in->first + 1; k < gates; k++) {
        void **found = rh_calloc(keys[k].block_count, sizeof *found);
        if (!find_blocks(in, &keys[k], found))
            found[0] = NULL;
        blocks[k - in->first] = found;
    }
    rh_rewrite_twin_finish(in->twin);
    in->twin = NULL;
    for (size_t i = 0; i < in->late.len && status == RH_OK; i++)
        status = insert_site_key(in, in->late.data[i]);
    in->late.len = 0;
    for (uint32_t k = in->first + 1; k < gates; k++) {
        if (status == RH_OK)
            status = insert_loop_gate(in, k, blocks[k - in->first], end);
        free(blocks[k - in->first]);
    }
    free(blocks);
    return status;
}

/* The text of a gate. In the testing profile the function has a number from then on, whether or not
 * it can have a twin. */
static void make_gate(struct inserter *in, uint32_t number)
{
    const struct rh_function *fn = in->sites->keys.data[number].fn;
    rh_strbuf_reset(&in->text);
    if (in->facts->has_checks) {
        rh_vec_push(&in->functions, rh_entry_fingerprint(fn));
        add_switch(in, ".Lrh_ask${:uid}");
        begin_cold(in, fn->id);
        rh_entry_add_gate(&in->text, (uint32_t)in->functions.len, in->facts->has_runtime);
        end_cold(in);
    } else {
        add_switch(in, "${0:l}");
    }
    add_place(in, number, fn);
}

/* Where each call asks the sampler. */
static enum rh_status insert_entry(struct inserter *in, uint32_t gate)
{
    const struct rh_function *fn = in->sites->keys.data[gate].fn;
    rh_strbuf_reset(&in->text);
    add_switch(in, ".Lrh_ask${:uid}");
    begin_cold(in, fn->id);
    rh_entry_add(&in->text, (uint32_t)in->functions.len, in->facts->has_runtime);
    add_hook_call(in, gate, ADDRESS_NONE, NULL, 0);
    end_cold(in);
    add_place(in, gate | RH_PLACE_ENTRY, fn);
    return rh_rewrite_insert_asm(in->module, rh_twin_entry(in->twin), false,
                                 rh_strbuf_text(&in->text), CLOBBERS "," RH_ENTRY_CLOBBERS, NULL,
                                 0);
}

static enum rh_status insert_gate(struct inserter *in, uint32_t number)
{
    const struct rh_key *key = &in->sites->keys.data[number];
    bool has_checks = in->facts->has_checks;
    make_gate(in, number);
    enum rh_status status = rh_rewrite_twin_begin(
        in->module, key->fn, key->blocks, key->block_count, rh_strbuf_text(&in->text),
        has_checks ? GATE_CONSTRAINTS "," RH_ENTRY_CLOBBERS : GATE_CONSTRAINTS, &in->twin);
    if (status == RH_OK && has_checks)
        status = insert_entry(in, number);
    if (status == RH_ERR_UNSUPPORTED) {
        in->result->functions_refused++;
        return RH_OK;
    }
    if (status == RH_OK)
        in->result->functions_twinned++;
    return status;
}

/* --- tables --- */

/* A key of a function that could have no twin stands in its place and depends on no other. */
static void fill_record(struct inserter *in, uint32_t number)
{
    const struct rh_key *key = &in->sites->keys.data[number];
    in->result->records[number] = (struct rh_key_record){
        .first_site = key->kind == RH_KEY_GATE ? (uint32_t)in->functions.len
                      : key->store             ? key->store->bytes
                                               : key->first_site,
        .site_count = (uint16_t)key->site_count,
        .kind = key->kind,
        .escape = key->store ? key->store->kind | (key->store->is_racy ? RH_ESCAPE_RACY : 0) : 0,
        .gate = in->twin ? key->gate : RH_NO_GATE,
    };
}

static enum rh_status add_tables(struct inserter *in)
{
    size_t sites = in->sites->keyed, keys = in->sites->keys.len;
    const struct rh_keys_facts *facts = in->facts;
    size_t functions = in->functions.len;
    const uint32_t counts[] = {(uint32_t)keys, (uint32_t)sites, facts->flags,
                               facts->candidate_count, (uint32_t)functions};
    static const uint32_t none[1][2];
    struct rh_site_record *records = rh_calloc(sites + 1, sizeof *records);
    for (size_t i = 0; i < sites; i++)
        records[i] = in->sites->sites.data[i].record;
    const struct {
        const char *name;
        const void *bytes;
        size_t size;
    } tables[] = {
        {"__rh_sites", records, (sites + 1) * sizeof *records},
        {"__rh_keys", in->result->records, (keys + 1) * sizeof(struct rh_key_record)},
        {"__rh_counts", counts, sizeof counts},
        {"__rh_candidates", facts->candidate_count ? facts->candidates : none,
         facts->candidate_count ? facts->candidate_count * sizeof none[0] : sizeof none},
        {"__rh_functions", functions ? (const void *)in->functions.data : none,
         functions ? functions * sizeof(uint64_t) : sizeof none},
    };
    enum rh_status status = RH_OK;
    for (size_t i = 0; status == RH_OK && i < sizeof tables / sizeof tables[0]; i++)
        status = rh_rewrite_add_data(in->module, tables[i].name, NULL, tables[i].bytes,
                                     tables[i].size, 8, true);
    free(records);
    return status;
}

/* Gates of loops come when the rest of their function is done. */
static enum rh_status insert_one(struct inserter *in, uint32_t number)
{
    const struct rh_key *key = &in->sites->keys.data[number];
    if (key->kind != RH_KEY_GATE)
        return insert_site_key(in, number);
    return key->gate == RH_NO_GATE ? insert_gate(in, number) : RH_OK;
}

static enum rh_status insert_all(struct inserter *in)
{
    uint32_t count = in->mode == RH_KEYS_NONE ? 0 : (uint32_t)in->sites->keys.len;
    enum rh_status status = RH_OK;
    for (uint32_t k = 0; status == RH_OK && k < count; k++) {
        const struct rh_key *key = &in->sites->keys.data[k];
        if (k == 0 || key->fn != key[-1].fn) {
            status = finish_function(in, k);
            in->first = k;
        }
        if (status == RH_OK)
            status = insert_one(in, k);
        fill_record(in, k);
    }
    if (status == RH_OK)
        status = finish_function(in, count);
    return status == RH_OK ? add_tables(in) : status;
}

enum rh_status rh_keys_insert(struct rh_module *m, const struct rh_sites *sites,
                              enum rh_key_mode mode, const struct rh_keys_facts *facts,
                              struct rh_keys_result *result)
{
    struct inserter in = {
        .module = m,
        .sites = sites,
        .mode = mode,
        .facts = facts,
        .result = result,
    };
    memset(result, 0, sizeof *result);
    result->records = rh_calloc(sites->keys.len + 1, sizeof *result->records);
    enum rh_status status = insert_all(&in);
    rh_strbuf_release(&in.text);
    rh_vec_free(&in.functions);
    rh_vec_free(&in.late);
    return status;
}

void rh_keys_result_release(struct rh_keys_result *result)
{
    free(result->records);
    result->records = NULL;
}
