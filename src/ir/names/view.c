/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads from TBAA tags and getelementptrs which struct an access goes through.
 */
#include "ir/names/view.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void rh_views_init(struct rh_views *views, struct rh_module *m)
{
    static const char tbaa[] = "tbaa";

    *views = (struct rh_views){
        .context = m->context,
        .tbaa_kind = LLVMGetMDKindIDInContext(m->context, tbaa, sizeof tbaa - 1),
    };
}

void rh_views_release(struct rh_views *views)
{
    rh_map_release(&views->by_tag);
    rh_map_release(&views->by_type);
    rh_arena_release(&views->arena);
}

/* A tag is (struct, type of the access, offset); for an access to no struct the first two agree. A
 * type is (name, ...). */
static void read_tag(struct rh_view *view, LLVMValueRef tag)
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
    view->name = name ? LLVMGetMDString(name, &len) : NULL;
    if (!view->name)
        return;
    view->kind = strncmp(view->name, "_ZTS", 4) == 0 ? RH_VIEW_MANGLED : RH_VIEW_TAG;
    view->offset = LLVMConstIntGetSExtValue(operands[OFFSET]);
}

static const struct rh_view *get_tag_view(struct rh_views *views, LLVMValueRef tag)
{
    struct rh_view *view = rh_map_get_ptr(&views->by_tag, rh_map_key(tag));

    if (!view) {
        view = rh_arena_new(&views->arena, struct rh_view);
        read_tag(view, tag);
        rh_map_put_ptr(&views->by_tag, rh_map_key(tag), view);
    }
    return view;
}

/* "struct.ns::item.12" is "ns::item": the end only tells apart types of one name, or says that it
 * is the part of a class that others inherit. "" for a struct that has no name. */
static const char *clean_name(struct rh_views *views, const char *name)
{
    const char *dot = strchr(name, '.');
    char *copy = rh_arena_strdup(&views->arena, dot ? dot + 1 : name);
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

static const char *get_type_name(struct rh_views *views, const struct rh_type *type)
{
    const char *name = rh_map_get_ptr(&views->by_type, type->id);

    if (!name) {
        name = clean_name(views, type->name);
        rh_map_put(&views->by_type, type->id, rh_map_key(name));
    }
    return name;
}

static struct rh_view get_gep_view(struct rh_views *views, const struct rh_value *ptr)
{
    struct rh_view view = {.kind = RH_VIEW_NONE};
    const struct rh_type *source = ptr->gep ? ptr->gep->source : NULL;

    if (!source || source->kind != RH_TYPE_STRUCT || !source->name || source->alloc_size == 0)
        return view;
    for (uint32_t i = 0; i < ptr->gep->term_count; i++) {
        if (ptr->gep->terms[i].scale % (int64_t)source->alloc_size != 0)
            return view;
    }
    view.name = get_type_name(views, source);
    view.offset = ptr->gep->offset % (int64_t)source->alloc_size;
    if (*view.name && view.offset >= 0)
        view.kind = RH_VIEW_LLVM;
    return view;
}

struct rh_view rh_view_of(struct rh_views *views, const struct rh_value *inst,
                          const struct rh_value *ptr, int64_t offset)
{
    LLVMValueRef tag = LLVMGetMetadata(inst->handle, views->tbaa_kind);

    if (tag)
        return *get_tag_view(views, tag);
    if (offset != 0 || rh_ir_pointer(inst) != ptr)
        return (struct rh_view){.kind = RH_VIEW_NONE};
    return get_gep_view(views, ptr);
}
