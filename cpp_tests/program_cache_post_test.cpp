// program_cache.h with the host's job system: the host's calls while it receives a task. MIT OR Apache-2.0.
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "program_cache_support.h"

using namespace support;

namespace {

/// A job system that calls the cache while it receives a task.
///
/// A lock protects its list. Other threads hold that lock while they call the cache.
class CuriousJobs {
public:
    explicit CuriousJobs(const std::string& directory) {
        hob_executor_desc desc = HOB_EXECUTOR_DESC_INIT;
        desc.user_data = this;
        desc.background = HOB_BACKGROUND_HOST;
        desc.post = [](void* self, void (*run)(void*), void* task, uint32_t, const char*) {
            static_cast<CuriousJobs*>(self)->post(run, task);
        };
        ENSURE_OK(hob_executor_create(&desc, &executor_));
        hob_program_cache_desc cache = desc_of(directory);
        cache.executor = executor_;
        cache_ = open(cache);
        is_there_ = true;
    }

    ~CuriousJobs() {
        is_there_ = false;
        run_what_waits();
        cache_.reset();
        run_what_waits();
        hob_executor_destroy(executor_);
    }

    hob_program_cache* cache() const { return cache_.get(); }

    void run_what_waits() {
        std::vector<Turn> turns;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            turns.swap(waiting_);
        }
        for (const Turn& turn : turns) turn.run(turn.task);
    }

    uint64_t look_under_lock() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return loading();
    }

    std::atomic<int> posts{0}, looks{0};

private:
    struct Turn {
        void (*run)(void*);
        void* task;
    };

    uint64_t loading() {
        uint64_t loaded = 0, total = 0;
        ENSURE_OK(hob_program_cache_get_loading_progress(cache(), &loaded, &total));
        return loaded;
    }

    void post(void (*run)(void*), void* task) {
        ++posts;
        const std::lock_guard<std::mutex> lock(mutex_);
        if (is_there_) {
            hob_program_cache_statistics found = HOB_PROGRAM_CACHE_STATISTICS_INIT;
            ENSURE_OK(hob_program_cache_get_statistics(cache(), &found));
            Blob blob;
            ENSURE(get(cache(), "asked from inside", blob) == HOB_RESULT_NOT_FOUND);
            loading();
            ++looks;
        }
        waiting_.push_back({run, task});
    }

    hob_executor* executor_ = nullptr;
    Cache cache_;
    std::mutex mutex_;
    std::vector<Turn> waiting_;
    std::atomic<bool> is_there_{false};
};

}  // namespace

TEST("program_cache: a job system can call the cache that enqueues a task") {
    const Directory directory;
    CuriousJobs jobs(directory.inside("cache"));
    jobs.run_what_waits();
    for (int round = 0; round < 50; ++round) {
        const std::string name = "program " + std::to_string(round);
        Blob blob;
        ENSURE(get(jobs.cache(), name, blob) == HOB_RESULT_NOT_FOUND);
        ENSURE_OK(put(jobs.cache(), name, "binary"));
        jobs.run_what_waits();
        if (round % 10 == 0) ENSURE_OK(hob_program_cache_flush(jobs.cache(), forever));
    }
    ENSURE(jobs.posts >= 50 && jobs.looks >= 50);
    ENSURE_OK(hob_program_cache_clear(jobs.cache(), 1));
    ENSURE_OK(hob_program_cache_flush(jobs.cache(), forever));
}

TEST("program_cache: calls under the job system's own lock do not deadlock with the cache") {
    const Directory directory;
    CuriousJobs jobs(directory.inside("cache"));
    std::atomic<bool> is_over{false};
    std::thread asking([&] {
        while (!is_over) jobs.look_under_lock();
    });
    std::thread serving([&] {
        while (!is_over) jobs.run_what_waits();
    });
    for (int round = 0; round < harness::scaled(2000); ++round) {
        ENSURE_OK(put(jobs.cache(), "program " + std::to_string(round), "binary"));
    }
    is_over = true;
    asking.join();
    serving.join();
    ENSURE_OK(hob_program_cache_flush(jobs.cache(), forever));
}
