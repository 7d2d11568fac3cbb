// goblin.h over a goblin's life: settings, options and lanes that change, profiles, and the memory of it all.
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "goblin_calls.h"
#include "goblin_support.h"
#include "support.h"

using namespace support;

TEST("goblin: replaced options keep estimates only if their count is unchanged") {
    const Goblin goblin = make_goblin(10);
    const hob_setting_id setting = add_array(goblin.get(), "s", {0, 5});
    teach(goblin.get(), setting, {1, 2});
    const auto same = worth({7, 1});
    ENSURE_OK(hob_goblin_set_options(goblin.get(), setting, same.data(), sizeof same[0], 2));
    ENSURE(estimate(goblin.get(), setting, 1).count == 40);
    ENSURE(update(goblin.get()).value == 7);
    auto three = worth({0, 1, 2});
    three[2].flags = HOB_OPTION_NOT_READY;
    ENSURE_OK(hob_goblin_set_options(goblin.get(), setting, three.data(), sizeof three[0], 3));
    ENSURE(estimate(goblin.get(), setting, 1).count == 0 && estimate(goblin.get(), setting, 2).count == 0);
    ENSURE_OK(hob_goblin_set_options(goblin.get(), setting, nullptr, 0, 0));
    ENSURE(update(goblin.get()).value == 0);
    ENSURE(hob_goblin_choice(goblin.get(), setting) == 0);
}

TEST("goblin: the current parameters can be read and replaced") {
    const Goblin goblin = make_goblin(10);
    Budget budget = tunable(20);
    budget.desc.history = 200;
    budget.desc.max_settings = 2;
    budget.tuning.sigmas = 2;
    budget.tuning.precision = 20;
    budget.tuning.exploration = HOB_EXPLORATION_OPTIMISTIC;
    set_desc(goblin.get(), budget);
    hob_goblin_desc found = HOB_GOBLIN_DESC_INIT;
    ENSURE_OK(hob_goblin_get_desc(goblin.get(), &found));
    ENSURE(found.struct_size == sizeof found && found.lanes[HOB_LANE_GPU].limit == 20 && found.tuning == nullptr);
    ENSURE(found.history == 200 && found.max_settings == 2);
    const auto tuning = [&] {
        hob_goblin_tuning in_force = HOB_GOBLIN_TUNING_INIT;
        ENSURE_OK(hob_goblin_get_tuning(goblin.get(), &in_force));
        return in_force;
    };
    ENSURE(tuning().sigmas == 2 && tuning().precision == 20 && tuning().exploration == HOB_EXPLORATION_OPTIMISTIC);
    // NULL: set_desc keeps the tuning, set_tuning restores the defaults.
    ENSURE_OK(hob_goblin_set_desc(goblin.get(), &found));
    ENSURE(tuning().sigmas == 2);
    ENSURE_OK(hob_goblin_set_tuning(goblin.get(), nullptr));
    ENSURE(tuning().sigmas == 3 && tuning().precision == 1000 && tuning().exploration == HOB_EXPLORATION_BOUNDED);
    budget.tuning.dwell = 5;
    ENSURE_OK(hob_goblin_set_tuning(goblin.get(), &budget.tuning));
    ENSURE(tuning().sigmas == 2 && tuning().dwell == 5);
    (void)add_array(goblin.get(), "one", {0});
    (void)add_array(goblin.get(), "two", {0});
    hob_setting_id three = none;
    ENSURE(hob_goblin_add_binary(goblin.get(), HOB_STR("three"), 1, &three) == HOB_RESULT_LIMIT_EXCEEDED);
    ENSURE(last_error_has("max_settings") && three.index1 == 0);
    ENSURE(update_details(goblin.get()).lanes[HOB_LANE_GPU].capacity == 20);
}

TEST("goblin: lanes can be added and removed, and the other lanes keep their estimates") {
    const Goblin goblin = make_goblin(10);
    hob_goblin_desc both = gpu_budget(10);
    both.lanes[HOB_LANE_GAME_THREAD].limit = 20;
    const hob_setting_id setting = add_array(goblin.get(), "s", {0, 1});
    (void)update(goblin.get());
    measure(goblin.get(), HOB_DECISION_LATEST, setting, 4);
    hob_estimate found = HOB_ESTIMATE_INIT;
    const auto on_game_thread = [&] {
        return hob_goblin_get_estimate(goblin.get(), setting, 0, HOB_LANE_GAME_THREAD, &found);
    };
    ENSURE(on_game_thread() == HOB_RESULT_NOT_FOUND && last_error_has("lane 2 has no limit"));
    ENSURE_OK(hob_goblin_set_desc(goblin.get(), &both));
    ENSURE(close(estimate(goblin.get(), setting, 0).mean, 4));
    const hob_decision_details decision = update_details(goblin.get());
    ENSURE(decision.lanes[HOB_LANE_GPU].capacity == 10 && decision.lanes[HOB_LANE_GAME_THREAD].capacity == 20);
    ENSURE_OK(hob_goblin_measure(goblin.get(), HOB_DECISION_LATEST, setting, HOB_LANE_GAME_THREAD, 7, HOB_SAMPLE_QUALITY_OK));
    ENSURE(on_game_thread() == HOB_RESULT_OK && close(found.mean, 7) && found.count == 1);
    hob_goblin_desc frame = HOB_GOBLIN_DESC_INIT;
    frame.lanes[HOB_LANE_GAME_THREAD].limit = 10;
    ENSURE_OK(hob_goblin_set_desc(goblin.get(), &frame));
    ENSURE(on_game_thread() == HOB_RESULT_OK && close(found.mean, 7));
    ENSURE(hob_goblin_get_estimate(goblin.get(), setting, 0, HOB_LANE_GPU, &found) == HOB_RESULT_NOT_FOUND);
    ENSURE_OK(hob_goblin_set_desc(goblin.get(), &both));
    ENSURE(estimate(goblin.get(), setting, 0).count == 0);
}

TEST("goblin: settings that share a task pool their samples") {
    const Goblin goblin = make_goblin(infinity);
    const hob_setting_id left = add_array(goblin.get(), "shadow map", {0, 1});
    const hob_setting_id right = add_array(goblin.get(), "shadow map", {0, 1});
    for (int n = 0; n < 20; ++n) {
        (void)update(goblin.get());
        ENSURE_OK(hob_goblin_report_applied(goblin.get(), HOB_DECISION_LATEST, left, 0));
        ENSURE_OK(hob_goblin_report_applied(goblin.get(), HOB_DECISION_LATEST, right, 1));
        measure(goblin.get(), HOB_DECISION_LATEST, left, 2);
        measure(goblin.get(), HOB_DECISION_LATEST, right, 5);
    }
    for (const hob_setting_id setting : {left, right}) {
        ENSURE(estimate(goblin.get(), setting, 0).count == 20 && estimate(goblin.get(), setting, 1).count == 20);
    }
    ENSURE_OK(hob_goblin_remove_setting(goblin.get(), left));
    ENSURE(close(estimate(goblin.get(), right, 0).mean, 2) && close(estimate(goblin.get(), right, 1).mean, 5));
}

TEST("goblin: a past profile is used at once and scaled by the first samples") {
    const Goblin goblin = make_goblin(100);
    const Profile past = make_profile(R"({"a":[[90,2,0.2],[90,8,0.4]],"b":[[90,3,0],[0,0,0]],"gone":[[5,1,0]]})");
    ENSURE_OK(hob_goblin_set_past_profile(goblin.get(), past.get()));
    const hob_setting_id a = add_array(goblin.get(), "a", {0, 1}), b = add_array(goblin.get(), "b", {0, 1});
    ENSURE(estimate(goblin.get(), a, 1).mean == 8 && estimate(goblin.get(), a, 1).source == HOB_ESTIMATE_SOURCE_PAST);
    ENSURE(estimate(goblin.get(), b, 1).source == HOB_ESTIMATE_SOURCE_BLIND);
    (void)update(goblin.get());
    const uint32_t choice = hob_goblin_choice(goblin.get(), a);
    measure(goblin.get(), HOB_DECISION_LATEST, a, choice == 0 ? 4 : 16);
    ENSURE(close(statistics(goblin.get()).past_ratio, 2));
    ENSURE(close(estimate(goblin.get(), b, 0).mean, 6) && estimate(goblin.get(), b, 0).count == 0);
    const Profile kept = make_profile(saved(goblin.get()));
    ENSURE(close(known(kept.get(), "b", 0).mean, 6) && close(known(kept.get(), "gone", 0).mean, 2));
    ENSURE(known(kept.get(), "a", choice).count == 1);
}

TEST("goblin: a saved profile can be loaded into another goblin") {
    const Goblin first = make_goblin(infinity);
    const hob_setting_id setting = add_array(first.get(), "s \"q\"", {0, 1, 2});
    teach(first.get(), setting, {1, 2.5, 4});
    const std::string json = saved(first.get());
    const Goblin second = make_goblin(3);
    ENSURE_OK(hob_goblin_load_profile(second.get(), json.data(), json.size()));
    const hob_setting_id again = add_array(second.get(), "s \"q\"", {0, 1, 2});
    ENSURE(saved(second.get()) == json);
    for (int n = 0; n < 10; ++n) (void)update(second.get());
    ENSURE(hob_goblin_choice(second.get(), again) == 1);
}

TEST("goblin: saving into a small buffer changes nothing and returns the needed size") {
    const Goblin goblin = make_goblin(16);
    teach(goblin.get(), add_array(goblin.get(), "s", {0, 1}), {1, 2});
    const std::string json = saved(goblin.get());
    std::string room(json.size() + 4, '\x7e');
    size_t size = 0;
    ENSURE(hob_goblin_save_profile(goblin.get(), room.data(), json.size() - 1, &size) == HOB_RESULT_BUFFER_TOO_SMALL);
    ENSURE(size == json.size() && room == std::string(json.size() + 4, '\x7e'));
    ENSURE_OK(hob_goblin_save_profile(goblin.get(), room.data(), json.size(), &size));
    ENSURE(room == json + "\x7e\x7e\x7e\x7e");
}

TEST("goblin: the id of a removed setting stays invalid after slot reuse") {
    const Goblin goblin = make_goblin(16);
    const hob_setting_id old = add_array(goblin.get(), "old", {0, 1});
    (void)update(goblin.get());
    ENSURE_OK(hob_goblin_remove_setting(goblin.get(), old));
    const hob_setting_id fresh = add_array(goblin.get(), "fresh", {0, 1});
    ENSURE(fresh.index1 == old.index1 && fresh.generation != old.generation);
    (void)update(goblin.get());
    for (const Call& call : exclusive_calls(old)) {
        const std::string name = call.name;
        const std::string_view naming[] = {"set_options", "set_value",   "set_ready", "set_work",
                                           "set_range",   "pin",         "measure",   "report_applied",
                                           "set_enabled", "set_strategy_value", "set_strategy_work",
                                           "set_strategy_option_work", "set_setting_switch_scale"};
        const bool names_a_setting = std::find(std::begin(naming), std::end(naming), name) != std::end(naming);
        if (names_a_setting) ENSURE(call.make(goblin.get()) == HOB_RESULT_NOT_FOUND);
    }
    ENSURE(hob_goblin_remove_setting(goblin.get(), old) == HOB_RESULT_NOT_FOUND);
    ENSURE(hob_goblin_choice(goblin.get(), old) == 0 && last_error_has("no such setting"));
    measure(goblin.get(), HOB_DECISION_LATEST, fresh, 1);
}

TEST("goblin: a setting that is added again gets its old estimates") {
    const Goblin goblin = make_goblin(16);
    const hob_setting_id setting = add_array(goblin.get(), "s", {0, 1});
    teach(goblin.get(), setting, {1, 2});
    ENSURE_OK(hob_goblin_remove_setting(goblin.get(), setting));
    (void)update(goblin.get());
    const hob_setting_id again = add_array(goblin.get(), "s", {0, 1});
    ENSURE(estimate(goblin.get(), again, 1).count == 40);
}

TEST("goblin: thousands of added and removed settings keep separate estimates") {
    const Goblin goblin = make_goblin(infinity);
    std::map<uint32_t, hob_setting_id> alive;
    Dice dice(11);
    for (uint32_t n = 0; n < 2000; ++n) {
        if (alive.size() > 20 || (!alive.empty() && dice.below(3) == 0)) {
            const auto victim = std::next(alive.begin(), dice.below(static_cast<uint32_t>(alive.size())));
            ENSURE_OK(hob_goblin_remove_setting(goblin.get(), victim->second));
            alive.erase(victim);
        } else {
            alive[n] = add_array(goblin.get(), std::to_string(n), std::vector<double>(1 + n % 7));
        }
        ENSURE(update_details(goblin.get()).setting_count == alive.size());
        for (const auto& [name, setting] : alive) {
            hob_estimate found = HOB_ESTIMATE_INIT;
            ENSURE_OK(hob_goblin_get_estimate(goblin.get(), setting, name % 7, HOB_LANE_GPU, &found));
            ENSURE(hob_goblin_get_estimate(goblin.get(), setting, 1 + name % 7, HOB_LANE_GPU, &found) ==
                   HOB_RESULT_INVALID_ARGUMENT);
        }
    }
}

TEST("goblin: adding beyond the memory limit fails without effect") {
    hob_goblin_desc desc = gpu_budget(16);
    desc.memory_limit = 8000000;
    const Goblin goblin = make_goblin(desc);
    uint32_t count = 0;
    const std::vector<double> values(1000);
    hob_setting_id setting = none;
    hob_result result = HOB_RESULT_OK;
    while (result == HOB_RESULT_OK && count < 1000) {
        result = hob_goblin_add_array(goblin.get(), str(std::to_string(count)), values.data(), 1000, &setting);
        count += result == HOB_RESULT_OK ? 1 : 0;
    }
    ENSURE(result == HOB_RESULT_LIMIT_EXCEEDED && count > 0 && last_error_has("memory limit"));
    ENSURE(hob_goblin_memory_used(goblin.get()) <= desc.memory_limit);
    ENSURE(update_details(goblin.get()).setting_count == count);
}

namespace {

/// A run of all calls that could depend on memory addresses. Returns the choices of every frame.
std::vector<uint32_t> script(bool disturb_the_heap) {
    Dice dice(13);
    std::vector<std::unique_ptr<char[]>> clutter;
    const auto disturb = [&] {
        if (!disturb_the_heap) return;
        for (int n = 0; n < 20; ++n) clutter.push_back(std::make_unique<char[]>(1 + dice.below(5000)));
        for (int n = 0; n < 10; ++n) clutter[dice.below(static_cast<uint32_t>(clutter.size()))].reset();
    };
    disturb();
    const Goblin goblin = make_goblin(5);
    disturb();
    Household household(goblin.get(), 8, 4);
    std::vector<uint32_t> all;
    for (int n = 0; n < 400; ++n) {
        disturb();
        if (n == 100) ENSURE_OK(hob_goblin_set_work(goblin.get(), household.settings()[2], 2));
        if (n == 200) (void)add_array(goblin.get(), "late", {0, 1, 9});
        (void)household.frame();
        const auto choices = household.choices();
        all.insert(all.end(), choices.begin(), choices.end());
    }
    return all;
}

}  // namespace

TEST("goblin: the heap layout changes no choice") {
    const auto plain = script(false);
    ENSURE(script(false) == plain);
    ENSURE(script(true) == plain);
}
