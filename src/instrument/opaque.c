/* SPDX-License-Identifier: Apache-2.0 */
/* Code that may order threads unseen: see opaque.h. */
#include "instrument/opaque.h"

#include <string.h>

/* Neither store nor load what another thread may see. */
static const char *const harmless[] = {
    "pause",  "nop",    "rep",    "repz",    "cpuid", "rdtsc", "rdtscp",     "rdpmc",
    "xgetbv", "rdrand", "rdseed", "endbr64", "ud2",   "int3",  "prefetcht0", "prefetchnta",
    "bsr",    "bsf",    "bswap",  "popcnt",  "lzcnt", "tzcnt",
};

static bool is_harmless(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        if (strlen(harmless[i]) == len && memcmp(harmless[i], word, len) == 0)
            return true;
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool ends_statement(char c)
{
    return c == '\n' || c == ';';
}

/* A text of assembly on its way through. */
struct reading {
    rh_opaque_known *known; /* or NULL */
    const void *arg;
    bool in_known; /* behind the label of a function that is known */
};

/* Labels of functions; those within one begin with a dot or are numbers. */
static void pass_label(struct reading *r, const char *text, size_t len)
{
    char name[256];
    if (!r->known || len >= sizeof name || text[0] == '.' || (text[0] >= '0' && text[0] <= '9'))
        return;
    memcpy(name, text, len);
    name[len] = '\0';
    r->in_known = r->known(r->arg, name);
}

/* A statement begins with its mnemonic; directives do nothing by themselves, and labels are left
 * out with what follows them looked at. */
static bool is_opaque_statement(struct reading *r, const char *text, size_t len)
{
    while (len && is_space(*text)) {
        text++;
        len--;
    }
    size_t word = 0;
    while (word < len && !is_space(text[word]) && text[word] != ':')
        word++;
    if (word < len && text[word] == ':') {
        pass_label(r, text, word);
        return is_opaque_statement(r, text + word + 1, len - word - 1);
    }
    return word && text[0] != '.' && text[0] != '#' && !r->in_known && !is_harmless(text, word);
}

bool rh_opaque_assembly(const char *text, size_t len, rh_opaque_known *known, const void *arg)
{
    struct reading r = {known, arg, false};
    for (size_t at = 0; at < len;) {
        size_t end = at;
        while (end < len && !ends_statement(text[end]))
            end++;
        if (is_opaque_statement(&r, text + at, end - at))
            return true;
        at = end + 1;
    }
    return false;
}

static bool is_opaque_call(const struct rh_value *inst)
{
    size_t len;
    if (!inst->callee || inst->callee->kind != RH_VALUE_ASM || inst->no_memory)
        return false;
    const char *text = rh_ir_asm_text(inst->callee, &len);
    return rh_opaque_assembly(text, len, NULL, NULL);
}

static bool is_opaque_function(const struct rh_function *fn)
{
    for (uint32_t b = 0; b < fn->block_count; b++)
        for (const struct rh_value *inst = fn->blocks[b]->first; inst; inst = inst->next)
            if (is_opaque_call(inst))
                return true;
    return false;
}

bool rh_opaque_module(const struct rh_module *m, rh_opaque_known *known, const void *arg)
{
    const char *text = rh_ir_inline_asm(m);
    if (rh_opaque_assembly(text, strlen(text), known, arg))
        return true;
    for (uint32_t i = 0; i < rh_ir_function_count(m); i++)
        if (is_opaque_function(rh_ir_function(m, i)) && !known(arg, rh_ir_function(m, i)->name))
            return true;
    return false;
}

/* --- functions found by name --- */

/* Beginnings of names; of what pthread_ has besides, most orders nothing. */
static const char *const synchronising[] = {
    "pthread_mutex_",
    "pthread_rwlock_",
    "pthread_spin_",
    "pthread_cond_",
    "pthread_barrier_",
    "pthread_create",
    "pthread_join",
    "pthread_tryjoin",
    "pthread_timedj",
    "pthread_clockj",
    "pthread_once",
    "pthread_exit",
    "sem_",
    "mtx_",
    "cnd_",
    "thrd_",
    "call_once",
};

static bool is_synchronising(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof synchronising / sizeof synchronising[0]; i++) {
        size_t least = strlen(synchronising[i]);
        if (len >= least && memcmp(name, synchronising[i], least) == 0)
            return true;
    }
    return false;
}

static bool calls(const struct rh_module *m, const char *name)
{
    const struct rh_function *fn = rh_ir_find_function(m, name);
    return fn && !fn->block_count && fn->value->user_count;
}

bool rh_opaque_lookups(const struct rh_module *m)
{
    if (!calls(m, "dlsym") && !calls(m, "dlvsym"))
        return false;
    for (uint32_t i = 0; i < rh_ir_global_count(m); i++) {
        size_t len;
        const char *text = rh_ir_string(rh_ir_global(m, i), &len);
        if (text && is_synchronising(text, len))
            return true;
    }
    return false;
}

/* --- functions that the C library calls --- */

bool rh_opaque_callbacks(const struct rh_module *m)
{
    static const char *const names[] = {"dl_iterate_phdr", "fopencookie", "funopen",
                                        "register_printf_function", "register_printf_specifier"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (calls(m, names[i]))
            return true;
    return false;
}

/* --- memory --- */

/* Beginnings of names. A C++ program gives memory back by operator delete, its own calls of it or
 * those inside the standard library (std::string), so anything of C++ counts; then jemalloc,
 * tcmalloc and mimalloc. */
static const char *const frees[] = {
    "_Z", "dallocx", "sdallocx", "rallocx", "xallocx", "je_", "tc_", "mi_",
};

bool rh_opaque_frees(const struct rh_module *m)
{
    for (uint32_t i = 0; i < rh_ir_function_count(m); i++) {
        const struct rh_function *fn = rh_ir_function(m, i);
        for (size_t k = 0; !fn->block_count && k < sizeof frees / sizeof frees[0]; k++)
            if (strncmp(fn->name, frees[k], strlen(frees[k])) == 0)
                return true;
    }
    return false;
}
