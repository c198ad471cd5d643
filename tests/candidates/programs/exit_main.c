/* SPDX-License-Identifier: Apache-2.0 */
/* Main ends with pthread_exit while its threads go on. */
#include "program.h"

static int value, early;
static pthread_t writer, reader;

static void *write_it(void *arg)
{
    keep((unsigned long)early); // NORACE
    value = next();             // RACE
    return arg;
}

static void *read_it(void *arg)
{
    keep((unsigned long)value); // RACE
    return arg;
}

static void *end_all(void *arg)
{
    (void)arg;
    finish(writer);
    finish(reader);
    exit(0);
}

int main(void)
{
    pthread_t last;
    early = next(); // NORACE
    start(&writer, write_it, NULL);
    start(&reader, read_it, NULL);
    start(&last, end_all, NULL);
    pthread_detach(last);
    pthread_exit(NULL);
}
