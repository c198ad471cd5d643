/* SPDX-License-Identifier: Apache-2.0 */
/* An index is built in the background. Main gives it some milliseconds, which have always been
 * enough, and then reads how many documents there are. It joins the thread only at the end. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOCUMENTS 12
#define HASHES    32

struct posting {
    int document;
    struct posting *next;
};

struct index {
    struct posting *words[HASHES];
    unsigned long postings;
    int documents;
};

struct search {
    struct index *index;
    const char *const *titles;
    pthread_t thread;
};

static const char *const titles[DOCUMENTS] = {
    "grain prices",  "grain harvest", "river level",   "harvest feast",
    "bridge toll",   "river toll",    "winter stores", "summer feast",
    "price of salt", "salt road",     "road repairs",  "winter road",
};

static unsigned hash(const char *word, size_t size)
{
    unsigned h = 5381;
    while (size--)
        h = h * 33 + (unsigned char)*word++;
    return h % HASHES;
}

static void add_word(struct index *x, const char *word, size_t size, int document)
{
    struct posting *p = malloc(sizeof *p);
    if (!p)
        abort();
    p->document = document;
    p->next = x->words[hash(word, size)];
    x->words[hash(word, size)] = p;
    x->postings++;
}

static void add_document(struct index *x, const char *title, int number)
{
    for (const char *at = title; *at;) {
        size_t size = strcspn(at, " ");
        add_word(x, at, size, number);
        at += size + (at[size] == ' ');
    }
    x->documents = number + 1; // RACE
}

static void *build(void *arg)
{
    struct search *s = arg;
    for (int i = 0; i < DOCUMENTS; i++)
        add_document(s->index, s->titles[i], i);
    return NULL;
}

static int documents_in(const struct index *x)
{
    return x->documents; // RACE
}

static void destroy(struct index *x)
{
    for (int i = 0; i < HASHES; i++)
        while (x->words[i]) {
            struct posting *p = x->words[i];
            x->words[i] = p->next;
            free(p);
        }
    free(x);
}

int main(void)
{
    struct search search = {calloc(1, sizeof(struct index)), titles, 0};
    if (!search.index || pthread_create(&search.thread, NULL, build, &search))
        return 1;
    usleep(4000);
    int early = documents_in(search.index);
    pthread_join(search.thread, NULL);
    printf("%d documents, then %d, %lu postings\n", early, search.index->documents,
           search.index->postings);
    destroy(search.index);
    return 0;
}
