/* SPDX-License-Identifier: Apache-2.0 */
/* Reading lld's --trace-symbol for definitions by the program. */
#include "driver/wraps.h"

#include <string.h>

static const char mark[] = ": definition of ";

/* Archives of the system's libraries: what they define is what we want to wrap. */
static bool is_system_member(const char *file, size_t len)
{
    static const char *const names[] = {"libc.a(",      "libpthread.a(", "librt.a(",
                                        "libstdc++.a(", "libsupc++.a(",  "libc++.a(",
                                        "libc++abi.a(", "libgcc_eh.a("};
    const char *name = file;
    for (const char *at = file; at < file + len && *at != '('; at++)
        if (*at == '/')
            name = at + 1;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (rh_word_starts(name, names[i], NULL))
            return true;
    return false;
}

/* Whether one line tells that the program defines the symbol: FILE: definition of SYMBOL */
static bool is_own_definition(const char *line, size_t len, const char *symbol)
{
    size_t tail = strlen(symbol), middle = strlen(mark);
    if (len < tail + middle || strncmp(line + len - tail, symbol, tail) != 0 ||
        strncmp(line + len - tail - middle, mark, middle) != 0)
        return false;
    return !is_system_member(line, len - tail - middle);
}

static bool is_defined_by_program(const char *trace, const char *symbol)
{
    while (*trace) {
        size_t len = strcspn(trace, "\n");
        if (is_own_definition(trace, len, symbol))
            return true;
        trace += len + (trace[len] == '\n');
    }
    return false;
}

void rh_wraps_choose(const struct rh_wordlist *symbols, const char *trace,
                     struct rh_wordlist *wraps)
{
    rh_vec_each (const char *, symbol, symbols)
        if (!is_defined_by_program(trace, *symbol))
            rh_vec_push(wraps, *symbol);
}
