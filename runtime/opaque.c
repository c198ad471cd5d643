/* Whether the process may hold synchronisation that we do not see: see opaque.h. */
#include "opaque.h"

static _Atomic uint32_t reasons;

void rt_opaque(enum rh_opaque why)
{
    atomic_fetch_or(&reasons, 1u << why);
}

uint32_t rt_opaque_reasons(void)
{
    return atomic_load(&reasons);
}
