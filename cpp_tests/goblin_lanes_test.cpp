// goblin.h with several lanes: each limit applies by itself, and decisions include costs that only totals show.
#include <limits>
#include <vector>

#include "support.h"

using namespace support;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Budget two_lanes(Budget budget, double gpu, double game_thread) {
    budget.desc.lanes[HOB_LANE_GPU].limit = gpu;
    budget.desc.lanes[HOB_LANE_GAME_THREAD].limit = game_thread;
    return budget;
}

void measure_on(hob_goblin* goblin, hob_setting_id setting, hob_lane lane, double burden) {
    ENSURE_OK(hob_goblin_measure(goblin, HOB_DECISION_LATEST, setting, lane, burden, HOB_SAMPLE_QUALITY_OK));
}

void total_on(hob_goblin* goblin, hob_lane lane, double burden) {
    ENSURE_OK(hob_goblin_measure_total(goblin, HOB_DECISION_LATEST, lane, burden, HOB_SAMPLE_QUALITY_OK));
}

}  // namespace

TEST("goblin: each of two lanes can be the limiting one") {
    const Goblin goblin = make_goblin(two_lanes(exact(10), 10, 10));
    Knowledge().add("s", {1, 8, 1}).add("s@game_thread", {1, 1, 8}).give(goblin.get());
    const hob_setting_id setting = add_array(goblin.get(), "s", {0, 5, 4});
    struct Case {
        double gpu, game_thread;
        uint32_t choice, feasible;
    };
    for (const Case& one : {Case{10, 10, 1, 1}, Case{4, 10, 2, 1}, Case{10, 4, 1, 1}, Case{4, 4, 0, 1},
                            Case{infinity, 4, 1, 1}, Case{4, infinity, 2, 1}, Case{0.5, 10, 2, 0}}) {
        set_desc(goblin.get(), two_lanes(exact(10), one.gpu, one.game_thread));
        // With a single governed lane, the plain name is the name of its estimates.
        if (one.gpu == infinity) Knowledge().add("s", {1, 1, 8}).give(goblin.get());
        if (one.gpu != infinity) Knowledge().add("s", {1, 8, 1}).add("s@game_thread", {1, 1, 8}).give(goblin.get());
        const hob_decision_details decision = update_details(goblin.get());
        ENSURE(hob_goblin_choice(goblin.get(), setting) == one.choice && decision.feasible == one.feasible);
        if (one.gpu == infinity || one.game_thread == infinity) continue;
        ENSURE(decision.lanes[HOB_LANE_GPU].capacity == one.gpu &&
               decision.lanes[HOB_LANE_GAME_THREAD].capacity == one.game_thread);
        const double gpu[] = {1, 8, 1}, game_thread[] = {1, 1, 8};
        ENSURE(close(decision.lanes[HOB_LANE_GPU].mean, gpu[one.choice]) && decision.lanes[HOB_LANE_FRAME].mean == 0);
        ENSURE(close(decision.lanes[HOB_LANE_GAME_THREAD].burden, game_thread[one.choice]));
    }
}

TEST("goblin: time lanes run in parallel, so their burdens are not added up") {
    const Goblin goblin = make_goblin(two_lanes(exact(10), 10, 10));
    Knowledge().add("a", {0, 9}).add("a@game_thread", {0, 0}).add("b", {0, 0}).add("b@game_thread", {0, 9}).give(
        goblin.get());
    const hob_setting_id a = add_array(goblin.get(), "a", {0, 1}), b = add_array(goblin.get(), "b", {0, 1});
    const hob_decision decision = update(goblin.get());
    ENSURE(decision.feasible == 1 && decision.value == 2);
    ENSURE(hob_goblin_choice(goblin.get(), a) == 1 && hob_goblin_choice(goblin.get(), b) == 1);
}

TEST("goblin: a lane on which a setting is never measured costs it nothing") {
    const Goblin goblin = make_goblin(two_lanes(tunable(10), 10, 2));
    const hob_setting_id both = add_array(goblin.get(), "both", {0, 1}), gpu = add_array(goblin.get(), "gpu", {0, 5});
    hob_decision_details decision = HOB_DECISION_DETAILS_INIT;
    for (int n = 0; n < 200; ++n) {
        decision = update_details(goblin.get());
        const uint32_t choice = hob_goblin_choice(goblin.get(), both);
        measure_on(goblin.get(), both, HOB_LANE_GPU, 1 + choice);
        measure_on(goblin.get(), both, HOB_LANE_GAME_THREAD, 0.5 + 0.5 * choice);
        measure_on(goblin.get(), gpu, HOB_LANE_GPU, 2 + 3.0 * hob_goblin_choice(goblin.get(), gpu));
    }
    ENSURE(estimate_on(goblin.get(), gpu, 1, HOB_LANE_GAME_THREAD).mean == 0);
    ENSURE(estimate_on(goblin.get(), gpu, 1, HOB_LANE_GAME_THREAD).count == 0);
    ENSURE(close(estimate_on(goblin.get(), gpu, 1, HOB_LANE_GPU).mean, 5));
    ENSURE(hob_goblin_choice(goblin.get(), both) == 1 && hob_goblin_choice(goblin.get(), gpu) == 1);
    ENSURE(close(decision.lanes[HOB_LANE_GPU].mean, 7) && close(decision.lanes[HOB_LANE_GAME_THREAD].mean, 1));
    ENSURE(statistics(goblin.get()).ungoverned == 0);
}

namespace {

/// Frames with two settings. The totals exceed the settings' burdens by 3 ms on the GPU and 1 ms on the game thread.
///
/// `all_samples`: both settings are measured, not only the first. Each setting is worth 1 and costs 5 ms of the GPU
/// when on.
struct Beyond {
    Goblin goblin = make_goblin(two_lanes(tunable(12), 12, 12));
    hob_setting_id a = add_array(goblin.get(), "a", {0, 1}), b = add_array(goblin.get(), "b", {0, 1});
    hob_decision_details decision = HOB_DECISION_DETAILS_INIT;

    void frames(int count, bool all_samples) {
        for (int n = 0; n < count; ++n) {
            decision = update_details(goblin.get());
            double gpu = 3, game_thread = 1;
            for (const hob_setting_id setting : {a, b}) {
                const double burden = 1 + 4.0 * hob_goblin_choice(goblin.get(), setting);
                gpu += burden;
                game_thread += 0.5;
                if (!all_samples && setting.index1 == b.index1) continue;
                measure_on(goblin.get(), setting, HOB_LANE_GPU, burden);
                measure_on(goblin.get(), setting, HOB_LANE_GAME_THREAD, 0.5);
            }
            total_on(goblin.get(), HOB_LANE_GPU, gpu);
            total_on(goblin.get(), HOB_LANE_GAME_THREAD, game_thread);
        }
    }
};

}  // namespace

TEST("goblin: the residual of totals over samples is learned per lane and reserved") {
    Beyond beyond;
    beyond.frames(300, true);
    const hob_goblin_statistics found = statistics(beyond.goblin.get());
    ENSURE(close(found.residual[HOB_LANE_GPU], 3, 1e-6) && close(found.residual[HOB_LANE_GAME_THREAD], 1, 1e-6));
    ENSURE(found.residual[HOB_LANE_FRAME] == 0 && found.strategy_count == 1);
    // 5 + 5 + 3 are more than 12. Without the 3, both would fit.
    const hob_decision_details& decision = beyond.decision;
    ENSURE(decision.feasible == 1 && decision.value == 1 && decision.trial_count == 0);
    ENSURE(close(decision.lanes[HOB_LANE_GPU].mean, 9, 1e-3));
    ENSURE(close(decision.lanes[HOB_LANE_GAME_THREAD].mean, 2, 1e-3));
}

TEST("goblin: a total with missing samples is ignored") {
    Beyond beyond;
    beyond.frames(60, true);
    const double before = statistics(beyond.goblin.get()).residual[HOB_LANE_GPU];
    ENSURE(close(before, 3, 1e-6));
    beyond.frames(300, false);
    ENSURE(statistics(beyond.goblin.get()).residual[HOB_LANE_GPU] == before);
    ENSURE(statistics(beyond.goblin.get()).totals == 720);
}

TEST("goblin: totals of frames without samples are ignored") {
    const Goblin goblin = make_goblin(16);
    const hob_setting_id setting = add_array(goblin.get(), "s", {0, 1});
    for (int n = 0; n < 100; ++n) {
        (void)update(goblin.get());
        if (n % 2 == 0) measure_on(goblin.get(), setting, HOB_LANE_GPU, 1);
        if (n % 2 == 1) total_on(goblin.get(), HOB_LANE_GPU, 9);
    }
    ENSURE(statistics(goblin.get()).residual[HOB_LANE_GPU] == 0);
}

TEST("goblin: the burden source can be changed at run time") {
    hob_goblin_desc desc = gpu_budget(10);
    const Goblin goblin = make_goblin(desc);
    const std::vector<hob_option> options = {{0, 1, 0, 0}, {5, 3, 0, 0}, {9, 8, 0, 0}};
    const hob_setting_id setting = add_setting(goblin.get(), described("s", options));
    for (const hob_burdens burdens :
         {HOB_BURDENS_TOTALS, HOB_BURDENS_LEARNED, HOB_BURDENS_RELATIVE, HOB_BURDENS_TOTALS}) {
        desc.burdens = burdens;
        ENSURE_OK(hob_goblin_set_desc(goblin.get(), &desc));
        for (int n = 0; n < 300; ++n) {
            (void)update(goblin.get());
            const double burden = 2 * options[hob_goblin_choice(goblin.get(), setting)].relative_burden;
            measure_on(goblin.get(), setting, HOB_LANE_GPU, burden);
            total_on(goblin.get(), HOB_LANE_GPU, burden);
        }
        ENSURE(hob_goblin_choice(goblin.get(), setting) == 1);
    }
}

TEST("goblin: option costs are learned from relative burdens and totals alone") {
    hob_goblin_desc desc = gpu_budget(16);
    desc.burdens = HOB_BURDENS_TOTALS;
    const Goblin goblin = make_goblin(desc);
    // The host estimates each option at twice the burden of the one before. Some true burdens are half or twice the
    // estimate.
    const double truth[][3] = {{0.5, 1, 2}, {0.5, 3, 4}, {1, 2, 8}, {0.5, 1, 6}};
    const double value[][3] = {{0, 3, 4}, {0, 3, 5}, {0, 2, 6}, {0, 2, 4}};
    std::vector<hob_setting_id> settings;
    for (size_t s = 0; s < 4; ++s) {
        const std::vector<hob_option> options = {{value[s][0], 1, 0, 0}, {value[s][1], 2, 0, 0}, {value[s][2], 4, 0, 0}};
        settings.push_back(add_setting(goblin.get(), described("s" + std::to_string(s), options)));
    }
    double best = 0;
    for (uint32_t all = 0; all < 81; ++all) {
        double worth = 0, cost = 2;
        for (uint32_t s = 0, rest = all; s < 4; ++s, rest /= 3) {
            worth += value[s][rest % 3];
            cost += truth[s][rest % 3];
        }
        if (cost * 1.03 <= 16 && worth > best) best = worth;  // with room for the noise
    }
    Dice dice(5);
    double sum = 0;
    int over = 0;
    for (int n = 0; n < 4000; ++n) {
        const hob_decision decision = update(goblin.get());
        double total = 2;
        for (size_t s = 0; s < 4; ++s) total += truth[s][hob_goblin_choice(goblin.get(), settings[s])];
        total *= 0.99 + 0.02 * dice.share();
        total_on(goblin.get(), HOB_LANE_GPU, total);
        if (n < 3000) continue;
        sum += decision.value;
        over += total > 16 ? 1 : 0;
    }
    ENSURE(sum / 1000 >= 0.9 * best);
    ENSURE(over < 50);
}
