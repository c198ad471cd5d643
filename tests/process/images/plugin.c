/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin that works on memory of its program's: it adds to a count, with a lock or, with -DRACY,
 * without. The program, or another plugin, does the same. -DPAD makes another image of the same
 * size, whose sites have the same numbers. */
#include "shared.h"

#ifdef PAD
void plugin_other(struct shared *s)
{
    s->guarded += PAD;
}
#endif

void plugin_work(struct shared *s)
{
    shared_add(s);
#ifdef RACY
    s->bare++; // RACE
#else
    pthread_mutex_lock(&s->lock);
    s->bare++;
    pthread_mutex_unlock(&s->lock);
#endif
}
