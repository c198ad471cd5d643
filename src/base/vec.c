/* SPDX-License-Identifier: Apache-2.0 */
/* The one function behind the vector macros. */
#include "base/vec.h"

#include "base/mem.h"

#include <stdint.h>

void *rh_vec_grow(void *data, size_t *cap, size_t len, size_t extra, size_t size)
{
    size_t need;
    if (__builtin_add_overflow(len, extra, &need))
        rh_out_of_memory(SIZE_MAX);
    if (need <= *cap)
        return data;
    size_t doubled = *cap > SIZE_MAX / 2 ? need : *cap * 2;
    size_t room = doubled < 8 ? 8 : doubled;
    if (room < need)
        room = need;
    data = rh_realloc_array(data, room, size);
    *cap = room;
    return data;
}
