/* Compiled, never run: as every C from C99 and every C++ from C++11, with all warnings as errors. Uses what headers
   define rather than declare. */
#include <hobgoblin/hobgoblin.h>
#include <hobgoblin/hobgoblin.h>

hob_result uses_headers(hob_goblin* goblin, hob_setting_id* setting);

hob_result uses_headers(hob_goblin* goblin, hob_setting_id* setting) {
    hob_option options[2] = {{0, 0, 0, 0}, {1, 0, HOB_OPTION_NOT_READY, 0}};
    hob_setting_desc desc = HOB_SETTING_DESC_INIT;
    hob_decision decision = HOB_DECISION_INIT;
    const hob_goblin_desc goblin_desc = HOB_GOBLIN_DESC_INIT;
    const hob_goblin_statistics statistics = HOB_GOBLIN_STATISTICS_INIT;
    const hob_estimate estimate = HOB_ESTIMATE_INIT;
    const hob_profile_desc profile_desc = HOB_PROFILE_DESC_INIT;
    const hob_balance_desc balance_desc = HOB_BALANCE_DESC_INIT;
    const hob_knapsack_desc knapsack_desc = HOB_KNAPSACK_DESC_INIT;
    const hob_knapsack_solve_desc solve_desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
    const hob_knapsack_solution solution = HOB_KNAPSACK_SOLUTION_INIT;
    const hob_log_hook log_hook = HOB_LOG_HOOK_INIT;
    const hob_clock_hook clock_hook = HOB_CLOCK_HOOK_INIT;
    const hob_zone_hook zone_hook = HOB_ZONE_HOOK_INIT;
    const hob_goblin_tuning tuning = HOB_GOBLIN_TUNING_INIT;
    const hob_decision_details details = HOB_DECISION_DETAILS_INIT;
    const hob_allocator_hook allocator_hook = HOB_ALLOCATOR_HOOK_INIT;
    const hob_executor_desc executor_desc = HOB_EXECUTOR_DESC_INIT;
    const hob_executor_statistics executor_statistics = HOB_EXECUTOR_STATISTICS_INIT;
    const hob_reason reason = HOB_REASON_INIT;
    const hob_replay_report report = HOB_REPLAY_REPORT_INIT;
    const hob_strategy_desc strategy = HOB_STRATEGY_DESC_INIT;
    hob_product_desc product = HOB_PRODUCT_DESC_INIT;
    const hob_program_key_desc key = HOB_PROGRAM_KEY_DESC_INIT;
    const hob_environment environment = HOB_ENVIRONMENT_INIT;
    const hob_program_cache_desc cache_desc = HOB_PROGRAM_CACHE_DESC_INIT;
    const hob_file_io file_io = HOB_FILE_IO_INIT;
    const hob_program program = HOB_PROGRAM_INIT;
    const hob_blob blob = HOB_BLOB_INIT;
    const hob_program_cache_statistics cache_statistics = HOB_PROGRAM_CACHE_STATISTICS_INIT;
    const hob_histogram histogram = HOB_HISTOGRAM_INIT;
    const hob_program_miss miss = HOB_PROGRAM_MISS_INIT;
    const hob_program_callbacks driver = HOB_PROGRAM_CALLBACKS_INIT;
    const hob_program_link_desc link_desc = HOB_PROGRAM_LINK_DESC_INIT;
    const hob_link_result linked = HOB_LINK_RESULT_INIT;
    hob_product_axis axis = {0, 0, 0, 0};
    const double values[2] = {0, 1};
    hob_result result;
    axis.values = values;
    axis.count = 2;
    product.axes = &axis;
    product.axis_count = 1;
    product.flags = HOB_SETTING_TRIM;
    if (reason.why == HOB_WHY_HELD || strategy.incentive > 0 || product.reserved || report.different) return HOB_RESULT_INVALID_ARGUMENT;
    if (key.mode != HOB_FINGERPRINT_MODE_BLAKE3 || environment.api != HOB_GRAPHICS_API_UNKNOWN) return HOB_RESULT_INVALID_ARGUMENT;
    if (cache_desc.file_io || file_io.open || cache_desc.flags || program.size || blob.pin || cache_statistics.hits || histogram.count || miss.difference_count ||
        driver.compile || link_desc.shader_count || linked.outcome) return HOB_RESULT_INVALID_ARGUMENT;
    if (executor_desc.background == HOB_BACKGROUND_THREAD || executor_statistics.failed) return HOB_RESULT_BUSY;
    desc.id = hob_str_from("shadows");
    desc.id = hob_str_of("shadows", 7);
    desc.id = HOB_STR("shadows");
    desc.options = options;
    desc.option_stride = sizeof options[0];
    desc.option_count = 2;
    result = hob_goblin_add_setting(goblin, &desc, setting);
    if (result != HOB_RESULT_OK || hob_version() != HOB_VERSION || hob_abi_version() != HOB_ABI_VERSION) return result;
    if (goblin_desc.lanes[HOB_LANE_GPU].limit < 0 || statistics.samples > 0 ||
        estimate.source == HOB_ESTIMATE_SOURCE_PAST || profile_desc.memory_limit == 0 ||
        balance_desc.strategy_count == 0 || knapsack_desc.memory_limit == 0 || solve_desc.capacity < 0 || solution.proven != 0 ||
        log_hook.minimum_level == HOB_LOG_LEVEL_ERROR || clock_hook.now_ns || zone_hook.begin || tuning.dwell || details.nodes ||
        allocator_hook.allocate) {
        return HOB_RESULT_INVALID_ARGUMENT;
    }
    return hob_goblin_update(goblin, &decision);
}
