// executor.h: creation, destruction and invalid input.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "executor_support.h"
#include "support.h"

using namespace support;

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
    hob_executor* executor = nullptr;
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
    ENSURE(hob_executor_create(&desc, &executor) == HOB_RESULT_UNSUPPORTED && executor == nullptr);
    ENSURE(last_error_has("flags 0x2"));
    desc = good;
    desc.max_concurrency = 65;
    refused(desc, "64 threads");
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
