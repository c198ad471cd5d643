/* SPDX-License-Identifier: Apache-2.0 */
/* What program and plugins share, as a header of an interface has it. */
#ifndef SHARED_H
#define SHARED_H

#include <pthread.h>

struct shared {
    pthread_mutex_t lock;
    long guarded; /* under the lock, by everyone */
    long bare;    /* under the lock only in the race-free programs */
};

/* The same code in every image that includes it. */
static inline void shared_add(struct shared *s)
{
    pthread_mutex_lock(&s->lock);
    s->guarded++;
    pthread_mutex_unlock(&s->lock);
}

#endif
