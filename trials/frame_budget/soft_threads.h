// A handful of threads that share out the rows (or tiles, or chunks) of a pass.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace frame_budget {

class SoftThreads {
public:
    SoftThreads() {
        const unsigned count = std::max(std::thread::hardware_concurrency(), 1u);
        for (unsigned i = 1; i < count; ++i) workers.emplace_back([this] { work(); });
    }
    ~SoftThreads() {
        {
            const std::lock_guard lock(mutex);
            stop = true;
        }
        wake.notify_all();
        for (std::thread& worker : workers) worker.join();
    }
    SoftThreads(const SoftThreads&) = delete;
    SoftThreads& operator=(const SoftThreads&) = delete;

    std::size_t count() const { return workers.size() + 1; }

    /// Calls `task` with 0 .. count - 1, each once, on all threads and on this one; returns when all are done.
    void run(int task_count, const std::function<void(int)>& task) {
        {
            const std::lock_guard lock(mutex);
            current = &task;
            next = 0;
            limit = task_count;
            busy = workers.size();
            ++generation;
        }
        wake.notify_all();
        take_tasks(task, task_count);
        std::unique_lock lock(mutex);
        done.wait(lock, [this] { return busy == 0; });
    }

private:
    void take_tasks(const std::function<void(int)>& task, int task_count) {
        for (int i = next++; i < task_count; i = next++) task(i);
    }

    void work() {
        std::uint64_t seen = 0;
        std::unique_lock lock(mutex);
        for (;;) {
            wake.wait(lock, [&] { return stop || generation != seen; });
            if (stop) return;
            seen = generation;
            const std::function<void(int)>& task = *current;
            const int task_count = limit;
            lock.unlock();
            take_tasks(task, task_count);
            lock.lock();
            if (--busy == 0) done.notify_one();
        }
    }

    std::vector<std::thread> workers;
    std::mutex mutex;
    std::condition_variable wake, done;
    const std::function<void(int)>* current = nullptr;
    std::atomic<int> next{0};
    int limit = 0;
    std::size_t busy = 0;
    std::uint64_t generation = 0;
    bool stop = false;
};

} // namespace frame_budget
