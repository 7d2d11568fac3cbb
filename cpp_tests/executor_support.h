// Executors for tests: a loop that counts its blocks, a job system like that of an engine, and a task that records its
// run. MIT OR Apache-2.0.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "support.h"

namespace support {

inline Executor make_executor(const hob_executor_desc& desc) {
    hob_executor* executor = nullptr;
    ENSURE_OK(hob_executor_create(&desc, &executor));
    ENSURE(executor != nullptr);
    return Executor(executor);
}

inline Executor make_pool(uint32_t threads) {
    hob_executor* executor = nullptr;
    ENSURE_OK(hob_executor_create_pool(threads, &executor));
    ENSURE(executor != nullptr);
    return Executor(executor);
}

inline hob_executor_statistics statistics(const Executor& executor) {
    hob_executor_statistics found = HOB_EXECUTOR_STATISTICS_INIT;
    ENSURE_OK(hob_executor_get_statistics(executor.get(), &found));
    return found;
}

/// A loop that counts the runs of each block, and records their threads.
struct Loop {
    explicit Loop(uint32_t blocks) : ran(blocks) {}

    std::vector<std::atomic<int>> ran;
    std::atomic<uint32_t> greatest_worker{0};
    std::atomic<int> elsewhere{0};
    std::thread::id caller = std::this_thread::get_id();

    static void body(void* self, uint32_t block, uint32_t worker) {
        Loop& loop = *static_cast<Loop*>(self);
        ++loop.ran[block];
        uint32_t seen = loop.greatest_worker;
        while (worker > seen && !loop.greatest_worker.compare_exchange_weak(seen, worker)) {
        }
        if (std::this_thread::get_id() != loop.caller) {
            ++loop.elsewhere;
            EXPECT(worker != 0);
        } else {
            EXPECT(worker == 0 || loop.greatest_worker > 0);
        }
    }

    hob_result run(const hob_executor* executor, hob_priority priority = HOB_PRIORITY_NORMAL,
                   const char* name = "loop") {
        return hob_executor_parallel_for(executor, static_cast<uint32_t>(ran.size()), &body, this, priority,
                                         hob_str_from(name));
    }
    bool is_complete() const {
        for (const auto& count : ran) {
            if (count != 1) return false;
        }
        return true;
    }
};

inline void runs_every_block_once(const hob_executor* executor) {
    for (const uint32_t blocks : {0u, 1u, 2u, 3u, 17u, 1000u}) {
        Loop loop(blocks);
        ENSURE_OK(loop.run(executor));
        ENSURE(loop.is_complete());
    }
}

using Run = void (*)(void*);

/// A job system like that of an engine: threads, a queue, tickets that can be cancelled.
class JobSystem {
public:
    enum class Manner { queue, run_inline, never };

    explicit JobSystem(size_t threads, Manner manner = Manner::queue) : manner_(manner) {
        for (size_t n = 0; n < threads; ++n) threads_.emplace_back([this] { serve(); });
    }
    JobSystem(const JobSystem&) = delete;
    JobSystem& operator=(const JobSystem&) = delete;
    ~JobSystem() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            is_over_ = true;
        }
        changed_.notify_all();
        for (auto& thread : threads_) thread.join();
        for (Job* job : posted_) delete job;
    }

    hob_executor_desc desc() {
        hob_executor_desc desc = HOB_EXECUTOR_DESC_INIT;
        desc.user_data = this;
        desc.max_concurrency = 4;
        desc.enqueue = &enqueue;
        desc.finish = &finish;
        desc.release = [](void* self) { ++of(self).released; };
        return desc;
    }
    hob_executor_desc desc_with_post() {
        hob_executor_desc with = desc();
        with.background = HOB_BACKGROUND_HOST;
        with.post = &post;
        return with;
    }

    std::atomic<int> enqueued{0}, finished{0}, taken_back{0}, posts{0}, released{0};

    /// Whether the latest task had this name and priority.
    bool was_last(std::string_view name, hob_priority priority) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return last_name_ == name && (last_flags_ & HOB_TASK_PRIORITY_MASK) == priority;
    }

private:
    struct Job {
        Run run;
        void* task;
        enum { open, begun, done } state;
        bool is_posted;
    };

    static JobSystem& of(void* self) { return *static_cast<JobSystem*>(self); }

    void note(uint32_t flags, const char* name) {
        const std::lock_guard<std::mutex> lock(mutex_);
        std::snprintf(last_name_, sizeof last_name_, "%s", name);
        last_flags_ = flags;
    }

    static void* enqueue(void* self, Run run, void* task, uint32_t flags, const char* name) {
        JobSystem& jobs = of(self);
        ++jobs.enqueued;
        jobs.note(flags, name);
        if (jobs.manner_ == Manner::run_inline) {
            run(task);
            return nullptr;
        }
        Job* const job = new Job{run, task, Job::open, false};
        if (jobs.manner_ == Manner::queue) {
            const std::lock_guard<std::mutex> lock(jobs.mutex_);
            jobs.waiting_.push_back(job);
            jobs.changed_.notify_all();
        }
        return job;
    }
    static void finish(void* self, void* ticket) {
        JobSystem& jobs = of(self);
        Job* const job = static_cast<Job*>(ticket);
        std::unique_lock<std::mutex> lock(jobs.mutex_);
        ++jobs.finished;
        if (job->state == Job::open) {
            ++jobs.taken_back;
            for (auto at = jobs.waiting_.begin(); at != jobs.waiting_.end(); ++at) {
                if (*at == job) {
                    jobs.waiting_.erase(at);
                    break;
                }
            }
        } else {
            jobs.changed_.wait(lock, [&] { return job->state == Job::done; });
        }
        delete job;
    }
    static void post(void* self, Run run, void* task, uint32_t flags, const char* name) {
        JobSystem& jobs = of(self);
        ++jobs.posts;
        jobs.note(flags, name);
        const std::lock_guard<std::mutex> lock(jobs.mutex_);
        Job* const job = new Job{run, task, Job::open, true};
        jobs.posted_.push_back(job);
        jobs.waiting_.push_back(job);
        jobs.changed_.notify_all();
    }
    void serve() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return is_over_ || !waiting_.empty(); });
            if (waiting_.empty()) return;
            Job* const job = waiting_.front();
            waiting_.pop_front();
            job->state = Job::begun;
            lock.unlock();
            job->run(job->task);
            lock.lock();
            job->state = Job::done;
            changed_.notify_all();
        }
    }

    const Manner manner_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job*> waiting_;
    std::vector<Job*> posted_;
    std::vector<std::thread> threads_;
    bool is_over_ = false;
    char last_name_[64] = "";
    uint32_t last_flags_ = 99;
};

/// A task that records whether it ran and was released.
struct Note {
    std::vector<int>* log = nullptr;
    int number = 0;
    std::atomic<int> ran{0}, released{0};
    std::thread::id thread;

    static void run(void* self) {
        Note& note = *static_cast<Note*>(self);
        ++note.ran;
        note.thread = std::this_thread::get_id();
        EXPECT(note.released == 0);
        if (note.log != nullptr) note.log->push_back(note.number);
    }
    static void release(void* self) { ++static_cast<Note*>(self)->released; }

    hob_result post(const hob_executor* executor, hob_priority priority = HOB_PRIORITY_NORMAL) {
        return hob_executor_post(executor, &run, this, &release, priority, HOB_STR("note"));
    }
};

}  // namespace support
