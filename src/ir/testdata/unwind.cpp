// Exceptions thrown through, caught in and cleaned up around loops and branches: every block has a
// landing pad near it. Prints what happened, in order. The last line says how many accesses were
// made in twins.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" {
__attribute__((used)) unsigned long twin_visits;
__attribute__((used)) unsigned gate_countdown;
}

struct Tracker {
    explicit Tracker(int id) : id(id)
    {
        std::printf("+%d ", id);
    }
    ~Tracker()
    {
        std::printf("-%d ", id);
    }
    int id;
};

__attribute__((noinline)) static int may_throw(int n)
{
    if (n % 5 == 3)
        throw std::runtime_error("three " + std::to_string(n));
    if (n % 7 == 6)
        throw n;
    return n * 2;
}

__attribute__((noinline)) static int cleanups(int n)
{
    Tracker outer(n);
    int sum = 0;
    for (int i = 0; i < n; i++) {
        Tracker inner(100 + i);
        sum += may_throw(i + n);
    }
    return sum;
}

__attribute__((noinline)) static int catches(int from, int to)
{
    int sum = 0;
    for (int i = from; i < to; i++) {
        try {
            sum += may_throw(i);
        } catch (const std::exception &e) {
            std::printf("[%s] ", e.what());
            sum -= 1;
        } catch (int value) {
            sum += value * 1000;
        }
    }
    return sum;
}

__attribute__((noinline)) static int rethrows(int n)
{
    try {
        return cleanups(n);
    } catch (const std::runtime_error &) {
        try {
            throw;
        } catch (const std::exception &e) {
            return static_cast<int>(std::string(e.what()).size());
        }
    } catch (...) {
        return -1;
    }
}

__attribute__((noinline)) static long containers(int n)
{
    std::vector<std::string> words;
    for (int i = 0; i < n; i++)
        words.push_back(std::string(static_cast<size_t>(i), 'x') + std::to_string(i));
    long sum = 0;
    for (const auto &word : words)
        for (char c : word)
            sum = sum * 3 + c;
    try {
        return sum + static_cast<long>(words.at(static_cast<size_t>(n)).size());
    } catch (const std::out_of_range &) {
        return sum;
    }
}

int main()
{
    std::printf("catches %d\n", catches(0, 20));
    for (int n = 0; n < 5; n++)
        std::printf("rethrows %d\n", rethrows(n));
    std::printf("containers %ld\n", containers(20));
    std::printf("visits %lu\n", twin_visits);
    return 0;
}
