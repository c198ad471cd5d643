/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers in arrays within the elements of an array, in structs that are copied whole: what was
 * stored at any place is found at a given one. What lies behind the arrays is not mixed with it. */
#include "program.h"

struct row {
    int *cells[4];
    long used;
};

struct sheet {
    struct row rows[8];
    int *own;
};

struct book {
    struct row rows[40];
};

static struct sheet sheet, sheet_copy;
static struct book shelf[3], book_copy;
static int shared, lent, private_of_main;

static NOINLINE void fill(int i, int j, int k)
{
    sheet.rows[i].cells[j] = &shared;
    sheet.own = &private_of_main;
    shelf[k].rows[i].cells[j] = &lent;
}

static NOINLINE void copy(int k)
{
    sheet_copy = sheet;
    book_copy = shelf[k];
}

static void *work(void *arg)
{
    int *cell = sheet_copy.rows[3].cells[2], *other = book_copy.rows[3].cells[2];
    if (cell)
        *cell = next(); // RACE: shared
    if (other)
        *other = next(); // RACE: lent
    return arg;
}

int main(void)
{
    pthread_t thread;
    for (int i = 0; i < 96; i++)
        fill(i % 8, i / 8 % 4, i / 32);
    copy(next());
    start(&thread, work, NULL);
    shared = next();          // RACE: shared
    lent = next();            // RACE: lent
    *sheet_copy.own = next(); // NORACE
    finish(thread);
    keep((unsigned long)(shared + lent + private_of_main));
    return 0;
}
