// program_cache.h on a directory of the operating system: its bytes, its rights, its loss, and entries that somebody else
// put there. MIT OR Apache-2.0.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "program_cache_support.h"

using namespace support;

namespace {

std::string name_of(int number) {
    return "program " + std::to_string(number);
}

/// Bytes that no compression shortens.
std::string bytes_of(int number, size_t size) {
    Dice dice(static_cast<uint64_t>(number) + 1);
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(dice.below(256));
    return bytes;
}

/// Bytes of the blocks of all files of the directory, with those that are deleted but open in this process.
uint64_t bytes_on_disk(const std::string& directory) {
    uint64_t blocks = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, ignored)) {
        struct stat found = {};
        if (lstat(entry.path().c_str(), &found) == 0 && S_ISREG(found.st_mode)) blocks += static_cast<uint64_t>(found.st_blocks);
    }
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
        struct stat found = {};
        const std::string path = std::filesystem::read_symlink(entry.path(), ignored).string();
        if (path.rfind(directory, 0) == 0 && stat(entry.path().c_str(), &found) == 0 && found.st_nlink == 0)
            blocks += static_cast<uint64_t>(found.st_blocks);
    }
    return blocks * 512;
}

/// The thread that reads and writes.
enum class Lane { caller, thread, pump };

/// The calls of a launch beside its puts.
struct Mode {
    const char* name;
    Lane lane;
    bool gets, flushes, waits;
};

/// Writes programs and reads them, and returns the most bytes that the files took.
uint64_t launch(const Mode& mode, const std::string& path, uint64_t limit, int first, int count) {
    hob_executor_desc lanes = HOB_EXECUTOR_DESC_INIT;
    lanes.background = mode.lane == Lane::thread ? HOB_BACKGROUND_THREAD : HOB_BACKGROUND_PUMP;
    hob_executor* raw = nullptr;
    if (mode.lane != Lane::caller) ENSURE_OK(hob_executor_create(&lanes, &raw));
    const Executor executor(raw);
    hob_program_cache_desc desc = desc_of(path);
    desc.disk_limit = limit;
    desc.executor = raw;
    uint64_t most = 0;
    {
        const Cache cache = open(desc);
        for (int number = first; number < first + count; ++number) {
            const hob_fingerprint fingerprint = key(name_of(number));
            Blob blob;
            if (mode.gets) ENSURE(hob_program_cache_get_wait(cache.get(), &fingerprint, forever, &blob.view) == HOB_RESULT_NOT_FOUND);
            ENSURE_OK(put(cache.get(), name_of(number), bytes_of(number, 20480)));
            if (mode.lane == Lane::pump) ENSURE_OK(hob_executor_pump(raw, 1000, nullptr));
            if (mode.waits) ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
            most = std::max(most, bytes_on_disk(path));
            if (!mode.flushes || number % 10 != 0) continue;
            ENSURE_OK(hob_program_cache_flush(cache.get(), forever));
            // The background may still merge files.
            ENSURE_OK(hob_program_cache_wait_idle(cache.get(), forever));
            const uint64_t at_rest = bytes_on_disk(path);
            if (at_rest > limit) std::fprintf(stderr, "%s: %llu bytes after a flush\n", mode.name, static_cast<unsigned long long>(at_rest));
            ENSURE(at_rest <= limit);
        }
    }
    return std::max(most, bytes_on_disk(path));
}

}  // namespace

TEST("program_cache: five launches in any mode keep the files within the limit") {
    const uint64_t limit = 1 << 20;
    const Mode modes[] = {
        {"get_wait, put and destroy", Lane::caller, true, false, false},
        {"put and destroy", Lane::caller, false, false, false},
        {"put and flush", Lane::caller, false, true, false},
        {"put and wait_idle", Lane::caller, false, false, true},
        {"a background thread", Lane::thread, true, true, false},
        {"a pump", Lane::pump, false, false, false},
    };
    for (const Mode& mode : modes) {
        const Directory directory;
        const std::string path = directory.inside("cache");
        for (int number = 0; number < 5; ++number) {
            const uint64_t most = launch(mode, path, limit, number * 100, 100), at_rest = bytes_on_disk(path);
            if (most * 4 > limit * 5 || at_rest > limit)
                std::fprintf(stderr, "%s, launch %d: %llu bytes, %llu at rest\n", mode.name, number,
                             static_cast<unsigned long long>(most), static_cast<unsigned long long>(at_rest));
            ENSURE(most * 4 <= limit * 5);
            ENSURE(at_rest <= limit);
        }
        hob_program_cache_desc desc = desc_of(path);
        desc.disk_limit = limit;
        const Cache cache = opened(desc);
        ENSURE(statistics(cache.get()).disk_values > 30);
    }
}

TEST("program_cache: a directory that is deleted while open is made anew, and its loss is reported once") {
    const Directory directory;
    const std::string path = directory.inside("cache");
    const Cache cache = open(desc_of(path));
    for (int number = 0; number < 100; ++number) ENSURE_OK(put(cache.get(), name_of(number), "early"));
    ENSURE_OK(hob_program_cache_flush(cache.get(), forever));
    ENSURE(std::filesystem::remove_all(path) > 0);
    for (int number = 100; number < 3100; ++number) ENSURE_OK(put(cache.get(), name_of(number), bytes_of(number, 1000)));
    ENSURE(hob_program_cache_flush(cache.get(), forever) == HOB_RESULT_IO);
    ENSURE(last_error_has("deleted or replaced while in use"));
    for (int number = 3100; number < 3200; ++number) ENSURE_OK(put(cache.get(), name_of(number), "late"));
    ENSURE_OK(hob_program_cache_flush(cache.get(), forever));
    const Cache other = opened(desc_of(path));
    int kept = 0;
    for (int number = 100; number < 3100; ++number) kept += data_of(other.get(), name_of(number)) == bytes_of(number, 1000) ? 1 : 0;
    ENSURE(kept > 2000);
    for (int number = 3100; number < 3200; ++number) ENSURE(data_of(other.get(), name_of(number)) == "late");
    ENSURE(data_of(other.get(), name_of(0)) == "(none)");
}

namespace {

/// A directory with every kind of file that the library writes, left by a process that was killed in a use.
void fill(const std::string& path, int programs) {
    for (int life = 0; life < 2; ++life) {
        const pid_t child = fork();
        ENSURE(child >= 0);
        if (child == 0) {
            hob_program_cache_desc desc = desc_of(path);
            desc.described_keys = 5;
            hob_program_cache* cache = nullptr;
            if (hob_program_cache_create(&desc, &cache) != HOB_RESULT_OK) _exit(2);
            if (hob_program_cache_wait_idle(cache, forever) != HOB_RESULT_OK) _exit(3);
            for (int number = life; number < programs; number += 2)
                if (put(cache, name_of(number), bytes_of(number, 500)) != HOB_RESULT_OK) _exit(4);
            const hob_fingerprint used = key("a use"), first = key(name_of(0));
            hob_use_id use = {};
            if (hob_program_cache_mark_startup(cache, &first, 1) != HOB_RESULT_OK) _exit(5);
            if (hob_program_cache_flush(cache, forever) != HOB_RESULT_OK) _exit(6);
            if (hob_program_cache_begin_use(cache, &used, &use) != HOB_RESULT_OK) _exit(7);
            kill(getpid(), SIGKILL);
        }
        int status = 0;
        ENSURE(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    }
}

std::vector<std::string> files_of(const std::string& directory) {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
        if (entry.is_regular_file()) found.push_back(std::filesystem::relative(entry.path(), directory).string());
    std::sort(found.begin(), found.end());
    return found;
}

bool has_kinds(const std::vector<std::string>& files) {
    for (const char* kind : {".seg", ".idx", ".live", "maintain.lock", "limits", "quarantine/lock", "quarantine/notes-", "quarantine/strikes"})
        if (std::none_of(files.begin(), files.end(), [&](const std::string& file) { return file.find(kind) != std::string::npos; })) {
            std::fprintf(stderr, "there is no %s\n", kind);
            return false;
        }
    return true;
}

}  // namespace

TEST("program_cache: files and directories are created for this user alone") {
    const Directory directory;
    const std::string above = directory.inside("above"), path = above + "/cache";
    const mode_t mask = umask(0);
    fill(path, 40);
    umask(mask);
    ENSURE(has_kinds(files_of(path)));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(above)) {
        struct stat found = {};
        ENSURE(lstat(entry.path().c_str(), &found) == 0 && found.st_uid == geteuid());
        ENSURE((found.st_mode & 07777) == (entry.is_directory() ? 0700 : 0600));
    }
}

TEST("program_cache: the path of the directory may contain links") {
    const Directory directory;
    const std::string real = directory.inside("real"), link = directory.inside("link");
    ENSURE(mkdir(real.c_str(), 0700) == 0 && symlink(real.c_str(), link.c_str()) == 0);
    for (const std::string& path : {link + "/cache", link}) {
        { ENSURE_OK(put(open(desc_of(path)).get(), "a", "binary")); }
        const Cache cache = opened(desc_of(path));
        ENSURE(data_of(cache.get(), "a") == "binary" && trouble(cache.get()).empty());
    }
    ENSURE(std::filesystem::is_directory(real + "/cache") && std::filesystem::is_symlink(link));
}

namespace {

constexpr int programs = 20;

/// Calls everything that opens files. Ends the process: 0 if no call waited and no program was wrong.
[[noreturn]] void use_everything(const std::string& path) {
    // Opening a FIFO may wait for ever.
    alarm(60);
    const auto is_answer = [](hob_result result) { return result == HOB_RESULT_OK || result == HOB_RESULT_IO; };
    for (int life = 0; life < 2; ++life) {
        hob_program_cache_desc desc = desc_of(path);
        desc.described_keys = 5;
        hob_program_cache* cache = nullptr;
        if (hob_program_cache_create(&desc, &cache) != HOB_RESULT_OK) _exit(2);
        if (hob_program_cache_wait_idle(cache, forever) != HOB_RESULT_OK) _exit(3);
        for (int number = 0; number < programs; ++number) {
            const hob_fingerprint name = key(name_of(number));
            Blob blob;
            const hob_result result = hob_program_cache_get_wait(cache, &name, 2000000, &blob.view);
            if (result == HOB_RESULT_OK ? blob.data() != bytes_of(number, 500) : result != HOB_RESULT_NOT_FOUND) _exit(4);
        }
        if (put(cache, "new", "binary") != HOB_RESULT_OK) _exit(5);
        const hob_fingerprint used = key("another use"), first = key(name_of(0));
        hob_use_id use = {};
        if (hob_program_cache_begin_use(cache, &used, &use) != HOB_RESULT_OK) _exit(6);
        if (hob_program_cache_end_use(cache, use, HOB_USE_OUTCOME_OK) != HOB_RESULT_OK) _exit(7);
        uint32_t places = 0;
        size_t count = 0;
        hob_program_info page[8];
        if (hob_program_cache_contains(cache, &first, forever, &places) != HOB_RESULT_OK) _exit(8);
        if (hob_program_cache_list(cache, nullptr, forever, page, sizeof page[0], 8, &count) != HOB_RESULT_OK) _exit(9);
        if (!is_answer(hob_program_cache_flush(cache, forever))) _exit(10);
        if (!is_answer(hob_program_cache_remove(cache, &first))) _exit(11);
        if (!is_answer(hob_program_cache_clear_strikes(cache, nullptr))) _exit(12);
        if (!is_answer(hob_program_cache_clear(cache, 1))) _exit(13);
        if (!is_answer(hob_program_cache_flush(cache, forever))) _exit(14);
        if (life == 1 && !is_answer(hob_program_cache_clear_directory(cache))) _exit(15);
        hob_program_cache_destroy(cache);
    }
    _exit(0);
}

/// Puts an entry of another type at a path; false if this user may not.
bool make(int type, const std::string& path, const std::string& outside) {
    switch (type) {
        case 0: return mkfifo(path.c_str(), 0600) == 0;
        case 1: return mkdir(path.c_str(), 0700) == 0;
        case 2: return symlink("/dev/zero", path.c_str()) == 0;
        case 3: return symlink((outside + "/missing").c_str(), path.c_str()) == 0;
        case 4: return symlink((outside + "/mine").c_str(), path.c_str()) == 0;
        case 5: return mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 5)) == 0;  // as /dev/zero
        default: {
            sockaddr_un address = {};
            address.sun_family = AF_UNIX;
            const std::string at = std::filesystem::relative(path).string();
            const int made = at.size() < sizeof address.sun_path ? socket(AF_UNIX, SOCK_STREAM, 0) : -1;
            if (made < 0) return false;
            std::memcpy(address.sun_path, at.c_str(), at.size());
            const bool is_bound = bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
            return close(made) == 0 && is_bound;
        }
    }
}

}  // namespace

TEST("program_cache: no entry of another type in place of any file causes a wait or reaches a file elsewhere") {
    const Directory directory;
    const std::string template_path = directory.inside("template"), path = directory.inside("cache"), outside = directory.inside("outside");
    fill(template_path, programs);
    const std::vector<std::string> files = files_of(template_path);
    ENSURE(has_kinds(files));
    ENSURE(mkdir(outside.c_str(), 0700) == 0);
    std::ofstream(outside + "/mine") << "mine";
    int made = 0;
    for (int type = 0; type < 7; ++type) {
        for (const std::string& file : files) {
            std::filesystem::remove_all(path);
            std::filesystem::copy(template_path, path, std::filesystem::copy_options::recursive);
            ENSURE(std::filesystem::remove(path + "/" + file));
            if (!make(type, path + "/" + file, outside)) continue;
            ++made;
            const pid_t child = fork();
            ENSURE(child >= 0);
            if (child == 0) use_everything(path);
            int status = 0;
            ENSURE(waitpid(child, &status, 0) == child);
            // Under valgrind the status is 9: the child does not free its inherited memory.
            const bool is_well = WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 9);
            if (!is_well) std::fprintf(stderr, "type %d as %s: status %d\n", type, file.c_str(), status);
            ENSURE(is_well);
            std::ifstream mine(outside + "/mine");
            ENSURE(std::string(std::istreambuf_iterator<char>(mine), {}) == "mine");
            ENSURE(!std::filesystem::exists(outside + "/missing"));
        }
    }
    ENSURE(made >= static_cast<int>(5 * files.size()));
}
