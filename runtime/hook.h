/* Where every key that is on arrives. */
#ifndef RH_RUNTIME_HOOK_H
#define RH_RUNTIME_HOOK_H

#include "rt.h"

/* Hands the key's armed sites, one by one, to the detector. */
RT_HIDDEN void rt_hook(struct rh_image *image, struct rh_hook_frame *frame);

/* True when no thread is inside a hook or an event that it entered before the call. Waits a little
 * for those that are; not for the program's threads. */
RT_HIDDEN bool rt_hooks_drain(void);

/* Hooks that were left out, by reason. */
#define RT_DROPS(X)                                                                                \
    X(NESTED, "signal handler inside a hook")                                                      \
    X(NO_THREAD, "thread could not be registered")

enum rt_drop {
#define RT_DROP_ENUM(id, name) RT_DROP_##id,
    RT_DROPS(RT_DROP_ENUM)
#undef RT_DROP_ENUM
        RT_DROP_COUNT
};

extern RT_HIDDEN _Atomic uint64_t rt_drops[RT_DROP_COUNT];
RT_HIDDEN const char *rt_drop_name(enum rt_drop drop);

#endif
