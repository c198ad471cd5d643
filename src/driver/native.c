/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link as it would have been without us: of machine code, by the linker that clang would have
 * called. Whether that succeeds is whether the build would have passed. lld goes first only where
 * bitcode has no machine code beside it, and last only where there is no other linker.
 */
#include "driver/link.h"

#include "driver/ldsteps.h"
#include "driver/tools.h"

static enum rh_status run_linker(struct rh_link *link, enum rh_ld_linker kind)
{
    char *found = NULL;
    enum rh_status status = RH_OK;
    if (kind == RH_LD_SYSTEM)
        status = rh_tools_find_linker(link->settings.linker, &found);
    if (status == RH_OK) {
        struct rh_wordlist argv = RH_VEC_INIT;
        rh_ld_make_native(&link->ld, found ? found : link->lld, kind, &argv);
        status = rh_link_run(link, &argv);
        rh_vec_free(&argv);
    }
    if (status == RH_OK)
        link->spoiled = false;
    free(found);
    return status;
}

enum rh_status rh_link_native(struct rh_link *link)
{
    enum rh_status status = RH_ERR_INPUT;
    rh_link_forget(link);
    if (link->ld.has_plain_bitcode)
        status = run_linker(link, RH_LD_LLD);
    if (status != RH_OK)
        status = run_linker(link, RH_LD_SYSTEM);
    if (status == RH_ERR_NOT_FOUND)
        status = run_linker(link, RH_LD_LLD);
    return status;
}
