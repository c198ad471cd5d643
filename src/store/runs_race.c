/* Keeps the best races of each candidate as evidence, and hands them out. */
#include "store/runs.h"

#include "store/runs_internal.h"

#include <string.h>

/* --- the places of a race --- */

/* Calls `visit` for every place that has a meaning. */
static bool visit_places(struct rh_finding *race,
                         bool (*visit)(struct rh_place *place, void *context), void *context)
{
    bool fine = visit(&race->data, context);
    for (int i = 0; i < 2; i++) {
        struct rh_finding_side *side = &race->sides[i];
        for (uint32_t at = 0; at < side->frame_count; at++)
            fine = visit(&side->frames[at], context) && fine;
        for (uint32_t at = 0; at < side->lock_count; at++)
            fine = visit(&side->locks[at], context) && fine;
    }
    return fine;
}

/* `context` is a bool for each image: set, if a place is in it. */
static bool mark_image(struct rh_place *place, void *context)
{
    bool *used = context;
    if (place->image < RH_MAX_IMAGES)
        used[place->image] = true;
    return true;
}

/* Whether a place is in no image or in one of those that `context` has. */
static bool has_image(struct rh_place *place, void *context)
{
    const bool *known = context;
    return place->image == RH_NO_IMAGE || (place->image < RH_MAX_IMAGES && known[place->image]);
}

/* An offset in no image would be an address, which is nobody's business. */
static bool clean_place(struct rh_place *place, void *context)
{
    (void)context;
    if (place->image >= RH_MAX_IMAGES)
        *place = (struct rh_place){.image = RH_NO_IMAGE, .tag = place->tag};
    return true;
}

static bool is_sound(const struct rh_finding *race)
{
    for (int i = 0; i < 2; i++)
        if (race->sides[i].frame_count > RH_MAX_FRAMES || race->sides[i].lock_count > RH_MAX_LOCKS)
            return false;
    return race->proof < RH_PROOF_COUNT && race->block <= RH_BLOCK_OTHER;
}

/* A copy without what has no meaning in it, so that no stray bytes of a process are kept. */
static void copy_clean(struct rh_finding *copy, const struct rh_finding *race)
{
    memcpy(copy, race, sizeof *copy);
    copy->ready = 0;
    for (int i = 0; i < 2; i++) {
        struct rh_finding_side *side = &copy->sides[i];
        memset(&side->frames[side->frame_count], 0,
               (RH_MAX_FRAMES - side->frame_count) * sizeof side->frames[0]);
        memset(&side->locks[side->lock_count], 0,
               (RH_MAX_LOCKS - side->lock_count) * sizeof side->locks[0]);
    }
    visit_places(copy, clean_place, NULL);
}

/* --- keeping --- */

static enum rh_status add_image(struct rh_runs *runs, int64_t race, uint32_t number,
                                const struct rh_image_name *image)
{
    char path[sizeof image->path] = "";
    memcpy(path, image->path, sizeof path - 1);
    uint32_t size = image->build_id_size;
    struct rh_db_value id = size == 0 || size > sizeof image->build_id
                                ? rh_db_null()
                                : rh_db_blob(image->build_id, size);
    return RH_RUNS_CHANGE(runs, ADD_IMAGE, rh_db_int(race), rh_db_int(number), id,
                          rh_db_text(path));
}

static enum rh_status add_images(struct rh_runs *runs, int64_t number, struct rh_finding *race,
                                 const struct rh_image_name *images)
{
    bool used[RH_MAX_IMAGES] = {false};
    visit_places(race, mark_image, used);
    enum rh_status status = RH_OK;
    for (uint32_t i = 0; i < RH_MAX_IMAGES && status == RH_OK; i++)
        if (used[i])
            status = add_image(runs, number, i, &images[i]);
    return status;
}

/* Finds room among the races that are alike: if there is none, *worst is the one to go, or 0. */
static enum rh_status find_room(struct rh_runs *runs, const struct rh_runs_finding *race, bool hurt,
                                bool *has_room, int64_t *worst)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_RACES_ALIKE];
    bool more;
    int kept = 0;
    enum rh_status status = RH_RUNS_FIND(
        runs, RACES_ALIKE, &more, rh_db_int((int64_t)race->candidate), rh_db_int(race->order),
        rh_db_int(race->finding.proof), rh_db_int(race->proved), rh_db_int(RH_SHARED_VERSION));
    *worst = 0;
    while (status == RH_OK && more && kept < RH_RUNS_KEPT) {
        bool is_worse = rh_db_column(row, 2).number != RH_SHARED_VERSION ||
                        (hurt && rh_db_column(row, 1).number == 0);
        if (kept++ == 0 && is_worse)
            *worst = rh_db_column(row, 0).number;
        status = rh_db_step(row, &more);
    }
    rh_db_reset(row);
    *has_room = kept < RH_RUNS_KEPT;
    return status;
}

static enum rh_status drop_race(struct rh_runs *runs, int64_t number)
{
    enum rh_status status = RH_RUNS_CHANGE(runs, DROP_IMAGES, rh_db_int(number));
    return status == RH_OK ? RH_RUNS_CHANGE(runs, DROP_RACE, rh_db_int(number)) : status;
}

enum rh_status rh_runs_keep_finding(struct rh_runs *runs, uint64_t run,
                                    const struct rh_runs_end *end,
                                    const struct rh_runs_finding *race)
{
    if (!is_sound(&race->finding) || race->order > RH_ORDER_ALTERNATE)
        return RH_OK;
    bool hurt = end->hung || rh_runs_crashed(end);
    bool has_room;
    int64_t worst;
    enum rh_status status = find_room(runs, race, hurt, &has_room, &worst);
    if (status != RH_OK || (!has_room && worst == 0))
        return status;
    if (!has_room)
        status = drop_race(runs, worst);
    if (status != RH_OK)
        return status;
    struct rh_finding copy;
    copy_clean(&copy, &race->finding);
    int64_t number;
    status = RH_RUNS_INSERT(runs, ADD_RACE, &number, rh_db_int((int64_t)race->candidate),
                            rh_db_int((int64_t)run), rh_db_int(race->order), rh_db_int(copy.proof),
                            rh_db_int(race->proved), rh_db_int(hurt), rh_db_int(RH_SHARED_VERSION),
                            rh_db_blob(&copy, sizeof copy));
    if (status != RH_OK)
        return status;
    return add_images(runs, number, &copy, race->images);
}

/* --- handing out --- */

static bool take_image(struct rh_runs *runs, struct rh_db_statement *row, bool *known)
{
    uint32_t number;
    if (!rh_db_take32(row, 0, RH_MAX_IMAGES, &number))
        return false;
    struct rh_image_name *image = &runs->images[number];
    struct rh_db_value id = rh_db_column(row, 1);
    const char *path = rh_db_column_text(row, 2);
    if (known[number] || (id.kind != RH_DB_NULL && id.kind != RH_DB_BLOB) ||
        id.len > sizeof image->build_id || !path || strlen(path) >= sizeof image->path)
        return false;
    if (id.len > 0)
        memcpy(image->build_id, id.bytes, id.len);
    image->build_id_size = (uint32_t)id.len;
    memcpy(image->path, path, strlen(path));
    image->ready = 1;
    known[number] = true;
    return true;
}

static enum rh_status load_images(struct rh_runs *runs, int64_t race, bool *known)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_IMAGES];
    memset(runs->images, 0, sizeof runs->images);
    bool more;
    enum rh_status status = RH_RUNS_FIND(runs, IMAGES, &more, rh_db_int(race));
    while (status == RH_OK && more) {
        if (!take_image(runs, row, known)) {
            status = rh_db_fail_damaged(runs->db, "images");
            break;
        }
        status = rh_db_step(row, &more);
    }
    rh_db_reset(row);
    return status;
}

static bool take_race(struct rh_db_statement *row, struct rh_runs_finding *race,
                      struct rh_runs_end *end)
{
    uint32_t order, proof, proved, completed;
    struct rh_db_value bytes = rh_db_column(row, 4);
    if (!rh_db_take32(row, 1, RH_ORDER_ALTERNATE + 1, &order) ||
        !rh_db_take32(row, 2, RH_PROOF_COUNT, &proof) || !rh_db_take32(row, 3, 2, &proved) ||
        bytes.kind != RH_DB_BLOB || bytes.len != sizeof race->finding ||
        !rh_db_take32(row, 5, 2, &completed) || !completed || !rh_runs_take_end(row, 6, end))
        return false;
    race->proved = proved;
    race->order = (enum rh_race_order)order;
    memcpy(&race->finding, bytes.bytes, sizeof race->finding);
    return is_sound(&race->finding) && race->finding.proof == proof;
}

static enum rh_status load_race(struct rh_runs *runs, uint64_t candidate, size_t at,
                                struct rh_runs_finding *race, struct rh_runs_end *end, bool *more)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_RACE];
    enum rh_status status = RH_RUNS_FIND(runs, RACE, more, rh_db_int((int64_t)candidate),
                                         rh_db_int(RH_SHARED_VERSION), rh_db_int((int64_t)at));
    if (status != RH_OK || !*more)
        return status;
    int64_t number = rh_db_column(row, 0).number;
    if (!take_race(row, race, end))
        status = rh_db_fail_damaged(runs->db, "races");
    rh_db_reset(row);
    bool known[RH_MAX_IMAGES] = {false};
    if (status == RH_OK)
        status = load_images(runs, number, known);
    if (status == RH_OK && !visit_places(&race->finding, has_image, known))
        status = rh_db_fail_damaged(runs->db, "images");
    race->candidate = candidate;
    race->images = runs->images;
    return status;
}

enum rh_status rh_runs_next_finding(struct rh_runs *runs, uint64_t candidate, size_t *at,
                                    struct rh_runs_finding *race, struct rh_runs_end *end,
                                    bool *more)
{
    enum rh_status status = rh_db_begin(runs->db, false);
    if (status != RH_OK)
        return status;
    status = rh_db_end(runs->db, load_race(runs, candidate, *at, race, end, more));
    *at += status == RH_OK && *more;
    return status;
}
