// What symbols_test.c looks at: names that the linker sees mangled.
namespace shop
{
struct Counter {
    static long calls;
    long total;
    long add(long n);
};

long Counter::calls;

__attribute__((noinline)) long Counter::add(long n)
{
    calls += n;
    return total += n;
}
} // namespace shop
