/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator to be loaded before libc, nothing like libc's: blocks are never used again, and the
 * size stands before them. To measure one of its blocks with libc's malloc_usable_size would crash.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { CHUNK = 1 << 26 };

static _Atomic uintptr_t next, end;

static uintptr_t take(size_t size)
{
    for (;;) {
        uintptr_t at = atomic_load(&next);
        if (at + size <= atomic_load(&end)) {
            if (atomic_compare_exchange_strong(&next, &at, at + size))
                return at;
            continue;
        }
        if (size > CHUNK)
            return 0;
        void *chunk = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (chunk == MAP_FAILED)
            return 0;
        atomic_store(&end, 0);
        atomic_store(&next, (uintptr_t)chunk);
        atomic_store(&end, (uintptr_t)chunk + CHUNK);
    }
}

static size_t *size_of(void *block)
{
    return (size_t *)block - 1;
}

void *memalign(size_t align, size_t size);
void *memalign(size_t align, size_t size)
{
    align = align < 16 ? 16 : align;
    uintptr_t at = size < CHUNK ? take((size + 2 * align + 15) & ~(size_t)15) : 0;
    if (!at) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = (void *)((at + 16 + align - 1) & -align);
    *size_of(block) = size;
    return block;
}

void *malloc(size_t size);
void *malloc(size_t size)
{
    return memalign(16, size);
}

void *aligned_alloc(size_t align, size_t size);
void *aligned_alloc(size_t align, size_t size)
{
    return memalign(align, size);
}

int posix_memalign(void **block, size_t align, size_t size);
int posix_memalign(void **block, size_t align, size_t size)
{
    *block = memalign(align, size);
    return *block ? 0 : ENOMEM;
}

void *calloc(size_t count, size_t size);
void *calloc(size_t count, size_t size)
{
    return malloc(count * size);
}

/* So that libc's is not fooled into anything sensible. */
void free(void *block);
void free(void *block)
{
    if (block)
        *size_of(block) |= (size_t)1 << 62;
}

void *realloc(void *old, size_t size);
void *realloc(void *old, size_t size)
{
    void *block = malloc(size);
    if (block && old) {
        memcpy(block, old, *size_of(old) < size ? *size_of(old) : size);
        free(old);
    }
    return block;
}

#ifdef TELLS_SIZE
size_t malloc_usable_size(void *block);
size_t malloc_usable_size(void *block)
{
    return *size_of(block);
}
#endif
