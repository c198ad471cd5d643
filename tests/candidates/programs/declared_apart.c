/* SPDX-License-Identifier: Apache-2.0 */
/* A pool hands out blocks of one page as messages and as sessions. One thread has the messages, main
 * has the sessions: nothing races, though both write wherever an index or a length says. */
#include "program.h"

struct message {
    struct message *next;
    long length;
    char text[];
};

struct session {
    long state;
    int sum, count;
    struct session *next;
};

static char *end;
static struct message *messages;

static NOINLINE void *cut(size_t size)
{
    char *piece = end;
    end += size;
    return piece;
}

static void *work(void *arg)
{
    for (struct message *m = messages; m; m = m->next) {
        m->length = next();                                // NORACE
        memset(m->text, next(), (size_t)m->length % 32);   // NORACE
        for (long i = 0; i < m->length % 32; i++)
            m->text[i] += next();                          // NORACE
    }
    return arg;
}

int main(void)
{
    pthread_t a;
    struct session *sessions = NULL;
    end = malloc((size_t)next() + 65536);
    for (int i = 0; i < 8; i++) {
        struct message *m = cut(sizeof *m + 32);
        struct session *s = cut(sizeof *s);
        m->next = messages;
        m->length = 0;
        messages = m;
        s->state = 0;
        s->sum = s->count = 0;
        s->next = sessions;
        sessions = s;
    }
    start(&a, work, NULL);
    for (struct session *s = sessions; s; s = s->next) {
        s->state = next();  // NORACE
        s->sum += next();   // NORACE
        s->count++;         // NORACE
    }
    finish(a);
    keep((unsigned long)sessions->sum);
    return 0;
}
