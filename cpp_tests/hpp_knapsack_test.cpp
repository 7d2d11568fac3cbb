// knapsack.hpp: one resource, several resources, and arguments that the library cannot check.
#include <hobgoblin/knapsack.hpp>

#include <string>
#include <vector>

#include "support.h"

TEST("hpp: a knapsack with one resource chooses the most valuable options that fit") {
    hob::Knapsack knapsack;
    knapsack.reserve(2, 4);
    ENSURE(knapsack.add_setting({{0, 1, 0}, {5, 3, 0}}) == 0);
    const std::vector<hob::KnapsackOption> options = {{0, 0, 0}, {4, 2, 0}};
    ENSURE(knapsack.add_setting(options) == 1 && knapsack.setting_count() == 2);
    const hob_knapsack_solution all = knapsack.solve(5.0);
    ENSURE(all.feasible == 1 && all.proven == 1 && all.value == 9);
    ENSURE(knapsack.choices() == (std::vector<uint16_t>{1, 1}));
    ENSURE(knapsack.solve(4.0).value == 5);
    uint16_t choices[2] = {9, 9};
    ENSURE(knapsack.read_choices(choices, 2) == 2 && choices[0] == 1 && choices[1] == 0);
    ENSURE(knapsack.try_read_choices(choices, 1).code() == HOB_RESULT_BUFFER_TOO_SMALL);
    hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
    desc.capacity = 2.5;
    ENSURE(knapsack.solve(desc).value == 0);
    knapsack.clear();
    ENSURE(knapsack.setting_count() == 0 && knapsack.memory_used() > 0 && knapsack.resource_count() == 0);
    ENSURE(knapsack.try_solve(1.0, -1).code() == HOB_RESULT_INVALID_ARGUMENT);
    const auto none = knapsack.try_add_setting_resources({1}, {{1, 0}});
    ENSURE(none.code() == HOB_RESULT_UNSUPPORTED && std::string(none.message()).find("resource_count") != std::string::npos);
}

TEST("hpp: deviations count as burden in a knapsack") {
    hob::Knapsack knapsack;
    knapsack.add_setting({{0, 1, 0}, {5, 3, 4}});
    ENSURE(knapsack.solve(6.0, 1).value == 5 && knapsack.solve(6.0, 2).value == 0);
}

TEST("hpp: a knapsack with several resources fits all of them") {
    hob_knapsack_desc desc = HOB_KNAPSACK_DESC_INIT;
    desc.resource_count = 2;
    hob::Knapsack knapsack(desc);
    ENSURE(knapsack.resource_count() == 2);
    knapsack.add_setting_resources({0, 5}, {{1, 0}, {1, 0}, {3, 0}, {1, 0}});
    knapsack.add_setting_resources({0, 4}, {{0, 0}, {0, 0}, {1, 0}, {9, 0}});
    ENSURE(knapsack.solve_resources({{4, 0}, {10, 0}}).value == 9);
    ENSURE(knapsack.solve_resources({{4, 0}, {5, 0}}).value == 5);
    ENSURE(knapsack.resource_usage(0).mean == 3 && knapsack.resource_usage(1).mean == 1);
    ENSURE(knapsack.choices() == (std::vector<uint16_t>{1, 0}));
    ENSURE(knapsack.try_resource_usage(2).code() == HOB_RESULT_NOT_FOUND);
    const auto short_of_weights = knapsack.try_add_setting_resources({0, 5}, {{1, 0}, {1, 0}, {3, 0}});
    ENSURE(short_of_weights.code() == HOB_RESULT_INVALID_ARGUMENT && knapsack.setting_count() == 2);
    ENSURE(std::string(short_of_weights.message()) ==
           "invalid weights: got 3, expected 4: one for each of 2 values and 2 resources");
    desc.resource_count = 9;
    ENSURE(!hob::Knapsack::try_create(desc));
}
