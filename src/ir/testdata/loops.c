/*
 * Loops of many shapes, for rewriting: each prints what it computes, so that a program that changes
 * to its twins under way must print the same. The last line says how many accesses were made in
 * twins. To be compiled with -fwrapv: numbers overflow on purpose.
 */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHAPE      __attribute__((noinline)) static
#define AS_WRITTEN _Pragma("clang loop unroll(disable) vectorize(disable) interleave(disable)")

__attribute__((used)) unsigned long twin_visits;
__attribute__((used)) unsigned gate_countdown;

struct node {
    struct node *next;
    long value;
};

static int numbers[257];
static char text[] = "the quick brown fox jumps over the lazy dog";
static int sink;

SHAPE long single_block(const int *a, int n)
{
    long sum = 0;
    AS_WRITTEN
    for (int i = 0; i < n; i++)
        sum += a[i] ^ (sum << 1);
    return sum;
}

SHAPE long vectorised(const int *a, int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += (long)a[i] * a[i];
    return sum;
}

SHAPE void store_only(int *a, int n, int step)
{
    for (int i = 0; i < n; i += step)
        a[i] = i * 3 + step;
}

SHAPE int several_exits(const int *a, int n, int limit)
{
    int i;
    for (i = 0; i < n; i++) {
        if (a[i] > limit)
            return i * 2;
        if (a[i] == 7)
            break;
        if ((a[i] & 0xff) == 0xfe)
            return -i;
    }
    return i + 1000;
}

SHAPE long several_latches(const int *a, int n)
{
    long sum = 0, odd = 0;
    int i = 0;
    AS_WRITTEN
    while (i < n) {
        if (a[i] & 1) {
            odd += a[i];
            i += 2;
            continue;
        }
        if (a[i] % 3 == 0) {
            sum -= a[i];
            i++;
            continue;
        }
        sum += sink++;
        i += 3;
    }
    return sum * 31 + odd;
}

SHAPE long nested(const int *a, int n)
{
    long best = 0;
    for (int i = 0; i < n; i++) {
        long run = i;
        for (int k = i; k < n && a[k] != 3; k++)
            run = run * 5 + a[k];
        if (run > best)
            best = run;
        for (int k = 0; k < i; k += 7)
            best ^= a[k];
    }
    return best;
}

SHAPE long live_out(const int *a, int n, int *last, long *product)
{
    long sum = 0, p = 1;
    int i = 0, seen = -1;
    AS_WRITTEN
    for (; i < n; i++) {
        seen = a[i];
        sum += seen;
        p = p * (seen | 1);
        if (sum > 5000)
            break;
    }
    *last = seen + i;
    *product = p;
    return sum;
}

SHAPE int with_switch(const char *s)
{
    int words = 0, vowels = 0, other = 0;
    for (; *s; s++) {
        switch (*s) {
        case 'a':
        case 'e':
        case 'i':
        case 'o':
        case 'u':
            vowels++;
            break;
        case ' ':
            words++;
            break;
        case 'z':
            return -vowels;
        case 'q':
            other += 10;
            /* fall through */
        default:
            other++;
        }
    }
    return words * 10000 + vowels * 100 + other;
}

/* Two cases leave to the same block, which then has that predecessor twice. */
SHAPE int switch_exits(const char *s, char *which)
{
    int i = 0;
    for (;; i++) {
        switch (s[i]) {
        case 'x':
        case '!':
        case 0:
            *which = s[i];
            return i;
        case 'j':
            *which = 'J';
            return -i;
        }
        sink ^= s[i];
    }
}

SHAPE long chase(struct node *list, long stop)
{
    long sum = 0;
    while (list && list->value != stop) {
        sum = sum * 3 + list->value;
        list = list->next;
    }
    return list ? sum : -sum;
}

SHAPE struct node *reverse(struct node *list)
{
    struct node *done = NULL;
    while (list) {
        struct node *next = list->next;
        list->next = done;
        done = list;
        list = next;
    }
    return done;
}

SHAPE double floats(const double *x, int n, double *max)
{
    double sum = 0;
    *max = x[0];
    for (int i = 0; i < n; i++) {
        sum += x[i] / (i + 1);
        if (x[i] > *max)
            *max = x[i];
    }
    return sum;
}

SHAPE long calls(int n)
{
    char buffer[32];
    long sum = 0;
    for (int i = 0; i < n; i++) {
        snprintf(buffer, sizeof buffer, "%d", i * i);
        sum += (long)strlen(buffer) * i;
        if (sum > 100000)
            abort();
    }
    return sum;
}

SHAPE int do_while(unsigned x)
{
    int steps = 0;
    do {
        x = x & 1 ? 3 * x + 1 : x / 2;
        steps++;
    } while (x != 1 && steps < 1000);
    return steps;
}

SHAPE long two_in_a_row(int *a, int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i];
    for (int i = n - 1; i >= 0; i--)
        sum = sum * 7 - a[i];
    return sum;
}

__attribute__((noreturn)) static void finish(long sum)
{
    printf("sum %ld\n", sum);
    printf("visits %lu\n", twin_visits);
    exit(0);
}

SHAPE long no_exit(const int *a)
{
    long sum = 0;
    for (int i = 0;; i = (i + 1) & 255) {
        sum += a[i] + 1;
        if (sum > 3000)
            finish(sum);
    }
    return sum;
}

SHAPE int atomics(int *a, int n)
{
    int won = 0;
    for (int i = 0; i < n; i++) {
        int expected = i & 3;
        won += __atomic_compare_exchange_n(a, &expected, i, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
        won += __atomic_fetch_add(a, expected, __ATOMIC_ACQ_REL) & 1;
    }
    return won;
}

SHAPE int computed_goto(const char *code)
{
    static const void *const ops[] = {&&stop, &&inc, &&twice, &&back};
    int acc = 0;
next:
    goto *ops[(unsigned char)*code++];
inc:
    acc++;
    goto next;
twice:
    acc *= 2;
    goto next;
back:
    for (int i = 0; i < 5; i++)
        acc += numbers[i];
    goto next;
stop:
    return acc;
}

static jmp_buf again;

SHAPE int jumps_back(int n)
{
    volatile int rounds = 0;
    if (setjmp(again) == 99)
        return -1;
    rounds++;
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += numbers[i] & 15;
    if (rounds < 3)
        longjmp(again, rounds);
    return sum + rounds;
}

SHAPE void memory_intrinsics(char *rows, int n)
{
    for (int i = 1; i < n; i++) {
        memcpy(rows + 16 * i, rows + 16 * (i - 1), 16);
        memset(rows + 16 * i, 'a' + i, (size_t)(i & 7));
        rows[16 * i + 15] = 0;
    }
}

/* Inlining these promises leaves scopes inside the loop. */
static inline int exchange(int *restrict a, int *restrict b, int k)
{
    a[0] += b[0] * k;
    b[k & 1] = a[1];
    a[2] = b[1];
    return a[0];
}

SHAPE long restricted(int *a, int *b, int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += exchange(a + i, b + i, i);
    return sum;
}

SHAPE long variable_stack(int n)
{
    long sum = 0;
    for (int i = 1; i < n; i++) {
        char room[i * 8];
        memset(room, i, sizeof room);
        __asm__ volatile("" : : "r"(room) : "memory");
        sum += room[i * 8 - 1] + room[0];
    }
    return sum;
}

SHAPE int inline_assembly(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        __asm__ volatile("addl %1, %0" : "+r"(sum) : "r"(i) : "cc");
        __asm__ volatile("test %0, %0; jz 1f; incl %0; 1:" : "+r"(sum) : : "cc");
    }
    return sum;
}

SHAPE __int128 wide(const int *a, int n)
{
    __int128 x = 1;
    for (int i = 0; i < n; i++)
        x = x * 1000003 + a[i];
    return x;
}

static void fill(void)
{
    unsigned x = 12345;
    for (int i = 0; i < 257; i++) {
        x = x * 1103515245 + 12345;
        numbers[i] = (int)(x >> 20);
    }
}

int main(void)
{
    struct node nodes[40];
    double x[50], max;
    char rows[16 * 20] = "0123456789abcde", which = 0;
    int last, copy[257];
    long product;

    fill();
    printf("single_block %ld\n", single_block(numbers, 257));
    printf("none %ld\n", single_block(numbers, 0));
    printf("vectorised %ld %ld\n", vectorised(numbers, 257), vectorised(numbers, 3));
    printf("several_exits %d %d %d\n", several_exits(numbers, 257, 4000),
           several_exits(numbers, 257, 100), several_exits(numbers, 0, 0));
    printf("several_latches %ld\n", several_latches(numbers, 257));
    printf("nested %ld\n", nested(numbers, 60));
    long sum = live_out(numbers, 257, &last, &product);
    printf("live_out %ld %d %ld\n", sum, last, product);
    printf("with_switch %d %d\n", with_switch(text), with_switch("one queue of eight"));
    printf("switch_exits %d", switch_exits(text, &which));
    printf(" %c", which);
    printf(" %d", switch_exits("abc!", &which));
    printf(" %c\n", which);
    for (int i = 0; i < 40; i++)
        nodes[i] = (struct node){.next = i < 39 ? &nodes[i + 1] : NULL, .value = numbers[i] % 100};
    printf("chase %ld %ld\n", chase(nodes, -1), chase(nodes, nodes[20].value));
    printf("reverse %ld\n", chase(reverse(nodes), -1));
    for (int i = 0; i < 50; i++)
        x[i] = numbers[i] / 16.0;
    double total = floats(x, 50, &max);
    printf("floats %.6f %.6f\n", total, max);
    printf("calls %ld\n", calls(60));
    printf("do_while %d %d\n", do_while(27), do_while(97));
    printf("two_in_a_row %ld\n", two_in_a_row(numbers, 100));
    memcpy(copy, numbers, sizeof copy);
    store_only(copy, 257, 3);
    printf("store_only %ld\n", two_in_a_row(copy, 257));
    last = 0;
    printf("atomics %d", atomics(&last, 100));
    printf(" %d\n", last);
    printf("computed_goto %d\n", computed_goto("\1\1\2\3\1\2\3"));
    printf("jumps_back %d\n", jumps_back(33));
    memory_intrinsics(rows, 20);
    printf("memory_intrinsics %s %s\n", rows + 16 * 7, rows + 16 * 19);
    printf("restricted %ld\n", restricted(copy, numbers, 200));
    fill();
    printf("variable_stack %ld\n", variable_stack(50));
    printf("inline_assembly %d\n", inline_assembly(50));
    __int128 w = wide(numbers, 30);
    printf("wide %lx %lx\n", (unsigned long)(w >> 64), (unsigned long)w);
    printf("sink %d\n", sink);
    return (int)no_exit(numbers);
}
