/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads of GLib's count under one of its mutexes, which libc knows nothing of; main reads the
 * sum when it has joined them. */
// NEEDS: pkg:glib-2.0
#include <glib.h>

#include "../../racemob/program.h"

static int total, rounds;
static GMutex locks[2];

static gpointer count(gpointer arg)
{
    for (int i = 0; i < rounds; i++) {
        g_mutex_lock(&locks[unforeseen(1)]);
        total += next();
        g_mutex_unlock(&locks[unforeseen(1)]);
        if (i % 16 == 0)
            nap(50);
    }
    return arg;
}

int main(void)
{
    rounds = unforeseen(300);
    GThread *a = g_thread_new("a", count, NULL), *b = g_thread_new("b", count, NULL);
    g_thread_join(a);
    g_thread_join(b);
    keep((unsigned long)total);
    return 0;
}
