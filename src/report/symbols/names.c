/* SPDX-License-Identifier: Apache-2.0 */
/* Demangles names of C++, alone and inside texts: see names.h. */
#include "report/symbols/names.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The C++ runtime's own, which is the reference for all others; its interface is plain C. */
extern char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status);

/*
 * The demangler of older C++ runtimes does not know the constraints of C++20 (`Q...` at the end of
 * a name). What stands before them is a complete name.
 */
static char *demangle_unconstrained(const char *linkage)
{
    int failed;
    char *copy = rh_strdup(linkage), *name = NULL;
    for (char *at; !name && (at = strrchr(copy, 'Q')) && at > copy + 2;) {
        *at = '\0';
        name = __cxa_demangle(copy, NULL, NULL, &failed);
    }
    free(copy);
    return name;
}

char *rh_names_demangle(const char *linkage)
{
    int failed;
    if (strncmp(linkage, "_Z", 2) != 0)
        return NULL;
    char *name = __cxa_demangle(linkage, NULL, NULL, &failed);
    return name ? name : demangle_unconstrained(linkage);
}

static bool is_name_character(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

char *rh_names_readable(const char *text)
{
    struct rh_strbuf out = RH_STRBUF_INIT;
    for (const char *at = text; *at;) {
        bool begins = strncmp(at, "_Z", 2) == 0 && (at == text || !is_name_character(at[-1]));
        size_t len = 0;
        while (begins && is_name_character(at[len]))
            len++;
        char *linkage = len > 0 ? rh_strndup(at, len) : NULL;
        char *full = linkage ? rh_names_demangle(linkage) : NULL;
        if (full) {
            char *name = rh_names_shorten_function(full);
            rh_strbuf_add(&out, name);
            free(name);
            at += len;
        } else {
            rh_strbuf_addc(&out, *at++);
        }
        free(full);
        free(linkage);
    }
    return rh_strbuf_detach(&out);
}

char *rh_names_locks(const char *locks, const char *linkage)
{
    bool is_cxx = linkage && strncmp(linkage, "_Z", 2) == 0;
    char *text = rh_names_readable(locks), *to = text;
    for (const char *at = text; is_cxx && *at; at++) {
        bool begins = at == text || at[-1] == ' ';
        if (begins && *at == '&' && (at[1] == '_' || isalpha((unsigned char)at[1])))
            continue;
        *to++ = *at;
    }
    if (is_cxx)
        *to = '\0';
    return text;
}
