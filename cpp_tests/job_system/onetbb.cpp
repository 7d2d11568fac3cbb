// Lends oneTBB, an independent job system, to the library. Its workers help with loops; one of its threads serves the
// background of a program cache. This is a program of its own; trials/tests/job_system.rs runs it.
#include <hobgoblin/hobgoblin.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

void check(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "%s; the last error: %s\n", what, hob_last_error());
    std::exit(1);
}

/// An engine's code to lend its job system: three functions and their state.
class JobSystem {
public:
    hob_executor_desc desc() {
        hob_executor_desc desc = HOB_EXECUTOR_DESC_INIT;
        desc.user_data = this;
        desc.enqueue = enqueue;
        desc.finish = finish;
        desc.post = post;
        desc.background = HOB_BACKGROUND_HOST;
        return desc;
    }

    /// Waits for all posted tasks, which must not run after the library is unloaded.
    void await_posted() {
        while (posted_.load() > 0) std::this_thread::yield();
    }

    int enqueued() const { return enqueued_.load(); }

private:
    using Run = void (*)(void* task);

    static void* enqueue(void* self, Run run, void* task, uint32_t /*flags*/, const char* /*name*/) {
        static_cast<JobSystem*>(self)->enqueued_.fetch_add(1);
        auto group = std::make_unique<tbb::task_group>();
        group->run([run, task] { run(task); });
        return group.release();
    }

    /// Runs the task here unless a worker has begun it. A late run of the task then finds no work.
    static void finish(void* /*self*/, void* ticket) {
        const std::unique_ptr<tbb::task_group> group(static_cast<tbb::task_group*>(ticket));
        group->wait();
    }

    static void post(void* self, Run run, void* task, uint32_t /*flags*/, const char* /*name*/) {
        auto* jobs = static_cast<JobSystem*>(self);
        jobs->posted_.fetch_add(1);
        jobs->background_.enqueue([jobs, run, task] {
            run(task);
            jobs->posted_.fetch_sub(1);
        });
    }

    tbb::task_arena background_{1, 0, tbb::task_arena::priority::low};
    std::atomic<int> posted_{0};
    std::atomic<int> enqueued_{0};
};

/// The records of a loop's blocks.
struct Loop {
    const hob_executor* executor;
    std::vector<std::atomic<uint32_t>> runs;
    std::atomic<uint32_t> helped{0};
    std::atomic<uint32_t> failures{0};

    Loop(const hob_executor* the_executor, size_t blocks) : executor(the_executor), runs(blocks) {}

    static void block(void* self, uint32_t block, uint32_t worker) {
        auto* loop = static_cast<Loop*>(self);
        loop->runs[block].fetch_add(1);
        if (worker > 0) loop->helped.fetch_add(1);
        // Nested: a plain loop.
        uint32_t inner = 0;
        const auto count = [](void* counter, uint32_t, uint32_t) { ++*static_cast<uint32_t*>(counter); };
        const hob_result done =
            hob_executor_parallel_for(loop->executor, 3, count, &inner, HOB_PRIORITY_NORMAL, HOB_STR("inner"));
        if (done != HOB_RESULT_OK || inner != 3) loop->failures.fetch_add(1);
    }
};

/// Runs loops until a worker of oneTBB has helped, at least a hundred times. Every block must run once per loop.
void loops_get_help(const hob_executor* executor) {
    uint32_t helped = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (int round = 0; round < 100 || helped == 0; ++round) {
        check(std::chrono::steady_clock::now() < end, "no worker has ever helped");
        Loop loop(executor, 1000);
        check(hob_executor_parallel_for(executor, 1000, Loop::block, &loop, HOB_PRIORITY_HIGH, HOB_STR("loop")) ==
                  HOB_RESULT_OK,
              "a loop failed");
        for (const auto& runs : loop.runs) check(runs.load() == 1, "a block did not run once");
        check(loop.failures.load() == 0, "a nested loop failed");
        helped += loop.helped.load();
    }
}

std::string key_of(int number) {
    return "program " + std::to_string(number);
}

/// oneTBB's thread writes programs, and reads them in the next cache.
void cache_is_served(const hob_executor* executor, const char* directory) {
    constexpr int programs = 50;
    for (int opening = 0; opening < 2; ++opening) {
        hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
        desc.directory = hob_str{directory, std::char_traits<char>::length(directory)};
        desc.executor = executor;
        hob_program_cache* cache = nullptr;
        check(hob_program_cache_create(&desc, &cache) == HOB_RESULT_OK, "the cache was not created");
        for (int number = 0; number < programs; ++number) {
            const std::string key = key_of(number), value = std::string(1000, 'v') + key;
            hob_fingerprint name = {};
            check(hob_fingerprint_hash_bytes(key.data(), key.size(), &name) == HOB_RESULT_OK, "a key was not named");
            if (opening == 0) {
                hob_program program = HOB_PROGRAM_INIT;
                program.data = value.data();
                program.size = value.size();
                check(hob_program_cache_put(cache, &name, &program) == HOB_RESULT_OK, "a program was not put");
                continue;
            }
            hob_blob blob = HOB_BLOB_INIT;
            check(hob_program_cache_get_wait(cache, &name, UINT64_MAX, &blob) == HOB_RESULT_OK, "a program is lost");
            check(std::string(static_cast<const char*>(blob.data), blob.size) == value, "a program is not as put");
            hob_blob_release(&blob);
        }
        check(hob_program_cache_flush(cache, UINT64_MAX) == HOB_RESULT_OK, "the cache was not flushed");
        hob_program_cache_destroy(cache);
    }
}

}  // namespace

int main(int count, char** arguments) {
    check(count == 2, "usage: onetbb DIRECTORY, which must not exist");
    JobSystem jobs;
    const hob_executor_desc desc = jobs.desc();
    hob_executor* executor = nullptr;
    check(hob_executor_create(&desc, &executor) == HOB_RESULT_OK, "the executor was not created");
    loops_get_help(executor);
    cache_is_served(executor, arguments[1]);
    hob_executor_destroy(executor);
    jobs.await_posted();
    std::printf("ok: %d tasks were given to oneTBB\n", jobs.enqueued());
    return 0;
}
