/* SPDX-License-Identifier: Apache-2.0 */
/* read() fills a buffer that another thread looks into. */
#include "program.h"
#include <fcntl.h>
#include <unistd.h>

static char buffer[64];
static long length;

static void *fill(void *arg)
{
    int file = open("/dev/zero", O_RDONLY);
    if (file < 0)
        abort();
    length = read(file, buffer, sizeof buffer); // RACE: buffer, length
    close(file);
    return arg;
}

static void *look(void *arg)
{
    keep((unsigned char)buffer[next()]); // RACE: buffer
    keep((unsigned long)length);         // RACE: length
    return arg;
}

int main(void)
{
    pthread_t a, b;
    start(&a, fill, NULL);
    start(&b, look, NULL);
    finish(a);
    finish(b);
    return 0;
}
