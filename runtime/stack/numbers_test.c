/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the numbers of images: who gets which row of the shared memory. */
#include "stack/numbers.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct rh_shared *shared;

struct rh_shared *rt_shared(void)
{
    return shared;
}

/* The build id of a test's image is the text of its path. */
void rt_image_build_id(const struct dl_phdr_info *info, struct rh_image_name *name)
{
    name->build_id_size = (uint32_t)strlen(info->dlpi_name);
    memcpy(name->build_id, info->dlpi_name, name->build_id_size);
}

static uint32_t number_of(const char *id, bool is_executable, uint32_t site_count)
{
    return rt_number_of(&(struct dl_phdr_info){.dlpi_name = id}, is_executable, site_count);
}

static void tell(uint32_t number, const char *id, uint32_t site_count)
{
    struct rh_keyed_image *row = &shared->keyed[number];
    row->build_id_size = (uint32_t)strlen(id);
    memcpy(row->build_id, id, row->build_id_size);
    row->site_count = site_count;
    row->first_site = shared->site_count;
    shared->site_count += site_count;
    row->state = RH_KEYED_KNOWN;
}

static int open_shared(void **state)
{
    (void)state;
    shared = calloc(1, sizeof *shared);
    return !shared;
}

static int close_shared(void **state)
{
    (void)state;
    free(shared);
    return 0;
}

/* Sites that are in no candidate have no key: the sidecar has them, the image has not. */
static void images_have_the_numbers_that_the_controller_gave(void **state)
{
    (void)state;
    tell(0, "program", 14);
    tell(1, "library", 5);
    assert_int_equal(number_of("program", true, 2), 0);
    assert_int_equal(number_of("library", false, 5), 1);
    assert_int_equal(number_of("program", true, 2), 0);
    assert_int_equal(shared->keyed[0].state, RH_KEYED_LOADED);
    assert_int_equal(shared->keyed[0].site_count, 14);
}

static void images_that_nobody_knew_get_rows_of_their_own(void **state)
{
    (void)state;
    tell(0, "program", 3);
    assert_int_equal(number_of("plugin", false, 4), 1);
    assert_int_equal(number_of("other", false, 6), 2);
    assert_int_equal(number_of("plugin", false, 4), 1);
    assert_int_equal(shared->keyed[2].first_site, 7);
    assert_int_equal(shared->site_count, 13);
}

static void another_build_is_another_image(void **state)
{
    (void)state;
    tell(0, "program", 3);
    tell(1, "library", 3);
    assert_int_equal(number_of("librarx", false, 3), 2);
    assert_int_equal(number_of("library", false, 4), 3);
    assert_int_equal(shared->keyed[1].state, RH_KEYED_KNOWN);
}

static void without_shared_memory_there_is_the_program_alone(void **state)
{
    struct rh_shared *kept = shared;
    (void)state;
    shared = NULL;
    assert_int_equal(number_of("program", true, 3), 0);
    assert_int_equal(number_of("library", false, 3), RH_NO_IMAGE);
    shared = kept;
}

#define CASE(body) cmocka_unit_test_setup_teardown(body, open_shared, close_shared)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(images_have_the_numbers_that_the_controller_gave),
        CASE(images_that_nobody_knew_get_rows_of_their_own),
        CASE(another_build_is_another_image),
        CASE(without_shared_memory_there_is_the_program_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
