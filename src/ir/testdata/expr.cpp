/*
 * Accesses of C++ with the expressions that name them; expr_test.c says how to read the comments.
 */
#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#define KEEP __attribute__((noinline))

namespace bank
{

struct Money {
    long units = 0;
    long cents = 0;
};

class Account
{
  public:
    KEEP void deposit(long n)
    {
        balance_.units += n; // EXPR read this->balance_.units; write this->balance_.units
        touched_ = true;     // EXPR write this->touched_
        total++;             // EXPR read Account::total; write Account::total
    }
    long units() const
    {
        return balance_.units; // EXPR read this->balance_.units; weak account.balance_.units
    }

    static long total;
    Money balance_;
    bool touched_ = false;
    Money &shared_;

    explicit Account(Money &shared) : shared_(shared) // EXPR write this->shared_; weak *this
    {
    }
};

long Account::total;
static int openings;

KEEP long read_units(const Account &account)
{
    openings++; // EXPR read openings; write openings
    return account.units();
}

KEEP void references(Account &account, Money &money, int &number)
{
    account.touched_ = true;   // EXPR write account.touched_
    money.cents = 1;           // EXPR write money.cents
    number = 2;                // EXPR write number
    account.shared_.cents = 3; // EXPR read account.shared_; write account.shared_.cents
    Money &alias = account.balance_;
    alias.units = 4; // EXPR write alias.units; weak account.balance_.units
}

} // namespace bank

/* Inheritance. */
struct Base {
    int base_number = 0;
    virtual ~Base() = default;
    virtual void run()
    {
    }
};
struct Other {
    int other_number = 0;
};
struct Derived : Base, Other {
    int own_number = 0;
    KEEP void touch()
    {
        base_number = 1;  // EXPR write this->base_number
        other_number = 2; // EXPR write this->other_number
        own_number = 3;   // EXPR write this->own_number
    }
};

KEEP void inherit(Derived *d)
{
    d->base_number = 1;  // EXPR write d->base_number
    d->other_number = 2; // EXPR write d->other_number
    d->own_number = 3;   // EXPR write d->own_number
    d->run();            // EXPR read d->_vptr; read d->_vptr[2]; weak *d->_vptr
}

/* Templates. */
template <typename T> struct Cell {
    T value{};
    Cell *next = nullptr;
    KEEP void set(T v)
    {
        value = v;           // EXPR write this->value
        if (next)            // EXPR read this->next
            next->value = v; // EXPR read this->next; write this->next->value
    }
};
template struct Cell<int>;
template struct Cell<double>;

/* Lambdas. */
KEEP void lambdas(int &hits)
{
    int local = 0;
    auto bump = [&hits, &local ](int by) __attribute__((noinline))
    {
        hits += by;  // EXPR read hits; write hits; weak bump.hits
        local += by; // EXPR read local; write local; weak bump.local
    };
    bump(1);
    bump(2);
    hits += local; // EXPR read hits; write hits
}

/* The library's objects are named, not what they are made of. */
struct Shared {
    std::atomic<int> ready{0};
    std::vector<int> items;
    std::unique_ptr<bank::Money> money;
    std::array<int, 8> slots{};
    std::pair<int, long> both;
    std::atomic<bank::Money *> last{nullptr};
};

KEEP void library(Shared *s, int i)
{
    s->both.second = 1;        // EXPR write s->both.second
    s->both.first++;           // EXPR read s->both.first; write s->both.first
    s->ready.store(2);         // EXPR weak s->ready
    s->items[i] = 3;           // EXPR weak s->items[i]; none
    s->money->cents = 4;       // EXPR weak s->money->cents; weak (struct Money).cents
    s->slots[i] = 5;           // EXPR weak s->slots[i]; none
    s->last.load()->units = 6; // EXPR weak s->last->units; weak (struct Money).units
}

KEEP long containers(std::map<std::string, long> &counts, std::vector<bank::Money> &all)
{
    long sum = 0;
    for (auto &money : all)
        sum += money.cents; // EXPR read money.cents
    counts["x"] += sum;
    std::sort(all.begin(), all.end(),
              [](const bank::Money &a, const bank::Money &b) { return a.units < b.units; });
    std::string text = "abc";
    text += "def";
    return sum + static_cast<long>(text.size());
}

int main()
{
    bank::Money shared;
    bank::Account account(shared);
    Shared everything;
    Derived derived;
    int hits = 0;
    std::thread other([&] {
        account.deposit(1);
        everything.ready++;
    });
    lambdas(hits);
    derived.touch();
    inherit(&derived);
    library(&everything, hits);
    other.join();
    bank::references(account, shared, hits);
    return static_cast<int>(bank::read_units(account));
}
