/* SPDX-License-Identifier: Apache-2.0 */
/* Which signals are crashes: those that a program brings upon itself and dies of by default. */
#ifndef RACEHIVE_SIGNALS_H
#define RACEHIVE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* One row per signal, and whether the instruction that caused it causes it again when it is
 * returned to. */
#define RH_CRASH_SIGNALS(X)                                                                        \
    X(SIGABRT, false)                                                                              \
    X(SIGBUS, true)                                                                                \
    X(SIGFPE, true)                                                                                \
    X(SIGILL, true)                                                                                \
    X(SIGSEGV, true)                                                                               \
    X(SIGSYS, false)                                                                               \
    X(SIGTRAP, false)

static inline bool rh_signal_is_crash(int number)
{
    switch (number) {
#define RH_SIGNAL_CASE(name, again) case name:
        RH_CRASH_SIGNALS(RH_SIGNAL_CASE)
#undef RH_SIGNAL_CASE
        return true;
    default:
        return false;
    }
}

#endif
