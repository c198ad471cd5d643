/* SPDX-License-Identifier: Apache-2.0 */
/* A struct is copied as a whole while another thread writes one member. */
#include "../program.h"

struct record {
    long id;
    char name[48];
    long version;
};

static struct record record;

static NOINLINE void copy_all(struct record *to)
{
    memcpy(to, &record, sizeof record); // RACE
}

static void *read_it(void *arg)
{
    struct record mine;
    copy_all(&mine);
    keep((unsigned long)(mine.id + mine.name[next()] + mine.version));
    return arg;
}

static void *write_it(void *arg)
{
    record.version = next(); // RACE
    return arg;
}

int main(void)
{
    pthread_t a, b;
    memset(&record, next(), sizeof record); // NORACE
    start(&a, read_it, NULL);
    start(&b, write_it, NULL);
    finish(a);
    finish(b);
    return 0;
}
