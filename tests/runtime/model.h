/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the harness that C++ tests can use too: checks, and numbers that threads learn from
 * each other by release and acquire. */
#ifndef RH_TESTS_RUNTIME_MODEL_H
#define RH_TESTS_RUNTIME_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Are events exact, so that they can be checked? */
bool harness_is_exact(void);
/* Is the runtime on at all? */
bool harness_is_on(void);

/* Writes a line and aborts. */
__attribute__((noreturn)) void harness_fail(const char *file, int line, const char *what);

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            harness_fail(__FILE__, __LINE__, #condition);                                          \
    } while (0)

enum { HARNESS_NUMBERS = 64 };

/* The calling thread sets a number, as it would write a variable. */
void harness_tell(int number, uint32_t value);
/* What it knows of a number. */
uint32_t harness_knows(int number);
/* That it knows at least `value`, if events are exact. */
#define CHECK_KNOWS(number, value)                                                                 \
    CHECK(!harness_is_exact() || harness_knows(number) >= (uint32_t)(value))

/* Forgets the events of the calling thread that were not asked for. First in main: libraries may
 * have locked before. */
void harness_forget(void);

#ifdef __cplusplus
}
#endif

#endif
