/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread starts the next one and joins it; main joins only the first and comes after all. */
#include "../program.h"

enum { LENGTH = 6 };

static long total, order[LENGTH];

static void *link_of_chain(void *arg)
{
    long depth = (long)arg;
    order[depth] = total++;
    if (depth + 1 < LENGTH) {
        pthread_t thread;
        start(&thread, link_of_chain, (void *)(depth + 1));
        finish(thread);
        must(order[LENGTH - 1] == LENGTH - 1);
    }
    total++;
    return NULL;
}

int main(void)
{
    pthread_t thread;
    start(&thread, link_of_chain, NULL);
    finish(thread);
    must(total == 2 * LENGTH);
    return 0;
}
