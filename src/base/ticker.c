/* SPDX-License-Identifier: Apache-2.0 */
/* The line that says what takes so long: see ticker.h. */
#include "base/ticker.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

enum { FIRST_SECONDS = 2 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    const char *subject, *what;
    bool runs, ends;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .what = "starting"};

static void *show(void *unused)
{
    (void)unused;
    struct timespec next;
    int seconds = FIRST_SECONDS;
    clock_gettime(CLOCK_MONOTONIC, &next);
    next.tv_sec += FIRST_SECONDS;
    pthread_mutex_lock(&state.lock);
    while (!state.ends) {
        if (pthread_cond_timedwait(&state.changed, &state.lock, &next) == 0)
            continue;
        rh_progress("%s: %s: %s, %d s", rh_log_program(), state.subject, state.what, seconds++);
        next.tv_sec++;
    }
    pthread_mutex_unlock(&state.lock);
    rh_progress_end();
    return NULL;
}

void rh_ticker_begin(const char *subject)
{
    if (!isatty(STDERR_FILENO))
        return;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&state.changed, &clock);
    pthread_condattr_destroy(&clock);
    state.subject = subject;
    state.ends = false;
    state.runs = pthread_create(&state.thread, NULL, show, NULL) == 0;
}

void rh_ticker_say(const char *what)
{
    pthread_mutex_lock(&state.lock);
    state.what = what;
    pthread_mutex_unlock(&state.lock);
}

void rh_ticker_end(void)
{
    if (!state.runs)
        return;
    pthread_mutex_lock(&state.lock);
    state.ends = true;
    pthread_cond_signal(&state.changed);
    pthread_mutex_unlock(&state.lock);
    pthread_join(state.thread, NULL);
    pthread_cond_destroy(&state.changed);
    state.runs = false;
}
