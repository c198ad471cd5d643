/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the search for candidates takes for granted unless --rh-trust= says otherwise: `all`,
 * `none`, or a list like `no-cxx-library,no-declarations` of what it does not.
 */
#ifndef RH_BASE_TRUST_H
#define RH_BASE_TRUST_H

#include <stdbool.h>

/* Suffix, name behind "no-". docs/candidates.md says what each means. */
#define RH_TRUSTS(X)                                                                               \
    X(CXX_LIBRARY, "cxx-library")                                                                  \
    X(DECLARATIONS, "declarations")

enum rh_trust {
#define RH_TRUST_ENUM(id, name) RH_TRUST_##id,
    RH_TRUSTS(RH_TRUST_ENUM)
#undef RH_TRUST_ENUM
        RH_TRUST_COUNT
};

/* Fills in which of them hold; false if that is no such list. */
bool rh_trust_parse(const char *text, bool trusts[RH_TRUST_COUNT]);

#endif
