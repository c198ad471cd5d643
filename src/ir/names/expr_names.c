/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the variables that a value is known as, and what global variables are called.
 */
#include "ir/names/expr_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "ir/debug/di.h"

/* Phis with more incoming values than this are looked at as a whole only. */
#define MAX_EDGES 32

/* Types that programs only cast to are kept by the compilation units. */
static void reach_retained_types(struct rh_names *names)
{
    static const char units_name[] = "llvm.dbg.cu";
    LLVMContextRef context = names->m->context;
    unsigned count = LLVMGetNamedMetadataNumOperands(names->m->llvm, units_name);
    LLVMValueRef *units = rh_alloc_array(count, sizeof *units);

    LLVMGetNamedMetadataOperands(names->m->llvm, units_name, units);
    for (unsigned i = 0; i < count; i++) {
        LLVMMetadataRef unit = LLVMValueAsMetadata(units[i]);
        size_t retained;
        LLVMMetadataRef *types =
            rh_di_tuple(context, rh_di_get(context, unit, RH_DI_RETAINED), &retained);

        for (size_t k = 0; k < retained; k++)
            rh_ditype_reach(names->types, rh_ditype_of(names->types, types[k]));
        free(types);
    }
    free(units);
}

void rh_names_init(struct rh_names *names, struct rh_module *m, struct rh_ditypes *types)
{
    *names = (struct rh_names){.m = m, .types = types};
    rh_scopes_init(&names->scopes, types);
    rh_diexprs_init(&names->exprs, m->context);
    names->vars = rh_varlocs_read(m, types);
    reach_retained_types(names);
    for (uint32_t i = 0; i < m->global_count; i++)
        rh_ditype_reach(types, rh_names_global(names, m->globals[i])->type);
}

void rh_names_release(struct rh_names *names)
{
    rh_varlocs_free(names->vars);
    rh_diexprs_release(&names->exprs);
    rh_scopes_release(&names->scopes);
    rh_map_release(&names->globals);
    rh_arena_release(&names->arena);
}

static bool is_identifier(const char *name)
{
    if (!isalpha((unsigned char)*name) && *name != '_')
        return false;
    while (isalnum((unsigned char)*name) || *name == '_')
        name++;
    return *name == '\0';
}

/* A static member of a class is written with the class's name. */
static const char *qualify(struct rh_names *names, LLVMMetadataRef variable, const char *text)
{
    LLVMContextRef context = names->m->context;
    LLVMMetadataRef member = rh_di_get(context, variable, RH_DI_DECLARED);
    const char *record =
        rh_di_text(context, rh_di_get(context, member, RH_DI_SCOPE), RH_DI_NAME, NULL);

    return *record ? rh_arena_printf(&names->arena, "%s::%s", record, text) : text;
}

static void read_global(struct rh_names *names, struct rh_global_name *name,
                        LLVMMetadataRef attached)
{
    LLVMContextRef context = names->m->context;
    LLVMMetadataRef variable = rh_di_get(context, attached, RH_DI_VARIABLE);
    LLVMMetadataRef expr = rh_di_get(context, attached, RH_DI_EXPRESSION);
    const struct rh_diexpr *e = expr ? rh_diexpr_of(&names->exprs, expr) : NULL;
    const char *text = rh_di_text(context, variable, RH_DI_NAME, NULL);

    if (!*text)
        return;
    name->text = qualify(names, variable, text);
    name->type = rh_ditype_of(names->types, rh_di_get(context, variable, RH_DI_TYPE));
    if (e)
        name->offset = (int64_t)e->offset - e->plus;
}

/* Longer literals are shown as one that is left out. */
#define MAX_LITERAL 24

static void read_literal(struct rh_names *names, struct rh_global_name *name,
                         const struct rh_value *global)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    size_t len;
    const char *bytes = rh_ir_string(global, &len);

    if (!bytes)
        return;
    if (len > 0 && bytes[len - 1] == '\0')
        len--;
    if (len > MAX_LITERAL)
        rh_strbuf_add(&text, "\"...\"");
    else
        rh_strbuf_add_jsonn(&text, bytes, len);
    name->text = rh_arena_strdup(&names->arena, rh_strbuf_text(&text));
    name->is_literal = true;
    rh_strbuf_release(&text);
}

static void look_up_global(struct rh_names *names, struct rh_global_name *name,
                           const struct rh_value *global)
{
    size_t count;
    LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(global->handle, &count);

    for (size_t i = 0; i < count && !name->text; i++) {
        LLVMMetadataRef node = LLVMValueMetadataEntriesGetMetadata(entries, (unsigned)i);

        if (LLVMGetMetadataKind(node) == LLVMDIGlobalVariableExpressionMetadataKind)
            read_global(names, name, node);
    }
    LLVMDisposeValueMetadataEntries(entries);
    if (!name->text && is_identifier(global->name) && strncmp(global->name, "_Z", 2) != 0)
        name->text = global->name;
    if (!name->text && global->global->is_const && global->global->is_local)
        read_literal(names, name, global);
}

const struct rh_global_name *rh_names_global(struct rh_names *names, const struct rh_value *global)
{
    struct rh_global_name *name = rh_map_get_ptr(&names->globals, global->id);

    if (!name) {
        name = rh_arena_new(&names->arena, struct rh_global_name);
        look_up_global(names, name, global);
        rh_map_put_ptr(&names->globals, global->id, name);
    }
    return name;
}

static void add_name(struct rh_name_list *out, const struct rh_name *name)
{
    if (out->count < RH_NAMES_MAX)
        out->names[out->count++] = *name;
}

/* What became of the variable by the time of `inst`. */
static enum rh_name_grade grade_past(struct rh_names *names, uint32_t variable,
                                     const struct rh_value *inst)
{
    uint32_t now = rh_varlocs_at(names->vars, variable, inst);

    if (now == RH_VARDEF_NONE || rh_varlocs_def(names->vars, now)->kind == RH_VARDEF_LOST)
        return RH_NAME_FADED;
    return RH_NAME_PAST;
}

/* Memory that is a variable is it everywhere; a value is it only while the definition is in force.
 * That it was the variable on every way to `inst` still counts for something: the optimiser moves
 * accesses behind the variable's next definition, and in `*p++` the programmer does. */
static bool grade_def(struct rh_names *names, uint32_t def, const struct rh_value *inst,
                      enum rh_name_grade *grade)
{
    const struct rh_vardef *d = rh_varlocs_def(names->vars, def);

    *grade = RH_NAME_LIVE;
    if (d->kind != RH_VARDEF_VALUE || rh_varlocs_at(names->vars, d->variable, inst) == def)
        return true;
    *grade = grade_past(names, d->variable, inst);
    return rh_varlocs_passed(names->vars, def, inst);
}

static int get_distance(struct rh_names *names, const struct rh_frames *frames,
                        const struct rh_vardef *def)
{
    const struct rh_variable *v = rh_varlocs_variable(names->vars, def->variable);
    int distance = rh_frames_distance(&names->scopes, frames, v->scope, v->inlined_at);

    /* What is the variable by its place in memory is it even for code that the compiler added. */
    if (distance < 0 && def->kind != RH_VARDEF_VALUE)
        return RH_DISTANCE_OUTSIDE;
    return distance;
}

static void add_defs(struct rh_names *names, const struct rh_frames *frames,
                     const struct rh_value *inst, const struct rh_value *value,
                     struct rh_name_list *out)
{
    uint32_t at = rh_varlocs_of(names->vars, value);

    while (at != RH_VARDEF_NONE) {
        const struct rh_vardef *def = rh_varlocs_def(names->vars, at);
        struct rh_name name = {
            .variable = rh_varlocs_variable(names->vars, def->variable),
            .kind = def->kind,
            .plus = def->plus,
        };

        name.distance = get_distance(names, frames, def);
        if (name.distance >= 0 && !name.variable->is_hidden &&
            grade_def(names, at, inst, &name.grade))
            add_name(out, &name);
        at = def->of_value;
    }
}

static const struct rh_value *strip_constants(const struct rh_value *value)
{
    while (value->kind == RH_VALUE_INST && value->op == RH_OP_GEP && value->gep->term_count == 0)
        value = value->ops[0];
    return value;
}

/* Whether `value` is `base + plus`, as far as constants are added. */
static bool is_sum(const struct rh_value *value, const struct rh_value *base, int64_t plus)
{
    while (value != base && value->kind == RH_VALUE_INST && value->op == RH_OP_GEP &&
           value->gep->term_count == 0) {
        plus -= value->gep->offset;
        value = value->ops[0];
    }
    return value == base && plus == 0;
}

/* On how many of a phi's edges the variable is known to be the value that comes in; -1 if on some
 * edge it is known to be something else. */
static int count_edges(struct rh_names *names, const struct rh_value *phi, uint32_t variable)
{
    int known = 0;

    for (uint32_t i = 0; i < phi->op_count; i++) {
        uint32_t at = rh_varlocs_after(names->vars, variable, phi->targets[i]);
        const struct rh_vardef *def;

        if (at == RH_VARDEF_NONE)
            continue;
        def = rh_varlocs_def(names->vars, at);
        if (def->kind == RH_VARDEF_LOST)
            continue;
        if (def->kind != RH_VARDEF_VALUE || !is_sum(phi->ops[i], def->value, def->plus))
            return -1;
        known++;
    }
    return known;
}

/* A phi that debug information does not mention is still the variable whose values it joins. If
 * several are joined alike, it is not known which is meant. */
static void add_joined(struct rh_names *names, const struct rh_frames *frames,
                       const struct rh_value *inst, const struct rh_value *phi,
                       struct rh_name_list *out)
{
    uint32_t best = UINT32_MAX;
    int best_known = 0, best_distance = 0;

    for (uint32_t i = 0; i < phi->op_count && phi->op_count <= MAX_EDGES; i++) {
        uint32_t at = rh_varlocs_of(names->vars, strip_constants(phi->ops[i]));

        for (; at != RH_VARDEF_NONE; at = rh_varlocs_def(names->vars, at)->of_value) {
            const struct rh_vardef *def = rh_varlocs_def(names->vars, at);
            int distance = get_distance(names, frames, def);
            int known;

            if (def->variable == best || def->kind != RH_VARDEF_VALUE || distance < 0 ||
                rh_varlocs_variable(names->vars, def->variable)->is_hidden)
                continue;
            known = count_edges(names, phi, def->variable);
            if (known > best_known) {
                best = def->variable;
                best_known = known;
                best_distance = distance;
            } else if (known > 0 && known == best_known) {
                best = UINT32_MAX;
            }
        }
    }
    if (best != UINT32_MAX)
        add_name(out, &(struct rh_name){
                          .variable = rh_varlocs_variable(names->vars, best),
                          .kind = RH_VARDEF_VALUE,
                          .grade = grade_past(names, best, inst),
                          .distance = best_distance,
                      });
}

void rh_names_of(struct rh_names *names, const struct rh_frames *frames,
                 const struct rh_value *inst, const struct rh_value *value,
                 struct rh_name_list *out)
{
    bool is_phi = value->kind == RH_VALUE_INST && value->op == RH_OP_PHI;

    out->count = 0;
    if (value->kind != RH_VALUE_INST && value->kind != RH_VALUE_ARG)
        return;
    add_defs(names, frames, inst, value, out);
    if (is_phi && out->count == 0)
        add_joined(names, frames, inst, value, out);
}
