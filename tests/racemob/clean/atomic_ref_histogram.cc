// SPDX-License-Identifier: Apache-2.0
// Race-free: while the threads run, the bins of the histogram are touched through std::atomic_ref
// only, by all of them; before and after, when they are ordinary numbers, no thread runs. Tiles are
// handed out by an atomic counter, and each tile's own sum is written by the one who got the tile.
// OPTIONS: -std=c++20
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <thread>
#include <vector>

class Image {
public:
    Image(std::size_t width, std::size_t height) : width_(width), pixels_(width * height)
    {
        std::uint32_t x = 1;
        for (std::uint8_t &pixel : pixels_) {
            x = x * 1664525u + 1013904223u;
            pixel = static_cast<std::uint8_t>((x >> 24) & 0x3f);
        }
    }

    std::size_t rows() const { return pixels_.size() / width_; }
    const std::uint8_t *row(std::size_t y) const { return pixels_.data() + y * width_; }
    std::size_t width() const { return width_; }

private:
    std::size_t width_;
    std::vector<std::uint8_t> pixels_;
};

class Histogram {
public:
    explicit Histogram(std::size_t bins) : bins_(bins), brightest_(0) {}

    void count(std::uint8_t value)
    {
        std::atomic_ref<std::uint32_t>(bins_[value % bins_.size()])
            .fetch_add(1, std::memory_order_relaxed);
        std::atomic_ref<std::uint32_t> brightest(brightest_);
        std::uint32_t seen = brightest.load(std::memory_order_relaxed);
        while (value > seen &&
               !brightest.compare_exchange_weak(seen, value, std::memory_order_relaxed))
            ;
    }

    std::uint32_t total() const { return std::accumulate(bins_.begin(), bins_.end(), 0u); }
    std::uint32_t most() const { return *std::max_element(bins_.begin(), bins_.end()); }
    std::uint32_t brightest() const { return brightest_; }

private:
    std::vector<std::uint32_t> bins_;
    alignas(std::atomic_ref<std::uint32_t>::required_alignment) std::uint32_t brightest_;
};

struct Job {
    const Image &image;
    Histogram &histogram;
    std::vector<std::uint64_t> row_sums;
    std::atomic<std::size_t> next_row{0};

    Job(const Image &i, Histogram &h) : image(i), histogram(h), row_sums(i.rows()) {}

    void run()
    {
        for (;;) {
            std::size_t y = next_row.fetch_add(1, std::memory_order_relaxed);
            if (y >= image.rows())
                return;
            std::uint64_t sum = 0;
            for (std::size_t x = 0; x < image.width(); x++) {
                histogram.count(image.row(y)[x]);
                sum += image.row(y)[x];
            }
            row_sums[y] = sum;
        }
    }
};

int main()
{
    Image image(40, 24);
    Histogram histogram(32);
    Job job(image, histogram);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(&Job::run, &job);
    for (std::thread &thread : threads)
        thread.join();
    std::uint64_t sum = std::accumulate(job.row_sums.begin(), job.row_sums.end(), std::uint64_t{0});
    std::printf("%u pixels, at most %u in a bin, brightest %u, sum %llu\n", histogram.total(),
                histogram.most(), histogram.brightest(), static_cast<unsigned long long>(sum));
    return histogram.total() == 40 * 24 ? 0 : 1;
}
