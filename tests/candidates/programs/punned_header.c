/* SPDX-License-Identifier: Apache-2.0 */
/* A header repeated in each struct instead of nested, read through another struct that has it. */
#include "program.h"

struct header {
    int kind;
    int references;
};

struct text {
    int kind;
    int references;
    char *bytes;
};

static void *retain(void *arg)
{
    struct header *header = arg;
    header->references += next(); // RACE
    return NULL;
}

static void *release(void *arg)
{
    struct text *text = arg;
    text->references -= next(); // RACE
    return text->bytes;         // NORACE
}

int main(void)
{
    pthread_t a, b;
    struct text *text = calloc(1, sizeof *text);
    text->kind = next();
    start(&a, retain, text);
    start(&b, release, text);
    finish(a);
    finish(b);
    keep((unsigned long)text->references);
    free(text);
    return 0;
}
