/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the choice of wrapped functions. */
#include "base/testing.h"

#include "driver/wraps.h"

#include <string.h>

static void programs_own_functions_are_not_wrapped(void **state)
{
    (void)state;
    const char *list[] = {"lock", "unlock", "try", "wait", "lock2", "post"};
    struct rh_wordlist symbols = {list, 6, 6}, wraps = RH_VEC_INIT;
    rh_wraps_choose(&symbols,
                    "main.o: reference to lock\n"
                    "/lib/x/libc.a(lock.o): definition of lock\n"
                    "a folder (odd)/own.o: definition of unlock\n"
                    "/home/mine/libmine.a(try.o): definition of try\n"
                    "/lib/x/libc.a(wait.o): lazy definition of wait\n"
                    "main.o: definition of prelock2\n"
                    "libc.a(post.o): definition of post",
                    &wraps);
    assert_int_equal(wraps.len, 4);
    assert_string_equal(wraps.data[0], "lock");
    assert_string_equal(wraps.data[1], "wait");
    assert_string_equal(wraps.data[2], "lock2");
    assert_string_equal(wraps.data[3], "post");
    rh_vec_free(&wraps);
}

static void all_are_wrapped_when_nothing_is_told(void **state)
{
    (void)state;
    const char *list[] = {"lock", "unlock"};
    struct rh_wordlist symbols = {list, 2, 2}, wraps = RH_VEC_INIT;
    rh_wraps_choose(&symbols, "", &wraps);
    assert_int_equal(wraps.len, 2);
    rh_vec_free(&wraps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_own_functions_are_not_wrapped),
        cmocka_unit_test(all_are_wrapped_when_nothing_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
