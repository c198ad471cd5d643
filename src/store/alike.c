/* Compares the members that sites name: see alike.h. */
#include "store/alike.h"

#include <ctype.h>
#include <string.h>

enum { ALIKE_SCORE = 30 };

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The length without the indices at the end. */
static size_t without_indices(const char *text, size_t len)
{
    while (len && text[len - 1] == ']') {
        int depth = 0;
        do {
            len--;
            depth += (text[len] == ']') - (text[len] == '[');
        } while (len && depth);
    }
    return len;
}

struct rh_alike_name rh_alike_name(const char *expression)
{
    size_t len = expression ? strlen(expression) : 0;
    size_t end = expression ? without_indices(expression, len) : 0, begin = end;
    while (begin && is_word(expression[begin - 1]))
        begin--;
    bool is_member = begin && (expression[begin - 1] == '.' ||
                               (begin > 1 && strncmp(expression + begin - 2, "->", 2) == 0));
    if (!is_member)
        return (struct rh_alike_name){0};
    return (struct rh_alike_name){expression + begin, end - begin,
                                  end < len || expression[0] == '*'};
}

uint32_t rh_alike_score(const struct rh_sidecar_group *group, bool alike)
{
    uint32_t score = group->score + (alike ? ALIKE_SCORE : 0);
    return score < RH_SCORE_MAX ? score : RH_SCORE_MAX;
}

bool rh_alike_in(const struct rh_sidecar_group *group, const struct rh_sidecar_site *first,
                 const struct rh_sidecar_site *second)
{
    struct rh_alike_name a = rh_alike_name(first->expression);
    struct rh_alike_name b = rh_alike_name(second->expression);
    return group->flags & RH_GROUP_VAGUE && a.len && a.len == b.len && a.is_inside == b.is_inside &&
           memcmp(a.text, b.text, a.len) == 0;
}

void rh_alike_explain(const struct rh_sidecar_group *group, const struct rh_sidecar_site *first,
                      const struct rh_sidecar_site *second, struct rh_strbuf *out)
{
    struct rh_alike_name name = rh_alike_name(first->expression);
    rh_strbuf_add(out, group->why);
    if (rh_alike_in(group, first, second))
        rh_strbuf_addf(out, ", both name %.*s (%+d)", (int)name.len, name.text, ALIKE_SCORE);
}
