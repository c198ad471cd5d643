/* SPDX-License-Identifier: Apache-2.0 */
/* Instruments a merged module and leaves its sidecar: see linkstep.h. */
#include "linkstep/linkstep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/exposed.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/starters.h"
#include "base/trust.h"
#include "instrument/keys.h"
#include "instrument/opaque.h"
#include "instrument/openmp.h"
#include "ir/rewrite/rewrite.h"
#include "linkstep/rows.h"
#include "linkstep/rules.h"
#include "store/sidecar.h"

enum {
    MODULE_LEVEL = 3,       /* of zstd: the link waits for it */
    BEST_CANDIDATES = 4096, /* that an image carries, for runs that no controller follows */
};

struct work {
    const struct rh_linkstep *options;
    struct rh_module *module;
    struct rh_analysis analysis;
    bool analysed;
    const char *starter; /* what can start threads unseen; NULL: nothing */
    bool has_stores;     /* pointer stores have keys */
    struct rh_stores stores;
    struct rh_sites sites;
    struct rh_rows rows;
    struct rh_keys_result result;
    struct rh_strbuf config_text;
    struct rh_config config;
};

/* --- the object --- */

static enum rh_status parse_mode(const char *text, enum rh_key_mode *mode)
{
    static const char *const names[] = {
        [RH_KEYS_PATCH] = "patch",
        [RH_KEYS_FLAG] = "flag",
        [RH_KEYS_NONE] = "none",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], text) == 0) {
            *mode = (enum rh_key_mode)i;
            return RH_OK;
        }
    }
    return rh_fail(RH_ERR_USAGE, "keys are patch, flag or none, not '%s'", text);
}

static bool is_testing(const struct rh_linkstep *o)
{
    return strcmp(o->profile, "testing") == 0;
}

/* Tells racehive-ld, for those who wait at a terminal. */
static void say_doing(const char *what)
{
    printf("doing %s\n", what);
    fflush(stdout);
}

static void say_phase(enum rh_phase phase)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    rh_strbuf_addf(&text, "analysing %s", rh_phase_name(phase));
    say_doing(rh_strbuf_text(&text));
    rh_strbuf_release(&text);
}

static void show_phase(enum rh_phase phase, double seconds)
{
    rh_log_step("analysed %s in %.2f s", rh_phase_name(phase), seconds);
}

/* A program that is too large to be analysed in time gets keys wherever memory may be shared. */
static void analyse(struct work *w, const struct rh_analysis_options *options)
{
    w->analysed = rh_analysis_run(w->module, options, &w->analysis);
    if (w->analysed && w->analysis.is_coarse)
        rh_log_warn("%s: the search for candidates ran short of time and is coarse: it has more "
                    "candidates than --rh-analysis-seconds=N with N > %d would give",
                    w->options->program, (int)options->seconds);
    if (w->analysed)
        return;
    rh_log_warn("%s: the search for candidates gave up after %d s (%s); every site gets a key",
                w->options->program, (int)options->seconds, rh_phase_name(w->analysis.gave_up));
    rh_analysis_release(&w->analysis);
    memset(&w->analysis, 0, sizeof w->analysis);
    rh_accesses_collect(w->module, &w->config, &w->analysis.accesses);
}

static void mark_entries(struct work *w)
{
    for (uint32_t i = 0; i < rh_ir_function_count(w->module); i++) {
        struct rh_function *fn = rh_ir_function(w->module, i);
        fn->is_entry =
            fn->block_count &&
            (rh_config_matches(&w->config, RH_CONFIG_ENTRY, fn->name) ||
             (fn->loc && rh_config_matches(&w->config, RH_CONFIG_ENTRY, fn->loc->function)));
    }
}

/* What the program calls that can start threads and is not described, if nothing else can. */
static const char *find_starter(const struct work *w)
{
    const char *starter = w->options->starter;
    for (uint32_t i = 0; !starter && i < rh_ir_function_count(w->module); i++) {
        const struct rh_function *fn = rh_ir_function(w->module, i);
        bool can_start = rh_starts_threads(fn->name) || rh_loads_code(fn->name);
        if (!fn->block_count && fn->value->user_count && can_start && !rh_library_find(fn->name))
            starter = fn->name;
    }
    return starter;
}

/* Whether code of other images with keys may work on the same memory. */
static bool meets_others(const struct work *w)
{
    if (w->options->keyed || strcmp(w->options->type, "shared") == 0)
        return true;
    for (uint32_t i = 0; i < rh_ir_function_count(w->module); i++) {
        const struct rh_function *fn = rh_ir_function(w->module, i);
        if (!fn->block_count && fn->value->user_count && rh_loads_code(fn->name))
            return true;
    }
    return false;
}

static void expose(struct work *w)
{
    if (!w->analysed || !meets_others(w))
        return;
    uint64_t count = rh_exposed_mark(&w->analysis);
    rh_log_step("%" PRIu64 " more accesses may race with other images", count);
}

static bool has_sites(const struct work *w)
{
    rh_vec_each (const struct rh_access, a, &w->analysis.accesses.all)
        if (rh_access_is_site(a))
            return true;
    return false;
}

/* Without candidates nobody asks what escapes, unless other images have some. */
static void find_stores(struct work *w)
{
    if (!has_sites(w) && !meets_others(w))
        return;
    rh_stores_find(w->module, &w->analysis, w->analysed, &w->stores);
    rh_log_step("%zu keys for pointer stores and allocations, %" PRIu64 " stores need none",
                w->stores.all.len, w->stores.needless);
}

/* Which accesses are sites: those in a candidate, or, if nothing is to be proved, all that are not
 * plainly private. */
static enum rh_status choose_sites(struct work *w)
{
    const struct rh_linkstep *o = w->options;
    bool trusts[RH_TRUST_COUNT];
    if (!rh_trust_parse(o->trust, trusts))
        return rh_fail(RH_ERR_USAGE, "unknown trust '%s'", o->trust);
    struct rh_analysis_options options = {
        .is_library = strcmp(o->type, "shared") == 0,
        .trusts_library = trusts[RH_TRUST_CXX_LIBRARY],
        .trusts_declarations = trusts[RH_TRUST_DECLARATIONS],
        .seconds = (double)o->seconds,
        .config = &w->config,
        .begins = say_phase,
        .done = show_phase,
    };
    mark_entries(w);
    w->starter = find_starter(w);
    options.outside_starts = w->starter != NULL;
    if (w->starter)
        rh_log_step("functions given to code without bitcode may run in threads: %s", w->starter);
    if (strcmp(o->sites, "candidates") == 0)
        analyse(w, &options);
    else if (strcmp(o->sites, "all") == 0)
        rh_accesses_collect(w->module, &w->config, &w->analysis.accesses);
    else
        return rh_fail(RH_ERR_USAGE, "sites are candidates or all, not '%s'", o->sites);
    expose(w);
    w->has_stores = !is_testing(o) && strcmp(o->escape, "on") == 0;
    if (w->has_stores)
        find_stores(w);
    rh_sites_collect(&w->analysis.accesses, &w->stores, is_testing(o), &w->sites);
    rh_rows_make(w->analysed ? &w->analysis : NULL, &w->sites, &w->rows);
    return RH_OK;
}

/* The runtime stands in front of clone, but needs its other name itself. */
static bool clones_unseen(const struct rh_module *m)
{
    const struct rh_function *fn = rh_ir_find_function(m, "__clone");
    return fn && !fn->block_count && fn->value->user_count;
}

static enum rh_status write_object(struct work *w)
{
    const struct rh_linkstep *o = w->options;
    struct rh_codegen codegen = {
        .opt_level = (unsigned)o->opt,
        .pic = o->pic != 0,
        .cpu = o->cpu,
        .features = o->features,
    };
    enum rh_key_mode mode = RH_KEYS_PATCH;
    enum rh_status status = parse_mode(o->keys, &mode);
    if (status == RH_OK)
        status = rh_rules_open(o->input, &w->config, o->config, &w->module);
    if (status == RH_OK)
        status = choose_sites(w);
    if (status != RH_OK)
        return status;
    rh_log_step("inserting %zu keys for %u of %zu sites", w->sites.keys.len, w->sites.keyed,
                w->sites.sites.len);
    say_doing("inserting keys");
    bool is_opaque = o->has_native || rh_opaque_module(w->module, rh_rules_name, &w->config) ||
                     clones_unseen(w->module) || rh_opaque_lookups(w->module) ||
                     rh_opaque_callbacks(w->module) ||
                     rh_openmp_is_opaque(w->module, o->has_runtime);
    if (o->has_runtime)
        rh_openmp_lead(w->module);
    uint32_t(*best)[2] = rh_calloc(BEST_CANDIDATES, sizeof *best);
    const struct rh_keys_facts facts = {
        .flags = (is_opaque ? RH_IMAGE_OPAQUE : 0) |
                 (rh_opaque_frees(w->module) ? RH_IMAGE_FREES : 0) |
                 (is_testing(o) ? RH_IMAGE_CHECKS : 0) | (w->has_stores ? RH_IMAGE_ESCAPE : 0),
        .candidates = (const uint32_t(*)[2])best,
        .candidate_count = is_testing(o) ? 0 : rh_rows_best(&w->rows, best, BEST_CANDIDATES),
        .has_checks = is_testing(o),
        .has_runtime = strcmp(o->type, "exe") == 0,
    };
    status = rh_keys_insert(w->module, &w->sites, mode, &facts, &w->result);
    free(best);
    if (status != RH_OK)
        return status;
    rh_log_step("%u functions have a twin, %u cannot; %u keys have no place",
                w->result.functions_twinned, w->result.functions_refused, w->result.keys_refused);
    say_doing("generating code");
    return rh_ir_write_object(w->module, &codegen, o->object);
}

/* --- the sidecar --- */

static void set_threads(const struct work *w, struct rh_sidecar_writer *writer)
{
    char text[16];
    uint32_t count = 0;
    for (uint32_t i = 0; i < rh_flow_thread_count(w->analysis.flow); i++) {
        enum rh_thread_kind kind = rh_flow_thread(w->analysis.flow, i)->kind;
        count += kind != RH_THREAD_MAIN && kind != RH_THREAD_HANDLER;
    }
    snprintf(text, sizeof text, "%u", count);
    rh_sidecar_set_meta(writer, RH_SIDECAR_META_THREADS, text);
}

static void fill_sidecar(struct work *w, struct rh_sidecar_writer *writer,
                         const struct rh_fs_mapping *bitcode)
{
    char *program = rh_path_basename(w->options->program);
    rh_sidecar_set_meta(writer, RH_SIDECAR_META_PROGRAM, program);
    rh_sidecar_set_meta(writer, RH_SIDECAR_META_PROFILE, w->options->profile);
    rh_sidecar_set_meta(writer, RH_SIDECAR_META_KEYS, w->options->keys);
    rh_sidecar_set_meta(writer, RH_SIDECAR_META_IMAGE, w->options->type);
    if (w->config_text.len)
        rh_sidecar_set_meta(writer, RH_SIDECAR_META_CONFIG, rh_strbuf_text(&w->config_text));
    if (w->starter)
        rh_sidecar_set_meta(writer, RH_SIDECAR_META_STARTER, w->starter);
    if (w->analysed)
        set_threads(w, writer);
    for (int s = 0; s < RH_SKIP_COUNT; s++)
        rh_sidecar_set_skipped(writer, rh_skip_name(s), w->analysis.accesses.skipped[s]);
    rh_rows_write(&w->rows, writer);
    if (!w->analysed)
        rh_sidecar_set_meta(writer, RH_SIDECAR_META_UNANALYSED,
                            strcmp(w->options->sites, "all") == 0
                                ? "it was built with --rh-sites=all"
                                : "the analysis took too long");
    for (size_t k = 0; k < w->sites.keys.len; k++)
        rh_sidecar_add_key(writer, (uint32_t)k, &w->result.records[k]);
    rh_sidecar_set_module(writer, bitcode->data, bitcode->len, MODULE_LEVEL);
    free(program);
}

/* Waits for racehive-ld's word. False: the link failed. */
static bool read_build_id(char build_id[256])
{
    char line[256];
    const char prefix[] = "build-id ";
    if (!fgets(line, sizeof line, stdin) || strncmp(line, prefix, sizeof prefix - 1) != 0)
        return false;
    line[strcspn(line, "\n")] = '\0';
    strcpy(build_id, line + sizeof prefix - 1);
    return true;
}

/* Is the program one by which a build system tries the compiler: autoconf's, CMake's, Meson's? It
 * is run once and thrown away. */
static bool is_trial(const char *program)
{
    static const char *const stems[] = {"conftest", "cmTC_", "sanitycheck", "output.exe"};
    char *name = rh_path_basename(program);
    bool found = false;
    for (size_t i = 0; i < sizeof stems / sizeof stems[0]; i++)
        found |= strncmp(name, stems[i], strlen(stems[i])) == 0;
    free(name);
    return found;
}

static enum rh_status finish_sidecar(struct work *w, struct rh_sidecar_writer *writer)
{
    char build_id[256];
    if (!read_build_id(build_id)) {
        rh_sidecar_abort(writer);
        return RH_OK;
    }
    bool known = strcmp(build_id, "-") != 0;
    if (known)
        rh_sidecar_set_meta(writer, RH_SIDECAR_META_BUILD_ID, build_id);
    enum rh_status status = rh_sidecar_commit(writer);
    /* A program without sites leaves nothing worth keeping a second time, nor does a trial. */
    if (status == RH_OK && known && w->sites.sites.len && !is_trial(w->options->program) &&
        rh_sidecar_publish(w->options->sidecar, build_id) != RH_OK)
        rh_log_step("no copy by build id: %s", rh_error_text());
    return status;
}

static enum rh_status write_sidecar(struct work *w)
{
    struct rh_sidecar_writer *writer;
    struct rh_fs_mapping bitcode;
    enum rh_status status = rh_fs_map(w->options->input, &bitcode);
    if (status != RH_OK)
        return status;
    status = rh_sidecar_create(w->options->sidecar, &writer);
    if (status == RH_OK) {
        fill_sidecar(w, writer, &bitcode);
        status = finish_sidecar(w, writer);
    }
    rh_fs_unmap(&bitcode);
    return status;
}

enum rh_status rh_linkstep_instrument(const struct rh_linkstep *o)
{
    struct work w = {.options = o};
    enum rh_status status = o->config ? rh_fs_read(o->config, &w.config_text) : RH_OK;
    if (status == RH_OK)
        status = rh_config_parse(&w.config, rh_strbuf_text(&w.config_text), o->config);
    if (w.config.expired)
        rh_log_warn("%s:%u: this rule has expired (%u in all) and no longer applies", o->config,
                    w.config.first_expired, w.config.expired);
    if (status == RH_OK)
        status = write_object(&w);
    if (status == RH_OK) {
        puts("object");
        fflush(stdout);
        status = write_sidecar(&w);
    }
    rh_strbuf_release(&w.config_text);
    rh_config_release(&w.config);
    rh_keys_result_release(&w.result);
    rh_rows_release(&w.rows);
    rh_sites_release(&w.sites);
    rh_stores_release(&w.stores);
    rh_analysis_release(&w.analysis);
    if (w.module)
        rh_ir_close(w.module);
    return status;
}
