/* SPDX-License-Identifier: Apache-2.0 */
/* The assignment of tasks to runs: see pool.h. */
#include "hive/pool.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

#include <racehive/random.h>
#include <stdlib.h>
#include <string.h>

/* Candidates that are looked at when one is to be chosen; more come in as these are settled. */
enum { WINDOW = 50000, NO_ENTRY = -1 };

/* What is known of a candidate's sites. */
enum sites {
    RUN,   /* both were seen to run */
    OPEN,  /* one was not watched yet */
    SLEEP, /* one was watched, and did not run */
    SITES
};

/* What scouts have seen of a candidate: the more, the sooner it is asked about. */
enum sight {
    UNSEEN,
    MET_BARE, /* its sites met without a common lock */
    SUSPECT,  /* and unordered, or it was found unordered in another way */
};

struct entry {
    struct rh_runs_candidate candidate;
    uint32_t score;
    uint64_t attempts;  /* completed runs that were to validate it */
    uint64_t explored;  /* of these, since it is a true race: for what comes of it */
    uint32_t users;     /* who have it as their own */
    uint32_t in_flight; /* runs under way that validate it */
    bool same;          /* its two sites are one: it has only one order */
    bool is_kept;       /* caper has seen both touch escaped memory */
    enum sight sight;
    struct rh_tally tally;
    uint64_t executions[2];
    uint32_t timed_out_us[2];
};

struct rh_pool {
    struct rh_pool_options options;
    struct rh_runs *runs;
    struct rh_candidates *candidates;
    struct rh_candidates_totals totals;
    RH_VEC(struct entry) entries;
    struct rh_map by_id;                     /* -> position in entries */
    const struct rh_sidecar_site *all_sites; /* of the program, by number */
    uint32_t site_count;
    struct rh_map sites;   /* those that were watched, by number -> enum sites */
    size_t open;           /* entries that are no true races */
    size_t cursors[SITES]; /* where screening goes on */
    bool is_drained;       /* every candidate is an entry */
    uint64_t random;
};

/* --- entries --- */

static bool is_true_race(const struct entry *e)
{
    return rh_verdict_of(rh_verdict_ground(&e->tally)) == RH_VERDICT_TRUE_RACE;
}

static uint64_t asked(const struct rh_tally *tally)
{
    uint64_t sum = 0;
    for (int i = 0; i < RH_OUTCOME_COUNT; i++)
        sum += tally->outcomes[i];
    return sum;
}

static enum sites look_at_site(const struct rh_pool *pool, uint32_t site)
{
    uint64_t known = OPEN;
    rh_map_get(&pool->sites, site, &known);
    return (enum sites)known;
}

static void note_site(struct rh_pool *pool, uint32_t site, uint64_t executions)
{
    if (executions)
        rh_map_put(&pool->sites, site, RUN);
    else if (look_at_site(pool, site) == OPEN)
        rh_map_put(&pool->sites, site, SLEEP);
}

static enum sites look_at(const struct rh_pool *pool, const struct entry *e)
{
    enum sites a = look_at_site(pool, e->candidate.first);
    enum sites b = look_at_site(pool, e->candidate.second);
    return a > b ? a : b;
}

static enum rh_status load_state(struct rh_pool *pool, struct entry *e)
{
    struct rh_runs_state state;
    bool known;
    enum rh_status status = rh_runs_get_state(pool->runs, e->candidate.id, &state, &known);
    if (status != RH_OK || !known)
        return status;
    e->tally = state.tally;
    e->attempts = state.attempts;
    e->explored = state.explored;
    memcpy(e->executions, state.executions, sizeof e->executions);
    memcpy(e->timed_out_us, state.timed_out_us, sizeof e->timed_out_us);
    if (asked(&e->tally))
        note_site(pool, e->candidate.first, e->executions[0]);
    if (asked(&e->tally) && !e->same)
        note_site(pool, e->candidate.second, e->executions[1]);
    return RH_OK;
}

/* As far as caper has told. */
static bool is_kept(const struct rh_pool *pool, const struct rh_runs_candidate *c)
{
    const struct rh_bitset *escaped = pool->options.escaped;
    return escaped && rh_bitset_test(escaped, c->first) && rh_bitset_test(escaped, c->second);
}

/* Several pairs of sites may have one id, copies of the same source: each is its own candidate
 * here, but the store counts them together, so only the first is asked about. */
static enum rh_status add_entry(struct rh_pool *pool, const struct rh_runs_candidate *c,
                                uint32_t score)
{
    bool kept = is_kept(pool, c);
    if (rh_map_has(&pool->by_id, c->id) || (pool->options.only_escaped && !kept))
        return RH_OK;
    rh_map_put(&pool->by_id, c->id, pool->entries.len);
    struct entry e = {
        .candidate = *c, .score = score, .same = c->first == c->second, .is_kept = kept};
    enum rh_status status = load_state(pool, &e);
    pool->open += !is_true_race(&e);
    rh_vec_push(&pool->entries, e);
    return status;
}

static enum rh_status add_candidate(struct rh_pool *pool, const struct rh_candidate *c)
{
    const struct rh_runs_candidate candidate = {c->id, c->first->number, c->second->number};
    return add_entry(pool, &candidate, c->score);
}

/* Takes candidates in until the window is full. */
static enum rh_status refill(struct rh_pool *pool)
{
    struct rh_candidate candidate;
    enum rh_status status = RH_OK;
    while (status == RH_OK && !pool->is_drained && pool->open < WINDOW) {
        if (rh_candidates_next(pool->candidates, &candidate))
            status = add_candidate(pool, &candidate);
        else
            pool->is_drained = true;
    }
    return status;
}

static bool is_between_images(const struct rh_runs_candidate *c)
{
    return c->second != RH_RUNS_UNINSTRUMENTED &&
           (rh_runs_image_of(c->first) || rh_runs_image_of(c->second));
}

/* Takes in what scouts saw meet without a common lock, in this build or elsewhere, wherever it
 * stands in the rank. What the
 * analysis has ruled out is no candidate: its races are found by scouts alone. Of two images no
 * analysis has seen both. */
static enum rh_status take_met(struct rh_pool *pool, const struct rh_runs_met *met)
{
    struct rh_candidate candidate;
    enum rh_status status = RH_OK;
    uint32_t first = met->candidate.first, second = met->candidate.second;
    bool is_between = is_between_images(&met->candidate);
    enum rh_runs_elsewhere elsewhere = met->elsewhere;
    if ((!met->unlocked && !elsewhere) ||
        (!is_between && (first >= pool->site_count || second >= pool->site_count)))
        return RH_OK;
    if (is_between)
        status = add_entry(pool, &met->candidate, RH_SCORE_MAX / 2);
    else if (!rh_map_has(&pool->by_id, met->candidate.id) &&
             rh_candidates_find(pool->candidates, &pool->all_sites[first], &pool->all_sites[second],
                                &candidate))
        status = add_candidate(pool, &candidate);
    uint64_t at;
    if (rh_map_get(&pool->by_id, met->candidate.id, &at))
        pool->entries.data[at].sight =
            met->unordered || elsewhere == RH_RUNS_ELSEWHERE_RACED ? SUSPECT : MET_BARE;
    return status;
}

static enum rh_status take_all_met(struct rh_pool *pool)
{
    struct rh_runs_met_vec met = RH_VEC_INIT;
    enum rh_status status = rh_runs_list_met(pool->runs, &met);
    for (size_t i = 0; i < met.len && status == RH_OK; i++)
        status = take_met(pool, &met.data[i]);
    rh_vec_free(&met);
    return status;
}

enum rh_status rh_pool_open(struct rh_sidecar *sidecar, struct rh_runs *runs,
                            const struct rh_pool_options *options, struct rh_pool **pool)
{
    struct rh_pool *p = rh_calloc(1, sizeof *p);
    p->options = *options;
    p->runs = runs;
    p->random = rh_random_seed(options->seed);
    enum rh_status status = rh_candidates_open(sidecar, NULL, &p->candidates);
    if (status == RH_OK)
        status = rh_sidecar_load_sites(sidecar, &p->all_sites, &p->site_count);
    if (status == RH_OK) {
        rh_candidates_count(p->candidates, &p->totals);
        status = refill(p);
    }
    if (status == RH_OK)
        status = take_all_met(p);
    if (status != RH_OK) {
        rh_pool_close(p);
        return status;
    }
    *pool = p;
    return RH_OK;
}

void rh_pool_close(struct rh_pool *pool)
{
    if (pool->candidates)
        rh_candidates_close(pool->candidates);
    rh_vec_free(&pool->entries);
    rh_map_release(&pool->by_id);
    rh_map_release(&pool->sites);
    free(pool);
}

/* --- attempts --- */

static uint32_t next_pause(const struct rh_pool_options *o, uint32_t timed_out_us)
{
    uint32_t pause = timed_out_us ? timed_out_us + o->pause_step_us : o->first_pause_us;
    return pause < o->longest_pause_us ? pause : o->longest_pause_us;
}

/* An execution of the site that is to wait: small numbers are as likely as all larger ones of the
 * same length, because most sites run either a few times or very often. */
static uint32_t choose_skip(struct rh_pool *pool, const struct entry *e, enum rh_race_order order)
{
    uint64_t executions = e->executions[e->same || order == RH_ORDER_ALTERNATE ? 0 : 1];
    uint64_t limit = 1;
    if (executions < 2 || rh_random(&pool->random) & 1)
        return 0;
    while (limit < executions && rh_random(&pool->random) & 3)
        limit *= 2;
    if (limit > executions)
        limit = executions;
    return rh_random_below(&pool->random, limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX);
}

/* The attempts at a candidate: one without a pause, which is spared if another run has seen its
 * order beside its own task, then by turns for the two orders. */
static struct rh_runs_task make_attempt(struct rh_pool *pool, const struct entry *e,
                                        uint64_t attempt, uint32_t *skip)
{
    enum { ORDERS = 2 };
    const struct rh_pool_options *o = &pool->options;
    struct rh_runs_task task = {.candidate = e->candidate, .stage = RH_STAGE_ORDER};
    *skip = 0;
    bool was_seen = e->tally.outcomes[RH_OUTCOME_NO_RACE] > 0;
    bool only_order =
        o->method == RH_POOL_VALIDATE && attempt == 0 && !was_seen && !is_true_race(e);
    if (only_order || o->method == RH_POOL_ORDER || !o->steers)
        return task;
    task.stage = RH_STAGE_STEER;
    task.order = attempt % 2 && !e->same ? RH_ORDER_ALTERNATE : RH_ORDER_PRIMARY;
    if (o->method == RH_POOL_COLLIDE) {
        bool is_long = attempt / ORDERS % 2;
        task.pause_us = is_long ? o->long_pause_us : 0;
        return task;
    }
    bool is_spent = e->timed_out_us[task.order] >= o->longest_pause_us;
    /* When the longest has timed out, any length may be the right one. */
    task.pause_us = is_spent ? 1 + rh_random_below(&pool->random, o->longest_pause_us)
                             : next_pause(o, e->timed_out_us[task.order]);
    *skip = choose_skip(pool, e, task.order);
    return task;
}

static void add_task(struct rh_assignment *a, struct entry *e, struct rh_runs_task task,
                     uint32_t skip)
{
    a->skips[a->count] = skip;
    a->tasks[a->count++] = task;
    e->in_flight += task.stage != RH_STAGE_MEET;
}

/* --- the next run of anyone --- */

/* What is to be found out of a candidate. */
enum kind {
    MET,    /* its sites have met: is it a race? */
    HIDDEN, /* they have not been seen to */
    PROVED, /* it is a race: does it make the program crash or hang? */
    KINDS
};

static enum kind kind_of(const struct entry *e)
{
    if (is_true_race(e))
        return PROVED;
    bool met = e->sight != UNSEEN || e->tally.met || e->tally.suspected ||
               e->tally.outcomes[RH_OUTCOME_NO_RACE];
    return met ? MET : HIDDEN;
}

/* Less is sooner: fewest attempts, those that caper keeps, sites that run, best score. A candidate
 * that met without a common lock has twice the attempts of others before it comes behind them, a
 * suspect four times.
 */
static uint64_t urgency(struct rh_pool *pool, const struct entry *e)
{
    bool is_suspect = e->sight == SUSPECT || e->tally.suspected;
    uint64_t attempts =
        is_true_race(e) ? e->explored : e->attempts >> (is_suspect ? 2 : e->sight == MET_BARE);
    return attempts << 33 | (uint64_t)!e->is_kept << 32 |
           (uint64_t)(look_at(pool, e) == SLEEP) << 31 | (uint64_t)(RH_SCORE_MAX - e->score) << 16 |
           (rh_random(&pool->random) & 0xffff);
}

/* A true race is tried a few times more, steered to both orders, to see whether it makes the
 * program crash or hang. */
static bool is_worth_a_run(const struct rh_pool *pool, const struct entry *e)
{
    enum { EXPLORATIONS = 16 };
    bool explores = pool->options.method == RH_POOL_VALIDATE && pool->options.steers;
    return !e->in_flight && (!is_true_race(e) || (explores && e->explored < EXPLORATIONS));
}

static ptrdiff_t choose_of_kind(struct rh_pool *pool, enum kind kind)
{
    ptrdiff_t best = NO_ENTRY;
    uint64_t best_urgency = UINT64_MAX;
    for (size_t i = 0; i < pool->entries.len; i++) {
        const struct entry *e = &pool->entries.data[i];
        if (kind_of(e) != kind || !is_worth_a_run(pool, e))
            continue;
        uint64_t u = urgency(pool, e);
        if (u < best_urgency) {
            best_urgency = u;
            best = (ptrdiff_t)i;
        }
    }
    return best;
}

/* Kinds take turns, so that few candidates of one are not lost among thousands of another. Those
 * that have not met need attempts, too: the way to a site may lead through the very contention that
 * a pause at the other one makes, as behind a trylock that fails. Whose turn it is follows from the
 * attempts made so far, which other processes know, too. */
static ptrdiff_t choose(struct rh_pool *pool)
{
    static const enum kind turns[] = {MET, PROVED, MET, HIDDEN};
    uint64_t made = 0;
    rh_vec_each (const struct entry, e, &pool->entries)
        made += e->attempts + e->in_flight;
    ptrdiff_t at = choose_of_kind(pool, turns[made % (sizeof turns / sizeof turns[0])]);
    for (enum kind kind = MET; at == NO_ENTRY && kind < KINDS; kind++)
        at = choose_of_kind(pool, kind);
    return at;
}

static bool is_screened(const struct rh_assignment *a, uint64_t candidate)
{
    for (size_t i = 0; i < a->count; i++)
        if (a->tasks[i].candidate.id == candidate)
            return true;
    return false;
}

/* A site of an inner loop costs whoever watches it all that hooks may cost, and the others of the
 * run go unseen. Once watched so often, it has shown what watching shows: the rest takes a run of
 * its own. */
static bool is_too_hot(const struct entry *e)
{
    enum { OFTEN = 20000 };
    return e->executions[0] > OFTEN || e->executions[1] > OFTEN;
}

static bool is_new(const struct rh_pool *pool, const struct rh_assignment *a, uint32_t site)
{
    if (look_at_site(pool, site) != OPEN)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->tasks[i].candidate.first == site || a->tasks[i].candidate.second == site)
            return false;
    return true;
}

/* Screens entries of one kind, from where it stopped last time, once round at most; `new`: only
 * with a site that nobody watches yet. */
static void screen(struct rh_pool *pool, struct rh_assignment *a, size_t limit, enum sites sites,
                   bool new)
{
    size_t *cursor = &pool->cursors[sites];
    for (size_t looked = 0; a->count < limit && looked < pool->entries.len; looked++) {
        struct entry *e = &pool->entries.data[*cursor];
        *cursor = (*cursor + 1) % pool->entries.len;
        if (is_true_race(e) || is_too_hot(e) || look_at(pool, e) != sites ||
            is_screened(a, e->candidate.id) ||
            (new && !is_new(pool, a, e->candidate.first) && !is_new(pool, a, e->candidate.second)))
            continue;
        struct rh_runs_task task = {.candidate = e->candidate, .stage = RH_STAGE_MEET};
        add_task(a, e, task, 0);
    }
}

/* Half is for candidates whose sites run, half for sites that are not known yet, but for one of
 * some that sleep: what does not run here may run elsewhere. What one kind leaves is for the
 * others. */
static void add_screening(struct rh_pool *pool, struct rh_assignment *a)
{
    enum { ONE_OF = 8 };
    size_t wanted = pool->options.screened_per_run, room = RH_MAX_TASKS - a->count;
    size_t count = wanted < room ? wanted : room, limit = a->count + count;
    size_t awake = limit - (count + rh_random_below(&pool->random, ONE_OF)) / ONE_OF;
    screen(pool, a, awake - count / 2, RUN, false);
    screen(pool, a, awake, OPEN, true);
    screen(pool, a, awake, RUN, false);
    screen(pool, a, limit, SLEEP, false);
    for (enum sites sites = RUN; sites < SITES; sites++)
        screen(pool, a, limit, sites, false);
}

bool rh_pool_assign(struct rh_pool *pool, struct rh_assignment *a)
{
    a->count = a->validating = 0;
    while (a->count < pool->options.tasks_per_run && a->count < RH_MAX_TASKS) {
        ptrdiff_t at = choose(pool);
        if (at == NO_ENTRY)
            break;
        struct entry *e = &pool->entries.data[at];
        uint32_t skip;
        struct rh_runs_task task = make_attempt(pool, e, e->attempts, &skip);
        add_task(a, e, task, skip);
    }
    a->validating = a->count;
    add_screening(pool, a);
    return a->count > 0;
}

/* --- users --- */

bool rh_pool_draw(struct rh_pool *pool, struct rh_pool_share *share)
{
    uint64_t seen = 0;
    uint32_t fewest = UINT32_MAX;
    for (size_t i = 0; i < pool->entries.len; i++) {
        struct entry *e = &pool->entries.data[i];
        if (is_true_race(e) || e->users > fewest)
            continue;
        if (e->users < fewest) {
            fewest = e->users;
            seen = 0;
        }
        if (rh_random_below(&pool->random, ++seen) == 0)
            share->entry = i;
    }
    if (!seen)
        return false;
    struct entry *e = &pool->entries.data[share->entry];
    share->order = ++e->users % 2 && !e->same ? RH_ORDER_ALTERNATE : RH_ORDER_PRIMARY;
    return true;
}

/* A user's own pauses grow with his own attempts. */
static uint64_t pause_of_user(const struct rh_pool_options *o, uint32_t attempt)
{
    return o->first_pause_us + (attempt ? attempt - 1 : 0) * (uint64_t)o->pause_step_us;
}

static bool is_user_done(const struct rh_pool_options *o, const struct entry *e, uint32_t attempt)
{
    if (is_true_race(e))
        return true;
    if (o->method != RH_POOL_VALIDATE || !o->steers)
        return attempt > (o->method == RH_POOL_COLLIDE);
    bool was_longest = attempt > 1 && pause_of_user(o, attempt - 1) >= o->longest_pause_us;
    return was_longest || (attempt > 2 && !e->tally.met);
}

static struct rh_runs_task make_attempt_of_user(struct rh_pool *pool, const struct entry *e,
                                                enum rh_race_order order, uint32_t attempt,
                                                uint32_t *skip)
{
    const struct rh_pool_options *o = &pool->options;
    if (o->method != RH_POOL_VALIDATE || attempt == 0)
        return make_attempt(pool, e, attempt, skip);
    uint64_t pause = pause_of_user(o, attempt);
    struct rh_runs_task task = {
        .candidate = e->candidate,
        .stage = RH_STAGE_STEER,
        .order = order,
        .pause_us = pause < o->longest_pause_us ? (uint32_t)pause : o->longest_pause_us,
    };
    *skip = choose_skip(pool, e, task.order);
    return task;
}

bool rh_pool_assign_user(struct rh_pool *pool, const struct rh_pool_share *share, uint32_t attempt,
                         struct rh_assignment *a)
{
    struct entry *e = &pool->entries.data[share->entry];
    uint32_t skip;
    a->count = a->validating = 0;
    if (is_user_done(&pool->options, e, attempt))
        return false;
    struct rh_runs_task task = make_attempt_of_user(pool, e, share->order, attempt, &skip);
    add_task(a, e, task, skip);
    a->validating = a->count;
    add_screening(pool, a);
    return true;
}

/* --- afterwards --- */

/* Of a candidate that was assigned. */
static struct entry *find(struct rh_pool *pool, uint64_t candidate)
{
    uint64_t at = 0;
    rh_map_get(&pool->by_id, candidate, &at);
    return &pool->entries.data[at];
}

void rh_pool_abandoned(struct rh_pool *pool, const struct rh_assignment *a)
{
    for (size_t i = 0; i < a->validating; i++)
        find(pool, a->tasks[i].candidate.id)->in_flight--;
}

/* Looks a candidate up again, if it is in the pool. */
static enum rh_status renew(struct rh_pool *pool, uint64_t candidate)
{
    if (!rh_map_has(&pool->by_id, candidate))
        return RH_OK;
    struct entry *e = find(pool, candidate);
    bool was_open = !is_true_race(e);
    enum rh_status status = load_state(pool, e);
    pool->open -= was_open && is_true_race(e);
    return status;
}

enum rh_status rh_pool_completed(struct rh_pool *pool, const struct rh_assignment *a,
                                 const struct rh_runs_task *found, size_t found_count)
{
    rh_pool_abandoned(pool, a);
    enum rh_status status = RH_OK;
    for (size_t i = 0; i < a->count && status == RH_OK; i++)
        status = renew(pool, a->tasks[i].candidate.id);
    for (size_t i = 0; i < found_count && status == RH_OK; i++)
        status = renew(pool, found[i].candidate.id);
    if (status == RH_OK)
        status = refill(pool);
    return status == RH_OK ? take_all_met(pool) : status;
}

bool rh_pool_name(const struct rh_pool *pool, uint32_t a, uint32_t b,
                  struct rh_runs_candidate *candidate)
{
    if (a == RH_RUNS_UNINSTRUMENTED) {
        a = b;
        b = RH_RUNS_UNINSTRUMENTED;
    }
    if (a >= pool->site_count || (b >= pool->site_count && b != RH_RUNS_UNINSTRUMENTED))
        return false;
    const struct rh_sidecar_site *first = &pool->all_sites[a];
    if (b == RH_RUNS_UNINSTRUMENTED) {
        *candidate = (struct rh_runs_candidate){rh_candidate_uninstrumented(first), a, b};
        return true;
    }
    const struct rh_sidecar_site *second = &pool->all_sites[b];
    bool in_order = rh_sidecar_compare_locations(first, second) <= 0;
    *candidate = (struct rh_runs_candidate){rh_candidate_id(first, second), in_order ? a : b,
                                            in_order ? b : a};
    return true;
}

void rh_pool_count(const struct rh_pool *pool, struct rh_pool_counts *counts)
{
    *counts = (struct rh_pool_counts){.all = pool->totals.candidates};
    for (size_t i = 0; i < pool->entries.len; i++) {
        const struct entry *e = &pool->entries.data[i];
        counts->true_races += is_true_race(e);
        counts->met += e->tally.met > 0;
        counts->tried += asked(&e->tally) > 0;
    }
}
