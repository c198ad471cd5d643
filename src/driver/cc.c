/* SPDX-License-Identifier: Apache-2.0 */
/*
 * racehive-cc and racehive-c++: clang with a few options added, so that objects carry bitcode and
 * links go through racehive-ld. Clang takes this process's place, so diagnostics, signals and the
 * exit status are its own.
 */
#include "base/log.h"
#include "base/path.h"
#include "driver/flags.h"
#include "driver/named.h"
#include "driver/settings.h"
#include "driver/tools.h"
#include "driver/wordlist.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One call of the compiler. */
struct call {
    struct rh_arena arena;
    struct rh_settings settings;
    struct rh_wordlist words; /* the user's, without our own options */
    struct rh_flags flags;
};

/* Copies the words that are not our own options; returns how many were. */
static size_t copy_users_words(struct rh_wordlist *to, size_t count, const char *const *words)
{
    size_t own = 0;
    for (size_t i = 0; i < count; i++) {
        if (rh_settings_owns(words[i]))
            own++;
        else
            rh_vec_push(to, words[i]);
    }
    return own;
}

static enum rh_status read_settings(struct call *call, const struct rh_wordlist *words)
{
    enum rh_status status = rh_settings_read_environment(&call->settings);
    rh_vec_each (const char *, word, words)
        if (status == RH_OK && rh_settings_owns(*word))
            status = rh_settings_read_word(&call->settings, *word);
    return status == RH_OK ? rh_settings_check(&call->settings) : status;
}

/*
 * Reads the command line. Response files are passed on as they are, since their contents may not
 * fit on a command line, unless one holds an option of ours, which clang must not see, or a "--",
 * behind which we could add nothing.
 */
static enum rh_status read_command_line(struct call *call, size_t count, const char *const *words)
{
    struct rh_wordlist expanded = RH_VEC_INIT, given = RH_VEC_INIT;
    rh_wordlist_expand(&expanded, &call->arena, count, words);
    enum rh_status status = read_settings(call, &expanded);
    size_t own = copy_users_words(&call->words, expanded.len, expanded.data);
    rh_flags_scan(&call->flags, call->words.len, call->words.data);
    call->settings.verbose |= call->flags.verbose;
    bool has_dashes = call->flags.options_end < call->words.len;
    if (copy_users_words(&given, count, words) == own && !has_dashes) {
        struct rh_wordlist passed = given;
        given = call->words;
        call->words = passed;
        call->flags.options_end = passed.len;
    }
    rh_vec_free(&given);
    rh_vec_free(&expanded);
    return status;
}

/* The optimiser may load what the program would not have looked at, and throw it away: no harm to
 * the program, but a race with a thread that writes, and one that its source does not have.
 * Functions with this attribute are spared such loads; nothing else comes of it without the
 * sanitizer. */
static void forbid_speculation(struct rh_wordlist *argv)
{
    rh_vec_push(argv, "-mllvm");
    rh_vec_push(argv, "-force-attribute=sanitize_thread");
}

/* Found as a header of the system, so that -MMD leaves it out. Behind -Xclang, so that it counts
 * where a file is preprocessed already, and clang does not take the user's precompiled header for a
 * second one. */
static void mark_ignored_functions(struct rh_wordlist *argv, const char *folder)
{
    const char *const words[] = {"-idirafter", folder, "-include", "racehive/attributes.h"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        rh_vec_push(argv, "-Xclang");
        rh_vec_push(argv, words[i]);
    }
}

static void add_front_options(struct call *call, struct rh_wordlist *argv, const char *prefix)
{
    rh_vec_push(argv, "--start-no-unused-arguments");
    const char *headers = rh_arena_printf(&call->arena, "%s/include", prefix);
    rh_vec_push(argv, "-idirafter");
    rh_vec_push(argv, headers);
    if (!rh_flags_foreign(&call->flags))
        rh_vec_push(argv, "-D__RACEHIVE__=1");
    if (call->flags.end <= RH_FLAGS_END_OBJECT && rh_flags_want_bitcode(&call->flags)) {
        /* Of DWARF 5 that went through a preprocessed file, clang 19's own assembler complains. */
        rh_vec_push(argv, call->flags.save_temps ? "-gdwarf-4" : "-g");
        forbid_speculation(argv);
        mark_ignored_functions(argv, headers);
        struct rh_wordlist named = RH_VEC_INIT;
        rh_named_read(&named, &call->arena, call->settings.config);
        rh_named_compile(&named, &call->arena, argv);
        rh_vec_free(&named);
    }
    rh_vec_push(argv, "--end-no-unused-arguments");
}

static void add_back_options(struct call *call, struct rh_wordlist *argv, const char *prefix)
{
    if (call->flags.end > RH_FLAGS_END_OBJECT || rh_flags_foreign(&call->flags))
        return;
    rh_vec_push(argv, "--start-no-unused-arguments");
    if (rh_flags_want_bitcode(&call->flags)) {
        rh_vec_push(argv, "-flto=full");
        rh_vec_push(argv, "-ffat-lto-objects");
    }
    rh_vec_push(argv,
                rh_arena_printf(&call->arena, "--ld-path=%s/lib/racehive/racehive-ld", prefix));
    rh_vec_push(argv, "--end-no-unused-arguments");
}

/* The linker that clang would call if it were not for ours; NULL: its default. */
static const char *name_linker(struct call *call)
{
    const char *name = call->flags.fuse_ld;
    if (call->flags.ld_path)
        return call->flags.ld_path;
    if (!name || strcmp(name, "ld") == 0 || strchr(name, '/'))
        return name && strchr(name, '/') ? name : NULL;
    return rh_arena_printf(&call->arena, "ld.%s", name);
}

/* Whether clang should see nothing but the user's own words. */
static bool is_plain(const struct call *call)
{
    return call->settings.profile == RH_PROFILE_OFF || call->flags.end == RH_FLAGS_END_QUERY ||
           call->flags.dangling || !call->flags.has_input;
}

static void build_argv(struct call *call, struct rh_wordlist *argv, const char *clang,
                       const char *prefix)
{
    size_t options_end = call->flags.options_end;
    rh_vec_push(argv, clang);
    if (!is_plain(call))
        add_front_options(call, argv, prefix);
    for (size_t i = 0; i < call->words.len; i++) {
        if (i == options_end && !is_plain(call))
            add_back_options(call, argv, prefix);
        rh_vec_push(argv, call->words.data[i]);
    }
    if (options_end == call->words.len && !is_plain(call))
        add_back_options(call, argv, prefix);
    rh_vec_push(argv, NULL);
}

static void say_what_is_left_out(const struct call *call)
{
    const char *foreign = rh_flags_foreign(&call->flags);
    if (foreign && !is_plain(call) && call->flags.end == RH_FLAGS_END_LINK)
        rh_log_note("the program is not instrumented: %s", foreign);
}

/* Returns only if clang cannot be run. */
static enum rh_status become_clang(struct call *call, const char *built_path)
{
    char *clang, *prefix;
    enum rh_status status = rh_tools_find(built_path, &clang);
    if (status != RH_OK)
        return status;
    status = rh_tools_find_prefix(1, &prefix);
    if (status != RH_OK) {
        free(clang);
        return status;
    }
    struct rh_wordlist argv = RH_VEC_INIT;
    build_argv(call, &argv, clang, prefix);
    say_what_is_left_out(call);
    call->settings.linker = name_linker(call);
    rh_settings_export(&call->settings);
    /* execv takes an array of writable strings for history's sake and writes to none. */
    char **writable = (char **)(void *)argv.data;
    execv(clang, writable);
    status = rh_fail_errno(RH_ERR_IO, "cannot run %s", clang);
    rh_vec_free(&argv);
    free(prefix);
    free(clang);
    return status;
}

static bool is_cplusplus(const char *program)
{
    size_t len = strlen(program);
    return len >= 2 && strcmp(program + len - 2, "++") == 0;
}

int main(int argc, char **argv)
{
    struct call call = {0};
    const char *program = argc > 0 ? argv[0] : "racehive-cc";
    const char *const *words = (const char *const *)(void *)(argv + (argc > 0));
    size_t count = argc > 0 ? (size_t)argc - 1 : 0;
    enum rh_status status = read_command_line(&call, count, words);
    if (status == RH_OK && call.settings.help) {
        char *name = rh_path_basename(program);
        rh_settings_print_help(name, stdout);
        free(name);
    } else if (status == RH_OK) {
        status = become_clang(&call, is_cplusplus(program) ? RH_CLANGXX : RH_CLANG);
    }
    if (status != RH_OK)
        rh_log_error("%s", rh_error_text());
    rh_vec_free(&call.words);
    rh_arena_release(&call.arena);
    return rh_exit_status(status);
}
