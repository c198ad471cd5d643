/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: references are dropped with a release fetch_sub, and who drops the last one passes an
 * acquire fence before it touches the blob. By the release sequence of the count the fence
 * synchronises with every other drop, so all use of the blob comes before it is read and freed. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USERS  3
#define ROUNDS 8

struct blob {
    atomic_uint references;
    unsigned touched[USERS];
    size_t size;
    void (*finish)(struct blob *);
    char text[];
};

struct user {
    struct blob **blobs;
    int index;
    size_t letters;
};

static atomic_uint finished, touches;

static void note_and_free(struct blob *b)
{
    unsigned sum = 0;
    for (int i = 0; i < USERS; i++)
        sum += b->touched[i];
    atomic_fetch_add_explicit(&touches, sum, memory_order_relaxed);
    atomic_fetch_add_explicit(&finished, 1, memory_order_relaxed);
    memset(b->text, 0, b->size);
    free(b);
}

static struct blob *blob_new(const char *text)
{
    size_t size = strlen(text) + 1;
    struct blob *b = malloc(sizeof *b + size);
    if (!b)
        abort();
    atomic_init(&b->references, 1);
    memset(b->touched, 0, sizeof b->touched);
    b->size = size;
    b->finish = note_and_free;
    memcpy(b->text, text, size);
    return b;
}

static struct blob *blob_get(struct blob *b)
{
    atomic_fetch_add_explicit(&b->references, 1, memory_order_relaxed);
    return b;
}

static void blob_put(struct blob *b)
{
    if (atomic_fetch_sub_explicit(&b->references, 1, memory_order_release) == 1) {
        atomic_thread_fence(memory_order_acquire);
        b->finish(b);
    }
}

static void *use_blobs(void *arg)
{
    struct user *u = arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct blob *b = u->blobs[i];
        struct blob *again = blob_get(b);
        u->letters += strlen(again->text);
        blob_put(again);
        b->touched[u->index]++;
        blob_put(b);
    }
    return NULL;
}

int main(void)
{
    struct blob *blobs[ROUNDS];
    struct user users[USERS];
    pthread_t threads[USERS];
    for (int i = 0; i < ROUNDS; i++) {
        char text[32];
        snprintf(text, sizeof text, "blob number %d", i * 111);
        blobs[i] = blob_new(text);
        for (int u = 1; u < USERS; u++)
            blob_get(blobs[i]);
    }
    for (int i = 0; i < USERS; i++) {
        users[i] = (struct user){blobs, i, 0};
        if (pthread_create(&threads[i], NULL, use_blobs, &users[i]))
            abort();
    }
    for (int i = 0; i < USERS; i++)
        pthread_join(threads[i], NULL);
    printf("%u blobs, %u touches, %zu letters\n", atomic_load(&finished), atomic_load(&touches),
           users[0].letters);
    return atomic_load(&touches) != USERS * ROUNDS;
}
// TSAN: wrong, it knows no fences
