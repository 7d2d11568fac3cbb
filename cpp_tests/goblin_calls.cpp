#include "goblin_calls.h"

#include <string>

namespace support {

namespace {

const hob_option two_options[] = {{0, 1, 0, 0}, {5, 2, 0, 0}};
const double two_values[] = {0, 5};
constexpr char past[] = R"({"other task":[[9,1,0.1]]})";

hob_result add_setting_named(hob_goblin* goblin, hob_str id) {
    hob_setting_desc desc = HOB_SETTING_DESC_INIT;
    desc.id = id;
    desc.options = two_options;
    desc.option_stride = sizeof two_options[0];
    desc.option_count = 2;
    hob_setting_id added = {0, 0};
    return hob_goblin_add_setting(goblin, &desc, &added);
}

hob_result add_product(hob_goblin* goblin) {
    const double works[] = {1, 2};
    const hob_product_axis axes[] = {{two_values, works, 2, 0}, {two_values, nullptr, 2, 1}};
    hob_product_desc desc = HOB_PRODUCT_DESC_INIT;
    desc.id = HOB_STR("product");
    desc.axes = axes;
    desc.axis_stride = sizeof axes[0];
    desc.axis_count = 2;
    hob_setting_id added = {0, 0};
    return hob_goblin_add_product(goblin, &desc, &added);
}

/// Adds strategy 1, which later calls use.
hob_result add_strategy(hob_goblin* goblin) {
    hob_strategy_desc desc = HOB_STRATEGY_DESC_INIT;
    desc.lanes[HOB_LANE_GPU].limit = 20;
    desc.incentive = -1;
    uint32_t strategy = 0;
    return hob_goblin_add_strategy(goblin, &desc, &strategy);
}

hob_result set_past(hob_goblin* goblin) {
    hob_profile* profile = nullptr;
    hob_result result = hob_profile_create(nullptr, &profile);
    if (result == HOB_RESULT_OK) result = hob_profile_load(profile, past, sizeof past - 1);
    if (result == HOB_RESULT_OK) result = hob_goblin_set_past_profile(goblin, profile);
    hob_profile_destroy(profile);
    return result;
}

}  // namespace

std::vector<Call> exclusive_calls(hob_setting_id setting) {
    static hob_setting_id added;
    return {
        {"set_desc",
         [](hob_goblin* goblin) {
             const hob_goblin_desc desc = gpu_budget(20);
             return hob_goblin_set_desc(goblin, &desc);
         }},
        {"set_tuning", [](hob_goblin* goblin) { return hob_goblin_set_tuning(goblin, nullptr); }},
        {"add_setting", [](hob_goblin* goblin) { return add_setting_named(goblin, HOB_STR("late")); }},
        {"add_binary", [](hob_goblin* goblin) { return hob_goblin_add_binary(goblin, HOB_STR("b"), 1, &added); }},
        {"add_array",
         [](hob_goblin* goblin) { return hob_goblin_add_array(goblin, HOB_STR("a"), two_values, 2, &added); }},
        {"add_binary_with_default",
         [](hob_goblin* goblin) {
             return hob_goblin_add_binary_with_default(goblin, HOB_STR("bd"), -1, 1, 1, &added);
         }},
        {"add_array_with_default",
         [](hob_goblin* goblin) {
             return hob_goblin_add_array_with_default(goblin, HOB_STR("ad"), two_values, 2, 1, &added);
         }},
        {"add_fixed_burden_with_value",
         [](hob_goblin* goblin) {
             return hob_goblin_add_fixed_burden_with_value(goblin, HOB_STR("fv"), 2, &added);
         }},
        {"add_fixed_burden",
         [](hob_goblin* goblin) { return hob_goblin_add_fixed_burden(goblin, HOB_STR("f"), &added); }},
        {"add_fixed_incentive",
         [](hob_goblin* goblin) { return hob_goblin_add_fixed_incentive(goblin, HOB_STR("i"), 1, &added); }},
        {"add_product", [](hob_goblin* goblin) { return add_product(goblin); }},
        {"add_strategy", [](hob_goblin* goblin) { return add_strategy(goblin); }},
        {"set_strategy",
         [](hob_goblin* goblin) {
             const hob_strategy_desc desc = HOB_STRATEGY_DESC_INIT;
             return hob_goblin_set_strategy(goblin, 0, &desc);
         }},
        {"set_strategy_value",
         [=](hob_goblin* goblin) { return hob_goblin_set_strategy_value(goblin, 1, setting, 1, 3); }},
        {"set_strategy_work",
         [=](hob_goblin* goblin) { return hob_goblin_set_strategy_work(goblin, 1, setting, 0.5); }},
        {"set_strategy_option_work",
         [=](hob_goblin* goblin) { return hob_goblin_set_strategy_option_work(goblin, 1, setting, 1, 0.5); }},
        {"set_setting_switch_scale",
         [=](hob_goblin* goblin) { return hob_goblin_set_setting_switch_scale(goblin, setting, 0.5); }},
        {"set_range", [=](hob_goblin* goblin) { return hob_goblin_set_range(goblin, setting, 0, UINT32_MAX); }},
        {"pin", [=](hob_goblin* goblin) { return hob_goblin_pin(goblin, setting, 1); }},
        {"set_enabled", [=](hob_goblin* goblin) { return hob_goblin_set_enabled(goblin, setting, 1); }},
        {"set_switch_scale", [](hob_goblin* goblin) { return hob_goblin_set_switch_scale(goblin, 0.5); }},
        {"set_thermal_headroom",
         [](hob_goblin* goblin) { return hob_goblin_set_thermal_headroom(goblin, HOB_LANE_GPU, 0.5); }},
        {"open_trial_window", [](hob_goblin* goblin) { return hob_goblin_open_trial_window(goblin, 2, 0.5); }},
        {"set_options",
         [=](hob_goblin* goblin) {
             return hob_goblin_set_options(goblin, setting, two_options, sizeof two_options[0], 2);
         }},
        {"set_value", [=](hob_goblin* goblin) { return hob_goblin_set_value(goblin, setting, 1, 3); }},
        {"set_ready", [=](hob_goblin* goblin) { return hob_goblin_set_ready(goblin, setting, 1, 1); }},
        {"set_work", [=](hob_goblin* goblin) { return hob_goblin_set_work(goblin, setting, 2); }},
        {"collect_samples", [](hob_goblin* goblin) { return hob_goblin_collect_samples(goblin); }},
        {"decide", [](hob_goblin* goblin) { return hob_goblin_decide(goblin, nullptr); }},
        {"update", [](hob_goblin* goblin) { return hob_goblin_update(goblin, nullptr); }},
        {"measure",
         [=](hob_goblin* goblin) { return hob_goblin_measure(goblin, HOB_DECISION_LATEST, setting, HOB_LANE_GPU, 1, HOB_SAMPLE_QUALITY_OK); }},
        {"measure_total",
         [](hob_goblin* goblin) { return hob_goblin_measure_total(goblin, HOB_DECISION_LATEST, HOB_LANE_GPU, 1, HOB_SAMPLE_QUALITY_OK); }},
        {"report_applied", [=](hob_goblin* goblin) { return hob_goblin_report_applied(goblin, HOB_DECISION_LATEST, setting, 1); }},
        {"stop_recording", [](hob_goblin* goblin) { return hob_goblin_stop_recording(goblin); }},
        {"set_past_profile", [](hob_goblin* goblin) { return set_past(goblin); }},
        {"load_profile", [](hob_goblin* goblin) { return hob_goblin_load_profile(goblin, past, sizeof past - 1); }},
    };
}

std::vector<Call> const_calls(hob_setting_id setting) {
    return {
        {"get_desc",
         [](hob_goblin* goblin) {
             hob_goblin_desc desc = HOB_GOBLIN_DESC_INIT;
             return hob_goblin_get_desc(goblin, &desc);
         }},
        {"get_tuning",
         [](hob_goblin* goblin) {
             hob_goblin_tuning tuning = HOB_GOBLIN_TUNING_INIT;
             return hob_goblin_get_tuning(goblin, &tuning);
         }},
        {"get_estimate",
         [=](hob_goblin* goblin) {
             hob_estimate found = HOB_ESTIMATE_INIT;
             return hob_goblin_get_estimate(goblin, setting, 1, HOB_LANE_GPU, &found);
         }},
        {"get_statistics",
         [](hob_goblin* goblin) {
             hob_goblin_statistics found = HOB_GOBLIN_STATISTICS_INIT;
             return hob_goblin_get_statistics(goblin, &found);
         }},
        {"get_reason",
         [=](hob_goblin* goblin) {
             hob_reason reason = HOB_REASON_INIT;
             return hob_goblin_get_reason(goblin, setting, &reason);
         }},
        {"get_reason_text",
         [=](hob_goblin* goblin) {
             char text[256];
             return hob_goblin_get_reason_text(goblin, setting, text, sizeof text, nullptr);
         }},
        {"get_strategy_net",
         [](hob_goblin* goblin) {
             double net = 0;
             return hob_goblin_get_strategy_net(goblin, 0, &net);
         }},
        {"save_profile",
         [](hob_goblin* goblin) {
             size_t size = 0;
             return hob_goblin_save_profile(goblin, nullptr, 0, &size);
         }},
    };
}

void expect_all(const std::vector<Call>& calls, hob_goblin* goblin, hob_result expected) {
    for (const Call& call : calls) {
        const hob_result result = call.make(goblin);
        if (result == expected) continue;
        const std::string what = std::string("hob_goblin_") + call.name + " gave " + hob_result_name(result) +
                                 ", not " + hob_result_name(expected);
        harness::note(__FILE__, __LINE__, what.c_str());
    }
}

}  // namespace support
