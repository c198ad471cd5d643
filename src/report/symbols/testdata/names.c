/* What symbols_test.c looks at: functions inlined two deep, and variables that only this file sees. */
long sink(long n);

static long table[4];

static inline __attribute__((always_inline)) long inner(long n)
{
    return sink(n) + 1; /* in inner */
}

static inline __attribute__((always_inline)) long middle(long n)
{
    long sum = inner(n); /* in middle */
    return sum * 2;
}

__attribute__((noinline)) static long hidden(long n)
{
    static long calls;
    calls += sink(n);
    table[n & 3] = calls;
    return middle(n) + table[(n + 1) & 3]; /* in hidden */
}

long outer(long n)
{
    return hidden(n) + hidden(n + 1);
}
