/* SPDX-License-Identifier: Apache-2.0 */
/* What checks in instrumented code read: see check.h. */
#include "fasttrack/check.h"

#include "fasttrack/cell.h"
#include "fasttrack/shadow.h"

_Static_assert((int)RH_CHECK_CHUNK_BITS == (int)RT_SHADOW_CHUNK_BITS, "the same chunks");
_Static_assert((int)RH_CHECK_CELLS == (int)RT_SHADOW_CELLS, "the same size of granules");
_Static_assert((int)RH_CHECK_GRANULE == (int)RT_SHADOW_GRANULE, "the same granules");
_Static_assert((int)RT_CELL_ATOMIC_AT == (int)RH_CHECK_ORIGIN_BITS,
               "the lowest bit that a check looks at");
_Static_assert((int)RT_CELL_READS_AT == (int)RH_CHECK_ORIGIN_BITS + 1, "the next");
_Static_assert((int)RT_CELL_BYTES_AT == (int)RH_CHECK_ORIGIN_BITS + 2, "and the bytes behind it");

uintptr_t *__rh_directory;
_Thread_local uint64_t __rh_epoch = RT_CHECK_NO_EPOCH;

/* An access that reaches into the next granule is left to the hook. */
#define NEEDS_AT(size, is_write, at)                                                               \
    ((at) + (size) > RH_CHECK_GRANULE                                                              \
         ? ~0ull                                                                                   \
         : (~(uint64_t)RH_CHECK_KINDS | (((1ull << (size)) - 1) << (at)) << 2 |                    \
            (uint64_t)(is_write) << 1 | 1))
#define NEEDS(size, is_write)                                                                      \
    {                                                                                              \
        NEEDS_AT(size, is_write, 0), NEEDS_AT(size, is_write, 1), NEEDS_AT(size, is_write, 2),     \
            NEEDS_AT(size, is_write, 3), NEEDS_AT(size, is_write, 4), NEEDS_AT(size, is_write, 5), \
            NEEDS_AT(size, is_write, 6), NEEDS_AT(size, is_write, 7)                               \
    }

/* Thread-local because an instruction can then reach it without a register for its address. */
extern RT_EXPORT _Thread_local uint64_t __rh_needs[RH_CHECK_SIZES * 2][RH_CHECK_GRANULE]
    __attribute__((tls_model("initial-exec")));
_Thread_local uint64_t __rh_needs[RH_CHECK_SIZES * 2][RH_CHECK_GRANULE] = {
    NEEDS(1, 0), NEEDS(1, 1), NEEDS(2, 0), NEEDS(2, 1), NEEDS(4, 0), NEEDS(4, 1),
};
