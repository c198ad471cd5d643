/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: every thread of the merge sort is joined by the one that started it or by the helper
 * that was handed its identity, and each is joined before what it sorted is read. Main joins only
 * the helper and comes after the others through it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 600
#define LEAF  150

struct range {
    int *values, *scratch;
    size_t count;
    unsigned threads; /* used below, told by the join */
};

struct relay {
    pthread_t sorter;
    struct range *range;
    unsigned long checksum;
    int sorted;
};

static void insertion_sort(int *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        int value = v[i];
        size_t at = i;
        for (; at > 0 && v[at - 1] > value; at--)
            v[at] = v[at - 1];
        v[at] = value;
    }
}

static void merge(struct range *r, size_t half)
{
    size_t a = 0, b = half, n = 0;
    while (a < half || b < r->count) {
        int left = b >= r->count || (a < half && r->values[a] <= r->values[b]);
        r->scratch[n++] = left ? r->values[a++] : r->values[b++];
    }
    memcpy(r->values, r->scratch, r->count * sizeof *r->values);
}

static void *sort_range(void *arg)
{
    struct range *r = arg;
    r->threads = 1;
    if (r->count <= LEAF) {
        insertion_sort(r->values, r->count);
        return r;
    }
    size_t half = r->count / 2;
    struct range left = {r->values, r->scratch, half, 0};
    struct range right = {r->values + half, r->scratch + half, r->count - half, 0};
    pthread_t thread;
    void *result;
    if (pthread_create(&thread, NULL, sort_range, &left))
        abort();
    sort_range(&right);
    pthread_join(thread, &result);
    r->threads += ((struct range *)result)->threads + right.threads - 1;
    merge(r, half);
    return r;
}

static void *join_and_check(void *arg)
{
    struct relay *relay = arg;
    void *result;
    if (pthread_join(relay->sorter, &result) || result != relay->range)
        abort();
    relay->sorted = 1;
    for (size_t i = 0; i < relay->range->count; i++) {
        relay->checksum = relay->checksum * 31 + (unsigned long)relay->range->values[i];
        if (i > 0 && relay->range->values[i - 1] > relay->range->values[i])
            relay->sorted = 0;
    }
    return NULL;
}

int main(void)
{
    struct range all = {malloc(COUNT * sizeof(int)), malloc(COUNT * sizeof(int)), COUNT, 0};
    struct relay relay = {.range = &all};
    pthread_t helper;
    unsigned x = 12345;
    if (!all.values || !all.scratch)
        return 1;
    for (int i = 0; i < COUNT; i++) {
        x = x * 1664525u + 1013904223u;
        all.values[i] = (int)(x >> 20);
    }
    if (pthread_create(&relay.sorter, NULL, sort_range, &all) ||
        pthread_create(&helper, NULL, join_and_check, &relay))
        abort();
    pthread_join(helper, NULL);
    printf("%d ... %d, %u threads, checksum %lx\n", all.values[0], all.values[COUNT - 1],
           all.threads, relay.checksum);
    free(all.values);
    free(all.scratch);
    return !relay.sorted;
}
