/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what the search takes for granted: see trust.h. */
#include "base/trust.h"

#include <string.h>

static const char *const names[] = {
#define RH_TRUST_NAME(id, name) name,
    RH_TRUSTS(RH_TRUST_NAME)
#undef RH_TRUST_NAME
};

static bool drop(const char *word, size_t len, bool trusts[RH_TRUST_COUNT])
{
    static const char no[] = "no-";
    enum { NO = sizeof no - 1 };
    if (len <= NO || strncmp(word, no, NO) != 0)
        return false;
    for (int i = 0; i < RH_TRUST_COUNT; i++) {
        if (strlen(names[i]) != len - NO || strncmp(names[i], word + NO, len - NO) != 0)
            continue;
        trusts[i] = false;
        return true;
    }
    return false;
}

bool rh_trust_parse(const char *text, bool trusts[RH_TRUST_COUNT])
{
    bool all = strcmp(text, "none") != 0;
    for (int i = 0; i < RH_TRUST_COUNT; i++)
        trusts[i] = all;
    if (!all || strcmp(text, "all") == 0)
        return true;
    for (;;) {
        size_t len = strcspn(text, ",");
        if (!drop(text, len, trusts))
            return false;
        if (!text[len])
            return true;
        text += len + 1;
    }
}
