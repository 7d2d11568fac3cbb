// program_cache.h: programs in memory, on the disk, and in the next process.
#include <sys/stat.h>

#include <cstdio>
#include <cstring>
#include <thread>

#include "allocator.h"
#include "program_cache_support.h"

using namespace support;

TEST("program_cache: a get returns a view that outlives its entry and the cache") {
    Cache cache = open(desc_of(""));
    Blob blob;
    ENSURE(get(cache.get(), "a", blob) == HOB_RESULT_NOT_FOUND);
    ENSURE_OK(put(cache.get(), "a", "binary"));
    ENSURE_OK(get(cache.get(), "a", blob));
    ENSURE(blob.view.format == 7 && blob.data() == "binary");
    ENSURE(std::string_view(static_cast<const char*>(blob.view.reflection), blob.view.reflection_size) == "map");
    ENSURE_OK(put(cache.get(), "a", "other"));
    const hob_fingerprint fingerprint = key("a");
    ENSURE_OK(hob_program_cache_remove(cache.get(), &fingerprint));
    ENSURE_OK(hob_program_cache_remove(cache.get(), &fingerprint));
    ENSURE(data_of(cache.get(), "a") == "(none)");
    cache.reset();
    ENSURE(blob.data() == "binary");
}

TEST("program_cache: a reused view releases its previous program") {
    Cache cache = open(desc_of(""));
    ENSURE_OK(put(cache.get(), "a", "one"));
    ENSURE_OK(put(cache.get(), "b", "two"));
    Blob blob;
    ENSURE_OK(get(cache.get(), "a", blob));
    ENSURE_OK(get(cache.get(), "b", blob));
    ENSURE(blob.data() == "two");
    ENSURE(get(cache.get(), "c", blob) == HOB_RESULT_NOT_FOUND);
    ENSURE(blob.view.pin == nullptr && blob.view.data == nullptr);
    hob_blob_release(&blob.view);
    hob_blob_release(&blob.view);
    hob_blob_release(nullptr);
}

TEST("program_cache: returned data is aligned to 16 bytes with any host allocator") {
    const HostAllocator host;
    const Directory directory;
    const std::string path = directory.inside("cache");
    const auto misplaced = [](hob_program_cache* cache) {
        int count = 0;
        for (size_t size = 1; size <= 64; ++size) {
            Blob blob;
            ENSURE_OK(get(cache, std::to_string(size), blob));
            ENSURE(blob.data() == std::string(size, 'x') && std::string_view(static_cast<const char*>(blob.view.reflection), blob.view.reflection_size) == "map");
            for (const void* place : {blob.view.data, blob.view.reflection})
                count += reinterpret_cast<uintptr_t>(place) % 16 != 0;
        }
        return count;
    };
    {
        const Cache cache = open(desc_of(path));
        for (size_t size = 1; size <= 64; ++size)
            ENSURE_OK(put(cache.get(), std::to_string(size), std::string(size, 'x')));
        ENSURE(misplaced(cache.get()) == 0);
    }
    ENSURE(misplaced(opened(desc_of(path)).get()) == 0);
}

TEST("program_cache: memory can be limited, trimmed and cleared") {
    hob_program_cache_desc desc = desc_of("");
    desc.memory_limit = 1000;
    desc.eviction = HOB_EVICTION_LRU;
    Cache cache = open(desc);
    const std::string large(400, 'x');
    ENSURE_OK(put(cache.get(), "a", large));
    ENSURE_OK(put(cache.get(), "b", large));
    ENSURE(data_of(cache.get(), "a") == large);
    ENSURE_OK(put(cache.get(), "c", large));
    ENSURE(data_of(cache.get(), "b") == "(none)");
    ENSURE(put(cache.get(), "d", std::string(2000, 'x')) == HOB_RESULT_LIMIT_EXCEEDED);
    ENSURE_OK(hob_program_cache_trim(cache.get(), 500));
    ENSURE(data_of(cache.get(), "a") == "(none)" && data_of(cache.get(), "c") == large);
    ENSURE_OK(hob_program_cache_report_memory_pressure(cache.get(), HOB_MEMORY_PRESSURE_NONE));
    ENSURE(data_of(cache.get(), "c") == large);
    ENSURE_OK(hob_program_cache_report_memory_pressure(cache.get(), HOB_MEMORY_PRESSURE_CRITICAL));
    ENSURE(data_of(cache.get(), "c") == "(none)");
    ENSURE(hob_program_cache_report_memory_pressure(cache.get(), unchecked<hob_memory_pressure>(3)) == HOB_RESULT_INVALID_ARGUMENT);
}

TEST("program_cache: a shader's compile status lasts as long as a cached program uses it") {
    Cache cache = open(desc_of(""));
    const hob_fingerprint shaders[2] = {key("vertex"), key("fragment")};
    const hob_fingerprint name = key("program");
    uint32_t known = 9;
    ENSURE_OK(hob_program_cache_get_shader_status(cache.get(), &shaders[0], &known));
    ENSURE(known == 0);
    ENSURE_OK(hob_program_cache_report_shader_compiled(cache.get(), &shaders[0]));
    ENSURE_OK(hob_program_cache_get_shader_status(cache.get(), &shaders[0], &known));
    ENSURE(known == 1);
    hob_program program = HOB_PROGRAM_INIT;
    program.data = "x";
    program.size = 1;
    program.shaders = shaders;
    program.shader_count = 2;
    ENSURE_OK(hob_program_cache_put(cache.get(), &name, &program));
    ENSURE_OK(hob_program_cache_get_shader_status(cache.get(), &shaders[1], &known));
    ENSURE(known == 1);
    ENSURE_OK(hob_program_cache_clear(cache.get(), 0));
    ENSURE_OK(hob_program_cache_get_shader_status(cache.get(), &shaders[1], &known));
    ENSURE(known == 0);
}

TEST("program_cache: programs persist on the disk per environment") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    hob_program_cache_desc desc = desc_of(path);
    const hob_environment first = environment_of("driver 1"), second = environment_of("driver 2");
    desc.environment = &first;
    {
        Cache cache = open(desc);
        struct stat found;
        ENSURE(stat(path.c_str(), &found) != 0);
        ENSURE_OK(put(cache.get(), "a", "binary of 1"));
        ENSURE_OK(hob_program_cache_flush(cache.get(), forever));
        ENSURE(stat(path.c_str(), &found) == 0);
        ENSURE_OK(put(cache.get(), "b", "written on the way out"));
    }
    desc.environment = &second;
    {
        Cache cache = opened(desc);
        ENSURE(data_of(cache.get(), "a") == "(none)");
        ENSURE_OK(put(cache.get(), "a", "binary of 2"));
    }
    desc.environment = &first;
    Cache cache = opened(desc);
    uint64_t loaded = 0, total = 0;
    ENSURE_OK(hob_program_cache_get_loading_progress(cache.get(), &loaded, &total));
    ENSURE(loaded == 2 && total == 2);
    ENSURE(data_of(cache.get(), "a") == "binary of 1");
    ENSURE(data_of(cache.get(), "b") == "written on the way out");
    ENSURE(trouble(cache.get()).empty());
    ENSURE_OK(hob_program_cache_clear(cache.get(), 1));
    cache.reset();
    cache = opened(desc);
    ENSURE(data_of(cache.get(), "a") == "(none)");
    desc.environment = &second;
    cache = opened(desc);
    ENSURE(data_of(cache.get(), "a") == "binary of 2");
}

TEST("program_cache: a null environment is the default one, as in C++") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    hob_program_cache_desc desc = desc_of(path);
    const hob_environment environment = HOB_ENVIRONMENT_INIT;
    ENSURE_OK(put(open(desc).get(), "a", "without one"));
    desc.environment = &environment;
    ENSURE(data_of(opened(desc).get(), "a") == "without one");
    ENSURE_OK(put(open(desc).get(), "b", "with the default one"));
    desc.environment = nullptr;
    ENSURE(data_of(opened(desc).get(), "b") == "with the default one");
    hob_environment other = HOB_ENVIRONMENT_INIT;
    other.pointer_size = 4;
    desc.environment = &other;
    ENSURE(data_of(opened(desc).get(), "b") == "(none)");
}

TEST("program_cache: programs beyond the disk limit or the write queue are not written") {
    const Directory directory;
    for (const bool limits_disk : {true, false}) {
        const std::string path = directory.inside(limits_disk ? "disk" : "waiting");
        hob_program_cache_desc desc = desc_of(path);
        ENSURE_OK(put(open(desc).get(), "old", "binary"));
        const std::string large(256 << 10, 'x');
        (limits_disk ? desc.disk_limit : desc.waiting_limit) = 256 << 10;
        {
            const Cache cache = open(desc);
            ENSURE_OK(put(cache.get(), "new", large));
            ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
            ENSURE(statistics(cache.get()).unwritten == 1 && data_of(cache.get(), "new") == large);
        }
        const Cache cache = opened(desc_of(path));
        ENSURE(data_of(cache.get(), "new") == "(none)" && data_of(cache.get(), "old") == "binary");
    }
}

TEST("program_cache: removed and rejected programs stay removed") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    const hob_program_cache_desc desc = desc_of(path);
    const hob_fingerprint removed = key("removed"), rejected = key("rejected");
    {
        Cache cache = open(desc);
        ENSURE_OK(put(cache.get(), "removed", "1"));
        ENSURE_OK(put(cache.get(), "rejected", "2"));
        ENSURE_OK(put(cache.get(), "kept", "3"));
    }
    {
        Cache cache = opened(desc);
        ENSURE_OK(hob_program_cache_remove(cache.get(), &removed));
        hob_use_id use = {};
        ENSURE_OK(hob_program_cache_begin_use(cache.get(), &rejected, &use));
        ENSURE(hob_program_cache_end_use(cache.get(), use, unchecked<hob_use_outcome>(5)) == HOB_RESULT_INVALID_ARGUMENT);
        ENSURE_OK(hob_program_cache_end_use(cache.get(), use, HOB_USE_OUTCOME_REJECTED));
        ENSURE(hob_program_cache_end_use(cache.get(), use, HOB_USE_OUTCOME_OK) == HOB_RESULT_NOT_FOUND);
    }
    Cache cache = opened(desc);
    ENSURE(data_of(cache.get(), "removed") == "(none)");
    ENSURE(data_of(cache.get(), "rejected") == "(none)");
    ENSURE(data_of(cache.get(), "kept") == "3");
}

TEST("program_cache: lazy loading reads a program at a miss or a wait") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    hob_program_cache_desc desc = desc_of(path);
    {
        Cache cache = open(desc);
        ENSURE_OK(put(cache.get(), "a", "1"));
        ENSURE_OK(put(cache.get(), "b", "2"));
    }
    desc.flags = HOB_PROGRAM_CACHE_LOAD_LAZILY;
    Cache cache = opened(desc);
    Blob blob;
    ENSURE(get(cache.get(), "a", blob) == HOB_RESULT_NOT_FOUND);
    ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
    ENSURE(data_of(cache.get(), "a") == "1");
    const hob_fingerprint b = key("b"), c = key("c");
    ENSURE_OK(hob_program_cache_get_wait(cache.get(), &b, forever, &blob.view));
    ENSURE(blob.data() == "2");
    ENSURE(hob_program_cache_get_wait(cache.get(), &c, forever, &blob.view) == HOB_RESULT_NOT_FOUND);
}

TEST("program_cache: with an executor file work runs in the background") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    hob_program_cache_desc desc = desc_of(path);
    desc.flags = HOB_PROGRAM_CACHE_COMPRESS;
    hob_executor* pool = nullptr;
    ENSURE_OK(hob_executor_create_pool(1, &pool));
    const Executor executor(pool);
    desc.executor = executor.get();
    const std::string long_text(5000, 'z');
    {
        Cache cache = open(desc);
        for (int n = 0; n < 100; n++) ENSURE_OK(put(cache.get(), "key " + std::to_string(n), long_text + std::to_string(n)));
        ENSURE_OK(hob_executor_wait_idle(executor.get(), forever));
    }
    Cache cache = open(desc);
    ENSURE_OK(hob_executor_wait_idle(executor.get(), forever));
    for (int n = 0; n < 100; n++) ENSURE(data_of(cache.get(), "key " + std::to_string(n)) == long_text + std::to_string(n));
}

TEST("program_cache: the start-up set is loaded first at the next start") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    hob_program_cache_desc desc = desc_of(path);
    const std::string large(4000, 'x');
    const hob_fingerprint first = key("program 3");
    {
        Cache cache = open(desc);
        for (int n = 0; n < 10; n++) ENSURE_OK(put(cache.get(), "program " + std::to_string(n), large));
        ENSURE_OK(hob_program_cache_mark_startup(cache.get(), &first, 1));
    }
    desc.memory_limit = 5000;
    desc.flags = HOB_PROGRAM_CACHE_LOAD_LAZILY;
    opened(desc).reset();
    desc.flags = HOB_PROGRAM_CACHE_READ_ONLY;
    {
        Cache cache = opened(desc);
        ENSURE_OK(put(cache.get(), "not written", "x"));
        ENSURE_OK(hob_program_cache_flush(cache.get(), forever));
        ENSURE(trouble(cache.get()).empty());
    }
    desc.flags = 0;
    Cache cache = opened(desc);
    ENSURE(data_of(cache.get(), "not written") == "(none)");
    ENSURE(data_of(cache.get(), "program 3") == large);
    ENSURE_OK(hob_program_cache_mark_startup(cache.get(), &first, 0));
}

TEST("program_cache: an unusable directory gives a memory-only cache that reports it") {
    const Directory directory;
    const std::string file = directory.inside("file");
    FILE* made = std::fopen(file.c_str(), "w");
    ENSURE(made != nullptr && std::fclose(made) == 0);
    Cache cache = opened(desc_of(file));
    ENSURE_OK(put(cache.get(), "a", "1"));
    ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
    ENSURE(data_of(cache.get(), "a") == "1");
    ENSURE(!trouble(cache.get()).empty());
    ENSURE(hob_program_cache_flush(cache.get(), forever) == HOB_RESULT_IO);
}

TEST("program_cache: paths are bytes") {
    const Directory directory;
    const std::string path = directory.inside("caf\xe9");
    const hob_program_cache_desc desc = desc_of(path);
    { ENSURE_OK(put(open(desc).get(), "a", "1")); }
    ENSURE(data_of(opened(desc).get(), "a") == "1");
}

TEST("program_cache: several threads can put and get concurrently") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    Cache cache = open(desc_of(path));
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 3; thread++) {
        threads.emplace_back([&cache, thread] {
            for (int n = 0; n < 200; n++) {
                const std::string name = "key " + std::to_string((n * 7 + thread) % 50);
                EXPECT(put(cache.get(), name, name) == HOB_RESULT_OK);
                const std::string found = data_of(cache.get(), name);
                EXPECT(found == name);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
    size_t size = 0;
    ENSURE_OK(hob_program_cache_get_report(cache.get(), nullptr, 0, &size));
    std::string report(size, '\0');
    ENSURE(hob_program_cache_get_report(cache.get(), report.data(), size - 1, &size) == HOB_RESULT_BUFFER_TOO_SMALL);
    ENSURE_OK(hob_program_cache_get_report(cache.get(), report.data(), size, &size));
    ENSURE(report.find("\"puts\":600") != std::string::npos);
    ENSURE(report.find("\"hits\":600") != std::string::npos);
}

TEST("program_cache: invalid calls are rejected without effect") {
    ENSURE(hob_program_cache_create(nullptr, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    hob_program_cache* made = nullptr;
    hob_program_cache_desc desc = desc_of("");
    desc.eviction = unchecked<hob_eviction>(3);
    ENSURE(hob_program_cache_create(&desc, &made) == HOB_RESULT_INVALID_ARGUMENT);
    desc = desc_of("");
    desc.flags = 1u << 20;
    ENSURE(hob_program_cache_create(&desc, &made) == HOB_RESULT_UNSUPPORTED);
    const std::string zero("a\0b", 3);
    ENSURE(hob_program_cache_create(&(desc = desc_of(zero)), &made) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(made == nullptr);
    ENSURE_OK(hob_program_cache_create(nullptr, &made));
    const Cache cache(made);
    const hob_fingerprint name = key("a");
    hob_blob blob = HOB_BLOB_INIT;
    hob_program program = HOB_PROGRAM_INIT;
    ENSURE(hob_program_cache_get(nullptr, &name, &blob) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_program_cache_get(cache.get(), nullptr, &blob) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_program_cache_get(cache.get(), &name, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_program_cache_put(cache.get(), &name, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    program.size = 5;
    ENSURE(hob_program_cache_put(cache.get(), &name, &program) == HOB_RESULT_INVALID_ARGUMENT);
    program.data = "x";
    program.size = SIZE_MAX;
    ENSURE(hob_program_cache_put(cache.get(), &name, &program) == HOB_RESULT_INVALID_ARGUMENT);
    program.size = 0;
    ENSURE_OK(hob_program_cache_put(cache.get(), &name, &program));
    ENSURE_OK(hob_program_cache_get(cache.get(), &name, &blob));
    ENSURE(blob.size == 0);
    hob_blob_release(&blob);
    ENSURE(hob_program_cache_end_use(cache.get(), hob_use_id{}, HOB_USE_OUTCOME_OK) == HOB_RESULT_NOT_FOUND);
    ENSURE_OK(hob_program_cache_flush(cache.get(), 0));
    hob_program_cache_destroy(nullptr);
}

TEST("program_cache: a view is written only up to the caller's struct_size") {
    Cache cache = open(desc_of(""));
    ENSURE_OK(put(cache.get(), "a", "binary"));
    const hob_fingerprint name = key("a");
    // A struct of this header's size, with other data behind it.
    struct {
        hob_blob blob;
        uint64_t canary;
    } guarded = {{}, 0x0123456789abcdef};
    guarded.blob.struct_size = sizeof guarded.blob;
    ENSURE_OK(hob_program_cache_get(cache.get(), &name, &guarded.blob));
    ENSURE(guarded.blob.pin != nullptr && guarded.blob.size == 6 && guarded.canary == 0x0123456789abcdef);
    ENSURE_OK(hob_program_cache_get_wait(cache.get(), &name, 0, &guarded.blob));
    ENSURE(guarded.blob.size == 6 && guarded.canary == 0x0123456789abcdef);
    hob_blob_release(&guarded.blob);
    ENSURE(guarded.blob.pin == nullptr && guarded.canary == 0x0123456789abcdef);
    // Longer than any known size: a future header.
    struct {
        hob_blob blob;
        uint64_t later[32];
        uint64_t canary;
    } longer = {{}, {}, 0x0123456789abcdef};
    longer.blob.struct_size = sizeof longer.blob + sizeof longer.later;
    ENSURE_OK(hob_program_cache_get(cache.get(), &name, &longer.blob));
    ENSURE(longer.blob.size == 6 && longer.blob.struct_size == sizeof longer.blob + sizeof longer.later);
    ENSURE_OK(hob_program_cache_get(cache.get(), &name, &longer.blob));
    hob_blob_release(&longer.blob);
    ENSURE(longer.blob.pin == nullptr && longer.later[31] == 0 && longer.canary == 0x0123456789abcdef);
    // Shorter than in the first release.
    hob_blob shorter = HOB_BLOB_INIT;
    shorter.struct_size = sizeof shorter - 8;
    ENSURE(hob_program_cache_get(cache.get(), &name, &shorter) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(shorter.pin == nullptr && shorter.data == nullptr);
}

TEST("program_cache: a desc that is zero except for its size has the defaults") {
    hob_program_cache_desc zero = {};
    zero.struct_size = sizeof zero;
    Cache cache = open(zero);
    ENSURE(statistics(cache.get()).memory_limit == 64 << 20);
    ENSURE_OK(put(cache.get(), "a", "binary"));
    hob_blob blob = {};
    blob.struct_size = sizeof blob;
    const hob_fingerprint name = key("a");
    ENSURE_OK(hob_program_cache_get(cache.get(), &name, &blob));
    ENSURE(blob.size == 6);
    hob_blob_release(&blob);
    const hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
    ENSURE(desc.memory_limit == 64 << 20 && desc.disk_limit == 512 << 20 && desc.waiting_limit == 256 << 20);
    ENSURE(desc.directory_limit == 0);
    for (uint64_t hob_program_cache_desc::* const limit :
         {&hob_program_cache_desc::disk_limit, &hob_program_cache_desc::directory_limit}) {
        hob_program_cache_desc bad = desc;
        bad.*limit = 1;
        hob_program_cache* none = nullptr;
        ENSURE(hob_program_cache_create(&bad, &none) == HOB_RESULT_INVALID_ARGUMENT && none == nullptr);
    }
    ENSURE(desc.max_age_seconds == 30 * 24 * 60 * 60 && desc.ban_at == 2 && desc.described_keys == 0);
    zero.memory_limit = 1;
    ENSURE(put(open(zero).get(), "a", "binary") == HOB_RESULT_LIMIT_EXCEEDED);
}
