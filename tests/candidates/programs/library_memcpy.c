/* SPDX-License-Identifier: Apache-2.0 */
/* memcpy and memset of the C library into a buffer that another thread reads. */
#include "program.h"

static char buffer[256], other[256];

static NOINLINE void clear(char *to, size_t size)
{
    memset(to, next(), size); // RACE: set
}

static NOINLINE void copy(char *to, const char *from, size_t size)
{
    memcpy(to, from, size); // RACE: copied
}

static void *write_them(void *arg)
{
    size_t size = *(size_t *)arg;
    char local[256] = {(char)next()};
    clear(buffer, size);
    copy(other, local, size);
    return NULL;
}

static void *read_them(void *arg)
{
    size_t size = *(size_t *)arg;
    keep((unsigned char)buffer[size / 2]); // RACE: set
    keep((unsigned char)other[size / 2]);  // RACE: copied
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    static size_t size;
    size = 100 + (size_t)next(); // NORACE
    start(&a, write_them, &size);
    start(&b, read_them, &size);
    finish(a);
    finish(b);
    return 0;
}
