/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which accesses the C++ library makes to what is its own: the counts and control blocks of shared
 * pointers, the states of futures, threads and std::call_once.
 *
 * The library orders these by itself, in ways that the search does not follow (one count at zero,
 * a futex), so two such accesses are trusted to be no race. What a user's function does stays in
 * question wherever the library calls it, and so does the user's own object: a shared_ptr or a
 * future that two threads assign is no part of these classes.
 */
#include <string.h>

#include "analysis/pairs/internal.h"
#include "base/path.h"

/* Mangled beginnings of libstdc++'s and libc++'s functions, without "_ZN" and "K". */
static const char *const owners[] = {
    "St16_Sp_counted_base",
    "St23_Sp_counted_ptr_inplace",
    "St15_Sp_counted_ptr",
    "St19_Sp_counted_deleter",
    "St13__future_base",
    "St6thread11_State_impl",
    "St6thread8_Invoker",
    "St6thread6_State",
    "St9once_flag",
    "St23__atomic_futex_unsigned",
    "9__gnu_cxxL18__exchange_and_add",
    "9__gnu_cxxL25__exchange_and_add_single",
    "9__gnu_cxxL27__exchange_and_add_dispatch",
    "9__gnu_cxxL12__atomic_add",
    "9__gnu_cxxL19__atomic_add_single",
    "9__gnu_cxxL21__atomic_add_dispatch",
    "9__gnu_cxxL20__is_single_threaded",
    "St3__114__shared_count",
    "St3__119__shared_weak_count",
    "St3__120__shared_ptr_pointer",
    "St3__120__shared_ptr_emplace",
    "St3__117__assoc_sub_state",
    "St3__113__assoc_state",
    "St3__121__async_assoc_state",
};

/* Classes that users have objects of. */
static const char *const handles[] = {
    "St10shared_ptr", "St12__shared_ptr",  "St8weak_ptr", "St10__weak_ptr",    "St12__basic_future",
    "St6future",      "St13shared_future", "St7promise",  "St13packaged_task",
};

/* What is made of these classes is the library's own as well: a function object or a unique_ptr. */
static const char *const parts[] = {"St13__future_base", "St6thread8_Invoker",
                                    "St6thread11_State_impl"};

static bool begins_with_any(const char *name, const char *const *stems, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(name, stems[i], strlen(stems[i])) == 0)
            return true;
    return false;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool is_owner(const char *linkage)
{
    if (strncmp(linkage, "_Z", 2) != 0)
        return false;
    linkage += 2;
    while (*linkage == 'Z') /* a lambda of the function */
        linkage++;
    if (strncmp(linkage, "St9call_once", 12) == 0)
        return true;
    linkage += *linkage == 'N';
    linkage += *linkage == 'K';
    if (begins_with_any(linkage, owners, COUNT(owners)))
        return true;
    if (strncmp(linkage, "St", 2) != 0 || begins_with_any(linkage, handles, COUNT(handles)))
        return false;
    for (size_t i = 0; i < COUNT(parts); i++)
        if (strstr(linkage, parts[i]))
            return true;
    return false;
}

bool rh_pairs_is_librarys(const struct rh_access *a)
{
    for (const struct rh_loc *loc = a->inst->loc; loc; loc = loc->inlined_at) {
        if (!rh_path_is_system(loc->file))
            return false;
        if (is_owner(loc->linkage))
            return true;
    }
    return false;
}
