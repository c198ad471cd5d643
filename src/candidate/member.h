/* SPDX-License-Identifier: Apache-2.0 */
/* Which member of a struct the expression of a site names: `it->flags` here, `item->flags` there.
 */
#ifndef RH_CANDIDATE_MEMBER_H
#define RH_CANDIDATE_MEMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The member that an expression ends in: `hits` of `c->stats.hits[i]`. Of length 0 if it ends in
 * none (`*p`, `count`), or is NULL. */
struct rh_member {
    const char *text;
    size_t len;
    bool is_inside; /* of the array that it is, or behind the pointer */
};

struct rh_member rh_member_of(const char *expression);
/* Do both name a member, and the same? */
bool rh_member_same(const char *a, const char *b);

/* The kin of a site: a hash of the member, or else of the variable, that its expression ends in.
 * Sites of one kin are likely to touch the same memory: `it->flags`, `item->flags` and
 * `items[i].flags`; `count` and `count[i]`. 0 if the expression names nothing. */
uint16_t rh_member_kin(const char *expression);

#endif
