/* SPDX-License-Identifier: Apache-2.0 */
/* Where commands find suppressions: an option, the environment, a file beside the program. */
#include "cli/suppressions.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX ".suppressions"

/* The value of suppressions= in RACEHIVE_OPTIONS, whose options are separated by colons; a heap
 * string, or NULL. */
static char *find_in_environment(void)
{
    static const char name[] = "suppressions=";
    const char *at = getenv("RACEHIVE_OPTIONS");
    while (at && *at) {
        size_t len = strcspn(at, ":");
        if (strncmp(at, name, strlen(name)) == 0 && len > strlen(name))
            return rh_strndup(at + strlen(name), len - strlen(name));
        at += len;
        at += *at == ':';
    }
    return NULL;
}

enum rh_status rh_cli_add_suppressions(const struct rh_cli_suppressions *options,
                                       const char *program, struct rh_suppressions *rules)
{
    char *path = rh_format("%s" SUFFIX, program);
    enum rh_status status = RH_OK;
    if (!options->off && access(path, F_OK) == 0)
        status = rh_suppressions_read(rules, path);
    free(path);
    return status;
}

enum rh_status rh_cli_read_suppressions(const struct rh_cli_suppressions *options,
                                        const char *program, struct rh_suppressions *rules)
{
    enum rh_status status = RH_OK;
    if (options->off)
        return RH_OK;
    if (options->path)
        status = rh_suppressions_read(rules, options->path);
    char *path = status == RH_OK ? find_in_environment() : NULL;
    if (path)
        status = rh_suppressions_read(rules, path);
    free(path);
    return status == RH_OK && program ? rh_cli_add_suppressions(options, program, rules) : status;
}

void rh_cli_show_unused(const struct rh_suppressions *rules)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    rh_suppressions_add_unused(rules, &text);
    fputs(rh_strbuf_text(&text), stderr);
    rh_strbuf_release(&text);
}
