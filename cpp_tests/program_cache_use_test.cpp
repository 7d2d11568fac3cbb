// program_cache.h: programs in use: processes that crash in one, others that share the directory, and the end of a use.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <hobgoblin/program_cache.hpp>

#include "program_cache_support.h"

using namespace support;

namespace {

uint32_t strikes(const hob_program_cache* cache, std::string_view name) {
    const hob_fingerprint fingerprint = key(name);
    uint32_t count = 99;
    ENSURE_OK(hob_program_cache_get_strikes(cache, &fingerprint, &count));
    return count;
}

hob_use_id begin(const hob_program_cache* cache, std::string_view name) {
    const hob_fingerprint fingerprint = key(name);
    hob_use_id use = {};
    ENSURE_OK(hob_program_cache_begin_use(cache, &fingerprint, &use));
    return use;
}

/// A child process that opens a cache, begins to use a program, and runs `then`.
template <class Then>
pid_t child_using(const std::string& directory, std::string_view name, const Then& then) {
    const pid_t child = fork();
    ENSURE(child >= 0);
    if (child != 0) return child;
    hob_program_cache_desc desc = desc_of(directory);
    hob_program_cache* cache = nullptr;
    hob_use_id use = {};
    const hob_fingerprint fingerprint = key(name);
    if (hob_program_cache_create(&desc, &cache) != HOB_RESULT_OK) _exit(2);
    if (hob_program_cache_begin_use(cache, &fingerprint, &use) != HOB_RESULT_OK) _exit(3);
    then(cache, use);
    _exit(5);
}

int status_of(pid_t child) {
    int status = 0;
    ENSURE(waitpid(child, &status, 0) == child);
    return status;
}

/// Whether a child exited as expected. Under valgrind the status is 9: the child does not free its inherited memory.
bool exited_well(pid_t child) {
    const int status = status_of(child);
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 9);
}

/// In a child process: begins to use a program, and crashes.
void die_using(const std::string& directory, std::string_view name, bool inside) {
    const int status = status_of(child_using(directory, name, [=](hob_program_cache* cache, hob_use_id use) {
        if (!inside && hob_program_cache_end_use(cache, use, HOB_USE_OUTCOME_OK) != HOB_RESULT_OK) _exit(4);
        kill(getpid(), SIGKILL);
    }));
    ENSURE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/// Every file below a directory, with its contents.
std::map<std::string, std::string> contents(const std::string& directory) {
    std::map<std::string, std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
        std::ifstream file(entry.path(), std::ios::binary);
        std::string& bytes = found[entry.path().string()];
        if (entry.is_regular_file()) bytes.assign(std::istreambuf_iterator<char>(file), {});
    }
    return found;
}

}  // namespace

namespace {

/// The blob of a key, as a renderer loads it; empty: missing.
std::string blob_of(const hob_program_cache* cache, const std::string& name) {
    char value[8];
    void* const user_data = const_cast<hob_program_cache*>(cache);
    return {value, hob_dawn_blob_load(name.data(), name.size(), value, sizeof value, user_data)};
}

/// In a child process: loads two blobs, ends the use of one or of both, and crashes.
void die_loading(const std::string& directory, bool is_tracked, bool ends_both) {
    const int status = status_of(child_using(directory, "unused", [=](hob_program_cache* cache, hob_use_id use) {
        const auto is_ok = [](hob_result result) { return result == HOB_RESULT_OK; };
        bool is_well = is_ok(hob_program_cache_end_use(cache, use, HOB_USE_OUTCOME_UNUSED)) &&
                       is_ok(hob_program_cache_wait_idle(cache, UINT64_MAX)) &&
                       is_ok(hob_program_cache_track_blob_uses(cache, is_tracked)) &&
                       blob_of(cache, "good") == "blob" &&
                       is_ok(hob_program_cache_end_blob_uses(cache, HOB_USE_OUTCOME_OK)) &&
                       blob_of(cache, "bad") == "blob";
        if (ends_both) is_well = is_ok(hob_program_cache_end_blob_uses(cache, HOB_USE_OUTCOME_OK)) && is_well;
        if (!is_well) _exit(4);
        kill(getpid(), SIGKILL);
    }));
    ENSURE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

}  // namespace

TEST("program_cache: a blob that the driver has when two processes are killed is banned, if uses are tracked") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    const hob_program_cache_desc desc = desc_of(path);
    {
        Cache cache = opened(desc);
        for (const std::string name : {"bad", "good"})
            hob_dawn_blob_store(name.data(), name.size(), "blob", 4, cache.get());
        ENSURE_OK(hob_program_cache_flush(cache.get(), UINT64_MAX));
    }
    for (int i = 0; i < 2; ++i) {
        die_loading(path, false, false);
        die_loading(path, true, true);
    }
    die_loading(path, true, false);
    {
        Cache cache = opened(desc);
        ENSURE_OK(hob_program_cache_wait_idle(cache.get(), UINT64_MAX));
        ENSURE(blob_of(cache.get(), "bad") == "blob"); // one strike is no ban
    }
    die_loading(path, true, false);
    Cache cache = opened(desc);
    ENSURE_OK(hob_program_cache_wait_idle(cache.get(), UINT64_MAX));
    ENSURE_OK(hob_program_cache_track_blob_uses(cache.get(), 1));
    ENSURE(blob_of(cache.get(), "bad").empty() && blob_of(cache.get(), "good") == "blob");
    const auto unknown = static_cast<hob_use_outcome>(3);
    ENSURE(hob_program_cache_end_blob_uses(cache.get(), unknown) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE_OK(hob_program_cache_end_blob_uses(cache.get(), HOB_USE_OUTCOME_REJECTED));
    ENSURE(blob_of(cache.get(), "good").empty());
    ENSURE_OK(hob_program_cache_end_blob_uses(cache.get(), HOB_USE_OUTCOME_OK)); // none is open
}

TEST("program_cache: two crashes in a program ban that program alone") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    const hob_program_cache_desc desc = desc_of(path);
    { ENSURE_OK(put(open(desc).get(), "bad", "binary")); }
    die_using(path, "bad", true);
    die_using(path, "good", false);
    {
        Cache cache = opened(desc);
        ENSURE(strikes(cache.get(), "bad") == 1 && strikes(cache.get(), "good") == 0);
        ENSURE(data_of(cache.get(), "bad") == "binary");
    }
    die_using(path, "bad", true);
    const hob_fingerprint bad = key("bad"), good = key("good");
    {
        hob::ProgramCacheOptions options;
        options.directory = path;
        options.desc.described_keys = 1;
        const hob::ProgramCache cache(options);
        hob::ProgramKey described;
        described.stage(HOB_SHADER_STAGE_COMPUTE, "while (true);");
        const hob_program_key_desc made_from = described.capi();
        ENSURE_OK(hob_program_cache_describe(cache.capi(), &bad, &made_from));
        const hob_program_miss miss = cache.explain_miss(described);
        ENSURE(miss.location == HOB_PROGRAM_LOCATION_BANNED && miss.difference_count == 0);
        ENSURE(std::string(miss.sentence).find("it is banned") != std::string::npos);
        ENSURE(cache.get(bad).is_banned() && !cache.get(bad) && !cache.begin_use(bad) && !cache.get(good).is_banned());
    }
    hob_use_id use = {};
    {
        Cache cache = opened(desc);
        ENSURE(strikes(cache.get(), "bad") == 2);
        ENSURE(hob_program_cache_begin_use(cache.get(), &bad, &use) == HOB_RESULT_BANNED);
        Blob blob;
        ENSURE(get(cache.get(), "bad", blob) == HOB_RESULT_BANNED);
        ENSURE_OK(put(cache.get(), "bad", "again"));
        ENSURE(get(cache.get(), "bad", blob) == HOB_RESULT_BANNED);
        ENSURE_OK(hob_program_cache_begin_use(cache.get(), &good, &use));
        ENSURE_OK(hob_program_cache_end_use(cache.get(), use, HOB_USE_OUTCOME_OK));
        ENSURE_OK(hob_program_cache_clear_strikes(cache.get(), &bad));
        ENSURE(strikes(cache.get(), "bad") == 0);
    }
    Cache cache = opened(desc);
    ENSURE_OK(hob_program_cache_begin_use(cache.get(), &bad, &use));
    ENSURE_OK(hob_program_cache_end_use(cache.get(), use, HOB_USE_OUTCOME_OK));
    ENSURE_OK(hob_program_cache_clear_strikes(cache.get(), nullptr));
}

TEST("program_cache: _exit inside a use is a strike, and destroying the cache is not") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    const pid_t left = child_using(path, "left", [](hob_program_cache*, hob_use_id) { _exit(0); });
    ENSURE(exited_well(left));
    const pid_t closed = child_using(path, "closed", [](hob_program_cache* cache, hob_use_id) {
        hob_program_cache_destroy(cache);
        _exit(0);
    });
    ENSURE(exited_well(closed));
    // Also if another object keeps the memory of the cache.
    const pid_t kept = child_using(path, "kept", [](hob_program_cache* cache, hob_use_id) {
        hob_program_callbacks driver = HOB_PROGRAM_CALLBACKS_INIT;
        driver.compile = [](void*, void*, uint32_t, const void*, size_t) -> uint32_t { return 0; };
        driver.link = [](void*, void*) -> uint32_t { return 0; };
        driver.load = [](void*, void*, const hob_blob*) -> uint32_t { return 0; };
        hob_program_manager* manager = nullptr;
        if (hob_program_manager_create(cache, &driver, &manager) != HOB_RESULT_OK) _exit(4);
        hob_program_cache_destroy(cache);
        _exit(0);
    });
    ENSURE(exited_well(kept));
    const Cache cache = open(desc_of(path));
    ENSURE(strikes(cache.get(), "left") == 1 && strikes(cache.get(), "closed") == 0);
    ENSURE(strikes(cache.get(), "kept") == 0);
}

TEST("program_cache: an unused program keeps its data and its strikes") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    const hob_program_cache_desc desc = desc_of(path);
    { ENSURE_OK(put(open(desc).get(), "a", "binary")); }
    die_using(path, "a", true);
    {
        const Cache cache = opened(desc);
        ENSURE_OK(hob_program_cache_end_use(cache.get(), begin(cache.get(), "a"), HOB_USE_OUTCOME_UNUSED));
        ENSURE(strikes(cache.get(), "a") == 1 && data_of(cache.get(), "a") == "binary");
        ENSURE(statistics(cache.get()).uses_open == 0);
        // Also without a destroy: the use is no longer in the notes.
        const hob_use_id use = begin(cache.get(), "b");
        ENSURE_OK(hob_program_cache_end_use(cache.get(), use, HOB_USE_OUTCOME_UNUSED));
        ENSURE(hob_program_cache_end_use(cache.get(), use, HOB_USE_OUTCOME_UNUSED) == HOB_RESULT_NOT_FOUND);
    }
    const Cache cache = opened(desc);
    ENSURE(strikes(cache.get(), "a") == 1 && data_of(cache.get(), "a") == "binary");
    // It does not change the effect of a successful use beside it.
    const hob_use_id well = begin(cache.get(), "a"), unused = begin(cache.get(), "a");
    ENSURE_OK(hob_program_cache_end_use(cache.get(), well, HOB_USE_OUTCOME_OK));
    ENSURE_OK(hob_program_cache_end_use(cache.get(), unused, HOB_USE_OUTCOME_UNUSED));
    ENSURE(strikes(cache.get(), "a") == 0);
}

TEST("program_cache: a use that ended as unused is no strike") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    status_of(child_using(path, "a", [](hob_program_cache* cache, hob_use_id use) {
        if (hob_program_cache_end_use(cache, use, HOB_USE_OUTCOME_UNUSED) != HOB_RESULT_OK) _exit(4);
        kill(getpid(), SIGKILL);
    }));
    ENSURE(strikes(open(desc_of(path)).get(), "a") == 0);
}

TEST("program_cache: a use id of another cache is unknown and ends no use") {
    const Cache one = open(desc_of("")), other = open(desc_of(""));
    const hob_use_id of_one = begin(one.get(), "a"), of_other = begin(other.get(), "b");
    ENSURE(hob_program_cache_end_use(one.get(), of_other, HOB_USE_OUTCOME_OK) == HOB_RESULT_NOT_FOUND);
    ENSURE(hob_program_cache_end_use(other.get(), of_one, HOB_USE_OUTCOME_REJECTED) == HOB_RESULT_NOT_FOUND);
    ENSURE(statistics(one.get()).uses_open == 1 && statistics(other.get()).uses_open == 1);
    ENSURE_OK(hob_program_cache_end_use(one.get(), of_one, HOB_USE_OUTCOME_OK));
    ENSURE_OK(hob_program_cache_end_use(other.get(), of_other, HOB_USE_OUTCOME_OK));
}

TEST("program_cache: each forked process has its own notes") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    // Draw random numbers first, so that all children inherit the generator.
    begin(open(desc_of(directory.inside("before"))).get(), "a");
    pid_t children[3] = {};
    for (pid_t& child : children) {
        int ready[2] = {};
        ENSURE(pipe(ready) == 0);
        child = child_using(path, "child " + std::to_string(&child - children), [&](hob_program_cache* cache, hob_use_id) {
            const char noted = statistics(cache).uses_recorded == 1 ? 'y' : 'n';
            if (write(ready[1], &noted, 1) == 1) sleep(600);
        });
        char noted = 0;
        close(ready[1]);
        EXPECT(read(ready[0], &noted, 1) == 1 && noted == 'y');
        close(ready[0]);
    }
    for (const pid_t child : children) {
        ENSURE(kill(child, SIGKILL) == 0);
        status_of(child);
    }
    const Cache cache = open(desc_of(path));
    for (int n = 0; n < 3; n++) ENSURE(strikes(cache.get(), "child " + std::to_string(n)) == 1);
    ENSURE(statistics(cache.get()).strikes_added == 3);
}

TEST("program_cache: a read-only cache sees bans and writes nothing") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    hob_program_cache_desc desc = desc_of(path);
    {
        const Cache cache = open(desc);
        ENSURE_OK(put(cache.get(), "bad", "1"));
        ENSURE_OK(put(cache.get(), "near", "2"));
    }
    die_using(path, "near", true);
    die_using(path, "bad", true);
    { ENSURE(strikes(opened(desc).get(), "bad") == 1); }
    die_using(path, "bad", true);
    ENSURE(std::filesystem::remove(path + "/quarantine/lock"));
    const std::map<std::string, std::string> before = contents(path);
    size_t notes = 0;
    for (const auto& file : before) notes += file.first.find("/notes-") != std::string::npos;
    ENSURE(notes == 1 && before.count(path + "/quarantine/strikes") == 1);
    desc.flags = HOB_PROGRAM_CACHE_READ_ONLY;
    const hob_fingerprint bad = key("bad");
    for (int n = 0; n < 2; n++) {
        const Cache cache = opened(desc);
        ENSURE(strikes(cache.get(), "bad") == 2 && strikes(cache.get(), "near") == 1);
        hob_use_id use = {};
        ENSURE(hob_program_cache_begin_use(cache.get(), &bad, &use) == HOB_RESULT_BANNED);
        ENSURE_OK(hob_program_cache_end_use(cache.get(), begin(cache.get(), "near"), HOB_USE_OUTCOME_OK));
        ENSURE(strikes(cache.get(), "near") == 0 && data_of(cache.get(), "near") == "2");
        ENSURE_OK(hob_program_cache_end_use(cache.get(), begin(cache.get(), "near"), HOB_USE_OUTCOME_REJECTED));
        ENSURE_OK(hob_program_cache_clear_strikes(cache.get(), &bad));
        begin(cache.get(), "bad");
        const hob_program_cache_statistics found = statistics(cache.get());
        ENSURE(found.uses_recorded == 0 && found.uses_unrecorded == 3 && found.uses_open == 1);
        ENSURE(trouble(cache.get()).empty());
    }
    ENSURE(contents(path) == before);
    desc.flags = 0;
    const Cache cache = opened(desc);
    ENSURE(strikes(cache.get(), "bad") == 2 && strikes(cache.get(), "near") == 1);
    ENSURE(statistics(cache.get()).strikes_added == 1);
}

TEST("program_cache: uses work while another process holds the lock, and the trouble is reported") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    ENSURE(std::filesystem::create_directories(path + "/quarantine"));
    const int held = ::open((path + "/quarantine/lock").c_str(), O_CREAT | O_RDWR, 0644);
    ENSURE(held >= 0 && flock(held, LOCK_EX) == 0);
    const Cache cache = open(desc_of(path));
    for (const char* name : {"a", "b"}) {
        begin(cache.get(), name);
        const std::string why = trouble(cache.get());
        ENSURE(why.find("another process holds") != std::string::npos && why.find(" ms") == std::string::npos);
    }
    ENSURE(statistics(cache.get()).uses_unrecorded == 2);
    ENSURE(close(held) == 0);
    begin(cache.get(), "c");
    ENSURE(statistics(cache.get()).uses_recorded == 1 && statistics(cache.get()).uses_unrecorded == 2);
}
