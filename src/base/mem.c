/* SPDX-License-Identifier: Apache-2.0 */
/* Heap allocation that ends the tool instead of failing. */
#define _GNU_SOURCE 1
#include "base/mem.h"

#include "base/log.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Goes around rh_log_error() and exit handlers, which may need memory themselves. */
void rh_out_of_memory(size_t wanted)
{
    char line[256];
    int len = snprintf(line, sizeof line, "%.100s: error: out of memory (%zu bytes wanted)\n",
                       rh_log_program(), wanted);
    if (len > 0 && write(STDERR_FILENO, line, (size_t)len) < 0)
        _exit(1);
    _exit(1);
}

static size_t multiply(size_t count, size_t size)
{
    size_t product;
    if (__builtin_mul_overflow(count, size, &product))
        rh_out_of_memory(SIZE_MAX);
    return product;
}

void *rh_alloc(size_t size)
{
    return rh_realloc(NULL, size);
}

void *rh_alloc_array(size_t count, size_t size)
{
    return rh_realloc(NULL, multiply(count, size));
}

void *rh_calloc(size_t count, size_t size)
{
    size_t total = multiply(count, size);
    void *memory = calloc(1, total ? total : 1);
    if (!memory)
        rh_out_of_memory(total);
    return memory;
}

void *rh_realloc(void *old, size_t size)
{
    void *memory = realloc(old, size ? size : 1);
    if (!memory)
        rh_out_of_memory(size);
    return memory;
}

void *rh_realloc_array(void *old, size_t count, size_t size)
{
    return rh_realloc(old, multiply(count, size));
}

char *rh_strdup(const char *text)
{
    return rh_strndup(text, strlen(text));
}

char *rh_strndup(const char *text, size_t max)
{
    size_t len = strnlen(text, max);
    char *copy = rh_alloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}
