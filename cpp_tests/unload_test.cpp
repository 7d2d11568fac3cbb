// The library is loaded, used from several threads and unloaded a thousand times, and leaves nothing behind. Editors
// reload plug-ins while their threads continue. These tests are in the program that links the archive; the other one
// cannot unload the library.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <dirent.h>
#include <dlfcn.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <malloc.h>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support.h"

using namespace support;

namespace {

/// The functions that the test uses, looked up by name in a library that is not linked.
struct Library {
    void* handle;
    decltype(&hob_goblin_desc_init) goblin_desc_init;
    decltype(&hob_goblin_create) goblin_create;
    decltype(&hob_goblin_destroy) goblin_destroy;
    decltype(&hob_goblin_add_array) goblin_add_array;
    decltype(&hob_goblin_update) goblin_update;
    decltype(&hob_goblin_measure) goblin_measure;
    decltype(&hob_goblin_load_profile) goblin_load_profile;
    decltype(&hob_executor_create_pool) executor_create_pool;
    decltype(&hob_executor_parallel_for) executor_parallel_for;
    decltype(&hob_executor_post) executor_post;
    decltype(&hob_executor_destroy) executor_destroy;
    decltype(&hob_last_error) last_error;
    decltype(&hob_fault_arm) fault_arm;

    explicit Library(const char* path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
        if (handle == nullptr) harness::fail(__FILE__, __LINE__, dlerror());
        find(goblin_desc_init, "hob_goblin_desc_init");
        find(goblin_create, "hob_goblin_create");
        find(goblin_destroy, "hob_goblin_destroy");
        find(goblin_add_array, "hob_goblin_add_array");
        find(goblin_update, "hob_goblin_update");
        find(goblin_measure, "hob_goblin_measure");
        find(goblin_load_profile, "hob_goblin_load_profile");
        find(executor_create_pool, "hob_executor_create_pool");
        find(executor_parallel_for, "hob_executor_parallel_for");
        find(executor_post, "hob_executor_post");
        find(executor_destroy, "hob_executor_destroy");
        find(last_error, "hob_last_error");
        find(fault_arm, "hob_fault_arm");
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    ~Library() { EXPECT(dlclose(handle) == 0); }

private:
    template <class Function>
    void find(Function& function, const char* name) {
        function = reinterpret_cast<Function>(dlsym(handle, name));
        ENSURE(function != nullptr);
    }
};

/// Uses a part of every feature that keeps state.
void use(const Library& library) {
    hob_goblin_desc desc;
    EXPECT(library.goblin_desc_init(&desc, sizeof desc) == HOB_RESULT_OK);
    desc.lanes[HOB_LANE_GPU].limit = 9;
    hob_goblin* goblin = nullptr;
    EXPECT(library.goblin_create(&desc, &goblin) == HOB_RESULT_OK);
    const double values[] = {0, 1, 4};
    hob_setting_id setting = {0, 0};
    EXPECT(library.goblin_add_array(goblin, hob_str_of("s", 1), values, 3, &setting) == HOB_RESULT_OK);
    for (int n = 0; n < 5; ++n) {
        EXPECT(library.goblin_update(goblin, nullptr) == HOB_RESULT_OK);
        EXPECT(library.goblin_measure(goblin, HOB_DECISION_LATEST, setting, HOB_LANE_GPU, 1, HOB_SAMPLE_QUALITY_OK) == HOB_RESULT_OK);
    }
    EXPECT(library.goblin_load_profile(goblin, "{", 1) == HOB_RESULT_MALFORMED);
    EXPECT(library.last_error()[0] != '\0');
    library.goblin_destroy(goblin);
}

/// Starts and joins threads of the library.
void use_threads(const Library& library) {
    hob_executor* executor = nullptr;
    EXPECT(library.executor_create_pool(2, &executor) == HOB_RESULT_OK);
    std::atomic<int> ran{0};
    const auto body = [](void* count, uint32_t, uint32_t) { ++*static_cast<std::atomic<int>*>(count); };
    const hob_str name = hob_str_of("loop", 4);
    EXPECT(library.executor_parallel_for(executor, 20, body, &ran, HOB_PRIORITY_NORMAL, name) == HOB_RESULT_OK);
    EXPECT(ran == 20);
    EXPECT(library.executor_post(executor, [](void*) {}, nullptr, nullptr, HOB_PRIORITY_LOW, name) == HOB_RESULT_OK);
    library.executor_destroy(executor);
}

/// Causes a panic, on one thread at a time: all threads share the point.
void panic(const Library& library) {
    static std::mutex mutex;
    const std::lock_guard<std::mutex> lock(mutex);
    hob_goblin_desc desc;
    EXPECT(library.goblin_desc_init(&desc, sizeof desc) == HOB_RESULT_OK);
    hob_goblin* goblin = nullptr;
    EXPECT(library.goblin_create(&desc, &goblin) == HOB_RESULT_OK);
    EXPECT(library.fault_arm(hob_str_of("goblin.decide", 13), 0) == HOB_RESULT_OK);
    EXPECT(library.goblin_update(goblin, nullptr) == HOB_RESULT_PANIC);
    library.goblin_destroy(goblin);
}

/// Threads that outlive each loaded library.
class Crew {
public:
    explicit Crew(size_t count) {
        for (size_t n = 0; n < count; ++n) threads_.emplace_back([this] { serve(); });
    }
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    ~Crew() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            over_ = true;
        }
        changed_.notify_all();
        for (auto& thread : threads_) thread.join();
    }

    /// Runs `work` once on every thread. Returns when all have finished.
    void run(const std::function<void()>& work) {
        std::unique_lock<std::mutex> lock(mutex_);
        work_ = &work;
        left_ = threads_.size();
        ++round_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return left_ == 0; });
    }

private:
    void serve() {
        uint64_t done = 0;
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            changed_.wait(lock, [&] { return over_ || round_ != done; });
            if (over_) return;
            done = round_;
            const auto* const work = work_;
            lock.unlock();
            (*work)();
            lock.lock();
            if (--left_ == 0) changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    const std::function<void()>* work_ = nullptr;
    size_t left_ = 0;
    uint64_t round_ = 0;
    bool over_ = false;
    std::vector<std::thread> threads_;
};

std::string content(const char* path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

int entries(const char* path) {
    DIR* const folder = opendir(path);
    ENSURE(folder != nullptr);
    int count = 0;
    while (readdir(folder) != nullptr) ++count;
    closedir(folder);
    return count;
}

/// Possible leaks of an unloaded library.
struct Traces {
    bool is_mapped = content("/proc/self/maps").find("libhobgoblin") != std::string::npos;
    int threads = entries("/proc/self/task");
    int files = entries("/proc/self/fd");
    size_t heap = mallinfo2().uordblks;
    size_t resident_kib = resident();

    static size_t resident() {
        size_t all = 0, pages = 0;
        std::ifstream("/proc/self/statm") >> all >> pages;
        return pages * 4;
    }
};

}  // namespace

TEST("unload: a thousand cycles of load, threaded use and unload leak nothing") {
    if (!is_static) harness::not_applicable("the program that links the shared library cannot unload it");
    const char* const path = library_path();
    const int rounds = harness::scaled(1000);
    Crew crew(3);
    Traces settled, last;
    const int threads = settled.threads;
    for (int round = 0; round < rounds; ++round) {
        {
            const Library library(path);
            ENSURE(Traces().is_mapped);
            crew.run([&] { use(library); });
            use(library);
            if (round % 4 == 0) {
                crew.run([&] { use_threads(library); });
                use_threads(library);
            }
            std::thread([&] { use(library); }).join();
            if (round % 2 == 1) crew.run([&] { panic(library); });
        }
        // The system lists a thread for a moment after it was joined.
        for (int wait = 0; wait < 5000 && entries("/proc/self/task") > threads; ++wait)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        last = Traces();
        ENSURE(!last.is_mapped && last.threads == threads);
        if (round <= rounds / 10) settled = last;
        ENSURE(last.files == settled.files);
    }
    // Memory that the dynamic linker and the C library keep does not grow with the rounds.
    ENSURE(last.heap <= settled.heap + 16 * 1024);
    ENSURE(last.resident_kib <= settled.resident_kib + 1024);
}

TEST("unload: two copies of the library are independent") {
    if (!is_static) harness::not_applicable("the program that links the shared library cannot unload it");
    const Goblin ours = make_goblin(16);
    (void)update(ours.get());
    ENSURE(hob_goblin_collect_samples(nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    const std::string sentence = hob_last_error();
    {
        const Library library(library_path());
        use(library);
        panic(library);
    }
    ENSURE(hob_last_error() == sentence);
    (void)update(ours.get());
}
