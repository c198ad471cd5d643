/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of words and response files. */
#include "driver/wordlist.h"

#include "base/fs.h"

#include <string.h>

/* Files that name each other in a circle must come to an end. */
#define MAX_NESTING 32

bool rh_word_starts(const char *word, const char *prefix, const char **rest)
{
    size_t len = strlen(prefix);
    if (strncmp(word, prefix, len) != 0)
        return false;
    if (rest)
        *rest = word + len;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/* Reads one word from *text, which is at its first character, and leaves *text behind it. */
static void read_word(const char **text, struct rh_strbuf *word)
{
    char quote = '\0';
    const char *at = *text;
    for (; *at && (quote || !is_blank(*at)); at++) {
        if (*at == '\\' && at[1]) {
            rh_strbuf_addc(word, *++at);
        } else if (quote ? *at == quote : *at == '"' || *at == '\'') {
            quote = quote ? '\0' : *at;
        } else {
            rh_strbuf_addc(word, *at);
        }
    }
    *text = at;
}

void rh_wordlist_split(struct rh_wordlist *words, struct rh_arena *arena, const char *text)
{
    struct rh_strbuf word = RH_STRBUF_INIT;
    for (;;) {
        while (is_blank(*text))
            text++;
        if (!*text)
            break;
        rh_strbuf_reset(&word);
        read_word(&text, &word);
        rh_vec_push(words, rh_arena_strdup(arena, rh_strbuf_text(&word)));
    }
    rh_strbuf_release(&word);
}

static void expand(struct rh_wordlist *words, struct rh_arena *arena, size_t count,
                   const char *const *list, int nesting)
{
    for (size_t i = 0; i < count; i++) {
        struct rh_strbuf text = RH_STRBUF_INIT;
        if (list[i][0] != '@' || nesting == 0 || rh_fs_read(list[i] + 1, &text) != RH_OK) {
            rh_vec_push(words, list[i]);
            continue;
        }
        struct rh_wordlist inner = RH_VEC_INIT;
        rh_wordlist_split(&inner, arena, rh_strbuf_text(&text));
        expand(words, arena, inner.len, inner.data, nesting - 1);
        rh_vec_free(&inner);
        rh_strbuf_release(&text);
    }
}

void rh_wordlist_expand(struct rh_wordlist *words, struct rh_arena *arena, size_t argc,
                        const char *const *argv)
{
    expand(words, arena, argc, argv, MAX_NESTING);
}

void rh_wordlist_join(const struct rh_wordlist *words, struct rh_strbuf *text)
{
    rh_vec_each (const char *, word, words) {
        rh_strbuf_addc(text, '"');
        for (const char *at = *word; *at; at++) {
            if (*at == '"' || *at == '\\')
                rh_strbuf_addc(text, '\\');
            rh_strbuf_addc(text, *at);
        }
        rh_strbuf_add(text, "\"\n");
    }
}
