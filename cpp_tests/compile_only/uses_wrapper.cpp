// Compiled, never run: with every standard from C++17, with and without exceptions. Uses every member once.
#include <hobgoblin/hobgoblin.hpp>
#include <hobgoblin/hobgoblin.hpp>

#include <array>

namespace {

hob::Callbacks callbacks() {
    hob::Callbacks all;
    all.get_options = [](std::vector<hob::Option>& options) { options.assign(2, hob::option(1, 0.5)); };
    all.get_default_choice = [] { return uint32_t{0}; };
    all.set_choice = [](uint32_t, uint64_t) {};
    all.measure = [](hob_sample& measurement) {
        measurement.burden = 1;
        return false;
    };
    return all;
}

hob::ProgramCallbacks program_callbacks() {
    hob::ProgramCallbacks all;
    all.compile = [](void*, uint32_t, std::string_view) { return uint32_t{0}; };
    all.link = [](void*) { return uint32_t{0}; };
    all.load = [](void*, const hob_blob&) { return uint32_t{0}; };
    all.get_binary = [](void*, hob_program&) { return uint32_t{0}; };
    return all;
}

class Files : public hob::FileSystem {
    hob_result list(std::string_view, std::vector<std::string>&) override { return HOB_RESULT_OK; }
    hob_result create_directory(std::string_view) override { return HOB_RESULT_OK; }
    hob_result open(std::string_view, std::unique_ptr<hob::File>&) override { return HOB_RESULT_NOT_FOUND; }
    hob_result create(std::string_view, std::unique_ptr<hob::File>&) override { return HOB_RESULT_UNSUPPORTED; }
    hob_result rename(std::string_view, std::string_view) override { return HOB_RESULT_UNSUPPORTED; }
    hob_result remove(std::string_view) override { return HOB_RESULT_UNSUPPORTED; }
};

// ---- The try_ forms: the same source with and without exceptions. ----

hob::Result<void> uses_results() {
    const hob::Failure failure(HOB_RESULT_IO, "message");
    hob::Failure other = failure;
    other = failure;
    hob::Result<int> one(1);
    const hob::Result<int> two(2), none(other);
    *one = *two + *std::move(one);
    (void)(none.code() == none.failure().code() && none.message() == other.message());
    const hob::Result<std::string> text(std::string("text"));
    (void)text->size();
    hob::Result<std::string> same = text;
    same->clear();
    if (std::move(same).value_or("").empty()) return failure;
    const hob::Result<void> done;
    (void)(done && done.code() == HOB_RESULT_OK && done.message() == done.failure().message());
    return done;
}

void tries_program_cache(const hob::ProgramCache& cache, const hob::ProgramKey& key) {
    (void)cache.capi();
    const hob_fingerprint name = {};
    auto found = cache.try_get(name);
    auto waited = cache.try_get_wait(name, 5);
    hob::Blob blob = *std::move(found);
    blob = *std::move(waited);
    (void)(blob && blob.is_banned());
    (void)(blob.format() + blob.data().size() + blob.reflection().size());
    (void)blob.capi();
    (void)*cache.try_put(name, hob::Program());
    (void)cache.try_remove(name);
    (void)cache.try_clear(true);
    (void)cache.try_trim(1);
    (void)cache.try_set_memory_limit(1);
    (void)cache.try_set_disk_limit(2);
    (void)cache.try_report_memory_pressure(HOB_MEMORY_PRESSURE_MODERATE);
    (void)cache.try_mark_startup(name, false);
    (void)cache.try_report_shader_compiled(name);
    (void)(cache.knows_shader(name) || cache.knows_program(name) || cache.shader_program_count(name) > 0);
    auto use = cache.try_begin_use(name);
    hob::ProgramUse moved = *std::move(use);
    (void)moved.capi();
    (void)moved.try_end();
    (void)cache.strikes(name);
    (void)cache.try_clear_strikes(name);
    (void)cache.try_clear_all_strikes();
    (void)cache.loading_progress().total;
    (void)cache.try_wait_idle();
    (void)cache.try_flush(1);
    (void)cache.try_add_bundle("path");
    (void)cache.try_add_bundle_bytes("bytes");
    (void)*cache.try_write_bundle("path", HOB_BUNDLE_CONTENTS_STARTUP_SET);
    (void)cache.try_describe(key);
    (void)cache.try_explain_miss(key)->difference_count;
    (void)cache.try_problem()->size();
    (void)cache.try_report()->size();
    (void)cache.try_statistics()->hits;
    (void)cache.try_histogram(HOB_PROGRAM_CACHE_MEASURE_MISS_US)->p50;
    (void)cache.try_histogram_buckets(HOB_PROGRAM_CACHE_MEASURE_MISS_US)->size();
    (void)cache.try_add_measurement(HOB_PROGRAM_CACHE_MEASURE_MISS_US, 1);

    auto created = hob::ProgramManager::try_create(cache, program_callbacks());
    hob::ProgramManager& manager = *created;
    auto shader = manager.try_add_shader(HOB_SHADER_STAGE_COMPUTE, nullptr, "source");
    (void)manager.try_set_source(*shader, "other");
    (void)manager.try_compile(*shader)->state;
    auto linked = manager.try_link(nullptr, {*shader}, key, 1);
    (void)linked->use.try_end();
    (void)(linked->outcome == HOB_LINK_OUTCOME_LOADED && linked->key == linked->key);
    (void)(linked->driver_code + linked->failed_shader);
    (void)manager.try_remove_shader(*shader);
    (void)manager.capi();
    (void)static_cast<const hob::ProgramManager&>(manager).capi();
}

void tries_executor() {
    auto created = hob::Executor::try_create();
    auto pool = hob::Executor::try_create_pool(1);
    const hob::Executor& executor = *pool;
    (void)created->capi();
    (void)executor.capi();
    (void)executor.try_parallel_for(3, [](uint32_t) {});
    (void)executor.try_parallel_for(3, [](uint32_t, uint32_t) {}, HOB_PRIORITY_HIGH, "loop");
    (void)executor.try_post([] {});
    (void)executor.try_post([] {}, HOB_PRIORITY_LOW, "task");
    (void)*executor.try_pump(1000);
    (void)executor.try_wait_idle(1000);
    (void)executor.try_statistics()->ran;
    (void)executor.memory_used();
}

void tries_profile(hob::Profile& profile) {
    (void)profile.try_load("{}");
    (void)profile.try_save()->size();
    (void)profile.try_load_file("a");
    (void)profile.try_save_file("a");
    (void)profile.try_merge(profile);
    (void)profile.try_scale(2);
    (void)profile.try_set_task("a", {{1, 2, 0}});
    (void)profile.try_task(profile.task_count())->id.size();
    (void)profile.try_estimate("a", 0)->mean;
    (void)profile.try_remove_task("a");
    (void)profile.try_clear();
    (void)profile.memory_used();
    (void)profile.capi();
    (void)static_cast<const hob::Profile&>(profile).capi();
}

void tries_balance() {
    auto created = hob::Balance::try_create(2);
    hob::Balance& balance = *created;
    (void)hob::Balance::try_create(HOB_BALANCE_DESC_INIT)->strategy_count();
    (void)balance.try_start_recording([](std::string_view) {});
    (void)*balance.try_choose();
    (void)balance.try_measure(1, 1e6);
    (void)balance.try_statistics(1)->share;
    (void)balance.try_restart();
    (void)balance.try_stop_recording();
    (void)hob::Balance::try_replay("bytes", nullptr, 1)->capi();
    (void)static_cast<const hob::Balance&>(balance).capi();
}

void tries_knapsack() {
    auto created = hob::Knapsack::try_create();
    hob::Knapsack& knapsack = *created;
    (void)knapsack.try_reserve(1, 2);
    (void)knapsack.try_add_setting({{0, 1, 0}, {1, 2, 0}});
    (void)knapsack.try_add_setting_resources({0, 1}, {{1, 0}, {2, 0}});
    (void)knapsack.try_solve(4.0, 3)->value;
    (void)knapsack.try_solve(HOB_KNAPSACK_SOLVE_DESC_INIT)->value;
    (void)knapsack.try_solve_resources({{1, 0}, {2, 0}})->value;
    uint16_t choices[1];
    (void)*knapsack.try_read_choices(choices, 1);
    (void)knapsack.try_choices()->size();
    (void)knapsack.try_resource_usage(knapsack.resource_count())->price;
    (void)(knapsack.setting_count() + knapsack.memory_used());
    (void)knapsack.try_clear();
    (void)knapsack.capi();
    (void)static_cast<const hob::Knapsack&>(knapsack).capi();
}

void tries_hooks() {
    auto log = hob::try_set_log_hook([](hob_log_level, std::string_view) {}, HOB_LOG_LEVEL_DEBUG);
    auto clock = hob::try_set_clock_hook([] { return uint64_t{1}; });
    auto zone = hob::try_set_zone_hook([](const char*) {}, [] {});
    auto allocator = hob::try_set_allocator_hook([](size_t, size_t) { return static_cast<void*>(nullptr); },
                                                 [](void*, size_t, size_t) {});
    hob::Hook hook = *std::move(log);
    hook = *std::move(clock);
    if (hook && zone && allocator) hook.remove();
}

void tries_goblin(hob::Goblin& goblin, const hob::Profile& profile) {
    auto added = goblin.try_add("s", {0, 1, 2.5});
    const hob::Setting setting = *added;
    const double values[] = {1, 2};
    (void)goblin.try_add("a", values);
    (void)goblin.try_add("r", std::array<double, 2>{1, 2});
    (void)goblin.try_add("v", std::vector<double>{1, 2});
    (void)goblin.try_add("p", hob::ArrayView<double>::of(values, 2));
    hob::SettingOptions how;
    how.trim = true;
    (void)goblin.try_add("o", {hob::option(1), hob::option(2)});
    (void)goblin.try_add("t", std::vector<hob::Option>{hob::option(1)}, how);
    (void)goblin.try_add("c", callbacks());
    (void)goblin.try_add("k", callbacks(), {hob::option(1)}, how);
    (void)goblin.try_add_binary("b", 1);
    (void)goblin.try_add_binary("bd", -1, 1, true);
    (void)goblin.try_add("ad", {0, 1, 2}, 1);
    (void)goblin.try_add_fixed_burden("fv", 2);
    (void)goblin.try_add_fixed_burden("f");
    (void)goblin.try_add_fixed_incentive("i", 1);
    auto updated = goblin.try_update();
    const hob::Decision frame = *updated;
    (void)goblin.try_collect_samples();
    (void)goblin.try_decide()->id;
    (void)goblin.try_measure(frame.id, setting, hob::Lane::gpu, 1.5);
    (void)goblin.try_measure(frame.id, setting, hob::Lane::frame, 1.5, hob::SampleQuality::hitch);
    (void)goblin.try_measure_total(frame.id, hob::Lane::gpu, 9);
    (void)goblin.try_set_work(setting, 2);
    (void)goblin.try_set_options(setting, {hob::option(1), hob::option(2), hob::option(3)});
    (void)goblin.try_set_value(setting, 0, setting.choice());
    (void)goblin.try_set_ready(setting, 0, frame.feasible);
    hob::Axis resolution, samples;
    resolution.values = resolution.works = {1, 2, 3};
    samples.values = {0, 1};
    auto combined = goblin.try_add_product("p", {resolution, samples}, how);
    const hob::Product product = *combined;
    auto at = product.try_choice_at({product.index(0), product.index_of(1, 1)});
    (void)goblin.try_pin(product, *at);
    (void)goblin.try_set_range(setting, 0);
    (void)goblin.try_set_enabled(setting, frame.change_count > frame.strategy);
    (void)goblin.try_set_switch_scale(0.5);
    (void)goblin.try_set_switch_scale(setting, 0.5);
    (void)goblin.try_set_thermal_headroom(HOB_LANE_GPU, 0.5);
    (void)goblin.try_open_trial_window(60, 0.5);
    hob::GoblinOptions options;
    options.desc = *goblin.try_desc();
    options.patience = 2;
    (void)goblin.try_set_desc(options.capi());
    (void)goblin.try_set_tuning(*goblin.try_tuning());
    (void)*goblin.try_choice_of(frame.id, setting);
    (void)goblin.try_decision_details()->lanes[HOB_LANE_GPU].mean;
    auto why = goblin.try_reason(setting);
    const hob::Reason reason = *why;
    (void)goblin.try_report_applied(reason.since, setting, reason.why == HOB_WHY_BEST ? reason.from : reason.to);
    (void)goblin.try_reason_text(setting)->size();
    hob::StrategyOptions half;
    half.gpu_ms = 33.3;
    half.incentive = -5;
    auto strategy = goblin.try_add_strategy(half);
    (void)goblin.try_set_strategy(*strategy, half);
    (void)goblin.try_set_strategy_value(*strategy, setting, 0, 2);
    (void)goblin.try_set_strategy_work(*strategy, setting, 0.5);
    (void)goblin.try_set_strategy_work(*strategy, setting, 1, 0.5);
    (void)goblin.try_set_value(setting, 0, *goblin.try_strategy_net(*strategy));
    (void)goblin.try_estimate(setting, 0, hob::Lane::video_memory);
    (void)goblin.try_set_value(setting, 0, goblin.try_estimate(setting, 0)->mean);
    (void)goblin.try_statistics()->samples;
    (void)goblin.memory_used();
    (void)goblin.try_set_past_profile(profile);
    (void)goblin.try_load_profile("{}");
    (void)goblin.try_save_profile()->size();
    (void)goblin.try_start_recording([](std::string_view bytes) { (void)bytes.size(); });
    (void)goblin.try_stop_recording();
    (void)hob::try_replay("")->different;
    (void)goblin.capi();
    (void)static_cast<const hob::Goblin&>(goblin).capi();
    (void)goblin.try_remove(setting);
}

void tries_all() {
    hob::GoblinOptions options;
    options.gpu_ms = 16.6;
    auto goblin = hob::Goblin::try_create(options);
    auto from_desc = hob::Goblin::try_create(options.capi());
    auto profile = hob::Profile::try_create();
    if (!goblin || !from_desc || !profile) return;
    tries_goblin(*goblin, *profile);
    tries_profile(*profile);
    hob::ProgramCacheOptions cache_options;
    cache_options.files = std::make_shared<Files>();
    hob::ProgramKey key;
    key.stage(HOB_SHADER_STAGE_COMPUTE, "").attribute("a", 0).defines("").extra("").feedback(0, {"v"});
    auto cache = hob::ProgramCache::try_create(cache_options);
    tries_program_cache(*cache, key);
    auto name = key.try_fingerprint();
    name = hob::try_fingerprint("bytes");
    (void)hob::hex(*name).size();
    (void)(*name == *name && *name != *name && *name < *name);
    (void)(key.try_parts()->size() + *hob::try_environment_id(HOB_ENVIRONMENT_INIT));
    (void)hob::try_environment_parts(HOB_ENVIRONMENT_INIT)->size();
}

// ---- The throwing forms. ----

#if HOB_EXCEPTIONS
void throws_program_cache(const hob::ProgramCache& cache, const hob::ProgramKey& key) {
    const hob_fingerprint name = {};
    hob::Blob blob = cache.get(name);
    blob = cache.get_wait(name);
    if (cache.put(name, hob::Program())) cache.remove(name);
    cache.clear();
    cache.trim(1);
    cache.set_memory_limit(1);
    cache.set_disk_limit(2);
    cache.report_memory_pressure(HOB_MEMORY_PRESSURE_NONE);
    cache.mark_startup(name);
    cache.report_shader_compiled(name);
    cache.begin_use(name).end();
    cache.clear_strikes(name);
    cache.clear_all_strikes();
    if (cache.wait_idle() && cache.flush()) cache.add_bundle("path");
    cache.add_bundle_bytes("bytes");
    cache.describe(key);
    (void)(cache.write_bundle("path") + cache.explain_miss(key).common_count + cache.statistics().hits);
    (void)(cache.problem() + cache.report());
    (void)cache.histogram(HOB_PROGRAM_CACHE_MEASURE_MISS_US).count;
    (void)cache.histogram_buckets(HOB_PROGRAM_CACHE_MEASURE_MISS_US).size();
    cache.add_measurement(HOB_PROGRAM_CACHE_MEASURE_MISS_US, 1);
    hob::ProgramManager manager(cache, program_callbacks());
    const hob_shader_id shader = manager.add_shader(HOB_SHADER_STAGE_COMPUTE, nullptr, "source");
    manager.set_source(shader, "other");
    (void)manager.compile(shader).driver_code;
    manager.link(nullptr, {shader}).use.end();
    manager.remove_shader(shader);
}

void throws_goblin(hob::Goblin& goblin, const hob::Profile& profile) {
    const hob::Setting setting = goblin.add("s", {0, 1});
    goblin.add("v", std::vector<double>{1, 2});
    goblin.add("o", {hob::option(1)}, hob::SettingOptions());
    goblin.add("c", callbacks());
    goblin.add_binary("b", 1);
    goblin.add_binary("bd", -1, 1);
    goblin.add("ad", {0, 1, 2}, 1);
    goblin.add_fixed_burden("fv", 2);
    goblin.add_fixed_burden("f");
    goblin.add_fixed_incentive("i", 1);
    const hob::Product product = goblin.add_product("p", {hob::Axis()});
    const hob::Decision frame = goblin.update();
    goblin.collect_samples();
    goblin.measure(goblin.decide().id, setting, hob::Lane::gpu, 1);
    goblin.measure_total(frame.id, hob::Lane::gpu, 1);
    goblin.report_applied(frame.id, setting, 0);
    goblin.set_work(setting, 1);
    goblin.set_options(setting, {hob::option(1)});
    goblin.set_value(setting, 0, 1);
    goblin.set_ready(setting, 0, true);
    goblin.set_range(setting, 0);
    goblin.pin(product, product.choice_at({0}));
    goblin.set_enabled(setting, true);
    goblin.set_switch_scale(1);
    goblin.set_switch_scale(setting, 1);
    goblin.set_thermal_headroom(HOB_LANE_GPU, 0.5);
    goblin.open_trial_window(1, 1);
    goblin.set_desc(goblin.desc());
    goblin.set_tuning(goblin.tuning());
    (void)(goblin.choice_of(frame.id, setting) + goblin.decision_details().value);
    const uint32_t strategy = goblin.add_strategy(hob::StrategyOptions());
    goblin.set_strategy(strategy, hob::StrategyOptions());
    goblin.set_strategy_value(strategy, setting, 0, goblin.strategy_net(strategy));
    goblin.set_strategy_work(strategy, setting, 1);
    goblin.set_strategy_work(strategy, setting, 1, 1);
    (void)(goblin.reason(setting).gain + goblin.estimate(setting, 0).mean);
    (void)(goblin.reason_text(setting).size() + goblin.statistics().samples);
    goblin.set_past_profile(profile);
    goblin.load_profile(goblin.save_profile());
    goblin.start_recording([](std::string_view) {});
    goblin.stop_recording();
    goblin.remove(setting);
    (void)hob::replay("").different;
}

void throws_all() {
    try {
        hob::GoblinOptions options;
        hob::Goblin goblin(options), other(options.capi());
        hob::Goblin moved = std::move(goblin);
        moved = hob::Goblin(options);
        hob::Profile profile, limited{HOB_PROFILE_DESC_INIT};
        throws_goblin(moved, profile);
        profile.load(profile.save());
        profile.load_file("a");
        profile.save_file("a");
        profile.merge(limited);
        profile.scale(2);
        profile.set_task("a", {{1, 2, 0}});
        (void)(profile.task(0).option_count + profile.estimate("a", 0).mean);
        profile.remove_task("a");
        profile.clear();

        hob::Balance balance(2), same{HOB_BALANCE_DESC_INIT}, none(0);
        balance.start_recording([](std::string_view) {});
        balance.measure(balance.choose(), 1e6);
        (void)balance.statistics(0).share;
        balance.stop_recording();
        balance.restart();
        same = hob::Balance::replay("bytes");

        hob::Knapsack knapsack, several{HOB_KNAPSACK_DESC_INIT};
        knapsack.reserve(1, 2);
        (void)knapsack.add_setting({{0, 1, 0}});
        (void)(knapsack.solve(1).value + knapsack.solve(HOB_KNAPSACK_SOLVE_DESC_INIT).value);
        (void)(knapsack.choices().size() + knapsack.read_choices(nullptr, 0));
        (void)several.add_setting_resources({0}, {{1, 0}});
        (void)(several.solve_resources({{1, 0}}).value + several.resource_usage(0).price);
        knapsack.clear();

        const hob::Hook log = hob::set_log_hook([](hob_log_level, std::string_view) {});
        const hob::Hook clock = hob::set_clock_hook([] { return uint64_t{1}; });
        const hob::Hook zone = hob::set_zone_hook([](const char*) {}, [] {});
        const hob::Hook allocator = hob::set_allocator_hook(
            [](size_t, size_t) { return static_cast<void*>(nullptr); }, [](void*, size_t, size_t) {});

        hob::Executor executor;
        executor = hob::Executor(hob_executor_desc(HOB_EXECUTOR_DESC_INIT));
        executor = hob::Executor::create_pool(1);
        executor.parallel_for(3, [](uint32_t) {});
        executor.post([] {});
        (void)(executor.pump() + executor.statistics().ran);
        executor.wait_idle();

        hob::ProgramCache memory_only, cache{hob::ProgramCacheOptions()};
        const hob::ProgramKey key;
        throws_program_cache(cache, key);
        (void)(key.fingerprint() == hob::fingerprint("bytes"));
        (void)(key.parts().size() + hob::environment_id(HOB_ENVIRONMENT_INIT));
        (void)hob::environment_parts(HOB_ENVIRONMENT_INIT).size();
        (void)hob::Result<int>(1).value();
        hob::Result<void>().value();
#if __cplusplus >= 202002L
        auto designated = hob::Goblin{{.gpu_ms = 16.6, .overrun_probability = 0.01}};
#endif
    } catch (const hob::Error& error) {
        (void)(error.code() == error.failure().code() && error.what());
    }
}
#endif

}  // namespace

void uses_wrapper();

void uses_wrapper() {
    (void)uses_results();
    tries_all();
    tries_executor();
    tries_balance();
    tries_knapsack();
    tries_hooks();
#if HOB_EXCEPTIONS
    throws_all();
#endif
}
