// goblin.h in the plain style: add settings, read choices, measure samples.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "goblin_calls.h"
#include "goblin_support.h"
#include "support.h"

using namespace support;

TEST("goblin: the defaults match the header") {
    const hob_goblin_desc desc = HOB_GOBLIN_DESC_INIT;
    ENSURE(desc.struct_size == sizeof desc && desc.burdens == HOB_BURDENS_LEARNED && desc.tuning == nullptr);
    for (const auto& lane : desc.lanes) ENSURE(lane.limit == 0);
    ENSURE(desc.overrun_probability == 0 && desc.patience == 1 && desc.history == 64);
    ENSURE(desc.max_settings == 65536 && desc.memory_limit == UINT64_MAX);
    const hob_goblin_tuning tuning = HOB_GOBLIN_TUNING_INIT;
    ENSURE(tuning.struct_size == sizeof tuning && tuning.exploration == HOB_EXPLORATION_BOUNDED);
    ENSURE(tuning.sigmas == 3 && tuning.explore_value == 0 && tuning.trial_risk == 0.015);
    ENSURE(tuning.trial_limit == 8 && tuning.measure_quota == 30 && tuning.switch_limit == infinity);
    ENSURE(tuning.dwell == 0 && tuning.precision == 1000 && tuning.node_limit == 256);
    const hob_setting_desc setting = HOB_SETTING_DESC_INIT;
    ENSURE(setting.option_stride == sizeof(hob_option) && setting.options == nullptr && setting.id.len == 0);
}

TEST("goblin: a struct that is zero except for its size has the defaults") {
    const auto in_force = [](const hob_goblin_desc& desc) {
        const Goblin goblin = make_goblin(desc);
        hob_goblin_desc found = HOB_GOBLIN_DESC_INIT;
        hob_goblin_tuning tuning = HOB_GOBLIN_TUNING_INIT;
        ENSURE_OK(hob_goblin_get_desc(goblin.get(), &found));
        ENSURE_OK(hob_goblin_get_tuning(goblin.get(), &tuning));
        std::string bytes(reinterpret_cast<const char*>(&found), sizeof found);
        return bytes.append(reinterpret_cast<const char*>(&tuning), sizeof tuning);
    };
    hob_goblin_tuning tuning = {};
    tuning.struct_size = sizeof tuning;
    hob_goblin_desc zeroed = {};
    zeroed.struct_size = sizeof zeroed;
    zeroed.lanes[HOB_LANE_GPU].limit = 16;
    ENSURE(in_force(zeroed) == in_force(gpu_budget(16)));
    zeroed.tuning = &tuning;
    ENSURE(in_force(zeroed) == in_force(gpu_budget(16)));
}

TEST("goblin: choices of past decisions can be read by id") {
    hob_goblin_desc desc = gpu_budget(16);
    desc.history = 4;
    const Goblin goblin = make_goblin(desc);
    const hob_setting_id setting = add_array(goblin.get(), "s", {0, 1, 2});
    uint32_t choice = 99;
    const auto ask = [&](uint64_t decision) { return hob_goblin_choice_of(goblin.get(), decision, setting, &choice); };
    ENSURE(ask(1) == HOB_RESULT_NOT_FOUND && choice == 99);
    for (uint32_t n = 1; n <= 10; ++n) {
        ENSURE_OK(hob_goblin_pin(goblin.get(), setting, n % 3));
        ENSURE(update(goblin.get()).id == n && hob_goblin_choice(goblin.get(), setting) == n % 3);
    }
    for (const uint64_t id : {7u, 8u, 9u, 10u}) {
        ENSURE_OK(ask(id));
        ENSURE(choice == id % 3);
    }
    ENSURE_OK(ask(HOB_DECISION_LATEST));
    ENSURE(choice == 10 % 3);
    for (const uint64_t id : {uint64_t{1}, uint64_t{6}, uint64_t{11}, UINT64_MAX - 1}) {
        ENSURE(ask(id) == HOB_RESULT_NOT_FOUND && choice == 10 % 3);
    }
    const hob_setting_id late = add_array(goblin.get(), "late", {0, 1});
    ENSURE(hob_goblin_choice_of(goblin.get(), 10, late, &choice) == HOB_RESULT_NOT_FOUND);
    ENSURE(hob_goblin_choice_of(goblin.get(), 10, none, &choice) == HOB_RESULT_NOT_FOUND);
}

TEST("goblin: one call returns all choices of a decision by setting index") {
    const Goblin goblin = make_goblin(16);
    const hob_setting_id first = add_array(goblin.get(), "first", {0, 1, 2}), gone = add_array(goblin.get(), "gone", {0});
    const hob_setting_id last = add_array(goblin.get(), "last", {0, 1, 2});
    uint32_t choices[5] = {7, 7, 7, 7, 7}, count = 0;
    uint64_t decision = 0;
    ENSURE_OK(hob_goblin_remove_setting(goblin.get(), gone));
    ENSURE_OK(hob_goblin_choices(goblin.get(), HOB_DECISION_LATEST, choices, 5, &count, &decision));
    ENSURE(count == 3 && decision == 0 && choices[first.index1 - 1] == 0 && choices[1] == HOB_CHOICE_NONE && choices[3] == 7);
    for (uint32_t n = 1; n <= 3; ++n) {
        ENSURE_OK(hob_goblin_pin(goblin.get(), first, n % 3));
        ENSURE_OK(hob_goblin_pin(goblin.get(), last, (n + 1) % 3));
        (void)update(goblin.get());
    }
    for (const uint64_t id : {uint64_t{2}, uint64_t{3}, HOB_DECISION_LATEST}) {
        ENSURE_OK(hob_goblin_choices(goblin.get(), id, choices, 5, nullptr, &decision));
        ENSURE(decision == (id == HOB_DECISION_LATEST ? 3 : id) && choices[0] == decision % 3 && choices[2] == (decision + 1) % 3);
    }
    ENSURE(hob_goblin_choices(goblin.get(), 4, choices, 5, &count, &decision) == HOB_RESULT_NOT_FOUND && decision == 3);
    choices[0] = 7;
    ENSURE(hob_goblin_choices(goblin.get(), HOB_DECISION_LATEST, choices, 2, &count, &decision) == HOB_RESULT_BUFFER_TOO_SMALL);
    ENSURE(count == 3 && choices[0] == 7);
}

TEST("goblin: every call with valid arguments works") {
    const Goblin goblin = make_goblin(16);
    const hob_setting_id setting = add_array(goblin.get(), "shadows", {0, 4});
    (void)update(goblin.get());
    expect_all(exclusive_calls(setting), goblin.get(), HOB_RESULT_OK);
    expect_all(const_calls(setting), goblin.get(), HOB_RESULT_OK);
    ENSURE(hob_goblin_memory_used(goblin.get()) > 0);
    ENSURE_OK(hob_goblin_remove_setting(goblin.get(), setting));
}

TEST("goblin: known burdens keep the frame inside its budget and use it") {
    const Goblin goblin = make_goblin(4);
    Household household(goblin.get(), 6, 4);
    for (int n = 0; n < 1000; ++n) (void)household.frame();
    for (int n = 0; n < 200; ++n) {
        (void)household.frame();
        const hob_decision_details decision = details(goblin.get());
        ENSURE(decision.id == 1001u + static_cast<uint32_t>(n));
        ENSURE(decision.feasible == 1 && decision.lanes[HOB_LANE_GPU].excess == 0 && decision.setting_count == 6);
        const hob_decision_lane& gpu = decision.lanes[HOB_LANE_GPU];
        ENSURE(gpu.capacity == 4 && gpu.burden <= 4 + 1e-9 && close(gpu.burden, gpu.mean + 3 * gpu.deviation));
        ENSURE(gpu.mean > 3 && gpu.lightest_mean <= gpu.mean && gpu.highest_mean >= gpu.mean);
        ENSURE(decision.lanes[HOB_LANE_FRAME].mean == 0);
        ENSURE(decision.lightest_value <= decision.value && decision.value <= decision.highest_value);
        double value = 0;
        const auto choices = household.choices();
        for (size_t s = 0; s < choices.size(); ++s) value += choices[s] * (1.0 + static_cast<double>(s % 5));
        ENSURE(close(decision.value, value));
    }
}

TEST("goblin: an ample limit chooses the most valuable options") {
    const Goblin goblin = make_goblin(100);
    Household household(goblin.get(), 5, 4);
    for (int n = 0; n < 300; ++n) (void)household.frame();
    ENSURE(household.choices() == std::vector<uint32_t>(5, 3));
}

TEST("goblin: without a limit the most valuable option is chosen at any burden") {
    const Goblin goblin = make_goblin(infinity);
    const hob_setting_id setting = add_array(goblin.get(), "s", {0, 9, 3});
    teach(goblin.get(), setting, {1, 1000, 10});
    (void)update(goblin.get());
    ENSURE(hob_goblin_choice(goblin.get(), setting) == 1);
}

TEST("goblin: the default is chosen until burdens are known") {
    const Goblin goblin = make_goblin(16);
    const auto options = worth({0, 4, 6});
    hob_setting_desc desc = described("shadows", options);
    desc.default_choice = 1;
    const hob_setting_id setting = add_setting(goblin.get(), desc);
    ENSURE(hob_goblin_choice(goblin.get(), setting) == 1);
    for (int n = 0; n < 10; ++n) {
        ENSURE(update_details(goblin.get()).setting_count == 1);
        ENSURE(hob_goblin_choice(goblin.get(), setting) == 1);
    }
}

TEST("goblin: collect_samples and decide are the two halves of update") {
    const Goblin whole = make_goblin(3), halves = make_goblin(3);
    const hob_setting_id a = add_array(whole.get(), "s", {0, 2, 5}), b = add_array(halves.get(), "s", {0, 2, 5});
    for (int n = 0; n < 200; ++n) {
        const hob_decision one = update(whole.get());
        ENSURE_OK(hob_goblin_collect_samples(halves.get()));
        hob_decision two = HOB_DECISION_INIT;
        ENSURE_OK(hob_goblin_decide(halves.get(), &two));
        ENSURE(one.id == two.id && one.value == two.value && one.trial_count == two.trial_count);
        const uint32_t choice = hob_goblin_choice(whole.get(), a);
        ENSURE(choice == hob_goblin_choice(halves.get(), b));
        measure(whole.get(), one.id, a, 1.0 + choice);
        measure(halves.get(), two.id, b, 1.0 + choice);
    }
}

TEST("goblin: helper functions add settings with the given values") {
    const Goblin goblin = make_goblin(infinity);
    hob_setting_id binary = none, rest = none, incentive = none;
    ENSURE_OK(hob_goblin_add_binary(goblin.get(), HOB_STR("bloom"), 2, &binary));
    ENSURE_OK(hob_goblin_add_fixed_burden(goblin.get(), HOB_STR("rest"), &rest));
    ENSURE_OK(hob_goblin_add_fixed_incentive(goblin.get(), HOB_STR("60 fps"), 10, &incentive));
    const hob_setting_id array = add_array(goblin.get(), "fog", {1, 4});
    for (int n = 0; n < 200; ++n) {
        (void)update(goblin.get());
        measure(goblin.get(), HOB_DECISION_LATEST, binary, 1);
        measure(goblin.get(), HOB_DECISION_LATEST, rest, 3);
        measure(goblin.get(), HOB_DECISION_LATEST, array, 2);
    }
    const hob_decision_details decision = update_details(goblin.get());
    ENSURE(decision.setting_count == 4 && decision.highest_value == 16);
    ENSURE(hob_goblin_choice(goblin.get(), binary) == 1 && hob_goblin_choice(goblin.get(), array) == 1);
    ENSURE(decision.value == 16 && close(decision.lanes[HOB_LANE_GPU].mean, 6, 1e-6));
    const uint64_t ungoverned = statistics(goblin.get()).ungoverned;
    measure(goblin.get(), HOB_DECISION_LATEST, incentive, 5);
    ENSURE(statistics(goblin.get()).ungoverned == ungoverned + 1);
}

TEST("goblin: helper functions take the value of off, a default, and the value of a burden") {
    const Goblin goblin = make_goblin(10);
    hob_setting_id binary = none, array = none, rest = none;
    ENSURE_OK(hob_goblin_add_binary_with_default(goblin.get(), HOB_STR("grain"), 3, -2, 1, &binary));
    const double values[] = {1, 5, 2};
    ENSURE_OK(hob_goblin_add_array_with_default(goblin.get(), HOB_STR("fog"), values, 3, 2, &array));
    ENSURE_OK(hob_goblin_add_fixed_burden_with_value(goblin.get(), HOB_STR("rest"), 7, &rest));
    // The defaults while nothing is known: -2, 2 and 7.
    const hob_decision first = update(goblin.get());
    ENSURE(hob_goblin_choice(goblin.get(), binary) == 1 && hob_goblin_choice(goblin.get(), array) == 2);
    ENSURE(first.value == 7);
    for (int n = 0; n < 400; ++n) {
        measure(goblin.get(), HOB_DECISION_LATEST, binary, 1);
        measure(goblin.get(), HOB_DECISION_LATEST, array, 1);
        measure(goblin.get(), HOB_DECISION_LATEST, rest, 1);
        (void)update(goblin.get());
    }
    ENSURE(hob_goblin_choice(goblin.get(), binary) == 0 && hob_goblin_choice(goblin.get(), array) == 1);
    ENSURE(update(goblin.get()).value == 15);
    hob_setting_id bad = none;
    ENSURE(hob_goblin_add_binary_with_default(goblin.get(), HOB_STR("b"), 0, 1, 2, &bad) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(last_error_has("default choice 2 of 2"));
    ENSURE(hob_goblin_add_array_with_default(goblin.get(), HOB_STR("c"), values, 3, UINT32_MAX, &bad) ==
           HOB_RESULT_INVALID_ARGUMENT);
}

TEST("goblin: a late sample is booked on the choice of its own frame") {
    const Goblin goblin = make_goblin(infinity);
    const hob_setting_id setting = add_array(goblin.get(), "s", {0, 1});
    const uint64_t first = update(goblin.get()).id;
    ENSURE_OK(hob_goblin_report_applied(goblin.get(), first, setting, 0));
    const uint64_t second = update(goblin.get()).id;
    ENSURE_OK(hob_goblin_report_applied(goblin.get(), second, setting, 1));
    measure(goblin.get(), first, setting, 1);
    measure(goblin.get(), second, setting, 7);
    measure(goblin.get(), first, setting, 1);
    ENSURE(estimate(goblin.get(), setting, 0).count == 2 && close(estimate(goblin.get(), setting, 0).mean, 1));
    ENSURE(estimate(goblin.get(), setting, 1).count == 1 && close(estimate(goblin.get(), setting, 1).mean, 7));
}

TEST("goblin: past decisions are kept for the configured history length") {
    hob_goblin_desc desc = gpu_budget(16);
    desc.history = 3;
    const Goblin goblin = make_goblin(desc);
    const hob_setting_id setting = add_array(goblin.get(), "s", {0, 1});
    for (int n = 0; n < 10; ++n) (void)update(goblin.get());
    for (const uint64_t id : {8u, 9u, 10u}) measure(goblin.get(), id, setting, 1);
    for (const uint64_t id : {uint64_t{1}, uint64_t{7}, uint64_t{11}, UINT64_MAX - 1}) {
        ENSURE(hob_goblin_measure(goblin.get(), id, setting, HOB_LANE_GPU, 1, HOB_SAMPLE_QUALITY_OK) == HOB_RESULT_NOT_FOUND);
        ENSURE(last_error_has("history"));
    }
    ENSURE(statistics(goblin.get()).refused == 4 && statistics(goblin.get()).samples == 3);
}

TEST("goblin: burdens are learned per unit of work") {
    const Goblin goblin = make_goblin(infinity);
    const hob_setting_id setting = add_array(goblin.get(), "s", {0});
    ENSURE_OK(hob_goblin_set_work(goblin.get(), setting, 10));
    for (int n = 0; n < 100; ++n) {
        (void)update(goblin.get());
        measure(goblin.get(), HOB_DECISION_LATEST, setting, 5);
    }
    ENSURE(close(estimate(goblin.get(), setting, 0).mean, 5));
    ENSURE_OK(hob_goblin_set_work(goblin.get(), setting, 40));
    ENSURE(close(estimate(goblin.get(), setting, 0).mean, 20));
    ENSURE(close(update_details(goblin.get()).lanes[HOB_LANE_GPU].mean, 20));
}

TEST("goblin: a value can change from frame to frame") {
    const Goblin goblin = make_goblin(10);
    const hob_setting_id setting = add_array(goblin.get(), "s", {0, 5});
    teach(goblin.get(), setting, {1, 2});
    (void)update(goblin.get());
    ENSURE(hob_goblin_choice(goblin.get(), setting) == 1);
    ENSURE_OK(hob_goblin_set_value(goblin.get(), setting, 1, -5));
    ENSURE(update(goblin.get()).value == 0);
    ENSURE(hob_goblin_choice(goblin.get(), setting) == 0);
}

TEST("goblin: an option is not chosen until it is ready") {
    const Goblin goblin = make_goblin(10);
    const hob_setting_id setting = add_array(goblin.get(), "s", {0, 5});
    teach(goblin.get(), setting, {1, 2});
    ENSURE_OK(hob_goblin_set_ready(goblin.get(), setting, 1, 0));
    (void)update(goblin.get());
    ENSURE(hob_goblin_choice(goblin.get(), setting) == 0);
    ENSURE_OK(hob_goblin_set_ready(goblin.get(), setting, 1, 7));
    (void)update(goblin.get());
    ENSURE(hob_goblin_choice(goblin.get(), setting) == 1);
}

TEST("goblin: statistics count accepted and dropped samples") {
    const Goblin goblin = make_goblin(10);
    const hob_setting_id setting = add_array(goblin.get(), "s", {0, 1});
    (void)update(goblin.get());
    for (const hob_sample_quality sample : {HOB_SAMPLE_QUALITY_CAPPED, HOB_SAMPLE_QUALITY_HITCH, HOB_SAMPLE_QUALITY_PAUSED}) {
        ENSURE_OK(hob_goblin_measure(goblin.get(), HOB_DECISION_LATEST, setting, HOB_LANE_GPU, 99, sample));
        ENSURE_OK(hob_goblin_measure_total(goblin.get(), HOB_DECISION_LATEST, HOB_LANE_GPU, 99, sample));
    }
    ENSURE_OK(hob_goblin_measure(goblin.get(), HOB_DECISION_LATEST, setting, HOB_LANE_USER2, 1, HOB_SAMPLE_QUALITY_OK));
    ENSURE_OK(hob_goblin_measure_total(goblin.get(), HOB_DECISION_LATEST, HOB_LANE_GPU, 9, HOB_SAMPLE_QUALITY_OK));
    ENSURE_OK(hob_goblin_measure_total(goblin.get(), HOB_DECISION_LATEST, HOB_LANE_GPU, 11, HOB_SAMPLE_QUALITY_OK));
    measure(goblin.get(), HOB_DECISION_LATEST, setting, 2);
    const hob_goblin_statistics found = statistics(goblin.get());
    ENSURE(found.setting_count == 1 && found.decisions == 1 && found.samples == 1 && found.flagged == 6);
    ENSURE(found.ungoverned == 1 && found.refused == 0 && found.totals == 2 && found.totals_over == 1);
    ENSURE(found.anomaly == 0 && found.past_ratio == 1);
    ENSURE(found.memory_used == hob_goblin_memory_used(goblin.get()));
    ENSURE(estimate(goblin.get(), setting, 0).count == 1);
}

TEST("goblin: a frame above its typical burden is an anomaly") {
    const Goblin goblin = make_goblin(10);
    const hob_setting_id setting = add_array(goblin.get(), "s", {0});
    for (int n = 0; n < 100; ++n) {
        (void)update(goblin.get());
        measure(goblin.get(), HOB_DECISION_LATEST, setting, 2);
    }
    (void)update(goblin.get());
    ENSURE(close(statistics(goblin.get()).anomaly, 1) && close(statistics(goblin.get()).recent_anomaly, 1));
    measure(goblin.get(), HOB_DECISION_LATEST, setting, 6);
    (void)update(goblin.get());
    ENSURE(close(statistics(goblin.get()).anomaly, 3));
    ENSURE(close(statistics(goblin.get()).recent_anomaly, 1 + 2.0 / 30));
}

TEST("goblin: relative burdens and frame totals suffice to keep the limit") {
    hob_goblin_desc desc = gpu_budget(16);
    desc.burdens = HOB_BURDENS_RELATIVE;
    const Goblin goblin = make_goblin(desc);
    std::vector<hob_setting_id> settings;
    const std::vector<hob_option> options = {{0, 1, 0, 0}, {2, 2, 0, 0}, {3, 4, 0, 0}};
    for (const char* id : {"a", "b", "c", "d"}) settings.push_back(add_setting(goblin.get(), described(id, options)));
    int over = 0;
    double value = 0;
    for (int n = 0; n < 1000; ++n) {
        const hob_decision decision = update(goblin.get());
        double total = 0;
        for (const hob_setting_id setting : settings) {
            total += 1.7 * options[hob_goblin_choice(goblin.get(), setting)].relative_burden;
        }
        ENSURE_OK(hob_goblin_measure_total(goblin.get(), decision.id, HOB_LANE_GPU, total, HOB_SAMPLE_QUALITY_OK));
        if (n >= 500) over += total > 16 ? 1 : 0;
        if (n >= 500) value += decision.value / 500;
    }
    ENSURE(over < 50 && value > 6);
}

TEST("goblin: an infeasible decision chooses the lightest options and reports the excess") {
    const Goblin goblin = make_goblin(1);
    const hob_setting_id setting = add_array(goblin.get(), "s", {0, 5});
    teach(goblin.get(), setting, {3, 9});
    const hob_decision_details decision = update_details(goblin.get());
    ENSURE(decision.feasible == 0 && close(decision.lanes[HOB_LANE_GPU].excess, 2, 1e-6));
    ENSURE(hob_goblin_choice(goblin.get(), setting) == 0);
}

namespace {

/// Number of deviations that are kept free for this share of late frames.
double sigmas_for(double overrun_probability) {
    hob_goblin_desc desc = gpu_budget(1000);
    desc.overrun_probability = overrun_probability;
    const Goblin goblin = make_goblin(desc);
    Household household(goblin.get(), 4, 3);
    for (int n = 0; n < 300; ++n) (void)household.frame();
    const hob_decision_lane gpu = details(goblin.get()).lanes[HOB_LANE_GPU];
    ENSURE(details(goblin.get()).feasible == 1 && gpu.deviation > 0);
    return (gpu.burden - gpu.mean) / gpu.deviation;
}

}  // namespace

TEST("goblin: fewer allowed late frames reserve more deviations") {
    ENSURE(sigmas_for(0.001) > sigmas_for(0.01));
    ENSURE(sigmas_for(0.01) > sigmas_for(0.1));
    ENSURE(sigmas_for(0.1) > 0);
}

namespace {

/// Frames until one setting makes room for another whose value is now a tenth higher.
int frames_until_a_gain_is_taken(double patience) {
    Budget budget = tunable(4);
    budget.desc.patience = patience;
    budget.tuning.sigmas = no_sigmas;
    const Goblin goblin = make_goblin(budget);
    const hob_setting_id a = add_array(goblin.get(), "a", {0, 10}), b = add_array(goblin.get(), "b", {0, 9});
    teach(goblin.get(), a, {1, 3});
    teach(goblin.get(), b, {1, 3});
    for (int n = 0; n < 300; ++n) (void)update(goblin.get());
    ENSURE(hob_goblin_choice(goblin.get(), a) == 1 && hob_goblin_choice(goblin.get(), b) == 0);
    ENSURE_OK(hob_goblin_set_value(goblin.get(), b, 1, 11));
    int frames = 0;
    do {
        (void)update(goblin.get());
        ++frames;
    } while (hob_goblin_choice(goblin.get(), b) != 1 && frames < 1000);
    return frames;
}

}  // namespace

TEST("goblin: the wait for a better choice is proportional to patience") {
    ENSURE(frames_until_a_gain_is_taken(no_patience) == 1);
    // Option b, worth 11, replaces option a, worth 10: a gain of 1. The search finds it within eight frames.
    const int half = frames_until_a_gain_is_taken(0.5), once = frames_until_a_gain_is_taken(1);
    ENSURE(once >= 21 && once < 900);
    ENSURE(once >= 2 * half - 16 && once <= 2 * half + 16);
}

TEST("goblin: the gap never exceeds the accepted gap") {
    Budget budget = tunable(4);
    budget.tuning.precision = 10;
    budget.desc.patience = no_patience;  // patience can hold choices that are farther off
    const Goblin goblin = make_goblin(budget);
    Household household(goblin.get(), 8, 4);
    for (int n = 0; n < 300; ++n) ENSURE(household.frame().gap <= 0.1 + 1e-9);
}

TEST("goblin: optimistic exploration tries the most valuable option after the first sample") {
    Budget budget = tunable(4);
    budget.tuning.exploration = HOB_EXPLORATION_OPTIMISTIC;
    const Goblin goblin = make_goblin(budget);
    Household household(goblin.get(), 3, 3);
    for (int n = 0; n < 10; ++n) (void)household.frame();
    ENSURE(household.choices() == std::vector<uint32_t>(3, 2));
}
