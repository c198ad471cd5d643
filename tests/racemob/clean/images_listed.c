/* SPDX-License-Identifier: Apache-2.0 */
/* dl_iterate_phdr calls its function under the lock of the dynamic loader, for each image. */
#define _GNU_SOURCE
#include "../program.h"
#include <link.h>

enum { ROUNDS = 1000 };

static long images, segments;

static int count(struct dl_phdr_info *image, size_t size, void *arg)
{
    (void)size, (void)arg;
    images++;
    segments += image->dlpi_phnum;
    return 0;
}

static void *list(void *arg)
{
    for (int i = 0; i < ROUNDS; i++)
        dl_iterate_phdr(count, NULL);
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        start(&threads[i], list, NULL);
    for (int i = 0; i < 2; i++)
        finish(threads[i]);
    must(images >= 2 * ROUNDS && segments > images);
    return 0;
}
