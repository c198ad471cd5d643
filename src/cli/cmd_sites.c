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
#include "cli/table.h"
#include "store/sidecar.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    char *folder; /* the current one with a slash at the end; NULL if it is unknown */
    struct rh_arena arena;
    RH_VEC(struct rh_sidecar_site) sites;
    uint64_t total;
    struct rh_map holders; /* set of functions that hold a site */
};

/* The path from the current folder for what is below it; else the path as recorded. */
static const char *shorten_path(const struct listing *listing, const char *path)
{
    size_t len = listing->folder ? strlen(listing->folder) : 0;
    if (len == 0 || strncmp(path, listing->folder, len) != 0)
        return path;
    path += len;
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    return path;
}

/* A pattern without a slash is about the name of the file, wherever it is. */
static bool matches_file(const struct listing *listing, const char *pattern, const char *path)
{
    if (!path)
        return false;
    if (!strchr(pattern, '/')) {
        const char *slash = strrchr(path, '/');
        return fnmatch(pattern, slash ? slash + 1 : path, 0) == 0;
    }
    return fnmatch(pattern, path, 0) == 0 || fnmatch(pattern, shorten_path(listing, path), 0) == 0;
}

static bool matches_name(const char *wanted, const char *name, const char *linkage)
{
    return strcmp(wanted, name) == 0 || strcmp(wanted, linkage) == 0;
}

/* A function's sites are those on its own lines, and those inlined into it. */
static bool matches_function(const char *wanted, const struct rh_sidecar_site *site)
{
    for (const struct rh_sidecar_location *at = site->location; at; at = at->inlined_at)
        if (matches_name(wanted, at->function, at->linkage))
            return true;
    return matches_name(wanted, site->function->name, site->function->linkage);
}

static bool is_wanted(const struct listing *listing, const struct options *options,
                      const struct rh_sidecar_site *site)
{
    const char *file = site->location ? site->location->file : NULL;
    if (options->file && !matches_file(listing, options->file, file))
        return false;
    return !options->function || matches_function(options->function, site);
}

static int compare_texts(const char *a, const char *b)
{
    if (!a || !b)
        return (a == NULL) - (b == NULL);
    return strcmp(a, b);
}

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* By place, unknown places last; sites of one place by their numbers. */
static int compare_sites(const void *a, const void *b)
{
    static const struct rh_sidecar_location nowhere = {0};
    const struct rh_sidecar_site *x = a, *y = b;
    const struct rh_sidecar_location *at = x->location ? x->location : &nowhere;
    const struct rh_sidecar_location *bt = y->location ? y->location : &nowhere;
    int order = compare_texts(at->file, bt->file);
    if (order == 0)
        order = compare_numbers(at->line, bt->line);
    if (order == 0)
        order = compare_numbers(at->column, bt->column);
    return order != 0 ? order : compare_numbers(x->number, y->number);
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
        if (!is_wanted(listing, options, &site))
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

static bool is_atomic(const struct rh_sidecar_site *site)
{
    return rh_sidecar_order_name(site->order) != NULL;
}

static void add_where(const struct listing *listing, struct rh_table *table,
                      const struct rh_sidecar_location *at)
{
    if (!at || !at->file)
        rh_table_add(table, "?", RH_COLOUR_DIM);
    else if (at->line == 0)
        rh_table_addf(table, RH_COLOUR_NONE, "%s:?", shorten_path(listing, at->file));
    else
        rh_table_addf(table, RH_COLOUR_NONE, "%s:%u:%u", shorten_path(listing, at->file), at->line,
                      at->column);
}

static void add_size(struct rh_table *table, const struct rh_sidecar_site *site)
{
    if (site->flags & RH_SITE_SIZED)
        rh_table_add(table, "varies", RH_COLOUR_NONE);
    else if (site->access == RH_ACCESS_FENCE)
        rh_table_add(table, "-", RH_COLOUR_DIM);
    else
        rh_table_addf(table, RH_COLOUR_NONE, "%s%u", site->flags & RH_SITE_PARTIAL ? "<=" : "",
                      site->size);
}

static void add_function(struct rh_table *table, const struct rh_sidecar_site *site)
{
    if (site->location && site->location->inlined_at)
        rh_table_addf(table, RH_COLOUR_NONE, "%s (inlined into %s)", site->location->function,
                      site->function->name);
    else
        rh_table_add(table, site->location ? site->location->function : site->function->name,
                     RH_COLOUR_NONE);
}

static enum rh_colour colour_of_access(const struct rh_sidecar_site *site)
{
    if (is_atomic(site))
        return RH_COLOUR_CYAN;
    return site->access == RH_ACCESS_WRITE ? RH_COLOUR_YELLOW : RH_COLOUR_NONE;
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
        rh_table_add(&table, rh_sidecar_access_name(site->access), colour_of_access(site));
        add_size(&table, site);
        add_function(&table, site);
        rh_table_add(&table, site->expression ? site->expression : "-",
                     site->expression ? RH_COLOUR_BOLD : RH_COLOUR_DIM);
        rh_table_add(&table, id, RH_COLOUR_DIM);
    }
    rh_table_print(&table, stdout, rh_cli_coloured(stdout));
    rh_table_release(&table);
}

static const char *choose(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

static void print_summary(const struct listing *listing, const char *program)
{
    uint64_t keys = rh_sidecar_key_count(listing->sidecar);
    if (listing->sites.len > 0)
        putchar('\n');
    printf("%s: %" PRIu64 " %s in %zu %s, %" PRIu64 " %s", program, listing->total,
           choose(listing->total, "site", "sites"), listing->holders.len,
           choose(listing->holders.len, "function", "functions"), keys,
           choose(keys, "key", "keys"));
    if (listing->sites.len < listing->total)
        printf("; %zu shown", listing->sites.len);
    const char *reason;
    uint64_t count, skipped = 0;
    for (size_t at = 0; rh_sidecar_next_skipped(listing->sidecar, &at, &reason, &count);)
        skipped += count;
    if (skipped > 0)
        printf("; %" PRIu64 " %s skipped:", skipped, choose(skipped, "access", "accesses"));
    putchar('\n');
    for (size_t at = 0; rh_sidecar_next_skipped(listing->sidecar, &at, &reason, &count);)
        if (count > 0)
            printf("%10" PRIu64 "  %s\n", count, reason);
}

static void put_text(struct rh_json *json, const char *name, const char *text)
{
    rh_json_key(json, name);
    rh_json_string(json, text);
}

static void put_number(struct rh_json *json, const char *name, uint64_t number)
{
    rh_json_key(json, name);
    rh_json_uint(json, number);
}

/* What is not known is null: the size of a memcpy, the key of a site that has none. */
static void put_number_if(struct rh_json *json, const char *name, bool known, uint64_t number)
{
    rh_json_key(json, name);
    if (known)
        rh_json_uint(json, number);
    else
        rh_json_null(json);
}

static void put_place(struct rh_json *json, const struct rh_sidecar_location *at)
{
    put_text(json, "file", at->file);
    put_number(json, "line", at->line);
    put_number(json, "column", at->column);
    put_text(json, "function", at->function);
}

static void put_chain(struct rh_json *json, const struct rh_sidecar_location *at)
{
    rh_json_key(json, "inlined_at");
    rh_json_begin_array(json);
    for (; at; at = at->inlined_at) {
        rh_json_begin_object(json);
        put_place(json, at);
        rh_json_end_object(json);
    }
    rh_json_end_array(json);
}

static void put_site(struct rh_json *json, const struct rh_sidecar_site *site)
{
    const struct rh_sidecar_location nowhere = {.function = site->function->name};
    const struct rh_sidecar_location *at = site->location ? site->location : &nowhere;
    char id[RH_HASH_HEX_SIZE];
    rh_hash_format(site->fingerprint, id);
    rh_json_begin_object(json);
    put_text(json, "id", id);
    put_number(json, "number", site->number);
    put_place(json, at);
    put_text(json, "access", rh_sidecar_access_name(site->access));
    put_number_if(json, "size", !(site->flags & RH_SITE_SIZED), site->size);
    if (is_atomic(site))
        put_text(json, "order", rh_sidecar_order_name(site->order));
    put_text(json, "expression", site->expression);
    put_number_if(json, "key", site->key != RH_SIDECAR_NO_KEY, site->key);
    put_chain(json, at->inlined_at);
    rh_json_end_object(json);
}

static enum rh_status print_json(const struct listing *listing, const char *program)
{
    struct rh_json json;
    rh_json_init_file(&json, stdout);
    rh_json_begin_object(&json);
    put_text(&json, "tool", "racehive");
    put_text(&json, "version", RH_VERSION);
    put_text(&json, "program", program);
    put_text(&json, "build_id", rh_sidecar_get_meta(listing->sidecar, RH_SIDECAR_META_BUILD_ID));
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
        put_number(&json, reason, count);
    rh_json_end_object(&json);
    rh_json_end_object(&json);
    return rh_json_finish(&json);
}

/* The current folder with a slash at the end, NULL if there is none (it may have been removed). */
static char *name_folder(void)
{
    char *folder = getcwd(NULL, 0);
    if (!folder)
        return NULL;
    size_t len = strlen(folder);
    char *with_slash = rh_format("%s%s", folder, len > 0 && folder[len - 1] == '/' ? "" : "/");
    free(folder);
    return with_slash;
}

static enum rh_status list_sites(const char *path, const char *operand,
                                 const struct options *options)
{
    struct listing listing = {.folder = name_folder()};
    char *program = rh_path_basename(operand);
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
    free(listing.folder);
    free(program);
    return status;
}

enum rh_status rh_cmd_sites(int argc, char **argv)
{
    struct options options = {.limit = UINT64_MAX};
    const struct rh_option table[] = {
        RH_OPTION_FLAG("json", &options.json, "print JSON"),
        RH_OPTION_STRING("symbols", &options.symbols, "FILE",
                         "take the sites from FILE, the program's .racehive file"),
        RH_OPTION_STRING("file", &options.file, "GLOB", "only sites in source files that match"),
        RH_OPTION_STRING("function", &options.function, "NAME",
                         "only sites of a function, those inlined into it too"),
        RH_OPTION_UINT("limit", &options.limit, "N", "show at most N sites"),
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
    enum rh_status status = rh_args_parse(&command, argc, argv, &args);
    if (status != RH_OK)
        return status;
    if (args.help) {
        rh_args_print_help(&command, stdout);
        return RH_OK;
    }
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
