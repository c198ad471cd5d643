/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The detector is told of memory before it is freed, whoever frees it, with its whole size; and the
 * program sees the same results of free and similar functions as without the runtime.
 *
 * Also run with LD_PRELOAD, with an allocator that knows the size of its blocks and with one that
 * does not (HARNESS_UNMEASURED): then the detector is told nothing about its blocks.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

/* The addresses of blocks that are gone are what is looked at here. */
#pragma GCC diagnostic ignored "-Wuse-after-free"

enum { PAGE = 4096 };

static bool is_measured;

/* What the compiler cannot see through. */
static void *opaque(void *block)
{
    __asm__ volatile("" : "+r"(block) : : "memory");
    return block;
}

static void check_block(const void *block, size_t size)
{
    if (is_measured)
        CHECK(harness_was_gone(block, size));
    else
        CHECK(harness_gone_count() == 0);
    harness_forget();
}

static void test_free(void)
{
    static const size_t sizes[] = {1, 24, 100, 5000, 1 << 20};
    harness_forget();
    free(opaque(NULL));
    CHECK(harness_gone_count() == 0);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        void *block = opaque(malloc(sizes[i]));
        CHECK(block);
        errno = 77;
        free(block);
        CHECK(errno == 77);
        check_block(opaque(block), sizes[i]);
    }
    void *aligned = opaque(aligned_alloc(256, 512));
    CHECK(aligned && (uintptr_t)aligned % 256 == 0);
    free(aligned);
    check_block(opaque(aligned), 512);
}

static void test_realloc(void)
{
    harness_forget();
    char *first = opaque(realloc(NULL, 50));
    CHECK(first && harness_gone_count() == 0);
    strcpy(first, "kept");
    char *second = opaque(realloc(first, 1 << 20));
    CHECK(second && strcmp(second, "kept") == 0);
    check_block(opaque(first), 50);
    volatile size_t too_much = SIZE_MAX / 2;
    CHECK(!opaque(realloc(second, too_much)) && strcmp(second, "kept") == 0);
    check_block(second, 1 << 20);
    char *third = opaque(reallocarray(second, 1 << 10, 1 << 12));
    CHECK(third && strcmp(third, "kept") == 0);
    check_block(opaque(second), 1 << 20);
    CHECK(!opaque(reallocarray(third, too_much, 16)));
    CHECK(harness_gone_count() == 0);
    free(third);
    check_block(opaque(third), 1 << 22);
}

/* libc calls free and realloc itself. */
static void test_libc(void)
{
    char *line = NULL;
    size_t size = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    CHECK(file && getline(&line, &size, file) > 0);
    free(line);
    harness_forget();
    CHECK(fclose(file) == 0);
    CHECK(!harness_is_exact() || !is_measured || harness_gone_count() > 0);
#ifndef RT_STATIC
    CHECK(!dlsym(RTLD_DEFAULT, "no_such_function_anywhere"));
    CHECK(strstr(dlerror(), "no_such_function_anywhere"));
    CHECK(!dlerror());
#endif
}

static char *map(size_t size)
{
    char *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(start != MAP_FAILED);
    return start;
}

static void test_mappings(void)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    char *start = map(8 * PAGE);
    harness_forget();
    CHECK(mmap(start + PAGE, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0) == start + PAGE);
    CHECK(harness_was_gone(start + PAGE, PAGE) && harness_gone_count() <= 1);
    harness_forget();
    CHECK(mmap64(start, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0) == start);
    CHECK(harness_was_gone(start, PAGE));
    harness_forget();
    CHECK(mmap(start, PAGE, PROT_READ, flags | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED);
    CHECK(errno == EEXIST && harness_gone_count() == 0);
    start[0] = 5;
    char *moved = mremap(start, 8 * PAGE, 4096 * PAGE, MREMAP_MAYMOVE);
    CHECK(moved != MAP_FAILED || errno == EFAULT); /* it is several mappings by now */
    CHECK(harness_was_gone(start, 8 * PAGE));
    CHECK(munmap(moved == MAP_FAILED ? start : moved, 8 * PAGE) == 0);
    harness_forget();
    CHECK(munmap(start + 1, PAGE) == -1 && errno == EINVAL);
}

static void test_mremap(void)
{
    char *from = map(PAGE), *to = map(PAGE);
    from[7] = 7;
    harness_forget();
    CHECK(mremap(from, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to && to[7] == 7);
    CHECK(harness_was_gone(from, PAGE) && harness_was_gone(to, PAGE));
    CHECK(mremap(to, PAGE, PAGE, MREMAP_FIXED, from) == MAP_FAILED && errno == EINVAL);
    harness_forget();
    CHECK(munmap(to, PAGE) == 0 && harness_was_gone(to, PAGE));
}

/* It is still there, and still whole, when it is told of. */
static char *watched;
static _Atomic int seen_whole;

static void look(uintptr_t start, size_t size)
{
    if (start == (uintptr_t)watched && size >= PAGE && strcmp(watched, "here") == 0)
        atomic_fetch_add(&seen_whole, 1);
}

static void test_time(void)
{
    harness_set_gone_hook(look);
    watched = map(PAGE);
    strcpy(watched, "here");
    CHECK(munmap(watched, PAGE) == 0);
    watched = opaque(malloc(PAGE));
    strcpy(watched, "here");
    free(opaque(watched));
    CHECK(!harness_is_exact() || atomic_load(&seen_whole) == 1 + is_measured);
    harness_set_gone_hook(NULL);
}

static void unmap_in_handler(int signal)
{
    (void)signal;
    int kept = errno;
    CHECK(munmap(map(PAGE), PAGE) == 0);
    errno = kept;
}

static void *churn(void *arg)
{
    void *blocks[64] = {0};
    for (uint32_t i = 1; i < 20000; i++) {
        void **block = &blocks[i * 2654435761u >> 26];
        *block = i % 3 ? realloc(*block, i % 700 + 1) : (free(*block), malloc(i % 3000 + 1));
        CHECK(*block);
        memset(*block, 1, i % 700 + 1 < i % 3000 + 1 ? i % 700 + 1 : i % 3000 + 1);
        if (i % 1000 == 0)
            CHECK(raise(SIGUSR1) == 0);
    }
    for (int i = 0; i < 64; i++)
        free(blocks[i]);
    return arg;
}

static void test_threads(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    struct sigaction action = {.sa_handler = unmap_in_handler};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, churn, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

/* A child that borrows our memory frees in our name. */
static void test_children(void)
{
    void *volatile block = malloc(100);
    int status;
    harness_forget();
    pid_t child = vfork();
    if (child == 0) {
        free(block);
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    check_block(block, 100);
    child = fork();
    if (child == 0) {
        churn(NULL);
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

int main(void)
{
    is_measured = !getenv("HARNESS_UNMEASURED");
    test_free();
    test_realloc();
    test_libc();
    test_mappings();
    test_mremap();
    test_time();
    test_threads();
    test_children();
    return 0;
}
