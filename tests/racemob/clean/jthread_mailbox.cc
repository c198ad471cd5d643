// SPDX-License-Identifier: Apache-2.0
// Race-free: the mailbox is touched under its shared_mutex only, for which the sorter waits with a
// condition_variable_any that also wakes when its stop_token is triggered. The sorter's own counts
// are read after the jthread was joined. Stop callbacks only touch an atomic.
// OPTIONS: -std=c++20
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <thread>

struct Mail {
    std::string to;
    std::string text;
};

class Mailbox {
public:
    void post(Mail mail)
    {
        {
            std::unique_lock lock(mutex_);
            mails_.push_back(std::make_unique<Mail>(std::move(mail)));
            posted_++;
        }
        arrived_.notify_one();
    }

    std::unique_ptr<Mail> next(std::stop_token token)
    {
        std::unique_lock lock(mutex_);
        if (!arrived_.wait(lock, token, [this] { return !mails_.empty(); }))
            return nullptr;
        std::unique_ptr<Mail> mail = std::move(mails_.front());
        mails_.pop_front();
        if (mails_.empty())
            emptied_.notify_all();
        return mail;
    }

    void wait_until_empty()
    {
        std::unique_lock lock(mutex_);
        emptied_.wait(lock, [this] { return mails_.empty(); });
    }

    std::size_t posted() const
    {
        std::shared_lock lock(mutex_);
        return posted_;
    }

private:
    mutable std::shared_mutex mutex_;
    std::condition_variable_any arrived_, emptied_;
    std::deque<std::unique_ptr<Mail>> mails_;
    std::size_t posted_ = 0;
};

class Sorter {
public:
    explicit Sorter(Mailbox &box) : box_(box) {}

    void run(std::stop_token token)
    {
        std::stop_callback note(token, [this] { stops_.fetch_add(1); });
        while (auto mail = box_.next(token))
            letters_[mail->to] += mail->text.size();
    }

    const std::map<std::string, std::size_t> &letters() const { return letters_; }
    int stops() const { return stops_.load(); }

private:
    Mailbox &box_;
    std::map<std::string, std::size_t> letters_;
    std::atomic<int> stops_{0};
};

static void write_mails(Mailbox &box, int writer)
{
    for (int i = 0; i < 15; i++) {
        std::string to = "user" + std::to_string((i + writer) % 4);
        box.post({to, std::string(static_cast<std::size_t>(i % 5 + 1), 'x')});
        if (box.posted() == 0)
            return;
    }
}

int main()
{
    Mailbox box;
    Sorter sorter(box);
    std::jthread sorting([&sorter](std::stop_token token) { sorter.run(token); });
    {
        std::jthread first(write_mails, std::ref(box), 0);
        std::jthread second(write_mails, std::ref(box), 1);
    }
    box.wait_until_empty();
    sorting.request_stop();
    sorting.join();
    std::size_t sum = 0;
    for (const auto &[to, letters] : sorter.letters())
        sum += letters;
    std::printf("%zu posted, %zu letters, %d stop\n", box.posted(), sum, sorter.stops());
    return sum == 2 * 3 * (1 + 2 + 3 + 4 + 5) && sorter.stops() <= 1 ? 0 : 1;
}
