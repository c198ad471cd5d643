/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the sidecar that the tests of the command line look at, without any compiler.
 *
 * Usage: make_sidecar OUT BUILD_ID SOURCE_FOLDER [EXTRA], where EXTRA more sites follow the fixed
 * ones. cli_test.py knows every row below.
 */
#include "base/log.h"
#include "base/strbuf.h"
#include "store/sidecar.h"

#include <stdlib.h>

static void add_fixed_sites(struct rh_sidecar_writer *writer, const char *bank, const char *stats)
{
    const struct rh_sidecar_function deposit = {"deposit", "deposit", bank, 40};
    const struct rh_sidecar_function worker = {"worker", "worker", bank, 70};
    const struct rh_sidecar_function odd = {"gr\xc3\xb6\xc3\x9f\x65", "_Zodd", bank, 90};
    const struct rh_sidecar_function start = {"_start", NULL, NULL, 0};
    const struct rh_sidecar_location in_deposit = {bank, 41, 7, "deposit", NULL, NULL, false};
    const struct rh_sidecar_location in_worker = {bank, 77, 2, "worker", NULL, NULL, false};
    const struct rh_sidecar_location in_tick = {bank, 60, 9, "tick", NULL, &in_worker, false};
    const struct rh_sidecar_location in_count = {stats, 12, 5, "count", NULL, &in_tick, false};
    const struct rh_sidecar_location no_line = {
        "/elsewhere/copy.c", 0, 0, "worker", NULL, NULL, false};
    const struct rh_sidecar_location in_odd = {bank, 91, 1, odd.name, odd.linkage, NULL, true};
    const struct rh_sidecar_site sites[] = {
        {0, 0xfedcba9876543210, 0, RH_ACCESS_READ, RH_MO_PLAIN, 8, 0, &deposit, &in_deposit,
         "account->balance", NULL},
        {1, 0x0000000000000001, 0, RH_ACCESS_WRITE, RH_MO_PLAIN, 8, 0, &deposit, &in_deposit,
         "account->balance", NULL},
        {2, 2, 1, RH_ACCESS_ATOMIC_UPDATE, RH_MO_SEQ_CST, 4, 0, &worker, &in_count, "counter",
         NULL},
        {3, 3, 2, RH_ACCESS_READ, RH_MO_PLAIN, 0, RH_SITE_SIZED, &worker, &no_line, NULL, NULL},
        {4, 4, RH_SIDECAR_NO_KEY, RH_ACCESS_FENCE, RH_MO_ACQUIRE, 0, 0, &start, NULL, NULL, NULL},
        {5, 5, 3, RH_ACCESS_WRITE, RH_MO_PLAIN, 32, RH_SITE_PARTIAL, &odd, &in_odd,
         "n\xc3\xa4he[\x1b[31m'\"\n]", NULL},
    };
    for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++)
        rh_sidecar_add_site(writer, &sites[i]);
}

static void add_extra_sites(struct rh_sidecar_writer *writer, uint32_t count)
{
    const struct rh_sidecar_function bulk = {"bulk", NULL, "/bulk.c", 1};
    for (uint32_t i = 0; i < count; i++) {
        struct rh_sidecar_location at = {"/bulk.c", 2 + i, 1, "bulk", NULL, NULL, false};
        rh_sidecar_add_site(writer, &(struct rh_sidecar_site){.number = 6 + i,
                                                              .fingerprint = 6 + i,
                                                              .key = 0,
                                                              .size = 4,
                                                              .function = &bulk,
                                                              .location = &at,
                                                              .expression = "words[i]"});
    }
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc > 5) {
        rh_log_error("usage: make_sidecar OUT BUILD_ID SOURCE_FOLDER [EXTRA]");
        return 2;
    }
    struct rh_sidecar_writer *writer;
    enum rh_status status = rh_sidecar_create(argv[1], &writer);
    if (status == RH_OK) {
        char *bank = rh_format("%s/bank.c", argv[3]), *stats = rh_format("%s/stats.h", argv[3]);
        rh_sidecar_set_meta(writer, RH_SIDECAR_META_PROGRAM, "bank");
        rh_sidecar_set_meta(writer, RH_SIDECAR_META_BUILD_ID, argv[2]);
        rh_sidecar_set_skipped(writer, "constant data", 7);
        rh_sidecar_set_skipped(writer, "thread-local variable", 1);
        rh_sidecar_set_skipped(writer, "gather or scatter", 0);
        for (uint32_t i = 0; i < 4; i++)
            rh_sidecar_add_key(writer, i, &(struct rh_key_record){.gate = RH_NO_GATE});
        add_fixed_sites(writer, bank, stats);
        add_extra_sites(writer, argc == 5 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0);
        rh_sidecar_set_module(writer, "BC\xc0\xde", 4, 3);
        status = rh_sidecar_commit(writer);
        free(bank);
        free(stats);
    }
    if (status != RH_OK)
        rh_log_error("%s", rh_error_text());
    return rh_exit_status(status);
}
