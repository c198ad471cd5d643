/* SPDX-License-Identifier: Apache-2.0 */
/* The images of a program: see process.h. */
#include "campaign/process.h"

#include "base/elf.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "campaign/earlier.h"
#include "hive/filtered.h"
#include "hive/focus.h"
#include "store/sidecar_analysis.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = RH_MAX_KEYED, NOBODY = RH_MAX_KEYED };

struct rh_process {
    struct rh_process_options options;
    struct rh_process_image images[MOST];
    size_t count;
    /* Of the run that ends: the image of each of its rows, or NOBODY. */
    size_t rows[RH_MAX_KEYED];
    /* What the next run is told. */
    struct rh_execution_image told[MOST];
    uint8_t wishes[RH_SCOUT_SITES];
    struct rh_image_name named[RH_MAX_IMAGES]; /* as a library's store keeps them */
    struct rh_runs_pair_vec pairs;
};

/* Its runs show which sites touch memory that others reach. */
static bool is_filter(const struct rh_process *p)
{
    return strcmp(p->options.detector, "caper") == 0;
}

/* --- opening --- */

static enum rh_status choose_store(const struct rh_process *p, struct rh_process_image *image)
{
    const char *given = p->options.store;
    if (!given)
        return rh_runs_default_path(image->build_id, p->options.detector, &image->store_path);
    image->store_path =
        image == p->images ? rh_strdup(given) : rh_format("%s.%s", given, image->build_id);
    return RH_OK;
}

static enum rh_status open_store(const struct rh_process *p, struct rh_process_image *image)
{
    enum rh_status status = choose_store(p, image);
    if (status != RH_OK)
        return status;
    char *sidecar = realpath(image->sidecar_path, NULL);
    const struct rh_runs_program program = {
        .build_id = image->build_id,
        .name = image->name,
        .detector = p->options.detector,
        .sidecar = sidecar ? sidecar : image->sidecar_path,
    };
    status = rh_runs_open(image->store_path, &program, &image->runs);
    free(sidecar);
    return status;
}

/* What is there of an image whose sidecar is known. */
static enum rh_status open_rest(const struct rh_process *p, struct rh_process_image *image)
{
    struct rh_pool_counts counts;
    bool has_tasks = p->options.pool.tasks_per_run + p->options.pool.screened_per_run > 0;
    enum rh_status status = has_tasks ? rh_sidecar_check_analysed(image->sidecar) : RH_OK;
    if (status == RH_OK)
        status = rh_sidecar_load_sites(image->sidecar, &image->sites, &image->site_count);
    if (status == RH_OK)
        status = open_store(p, image);
    if (status == RH_OK && !p->options.store)
        status =
            rh_earlier_adopt_met(image->runs, image->store_path, image->sites, image->site_count);
    if (status == RH_OK && is_filter(p) && !p->options.store)
        status = rh_earlier_adopt_escaped(image->runs, image->store_path, image->sites,
                                          image->site_count);
    struct rh_pool_options pool = p->options.pool;
    if (status == RH_OK && !is_filter(p))
        status = rh_filtered_choose(image->build_id, image == p->images ? p->options.from : NULL,
                                    &image->escaped, &pool);
    if (status == RH_OK)
        status = rh_pool_open(image->sidecar, image->runs, &pool, &image->pool);
    if (status != RH_OK)
        return status;
    rh_pool_count(image->pool, &counts);
    image->candidates = counts.all;
    return RH_OK;
}

/* The sidecar that has the image's build id. */
static enum rh_status open_sidecar(struct rh_process_image *image)
{
    enum rh_status status = rh_sidecar_open(image->sidecar_path, &image->sidecar);
    if (status != RH_OK)
        return status;
    const char *id = rh_sidecar_get_meta(image->sidecar, RH_SIDECAR_META_BUILD_ID);
    if (image->build_id && id && strcmp(id, image->build_id) == 0)
        return RH_OK;
    if (!id)
        return rh_fail(RH_ERR_INPUT, "%s has no build id, so runs cannot be kept", image->path);
    if (image->build_id)
        return rh_fail(RH_ERR_INPUT, "%s is of another build of %s", image->sidecar_path,
                       image->name);
    image->build_id = rh_strdup(id);
    return RH_OK;
}

static void release_image(struct rh_process_image *image)
{
    if (image->pool)
        rh_pool_close(image->pool);
    if (image->runs)
        rh_runs_close(image->runs);
    if (image->sidecar)
        rh_sidecar_close(image->sidecar);
    rh_bitset_release(&image->escaped);
    image->pool = NULL;
    image->runs = NULL;
    image->sidecar = NULL;
}

static char *name_library(const struct rh_process_image *image)
{
    if (image->path[0])
        return rh_path_basename(image->path);
    const char *name =
        image->sidecar ? rh_sidecar_get_meta(image->sidecar, RH_SIDECAR_META_PROGRAM) : NULL;
    return rh_strdup(name ? name : image->build_id);
}

/* Tells the program's store of the image, and takes the number that it has there. */
static enum rh_status enter(struct rh_process *p, struct rh_process_image *image)
{
    const struct rh_runs_library library = {
        .build_id = image->build_id,
        .name = image->name,
        .path = image->path,
        .store = image->store_path ? image->store_path : "",
        .why_not = image->why_not ? image->why_not : "",
    };
    return rh_runs_enter_library(p->images[0].runs, &library, &image->number);
}

/* A library that cannot take part stays, with the reason. */
static enum rh_status add_library(struct rh_process *p, const char *path, const char *build_id)
{
    struct rh_process_image *image = &p->images[p->count++];
    *image = (struct rh_process_image){.build_id = rh_strdup(build_id)};
    char *whole = realpath(path, NULL);
    image->path = whole ? whole : rh_strdup(path);
    enum rh_status status = rh_sidecar_find_loaded(image->path, build_id, &image->sidecar_path);
    if (status == RH_OK)
        status = open_sidecar(image);
    image->name = name_library(image);
    if (status == RH_OK)
        status = open_rest(p, image);
    if (status != RH_OK) {
        image->why_not = rh_strdup(rh_error_text());
        release_image(image);
    }
    return enter(p, image);
}

static size_t find_build(const struct rh_process *p, const char *build_id)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->images[i].build_id, build_id) == 0)
            return i;
    return NOBODY;
}

enum rh_status rh_process_add(struct rh_process *p, const char *path, size_t *image)
{
    struct rh_elf elf;
    enum rh_status status = rh_elf_open(path, &elf);
    if (status != RH_OK)
        return status;
    char *id = rh_elf_build_id(&elf);
    rh_elf_close(&elf);
    if (!id)
        return rh_fail(RH_ERR_INPUT, "%s has no build id, so runs cannot be kept", path);
    *image = find_build(p, id);
    if (*image == NOBODY && p->count == MOST)
        status = rh_fail(RH_ERR_INPUT, "there are too many libraries");
    else if (*image == NOBODY) {
        *image = p->count;
        status = add_library(p, path, id);
    }
    free(id);
    if (status == RH_OK && p->images[*image].why_not)
        status = rh_fail(RH_ERR_INPUT, "%s", p->images[*image].why_not);
    return status;
}

/* What the last runs loaded, the next ones will. */
static enum rh_status add_known(struct rh_process *p)
{
    enum { LATELY = 16 };
    struct rh_runs_library_vec known = RH_VEC_INIT;
    uint64_t last = 0;
    enum rh_status status = rh_runs_list_libraries(p->images[0].runs, &known);
    for (size_t i = 0; i < known.len; i++)
        if (known.data[i].last_run > last)
            last = known.data[i].last_run;
    for (size_t i = 0; i < known.len && status == RH_OK && p->count < MOST; i++) {
        const struct rh_runs_library *library = &known.data[i];
        if (library->last_run + LATELY <= last || find_build(p, library->build_id) != NOBODY)
            continue;
        status = add_library(p, library->path, library->build_id);
        p->images[p->count - 1].is_expected = library->last_run > 0;
    }
    rh_vec_free(&known);
    return status;
}

static enum rh_status open_program(struct rh_process *p, const char *path)
{
    struct rh_process_image *program = &p->images[p->count++];
    program->path = rh_strdup(path);
    program->name = rh_path_basename(path);
    program->is_expected = true;
    enum rh_status status = rh_sidecar_find(path, p->options.symbols, &program->sidecar_path);
    if (status == RH_OK)
        status = open_sidecar(program);
    if (status == RH_OK)
        status = open_rest(p, program);
    if (status == RH_OK && strcmp(p->options.detector, "atexrace") == 0 && !p->options.store)
        status = rh_earlier_adopt_pairs(program->runs, program->store_path);
    return status;
}

enum rh_status rh_process_open(const char *path, const struct rh_process_options *options,
                               struct rh_process **process)
{
    struct rh_process *p = rh_calloc(1, sizeof *p);
    p->options = *options;
    enum rh_status status = open_program(p, path);
    if (status == RH_OK)
        status = add_known(p);
    if (status == RH_OK)
        *process = p;
    else
        rh_process_close(p);
    return status;
}

void rh_process_close(struct rh_process *p)
{
    for (size_t i = 0; p && i < p->count; i++) {
        struct rh_process_image *image = &p->images[i];
        release_image(image);
        free(image->path);
        free(image->name);
        free(image->build_id);
        free(image->why_not);
        free(image->sidecar_path);
        free(image->store_path);
    }
    if (p)
        rh_vec_free(&p->pairs);
    free(p);
}

size_t rh_process_count(const struct rh_process *p)
{
    return p->count;
}

const struct rh_process_image *rh_process_at(const struct rh_process *p, size_t image)
{
    return &p->images[image];
}

static bool takes_turns(const struct rh_process_image *image)
{
    return image->pool && image->is_expected && image->candidates > 0;
}

size_t rh_process_turn(const struct rh_process *p, uint64_t turn)
{
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++)
        count += takes_turns(&p->images[i]);
    for (size_t i = 0, at = 0; i < p->count; i++)
        if (takes_turns(&p->images[i]) && at++ == turn % count)
            return i;
    return 0;
}

/* --- before a run --- */

/* The images of a store by their numbers there, as far as they are open. */
static void list_by_number(struct rh_process *p, struct rh_focus_image *list)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct rh_process_image *image = &p->images[i];
        if (i == 0 || image->number)
            list[image->number] = (struct rh_focus_image){
                (uint8_t *)(uintptr_t)p->told[i].wishes, p->told[i].wishes ? image->site_count : 0};
    }
}

enum rh_status rh_process_describe(struct rh_process *p, uint64_t chance,
                                   const struct rh_execution_image **images, size_t *count)
{
    struct rh_focus_image by_number[RH_RUNS_LIBRARIES + 1] = {{0}};
    enum rh_status status = RH_OK;
    size_t used = 0;
    memset(p->wishes, RH_SCOUT_USUAL, sizeof p->wishes);
    for (size_t i = 0; i < p->count && status == RH_OK; i++) {
        const struct rh_process_image *image = &p->images[i];
        bool has_room = image->runs && used + image->site_count <= RH_SCOUT_SITES;
        const struct rh_focus_image own = {p->wishes + used, has_room ? image->site_count : 0};
        p->told[i] = (struct rh_execution_image){image->build_id, image->site_count,
                                                 has_room ? own.wishes : NULL};
        used += own.count;
        if (is_filter(p) && has_room)
            status = rh_filtered_spare(image->runs, own.wishes, own.count);
        else if (i > 0 && has_room)
            status = rh_focus_wish(image->runs, chance, &own, 1);
    }
    list_by_number(p, by_number);
    if (status == RH_OK && !is_filter(p))
        status = rh_focus_wish(p->images[0].runs, chance, by_number, RH_RUNS_LIBRARIES + 1);
    *images = p->told;
    *count = p->count;
    return status;
}

/* From a store's word to the run's name; the images that a run is told of have their positions as
 * numbers. */
static struct rh_site_name name_in_run(const struct rh_process *p, size_t image, uint32_t word)
{
    struct rh_site_name name = rh_site_name_of(word);
    if (name.image == 0)
        return (struct rh_site_name){(uint32_t)image, name.site};
    for (size_t i = 1; i < p->count; i++)
        if (p->images[i].number == name.image)
            return (struct rh_site_name){(uint32_t)i, name.site};
    return (struct rh_site_name){RH_NO_IMAGE, name.site};
}

struct rh_execution_task rh_process_task(const struct rh_process *p, size_t image,
                                         const struct rh_runs_task *task, uint32_t skip)
{
    return (struct rh_execution_task){
        .task = *task,
        .first = name_in_run(p, image, task->candidate.first),
        .second = name_in_run(p, image, task->candidate.second),
        .skip = skip,
    };
}

enum rh_status rh_process_pairs(struct rh_process *p, const struct rh_runs_pair **pairs,
                                size_t *count)
{
    p->pairs.len = 0;
    enum rh_status status = rh_runs_list_pairs(p->images[0].runs, &p->pairs, NULL);
    *pairs = p->pairs.data;
    *count = p->pairs.len;
    return status;
}

/* --- after a run --- */

static char *format_build_id(const uint8_t *bytes, uint32_t size)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    for (uint32_t i = 0; i < size && i < RH_BUILD_ID_SIZE; i++)
        rh_strbuf_addf(&text, "%02x", bytes[i]);
    return rh_strbuf_detach(&text);
}

static size_t meet_row(struct rh_process *p, const struct rh_keyed_image *row)
{
    char path[sizeof row->path + 1] = "";
    char *id = format_build_id(row->build_id, row->build_id_size);
    size_t image = *id ? find_build(p, id) : NOBODY;
    memcpy(path, row->path, sizeof row->path);
    if (image == NOBODY && *id && p->count < MOST) {
        image = p->count;
        if (add_library(p, path, id) != RH_OK)
            rh_log_warn("%s", rh_error_text());
    }
    free(id);
    return image;
}

static void meet(void *context, const struct rh_keyed_image *rows)
{
    struct rh_process *p = context;
    for (uint32_t i = 0; i < RH_MAX_KEYED; i++) {
        bool is_loaded = atomic_load(&rows[i].state) == RH_KEYED_LOADED;
        p->rows[i] = is_loaded ? meet_row(p, &rows[i]) : NOBODY;
    }
    for (size_t i = 1; i < p->count; i++)
        p->images[i].is_expected = false;
    for (uint32_t i = 0; i < RH_MAX_KEYED; i++)
        if (p->rows[i] != NOBODY)
            p->images[p->rows[i]].is_expected = true;
}

/* The image of a run's row, if it takes part and has such a site. */
static size_t image_of(const struct rh_process *p, struct rh_site_name site)
{
    size_t image = site.image < RH_MAX_KEYED ? p->rows[site.image] : NOBODY;
    bool is_there =
        image != NOBODY && p->images[image].pool && site.site < p->images[image].site_count;
    return is_there ? image : NOBODY;
}

static bool name_within(const struct rh_process *p, size_t image, uint32_t a, uint32_t b,
                        struct rh_execution_name *name)
{
    name->part = (uint32_t)image;
    if (!rh_pool_name(p->images[image].pool, a, b, &name->candidate))
        return false;
    name->is_reversed = name->candidate.first != a;
    return true;
}

static const char *key_of(const struct rh_process *p, size_t image, bool by_build)
{
    return image == 0 ? "" : by_build ? p->images[image].build_id : p->images[image].name;
}

/* The program's side comes first, else the library that the store has known longer. */
static bool name_between(const struct rh_process *p, size_t a, uint32_t a_site, size_t b,
                         uint32_t b_site, struct rh_execution_name *name)
{
    const struct rh_process_image *first = &p->images[a], *second = &p->images[b];
    if ((a && !first->number) || (b && !second->number))
        return false;
    bool is_alike = a && b && strcmp(first->name, second->name) == 0;
    const struct rh_candidate_side sides[] = {
        {key_of(p, a, is_alike), &first->sites[a_site]},
        {key_of(p, b, is_alike), &second->sites[b_site]},
    };
    uint32_t words[] = {rh_site_word(first->number, a_site), rh_site_word(second->number, b_site)};
    bool is_reversed = words[0] > words[1];
    *name = (struct rh_execution_name){
        .part = 0,
        .candidate = {rh_candidate_id_between(sides[0], sides[1]), words[is_reversed],
                      words[!is_reversed]},
        .is_reversed = is_reversed,
    };
    return true;
}

static bool name(void *context, struct rh_site_name a, struct rh_site_name b,
                 struct rh_execution_name *result)
{
    const struct rh_process *p = context;
    size_t first = image_of(p, a), second = image_of(p, b);
    if (a.image == RH_NO_IMAGE && second != NOBODY)
        return name_within(p, second, RH_RUNS_UNINSTRUMENTED, b.site, result);
    if (b.image == RH_NO_IMAGE && first != NOBODY)
        return name_within(p, first, a.site, RH_RUNS_UNINSTRUMENTED, result);
    if (first == NOBODY || second == NOBODY)
        return false;
    return first == second ? name_within(p, first, a.site, b.site, result)
                           : name_between(p, first, a.site, second, b.site, result);
}

static bool place(void *context, uint32_t row, uint32_t *part)
{
    const struct rh_process *p = context;
    *part = (uint32_t)p->rows[row];
    return p->rows[row] != NOBODY && p->images[p->rows[row]].pool;
}

struct rh_execution_namer rh_process_namer(struct rh_process *p)
{
    return (struct rh_execution_namer){.meet = meet, .name = name, .place = place, .context = p};
}

static bool took_part(const struct rh_process *p, size_t image)
{
    for (uint32_t i = 0; i < RH_MAX_KEYED; i++)
        if (p->rows[i] == image)
            return true;
    return image == 0;
}

/* The store of a library does not say which program a run was of: its stacks do. */
static void name_program(struct rh_process *p, const struct rh_execution_part *part)
{
    if (part->findings.len == 0)
        return;
    memcpy(p->named, part->findings.data[0].images, sizeof p->named);
    const struct rh_process_image *program = &p->images[0];
    char *path = realpath(program->path, NULL);
    for (size_t i = 0; path && i < RH_MAX_IMAGES; i++) {
        struct rh_image_name *name = &p->named[i];
        char *id = format_build_id(name->build_id, name->build_id_size);
        if (!name->path[0] && strcmp(id, program->build_id) == 0 &&
            strlen(path) < sizeof name->path)
            strcpy(name->path, path);
        free(id);
    }
    free(path);
    rh_vec_each (struct rh_runs_finding, it, &part->findings)
        it->images = p->named;
}

/* By what the sites of a meeting are known in other builds; of a pair of two images that is not
 * kept. */
static void name_prints(const struct rh_process_image *image, const struct rh_execution_part *part)
{
    rh_vec_each (struct rh_runs_meeting, it, &part->met) {
        uint32_t first = it->candidate.first, second = it->candidate.second;
        if (first >= image->site_count || second >= image->site_count)
            continue;
        it->prints[0] = image->sites[first].fingerprint;
        it->prints[1] = image->sites[second].fingerprint;
    }
    rh_vec_each (struct rh_runs_escaped, it, &part->escaped)
        if (it->site < image->site_count)
            it->print = image->sites[it->site].fingerprint;
}

/* What one store keeps of a run, which it has entered before. */
static enum rh_status keep_part(struct rh_process_image *image, uint64_t run,
                                const struct rh_assignment *a, const struct rh_execution_part *part,
                                const struct rh_runs_end *end)
{
    const struct rh_runs_sights sights = {part->met.data, part->met.len,      part->ran.data,
                                          part->ran.len,  part->escaped.data, part->escaped.len};
    enum rh_status status = RH_OK;
    name_prints(image, part);
    if (part->found.len > 0)
        status = rh_runs_add_found(image->runs, run, a->count, part->found.data, part->found.len);
    if (status == RH_OK)
        status = rh_runs_complete(image->runs, run, end, part->answers.data, part->answers.len,
                                  part->findings.data, part->findings.len, &sights);
    return status == RH_OK ? rh_pool_completed(image->pool, a, part->found.data, part->found.len)
                           : status;
}

static enum rh_status note_loaded(struct rh_process *p, uint64_t run)
{
    enum rh_status status = RH_OK;
    for (size_t i = 1; i < p->count && status == RH_OK; i++)
        if (p->images[i].number && took_part(p, i))
            status = rh_runs_note_loaded(p->images[0].runs, p->images[i].number, run);
    return status;
}

enum rh_status rh_process_keep(struct rh_process *p, size_t subject, uint64_t run,
                               const struct rh_assignment *assignment,
                               const struct rh_execution_ending *ending)
{
    static const struct rh_assignment nothing;
    enum rh_status status = RH_OK;
    uint64_t program_run = run;
    for (size_t i = 0; i < p->count && status == RH_OK; i++) {
        struct rh_process_image *image = &p->images[i];
        uint64_t number = run;
        if (!image->pool || (i != subject && !took_part(p, i)))
            continue;
        if (i != subject)
            status = rh_runs_begin(image->runs, 0, NULL, 0, &number);
        if (i == 0)
            program_run = number;
        else
            name_program(p, &ending->parts[i]);
        if (status == RH_OK)
            status = keep_part(image, number, i == subject ? assignment : &nothing,
                               &ending->parts[i], &ending->end);
    }
    if (status == RH_OK)
        status = rh_runs_add_pairs(p->images[0].runs, ending->pairs.data, ending->pairs.len);
    return status == RH_OK ? note_loaded(p, program_run) : status;
}

void rh_process_count_pools(const struct rh_process *p, struct rh_pool_counts *counts)
{
    *counts = (struct rh_pool_counts){0};
    for (size_t i = 0; i < p->count; i++) {
        struct rh_pool_counts one;
        if (!p->images[i].pool)
            continue;
        rh_pool_count(p->images[i].pool, &one);
        counts->true_races += one.true_races;
        counts->met += one.met;
        counts->tried += one.tried;
        counts->all += one.all;
    }
}
