/* SPDX-License-Identifier: Apache-2.0 */
/* A reference count: each owner writes its part and drops its reference with release; the one that
 * drops the last has an acquire fence before it reads all parts and frees the object.
 * ThreadSanitizer is wrong here: it knows no fences. */
#include "../program.h"
#include <stdatomic.h>

enum { THREADS = 3 };

struct object {
    atomic_int references;
    int part[THREADS];
};

struct owner {
    struct object *object;
    int number;
};

static void *use(void *arg)
{
    struct owner *me = arg;
    struct object *object = me->object;
    object->part[me->number] = me->number + 1;
    if (atomic_fetch_sub_explicit(&object->references, 1, memory_order_release) == 1) {
        atomic_thread_fence(memory_order_acquire);
        int sum = 0;
        for (int i = 0; i < THREADS; i++)
            sum += object->part[i];
        must(sum == THREADS * (THREADS + 1) / 2);
        free(object);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    struct owner owners[THREADS];
    struct object *object = calloc(1, sizeof *object);
    must(object != NULL);
    atomic_init(&object->references, THREADS);
    for (int i = 0; i < THREADS; i++)
        owners[i] = (struct owner){object, i};
    for (int i = 0; i < THREADS; i++)
        start(&threads[i], use, &owners[i]);
    for (int i = 0; i < THREADS; i++)
        finish(threads[i]);
    return 0;
}
// TSAN: wrong, it knows no fences
