// executor.h: tasks in the background: their order, server, failure and end.
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "allocator.h"
#include "executor_support.h"
#include "support.h"

using namespace support;

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
        ENSURE(last_error_has("'blocker' runs and 1 tasks are queued"));
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
        // A loop needs no memory.
        const Executor executor = make_pool(2);
        host.fail_at(0, true);
        Loop loop(3);
        const hob_result result = loop.run(executor.get());
        host.heal();
        ENSURE(result == HOB_RESULT_OK && loop.is_complete());
    }
    ENSURE(host.live_blocks() == 0 && host.mistakes() == 0);
}
