// base.h: results, strings, versions, setting and clearing hooks.
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "support.h"

using namespace support;

TEST("base: the library's versions match the header") {
    ENSURE(hob_version() == HOB_VERSION);
    ENSURE(hob_version() == HOB_MAKE_VERSION(HOB_VERSION_MAJOR, HOB_VERSION_MINOR, HOB_VERSION_PATCH));
    ENSURE(hob_abi_version() == HOB_ABI_VERSION);
}

TEST("base: the loaded shared library is the newly built one") {
    const std::string path = library_path();
    std::ifstream maps("/proc/self/maps");
    if (!maps) harness::skip("no /proc/self/maps here");
    const std::string all{std::istreambuf_iterator<char>(maps), {}};
    ENSURE((all.find(path) != std::string::npos) == !is_static);
    ENSURE((all.find("libhobgoblin") != std::string::npos) == !is_static);
}

TEST("base: every result has a name, and invalid numbers are unknown") {
    const struct {
        hob_result result;
        const char* name;
    } known[] = {
        {HOB_RESULT_OK, "HOB_RESULT_OK"},
        {HOB_RESULT_INVALID_ARGUMENT, "HOB_RESULT_INVALID_ARGUMENT"},
        {HOB_RESULT_NOT_FOUND, "HOB_RESULT_NOT_FOUND"},
        {HOB_RESULT_LIMIT_EXCEEDED, "HOB_RESULT_LIMIT_EXCEEDED"},
        {HOB_RESULT_OUT_OF_MEMORY, "HOB_RESULT_OUT_OF_MEMORY"},
        {HOB_RESULT_MALFORMED, "HOB_RESULT_MALFORMED"},
        {HOB_RESULT_UNSUPPORTED, "HOB_RESULT_UNSUPPORTED"},
        {HOB_RESULT_BUSY, "HOB_RESULT_BUSY"},
        {HOB_RESULT_TIMEOUT, "HOB_RESULT_TIMEOUT"},
        {HOB_RESULT_BANNED, "HOB_RESULT_BANNED"},
        {HOB_RESULT_BUILD_FAILED, "HOB_RESULT_BUILD_FAILED"},
        {HOB_RESULT_NO_CONSENSUS, "HOB_RESULT_NO_CONSENSUS"},
        {HOB_RESULT_COGNITION_FAILED, "HOB_RESULT_COGNITION_FAILED"},
        {HOB_RESULT_BUFFER_TOO_SMALL, "HOB_RESULT_BUFFER_TOO_SMALL"},
        {HOB_RESULT_IO, "HOB_RESULT_IO"},
        {HOB_RESULT_PANIC, "HOB_RESULT_PANIC"},
        {HOB_RESULT_POISONED, "HOB_RESULT_POISONED"},
    };
    for (const auto& one : known) ENSURE(std::strcmp(hob_result_name(one.result), one.name) == 0);
    for (const uint32_t none : {17u, UINT32_MAX}) {
        ENSURE(std::strcmp(hob_result_name(static_cast<hob_result>(none)), "HOB_RESULT_UNKNOWN") == 0);
    }
}

TEST("base: strings can have a length, end in NUL, or be empty") {
    const Profile profile = make_profile();
    const hob_profile_option option = {3, 2.0, 0.5};
    const auto set = [&](hob_str id) { return hob_profile_set_task(profile.get(), id, &option, sizeof option, 1); };
    ENSURE_OK(set(hob_str_of("shadows and more", 7)));
    ENSURE_OK(set(hob_str_from("ends in NUL")));
    ENSURE_OK(set(HOB_STR("literal")));
    ENSURE_OK(set(hob_str_from(nullptr)));
    ENSURE(hob_profile_task_count(profile.get()) == 4);
    for (const char* id : {"shadows", "ends in NUL", "literal", ""}) ENSURE(known(profile.get(), id, 0).count == 3);
}

TEST("base: a success keeps the last error") {
    ENSURE(hob_goblin_collect_samples(nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    const std::string sentence = hob_last_error();
    ENSURE(sentence.find("hob_goblin_create") != std::string::npos);
    const Goblin goblin = make_goblin(16);
    ENSURE_OK(hob_goblin_collect_samples(goblin.get()));
    ENSURE(hob_last_error() == sentence);
}

TEST("base: each handle keeps the message of its own last failure") {
    const Goblin goblin = make_goblin(16), other = make_goblin(16);
    const Profile profile = make_profile();
    const Knapsack knapsack = make_knapsack();
    ENSURE(std::string(hob_goblin_last_error(goblin.get())).empty());
    ENSURE(hob_goblin_remove_setting(goblin.get(), {0, 0}) == HOB_RESULT_NOT_FOUND);
    ENSURE(hob_profile_scale(profile.get(), -1) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_knapsack_solve(knapsack.get(), nullptr, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(std::strstr(hob_goblin_last_error(goblin.get()), "no such setting") != nullptr);
    ENSURE(std::strstr(hob_profile_last_error(profile.get()), "scale factor") != nullptr);
    ENSURE(std::strstr(hob_knapsack_last_error(knapsack.get()), "hob_knapsack_solve_desc") != nullptr);
    ENSURE(std::string(hob_goblin_last_error(other.get())).empty());
}

TEST("base: destroying null is accepted") {
    hob_goblin_destroy(nullptr);
    hob_knapsack_destroy(nullptr);
    hob_profile_destroy(nullptr);
}

TEST("base: hooks begin empty and can be set, replaced and cleared") {
    const Hooks cleared_at_the_end;
    const hob_log_hook log = HOB_LOG_HOOK_INIT;
    ENSURE(log.struct_size == sizeof log && log.minimum_level == HOB_LOG_LEVEL_INFO && log.write == nullptr);
    const hob_clock_hook clock = HOB_CLOCK_HOOK_INIT;
    ENSURE(clock.struct_size == sizeof clock && clock.now_ns == nullptr);
    const hob_zone_hook zone = HOB_ZONE_HOOK_INIT;
    ENSURE(zone.struct_size == sizeof zone && zone.begin == nullptr && zone.end == nullptr);
    const hob_allocator_hook allocator = HOB_ALLOCATOR_HOOK_INIT;
    ENSURE(allocator.struct_size == sizeof allocator && allocator.allocate == nullptr);
    for (int again = 0; again < 2; ++again) {
        ENSURE_OK(hob_set_log_hook(&log));
        ENSURE_OK(hob_set_clock_hook(&clock));
        ENSURE_OK(hob_set_zone_hook(&zone));
    }
}
