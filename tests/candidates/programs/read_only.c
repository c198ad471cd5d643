/* SPDX-License-Identifier: Apache-2.0 */
/* Written before the threads start, only read while they run, written again after the joins. */
#include "program.h"

struct config {
    int depth;
    char name[16];
};

static struct config *config;

static void *use(void *arg)
{
    keep((unsigned long)config->depth);        // NORACE
    keep((unsigned long)strlen(config->name)); // NORACE
    return arg;
}

int main(void)
{
    pthread_t threads[3];
    config = malloc(sizeof *config); // NORACE
    if (!config)
        return 1;
    config->depth = next();       // NORACE
    strcpy(config->name, "name"); // NORACE
    for (int i = 0; i < 3; i++)
        start(&threads[i], use, NULL);
    for (int i = 0; i < 3; i++)
        finish(threads[i]);
    config->depth++; // NORACE
    keep((unsigned long)config->depth);
    return 0;
}
