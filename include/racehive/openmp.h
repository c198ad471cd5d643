/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of OpenMP's library that order threads and do not say so before it is too late.
 *
 * The library tells a tool of regions, barriers and tasks when it should
 * (runtime/intercept/ompt.c). But it tells that a lock was released only when another thread may
 * have it already, and it does not tell of every reduction, flush or order of iterations. So
 * racehive-instrument makes the program call the runtime's functions of the names below with a
 * prefix, which call the library's.
 */
#ifndef RACEHIVE_OPENMP_H
#define RACEHIVE_OPENMP_H

#define RH_OPENMP_PREFIX "__rh_openmp_"

#define RH_OPENMP_FOLLOWED(X)                                                                      \
    X(__kmpc_critical)                                                                             \
    X(__kmpc_critical_with_hint)                                                                   \
    X(__kmpc_end_critical)                                                                         \
    X(__kmpc_ordered)                                                                              \
    X(__kmpc_end_ordered)                                                                          \
    X(__kmpc_atomic_start)                                                                         \
    X(__kmpc_atomic_end)                                                                           \
    X(__kmpc_doacross_wait)                                                                        \
    X(__kmpc_doacross_post)                                                                        \
    X(__kmpc_flush)                                                                                \
    X(__kmpc_reduce)                                                                               \
    X(__kmpc_reduce_nowait)                                                                        \
    X(__kmpc_end_reduce)                                                                           \
    X(__kmpc_end_reduce_nowait)                                                                    \
    X(__kmpc_omp_task_alloc)                                                                       \
    X(__kmpc_omp_wait_deps)                                                                        \
    X(__kmpc_omp_taskwait_deps_51)                                                                 \
    X(omp_set_lock)                                                                                \
    X(omp_unset_lock)                                                                              \
    X(omp_test_lock)                                                                               \
    X(omp_set_nest_lock)                                                                           \
    X(omp_unset_nest_lock)                                                                         \
    X(omp_test_nest_lock)

#endif
