// Begins to use a program of a cache, and ends the process, or unloads the library, in one of several ways.
//
//     process_end DIRECTORY WAY [LIBRARY]
//
// The way "strikes" prints the strikes of the program. LIBRARY is the shared library, for "unload" and "unload often".
#include <dlfcn.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include <hobgoblin/hobgoblin.h>

namespace {

/// Ends the process with a status that the test does not expect.
[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "%s: %s\n", what, hob_last_error());
    _exit(99);
}

const hob_fingerprint key = {{7}};

hob_program_cache* open(const char* directory) {
    hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
    desc.directory = hob_str_of(directory, std::strlen(directory));
    hob_program_cache* cache = nullptr;
    if (hob_program_cache_create(&desc, &cache) != HOB_RESULT_OK) fail("create");
    return cache;
}

hob_program_cache* begin_use(const char* directory) {
    hob_program_cache* const cache = open(directory);
    hob_use_id use = {};
    if (hob_program_cache_begin_use(cache, &key, &use) != HOB_RESULT_OK) fail("begin_use");
    return cache;
}

/// Starts a thread that begins and ends uses until the process ends.
void keep_using(const hob_program_cache* cache) {
    static std::atomic<bool> runs{false};
    std::thread([cache] {
        for (;;) {
            hob_use_id use = {};
            if (hob_program_cache_begin_use(cache, &key, &use) == HOB_RESULT_OK)
                (void)hob_program_cache_end_use(cache, use, HOB_USE_OUTCOME_UNUSED);
            runs = true;
        }
    }).detach();
    while (!runs) std::this_thread::yield();
}

/// A forked child ends well, and must leave the notes of its parent alone. The parent is killed.
[[noreturn]] void fork_and_die() {
    const pid_t child = fork();
    if (child == 0) std::exit(0);
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) fail("fork");
    raise(SIGKILL);
    std::abort();
}

/// Loads the library, begins a use, and unloads it. The cache may stay open.
void load_use_unload(const char* library, const char* directory, bool destroys) {
    void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) fail(dlerror());
    decltype(&hob_program_cache_create) create = nullptr;
    decltype(&hob_program_cache_begin_use) begin = nullptr;
    decltype(&hob_program_cache_desc_init) init = nullptr;
    decltype(&hob_program_cache_destroy) destroy = nullptr;
    const auto find = [&](auto& function, const char* name) {
        void* const found = dlsym(handle, name);
        if (found == nullptr) fail(name);
        std::memcpy(&function, &found, sizeof found);
    };
    find(create, "hob_program_cache_create");
    find(begin, "hob_program_cache_begin_use");
    find(init, "hob_program_cache_desc_init");
    find(destroy, "hob_program_cache_destroy");
    hob_program_cache_desc desc;
    (void)init(&desc, sizeof desc);
    desc.directory = hob_str_of(directory, std::strlen(directory));
    hob_program_cache* cache = nullptr;
    hob_use_id use = {};
    if (create(&desc, &cache) != HOB_RESULT_OK || begin(cache, &key, &use) != HOB_RESULT_OK) fail("use");
    if (destroys) destroy(cache);
    if (dlclose(handle) != 0) fail(dlerror());
}

bool is_mapped() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        if (line.find("libhobgoblin") != std::string::npos) return true;
    return false;
}

}  // namespace

int main(int count, char** words) {
    if (count < 3) return 98;
    const char* const directory = words[1];
    const std::string way = words[2];
    if (way == "strikes") {
        hob_program_cache* const cache = open(directory);
        uint32_t strikes = 0;
        if (hob_program_cache_get_strikes(cache, &key, &strikes) != HOB_RESULT_OK) fail("get_strikes");
        hob_program_cache_destroy(cache);
        std::printf("%u\n", strikes);
        return 0;
    }
    if (way == "unload") {
        if (count < 4) return 98;
        load_use_unload(words[3], directory, false);
        if (is_mapped()) return 97;
        _exit(0);
    }
    if (way == "unload often") {
        if (count < 4) return 98;
        size_t settled = 0;
        for (int n = 0; n < 1000; ++n) {
            load_use_unload(words[3], directory, true);
            if (n == 100) settled = mallinfo2().uordblks;
        }
        const size_t left = mallinfo2().uordblks;
        if (left > settled + 4096) std::fprintf(stderr, "900 rounds keep %zu bytes\n", left - settled);
        _exit(left > settled + 4096 || is_mapped() ? 97 : 0);
    }
    hob_program_cache* const cache = begin_use(directory);
    if (way == "return") return 0;
    if (way == "exit") std::exit(0);
    if (way == "exit 1") std::exit(1);
    if (way == "exit of a thread") std::thread([] { std::exit(0); }).join();
    if (way == "exit beside uses") {
        keep_using(cache);
        std::exit(0);
    }
    if (way == "destroy at exit") {
        static hob_program_cache* late = cache;
        std::atexit([] { hob_program_cache_destroy(late); });
        std::exit(0);
    }
    if (way == "quick_exit") std::quick_exit(0);
    if (way == "fork") fork_and_die();
    if (way == "_exit") _exit(0);
    if (way == "abort") std::abort();
    if (way == "kill") raise(SIGKILL);
    return 98;
}
