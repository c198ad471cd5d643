/* SPDX-License-Identifier: Apache-2.0 */
/* RACEHIVE_OPTIONS: parsing and help, both made from options.def. */
#include "options.h"

#include "sys.h"
#include "text.h"

struct rt_options rt_options;

enum kind { KIND_TEXT, KIND_NUMBER, KIND_SHARE, KIND_BOOL };

/* One row of options.def, with where its value lives. */
static const struct row {
    enum kind kind;
    const char *name;
    size_t offset;
    const char *shown; /* default, as text */
    const char *help;
} rows[] = {
#define RT_OPTION_TEXT(name, value, help)                                                          \
    {KIND_TEXT, #name, offsetof(struct rt_options, name), value, help},
#define RT_OPTION_NUMBER(name, value, help)                                                        \
    {KIND_NUMBER, #name, offsetof(struct rt_options, name), #value, help},
#define RT_OPTION_SHARE(name, value, help)                                                         \
    {KIND_SHARE, #name, offsetof(struct rt_options, name), value, help},
#define RT_OPTION_BOOL(name, value, help)                                                          \
    {KIND_BOOL, #name, offsetof(struct rt_options, name), #value, help},
#include "options.def"
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

static bool parse_number(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || value > (UINT64_MAX - 9) / 10)
            return false;
        value = value * 10 + (uint64_t)(*text - '0');
    }
    *out = value;
    return true;
}

/* 0.02, .5 or 1 as parts per million; further digits are cut. */
static bool parse_share(const char *text, uint64_t *out)
{
    enum { MILLION = 1000000 };
    uint64_t value = 0, digit = MILLION;
    bool behind_point = false;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text == '.' && !behind_point) {
            behind_point = true;
            continue;
        }
        if (*text < '0' || *text > '9' || value > (uint64_t)1000 * MILLION)
            return false;
        digit = behind_point ? digit / 10 : MILLION;
        value = (behind_point ? value : value * 10) + (uint64_t)(*text - '0') * digit;
    }
    *out = value;
    return value <= (uint64_t)1000 * MILLION;
}

static bool store(struct rt_options *options, const struct row *row, const char *value)
{
    void *at = (char *)options + row->offset;
    uint64_t number;
    if (row->kind == KIND_TEXT) {
        *(const char **)at = value;
        return true;
    }
    bool good =
        row->kind == KIND_SHARE ? parse_share(value, &number) : parse_number(value, &number);
    if (!good || (row->kind == KIND_BOOL && number > 1))
        return false;
    if (row->kind == KIND_BOOL)
        *(bool *)at = number != 0;
    else
        *(uint64_t *)at = number;
    return true;
}

static const struct row *find_row(const char *name)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rt_equal(rows[i].name, name))
            return &rows[i];
    return NULL;
}

/* `word` is name=value, NUL-terminated, and may be cut up. */
static void parse_word(struct rt_options *options, char *word)
{
    char *value = word;
    while (*value && *value != '=')
        value++;
    if (!*value) {
        if (rt_equal(word, "off"))
            options->off = true;
        else if (*word)
            rt_complain("RACEHIVE_OPTIONS: '", word, "' has no value; write name=value");
        return;
    }
    *value++ = '\0';
    const struct row *row = find_row(word);
    if (!row)
        rt_complain("RACEHIVE_OPTIONS: unknown option '", word, "'; help=1 lists them");
    else if (!store(options, row, value))
        rt_complain("RACEHIVE_OPTIONS: bad value for '", word, "'; help=1 lists what it takes");
}

void rt_options_parse(struct rt_options *options, const char *text)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        store(options, &rows[i], rows[i].shown);
    if (!text || !*text)
        return;
    size_t size = rt_length(text) + 1;
    char *copy = rt_map(size); /* never given back: values point into it */
    if (!copy)
        return;
    for (size_t i = 0; i < size; i++)
        copy[i] = text[i];
    char *word = copy;
    for (char *at = copy;; at++) {
        bool end = !*at;
        if (*at == ':' || end) {
            *at = '\0';
            parse_word(options, word);
            word = at + 1;
        }
        if (end)
            return;
    }
}

void rt_options_help(void)
{
    rt_complain("RACEHIVE_OPTIONS takes name=value, separated by colons, or off:", "", "");
    for (size_t i = 0; i < ROW_COUNT; i++) {
        struct rt_line line = {0};
        rt_line_text(&line, "  ");
        rt_line_text(&line, rows[i].name);
        rt_line_text(&line, "=");
        rt_line_text(&line, rows[i].shown);
        while (line.length < 24)
            rt_line_text(&line, " ");
        rt_line_text(&line, " ");
        rt_line_text(&line, rows[i].help);
        line.bytes[line.length < sizeof line.bytes ? line.length : sizeof line.bytes - 1] = '\0';
        rt_complain(line.bytes, "", "");
    }
}
