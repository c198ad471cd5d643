/* SPDX-License-Identifier: Apache-2.0 */
/* Main ends in pthread_exit; the process must end, with 0, when its last thread does. */
#include <pthread.h>
#include <stdio.h>

int shared;

static void *last(void *arg)
{
    pthread_join(*(pthread_t *)arg, NULL); /* a thread that joins the main thread */
    for (int i = 0; i < 100000; i++)
        __atomic_fetch_add(&shared, 1, __ATOMIC_SEQ_CST);
    printf("last\n");
    return NULL;
}

int main(void)
{
    static pthread_t self, thread;
    self = pthread_self();
    if (pthread_create(&thread, NULL, last, &self) || pthread_detach(thread))
        return 1;
    pthread_exit(NULL);
}
