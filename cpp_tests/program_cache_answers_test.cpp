// program_cache.h: reports of a cache: counts, histograms, reasons for misses. Also limits and policies.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "malloc_count.h"
#include "program_cache_support.h"

using namespace support;

namespace {

/// A cache like Chromium's: the limit covers only data, and the least recently used program is evicted.
hob_program_cache_desc plain(uint64_t limit) {
    hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
    desc.memory_limit = limit;
    desc.eviction = HOB_EVICTION_LRU;
    desc.flags = HOB_PROGRAM_CACHE_COUNT_DATA_ONLY;
    return desc;
}

hob_result put_bytes(hob_program_cache* cache, std::string_view name, size_t size) {
    return put(cache, name, std::string(size, 'x'));
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

struct Bucket {
    uint64_t min, max, count;
};

void has_buckets(const hob_program_cache* cache, hob_program_cache_measure measure, const std::vector<Bucket>& expected) {
    size_t count = 0;
    ENSURE_OK(hob_program_cache_get_histogram_buckets(cache, measure, nullptr, 0, 0, &count));
    ENSURE(count == expected.size() && count == histogram(cache, measure).bucket_count);
    std::vector<hob_histogram_bucket> found(count);
    ENSURE_OK(hob_program_cache_get_histogram_buckets(cache, measure, found.data(), sizeof found[0], count, &count));
    for (size_t n = 0; n < count; ++n) {
        ENSURE(found[n].minimum == expected[n].min && found[n].maximum == expected[n].max);
        ENSURE(found[n].count == expected[n].count);
    }
}

void counts(const hob_program_cache* cache, hob_program_cache_measure measure, uint64_t count, uint64_t sum) {
    const hob_histogram found = histogram(cache, measure);
    ENSURE(found.count == count && found.sum == sum);
    ENSURE(found.mean == (count == 0 ? 0 : sum / count));
}

/// Bytes read and written by this thread so far, and the number of calls, if the system reports them.
struct Traffic {
    unsigned long long read = 0, written = 0, reads = 0, writes = 0;

    static Traffic now() {
        Traffic found;
        if (harness::scaled(1000) < 1000) return found;  // under valgrind, which reads files itself
        FILE* const file = std::fopen("/proc/thread-self/io", "r");
        if (file == nullptr) return found;
        const int fields = std::fscanf(file, "rchar: %llu wchar: %llu syscr: %llu syscw: %llu", &found.read,
                                       &found.written, &found.reads, &found.writes);
        std::fclose(file);
        ENSURE(fields == 4);
        return found;
    }
    /// Whether there was no traffic since `before`, apart from the measurement itself.
    bool is_nothing_since(const Traffic& before) const {
        return reads <= before.reads + 1 && read <= before.read + 512 && writes == before.writes && written == before.written;
    }
};

/// The key of a program with two stages.
class KeyDesc {
public:
    KeyDesc(std::string_view vertex, std::string_view fragment, std::string_view defines = {})
        : stages_{{HOB_SHADER_STAGE_VERTEX, 0, vertex.data(), vertex.size()},
                  {HOB_SHADER_STAGE_FRAGMENT, 0, fragment.data(), fragment.size()}} {
        desc.stages = stages_;
        desc.stage_stride = sizeof stages_[0];
        desc.stage_count = 2;
        desc.defines = defines.data();
        desc.defines_size = defines.size();
    }
    hob_fingerprint key() const {
        hob_fingerprint found = {};
        ENSURE_OK(hob_fingerprint_hash_program(&desc, &found));
        return found;
    }
    hob_program_key_desc desc = HOB_PROGRAM_KEY_DESC_INIT;

private:
    hob_program_stage stages_[2];
};

hob_program_miss why(const hob_program_cache* cache, const KeyDesc& key) {
    hob_program_miss miss = HOB_PROGRAM_MISS_INIT;
    ENSURE_OK(hob_program_cache_explain_miss(cache, &key.desc, &miss));
    ENSURE(miss.sentence[0] != '\0' && std::memchr(miss.sentence, 0, sizeof miss.sentence) != nullptr);
    return miss;
}

bool same(const hob_fingerprint& a, const hob_fingerprint& b) { return hob_fingerprint_equal(&a, &b) == 1; }

}  // namespace

TEST("program_cache: every event of a program is counted once") {
    const hob_program_cache_desc desc = plain(1024);
    const Cache owner = open(desc);
    hob_program_cache* const cache = owner.get();
    const hob_fingerprint b = key("b"), d = key("d"), shader = key("shader");
    ENSURE_OK(put_bytes(cache, "a", 20));
    ENSURE_OK(put_bytes(cache, "b", 1005));
    ENSURE(put_bytes(cache, "c", 5000) == HOB_RESULT_LIMIT_EXCEEDED);
    ENSURE_OK(put_bytes(cache, "b", 100));
    ENSURE(data_of(cache, "b").size() == 100 && data_of(cache, "a") == "(none)");
    hob_use_id use = {};
    ENSURE_OK(hob_program_cache_begin_use(cache, &b, &use));
    ENSURE(statistics(cache).uses_open == 1);
    ENSURE_OK(hob_program_cache_end_use(cache, use, HOB_USE_OUTCOME_REJECTED));
    ENSURE_OK(put_bytes(cache, "d", 10));
    ENSURE_OK(hob_program_cache_remove(cache, &d));
    ENSURE_OK(put_bytes(cache, "e", 10));
    ENSURE_OK(hob_program_cache_trim(cache, 0));
    ENSURE_OK(put_bytes(cache, "f", 10));
    ENSURE_OK(hob_program_cache_report_memory_pressure(cache, HOB_MEMORY_PRESSURE_CRITICAL));
    ENSURE_OK(put_bytes(cache, "g", 600));
    ENSURE_OK(hob_program_cache_set_memory_limit(cache, 500));
    ENSURE_OK(put_bytes(cache, "h", 10));
    ENSURE_OK(hob_program_cache_clear(cache, 0));
    ENSURE_OK(put_bytes(cache, "i", 10));
    ENSURE_OK(hob_program_cache_report_shader_compiled(cache, &shader));

    const hob_program_cache_statistics found = statistics(cache);
    ENSURE(found.hits == 1 && found.misses == 1 && found.puts == 10 && found.loads == 0 && found.uses_open == 0);
    ENSURE(found.evicted_for_room == 1 && found.replaced == 1 && found.rejected == 1);
    ENSURE(found.removed == 1 && found.evicted_by_trim == 1 && found.evicted_by_pressure == 1);
    ENSURE(found.evicted_by_limit == 1 && found.cleared == 1);
    ENSURE(found.refused_too_large == 1 && found.refused_exists + found.refused_no_room == 0);
    ENSURE(found.refused_banned == 0 && found.refused_removed == 0 && found.uses_banned == 0);
    ENSURE(found.programs == 1 && found.bytes == 10 && found.memory_limit == 500 && found.shaders == 1);
    ENSURE(found.memory_used > 10 && found.disk_files == 0 && found.unwritten == 0);
    counts(cache, HOB_PROGRAM_CACHE_MEASURE_BINARY_BYTES, 10, 20 + 1005 + 5000 + 100 + 10 + 10 + 10 + 600 + 10 + 10);
    counts(cache, HOB_PROGRAM_CACHE_MEASURE_BYTES_BEFORE, 10, 20 + 1005 + 1005);
    counts(cache, HOB_PROGRAM_CACHE_MEASURE_BYTES_AFTER, 10, 20 + 1005 + 1005 + 100 + 10 + 10 + 10 + 600 + 10 + 10);
    for (uint32_t number = HOB_PROGRAM_CACHE_MEASURE_HIT_US; number <= HOB_PROGRAM_CACHE_MEASURE_STATUS_MISS_US; ++number)
        counts(cache, static_cast<hob_program_cache_measure>(number), 0, 0);
    const std::string json = report(cache);
    for (const char* part : {"\"hits\":1,", "\"puts\":10,", "\"too_large\":1,", "\"limit_lowered\":1,", "\"uses_open\":0,",
                             "\"disk\":{\"preload_total\":0,", "\"quarantine\":{\"keys_banned\":0,",
                             "\"binary_bytes\":{\"count\":10,\"sum\":6775,"}) {
        ENSURE(has(json, part));
    }
}

TEST("program_cache: a wait for a program counts one hit or one miss") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    const hob_fingerprint there = key("there"), not_there = key("not there");
    ENSURE_OK(put_bytes(open(desc_of(path)).get(), "there", 10));
    for (const uint32_t flags : {0u, static_cast<uint32_t>(HOB_PROGRAM_CACHE_LOAD_LAZILY)}) {
        hob_program_cache_desc desc = desc_of(path);
        desc.flags = flags;
        const Cache owner = open(desc);
        const auto waits = [&](const hob_fingerprint& name, uint64_t timeout_us) {
            Blob blob;
            return hob_program_cache_get_wait(owner.get(), &name, timeout_us, &blob.view);
        };
        const auto counted = [&](uint64_t hits, uint64_t misses) {
            const hob_program_cache_statistics found = statistics(owner.get());
            return found.hits == hits && found.misses == misses;
        };
        ENSURE(waits(there, 0) == HOB_RESULT_TIMEOUT && counted(0, 1));
        ENSURE_OK(waits(there, forever));
        ENSURE(counted(1, 1));
        ENSURE_OK(waits(there, 0));
        ENSURE(counted(2, 1));
        ENSURE(waits(not_there, forever) == HOB_RESULT_NOT_FOUND && counted(2, 2));
        // And no second request goes to the disk.
        ENSURE(statistics(owner.get()).waiting == 0);
    }
}

TEST("program_cache: durations measured by the host are counted in histogram buckets") {
    const Cache owner = open(plain(1024));
    for (uint32_t number = 0; number <= HOB_PROGRAM_CACHE_MEASURE_STATUS_MISS_US; ++number) {
        const auto measure = static_cast<hob_program_cache_measure>(number);
        has_buckets(owner.get(), measure, {});
        for (const uint64_t value : {3u, 5u, 5u, 31u, 64u}) ENSURE_OK(hob_program_cache_add_measurement(owner.get(), measure, value));
        const hob_histogram found = histogram(owner.get(), measure);
        ENSURE(found.count == 5 && found.sum == 108 && found.minimum == 3 && found.maximum == 64 && found.mean == 21);
        ENSURE(found.p50 == 5 && found.p90 == 64 && found.p99 == 64);
        has_buckets(owner.get(), measure, {{3, 3, 1}, {5, 5, 2}, {31, 31, 1}, {64, 67, 1}});
    }
    const hob_program_cache_measure measure = HOB_PROGRAM_CACHE_MEASURE_MISS_US;
    ENSURE_OK(hob_program_cache_add_measurement(owner.get(), measure, UINT64_MAX));
    ENSURE(histogram(owner.get(), measure).maximum == UINT64_MAX && histogram(owner.get(), measure).sum == UINT64_MAX);
    hob_histogram_bucket few[4] = {};
    size_t count = 0;
    ENSURE(hob_program_cache_get_histogram_buckets(owner.get(), measure, few, sizeof few[0], 4, &count) ==
           HOB_RESULT_BUFFER_TOO_SMALL);
    ENSURE(count == 5 && few[0].count == 0);
}

TEST("program_cache: disk and quarantine events are counted") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    hob_program_cache_desc desc = desc_of(path);
    {
        const Cache owner = opened(desc);
        for (int n = 0; n < 20; n++) ENSURE_OK(put_bytes(owner.get(), "key " + std::to_string(n), 1000));
        const hob_fingerprint name = key("key 0");
        hob_use_id use = {};
        ENSURE_OK(hob_program_cache_begin_use(owner.get(), &name, &use));
        ENSURE_OK(hob_program_cache_end_use(owner.get(), use, HOB_USE_OUTCOME_OK));
        ENSURE(statistics(owner.get()).waiting == 20);
        ENSURE_OK(hob_program_cache_wait_idle(owner.get(), forever));
        const hob_program_cache_statistics found = statistics(owner.get());
        ENSURE(found.disk_values == 20 && found.disk_files == 1 && found.waiting == 0 && found.unwritten == 0);
        ENSURE(found.disk_live_bytes > 20 * 1000 && found.disk_file_bytes > found.disk_live_bytes);
        ENSURE(found.uses_recorded == 1 && found.uses_unrecorded == 0 && found.keys_with_strikes == 0);
    }
    desc.memory_limit = 10 * 1100;
    {
        const Cache owner = opened(desc);
        const hob_program_cache_statistics found = statistics(owner.get());
        ENSURE(found.loads == found.programs && found.programs == 10 && found.preload_total == found.preload_done);
        // All were used in the same second, so the cache tried more of them than it has room for.
        ENSURE(found.refused_no_room > 0 && found.misses == 0);
        ENSURE(has(report(owner.get()), "\"values\":20,"));
    }
    desc.memory_limit = 1 << 20;
    desc.waiting_limit = 2 * (1000 + 3);  // put() gives a reflection of three bytes
    const Cache owner = open(desc);
    ENSURE_OK(put_bytes(owner.get(), "one", 1000));
    ENSURE_OK(put_bytes(owner.get(), "exactly what may wait", 1000));
    ENSURE(statistics(owner.get()).unwritten == 0 && trouble(owner.get()).empty());
    ENSURE_OK(put_bytes(owner.get(), "more than may wait", 1));
    ENSURE(statistics(owner.get()).unwritten == 1 && !trouble(owner.get()).empty());
}

TEST("program_cache: lowered limits apply at once in memory and in the background on the disk") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    hob_program_cache_desc desc = desc_of(path);
    desc.eviction = HOB_EVICTION_LRU;
    Cache owner = open(desc);
    for (int n = 0; n < 40; n++) ENSURE_OK(put_bytes(owner.get(), "key " + std::to_string(n), 20000));
    ENSURE_OK(hob_program_cache_wait_idle(owner.get(), forever));
    ENSURE_OK(hob_program_cache_set_memory_limit(owner.get(), 10 * 20035));
    ENSURE_OK(hob_program_cache_set_disk_limit(owner.get(), 256 << 10));
    ENSURE(statistics(owner.get()).programs == 10 && statistics(owner.get()).evicted_by_limit == 30);
    ENSURE(knows_program(owner.get(), "key 39") && !knows_program(owner.get(), "key 29"));
    ENSURE_OK(hob_program_cache_wait_idle(owner.get(), forever));
    const hob_program_cache_statistics found = statistics(owner.get());
    ENSURE(found.disk_file_bytes <= 256 << 10 && found.disk_evicted == 40 - found.disk_values && found.disk_values >= 7);
    ENSURE_OK(hob_program_cache_set_memory_limit(owner.get(), UINT64_MAX));
    ENSURE_OK(hob_program_cache_set_disk_limit(owner.get(), UINT64_MAX));
    for (int n = 0; n < 40; n++) ENSURE_OK(put_bytes(owner.get(), "key " + std::to_string(n), 20000));
    ENSURE_OK(hob_program_cache_wait_idle(owner.get(), forever));
    ENSURE(statistics(owner.get()).programs == 40 && statistics(owner.get()).disk_values == 40);
    ENSURE_OK(hob_program_cache_set_memory_limit(owner.get(), 1));
    // Smaller limits of the disk are refused.
    ENSURE(hob_program_cache_set_disk_limit(owner.get(), (256 << 10) - 1) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(std::string(hob_last_error()).find("at least 262144 bytes (256 KiB)") != std::string::npos);
    ENSURE_OK(hob_program_cache_set_disk_limit(owner.get(), 256 << 10));
    ENSURE(statistics(owner.get()).programs == 0);
    ENSURE(put_bytes(owner.get(), "any", 1) == HOB_RESULT_LIMIT_EXCEEDED);
    // 0 means the default, not an empty cache.
    ENSURE_OK(hob_program_cache_set_memory_limit(owner.get(), 0));
    ENSURE_OK(hob_program_cache_set_disk_limit(owner.get(), 0));
    ENSURE(statistics(owner.get()).memory_limit == 64 << 20);
    ENSURE_OK(put_bytes(owner.get(), "any", 1));
}

TEST("program_cache: behavior that differs between caches is as documented") {
    // Both key and value count: 32 for the key, 3 for the reflection.
    hob_program_cache_desc desc = desc_of("");
    desc.memory_limit = 32 + 3 + 100;
    Cache owner = open(desc);
    ENSURE_OK(put_bytes(owner.get(), "exactly the limit", 100));
    ENSURE(put_bytes(owner.get(), "one more", 101) == HOB_RESULT_LIMIT_EXCEEDED);
    ENSURE(statistics(owner.get()).bytes == desc.memory_limit && knows_program(owner.get(), "exactly the limit"));
    // A put above the limit keeps the old program.
    ENSURE(put_bytes(owner.get(), "exactly the limit", 101) == HOB_RESULT_LIMIT_EXCEEDED);
    ENSURE(data_of(owner.get(), "exactly the limit").size() == 100);
    // The last put replaces the earlier one.
    ENSURE_OK(put(owner.get(), "exactly the limit", "second"));
    ENSURE(data_of(owner.get(), "exactly the limit") == "second");
    // The cache accepts an empty program.
    ENSURE_OK(put(owner.get(), "empty", ""));
    ENSURE(data_of(owner.get(), "empty").empty() && statistics(owner.get()).programs == 2);

    desc = plain(100);
    desc.flags |= HOB_PROGRAM_CACHE_FIRST_PUT_WINS;
    owner = open(desc);
    ENSURE_OK(put_bytes(owner.get(), "exactly the limit", 100));
    ENSURE_OK(put(owner.get(), "exactly the limit", "second"));
    ENSURE(data_of(owner.get(), "exactly the limit").size() == 100 && statistics(owner.get()).refused_exists == 1);
    // A program that the driver rejects can be replaced when its use has ended.
    const hob_fingerprint name = key("exactly the limit");
    hob_use_id use = {};
    ENSURE_OK(hob_program_cache_begin_use(owner.get(), &name, &use));
    ENSURE_OK(hob_program_cache_end_use(owner.get(), use, HOB_USE_OUTCOME_REJECTED));
    ENSURE_OK(put_bytes(owner.get(), "exactly the limit", 90));
    ENSURE(data_of(owner.get(), "exactly the limit").size() == 90);
    ENSURE_OK(hob_program_cache_clear(owner.get(), 0));
    ENSURE_OK(put_bytes(owner.get(), "exactly the limit", 100));
    ENSURE_OK(put(owner.get(), "empty", ""));
    ENSURE(statistics(owner.get()).bytes == 1 && !knows_program(owner.get(), "exactly the limit"));
}

TEST("program_cache: a miss report names the differences from the closest known key") {
    hob_program_cache_desc desc = desc_of("");
    desc.described_keys = 100;
    const Cache owner = open(desc);
    hob_program_cache* const cache = owner.get();
    const std::string source = std::string(500, ' ') + "void main() {}";
    const KeyDesc first("vertex source", source, "SHADOWS=1"), second("other", "fragment source", "SHADOWS=1");
    hob_program_miss miss = HOB_PROGRAM_MISS_INIT;
    ENSURE(hob_program_cache_explain_miss(cache, &first.desc, &miss) == HOB_RESULT_NOT_FOUND);
    ENSURE_OK(hob_program_cache_describe(cache, nullptr, &first.desc));
    const hob_fingerprint of_second = second.key();
    ENSURE_OK(hob_program_cache_describe(cache, &of_second, &second.desc));

    hob_attribute_binding attributes[] = {{HOB_STR("position"), 3, 0}, {HOB_STR("position"), 0, 0}};
    KeyDesc asked("vertex source", source, "SHADOWS=2");
    asked.desc.attributes = attributes;
    asked.desc.attribute_stride = sizeof attributes[0];
    asked.desc.attribute_count = 2;
    miss = why(cache, asked);
    ENSURE(same(miss.nearest, first.key()) && miss.difference_count == 2);
    ENSURE(miss.location == HOB_PROGRAM_LOCATION_NOT_LOADED);
    ENSURE(std::string(miss.differences[0].label) == "attribute position" && miss.differences[0].was[0] == '\0');
    ENSURE(std::string(miss.differences[0].is) == "'0'");
    ENSURE(std::string(miss.differences[1].label) == "defines" && std::string(miss.differences[1].was) == "'SHADOWS=1'");
    ENSURE(std::string(miss.differences[1].is) == "'SHADOWS=2'" && miss.differences[2].label[0] == '\0');
    ENSURE(has(miss.sentence, "differs in attribute position (was none, is '0') and defines (was 'SHADOWS=1', is 'SHADOWS=2')"));

    const std::string changed = source + " ";
    miss = why(cache, KeyDesc("vertex source", changed, "SHADOWS=1"));
    ENSURE(miss.difference_count == 1 && std::string(miss.differences[0].label) == "fragment stage");
    ENSURE(has(miss.differences[0].was, "514 bytes, ") && has(miss.differences[0].is, "515 bytes, "));

    const hob_fingerprint of_first = first.key();
    hob_program program = HOB_PROGRAM_INIT;
    ENSURE_OK(hob_program_cache_put(cache, &of_first, &program));
    ENSURE(why(cache, first).location == HOB_PROGRAM_LOCATION_IN_MEMORY);
    ENSURE_OK(hob_program_cache_trim(cache, 0));
    miss = why(cache, first);
    ENSURE(miss.location == HOB_PROGRAM_LOCATION_EVICTED && miss.difference_count == 0);
    ENSURE(has(miss.sentence, "it has left memory: trim"));

    // More than the limit allows.
    std::vector<hob_attribute_binding> many;
    std::vector<std::string> names;
    for (int n = 0; n < 20; ++n) names.push_back("attribute_with_a_name_that_is_longer_than_a_label_" + std::to_string(n));
    for (const std::string& name : names) many.push_back({str(name), 1, 0});
    asked.desc.attributes = many.data();
    asked.desc.attribute_count = many.size();
    miss = why(cache, asked);
    ENSURE(miss.difference_count == 21 && miss.differences[7].label[0] != '\0');
    ENSURE(miss.sentence[510] != '\0' && miss.sentence[511] == '\0');
}

TEST("program_cache: programs are described only if the host enables it") {
    const Cache owner = open(desc_of(""));
    const KeyDesc some("v", "f");
    ENSURE_OK(hob_program_cache_describe(owner.get(), nullptr, &some.desc));
    hob_program_miss miss = HOB_PROGRAM_MISS_INIT;
    ENSURE(hob_program_cache_explain_miss(owner.get(), &some.desc, &miss) == HOB_RESULT_NOT_FOUND);
    ENSURE(miss.sentence[0] == '\0');
}

TEST("program_cache: a new process reports a driver update as the difference") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    hob_program_cache_desc desc = desc_of(path);
    desc.described_keys = 100;
    hob_environment environment = HOB_ENVIRONMENT_INIT;
    environment.api = HOB_GRAPHICS_API_OPENGL;
    environment.device = HOB_STR("llvmpipe");
    environment.driver = HOB_STR("4.5 (Core Profile) Mesa 22.3.6");
    desc.environment = &environment;
    const KeyDesc some("v", "f", "A=1");
    const hob_fingerprint name = some.key();
    {
        const Cache before = open(desc);
        hob_program program = HOB_PROGRAM_INIT;
        ENSURE_OK(hob_program_cache_put(before.get(), &name, &program));
        ENSURE_OK(hob_program_cache_describe(before.get(), nullptr, &some.desc));
    }
    environment.driver = HOB_STR("4.5 (Core Profile) Mesa 25.0.7");
    environment.driver_version = 7;
    {
        const Cache updated = opened(desc);
        Blob blob;
        ENSURE(hob_program_cache_get(updated.get(), &name, &blob.view) == HOB_RESULT_NOT_FOUND);
        const hob_program_miss miss = why(updated.get(), some);
        ENSURE(same(miss.nearest, name) && miss.location == HOB_PROGRAM_LOCATION_OTHER_ENVIRONMENT);
        ENSURE(miss.difference_count == 2 && std::string(miss.differences[0].label) == "driver version");
        ENSURE(std::string(miss.differences[1].label) == "driver");
        ENSURE(std::string(miss.differences[1].was) == "'4.5 (Core Profile) Mesa 22.3.6'");
        ENSURE(std::string(miss.differences[1].is) == "'4.5 (Core Profile) Mesa 25.0.7'");
        ENSURE(has(miss.sentence, "it is of another environment, so it is never loaded"));
    }
    // Also with lazy loading, and with the first driver again.
    environment.driver = HOB_STR("4.5 (Core Profile) Mesa 22.3.6");
    environment.driver_version = 0;
    desc.flags = HOB_PROGRAM_CACHE_LOAD_LAZILY | HOB_PROGRAM_CACHE_READ_ONLY;
    const Cache back = opened(desc);
    ENSURE(why(back.get(), some).location == HOB_PROGRAM_LOCATION_NOT_LOADED);
    ENSURE(why(back.get(), some).difference_count == 0);
}

TEST("program_cache: a hot get does not allocate or read a file, and a put waits for no file") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    const hob_program_cache_desc desc = desc_of(path);
    { ENSURE_OK(put(open(desc).get(), "from the disk", "binary")); }
    const Cache owner = opened(desc);
    ENSURE_OK(put(owner.get(), "put", "binary"));
    const hob_fingerprint names[] = {key("from the disk"), key("put")};
    Blob blob;
    for (const hob_fingerprint& name : names) ENSURE_OK(hob_program_cache_get(owner.get(), &name, &blob.view));
    const auto gets = [&] {
        bool ok = true;
        for (int n = 0; n < 1000; ++n) {
            ok = hob_program_cache_get(owner.get(), &names[n % 2], &blob.view) == HOB_RESULT_OK && ok;
            if (n % 3 == 0) hob_blob_release(&blob.view);
        }
        return ok;
    };
    const uint64_t allocations = malloc_calls();
    ENSURE(gets() && malloc_calls() == allocations);
    const Traffic before = Traffic::now();
    ENSURE(gets() && Traffic::now().is_nothing_since(before));
    // Neither a miss nor a put waits for the disk.
    const Traffic unhurried = Traffic::now();
    ENSURE(data_of(owner.get(), "never put") == "(none)");
    ENSURE_OK(put(owner.get(), "put now", "binary"));
    ENSURE(Traffic::now().is_nothing_since(unhurried));
    ENSURE_OK(hob_program_cache_wait_idle(owner.get(), forever));
    // Without the directory, every access to it would fail.
    ENSURE(std::system(("rm -rf '" + path + "'").c_str()) == 0);
    for (const hob_fingerprint& name : names) ENSURE_OK(hob_program_cache_get(owner.get(), &name, &blob.view));
    ENSURE(trouble(owner.get()).empty());
    ENSURE_OK(put(owner.get(), "later", "binary"));
    ENSURE(statistics(owner.get()).waiting == 1 && trouble(owner.get()).empty());
}

TEST("program_cache: programs on disk are served with the secret that they were written with") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    const std::string secrets[] = {"", "sixteen bytes 01", "another secret that is longer"};
    for (const std::string& written : secrets) {
        hob_program_cache_desc desc = desc_of(path);
        desc.secret = str(written);
        Cache cache = opened(desc);
        ENSURE(data_of(cache.get(), "key") == "(none)");
        ENSURE_OK(put(cache.get(), "key", "made with '" + written + "'"));
        ENSURE_OK(hob_program_cache_flush(cache.get(), forever));
    }
    for (const std::string& read : secrets) {
        hob_program_cache_desc desc = desc_of(path);
        desc.secret = str(read);
        const Cache cache = opened(desc);
        ENSURE(data_of(cache.get(), "key") == "made with '" + read + "'");
        ENSURE(trouble(cache.get()).find("secret") != std::string::npos);
    }
    hob_program_cache_desc desc = desc_of(path);
    desc.secret = HOB_STR("fifteen bytes 0");
    hob_program_cache* none = nullptr;
    ENSURE(hob_program_cache_create(&desc, &none) == HOB_RESULT_INVALID_ARGUMENT && none == nullptr);
    ENSURE(std::strstr(hob_last_error(), "at least 16 random bytes") != nullptr);
}
