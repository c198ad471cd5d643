/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the rows of library.def and of the user, and finds them by name: see library.h. */
#include "analysis/library.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

#include <string.h>

/* --- the table: rows, names that stand for the row of another, variables --- */

struct named_text {
    const char *name, *text;
};

static const struct named_text table_rows[] = {
#define F(name, effects) {name, effects},
#define A(name, plain)
#define V(name)
#include "analysis/library.def"
#undef F
#undef A
#undef V
};

static const struct named_text table_aliases[] = {
#define F(name, effects)
#define A(name, plain) {name, plain},
#define V(name)
#include "analysis/library.def"
#undef F
#undef A
#undef V
};

static const char *const table_variables[] = {
#define F(name, effects)
#define A(name, plain)
#define V(name) name,
#include "analysis/library.def"
#undef F
#undef A
#undef V
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* --- reading one effect --- */

/* The rest of the effect being read; `wrong` says why it cannot be. */
struct reader {
    const char *at, *end;
    const char *wrong;
};

static bool refuse(struct reader *r, const char *wrong)
{
    r->wrong = wrong;
    return false;
}

static bool take(struct reader *r, const char *text)
{
    size_t len = strlen(text);
    if ((size_t)(r->end - r->at) < len || strncmp(r->at, text, len) != 0)
        return false;
    r->at += len;
    return true;
}

static bool is_digit(const struct reader *r)
{
    return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

static bool read_number(struct reader *r, uint32_t most, uint32_t *out)
{
    if (!is_digit(r))
        return refuse(r, "a number is missing");
    for (*out = 0; is_digit(r); r->at++) {
        *out = *out * 10 + (uint32_t)(*r->at - '0');
        if (*out > most)
            return refuse(r, most == 9 ? "arguments are numbered 0 to 9" : "too large a number");
    }
    return true;
}

static bool read_index(struct reader *r, int8_t *out)
{
    uint32_t number;
    if (!read_number(r, 9, &number))
        return false;
    *out = (int8_t)number;
    return true;
}

static bool read_argument(struct reader *r, struct rh_effect_arg *out)
{
    out->any = r->at < r->end && *r->at == '~';
    while (take(r, out->any ? "~" : "*"))
        out->indirect++;
    if (!read_index(r, &out->arg))
        return false;
    out->inside = take(r, "+");
    return true;
}

static bool read_value(struct reader *r, struct rh_effect_arg *out)
{
    static const struct {
        const char *word;
        int8_t arg;
    } others[] = {{"?kept", RH_HOLDER_ARG},
                  {"?", RH_NO_ARG},
                  {"kept", RH_KEPT_ARG},
                  {"tkept", RH_THREAD_KEPT_ARG}};
    *out = (struct rh_effect_arg){.arg = RH_NO_ARG};
    for (size_t i = 0; i < COUNT(others); i++) {
        if (take(r, others[i].word)) {
            out->arg = others[i].arg;
            return true;
        }
    }
    return read_argument(r, out);
}

static bool read_place(struct reader *r, struct rh_effect *e)
{
    struct rh_effect_arg place = {.arg = RH_NO_ARG};
    if (!read_argument(r, &place))
        return false;
    e->arg = place.arg;
    e->indirect = place.indirect;
    e->any = place.any;
    e->inside = place.inside;
    return true;
}

/* --- the parts of an effect after its word, each with its letter --- */

static bool read_place_if_any(struct reader *r, struct rh_effect *e)
{
    return (r->at < r->end && *r->at == '<') || read_place(r, e);
}

static bool read_at_place(struct reader *r, struct rh_effect *e)
{
    return !take(r, "@") || read_place(r, e);
}

static bool read_rest(struct reader *r, struct rh_effect *e)
{
    e->rest = e->arg != RH_NO_ARG && take(r, "...");
    return !e->rest || !take(r, "%") || read_index(r, &e->format);
}

static bool read_bytes(struct reader *r, struct rh_effect *e)
{
    if (!take(r, "="))
        return refuse(r, "`=BYTES` is missing");
    if (!read_number(r, 1u << 20, &e->bytes))
        return false;
    return e->bytes || refuse(r, "no bytes");
}

static bool read_length(struct reader *r, struct rh_effect *e)
{
    if (take(r, ":"))
        return read_index(r, &e->length) && (!take(r, "*") || read_index(r, &e->scale));
    return r->at == r->end || *r->at != '=' || read_bytes(r, e);
}

static bool read_source(struct reader *r, struct rh_effect *e)
{
    return read_value(r, &e->from);
}

static bool read_copied(struct reader *r, struct rh_effect *e)
{
    return take(r, "<") ? read_source(r, e) : refuse(r, "`<ARGUMENT` is missing");
}

static bool read_stored(struct reader *r, struct rh_effect *e)
{
    return take(r, "=") ? read_source(r, e) : refuse(r, "`=ARGUMENT` is missing");
}

static bool read_stored_if_any(struct reader *r, struct rh_effect *e)
{
    return !take(r, "=") || read_source(r, e);
}

static bool read_inside(struct reader *r, struct rh_effect *e)
{
    e->from.inside = take(r, "+");
    return true;
}

static bool read_success(struct reader *r, struct rh_effect *e)
{
    return !take(r, "=") || read_index(r, &e->success);
}

static bool read_params(struct reader *r, struct rh_effect *e)
{
    if (!take(r, "("))
        return refuse(r, "`(` is missing");
    while (!take(r, ")")) {
        if (e->param_count && !take(r, ","))
            return refuse(r, "`)` is missing");
        if (e->param_count == RH_EFFECT_PARAMS)
            return refuse(r, "too many parameters");
        struct rh_effect_arg *param = &e->params[e->param_count++];
        if (!read_value(r, param))
            return false;
        param->rest = param->arg >= 0 && take(r, "...");
        if (param->rest)
            return take(r, ")") || refuse(r, "`...` is not the last parameter");
    }
    return true;
}

static const struct part {
    char letter;
    bool (*read)(struct reader *r, struct rh_effect *e);
} parts[] = {
    {'a', read_place},         /* 0, *0, ~~0, 0+ */
    {'A', read_place_if_any},  /* the same or nothing before a `<` */
    {'@', read_at_place},      /* @0 or nothing */
    {'.', read_rest},          /* ..., ...%0 or nothing */
    {':', read_length},        /* :0, :0*1, =8 or nothing */
    {'b', read_bytes},         /* =8 */
    {'s', read_source},        /* 0, *0, 0+, ?, ?kept, kept, tkept */
    {'<', read_copied},        /* < and a value */
    {'=', read_stored},        /* = and a value */
    {'h', read_stored_if_any}, /* the same or nothing */
    {'+', read_inside},        /* + or nothing */
    {'t', read_success},       /* =1 or nothing */
    {'(', read_params},        /* () with values, separated by commas; 3... at the end */
};

static const char *const words[] = {
#define WORD(id, name) [RH_EFFECT_##id] = name,
    RH_EFFECTS(WORD)
#undef WORD
};

/* The letters of the parts that follow the word. */
static const char *const forms[RH_EFFECT_COUNT] = {
    [RH_EFFECT_READ] = "a.:",     [RH_EFFECT_WRITE] = "a.:",
    [RH_EFFECT_COPY] = "A<:",     [RH_EFFECT_ALLOC] = "+@.:",
    [RH_EFFECT_FREE] = "a",       [RH_EFFECT_RETURN] = "s",
    [RH_EFFECT_PUT] = "a=",       [RH_EFFECT_STATIC] = "@",
    [RH_EFFECT_OWN] = "",         [RH_EFFECT_KEEP] = "a",
    [RH_EFFECT_GIVE] = "+@",      [RH_EFFECT_THREAD_KEEP] = "a",
    [RH_EFFECT_THREAD_GIVE] = "", [RH_EFFECT_LINK] = "a(b",
    [RH_EFFECT_SEND] = "a:",      [RH_EFFECT_RECEIVE] = "a:",
    [RH_EFFECT_WALK] = "ab",      [RH_EFFECT_CALL] = "a(",
    [RH_EFFECT_LATER] = "a(",     [RH_EFFECT_RUNS] = "",
    [RH_EFFECT_THREAD] = "a(h",   [RH_EFFECT_VIRTUAL_THREAD] = "a=",
    [RH_EFFECT_JOIN] = "a",       [RH_EFFECT_DETACH] = "a",
    [RH_EFFECT_HANDLER] = "a(",   [RH_EFFECT_LOCK] = "a",
    [RH_EFFECT_READ_LOCK] = "a",  [RH_EFFECT_UNLOCK] = "a",
    [RH_EFFECT_TRY_LOCK] = "at",  [RH_EFFECT_TRY_READ_LOCK] = "at",
    [RH_EFFECT_WAIT] = "a",       [RH_EFFECT_ONCE] = "a",
    [RH_EFFECT_EXITS] = "",       [RH_EFFECT_TEAM] = "a(",
};

static bool read_word(struct reader *r, enum rh_effect_kind *out)
{
    size_t len = 0;
    while (r->at + len < r->end && r->at[len] >= 'a' && r->at[len] <= 'z')
        len++;
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strlen(words[i]) == len && strncmp(words[i], r->at, len) == 0) {
            *out = (enum rh_effect_kind)i;
            r->at += len;
            return true;
        }
    }
    return refuse(r, "there is no such effect");
}

static bool read_part(struct reader *r, char letter, struct rh_effect *e)
{
    const struct part *part = parts;
    while (part->letter != letter)
        part++;
    return part->read(r, e);
}

static bool read_effect(struct reader *r, struct rh_effect *e)
{
    *e = (struct rh_effect){.arg = RH_NO_ARG,
                            .format = RH_NO_ARG,
                            .length = RH_NO_ARG,
                            .scale = RH_NO_ARG,
                            .from = {.arg = RH_NO_ARG}};
    if (!read_word(r, &e->kind))
        return false;
    for (const char *letter = forms[e->kind]; *letter; letter++)
        if (!read_part(r, *letter, e))
            return false;
    return r->at == r->end || refuse(r, "it does not end where it should");
}

/* --- rows --- */

/* Everything known, made at the first question. */
static struct library {
    struct rh_arena arena;
    struct rh_strmap rows;      /* name -> struct rh_library_row */
    struct rh_strmap aliases;   /* name -> plain name */
    struct rh_strmap variables; /* a set */
} * library;

struct parsed_rows RH_VEC_BODY(struct rh_library_row);

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r");
}

static const char *skip_word(const char *at)
{
    return at + strcspn(at, " \t\r\n");
}

/* Reads the effects of a row from `text` up to the end of its line. */
static enum rh_status parse_effects(struct rh_arena *arena, const char *text,
                                    struct rh_library_row *row)
{
    RH_VEC(struct rh_effect) effects = RH_VEC_INIT;
    enum rh_status status = RH_OK;
    for (const char *at = skip_blanks(text); *at && *at != '\n' && *at != '#' && !status;) {
        struct reader r = {.at = at, .end = skip_word(at)};
        struct rh_effect effect;
        if (read_effect(&r, &effect))
            rh_vec_push(&effects, effect);
        else
            status = rh_fail(RH_ERR_INPUT, "%s: bad effect `%.*s`: %s", row->name,
                             (int)(r.end - at), at, r.wrong);
        at = skip_blanks(r.end);
    }
    struct rh_effect *kept = rh_arena_array(arena, struct rh_effect, effects.len);
    if (effects.len)
        memcpy(kept, effects.data, effects.len * sizeof *kept);
    row->effects = kept;
    row->effect_count = (uint32_t)effects.len;
    rh_vec_free(&effects);
    return status;
}

/* Compilers put \01 before names that must not be changed any more. */
static const char *plain_name(const char *name)
{
    return *name == '\01' ? name + 1 : name;
}

static void put_row(struct library *l, const struct rh_library_row *row)
{
    struct rh_library_row *copy = rh_arena_new(&l->arena, struct rh_library_row);
    *copy = *row;
    rh_strmap_put(&l->rows, row->name, copy);
}

static void put_alias(struct library *l, const struct named_text *alias)
{
    rh_strmap_put(&l->aliases, alias->name, rh_arena_strdup(&l->arena, alias->text));
}

/* The table is part of the program: that all of it parses is a unit test. */
static struct library *open_library(void)
{
    if (library)
        return library;
    struct library *l = rh_calloc(1, sizeof *l);
    for (size_t i = 0; i < COUNT(table_rows); i++) {
        struct rh_library_row row = {.name = table_rows[i].name};
        if (parse_effects(&l->arena, table_rows[i].text, &row) == RH_OK)
            put_row(l, &row);
    }
    for (size_t i = 0; i < COUNT(table_aliases); i++)
        put_alias(l, &table_aliases[i]);
    for (size_t i = 0; i < COUNT(table_variables); i++)
        rh_strmap_put(&l->variables, table_variables[i], NULL);
    return library = l;
}

const struct rh_library_row *rh_library_find(const char *name)
{
    struct library *l = open_library();
    const char *plain = plain_name(name);
    const struct rh_library_row *row = rh_strmap_get(&l->rows, plain);
    if (row)
        return row;
    const char *other = rh_strmap_get(&l->aliases, plain);
    return other ? rh_strmap_get(&l->rows, other) : NULL;
}

bool rh_library_guards(const char *variable)
{
    return rh_strmap_has(&open_library()->variables, plain_name(variable));
}

static enum rh_status parse_line(struct library *l, const char *line, struct parsed_rows *out)
{
    const char *name = skip_blanks(line), *end = skip_word(name);
    if (end == name || *name == '#')
        return RH_OK;
    char *copy = rh_arena_strndup(&l->arena, name, (size_t)(end - name));
    struct rh_library_row row = {.name = plain_name(copy)};
    enum rh_status status = parse_effects(&l->arena, end, &row);
    if (status == RH_OK)
        rh_vec_push(out, row);
    return status;
}

enum rh_status rh_library_add(const char *source, const char *text)
{
    struct library *l = open_library();
    struct parsed_rows rows = RH_VEC_INIT;
    enum rh_status status = RH_OK;
    unsigned number = 1;
    for (const char *line = text; *line && status == RH_OK; number++) {
        status = rh_fail_prefix(parse_line(l, line, &rows), "%s:%u", source, number);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    if (status == RH_OK)
        rh_vec_each (struct rh_library_row, row, &rows)
            put_row(l, row);
    rh_vec_free(&rows);
    return status;
}
