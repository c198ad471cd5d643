/* SPDX-License-Identifier: Apache-2.0 */
/* Members of JSON objects that several commands write. */
#include "report/members.h"

void rh_members_text(struct rh_json *json, const char *name, const char *text)
{
    rh_json_key(json, name);
    rh_json_string(json, text);
}

void rh_members_number(struct rh_json *json, const char *name, uint64_t number)
{
    rh_json_key(json, name);
    rh_json_uint(json, number);
}

void rh_members_number_if(struct rh_json *json, const char *name, bool known, uint64_t number)
{
    rh_json_key(json, name);
    if (known)
        rh_json_uint(json, number);
    else
        rh_json_null(json);
}

void rh_members_head(struct rh_json *json, const char *program, const char *build_id)
{
    rh_members_text(json, "tool", "racehive");
    rh_members_text(json, "version", RH_VERSION);
    rh_members_text(json, "program", program);
    rh_members_text(json, "build_id", build_id);
}

void rh_members_near(struct rh_json *json, bool is_near)
{
    if (!is_near)
        return;
    rh_json_key(json, "near");
    rh_json_bool(json, true);
}

static void put_place(struct rh_json *json, const struct rh_sidecar_location *at)
{
    rh_members_text(json, "file", at->file);
    rh_members_number(json, "line", at->line);
    rh_members_number(json, "column", at->column);
    rh_members_near(json, at->is_near);
    rh_members_text(json, "function", at->function);
}

void rh_members_site(struct rh_json *json, const struct rh_sidecar_site *site)
{
    const struct rh_sidecar_location nowhere = {.function = site->function->name};
    const char *order = rh_sidecar_order_name(site->order);
    put_place(json, site->location ? site->location : &nowhere);
    rh_members_text(json, "access", rh_sidecar_access_name(site->access));
    rh_members_number_if(json, "size", !(site->flags & RH_SITE_SIZED), site->size);
    if (order)
        rh_members_text(json, "order", order);
    rh_members_text(json, "expression", site->expression);
    if (site->image)
        rh_members_text(json, "image", site->image);
}

void rh_members_chain(struct rh_json *json, const char *name, const struct rh_sidecar_site *site)
{
    rh_json_key(json, name);
    rh_json_begin_array(json);
    const struct rh_sidecar_location *at = site->location ? site->location->inlined_at : NULL;
    for (; at; at = at->inlined_at) {
        rh_json_begin_object(json);
        put_place(json, at);
        rh_json_end_object(json);
    }
    rh_json_end_array(json);
}
