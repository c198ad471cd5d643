/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the driver's own options. */
#include "base/testing.h"

#include "base/path.h"
#include "driver/settings.h"

#include <string.h>

static const char *const variables[] = {
    "RACEHIVE_PROFILE",         "RACEHIVE_CONFIG",  "RACEHIVE_KEYS",
    "RACEHIVE_KEEP_TEMPS",      "RACEHIVE_VERBOSE", "RACEHIVE_LINKER",
    "RACEHIVE_ANALYSIS_SECONDS"};

static int clear_environment(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    return 0;
}

static void defaults_hold_in_an_empty_environment(void **state)
{
    (void)state;
    struct rh_settings settings;
    setenv("RACEHIVE_PROFILE", "", 1);
    assert_int_equal(rh_settings_read_environment(&settings), RH_OK);
    assert_int_equal(settings.profile, RH_PROFILE_PRODUCTION);
    assert_null(settings.config);
    assert_string_equal(settings.keys, "patch");
    assert_false(settings.keep_temps || settings.verbose || settings.help);
    assert_int_equal(rh_settings_check(&settings), RH_OK);
}

static void words_are_told_from_clangs(void **state)
{
    (void)state;
    assert_true(rh_settings_owns("--rh-help"));
    assert_true(rh_settings_owns("--rh-"));
    assert_false(rh_settings_owns("-rh-help"));
    assert_false(rh_settings_owns("--r"));
}

static void words_set_what_they_say(void **state)
{
    (void)state;
    struct rh_settings settings;
    assert_int_equal(rh_settings_read_environment(&settings), RH_OK);
    const char *const words[] = {"--rh-profile=off",
                                 "--rh-config=a=b",
                                 "--rh-keys=flag",
                                 "--rh-keep-temps",
                                 "--rh-help",
                                 "--rh-analysis-seconds=20",
                                 "--rh-trust=no-cxx-library,no-declarations"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        assert_int_equal(rh_settings_read_word(&settings, words[i]), RH_OK);
    assert_int_equal(settings.profile, RH_PROFILE_OFF);
    assert_string_equal(settings.config, "a=b");
    assert_string_equal(settings.keys, "flag");
    assert_string_equal(settings.analysis_seconds, "20");
    assert_string_equal(settings.trust, "no-cxx-library,no-declarations");
    assert_true(settings.keep_temps && settings.help);
}

static void wrong_words_are_usage_errors(void **state)
{
    (void)state;
    const char *const words[] = {"--rh-",
                                 "--rh-nosuch",
                                 "--rh-profile",
                                 "--rh-profile=",
                                 "--rh-profile=x",
                                 "--rh-profile=ifrit",
                                 "--rh-keys=both",
                                 "--rh-keep-temps=",
                                 "--rh-profiles=off",
                                 "--rh-trust=some",
                                 "--rh-trust=no-cxx-library,",
                                 "--rh-trust=all,no-declarations",
                                 "--rh-analysis-seconds=0",
                                 "--rh-analysis-seconds=2s"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct rh_settings settings;
        assert_int_equal(rh_settings_read_environment(&settings), RH_OK);
        assert_int_equal(rh_settings_read_word(&settings, words[i]), RH_ERR_USAGE);
    }
}

static void wrong_variable_is_named(void **state)
{
    (void)state;
    struct rh_settings settings;
    setenv("RACEHIVE_PROFILE", "ifrit", 1);
    assert_int_equal(rh_settings_read_environment(&settings), RH_ERR_USAGE);
    assert_non_null(strstr(rh_error_text(), "RACEHIVE_PROFILE"));
    assert_non_null(strstr(rh_error_text(), "ifrit"));
}

static void export_is_read_back(void **state)
{
    (void)state;
    struct rh_settings settings, again;
    assert_int_equal(rh_settings_read_environment(&settings), RH_OK);
    assert_int_equal(rh_settings_read_word(&settings, "--rh-keys=flag"), RH_OK);
    assert_int_equal(rh_settings_read_word(&settings, "--rh-config=/conf"), RH_OK);
    settings.verbose = true;
    settings.linker = "ld.gold";
    setenv("RACEHIVE_KEEP_TEMPS", "1", 1);
    rh_settings_export(&settings);
    assert_null(getenv("RACEHIVE_KEEP_TEMPS"));
    assert_int_equal(rh_settings_read_environment(&again), RH_OK);
    assert_string_equal(again.keys, "flag");
    assert_string_equal(again.config, "/conf");
    assert_string_equal(again.linker, "ld.gold");
    assert_true(again.verbose);
    assert_false(again.keep_temps);
}

static void configuration_must_make_sense(void **state)
{
    char *path = rh_path_join(*state, "conf"), *word = rh_format("--rh-config=%s", path);
    struct rh_settings settings;
    assert_int_equal(rh_settings_read_environment(&settings), RH_OK);
    assert_int_equal(rh_settings_read_word(&settings, word), RH_OK);
    assert_int_equal(rh_settings_check(&settings), RH_ERR_USAGE);
    assert_int_equal(rh_fs_write(path, "", 0, 0666), RH_OK);
    assert_int_equal(rh_settings_check(&settings), RH_OK);
    assert_int_equal(rh_fs_write(path, "rase:x\n", 7, 0666), RH_OK);
    assert_int_equal(rh_settings_check(&settings), RH_ERR_USAGE);
    free(word);
    free(path);
}

static void help_names_every_option(void **state)
{
    (void)state;
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    rh_settings_print_help("racehive-cc", out);
    fclose(out);
    assert_non_null(strstr(text, "--rh-profile=NAME"));
    assert_non_null(strstr(text, "--rh-keep-temps"));
    for (size_t i = 0; i < 4; i++)
        assert_non_null(strstr(text, variables[i]));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(defaults_hold_in_an_empty_environment, clear_environment),
        cmocka_unit_test(words_are_told_from_clangs),
        cmocka_unit_test_setup(words_set_what_they_say, clear_environment),
        cmocka_unit_test_setup(wrong_words_are_usage_errors, clear_environment),
        cmocka_unit_test_setup(wrong_variable_is_named, clear_environment),
        cmocka_unit_test_setup(export_is_read_back, clear_environment),
        cmocka_unit_test_setup_teardown(configuration_must_make_sense, make_scratch,
                                        remove_scratch),
        cmocka_unit_test(help_names_every_option),
    };
    return cmocka_run_group_tests(tests, clear_environment, clear_environment);
}
