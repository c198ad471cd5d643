// SPDX-License-Identifier: Apache-2.0
// Exceptions through functions with twins: thrown, caught, rethrown and cleaned up in and around
// loops, by three threads that must find the same. Usage: throws ROUNDS.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct State {
    uint64_t words[16] = {};
    uint64_t hash = 1;
    std::map<uint64_t, std::string> names;
    std::vector<uint64_t> log;
};

struct Guard {
    Guard(State &state, uint64_t id) : s(state), n(id)
    {
        s.words[n % 16] += n;
    }
    ~Guard()
    {
        s.words[(n + 1) % 16] ^= s.hash;
        s.hash = s.hash * 31 + n;
    }
    State &s;
    uint64_t n;
};

__attribute__((noinline)) uint64_t may_throw(State &s, uint64_t n)
{
    s.words[n % 16]++;
    if (n % 11 == 3)
        throw std::runtime_error(std::to_string(s.words[n % 16] % 100));
    if (n % 13 == 6)
        throw n + s.words[2];
    s.hash += n;
    return s.words[(n + 5) % 16];
}

__attribute__((noinline)) uint64_t inner(State &s, uint64_t from, uint64_t to)
{
    Guard outer(s, from);
    uint64_t sum = 0;
    for (uint64_t i = from; i < to; i++) {
        Guard guard(s, i);
        try {
            sum += may_throw(s, i + s.words[i % 16] % 5);
        } catch (const std::runtime_error &e) {
            sum = sum * 3 + static_cast<uint64_t>(std::atoi(e.what()));
            s.names[sum % 8] = e.what();
            if (sum % 29 == 4)
                throw;
        }
        s.words[3] += sum;
    }
    return sum;
}

__attribute__((noinline)) uint64_t outer(State &s, uint64_t n)
{
    uint64_t sum = n, tries = 0;
    while (tries < 20) {
        tries++;
        try {
            for (uint64_t k = 0; k < 4; k++) {
                sum += inner(s, n + k, n + k + 9);
                s.log.push_back(sum);
                if (s.log.size() > 64)
                    s.log.clear();
            }
        } catch (uint64_t value) {
            sum ^= value;
            s.words[4] += sum;
            n += 2;
            continue;
        } catch (const std::exception &e) {
            sum += e.what()[0];
            s.words[5] ^= sum;
            n++;
            if (tries % 7 == 5)
                return sum;
        }
        s.words[6] = sum;
    }
    return sum;
}

void work(State *s, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        s->hash ^= outer(*s, i);
}

}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 10;
    State states[3];
    std::vector<std::thread> threads;
    for (State &s : states)
        threads.emplace_back(work, &s, rounds);
    for (std::thread &t : threads)
        t.join();
    for (State &s : states)
        std::printf("%016llx %zu %zu\n", static_cast<unsigned long long>(s.hash), s.names.size(),
                    s.log.size());
    return 0;
}
