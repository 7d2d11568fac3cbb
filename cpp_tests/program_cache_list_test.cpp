// Where programs are, the list of programs, groups, and problems that are reported. MIT OR Apache-2.0.
#include <hobgoblin/program_cache.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "program_cache_support.h"

namespace {

using namespace support;

uint32_t places(const hob_program_cache* cache, std::string_view name) {
    uint32_t found = 99;
    const hob_fingerprint fingerprint = key(name);
    ENSURE_OK(hob_program_cache_contains(cache, &fingerprint, forever, &found));
    return found;
}

}  // namespace

TEST("program_cache: contains distinguishes memory, disk and bundle") {
    const Directory directory;
    const std::string programs = directory.inside("programs"), bundle = directory.inside("bundle");
    {
        Cache cache = open(desc_of(programs));
        ENSURE_OK(put(cache.get(), "a", "old"));
        ENSURE(places(cache.get(), "a") == (HOB_PROGRAM_IN_MEMORY | HOB_PROGRAM_ON_DISK));
        ENSURE_OK(hob_program_cache_write_bundle(cache.get(), str(bundle), HOB_BUNDLE_CONTENTS_ALL, nullptr));
    }
    Cache cache = open(desc_of(programs));
    ENSURE_OK(hob_program_cache_trim(cache.get(), 0));
    ENSURE_OK(hob_program_cache_add_bundle(cache.get(), str(bundle)));
    ENSURE((places(cache.get(), "a") | HOB_PROGRAM_IN_MEMORY) == 7);
    ENSURE(places(cache.get(), "b") == 0);
    const hob_fingerprint a = key("a");
    ENSURE_OK(hob_program_cache_remove(cache.get(), &a));
    ENSURE(places(cache.get(), "a") == 0);
    ENSURE_OK(put(cache.get(), "c", "x"));
    const hob_fingerprint c = key("c");
    uint32_t found = 99;
    ENSURE(hob_program_cache_contains(cache.get(), &c, 0, &found) == HOB_RESULT_TIMEOUT && found == 99);
}

TEST("program_cache: the directory is cleared of all environments") {
    const Directory directory;
    const std::string programs = directory.inside("programs");
    hob_program_cache_desc descs[2] = {desc_of(programs), desc_of(programs)};
    const hob_environment environments[2] = {environment_of("old"), environment_of("new")};
    for (int i = 0; i < 2; ++i) {
        descs[i].environment = &environments[i];
        ENSURE_OK(put(open(descs[i]).get(), "a", "x"));
    }
    {
        Cache cache = open(descs[1]);
        ENSURE_OK(hob_program_cache_clear(cache.get(), 1));
        ENSURE(places(cache.get(), "a") == 0);
    }
    ENSURE(places(open(descs[0]).get(), "a") != 0);
    ENSURE_OK(hob_program_cache_clear_directory(open(descs[1]).get()));
    ENSURE(places(open(descs[0]).get(), "a") == 0);
    ENSURE_OK(put(open(descs[0]).get(), "a", "x"));
    hob::ProgramCache(open(descs[0]).release()).clear_directory();
    ENSURE(places(open(descs[0]).get(), "a") == 0);
}

TEST("program_cache: the list has each program once, in pages of any size") {
    const Directory directory;
    const std::string programs = directory.inside("programs");
    {
        Cache cache = open(desc_of(programs));
        for (int i = 0; i < 100; ++i) ENSURE_OK(put(cache.get(), std::to_string(i), std::string(size_t(10 + i), 'x'), uint64_t(i)));
    }
    Cache cache = open(desc_of(programs));
    Blob blob;
    const hob_fingerprint seven = key("7");
    ENSURE_OK(hob_program_cache_get_wait(cache.get(), &seven, forever, &blob.view));
    for (const size_t capacity : {size_t{1}, size_t{9}, size_t{100}, size_t{5000}}) {
        std::vector<hob_program_info> page(capacity), all;
        size_t count = 0;
        hob_fingerprint last = {};
        const hob_fingerprint* after = nullptr;
        for (;;) {
            ENSURE_OK(hob_program_cache_list(cache.get(), after, forever, page.data(), sizeof page[0], capacity, &count));
            ENSURE(count <= capacity);
            if (count == 0) break;
            all.insert(all.end(), page.begin(), page.begin() + std::ptrdiff_t(count));
            last = page[count - 1].key;
            after = &last;
        }
        ENSURE(all.size() == 100);
        for (size_t i = 1; i < all.size(); ++i) ENSURE(std::memcmp(&all[i - 1].key, &all[i].key, sizeof all[i].key) < 0);
        for (const hob_program_info& one : all)
            if (std::memcmp(&one.key, &seven, sizeof seven) == 0)
                ENSURE(one.size == 10 + 7 + 3 && one.build_us == 7 && one.uses >= 1 && one.recorded_uses >= 1 &&
                       one.last_used > 1600000000 && (one.places & HOB_PROGRAM_IN_MEMORY) != 0);
    }
    // Without an array it counts a page of no programs.
    size_t count = 9;
    ENSURE_OK(hob_program_cache_list(cache.get(), nullptr, forever, nullptr, 0, 0, &count));
    ENSURE(count == 0);
}

TEST("program_cache: a get for another group moves the program there") {
    hob_program_cache_desc desc = desc_of("");
    desc.memory_limit = 4 * (32 + 100 + 3);
    desc.eviction = HOB_EVICTION_GROUPS;
    Cache cache = open(desc);
    const std::string data(100, 'x');
    const auto put_in = [&](const char* name, uint32_t group) {
        hob_program program = HOB_PROGRAM_INIT;
        program.data = data.data();
        program.size = data.size();
        program.reflection = "map";
        program.reflection_size = 3;
        program.group = group;
        const hob_fingerprint fingerprint = key(name);
        ENSURE_OK(hob_program_cache_put(cache.get(), &fingerprint, &program));
    };
    put_in("a", 1);
    put_in("b", 1);
    put_in("c", 2);
    put_in("d", 2);
    const hob_fingerprint a = key("a"), none = key("none");
    Blob blob;
    ENSURE_OK(hob_program_cache_get_for_group(cache.get(), &a, 3, &blob.view));
    ENSURE(blob.data() == data);
    ENSURE(hob_program_cache_get_for_group(cache.get(), &none, 3, &blob.view) == HOB_RESULT_NOT_FOUND);
    put_in("e", 3);
    uint32_t known = 9;
    const hob_fingerprint b = key("b");
    ENSURE_OK(hob_program_cache_get_program_status(cache.get(), &b, &known));
    ENSURE(known == 0);
    ENSURE_OK(hob_program_cache_get_program_status(cache.get(), &a, &known));
    ENSURE(known == 1);
}

TEST("program_cache: critical pressure lasts until it is reported to end") {
    Cache cache = open(desc_of(""));
    ENSURE_OK(hob_program_cache_report_memory_pressure(cache.get(), HOB_MEMORY_PRESSURE_CRITICAL));
    ENSURE_OK(put(cache.get(), "a", "1"));
    ENSURE_OK(put(cache.get(), "b", "2"));
    ENSURE(data_of(cache.get(), "a") == "(none)" && data_of(cache.get(), "b") == "2");
    ENSURE_OK(hob_program_cache_report_memory_pressure(cache.get(), HOB_MEMORY_PRESSURE_NONE));
    ENSURE_OK(put(cache.get(), "a", "1"));
    ENSURE(data_of(cache.get(), "a") == "1" && data_of(cache.get(), "b") == "2");
}

TEST("program_cache: problems are reported once, and released with their observer") {
    const Directory directory;
    const std::string blocked = directory.inside("file");
    FILE* const file = std::fopen(blocked.c_str(), "w");
    ENSURE(file != nullptr && std::fclose(file) == 0);
    struct Seen {
        std::vector<std::string> sentences;
        int releases = 0;
    } seen, replaced;
    hob_problem_callback callback = HOB_PROBLEM_CALLBACK_INIT;
    Cache cache = open(desc_of(blocked));
    ENSURE(hob_program_cache_set_problem_callback(cache.get(), &callback) == HOB_RESULT_INVALID_ARGUMENT);
    callback.user_data = &replaced;
    callback.report = [](void* user_data, hob_str sentence) {
        ENSURE(sentence.data[sentence.len] == 0);
        static_cast<Seen*>(user_data)->sentences.emplace_back(sentence.data, sentence.len);
    };
    callback.release = [](void* user_data) { ++static_cast<Seen*>(user_data)->releases; };
    ENSURE_OK(hob_program_cache_set_problem_callback(cache.get(), &callback));
    callback.user_data = &seen;
    ENSURE_OK(hob_program_cache_set_problem_callback(cache.get(), &callback));
    ENSURE(replaced.releases == 1 && seen.releases == 0);
    for (int i = 0; i < 3; ++i) {
        ENSURE_OK(put(cache.get(), std::to_string(i), "x"));
        ENSURE(hob_program_cache_flush(cache.get(), forever) == HOB_RESULT_IO);
    }
    ENSURE(seen.sentences.size() == 1 && seen.sentences[0] == trouble(cache.get()) && replaced.sentences.empty());
    cache.reset();
    ENSURE(seen.releases == 1);
}

TEST("hpp: a program cache lists its programs, and an observer of problems may throw") {
    const Directory directory;
    hob::ProgramCacheOptions options;
    options.directory = directory.inside("programs");
    const hob::ProgramCache cache(options);
    hob::Program program;
    program.data = "binary";
    for (const char* name : {"a", "b", "c"}) ENSURE(cache.put(key(name), program));
    ENSURE(cache.contains(key("a")) == (HOB_PROGRAM_IN_MEMORY | HOB_PROGRAM_ON_DISK) && cache.contains(key("d")) == 0);
    const auto first = cache.list(nullptr, 2);
    const auto second = cache.list(&first.back().key, 2);
    ENSURE(first.size() == 2 && second.size() == 1 && cache.list(&second.back().key).empty());
    ENSURE(cache.get_for_group(key("a"), 7).data() == "binary");
    ENSURE(cache.list()[0].size == 6);

    const std::string blocked = directory.inside("file");
    FILE* const file = std::fopen(blocked.c_str(), "w");
    ENSURE(file != nullptr && std::fclose(file) == 0);
    options.directory = blocked;
    const hob::ProgramCache broken(options);
    auto calls = std::make_shared<int>(0);
    broken.observe_problems([calls](std::string_view sentence) {
        *calls += !sentence.empty();
        throw std::runtime_error("from an observer");
    });
    ENSURE(broken.put(key("a"), program) && !broken.try_flush());
    ENSURE(*calls == 1 && calls.use_count() == 2);
    broken.observe_problems(nullptr);
    ENSURE(calls.use_count() == 1);
}
