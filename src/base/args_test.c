/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of option parsing, its messages, its help and its suggestions. */
#include "base/args.h"
#include "base/testing.h"

#include <string.h>

/* The targets, and the command that every test here parses for. */
static bool json;
static const char *store;
static uint64_t runs;
static double overhead;

static const struct rh_option options[] = {
    RH_OPTION_FLAG("json", &json, "print JSON"),
    RH_OPTION_STRING("store", &store, "PATH", "keep results in PATH"),
    RH_OPTION_UINT("runs", &runs, "N", "execute the program N times"),
    RH_OPTION_DOUBLE("max-overhead", &overhead, "FRACTION", "slow down by no more"),
    RH_OPTION_END,
};

static struct rh_command command;
static struct rh_args args;
static char *words[16];

static int reset_targets(void **state)
{
    (void)state;
    json = false;
    store = "default";
    runs = 1;
    overhead = 0.05;
    command = (struct rh_command){
        .name = "racehive run", .synopsis = "[OPTIONS] PROG [ARGS...]", .options = options};
    return 0;
}

/* Parses words separated by spaces; "''" stands for an empty word. */
static enum rh_status parse(const char *line)
{
    static char copy[256];
    snprintf(copy, sizeof copy, "%s", line);
    int count = 0;
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        words[count++] = strcmp(word, "''") == 0 ? word + 2 : word;
    words[count] = NULL;
    return rh_args_parse(&command, count, words, &args);
}

static void assert_operands(const char *expected)
{
    struct rh_strbuf sb = RH_STRBUF_INIT;
    assert_null(args.argv[args.argc]);
    for (int i = 0; i < args.argc; i++)
        rh_strbuf_addf(&sb, "%s%s", i ? " " : "", args.argv[i]);
    assert_string_equal(rh_strbuf_text(&sb), expected);
    rh_strbuf_release(&sb);
}

static void test_defaults_stay(void **state)
{
    (void)state;
    assert_int_equal(parse(""), RH_OK);
    assert_operands("");
    assert_false(json || args.help);
    assert_string_equal(store, "default");
    assert_int_equal(runs, 1);
    assert_true(overhead == 0.05);
}

static void test_every_kind_in_both_spellings(void **state)
{
    (void)state;
    assert_int_equal(parse("--json --store=a=b --runs=64 --max-overhead=-1.5e2"), RH_OK);
    assert_true(json);
    assert_string_equal(store, "a=b");
    assert_int_equal(runs, 64);
    assert_true(overhead == -150);
    assert_int_equal(parse("--store --json --runs 18446744073709551615 --max-overhead .5"), RH_OK);
    assert_string_equal(store, "--json");
    assert_true(runs == UINT64_MAX);
    assert_true(overhead == 0.5);
    assert_int_equal(parse("--store="), RH_OK);
    assert_string_equal(store, "");
    assert_int_equal(parse("--runs=1 --runs=2"), RH_OK);
    assert_int_equal(runs, 2);
}

static void test_operands_keep_their_order(void **state)
{
    (void)state;
    assert_int_equal(parse("a --json b --runs 3 - c"), RH_OK);
    assert_operands("a b - c");
    assert_true(json);
    assert_int_equal(parse("a -- --runs b --"), RH_OK);
    assert_operands("a --runs b --");
    assert_int_equal(parse("'' x"), RH_OK);
    assert_int_equal(args.argc, 2);
    assert_string_equal(args.argv[0], "");
}

static void test_stop_at_operand(void **state)
{
    (void)state;
    command.stop_at_operand = true;
    assert_int_equal(parse("--runs=2 prog --json --bogus -- --help x"), RH_OK);
    assert_operands("prog --json --bogus -- --help x");
    assert_false(json || args.help);
    assert_int_equal(runs, 2);
    assert_int_equal(parse("-- --prog x"), RH_OK);
    assert_operands("--prog x");
    assert_int_equal(parse("- --json"), RH_OK);
    assert_operands("- --json");
}

static void test_help_is_seen(void **state)
{
    (void)state;
    assert_int_equal(parse("--json -h --bogus"), RH_OK);
    assert_true(args.help);
    assert_int_equal(parse("prog --help"), RH_OK);
    assert_true(args.help);
    assert_int_equal(parse("-- --help"), RH_OK);
    assert_false(args.help);
    assert_operands("--help");
    assert_int_equal(parse("--store --help"), RH_OK);
    assert_false(args.help);
}

struct mistake {
    const char *line;
    const char *message;
};

#define SEE " (see 'racehive run --help')"

static const struct mistake mistakes[] = {
    {"--jsn", "unknown option '--jsn': did you mean '--json'?" SEE},
    {"--sotre=x", "unknown option '--sotre': did you mean '--store'?" SEE},
    {"--max-overhed 3", "unknown option '--max-overhed': did you mean '--max-overhead'?" SEE},
    {"--hlep", "unknown option '--hlep': did you mean '--help'?" SEE},
    {"-json", "unknown option '-json': did you mean '--json'?" SEE},
    {"--nonsense", "unknown option '--nonsense'" SEE},
    {"--=x", "unknown option '--'" SEE},
    {"-x", "unknown option '-x'" SEE},
    {"--jso=n", "unknown option '--jso': did you mean '--json'?" SEE},
    {"--json=yes", "option '--json' takes no value" SEE},
    {"--json=", "option '--json' takes no value" SEE},
    {"prog --store", "option '--store' needs a value: --store=PATH" SEE},
    {"--runs=", "option '--runs' needs a whole number, not ''" SEE},
    {"--runs=ten", "option '--runs' needs a whole number, not 'ten'" SEE},
    {"--runs=-1", "option '--runs' needs a whole number, not '-1'" SEE},
    {"--runs +1", "option '--runs' needs a whole number, not '+1'" SEE},
    {"--runs=1.5", "option '--runs' needs a whole number, not '1.5'" SEE},
    {"--runs=0x10", "option '--runs' needs a whole number, not '0x10'" SEE},
    {"--runs=18446744073709551616",
     "option '--runs' needs a smaller number, not '18446744073709551616'" SEE},
    {"--max-overhead=", "option '--max-overhead' needs a number, not ''" SEE},
    {"--max-overhead=5%", "option '--max-overhead' needs a number, not '5%'" SEE},
    {"--max-overhead=nan", "option '--max-overhead' needs a number, not 'nan'" SEE},
    {"--max-overhead=inf", "option '--max-overhead' needs a number, not 'inf'" SEE},
    {"--max-overhead=1e999", "option '--max-overhead' needs a number, not '1e999'" SEE},
};

static void test_mistakes_get_one_clear_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        assert_int_equal(parse(mistakes[i].line), RH_ERR_USAGE);
        assert_string_equal(rh_error_text(), mistakes[i].message);
        assert_false(json);
        assert_string_equal(store, "default");
        assert_int_equal(runs, 1);
        assert_true(overhead == 0.05);
    }
}

static void test_command_without_options(void **state)
{
    (void)state;
    command.options = NULL;
    assert_int_equal(parse("a b"), RH_OK);
    assert_operands("a b");
    assert_int_equal(parse("--json"), RH_ERR_USAGE);
    assert_int_equal(parse("--help"), RH_OK);
    assert_true(args.help);
}

static char *print_help(void)
{
    char *text = NULL;
    FILE *file = tmpfile();
    assert_non_null(file);
    rh_args_print_help(&command, file);
    long len = ftell(file);
    rewind(file);
    text = calloc(1, (size_t)len + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)len, file), len);
    fclose(file);
    return text;
}

static void test_help_text(void **state)
{
    (void)state;
    command.summary = "Runs a program under a detector.";
    command.examples = "  racehive run ./bank\n  racehive run --runs=64 ./bank";
    char *text = print_help();
    assert_string_equal(text, "Usage: racehive run [OPTIONS] PROG [ARGS...]\n"
                              "\n"
                              "Runs a program under a detector.\n"
                              "\n"
                              "Options:\n"
                              "  --json                   print JSON\n"
                              "  --store=PATH             keep results in PATH\n"
                              "  --runs=N                 execute the program N times\n"
                              "  --max-overhead=FRACTION  slow down by no more\n"
                              "  -h, --help               show this help\n"
                              "\n"
                              "Examples:\n"
                              "  racehive run ./bank\n"
                              "  racehive run --runs=64 ./bank\n");
    free(text);

    command = (struct rh_command){.name = "racehive", .synopsis = "COMMAND"};
    text = print_help();
    assert_string_equal(text, "Usage: racehive COMMAND\n"
                              "\n"
                              "Options:\n"
                              "  -h, --help  show this help\n");
    free(text);
}

static void test_nearest(void **state)
{
    (void)state;
    const char *const names[] = {"candidates", "run", "report", "hive", "sites", NULL};
    const char *const none[] = {NULL};
    assert_string_equal(rh_args_nearest("sites", names), "sites");
    assert_string_equal(rh_args_nearest("site", names), "sites");
    assert_string_equal(rh_args_nearest("sties", names), "sites");
    assert_string_equal(rh_args_nearest("candidtaes", names), "candidates");
    assert_string_equal(rh_args_nearest("repotr", names), "report");
    assert_string_equal(rh_args_nearest("hve", names), "hive");
    assert_string_equal(rh_args_nearest("rnu", names), "run"); /* a swap is one edit, not two */
    assert_null(rh_args_nearest("", names));
    assert_null(rh_args_nearest("x", names));
    assert_null(rh_args_nearest("ab", names));
    assert_null(rh_args_nearest("classify", names));
    assert_null(rh_args_nearest("run", none));
}

#define ARGS_TEST(test) cmocka_unit_test_setup(test, reset_targets)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARGS_TEST(test_defaults_stay),
        ARGS_TEST(test_every_kind_in_both_spellings),
        ARGS_TEST(test_operands_keep_their_order),
        ARGS_TEST(test_stop_at_operand),
        ARGS_TEST(test_help_is_seen),
        ARGS_TEST(test_mistakes_get_one_clear_line),
        ARGS_TEST(test_command_without_options),
        ARGS_TEST(test_help_text),
        ARGS_TEST(test_nearest),
    };
    return cmocka_run_group_tests_name("args", tests, NULL, NULL);
}
