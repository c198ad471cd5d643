/* Turns the results of the analysis into rows of the sidecar: see findings.h. */
#include "cli/findings.h"

#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "ir/names/expr.h"

/* --- places --- */

const struct rh_sidecar_location *rh_sources_location(struct rh_sources *sources,
                                                      const struct rh_loc *loc)
{
    if (!loc)
        return NULL;
    struct rh_sidecar_location *out = rh_map_get_ptr(&sources->done, rh_map_key(loc));
    if (out)
        return out;
    out = rh_arena_new(sources->arena, struct rh_sidecar_location);
    *out = (struct rh_sidecar_location){
        .file = loc->file,
        .line = loc->line,
        .column = loc->column,
        .function = loc->function,
        .linkage = loc->linkage,
        .inlined_at = rh_sources_location(sources, loc->inlined_at),
    };
    rh_map_put_ptr(&sources->done, rh_map_key(loc), out);
    return out;
}

struct rh_sidecar_function rh_sources_function(const struct rh_function *fn)
{
    return (struct rh_sidecar_function){
        .name = fn->loc ? fn->loc->function : fn->name,
        .linkage = fn->name,
        .file = fn->loc ? fn->loc->file : NULL,
        .line = fn->loc ? fn->loc->line : 0,
    };
}

static const char *keep(struct rh_findings *f, struct rh_strbuf *text)
{
    const char *kept = text->len ? rh_arena_strdup(&f->arena, rh_strbuf_text(text)) : NULL;
    rh_strbuf_reset(text);
    return kept;
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
    rh_strbuf_addf(out, "closest: the %s at %s:%u", rh_sidecar_access_name(other->kind),
                   slash ? slash + 1
                   : loc ? loc->file
                         : "?",
                   loc ? loc->line : 0);
}

static void describe_removed(struct rh_findings *f, struct rh_expr *names, uint32_t number)
{
    const struct rh_access *a = &f->analysis->accesses.all.data[number];
    struct rh_strbuf text = RH_STRBUF_INIT;
    struct rh_sidecar_function *function = rh_arena_new(&f->arena, struct rh_sidecar_function);
    *function = rh_sources_function(a->inst->fn);
    struct rh_sidecar_removed row = {
        .access = a->kind,
        .order = a->order,
        .size = (uint32_t)a->size,
        .flags = a->flags,
        .function = function,
        .location = rh_sources_location(&f->sources, a->inst->loc),
        .reason = rh_skip_name(a->skip),
    };
    if (a->pointer)
        rh_expr_describe(names, a->inst, a->pointer, 0, a->size, &text);
    row.expression = keep(f, &text);
    describe_removal(f->analysis, number, &text);
    row.detail = keep(f, &text);
    rh_vec_push(&f->removed, row);
    rh_strbuf_release(&text);
}

/* --- candidates --- */

static void describe_class(struct rh_findings *f, uint32_t class, const uint32_t *site_of)
{
    const struct rh_pairs *pairs = &f->analysis->pairs;
    const struct rh_class *c = &pairs->classes.data[class];
    uint32_t *sites = rh_arena_array(&f->arena, uint32_t, c->members.len);
    struct rh_strbuf text = RH_STRBUF_INIT;
    struct rh_finding_class out = {.sites = sites};
    rh_vec_each (uint32_t, member, &c->members)
        if (site_of[*member] != UINT32_MAX)
            sites[out.site_count++] = site_of[*member];
    out.row.number = (uint32_t)f->classes.len;
    rh_pairs_describe_threads(pairs, class, &text);
    out.row.threads = keep(f, &text);
    rh_pairs_describe_locks(pairs, class, &text);
    out.row.locks = keep(f, &text);
    out.row.threads = out.row.threads ? out.row.threads : "";
    out.row.locks = out.row.locks ? out.row.locks : "";
    rh_vec_push(&f->classes, out);
    rh_strbuf_release(&text);
}

/* One row of all pairs of classes from `at` on that have the same to say; returns the next. */
static size_t describe_group(struct rh_findings *f, size_t at, const uint32_t *number_of)
{
    const struct rh_pairs *pairs = &f->analysis->pairs;
    const struct rh_group *g = &pairs->groups.data[at];
    struct rh_strbuf text = RH_STRBUF_INIT;
    struct rh_finding_group out = {0};
    size_t end = at;
    while (end < pairs->groups.len && rh_pairs_say_the_same(g, &pairs->groups.data[end]))
        end++;
    uint32_t *partners = rh_arena_array(&f->arena, uint32_t, end - at);
    for (size_t i = at; i < end; i++)
        partners[out.partner_count++] = number_of[pairs->groups.data[i].second];
    out.partners = partners;
    out.row = (struct rh_sidecar_group){
        .number = (uint32_t)f->groups.len,
        .first = number_of[g->first],
        .score = g->score,
        .flags = (g->flags & RH_PAIRS_BUSY_WAIT ? RH_GROUP_BUSY_WAIT : 0) |
                 (g->flags & RH_PAIRS_VAGUE ? RH_GROUP_VAGUE : 0),
    };
    rh_pairs_describe_why(g, &text);
    out.row.why = keep(f, &text);
    rh_pairs_describe_object(pairs, g->object, &text);
    out.row.object = keep(f, &text);
    rh_vec_push(&f->groups, out);
    rh_strbuf_release(&text);
    return end;
}

/* Classes that are in no candidate are left out; the others keep their order. */
static void describe_candidates(struct rh_findings *f, const struct rh_sites *sites)
{
    const struct rh_pairs *pairs = &f->analysis->pairs;
    size_t accesses = f->analysis->accesses.all.len;
    uint32_t *site_of = rh_alloc_array(accesses, sizeof *site_of);
    uint32_t *number_of = rh_alloc_array(pairs->classes.len, sizeof *number_of);
    memset(site_of, 0xff, accesses * sizeof *site_of);
    for (size_t i = 0; i < sites->sites.len; i++)
        site_of[sites->sites.data[i].access] = (uint32_t)i;
    for (uint32_t i = 0; i < pairs->classes.len; i++) {
        number_of[i] = (uint32_t)f->classes.len;
        if (pairs->classes.data[i].is_candidate)
            describe_class(f, i, site_of);
    }
    for (size_t at = 0; at < pairs->groups.len;)
        at = describe_group(f, at, number_of);
    free(site_of);
    free(number_of);
}

void rh_findings_describe(const struct rh_analysis *analysis, const struct rh_sites *sites,
                          struct rh_findings *out)
{
    memset(out, 0, sizeof *out);
    out->analysis = analysis;
    out->sources.arena = &out->arena;
    struct rh_expr *names = rh_expr_index(analysis->accesses.module);
    for (uint32_t i = 0; i < analysis->accesses.all.len; i++) {
        const struct rh_access *a = &analysis->accesses.all.data[i];
        if (!rh_access_is_site(a) && a->inst->loc)
            describe_removed(out, names, i);
    }
    rh_expr_free(names);
    describe_candidates(out, sites);
}

void rh_findings_write(const struct rh_findings *f, struct rh_sidecar_writer *writer)
{
    const struct rh_analysis *a = f->analysis;
    size_t unknown_count;
    const struct rh_unknown_function *unknown = rh_pointsto_unknown(a->pointsto, &unknown_count);
    rh_vec_each (struct rh_sidecar_removed, row, &f->removed)
        rh_sidecar_add_removed(writer, row);
    rh_vec_each (struct rh_finding_class, class, &f->classes)
        rh_sidecar_add_class(writer, &class->row, class->sites, class->site_count);
    rh_vec_each (struct rh_finding_group, group, &f->groups)
        rh_sidecar_add_group(writer, &group->row, group->partners, group->partner_count);
    for (enum rh_phase i = 0; i < RH_PHASE_COUNT; i++)
        rh_sidecar_add_phase(writer, rh_phase_name(i), (uint64_t)(a->seconds[i] * 1000));
    for (enum rh_pair_fate i = 0; i < RH_PAIR_COUNT; i++)
        rh_sidecar_add_filter(writer, rh_pair_name(i), a->pairs.pairs[i]);
    for (size_t i = 0; i < unknown_count; i++)
        rh_sidecar_add_unknown(writer, unknown[i].fn->name, unknown[i].calls, unknown[i].objects);
}

void rh_findings_release(struct rh_findings *f)
{
    rh_vec_free(&f->removed);
    rh_vec_free(&f->classes);
    rh_vec_free(&f->groups);
    rh_map_release(&f->sources.done);
    rh_arena_release(&f->arena);
}

/* --- the best candidates --- */

static bool conflicts(const struct rh_site_record *a, const struct rh_site_record *b)
{
    bool a_reads = a->access == RH_ACCESS_READ || a->access == RH_ACCESS_ATOMIC_READ;
    bool b_reads = b->access == RH_ACCESS_READ || b->access == RH_ACCESS_ATOMIC_READ;
    bool a_plain = a->access == RH_ACCESS_READ || a->access == RH_ACCESS_WRITE;
    bool b_plain = b->access == RH_ACCESS_READ || b->access == RH_ACCESS_WRITE;
    return !(a_reads && b_reads) && (a_plain || b_plain);
}

/* The pairs of two classes, until there is no more room. */
static uint32_t add_pairs(const struct rh_sites *sites, const struct rh_finding_class *a,
                          const struct rh_finding_class *b, uint32_t (*pairs)[2], uint32_t count,
                          uint32_t room)
{
    for (size_t i = 0; i < a->site_count; i++) {
        for (size_t j = a == b ? i : 0; j < b->site_count; j++) {
            uint32_t x = a->sites[i], y = b->sites[j];
            if (count == room)
                return count;
            if (conflicts(&sites->sites.data[x].record, &sites->sites.data[y].record)) {
                pairs[count][0] = x;
                pairs[count++][1] = y;
            }
        }
    }
    return count;
}

uint32_t rh_findings_best(const struct rh_findings *findings, const struct rh_sites *sites,
                          uint32_t (*pairs)[2], uint32_t room)
{
    const struct rh_finding_class *classes = findings->classes.data;
    uint32_t count = 0;
    rh_vec_each (struct rh_finding_group, group, &findings->groups)
        for (size_t i = 0; i < group->partner_count && count < room; i++)
            count = add_pairs(sites, &classes[group->row.first], &classes[group->partners[i]],
                              pairs, count, room);
    return count;
}
