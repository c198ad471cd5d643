// SPDX-License-Identifier: Apache-2.0
// Race-free: each stage gets its input from a future and passes its output on by a promise, which
// orders whatever was done before the value was set before whatever follows the get; a failure is
// passed on as an exception in the same way. A buffer belongs to the stage that holds its pointer.
// OPTIONS: -std=c++20
#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Document {
    int number;
    std::string text;
    std::vector<std::string> words;
    std::size_t longest = 0;
};

using DocumentPointer = std::unique_ptr<Document>;
using Stage = std::function<void(Document &)>;

static void split(Document &d)
{
    std::string word;
    for (char c : d.text + " ") {
        if (c != ' ') {
            word += c;
        } else if (!word.empty()) {
            d.words.push_back(word);
            word.clear();
        }
    }
    if (d.words.empty())
        throw std::runtime_error("empty document");
}

static void measure(Document &d)
{
    for (const std::string &word : d.words)
        d.longest = std::max(d.longest, word.size());
}

static void join_words(Document &d)
{
    d.text = std::accumulate(d.words.begin(), d.words.end(), std::string(),
                             [](std::string a, const std::string &b) { return a + b + "-"; });
}

static void run_stage(const Stage &stage, std::future<DocumentPointer> in,
                      std::promise<DocumentPointer> out)
{
    try {
        DocumentPointer document = in.get();
        stage(*document);
        out.set_value(std::move(document));
    } catch (...) {
        out.set_exception(std::current_exception());
    }
}

class Pipeline {
public:
    explicit Pipeline(std::vector<Stage> stages) : stages_(std::move(stages)) {}

    DocumentPointer process(DocumentPointer document)
    {
        std::vector<std::thread> threads;
        std::promise<DocumentPointer> first;
        std::future<DocumentPointer> link = first.get_future();
        for (const Stage &stage : stages_) {
            std::promise<DocumentPointer> out;
            std::future<DocumentPointer> next = out.get_future();
            threads.emplace_back(run_stage, std::cref(stage), std::move(link), std::move(out));
            link = std::move(next);
        }
        first.set_value(std::move(document));
        DocumentPointer result;
        std::exception_ptr failure;
        try {
            result = link.get();
            result->text += std::to_string(result->longest);
        } catch (...) {
            failure = std::current_exception();
        }
        for (std::thread &thread : threads)
            thread.join();
        if (failure)
            std::rethrow_exception(failure);
        return result;
    }

private:
    std::vector<Stage> stages_;
};

int main()
{
    Pipeline pipeline({split, measure, join_words});
    int failed = 0;
    std::size_t letters = 0;
    const char *const texts[] = {"a short note", "", "some rather longer text with more words"};
    for (int i = 0; i < 3; i++) {
        try {
            auto document = std::make_unique<Document>();
            document->number = i;
            document->text = texts[i];
            letters += pipeline.process(std::move(document))->text.size();
        } catch (const std::runtime_error &error) {
            failed++;
        }
    }
    std::printf("%zu letters, %d failed\n", letters, failed);
    return failed == 1 ? 0 : 1;
}
