/* The link as it would have been without us: of machine code, by lld or by the system's linker. */
#include "driver/link.h"

#include "driver/child.h"
#include "driver/ldsteps.h"
#include "driver/tools.h"

static enum rh_status run_linker(struct rh_link *link, const char *linker, enum rh_ld_linker kind)
{
    struct rh_words argv = RH_VEC_INIT;
    rh_ld_make_native(&link->ld, linker, kind, &argv);
    enum rh_status status = rh_link_run(link, &argv);
    rh_vec_free(&argv);
    return status;
}

/* What a failed lld said, kept while the other linker is tried. */
struct diagnostics {
    struct rh_strbuf out, err;
    int status;
};

static void swap_diagnostics(struct rh_link *link, struct diagnostics *kept)
{
    struct diagnostics now = {link->out, link->err, link->status};
    link->out = kept->out;
    link->err = kept->err;
    link->status = kept->status;
    *kept = now;
}

enum rh_status rh_link_native(struct rh_link *link)
{
    enum rh_status status = run_linker(link, link->lld, RH_LD_LLD);
    if (status == RH_OK || rh_child_interrupted())
        return status;
    struct diagnostics kept = {.status = 1};
    swap_diagnostics(link, &kept);
    char *linker;
    enum rh_status second = rh_tools_find_system_linker(&linker);
    if (second == RH_OK) {
        second = run_linker(link, linker, RH_LD_SYSTEM);
        free(linker);
    }
    /* Where both fail, the user's own error is real, and lld tells it better. */
    if (second != RH_OK)
        swap_diagnostics(link, &kept);
    rh_strbuf_release(&kept.out);
    rh_strbuf_release(&kept.err);
    return second;
}
