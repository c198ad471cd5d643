/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the list of images, from inside: the file under test is part of this one. */
#include "stack/images.c"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_every_image_is_found(void **state)
{
    (void)state;
    struct rt_stack_image image;
    assert_false(rt_stack_image_at((uintptr_t)test_every_image_is_found, &image));
    assert_int_equal(rt_stack_generation, 0);
    rt_stack_refresh();
    assert_int_equal(rt_stack_generation, 1);
    const uintptr_t addresses[] = {(uintptr_t)test_every_image_is_found, (uintptr_t)dlsym,
                                   (uintptr_t)_cmocka_run_group_tests};
    for (int i = 0; i < 3; i++) {
        struct rt_cfi_row row;
        assert_true(rt_stack_image_at(addresses[i], &image));
        assert_true(image.low <= addresses[i] && addresses[i] < image.high);
        assert_true(rt_stack_image_is_there(&image));
        assert_int_equal(rt_cfi_find(&image.tables, addresses[i], &row), RT_CFI_ROW);
        struct rt_stack_image same;
        assert_true(rt_stack_image_at(image.low, &same) && same.low == image.low);
        assert_true(rt_stack_image_at(image.high - 1, &same) && same.low == image.low);
        assert_false(rt_stack_image_at(image.high, &same) && same.low == image.low);
        image.mark[1]++; /* as of another image that was there */
        assert_false(rt_stack_image_is_there(&image));
    }
    assert_false(rt_stack_image_at(0, &image));
    assert_false(rt_stack_image_at(UINTPTR_MAX, &image));
    assert_false(rt_stack_image_at((uintptr_t)&image, &image));
}

static void test_unchanged_list_is_kept(void **state)
{
    (void)state;
    struct list *before = atomic_load(&current);
    uint32_t version = before->version, lists = rt_stack_lists;
    for (int i = 0; i < 100; i++)
        rt_stack_refresh();
    assert_ptr_equal(before, atomic_load(&current));
    assert_int_equal(before->version, version);
    assert_int_equal(rt_stack_lists, lists);
}

static uint32_t count_images(void)
{
    return atomic_load(&current)->count;
}

static void test_loads_and_unloads_are_seen(void **state)
{
    (void)state;
    uint32_t images = count_images(), generation = rt_stack_generation;
    for (int i = 0; i < 50; i++) {
        void *library = dlopen(RH_TEST_LIBRARY, RTLD_NOW);
        assert_non_null(library);
        rt_stack_refresh();
        assert_int_equal(count_images(), images + 1);
        assert_int_equal(rt_stack_generation, generation);
        struct rt_stack_image image;
        assert_true(rt_stack_image_at((uintptr_t)dlsym(library, "plugin_call"), &image));
        assert_true(rt_stack_image_is_there(&image));
        dlclose(library);
        assert_false(rt_stack_image_is_there(&image));
        rt_stack_refresh();
        assert_int_equal(count_images(), images);
        assert_int_equal(rt_stack_generation, ++generation);
    }
    assert_int_equal(rt_stack_lists, 2);
}

static void test_list_grows(void **state)
{
    (void)state;
    struct rt_stack_image image;
    uint32_t images = count_images(), lists = rt_stack_lists;
    /* As if there were room for no more than these. */
    rt_unmap(draft.images, draft.capacity * sizeof *draft.images);
    draft.images = rt_map(images * sizeof *draft.images);
    draft.capacity = images;
    spare->capacity = images;
    void *library = dlopen(RH_TEST_LIBRARY, RTLD_NOW);
    rt_stack_refresh();
    assert_int_equal(count_images(), images + 1);
    assert_int_equal(rt_stack_lists, lists + 1);
    assert_true(rt_stack_image_at((uintptr_t)dlsym(library, "plugin_call"), &image));
    assert_true(rt_stack_image_at((uintptr_t)test_list_grows, &image));
    dlclose(library);
    rt_stack_refresh();
    assert_int_equal(count_images(), images);
}

/* A search that a refresh overtakes must not give what it saw. */
static void test_list_being_written_gives_nothing(void **state)
{
    (void)state;
    struct rt_stack_image image;
    struct list *l = atomic_load(&current);
    atomic_fetch_add(&l->version, 1);
    assert_false(rt_stack_image_at((uintptr_t)dlsym, &image));
    atomic_fetch_add(&l->version, 1);
    assert_true(rt_stack_image_at((uintptr_t)dlsym, &image));
}

static void *refresh(void *arg)
{
    (void)arg;
    rt_stack_refresh();
    return NULL;
}

static void test_refresh_waits_for_another(void **state)
{
    (void)state;
    pthread_t thread;
    uint32_t images = count_images();
    void *library = dlopen(RH_TEST_LIBRARY, RTLD_NOW);
    atomic_store(&refresher, (uint32_t)rt_sys_getpid());
    pthread_create(&thread, NULL, refresh, NULL);
    for (int i = 0; i < 100; i++)
        sched_yield();
    assert_int_equal(count_images(), images);
    atomic_store(&refresher, 0);
    pthread_join(thread, NULL);
    assert_int_equal(count_images(), images + 1);
    dlclose(library);
    rt_stack_refresh();
}

/* After fork, the thread that was at it in the parent is not there. */
static void test_child_of_fork_takes_over(void **state)
{
    (void)state;
    uint32_t images = count_images();
    void *library = dlopen(RH_TEST_LIBRARY, RTLD_NOW);
    atomic_store(&refresher, (uint32_t)rt_sys_getpid() + 1);
    rt_stack_refresh();
    assert_int_equal(count_images(), images + 1);
    assert_int_equal(refresher, 0);
    dlclose(library);
    rt_stack_refresh();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_image_is_found),
        cmocka_unit_test(test_unchanged_list_is_kept),
        cmocka_unit_test(test_loads_and_unloads_are_seen),
        cmocka_unit_test(test_list_grows),
        cmocka_unit_test(test_list_being_written_gives_nothing),
        cmocka_unit_test(test_refresh_waits_for_another),
        cmocka_unit_test(test_child_of_fork_takes_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
