// executor.h: loops over blocks on the calling thread, a pool and a job system.
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "allocator.h"
#include "executor_support.h"
#include "malloc_count.h"
#include "support.h"

using namespace support;

TEST("executor: a loop without an executor is inline") {
    runs_every_block_once(nullptr);
    Loop loop(100);
    ENSURE_OK(loop.run(nullptr));
    ENSURE(loop.elsewhere == 0 && loop.greatest_worker == 0);
    const Executor executor = make_executor(HOB_EXECUTOR_DESC_INIT);
    runs_every_block_once(executor.get());
    Loop again(100);
    ENSURE_OK(again.run(executor.get()));
    ENSURE(again.elsewhere == 0 && statistics(executor).max_concurrency == 1);
}

TEST("executor: a pool runs every block once, on no more threads than it has") {
    for (const uint32_t threads : {0u, 1u, 3u, 8u}) {
        const Executor executor = make_pool(threads);
        ENSURE(statistics(executor).max_concurrency == threads + 1);
        runs_every_block_once(executor.get());
        for (int n = 0; n < harness::scaled(2000); ++n) {
            Loop loop(static_cast<uint32_t>(n % 40));
            ENSURE_OK(loop.run(executor.get()));
            ENSURE(loop.is_complete() && loop.greatest_worker <= threads);
        }
    }
    hob_executor_desc desc = HOB_EXECUTOR_DESC_INIT;
    desc.pool_threads = 6;
    desc.max_concurrency = 2;
    const Executor limited = make_executor(desc);
    Loop loop(5000);
    ENSURE_OK(loop.run(limited.get()));
    ENSURE(loop.is_complete() && loop.greatest_worker <= 1);
}

TEST("executor: a pool worker takes part in a loop") {
    struct Meeting {
        std::mutex mutex;
        std::condition_variable changed;
        int here = 0;
        static void body(void* self, uint32_t, uint32_t) {
            Meeting& meeting = *static_cast<Meeting*>(self);
            std::unique_lock<std::mutex> lock(meeting.mutex);
            ++meeting.here;
            meeting.changed.notify_all();
            meeting.changed.wait(lock, [&] { return meeting.here == 3; });
        }
    };
    const Executor executor = make_pool(2);
    Meeting meeting;
    ENSURE_OK(hob_executor_parallel_for(executor.get(), 3, &Meeting::body, &meeting, HOB_PRIORITY_NORMAL, HOB_STR("")));
    ENSURE(meeting.here == 3);
}

TEST("executor: the host's job system helps, and every ticket is finished") {
    JobSystem jobs(3);
    {
        const Executor executor = make_executor(jobs.desc());
        runs_every_block_once(executor.get());
        for (int n = 0; n < harness::scaled(1000); ++n) {
            Loop loop(static_cast<uint32_t>(n % 40));
            ENSURE_OK(loop.run(executor.get()));
            ENSURE(loop.is_complete() && loop.greatest_worker < 4);
        }
        ENSURE(jobs.enqueued == jobs.finished && jobs.enqueued > 0 && jobs.released == 0);
        Loop loop(2);
        ENSURE_OK(loop.run(executor.get(), HOB_PRIORITY_HIGH, "shadow culling"));
        ENSURE(jobs.was_last("shadow culling", HOB_PRIORITY_HIGH));
    }
    ENSURE(jobs.released == 1);
}

TEST("executor: helpers that the host never runs are cancelled") {
    JobSystem jobs(0, JobSystem::Manner::never);
    const Executor executor = make_executor(jobs.desc());
    runs_every_block_once(executor.get());
    ENSURE(jobs.enqueued > 0 && jobs.taken_back == jobs.enqueued && jobs.finished == jobs.enqueued);
    // The same with tasks in a queue that no thread serves.
    JobSystem idle(0);
    const Executor other = make_executor(idle.desc());
    runs_every_block_once(other.get());
    ENSURE(idle.enqueued > 0 && idle.taken_back == idle.enqueued);
}

TEST("executor: a host can run helpers inside enqueue") {
    JobSystem jobs(0, JobSystem::Manner::run_inline);
    const Executor executor = make_executor(jobs.desc());
    runs_every_block_once(executor.get());
    ENSURE(jobs.enqueued > 0 && jobs.finished == 0);
}

TEST("executor: a nested loop runs inline") {
    struct Outer {
        const hob_executor* executor;
        static void body(void* self, uint32_t, uint32_t) {
            Loop inner(20);
            EXPECT(inner.run(static_cast<Outer*>(self)->executor) == HOB_RESULT_OK);
            EXPECT(inner.is_complete() && inner.elsewhere == 0);
        }
    };
    JobSystem jobs(2);
    const Executor pool = make_pool(2), host = make_executor(jobs.desc());
    for (const hob_executor* executor : {pool.get(), host.get()}) {
        Outer outer = {executor};
        const int before = jobs.enqueued;
        ENSURE_OK(hob_executor_parallel_for(executor, 50, &Outer::body, &outer, HOB_PRIORITY_LOW, HOB_STR("outer")));
        ENSURE(jobs.enqueued <= before + 3);
    }
}

TEST("executor: several threads run loops on one executor at once") {
    JobSystem jobs(2);
    const Executor pool = make_pool(2), host = make_executor(jobs.desc());
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; ++n) {
        threads.emplace_back([&, n] {
            const hob_executor* const executor = n % 2 == 0 ? pool.get() : host.get();
            for (int round = 0; round < harness::scaled(1000); ++round) {
                Loop loop(static_cast<uint32_t>(round % 30));
                EXPECT(loop.run(executor) == HOB_RESULT_OK);
                EXPECT(loop.is_complete());
            }
        });
    }
    for (auto& thread : threads) thread.join();
}

TEST("executor: callbacks stay on the calling thread if the desc asks for it") {
    hob_executor_desc desc = HOB_EXECUTOR_DESC_INIT;
    desc.pool_threads = 3;
    desc.background = HOB_BACKGROUND_THREAD;
    desc.flags = HOB_EXECUTOR_CALLING_THREAD_ONLY;
    const Executor executor = make_executor(desc);
    Loop loop(1000);
    ENSURE_OK(loop.run(executor.get()));
    ENSURE(loop.is_complete() && loop.elsewhere == 0);
    Note note;
    ENSURE_OK(note.post(executor.get()));
    ENSURE(statistics(executor).waiting == 1);
    uint32_t ran = 0;
    ENSURE_OK(hob_executor_pump(executor.get(), UINT64_MAX, &ran));
    ENSURE(ran == 1 && note.ran == 1 && note.released == 1 && note.thread == std::this_thread::get_id());
    Note waited;
    ENSURE_OK(waited.post(executor.get()));
    ENSURE_OK(hob_executor_wait_idle(executor.get(), UINT64_MAX));
    ENSURE(waited.ran == 1 && waited.thread == std::this_thread::get_id());
}

TEST("executor: a panic in a block reaches only the caller of the loop") {
    JobSystem jobs(2);
    const Executor pool = make_pool(3), host = make_executor(jobs.desc()), alone = make_executor(HOB_EXECUTOR_DESC_INIT);
    for (const hob_executor* executor : {pool.get(), host.get(), alone.get()}) {
        for (uint32_t passes : {0u, 1u, 50u, 99u}) {
            ENSURE_OK(hob_fault_arm(HOB_STR("executor.block"), passes));
            Loop loop(100);
            ENSURE(loop.run(executor) == HOB_RESULT_PANIC);
            ENSURE(last_error_has("fault point 'executor.block' was armed") && last_error_has("src/base/fault.rs"));
            ENSURE(!loop.is_complete());
            runs_every_block_once(executor);
        }
    }
    ENSURE(jobs.enqueued == jobs.finished);
}

TEST("executor: warm loops do not allocate") {
    HostAllocator host;
    JobSystem jobs(0, JobSystem::Manner::run_inline);
    {
        const Executor pool = make_pool(2), other = make_executor(jobs.desc());
        for (const hob_executor* executor : {pool.get(), other.get(), static_cast<hob_executor*>(nullptr)}) {
            Loop warm(64);
            ENSURE_OK(warm.run(executor));
            std::atomic<int> ran{0};
            const auto body = [](void* count, uint32_t, uint32_t) { ++*static_cast<std::atomic<int>*>(count); };
            const int loops = harness::scaled(20000);
            const uint64_t hooked = host.calls(), wrapped = malloc_calls();
            bool ok = true;
            for (int n = 0; n < loops; ++n) {
                ok &= hob_executor_parallel_for(executor, 8, body, &ran, HOB_PRIORITY_NORMAL, HOB_STR("x")) == HOB_RESULT_OK;
            }
            ENSURE(host.calls() == hooked && malloc_calls() == wrapped);
            ENSURE(ok && ran == 8 * loops);
        }
    }
    ENSURE(host.live_blocks() == 0 && host.mistakes() == 0);
}
