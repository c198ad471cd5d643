/* SPDX-License-Identifier: Apache-2.0 */
/* What runs showed beside their tasks, summed over all completed ones: which pairs of sites met,
 * which sites ran and which touched memory that several threads can reach, which pairs of functions
 * ran at once, and which libraries took part. */
#include "store/runs_internal.h"

/* --- adding a run --- */

static enum rh_status add_meeting(struct rh_runs *runs, const struct rh_runs_meeting *met)
{
    bool has_met = met->counts[RH_MET_LOCKED] || met->counts[RH_MET_UNLOCKED];
    return RH_RUNS_CHANGE(
        runs, ADD_MET, rh_db_int((int64_t)met->candidate.id), rh_db_int(met->candidate.first),
        rh_db_int(met->candidate.second), rh_db_int(has_met),
        rh_db_int(met->counts[RH_MET_LOCKED] > 0), rh_db_int(met->counts[RH_MET_UNLOCKED] > 0),
        rh_db_int(met->counts[RH_MET_ORDERED] > 0), rh_db_int(met->counts[RH_MET_UNORDERED] > 0),
        rh_db_int(met->counts[RH_MET_HINTED] > 0), rh_db_int((int64_t)met->prints[0]),
        rh_db_int((int64_t)met->prints[1]));
}

static enum rh_status add_escaped(struct rh_runs *runs, const struct rh_runs_escaped *escaped,
                                  size_t count)
{
    enum rh_status status = RH_OK;
    for (size_t i = 0; i < count && status == RH_OK; i++)
        status = RH_RUNS_CHANGE(runs, ADD_ESCAPED, rh_db_int(escaped[i].site),
                                rh_db_int((int64_t)escaped[i].print),
                                rh_db_int((int64_t)escaped[i].runs));
    return status;
}

enum rh_status rh_runs_adopt_escaped(struct rh_runs *runs, const struct rh_runs_escaped *escaped,
                                     size_t count)
{
    enum rh_status status = rh_db_begin(runs->db, true);
    return status == RH_OK ? rh_db_end(runs->db, add_escaped(runs, escaped, count)) : status;
}

enum rh_status rh_runs_add_sights(struct rh_runs *runs, const struct rh_runs_sights *sights)
{
    enum rh_status status = RH_OK;
    for (size_t i = 0; i < sights->met_count && status == RH_OK; i++)
        status = add_meeting(runs, &sights->met[i]);
    for (size_t i = 0; i < sights->ran_count && status == RH_OK; i++)
        status = RH_RUNS_CHANGE(runs, ADD_SITE, rh_db_int(sights->ran[i].site),
                                rh_db_int(sights->ran[i].in_threads));
    return status == RH_OK ? add_escaped(runs, sights->escaped, sights->escaped_count) : status;
}

/* --- reading --- */

static bool take_met(const struct rh_db_statement *row, struct rh_runs_met *met)
{
    uint64_t elsewhere, raced;
    met->candidate.id = (uint64_t)rh_db_column(row, 0).number;
    if (!rh_db_take32(row, 1, RH_DB_LIMIT32, &met->candidate.first) ||
        !rh_db_take32(row, 2, RH_DB_LIMIT32, &met->candidate.second) ||
        !rh_db_take(row, 3, RH_DB_LIMIT64, &met->runs) ||
        !rh_db_take(row, 4, RH_DB_LIMIT64, &met->locked) ||
        !rh_db_take(row, 5, RH_DB_LIMIT64, &met->unlocked) ||
        !rh_db_take(row, 6, RH_DB_LIMIT64, &met->ordered) ||
        !rh_db_take(row, 7, RH_DB_LIMIT64, &met->unordered) ||
        !rh_db_take(row, 8, RH_DB_LIMIT64, &met->hinted) ||
        !rh_db_take(row, 11, RH_RUNS_ELSEWHERE_COUNT, &elsewhere) ||
        !rh_db_take(row, 12, RH_DB_LIMIT64, &raced))
        return false;
    met->prints[0] = (uint64_t)rh_db_column(row, 9).number;
    met->prints[1] = (uint64_t)rh_db_column(row, 10).number;
    met->elsewhere = (enum rh_runs_elsewhere)elsewhere;
    met->has_raced = raced > 0;
    return true;
}

/* Keys must rise: a damaged tree may repeat itself for ever. */
static bool take_next_met(const struct rh_db_statement *row, struct rh_runs_met_vec *list,
                          size_t from)
{
    struct rh_runs_met met;
    if (!take_met(row, &met) ||
        (list->len > from && (int64_t)rh_vec_last(list).candidate.id >= (int64_t)met.candidate.id))
        return false;
    rh_vec_push(list, met);
    return true;
}

enum rh_status rh_runs_list_met(struct rh_runs *runs, struct rh_runs_met_vec *list)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_MET];
    size_t from = list->len;
    bool more;
    enum rh_status status = rh_db_step(row, &more);
    while (status == RH_OK && more)
        status = take_next_met(row, list, from) ? rh_db_step(row, &more)
                                                : rh_db_fail_damaged(runs->db, "met");
    rh_db_reset(row);
    return status;
}

static bool take_next_site(const struct rh_db_statement *row, struct rh_runs_site_vec *list,
                           size_t from)
{
    struct rh_runs_site site;
    if (!rh_db_take32(row, 0, RH_DB_LIMIT32, &site.number) ||
        !rh_db_take(row, 1, RH_DB_LIMIT64, &site.runs) ||
        !rh_db_take(row, 2, RH_DB_LIMIT64, &site.in_threads) ||
        (list->len > from && rh_vec_last(list).number >= site.number))
        return false;
    rh_vec_push(list, site);
    return true;
}

enum rh_status rh_runs_list_sites(struct rh_runs *runs, struct rh_runs_site_vec *list)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_SITES];
    size_t from = list->len;
    bool more;
    enum rh_status status = rh_db_step(row, &more);
    while (status == RH_OK && more)
        status = take_next_site(row, list, from) ? rh_db_step(row, &more)
                                                 : rh_db_fail_damaged(runs->db, "sites");
    rh_db_reset(row);
    return status;
}

static bool take_next_escaped(const struct rh_db_statement *row, struct rh_runs_escaped_vec *list,
                              size_t from)
{
    struct rh_runs_escaped escaped = {.print = (uint64_t)rh_db_column(row, 1).number};
    if (!rh_db_take32(row, 0, RH_DB_LIMIT32, &escaped.site) ||
        !rh_db_take(row, 2, RH_DB_LIMIT64, &escaped.runs) ||
        (list->len > from && rh_vec_last(list).site >= escaped.site))
        return false;
    rh_vec_push(list, escaped);
    return true;
}

enum rh_status rh_runs_list_escaped(struct rh_runs *runs, struct rh_runs_escaped_vec *list)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_ESCAPED];
    size_t from = list->len;
    bool more;
    enum rh_status status = rh_db_step(row, &more);
    while (status == RH_OK && more)
        status = take_next_escaped(row, list, from) ? rh_db_step(row, &more)
                                                    : rh_db_fail_damaged(runs->db, "escaped");
    rh_db_reset(row);
    return status;
}

enum rh_status rh_runs_count_met(struct rh_runs *runs, struct rh_runs_met_totals *totals)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_COUNT_MET];
    bool more;
    enum rh_status status = rh_db_step(row, &more);
    if (status == RH_OK && !(more && rh_db_take(row, 0, RH_DB_LIMIT64, &totals->pairs) &&
                             rh_db_take(row, 1, RH_DB_LIMIT64, &totals->unlocked) &&
                             rh_db_take(row, 2, RH_DB_LIMIT64, &totals->unordered)))
        status = rh_db_fail_damaged(runs->db, "met");
    rh_db_reset(row);
    return status;
}

/* --- what other stores show --- */

enum rh_runs_elsewhere rh_runs_shown_elsewhere(const struct rh_runs_met *met)
{
    if (met->unordered || met->has_raced)
        return RH_RUNS_ELSEWHERE_RACED;
    if (met->unlocked)
        return RH_RUNS_ELSEWHERE_MET;
    return met->runs ? RH_RUNS_ELSEWHERE_NOTHING : met->elsewhere;
}

static enum rh_status adopt(struct rh_runs *runs, const struct rh_runs_adopted *pairs, size_t count)
{
    enum rh_status status = RH_OK;
    for (size_t i = 0; i < count && status == RH_OK; i++)
        status = RH_RUNS_CHANGE(
            runs, ADOPT_MET, rh_db_int((int64_t)pairs[i].candidate.id),
            rh_db_int(pairs[i].candidate.first), rh_db_int(pairs[i].candidate.second),
            rh_db_int((int64_t)pairs[i].prints[0]), rh_db_int((int64_t)pairs[i].prints[1]),
            rh_db_int(pairs[i].elsewhere));
    return status;
}

enum rh_status rh_runs_adopt_met(struct rh_runs *runs, const struct rh_runs_adopted *pairs,
                                 size_t count, int64_t until)
{
    enum rh_status status = rh_db_begin(runs->db, true);
    if (status != RH_OK)
        return status;
    status = adopt(runs, pairs, count);
    if (status == RH_OK)
        status = RH_RUNS_CHANGE(runs, SET_ADOPTED, rh_db_int(until));
    return rh_db_end(runs->db, status);
}

enum rh_status rh_runs_adopted_until(struct rh_runs *runs, int64_t *until)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_ADOPTED];
    uint64_t seconds;
    bool more;
    enum rh_status status = rh_db_step(row, &more);
    if (status == RH_OK && !(more && rh_db_take(row, 0, INT64_MAX, &seconds)))
        status = rh_db_fail_damaged(runs->db, "adopted");
    if (status == RH_OK)
        *until = (int64_t)seconds;
    rh_db_reset(row);
    return status;
}

/* --- pairs of functions --- */

static enum rh_status count_executions(struct rh_runs *runs, uint64_t *count)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_EXECUTIONS];
    bool more;
    enum rh_status status = rh_db_step(row, &more);
    if (status == RH_OK && !(more && rh_db_take(row, 0, RH_DB_LIMIT64, count)))
        status = rh_db_fail_damaged(runs->db, "sampled");
    rh_db_reset(row);
    return status;
}

static enum rh_status enter_pairs(struct rh_runs *runs, const struct rh_runs_pair *pairs,
                                  size_t count, uint64_t execution, int streak)
{
    enum rh_status status = RH_OK;
    for (size_t i = 0; i < count && status == RH_OK; i++)
        status = RH_RUNS_CHANGE(runs, ADD_PAIR, rh_db_int((int64_t)pairs[i].first),
                                rh_db_int((int64_t)pairs[i].second), rh_db_int(pairs[i].calls),
                                rh_db_int((int64_t)execution), rh_db_int(streak));
    return status;
}

enum rh_status rh_runs_add_pairs(struct rh_runs *runs, const struct rh_runs_pair *pairs,
                                 size_t count)
{
    uint64_t execution = 0;
    if (count == 0)
        return RH_OK;
    enum rh_status status = rh_db_begin(runs->db, true);
    if (status != RH_OK)
        return status;
    status = rh_db_change(runs->statements[RH_RUNS_COUNT_EXECUTION], NULL, 0);
    if (status == RH_OK)
        status = count_executions(runs, &execution);
    if (status == RH_OK)
        status = enter_pairs(runs, pairs, count, execution, 1);
    if (status == RH_OK)
        status = RH_RUNS_CHANGE(runs, DROP_PAIRS, rh_db_int((int64_t)execution));
    return rh_db_end(runs->db, status);
}

enum rh_status rh_runs_adopt_pairs(struct rh_runs *runs, const struct rh_runs_pair *pairs,
                                   size_t count)
{
    uint64_t execution = 0;
    enum rh_status status = rh_db_begin(runs->db, true);
    if (status != RH_OK)
        return status;
    status = count_executions(runs, &execution);
    if (status == RH_OK)
        status = enter_pairs(runs, pairs, count, execution, RH_RUNS_FREQUENT);
    return rh_db_end(runs->db, status);
}

static bool take_next_pair(const struct rh_db_statement *row, struct rh_runs_pair_vec *list,
                           size_t from)
{
    uint64_t calls;
    struct rh_runs_pair pair = {.first = (uint64_t)rh_db_column(row, 0).number,
                                .second = (uint64_t)rh_db_column(row, 1).number};
    if (!rh_db_take(row, 2, RH_DB_LIMIT64, &calls))
        return false;
    pair.calls = calls < UINT32_MAX ? (uint32_t)calls : UINT32_MAX;
    const struct rh_runs_pair *last = list->len > from ? &rh_vec_last(list) : NULL;
    if (last && ((int64_t)last->first > (int64_t)pair.first ||
                 (last->first == pair.first && (int64_t)last->second >= (int64_t)pair.second)))
        return false;
    rh_vec_push(list, pair);
    return true;
}

enum rh_status rh_runs_list_pairs(struct rh_runs *runs, struct rh_runs_pair_vec *list,
                                  uint64_t *executions)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_PAIRS];
    size_t from = list->len;
    uint64_t count;
    bool more;
    enum rh_status status = count_executions(runs, &count);
    if (executions)
        *executions = count;
    if (status == RH_OK)
        status = RH_RUNS_FIND(runs, PAIRS, &more, rh_db_int(RH_RUNS_FREQUENT));
    while (status == RH_OK && more)
        status = take_next_pair(row, list, from) ? rh_db_step(row, &more)
                                                 : rh_db_fail_damaged(runs->db, "pairs");
    rh_db_reset(row);
    return status;
}

/* --- libraries --- */

static enum rh_status find_number(struct rh_runs *runs, const char *build_id, uint32_t *number)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_LIBRARY];
    bool more;
    enum rh_status status = RH_RUNS_FIND(runs, LIBRARY, &more, rh_db_text(build_id));
    *number = 0;
    if (status == RH_OK && more && !rh_db_take32(row, 0, RH_RUNS_LIBRARIES + 1, number))
        status = rh_db_fail_damaged(runs->db, "libraries");
    rh_db_reset(row);
    return status;
}

static enum rh_status next_number(struct rh_runs *runs, uint32_t *number)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_NEXT_LIBRARY];
    bool more;
    enum rh_status status = rh_db_step(row, &more);
    if (status == RH_OK && !(more && rh_db_take32(row, 0, RH_DB_LIMIT32, number)))
        status = rh_db_fail_damaged(runs->db, "libraries");
    rh_db_reset(row);
    return status;
}

static enum rh_status enter(struct rh_runs *runs, const struct rh_runs_library *library,
                            uint32_t *number)
{
    enum rh_status status = find_number(runs, library->build_id, number);
    if (status == RH_OK && *number == 0)
        status = next_number(runs, number);
    if (status == RH_OK && *number > RH_RUNS_LIBRARIES) {
        *number = 0;
        return RH_OK;
    }
    return status != RH_OK
               ? status
               : RH_RUNS_CHANGE(runs, ENTER_LIBRARY, rh_db_int(*number),
                                rh_db_text(library->build_id), rh_db_text(library->name),
                                rh_db_text(library->path), rh_db_text(library->store),
                                rh_db_text(library->why_not));
}

enum rh_status rh_runs_enter_library(struct rh_runs *runs, const struct rh_runs_library *library,
                                     uint32_t *number)
{
    enum rh_status status = rh_db_begin(runs->db, true);
    if (status != RH_OK)
        return status;
    return rh_db_end(runs->db, enter(runs, library, number));
}

enum rh_status rh_runs_note_loaded(struct rh_runs *runs, uint32_t number, uint64_t run)
{
    return RH_RUNS_CHANGE(runs, NOTE_LOADED, rh_db_int((int64_t)run), rh_db_int(number));
}

static const char *take_text(struct rh_runs *runs, const struct rh_db_statement *row, int column)
{
    const char *text = rh_db_column_text(row, column);
    return text ? rh_arena_strdup(&runs->arena, text) : NULL;
}

static bool take_library(struct rh_runs *runs, const struct rh_db_statement *row, uint32_t last,
                         struct rh_runs_library *library)
{
    *library = (struct rh_runs_library){
        .build_id = take_text(runs, row, 1),
        .name = take_text(runs, row, 2),
        .path = take_text(runs, row, 3),
        .store = take_text(runs, row, 4),
        .why_not = take_text(runs, row, 5),
    };
    return rh_db_take32(row, 0, RH_RUNS_LIBRARIES + 1, &library->number) &&
           library->number > last && library->build_id && library->name && library->path &&
           library->store && library->why_not &&
           rh_db_take(row, 6, RH_DB_LIMIT64, &library->runs) &&
           rh_db_take(row, 7, RH_DB_LIMIT64, &library->last_run);
}

enum rh_status rh_runs_list_libraries(struct rh_runs *runs, struct rh_runs_library_vec *list)
{
    struct rh_db_statement *row = runs->statements[RH_RUNS_LIBRARIES_ALL];
    struct rh_runs_library library = {0};
    bool more;
    enum rh_status status = rh_db_step(row, &more);
    while (status == RH_OK && more) {
        if (!take_library(runs, row, library.number, &library)) {
            status = rh_db_fail_damaged(runs->db, "libraries");
            break;
        }
        rh_vec_push(list, library);
        status = rh_db_step(row, &more);
    }
    rh_db_reset(row);
    return status;
}
