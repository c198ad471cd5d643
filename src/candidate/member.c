/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the member at the end of an expression: see member.h. */
#include "candidate/member.h"

#include <ctype.h>
#include <string.h>

#include "base/hash.h"

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

/* Where the word begins that ends at `end`. */
static size_t word_before(const char *text, size_t end)
{
    while (end && is_word(text[end - 1]))
        end--;
    return end;
}

struct rh_member rh_member_of(const char *expression)
{
    size_t len = expression ? strlen(expression) : 0;
    size_t end = expression ? without_indices(expression, len) : 0;
    size_t begin = expression ? word_before(expression, end) : 0;
    bool is_member = begin && (expression[begin - 1] == '.' ||
                               (begin > 1 && strncmp(expression + begin - 2, "->", 2) == 0));
    if (!is_member)
        return (struct rh_member){0};
    return (struct rh_member){expression + begin, end - begin, end < len || expression[0] == '*'};
}

bool rh_member_same(const char *a, const char *b)
{
    struct rh_member x = rh_member_of(a), y = rh_member_of(b);
    return x.len && x.len == y.len && x.is_inside == y.is_inside &&
           memcmp(x.text, y.text, x.len) == 0;
}

uint16_t rh_member_kin(const char *expression)
{
    size_t end = expression ? without_indices(expression, strlen(expression)) : 0;
    size_t begin = expression ? word_before(expression, end) : 0;
    if (begin == end)
        return 0;
    struct rh_hash hash;
    rh_hash_init(&hash);
    rh_hash_add(&hash, expression + begin, end - begin);
    return (uint16_t)(rh_hash_finish(&hash) % UINT16_MAX + 1);
}
