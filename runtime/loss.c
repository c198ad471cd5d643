/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of what was lost: see loss.h. */
#include "loss.h"

static _Atomic uint64_t own[RH_LOSS_COUNT];
_Atomic uint64_t *_Atomic rt_losses = own;

void rt_losses_move(_Atomic uint64_t *to)
{
    for (int i = 0; i < RH_LOSS_COUNT; i++)
        atomic_fetch_add(&to[i], atomic_exchange(&own[i], 0));
    atomic_store(&rt_losses, to);
}

const char *rt_loss_words(enum rh_loss loss)
{
    static const char *const words[] = {
#define LOSS_WORDS(id, words) words,
        RH_LOSSES(LOSS_WORDS)
#undef LOSS_WORDS
    };
    return words[loss];
}
