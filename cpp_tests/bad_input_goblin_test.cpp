// Invalid input to a goblin: it gives a result code and a message with advice, and changes nothing.
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "bad_input_support.h"
#include "support.h"

using namespace support;

TEST("bad_input: goblin parameters outside their range are rejected") {
    const Fixture fixture;
    const hob_result invalid = HOB_RESULT_INVALID_ARGUMENT;
    const auto refused = [&](const char* part, const std::function<void(hob_goblin_desc&)>& spoil) {
        hob_goblin_desc desc = gpu_budget(16);
        spoil(desc);
        hob_goblin* none = nullptr;
        ENSURE(hob_goblin_create(&desc, &none) == invalid && none == nullptr && last_error_has(part));
        fixture.refuses(invalid, part, [&](auto* goblin) { return hob_goblin_set_desc(goblin, &desc); });
    };
    const auto refused_tuning = [&](const char* part, const std::function<void(hob_goblin_tuning&)>& spoil) {
        hob_goblin_tuning tuning = HOB_GOBLIN_TUNING_INIT;
        spoil(tuning);
        refused(part, [&](auto& desc) { desc.tuning = &tuning; });
        fixture.refuses(invalid, part, [&](auto* goblin) { return hob_goblin_set_tuning(goblin, &tuning); });
    };
    for (const double bad : {nan_value, -infinity, -1.0}) {
        refused("lane 0", [=](auto& desc) { desc.lanes[0].limit = bad; });
        refused("lane 7", [=](auto& desc) { desc.lanes[7].limit = bad; });
    }
    for (const double share : {-0.1, 0.51, nan_value}) {
        refused("overrun_probability", [=](auto& desc) { desc.overrun_probability = share; });
    }
    for (const double patience : {nan_value, infinity}) {
        refused("patience", [=](auto& desc) { desc.patience = patience; });
    }
    for (const uint32_t number : {3u, huge}) {
        refused("hob_burdens", [=](auto& desc) { set_number(desc.burdens, number); });
    }
    for (const uint32_t number : {65537u, huge}) {
        refused("history", [=](auto& desc) { desc.history = number; });
    }
    refused("max_settings", [](auto& desc) { desc.max_settings = huge; });
    for (const double risk : {-1.0, 0.51, nan_value, infinity}) {
        refused_tuning("trial_risk", [=](auto& tuning) { tuning.trial_risk = risk; });
    }
    for (const double limit : {-1.0, nan_value, -infinity}) {
        refused_tuning("switch_limit", [=](auto& tuning) { tuning.switch_limit = limit; });
    }
    for (const double sigmas : {101.0, nan_value, infinity}) {
        refused_tuning("sigmas", [=](auto& tuning) { tuning.sigmas = sigmas; });
    }
    for (const double value : {1e10, -1e10, nan_value, infinity}) {
        refused_tuning("explore_value", [=](auto& tuning) { tuning.explore_value = value; });
    }
    for (const uint32_t number : {2u, huge}) {
        refused_tuning("hob_exploration", [=](auto& tuning) { set_number(tuning.exploration, number); });
    }
}

TEST("bad_input: extreme valid parameters work") {
    for (const double limit : {0.0, 1e-300, 1e300, infinity}) {
        Budget budget = tunable(limit);
        budget.desc.history = 1;
        budget.tuning.sigmas = 100;
        budget.tuning.measure_quota = huge;
        budget.tuning.trial_limit = huge - 1;
        budget.tuning.precision = huge - 1;
        budget.tuning.node_limit = 1;
        const Goblin goblin = make_goblin(budget);
        Household household(goblin.get(), 3, 3);
        for (int n = 0; n < 3; ++n) (void)household.frame();
        const hob_setting_id setting = household.settings()[0];
        for (int n = 0; n < 50; ++n) {
            const hob_decision_details decision = update_details(goblin.get());
            ENSURE(!std::isnan(decision.value) && !std::isnan(decision.lanes[HOB_LANE_GPU].burden));
            const double burden = n % 2 == 0 ? 1e9 : 0;
            ENSURE_OK(hob_goblin_measure(goblin.get(), HOB_DECISION_LATEST, setting, HOB_LANE_GPU, burden, HOB_SAMPLE_QUALITY_OK));
            ENSURE_OK(hob_goblin_measure_total(goblin.get(), HOB_DECISION_LATEST, HOB_LANE_GPU, burden, HOB_SAMPLE_QUALITY_OK));
        }
    }
}

TEST("bad_input: invalid settings are rejected") {
    const Fixture fixture;
    const auto refused = [&](hob_result expected, const char* part,
                             const std::function<void(hob_setting_desc&)>& spoil) {
        hob_setting_desc desc = described("s", options_of_two);
        spoil(desc);
        fixture.refuses(expected, part, [&](auto* goblin) { return add(goblin, desc); });
    };
    const hob_result invalid = HOB_RESULT_INVALID_ARGUMENT;
    refused(invalid, "id is empty", [](auto& desc) { desc.id = hob_str_of(nullptr, 0); });
    refused(invalid, "id is NULL", [](auto& desc) { desc.id = hob_str_of(nullptr, 5); });
    refused(invalid, "not UTF-8: byte 2", [](auto& desc) { desc.id = HOB_STR("ab\xff"); });
    refused(invalid, "impossible length", [](auto& desc) { desc.id.len = SIZE_MAX - 1; });
    refused(invalid, "is NULL", [](auto& desc) { desc.options = nullptr; });
    refused(invalid, "stride", [](auto& desc) { desc.option_stride = sizeof(hob_option) - 1; });
    refused(invalid, "address space", [](auto& desc) { desc.option_stride = SIZE_MAX; });
    refused(HOB_RESULT_LIMIT_EXCEEDED, "65535", [](auto& desc) { desc.option_count = 65536; });
    refused(HOB_RESULT_LIMIT_EXCEEDED, "65535", [](auto& desc) { desc.option_count = huge; });
    refused(invalid, "default choice", [](auto& desc) { desc.default_choice = 2; });
    refused(invalid, "default choice", [](auto& desc) { desc.default_choice = huge; });
    for (const double burden : {-1.0, 1e10, nan_value, infinity}) {
        refused(invalid, "switch burden", [=](auto& desc) { desc.switch_burden = burden; });
    }
    for (const size_t stride : {size_t{8}, size_t{25}, SIZE_MAX - 7, SIZE_MAX / 2 + 1}) {
        refused(invalid, "option_stride", [=](auto& desc) {
            desc.option_stride = stride;
            desc.get_options = [](void*, hob_option*, uint32_t) { return 0u; };
        });
    }
    for (const uint32_t flags : {2u, 0x80000000u, huge})
        refused(HOB_RESULT_UNSUPPORTED, "flags", [=](auto& desc) { desc.flags = flags; });
    refused(HOB_RESULT_LIMIT_EXCEEDED, "get_options",
            [](auto& desc) { desc.get_options = [](void*, hob_option*, uint32_t) { return huge; }; });
    refused(invalid, "get_id", [](auto& desc) {
        desc.id = hob_str_of(nullptr, 0);
        desc.get_id = [](void*, hob_str* out) { *out = hob_str_of(nullptr, 3); };
    });
    refused(invalid, "id is empty", [](auto& desc) {
        desc.id = hob_str_of(nullptr, 0);
        desc.get_id = [](void*, hob_str*) {};
    });
}

TEST("bad_input: invalid options are rejected") {
    const Fixture fixture;
    const auto refused = [&](hob_result expected, const char* part, hob_option bad) {
        const std::vector<hob_option> options = {{0, 0, 0, 0}, bad};
        const hob_setting_desc desc = described("s", options);
        fixture.refuses(expected, part, [&](auto* goblin) { return add(goblin, desc); });
        fixture.refuses(expected, part, [&](auto* goblin) {
            return hob_goblin_set_options(goblin, fixture.setting, options.data(), sizeof bad, 2);
        });
    };
    for (const double bad : {nan_value, infinity, -infinity, 1.1e9, -1.1e9}) {
        refused(HOB_RESULT_INVALID_ARGUMENT, "option 1: value", {bad, 0, 0, 0});
        fixture.refuses(HOB_RESULT_INVALID_ARGUMENT, "value",
                        [&](auto* g) { return hob_goblin_set_value(g, fixture.setting, 1, bad); });
        hob_setting_id id = {0, 0};
        const double values[] = {0, bad};
        fixture.refuses(HOB_RESULT_INVALID_ARGUMENT, "value",
                        [&](auto* g) { return hob_goblin_add_array(g, HOB_STR("s"), values, 2, &id); });
        fixture.refuses(HOB_RESULT_INVALID_ARGUMENT, "value",
                        [&](auto* g) { return hob_goblin_add_binary(g, HOB_STR("s"), bad, &id); });
        fixture.refuses(HOB_RESULT_INVALID_ARGUMENT, "value",
                        [&](auto* g) { return hob_goblin_add_fixed_incentive(g, HOB_STR("s"), bad, &id); });
        ENSURE(id.index1 == 0);
    }
    for (const double bad : {nan_value, infinity, -1.0, 1.1e9}) {
        refused(HOB_RESULT_INVALID_ARGUMENT, "option 1: relative burden", {0, bad, 0, 0});
    }
    for (const uint32_t flags : {2u, 0x80000000u, huge}) refused(HOB_RESULT_UNSUPPORTED, "flags", {0, 0, flags, 0});
    const auto set = [&](const hob_option* options, size_t stride, uint32_t count) {
        return [=, &fixture](auto* goblin) {
            return hob_goblin_set_options(goblin, fixture.setting, options, stride, count);
        };
    };
    fixture.refuses(HOB_RESULT_INVALID_ARGUMENT, "NULL", set(nullptr, sizeof(hob_option), 2));
    fixture.refuses(HOB_RESULT_INVALID_ARGUMENT, "stride", set(options_of_two.data(), 8, 2));
    fixture.refuses(HOB_RESULT_LIMIT_EXCEEDED, "65535", set(options_of_two.data(), sizeof(hob_option), huge));
    fixture.refuses(HOB_RESULT_LIMIT_EXCEEDED, "65535", [](auto* goblin) {
        hob_setting_id id = {0, 0};
        const double values[] = {0};
        return hob_goblin_add_array(goblin, HOB_STR("s"), values, huge, &id);
    });
    fixture.refuses(HOB_RESULT_INVALID_ARGUMENT, "values", [](auto* goblin) {
        hob_setting_id id = {0, 0};
        return hob_goblin_add_array(goblin, HOB_STR("s"), nullptr, 3, &id);
    });
}

TEST("bad_input: unknown settings and options are rejected") {
    const Fixture fixture;
    for (const hob_setting_id bad :
         {hob_setting_id{0, 0}, hob_setting_id{2, 0}, hob_setting_id{1, 1}, hob_setting_id{huge, huge}}) {
        const auto not_found = [&](const auto& make) {
            fixture.refuses(HOB_RESULT_NOT_FOUND, "no such setting", make);
        };
        not_found([=](auto* g) { return hob_goblin_remove_setting(g, bad); });
        not_found([=](auto* g) { return hob_goblin_set_options(g, bad, nullptr, 0, 0); });
        not_found([=](auto* g) { return hob_goblin_set_value(g, bad, 0, 0); });
        not_found([=](auto* g) { return hob_goblin_set_ready(g, bad, 0, 0); });
        not_found([=](auto* g) { return hob_goblin_set_work(g, bad, 1); });
        not_found([=](auto* g) { return hob_goblin_measure(g, HOB_DECISION_LATEST, bad, HOB_LANE_GPU, 1, HOB_SAMPLE_QUALITY_OK); });
        not_found([=](auto* g) { return hob_goblin_report_applied(g, HOB_DECISION_LATEST, bad, 0); });
        not_found([=](auto* g) { return hob_goblin_set_range(g, bad, 0, 0); });
        not_found([=](auto* g) { return hob_goblin_pin(g, bad, 0); });
        not_found([=](auto* g) { return hob_goblin_set_enabled(g, bad, 0); });
        not_found([=](auto* g) { return hob_goblin_set_strategy_value(g, 1, bad, 0, 1); });
        not_found([=](auto* g) { return hob_goblin_set_strategy_work(g, 1, bad, 1); });
        not_found([=](auto* g) { return hob_goblin_set_strategy_option_work(g, 1, bad, 0, 1); });
        not_found([=](auto* g) { return hob_goblin_set_setting_switch_scale(g, bad, 1); });
        not_found([=](auto* g) {
            hob_reason found = HOB_REASON_INIT;
            return hob_goblin_get_reason(g, bad, &found);
        });
        not_found([=](auto* g) {
            char text[256];
            return hob_goblin_get_reason_text(g, bad, text, sizeof text, nullptr);
        });
        not_found([=](auto* g) {
            uint32_t choice = 0;
            return hob_goblin_get_product_choice(g, bad, nullptr, 0, &choice);
        });
        ENSURE(hob_goblin_product_index(fixture.goblin.get(), bad, 0, 0) == 0 && last_error_has("no such setting"));
        not_found([=](auto* g) {
            hob_estimate found = HOB_ESTIMATE_INIT;
            return hob_goblin_get_estimate(g, bad, 0, HOB_LANE_GPU, &found);
        });
        ENSURE(hob_goblin_choice(fixture.goblin.get(), bad) == 0);
    }
    // 0 is not a decision id, so that a zeroed frame has no effect.
    const auto no_decision = [&](const auto& make) {
        fixture.refuses(HOB_RESULT_NOT_FOUND, "pass hob_decision.id, or HOB_DECISION_LATEST", make);
    };
    uint32_t choices[1];
    no_decision([&](auto* g) { return hob_goblin_measure(g, 0, fixture.setting, HOB_LANE_GPU, 1, HOB_SAMPLE_QUALITY_OK); });
    no_decision([&](auto* g) { return hob_goblin_measure_total(g, 0, HOB_LANE_GPU, 1, HOB_SAMPLE_QUALITY_OK); });
    no_decision([&](auto* g) { return hob_goblin_report_applied(g, 0, fixture.setting, 1); });
    no_decision([&](auto* g) { return hob_goblin_choice_of(g, 0, fixture.setting, choices); });
    no_decision([&](auto* g) { return hob_goblin_choices(g, 0, choices, 1, nullptr, nullptr); });
    for (const uint32_t bad : {2u, 65535u, 65536u, huge}) {
        const auto refused = [&](const auto& make) {
            fixture.refuses(HOB_RESULT_INVALID_ARGUMENT, "the setting has 2", make);
        };
        refused([&](auto* g) { return hob_goblin_set_value(g, fixture.setting, bad, 0); });
        refused([&](auto* g) { return hob_goblin_set_ready(g, fixture.setting, bad, 0); });
        refused([&](auto* g) { return hob_goblin_report_applied(g, HOB_DECISION_LATEST, fixture.setting, bad); });
        refused([&](auto* g) { return hob_goblin_set_strategy_value(g, 1, fixture.setting, bad, 0); });
        refused([&](auto* g) { return hob_goblin_set_strategy_option_work(g, 1, fixture.setting, bad, 1); });
        refused([&](auto* g) { return hob_goblin_pin(g, fixture.setting, bad); });
        refused([&](auto* g) { return hob_goblin_set_range(g, fixture.setting, bad, huge); });
        refused([&](auto* g) {
            hob_estimate found = HOB_ESTIMATE_INIT;
            return hob_goblin_get_estimate(g, fixture.setting, bad, HOB_LANE_GPU, &found);
        });
    }
}

TEST("bad_input: invalid ranges, scales and windows are rejected") {
    const Fixture fixture;
    const hob_result invalid = HOB_RESULT_INVALID_ARGUMENT;
    fixture.refuses(invalid, "first must not come after last",
                    [&](auto* g) { return hob_goblin_set_range(g, fixture.setting, 1, 0); });
    for (const double bad : {nan_value, infinity, -infinity, -1.0, 1.1e9}) {
        fixture.refuses(invalid, "switch scale", [=](auto* g) { return hob_goblin_set_switch_scale(g, bad); });
        fixture.refuses(invalid, "switch scale", [&](auto* g) {
            return hob_goblin_set_setting_switch_scale(g, fixture.setting, bad);
        });
        fixture.refuses(invalid, "share", [=](auto* g) { return hob_goblin_open_trial_window(g, 10, bad); });
    }
    for (const double bad : {nan_value, infinity, -infinity, -0.1, 101.0}) {
        fixture.refuses(invalid, "thermal headroom",
                        [=](auto* g) { return hob_goblin_set_thermal_headroom(g, HOB_LANE_GPU, bad); });
    }
    ENSURE_OK(hob_goblin_set_range(fixture.goblin.get(), fixture.setting, 1, huge));
    ENSURE_OK(hob_goblin_set_switch_scale(fixture.goblin.get(), 1e9));
    ENSURE_OK(hob_goblin_open_trial_window(fixture.goblin.get(), huge, 1e9));
    for (int n = 0; n < 10; ++n) (void)update(fixture.goblin.get());
    ENSURE(hob_goblin_choice(fixture.goblin.get(), fixture.setting) == 1);
    // A setting without options has no choice to limit or pin.
    const hob_setting_id empty = add_array(fixture.goblin.get(), "empty", {});
    fixture.refuses(invalid, "the setting has 0", [=](auto* g) { return hob_goblin_pin(g, empty, 1); });
    ENSURE_OK(hob_goblin_set_range(fixture.goblin.get(), empty, 0, huge));
    (void)update(fixture.goblin.get());
    ENSURE(reason(fixture.goblin.get(), empty).why == HOB_WHY_UNDECIDED);
}

TEST("bad_input: invalid strategies are rejected") {
    const Fixture fixture;
    hob_goblin* const goblin = fixture.goblin.get();
    const hob_result invalid = HOB_RESULT_INVALID_ARGUMENT;
    const auto refused = [&](const char* part, const std::function<void(hob_strategy_desc&)>& spoil) {
        hob_strategy_desc desc = HOB_STRATEGY_DESC_INIT;
        spoil(desc);
        uint32_t strategy = 77;
        fixture.refuses(invalid, part, [&](auto* g) { return hob_goblin_add_strategy(g, &desc, &strategy); });
        fixture.refuses(invalid, part, [&](auto* g) { return hob_goblin_set_strategy(g, 0, &desc); });
        ENSURE(strategy == 77);
    };
    for (const double bad : {nan_value, -infinity})
        refused("lane 3", [=](auto& desc) { desc.lanes[HOB_LANE_RENDER_THREAD].limit = bad; });
    for (const double bad : {nan_value, infinity, -infinity, 1.1e9, -1.1e9})
        refused("incentive", [=](auto& desc) { desc.incentive = bad; });

    const hob_strategy_desc plain = HOB_STRATEGY_DESC_INIT;
    hob_strategy_desc limited = HOB_STRATEGY_DESC_INIT;
    limited.lanes[HOB_LANE_GPU].limit = 33;
    fixture.refuses(invalid, "configure the goblin", [&](auto* g) { return hob_goblin_set_strategy(g, 0, &limited); });
    for (const uint32_t bad : {1u, huge}) {
        double net = 77;
        fixture.refuses(HOB_RESULT_NOT_FOUND, "does not exist",
                        [&](auto* g) { return hob_goblin_set_strategy(g, bad, &plain); });
        fixture.refuses(HOB_RESULT_NOT_FOUND, "does not exist",
                        [&](auto* g) { return hob_goblin_get_strategy_net(g, bad, &net); });
        ENSURE(net == 77);
    }
    for (const uint32_t bad : {0u, 1u, huge}) {
        fixture.refuses(bad == 0 ? invalid : HOB_RESULT_NOT_FOUND, "strategy",
                        [&](auto* g) { return hob_goblin_set_strategy_value(g, bad, fixture.setting, 0, 1); });
        fixture.refuses(bad == 0 ? invalid : HOB_RESULT_NOT_FOUND, "strategy",
                        [&](auto* g) { return hob_goblin_set_strategy_work(g, bad, fixture.setting, 1); });
    }
    uint32_t strategy = 0;
    ENSURE_OK(hob_goblin_add_strategy(goblin, &limited, &strategy));
    for (const double bad : {nan_value, infinity, -infinity, 1.1e9})
        fixture.refuses(invalid, "value",
                        [&](auto* g) { return hob_goblin_set_strategy_value(g, strategy, fixture.setting, 1, bad); });
    for (const double bad : {nan_value, infinity, 0.0, -1.0, 1e-10, 1e10}) {
        fixture.refuses(invalid, "work",
                        [&](auto* g) { return hob_goblin_set_strategy_work(g, strategy, fixture.setting, bad); });
        fixture.refuses(invalid, "work", [&](auto* g) {
            return hob_goblin_set_strategy_option_work(g, strategy, fixture.setting, 1, bad);
        });
    }
    for (uint32_t n = 2; n <= 15; ++n) ENSURE_OK(hob_goblin_add_strategy(goblin, &limited, &strategy));
    fixture.refuses(HOB_RESULT_LIMIT_EXCEEDED, "15 strategies",
                    [&](auto* g) { return hob_goblin_add_strategy(g, &limited, &strategy); });
    ENSURE(strategy == 15 && update_details(goblin).setting_count == 1);
}

TEST("bad_input: invalid products are rejected") {
    const Fixture fixture;
    const hob_result invalid = HOB_RESULT_INVALID_ARGUMENT, exceeded = HOB_RESULT_LIMIT_EXCEEDED;
    const std::vector<double> many(60000), works = {1, 2}, values = {0, 1};
    const auto refused = [&](hob_result expected, const char* part,
                             const std::function<void(hob_product_desc&, hob_product_axis&)>& spoil) {
        std::vector<hob_product_axis> axes(17, {values.data(), works.data(), 1, 0});
        axes[0].count = axes[1].count = 2;
        hob_product_desc desc = HOB_PRODUCT_DESC_INIT;
        desc.id = HOB_STR("p");
        desc.axes = axes.data();
        desc.axis_stride = sizeof axes[0];
        desc.axis_count = 2;
        spoil(desc, axes[1]);
        hob_setting_id id = {0, 0};
        fixture.refuses(expected, part, [&](auto* g) { return hob_goblin_add_product(g, &desc, &id); });
        ENSURE(id.index1 == 0);
    };
    refused(invalid, "id is empty", [](auto& desc, auto&) { desc.id = hob_str_of(nullptr, 0); });
    refused(invalid, "not UTF-8", [](auto& desc, auto&) { desc.id = HOB_STR("\xff"); });
    refused(invalid, "needs an axis", [](auto& desc, auto&) { desc.axis_count = 0; });
    refused(invalid, "is NULL", [](auto& desc, auto&) { desc.axes = nullptr; });
    refused(invalid, "stride", [](auto& desc, auto&) { desc.axis_stride = 8; });
    refused(exceeded, "17 axes", [](auto& desc, auto&) { desc.axis_count = 17; });
    refused(exceeded, "axes", [](auto& desc, auto&) { desc.axis_count = huge; });
    refused(HOB_RESULT_UNSUPPORTED, "flags", [](auto& desc, auto&) { desc.flags = 2; });
    refused(invalid, "axis 1 has no values", [](auto&, auto& axis) { axis.count = 0; });
    refused(invalid, "values is NULL", [](auto&, auto& axis) { axis.values = nullptr; });
    refused(invalid, "default index 2", [](auto&, auto& axis) { axis.default_index = 2; });
    refused(invalid, "default index", [](auto&, auto& axis) { axis.default_index = huge; });
    refused(exceeded, "65535", [](auto&, auto& axis) { axis.count = huge; });
    refused(exceeded, "combinations", [&](auto&, auto& axis) { axis = {many.data(), nullptr, 60000, 0}; });
    for (const double bad : {nan_value, infinity, -infinity, 1.1e9}) {
        const double spoiled[] = {0, bad};
        refused(invalid, "value", [&](auto&, auto& axis) { axis.values = spoiled; });
    }
    for (const double bad : {nan_value, infinity, 0.0, -1.0, 1e10}) {
        const double spoiled[] = {1, bad};
        refused(invalid, "work", [&](auto&, auto& axis) { axis.works = spoiled; });
    }
    for (const double bad : {nan_value, infinity, -1.0, 1.1e9}) {
        refused(invalid, "relative burden", [=](auto& desc, auto&) { desc.relative_burden = bad; });
        refused(invalid, "switch burden", [=](auto& desc, auto&) { desc.switch_burden = bad; });
    }
    // The product of works must be in the range of works.
    const double large[] = {1, 1e6};
    refused(invalid, "work", [&](auto& desc, auto& axis) {
        axis.works = large;
        const_cast<hob_product_axis*>(desc.axes)[0].works = large;
    });
    // Only products have axes.
    uint32_t choice = 77;
    const uint32_t indices[] = {0, 0};
    fixture.refuses(invalid, "not a product",
                    [&](auto* g) { return hob_goblin_get_product_choice(g, fixture.setting, indices, 1, &choice); });
    ENSURE(hob_goblin_product_index(fixture.goblin.get(), fixture.setting, 1, 0) == 0 && last_error_has("not a product"));
    hob_setting_id product = {0, 0};
    const hob_product_axis axes[] = {{values.data(), works.data(), 2, 0}, {values.data(), nullptr, 2, 0}};
    hob_product_desc desc = HOB_PRODUCT_DESC_INIT;
    desc.id = HOB_STR("p");
    desc.axes = axes;
    desc.axis_count = 2;
    ENSURE_OK(hob_goblin_add_product(fixture.goblin.get(), &desc, &product));
    const auto product_choice = [&](const uint32_t* from, uint32_t count) {
        return [=, &choice](auto* g) { return hob_goblin_get_product_choice(g, product, from, count, &choice); };
    };
    const uint32_t beyond[] = {0, 2};
    fixture.refuses(invalid, "axis 1 has no index 2", product_choice(beyond, 2));
    fixture.refuses(invalid, "1 indices for 2 axes", product_choice(indices, 1));
    fixture.refuses(invalid, "0 indices", product_choice(nullptr, 0));
    fixture.refuses(invalid, "NULL", product_choice(nullptr, 2));
    fixture.refuses(invalid, "indices", product_choice(indices, huge));
    ENSURE(choice == 77);
    ENSURE(hob_goblin_product_index(fixture.goblin.get(), product, 4, 0) == 0 && last_error_has("option 4"));
    ENSURE(hob_goblin_product_index(fixture.goblin.get(), product, 3, 2) == 0 && last_error_has("axis 2"));
    ENSURE(hob_goblin_product_index(fixture.goblin.get(), product, huge, huge) == 0);
    ENSURE(hob_goblin_product_index(nullptr, product, 3, 0) == 0 && last_error_has("hob_goblin_create"));
}

TEST("bad_input: invalid samples are rejected") {
    const Fixture fixture;
    const auto refused = [&](hob_result expected, const char* part, uint64_t decision, double burden) {
        fixture.refuses(expected, part, [=, &fixture](auto* g) {
            return hob_goblin_measure(g, decision, fixture.setting, HOB_LANE_GPU, burden, HOB_SAMPLE_QUALITY_OK);
        });
        fixture.refuses(expected, part, [=](auto* g) {
            return hob_goblin_measure_total(g, decision, HOB_LANE_GPU, burden, HOB_SAMPLE_QUALITY_OK);
        });
    };
    const hob_result invalid = HOB_RESULT_INVALID_ARGUMENT;
    for (const double bad : {nan_value, infinity, -infinity, -1.0, -1e-300, 1.1e9}) {
        refused(invalid, "burden", HOB_DECISION_LATEST, bad);
    }
    for (const uint64_t bad : {uint64_t{21}, UINT64_MAX - 1}) refused(HOB_RESULT_NOT_FOUND, "not remembered", bad, 1);
    for (const double bad : {nan_value, 0.0, -1.0, 1e-10, 1e10, infinity}) {
        fixture.refuses(invalid, "work", [&](auto* g) { return hob_goblin_set_work(g, fixture.setting, bad); });
    }
    const Goblin fresh = make_goblin(16);
    const hob_setting_id setting = add_array(fresh.get(), "s", {0});
    ENSURE(hob_goblin_measure(fresh.get(), HOB_DECISION_LATEST, setting, HOB_LANE_GPU, 1, HOB_SAMPLE_QUALITY_OK) == HOB_RESULT_NOT_FOUND &&
           last_error_has("call update first"));
}
