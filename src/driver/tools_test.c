/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of looking for programs. */
#include "base/testing.h"

#include "base/mem.h"
#include "base/path.h"
#include "driver/tools.h"

#include <string.h>

static char *write_program(const char *folder, const char *name)
{
    char *path = rh_path_join(folder, name);
    assert_int_equal(rh_fs_write(path, "#!/bin/sh\n", 10, 0777), RH_OK);
    return path;
}

static void built_path_comes_before_the_search(void **state)
{
    char *there = write_program(*state, "tool"), *found;
    assert_int_equal(rh_tools_find(there, &found), RH_OK);
    assert_string_equal(found, there);
    free(found);
    assert_int_equal(rh_tools_find("/nosuch/folder/sh", &found), RH_OK);
    assert_string_equal(strrchr(found, '/'), "/sh");
    free(found);
    assert_int_equal(rh_tools_find("/nosuch/folder/nosuch-tool", &found), RH_ERR_NOT_FOUND);
    free(there);
}

static void linker_is_the_given_one_or_the_systems(void **state)
{
    char *mine = write_program(*state, "my-ld"), *found;
    assert_int_equal(rh_tools_find_linker(mine, &found), RH_OK);
    assert_string_equal(found, mine);
    free(found);
    assert_int_equal(rh_tools_find_linker("ld.nosuch", &found), RH_ERR_NOT_FOUND);

    char *system = write_program(*state, "ld"), *path = rh_strdup(getenv("PATH"));
    setenv("PATH", *state, 1);
    assert_int_equal(rh_tools_find_linker(NULL, &found), RH_OK);
    assert_string_equal(found, system);
    setenv("PATH", path, 1);
    free(found);
    free(path);
    free(system);
    free(mine);
}

static void prefix_is_above_the_executable(void **state)
{
    (void)state;
    char *own, *prefix, *parent;
    assert_int_equal(rh_path_self_dir(&own), RH_OK);
    assert_int_equal(rh_tools_find_prefix(0, &prefix), RH_OK);
    assert_string_equal(prefix, own);
    free(prefix);
    assert_int_equal(rh_tools_find_prefix(1, &prefix), RH_OK);
    parent = rh_path_dirname(own);
    assert_string_equal(prefix, parent);
    free(parent);
    free(prefix);
    free(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(built_path_comes_before_the_search, make_scratch,
                                        remove_scratch),
        cmocka_unit_test_setup_teardown(linker_is_the_given_one_or_the_systems, make_scratch,
                                        remove_scratch),
        cmocka_unit_test(prefix_is_above_the_executable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
