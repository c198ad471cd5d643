/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the calls of functions that the configuration names: see named.h. */
#include "driver/named.h"

#include "base/config.h"
#include "base/elf.h"
#include "base/fs.h"

#include <string.h>

static bool is_listed(const struct rh_wordlist *names, const char *name)
{
    rh_vec_each (const char *, it, names)
        if (strcmp(*it, name) == 0)
            return true;
    return false;
}

void rh_named_read(struct rh_wordlist *names, struct rh_arena *arena, const char *config)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    struct rh_config rules = {0};
    if (config && rh_fs_read(config, &text) == RH_OK &&
        rh_config_parse(&rules, rh_strbuf_text(&text), config) == RH_OK)
        rh_vec_each (const struct rh_config_rule, rule, &rules.rules)
            if (rh_config_is_named(rule->kind) && !is_listed(names, rule->pattern))
                rh_vec_push(names, rh_arena_strdup(arena, rule->pattern));
    rh_config_release(&rules);
    rh_strbuf_release(&text);
}

struct coverage {
    const struct rh_wordlist *names;
    bool any;
};

static bool is_other(const char *symbol, void *arg)
{
    struct coverage *c = arg;
    c->any = true;
    return !is_listed(c->names, symbol);
}

bool rh_named_cover(const struct rh_wordlist *names, const char *path)
{
    struct coverage c = {.names = names};
    struct rh_elf elf;
    if (!names->len || rh_elf_open(path, &elf) != RH_OK)
        return false;
    bool others = rh_elf_find(&elf, RH_ELF_DEFINED, is_other, &c);
    rh_elf_close(&elf);
    return c.any && !others;
}

void rh_named_compile(const struct rh_wordlist *names, struct rh_arena *arena,
                      struct rh_wordlist *argv)
{
    rh_vec_each (const char *, name, names) {
        rh_vec_push(argv, "-mllvm");
        rh_vec_push(argv, rh_arena_printf(arena, "-force-attribute=%s:noinline", *name));
        rh_vec_push(argv, "-mllvm");
        rh_vec_push(argv, rh_arena_printf(arena, "-force-remove-attribute=%s:alwaysinline", *name));
    }
}
