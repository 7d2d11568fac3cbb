// hooks.hpp: callables as process-wide hooks, removed by their owner.
#include <hobgoblin/goblin.hpp>
#include <hobgoblin/hooks.hpp>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support.h"

namespace {

hob::Goblin make() {
    hob::GoblinOptions options;
    options.gpu_ms = 16;
    return hob::Goblin(options);
}

/// Changes the number of options of a known task, which the library logs.
void cause_log_line() {
    hob::Goblin goblin = make();
    goblin.load_profile(R"({"s":[[1,2,0],[1,3,0]]})");
    goblin.add("s", {0, 1, 2});
    goblin.update();
}

}  // namespace

TEST("hpp: a log hook receives lines until it is destroyed") {
    const support::Hooks cleared_at_end;
    std::vector<std::string> lines;
    {
        const hob::Hook hook = hob::set_log_hook([&](hob_log_level, std::string_view line) { lines.emplace_back(line); },
                                                 HOB_LOG_LEVEL_DEBUG);
        ENSURE(hook);
        cause_log_line();
        ENSURE(!lines.empty() && !lines[0].empty());
    }
    const size_t count = lines.size();
    cause_log_line();
    ENSURE(lines.size() == count);
}

TEST("hpp: a hook that replaces another stays when the old one is destroyed") {
    const support::Hooks cleared_at_end;
    const auto alive = std::make_shared<int>(0);
    int first = 0, second = 0;
    hob::Hook hook = hob::set_log_hook([&, alive](hob_log_level, std::string_view) { ++first; }, HOB_LOG_LEVEL_DEBUG);
    hook = hob::set_log_hook([&, alive](hob_log_level, std::string_view) { ++second; }, HOB_LOG_LEVEL_DEBUG);
    ENSURE(alive.use_count() == 2);
    cause_log_line();
    ENSURE(first == 0 && second > 0);
    hook.remove();
    ENSURE(!hook && alive.use_count() == 1);
    const int before = second;
    cause_log_line();
    ENSURE(second == before);
}

TEST("hpp: an exception from a hook is dropped") {
    const support::Hooks cleared_at_end;
    int called = 0;
    const hob::Hook hook = hob::set_log_hook(
        [&](hob_log_level, std::string_view) {
            ++called;
            throw std::runtime_error("the log is full");
        },
        HOB_LOG_LEVEL_DEBUG);
    cause_log_line();
    ENSURE(called > 0);
}

TEST("hpp: clock and zone hooks take callables") {
    const support::Hooks cleared_at_end;
    uint64_t now = 0;
    int depth = 0, zones = 0;
    const hob::Hook clock = hob::set_clock_hook([&] { return now += 1000; });
    const hob::Hook zone = hob::set_zone_hook(
        [&](const char* name) {
            EXPECT(name[0] != '\0');
            ++depth;
            ++zones;
        },
        [&] { --depth; });
    hob::Goblin goblin = make();
    goblin.add("s", {0, 1});
    ENSURE(goblin.update().id == 1 && goblin.decision_details().elapsed_ns > 0 && zones > 0 && depth == 0);
}

TEST("hpp: an allocator hook is refused while a handle is alive, and stays if one is alive at its end") {
    const support::Hooks cleared_at_end;
    size_t allocated = 0, freed = 0;
    const auto allocate = [&](size_t size, size_t) {
        allocated += size;
        return std::malloc(size);
    };
    const auto deallocate = [&](void* memory, size_t size, size_t) {
        freed += size;
        std::free(memory);
    };
    {
        const hob::Goblin goblin = make();
        ENSURE(hob::try_set_allocator_hook(allocate, deallocate).code() == HOB_RESULT_BUSY);
    }
    ENSURE(allocated == 0);
    hob::Hook hook = hob::set_allocator_hook(allocate, deallocate);
    {
        auto goblin = std::make_unique<hob::Goblin>(make());
        ENSURE(allocated > 0);
        hook.remove();  // too early: a goblin is alive
        goblin.reset();
    }
    ENSURE(allocated == freed);
    // Destroys the callables of the first hook, which had to stay alive.
    hook = hob::set_allocator_hook(allocate, deallocate);
    make();
    hook.remove();
    ENSURE(allocated == freed);
    const size_t before = allocated;
    make();
    ENSURE(allocated == before);
}
