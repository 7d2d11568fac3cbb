// The hooks of the host: log, clock, profiler zones, allocator.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "goblin_calls.h"
#include "support.h"

using namespace support;

namespace {

/// Keeps the logged lines.
struct Log {
    std::vector<std::pair<hob_log_level, std::string>> lines;
    std::function<void()> at_line;

    hob_log_hook hook() {
        hob_log_hook hook = HOB_LOG_HOOK_INIT;
        hook.user_data = this;
        hook.write = [](void* self, hob_log_level level, hob_str line) {
            auto& log = *static_cast<Log*>(self);
            EXPECT(line.len <= 512 && line.data[line.len] == '\0' && std::strlen(line.data) == line.len);
            log.lines.emplace_back(level, text(line));
            if (log.at_line) log.at_line();
        };
        return hook;
    }
    bool has(std::string_view part) const {
        for (const auto& [level, line] : lines) {
            if (line.find(part) != std::string::npos) return true;
        }
        return false;
    }
};

void change_option_count(hob_goblin* goblin, hob_setting_id setting, const std::vector<hob_option>& options) {
    const auto count = static_cast<uint32_t>(options.size());
    ENSURE_OK(hob_goblin_set_options(goblin, setting, options.data(), sizeof options[0], count));
}

}  // namespace

TEST("hooks: estimates dropped after an option change are logged") {
    const Hooks cleared_at_the_end;
    Log log;
    const hob_log_hook hook = log.hook();
    ENSURE_OK(hob_set_log_hook(&hook));
    const Goblin goblin = make_goblin(16);
    const hob_setting_id setting = add_array(goblin.get(), "water", {0, 1});
    ENSURE(log.lines.empty());
    change_option_count(goblin.get(), setting, worth({0, 1, 2}));
    ENSURE(log.lines.size() == 1 && log.lines[0].first == HOB_LOG_LEVEL_INFO);
    ENSURE(log.has("water") && log.has("3 options instead of 2"));
    ENSURE_OK(hob_set_log_hook(nullptr));
    change_option_count(goblin.get(), setting, worth({0}));
    ENSURE(log.lines.size() == 1);
}

TEST("hooks: lines below the minimum level are not logged") {
    const Hooks cleared_at_the_end;
    Log log;
    hob_log_hook hook = log.hook();
    hook.minimum_level = HOB_LOG_LEVEL_WARNING;
    ENSURE_OK(hob_set_log_hook(&hook));
    const Goblin goblin = make_goblin(16);
    change_option_count(goblin.get(), add_array(goblin.get(), "water", {0, 1}), worth({0}));
    ENSURE(log.lines.empty());
}

TEST("hooks: a log line is cut to 512 bytes") {
    const Hooks cleared_at_the_end;
    Log log;
    const hob_log_hook hook = log.hook();
    ENSURE_OK(hob_set_log_hook(&hook));
    const Goblin goblin = make_goblin(16);
    const std::string name(5000, 'w');
    change_option_count(goblin.get(), add_array(goblin.get(), name, {0, 1}), worth({0}));
    ENSURE(log.lines.size() == 1 && log.lines[0].second.size() <= 512 && log.lines[0].second.size() > 400);
}

TEST("hooks: a past profile that does not match is logged") {
    const Hooks cleared_at_the_end;
    Log log;
    const hob_log_hook hook = log.hook();
    ENSURE_OK(hob_set_log_hook(&hook));
    const Goblin goblin = make_goblin(16);
    (void)add_array(goblin.get(), "water", {0, 1});
    const std::string past = R"({"water":[[1,1,0]]})";
    ENSURE_OK(hob_goblin_load_profile(goblin.get(), past.data(), past.size()));
    ENSURE(log.has("water") && log.has("1 options, not 2"));
}

TEST("hooks: inside the log hook the same goblin is busy and other goblins work") {
    const Hooks cleared_at_the_end;
    Log log;
    const hob_log_hook hook = log.hook();
    ENSURE_OK(hob_set_log_hook(&hook));
    const Goblin goblin = make_goblin(16), other = make_goblin(16);
    const hob_setting_id setting = add_array(goblin.get(), "water", {0, 1});
    log.at_line = [&] {
        expect_all(exclusive_calls(setting), goblin.get(), HOB_RESULT_BUSY);
        expect_all(const_calls(setting), goblin.get(), HOB_RESULT_BUSY);
        EXPECT(hob_goblin_remove_setting(goblin.get(), setting) == HOB_RESULT_BUSY);
        EXPECT(hob_goblin_choice(goblin.get(), setting) == 0 && hob_goblin_memory_used(goblin.get()) == 0);
        EXPECT(hob_goblin_update(other.get(), nullptr) == HOB_RESULT_OK);
    };
    change_option_count(goblin.get(), setting, worth({0, 1, 2}));
    ENSURE(log.lines.size() == 1 && statistics(goblin.get()).setting_count == 1);
    (void)update(goblin.get());
}

TEST("hooks: decisions are timed by the clock hook, and untimed without one") {
    const Hooks cleared_at_the_end;
    const Goblin goblin = make_goblin(16);
    ENSURE(update_details(goblin.get()).elapsed_ns == 0);
    hob_clock_hook hook = HOB_CLOCK_HOOK_INIT;
    uint64_t now = 5000;
    hook.user_data = &now;
    hook.now_ns = [](void* clock) { return *static_cast<uint64_t*>(clock) += 700; };
    ENSURE_OK(hob_set_clock_hook(&hook));
    ENSURE(update_details(goblin.get()).elapsed_ns == 700 && now == 5000 + 2 * 700);
    hook.now_ns = [](void* clock) { return *static_cast<uint64_t*>(clock) -= 700; };
    ENSURE_OK(hob_set_clock_hook(&hook));
    ENSURE(update_details(goblin.get()).elapsed_ns == 0);  // a clock that runs backwards
}

namespace {

/// The open zones, and the closed ones.
struct Zones {
    int open = 0;
    std::vector<std::string> names;

    hob_zone_hook hook() {
        hob_zone_hook hook = HOB_ZONE_HOOK_INIT;
        hook.user_data = this;
        hook.begin = [](void* self, const char* name) {
            static_cast<Zones*>(self)->open++;
            static_cast<Zones*>(self)->names.emplace_back(name);
        };
        hook.end = [](void* self) { EXPECT(--static_cast<Zones*>(self)->open >= 0); };
        return hook;
    }
};

}  // namespace

TEST("hooks: zones begin and end in pairs, also when the call fails or panics") {
    const Hooks cleared_at_the_end;
    Zones zones;
    const hob_zone_hook hook = zones.hook();
    ENSURE_OK(hob_set_zone_hook(&hook));
    const Goblin goblin = make_goblin(16);
    for (int n = 0; n < 3; ++n) (void)update(goblin.get());
    ENSURE(zones.open == 0 && zones.names == std::vector<std::string>(3, "hob_goblin_decide"));
    ENSURE_OK(hob_fault_arm(HOB_STR("goblin.decide"), 0));
    ENSURE(hob_goblin_update(goblin.get(), nullptr) == HOB_RESULT_PANIC);
    ENSURE(zones.open == 0 && zones.names.size() == 4);
}

TEST("hooks: an incomplete zone or clock hook is ignored") {
    const Hooks cleared_at_the_end;
    Zones zones;
    hob_zone_hook zone = zones.hook();
    zone.begin = nullptr;
    zone.end = [](void*) {};
    ENSURE_OK(hob_set_zone_hook(&zone));
    const hob_clock_hook clock = HOB_CLOCK_HOOK_INIT;
    ENSURE_OK(hob_set_clock_hook(&clock));
    const Goblin goblin = make_goblin(16);
    ENSURE(update_details(goblin.get()).elapsed_ns == 0 && zones.names.empty());
}

TEST("hooks: the allocator cannot be replaced while a handle is alive") {
    hob_allocator_hook hook = HOB_ALLOCATOR_HOOK_INIT;
    ENSURE(hob_set_allocator_hook(&hook) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("both allocate and free"));
    hook.allocate = [](void*, size_t, size_t) -> void* { return nullptr; };
    ENSURE(hob_set_allocator_hook(&hook) == HOB_RESULT_INVALID_ARGUMENT);
    hook.free = [](void*, void*, size_t, size_t) {};
    {
        const Profile alive = make_profile();
        ENSURE(hob_set_allocator_hook(&hook) == HOB_RESULT_BUSY && last_error_has("1 live handles"));
        ENSURE(hob_set_allocator_hook(nullptr) == HOB_RESULT_BUSY);
        ENSURE_OK(hob_profile_clear(alive.get()));
    }
    ENSURE_OK(hob_set_allocator_hook(&hook));
    hob_profile* profile = nullptr;
    EXPECT(hob_profile_create(nullptr, &profile) == HOB_RESULT_OUT_OF_MEMORY && profile == nullptr);
    ENSURE_OK(hob_set_allocator_hook(nullptr));
    (void)make_profile();
}
