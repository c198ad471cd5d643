/* SPDX-License-Identifier: Apache-2.0 */
/* main ends in pthread_exit and is joined by the thread it started, which reads what main wrote
 * last and ends the process. */
#include "../program.h"

static pthread_t main_thread;
static long data;

static void *outlive(void *arg)
{
    finish(main_thread);
    must(data == 5);
    data = 0;
    exit(0);
    return arg;
}

int main(void)
{
    pthread_t thread;
    main_thread = pthread_self();
    start(&thread, outlive, NULL);
    pthread_detach(thread);
    data = 5;
    pthread_exit(NULL);
}
