# SPDX-License-Identifier: Apache-2.0
# The runtime's interception of synchronisation and its registry of threads. Everything is compiled
# twice: for dynamic executables, and with RT_STATIC for static ones (real.h).
set(RH_RUNTIME_SYNC_SOURCES
    intercept/real.c
    thread.c
    sync.c
    loss.c
    budget.c
    intercept/mutex.c
    intercept/rwlock.c
    intercept/cond.c
    intercept/barrier.c
    intercept/sem.c
    intercept/once.c
    intercept/threads.c
    intercept/c11.c
    intercept/clone.c
    intercept/ompt.c
    intercept/openmp.c
    kernel/kernel.c
    kernel/names.c
    kernel/buffer.c
    kernel/io.c
    kernel/poll.c
    kernel/ipc.c
    kernel/signal.c
    kernel/child.c
    kernel/stream.c
    opaque.c
    intercept/fork.c
    intercept/exit.c
    intercept/memory.c
    annotations.c)

# Reached by hooks, so compiled with -mgeneral-regs-only and without calls of libc.
set(RH_RUNTIME_SYNC_HOOK_SOURCES thread.c sync.c loss.c budget.c)
