/* SPDX-License-Identifier: Apache-2.0 */
/* Taking a linker's command line apart. */
#include "driver/ldargs.h"

#include <string.h>

/* How an option takes its value. */
enum form {
    LONG_FLAG,     /* --x or -x */
    LONG_VALUE,    /* --x=V or --x V, with one dash as well */
    LONG_OPTIONAL, /* --x or --x=V */
    SHORT_FLAG,    /* -x */
    SHORT_VALUE    /* -xV or -x V */
};

struct row {
    const char *name; /* without dashes */
    enum form form;
    enum rh_ld_role role;
};

/* Long names come first: with one dash they look like a short option with a joined value. */
static const struct row table[] = {
    {"output", LONG_VALUE, RH_LD_OUTPUT},
    {"library", LONG_VALUE, RH_LD_LIBRARY},
    {"library-path", LONG_VALUE, RH_LD_LIBRARY_PATH},
    {"shared", LONG_FLAG, RH_LD_SHARED},
    {"Bshareable", LONG_FLAG, RH_LD_SHARED},
    {"pie", LONG_FLAG, RH_LD_PIE},
    {"pic-executable", LONG_FLAG, RH_LD_PIE},
    {"no-pie", LONG_FLAG, RH_LD_NO_PIE},
    {"relocatable", LONG_FLAG, RH_LD_RELOCATABLE},
    {"static", LONG_FLAG, RH_LD_STATIC},
    {"Bstatic", LONG_FLAG, RH_LD_STATIC},
    {"dn", LONG_FLAG, RH_LD_STATIC},
    {"non_shared", LONG_FLAG, RH_LD_STATIC},
    {"Bdynamic", LONG_FLAG, RH_LD_DYNAMIC},
    {"dy", LONG_FLAG, RH_LD_DYNAMIC},
    {"call_shared", LONG_FLAG, RH_LD_DYNAMIC},
    {"push-state", LONG_FLAG, RH_LD_PUSH_STATE},
    {"pop-state", LONG_FLAG, RH_LD_POP_STATE},
    {"start-lib", LONG_FLAG, RH_LD_START_LIB},
    {"end-lib", LONG_FLAG, RH_LD_END_LIB},
    {"format", LONG_VALUE, RH_LD_FORMAT},
    {"dynamic-linker", LONG_VALUE, RH_LD_DYNAMIC_LINKER},
    {"sysroot", LONG_VALUE, RH_LD_SYSROOT},
    {"nostdlib", LONG_FLAG, RH_LD_NO_DEFAULT_PATHS},
    {"build-id", LONG_OPTIONAL, RH_LD_BUILD_ID},
    {"version", LONG_FLAG, RH_LD_QUERY},
    {"help", LONG_FLAG, RH_LD_QUERY},

    {"plugin", LONG_VALUE, RH_LD_PLUGIN},
    {"plugin-opt", LONG_VALUE, RH_LD_PLUGIN},
    {"fat-lto-objects", LONG_FLAG, RH_LD_FAT_LTO},
    {"no-fat-lto-objects", LONG_FLAG, RH_LD_FAT_LTO},
    {"lto-O0", LONG_FLAG, RH_LD_LTO_LEVEL},
    {"lto-O1", LONG_FLAG, RH_LD_LTO_LEVEL},
    {"lto-O2", LONG_FLAG, RH_LD_LTO_LEVEL},
    {"lto-O3", LONG_FLAG, RH_LD_LTO_LEVEL},
    {"lto-emit-llvm", LONG_FLAG, RH_LD_EMIT},
    {"lto-emit-asm", LONG_FLAG, RH_LD_EMIT},
    {"thinlto-index-only", LONG_OPTIONAL, RH_LD_EMIT},
    {"oformat", LONG_VALUE, RH_LD_EMIT},

    {"Map", LONG_VALUE, RH_LD_SIDE},
    {"print-map", LONG_FLAG, RH_LD_SIDE},
    {"cref", LONG_FLAG, RH_LD_SIDE},
    {"dependency-file", LONG_VALUE, RH_LD_SIDE},
    {"fatal-warnings", LONG_FLAG, RH_LD_SIDE},
    {"opt-remarks-filename", LONG_VALUE, RH_LD_SIDE},
    {"print-archive-stats", LONG_VALUE, RH_LD_SIDE},
    {"print-gc-sections", LONG_OPTIONAL, RH_LD_SIDE},
    {"print-icf-sections", LONG_FLAG, RH_LD_SIDE},
    {"print-memory-usage", LONG_FLAG, RH_LD_SIDE},
    {"print-symbol-order", LONG_VALUE, RH_LD_SIDE},
    {"reproduce", LONG_VALUE, RH_LD_SIDE},
    {"save-temps", LONG_OPTIONAL, RH_LD_SIDE},
    {"stats", LONG_FLAG, RH_LD_SIDE},
    {"time-trace", LONG_OPTIONAL, RH_LD_SIDE},
    {"trace", LONG_FLAG, RH_LD_SIDE},
    {"trace-symbol", LONG_VALUE, RH_LD_SIDE},
    {"verbose", LONG_OPTIONAL, RH_LD_SIDE},
    {"warn-backrefs", LONG_FLAG, RH_LD_SIDE},
    {"why-extract", LONG_VALUE, RH_LD_SIDE},

    {"Tbss", LONG_VALUE, RH_LD_OPTION},
    {"Tdata", LONG_VALUE, RH_LD_OPTION},
    {"Ttext", LONG_VALUE, RH_LD_OPTION},
    {"Ttext-segment", LONG_VALUE, RH_LD_OPTION},
    {"audit", LONG_VALUE, RH_LD_OPTION},
    {"auxiliary", LONG_VALUE, RH_LD_OPTION},
    {"call-graph-ordering-file", LONG_VALUE, RH_LD_OPTION},
    {"chroot", LONG_VALUE, RH_LD_OPTION},
    {"default-script", LONG_VALUE, RH_LD_OPTION},
    {"defsym", LONG_VALUE, RH_LD_OPTION},
    {"depaudit", LONG_VALUE, RH_LD_OPTION},
    {"dynamic-list", LONG_VALUE, RH_LD_OPTION},
    {"entry", LONG_VALUE, RH_LD_OPTION},
    {"error-limit", LONG_VALUE, RH_LD_OPTION},
    {"exclude-libs", LONG_VALUE, RH_LD_OPTION},
    {"export-dynamic-symbol", LONG_VALUE, RH_LD_OPTION},
    {"export-dynamic-symbol-list", LONG_VALUE, RH_LD_OPTION},
    {"filter", LONG_VALUE, RH_LD_OPTION},
    {"fini", LONG_VALUE, RH_LD_OPTION},
    {"hash-style", LONG_VALUE, RH_LD_OPTION},
    {"image-base", LONG_VALUE, RH_LD_OPTION},
    {"init", LONG_VALUE, RH_LD_OPTION},
    {"just-symbols", LONG_VALUE, RH_LD_OPTION},
    {"keep-unique", LONG_VALUE, RH_LD_OPTION},
    {"mllvm", LONG_VALUE, RH_LD_OPTION},
    {"mri-script", LONG_VALUE, RH_LD_OPTION},
    {"orphan-handling", LONG_VALUE, RH_LD_OPTION},
    {"remap-inputs", LONG_VALUE, RH_LD_OPTION},
    {"remap-inputs-file", LONG_VALUE, RH_LD_OPTION},
    {"retain-symbols-file", LONG_VALUE, RH_LD_OPTION},
    {"rpath", LONG_VALUE, RH_LD_OPTION},
    {"rpath-link", LONG_VALUE, RH_LD_OPTION},
    {"script", LONG_VALUE, RH_LD_OPTION},
    {"section-start", LONG_VALUE, RH_LD_OPTION},
    {"soname", LONG_VALUE, RH_LD_OPTION},
    {"sort-section", LONG_VALUE, RH_LD_OPTION},
    {"symbol-ordering-file", LONG_VALUE, RH_LD_OPTION},
    {"threads", LONG_VALUE, RH_LD_OPTION},
    {"undefined", LONG_VALUE, RH_LD_OPTION},
    {"undefined-glob", LONG_VALUE, RH_LD_OPTION},
    {"unresolved-symbols", LONG_VALUE, RH_LD_OPTION},
    {"version-script", LONG_VALUE, RH_LD_OPTION},
    {"warn-backrefs-exclude", LONG_VALUE, RH_LD_OPTION},
    {"wrap", LONG_VALUE, RH_LD_OPTION},
    {"dT", SHORT_VALUE, RH_LD_OPTION},

    {"o", SHORT_VALUE, RH_LD_OUTPUT},
    {"l", SHORT_VALUE, RH_LD_LIBRARY},
    {"L", SHORT_VALUE, RH_LD_LIBRARY_PATH},
    {"m", SHORT_VALUE, RH_LD_EMULATION},
    {"b", SHORT_VALUE, RH_LD_FORMAT},
    {"r", SHORT_FLAG, RH_LD_RELOCATABLE},
    {"i", SHORT_FLAG, RH_LD_RELOCATABLE},
    {"Ur", SHORT_FLAG, RH_LD_RELOCATABLE},
    {"I", SHORT_VALUE, RH_LD_DYNAMIC_LINKER},
    {"M", SHORT_FLAG, RH_LD_SIDE},
    {"t", SHORT_FLAG, RH_LD_SIDE},
    {"y", SHORT_VALUE, RH_LD_SIDE},
    {"A", SHORT_VALUE, RH_LD_OPTION},
    {"F", SHORT_VALUE, RH_LD_OPTION},
    {"G", SHORT_VALUE, RH_LD_OPTION},
    {"O", SHORT_VALUE, RH_LD_OPTION},
    {"P", SHORT_VALUE, RH_LD_OPTION},
    {"R", SHORT_VALUE, RH_LD_OPTION},
    {"T", SHORT_VALUE, RH_LD_OPTION},
    {"Y", SHORT_VALUE, RH_LD_OPTION},
    {"a", SHORT_VALUE, RH_LD_OPTION},
    {"c", SHORT_VALUE, RH_LD_OPTION},
    {"e", SHORT_VALUE, RH_LD_OPTION},
    {"f", SHORT_VALUE, RH_LD_OPTION},
    {"h", SHORT_VALUE, RH_LD_OPTION},
    {"u", SHORT_VALUE, RH_LD_OPTION},
    {"z", SHORT_VALUE, RH_LD_OPTION},
};

#define TABLE_COUNT (sizeof table / sizeof table[0])

/*
 * Whether the row fits the word; *joined is the value that is part of it, or NULL, and *separate
 * tells that the value is the next word.
 */
static bool fits(const struct row *row, const char *word, const char **joined, bool *separate)
{
    bool is_short = row->form == SHORT_FLAG || row->form == SHORT_VALUE;
    const char *rest, *name = word + 1;
    if (!is_short && *name == '-')
        name++;
    if (!rh_word_starts(name, row->name, &rest))
        return false;
    *separate = !*rest && (row->form == LONG_VALUE || row->form == SHORT_VALUE);
    *joined = NULL;
    if (!*rest)
        return true;
    if (row->form == SHORT_VALUE)
        *joined = rest;
    else if (*rest == '=' && (row->form == LONG_VALUE || row->form == LONG_OPTIONAL))
        *joined = rest + 1;
    return *joined != NULL;
}

/* Reads the argument that begins at words[at]; returns how many words it has. */
static size_t read_arg(const struct rh_wordlist *words, size_t at, struct rh_ld_arg *arg)
{
    const char *word = words->data[at];
    *arg = (struct rh_ld_arg){.role = RH_LD_INPUT, .words = {word}, .word_count = 1, .value = word};
    if (word[0] != '-' || !word[1])
        return 1;
    arg->role = RH_LD_OPTION;
    arg->value = NULL;
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        bool separate;
        const char *joined;
        if (!fits(&table[i], word, &joined, &separate))
            continue;
        arg->role = table[i].role;
        arg->value = joined;
        if (separate)
            arg->value = at + 1 < words->len ? words->data[at + 1] : "";
        if (separate && at + 1 < words->len)
            arg->words[arg->word_count++] = arg->value;
        break;
    }
    return arg->word_count;
}

/* What holds from one argument to the next. */
struct parse_state {
    bool is_static;
    bool in_lib;
    bool is_binary; /* inputs are data, whatever they look like */
    RH_VEC(bool) pushed;
};

static void read_plugin_option(struct rh_ld *ld, const char *value)
{
    const char *rest;
    if (rh_word_starts(value, "mcpu=", &rest))
        ld->cpu = rest;
    else if (value[0] == 'O' && value[1] >= '0' && value[1] <= '3' && !value[2])
        ld->lto_level = value + 1;
    else if (rh_word_starts(value, "emit-", NULL) || rh_word_starts(value, "thinlto-index", NULL))
        ld->emit = true;
}

/* Arguments that change how later ones are read. */
static void note_state(struct parse_state *state, const struct rh_ld_arg *arg)
{
    switch (arg->role) {
    case RH_LD_STATIC:
    case RH_LD_DYNAMIC:
        state->is_static = arg->role == RH_LD_STATIC;
        break;
    case RH_LD_PUSH_STATE:
        rh_vec_push(&state->pushed, state->is_static);
        break;
    case RH_LD_POP_STATE:
        if (state->pushed.len > 0)
            state->is_static = rh_vec_pop(&state->pushed);
        break;
    case RH_LD_START_LIB:
    case RH_LD_END_LIB:
        state->in_lib = arg->role == RH_LD_START_LIB;
        break;
    case RH_LD_FORMAT:
        state->is_binary = strcmp(arg->value, "binary") == 0;
        break;
    default:
        break;
    }
}

/* Arguments that tell of the link as a whole. */
static void note_fact(struct rh_ld *ld, const struct rh_ld_arg *arg)
{
    switch (arg->role) {
    case RH_LD_INPUT:
    case RH_LD_LIBRARY:
        ld->has_input = true;
        break;
    case RH_LD_LIBRARY_PATH:
        rh_vec_push(&ld->library_paths, arg->value);
        break;
    case RH_LD_OUTPUT:
        ld->output = arg->value;
        break;
    case RH_LD_PLUGIN:
        read_plugin_option(ld, arg->value);
        break;
    case RH_LD_LTO_LEVEL:
        ld->lto_level = arg->words[0] + strlen(arg->words[0]) - 1;
        break;
    case RH_LD_EMULATION:
        ld->emulation = arg->value;
        break;
    case RH_LD_SYSROOT:
        ld->sysroot = arg->value;
        break;
    default:
        break;
    }
}

/* Arguments whose presence is all there is to know, and where that is kept. */
static void note_presence(struct rh_ld *ld, enum rh_ld_role role)
{
    const struct {
        enum rh_ld_role role;
        bool *target;
        bool value;
    } facts[] = {
        {RH_LD_SHARED, &ld->shared, true},
        {RH_LD_PIE, &ld->pie, true},
        {RH_LD_NO_PIE, &ld->pie, false},
        {RH_LD_RELOCATABLE, &ld->relocatable, true},
        {RH_LD_QUERY, &ld->query, true},
        {RH_LD_EMIT, &ld->emit, true},
        {RH_LD_DYNAMIC_LINKER, &ld->has_dynamic_linker, true},
        {RH_LD_BUILD_ID, &ld->has_build_id, true},
        {RH_LD_NO_DEFAULT_PATHS, &ld->no_default_paths, true},
    };
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        if (facts[i].role == role)
            *facts[i].target = facts[i].value;
}

/* GNU ld looks there of its own accord after all -L; lld must be told. */
static const char *const default_paths[] = {
    "/usr/local/lib/x86_64-linux-gnu",
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/local/lib64",
    "/lib64",
    "/usr/lib64",
    "/usr/local/lib",
    "/lib",
    "/usr/lib",
};

static void add_default_paths(struct rh_ld *ld)
{
    ld->given_paths = ld->library_paths.len;
    if (ld->no_default_paths || (ld->sysroot && *ld->sysroot))
        return;
    for (size_t i = 0; i < sizeof default_paths / sizeof default_paths[0]; i++)
        rh_vec_push(&ld->library_paths, default_paths[i]);
}

void rh_ld_parse(struct rh_ld *ld, size_t argc, const char *const *argv)
{
    *ld = (struct rh_ld){.output = "a.out", .emulation = "elf_x86_64", .lto_level = "2"};
    rh_wordlist_expand(&ld->words, &ld->arena, argc, argv);
    struct parse_state state = {0};
    for (size_t at = 0; at < ld->words.len;) {
        struct rh_ld_arg arg;
        at += read_arg(&ld->words, at, &arg);
        if (arg.role == RH_LD_INPUT && state.is_binary)
            arg.role = RH_LD_OPTION;
        arg.is_static = state.is_static;
        arg.in_lib = state.in_lib;
        note_state(&state, &arg);
        note_fact(ld, &arg);
        note_presence(ld, arg.role);
        rh_vec_push(&ld->args, arg);
    }
    rh_vec_free(&state.pushed);
    add_default_paths(ld);
}

void rh_ld_release(struct rh_ld *ld)
{
    rh_vec_free(&ld->words);
    rh_vec_free(&ld->args);
    rh_vec_free(&ld->library_paths);
    rh_arena_release(&ld->arena);
}

bool rh_ld_is_static(const struct rh_ld *ld)
{
    return !ld->shared && !ld->has_dynamic_linker;
}

static const char *find_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool rh_ld_has_libc(const struct rh_ld *ld)
{
    rh_vec_each (struct rh_ld_arg, arg, &ld->args) {
        if (arg->role != RH_LD_LIBRARY && arg->role != RH_LD_INPUT)
            continue;
        if (arg->role == RH_LD_LIBRARY && strcmp(arg->value, "c") == 0)
            return true;
        const char *name = find_file_name(arg->value);
        if (*name == ':')
            name++;
        if (strcmp(name, "libc.a") == 0 || rh_word_starts(name, "libc.so", NULL))
            return true;
    }
    return false;
}

const char *rh_ld_find_sanitizer(const struct rh_ld *ld)
{
    static const char *const names[] = {"asan",  "cfi",  "dfsan",     "fuzzer", "hwasan",
                                        "lsan",  "msan", "memprof",   "nsan",   "rtsan",
                                        "scudo", "tsan", "safestack", "tysan",  "ubsan"};
    rh_vec_each (struct rh_ld_arg, arg, &ld->args) {
        const char *name;
        if (arg->role == RH_LD_LIBRARY)
            name = arg->value;
        else if (arg->role != RH_LD_INPUT ||
                 !rh_word_starts(find_file_name(arg->value), "libclang_rt.", &name))
            continue;
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (rh_word_starts(name, names[i], NULL))
                return names[i];
    }
    return NULL;
}
