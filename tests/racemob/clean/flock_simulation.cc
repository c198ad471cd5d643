// SPDX-License-Identifier: Apache-2.0
// Race-free: birds read the old positions and write their own new one; std::barrier separates the
// steps, and its completion function, run while all are waiting, swaps the buffers. A std::latch lets
// all start only after every worker has filled in its share, another tells main that all is done.
// OPTIONS: -std=c++20
#include <barrier>
#include <cmath>
#include <cstdio>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

struct Bird {
    double x = 0, y = 0, dx = 0, dy = 0;
};

class Flock {
public:
    explicit Flock(std::size_t size) : old_(size), new_(size) {}

    void place(std::size_t i)
    {
        old_[i].x = static_cast<double>(i % 7);
        old_[i].y = static_cast<double>(i / 7);
        old_[i].dx = 0.1 * static_cast<double>(i % 3);
    }

    void move(std::size_t i)
    {
        double cx = 0, cy = 0;
        for (const Bird &other : old_) {
            cx += other.x;
            cy += other.y;
        }
        const double n = static_cast<double>(old_.size());
        const Bird &from = old_[i];
        Bird &to = new_[i];
        to.dx = 0.9 * from.dx + 0.01 * (cx / n - from.x);
        to.dy = 0.9 * from.dy + 0.01 * (cy / n - from.y);
        to.x = from.x + to.dx;
        to.y = from.y + to.dy;
    }

    void end_step() noexcept
    {
        old_.swap(new_);
        steps_++;
    }

    std::size_t size() const { return old_.size(); }
    int steps() const { return steps_; }

    double spread() const
    {
        double sum = 0;
        for (const Bird &a : old_)
            for (const Bird &b : old_)
                sum += std::hypot(a.x - b.x, a.y - b.y);
        return sum / static_cast<double>(old_.size() * old_.size());
    }

private:
    std::vector<Bird> old_, new_;
    int steps_ = 0;
};

struct EndStep {
    Flock *flock;
    void operator()() noexcept { flock->end_step(); }
};

static constexpr int workers = 3, steps = 12;

class Simulation {
public:
    explicit Simulation(Flock &flock)
        : flock_(flock), placed_(workers), done_(workers), barrier_(workers, EndStep{&flock})
    {
    }

    void work(std::size_t number)
    {
        for (std::size_t i = number; i < flock_.size(); i += workers)
            flock_.place(i);
        placed_.arrive_and_wait();
        for (int step = 0; step < steps; step++) {
            for (std::size_t i = number; i < flock_.size(); i += workers)
                flock_.move(i);
            barrier_.arrive_and_wait();
        }
        done_.count_down();
    }

    void wait() { done_.wait(); }

private:
    Flock &flock_;
    std::latch placed_, done_;
    std::barrier<EndStep> barrier_;
};

int main()
{
    auto flock = std::make_unique<Flock>(21);
    Simulation simulation(*flock);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < workers; i++)
        threads.emplace_back(&Simulation::work, &simulation, i);
    simulation.wait();
    double spread = flock->spread();
    int done = flock->steps();
    for (std::thread &thread : threads)
        thread.join();
    std::printf("%d steps, spread %.3f\n", done, spread);
    return done == steps && spread > 0 ? 0 : 1;
}
