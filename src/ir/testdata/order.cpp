// Says in which order things are set up and torn down. Compiled and linked together with itself,
// as two units that share an inline variable and a template's member.
#include <cstdio>

struct Said {
    explicit Said(const char *what) : what(what)
    {
        std::printf("+%s ", what);
    }
    ~Said()
    {
        std::printf("-%s ", what);
    }
    const char *what;
};

inline Said shared("shared");

template <typename T> struct Holder {
    static Said member;
};
template <typename T> Said Holder<T>::member("member");

#ifdef FIRST
extern Said *second_address;

__attribute__((constructor(101))) static void early()
{
    std::printf("early ");
}
__attribute__((constructor(65000))) static void later()
{
    std::printf("later ");
}
__attribute__((constructor(9999))) static void middle()
{
    std::printf("middle ");
}
__attribute__((constructor)) static void plain()
{
    std::printf("plain ");
}
__attribute__((destructor(101))) static void last()
{
    std::printf("last\n");
}
__attribute__((destructor(65000))) static void sooner()
{
    std::printf("sooner ");
}
__attribute__((destructor)) static void unordered()
{
    std::printf("unordered ");
}

static Said first("first");

int main()
{
    std::printf("main %d ", second_address == &shared && &Holder<int>::member != &shared);
    return 0;
}
#else
static Said second("second");
extern Said *second_address;
Said *second_address = Holder<int>::member.what ? &shared : nullptr;
#endif
