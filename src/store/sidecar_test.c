/* SPDX-License-Identifier: Apache-2.0 */
/* Sidecars, written and read back; and what is left when writing fails. */
#include "store/sidecar.h"

#include "base/mem.h"
#include "base/testing.h"
#include "store/db.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const struct rh_sidecar_function deposit = {"deposit", "deposit", "/src/bank.c", 40};

static struct rh_sidecar_writer *create(const char *path)
{
    struct rh_sidecar_writer *writer = NULL;
    assert_status(RH_OK, rh_sidecar_create(path, &writer));
    return writer;
}

static struct rh_sidecar *open_sidecar(const char *path)
{
    struct rh_sidecar *sidecar = NULL;
    assert_status(RH_OK, rh_sidecar_open(path, &sidecar));
    return sidecar;
}

static void add_keys(struct rh_sidecar_writer *writer, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        rh_sidecar_add_key(
            writer, i,
            &(struct rh_key_record){.first_site = i, .site_count = 1, .gate = RH_NO_GATE});
}

/* `count` plausible sites, four to a line, a fifth of them inlined. */
static void add_many_sites(struct rh_sidecar_writer *writer, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[32], expression[48];
        snprintf(name, sizeof name, "function_%u", i / 100);
        snprintf(expression, sizeof expression, "queue->slots[%u].state", i % 57);
        struct rh_sidecar_function function = {name, name, "/src/queue.c", i / 4};
        struct rh_sidecar_location outer = {"/src/queue.c", i / 4, 5, name, name, NULL, false};
        struct rh_sidecar_location inner = {"/src/queue.h", i % 300, 9,    "push",
                                            "push",         &outer,  false};
        rh_sidecar_add_site(writer, &(struct rh_sidecar_site){
                                        .number = i,
                                        .fingerprint = i * 0x9E3779B97F4A7C15u,
                                        .key = i,
                                        .access = i % 3 ? RH_ACCESS_READ : RH_ACCESS_WRITE,
                                        .size = 8,
                                        .function = &function,
                                        .location = i % 5 ? &outer : &inner,
                                        .expression = expression,
                                    });
    }
    add_keys(writer, count);
}

static int64_t ask(const char *path, const char *sql)
{
    struct rh_db *db;
    int64_t number;
    assert_status(RH_OK, rh_db_open_finished(path, "sidecar", &db));
    assert_status(RH_OK, rh_db_number(db, sql, -1, &number));
    rh_db_close(db);
    return number;
}

static void assert_texts(const char *expected, const char *actual)
{
    if (!expected || !actual)
        assert_ptr_equal(expected, actual);
    else
        assert_string_equal(expected, actual);
}

static void assert_locations(const struct rh_sidecar_location *expected,
                             const struct rh_sidecar_location *actual)
{
    for (; expected && actual; expected = expected->inlined_at, actual = actual->inlined_at) {
        assert_texts(expected->file, actual->file);
        assert_int_equal(expected->line, actual->line);
        assert_int_equal(expected->column, actual->column);
        assert_int_equal(expected->is_near, actual->is_near);
        assert_texts(expected->function, actual->function);
        assert_texts(expected->linkage ? expected->linkage : expected->function, actual->linkage);
    }
    assert_null(expected);
    assert_null(actual);
}

static void assert_sites(const struct rh_sidecar_site *expected,
                         const struct rh_sidecar_site *actual)
{
    assert_int_equal(expected->number, actual->number);
    assert_true(expected->fingerprint == actual->fingerprint);
    assert_int_equal(expected->key, actual->key);
    assert_int_equal(expected->access, actual->access);
    assert_int_equal(expected->order, actual->order);
    assert_int_equal(expected->size, actual->size);
    assert_int_equal(expected->flags, actual->flags);
    assert_texts(expected->function->name, actual->function->name);
    assert_texts(expected->function->file, actual->function->file);
    assert_int_equal(expected->function->line, actual->function->line);
    assert_locations(expected->location, actual->location);
    assert_texts(expected->expression, actual->expression);
}

static void assert_walk(struct rh_sidecar *sidecar, const struct rh_sidecar_site *expected,
                        size_t count)
{
    struct rh_sidecar_site site;
    bool more;
    for (size_t i = 0; i < count; i++) {
        assert_status(RH_OK, rh_sidecar_next_site(sidecar, &site, &more));
        assert_true(more);
        assert_sites(&expected[i], &site);
    }
    assert_status(RH_OK, rh_sidecar_next_site(sidecar, &site, &more));
    assert_false(more);
}

static void sites_come_back_as_they_were(void **state)
{
    char *path = rh_path_join(*state, "odd name?#%41.racehive");
    char *long_name = rh_calloc(1, 100001);
    memset(long_name, 'x', 100000);
    const struct rh_sidecar_function odd = {"operator\"\"_k<'\n\t'>", "_Zli2_kPKc", NULL, 0};
    const struct rh_sidecar_function vast = {long_name, NULL, "a\xff\xfe.c", UINT32_MAX - 1};
    const struct rh_sidecar_location outer = {"/src/bank.c", 77, 3, "worker", NULL, NULL, false};
    const struct rh_sidecar_location middle = {"/src/b\"a'n;k.c", 50,     0,   "pay",
                                               "pay.1",           &outer, true};
    const struct rh_sidecar_location inner = {NULL, 0, 0, "größe", NULL, &middle, false};
    const struct rh_sidecar_site sites[] = {
        {0, 0, 0, RH_ACCESS_READ, RH_MO_PLAIN, 1, 0, &deposit, &outer, "account->balance", NULL},
        {1, UINT64_MAX, RH_SIDECAR_NO_KEY, RH_ACCESS_WRITE, RH_MO_PLAIN, 0, RH_SITE_SIZED, &odd,
         NULL, NULL, NULL},
        {2, 1ull << 63, 1, RH_ACCESS_ATOMIC_UPDATE, RH_MO_SEQ_CST, UINT32_MAX,
         RH_SITE_PARTIAL | RH_SITE_VOLATILE, &vast, &inner, "a[\xc3\xbc\xff\n] ? \"x\" : 'y'",
         NULL},
        {3, 42, 1, RH_ACCESS_FENCE, RH_MO_ACQUIRE, 0, 0, &deposit, &inner, long_name, NULL},
    };
    struct rh_sidecar_writer *writer = create(path);
    add_keys(writer, 2);
    for (size_t i = 0; i < 4; i++)
        rh_sidecar_add_site(writer, &sites[i]);
    assert_status(RH_OK, rh_sidecar_commit(writer));
    struct rh_sidecar *sidecar = open_sidecar(path);
    assert_walk(sidecar, sites, 4);
    assert_walk(sidecar, sites, 4);
    assert_int_equal(rh_sidecar_key_count(sidecar), 2);
    rh_sidecar_close(sidecar);
    assert_int_equal(count_entries(*state), 1);
    free(long_name);
    free(path);
}

static void what_sites_share_is_stored_once(void **state)
{
    char *path = rh_path_join(*state, "p.racehive");
    const struct rh_sidecar_function push = {"push", "push", "/src/queue.h", 12};
    const struct rh_sidecar_location outer = {"/src/bank.c", 41, 7, "deposit", NULL, NULL, false};
    const struct rh_sidecar_location inlined = {"/src/queue.h", 14, 2, "push", NULL, &outer, false};
    const struct rh_sidecar_location alone = {"/src/queue.h", 14, 2, "push", NULL, NULL, false};
    const struct rh_sidecar_site sites[] = {
        {.number = 0, .function = &deposit, .location = &inlined},
        {.number = 1, .function = &deposit, .location = &inlined},
        {.number = 2, .function = &push, .location = &alone},
    };
    struct rh_sidecar_writer *writer = create(path);
    add_keys(writer, 1);
    for (size_t i = 0; i < 3; i++)
        rh_sidecar_add_site(writer, &sites[i]);
    assert_status(RH_OK, rh_sidecar_commit(writer));
    assert_int_equal(ask(path, "SELECT count(*) FROM files"), 2);
    assert_int_equal(ask(path, "SELECT count(*) FROM locations"), 3);
    assert_int_equal(ask(path, "SELECT count(*) FROM functions"), 2);
    /* Met in the chain first, where its line was not known. */
    assert_int_equal(ask(path, "SELECT line FROM functions WHERE name = 'push'"), 12);
    free(path);
}

static void facts_and_counts_come_back(void **state)
{
    char *path = rh_path_join(*state, "p.racehive");
    struct rh_sidecar_writer *writer = create(path);
    rh_sidecar_set_meta(writer, RH_SIDECAR_META_PROGRAM, "first");
    rh_sidecar_set_meta(writer, RH_SIDECAR_META_PROGRAM, "b\xff\"nk");
    rh_sidecar_set_meta(writer, RH_SIDECAR_META_BUILD_ID, "");
    rh_sidecar_set_skipped(writer, "thread-local variable", 3);
    rh_sidecar_set_skipped(writer, "constant data", 1ull << 40);
    assert_status(RH_OK, rh_sidecar_commit(writer));
    struct rh_sidecar *sidecar = open_sidecar(path);
    assert_string_equal(rh_sidecar_get_meta(sidecar, RH_SIDECAR_META_VERSION), RH_VERSION);
    assert_string_equal(rh_sidecar_get_meta(sidecar, RH_SIDECAR_META_PROGRAM), "b\xff\"nk");
    assert_string_equal(rh_sidecar_get_meta(sidecar, RH_SIDECAR_META_BUILD_ID), "");
    assert_null(rh_sidecar_get_meta(sidecar, RH_SIDECAR_META_PROFILE));
    const char *reason;
    uint64_t count;
    size_t at = 0;
    assert_true(rh_sidecar_next_skipped(sidecar, &at, &reason, &count));
    assert_string_equal(reason, "constant data");
    assert_true(count == 1ull << 40);
    assert_true(rh_sidecar_next_skipped(sidecar, &at, &reason, &count));
    assert_string_equal(reason, "thread-local variable");
    assert_int_equal(count, 3);
    assert_false(rh_sidecar_next_skipped(sidecar, &at, &reason, &count));
    assert_int_equal(rh_sidecar_key_count(sidecar), 0);
    assert_walk(sidecar, NULL, 0);
    rh_sidecar_close(sidecar);
    free(path);
}

static void keys_are_stored_as_given(void **state)
{
    char *path = rh_path_join(*state, "p.racehive");
    struct rh_sidecar_writer *writer = create(path);
    rh_sidecar_add_key(writer, 0, &(struct rh_key_record){.kind = RH_KEY_GATE, .gate = RH_NO_GATE});
    rh_sidecar_add_key(writer, 1,
                       &(struct rh_key_record){.first_site = 7, .site_count = 65535, .gate = 0});
    assert_status(RH_OK, rh_sidecar_commit(writer));
    assert_int_equal(ask(path, "SELECT gate FROM keys WHERE number = 0"), -1);
    assert_int_equal(ask(path, "SELECT kind FROM keys WHERE number = 0"), RH_KEY_GATE);
    assert_int_equal(ask(path, "SELECT gate FROM keys WHERE number = 1"), 0);
    assert_int_equal(ask(path, "SELECT first_site FROM keys WHERE number = 1"), 7);
    assert_int_equal(ask(path, "SELECT site_count FROM keys WHERE number = 1"), 65535);
    free(path);
}

static void assert_module(const char *path, const void *bytes, size_t len)
{
    struct rh_sidecar_writer *writer = create(path);
    rh_sidecar_set_module(writer, bytes, len, 3);
    assert_status(RH_OK, rh_sidecar_commit(writer));
    struct rh_sidecar *sidecar = open_sidecar(path);
    for (int round = 0; round < 2; round++) {
        void *got;
        size_t got_len;
        assert_status(RH_OK, rh_sidecar_load_module(sidecar, &got, &got_len));
        assert_int_equal(got_len, len);
        if (len > 0)
            assert_memory_equal(got, bytes, len);
        free(got);
    }
    rh_sidecar_close(sidecar);
}

static void the_module_comes_back(void **state)
{
    char *path = rh_path_join(*state, "p.racehive");
    size_t len = 3u << 20;
    unsigned char *noise = rh_calloc(1, len);
    assert_module(path, "", 0);
    assert_module(path, "BC\xc0\xde", 4);
    assert_module(path, noise, len);
    uint64_t word = 1;
    for (size_t i = 0; i < len; i++) {
        word = word * 6364136223846793005u + 1442695040888963407u;
        noise[i] = (unsigned char)(word >> 56);
    }
    assert_module(path, noise, len);
    free(noise);
    assert_status(RH_OK, rh_sidecar_commit(create(path)));
    struct rh_sidecar *sidecar = open_sidecar(path);
    void *bytes;
    assert_status(RH_ERR_NOT_FOUND, rh_sidecar_load_module(sidecar, &bytes, &len));
    rh_sidecar_close(sidecar);
    free(path);
}

static double milliseconds(const struct timespec *from, const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) * 1e3 + (double)(to->tv_nsec - from->tv_nsec) / 1e6;
}

static void a_large_program_is_quick(void **state)
{
    enum { COUNT = 100000 };
    char *path = rh_path_join(*state, "p.racehive");
    struct timespec start, written, read;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    struct rh_sidecar_writer *writer = create(path);
    add_many_sites(writer, COUNT);
    assert_status(RH_OK, rh_sidecar_commit(writer));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &written);
    struct rh_sidecar *sidecar = open_sidecar(path);
    struct rh_sidecar_site site;
    bool more;
    uint32_t count = 0;
    for (;; count++) {
        assert_status(RH_OK, rh_sidecar_next_site(sidecar, &site, &more));
        if (!more)
            break;
    }
    assert_int_equal(count, COUNT);
    rh_sidecar_close(sidecar);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &read);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    print_message("%d sites: %.0f ms of processor to write, %.0f ms to read, %.1f MB\n", COUNT,
                  milliseconds(&start, &written), milliseconds(&written, &read),
                  (double)info.st_size / 1e6);
    free(path);
}

/* What a writer must leave behind when it does not finish: the file that was there, nothing else.
 */
static void assert_untouched(const char *folder, const char *path)
{
    struct rh_strbuf text = RH_STRBUF_INIT;
    assert_int_equal(count_entries(folder), 1);
    assert_status(RH_OK, rh_fs_read(path, &text));
    assert_string_equal(rh_strbuf_text(&text), "old");
    rh_strbuf_release(&text);
}

static void an_aborted_file_leaves_nothing(void **state)
{
    char *path = rh_path_join(*state, "p.racehive");
    assert_status(RH_OK, rh_fs_write(path, "old", 3, 0666));
    struct rh_sidecar_writer *writer = create(path);
    add_many_sites(writer, 5000);
    rh_sidecar_abort(writer);
    assert_untouched(*state, path);
    free(path);
}

static void numbers_out_of_order_are_refused(void **state)
{
    char *path = rh_path_join(*state, "p.racehive");
    assert_status(RH_OK, rh_fs_write(path, "old", 3, 0666));
    struct rh_sidecar_writer *writer = create(path);
    rh_sidecar_add_site(writer, &(struct rh_sidecar_site){.number = 1, .function = &deposit});
    assert_status(RH_ERR_INTERNAL, rh_sidecar_commit(writer));
    assert_untouched(*state, path);
    writer = create(path);
    rh_sidecar_add_key(writer, 3, &(struct rh_key_record){0});
    assert_status(RH_ERR_INTERNAL, rh_sidecar_commit(writer));
    assert_untouched(*state, path);
    free(path);
}

/* The first failure may come anywhere: at once, among the sites, with the module, at the end. */
static void a_full_disk_leaves_nothing(void **state)
{
    static const rlim_t limits[] = {0, 1000, 10000, 40000, 100000, 300000, 1000000};
    char *path = rh_path_join(*state, "p.racehive");
    size_t len = 2u << 20;
    char *noise = rh_alloc(len);
    for (size_t i = 0; i < len; i++)
        noise[i] = (char)(i * i >> 3);
    assert_status(RH_OK, rh_fs_write(path, "old", 3, 0666));
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct rlimit limit = {limits[i], before.rlim_max};
        struct rh_sidecar_writer *writer;
        setrlimit(RLIMIT_FSIZE, &limit);
        enum rh_status status = rh_sidecar_create(path, &writer);
        if (status == RH_OK) {
            add_many_sites(writer, 30000);
            rh_sidecar_set_module(writer, noise, len, 1);
            status = rh_sidecar_commit(writer);
        }
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(status, RH_ERR_IO);
        assert_non_null(strstr(rh_error_text(), "cannot write"));
        assert_non_null(strstr(rh_error_text(), "p.racehive: File too large"));
        assert_untouched(*state, path);
    }
    signal(SIGXFSZ, SIG_DFL);
    free(noise);
    free(path);
}

static void impossible_places_are_refused(void **state)
{
    struct rh_sidecar_writer *writer;
    char *path = rh_path_join(*state, "missing/p.racehive");
    assert_status(RH_ERR_NOT_FOUND, rh_sidecar_create(path, &writer));
    assert_status(RH_ERR_IO, rh_sidecar_create(*state, &writer));
    assert_status(RH_ERR_IO, rh_sidecar_create("/dev/null", &writer));
    assert_int_equal(count_entries(*state), 0);
    free(path);
}

/* Root may write anywhere; without its rights it may not. */
static bool drop_rights(void)
{
    return geteuid() != 0 || seteuid(65534) == 0;
}

static void a_read_only_folder_can_be_read_and_not_written(void **state)
{
    char *path = rh_path_join(*state, "p.racehive");
    struct rh_sidecar_writer *writer = create(path);
    add_many_sites(writer, 100);
    assert_status(RH_OK, rh_sidecar_commit(writer));
    chmod(path, 0444);
    chmod(*state, 0555);
    uid_t user = geteuid();
    if (!drop_rights() || eaccess(*state, W_OK) == 0) {
        assert_int_equal(seteuid(user), 0);
        print_message("SKIPPED: %s: this user may write to read-only folders\n", __func__);
        free(path);
        skip();
    }
    enum rh_status write_status = rh_sidecar_create(path, &writer);
    struct rh_sidecar *sidecar = NULL;
    enum rh_status read_status = rh_sidecar_open(path, &sidecar);
    struct rh_sidecar_site site;
    bool more = false;
    if (read_status == RH_OK)
        read_status = rh_sidecar_next_site(sidecar, &site, &more);
    assert_int_equal(seteuid(user), 0);
    assert_int_equal(write_status, RH_ERR_IO);
    assert_int_equal(read_status, RH_OK);
    assert_true(more);
    rh_sidecar_close(sidecar);
    assert_int_equal(count_entries(*state), 1);
    free(path);
}

static void builds_can_be_reproduced(void **state)
{
    char *paths[] = {rh_path_join(*state, "a"), rh_path_join(*state, "b")};
    struct rh_strbuf bytes[2] = {RH_STRBUF_INIT, RH_STRBUF_INIT};
    setenv("SOURCE_DATE_EPOCH", "86399", 1);
    for (int i = 0; i < 2; i++) {
        struct rh_sidecar_writer *writer = create(paths[i]);
        add_many_sites(writer, 1000);
        rh_sidecar_set_module(writer, "module", 6, 3);
        assert_status(RH_OK, rh_sidecar_commit(writer));
        assert_status(RH_OK, rh_fs_read(paths[i], &bytes[i]));
    }
    unsetenv("SOURCE_DATE_EPOCH");
    struct rh_sidecar *sidecar = open_sidecar(paths[0]);
    assert_string_equal(rh_sidecar_get_meta(sidecar, RH_SIDECAR_META_CREATED),
                        "1970-01-01T23:59:59Z");
    rh_sidecar_close(sidecar);
    assert_int_equal(bytes[0].len, bytes[1].len);
    assert_memory_equal(bytes[0].data, bytes[1].data, bytes[0].len);
    for (int i = 0; i < 2; i++) {
        rh_strbuf_release(&bytes[i]);
        free(paths[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(sites_come_back_as_they_were),
        SCRATCH_TEST(what_sites_share_is_stored_once),
        SCRATCH_TEST(facts_and_counts_come_back),
        SCRATCH_TEST(keys_are_stored_as_given),
        SCRATCH_TEST(the_module_comes_back),
        SCRATCH_TEST(a_large_program_is_quick),
        SCRATCH_TEST(an_aborted_file_leaves_nothing),
        SCRATCH_TEST(numbers_out_of_order_are_refused),
        SCRATCH_TEST(a_full_disk_leaves_nothing),
        SCRATCH_TEST(impossible_places_are_refused),
        SCRATCH_TEST(a_read_only_folder_can_be_read_and_not_written),
        SCRATCH_TEST(builds_can_be_reproduced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
