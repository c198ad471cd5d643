/* SPDX-License-Identifier: Apache-2.0 */
/* format_address returns a static buffer, as inet_ntoa did. Two threads that log their peers format
 * into it at once, and copy out of it while the other formats. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 24

struct peer {
    uint32_t address;
    uint16_t port;
};

struct listener {
    struct peer *peers;
    size_t count;
    char (*names)[TEXT];
    size_t letters;
};

static char buffer[TEXT];

static const char *format_address(const struct peer *p)
{
    unsigned a = p->address;
    unsigned high = a >> 16 & 255, low = a >> 8 & 255;
    char *to = buffer;
    const char *form = "%u.%u.%u.%u:%u";
    snprintf(to, TEXT, form, a >> 24, high, low, a & 255, p->port); // RACE: formatted twice, copied
    return buffer;
}

static void remember(struct listener *l, size_t index)
{
    const char *text = format_address(&l->peers[index]);
    memcpy(l->names[index], text, TEXT); // RACE: copied
    l->names[index][TEXT - 1] = '\0';
}

static void *accept_all(void *arg)
{
    struct listener *l = arg;
    for (size_t i = 0; i < l->count; i++) {
        remember(l, i);
        l->letters += strlen(l->names[i]);
    }
    return NULL;
}

static void setup(struct listener *l, size_t count, uint32_t network)
{
    l->count = count;
    l->letters = 0;
    l->peers = calloc(count, sizeof *l->peers);
    l->names = calloc(count, sizeof *l->names);
    if (!l->peers || !l->names)
        abort();
    for (size_t i = 0; i < count; i++) {
        l->peers[i].address = network + (uint32_t)i * 17;
        l->peers[i].port = (uint16_t)(1024 + i);
    }
}

static void cleanup(struct listener *l)
{
    printf("%zu peers, last %s\n", l->count, l->names[l->count - 1]);
    free(l->peers);
    free(l->names);
}

int main(void)
{
    struct listener listeners[2];
    pthread_t threads[2];
    setup(&listeners[0], 20, 0x0a000001);
    setup(&listeners[1], 20, 0xc0a80101);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, accept_all, &listeners[i]))
            abort();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    cleanup(&listeners[0]);
    cleanup(&listeners[1]);
    return 0;
}
