/* SPDX-License-Identifier: Apache-2.0 */
/* A table of rows is searched under its lock, but the row that was found is changed after the
 * unlock. Two clients end with a change of the same row. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 8

struct row {
    char key[24];
    int reads;
    long balance;
};

struct table {
    pthread_mutex_t lock;
    struct row *rows[ROWS];
    int count;
    long searches;
};

struct client {
    struct table *table;
    const char *const *keys;
    long step;
};

static const char *const tickets[] = {"oslo", "rome", "bern", "rome", "wien", NULL};
static const char *const refunds[] = {"lima", "kiev", "lima", "wien", NULL};

static struct row *insert(struct table *t, const char *key)
{
    struct row *r = calloc(1, sizeof *r);
    if (!r)
        abort();
    strncpy(r->key, key, sizeof r->key - 1);
    t->rows[t->count++] = r;
    return r;
}

static struct row *find_locked(struct table *t, const char *key)
{
    t->searches++;
    for (int i = 0; i < t->count; i++)
        if (!strcmp(t->rows[i]->key, key))
            return t->rows[i];
    return NULL;
}

static int change(struct table *t, const char *key, long by)
{
    pthread_mutex_lock(&t->lock);
    struct row *r = find_locked(t, key);
    if (!r) {
        pthread_mutex_unlock(&t->lock);
        return -1;
    }
    r->reads++;
    pthread_mutex_unlock(&t->lock);
    r->balance += by; // RACE
    return 0;
}

static void *run_client(void *arg)
{
    struct client *c = arg;
    long missing = 0;
    for (int round = 0; round < 5; round++)
        for (const char *const *key = c->keys; *key; key++)
            if (change(c->table, *key, c->step))
                missing++;
    return (void *)missing;
}

int main(void)
{
    struct table *t = calloc(1, sizeof *t);
    if (!t)
        return 1;
    pthread_mutex_init(&t->lock, NULL);
    insert(t, "oslo");
    insert(t, "rome");
    insert(t, "bern");
    insert(t, "lima");
    insert(t, "wien");
    struct client clients[2] = {{t, tickets, 10}, {t, refunds, -4}};
    pthread_t threads[2];
    void *missing[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, run_client, &clients[i]))
            abort();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], &missing[i]);
    for (int i = 0; i < t->count; i++) {
        printf("%s %ld (%d)\n", t->rows[i]->key, t->rows[i]->balance, t->rows[i]->reads);
        free(t->rows[i]);
    }
    printf("%ld searches, %ld missing\n", t->searches, (long)missing[0] + (long)missing[1]);
    pthread_mutex_destroy(&t->lock);
    free(t);
    return 0;
}
