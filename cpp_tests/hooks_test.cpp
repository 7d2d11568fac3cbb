// What the host lends: a log, a clock, profiler zones, files.
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "goblin_calls.h"
#include "support.h"

using namespace support;

namespace {

/// Keeps the lines it is given.
struct Log {
    std::vector<std::pair<uint32_t, std::string>> lines;
    std::function<void()> at_line;

    hob_log_hook hook() {
        hob_log_hook hook = HOB_LOG_HOOK_INIT;
        hook.user_data = this;
        hook.write = [](void* self, uint32_t level, hob_str line) {
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

TEST("hooks: the log says that estimates were dropped because the options are others now") {
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

TEST("hooks: lines below the minimum level do not come") {
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

TEST("hooks: from inside the log every function on the same goblin is busy, and others work") {
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

TEST("hooks: the clock times decisions; without one no clock is read") {
    const Hooks cleared_at_the_end;
    const Goblin goblin = make_goblin(16);
    ENSURE(update(goblin.get()).elapsed_ns == 0);
    hob_clock_hook hook = HOB_CLOCK_HOOK_INIT;
    uint64_t now = 5000;
    hook.user_data = &now;
    hook.now_ns = [](void* clock) { return *static_cast<uint64_t*>(clock) += 700; };
    ENSURE_OK(hob_set_clock_hook(&hook));
    ENSURE(update(goblin.get()).elapsed_ns == 700 && now == 5000 + 2 * 700);
    hook.now_ns = [](void* clock) { return *static_cast<uint64_t*>(clock) -= 700; };
    ENSURE_OK(hob_set_clock_hook(&hook));
    ENSURE(update(goblin.get()).elapsed_ns == 0);  // a clock that runs backwards
}

namespace {

/// Zones that are open and those that were.
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

TEST("hooks: a zone or clock hook with only one function, or none, is no zone or clock") {
    const Hooks cleared_at_the_end;
    Zones zones;
    hob_zone_hook zone = zones.hook();
    zone.begin = nullptr;
    zone.end = [](void*) {};
    ENSURE_OK(hob_set_zone_hook(&zone));
    const hob_clock_hook clock = HOB_CLOCK_HOOK_INIT;
    ENSURE_OK(hob_set_clock_hook(&clock));
    const Goblin goblin = make_goblin(16);
    ENSURE(update(goblin.get()).elapsed_ns == 0 && zones.names.empty());
}

namespace {

/// Files in memory, which read and write little at a time and can be told to fail.
struct Disk {
    struct Open {
        std::string path;
        uint32_t mode;
    };

    std::map<std::string, std::string> files;
    std::set<Open*> open_files;
    std::string failing;  // the operation that fails
    size_t most_at_a_time = 7;
    bool lies = false;  // about how much it read and wrote
    int operations = 0;

    uint32_t outcome(const char* operation) {
        ++operations;
        return failing == operation ? 42 : 0;
    }

    static Disk& of(void* self) { return *static_cast<Disk*>(self); }

    static uint32_t open(void* self, hob_str path, uint32_t mode, void** out) {
        Disk& disk = of(self);
        const std::string name = text(path);
        if (mode == HOB_FILE_READ && disk.files.count(name) == 0) return 2;
        if (const uint32_t failed = disk.outcome("open")) return failed;
        if (mode == HOB_FILE_WRITE) disk.files[name].clear();
        auto* const file = new Open{name, mode};
        disk.open_files.insert(file);
        *out = file;
        return 0;
    }
    static void close(void* self, void* file) {
        EXPECT(of(self).open_files.erase(static_cast<Open*>(file)) == 1);
        delete static_cast<Open*>(file);
    }
    static uint32_t size(void* self, void* file, uint64_t* out) {
        *out = of(self).files[static_cast<Open*>(file)->path].size();
        return of(self).outcome("size");
    }
    static uint32_t read(void* self, void* file, uint64_t offset, void* data, size_t size, size_t* out) {
        Disk& disk = of(self);
        const std::string& content = disk.files[static_cast<Open*>(file)->path];
        *out = content.copy(static_cast<char*>(data), std::min(size, disk.most_at_a_time), static_cast<size_t>(offset));
        if (disk.lies) *out = size + 1;
        return disk.outcome("read");
    }
    static uint32_t write(void* self, void* file, uint64_t offset, const void* data, size_t size, size_t* out) {
        Disk& disk = of(self);
        std::string& content = disk.files[static_cast<Open*>(file)->path];
        EXPECT(static_cast<Open*>(file)->mode == HOB_FILE_WRITE && offset == content.size());
        *out = std::min(size, disk.most_at_a_time);
        content.append(static_cast<const char*>(data), *out);
        if (disk.lies) *out = size + 1;
        return disk.outcome("write");
    }
    static uint32_t sync(void* self, void*) { return of(self).outcome("sync"); }
    static uint32_t rename(void* self, hob_str from, hob_str to) {
        if (const uint32_t failed = of(self).outcome("rename")) return failed;
        of(self).files[text(to)] = of(self).files.at(text(from));
        of(self).files.erase(text(from));
        return 0;
    }
    static uint32_t remove(void* self, hob_str path) {
        of(self).files.erase(text(path));
        return of(self).outcome("remove");
    }

    hob_file_hook hook() {
        hob_file_hook hook = HOB_FILE_HOOK_INIT;
        hook.user_data = this;
        hook.open = &open;
        hook.close = &close;
        hook.size = &size;
        hook.read = &read;
        hook.write = &write;
        hook.sync = &sync;
        hook.rename = &rename;
        hook.remove = &remove;
        return hook;
    }
};

const std::string household = R"({"shadows":[[9,1,0.5],[9,2,0.5]],"water":[[3,1.5,0]]})";

}  // namespace

TEST("hooks: profiles go to the host's files and come back, a few bytes at a time") {
    const Hooks cleared_at_the_end;
    Disk disk;
    const hob_file_hook hook = disk.hook();
    ENSURE_OK(hob_set_file_hook(&hook));
    const Profile profile = make_profile(household);
    for (const size_t most : {size_t{1}, size_t{7}, size_t{100000}}) {
        disk.most_at_a_time = most;
        ENSURE_OK(hob_profile_save_file(profile.get(), HOB_STR("save:/profile")));
        ENSURE(disk.files.size() == 1 && disk.files.at("save:/profile") == saved(profile.get()));
        const Profile again = make_profile();
        ENSURE_OK(hob_profile_load_file(again.get(), HOB_STR("save:/profile")));
        ENSURE(saved(again.get()) == saved(profile.get()) && disk.open_files.empty());
    }
    hob_file_hook without_sync = hook;
    without_sync.sync = nullptr;
    ENSURE_OK(hob_set_file_hook(&without_sync));
    ENSURE_OK(hob_profile_save_file(profile.get(), HOB_STR("save:/profile")));
}

TEST("hooks: whatever fails while saving, the old file stays as it was and no other is left") {
    const Hooks cleared_at_the_end;
    Disk disk;
    const hob_file_hook hook = disk.hook();
    ENSURE_OK(hob_set_file_hook(&hook));
    const Profile profile = make_profile(household);
    disk.files["p"] = "old";
    for (const char* operation : {"open", "write", "sync", "rename"}) {
        disk.failing = operation;
        ENSURE(hob_profile_save_file(profile.get(), HOB_STR("p")) == HOB_RESULT_IO);
        ENSURE(last_error_has(operation) && last_error_has("p.new") && last_error_has("42"));
        ENSURE(disk.files.size() == 1 && disk.files.at("p") == "old" && disk.open_files.empty());
    }
    disk.failing.clear();
    disk.lies = true;
    ENSURE(hob_profile_save_file(profile.get(), HOB_STR("p")) == HOB_RESULT_IO);
    disk.lies = false;
    disk.most_at_a_time = 0;
    ENSURE(hob_profile_save_file(profile.get(), HOB_STR("p")) == HOB_RESULT_IO);
    ENSURE(disk.files.size() == 1 && disk.files.at("p") == "old" && disk.open_files.empty());
}

TEST("hooks: whatever fails while loading, the profile stays as it was") {
    const Hooks cleared_at_the_end;
    Disk disk;
    const hob_file_hook hook = disk.hook();
    ENSURE_OK(hob_set_file_hook(&hook));
    disk.files["p"] = R"({"other":[]})";
    disk.files["bad"] = household.substr(0, 20);
    const Profile profile = make_profile(household);
    const std::string before = saved(profile.get());
    const auto fails = [&](hob_str path, hob_result expected) {
        ENSURE(hob_profile_load_file(profile.get(), path) == expected);
        ENSURE(saved(profile.get()) == before && disk.open_files.empty());
    };
    for (const char* operation : {"open", "size", "read"}) {
        disk.failing = operation;
        fails(HOB_STR("p"), HOB_RESULT_IO);
        ENSURE(last_error_has(operation));
    }
    disk.failing.clear();
    disk.lies = true;
    fails(HOB_STR("p"), HOB_RESULT_IO);
    disk.lies = false;
    disk.most_at_a_time = 0;
    fails(HOB_STR("p"), HOB_RESULT_IO);
    disk.most_at_a_time = 7;
    fails(HOB_STR("missing"), HOB_RESULT_IO);
    fails(HOB_STR("bad"), HOB_RESULT_MALFORMED);
    hob_file_hook liar = hook;
    liar.size = [](void*, void*, uint64_t* out) {
        *out = UINT64_MAX;
        return 0u;
    };
    ENSURE_OK(hob_set_file_hook(&liar));
    fails(HOB_STR("p"), HOB_RESULT_LIMIT_EXCEEDED);
}

TEST("hooks: a file hook needs open and close, and others only when they are needed") {
    const Hooks cleared_at_the_end;
    Disk disk;
    disk.files["p"] = household;
    hob_file_hook reading = disk.hook();
    reading.write = nullptr;
    reading.rename = nullptr;
    reading.remove = nullptr;
    ENSURE_OK(hob_set_file_hook(&reading));
    const Profile profile = make_profile();
    ENSURE_OK(hob_profile_load_file(profile.get(), HOB_STR("p")));
    ENSURE(hob_profile_save_file(profile.get(), HOB_STR("p")) == HOB_RESULT_UNSUPPORTED);
    ENSURE(last_error_has("no write"));
    hob_file_hook writing = disk.hook();
    writing.close = nullptr;
    ENSURE(hob_set_file_hook(&writing) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("both open and close"));
    writing = disk.hook();
    writing.open = nullptr;
    ENSURE(hob_set_file_hook(&writing) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(disk.files.at("p") == household && disk.open_files.empty());
}

TEST("hooks: the allocator cannot be exchanged while anything is alive") {
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
