// goblin.h, the host's controls: floors and ceilings, settings out of the game, windows, the price of changes.
#include <algorithm>
#include <limits>
#include <vector>

#include "support.h"

using namespace support;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void measure(hob_goblin* goblin, uint64_t decision, hob_setting_id setting, double burden) {
    ENSURE_OK(hob_goblin_measure(goblin, decision, setting, HOB_LANE_GPU, burden, HOB_SAMPLE_QUALITY_OK));
}

/// Two ladders with known burdens.
struct Ladders {
    Goblin goblin;
    hob_setting_id a, b;

    explicit Ladders(const Budget& budget) : goblin(make_goblin(budget)) {
        Knowledge().add("a", {1, 2, 4, 8}).add("b", {1, 2, 4, 8}).give(goblin.get());
        a = add_array(goblin.get(), "a", {0, 3, 6, 9});
        b = add_array(goblin.get(), "b", {0, 2, 4, 6});
    }
    uint32_t of(hob_setting_id setting) const { return hob_goblin_choice(goblin.get(), setting); }
};

}  // namespace

TEST("goblin: a pin holds and other settings are lowered for it") {
    for (const double patience : {no_patience, 1.0}) {
        Budget budget = exact(9);
        budget.desc.patience = patience;
        const Ladders ladders(budget);
        ENSURE(update(ladders.goblin.get()).value == 10 || patience > 0);
        for (uint32_t option = 0; option < 4; ++option) {
            ENSURE_OK(hob_goblin_pin(ladders.goblin.get(), ladders.b, option));
            hob_decision decision = HOB_DECISION_INIT;
            for (int n = 0; n < 60; ++n) {
                decision = update(ladders.goblin.get());
                ENSURE(ladders.of(ladders.b) == option && decision.feasible == 1);
            }
            const uint32_t beside[] = {3, 2, 2, 0};
            ENSURE(ladders.of(ladders.a) == beside[option]);
        }
        ENSURE_OK(hob_goblin_set_range(ladders.goblin.get(), ladders.b, 0, UINT32_MAX));
        for (int n = 0; n < 60; ++n) (void)update(ladders.goblin.get());
        ENSURE(ladders.of(ladders.a) == 2 && ladders.of(ladders.b) == 2);
    }
}

TEST("goblin: a floor and a ceiling hold even if infeasible") {
    const Ladders ladders(exact(9));
    hob_goblin* const goblin = ladders.goblin.get();
    ENSURE_OK(hob_goblin_set_range(goblin, ladders.a, 0, 1));
    ENSURE(update(goblin).value == 7 && ladders.of(ladders.a) == 1 && ladders.of(ladders.b) == 2);
    ENSURE_OK(hob_goblin_set_range(goblin, ladders.b, 3, UINT32_MAX));
    ENSURE(update(goblin).value == 6 && ladders.of(ladders.a) == 0 && ladders.of(ladders.b) == 3);
    ENSURE_OK(hob_goblin_set_range(goblin, ladders.a, 3, 9));
    const hob_decision_details decision = update_details(goblin);
    ENSURE(decision.feasible == 0 && close(decision.lanes[HOB_LANE_GPU].excess, 7));
    ENSURE(ladders.of(ladders.a) == 3 && ladders.of(ladders.b) == 3);
}

TEST("goblin: only ready options of a range are chosen, or its first if none is ready") {
    const Ladders ladders(exact(100));
    hob_goblin* const goblin = ladders.goblin.get();
    ENSURE_OK(hob_goblin_set_range(goblin, ladders.a, 1, 2));
    ENSURE_OK(hob_goblin_set_ready(goblin, ladders.a, 2, 0));
    (void)update(goblin);
    ENSURE(ladders.of(ladders.a) == 1);
    ENSURE_OK(hob_goblin_set_ready(goblin, ladders.a, 1, 0));
    (void)update(goblin);
    ENSURE(ladders.of(ladders.a) == 1);
    ENSURE_OK(hob_goblin_set_ready(goblin, ladders.a, 2, 1));
    (void)update(goblin);
    ENSURE(ladders.of(ladders.a) == 2);
}

TEST("goblin: options above a ceiling are never tried") {
    const Goblin goblin = make_goblin(100);
    const hob_setting_id setting = add_array(goblin.get(), "s", {0, 1, 2, 3});
    ENSURE_OK(hob_goblin_set_range(goblin.get(), setting, 0, 1));
    for (int n = 0; n < 300; ++n) {
        (void)update(goblin.get());
        ENSURE(hob_goblin_choice(goblin.get(), setting) <= 1);
        measure(goblin.get(), HOB_DECISION_LATEST, setting, 1);
    }
    ENSURE(hob_goblin_choice(goblin.get(), setting) == 1);
}

TEST("goblin: decisions work after options are replaced by fewer than the floor") {
    const Ladders ladders(exact(100));
    ENSURE_OK(hob_goblin_set_range(ladders.goblin.get(), ladders.a, 3, 3));
    const auto two = worth({0, 1});
    ENSURE_OK(hob_goblin_set_options(ladders.goblin.get(), ladders.a, two.data(), sizeof two[0], 2));
    (void)update(ladders.goblin.get());
    ENSURE(ladders.of(ladders.a) == 1);
}

TEST("goblin: a disabled setting has no burden and no value and keeps its choice") {
    const Ladders ladders(exact(9));
    hob_goblin* const goblin = ladders.goblin.get();
    const uint64_t before = update(goblin).id;
    ENSURE(ladders.of(ladders.a) == 2);
    ENSURE_OK(hob_goblin_set_enabled(goblin, ladders.a, 0));
    const hob_decision_details without = update_details(goblin);
    ENSURE(without.setting_count == 1 && without.value == 6 && close(without.lanes[HOB_LANE_GPU].mean, 8));
    ENSURE(ladders.of(ladders.a) == 2 && ladders.of(ladders.b) == 3);
    // Samples of the frames without it are refused. Samples of earlier frames are accepted.
    ENSURE(hob_goblin_measure(goblin, without.id, ladders.a, HOB_LANE_GPU, 8, HOB_SAMPLE_QUALITY_OK) == HOB_RESULT_NOT_FOUND);
    ENSURE(last_error_has("was disabled") && statistics(goblin).refused == 1);
    measure(goblin, before, ladders.a, 4);
    ENSURE(estimate(goblin, ladders.a, 2).count == 1);
    ENSURE(hob_goblin_report_applied(goblin, without.id, ladders.a, 0) == HOB_RESULT_NOT_FOUND);
    ENSURE_OK(hob_goblin_set_enabled(goblin, ladders.a, 7));
    const hob_decision_details again = update_details(goblin);
    ENSURE(again.setting_count == 2 && ladders.of(ladders.a) == 2 && ladders.of(ladders.b) == 2);
    measure(goblin, HOB_DECISION_LATEST, ladders.a, 4);
}

namespace {

/// Six settings that take 9 of 9.2 ms. Their better options have no samples.
struct Crowded {
    Goblin goblin;
    std::vector<hob_setting_id> settings;

    explicit Crowded(uint32_t trial_limit = 1) {
        Budget budget = tunable(9.2);
        budget.tuning.sigmas = no_sigmas;
        budget.tuning.trial_limit = trial_limit;
        goblin = make_goblin(budget);
        for (const char* id : {"a", "b", "c", "d", "e", "f"}) settings.push_back(add_array(goblin.get(), id, {0, 1}));
    }
    hob_decision frame() const {
        const hob_decision decision = update(goblin.get());
        for (const hob_setting_id setting : settings)
            measure(goblin.get(), decision.id, setting, hob_goblin_choice(goblin.get(), setting) == 0 ? 1.5 : 4);
        return decision;
    }
    uint32_t trials(int frames) const {
        uint32_t most = 0;
        for (int n = 0; n < frames; ++n) most = std::max(most, frame().trial_count);
        return most;
    }
};

}  // namespace

TEST("goblin: an exploration window tries many options at once without free capacity") {
    const Crowded crowded;
    ENSURE(crowded.trials(60) == 0);
    ENSURE_OK(hob_goblin_open_trial_window(crowded.goblin.get(), 3, 4));
    ENSURE(crowded.trials(3) >= 4);
    for (const hob_setting_id setting : crowded.settings)
        ENSURE(estimate(crowded.goblin.get(), setting, 1).count > 0 &&
               close(estimate(crowded.goblin.get(), setting, 1).mean, 4));
    ENSURE(crowded.trials(30) == 0);
}

TEST("goblin: a window can be closed and has no effect without exploration") {
    const Crowded crowded, incurious(HOB_NO_TRIALS);
    ENSURE(crowded.trials(30) == 0);
    for (const Crowded* one : {&crowded, &incurious}) ENSURE_OK(hob_goblin_open_trial_window(one->goblin.get(), 30, 4));
    ENSURE_OK(hob_goblin_open_trial_window(crowded.goblin.get(), 0, 4));
    ENSURE(crowded.trials(10) == 0 && incurious.trials(10) == 0);
    // A share of 0 raises only the number of trials, not the limit.
    ENSURE_OK(hob_goblin_open_trial_window(crowded.goblin.get(), 30, 0));
    ENSURE(crowded.trials(10) == 0);
}

namespace {

/// Frames until one setting makes room for another whose value is now a tenth higher.
int frames_until_an_exchange(double scale, double switch_burden) {
    Budget budget = tunable(4);
    budget.tuning.trial_limit = HOB_NO_TRIALS;
    budget.tuning.sigmas = no_sigmas;
    const Goblin goblin = make_goblin(budget);
    Knowledge().add("a", {1, 3}).add("b", {1, 3}).give(goblin.get());
    const auto options = worth({0, 10});
    hob_setting_desc setting = described("a", options);
    setting.switch_burden = switch_burden;
    const hob_setting_id a = add_setting(goblin.get(), setting);
    setting.id = HOB_STR("b");
    const hob_setting_id b = add_setting(goblin.get(), setting);
    ENSURE_OK(hob_goblin_set_value(goblin.get(), b, 1, 9));
    for (int n = 0; n < 200; ++n) (void)update(goblin.get());
    ENSURE(hob_goblin_choice(goblin.get(), a) == 1 && hob_goblin_choice(goblin.get(), b) == 0);
    ENSURE_OK(hob_goblin_set_switch_scale(goblin.get(), scale));
    ENSURE_OK(hob_goblin_set_value(goblin.get(), b, 1, 11));
    int frames = 0;
    do {
        (void)update(goblin.get());
        ++frames;
    } while (hob_goblin_choice(goblin.get(), b) != 1 && frames < 1000);
    ENSURE(hob_goblin_choice(goblin.get(), a) == 0);
    return frames;
}

/// Maximum number of frames between two searches for a better choice.
constexpr int until_seen = 8;

}  // namespace

TEST("goblin: the cost of changes can be scaled per frame") {
    // Option b, worth 11, replaces option a, worth 10: a gain of 1 in each frame.
    const int once = frames_until_an_exchange(1, 0);
    ENSURE(once >= 21 - 1 && once < 900);
    for (const double scale : {0.0, 0.25, 0.5}) {
        const int frames = frames_until_an_exchange(scale, 0);
        ENSURE(frames >= (once - until_seen) * scale - 1 && frames <= once * scale + until_seen + 1);
    }
}

TEST("goblin: a change must repay its switch burden unless changes are free") {
    // A millisecond is worth about 5. Two settings lose 4 ms each: a cost of 40, or 10 at a scale of a quarter.
    const int more = frames_until_an_exchange(0.25, 4) - frames_until_an_exchange(0.25, 0);
    ENSURE(more >= 10 - until_seen && more <= 13 + until_seen);
    ENSURE(frames_until_an_exchange(0, 4) <= until_seen + 1);
}

TEST("goblin: switch burden is limited per decision and the remaining changes follow") {
    Budget budget = tunable(6);
    budget.tuning.trial_limit = HOB_NO_TRIALS;
    budget.tuning.sigmas = no_sigmas;
    budget.tuning.switch_limit = 2.5;
    const Goblin goblin = make_goblin(budget);
    std::vector<hob_setting_id> settings;
    Knowledge knowledge;
    for (const char* id : {"a", "b", "c", "d", "e", "f"}) knowledge.add(id, {1, 3});
    knowledge.give(goblin.get());
    const auto options = worth({0, 1});
    for (const char* id : {"a", "b", "c", "d", "e", "f"}) {
        hob_setting_desc setting = described(id, options);
        setting.switch_burden = 1;
        settings.push_back(add_setting(goblin.get(), setting));
    }
    for (int n = 0; n < 50; ++n) (void)update(goblin.get());
    ENSURE(update(goblin.get()).value == 0);
    budget.desc.lanes[HOB_LANE_GPU].limit = 19;
    set_desc(goblin.get(), budget);
    uint32_t changes = 0;
    for (int n = 0; n < 200; ++n) {
        const hob_decision decision = update(goblin.get());
        ENSURE(decision.change_count <= 2);
        changes += decision.change_count;
    }
    ENSURE(changes == 6 && update(goblin.get()).value == 6);
    // Changes that a limit requires are made at once, at any cost.
    budget.desc.lanes[HOB_LANE_GPU].limit = 6;
    set_desc(goblin.get(), budget);
    const hob_decision decision = update(goblin.get());
    ENSURE(decision.change_count == 6 && decision.feasible == 1);
}

TEST("goblin: a trim setting uses each frame's slack while other settings stay unchanged") {
    Budget budget = tunable(12);
    budget.tuning.trial_limit = HOB_NO_TRIALS;
    const Goblin goblin = make_goblin(budget);
    std::vector<double> burdens, values;
    for (int n = 0; n <= 40; ++n) {
        burdens.push_back(2 + 0.125 * n);
        values.push_back(0.05 * n);
    }
    Knowledge().add("resolution", burdens).add("a", {1, 3}).add("b", {1, 3}).add("scene", {2}).give(goblin.get());
    std::vector<hob_option> ladder;
    for (const double value : values) ladder.push_back({value, 0, 0, 0});
    hob_setting_desc trim = described("resolution", ladder);
    trim.flags = HOB_SETTING_TRIM;
    const hob_setting_id resolution = add_setting(goblin.get(), trim);
    const hob_setting_id a = add_array(goblin.get(), "a", {0, 5}), b = add_array(goblin.get(), "b", {0, 5});
    hob_setting_id scene = {0, 0};
    ENSURE_OK(hob_goblin_add_fixed_burden(goblin.get(), HOB_STR("scene"), &scene));
    for (int n = 0; n < 20; ++n) (void)update(goblin.get());
    ENSURE(hob_goblin_choice(goblin.get(), a) == 1 && hob_goblin_choice(goblin.get(), b) == 1);
    Dice dice(17);
    std::vector<bool> seen(41);
    for (int n = 0; n < 500; ++n) {
        const double work = 0.5 + 1.4 * dice.share();
        ENSURE_OK(hob_goblin_set_work(goblin.get(), scene, work));
        const hob_decision decision = update(goblin.get());
        ENSURE(hob_goblin_choice(goblin.get(), a) == 1 && hob_goblin_choice(goblin.get(), b) == 1);
        ENSURE(decision.feasible == 1);
        const double free = 12 - 6 - 2 * work, step = 0.125;
        const uint32_t choice = hob_goblin_choice(goblin.get(), resolution);
        ENSURE(burdens[choice] <= free + 1e-9 && (choice == 40 || burdens[choice] + step > free - 1e-9));
        seen[choice] = true;
    }
    ENSURE(std::count(seen.begin(), seen.end(), true) > 10);
}
