/*
 * What an object can hold besides plain code: thread-local and common variables, aliases, indirect
 * functions, file-scope assembly, weak and hidden symbols, tables of jumps, several sections. Built
 * from two units: this one with and without FIRST.
 */
#include <pthread.h>
#include <stdio.h>

extern __thread int per_thread;
extern int tentative; /* common: both units declare it without a value */
extern int aliased(int);
extern int chosen(int);
extern int assembled(int);
extern int optional(void) __attribute__((weak));
extern int overridden(void);
extern const char *name_of(int);

#ifdef FIRST
int tentative;

__attribute__((weak)) int overridden(void)
{
    return 1;
}

__attribute__((section(".text.special"))) static int in_section(int x)
{
    return x * 11;
}

static void *thread(void *arg)
{
    per_thread += *(int *)arg;
    return (void *)(long)per_thread;
}

int main(void)
{
    pthread_t id;
    int add = 5;
    void *result;
    pthread_create(&id, NULL, thread, &add);
    pthread_join(id, &result);
    per_thread++;
    tentative += 3;
    printf("%ld %d %d\n", (long)result, per_thread, tentative);
    printf("%d %d %d\n", aliased(4), chosen(5), assembled(6));
    printf("%d %d %d\n", optional ? optional() : -1, overridden(), in_section(2));
    printf("%s %s %s\n", name_of(0), name_of(3), name_of(99));
    return 0;
}
#else
__thread int per_thread = 37;
int tentative;

int implementation(int x)
{
    return x * x;
}
int aliased(int x) __attribute__((alias("implementation")));

static int choice(int x)
{
    return x + 100;
}
static int (*resolve(void))(int)
{
    return choice;
}
int chosen(int x) __attribute__((ifunc("resolve")));

__asm__(".text\n"
        ".globl assembled\n"
        ".type assembled, @function\n"
        "assembled:\n"
        "    leal 7(%rdi), %eax\n"
        "    ret\n"
        ".size assembled, .-assembled\n");

int overridden(void)
{
    return 2;
}

const char *name_of(int n)
{
    switch (n) {
    case 0:
        return "zero";
    case 1:
        return "one";
    case 2:
        return "two";
    case 3:
        return &__FILE__[sizeof __FILE__ - sizeof "features.c"];
    case 4:
        return "four";
    default:
        return "many";
    }
}
#endif
