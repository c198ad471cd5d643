/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the names of sockets that are kept: what is found again, and when no more. */
#include "names.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>

#include <cmocka.h>

enum { INODE = 4711 };

static const struct rt_names some = {
    .family = AF_INET6, .is_near = true, .own = 65535, .peer = 8080};

static void keep(uint64_t inode)
{
    rt_names_keep(inode, &some, rt_names_generation());
}

static void test_found_again(void **state)
{
    (void)state;
    struct rt_names names;
    rt_names_forget();
    assert_false(rt_names_find(INODE, &names));
    keep(INODE);
    assert_true(rt_names_find(INODE, &names));
    assert_int_equal(names.family, some.family);
    assert_int_equal(names.is_near, some.is_near);
    assert_int_equal(names.own, some.own);
    assert_int_equal(names.peer, some.peer);
}

/* Of the same entry, or with the same lower half. */
static void test_not_of_another(void **state)
{
    (void)state;
    struct rt_names names;
    keep(INODE);
    assert_false(rt_names_find(INODE + ENTRIES, &names));
    assert_false(rt_names_find(INODE + (1ull << 32), &names));
    keep(INODE + ENTRIES);
    assert_false(rt_names_find(INODE, &names));
    keep(INODE + (2ull << 32));
    assert_false(rt_names_find(INODE + (2ull << 32), &names));
}

/* A thread that has asked before another connects its socket must not keep what it was told; nor
 * may what was kept come back when the number of the generation does. */
static void test_void_after_a_connection(void **state)
{
    (void)state;
    struct rt_names names;
    uint32_t before = rt_names_generation();
    keep(INODE);
    rt_names_forget();
    assert_false(rt_names_find(INODE, &names));
    rt_names_keep(INODE, &some, before);
    assert_false(rt_names_find(INODE, &names));
    keep(INODE);
    for (int i = 0; i < 256; i++)
        rt_names_forget();
    assert_false(rt_names_find(INODE, &names));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_again),
        cmocka_unit_test(test_not_of_another),
        cmocka_unit_test(test_void_after_a_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
