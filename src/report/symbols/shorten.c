/* SPDX-License-Identifier: Apache-2.0 */
/* The short form of names of C++: see names.h. */
#include "report/symbols/names.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Longer names lose their parameters, and then the arguments of their templates. */
enum { LONGEST = 60 };

/* What is written instead, tried in this order at every place. */
static const struct {
    const char *full, *brief;
} replacements[] = {
    {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
     "std::string"},
    {"std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string"},
    {"std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >",
     "std::wstring"},
    {"std::basic_string_view<char, std::char_traits<char> >", "std::string_view"},
    {"std::basic_ostream<char, std::char_traits<char> >", "std::ostream"},
    {"std::basic_istream<char, std::char_traits<char> >", "std::istream"},
    {"(anonymous namespace)::", ""},
    {"__cxx11::", ""},
    {"std::__1::", "std::"},
    {"[abi:cxx11]", ""},
    {"> >", ">>"},
};

/* Arguments of templates that users hardly ever write: the defaults of the standard library. */
static const char *const defaults[] = {
    ", std::allocator<",
    ", std::char_traits<",
    ", std::less<",
    ", std::hash<",
    ", std::equal_to<",
    ", std::default_delete<",
    ", (__gnu_cxx::_Lock_policy)",
    ", std::deque<",
};

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Behind the bracket that closes the one at `at`; the end of the text if none does. Operators such
 * as `operator<` and arrows are no brackets. */
static const char *skip_brackets(const char *at)
{
    int depth = 0;
    for (; *at; at++) {
        if (starts(at, "operator")) {
            at += strlen("operator");
            while (*at && strchr("<>=-", *at))
                at++;
            at--;
            continue;
        }
        depth += *at == '<' || *at == '(' || *at == '[' || *at == '{';
        depth -= (*at == '>' && at[-1] != '-') || *at == ')' || *at == ']' || *at == '}';
        if (depth <= 0)
            return at + 1;
    }
    return at;
}

/* Behind a default argument that begins here; `at` itself if none does. */
static const char *skip_default(const char *at)
{
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        if (!starts(at, defaults[i]))
            continue;
        const char *end = at + strlen(defaults[i]);
        if (end[-1] != '<') {
            end += strspn(end, "0123456789");
            return end;
        }
        return skip_brackets(end - 1);
    }
    return at;
}

/* Behind an allocator that is the first of several arguments, as in the library's own templates;
 * `at`, the bracket before them, if none is. */
static const char *skip_first(const char *at)
{
    static const char allocator[] = "<std::allocator<";
    if (!starts(at, allocator))
        return at;
    const char *end = skip_brackets(at + strlen(allocator) - 1);
    return starts(end, ", ") ? end + strlen(", ") : at;
}

/* The arguments of a default argument are written before they are skipped: inner names first. */
static void add_replaced(const char *full, struct rh_strbuf *out)
{
    for (const char *at = full; *at;) {
        size_t i = 0, count = sizeof replacements / sizeof replacements[0];
        const char *end = skip_default(at);
        if (end != at) {
            at = end + (end[0] == ' ' && end[1] == '>');
            continue;
        }
        end = skip_first(at);
        if (end != at) {
            rh_strbuf_addc(out, '<');
            at = end;
            continue;
        }
        while (i < count && !starts(at, replacements[i].full))
            i++;
        if (i < count && strcmp(replacements[i].full, "> >") == 0) {
            rh_strbuf_addc(out, '>');
            at += 2;
        } else if (i < count) {
            rh_strbuf_add(out, replacements[i].brief);
            at += strlen(replacements[i].full);
        } else {
            rh_strbuf_addc(out, *at++);
        }
    }
}

/* Clang calls the types of lambdas $_0, $_1; their one function adds nothing to that. */
static void name_lambdas(const char *text, struct rh_strbuf *out)
{
    static const char call[] = "::operator()";
    for (const char *at = text; *at;) {
        size_t digits = starts(at, "$_") ? strspn(at + 2, "0123456789") : 0;
        if (digits == 0) {
            rh_strbuf_addc(out, *at++);
            continue;
        }
        rh_strbuf_addf(out, "{lambda#%ld}", strtol(at + 2, NULL, 10) + 1);
        at += 2 + digits;
        if (starts(at, call))
            at += strlen(call);
    }
}

/* Where the parameters begin: at the last opening bracket of depth 0; NULL if there are none. */
static const char *find_parameters(const char *name)
{
    const char *found = NULL;
    for (const char *at = name; *at;) {
        if (starts(at, "operator()")) {
            at += strlen("operator()");
        } else if (*at == '(') {
            found = at;
            at = skip_brackets(at);
        } else if (starts(at, "operator")) {
            at += strlen("operator");
            at += strspn(at, "<>=-+*/!&|^~%,[]");
        } else if (*at == '<') {
            at = skip_brackets(at);
        } else {
            at++;
        }
    }
    return found;
}

/* Behind the return type, which templates have: the last blank of depth 0 before the parameters. */
static const char *skip_return_type(const char *name)
{
    const char *begin = name, *end = find_parameters(name);
    for (const char *at = name; end && at < end;) {
        if (starts(at, "operator"))
            break;
        if (*at == '<' || *at == '(' || *at == '{') {
            at = skip_brackets(at);
            continue;
        }
        if (*at++ == ' ')
            begin = at;
    }
    return begin;
}

static char *take(struct rh_strbuf *text)
{
    return rh_strbuf_detach(text);
}

/* Cuts from the parameters on. */
static void cut_parameters(char *name)
{
    const char *parameters = find_parameters(name);
    if (parameters)
        name[parameters - name] = '\0';
}

/* Replaces what is between the outermost brackets of templates by dots. */
static char *fold_arguments(const char *name)
{
    struct rh_strbuf out = RH_STRBUF_INIT;
    for (const char *at = name; *at;) {
        if (starts(at, "operator<")) {
            rh_strbuf_add(&out, "operator<");
            at += strlen("operator<");
        } else if (*at == '<') {
            rh_strbuf_add(&out, "<...>");
            at = skip_brackets(at);
        } else {
            rh_strbuf_addc(&out, *at++);
        }
    }
    return take(&out);
}

static char *clean(const char *full)
{
    struct rh_strbuf replaced = RH_STRBUF_INIT, named = RH_STRBUF_INIT;
    add_replaced(full, &replaced);
    name_lambdas(rh_strbuf_text(&replaced), &named);
    rh_strbuf_release(&replaced);
    char *name = take(&named);
    char *clone = strstr(name, " [clone ");
    if (clone)
        *clone = '\0';
    char *short_name = rh_strdup(skip_return_type(name));
    free(name);
    return short_name;
}

static char *limit(char *name)
{
    if (strlen(name) <= LONGEST)
        return name;
    cut_parameters(name);
    if (strlen(name) <= LONGEST)
        return name;
    char *folded = fold_arguments(name);
    free(name);
    return folded;
}

char *rh_names_shorten(const char *full)
{
    return limit(clean(full));
}

char *rh_names_shorten_function(const char *full)
{
    char *name = clean(full);
    cut_parameters(name);
    return limit(name);
}
