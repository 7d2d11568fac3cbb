// knapsack.h: the answers are the optima, and the reported figures are those of the choices.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
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

/// The greatest value that fits, from a search of all combinations. -infinity: none fits.
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
    ENSURE_OK(hob_knapsack_add_setting(knapsack, setting.data(), sizeof(hob_knapsack_option), count, nullptr));
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
    ENSURE_OK(hob_knapsack_choices(knapsack, found.data(), count, &count));
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

/// A setting with options that use three resources.
struct Ladder {
    struct Option {
        double value;
        hob_knapsack_weight weights[3];
    };
    std::vector<Option> options;
};

Knapsack make_knapsack_of(uint32_t resources) {
    hob_knapsack_desc desc = HOB_KNAPSACK_DESC_INIT;
    ENSURE(desc.resource_count == 0);
    desc.resource_count = resources;
    hob_knapsack* knapsack = nullptr;
    ENSURE_OK(hob_knapsack_create(&desc, &knapsack));
    return Knapsack(knapsack);
}

Ladder random_ladder(Dice& dice) {
    Ladder ladder;
    ladder.options.resize(1 + dice.below(4));
    for (auto& option : ladder.options) {
        option.value = static_cast<double>(dice.below(21)) - 4;
        for (auto& weight : option.weights) weight = {static_cast<double>(dice.below(9)), dice.share()};
    }
    return ladder;
}

hob_result add_ladder(hob_knapsack* knapsack, const Ladder& ladder) {
    constexpr size_t stride = sizeof(Ladder::Option);
    const auto count = static_cast<uint32_t>(ladder.options.size());
    const Ladder::Option* const first = ladder.options.data();
    return hob_knapsack_add_setting_resources(knapsack, &first->value, stride, first->weights, stride, count, nullptr);
}

using Resources = std::vector<hob_knapsack_resource>;

hob_knapsack_solution solve(hob_knapsack* knapsack, const Resources& resources, uint64_t node_limit = 4000000) {
    hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
    desc.node_limit = node_limit;
    hob_knapsack_solution solution = HOB_KNAPSACK_SOLUTION_INIT;
    const auto count = static_cast<uint32_t>(resources.size());
    ENSURE_OK(hob_knapsack_solve_resources(knapsack, resources.data(), sizeof resources[0], count, &desc, &solution));
    return solution;
}

hob_knapsack_usage usage(const hob_knapsack* knapsack, uint32_t resource) {
    hob_knapsack_usage found = HOB_KNAPSACK_USAGE_INIT;
    ENSURE_OK(hob_knapsack_get_resource_usage(knapsack, resource, &found));
    return found;
}

struct ManySums {
    double value = 0;
    Sums of[3];

    ManySums plus(const Ladder::Option& option) const {
        ManySums sums = *this;
        sums.value += option.value;
        for (size_t r = 0; r < 3; ++r) sums.of[r] = of[r].plus({0, option.weights[r].mean, option.weights[r].variance});
        return sums;
    }
    bool fit(const Resources& resources) const {
        bool all = true;
        for (size_t r = 0; r < 3; ++r) all &= of[r].burden(resources[r].sigmas) <= resources[r].capacity + 1e-9;
        return all;
    }
};

double best_value(const std::vector<Ladder>& ladders, size_t from, const ManySums& so_far, const Resources& resources) {
    if (from == ladders.size()) return so_far.fit(resources) ? so_far.value : -infinity;
    double best = -infinity;
    for (const auto& option : ladders[from].options) {
        best = std::max(best, best_value(ladders, from + 1, so_far.plus(option), resources));
    }
    return best;
}

void check_resources_against_brute_force(hob_knapsack* knapsack, Dice& dice) {
    std::vector<Ladder> ladders(1 + dice.below(5));
    ENSURE_OK(hob_knapsack_clear(knapsack));
    for (auto& ladder : ladders) {
        ladder = random_ladder(dice);
        ENSURE_OK(add_ladder(knapsack, ladder));
    }
    Resources resources(3);
    for (auto& resource : resources) resource = {static_cast<double>(dice.below(40)), 3 * dice.share()};
    const hob_knapsack_solution found = solve(knapsack, resources);
    const double best = best_value(ladders, 0, ManySums{}, resources);
    ENSURE((found.feasible == 1) == (best > -infinity) && found.proven == 1);
    const std::vector<uint16_t> chosen = choices(knapsack);
    ManySums sums;
    for (size_t n = 0; n < ladders.size(); ++n) sums = sums.plus(ladders[n].options.at(chosen[n]));
    ENSURE(close(found.value, sums.value) && (found.feasible == 0 || close(found.value, best)));
    double excess = 0;
    for (uint32_t r = 0; r < 3; ++r) {
        const hob_knapsack_usage used = usage(knapsack, r);
        ENSURE(close(used.mean, sums.of[r].mean) && close(used.variance, sums.of[r].variance) && used.price >= 0);
        ENSURE(close(used.burden, sums.of[r].burden(resources[r].sigmas)));
        ENSURE(close(used.excess, std::max(0.0, used.burden - resources[r].capacity)));
        excess += used.excess;
    }
    ENSURE((found.feasible == 1) == (excess == 0));
}

const Setting quality = {{0, 1, 0}, {4, 3, 0}, {6, 7, 0}};

}  // namespace

TEST("knapsack: answers match brute force") {
    const Knapsack knapsack = make_knapsack();
    Dice dice(1);
    for (int n = 0; n < harness::scaled(2000); ++n) check_against_brute_force(knapsack.get(), dice, 0);
}

TEST("knapsack: answers under uncertainty match brute force") {
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

TEST("knapsack: an infeasible answer is the lightest one and reports its excess") {
    const Knapsack knapsack = make_knapsack();
    add(knapsack.get(), quality);
    const hob_knapsack_solution solution = solve(knapsack.get(), 0.25, 0);
    ENSURE(solution.feasible == 0 && close(solution.excess, 0.75));
    ENSURE(choices(knapsack.get()) == std::vector<uint16_t>{0});
}

TEST("knapsack: an infinite burden is never chosen and a setting without options has no choice") {
    const Knapsack knapsack = make_knapsack();
    add(knapsack.get(), {{1, 1, 0}, {100, infinity, 0}});
    add(knapsack.get(), {});
    uint32_t index = 99;
    ENSURE_OK(hob_knapsack_add_setting(knapsack.get(), quality.data(), sizeof quality[0], 3, &index));
    ENSURE(index == 2);
    ENSURE(solve(knapsack.get(), infinity, 1).value == 7);
    ENSURE(choices(knapsack.get()) == std::vector<uint16_t>{0, HOB_KNAPSACK_CHOICE_NONE, 2});
}

TEST("knapsack: options are read with the stride of the host's own struct") {
    struct HostOption {
        hob_knapsack_option option;
        const char* name;
    };
    const HostOption options[] = {{{0, 1, 0}, "low"}, {{4, 3, 0}, "medium"}, {{6, 7, 0}, "high"}};
    const Knapsack knapsack = make_knapsack();
    ENSURE_OK(hob_knapsack_add_setting(knapsack.get(), &options[0].option, sizeof options[0], 3, nullptr));
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

TEST("knapsack: a small choice buffer is unchanged and the needed count is returned") {
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
    double lightest = 0;  // the value of the lightest choices: each option is worth its weight
    for (int n = 0; n < 60; ++n) {
        Setting setting(4);
        double least = infinity;
        for (auto& option : setting) {
            const double weight = 1 + dice.below(1000);
            option = {weight, weight, 0};
            least = std::min(least, weight);
        }
        lightest += least;
        add(knapsack.get(), setting);
    }
    hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
    ENSURE(desc.capacity == infinity && desc.sigmas == 0 && desc.accepted_gap == 0 && desc.node_limit == 4000000);
    desc.capacity = 29999.5;
    desc.node_limit = 1;
    hob_knapsack_solution solution = HOB_KNAPSACK_SOLUTION_INIT;
    ENSURE_OK(hob_knapsack_solve(knapsack.get(), &desc, &solution));
    ENSURE(solution.feasible == 1 && solution.mean <= desc.capacity && solution.upper_bound >= solution.value);
    const double reported = (solution.upper_bound - solution.value) / (solution.upper_bound - lightest);
    ENSURE(close(solution.gap, reported) || solution.proven == 1);
}

TEST("knapsack: a reserved knapsack does not grow, and the memory limit holds") {
    const Knapsack knapsack = make_knapsack();
    ENSURE_OK(hob_knapsack_reserve(knapsack.get(), 50, 200));
    const size_t reserved = hob_knapsack_memory_used(knapsack.get());
    for (int n = 0; n < 50; ++n) add(knapsack.get(), quality);
    (void)solve(knapsack.get(), 200, 2, 4096);
    ENSURE(hob_knapsack_memory_used(knapsack.get()) == reserved);

    hob_knapsack_desc small = HOB_KNAPSACK_DESC_INIT;
    ENSURE(small.memory_limit == 1u << 30);
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
        result = hob_knapsack_add_setting(limited, quality.data(), sizeof quality[0], 3, nullptr);
    }
    ENSURE(result == HOB_RESULT_LIMIT_EXCEEDED);
    (void)solve(limited, 50, 1);
    ENSURE(hob_knapsack_memory_used(limited) <= small.memory_limit);
}

TEST("knapsack: a struct that is zero except for its size has the defaults") {
    hob_knapsack_desc desc = {};
    desc.struct_size = sizeof desc;
    hob_knapsack* knapsack = nullptr;
    ENSURE_OK(hob_knapsack_create(&desc, &knapsack));
    const Knapsack owner(knapsack);
    ENSURE_OK(hob_knapsack_add_setting(knapsack, quality.data(), 0, 3, nullptr));
    ENSURE(hob_knapsack_reserve(knapsack, 1, 40u << 20) == HOB_RESULT_LIMIT_EXCEEDED);  // 10 GiB
    ENSURE(last_error_has("raise memory_limit"));
    hob_knapsack_solve_desc zeroed = {};
    zeroed.struct_size = sizeof zeroed;
    hob_knapsack_solution solution = {};
    solution.struct_size = sizeof solution;
    ENSURE_OK(hob_knapsack_solve(knapsack, &zeroed, &solution));
    ENSURE(solution.feasible == 0 && solution.excess == 1);  // a capacity of 0 is a value
    zeroed.capacity = 4;
    ENSURE_OK(hob_knapsack_solve(knapsack, &zeroed, &solution));
    ENSURE(solution.feasible == 1 && solution.proven == 1 && solution.value == 4);
}

TEST("knapsack: answer fields of a newer header are set to 0") {
    struct Newer {
        hob_knapsack_solution known;
        double unknown[2];
        double behind;
    } newer;
    std::memset(&newer, 0x7f, sizeof newer);
    newer.known.struct_size = offsetof(Newer, behind);
    const Knapsack knapsack = make_knapsack();
    ENSURE_OK(hob_knapsack_add_setting(knapsack.get(), quality.data(), 0, 3, nullptr));
    hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
    ENSURE_OK(hob_knapsack_solve(knapsack.get(), &desc, &newer.known));
    ENSURE(newer.known.feasible == 1 && newer.known.struct_size == offsetof(Newer, behind));
    ENSURE(newer.unknown[0] == 0 && newer.unknown[1] == 0 && newer.behind != 0);
}

TEST("knapsack: values and weights without gaps need no stride") {
    const Knapsack knapsack = make_knapsack_of(2);
    const double values[] = {0, 3, 4};
    const hob_knapsack_weight weights[][2] = {{{0, 0}, {0, 0}}, {{1, 0}, {2, 0}}, {{2, 0}, {1, 0}}};
    for (int n = 0; n < 3; ++n) {
        ENSURE_OK(hob_knapsack_add_setting_resources(knapsack.get(), values, 0, weights[0], 0, 3, nullptr));
    }
    const hob_knapsack_resource resources[] = {{5, 0}, {4, 0}};
    hob_knapsack_solve_desc zeroed = {};
    zeroed.struct_size = sizeof zeroed;
    hob_knapsack_solution solution = HOB_KNAPSACK_SOLUTION_INIT;
    ENSURE_OK(hob_knapsack_solve_resources(knapsack.get(), resources, 0, 2, &zeroed, &solution));
    ENSURE(solution.proven == 1 && solution.value == 11);
}

TEST("knapsack: answers for three resources match brute force") {
    const Knapsack knapsack = make_knapsack_of(3);
    Dice dice(4);
    for (int n = 0; n < harness::scaled(1000); ++n) check_resources_against_brute_force(knapsack.get(), dice);
}

TEST("knapsack: two exactly used resources fit and have prices") {
    const Knapsack knapsack = make_knapsack_of(2);
    const double values[] = {0, 3, 4};
    const hob_knapsack_weight weights[][2] = {{{0, 0}, {0, 0}}, {{1, 0}, {2, 0}}, {{2, 0}, {1, 0}}};
    for (uint32_t n = 0; n < 3; ++n) {
        uint32_t index = 99;
        ENSURE_OK(hob_knapsack_add_setting_resources(knapsack.get(), values, sizeof values[0], weights[0],
                                                     sizeof weights[0], 3, &index));
        ENSURE(index == n);
    }
    ENSURE(hob_knapsack_setting_count(knapsack.get()) == 3);
    const hob_knapsack_solution found = solve(knapsack.get(), {{5, 0}, {4, 0}});
    ENSURE(found.feasible == 1 && found.proven == 1 && found.value == 11 && found.upper_bound == 11);
    ENSURE(usage(knapsack.get(), 0).burden == 5 && usage(knapsack.get(), 1).burden == 4);
    ENSURE(usage(knapsack.get(), 0).price + usage(knapsack.get(), 1).price > 0);
    ENSURE(solve(knapsack.get(), {{infinity, 0}, {infinity, 0}}).value == 12);
    const hob_knapsack_solution none = solve(knapsack.get(), {{-1, 0}, {9, 0}});
    ENSURE(none.feasible == 0 && none.proven == 1 && usage(knapsack.get(), 0).excess == 1);
    ENSURE(usage(knapsack.get(), 1).excess == 0);
}

TEST("knapsack: a reserved knapsack of several resources does not allocate and respects its memory limit") {
    const Knapsack knapsack = make_knapsack_of(3);
    ENSURE_OK(hob_knapsack_reserve(knapsack.get(), 50, 200));
    const size_t reserved = hob_knapsack_memory_used(knapsack.get());
    Dice dice(5);
    for (int frame = 0; frame < harness::scaled(20); ++frame) {
        ENSURE_OK(hob_knapsack_clear(knapsack.get()));
        for (int n = 0; n < 50; ++n) ENSURE_OK(add_ladder(knapsack.get(), random_ladder(dice)));
        (void)solve(knapsack.get(), {{150, 0}, {160, 3}, {170, 1}}, 3000);
    }
    ENSURE(hob_knapsack_memory_used(knapsack.get()) == reserved);

    hob_knapsack_desc small = HOB_KNAPSACK_DESC_INIT;
    small.memory_limit = 500000;
    small.resource_count = 8;
    hob_knapsack* limited = nullptr;
    ENSURE_OK(hob_knapsack_create(&small, &limited));
    const Knapsack owner(limited);
    ENSURE(hob_knapsack_reserve(limited, 10, 1000000) == HOB_RESULT_LIMIT_EXCEEDED);
    const double values[] = {0, 1};
    const hob_knapsack_weight weights[2][8] = {};
    hob_result result = HOB_RESULT_OK;
    for (int n = 0; n < 10000 && result == HOB_RESULT_OK; ++n) {
        result = hob_knapsack_add_setting_resources(limited, values, 8, weights[0], sizeof weights[0], 2, nullptr);
    }
    ENSURE(result == HOB_RESULT_LIMIT_EXCEEDED && hob_knapsack_setting_count(limited) > 50);
    (void)solve(limited, Resources(8, {10, 1}));
    ENSURE(hob_knapsack_memory_used(limited) <= small.memory_limit);
}

TEST("knapsack: calls for one resource and for several are distinct") {
    const Knapsack one = make_knapsack();
    const Knapsack several = make_knapsack_of(3);
    Dice dice(6);
    const Ladder ladder = random_ladder(dice);
    const hob_knapsack_resource resources[3] = {{1, 0}, {1, 0}, {1, 0}};
    const hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
    hob_knapsack_usage used = HOB_KNAPSACK_USAGE_INIT;
    const hob_result unsupported = HOB_RESULT_UNSUPPORTED;
    ENSURE(add_ladder(one.get(), ladder) == unsupported && last_error_has("resource_count"));
    ENSURE(hob_knapsack_solve_resources(one.get(), resources, 16, 3, nullptr, nullptr) == unsupported);
    ENSURE(hob_knapsack_get_resource_usage(one.get(), 0, &used) == unsupported);
    ENSURE(hob_knapsack_add_setting(several.get(), quality.data(), sizeof quality[0], 3, nullptr) == unsupported);
    ENSURE(last_error_has("hob_knapsack_add_setting_resources"));
    ENSURE(hob_knapsack_solve(several.get(), &desc, nullptr) == unsupported);
    ENSURE(hob_knapsack_setting_count(one.get()) == 0 && hob_knapsack_setting_count(several.get()) == 0);
}

TEST("knapsack: invalid resources are rejected") {
    const hob_result invalid = HOB_RESULT_INVALID_ARGUMENT;
    const double nan_value = std::numeric_limits<double>::quiet_NaN();
    for (const uint32_t count : {9u, 1000u, UINT32_MAX}) {
        hob_knapsack_desc desc = HOB_KNAPSACK_DESC_INIT;
        desc.resource_count = count;
        hob_knapsack* none = nullptr;
        ENSURE(hob_knapsack_create(&desc, &none) == invalid && none == nullptr && last_error_has("resources"));
    }
    const Knapsack owner = make_knapsack_of(3);
    hob_knapsack* const knapsack = owner.get();
    Ladder ladder;
    ladder.options.assign(2, {1, {{1, 0}, {1, 0}, {1, 0}}});
    ENSURE_OK(add_ladder(knapsack, ladder));
    hob_knapsack_usage used = HOB_KNAPSACK_USAGE_INIT;
    ENSURE(hob_knapsack_get_resource_usage(knapsack, 0, &used) == HOB_RESULT_NOT_FOUND && last_error_has("solve"));
    const auto unchanged = [&](hob_result result, hob_result expected, const char* part) {
        ENSURE(result == expected && last_error_has(part) && hob_knapsack_setting_count(knapsack) == 1);
    };

    const auto spoiled = [&](void (*spoil)(Ladder::Option&, double), double bad) {
        Ladder wrong = ladder;
        spoil(wrong.options[1], bad);
        return add_ladder(knapsack, wrong);
    };
    for (const double bad : {nan_value, infinity, -infinity, 1.1e100}) {
        unchanged(spoiled([](auto& option, double to) { option.value = to; }, bad), invalid, "value");
    }
    for (const double bad : {nan_value, -infinity, 1.1e100}) {
        unchanged(spoiled([](auto& option, double to) { option.weights[2].mean = to; }, bad), invalid, "resource 2");
    }
    for (const double bad : {nan_value, infinity, -1.0, 1.1e100}) {
        unchanged(spoiled([](auto& option, double to) { option.weights[1].variance = to; }, bad), invalid, "variance");
    }
    const double* const values = &ladder.options[0].value;
    const hob_knapsack_weight* const weights = ladder.options[0].weights;
    const size_t stride = sizeof ladder.options[0];
    const auto added = [&](const double* from, size_t value_stride, const hob_knapsack_weight* rows, size_t rows_stride,
                           uint32_t count = 2) {
        return hob_knapsack_add_setting_resources(knapsack, from, value_stride, rows, rows_stride, count, nullptr);
    };
    unchanged(added(nullptr, 8, weights, stride), invalid, "values is NULL");
    unchanged(added(values, 8, nullptr, stride), invalid, "weights is NULL");
    unchanged(added(values, 4, weights, stride), invalid, "stride");
    unchanged(added(values, stride, weights, 16), invalid, "weights_stride");
    unchanged(added(values, stride, weights, SIZE_MAX / 2), invalid, "address space");
    unchanged(added(values, stride, weights, stride, 65536), HOB_RESULT_LIMIT_EXCEEDED, "65535");
    ENSURE(hob_knapsack_add_setting_resources(nullptr, values, stride, weights, stride, 2, nullptr) == invalid);

    const auto solved = [&](Resources resources, hob_knapsack_solve_desc desc) {
        hob_knapsack_solution solution = HOB_KNAPSACK_SOLUTION_INIT;
        solution.value = 77;
        const auto count = static_cast<uint32_t>(resources.size());
        const hob_result result = hob_knapsack_solve_resources(knapsack, resources.data(), 16, count, &desc, &solution);
        ENSURE(result == HOB_RESULT_OK || solution.value == 77);
        return result;
    };
    const Resources good = {{3, 0}, {3, 0}, {3, 0}};
    hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
    unchanged(solved({{3, 0}, {3, 0}}, desc), invalid, "resource_count 3");
    unchanged(solved(Resources(9, {3, 0}), desc), invalid, "resource_count 3");
    unchanged(solved({{3, 0}, {nan_value, 0}, {3, 0}}, desc), invalid, "capacity");
    for (const double bad : {-1.0, nan_value, infinity}) {
        unchanged(solved({{3, 0}, {3, 0}, {3, bad}}, desc), invalid, "sigmas");
        desc.accepted_gap = bad;
        unchanged(solved(good, desc), invalid, "gap");
        desc.accepted_gap = 0;
    }
    desc.capacity = 5;
    unchanged(solved(good, desc), invalid, "each has its own");
    unchanged(hob_knapsack_solve_resources(knapsack, nullptr, 16, 3, nullptr, nullptr), invalid, "NULL");
    ENSURE(hob_knapsack_solve_resources(nullptr, good.data(), 16, 3, nullptr, nullptr) == invalid);
    for (const double capacity : {-infinity, -1e300, 1e300, 0.0, infinity}) {
        (void)solve(knapsack, {{capacity, 1e100}, {3, 0}, {capacity, 0}}, 1);
        for (uint32_t r = 0; r < 3; ++r) ENSURE(!std::isnan(usage(knapsack, r).excess));
    }
    ENSURE_OK(hob_knapsack_solve_resources(knapsack, good.data(), 16, 3, nullptr, nullptr));
    ENSURE(hob_knapsack_get_resource_usage(knapsack, 3, &used) == HOB_RESULT_NOT_FOUND);
    ENSURE(hob_knapsack_get_resource_usage(knapsack, 0, nullptr) == invalid);
    ENSURE(hob_knapsack_get_resource_usage(nullptr, 0, &used) == invalid);
}
