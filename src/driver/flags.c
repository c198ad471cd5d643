/* SPDX-License-Identifier: Apache-2.0 */
/* The table of clang's options that matter to racehive-cc, and the scan that looks them up. */
#include "driver/flags.h"

#include "driver/wordlist.h"

#include <string.h>

enum action {
    ACT_OBJECT,
    ACT_TEXT,
    ACT_QUERY,
    ACT_VETO,
    ACT_ALLOW,  /* takes an earlier veto back */
    ACT_TARGET, /* a veto unless the operand names x86-64 Linux */
    ACT_INPUT,
    ACT_FUSE_LD,
    ACT_LD_PATH,
    ACT_VERBOSE,
    ACT_SAVE_TEMPS
};

/* How a row's name is found in a word. */
enum shape {
    EXACT,    /* the word is the name */
    JOINED,   /* the word begins with the name; the rest is the operand */
    SEPARATE, /* the word is the name, the next word the operand */
    EITHER    /* SEPARATE when the word is the name, else JOINED */
};

struct flag {
    const char *name;
    enum shape shape;
    enum action action;
    enum rh_flags_veto veto; /* of ACT_VETO, ACT_ALLOW and ACT_TARGET */
};

/* The first row that fits decides, so longer names stand before their own beginnings. */
static const struct flag table[] = {
    /* clang is asked about itself */
    {"-###", EXACT, ACT_QUERY, RH_FLAGS_VETO_NONE},
    {"--version", EXACT, ACT_QUERY, RH_FLAGS_VETO_NONE},
    {"-version", EXACT, ACT_QUERY, RH_FLAGS_VETO_NONE},
    {"--help", JOINED, ACT_QUERY, RH_FLAGS_VETO_NONE},
    {"-help", JOINED, ACT_QUERY, RH_FLAGS_VETO_NONE},
    {"-dumpmachine", EXACT, ACT_QUERY, RH_FLAGS_VETO_NONE},
    {"-dumpversion", EXACT, ACT_QUERY, RH_FLAGS_VETO_NONE},
    {"-dumpspecs", EXACT, ACT_QUERY, RH_FLAGS_VETO_NONE},
    {"--print-file-name", SEPARATE, ACT_QUERY, RH_FLAGS_VETO_NONE},
    {"--print-prog-name", SEPARATE, ACT_QUERY, RH_FLAGS_VETO_NONE},
    {"-print-", JOINED, ACT_QUERY, RH_FLAGS_VETO_NONE},
    {"--print-", JOINED, ACT_QUERY, RH_FLAGS_VETO_NONE},
    {"--autocomplete=", JOINED, ACT_QUERY, RH_FLAGS_VETO_NONE},
    {"-ccc-print-", JOINED, ACT_QUERY, RH_FLAGS_VETO_NONE},
    {"-cc1", JOINED, ACT_QUERY, RH_FLAGS_VETO_NONE},
    {"-fdriver-only", EXACT, ACT_QUERY, RH_FLAGS_VETO_NONE},
    {"--driver-mode=", JOINED, ACT_QUERY, RH_FLAGS_VETO_NONE},

    /* the work ends early */
    {"-c", EXACT, ACT_OBJECT, RH_FLAGS_VETO_NONE},
    {"--compile", EXACT, ACT_OBJECT, RH_FLAGS_VETO_NONE},
    {"-S", EXACT, ACT_TEXT, RH_FLAGS_VETO_NONE},
    {"--assemble", EXACT, ACT_TEXT, RH_FLAGS_VETO_NONE},
    {"-E", EXACT, ACT_TEXT, RH_FLAGS_VETO_NONE},
    {"--preprocess", EXACT, ACT_TEXT, RH_FLAGS_VETO_NONE},
    {"-M", EXACT, ACT_TEXT, RH_FLAGS_VETO_NONE},
    {"--dependencies", EXACT, ACT_TEXT, RH_FLAGS_VETO_NONE},
    {"-MM", EXACT, ACT_TEXT, RH_FLAGS_VETO_NONE},
    {"--user-dependencies", EXACT, ACT_TEXT, RH_FLAGS_VETO_NONE},
    {"-fsyntax-only", EXACT, ACT_TEXT, RH_FLAGS_VETO_NONE},
    {"-emit-llvm", EXACT, ACT_TEXT, RH_FLAGS_VETO_NONE},
    {"-emit-ast", EXACT, ACT_TEXT, RH_FLAGS_VETO_NONE},
    {"-emit-interface-stubs", EXACT, ACT_TEXT, RH_FLAGS_VETO_NONE},
    {"--precompile", EXACT, ACT_TEXT, RH_FLAGS_VETO_NONE},
    {"--analyze", EXACT, ACT_TEXT, RH_FLAGS_VETO_NONE},
    {"-rewrite-objc", EXACT, ACT_TEXT, RH_FLAGS_VETO_NONE},
    {"-verify-pch", EXACT, ACT_TEXT, RH_FLAGS_VETO_NONE},
    {"-module-file-info", EXACT, ACT_TEXT, RH_FLAGS_VETO_NONE},

    /* what rules out bitcode */
    {"-fno-lto", EXACT, ACT_VETO, RH_FLAGS_VETO_LTO},
    {"-flto", EXACT, ACT_ALLOW, RH_FLAGS_VETO_LTO},
    {"-flto=", JOINED, ACT_ALLOW, RH_FLAGS_VETO_LTO},
    {"-fno-integrated-as", EXACT, ACT_VETO, RH_FLAGS_VETO_ASSEMBLER},
    {"-no-integrated-as", EXACT, ACT_VETO, RH_FLAGS_VETO_ASSEMBLER},
    {"-fintegrated-as", EXACT, ACT_ALLOW, RH_FLAGS_VETO_ASSEMBLER},
    {"-integrated-as", EXACT, ACT_ALLOW, RH_FLAGS_VETO_ASSEMBLER},
    {"-fsanitize=", JOINED, ACT_VETO, RH_FLAGS_VETO_SANITIZER},
    {"-fno-sanitize=all", EXACT, ACT_ALLOW, RH_FLAGS_VETO_SANITIZER},
    {"-fopenmp-targets=", JOINED, ACT_VETO, RH_FLAGS_VETO_OFFLOAD},
    {"--offload", JOINED, ACT_VETO, RH_FLAGS_VETO_OFFLOAD},
    {"-m16", EXACT, ACT_VETO, RH_FLAGS_VETO_WIDTH},
    {"-m32", EXACT, ACT_VETO, RH_FLAGS_VETO_WIDTH},
    {"-mx32", EXACT, ACT_VETO, RH_FLAGS_VETO_WIDTH},
    {"-m64", EXACT, ACT_ALLOW, RH_FLAGS_VETO_WIDTH},
    {"--target=", JOINED, ACT_TARGET, RH_FLAGS_VETO_TARGET},
    {"-target", SEPARATE, ACT_TARGET, RH_FLAGS_VETO_TARGET},

    {"-fuse-ld=", JOINED, ACT_FUSE_LD, RH_FLAGS_VETO_NONE},
    {"--ld-path=", JOINED, ACT_LD_PATH, RH_FLAGS_VETO_NONE},
    {"-v", EXACT, ACT_VERBOSE, RH_FLAGS_VETO_NONE},
    {"--verbose", EXACT, ACT_VERBOSE, RH_FLAGS_VETO_NONE},
    {"-save-temps", JOINED, ACT_SAVE_TEMPS, RH_FLAGS_VETO_NONE},
    {"--save-temps", JOINED, ACT_SAVE_TEMPS, RH_FLAGS_VETO_NONE},

    /* words that give the linker something to do */
    {"-l", EITHER, ACT_INPUT, RH_FLAGS_VETO_NONE},
    {"-Wl,", JOINED, ACT_INPUT, RH_FLAGS_VETO_NONE},
    {"-Xlinker", SEPARATE, ACT_INPUT, RH_FLAGS_VETO_NONE},
    {"--for-linker=", JOINED, ACT_INPUT, RH_FLAGS_VETO_NONE},
    {"--for-linker", SEPARATE, ACT_INPUT, RH_FLAGS_VETO_NONE},
};

#define TABLE_COUNT (sizeof table / sizeof table[0])

/* Further options whose operand, the next word, must not be taken for an option itself. */
static const char *const with_operand[] = {"--CLASSPATH",
                                           "--analyzer-output",
                                           "--assert",
                                           "--classpath",
                                           "--config",
                                           "--define-macro",
                                           "--dyld-prefix",
                                           "--encoding",
                                           "--extdirs",
                                           "--force-link",
                                           "--imacros",
                                           "--include",
                                           "--include-directory",
                                           "--include-directory-after",
                                           "--include-prefix",
                                           "--include-with-prefix",
                                           "--include-with-prefix-after",
                                           "--include-with-prefix-before",
                                           "--language",
                                           "--library-directory",
                                           "--mhwdiv",
                                           "--no-system-header-prefix",
                                           "--output",
                                           "--param",
                                           "--prefix",
                                           "--resource",
                                           "--rtlib",
                                           "--serialize-diagnostics",
                                           "--specs",
                                           "--std",
                                           "--stdlib",
                                           "--sysroot",
                                           "--system-header-prefix",
                                           "--undefine-macro",
                                           "--vfsoverlay",
                                           "-A",
                                           "-B",
                                           "-D",
                                           "-F",
                                           "-G",
                                           "-I",
                                           "-L",
                                           "-MF",
                                           "-MJ",
                                           "-MQ",
                                           "-MT",
                                           "-T",
                                           "-U",
                                           "-V",
                                           "-Xanalyzer",
                                           "-Xassembler",
                                           "-Xclang",
                                           "-Xcuda-fatbinary",
                                           "-Xcuda-ptxas",
                                           "-Xoffload-linker",
                                           "-Xopenmp-target",
                                           "-Xpreprocessor",
                                           "-Xarch_device",
                                           "-Xarch_host",
                                           "-Xarch_x86_64",
                                           "-arch",
                                           "-b",
                                           "-ccc-gcc-name",
                                           "-ccc-install-dir",
                                           "-cxx-isystem",
                                           "-dependency-dot",
                                           "-dependency-file",
                                           "-dumpdir",
                                           "-e",
                                           "-fdebug-compilation-dir",
                                           "-filelist",
                                           "-fmodules-user-build-path",
                                           "-framework",
                                           "-ftrapv-handler",
                                           "-gen-cdb-fragment-path",
                                           "-iapinotes-modules",
                                           "-idirafter",
                                           "-iframework",
                                           "-iframeworkwithsysroot",
                                           "-imacros",
                                           "-imultilib",
                                           "-include",
                                           "-include-pch",
                                           "-init",
                                           "-iprefix",
                                           "-iquote",
                                           "-isysroot",
                                           "-isystem",
                                           "-isystem-after",
                                           "-ivfsoverlay",
                                           "-iwithprefix",
                                           "-iwithprefixbefore",
                                           "-iwithsysroot",
                                           "-meabi",
                                           "-mllvm",
                                           "-mmlir",
                                           "-module-dependency-dir",
                                           "-mthread-model",
                                           "-o",
                                           "-resource-dir",
                                           "-rpath",
                                           "-serialize-diagnostics",
                                           "-specs",
                                           "-stdlib++-isystem",
                                           "-u",
                                           "-undefined",
                                           "-vfsoverlay",
                                           "-working-directory",
                                           "-x",
                                           "-z"};

#define WITH_OPERAND_COUNT (sizeof with_operand / sizeof with_operand[0])

/* The row that fits `word`, or NULL; *operand is what is joined to the name, or NULL. */
static const struct flag *find_flag(const char *word, const char **operand)
{
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        const char *rest;
        if (!rh_word_starts(word, table[i].name, &rest))
            continue;
        if (*rest && table[i].shape != JOINED && table[i].shape != EITHER)
            continue;
        *operand = *rest ? rest : NULL;
        return &table[i];
    }
    return NULL;
}

static bool takes_operand(const char *word)
{
    for (size_t i = 0; i < WITH_OPERAND_COUNT; i++)
        if (strcmp(word, with_operand[i]) == 0)
            return true;
    return false;
}

/* x32, Android and musl are Linux on x86-64 too, but nothing that our runtime was built for. */
static bool is_own_target(const char *triple)
{
    static const char *const others[] = {"x32", "android", "musl"};
    if (!rh_word_starts(triple, "x86_64-", NULL) || !strstr(triple, "linux"))
        return false;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strstr(triple, others[i]))
            return false;
    return true;
}

static void end_at(struct rh_flags *flags, enum rh_flags_end end)
{
    if (flags->end < end)
        flags->end = end;
}

static void act(struct rh_flags *flags, const struct flag *flag, const char *word,
                const char *operand)
{
    const char **veto = &flags->vetoes[flag->veto];
    switch (flag->action) {
    case ACT_OBJECT:
        end_at(flags, RH_FLAGS_END_OBJECT);
        break;
    case ACT_TEXT:
        end_at(flags, RH_FLAGS_END_TEXT);
        break;
    case ACT_QUERY:
        end_at(flags, RH_FLAGS_END_QUERY);
        break;
    case ACT_VETO:
        *veto = word;
        break;
    case ACT_ALLOW:
        *veto = NULL;
        break;
    case ACT_TARGET:
        *veto = operand && is_own_target(operand) ? NULL : word;
        break;
    case ACT_INPUT:
        flags->has_input = true;
        break;
    case ACT_FUSE_LD:
        flags->fuse_ld = operand;
        break;
    case ACT_LD_PATH:
        flags->ld_path = operand;
        break;
    case ACT_VERBOSE:
        flags->verbose = true;
        break;
    case ACT_SAVE_TEMPS:
        flags->save_temps = true;
        break;
    }
}

void rh_flags_scan(struct rh_flags *flags, size_t count, const char *const *words)
{
    *flags = (struct rh_flags){.options_end = count};
    for (size_t i = 0; i < count; i++) {
        const char *word = words[i], *operand = NULL;
        if (word[0] != '-' || !word[1]) {
            flags->has_input = true;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            flags->options_end = i;
            flags->has_input |= i + 1 < count;
            return;
        }
        const struct flag *flag = find_flag(word, &operand);
        bool separate = flag && (flag->shape == SEPARATE || flag->shape == EITHER);
        if (flag ? separate && !operand : takes_operand(word)) {
            flags->dangling = i + 1 == count;
            if (!flags->dangling)
                operand = words[++i];
        }
        if (flag)
            act(flags, flag, word, operand);
    }
}

const char *rh_flags_foreign(const struct rh_flags *flags)
{
    for (size_t i = RH_FLAGS_VETO_FOREIGN; i < RH_FLAGS_VETO_COUNT; i++)
        if (flags->vetoes[i])
            return flags->vetoes[i];
    return NULL;
}

bool rh_flags_want_bitcode(const struct rh_flags *flags)
{
    for (size_t i = 0; i < RH_FLAGS_VETO_COUNT; i++)
        if (flags->vetoes[i])
            return false;
    return true;
}
