# The runtime's interception of synchronisation and its registry of threads. Everything is compiled
# twice: for dynamic executables, and with RT_STATIC for static ones (real.h).
set(RH_RUNTIME_SYNC_SOURCES
    real.c
    thread.c
    sync.c
    budget.c
    sync_mutex.c
    sync_rwlock.c
    sync_cond.c
    sync_barrier.c
    sync_sem.c
    sync_once.c
    sync_thread.c
    sync_c11.c
    kernel.c
    sync_io.c
    sync_poll.c
    sync_ipc.c
    sync_signal.c
    sync_child.c
    stream.c
    opaque.c
    fork.c
    exit.c
    memory.c
    annotations.c)

# Reached by hooks, so compiled with -mgeneral-regs-only and without calls of libc.
set(RH_RUNTIME_SYNC_HOOK_SOURCES thread.c sync.c budget.c)
