/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of values that change: which accesses are looked at, that a change is seen and a handler of
 * the own thread is not, and whose memory counts.
 */
#include "change.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct rt_options rt_options;

/* Images are what a test says they are. */
static uintptr_t image_low, image_high;

bool rt_stack_image_around(uintptr_t address, struct rt_stack_image *image)
{
    (void)image;
    return address >= image_low && address < image_high;
}

static int set_up(void **state)
{
    (void)state;
    rt_options.values = true;
    image_low = image_high = 0;
    return 0;
}

/* On the heap, which is private to the process. */
static struct rt_access access_to(const void *memory, uint64_t size)
{
    return (struct rt_access){.kind = RH_ACCESS_READ, .address = (uintptr_t)memory, .size = size};
}

static bool is_seen(const struct rt_access *a, void *memory)
{
    struct rt_change c;
    rt_change_begin(a, &c);
    memset(memory, 0x55, a->size);
    bool changed = rt_change_end(&c);
    memset(memory, 0, a->size);
    return changed;
}

static void test_which_accesses(void **state)
{
    (void)state;
    static const uint16_t unsure[] = {RH_SITE_SIZED,    RH_SITE_PARTIAL, RH_SITE_VOLATILE,
                                      RH_SITE_AT_LEAST, RH_SITE_AT_MOST, RH_SITE_OBJECT};
    uint8_t *memory = calloc(1, 2 * RT_CHANGE_MAX);
    struct rt_access a = access_to(memory, 8);
    assert_true(is_seen(&a, memory));
    a.kind = RH_ACCESS_WRITE;
    assert_true(is_seen(&a, memory));
    for (uint8_t kind = RH_ACCESS_ATOMIC_READ; kind < RH_ACCESS_COUNT; kind++) {
        a.kind = kind;
        assert_false(is_seen(&a, memory));
    }
    for (size_t i = 0; i < sizeof unsure / sizeof unsure[0]; i++) {
        a = access_to(memory, 8);
        a.flags = unsure[i];
        assert_false(is_seen(&a, memory));
    }
    a = access_to(memory, RT_CHANGE_MAX);
    assert_true(is_seen(&a, memory));
    a = access_to(memory, RT_CHANGE_MAX + 1);
    assert_false(is_seen(&a, memory));
    rt_options.values = false;
    a = access_to(memory, 8);
    assert_false(is_seen(&a, memory));
    free(memory);
}

static void test_only_the_bytes_of_the_access(void **state)
{
    (void)state;
    uint8_t *memory = calloc(1, 16);
    struct rt_access a = access_to(memory + 4, 4);
    struct rt_change c;
    rt_change_begin(&a, &c);
    memory[3] = memory[8] = 1;
    assert_false(rt_change_end(&c));
    rt_change_begin(&a, &c);
    memory[7] = 1;
    assert_true(rt_change_end(&c));
    free(memory);
}

static void test_memory_that_is_not_there(void **state)
{
    (void)state;
    uint8_t *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct rt_access a = access_to(memory + 4092, 8);
    struct rt_change c;
    assert_true(is_seen(&a, memory + 4092));
    rt_change_begin(&a, &c);
    munmap(memory + 4096, 4096);
    assert_false(rt_change_end(&c));
    rt_change_begin(&a, &c); /* from the beginning */
    assert_int_equal(c.size, 0);
    assert_false(rt_change_end(&c));
    munmap(memory, 4096);
}

/* --- handlers --- */

static uint8_t *handled;

static void handle(int signal)
{
    (void)signal;
    *handled ^= 1;
}

/* It runs when the thread goes on, and only then. */
static void test_own_handlers_are_put_off(void **state)
{
    (void)state;
    static const int signals[] = {SIGUSR1, SIGSEGV};
    handled = calloc(1, 1);
    struct rt_access a = access_to(handled, 1);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct rt_change c;
        void (*before)(int) = signal(signals[i], handle);
        uint8_t value = *handled;
        rt_change_begin(&a, &c);
        kill(getpid(), signals[i]);
        assert_int_equal(*handled, value);
        assert_false(rt_change_end(&c));
        assert_int_equal(*handled, value ^ 1);
        signal(signals[i], before);
    }
    free(handled);
}

/* --- whose memory it is --- */

static const char lines[] =
    "10000-12000 r-xp 00000000 fe:00 1234       /usr/bin/program\n"
    "12000-13000 rw-p 00002000 fe:00 1234       /usr/bin/program\n"
    "20000-24000 rw-p 00000000 00:00 0          [heap]\n"
    "7f0000000000-7f0000001000 rw-s 00000000 00:01 99   /dev/zero (deleted)\n"
    "7f0000001000-7f0000002000 rw-p 00000000 00:00 0 \n"
    "7f0000002000-7f0000003000 rw-s 00000000 00:00 0 \n";

static char path[] = "/tmp/change_test.XXXXXX";

static void test_maps(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    assert_int_equal(write(fd, lines, sizeof lines - 1), sizeof lines - 1);
    close(fd);
    assert_true(rt_change_is_private(path, 0x20000, 8));
    assert_true(rt_change_is_private(path, 0x23ff8, 8));
    assert_false(rt_change_is_private(path, 0x23ffc, 8)); /* half of it is elsewhere */
    assert_false(rt_change_is_private(path, 0x24000, 8)); /* nothing is there */
    assert_true(rt_change_is_private(path, 0x7f0000001000, 8));
    assert_false(rt_change_is_private(path, 0x7f0000000000, 8));
    assert_false(rt_change_is_private(path, 0x7f0000002000, 8));
    assert_false(rt_change_is_private(path, 0x12000, 8)); /* of a file */
    image_low = 0x10000;
    image_high = 0x13000;
    assert_true(rt_change_is_private(path, 0x12000, 8)); /* of an image */
    unlink(path);
    assert_false(rt_change_is_private(path, 0x20000, 8)); /* nobody can tell */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_which_accesses, set_up),
        cmocka_unit_test_setup(test_only_the_bytes_of_the_access, set_up),
        cmocka_unit_test_setup(test_memory_that_is_not_there, set_up),
        cmocka_unit_test_setup(test_own_handlers_are_put_off, set_up),
        cmocka_unit_test_setup(test_maps, set_up),
    };
    return cmocka_run_group_tests_name("change", tests, NULL, NULL);
}
