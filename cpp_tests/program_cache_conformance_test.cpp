// The assertions that the seed's test suites make about a program cache, in our own words, through the C API.
//
// | behaviour                                                  | asserted by
// | ---------------------------------------------------------- | --------------------------------------------------
// | LRU helper: use 1,2,3,4; peek; pops 1,2,3,4; empty         | "the order of eviction is that of use"; peek, clear,
// | LRU helper: use 1,2,4,2,3,1,1,2; pops 4,3,1,2; clear       | emptiness of the helper: src/program_cache/lru.rs
// | eviction without shader reuse: all statuses unknown        | "evicting a program that shares no shader ..."
// | statuses: the caller's strings are copied                  | "changing the caller's bytes later changes nothing"
// | another vertex or fragment source, feedback, varyings      | "another source, binding, feedback or varying ..."
// | programs (1,2) and (1,3): evict one, then the other        | "evicting a program leaves the statuses that ..."
// | clear: all unknown                                         | "clearing makes all statuses unknown"
// | 1024 bytes: a save of 20 bytes tells the disk exactly once | "a save is written exactly once"
// | 1024 bytes: a load after clearing restores everything      | "after clearing, a load from the disk restores ..."
// | 1024 bytes: rejection, another source, another binding map | "another source, binding ...", program_cache_test.cpp:
// |                                                            | "what is removed or rejected does not come back"
// | 1024 bytes: 20, then 1005 bytes evicts the first           | "a save that does not fit beside the first evicts it"
// | 1024 bytes: 4 x 256 bytes all fit                          | "four saves that fill it to the byte all stay"
// | manager, all of it                                         | program_cache_manager_test.cpp
// | keys: golden digests of the SHA-1 mode                     | fingerprint_test.cpp
// | files: first or last 7 bytes stomped, truncated tail       | "a file whose ends were stomped or cut ..."
// | files: another build                                       | "a file of another build is not served"
// | files: another version                                     | store: a_newer_format_is_left_alone_...
// | files: a bit flipped anywhere: no wrong value              | "a bit flipped anywhere costs a program at most" (here
// |                                                            | some hundred times; more in store: a_flipped_bit_...)
// | files: ENOSPC, EIO                                         | store: a_full_disk_loses_nothing_..., short_reads_...
// | files: read-only directory                                 | "a directory that may not be written ..."
// | files: a 4 GiB length claim allocates nothing              | store: claimed_length_of_four_gibibytes_allocates_nothing
// | files: forced collision of hashes                          | "keys that hash alike are different programs"
// | files: two processes put and get                           | "two processes put and get in one directory"
// | files: SIGKILL at any moment, loss of power                | store: store_matches_the_model
//
// "store" is src/store/tests: those tests need a file system that fails on purpose, which no C API offers.
#include <dirent.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "program_cache_support.h"

using namespace support;

namespace {

/// Chromium's cache of 1024 bytes of data.
hob_program_cache_desc chromium(const std::string& directory = std::string()) {
    hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
    desc.directory = str(directory);
    desc.memory_limit = 1024;
    desc.eviction = HOB_EVICTION_LRU;
    desc.flags = HOB_PROGRAM_CACHE_COUNT_DATA_ONLY;
    return desc;
}

hob_result put_bytes(hob_program_cache* cache, std::string_view name, size_t size) {
    return put(cache, name, std::string(size, 'x'));
}

/// Notes that both shaders have compiled, and puts the program.
void link(hob_program_cache* cache, std::string_view name, std::string_view first, std::string_view second) {
    const hob_fingerprint shaders[] = {key(first), key(second)}, program_key = key(name);
    for (const hob_fingerprint& shader : shaders) ENSURE_OK(hob_program_cache_report_shader_compiled(cache, &shader));
    hob_program program = HOB_PROGRAM_INIT;
    program.data = "x";
    program.size = 1;
    program.shaders = shaders;
    program.shader_count = 2;
    ENSURE_OK(hob_program_cache_put(cache, &program_key, &program));
}

void evict(hob_program_cache* cache, std::string_view name) {
    const hob_fingerprint fingerprint = key(name);
    ENSURE_OK(hob_program_cache_remove(cache, &fingerprint));
}

uint32_t programs_of(const hob_program_cache* cache, std::string_view shader) {
    const hob_fingerprint fingerprint = key(shader);
    uint32_t programs = 99;
    ENSURE_OK(hob_program_cache_get_shader_program_count(cache, &fingerprint, &programs));
    return programs;
}

/// The names that are cached, in their order.
std::string cached(const hob_program_cache* cache, std::string_view names) {
    std::string found;
    for (const char name : names) {
        if (knows_program(cache, std::string_view(&name, 1))) found += name;
    }
    return found;
}

/// The names of the programs in order of eviction.
std::string order_of_eviction(hob_program_cache* cache, std::string_view names) {
    std::string order, left = cached(cache, names);
    while (!left.empty()) {
        ENSURE_OK(hob_program_cache_trim(cache, 10 * (left.size() - 1)));
        const std::string now = cached(cache, names);
        for (const char name : left) {
            if (now.find(name) == std::string::npos) order += name;
        }
        ENSURE(now.size() + 1 == left.size());
        left = now;
    }
    return order;
}

std::vector<std::string> segments(const std::string& directory) {
    std::vector<std::string> found;
    DIR* const list = opendir(directory.c_str());
    ENSURE(list != nullptr);
    while (const dirent* entry = readdir(list)) {
        const std::string name = entry->d_name;
        if (name.size() > 4 && name.compare(name.size() - 4, 4, ".seg") == 0) found.push_back(directory + "/" + name);
    }
    closedir(list);
    return found;
}

std::string contents(const std::string& path) {
    FILE* const file = std::fopen(path.c_str(), "rb");
    ENSURE(file != nullptr);
    std::string bytes;
    char part[4096];
    for (size_t count; (count = std::fread(part, 1, sizeof part, file)) > 0;) bytes.append(part, count);
    std::fclose(file);
    return bytes;
}

void overwrite(const std::string& path, const std::string& bytes) {
    FILE* const file = std::fopen(path.c_str(), "wb");
    ENSURE(file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size());
    ENSURE(std::fclose(file) == 0);
}

constexpr int kept = 20;

std::string value_of(int n) { return "value of program " + std::to_string(n); }

/// A directory with programs in one file.
void populate(const std::string& path) {
    const Cache cache = open(desc_of(path));
    for (int n = 0; n < kept; ++n) ENSURE_OK(put(cache.get(), std::to_string(n), value_of(n)));
}

/// Number of programs that the cache serves. None may have a wrong value.
int served(const std::string& path) {
    hob_program_cache_desc desc = desc_of(path);
    desc.flags = HOB_PROGRAM_CACHE_READ_ONLY;
    const Cache cache = opened(desc);
    int count = 0;
    for (int n = 0; n < kept; ++n) {
        const std::string found = data_of(cache.get(), std::to_string(n));
        ENSURE(found == value_of(n) || found == "(none)");
        count += found == "(none)" ? 0 : 1;
    }
    return count;
}

}  // namespace

TEST("program_cache: programs are evicted in order of last use") {
    const Cache cache = open(chromium());
    const auto use = [&](std::string_view names) {
        for (const char name : names) {
            const std::string_view one(&name, 1);
            if (!knows_program(cache.get(), one)) ENSURE_OK(put_bytes(cache.get(), one, 10));
            ENSURE(data_of(cache.get(), one).size() == 10);
        }
    };
    use("1234");
    // A status query does not count as a use: this is a peek.
    ENSURE(knows_program(cache.get(), "1") && knows_program(cache.get(), "1"));
    ENSURE(order_of_eviction(cache.get(), "1234") == "1234");
    use("12423112");
    ENSURE(order_of_eviction(cache.get(), "1234") == "4312");
    use("1234");
    ENSURE_OK(hob_program_cache_clear(cache.get(), 0));
    ENSURE(cached(cache.get(), "1234").empty());
}

TEST("program_cache: a compile status is unknown until the shader has compiled, a link status until it is cached") {
    const Cache cache = open(chromium());
    const hob_fingerprint shader = key("1");
    ENSURE(!knows_shader(cache.get(), "1"));
    ENSURE_OK(hob_program_cache_report_shader_compiled(cache.get(), &shader));
    ENSURE(knows_shader(cache.get(), "1") && programs_of(cache.get(), "1") == 0 && !knows_shader(cache.get(), "2"));
    ENSURE(!knows_program(cache.get(), "p"));
    link(cache.get(), "p", "1", "2");
    ENSURE(knows_program(cache.get(), "p") && !knows_program(cache.get(), "q"));
}

TEST("program_cache: evicting a program that shares no shader makes all its statuses unknown") {
    const Cache cache = open(chromium());
    link(cache.get(), "p", "1", "2");
    evict(cache.get(), "p");
    ENSURE(!knows_program(cache.get(), "p") && !knows_shader(cache.get(), "1") && !knows_shader(cache.get(), "2"));
}

TEST("program_cache: changing the caller's bytes later changes nothing") {
    const Cache cache = open(chromium());
    std::string data = "data", reflection = "a:0 b:1";
    hob_fingerprint shaders[] = {key("1"), key("2")}, name = key("p");
    hob_program program = HOB_PROGRAM_INIT;
    program.data = data.data();
    program.size = data.size();
    program.reflection = reflection.data();
    program.reflection_size = reflection.size();
    program.shaders = shaders;
    program.shader_count = 2;
    ENSURE_OK(hob_program_cache_put(cache.get(), &name, &program));
    data = "....";
    reflection = ".......";
    shaders[0] = shaders[1] = name = key("3");
    Blob blob;
    ENSURE_OK(get(cache.get(), "p", blob));
    ENSURE(blob.data() == "data");
    ENSURE(std::string_view(static_cast<const char*>(blob.view.reflection), blob.view.reflection_size) == "a:0 b:1");
    ENSURE(knows_shader(cache.get(), "1") && knows_shader(cache.get(), "2") && !knows_shader(cache.get(), "3"));
}

TEST("program_cache: another source, binding, feedback or varying makes an unknown program") {
    const Cache cache = open(chromium());
    const hob_attribute_binding bound = {HOB_STR("test"), 512, 0}, other = {HOB_STR("different!"), 59, 0};
    const hob_str varyings[] = {HOB_STR("one"), HOB_STR("two")};
    hob_program_stage stages[] = {{HOB_SHADER_STAGE_VERTEX, 0, "vs", 2}, {HOB_SHADER_STAGE_FRAGMENT, 0, "fs", 2}};
    hob_program_key_desc desc = HOB_PROGRAM_KEY_DESC_INIT;
    desc.stages = stages;
    desc.stage_stride = sizeof stages[0];
    desc.stage_count = 2;
    desc.attributes = &bound;
    desc.attribute_stride = sizeof bound;
    desc.attribute_count = 1;
    desc.varyings = varyings;
    desc.varying_stride = sizeof varyings[0];
    desc.varying_count = 1;
    desc.feedback_mode = 1;
    const auto is_known = [&] {
        hob_fingerprint name = {};
        ENSURE_OK(hob_fingerprint_hash_program(&desc, &name));
        uint32_t known = 99;
        ENSURE_OK(hob_program_cache_get_program_status(cache.get(), &name, &known));
        Blob blob;
        ENSURE((hob_program_cache_get(cache.get(), &name, &blob.view) == HOB_RESULT_OK) == (known == 1));
        return known == 1;
    };
    hob_fingerprint name = {};
    ENSURE_OK(hob_fingerprint_hash_program(&desc, &name));
    hob_program program = HOB_PROGRAM_INIT;
    ENSURE_OK(hob_program_cache_put(cache.get(), &name, &program));
    ENSURE(is_known());
    const hob_program_key_desc as_put = desc;
    for (const char* source : {"VS", "FS"}) {
        hob_program_stage& stage = stages[source[0] == 'V' ? 0 : 1];
        const hob_program_stage before = stage;
        stage.source = source;
        ENSURE(!is_known());
        stage = before;
    }
    desc.attributes = &other;
    ENSURE(!is_known());
    desc.attribute_count = 0;
    ENSURE(!is_known());
    desc = as_put;
    desc.feedback_mode = 2;
    ENSURE(!is_known());
    desc = as_put;
    desc.varying_count = 2;
    ENSURE(!is_known());
    desc.varying_count = 0;
    ENSURE(!is_known());
    desc = as_put;
    ENSURE(is_known());
}

TEST("program_cache: evicting a program keeps the statuses that another one needs") {
    const Cache cache = open(chromium());
    link(cache.get(), "p", "1", "2");
    link(cache.get(), "q", "1", "3");
    ENSURE(programs_of(cache.get(), "1") == 2 && programs_of(cache.get(), "2") == 1);
    evict(cache.get(), "p");
    ENSURE(knows_shader(cache.get(), "1") && !knows_shader(cache.get(), "2") && knows_shader(cache.get(), "3"));
    evict(cache.get(), "q");
    for (const char* shader : {"1", "2", "3"}) ENSURE(!knows_shader(cache.get(), shader));
}

TEST("program_cache: clearing makes all statuses unknown") {
    const Cache cache = open(chromium());
    link(cache.get(), "p", "1", "2");
    link(cache.get(), "q", "1", "3");
    ENSURE_OK(hob_program_cache_clear(cache.get(), 0));
    for (const char* name : {"1", "2", "3"}) ENSURE(!knows_shader(cache.get(), name));
    ENSURE(cached(cache.get(), "pq").empty() && statistics(cache.get()).shaders == 0);
}

TEST("program_cache: a save is written exactly once") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    const Cache cache = open(chromium(path));
    ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
    ENSURE_OK(put_bytes(cache.get(), "a", 20));
    ENSURE(statistics(cache.get()).waiting == 1);
    ENSURE(data_of(cache.get(), "a").size() == 20);
    ENSURE_OK(hob_program_cache_trim(cache.get(), 0));
    ENSURE(statistics(cache.get()).waiting == 1);
    ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
    const uint64_t bytes = statistics(cache.get()).disk_file_bytes;
    ENSURE(statistics(cache.get()).disk_values == 1 && data_of(cache.get(), "a") == "(none)");
    ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
    // The cache loaded it again, and did not write it again.
    ENSURE(data_of(cache.get(), "a").size() == 20 && statistics(cache.get()).disk_file_bytes == bytes);
}

TEST("program_cache: after clearing, a load from the disk restores statuses and reflection") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    const Cache cache = open(chromium(path));
    link(cache.get(), "p", "1", "2");
    ENSURE_OK(put(cache.get(), "q", "data"));
    ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
    ENSURE_OK(hob_program_cache_clear(cache.get(), 0));
    ENSURE(!knows_shader(cache.get(), "1") && cached(cache.get(), "pq").empty());
    const hob_fingerprint p = key("p"), q = key("q");
    Blob blob;
    ENSURE_OK(hob_program_cache_get_wait(cache.get(), &p, forever, &blob.view));
    ENSURE(knows_shader(cache.get(), "1") && knows_shader(cache.get(), "2") && programs_of(cache.get(), "1") == 1);
    ENSURE_OK(hob_program_cache_get_wait(cache.get(), &q, forever, &blob.view));
    ENSURE(blob.view.format == 7 && blob.data() == "data");
    ENSURE(std::string_view(static_cast<const char*>(blob.view.reflection), blob.view.reflection_size) == "map");
}

TEST("program_cache: a second save over the limit evicts the first") {
    const Cache cache = open(chromium());
    ENSURE_OK(put_bytes(cache.get(), "a", 20));
    ENSURE_OK(put_bytes(cache.get(), "b", 1005));
    ENSURE(cached(cache.get(), "ab") == "b");
}

TEST("program_cache: four saves that exactly fill the limit are all kept") {
    const Cache cache = open(chromium());
    for (const char* name : {"a", "b", "c", "d"}) ENSURE_OK(put_bytes(cache.get(), name, 256));
    ENSURE(cached(cache.get(), "abcd") == "abcd" && statistics(cache.get()).bytes == 1024);
    ENSURE_OK(put_bytes(cache.get(), "e", 1));
    ENSURE(cached(cache.get(), "abcde") == "bcde");
}

TEST("program_cache: keys that hash alike are different programs") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    // The table in memory folds a key's four words, rotating by 23 bits each time. All these keys fold to 0.
    const auto alike = [](uint64_t n) {
        const uint64_t words[] = {0, 0, n, n << 23 | n >> 41};
        hob_fingerprint name = {};
        std::memcpy(name.bytes, words, sizeof words);
        return name;
    };
    hob_program program = HOB_PROGRAM_INIT;
    {
        const Cache cache = open(desc_of(path));
        for (uint64_t n = 1; n <= 100; ++n) {
            const hob_fingerprint name = alike(n * 0x9e3779b97f4a7c15);
            program.data = &n;
            program.size = sizeof n;
            ENSURE_OK(hob_program_cache_put(cache.get(), &name, &program));
        }
        ENSURE(statistics(cache.get()).programs == 100);
    }
    const Cache cache = opened(desc_of(path));
    for (uint64_t n = 1; n <= 100; ++n) {
        const hob_fingerprint name = alike(n * 0x9e3779b97f4a7c15);
        Blob blob;
        ENSURE_OK(hob_program_cache_get(cache.get(), &name, &blob.view));
        ENSURE(blob.view.size == sizeof n && std::memcmp(blob.view.data, &n, sizeof n) == 0);
        ENSURE_OK(hob_program_cache_remove(cache.get(), &name));
        ENSURE(hob_program_cache_get(cache.get(), &name, &blob.view) == HOB_RESULT_NOT_FOUND);
    }
}

TEST("program_cache: overwritten or truncated file ends lose only the programs in them") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    populate(path);
    ENSURE(segments(path).size() == 1 && served(path) == kept);
    const std::string file = segments(path)[0], whole = contents(file);
    std::string stomped = whole;
    stomped.replace(0, 7, "stomped");
    overwrite(file, stomped);
    ENSURE(served(path) == kept);  // the file has a second copy of its head
    stomped = whole;
    stomped.replace(whole.size() - 7, 7, "stomped");
    overwrite(file, stomped);
    ENSURE(served(path) >= kept - 1);
    int before = 0;
    for (size_t size = 0; size <= whole.size(); size += 61) {
        overwrite(file, whole.substr(0, size));
        const int now = served(path);
        ENSURE(now >= before);  // the last complete record is the end
        before = now;
    }
    ENSURE(before >= kept - 1);
}

TEST("program_cache: a file of another build is not served") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    populate(path);
    hob_environment environment = HOB_ENVIRONMENT_INIT;
    environment.build = HOB_STR("another build");
    hob_program_cache_desc desc = desc_of(path);
    desc.environment = &environment;
    const Cache other = opened(desc);
    for (int n = 0; n < kept; ++n) ENSURE(data_of(other.get(), std::to_string(n)) == "(none)");
    ENSURE(statistics(other.get()).loads == 0 && served(path) == kept);
}

TEST("program_cache: a flipped bit costs at most one program") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    populate(path);
    const std::string file = segments(path)[0], whole = contents(file);
    Dice dice(7);
    for (int trial = 0; trial < harness::scaled(200); ++trial) {
        std::string flipped = whole;
        char& byte = flipped[dice.below(static_cast<uint32_t>(whole.size()))];
        byte = static_cast<char>(byte ^ (1 << dice.below(8)));
        overwrite(file, flipped);
        ENSURE(served(path) >= kept - 1);
    }
}

/// While it lives, this thread and those that it starts obey file permissions even as root.
class WithoutOverride {
public:
    WithoutOverride() {
        ENSURE(syscall(SYS_capget, &header_, before_) == 0);
        __user_cap_data_struct now[2] = {before_[0], before_[1]};
        now[0].effective &= ~((1U << CAP_DAC_OVERRIDE) | (1U << CAP_DAC_READ_SEARCH));
        ENSURE(syscall(SYS_capset, &header_, now) == 0);
    }
    ~WithoutOverride() { EXPECT(syscall(SYS_capset, &header_, before_) == 0); }
    WithoutOverride(const WithoutOverride&) = delete;
    WithoutOverride& operator=(const WithoutOverride&) = delete;

private:
    __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct before_[2]{};
};

TEST("program_cache: an unwritable directory is read, and new programs stay in memory with a warning") {
    const Directory directory;
    const WithoutOverride as_owner;
    const std::string path = directory.inside("cache");
    populate(path);
    ENSURE(chmod(path.c_str(), 0555) == 0);
    {
        const Cache cache = opened(desc_of(path));
        ENSURE(data_of(cache.get(), "1") == value_of(1));
        ENSURE_OK(put(cache.get(), "new", "new"));
        ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
        ENSURE(data_of(cache.get(), "new") == "new" && !trouble(cache.get()).empty());
        ENSURE(statistics(cache.get()).unwritten == 1);
    }
    ENSURE(chmod(path.c_str(), 0755) == 0);
    ENSURE(served(path) == kept);
}

TEST("program_cache: two processes share one directory") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    const hob_program_cache_desc desc = desc_of(path);
    const pid_t child = fork();
    ENSURE(child >= 0);
    const int first = child == 0 ? 0 : 1;
    bool ok = true;
    {
        hob_program_cache* made = nullptr;
        ok = hob_program_cache_create(&desc, &made) == HOB_RESULT_OK;
        const Cache cache(made);
        for (int n = first; ok && n < kept; n += 2) {
            ok = put(cache.get(), std::to_string(n), value_of(n)) == HOB_RESULT_OK &&
                 hob_program_cache_flush(cache.get(), forever) == HOB_RESULT_OK;
            const std::string other = data_of(cache.get(), std::to_string(kept - n));
            ok = ok && (other == "(none)" || other == value_of(kept - n));
        }
    }
    if (child == 0) _exit(ok ? 0 : 1);
    int status = 0;
    ENSURE(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 && ok);
    ENSURE(served(path) == kept);
}
