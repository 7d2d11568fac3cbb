// executor.h: loops over blocks with helpers, and tasks in the background.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "allocator.h"
#include "malloc_count.h"
#include "support.h"

using namespace support;

namespace {

Executor make_executor(const hob_executor_desc& desc) {
    hob_executor* executor = nullptr;
    ENSURE_OK(hob_executor_create(&desc, &executor));
    ENSURE(executor != nullptr);
    return Executor(executor);
}

Executor make_pool(uint32_t threads) {
    hob_executor* executor = nullptr;
    ENSURE_OK(hob_executor_create_pool(threads, &executor));
    ENSURE(executor != nullptr);
    return Executor(executor);
}

hob_executor_statistics statistics(const Executor& executor) {
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

void runs_every_block_once(const hob_executor* executor) {
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

}  // namespace

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

TEST("executor: a panic in a task is reported by the next pump or wait") {
    for (const bool threaded : {false, true}) {
        hob_executor_desc desc = HOB_EXECUTOR_DESC_INIT;
        desc.background = threaded ? HOB_BACKGROUND_THREAD : HOB_BACKGROUND_PUMP;
        const Executor executor = make_executor(desc);
        ENSURE_OK(hob_fault_arm(HOB_STR("executor.task"), 1));
        Note notes[3];
        for (Note& note : notes) ENSURE_OK(note.post(executor.get()));
        ENSURE(hob_executor_wait_idle(executor.get(), UINT64_MAX) == HOB_RESULT_PANIC);
        ENSURE(last_error_has("a background task failed") && last_error_has("'executor.task'"));
        ENSURE_OK(hob_executor_wait_idle(executor.get(), UINT64_MAX));
        ENSURE(notes[0].ran == 1 && notes[1].ran == 0 && notes[2].ran == 1);
        for (const Note& note : notes) ENSURE(note.released == 1);
        ENSURE(statistics(executor).failed == 1 && statistics(executor).ran == 3);
    }
}

TEST("executor: a pump runs queued tasks by priority, then in order") {
    const Executor executor = make_executor(HOB_EXECUTOR_DESC_INIT);
    std::vector<int> log;
    Note notes[6];
    const hob_priority priorities[] = {HOB_PRIORITY_LOW,  HOB_PRIORITY_NORMAL, HOB_PRIORITY_HIGH,
                                       HOB_PRIORITY_HIGH, HOB_PRIORITY_NORMAL, HOB_PRIORITY_LOW};
    for (int n = 0; n < 6; ++n) {
        notes[n].log = &log;
        notes[n].number = n;
        ENSURE_OK(notes[n].post(executor.get(), priorities[n]));
    }
    uint32_t ran = 77;
    ENSURE_OK(hob_executor_pump(executor.get(), 0, &ran));
    ENSURE(ran == 0 && log.empty() && statistics(executor).waiting == 6);
    ENSURE_OK(hob_executor_pump(executor.get(), UINT64_MAX, &ran));
    ENSURE(ran == 6 && log == std::vector<int>({2, 3, 1, 4, 0, 5}));
    ENSURE_OK(hob_executor_pump(executor.get(), UINT64_MAX, nullptr));
    for (const Note& note : notes) ENSURE(note.ran == 1 && note.released == 1);
}

TEST("executor: the budget of a pump is measured by the clock hook") {
    static std::atomic<uint64_t> now{0};
    const Hooks hooks;
    hob_clock_hook clock = HOB_CLOCK_HOOK_INIT;
    clock.now_ns = [](void*) { return now.load(); };
    ENSURE_OK(hob_set_clock_hook(&clock));
    const Executor executor = make_executor(HOB_EXECUTOR_DESC_INIT);
    for (int n = 0; n < 10; ++n) {
        const auto a_millisecond = [](void*) { now += 1000000; };
        ENSURE_OK(hob_executor_post(executor.get(), a_millisecond, nullptr, nullptr, HOB_PRIORITY_NORMAL, HOB_STR("1 ms")));
    }
    uint32_t ran = 0;
    ENSURE_OK(hob_executor_pump(executor.get(), 3000, &ran));
    ENSURE(ran == 3);
    ENSURE_OK(hob_executor_pump(executor.get(), 1, &ran));
    ENSURE(ran == 1);
    ENSURE_OK(hob_executor_pump(executor.get(), 1000000, &ran));
    ENSURE(ran == 6);
}

TEST("executor: a task can post, but cannot pump or wait") {
    struct Greedy {
        const hob_executor* executor;
        Note more;
        hob_result pumped, waited;
        static void run(void* self) {
            Greedy& greedy = *static_cast<Greedy*>(self);
            greedy.pumped = hob_executor_pump(greedy.executor, UINT64_MAX, nullptr);
            greedy.waited = hob_executor_wait_idle(greedy.executor, UINT64_MAX);
            EXPECT(greedy.more.post(greedy.executor) == HOB_RESULT_OK);
        }
    };
    for (const bool threaded : {false, true}) {
        const Executor executor = threaded ? make_pool(1) : make_executor(HOB_EXECUTOR_DESC_INIT);
        Greedy greedy = {executor.get(), {}, HOB_RESULT_OK, HOB_RESULT_OK};
        ENSURE_OK(hob_executor_post(executor.get(), &Greedy::run, &greedy, nullptr, HOB_PRIORITY_NORMAL, HOB_STR("greedy")));
        if (!threaded) {
            uint32_t ran = 0;
            ENSURE_OK(hob_executor_pump(executor.get(), UINT64_MAX, &ran));
            ENSURE(ran == 1 && greedy.more.ran == 0);
        }
        ENSURE_OK(hob_executor_wait_idle(executor.get(), UINT64_MAX));
        ENSURE(greedy.pumped == HOB_RESULT_BUSY && greedy.waited == HOB_RESULT_BUSY);
        ENSURE(greedy.more.ran == 1 && greedy.more.released == 1);
    }
}

TEST("executor: the built-in thread runs tasks, and a wait for it times out") {
    struct Blocker {
        std::atomic<bool> begun{false}, may_go{false};
        static void run(void* self) {
            Blocker& blocker = *static_cast<Blocker*>(self);
            blocker.begun = true;
            while (!blocker.may_go) std::this_thread::yield();
        }
    };
    const Executor executor = make_pool(0);
    Blocker blocker;
    ENSURE_OK(hob_executor_post(executor.get(), &Blocker::run, &blocker, nullptr, HOB_PRIORITY_HIGH, HOB_STR("blocker")));
    while (!blocker.begun) std::this_thread::yield();
    Note note;
    ENSURE_OK(note.post(executor.get()));
    ENSURE(statistics(executor).running == 1 && statistics(executor).waiting == 1);
    for (const uint64_t timeout : {0u, 2000u}) {
        ENSURE(hob_executor_wait_idle(executor.get(), timeout) == HOB_RESULT_TIMEOUT);
        ENSURE(last_error_has("'blocker' still runs and 1 tasks wait"));
    }
    uint32_t ran = 9;
    ENSURE_OK(hob_executor_pump(executor.get(), UINT64_MAX, &ran));
    ENSURE(ran == 0 && note.ran == 0);
    blocker.may_go = true;
    ENSURE_OK(hob_executor_wait_idle(executor.get(), UINT64_MAX));
    ENSURE(note.ran == 1 && note.released == 1 && statistics(executor).ran == 2);
}

TEST("executor: the host's thread runs posted jobs, also after the executor is destroyed") {
    JobSystem jobs(1);
    Note notes[20];
    {
        const Executor executor = make_executor(jobs.desc_with_post());
        for (Note& note : notes) ENSURE_OK(note.post(executor.get(), HOB_PRIORITY_LOW));
        ENSURE(jobs.posts == 20 && jobs.was_last("note", HOB_PRIORITY_LOW));
        ENSURE_OK(hob_executor_wait_idle(executor.get(), UINT64_MAX));
        for (const Note& note : notes) ENSURE(note.ran == 1 && note.released == 1);
    }
    ENSURE(jobs.released == 1);
    Note late[50];
    {
        const Executor executor = make_executor(jobs.desc_with_post());
        for (Note& note : late) ENSURE_OK(note.post(executor.get()));
    }
    for (const Note& note : late) ENSURE(note.ran <= 1 && note.released == 1);
}

TEST("executor: destruction releases each queued task once without running it") {
    for (int round = 0; round < harness::scaled(200); ++round) {
        Note notes[20];
        {
            const Executor executor = round % 2 == 0 ? make_executor(HOB_EXECUTOR_DESC_INIT) : make_pool(1);
            for (Note& note : notes) ENSURE_OK(note.post(executor.get()));
        }
        for (const Note& note : notes) ENSURE(note.released == 1 && note.ran <= (round % 2 == 0 ? 0 : 1));
    }
}

TEST("executor: an executor can be destroyed inside its own task and block") {
    struct Last {
        hob_executor* executor;
        static void run(void* self) { hob_executor_destroy(static_cast<Last*>(self)->executor); }
        static void body(void* self, uint32_t block, uint32_t) {
            if (block == 0) run(self);
        }
    };
    Last last = {make_executor(HOB_EXECUTOR_DESC_INIT).release()};
    Note never;
    ENSURE_OK(hob_executor_post(last.executor, &Last::run, &last, nullptr, HOB_PRIORITY_HIGH, HOB_STR("last")));
    ENSURE_OK(never.post(last.executor));
    const hob_executor* const executor = last.executor;
    uint32_t ran = 0;
    ENSURE_OK(hob_executor_pump(executor, UINT64_MAX, &ran));
    // The call itself kept the executor alive until it returned.
    ENSURE(ran == 2 && never.ran == 1 && never.released == 1);
    last.executor = make_executor(HOB_EXECUTOR_DESC_INIT).release();
    ENSURE_OK(hob_executor_parallel_for(last.executor, 3, &Last::body, &last, HOB_PRIORITY_HIGH, HOB_STR("last")));
}

TEST("executor: a full queue rejects a task, which stays with the caller") {
    hob_executor_desc desc = HOB_EXECUTOR_DESC_INIT;
    ENSURE(desc.task_limit == 65536);
    desc.task_limit = 3;
    const Executor executor = make_executor(desc);
    Note notes[4];
    for (int n = 0; n < 3; ++n) ENSURE_OK(notes[n].post(executor.get()));
    ENSURE(notes[3].post(executor.get()) == HOB_RESULT_LIMIT_EXCEEDED && last_error_has("task_limit"));
    ENSURE(notes[3].released == 0);
    ENSURE_OK(hob_executor_wait_idle(executor.get(), UINT64_MAX));
    ENSURE_OK(notes[3].post(executor.get()));
    ENSURE(hob_executor_memory_used(executor.get()) > 3 * 40 && hob_executor_memory_used(executor.get()) < 10000);
}

TEST("executor: a task that cannot be allocated is rejected and stays with the caller") {
    HostAllocator host;
    for (uint64_t at = 0; at < 4; ++at) {
        const Executor executor = make_executor(HOB_EXECUTOR_DESC_INIT);
        host.fail_at(at, true);
        Note note;
        const hob_result result = note.post(executor.get());
        ENSURE(result == (at < 2 ? HOB_RESULT_OUT_OF_MEMORY : HOB_RESULT_OK));
        ENSURE(note.released == 0 && statistics(executor).waiting == (at < 2 ? 0 : 1));
        host.heal();
        ENSURE_OK(hob_executor_wait_idle(executor.get(), UINT64_MAX));
        ENSURE(note.ran == (at < 2 ? 0 : 1) && note.released == note.ran);
    }
    {
        // A loop that could not be announced runs without helpers.
        const Executor executor = make_pool(2);
        host.fail_at(0, true);
        Loop loop(3);
        const hob_result result = loop.run(executor.get());
        host.heal();
        ENSURE(result == HOB_RESULT_OK && loop.is_complete() && loop.elsewhere == 0);
    }
    ENSURE(host.live_blocks() == 0 && host.mistakes() == 0);
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

TEST("executor: a thousand pools are created and destroyed") {
    for (int n = 0; n < harness::scaled(1000); ++n) {
        const Executor executor = make_pool(static_cast<uint32_t>(n % 4));
        if (n % 3 == 0) continue;
        Note note;
        Loop loop(static_cast<uint32_t>(n % 7));
        ENSURE_OK(note.post(executor.get()));
        ENSURE_OK(loop.run(executor.get()));
        ENSURE(loop.is_complete());
        if (n % 3 == 1) continue;
        ENSURE_OK(hob_executor_wait_idle(executor.get(), UINT64_MAX));
        ENSURE(note.ran == 1);
    }
}

TEST("executor: a zeroed desc with its size works") {
    hob_executor_desc desc = {};
    desc.struct_size = sizeof desc;
    const Executor executor = make_executor(desc);
    runs_every_block_once(executor.get());
    Note note;
    ENSURE_OK(note.post(executor.get()));
    ENSURE_OK(hob_executor_pump(executor.get(), UINT64_MAX, nullptr));
    ENSURE(note.ran == 1 && note.released == 1);
    hob_executor_statistics found = {};
    found.struct_size = sizeof found;
    ENSURE_OK(hob_executor_get_statistics(executor.get(), &found));
    ENSURE(found.ran == 1 && found.max_concurrency == 1 && found.struct_size == sizeof found);
}

TEST("executor: a rejected loop calls and releases nothing") {
    JobSystem jobs(1);
    const Executor executor = make_executor(jobs.desc_with_post());
    Loop loop(10);
    Note note;
    ENSURE(loop.run(executor.get(), static_cast<hob_priority>(3)) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(note.post(executor.get(), static_cast<hob_priority>(3)) == HOB_RESULT_INVALID_ARGUMENT);
    for (const auto& ran : loop.ran) ENSURE(ran == 0);
    ENSURE(note.ran == 0 && note.released == 0 && jobs.enqueued == 0 && jobs.posts == 0);
}

TEST("executor: invalid descs are rejected with a message and nothing is released") {
    const auto refused = [](const hob_executor_desc& desc, const char* part) {
        hob_executor* executor = nullptr;
        ENSURE(hob_executor_create(&desc, &executor) == HOB_RESULT_INVALID_ARGUMENT && executor == nullptr);
        ENSURE(last_error_has(part));
    };
    JobSystem jobs(0);
    const hob_executor_desc good = jobs.desc(), posting = jobs.desc_with_post();
    hob_executor_desc desc = good;
    desc.finish = nullptr;
    refused(desc, "enqueue and finish belong together");
    desc = good;
    desc.enqueue = nullptr;
    refused(desc, "enqueue and finish belong together");
    desc = good;
    desc.pool_threads = 1;
    refused(desc, "leave pool_threads 0");
    desc = good;
    desc.background = HOB_BACKGROUND_HOST;
    refused(desc, "post");
    desc = posting;
    desc.background = HOB_BACKGROUND_THREAD;
    refused(desc, "post");
    desc = good;
    desc.background = static_cast<hob_background>(3);
    refused(desc, "hob_background");
    desc = good;
    desc.flags = 2;
    refused(desc, "flags");
    desc = good;
    desc.max_concurrency = 65;
    refused(desc, "64 threads");
    hob_executor* executor = nullptr;
    ENSURE(hob_executor_create_pool(64, &executor) == HOB_RESULT_INVALID_ARGUMENT && executor == nullptr);
    ENSURE(hob_executor_create_pool(1, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_executor_create(&good, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(jobs.released == 0);
    desc = good;
    desc.release = nullptr;
    ENSURE_OK(hob_executor_create(&desc, &executor));
    hob_executor_destroy(executor);
}

TEST("executor: invalid arguments are rejected with a message") {
    const Executor executor = make_executor(HOB_EXECUTOR_DESC_INIT);
    hob_executor* const good = executor.get();
    const auto body = [](void*, uint32_t, uint32_t) {};
    const auto run = [](void*) {};
    const hob_priority normal = HOB_PRIORITY_NORMAL, unknown = static_cast<hob_priority>(3);
    ENSURE(hob_executor_parallel_for(good, 1, nullptr, nullptr, normal, HOB_STR("")) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(last_error_has("body is NULL"));
    ENSURE(hob_executor_parallel_for(good, 1, body, nullptr, unknown, HOB_STR("")) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(last_error_has("priority 3 is not a hob_priority"));
    ENSURE(hob_executor_parallel_for(good, 1, body, nullptr, normal, HOB_STR("\xff")) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_executor_parallel_for(good, 0, nullptr, nullptr, normal, HOB_STR("")) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_executor_post(good, nullptr, nullptr, nullptr, normal, HOB_STR("")) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_executor_post(good, run, nullptr, nullptr, unknown, HOB_STR("")) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_executor_post(good, run, nullptr, nullptr, normal, hob_str_of(nullptr, 1)) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_executor_post(nullptr, run, nullptr, nullptr, normal, HOB_STR("")) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_executor_pump(nullptr, 1, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_executor_wait_idle(nullptr, 1) == HOB_RESULT_INVALID_ARGUMENT);
    hob_executor_statistics found = HOB_EXECUTOR_STATISTICS_INIT;
    ENSURE(hob_executor_get_statistics(nullptr, &found) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_executor_get_statistics(good, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_executor_memory_used(nullptr) == 0);
    hob_executor_destroy(nullptr);
    ENSURE(statistics(executor).waiting == 0);
    const std::string long_name(1000, 'n');
    ENSURE_OK(hob_executor_post(good, run, nullptr, nullptr, normal, str(long_name)));
    ENSURE_OK(hob_executor_parallel_for(good, 2, body, nullptr, normal, str(long_name)));
    const Profile profile = make_profile();
    ENSURE(hob_executor_wait_idle(reinterpret_cast<hob_executor*>(profile.get()), 1) == HOB_RESULT_INVALID_ARGUMENT);
}
