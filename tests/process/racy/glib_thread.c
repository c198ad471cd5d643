/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads of GLib's count in a variable without a lock, and both read what main wrote before.
 */
// NEEDS: pkg:glib-2.0
#include <glib.h>

#include "../../racemob/program.h"

static int total, rounds;

static gpointer count(gpointer arg)
{
    for (int i = 0; i < rounds; i++) {
        total += next(); // RACE
        nap(50);
    }
    return arg;
}

int main(void)
{
    rounds = unforeseen(100);
    GThread *a = g_thread_new("a", count, NULL), *b = g_thread_new("b", count, NULL);
    g_thread_join(a);
    g_thread_join(b);
    keep((unsigned long)total);
    return 0;
}
