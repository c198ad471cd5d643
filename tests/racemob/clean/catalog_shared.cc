// SPDX-License-Identifier: Apache-2.0
// Race-free: the catalogue is searched under a shared lock and changed under an exclusive one. Its
// default entries are made inside call_once by whoever comes first, and every search and change
// passes that call_once before. Books are immutable and counted, so they outlive their removal.
// OPTIONS: -std=c++20
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

struct Book {
    std::string title;
    int year;
};

using BookPointer = std::shared_ptr<const Book>;

class Catalog {
public:
    BookPointer find(int number) const
    {
        prepare();
        std::shared_lock lock(mutex_);
        auto found = books_.find(number);
        return found == books_.end() ? nullptr : found->second;
    }

    void replace(int number, const std::string &title, int year)
    {
        prepare();
        auto book = std::make_shared<const Book>(Book{title, year});
        std::unique_lock lock(mutex_);
        books_[number] = std::move(book);
        changes_++;
    }

    void remove(int number)
    {
        prepare();
        BookPointer removed;
        {
            std::unique_lock lock(mutex_);
            auto found = books_.find(number);
            if (found == books_.end())
                return;
            removed = std::move(found->second);
            books_.erase(found);
            changes_++;
        }
    }

    std::size_t size() const
    {
        std::shared_lock lock(mutex_);
        return books_.size();
    }

    int changes() const
    {
        std::shared_lock lock(mutex_);
        return changes_;
    }

private:
    void prepare() const
    {
        std::call_once(once_, [this] {
            for (int i = 0; i < 10; i++)
                books_[i] = std::make_shared<const Book>(Book{"volume " + std::to_string(i), 1900 + i});
        });
    }

    mutable std::once_flag once_;
    mutable std::shared_mutex mutex_;
    mutable std::map<int, BookPointer> books_;
    int changes_ = 0;
};

static void read_books(const Catalog &catalog, int step, long &years)
{
    std::vector<BookPointer> borrowed;
    for (int i = 0; i < 60; i++)
        if (BookPointer book = catalog.find(i * step % 14))
            borrowed.push_back(book);
    for (const BookPointer &book : borrowed)
        years += book->year + static_cast<long>(book->title.size());
}

static void edit_books(Catalog &catalog)
{
    for (int i = 0; i < 20; i++) {
        catalog.replace(i % 12, "edition " + std::to_string(i), 1950 + i);
        if (i % 4 == 3)
            catalog.remove(i % 10);
    }
}

int main()
{
    Catalog catalog;
    long years[2] = {0, 0};
    std::thread reader(read_books, std::cref(catalog), 3, std::ref(years[0]));
    std::thread other(read_books, std::cref(catalog), 5, std::ref(years[1]));
    std::thread editor(edit_books, std::ref(catalog));
    reader.join();
    other.join();
    editor.join();
    std::printf("%zu books, %d changes, read %s\n", catalog.size(), catalog.changes(),
                years[0] > 0 && years[1] > 0 ? "some" : "none");
    return years[0] > 0 && years[1] > 0 ? 0 : 1;
}
