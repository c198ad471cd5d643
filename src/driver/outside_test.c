/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of finding code without bitcode that can start threads, on this program's own libraries. */
#include "base/testing.h"

#include "base/starters.h"
#include "driver/inputs.h"
#include "driver/outside.h"

#include <stdlib.h>
#include <string.h>

static void starters_are_known_by_name(void **state)
{
    (void)state;
    assert_true(rh_starts_threads("pthread_create"));
    assert_true(rh_starts_threads("__kmpc_fork_call"));
    assert_true(rh_starts_threads("GOMP_parallel_loop_dynamic"));
    assert_true(rh_starts_threads(
        "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"));
    assert_false(rh_starts_threads("pthread_creat"));
    assert_false(rh_starts_threads("pthread_create_np"));
    assert_false(rh_starts_threads("malloc"));
    assert_false(rh_starts_threads(""));
}

static const char *starter_of(const char *file, struct rh_ld *ld)
{
    const char *const argv[] = {"-o", "p", file};
    rh_ld_parse(ld, 3, argv);
    rh_inputs_inspect(ld);
    return rh_outside_starter(ld);
}

static void the_c_library_is_described_elsewhere(void **state)
{
    (void)state;
    struct rh_ld ld;
    assert_null(starter_of("libc.so.6", &ld));
    rh_ld_release(&ld);
}

static void what_cannot_be_read_counts(void **state)
{
    char *path = rh_path_join(*state, "libscript.so");
    struct rh_ld ld;
    assert_int_equal(rh_fs_write(path, "INPUT(-lx)", 10, 0666), RH_OK);
    const char *starter = starter_of(path, &ld);
    assert_non_null(starter);
    assert_string_equal(starter, "libscript.so (cannot be read)");
    rh_ld_release(&ld);
    free(path);
}

/* This program is an ELF file that needs cmocka and libc and starts no thread. Under another name
 * it is a library of such a kind. */
static void imports_are_followed(void **state)
{
    struct rh_strbuf self = RH_STRBUF_INIT;
    char *path = rh_path_join(*state, "libself.so");
    struct rh_ld ld;
    assert_int_equal(rh_fs_read("/proc/self/exe", &self), RH_OK);
    assert_int_equal(rh_fs_write(path, self.data, self.len, 0666), RH_OK);
    const char *starter = starter_of(path, &ld);
    /* A sanitizer's library is another matter: it is found, and starts threads. */
    assert_true(!starter || strstr(starter, "san") || strstr(starter, "not found"));
    rh_ld_release(&ld);
    for (size_t i = 0; i + 7 < self.len; i++)
        if (memcmp(self.data + i, "memcmp", 7) == 0)
            memcpy(self.data + i, "clone3", 7);
    assert_int_equal(rh_fs_write(path, self.data, self.len, 0666), RH_OK);
    starter = starter_of(path, &ld);
    assert_non_null(starter);
    rh_ld_release(&ld);
    rh_strbuf_release(&self);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starters_are_known_by_name),
        cmocka_unit_test(the_c_library_is_described_elsewhere),
        SCRATCH_TEST(what_cannot_be_read_counts),
        SCRATCH_TEST(imports_are_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
