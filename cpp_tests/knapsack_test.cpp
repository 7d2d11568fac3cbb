// knapsack.h: the answers are the optima, and what is reported is what was chosen.
#include <cmath>
#include <limits>
#include <vector>

#include "support.h"

using namespace support;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Setting = std::vector<hob_knapsack_option>;

struct Sums {
    double value = 0, mean = 0, variance = 0;

    Sums plus(const hob_knapsack_option& option) const {
        return {value + option.value, mean + option.mean, variance + option.variance};
    }
    double burden(double sigmas) const { return mean + sigmas * std::sqrt(variance); }
};

Setting random_setting(Dice& dice) {
    Setting setting(1 + dice.below(4));
    for (auto& option : setting) {
        option = {static_cast<double>(dice.below(21)) - 4, static_cast<double>(dice.below(9)), dice.share()};
    }
    return setting;
}

std::vector<Setting> random_instance(Dice& dice) {
    std::vector<Setting> settings(1 + dice.below(6));
    for (auto& setting : settings) setting = random_setting(dice);
    return settings;
}

/// The greatest value that fits, by looking at all combinations; -infinity if none does.
double best_value(const std::vector<Setting>& settings, size_t from, const Sums& so_far, double capacity,
                  double sigmas) {
    if (from == settings.size()) return so_far.burden(sigmas) <= capacity + 1e-9 ? so_far.value : -infinity;
    double best = -infinity;
    for (const auto& option : settings[from]) {
        best = std::max(best, best_value(settings, from + 1, so_far.plus(option), capacity, sigmas));
    }
    return best;
}

void add(hob_knapsack* knapsack, const Setting& setting) {
    const auto count = static_cast<uint32_t>(setting.size());
    ENSURE_OK(hob_knapsack_add(knapsack, setting.data(), sizeof(hob_knapsack_option), count, nullptr));
}

hob_knapsack_solution solve(hob_knapsack* knapsack, double capacity, double sigmas, uint64_t node_limit = 4000000) {
    hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
    desc.node_limit = node_limit;
    desc.capacity = capacity;
    desc.sigmas = sigmas;
    hob_knapsack_solution solution = HOB_KNAPSACK_SOLUTION_INIT;
    ENSURE_OK(hob_knapsack_solve(knapsack, &desc, &solution));
    return solution;
}

std::vector<uint16_t> choices(const hob_knapsack* knapsack) {
    uint32_t count = 0;
    ENSURE_OK(hob_knapsack_choices(knapsack, nullptr, 0, &count));
    std::vector<uint16_t> found(count);
    ENSURE_OK(hob_knapsack_choices(knapsack, found.data(), count, nullptr));
    return found;
}

Sums sums_of(const std::vector<Setting>& settings, const std::vector<uint16_t>& chosen) {
    ENSURE(settings.size() == chosen.size());
    Sums sums;
    for (size_t n = 0; n < settings.size(); ++n) {
        ENSURE(chosen[n] < settings[n].size());
        sums = sums.plus(settings[n][chosen[n]]);
    }
    return sums;
}

void check_against_brute_force(hob_knapsack* knapsack, Dice& dice, double sigmas) {
    const auto settings = random_instance(dice);
    const double capacity = static_cast<double>(dice.below(40));
    ENSURE_OK(hob_knapsack_clear(knapsack));
    for (const auto& setting : settings) add(knapsack, setting);
    ENSURE(hob_knapsack_setting_count(knapsack) == settings.size());
    const hob_knapsack_solution found = solve(knapsack, capacity, sigmas);
    const double best = best_value(settings, 0, Sums{}, capacity, sigmas);
    ENSURE((found.feasible == 1) == (best > -infinity));
    const Sums chosen = sums_of(settings, choices(knapsack));
    ENSURE(close(found.value, chosen.value) && close(found.mean, chosen.mean));
    ENSURE(close(found.variance, chosen.variance) && close(found.burden, chosen.burden(sigmas)));
    if (found.feasible == 0) {
        ENSURE(close(found.excess, found.burden - capacity));
        return;
    }
    ENSURE(found.proven == 1 && found.gap == 0 && found.excess == 0);
    ENSURE(close(found.value, best) && found.upper_bound >= found.value - 1e-9);
}

const Setting quality = {{0, 1, 0}, {4, 3, 0}, {6, 7, 0}};

}  // namespace

TEST("knapsack: answers are those of brute force") {
    const Knapsack knapsack = make_knapsack();
    Dice dice(1);
    for (int n = 0; n < harness::scaled(2000); ++n) check_against_brute_force(knapsack.get(), dice, 0);
}

TEST("knapsack: answers under uncertainty are those of brute force") {
    const Knapsack knapsack = make_knapsack();
    Dice dice(2);
    for (int n = 0; n < harness::scaled(2000); ++n) check_against_brute_force(knapsack.get(), dice, 3);
}

TEST("knapsack: a burden that equals the capacity fits") {
    const Knapsack knapsack = make_knapsack();
    add(knapsack.get(), quality);
    add(knapsack.get(), quality);
    ENSURE(solve(knapsack.get(), 14, 0).value == 12);
    ENSURE(solve(knapsack.get(), 13.999, 0).value == 10);
    ENSURE(solve(knapsack.get(), infinity, 0).value == 12);
}

TEST("knapsack: when nothing fits the answer is the lightest, and says by how much it is over") {
    const Knapsack knapsack = make_knapsack();
    add(knapsack.get(), quality);
    const hob_knapsack_solution solution = solve(knapsack.get(), 0.25, 0);
    ENSURE(solution.feasible == 0 && close(solution.excess, 0.75));
    ENSURE(choices(knapsack.get()) == std::vector<uint16_t>{0});
}

TEST("knapsack: an option of infinite burden is never chosen, and a setting without options has no choice") {
    const Knapsack knapsack = make_knapsack();
    add(knapsack.get(), {{1, 1, 0}, {100, infinity, 0}});
    add(knapsack.get(), {});
    uint32_t index = 99;
    ENSURE_OK(hob_knapsack_add(knapsack.get(), quality.data(), sizeof quality[0], 3, &index));
    ENSURE(index == 2);
    ENSURE(solve(knapsack.get(), infinity, 1).value == 7);
    ENSURE(choices(knapsack.get()) == std::vector<uint16_t>{0, HOB_NO_CHOICE, 2});
}

TEST("knapsack: options are read with the stride of the host's own struct") {
    struct HostOption {
        hob_knapsack_option option;
        const char* name;
    };
    const HostOption options[] = {{{0, 1, 0}, "low"}, {{4, 3, 0}, "medium"}, {{6, 7, 0}, "high"}};
    const Knapsack knapsack = make_knapsack();
    ENSURE_OK(hob_knapsack_add(knapsack.get(), &options[0].option, sizeof options[0], 3, nullptr));
    ENSURE(solve(knapsack.get(), 5, 0).value == 4);
}

TEST("knapsack: clear keeps the choices of the last solve, until the next") {
    const Knapsack knapsack = make_knapsack();
    add(knapsack.get(), quality);
    (void)solve(knapsack.get(), 4, 0);
    ENSURE_OK(hob_knapsack_clear(knapsack.get()));
    ENSURE(hob_knapsack_setting_count(knapsack.get()) == 0);
    ENSURE(choices(knapsack.get()) == std::vector<uint16_t>{1});
    ENSURE(solve(knapsack.get(), 4, 0).value == 0);
    ENSURE(choices(knapsack.get()).empty());
}

TEST("knapsack: too little room for the choices changes nothing and says how many there are") {
    const Knapsack knapsack = make_knapsack();
    for (int n = 0; n < 3; ++n) add(knapsack.get(), quality);
    (void)solve(knapsack.get(), infinity, 0);
    uint16_t room[4] = {7, 7, 7, 7};
    uint32_t count = 0;
    ENSURE(hob_knapsack_choices(knapsack.get(), room, 2, &count) == HOB_RESULT_BUFFER_TOO_SMALL);
    ENSURE(count == 3 && room[0] == 7 && room[1] == 7);
    ENSURE_OK(hob_knapsack_choices(knapsack.get(), room, 3, &count));
    ENSURE(room[0] == 2 && room[2] == 2 && room[3] == 7);
}

TEST("knapsack: a node limit ends the search with an answer that fits and a bound") {
    const Knapsack knapsack = make_knapsack();
    Dice dice(3);
    for (int n = 0; n < 60; ++n) {
        Setting setting(4);
        for (auto& option : setting) {
            const double weight = 1 + dice.below(1000);
            option = {weight, weight, 0};
        }
        add(knapsack.get(), setting);
    }
    hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
    ENSURE(desc.capacity == infinity && desc.sigmas == 0 && desc.accepted_gap == 0 && desc.node_limit == 4000000);
    desc.capacity = 29999.5;
    desc.node_limit = 1;
    hob_knapsack_solution solution = HOB_KNAPSACK_SOLUTION_INIT;
    ENSURE_OK(hob_knapsack_solve(knapsack.get(), &desc, &solution));
    ENSURE(solution.feasible == 1 && solution.mean <= desc.capacity && solution.upper_bound >= solution.value);
    const double reported = (solution.upper_bound - solution.value) / solution.upper_bound;
    ENSURE(close(solution.gap, reported) || solution.proven == 1);
}

TEST("knapsack: what was reserved is enough, and the memory limit holds") {
    const Knapsack knapsack = make_knapsack();
    ENSURE_OK(hob_knapsack_reserve(knapsack.get(), 50, 200));
    const size_t reserved = hob_knapsack_memory_used(knapsack.get());
    for (int n = 0; n < 50; ++n) add(knapsack.get(), quality);
    (void)solve(knapsack.get(), 200, 2, 4096);
    ENSURE(hob_knapsack_memory_used(knapsack.get()) == reserved);

    hob_knapsack_desc small = HOB_KNAPSACK_DESC_INIT;
    ENSURE(small.memory_limit == UINT64_MAX);
    small.memory_limit = 5000000;  // a search keeps about 3 MB
    hob_knapsack* limited = nullptr;
    ENSURE_OK(hob_knapsack_create(&small, &limited));
    const Knapsack owner(limited);
    ENSURE(hob_knapsack_reserve(limited, 10, 1000000) == HOB_RESULT_LIMIT_EXCEEDED);
    ENSURE(hob_knapsack_reserve(limited, 1000000, 10) == HOB_RESULT_LIMIT_EXCEEDED);
    ENSURE_OK(hob_knapsack_reserve(limited, 10, 40));
    ENSURE(hob_knapsack_memory_used(limited) <= small.memory_limit);
    hob_result result = HOB_RESULT_OK;
    for (int n = 0; n < 10000 && result == HOB_RESULT_OK; ++n) {
        result = hob_knapsack_add(limited, quality.data(), sizeof quality[0], 3, nullptr);
    }
    ENSURE(result == HOB_RESULT_LIMIT_EXCEEDED);
    (void)solve(limited, 50, 1);
    ENSURE(hob_knapsack_memory_used(limited) <= small.memory_limit);
}
