// SPDX-License-Identifier: Apache-2.0
// Race-free: a gate is an atomic number, stored with release and awaited with acquire by
// atomic::wait; the timetable is written before the gate is opened for a day and read while it is
// open. Trains on a track own it by a counting_semaphore with one permit each; before the next day
// all trains have reported back through an atomic that main waits for.
// OPTIONS: -std=c++20
#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

static constexpr int trains = 3, days = 6, tracks = 2;

struct Track {
    std::counting_semaphore<1> permit{1};
    long passed = 0;
    std::string last;

    void pass(const std::string &train, int load)
    {
        while (!permit.try_acquire()) // not acquire(): see std_semaphore.cc
            std::this_thread::yield();
        passed += load;
        last = train;
        permit.release();
    }
};

struct Timetable {
    int day = 0;
    std::array<int, trains> track{};
    std::array<int, trains> load{};
};

class Station {
public:
    void open(int day)
    {
        table_.day = day;
        for (int i = 0; i < trains; i++) {
            table_.track[static_cast<std::size_t>(i)] = (i + day) % tracks;
            table_.load[static_cast<std::size_t>(i)] = 10 * day + i;
        }
        gate_.store(day, std::memory_order_release);
        gate_.notify_all();
    }

    const Timetable &await(int day)
    {
        for (int seen; (seen = gate_.load(std::memory_order_acquire)) < day;)
            gate_.wait(seen, std::memory_order_acquire);
        return table_;
    }

    void report()
    {
        reports_.fetch_add(1, std::memory_order_acq_rel);
        reports_.notify_one();
    }

    void await_reports(int count)
    {
        for (int seen; (seen = reports_.load(std::memory_order_acquire)) < count;)
            reports_.wait(seen, std::memory_order_acquire);
    }

    Track &track(int number) { return tracks_[static_cast<std::size_t>(number)]; }

private:
    std::atomic<int> gate_{0}, reports_{0};
    Timetable table_;
    std::array<Track, tracks> tracks_;
};

static void drive(Station &station, int number, int &wrong_days)
{
    const std::string name = "train" + std::to_string(number);
    const auto index = static_cast<std::size_t>(number);
    for (int day = 1; day <= days; day++) {
        const Timetable &table = station.await(day);
        wrong_days += table.day != day;
        station.track(table.track[index]).pass(name, table.load[index]);
        station.report();
    }
}

int main()
{
    auto station = std::make_unique<Station>();
    std::array<int, trains> wrong{};
    std::vector<std::thread> threads;
    for (int i = 0; i < trains; i++)
        threads.emplace_back(drive, std::ref(*station), i, std::ref(wrong[static_cast<std::size_t>(i)]));
    for (int day = 1; day <= days; day++) {
        station->open(day);
        station->await_reports(day * trains);
    }
    long passed = 0;
    for (int i = 0; i < tracks; i++)
        passed += station->track(i).passed;
    for (std::thread &thread : threads)
        thread.join();
    std::printf("%ld passed, last %s and %s\n", passed, station->track(0).last.c_str(),
                station->track(1).last.c_str());
    return wrong[0] + wrong[1] + wrong[2] == 0 && passed == 10 * 21 * trains + 3 * days ? 0 : 1;
}
