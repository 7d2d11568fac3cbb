// A frame loop through the try_ forms: one source for builds with and without exceptions. tests/cpp.rs compiles it both
// ways. A warm frame calls neither malloc nor operator new. In failures and queries the library may allocate. The
// wrapper does not call operator new there either.
#include <hobgoblin/hobgoblin.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

/// Calls of malloc and its relatives, from the library and from operator new.
std::size_t allocations = 0;
/// Calls of operator new, which come from the wrapper.
std::size_t of_wrapper = 0;

}  // namespace

// The linker redirects malloc and its relatives to these functions (-Wl,--wrap).
extern "C" {
void* __real_malloc(std::size_t size);
void* __real_calloc(std::size_t count, std::size_t size);
void* __real_realloc(void* memory, std::size_t size);
void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
int __real_posix_memalign(void** memory, std::size_t alignment, std::size_t size);
void __real_free(void* memory);

void* __wrap_malloc(std::size_t size) {
    ++allocations;
    return __real_malloc(size);
}
void* __wrap_calloc(std::size_t count, std::size_t size) {
    ++allocations;
    return __real_calloc(count, size);
}
void* __wrap_realloc(void* memory, std::size_t size) {
    ++allocations;
    return __real_realloc(memory, size);
}
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
    ++allocations;
    return __real_aligned_alloc(alignment, size);
}
int __wrap_posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
    ++allocations;
    return __real_posix_memalign(memory, alignment, size);
}
void __wrap_free(void* memory) { __real_free(memory); }
}

void* operator new(std::size_t size) {
    ++of_wrapper;
    void* const memory = __wrap_malloc(size);
    if (memory == nullptr) std::abort();
    return memory;
}
void operator delete(void* memory) noexcept { __real_free(memory); }
void operator delete(void* memory, std::size_t) noexcept { __real_free(memory); }

namespace {

/// All calls of a frame.
struct Host {
    hob::Goblin goblin;
    hob::Executor executor;
    hob::ProgramCache cache;
    hob::Knapsack knapsack;
    hob::Setting shadows, fog;
    hob::Product picture;
    hob::Fingerprint key;
    uint32_t told = 0;

    hob::Result<void> frame(uint32_t number) {
        if (const auto set = goblin.try_set_work(shadows, 1 + number % 3); !set) return set;
        if (const auto collected = goblin.try_collect_samples(); !collected) return collected;
        const auto updated = number % 2 == 0 ? goblin.try_update() : goblin.try_decide();
        if (!updated) return updated.failure();

        const auto looped = executor.try_parallel_for(4, [](uint32_t) {});
        if (!looped) return looped;
        const auto binary = cache.try_get(key);
        if (!binary) return binary.failure();
        if (binary->data() != "binary") return hob::Failure(HOB_RESULT_NOT_FOUND, "the program is missing");

        if (const auto cleared = knapsack.try_clear(); !cleared) return cleared;
        if (const auto added = knapsack.try_add_setting({{0, 1, 0}, {5, 3, 0.1}}); !added) return added.failure();
        const auto solution = knapsack.try_solve(4.0, 3);
        if (!solution) return solution.failure();
        uint16_t choices[1];
        if (const auto read = knapsack.try_read_choices(choices, 1); !read) return read.failure();

        const auto measured =
            goblin.try_measure(updated->id, shadows, hob::Lane::gpu, 1 + 2.0 * shadows.choice() + choices[0]);
        if (!measured) return measured;
        if (const auto total = goblin.try_measure_total(updated->id, hob::Lane::gpu, 9); !total) return total;
        if (const auto used = cache.try_begin_use(key); !used) return used.failure();

        if (const auto reason = goblin.try_reason(shadows); !reason) return reason.failure();
        if (const auto statistics = goblin.try_statistics(); !statistics) return statistics.failure();
        const auto choice = picture.try_choice_at({picture.index(0), 1});
        if (!choice) return choice.failure();
        return goblin.try_report_applied(updated->id, picture, *choice);
    }

    hob::Result<void> queries() {
        const auto stale = goblin.try_remove(hob::Setting());
        const hob::Failure copied = stale.failure();
        if (copied.code() != HOB_RESULT_NOT_FOUND || copied.message()[0] == '\0') return copied;
        if (const auto unknown = goblin.try_estimate(hob::Setting(), 0); unknown) return copied;
        if (const auto estimate = goblin.try_estimate(shadows, 0); !estimate) return estimate.failure();
        const auto weights = knapsack.try_add_setting_resources({1, 2}, {{1, 0}});
        return weights ? copied : hob::Result<void>();
    }
};

int failed(const char* where, const char* message) {
    std::printf("%s failed: %s\n", where, message);
    return 1;
}

int run() {
    hob::GoblinOptions options;
    options.gpu_ms = 16;
    auto goblin = hob::Goblin::try_create(options);
    auto executor = hob::Executor::try_create_pool(1);
    auto cache = hob::ProgramCache::try_create();
    auto knapsack = hob::Knapsack::try_create();
    auto key = hob::try_fingerprint("key");
    if (!goblin || !executor || !cache || !knapsack || !key) return failed("creation", hob_last_error());
    Host host{*std::move(goblin), *std::move(executor), *std::move(cache), *std::move(knapsack), {}, {}, {}, *key};

    hob::Callbacks callbacks;
    callbacks.set_choice = [&host](uint32_t, uint64_t) { ++host.told; };
    callbacks.get_options = [&host](std::vector<hob::Option>& fresh) {
        for (int n = 0; n < 3; ++n) fresh.push_back(hob::option(n * 2.0 + host.told % 2));
    };
    auto shadows = host.goblin.try_add("shadows", {0, 4, 6});
    auto fog = host.goblin.try_add("fog", std::move(callbacks));
    hob::Axis resolution, samples;
    resolution.values = resolution.works = {1, 2, 4};
    samples.values = {0, 2};
    auto picture = host.goblin.try_add_product("picture", {resolution, samples});
    if (!shadows || !fog || !picture) return failed("adding", hob_last_error());
    host.shadows = *shadows;
    host.fog = *fog;
    host.picture = *picture;
    hob::Program program;
    program.data = "binary";
    if (const auto reserved = host.knapsack.try_reserve(1, 2); !reserved) return failed("reserve", reserved.message());
    if (const auto put = host.cache.try_put(host.key, program); !put) return failed("put", put.message());

    constexpr uint32_t warm_up = 200, frames = 1000;
    std::size_t before = 0;
    for (uint32_t number = 0; number < warm_up + frames; ++number) {
        if (number == warm_up) before = allocations;
        const auto done = host.frame(number);
        if (!done) return failed("a frame", done.message());
    }
    const std::size_t in_frames = allocations - before, wrapper_before = of_wrapper;
    for (uint32_t number = 0; number < frames; ++number) {
        const auto done = host.queries();
        if (!done) return failed("the queries", done.message());
    }
    const std::size_t in_queries = of_wrapper - wrapper_before;
    std::printf("exceptions %d: %zu allocations before, %zu in %u frames, %zu of the wrapper in %u times the queries\n",
                HOB_EXCEPTIONS, before, in_frames, frames, in_queries, frames);
    return before > 0 && wrapper_before > 0 && in_frames == 0 && in_queries == 0 ? 0 : 1;
}

}  // namespace

int main() { return run(); }
