/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: a plug-in is loaded under the registry's mutex by the first who needs it, completely
 * filled in and then published with a release store; who finds it without the mutex has used an
 * acquire load. Plug-ins never change afterwards. The last one used is remembered per thread. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 3
#define ROUNDS  60

struct plugin {
    char name[16];
    int (*apply)(const struct plugin *, int);
    int factor;
    int table[8];
};

struct registry {
    pthread_mutex_t lock;
    _Atomic(struct plugin *) plugins[3];
    unsigned loads;
};

struct job {
    struct registry *registry;
    int start;
    long sum;
    unsigned remembered;
};

static _Thread_local struct {
    unsigned index;
    const struct plugin *plugin;
} last_used;

static int scale(const struct plugin *p, int value)
{
    return value * p->factor;
}

static int look_up(const struct plugin *p, int value)
{
    return p->table[value & 7] + p->factor;
}

static struct plugin *load(unsigned index)
{
    struct plugin *p = malloc(sizeof *p);
    if (!p)
        abort();
    snprintf(p->name, sizeof p->name, "plugin%u.so", index);
    p->factor = (int)index + 2;
    p->apply = index % 2 ? look_up : scale;
    for (int i = 0; i < 8; i++)
        p->table[i] = i * p->factor;
    return p;
}

static const struct plugin *load_once(struct registry *r, unsigned index)
{
    pthread_mutex_lock(&r->lock);
    struct plugin *p = atomic_load_explicit(&r->plugins[index], memory_order_relaxed);
    if (!p) {
        p = load(index);
        r->loads++;
        atomic_store_explicit(&r->plugins[index], p, memory_order_release);
    }
    pthread_mutex_unlock(&r->lock);
    return p;
}

static const struct plugin *find(struct job *j, unsigned index)
{
    if (last_used.plugin && last_used.index == index) {
        j->remembered++;
        return last_used.plugin;
    }
    const struct plugin *p =
        atomic_load_explicit(&j->registry->plugins[index], memory_order_acquire);
    if (!p)
        p = load_once(j->registry, index);
    last_used.index = index;
    last_used.plugin = p;
    return p;
}

static void *work(void *arg)
{
    struct job *j = arg;
    for (int i = 0; i < ROUNDS; i++) {
        const struct plugin *p = find(j, (unsigned)(i / 4 + j->start) % 3);
        j->sum += p->apply(p, i) + (long)strlen(p->name);
    }
    return NULL;
}

int main(void)
{
    struct registry *r = calloc(1, sizeof *r);
    struct job jobs[THREADS];
    pthread_t threads[THREADS];
    if (!r)
        return 1;
    pthread_mutex_init(&r->lock, NULL);
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){r, i, 0, 0};
        if (pthread_create(&threads[i], NULL, work, &jobs[i]))
            abort();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        printf("sum %ld, %u remembered\n", jobs[i].sum, jobs[i].remembered);
    }
    unsigned loads = r->loads;
    for (int i = 0; i < 3; i++)
        free(atomic_load(&r->plugins[i]));
    pthread_mutex_destroy(&r->lock);
    free(r);
    return loads != 3;
}
