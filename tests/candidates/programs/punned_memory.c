/* SPDX-License-Identifier: Apache-2.0 */
/* Memory used as another type than it was declared with: a union, a buffer of bytes, a block that
 * was called something else when it was allocated. */
#include "program.h"

union number {
    long whole;
    double fraction;
    void *pointer;
};

struct pair {
    int left, right;
};

struct named {
    long name;
    struct pair *values;
};

static union number number;
static _Alignas(16) char buffer[64];
static void *block;
static struct named *other;

static void *work(void *arg)
{
    struct pair *in_buffer = (struct pair *)buffer;
    struct pair *in_block = block;
    number.fraction = 1.5;        // RACE: union
    in_buffer->left = next();     // RACE: buffer
    in_block->right += next();    // RACE: block
    other->values->left = next(); // RACE: copied
    return arg;
}

int main(void)
{
    pthread_t a;
    struct named *named = malloc(sizeof *named);
    struct pair direct = {next(), next()};
    struct named holder = {next(), &direct};
    block = named;
    other = malloc(sizeof *other);
    memcpy(other, &holder, sizeof holder);
    start(&a, work, NULL);
    number.whole = next();              // RACE: union
    ((struct pair *)buffer)->left += 2; // RACE: buffer
    ((struct pair *)block)->right = 3;  // RACE: block
    direct.left += next();              // RACE: copied
    finish(a);
    keep((unsigned long)number.whole + (unsigned long)direct.left);
    free(named);
    free(other);
    return 0;
}
