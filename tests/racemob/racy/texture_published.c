/* SPDX-License-Identifier: Apache-2.0 */
/* The loader puts a texture into the catalogue, under its lock, before it has decoded the size; the
 * renderer waits for each texture to appear and reads the size. After the last one has been put in,
 * the loader takes no lock any more. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXTURES 6

struct texture {
    char name[24];
    unsigned id;
    unsigned texels;
};

struct catalogue {
    pthread_mutex_t lock;
    pthread_cond_t added;
    struct texture *textures[TEXTURES];
    unsigned count;
};

struct renderer {
    struct catalogue *catalogue;
    unsigned long drawn;
};

static unsigned decode_size(const char *name, unsigned id)
{
    unsigned size = id + 8;
    for (const char *c = name; *c; c++)
        size = size * 5 + (unsigned char)*c;
    return size % 4096;
}

static void publish(struct catalogue *c, struct texture *t)
{
    pthread_mutex_lock(&c->lock);
    c->textures[c->count++] = t;
    pthread_cond_broadcast(&c->added);
    pthread_mutex_unlock(&c->lock);
}

static const struct texture *wait_for(struct catalogue *c, unsigned index)
{
    pthread_mutex_lock(&c->lock);
    while (c->count <= index)
        pthread_cond_wait(&c->added, &c->lock);
    const struct texture *t = c->textures[index];
    pthread_mutex_unlock(&c->lock);
    return t;
}

static void load_texture(struct catalogue *c, unsigned id)
{
    struct texture *t = calloc(1, sizeof *t);
    if (!t)
        abort();
    t->id = id;
    snprintf(t->name, sizeof t->name, "brick%u.tga", id);
    publish(c, t);
    t->texels = decode_size(t->name, id); // RACE
}

static void *load_all(void *arg)
{
    for (unsigned i = 0; i < TEXTURES; i++)
        load_texture(arg, i);
    return NULL;
}

static unsigned cost(const struct texture *t)
{
    return t->texels; // RACE
}

static void *render(void *arg)
{
    struct renderer *r = arg;
    for (unsigned i = 0; i < TEXTURES; i++)
        r->drawn += cost(wait_for(r->catalogue, i));
    return NULL;
}

int main(void)
{
    struct catalogue *c = calloc(1, sizeof *c);
    struct renderer renderer = {c, 0};
    pthread_t loader, screen;
    unsigned long all = 0;
    if (!c)
        return 1;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->added, NULL);
    if (pthread_create(&screen, NULL, render, &renderer) ||
        pthread_create(&loader, NULL, load_all, c))
        abort();
    pthread_join(loader, NULL);
    pthread_join(screen, NULL);
    for (unsigned i = 0; i < c->count; i++) {
        all += c->textures[i]->texels;
        free(c->textures[i]);
    }
    printf("drew %lu texels of %lu\n", renderer.drawn, all);
    pthread_cond_destroy(&c->added);
    pthread_mutex_destroy(&c->lock);
    free(c);
    return 0;
}
