/* SPDX-License-Identifier: Apache-2.0 */
/* String functions write into shared buffers while others read them. */
#include "program.h"
#include <stdio.h>

static char copied[32] = "x", printed[32] = "x", guarded[32];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *write_them(void *arg)
{
    strcpy(copied, arg);                                 // RACE: strcpy
    snprintf(printed, sizeof printed, "%d", 7 + next()); // RACE: snprintf
    pthread_mutex_lock(&lock);
    strncpy(guarded, arg, sizeof guarded - 1); // NORACE
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *read_them(void *arg)
{
    keep(strlen(copied));             // RACE: strcpy
    keep(strtoul(printed, NULL, 10)); // RACE: snprintf
    pthread_mutex_lock(&lock);
    keep(strlen(guarded)); // NORACE
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    char *text = strdup("some text");
    start(&a, write_them, text);
    start(&b, read_them, NULL);
    finish(a);
    finish(b);
    free(text);
    return 0;
}
