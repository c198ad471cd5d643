/*
 * Candidates of which both sites name the same member: `it->flags` here, `item->flags` there.
 *
 * Where pointers may point to many objects, a group has every pair of accesses that cannot be told
 * apart, most of them to members of different structs. What the programmer calls the same is far
 * more likely the same; so of such a group these candidates have a better score.
 */
#ifndef RH_STORE_ALIKE_H
#define RH_STORE_ALIKE_H

#include "base/strbuf.h"
#include "store/sidecar_analysis.h"

/* The member that an expression ends in: `hits` of `c->stats.hits[i]`. Of length 0 if it ends in
 * none (`*p`, `count`), or is NULL. */
struct rh_alike_name {
    const char *text;
    size_t len;
    bool is_inside; /* of the array that it is, or behind the pointer */
};
struct rh_alike_name rh_alike_name(const char *expression);

/* The score of a candidate, made of its group's and of what its sites name. */
uint32_t rh_alike_score(const struct rh_sidecar_group *group, bool alike);
bool rh_alike_in(const struct rh_sidecar_group *group, const struct rh_sidecar_site *first,
                 const struct rh_sidecar_site *second);
/* Why it remains and what its score is made of. */
void rh_alike_explain(const struct rh_sidecar_group *group, const struct rh_sidecar_site *first,
                      const struct rh_sidecar_site *second, struct rh_strbuf *out);

#endif
