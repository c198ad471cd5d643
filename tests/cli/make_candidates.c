/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the sidecars with candidates that the tests of the command line look at, without any
 * analysis.
 *
 * Usage: make_candidates OUT BUILD_ID SOURCE_FOLDER KIND, where KIND is `few`, whose every row
 * candidates_test.py knows; `vast`, three classes of 2000 sites that are all in candidates with
 * each other; `hostile`, one candidate whose every name is made to break out of a report; `none`,
 * analysed and without candidates; or `unanalysed`.
 */
#include "base/log.h"
#include "base/strbuf.h"
#include "store/sidecar_analysis.h"

#include <stdlib.h>
#include <string.h>

static void add_few_sites(struct rh_sidecar_writer *writer, const char *bank, const char *stats)
{
    const struct rh_sidecar_function deposit = {"deposit", NULL, bank, 40};
    const struct rh_sidecar_function audit = {"audit", NULL, bank, 48};
    const struct rh_sidecar_function worker = {"worker", NULL, bank, 70};
    const struct rh_sidecar_function stop = {"stop", NULL, NULL, 0};
    const struct rh_sidecar_location in_deposit = {bank, 41, 7, "deposit", NULL, NULL, false};
    const struct rh_sidecar_location in_audit = {bank, 50, 3, "audit", NULL, NULL, false};
    const struct rh_sidecar_location in_worker = {bank, 77, 2, "worker", NULL, NULL, false};
    const struct rh_sidecar_location in_tick = {bank, 60, 9, "tick", NULL, &in_worker, false};
    const struct rh_sidecar_location in_count = {stats, 12, 5, "count", NULL, &in_tick, false};
    const struct rh_sidecar_location in_report = {bank, 80, 1, "audit", NULL, NULL, true};
    const struct rh_sidecar_location in_wait = {bank, 95, 9, "worker", NULL, NULL, false};
    const struct rh_sidecar_location in_stop = {
        "/elsewhere/stop.c", 0, 0, "stop", NULL, NULL, false};
    const struct rh_sidecar_location in_print = {bank, 99, 3, "audit", NULL, NULL, false};
    const struct rh_sidecar_site sites[] = {
        {0, 0xfedcba9876543210, 0, RH_ACCESS_READ, RH_MO_PLAIN, 8, 0, &deposit, &in_deposit,
         "account->balance", NULL},
        {1, 1, 0, RH_ACCESS_WRITE, RH_MO_PLAIN, 8, 0, &deposit, &in_deposit, "account->balance",
         NULL},
        {2, 2, 0, RH_ACCESS_READ, RH_MO_PLAIN, 8, 0, &audit, &in_audit, "account->balance", NULL},
        {3, 3, 0, RH_ACCESS_ATOMIC_UPDATE, RH_MO_SEQ_CST, 4, 0, &worker, &in_count, "counter",
         NULL},
        {4, 4, 0, RH_ACCESS_READ, RH_MO_PLAIN, 4, 0, &audit, &in_report, "counter", NULL},
        {5, 5, 0, RH_ACCESS_READ, RH_MO_PLAIN, 4, 0, &worker, &in_wait, "d\xc3\xb6ne[\x1b[31m]",
         NULL},
        {6, 6, 0, RH_ACCESS_WRITE, RH_MO_PLAIN, 0, RH_SITE_SIZED, &stop, &in_stop, NULL, NULL},
        {7, 7, 0, RH_ACCESS_READ, RH_MO_PLAIN, 1, RH_SITE_AT_LEAST, &audit, &in_print, "name",
         NULL},
    };
    for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++)
        rh_sidecar_add_site(writer, &sites[i]);
}

static void add_few_groups(struct rh_sidecar_writer *writer)
{
    static const struct {
        struct rh_sidecar_class row;
        uint32_t sites[2], count;
    } classes[] = {
        {{0, "worker x many", ""}, {0, 1}, 2},    {{1, "main", "&bank->lock"}, {2}, 1},
        {{2, "worker x many", "&stats"}, {3}, 1}, {{3, "main", ""}, {4}, 1},
        {{4, "worker x many", ""}, {5}, 1},       {{5, "main, handler of SIGINT", ""}, {6}, 1},
    };
    static const struct {
        struct rh_sidecar_group row;
        uint32_t partner;
    } groups[] = {
        {{0, 0, 60, 0, "no lock is held (60)", "heap block from bank.c:12", NULL, 0}, 0},
        {{1, 0, 85, 0, "no lock in common (60), a lock elsewhere (25)", "heap block from bank.c:12",
          NULL, 0},
         1},
        {{2, 2, 99, 0, "never shown: both are atomic", "global counter", NULL, 0}, 2},
        {{3, 2, 40, 0, "atomic meets plain (40)", "global counter", NULL, 0}, 3},
        {{4, 4, 100, RH_GROUP_BUSY_WAIT, "a loop waits for it (100)", NULL, NULL, 0}, 5},
    };
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        rh_sidecar_add_class(writer, &classes[i].row, classes[i].sites, classes[i].count);
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        rh_sidecar_add_group(writer, &groups[i].row, &groups[i].partner, 1);
}

static void add_removed(struct rh_sidecar_writer *writer, const char *bank, const char *stats)
{
    const struct rh_sidecar_function deposit = {"deposit", NULL, bank, 40};
    const struct rh_sidecar_function worker = {"worker", NULL, bank, 70};
    const struct rh_sidecar_location named = {bank, 42, 3, "deposit", NULL, NULL, false};
    const struct rh_sidecar_location beside = {bank, 41, 20, "deposit", NULL, NULL, false};
    const struct rh_sidecar_location in_tick = {bank, 60, 9, "tick", NULL, NULL, false};
    const struct rh_sidecar_location in_count = {stats, 13, 5, "count", NULL, &in_tick, false};
    const struct rh_sidecar_removed rows[] = {
        {RH_ACCESS_READ, RH_MO_PLAIN, 8, 0, &deposit, &named, "account->name", "a common lock",
         "guarded by &bank->lock, as is the write at bank.c:30"},
        {RH_ACCESS_READ, RH_MO_PLAIN, 8, 0, &deposit, &beside, "account", "stack slot", NULL},
        {RH_ACCESS_WRITE, RH_MO_PLAIN, 8, 0, &worker, &in_count, NULL, "one thread", NULL},
        {RH_ACCESS_READ, RH_MO_PLAIN, 8, 0, &deposit, &named, "account->name", "a common lock",
         "guarded by &bank->lock, as is the write at bank.c:30"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        rh_sidecar_add_removed(writer, &rows[i]);
}

static void add_few(struct rh_sidecar_writer *writer, const char *folder)
{
    char *bank = rh_format("%s/bank.c", folder), *stats = rh_format("%s/stats.h", folder);
    add_few_sites(writer, bank, stats);
    add_few_groups(writer);
    add_removed(writer, bank, stats);
    rh_sidecar_add_filter(writer, "one thread", 4000000000);
    rh_sidecar_add_filter(writer, "a common lock", 30);
    rh_sidecar_add_filter(writer, "candidates", 5);
    rh_sidecar_add_phase(writer, "points-to", 1500);
    rh_sidecar_add_phase(writer, "threads", 20);
    rh_sidecar_add_unknown(writer, "ioctl", 2, 7);
    free(bank);
    free(stats);
}

enum { VAST_CLASSES = 3, VAST_SITES = 2000 };

static void add_vast(struct rh_sidecar_writer *writer)
{
    const struct rh_sidecar_function bulk = {"bulk", NULL, "/bulk.c", 1};
    for (uint32_t i = 0; i < VAST_CLASSES * VAST_SITES; i++) {
        struct rh_sidecar_location at = {"/bulk.c", 2 + i, 1, "bulk", NULL, NULL, false};
        rh_sidecar_add_site(writer, &(struct rh_sidecar_site){.number = i,
                                                              .fingerprint = i,
                                                              .access = RH_ACCESS_WRITE,
                                                              .size = 4,
                                                              .function = &bulk,
                                                              .location = &at,
                                                              .expression = "words[i]"});
    }
    for (uint32_t c = 0; c < VAST_CLASSES; c++) {
        uint32_t sites[VAST_SITES];
        for (uint32_t i = 0; i < VAST_SITES; i++)
            sites[i] = c * VAST_SITES + i;
        rh_sidecar_add_class(writer, &(struct rh_sidecar_class){c, "bulk x many", ""}, sites,
                             VAST_SITES);
    }
    for (uint32_t a = 0, number = 0; a < VAST_CLASSES; a++)
        for (uint32_t b = a; b < VAST_CLASSES; b++, number++)
            rh_sidecar_add_group(
                writer,
                &(struct rh_sidecar_group){number, a, 50, 0, "no lock is held", NULL, NULL, 0}, &b,
                1);
    rh_sidecar_add_filter(writer, "candidates", 18003000);
}

#define HOSTILE "</td><script>alert('1')</script>&amp;\"\x1b[31m\xff"

static void add_hostile(struct rh_sidecar_writer *writer, const char *folder)
{
    char *file = rh_format("%s/a <b>%%20#?:.c", folder);
    const struct rh_sidecar_function function = {HOSTILE, NULL, file, 1};
    const struct rh_sidecar_location at = {file, 1, 2, HOSTILE, NULL, NULL, false};
    const struct rh_sidecar_site site = {.fingerprint = 1,
                                         .access = RH_ACCESS_WRITE,
                                         .size = 4,
                                         .function = &function,
                                         .location = &at,
                                         .expression = HOSTILE};
    const uint32_t number = 0;
    rh_sidecar_add_site(writer, &site);
    rh_sidecar_add_class(writer, &(struct rh_sidecar_class){0, HOSTILE, HOSTILE}, &number, 1);
    rh_sidecar_add_group(writer, &(struct rh_sidecar_group){0, 0, 50, 0, HOSTILE, HOSTILE, NULL, 0},
                         &number, 1);
    rh_sidecar_add_filter(writer, "candidates", 1);
    free(file);
}

static void add_kind(struct rh_sidecar_writer *writer, const char *kind, const char *folder)
{
    if (strcmp(kind, "few") == 0)
        add_few(writer, folder);
    else if (strcmp(kind, "vast") == 0)
        add_vast(writer);
    else if (strcmp(kind, "hostile") == 0)
        add_hostile(writer, folder);
    else if (strcmp(kind, "none") == 0)
        rh_sidecar_add_filter(writer, "candidates", 0);
    else
        rh_sidecar_set_meta(writer, RH_SIDECAR_META_UNANALYSED, "the profile is testing");
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        rh_log_error("usage: make_candidates OUT BUILD_ID SOURCE_FOLDER KIND");
        return 2;
    }
    struct rh_sidecar_writer *writer;
    enum rh_status status = rh_sidecar_create(argv[1], &writer);
    if (status == RH_OK) {
        rh_sidecar_set_meta(writer, RH_SIDECAR_META_PROGRAM, "bank");
        rh_sidecar_set_meta(writer, RH_SIDECAR_META_BUILD_ID, argv[2]);
        rh_sidecar_add_key(writer, 0, &(struct rh_key_record){.gate = RH_NO_GATE});
        add_kind(writer, argv[4], argv[3]);
        status = rh_sidecar_commit(writer);
    }
    if (status != RH_OK)
        rh_log_error("%s", rh_error_text());
    return rh_exit_status(status);
}
