/* SPDX-License-Identifier: Apache-2.0 */
/* Turns sites and the results of the search into rows of the sidecar: see rows.h. */
#include "linkstep/rows.h"

#include <string.h>

#include "base/mem.h"
#include "base/packed.h"
#include "base/strbuf.h"
#include "ir/names/expr.h"

/* --- places and words --- */

static const struct rh_sidecar_location *location_of(struct rh_rows *r, const struct rh_loc *loc)
{
    if (!loc)
        return NULL;
    struct rh_sidecar_location *out = rh_map_get_ptr(&r->locations, rh_map_key(loc));
    if (out)
        return out;
    out = rh_arena_new(&r->arena, struct rh_sidecar_location);
    *out = (struct rh_sidecar_location){
        .file = loc->file,
        .line = loc->line,
        .column = loc->column,
        .function = loc->function,
        .linkage = loc->linkage,
        .is_near = loc->is_near,
        .inlined_at = location_of(r, loc->inlined_at),
    };
    rh_map_put_ptr(&r->locations, rh_map_key(loc), out);
    return out;
}

static const struct rh_sidecar_function *function_of(struct rh_rows *r,
                                                     const struct rh_function *fn)
{
    struct rh_sidecar_function *out = rh_arena_new(&r->arena, struct rh_sidecar_function);
    *out = (struct rh_sidecar_function){
        .name = fn->loc ? fn->loc->function : fn->name,
        .linkage = fn->name,
        .file = fn->loc ? fn->loc->file : NULL,
        .line = fn->loc ? fn->loc->line : 0,
    };
    return out;
}

/* Moves a text to the arena; NULL for an empty one. */
static const char *keep(struct rh_rows *r, struct rh_strbuf *text)
{
    const char *kept = text->len ? rh_arena_strdup(&r->arena, rh_strbuf_text(text)) : NULL;
    rh_strbuf_reset(text);
    return kept;
}

/* --- sites --- */

static void make_site(struct rh_rows *r, uint32_t number, const struct rh_site *site)
{
    struct rh_sidecar_site row = {
        .number = number,
        .fingerprint = site->fingerprint,
        .key = site->key == RH_NO_KEY ? RH_SIDECAR_NO_KEY : site->key,
        .access = site->record.access,
        .order = site->record.order,
        .size = site->record.size,
        .flags = site->record.flags,
        .function = function_of(r, site->inst->fn),
        .location = location_of(r, site->inst->loc),
        .expression = site->expression,
    };
    rh_vec_push(&r->sites, row);
}

/* --- removed accesses --- */

/* With which access it came closest to being a candidate. */
static void describe_removal(const struct rh_analysis *a, uint32_t number, struct rh_strbuf *out)
{
    const struct rh_pairs *pairs = &a->pairs;
    uint32_t class = pairs->class_of[number];
    if (class == UINT32_MAX || pairs->classes.data[class].closest == RH_PAIR_COUNT)
        return;
    uint32_t partner = pairs->classes.data[class].closest_partner;
    const struct rh_access *other =
        &a->accesses.all.data[pairs->classes.data[partner].members.data[0]];
    const struct rh_loc *loc = other->inst->loc;
    if (a->accesses.all.data[number].skip == RH_SKIP_GUARDED) {
        struct rh_strbuf locks = RH_STRBUF_INIT;
        rh_pairs_describe_locks(pairs, class, &locks);
        rh_strbuf_addf(out, "held here: %s; ", rh_strbuf_text(&locks));
        rh_strbuf_release(&locks);
    }
    const char *slash = loc ? strrchr(loc->file, '/') : NULL;
    rh_strbuf_addf(out, "closest: the %s %s %s:%u", rh_sidecar_access_name(other->kind),
                   loc && loc->is_near ? "near" : "at",
                   slash ? slash + 1
                   : loc ? loc->file
                         : "?",
                   loc ? loc->line : 0);
}

static void describe_removed(struct rh_rows *r, struct rh_expr *names, uint32_t number)
{
    const struct rh_access *a = &r->analysis->accesses.all.data[number];
    struct rh_strbuf text = RH_STRBUF_INIT;
    struct rh_sidecar_removed row = {
        .access = a->kind,
        .order = a->order,
        .size = (uint32_t)a->size,
        .flags = a->flags,
        .function = function_of(r, a->inst->fn),
        .location = location_of(r, a->inst->loc),
        .reason = rh_skip_name(a->skip),
    };
    if (a->pointer)
        rh_expr_describe(names, a->inst, a->pointer, 0, a->size, &text);
    row.expression = keep(r, &text);
    describe_removal(r->analysis, number, &text);
    row.detail = keep(r, &text);
    rh_vec_push(&r->removed, row);
    rh_strbuf_release(&text);
}

/* --- classes and groups --- */

static void make_class(struct rh_rows *r, uint32_t class, const uint32_t *site_of)
{
    const struct rh_pairs *pairs = &r->analysis->pairs;
    struct rh_strbuf text = RH_STRBUF_INIT;
    struct rh_sidecar_class row = {.number = (uint32_t)r->classes.len};
    rh_vec_each (uint32_t, access, &pairs->classes.data[class].members) {
        struct rh_candidates_member member = {site_of[*access], row.number};
        if (member.site != UINT32_MAX)
            rh_vec_push(&r->members, member);
    }
    rh_pairs_describe_threads(pairs, class, &text);
    row.threads = keep(r, &text);
    rh_pairs_describe_locks(pairs, class, &text);
    row.locks = keep(r, &text);
    row.threads = row.threads ? row.threads : "";
    row.locks = row.locks ? row.locks : "";
    rh_vec_push(&r->classes, row);
    rh_strbuf_release(&text);
}

/* The partners of the groups from `at` to `end`, which have all else in common. */
static void make_partners(struct rh_rows *r, size_t at, size_t end, const uint32_t *number_of,
                          struct rh_sidecar_group *row)
{
    const struct rh_pairs *pairs = &r->analysis->pairs;
    uint32_t *numbers = rh_arena_array(&r->arena, uint32_t, end - at);
    struct rh_strbuf packed = RH_STRBUF_INIT;
    for (size_t i = at; i < end; i++)
        numbers[i - at] = number_of[pairs->groups.data[i].second];
    rh_packed_add(&packed, numbers, end - at);
    char *bytes = rh_arena_array(&r->arena, char, packed.len);
    memcpy(bytes, rh_strbuf_text(&packed), packed.len);
    row->partners = bytes;
    row->partners_len = packed.len;
    struct rh_row_partners partners = {numbers, end - at};
    rh_vec_push(&r->partners, partners);
    rh_strbuf_release(&packed);
}

/* One row of all pairs of classes from `at` on that have the same to say; returns the next. */
static size_t make_group(struct rh_rows *r, size_t at, const uint32_t *number_of)
{
    const struct rh_pairs *pairs = &r->analysis->pairs;
    const struct rh_group *g = &pairs->groups.data[at];
    struct rh_strbuf text = RH_STRBUF_INIT;
    size_t end = at;
    while (end < pairs->groups.len && rh_pairs_say_the_same(g, &pairs->groups.data[end]))
        end++;
    struct rh_sidecar_group row = {
        .number = (uint32_t)r->groups.len,
        .first = number_of[g->first],
        .score = g->score,
        .flags = (g->reasons & 1 << RH_REASON_WAITS ? RH_GROUP_BUSY_WAIT : 0) |
                 (g->reasons & 1 << RH_REASON_VAGUE ? RH_GROUP_VAGUE : 0),
    };
    make_partners(r, at, end, number_of, &row);
    rh_score_explain_group(g->reasons, &text);
    row.why = keep(r, &text);
    rh_pairs_describe_object(pairs, g->object, &text);
    row.object = keep(r, &text);
    rh_vec_push(&r->groups, row);
    rh_strbuf_release(&text);
    return end;
}

/* Classes that are in no candidate are left out; the others keep their order. */
static void make_candidates(struct rh_rows *r, const struct rh_sites *sites)
{
    const struct rh_pairs *pairs = &r->analysis->pairs;
    size_t accesses = r->analysis->accesses.all.len;
    uint32_t *site_of = rh_alloc_array(accesses, sizeof *site_of);
    uint32_t *number_of = rh_alloc_array(pairs->classes.len, sizeof *number_of);
    memset(site_of, 0xff, accesses * sizeof *site_of);
    for (size_t i = 0; i < sites->sites.len; i++)
        site_of[sites->sites.data[i].access] = (uint32_t)i;
    for (uint32_t i = 0; i < pairs->classes.len; i++) {
        number_of[i] = (uint32_t)r->classes.len;
        if (pairs->classes.data[i].is_candidate)
            make_class(r, i, site_of);
    }
    for (size_t at = 0; at < pairs->groups.len;)
        at = make_group(r, at, number_of);
    free(site_of);
    free(number_of);
}

/* --- the whole --- */

void rh_rows_make(const struct rh_analysis *analysis, const struct rh_sites *sites,
                  struct rh_rows *out)
{
    memset(out, 0, sizeof *out);
    out->analysis = analysis;
    for (uint32_t i = 0; i < sites->sites.len; i++)
        make_site(out, i, &sites->sites.data[i]);
    if (!analysis)
        return;
    struct rh_expr *names = rh_expr_index(analysis->accesses.module);
    for (uint32_t i = 0; i < analysis->accesses.all.len; i++) {
        const struct rh_access *a = &analysis->accesses.all.data[i];
        if (!rh_access_is_site(a) && a->inst->loc)
            describe_removed(out, names, i);
    }
    rh_expr_free(names);
    make_candidates(out, sites);
}

uint32_t rh_rows_best(const struct rh_rows *r, uint32_t (*pairs)[2], uint32_t room)
{
    const struct rh_candidates_parts parts = {
        .sites = r->sites.data,
        .classes = r->classes.data,
        .class_count = r->classes.len,
        .members = r->members.data,
        .member_count = r->members.len,
        .groups = r->groups.data,
        .group_count = r->groups.len,
    };
    struct rh_candidates *candidates = rh_candidates_assemble(&parts);
    struct rh_candidate candidate;
    uint32_t count = 0;
    for (; count < room && rh_candidates_next(candidates, &candidate); count++) {
        pairs[count][0] = candidate.first->number;
        pairs[count][1] = candidate.second->number;
    }
    rh_candidates_close(candidates);
    return count;
}

static void write_classes(const struct rh_rows *r, struct rh_sidecar_writer *writer)
{
    uint32_t *sites = rh_alloc_array(r->members.len, sizeof *sites);
    size_t at = 0;
    rh_vec_each (const struct rh_sidecar_class, row, &r->classes) {
        size_t count = 0;
        for (; at < r->members.len && r->members.data[at].class_number == row->number; at++)
            sites[count++] = r->members.data[at].site;
        rh_sidecar_add_class(writer, row, sites, count);
    }
    free(sites);
}

static void write_analysis(const struct rh_analysis *a, struct rh_sidecar_writer *writer)
{
    size_t unknown_count;
    const struct rh_unknown_function *unknown = rh_pointsto_unknown(a->pointsto, &unknown_count);
    for (enum rh_phase i = 0; i < RH_PHASE_COUNT; i++)
        rh_sidecar_add_phase(writer, rh_phase_name(i), (uint64_t)(a->seconds[i] * 1000));
    for (enum rh_pair_fate i = 0; i < RH_PAIR_COUNT; i++)
        rh_sidecar_add_filter(writer, rh_pair_name(i), a->pairs.pairs[i]);
    for (size_t i = 0; i < unknown_count; i++)
        rh_sidecar_add_unknown(writer, unknown[i].fn->name, unknown[i].calls, unknown[i].objects);
}

void rh_rows_write(const struct rh_rows *r, struct rh_sidecar_writer *writer)
{
    rh_vec_each (const struct rh_sidecar_site, row, &r->sites)
        rh_sidecar_add_site(writer, row);
    rh_vec_each (const struct rh_sidecar_removed, row, &r->removed)
        rh_sidecar_add_removed(writer, row);
    write_classes(r, writer);
    for (size_t i = 0; i < r->groups.len; i++)
        rh_sidecar_add_group(writer, &r->groups.data[i], r->partners.data[i].numbers,
                             r->partners.data[i].count);
    if (r->analysis)
        write_analysis(r->analysis, writer);
}

void rh_rows_release(struct rh_rows *r)
{
    rh_vec_free(&r->sites);
    rh_vec_free(&r->removed);
    rh_vec_free(&r->classes);
    rh_vec_free(&r->members);
    rh_vec_free(&r->groups);
    rh_vec_free(&r->partners);
    rh_map_release(&r->locations);
    rh_arena_release(&r->arena);
}
