// SPDX-License-Identifier: Apache-2.0
// Each connection guards itself with its own mutex, and with it also a counter that belongs to all
// connections of the class.
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Connection {
public:
    explicit Connection(std::string peer) : peer_(std::move(peer)) {}
    virtual ~Connection() = default;

    void send(const std::string &text)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        std::size_t bytes = encode(text);
        sent_ += bytes;
        total_sent_ += bytes; // RACE
    }

    std::string describe() const
    {
        std::lock_guard<std::mutex> guard(mutex_);
        return peer_ + " " + std::to_string(sent_);
    }

    static std::size_t total() { return total_sent_; }

protected:
    virtual std::size_t encode(const std::string &text) = 0;

private:
    mutable std::mutex mutex_;
    std::string peer_;
    std::size_t sent_ = 0;
    static std::size_t total_sent_;
};

std::size_t Connection::total_sent_ = 0;

class PlainConnection : public Connection {
public:
    using Connection::Connection;

protected:
    std::size_t encode(const std::string &text) override { return text.size(); }
};

class FramedConnection : public Connection {
public:
    using Connection::Connection;

protected:
    std::size_t encode(const std::string &text) override
    {
        frames_++;
        return text.size() + 4 + frames_ % 2;
    }

private:
    std::size_t frames_ = 0;
};

static void chat(Connection &connection, int lines)
{
    for (int i = 0; i < lines; i++)
        connection.send("line " + std::to_string(i * i));
}

int main()
{
    std::vector<std::unique_ptr<Connection>> connections;
    connections.push_back(std::make_unique<PlainConnection>("alpha"));
    connections.push_back(std::make_unique<FramedConnection>("beta"));
    std::vector<std::thread> threads;
    for (auto &connection : connections)
        threads.emplace_back(chat, std::ref(*connection), 25);
    for (auto &thread : threads)
        thread.join();
    for (auto &connection : connections)
        std::printf("%s\n", connection->describe().c_str());
    std::printf("total %zu\n", Connection::total());
    return 0;
}
