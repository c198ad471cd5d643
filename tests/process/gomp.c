/* SPDX-License-Identifier: Apache-2.0 */
/* A library that is built without bitcode, with gcc's OpenMP (libgomp). */
#include "pool.h"

void gomp_for_each(int count, void (*body)(int index, void *arg), void *arg)
{
#pragma omp parallel for schedule(dynamic) num_threads(3)
    for (int i = 0; i < count; i++)
        body(i, arg);
}

void gomp_in_turn(void (*body)(int index, void *arg), int index, void *arg)
{
#pragma omp critical
    body(index, arg);
}
