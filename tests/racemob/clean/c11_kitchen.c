/* SPDX-License-Identifier: Apache-2.0 */
/* Race-free: orders and the bill are touched under one mtx_t only, waited for with two cnd_t; the
 * menu is made by call_once before anyone reads it. A cook's tips lie in memory of its own, found
 * by a tss_t, whose destructor adds them to the bill under the same lock. Main reads after
 * thrd_join. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#define COOKS  3
#define ORDERS 20
#define SHELF  4

struct dish {
    char name[16];
    int price;
};

struct kitchen {
    mtx_t lock;
    cnd_t ordered, cleared;
    int shelf[SHELF];
    int first, count, closed;
    long bill, tips;
    int cooked;
};

struct cook {
    struct kitchen *kitchen;
    int number;
};

static once_flag menu_once = ONCE_FLAG_INIT;
static struct dish *menu;
static tss_t tip_box;
static struct kitchen kitchen;

static void print_menu(void)
{
    static const char *const names[] = {"soup", "stew", "pie"};
    menu = calloc(3, sizeof *menu);
    if (!menu)
        abort();
    for (int i = 0; i < 3; i++) {
        strcpy(menu[i].name, names[i]);
        menu[i].price = 4 + 3 * i;
    }
}

static const struct dish *dish_of(int order)
{
    call_once(&menu_once, print_menu);
    return &menu[order % 3];
}

static void empty_box(void *box)
{
    mtx_lock(&kitchen.lock);
    kitchen.tips += *(long *)box;
    mtx_unlock(&kitchen.lock);
    free(box);
}

static void tip(long amount)
{
    long *box = tss_get(tip_box);
    if (!box) {
        box = calloc(1, sizeof *box);
        if (!box || tss_set(tip_box, box) != thrd_success)
            abort();
    }
    *box += amount;
}

static int next_order(struct kitchen *k)
{
    int order = -1;
    mtx_lock(&k->lock);
    while (k->count == 0 && !k->closed)
        cnd_wait(&k->ordered, &k->lock);
    if (k->count > 0) {
        order = k->shelf[k->first];
        k->first = (k->first + 1) % SHELF;
        k->count--;
        cnd_signal(&k->cleared);
    }
    mtx_unlock(&k->lock);
    return order;
}

static int cook(void *arg)
{
    struct cook *c = arg;
    int dishes = 0;
    for (int order; (order = next_order(c->kitchen)) >= 0; dishes++) {
        const struct dish *d = dish_of(order);
        mtx_lock(&c->kitchen->lock);
        c->kitchen->bill += d->price;
        c->kitchen->cooked++;
        mtx_unlock(&c->kitchen->lock);
        tip((long)strlen(d->name) - 2);
    }
    return dishes;
}

static void order(struct kitchen *k, int number)
{
    mtx_lock(&k->lock);
    while (k->count == SHELF)
        cnd_wait(&k->cleared, &k->lock);
    k->shelf[(k->first + k->count++) % SHELF] = number;
    cnd_signal(&k->ordered);
    mtx_unlock(&k->lock);
}

int main(void)
{
    struct cook cooks[COOKS];
    thrd_t threads[COOKS];
    int dishes = 0;
    if (mtx_init(&kitchen.lock, mtx_plain) != thrd_success ||
        cnd_init(&kitchen.ordered) != thrd_success || cnd_init(&kitchen.cleared) != thrd_success ||
        tss_create(&tip_box, empty_box) != thrd_success)
        return 1;
    for (int i = 0; i < COOKS; i++) {
        cooks[i] = (struct cook){&kitchen, i};
        if (thrd_create(&threads[i], cook, &cooks[i]) != thrd_success)
            abort();
    }
    for (int i = 0; i < ORDERS; i++)
        order(&kitchen, i);
    mtx_lock(&kitchen.lock);
    kitchen.closed = 1;
    cnd_broadcast(&kitchen.ordered);
    mtx_unlock(&kitchen.lock);
    for (int i = 0; i < COOKS; i++) {
        int cooked;
        thrd_join(threads[i], &cooked);
        dishes += cooked;
    }
    printf("%d dishes, bill %ld, tips %ld\n", dishes, kitchen.bill, kitchen.tips);
    tss_delete(tip_box);
    free(menu);
    return dishes != ORDERS || kitchen.cooked != ORDERS;
}
// TSAN: cannot, these threads are started without its knowledge
