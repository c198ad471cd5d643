/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of instrumented images: see numbers.h. */
#include "stack/numbers.h"

#include "shared.h"
#include "stack/image_names.h"

/* The fence keeps the compiler from making calls of libc's functions out of these loops. */
static bool has_build_id(const struct rh_keyed_image *row, const struct rh_image_name *name)
{
    if (row->build_id_size != name->build_id_size)
        return false;
    for (uint32_t i = 0; i < name->build_id_size; i++)
        if (row->build_id[i] != name->build_id[i])
            return false;
    return true;
}

/* Complete rows stay as they are. Who fills one in takes a moment, unless he has died of it. */
static uint32_t state_of(struct rh_keyed_image *row)
{
    enum { TRIES = 100000 };
    uint32_t state = atomic_load(&row->state);
    for (int i = 0; i < TRIES && state == RH_KEYED_TAKEN; i++)
        state = atomic_load(&row->state);
    return state;
}

static void fill(struct rh_shared *shared, struct rh_keyed_image *row,
                 const struct rh_image_name *name, const char *path, uint32_t site_count)
{
    size_t length = 0;
    while (path && path[length])
        length++;
    row->build_id_size = name->build_id_size;
    for (uint32_t i = 0; i < name->build_id_size; i++)
        row->build_id[i] = name->build_id[i];
    for (size_t i = 0; length < sizeof row->path && i < length; i++)
        row->path[i] = path[i];
    row->site_count = site_count;
    row->first_site = atomic_fetch_add(&shared->site_count, site_count);
    atomic_store(&row->state, RH_KEYED_LOADED);
}

/* True if it is the image's, now or already. The controller knows all sites of an image, the image
 * only those with keys, which come first. */
static bool take_row(struct rh_shared *shared, uint32_t number, const struct rh_image_name *name,
                     const char *path, uint32_t site_count)
{
    struct rh_keyed_image *row = &shared->keyed[number];
    uint32_t is_free = RH_KEYED_FREE, is_known = RH_KEYED_KNOWN;
    if ((name->build_id_size || number == 0) &&
        atomic_compare_exchange_strong(&row->state, &is_free, RH_KEYED_TAKEN)) {
        fill(shared, row, name, path, site_count);
        return true;
    }
    uint32_t state = state_of(row);
    if ((state != RH_KEYED_KNOWN && state != RH_KEYED_LOADED) || !has_build_id(row, name) ||
        row->site_count < site_count)
        return false;
    atomic_compare_exchange_strong(&row->state, &is_known, RH_KEYED_LOADED);
    return true;
}

uint32_t rt_number_of(const struct dl_phdr_info *info, bool is_executable, uint32_t site_count)
{
    struct rh_shared *shared = rt_shared();
    struct rh_image_name name = {0};
    if (!shared)
        return is_executable ? 0 : RH_NO_IMAGE;
    rt_image_build_id(info, &name);
    for (uint32_t i = is_executable ? 0 : 1; i < RH_MAX_KEYED; i++)
        if (take_row(shared, i, &name, info->dlpi_name, site_count))
            return i;
    return RH_NO_IMAGE;
}
