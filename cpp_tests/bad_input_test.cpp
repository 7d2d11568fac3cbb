// Invalid handles, pointers, profiles and knapsacks: a result code and a message with advice, and no change.
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "bad_input_support.h"
#include "goblin_calls.h"
#include "support.h"

using namespace support;

TEST("bad_input: null handles are rejected") {
    expect_all(exclusive_calls({1, 0}), nullptr, HOB_RESULT_INVALID_ARGUMENT);
    expect_all(const_calls({1, 0}), nullptr, HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(last_error_has("goblin is NULL: pass the handle that hob_goblin_create gave"));
    ENSURE(hob_goblin_remove_setting(nullptr, {1, 0}) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_goblin_choice(nullptr, {1, 0}) == 0 && hob_goblin_memory_used(nullptr) == 0);
    ENSURE(std::strstr(hob_goblin_last_error(nullptr), "hob_goblin_create") != nullptr);

    ENSURE(hob_knapsack_reserve(nullptr, 1, 1) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_knapsack_clear(nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_knapsack_add_setting(nullptr, nullptr, 0, 0, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    const hob_knapsack_solve_desc solve = HOB_KNAPSACK_SOLVE_DESC_INIT;
    ENSURE(hob_knapsack_solve(nullptr, &solve, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_knapsack_choices(nullptr, nullptr, 0, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(last_error_has("hob_knapsack_create"));
    ENSURE(hob_knapsack_setting_count(nullptr) == 0 && hob_knapsack_memory_used(nullptr) == 0);
    ENSURE(std::strstr(hob_knapsack_last_error(nullptr), "hob_knapsack_create") != nullptr);

    const Profile other = make_profile();
    const hob_str id = HOB_STR("id");
    size_t size = 0;
    hob_str out = {nullptr, 0};
    hob_estimate estimate = HOB_ESTIMATE_INIT;
    ENSURE(hob_profile_load(nullptr, "{}", 2) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_profile_save(nullptr, nullptr, 0, &size) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_profile_load_file(nullptr, id) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_profile_save_file(nullptr, id) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_profile_set_task(nullptr, id, nullptr, 0, 0) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_profile_remove_task(nullptr, id) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_profile_clear(nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_profile_merge(nullptr, other.get()) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_profile_merge(other.get(), nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_profile_scale(nullptr, 1) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_profile_get_task(nullptr, 0, &out, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_profile_get_estimate(nullptr, id, 0, &estimate) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(last_error_has("hob_profile_create"));
    ENSURE(hob_profile_task_count(nullptr) == 0 && hob_profile_memory_used(nullptr) == 0);
    ENSURE(std::strstr(hob_profile_last_error(nullptr), "hob_profile_create") != nullptr);
}

TEST("bad_input: null output pointers are rejected") {
    const hob_goblin_desc desc = gpu_budget(16);
    ENSURE(hob_goblin_create(&desc, nullptr) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("out_goblin"));
    ENSURE(hob_knapsack_create(nullptr, nullptr) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("out_knapsack"));
    ENSURE(hob_profile_create(nullptr, nullptr) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("out_profile"));
    const Fixture fixture;
    const hob_result invalid = HOB_RESULT_INVALID_ARGUMENT;
    const double values[] = {0, 1};
    fixture.refuses(invalid, "out_setting", [&](auto* goblin) {
        const hob_setting_desc setting = described("s", options_of_two);
        return hob_goblin_add_setting(goblin, &setting, nullptr);
    });
    fixture.refuses(invalid, "out_setting",
                    [&](auto* g) { return hob_goblin_add_binary(g, HOB_STR("s"), 1, nullptr); });
    fixture.refuses(invalid, "out_setting",
                    [&](auto* g) { return hob_goblin_add_array(g, HOB_STR("s"), values, 2, nullptr); });
    fixture.refuses(invalid, "out_setting",
                    [&](auto* g) { return hob_goblin_add_fixed_burden(g, HOB_STR("s"), nullptr); });
    fixture.refuses(invalid, "out_setting",
                    [&](auto* g) { return hob_goblin_add_fixed_incentive(g, HOB_STR("s"), 1, nullptr); });
    fixture.refuses(invalid, "out_desc is NULL", [](auto* g) { return hob_goblin_get_desc(g, nullptr); });
    fixture.refuses(invalid, "out_estimate is NULL",
                    [&](auto* g) { return hob_goblin_get_estimate(g, fixture.setting, 0, HOB_LANE_GPU, nullptr); });
    fixture.refuses(invalid, "is NULL", [](auto* g) { return hob_goblin_get_statistics(g, nullptr); });
    fixture.refuses(invalid, "out_size", [](auto* g) { return hob_goblin_save_profile(g, nullptr, 0, nullptr); });
    fixture.refuses(invalid, "out_size",
                    [&](auto* g) { return hob_goblin_get_reason_text(g, fixture.setting, nullptr, 0, nullptr); });
    fixture.refuses(invalid, "out_reason is NULL",
                    [&](auto* g) { return hob_goblin_get_reason(g, fixture.setting, nullptr); });
    fixture.refuses(invalid, "out_net", [](auto* g) { return hob_goblin_get_strategy_net(g, 0, nullptr); });
    fixture.refuses(invalid, "out_choice",
                    [&](auto* g) { return hob_goblin_get_product_choice(g, fixture.setting, nullptr, 0, nullptr); });
    fixture.refuses(invalid, "out_strategy", [](auto* g) {
        const hob_strategy_desc strategy = HOB_STRATEGY_DESC_INIT;
        return hob_goblin_add_strategy(g, &strategy, nullptr);
    });
    fixture.refuses(invalid, "out_setting", [](auto* g) {
        const hob_product_desc product = HOB_PRODUCT_DESC_INIT;
        return hob_goblin_add_product(g, &product, nullptr);
    });
    const Profile profile = make_profile(R"({"a":[[1,1,0]]})");
    ENSURE(hob_profile_save(profile.get(), nullptr, 0, nullptr) == invalid && last_error_has("out_size"));
    ENSURE(hob_profile_get_task(profile.get(), 0, nullptr, nullptr) == invalid && last_error_has("out_id"));
    ENSURE(hob_profile_get_estimate(profile.get(), HOB_STR("a"), 0, nullptr) == invalid);
    ENSURE(last_error_has("out_estimate"));
}

TEST("bad_input: null parameter structs are rejected") {
    hob_goblin* goblin = nullptr;
    ENSURE(hob_goblin_create(nullptr, &goblin) == HOB_RESULT_INVALID_ARGUMENT && goblin == nullptr);
    ENSURE(last_error_has("HOB_GOBLIN_DESC_INIT"));
    const Fixture fixture;
    fixture.refuses(HOB_RESULT_INVALID_ARGUMENT, "HOB_GOBLIN_DESC_INIT",
                    [](auto* g) { return hob_goblin_set_desc(g, nullptr); });
    fixture.refuses(HOB_RESULT_INVALID_ARGUMENT, "HOB_SETTING_DESC_INIT", [](auto* g) {
        hob_setting_id id = {0, 0};
        return hob_goblin_add_setting(g, nullptr, &id);
    });
    fixture.refuses(HOB_RESULT_INVALID_ARGUMENT, "HOB_PRODUCT_DESC_INIT", [](auto* g) {
        hob_setting_id id = {0, 0};
        return hob_goblin_add_product(g, nullptr, &id);
    });
    fixture.refuses(HOB_RESULT_INVALID_ARGUMENT, "HOB_STRATEGY_DESC_INIT", [](auto* g) {
        uint32_t strategy = 0;
        return hob_goblin_add_strategy(g, nullptr, &strategy);
    });
    fixture.refuses(HOB_RESULT_INVALID_ARGUMENT, "HOB_STRATEGY_DESC_INIT",
                    [](auto* g) { return hob_goblin_set_strategy(g, 0, nullptr); });
    fixture.refuses(HOB_RESULT_INVALID_ARGUMENT, "hob_profile_create",
                    [](auto* g) { return hob_goblin_set_past_profile(g, nullptr); });
}

TEST("bad_input: handles of another type and invalid addresses are rejected") {
    const Profile profile = make_profile();
    const Knapsack knapsack = make_knapsack();
    const Goblin goblin = make_goblin(16);
    auto* const as_goblin = reinterpret_cast<hob_goblin*>(profile.get());
    ENSURE(hob_goblin_update(as_goblin, nullptr) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("another type"));
    ENSURE(hob_goblin_choice(as_goblin, {1, 0}) == 0);
    hob_goblin_destroy(as_goblin);
    auto* const as_profile = reinterpret_cast<hob_profile*>(knapsack.get());
    ENSURE(hob_profile_clear(as_profile) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_goblin_set_past_profile(goblin.get(), as_profile) == HOB_RESULT_INVALID_ARGUMENT);
    hob_profile_destroy(as_profile);
    auto* const as_knapsack = reinterpret_cast<hob_knapsack*>(goblin.get());
    ENSURE(hob_knapsack_clear(as_knapsack) == HOB_RESULT_INVALID_ARGUMENT);
    hob_knapsack_destroy(as_knapsack);
    auto* const crooked = reinterpret_cast<hob_goblin*>(reinterpret_cast<char*>(goblin.get()) + 1);
    ENSURE(hob_goblin_update(crooked, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    alignas(64) static const unsigned char zeros[4096] = {};
    auto* const blank = reinterpret_cast<hob_goblin*>(const_cast<unsigned char*>(zeros));
    ENSURE(hob_goblin_collect_samples(blank) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("destroyed"));
    ENSURE_OK(hob_goblin_update(goblin.get(), nullptr));
    ENSURE_OK(hob_profile_clear(profile.get()));
    ENSURE_OK(hob_knapsack_clear(knapsack.get()));
}

TEST("bad_input: invalid profiles are rejected") {
    const Fixture fixture;
    const auto refused = [&](hob_result expected, const char* part, const void* data, size_t size) {
        fixture.refuses(expected, part, [=](auto* goblin) { return hob_goblin_load_profile(goblin, data, size); });
        const Profile profile = make_profile(R"({"a":[[1,1,0]]})");
        ENSURE(hob_profile_load(profile.get(), data, size) == expected && last_error_has(part));
        ENSURE(hob_profile_task_count(profile.get()) == 1);
    };
    refused(HOB_RESULT_MALFORMED, "line 1", "{", 1);
    refused(HOB_RESULT_MALFORMED, "line 1", "", 0);
    refused(HOB_RESULT_MALFORMED, "line 1", nullptr, 0);
    refused(HOB_RESULT_INVALID_ARGUMENT, "NULL", nullptr, 10);
    refused(HOB_RESULT_INVALID_ARGUMENT, "impossible", "{}", SIZE_MAX);

    const Profile profile = make_profile(R"({"a":[[1,1,0]]})");
    const std::string before = saved(profile.get());
    const auto unchanged = [&](hob_result result, hob_result expected, const char* part) {
        ENSURE(result == expected && last_error_has(part) && saved(profile.get()) == before);
    };
    const hob_result invalid = HOB_RESULT_INVALID_ARGUMENT;
    const auto set = [&](hob_profile_option bad) {
        return hob_profile_set_task(profile.get(), HOB_STR("b"), &bad, sizeof bad, 1);
    };
    for (const double bad : {nan_value, infinity, -1.0}) {
        unchanged(set({1, bad, 0}), invalid, "mean");
        unchanged(set({1, 0, bad}), invalid, "deviation");
    }
    const hob_profile_option good = {1, 1, 1};
    unchanged(hob_profile_set_task(profile.get(), HOB_STR("b"), nullptr, sizeof good, 1), invalid, "NULL");
    unchanged(hob_profile_set_task(profile.get(), HOB_STR("b"), &good, 3, 2), invalid, "stride");
    unchanged(hob_profile_set_task(profile.get(), HOB_STR("b"), &good, sizeof good, huge), HOB_RESULT_LIMIT_EXCEEDED,
              "65535");
    unchanged(hob_profile_set_task(profile.get(), HOB_STR("\xc3"), &good, sizeof good, 1), invalid, "UTF-8");
    for (const double bad : {nan_value, infinity, 0.0, -1.0})
        unchanged(hob_profile_scale(profile.get(), bad), invalid, "scale factor");
    unchanged(hob_profile_remove_task(profile.get(), HOB_STR("nobody")), HOB_RESULT_NOT_FOUND, "nobody");
    unchanged(hob_profile_merge(profile.get(), nullptr), invalid, "hob_profile_create");
    unchanged(hob_profile_load_file(profile.get(), HOB_STR("no/such/file")), HOB_RESULT_IO, "no/such/file");
    unchanged(hob_profile_load_file(profile.get(), HOB_STR("nul\0inside")), invalid, "a NUL at byte 3");
    unchanged(hob_profile_load_file(profile.get(), hob_str_of(nullptr, 0)), HOB_RESULT_IO, "cannot read");
    unchanged(hob_profile_load_file(profile.get(), HOB_STR(".")), HOB_RESULT_IO, "cannot read");
    unchanged(hob_profile_save_file(profile.get(), hob_str_of(nullptr, 1)), invalid, "path");
    hob_str id = {nullptr, 7};
    unchanged(hob_profile_get_task(profile.get(), 1, &id, nullptr), HOB_RESULT_NOT_FOUND, "the profile has 1");
    ENSURE(id.data == nullptr && id.len == 7);
    hob_estimate found = HOB_ESTIMATE_INIT;
    unchanged(hob_profile_get_estimate(profile.get(), HOB_STR("b"), 0, &found), HOB_RESULT_NOT_FOUND, "no task 'b'");
    unchanged(hob_profile_get_estimate(profile.get(), HOB_STR("a"), 1, &found), HOB_RESULT_NOT_FOUND, "option 1 does not exist");
}

TEST("bad_input: invalid knapsacks are rejected") {
    const Knapsack knapsack = make_knapsack();
    const auto add_one = [&](hob_knapsack_option option) {
        return hob_knapsack_add_setting(knapsack.get(), &option, sizeof option, 1, nullptr);
    };
    ENSURE_OK(add_one({1, 1, 1}));
    const hob_result invalid = HOB_RESULT_INVALID_ARGUMENT;
    const auto unchanged = [&](hob_result result, hob_result expected, const char* part) {
        ENSURE(result == expected && last_error_has(part) && hob_knapsack_setting_count(knapsack.get()) == 1);
    };
    for (const double bad : {nan_value, infinity, -infinity, 1.1e100})
        unchanged(add_one({bad, 1, 1}), invalid, "value");
    for (const double bad : {nan_value, -infinity, 1.1e100}) unchanged(add_one({1, bad, 1}), invalid, "mean");
    for (const double bad : {nan_value, infinity, -1.0, 1.1e100}) unchanged(add_one({1, 1, bad}), invalid, "variance");
    const hob_knapsack_option good = {1, 1, 1};
    unchanged(hob_knapsack_add_setting(knapsack.get(), nullptr, sizeof good, 1, nullptr), invalid, "NULL");
    unchanged(hob_knapsack_add_setting(knapsack.get(), &good, 1, 2, nullptr), invalid, "stride");
    unchanged(hob_knapsack_add_setting(knapsack.get(), &good, sizeof good, huge, nullptr), HOB_RESULT_LIMIT_EXCEEDED,
              "65535");
    const auto solve = [&](const std::function<void(hob_knapsack_solve_desc&)>& spoil) {
        hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
        spoil(desc);
        hob_knapsack_solution solution = HOB_KNAPSACK_SOLUTION_INIT;
        solution.value = 77;
        const hob_result result = hob_knapsack_solve(knapsack.get(), &desc, &solution);
        EXPECT(result == HOB_RESULT_OK || solution.value == 77);
        return result;
    };
    unchanged(solve([](auto& desc) { desc.capacity = nan_value; }), invalid, "capacity");
    for (const double bad : {-1.0, nan_value, infinity})
        unchanged(solve([=](auto& desc) { desc.sigmas = bad; }), invalid, "sigmas");
    for (const double bad : {-1.0, nan_value, infinity})
        unchanged(solve([=](auto& desc) { desc.accepted_gap = bad; }), invalid, "gap");
    for (const double capacity : {-infinity, -1e300, 1e300, 0.0}) {
        ENSURE_OK(solve([=](auto& desc) {
            desc.capacity = capacity;
            desc.node_limit = 1;
        }));
    }
}

TEST("bad_input: sizes beyond the available memory are rejected") {
    ENSURE(hob_knapsack_reserve(make_knapsack().get(), huge, huge) == HOB_RESULT_LIMIT_EXCEEDED);
    ENSURE(last_error_has("raise memory_limit"));
    hob_knapsack_desc unlimited = HOB_KNAPSACK_DESC_INIT;
    unlimited.memory_limit = UINT64_MAX;
    hob_knapsack* raw = nullptr;
    ENSURE_OK(hob_knapsack_create(&unlimited, &raw));
    const Knapsack knapsack(raw);
    // Larger than a 47-bit address space, so that overcommitment cannot grant it.
    const hob_result result = hob_knapsack_reserve(raw, huge, huge);
    ENSURE(result == HOB_RESULT_OUT_OF_MEMORY || result == HOB_RESULT_OK);
    hob_goblin_desc desc = gpu_budget(16);
    desc.memory_limit = 1;
    const Goblin goblin = make_goblin(desc);
    hob_setting_id id = {0, 0};
    ENSURE(hob_goblin_add_binary(goblin.get(), HOB_STR("s"), 1, &id) == HOB_RESULT_LIMIT_EXCEEDED);
    ENSURE(last_error_has("memory limit"));
    ENSURE_OK(hob_goblin_update(goblin.get(), nullptr));
}
