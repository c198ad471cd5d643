/* SPDX-License-Identifier: Apache-2.0 */
/* `racehive sites`: lists the sites of a program as a table or as JSON. */
#include "base/arena.h"
#include "base/args.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "report/locations.h"
#include "report/members.h"
#include "report/table.h"
#include "store/sidecar.h"

#include <inttypes.h>
#include <stdlib.h>

struct options {
    bool json;
    const char *symbols;
    const char *file;
    const char *function;
    uint64_t limit;
};

/* What is to be shown: the sites that match, in the order of the source. */
struct listing {
    struct rh_sidecar *sidecar;
    struct rh_locations locations;
    struct rh_arena arena;
    RH_VEC(struct rh_sidecar_site) sites;
    uint64_t total;
    struct rh_map holders; /* set of functions that hold a site */
};

static int compare_sites(const void *a, const void *b)
{
    return rh_sidecar_compare_locations(a, b);
}

static enum rh_status collect_sites(struct listing *listing, const struct options *options)
{
    for (;;) {
        struct rh_sidecar_site site;
        bool more;
        enum rh_status status = rh_sidecar_next_site(listing->sidecar, &site, &more);
        if (status != RH_OK)
            return status;
        if (!more)
            break;
        listing->total++;
        rh_map_put(&listing->holders, rh_map_key(site.function), 0);
        if (!rh_locations_match(&listing->locations, options->file, options->function, &site))
            continue;
        if (site.expression)
            site.expression = rh_arena_strdup(&listing->arena, site.expression);
        rh_vec_push(&listing->sites, site);
    }
    if (listing->sites.len > 0)
        qsort(listing->sites.data, listing->sites.len, sizeof *listing->sites.data, compare_sites);
    if (listing->sites.len > options->limit)
        listing->sites.len = options->limit;
    return RH_OK;
}

static void add_where(const struct listing *listing, struct rh_table *table,
                      const struct rh_sidecar_location *at)
{
    struct rh_strbuf where = RH_STRBUF_INIT;
    rh_locations_add(&listing->locations, at, &where);
    rh_table_add(table, rh_strbuf_text(&where), at && at->file ? RH_COLOUR_NONE : RH_COLOUR_DIM);
    rh_strbuf_release(&where);
}

static void add_size(struct rh_table *table, const struct rh_sidecar_site *site)
{
    if (site->flags & RH_SITE_SIZED)
        rh_table_add(table, "varies", RH_COLOUR_NONE);
    else if (site->access == RH_ACCESS_FENCE)
        rh_table_add(table, "-", RH_COLOUR_DIM);
    else
        rh_table_addf(table, RH_COLOUR_NONE, "%s%u",
                      site->flags & RH_SITE_PARTIAL    ? "<="
                      : site->flags & RH_SITE_AT_LEAST ? ">="
                                                       : "",
                      site->size);
}

static void add_function(struct rh_table *table, const struct rh_sidecar_site *site)
{
    struct rh_strbuf name = RH_STRBUF_INIT;
    rh_locations_add_function(site->location, site->function, &name);
    rh_table_add(table, rh_strbuf_text(&name), RH_COLOUR_NONE);
    rh_strbuf_release(&name);
}

static void print_table(const struct listing *listing)
{
    static const struct rh_table_column columns[] = {
        {.title = "SITE", .right = true},
        {.title = "WHERE"},
        {.title = "ACCESS"},
        {.title = "SIZE", .right = true},
        {.title = "FUNCTION"},
        {.title = "EXPRESSION"},
        {.title = "ID"},
    };
    struct rh_table table;
    rh_table_init(&table, columns, sizeof columns / sizeof columns[0]);
    rh_vec_each (struct rh_sidecar_site, site, &listing->sites) {
        char id[RH_HASH_HEX_SIZE];
        rh_hash_format(site->fingerprint, id);
        rh_table_addf(&table, RH_COLOUR_NONE, "%u", site->number);
        add_where(listing, &table, site->location);
        rh_table_add(&table, rh_sidecar_access_name(site->access),
                     rh_table_access_colour(site->access));
        add_size(&table, site);
        add_function(&table, site);
        rh_table_add(&table, site->expression ? site->expression : "-",
                     site->expression ? RH_COLOUR_BOLD : RH_COLOUR_DIM);
        rh_table_add(&table, id, RH_COLOUR_DIM);
    }
    rh_table_print(&table, stdout, rh_cli_coloured(stdout));
    rh_table_release(&table);
}

static void print_summary(const struct listing *listing, const char *program)
{
    uint64_t keys = rh_sidecar_key_count(listing->sidecar);
    if (listing->sites.len > 0)
        putchar('\n');
    printf("%s: %" PRIu64 " %s in %zu %s, %" PRIu64 " %s", program, listing->total,
           rh_table_choose(listing->total, "site", "sites"), listing->holders.len,
           rh_table_choose(listing->holders.len, "function", "functions"), keys,
           rh_table_choose(keys, "key", "keys"));
    if (listing->sites.len < listing->total)
        printf("; %zu shown", listing->sites.len);
    const char *reason;
    uint64_t count, skipped = 0;
    for (size_t at = 0; rh_sidecar_next_skipped(listing->sidecar, &at, &reason, &count);)
        skipped += count;
    if (skipped > 0)
        printf("; %" PRIu64 " %s skipped:", skipped,
               rh_table_choose(skipped, "access", "accesses"));
    putchar('\n');
    for (size_t at = 0; rh_sidecar_next_skipped(listing->sidecar, &at, &reason, &count);)
        if (count > 0)
            printf("%10" PRIu64 "  %s\n", count, reason);
}

static void put_site(struct rh_json *json, const struct rh_sidecar_site *site)
{
    char id[RH_HASH_HEX_SIZE];
    rh_hash_format(site->fingerprint, id);
    rh_json_begin_object(json);
    rh_members_text(json, "id", id);
    rh_members_number(json, "number", site->number);
    rh_members_site(json, site);
    rh_members_number_if(json, "key", site->key != RH_SIDECAR_NO_KEY, site->key);
    rh_members_chain(json, "inlined_at", site);
    rh_json_end_object(json);
}

static enum rh_status print_json(const struct listing *listing, const char *program)
{
    struct rh_json json;
    rh_json_init_file(&json, stdout);
    rh_json_begin_object(&json);
    rh_members_head(&json, program,
                    rh_sidecar_get_meta(listing->sidecar, RH_SIDECAR_META_BUILD_ID));
    rh_json_key(&json, "sites");
    rh_json_begin_array(&json);
    rh_vec_each (struct rh_sidecar_site, site, &listing->sites)
        put_site(&json, site);
    rh_json_end_array(&json);
    rh_json_key(&json, "skipped");
    rh_json_begin_object(&json);
    const char *reason;
    uint64_t count;
    for (size_t at = 0; rh_sidecar_next_skipped(listing->sidecar, &at, &reason, &count);)
        rh_members_number(&json, reason, count);
    rh_json_end_object(&json);
    rh_json_end_object(&json);
    return rh_json_finish(&json);
}

static enum rh_status list_sites(const char *path, const char *operand,
                                 const struct options *options)
{
    struct listing listing = {0};
    char *program = rh_path_basename(operand);
    rh_locations_init(&listing.locations);
    enum rh_status status = rh_sidecar_open(path, &listing.sidecar);
    if (status != RH_OK)
        goto free_listing;
    const char *recorded = rh_sidecar_get_meta(listing.sidecar, RH_SIDECAR_META_PROGRAM);
    status = collect_sites(&listing, options);
    if (status == RH_OK && options->json) {
        status = print_json(&listing, recorded ? recorded : program);
    } else if (status == RH_OK) {
        print_table(&listing);
        print_summary(&listing, recorded ? recorded : program);
    }
    rh_sidecar_close(listing.sidecar);

free_listing:
    rh_vec_free(&listing.sites);
    rh_map_release(&listing.holders);
    rh_arena_release(&listing.arena);
    rh_locations_release(&listing.locations);
    free(program);
    return status;
}

enum rh_status rh_cmd_sites(int argc, char **argv)
{
    struct options options = {.limit = UINT64_MAX};
    const struct rh_option table[] = {
        RH_OPTION_FLAG("json", &options.json, "print JSON"),
        RH_OPTION_STRING("symbols", &options.symbols, "FILE",
                         "read the sites from FILE, the program's .racehive file"),
        RH_OPTION_STRING("file", &options.file, "GLOB", "only sites in source files that match"),
        RH_OPTION_STRING("function", &options.function, "NAME",
                         "only sites in this function, or inlined into it"),
        RH_OPTION_UINT("limit", &options.limit, "N",
                       "show at most N sites; 0 shows the summary alone"),
        RH_OPTION_END,
    };
    const struct rh_command command = {
        .name = "racehive sites",
        .synopsis = "[OPTIONS] PROG",
        .summary =
            "Lists the sites of PROG, a program or shared library built with racehive-cc, or\n"
            "its .racehive file: every memory access and atomic operation that may touch\n"
            "memory another thread can reach.",
        .examples = "  racehive sites ./bank\n"
                    "  racehive sites --file='queue*.c' --json ./bank",
        .options = table,
    };
    struct rh_args args;
    enum rh_status status;
    if (!rh_cli_parse(&command, argc, argv, &args, &status))
        return status;
    if (args.argc != 1)
        return rh_fail(RH_ERR_USAGE, "%s (see 'racehive sites --help')",
                       args.argc == 0 ? "which program?" : "one program at a time");
    char *path;
    status = rh_sidecar_find(args.argv[0], options.symbols, &path);
    if (status != RH_OK)
        return status;
    status = list_sites(path, args.argv[0], &options);
    free(path);
    return status;
}
