/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that has its own malloc, calloc and free, which hand out libc's blocks, but no realloc:
 * its own free is called, and realloc is what it would be without us.
 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* The addresses of blocks that are gone are what is looked at here. */
#pragma GCC diagnostic ignored "-Wuse-after-free"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void __libc_free(void *block);

static _Atomic int frees;

void *malloc(size_t size)
{
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return __libc_calloc(count, size);
}

void free(void *block)
{
    atomic_fetch_add(&frees, 1);
    __libc_free(block);
}

int main(void)
{
    char *volatile block = malloc(100);
    CHECK(block);
    strcpy(block, "kept");
    char *before = block;
    int count = atomic_load(&frees);
    harness_forget();
    block = realloc(block, 1 << 20);
    CHECK(block && strcmp(block, "kept") == 0);
    CHECK(harness_was_gone(before, 100));
    harness_forget();
    free(block);
    CHECK(atomic_load(&frees) == count + 1 && harness_gone_count() == 0);
    return 0;
}
