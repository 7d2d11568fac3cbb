// program_cache.h with store.h: a cache on the host's own files, which may be missing, broken or wrong.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "memory_files.h"
#include "program_cache_support.h"

using namespace support;
using harness::scaled;

namespace {

/// A path that must not exist on the disk, before and after a test.
const std::string nowhere = "no such directory/of the host";

constexpr uint32_t codes[] = {HOB_RESULT_NOT_FOUND, HOB_RESULT_BUSY, HOB_RESULT_LIMIT_EXCEEDED, HOB_RESULT_UNSUPPORTED,
                              HOB_RESULT_OUT_OF_MEMORY, HOB_RESULT_IO, 4711};

/// A cache on that io only. It copies `io`.
hob_program_cache_desc on(const hob_file_io& io) {
    hob_program_cache_desc desc = desc_of(nowhere);
    desc.file_io = &io;
    return desc;
}

std::string name_of(int number) { return "program " + std::to_string(number); }
std::string data_for(int number) { return std::string(static_cast<size_t>(100 + number * 37), static_cast<char>('a' + number % 26)); }

/// Puts programs from `begin` to `end`. Returns the result of a flush.
hob_result fill(const Cache& cache, int begin, int end) {
    for (int number = begin; number < end; ++number) ENSURE_OK(put(cache.get(), name_of(number), data_for(number)));
    const hob_result result = hob_program_cache_flush(cache.get(), forever);
    ENSURE(result != HOB_RESULT_PANIC && trouble(cache.get()).find("internal error") == std::string::npos);
    return result;
}

/// Number of programs that the cache serves, each with the correct bytes.
int served(const Cache& cache, int begin, int end) {
    int count = 0;
    for (int number = begin; number < end; ++number) {
        const hob_fingerprint name = key(name_of(number));
        Blob blob;
        const hob_result result = hob_program_cache_get_wait(cache.get(), &name, forever, &blob.view);
        if (result == HOB_RESULT_OK) ENSURE(blob.data() == data_for(number));
        ENSURE(result != HOB_RESULT_PANIC && trouble(cache.get()).find("internal error") == std::string::npos);
        count += result == HOB_RESULT_OK ? 1 : 0;
    }
    return count;
}

hob_result begin_use(const Cache& cache, std::string_view name, hob_use_id& use) {
    const hob_fingerprint fingerprint = key(name);
    return hob_program_cache_begin_use(cache.get(), &fingerprint, &use);
}

uint32_t strikes(const Cache& cache, std::string_view name) {
    const hob_fingerprint fingerprint = key(name);
    uint32_t count = 99;
    ENSURE_OK(hob_program_cache_get_strikes(cache.get(), &fingerprint, &count));
    return count;
}

}  // namespace

TEST("program_cache: a cache on host files reads its own files back and touches no other") {
    for (const bool has_locks : {true, false}) {
        MemoryFiles files;
        const hob_file_io io = files.io(has_locks);
        for (int round = 0; round < 3; ++round) {
            const Cache cache = opened(on(io));
            ENSURE(served(cache, 0, round * 40) == round * 40);
            ENSURE(fill(cache, round * 40, round * 40 + 40) == HOB_RESULT_OK);
            hob_use_id use = {};
            ENSURE_OK(begin_use(cache, name_of(0), use));
            ENSURE_OK(hob_program_cache_end_use(cache.get(), use, HOB_USE_OUTCOME_OK));
            ENSURE(trouble(cache.get()).empty() && statistics(cache.get()).disk_io_errors == 0);
        }
        ENSURE(files.releases() == 3 && files.left_open() == 0);
        ENSURE(files.calls(FileCall::sync) >= 3 && files.calls(FileCall::sync_directory) >= 3);
        ENSURE((files.calls(FileCall::try_lock) > 0) == has_locks);
        for (const auto& file : files.contents()) ENSURE(file.first.find(nowhere) == 0);
        ENSURE(!std::filesystem::exists(nowhere) && !std::filesystem::exists("no such directory"));
    }
}

TEST("program_cache: host files are read and written in the background while threads put and get") {
    MemoryFiles files;
    const hob_file_io io = files.io();
    hob_executor* raw = nullptr;
    ENSURE_OK(hob_executor_create_pool(0, &raw));
    const Executor executor(raw);
    hob_program_cache_desc desc = on(io);
    desc.executor = raw;
    desc.flags = HOB_PROGRAM_CACHE_COMPRESS;
    desc.described_keys = 10;
    for (int round = 0; round < scaled(20); ++round) {
        Cache cache = open(desc);
        std::vector<std::thread> threads;
        for (int hand = 0; hand < 3; ++hand) {
            threads.emplace_back([&, hand] {
                for (int number = hand; number < 60; number += 3) {
                    hob_use_id use = {};
                    EXPECT(put(cache.get(), name_of(number), data_for(number)) == HOB_RESULT_OK);
                    EXPECT(begin_use(cache, name_of(number), use) == HOB_RESULT_OK);
                    EXPECT(hob_program_cache_end_use(cache.get(), use, HOB_USE_OUTCOME_OK) == HOB_RESULT_OK);
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        if (round % 2 == 0) ENSURE_OK(hob_program_cache_flush(cache.get(), forever));
        // Also if a task has just begun on the other thread.
        cache.reset();
        ENSURE(files.left_open() == 0 && files.releases() == round + 1);
    }
    const Cache cache = open(desc);
    ENSURE(served(cache, 0, 60) == 60 && trouble(cache.get()).empty());
}

TEST("program_cache: gets and puts do not wait for slow host files") {
    static std::mutex gate;
    static std::atomic<int> inside;
    inside = 0;
    MemoryFiles files;
    files.on_call = [] {
        ++inside;
        const std::lock_guard<std::mutex> pass(gate);
    };
    const hob_file_io io = files.io();
    hob_executor* raw = nullptr;
    ENSURE_OK(hob_executor_create_pool(0, &raw));
    const Executor executor(raw);
    hob_program_cache_desc desc = on(io);
    desc.executor = raw;
    desc.ban_at = UINT32_MAX;  // so that only the background uses the files
    std::unique_lock<std::mutex> closed(gate);
    const Cache cache = open(desc);
    while (inside == 0) std::this_thread::yield();
    std::promise<void> played;
    std::future<void> end = played.get_future();
    std::thread player([&] {
        EXPECT(put(cache.get(), "a", "binary") == HOB_RESULT_OK);
        EXPECT(data_of(cache.get(), "a") == "binary" && data_of(cache.get(), "b") == "(none)");
        EXPECT(statistics(cache.get()).waiting > 0);
        played.set_value();
    });
    const bool was_free = end.wait_for(std::chrono::seconds(60)) == std::future_status::ready;
    closed.unlock();
    player.join();
    ENSURE(was_free);
    ENSURE_OK(hob_program_cache_flush(cache.get(), forever));
    ENSURE(statistics(cache.get()).disk_values == 1 && trouble(cache.get()).empty());
}

TEST("program_cache: host files stay on the calling thread if the executor keeps callbacks there") {
    static std::thread::id mine;
    mine = std::this_thread::get_id();
    MemoryFiles files;
    files.on_call = [] { EXPECT(std::this_thread::get_id() == mine); };
    const hob_file_io io = files.io();
    hob_executor_desc threads = HOB_EXECUTOR_DESC_INIT;
    threads.background = HOB_BACKGROUND_THREAD;
    threads.flags = HOB_EXECUTOR_CALLING_THREAD_ONLY;
    hob_executor* raw = nullptr;
    ENSURE_OK(hob_executor_create(&threads, &raw));
    const Executor executor(raw);
    hob_program_cache_desc desc = on(io);
    desc.executor = raw;
    const Cache cache = open(desc);
    for (int number = 0; number < 100; ++number) ENSURE_OK(put(cache.get(), name_of(number), data_for(number)));
    uint32_t ran = 0;
    ENSURE_OK(hob_executor_pump(raw, forever, &ran));
    ENSURE(ran > 0 && statistics(cache.get()).waiting == 0 && statistics(cache.get()).disk_values == 100);
}

TEST("program_cache: maintenance of the disk tier uses host files") {
    MemoryFiles files;
    const hob_file_io io = files.io();
    hob_program_cache_desc desc = on(io);
    const std::string big(100000, 'x');
    // Many launches, each with a segment of its own. The cache merges them and evicts the excess.
    for (int launch = 0; launch < 12; ++launch) {
        const Cache cache = opened(desc);
        ENSURE_OK(put(cache.get(), name_of(launch), big + std::to_string(launch)));
    }
    const auto segments = [&] {
        int count = 0;
        for (const auto& file : files.contents()) count += file.first.rfind(".seg") == file.first.size() - 4 ? 1 : 0;
        return count;
    };
    ENSURE(segments() < 12);
    const Cache cache = opened(desc);
    ENSURE(statistics(cache.get()).programs == 12 && trouble(cache.get()).empty());
    ENSURE_OK(hob_program_cache_set_disk_limit(cache.get(), 300000));
    ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
    ENSURE(statistics(cache.get()).disk_live_bytes <= 300000);
    ENSURE_OK(hob_program_cache_clear(cache.get(), 1));
    ENSURE_OK(hob_program_cache_flush(cache.get(), forever));
    const Cache next = opened(desc);
    ENSURE(statistics(next.get()).programs == 0 && trouble(next.get()).empty());
}

TEST("program_cache: a bundle is written and read through host files") {
    MemoryFiles files;
    const hob_file_io io = files.io();
    hob_program_cache_desc desc = on(io);
    desc.directory = HOB_STR("");
    const char* const path = "a bundle.hob";
    {
        const Cache cache = open(desc);
        ENSURE_OK(fill(cache, 0, 20));
        uint64_t programs = 0;
        ENSURE_OK(hob_program_cache_write_bundle(cache.get(), hob_str_from(path), HOB_BUNDLE_CONTENTS_ALL, &programs));
        ENSURE(programs == 20 && files.contents().size() == 1 && files.contents().count(path) == 1);
    }
    const Cache cache = open(desc);
    ENSURE_OK(hob_program_cache_add_bundle(cache.get(), hob_str_from(path)));
    ENSURE(served(cache, 0, 20) == 20);
    ENSURE(hob_program_cache_add_bundle(cache.get(), HOB_STR("another")) == HOB_RESULT_IO && last_error_has("another"));
    files.fail(FileCall::read, 1, HOB_RESULT_IO);
    ENSURE(hob_program_cache_add_bundle(cache.get(), hob_str_from(path)) == HOB_RESULT_IO && last_error_has(path));
    ENSURE(!std::filesystem::exists(path));
}

TEST("program_cache: failed host file calls keep flushed programs and are reported") {
    for (size_t call = 0; call < file_calls; ++call) {
        uint64_t failed = 0;
        for (const uint32_t code : codes) {
            for (const uint64_t period : {1u, 2u, 3u, 7u}) {
                MemoryFiles files;
                const hob_file_io io = files.io();
                { ENSURE(fill(opened(on(io)), 0, 5) == HOB_RESULT_OK); }
                files.fail(static_cast<FileCall>(call), period, code);
                hob_result flushed = HOB_RESULT_OK;
                std::string message;
                {
                    const hob_program_cache_desc desc = on(io);
                    hob_program_cache* created = nullptr;
                    const hob_result result = hob_program_cache_create(&desc, &created);
                    if (result == HOB_RESULT_OUT_OF_MEMORY && code == HOB_RESULT_OUT_OF_MEMORY) {
                        failed += files.failed();
                        continue;
                    }
                    ENSURE_OK(result);
                    const Cache cache(created);
                    (void)hob_program_cache_wait_idle(cache.get(), forever);
                    (void)served(cache, 0, 5);
                    flushed = fill(cache, 5, 10);
                    if (flushed != HOB_RESULT_OK) message = hob_last_error();
                    ENSURE(served(cache, 5, 10) == 5);  // in memory
                    hob_use_id use = {};
                    ENSURE_OK(begin_use(cache, name_of(7), use));
                    ENSURE_OK(hob_program_cache_end_use(cache.get(), use, HOB_USE_OUTCOME_OK));
                    (void)hob_program_cache_clear_strikes(cache.get(), nullptr);
                    const hob_fingerprint mine = key(name_of(7));
                    ENSURE_OK(hob_program_cache_mark_startup(cache.get(), &mine, 1));
                    (void)hob_program_cache_write_bundle(cache.get(), HOB_STR("bundle"), HOB_BUNDLE_CONTENTS_ALL, nullptr);
                    (void)trouble(cache.get());
                }
                failed += files.failed();
                ENSURE(files.releases() == 2 && files.left_open() == 0);
                files.fail(static_cast<FileCall>(call), 0, HOB_RESULT_OK);
                const Cache cache = opened(on(io));
                // On a full disk, old programs may be evicted for new ones.
                const bool is_full = code == HOB_RESULT_LIMIT_EXCEEDED;
                ENSURE(is_full || served(cache, 0, 5) == 5);
                ENSURE(flushed == HOB_RESULT_OK ? is_full || served(cache, 5, 10) == 5 : !message.empty());
                ENSURE(strikes(cache, name_of(7)) == 0);
                // The cache works with any leftover files.
                ENSURE(fill(cache, 10, 15) == HOB_RESULT_OK && served(cache, 10, 15) == 5);
            }
        }
        ENSURE(failed > 0);
    }
}

TEST("program_cache: the host's error text is part of the message") {
    const struct {
        uint32_t code;
        const char* sentence;
    } failures[] = {{HOB_RESULT_LIMIT_EXCEEDED, "free some space"},
                {HOB_RESULT_UNSUPPORTED, "allow this user to write"},
                {HOB_RESULT_IO, "no such directory"}};
    for (const auto& one : failures) {
        MemoryFiles files;
        const hob_file_io io = files.io();
        const Cache cache = opened(on(io));
        files.fail(FileCall::write, 1, one.code);
        ENSURE(fill(cache, 0, 3) == HOB_RESULT_IO && last_error_has(one.sentence) && !last_error_has("system error"));
        ENSURE(trouble(cache.get()).find(one.sentence) != std::string::npos);
        files.fail(FileCall::write, 0, HOB_RESULT_OK);
        ENSURE(fill(cache, 3, 6) == HOB_RESULT_OK && trouble(cache.get()).empty());
        hob_use_id use = {};
        files.fail(FileCall::write, 1, one.code);
        ENSURE_OK(begin_use(cache, "a", use));
        ENSURE(trouble(cache.get()).find(one.sentence) != std::string::npos);
    }
}

TEST("program_cache: a problem and its end are one line of the log each") {
    const Hooks cleared_at_the_end;
    std::vector<std::pair<hob_log_level, std::string>> lines;
    hob_log_hook hook = HOB_LOG_HOOK_INIT;
    hook.user_data = &lines;
    hook.write = [](void* user_data, hob_log_level level, hob_str line) {
        static_cast<decltype(lines)*>(user_data)->emplace_back(level, text(line));
    };
    ENSURE_OK(hob_set_log_hook(&hook));
    MemoryFiles files;
    const hob_file_io io = files.io();
    const Cache cache = opened(on(io));
    files.fail(FileCall::write, 1, HOB_RESULT_LIMIT_EXCEEDED);
    for (int number = 0; number < 3; ++number) ENSURE(fill(cache, number, number + 1) == HOB_RESULT_IO);
    ENSURE(lines.size() == 1 && lines[0].first == HOB_LOG_LEVEL_WARNING);
    ENSURE(lines[0].second == "program cache: " + trouble(cache.get()));
    files.fail(FileCall::write, 0, HOB_RESULT_OK);
    ENSURE_OK(fill(cache, 3, 6));
    ENSURE(lines.size() == 2 && lines[1].first == HOB_LOG_LEVEL_INFO);
    ENSURE(lines[1].second.find("the problem is over") != std::string::npos);
}

TEST("program_cache: wrong answers from host files cost programs but give no wrong one") {
    for (int lie = 1; lie < lies; ++lie) {
        for (const bool has_locks : {true, false}) {
            MemoryFiles files;
            const hob_file_io io = files.io(has_locks);
            { ENSURE(fill(opened(on(io)), 0, 20) == HOB_RESULT_OK); }
            files.tell(static_cast<Lie>(lie));
            for (int round = 0; round < scaled(3); ++round) {
                const Cache cache = open(on(io)), another = open(on(io));
                (void)hob_program_cache_wait_idle(cache.get(), forever);
                (void)served(cache, 0, 20);
                (void)fill(cache, 20, 40);
                (void)fill(another, 40, 60);
                (void)served(another, 0, 60);
                hob_use_id use = {};
                ENSURE_OK(begin_use(cache, name_of(1), use));
                ENSURE_OK(hob_program_cache_end_use(cache.get(), use, HOB_USE_OUTCOME_OK));
                if (round == 1) (void)hob_program_cache_clear(another.get(), 1);
                (void)hob_program_cache_clear_strikes(cache.get(), nullptr);
                (void)hob_program_cache_add_bundle(cache.get(), HOB_STR("nothing"));
            }
            ENSURE(files.left_open() == 0);
            files.tell(Lie::none);
            const Cache cache = open(on(io));
            (void)served(cache, 0, 60);
            ENSURE(fill(cache, 60, 70) == HOB_RESULT_OK);
            const Cache next = opened(on(io));
            ENSURE(served(next, 60, 70) == 10);
        }
    }
}

TEST("program_cache: two crashes in a program ban it on host files too") {
    for (const bool has_locks : {true, false}) {
        MemoryFiles::Contents left;
        for (int death = 0; death < 2; ++death) {
            MemoryFiles files(left);
            const hob_file_io io = files.io(has_locks);
            const Cache cache = opened(on(io));
            ENSURE_OK(put(cache.get(), "bad", "binary"));
            ENSURE(strikes(cache, "bad") == static_cast<uint32_t>(death));
            hob_use_id good = {}, bad = {};
            ENSURE_OK(begin_use(cache, "good", good));
            const uint64_t written = files.calls(FileCall::write);
            ENSURE_OK(begin_use(cache, "bad", bad));
            ENSURE(files.calls(FileCall::write) == written + 1);
            ENSURE_OK(hob_program_cache_end_use(cache.get(), good, HOB_USE_OUTCOME_OK));
            // Another cache of this process detects that this one is alive.
            ENSURE(strikes(open(on(io)), "bad") == static_cast<uint32_t>(death));
            left = files.contents();
        }
        MemoryFiles files(left);
        const hob_file_io io = files.io(has_locks);
        hob_program_cache_desc desc = on(io);
        desc.flags = HOB_PROGRAM_CACHE_READ_ONLY;
        for (const uint32_t flags : {uint32_t{HOB_PROGRAM_CACHE_READ_ONLY}, 0u}) {
            desc.flags = flags;
            const Cache cache = open(desc);
            hob_use_id use = {};
            ENSURE(strikes(cache, "bad") == 2 && begin_use(cache, "bad", use) == HOB_RESULT_BANNED);
            ENSURE(strikes(cache, "good") == 0);
            if (flags != 0) ENSURE(files.contents() == left);
        }
        const hob_fingerprint bad = key("bad");
        { ENSURE_OK(hob_program_cache_clear_strikes(open(on(io)).get(), &bad)); }
        ENSURE(strikes(open(on(io)), "bad") == 0);
        for (const auto& file : files.contents()) ENSURE(file.first.find("notes-") == std::string::npos);
    }
}

TEST("program_cache: two caches share host files with and without locks") {
    for (const bool has_locks : {true, false}) {
        MemoryFiles files;
        const hob_file_io io = files.io(has_locks);
        for (int round = 0; round < 6; ++round) {
            Cache one = opened(on(io)), other = opened(on(io));
            const int begin = round * 30;
            ENSURE(fill(one, begin, begin + 10) == HOB_RESULT_OK && fill(other, begin + 10, begin + 20) == HOB_RESULT_OK);
            // Lets both caches read each other's segments, and merge orphans.
            for (const Cache* cache : {&one, &other}) {
                ENSURE_OK(hob_program_cache_set_disk_limit(cache->get(), 512 << 20));
                ENSURE_OK(hob_program_cache_wait_idle(cache->get(), forever));
            }
            // Neither cache has mistaken the segment of a live cache for an orphan.
            ENSURE(fill(one, begin + 20, begin + 25) == HOB_RESULT_OK && fill(other, begin + 25, begin + 30) == HOB_RESULT_OK);
            ENSURE(trouble(one.get()).empty() && trouble(other.get()).empty());
            (round % 2 == 0 ? one : other).reset();
        }
        const Cache cache = opened(on(io));
        ENSURE(served(cache, 0, 180) == 180 && trouble(cache.get()).empty());
        ENSURE(files.releases() == 12);
    }
}

TEST("program_cache: library calls inside host file functions return without a wait") {
    static const hob_program_cache* asked;
    static const hob_fingerprint name = key("a");
    static const hob_program program = HOB_PROGRAM_INIT;
    static std::atomic<int> answers, others;
    answers = others = 0;
    MemoryFiles files;
    const hob_file_io io = files.io();
    const hob_program_cache_desc desc = on(io);
    const Cache cache = open(desc);
    asked = cache.get();
    files.on_call = [] {
        hob_blob blob = {};
        hob_use_id use = {};
        for (const hob_result result :
             {hob_program_cache_put(asked, &name, &program), hob_program_cache_get(asked, &name, &blob),
              hob_program_cache_begin_use(asked, &name, &use), hob_program_cache_flush(asked, forever),
              hob_program_cache_wait_idle(asked, forever), hob_program_cache_clear(asked, 1)})
            ++(result == HOB_RESULT_BUSY && last_error_has("make the call later") ? answers : others);
    };
    ENSURE_OK(put(cache.get(), "a", "binary"));
    ENSURE_OK(hob_program_cache_flush(cache.get(), forever));
    hob_use_id use = {};
    ENSURE_OK(begin_use(cache, "a", use));
    ENSURE_OK(hob_program_cache_end_use(cache.get(), use, HOB_USE_OUTCOME_OK));
    files.on_call = nullptr;
    ENSURE(answers >= 60 && others == 0);
    // Calls from outside a file function work.
    ENSURE(data_of(cache.get(), "a") == "binary");
    ENSURE_OK(hob_program_cache_flush(cache.get(), forever));
}

TEST("program_cache: host file functions can help with a loop while they wait") {
    struct Jobs {
        void (*run)(void*);
        void* task;
        std::atomic<int> blocks;
        const hob_program_cache* cache;
        hob_fingerprint name;
        hob_result used;
    };
    static Jobs jobs;
    jobs.run = nullptr;
    jobs.blocks = 0;
    hob_executor_desc lent = HOB_EXECUTOR_DESC_INIT;
    lent.max_concurrency = 2;
    lent.enqueue = [](void*, void (*run)(void*), void* task, uint32_t, const char*) -> void* {
        jobs.run = run;
        jobs.task = task;
        return task;
    };
    lent.finish = [](void*, void*) { jobs.run = nullptr; };
    hob_executor* executor = nullptr;
    ENSURE_OK(hob_executor_create(&lent, &executor));
    {
        MemoryFiles files;
        const hob_file_io io = files.io();
        const Cache cache = open(on(io));
        jobs.cache = cache.get();
        jobs.name = key("a");
        files.on_call = [] {
            if (void (*const run)(void*) = std::exchange(jobs.run, nullptr)) run(jobs.task);
        };
        const auto body = [](void*, uint32_t block, uint32_t) {
            ++jobs.blocks;
            hob_use_id use = {};
            // The other blocks run inside its file functions.
            if (block == 0) jobs.used = hob_program_cache_begin_use(jobs.cache, &jobs.name, &use);
        };
        ENSURE_OK(hob_executor_parallel_for(executor, 8, body, nullptr, HOB_PRIORITY_NORMAL, str("loop")));
        ENSURE(jobs.blocks == 8 && jobs.used == HOB_RESULT_OK && jobs.run == nullptr);
        files.on_call = nullptr;
    }
    hob_executor_destroy(executor);
}

TEST("program_cache: host files are released once, after the last part of the cache") {
    MemoryFiles files;
    const hob_file_io io = files.io();
    hob_program_cache_desc desc = on(io);
    desc.eviction = unchecked<hob_eviction>(99);
    hob_program_cache* raw = nullptr;
    ENSURE(hob_program_cache_create(&desc, &raw) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(files.releases() == 0);  // the host still owns it
    Cache cache = open(on(io));
    ENSURE(fill(cache, 0, 3) == HOB_RESULT_OK);
    hob_program_callbacks driver = HOB_PROGRAM_CALLBACKS_INIT;
    driver.compile = [](void*, void*, uint32_t, const void*, size_t) -> uint32_t { return 0; };
    driver.link = [](void*, void*) -> uint32_t { return 0; };
    driver.load = [](void*, void*, const hob_blob*) -> uint32_t { return 0; };
    hob_program_manager* manager = nullptr;
    ENSURE_OK(hob_program_manager_create(cache.get(), &driver, &manager));
    Blob blob;
    ENSURE_OK(get(cache.get(), name_of(0), blob));
    cache.reset();
    ENSURE(files.releases() == 0 && files.left_open() == 0);
    hob_program_manager_destroy(manager);
    ENSURE(files.releases() == 1 && files.left_open() == 0 && blob.data() == data_for(0));
    // A cache in memory only does not use it, and still releases it.
    MemoryFiles unused;
    const hob_file_io idle = unused.io();
    hob_program_cache_desc memory = on(idle);
    memory.directory = HOB_STR("");
    { ENSURE(fill(opened(memory), 0, 3) == HOB_RESULT_OK); }
    ENSURE(unused.releases() == 1 && unused.contents().empty());
}

TEST("program_cache: a missing host file function is named in the message") {
    MemoryFiles files;
    const hob_file_io whole = files.io();
    const auto refused = [&](const char* name, void (*change)(hob_file_io&)) {
        hob_file_io io = whole;
        change(io);
        const hob_program_cache_desc desc = on(io);
        hob_program_cache* cache = nullptr;
        const std::string what = std::string("hob_file_io.") + name + " is NULL";
        return hob_program_cache_create(&desc, &cache) == HOB_RESULT_INVALID_ARGUMENT && cache == nullptr && last_error_has(what);
    };
    ENSURE(refused("list", [](hob_file_io& io) { io.list = nullptr; }));
    ENSURE(refused("create_directory", [](hob_file_io& io) { io.create_directory = nullptr; }));
    ENSURE(refused("open", [](hob_file_io& io) { io.open = nullptr; }));
    ENSURE(refused("create", [](hob_file_io& io) { io.create = nullptr; }));
    ENSURE(refused("close", [](hob_file_io& io) { io.close = nullptr; }));
    ENSURE(refused("size", [](hob_file_io& io) { io.size = nullptr; }));
    ENSURE(refused("read", [](hob_file_io& io) { io.read = nullptr; }));
    ENSURE(refused("write", [](hob_file_io& io) { io.write = nullptr; }));
    ENSURE(refused("truncate", [](hob_file_io& io) { io.truncate = nullptr; }));
    ENSURE(refused("sync", [](hob_file_io& io) { io.sync = nullptr; }));
    ENSURE(refused("rename", [](hob_file_io& io) { io.rename = nullptr; }));
    ENSURE(refused("remove", [](hob_file_io& io) { io.remove = nullptr; }));
    ENSURE(refused("try_lock", [](hob_file_io& io) { io.try_lock = nullptr; }));
    ENSURE(refused("unlock", [](hob_file_io& io) { io.unlock = nullptr; }));
    ENSURE(refused("list", [](hob_file_io& io) { io = HOB_FILE_IO_INIT; }));
    hob_file_io io = whole;
    io.reserved = 1;
    const hob_program_cache_desc desc = on(io);
    hob_program_cache* cache = nullptr;
    ENSURE(hob_program_cache_create(&desc, &cache) == HOB_RESULT_UNSUPPORTED && last_error_has("reserved"));
    io = whole;
    io.sync_directory = nullptr;
    io.release = nullptr;
    { ENSURE(fill(opened(on(io)), 0, 3) == HOB_RESULT_OK); }
    ENSURE(served(opened(on(io)), 0, 3) == 3 && files.releases() == 0);
}
