// goblin.h with strategies: 60 frames a second or 30, the one of higher value.
#include <algorithm>
#include <limits>
#include <vector>

#include "support.h"

using namespace support;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

hob_strategy_desc strategy_desc(double gpu, double incentive) {
    hob_strategy_desc desc = HOB_STRATEGY_DESC_INIT;
    desc.lanes[HOB_LANE_GPU].limit = gpu;
    desc.incentive = incentive;
    return desc;
}

uint32_t add_strategy(hob_goblin* goblin, double gpu, double incentive) {
    const hob_strategy_desc desc = strategy_desc(gpu, incentive);
    uint32_t strategy = 99;
    ENSURE_OK(hob_goblin_add_strategy(goblin, &desc, &strategy));
    return strategy;
}

void set_incentive_of_first(hob_goblin* goblin, double incentive) {
    const hob_strategy_desc desc = strategy_desc(infinity, incentive);
    ENSURE_OK(hob_goblin_set_strategy(goblin, 0, &desc));
}

double net(const hob_goblin* goblin, uint32_t strategy) {
    double found = -1;
    ENSURE_OK(hob_goblin_get_strategy_net(goblin, strategy, &found));
    return found;
}

}  // namespace

TEST("goblin: the strategy with the best net value is chosen, as in an exhaustive search") {
    const std::vector<double> values = {0, 3, 7}, burdens = {2, 6, 14};
    Dice dice(3);
    for (int round = 0; round < 300; ++round) {
        const double limits[] = {4.0 + dice.below(30), 4.0 + dice.below(30), 4.0 + dice.below(30)};
        const double incentives[] = {1.0 * dice.below(12), 1.0 * dice.below(12), 1.0 * dice.below(12)};
        const double extra = dice.below(9), factor = dice.below(2) == 0 ? 0.5 : 2;
        const Goblin goblin = make_goblin(exact(limits[0]));
        Knowledge().add("a", burdens).add("b", burdens).give(goblin.get());
        const hob_setting_id a = add_array(goblin.get(), "a", values), b = add_array(goblin.get(), "b", values);
        set_incentive_of_first(goblin.get(), incentives[0]);
        for (uint32_t n = 1; n < 3; ++n) ENSURE(add_strategy(goblin.get(), limits[n], incentives[n]) == n);
        ENSURE_OK(hob_goblin_set_strategy_value(goblin.get(), 1, a, 2, extra));
        ENSURE_OK(hob_goblin_set_strategy_work(goblin.get(), 2, b, factor));
        ENSURE(statistics(goblin.get()).strategy_count == 3);

        double nets[] = {-infinity, -infinity, -infinity};
        for (size_t n = 0; n < 3; ++n) {
            for (size_t i = 0; i < 9; ++i) {
                const size_t of_a = i / 3, of_b = i % 3;
                const double value = (n == 1 && of_a == 2 ? extra : values[of_a]) + values[of_b] + incentives[n];
                const double burden = burdens[of_a] + burdens[of_b] * (n == 2 ? factor : 1);
                if (burden <= limits[n]) nets[n] = std::max(nets[n], value);
            }
        }
        const hob_decision_details decision = update_details(goblin.get());
        const double best = *std::max_element(nets, nets + 3);
        ENSURE(decision.feasible == 1 && decision.strategy < 3);
        ENSURE(nets[decision.strategy] == best && decision.value + incentives[decision.strategy] == best);
        ENSURE(decision.lanes[HOB_LANE_GPU].capacity == limits[decision.strategy]);
        for (uint32_t n = 0; n < 3; ++n) ENSURE(nets[n] == -infinity || net(goblin.get(), n) == nets[n]);
    }
}

TEST("goblin: under a strategy each option has its own factor on the burden") {
    const Goblin goblin = make_goblin(exact(20));
    Knowledge().add("s", {2, 6, 14}).give(goblin.get());
    const hob_setting_id setting = add_array(goblin.get(), "s", {0, 3, 7});
    // 30 frames a second: two simulation steps in option 1, three in option 2.
    const uint32_t half = add_strategy(goblin.get(), 33, 100);
    ENSURE_OK(hob_goblin_set_strategy_option_work(goblin.get(), half, setting, 1, 2));
    ENSURE_OK(hob_goblin_set_strategy_option_work(goblin.get(), half, setting, 2, 3));
    ENSURE(update(goblin.get()).strategy == half && hob_goblin_choice(goblin.get(), setting) == 1);
    ENSURE(estimate(goblin.get(), setting, 0).mean == 2 && estimate(goblin.get(), setting, 1).mean == 12);
    ENSURE(estimate(goblin.get(), setting, 2).mean == 42);
    // The factor of the setting applies to all of its options, in addition.
    ENSURE_OK(hob_goblin_set_strategy_work(goblin.get(), half, setting, 0.5));
    ENSURE(update(goblin.get()).strategy == half && hob_goblin_choice(goblin.get(), setting) == 2);
    ENSURE(estimate(goblin.get(), setting, 2).mean == 21);
    // A sample of a decision under the strategy has that work.
    for (int n = 0; n < 40; ++n) {
        ENSURE_OK(hob_goblin_measure(goblin.get(), update(goblin.get()).id, setting, HOB_LANE_GPU, 24,
                                     HOB_SAMPLE_QUALITY_OK));
    }
    set_incentive_of_first(goblin.get(), 1000);
    ENSURE(update(goblin.get()).strategy == 0);
    ENSURE(close(estimate(goblin.get(), setting, 2).mean, 16, 0.1));
}

TEST("goblin: a better strategy must persist, and an infeasible one is replaced at once") {
    const auto build = [](double patience) {
        Budget budget = exact(16);
        budget.desc.patience = patience;
        Goblin goblin = make_goblin(budget);
        Knowledge().add("s", {2, 12, 30}).give(goblin.get());
        return goblin;
    };
    for (const double patience : {no_patience, 1.0, 2.0}) {
        const Goblin goblin = build(patience);
        const hob_setting_id setting = add_array(goblin.get(), "s", {0, 10, 20});
        const uint32_t half = add_strategy(goblin.get(), 33, -12);
        for (int n = 0; n < 50; ++n) ENSURE(update(goblin.get()).strategy == 0);  // 10 against 20 - 12
        ENSURE(hob_goblin_choice(goblin.get(), setting) == 1);
        const hob_strategy_desc better = strategy_desc(33, -8);  // 10 against 20 - 8: a gain of 2, at a distance of 20
        ENSURE_OK(hob_goblin_set_strategy(goblin.get(), half, &better));
        int frames = 1;
        while (update(goblin.get()).strategy == 0) ++frames;
        ENSURE(frames == std::max(1.0, patience * 10));
        ENSURE(hob_goblin_choice(goblin.get(), setting) == 2);
        ENSURE(patience < 0 || reason(goblin.get(), setting).why == HOB_WHY_STRATEGY);
        // The goblin leaves the strategy at once when its limit no longer fits.
        ENSURE_OK(hob_goblin_set_work(goblin.get(), setting, 1.3));
        set_incentive_of_first(goblin.get(), 50);
        const hob_strategy_desc tight = strategy_desc(1, 0);
        ENSURE_OK(hob_goblin_set_strategy(goblin.get(), half, &tight));
        ENSURE(update(goblin.get()).strategy == 0);
    }
}

TEST("goblin: equally good strategies do not alternate") {
    Budget budget = exact(16);
    budget.desc.patience = 1;
    const Goblin goblin = make_goblin(budget);
    Knowledge().add("s", {2, 12, 30}).give(goblin.get());
    (void)add_array(goblin.get(), "s", {0, 10, 20});
    const uint32_t half = add_strategy(goblin.get(), 33, -10);
    Dice dice(8);
    uint32_t before = 0;
    int changes = 0;
    for (int n = 0; n < 1000; ++n) {
        const hob_strategy_desc now = strategy_desc(33, -10 + 2 * dice.share() - 1);
        ENSURE_OK(hob_goblin_set_strategy(goblin.get(), half, &now));
        const uint32_t strategy = update(goblin.get()).strategy;
        changes += strategy != before ? 1 : 0;
        before = strategy;
    }
    ENSURE(changes <= 5);
}

TEST("goblin: gains of a slightly better strategy accumulate through worse frames") {
    Budget budget = exact(16);
    budget.desc.patience = 1;
    const Goblin goblin = make_goblin(budget);
    Knowledge().add("s", {2, 12, 30}).give(goblin.get());
    (void)add_array(goblin.get(), "s", {0, 10, 20});
    const uint32_t half = add_strategy(goblin.get(), 33, -10);
    int frames = 0;
    // Alternately ahead by 3 and behind by 1: 1 a frame on average. The distance between the values is 20.
    do {
        const hob_strategy_desc now = strategy_desc(33, frames % 2 == 0 ? -7 : -11);
        ENSURE_OK(hob_goblin_set_strategy(goblin.get(), half, &now));
        ++frames;
    } while (update(goblin.get()).strategy == 0 && frames < 1000);
    ENSURE(frames >= 17 && frames <= 21);
}

TEST("goblin: a strategy's lanes are learned from its addition on") {
    const Goblin goblin = make_goblin(exact(10));
    const hob_setting_id setting = add_array(goblin.get(), "s", {0});
    hob_strategy_desc desc = HOB_STRATEGY_DESC_INIT;
    desc.lanes[HOB_LANE_VIDEO_MEMORY].limit = 4000;
    uint32_t strategy = 0;
    ENSURE_OK(hob_goblin_add_strategy(goblin.get(), &desc, &strategy));
    (void)update(goblin.get());
    ENSURE_OK(hob_goblin_measure(goblin.get(), HOB_DECISION_LATEST, setting, HOB_LANE_VIDEO_MEMORY, 500, HOB_SAMPLE_QUALITY_OK));
    ENSURE(close(estimate_on(goblin.get(), setting, 0, HOB_LANE_VIDEO_MEMORY).mean, 500));
    ENSURE(statistics(goblin.get()).samples == 1);
}
