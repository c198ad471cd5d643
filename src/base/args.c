/* SPDX-License-Identifier: Apache-2.0 */
/* Options of one command: parsing, help and suggestions, all from the command's table. */
#include "base/args.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Every usage message also says where to read on. */
static RH_PRINTF(2, 3) enum rh_status
    fail_usage(const struct rh_command *command, const char *fmt, ...)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    va_list args;
    va_start(args, fmt);
    rh_strbuf_addv(&text, fmt, args);
    va_end(args);
    enum rh_status status =
        rh_fail(RH_ERR_USAGE, "%s (see '%s --help')", rh_strbuf_text(&text), command->name);
    rh_strbuf_release(&text);
    return status;
}

static const char *read_flag(const char *value, void *target)
{
    (void)value;
    *(bool *)target = true;
    return NULL;
}

static const char *read_string(const char *value, void *target)
{
    *(const char **)target = value;
    return NULL;
}

/* strtoull alone would accept blanks and signs, and wrap "-1" around. */
static const char *read_uint(const char *value, void *target)
{
    if (*value == '\0' || value[strspn(value, "0123456789")] != '\0')
        return "a whole number";
    errno = 0;
    unsigned long long number = strtoull(value, NULL, 10);
    if (errno == ERANGE)
        return "a smaller number";
    *(uint64_t *)target = number;
    return NULL;
}

static const char *read_double(const char *value, void *target)
{
    char *end;
    double number = strtod(value, &end);
    if (*value == '\0' || strchr(" \t\n\v\f\r", *value) || *end != '\0' || !isfinite(number))
        return "a number";
    *(double *)target = number;
    return NULL;
}

/* How each kind reads its value: NULL when stored, else what the value should have been. */
static const char *(*const readers[])(const char *value, void *target) = {
    [RH_OPTION_KIND_FLAG] = read_flag,
    [RH_OPTION_KIND_STRING] = read_string,
    [RH_OPTION_KIND_UINT] = read_uint,
    [RH_OPTION_KIND_DOUBLE] = read_double,
};

static size_t count_options(const struct rh_command *command)
{
    size_t count = 0;
    while (command->options && command->options[count].name)
        count++;
    return count;
}

static const struct rh_option *find_option(const struct rh_command *command, const char *name,
                                           size_t len)
{
    for (size_t i = 0, count = count_options(command); i < count; i++) {
        const struct rh_option *option = &command->options[i];
        if (strlen(option->name) == len && memcmp(option->name, name, len) == 0)
            return option;
    }
    return NULL;
}

static enum rh_status fail_unknown(const struct rh_command *command, const char *word, size_t len)
{
    char *name = rh_strndup(word, len);
    size_t count = count_options(command);
    const char **names = rh_calloc(count + 2, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = command->options[i].name;
    names[count] = "help";
    const char *bare = name + strspn(name, "-");
    const char *nearest = rh_args_nearest(bare, names);
    enum rh_status status =
        nearest ? fail_usage(command, "unknown option '%s': did you mean '--%s'?", name, nearest)
                : fail_usage(command, "unknown option '%s'", name);
    free(names);
    free(name);
    return status;
}

/* Takes the option at argv[*at] and, if it stands apart, its value. */
static enum rh_status take_option(const struct rh_command *command, int argc, char **argv, int *at)
{
    const char *word = argv[*at];
    size_t len = strcspn(word, "=");
    const struct rh_option *option =
        strncmp(word, "--", 2) == 0 ? find_option(command, word + 2, len - 2) : NULL;
    if (!option)
        return fail_unknown(command, word, len);
    const char *value = word[len] == '=' ? word + len + 1 : NULL;
    if (option->kind == RH_OPTION_KIND_FLAG) {
        if (value)
            return fail_usage(command, "option '--%s' takes no value", option->name);
    } else if (!value) {
        if (*at + 1 >= argc)
            return fail_usage(command, "option '--%s' needs a value: --%s=%s", option->name,
                              option->name, option->value_name);
        value = argv[++*at];
    }
    const char *wanted = readers[option->kind](value, option->target);
    if (wanted)
        return fail_usage(command, "option '--%s' needs %s, not '%s'", option->name, wanted, value);
    return RH_OK;
}

static bool asks_for_help(const char *word)
{
    return strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0;
}

enum rh_status rh_args_parse(const struct rh_command *command, int argc, char **argv,
                             struct rh_args *args)
{
    *args = (struct rh_args){.argv = argv};
    int at = 0;
    for (; at < argc; at++) {
        char *word = argv[at];
        if (strcmp(word, "--") == 0) {
            at++;
            break;
        }
        if (word[0] != '-' || word[1] == '\0') {
            if (command->stop_at_operand)
                break;
            argv[args->argc++] = word;
            continue;
        }
        args->help = asks_for_help(word);
        if (args->help)
            return RH_OK;
        enum rh_status status = take_option(command, argc, argv, &at);
        if (status != RH_OK)
            return status;
    }
    while (at < argc)
        argv[args->argc++] = argv[at++];
    argv[args->argc] = NULL; /* operands may be handed to exec, which knows no count */
    return RH_OK;
}

static char *spell_option(const struct rh_option *option)
{
    if (option->kind == RH_OPTION_KIND_FLAG)
        return rh_format("--%s", option->name);
    return rh_format("--%s=%s", option->name, option->value_name);
}

static void print_options(const struct rh_command *command, FILE *out)
{
    static const char help_name[] = "-h, --help";
    size_t count = count_options(command);
    char **names = rh_alloc_array(count, sizeof *names);
    size_t width = strlen(help_name);
    for (size_t i = 0; i < count; i++) {
        names[i] = spell_option(&command->options[i]);
        if (strlen(names[i]) > width)
            width = strlen(names[i]);
    }
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "  %-*s  %s\n", (int)width, names[i], command->options[i].help);
        free(names[i]);
    }
    fprintf(out, "  %-*s  %s\n", (int)width, help_name, "show this help");
    free(names);
}

void rh_args_print_help(const struct rh_command *command, FILE *out)
{
    fprintf(out, "Usage: %s %s\n", command->name, command->synopsis);
    if (command->summary)
        fprintf(out, "\n%s\n", command->summary);
    fprintf(out, "\nOptions:\n");
    print_options(command, out);
    if (command->examples)
        fprintf(out, "\nExamples:\n%s\n", command->examples);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The edits (insert, delete, replace, swap neighbours) between two words, row by row. */
static size_t measure_distance(const char *a, const char *b)
{
    size_t width = strlen(b) + 1;
    size_t *rows = rh_calloc(3 * width, sizeof *rows);
    size_t *row = rows, *above = rows + width, *above2 = rows + 2 * width;
    for (size_t j = 0; j < width; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t *spare = above2;
        above2 = above;
        above = row;
        row = spare;
        row[0] = i;
        for (size_t j = 1; j < width; j++) {
            row[j] =
                smaller(smaller(row[j - 1], above[j]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], above2[j - 2] + 1);
        }
    }
    size_t distance = row[width - 1];
    free(rows);
    return distance;
}

/* Near enough: one edit for short words, one more for every four letters. */
const char *rh_args_nearest(const char *word, const char *const *names)
{
    size_t len = strlen(word);
    size_t best = smaller(1 + len / 4, len > 0 ? len - 1 : 0) + 1;
    const char *nearest = NULL;
    for (; *names; names++) {
        size_t distance = measure_distance(word, *names);
        if (distance < best) {
            best = distance;
            nearest = *names;
        }
    }
    return nearest;
}
