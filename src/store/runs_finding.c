/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the best findings of each candidate, and hands them out. */
#include "store/runs.h"

#include "store/finding_codec.h"
#include "store/runs_internal.h"

#include <string.h>

/* --- the images of a finding --- */

/* `context` is a bool for each image: set, if a place is in it. */
static bool mark_image(const struct rh_place *place, void *context)
{
    bool *used = context;
    if (place->image < RH_MAX_IMAGES)
        used[place->image] = true;
    return true;
}

/* Whether a place is in no image or in one of those that `context` has. */
static bool has_image(const struct rh_place *place, void *context)
{
    const bool *known = context;
    return place->image == RH_NO_IMAGE || (place->image < RH_MAX_IMAGES && known[place->image]);
}

/* --- keeping --- */

static enum rh_status add_image(struct rh_runs *runs, int64_t finding, uint32_t number,
                                const struct rh_image_name *image)
{
    char path[sizeof image->path] = "";
    memcpy(path, image->path, sizeof path - 1);
    uint32_t size = image->build_id_size;
    struct rh_db_value id = size == 0 || size > sizeof image->build_id
                                ? rh_db_null()
                                : rh_db_blob(image->build_id, size);
    return RH_RUNS_CHANGE(runs, ADD_IMAGE, rh_db_int(finding), rh_db_int(number), id,
                          rh_db_text(path));
}

static enum rh_status add_images(struct rh_runs *runs, int64_t number,
                                 const struct rh_runs_finding *kept)
{
    bool used[RH_MAX_IMAGES] = {false};
    rh_finding_visit(&kept->finding, mark_image, used);
    enum rh_status status = RH_OK;
    for (uint32_t i = 0; i < RH_MAX_IMAGES && status == RH_OK; i++)
        if (used[i])
            status = add_image(runs, number, i, &kept->images[i]);
    return status;
}

bool rh_runs_is_complete(const struct rh_finding *finding)
{
    for (int i = 0; i < 2; i++)
        if (!finding->sides[i].thread && !rh_side_is_uninstrumented(&finding->sides[i]))
            return false;
    return true;
}

static bool is_row_complete(const struct rh_db_statement *row, int column)
{
    struct rh_db_value bytes = rh_db_column(row, column);
    struct rh_finding finding;
    return bytes.kind == RH_DB_BLOB &&
           rh_finding_decode(bytes.bytes, bytes.len, &finding) == RH_OK &&
           rh_runs_is_complete(&finding);
}

/* Looks for room among the findings of the same candidate, order and proof. If there is none,
 * *worst is the one to go, or 0. One of a run that failed is better than one of a run that did
 * not; then, a complete one is better than one that is not. */
static enum rh_status find_room(struct rh_runs *runs, const struct rh_runs_finding *finding,
                                bool failed, bool *has_room, int64_t *worst)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_FINDINGS_ALIKE];
    bool more, complete = rh_runs_is_complete(&finding->finding);
    int kept = 0;
    enum rh_status status = RH_RUNS_FIND(
        runs, FINDINGS_ALIKE, &more, rh_db_int((int64_t)finding->candidate),
        rh_db_int(finding->order), rh_db_int(finding->finding.proof), rh_db_int(finding->proved));
    *worst = 0;
    while (status == RH_OK && more && kept < RH_RUNS_KEPT) {
        bool old_failed = rh_db_column(row, 1).number != 0;
        bool better = failed != old_failed ? failed : complete && !is_row_complete(row, 2);
        if (better && *worst == 0)
            *worst = rh_db_column(row, 0).number;
        kept++;
        status = rh_db_step(row, &more);
    }
    rh_db_reset(row);
    *has_room = kept < RH_RUNS_KEPT;
    return status;
}

static enum rh_status drop_finding(struct rh_runs *runs, int64_t number)
{
    enum rh_status status = RH_RUNS_CHANGE(runs, DROP_IMAGES, rh_db_int(number));
    return status == RH_OK ? RH_RUNS_CHANGE(runs, DROP_FINDING, rh_db_int(number)) : status;
}

static enum rh_status add_finding(struct rh_runs *runs, uint64_t run, bool failed,
                                  const struct rh_runs_finding *finding)
{
    struct rh_strbuf bytes = RH_STRBUF_INIT;
    rh_finding_encode(&finding->finding, &bytes);
    int64_t number;
    enum rh_status status = RH_RUNS_INSERT(
        runs, ADD_FINDING, &number, rh_db_int((int64_t)finding->candidate), rh_db_int((int64_t)run),
        rh_db_int(finding->order), rh_db_int(finding->finding.proof), rh_db_int(finding->proved),
        rh_db_int(failed), rh_db_blob(bytes.data, bytes.len));
    rh_strbuf_release(&bytes);
    return status == RH_OK ? add_images(runs, number, finding) : status;
}

enum rh_status rh_runs_keep_finding(struct rh_runs *runs, uint64_t run,
                                    const struct rh_runs_end *end,
                                    const struct rh_runs_finding *finding)
{
    if (!rh_finding_is_sound(&finding->finding) || finding->order > RH_ORDER_ALTERNATE)
        return RH_OK;
    bool failed = end->hung || rh_runs_crashed(end);
    bool has_room;
    int64_t worst;
    enum rh_status status = find_room(runs, finding, failed, &has_room, &worst);
    if (status != RH_OK || (!has_room && worst == 0))
        return status;
    if (!has_room)
        status = drop_finding(runs, worst);
    return status == RH_OK ? add_finding(runs, run, failed, finding) : status;
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

static enum rh_status load_images(struct rh_runs *runs, int64_t finding, bool *known)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_IMAGES];
    memset(runs->images, 0, sizeof runs->images);
    bool more;
    enum rh_status status = RH_RUNS_FIND(runs, IMAGES, &more, rh_db_int(finding));
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

static bool take_finding(const struct rh_db_statement *row, struct rh_runs_finding *finding,
                         struct rh_runs_end *end)
{
    uint32_t order, proof, proved, completed;
    struct rh_db_value bytes = rh_db_column(row, 4);
    if (!rh_db_take32(row, 1, RH_ORDER_ALTERNATE + 1, &order) ||
        !rh_db_take32(row, 2, RH_PROOF_COUNT, &proof) || !rh_db_take32(row, 3, 2, &proved) ||
        bytes.kind != RH_DB_BLOB || !rh_db_take32(row, 5, 2, &completed) || !completed ||
        !rh_runs_take_end(row, 6, end))
        return false;
    finding->proved = proved;
    finding->order = (enum rh_race_order)order;
    return rh_finding_decode(bytes.bytes, bytes.len, &finding->finding) == RH_OK &&
           finding->finding.proof == proof;
}

static enum rh_status load_finding(struct rh_runs *runs, uint64_t candidate, size_t at,
                                   struct rh_runs_finding *finding, struct rh_runs_end *end,
                                   bool *more)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_FINDING];
    enum rh_status status =
        RH_RUNS_FIND(runs, FINDING, more, rh_db_int((int64_t)candidate), rh_db_int((int64_t)at));
    if (status != RH_OK || !*more)
        return status;
    int64_t number = rh_db_column(row, 0).number;
    if (!take_finding(row, finding, end))
        status = rh_db_fail_damaged(runs->db, "findings");
    rh_db_reset(row);
    bool known[RH_MAX_IMAGES] = {false};
    if (status == RH_OK)
        status = load_images(runs, number, known);
    if (status == RH_OK && !rh_finding_visit(&finding->finding, has_image, known))
        status = rh_db_fail_damaged(runs->db, "images");
    finding->candidate = candidate;
    finding->images = runs->images;
    return status;
}

enum rh_status rh_runs_next_finding(struct rh_runs *runs, uint64_t candidate, size_t *at,
                                    struct rh_runs_finding *finding, struct rh_runs_end *end,
                                    bool *more)
{
    enum rh_status status = rh_db_begin(runs->db, false);
    if (status != RH_OK)
        return status;
    status = rh_db_end(runs->db, load_finding(runs, candidate, *at, finding, end, more));
    *at += status == RH_OK && *more;
    return status;
}
