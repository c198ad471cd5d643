/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads from TBAA tags and getelementptrs which struct an access goes through.
 */
#include "ir/names/struct_hint.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void rh_struct_hints_init(struct rh_struct_hints *hints, struct rh_module *m)
{
    static const char tbaa[] = "tbaa";

    *hints = (struct rh_struct_hints){
        .context = m->context,
        .tbaa_kind = LLVMGetMDKindIDInContext(m->context, tbaa, sizeof tbaa - 1),
    };
}

void rh_struct_hints_release(struct rh_struct_hints *hints)
{
    rh_map_release(&hints->by_tag);
    rh_map_release(&hints->by_type);
    rh_arena_release(&hints->arena);
}

/* A tag is (struct, type of the access, offset); for an access to no struct the first two agree. A
 * type is (name, ...). */
static void read_tag(struct rh_struct_hint *hint, LLVMValueRef tag)
{
    enum { BASE, ACCESS, OFFSET, MAX_TAG };
    LLVMValueRef operands[MAX_TAG + 1], name;
    unsigned count = LLVMGetMDNodeNumOperands(tag), len;
    LLVMValueRef *fields;

    if (count <= OFFSET || count > MAX_TAG + 1)
        return;
    LLVMGetMDNodeOperands(tag, operands);
    if (!operands[BASE] || !operands[OFFSET] || operands[BASE] == operands[ACCESS] ||
        !LLVMIsAConstantInt(operands[OFFSET]))
        return;
    count = LLVMGetMDNodeNumOperands(operands[BASE]);
    fields = rh_alloc_array(count, sizeof *fields);
    LLVMGetMDNodeOperands(operands[BASE], fields);
    name = count > 0 ? fields[0] : NULL;
    free(fields);
    hint->name = name ? LLVMGetMDString(name, &len) : NULL;
    if (!hint->name)
        return;
    hint->kind = strncmp(hint->name, "_ZTS", 4) == 0 ? RH_HINT_MANGLED : RH_HINT_TAG;
    hint->offset = LLVMConstIntGetSExtValue(operands[OFFSET]);
}

static const struct rh_struct_hint *get_tag_hint(struct rh_struct_hints *hints, LLVMValueRef tag)
{
    struct rh_struct_hint *hint = rh_map_get_ptr(&hints->by_tag, rh_map_key(tag));

    if (!hint) {
        hint = rh_arena_new(&hints->arena, struct rh_struct_hint);
        read_tag(hint, tag);
        rh_map_put_ptr(&hints->by_tag, rh_map_key(tag), hint);
    }
    return hint;
}

/* "struct.ns::item.12" is "ns::item": the end only tells apart types of one name, or says that it
 * is the part of a class that others inherit. "" for a struct that has no name. */
static const char *clean_name(struct rh_struct_hints *hints, const char *name)
{
    const char *dot = strchr(name, '.');
    char *copy = rh_arena_strdup(&hints->arena, dot ? dot + 1 : name);
    size_t len = strlen(copy), digits = len;

    while (digits > 0 && isdigit((unsigned char)copy[digits - 1]))
        digits--;
    if (digits > 0 && digits < len && copy[digits - 1] == '.')
        copy[digits - 1] = '\0';
    len = strlen(copy);
    if (len > 5 && strcmp(copy + len - 5, ".base") == 0)
        copy[len - 5] = '\0';
    return strstr(copy, "anon") ? "" : copy;
}

static const char *get_type_name(struct rh_struct_hints *hints, const struct rh_type *type)
{
    const char *name = rh_map_get_ptr(&hints->by_type, type->id);

    if (!name) {
        name = clean_name(hints, type->name);
        rh_map_put(&hints->by_type, type->id, rh_map_key(name));
    }
    return name;
}

static struct rh_struct_hint get_gep_hint(struct rh_struct_hints *hints, const struct rh_value *ptr)
{
    struct rh_struct_hint hint = {.kind = RH_HINT_NONE};
    const struct rh_type *source = ptr->gep ? ptr->gep->source : NULL;

    if (!source || source->kind != RH_TYPE_STRUCT || !source->name || source->alloc_size == 0)
        return hint;
    for (uint32_t i = 0; i < ptr->gep->term_count; i++) {
        if (ptr->gep->terms[i].scale % (int64_t)source->alloc_size != 0)
            return hint;
    }
    hint.name = get_type_name(hints, source);
    hint.offset = ptr->gep->offset % (int64_t)source->alloc_size;
    if (*hint.name && hint.offset >= 0)
        hint.kind = RH_HINT_LLVM;
    return hint;
}

struct rh_struct_hint rh_struct_hint_of(struct rh_struct_hints *hints, const struct rh_value *inst,
                                        const struct rh_value *ptr, int64_t offset)
{
    LLVMValueRef tag = LLVMGetMetadata(inst->handle, hints->tbaa_kind);

    if (tag)
        return *get_tag_hint(hints, tag);
    if (offset != 0 || rh_ir_pointer(inst) != ptr)
        return (struct rh_struct_hint){.kind = RH_HINT_NONE};
    return get_gep_hint(hints, ptr);
}
