/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: a directory tree is changed only under its recursive mutex, which is unlocked for
 * others when the outermost of the nested calls is done; the journal is changed only under its
 * error-checking mutex, and a second lock by its owner is refused without any effect. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 3
#define FILES   12

struct node {
    char name[24];
    size_t bytes;
    struct node *children, *sibling;
};

struct volume {
    pthread_mutex_t tree_lock; /* recursive */
    struct node *root;
    unsigned nodes;
    pthread_mutex_t journal_lock; /* error-checking */
    unsigned entries, refused;
};

struct writer {
    struct volume *volume;
    int number;
};

static void init_mutex(pthread_mutex_t *lock, int kind)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (pthread_mutexattr_settype(&attributes, kind) || pthread_mutex_init(lock, &attributes))
        abort();
    pthread_mutexattr_destroy(&attributes);
}

static void note(struct volume *v)
{
    if (pthread_mutex_lock(&v->journal_lock))
        abort();
    v->entries++;
    if (pthread_mutex_lock(&v->journal_lock) == EDEADLK)
        v->refused++;
    if (pthread_mutex_unlock(&v->journal_lock))
        abort();
}

static struct node *make_child(struct volume *v, struct node *parent, const char *name)
{
    struct node *n;
    pthread_mutex_lock(&v->tree_lock);
    for (n = parent->children; n; n = n->sibling)
        if (!strcmp(n->name, name))
            break;
    if (!n) {
        if (!(n = calloc(1, sizeof *n)))
            abort();
        snprintf(n->name, sizeof n->name, "%s", name);
        n->sibling = parent->children;
        parent->children = n;
        v->nodes++;
    }
    pthread_mutex_unlock(&v->tree_lock);
    return n;
}

static size_t total(struct volume *v, const struct node *n)
{
    pthread_mutex_lock(&v->tree_lock);
    size_t sum = n->bytes;
    for (const struct node *c = n->children; c; c = c->sibling)
        sum += total(v, c);
    pthread_mutex_unlock(&v->tree_lock);
    return sum;
}

static void write_file(struct volume *v, const char *folder, const char *file, size_t bytes)
{
    pthread_mutex_lock(&v->tree_lock);
    struct node *f = make_child(v, make_child(v, v->root, folder), file);
    f->bytes += bytes;
    pthread_mutex_unlock(&v->tree_lock);
    note(v);
}

static void *write_files(void *arg)
{
    struct writer *w = arg;
    size_t seen = 0;
    for (int i = 0; i < FILES; i++) {
        char folder[16], file[16];
        snprintf(folder, sizeof folder, "dir%d", (i + w->number) % 3);
        snprintf(file, sizeof file, "file%d", i % 4);
        write_file(w->volume, folder, file, 10);
        seen = total(w->volume, w->volume->root);
    }
    return (void *)seen;
}

static void destroy(struct node *n)
{
    while (n->children) {
        struct node *c = n->children;
        n->children = c->sibling;
        destroy(c);
    }
    free(n);
}

int main(void)
{
    struct volume v = {.root = calloc(1, sizeof(struct node))};
    struct writer writers[THREADS];
    pthread_t threads[THREADS];
    if (!v.root)
        return 1;
    init_mutex(&v.tree_lock, PTHREAD_MUTEX_RECURSIVE);
    init_mutex(&v.journal_lock, PTHREAD_MUTEX_ERRORCHECK);
    for (int i = 0; i < THREADS; i++) {
        writers[i] = (struct writer){&v, i};
        if (pthread_create(&threads[i], NULL, write_files, &writers[i]))
            abort();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    size_t bytes = total(&v, v.root);
    printf("%zu bytes in %u nodes, %u entries, %u refused\n", bytes, v.nodes, v.entries, v.refused);
    destroy(v.root);
    pthread_mutex_destroy(&v.tree_lock);
    pthread_mutex_destroy(&v.journal_lock);
    return bytes != 10 * THREADS * FILES;
}
