// Compiled, never run: as every C++ from C++17, with and without exceptions. Every member is used once.
#include <hobgoblin/hobgoblin.hpp>
#include <hobgoblin/hobgoblin.hpp>

namespace {

/// What an Outcome holds; without exceptions, if it holds anything.
#if HOB_EXCEPTIONS
template <class T>
T&& value(T&& outcome) {
    return static_cast<T&&>(outcome);
}
#else
template <class T>
T& value(hob::Result<T>& outcome) {
    return *outcome;
}
#endif

hob::Callbacks callbacks() {
    hob::Callbacks all;
    all.options = [](std::vector<hob::Option>& options) { options.assign(2, hob::option(1, 0.5)); };
    all.choice_default = [] { return uint32_t{0}; };
    all.choice_set = [](uint32_t, uint64_t) {};
    all.measure = [](hob_measurement& measurement) {
        measurement.burden = 1;
        return false;
    };
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

void uses_program_cache(const hob::ProgramCacheOptions& options, const hob::ProgramKey& key) {
    auto made = hob::ProgramCache::create(options);
    const hob::ProgramCache& cache = value(made);
    (void)value(made).capi();
    (void)cache.capi();
    const hob_fingerprint name = {};
    auto found = cache.get(name);
    auto waited = cache.get_wait(name, 5);
    hob::Blob blob = static_cast<hob::Blob&&>(value(found));
    blob = static_cast<hob::Blob&&>(value(waited));
    (void)static_cast<bool>(blob);
    (void)(blob.format() + blob.data().size() + blob.reflection().size());
    (void)blob.capi();
    (void)cache.put(name, hob::Program());
    (void)cache.remove(name);
    (void)cache.clear(true);
    (void)cache.trim(1);
    (void)cache.set_limits(1, 2);
    (void)cache.memory_pressure(HOB_MEMORY_PRESSURE_MODERATE);
    (void)cache.mark_startup(name, false);
    (void)cache.shader_compiled(name);
    (void)(cache.knows_shader(name) || cache.knows_program(name) || cache.shader_programs(name) > 0);
    auto use = cache.use(name);
    hob::ProgramUse moved = static_cast<hob::ProgramUse&&>(value(use));
    (void)moved.capi();
    (void)moved.end();
    (void)cache.strikes(name);
    (void)cache.forgive(name);
    (void)cache.forgive_all();
    (void)cache.loading().total;
    (void)cache.wait_idle();
    (void)cache.flush(1);
    (void)cache.add_bundle("path");
    (void)cache.add_bundle_bytes("bytes");
    (void)cache.write_bundle("path", HOB_BUNDLE_CONTENTS_STARTUP_SET);
    (void)cache.describe(key);
    (void)cache.why_missed(key);
    (void)cache.trouble();
    (void)cache.report();
    (void)cache.statistics();
    (void)cache.histogram(HOB_PROGRAM_CACHE_MEASURE_MISS_US);
    (void)cache.histogram_buckets(HOB_PROGRAM_CACHE_MEASURE_MISS_US);
    (void)cache.record(HOB_PROGRAM_CACHE_MEASURE_MISS_US, 1);

    hob::ProgramDriver driver;
    driver.compile = [](void*, uint32_t, std::string_view) { return uint32_t{0}; };
    driver.link = [](void*) { return uint32_t{0}; };
    driver.load = [](void*, const hob_blob&) { return uint32_t{0}; };
    driver.binary = [](void*, hob_program&) { return uint32_t{0}; };
    auto created = hob::ProgramManager::create(cache, driver);
    hob::ProgramManager& manager = value(created);
    auto shader = manager.add_shader(HOB_SHADER_STAGE_COMPUTE, nullptr, "source");
    (void)manager.set_source(value(shader), "other");
    (void)manager.compile(value(shader));
    auto linked = manager.link(nullptr, {value(shader)}, key, 1);
    (void)value(linked).use.end();
    (void)(value(linked).outcome == HOB_LINK_OUTCOME_LOADED && value(linked).key == value(linked).key);
    (void)(value(linked).driver_code + value(linked).failed_shader);
    (void)manager.remove_shader(value(shader));
    (void)manager.capi();
    (void)static_cast<const hob::ProgramManager&>(manager).capi();
}

void uses_executor(const hob_executor_desc& desc) {
    auto made = hob::Executor::create(desc);
    auto pool = hob::Executor::pool(1);
    hob::Executor& executor = value(pool);
    (void)value(made).capi();
    (void)static_cast<const hob::Executor&>(executor).capi();
    (void)executor.parallel_for(3, [](uint32_t) {});
    (void)executor.parallel_for(3, [](uint32_t, uint32_t) {}, HOB_PRIORITY_HIGH, "loop");
    (void)executor.post([] {});
    (void)executor.post([] {}, HOB_PRIORITY_LOW, "task");
    (void)executor.pump();
    (void)executor.pump(1000);
    (void)executor.wait_idle();
    (void)executor.wait_idle(1000);
    (void)executor.statistics();
}

void uses_profile(hob::Profile& profile) {
    (void)profile.load("{}");
    (void)profile.save();
    (void)profile.load_file("a");
    (void)profile.save_file("a");
    (void)profile.merge(profile);
    (void)profile.scale(2);
    (void)profile.capi();
    (void)static_cast<const hob::Profile&>(profile).capi();
}

void uses_goblin(hob::Goblin& goblin, const hob::Profile& profile) {
    auto added = goblin.add("s", {0, 1, 2.5});
    const hob::Setting setting = value(added);
    (void)goblin.add("v", std::vector<double>{1, 2});
    (void)goblin.add("o", std::vector<hob::Option>{hob::option(1)}, 0);
    (void)goblin.add("c", callbacks());
    (void)goblin.add_binary("b", 1);
    (void)goblin.add_fixed_burden("f");
    (void)goblin.add_fixed_incentive("i", 1);
    auto updated = goblin.update();
    const hob::Frame frame = value(updated);
    (void)goblin.measure(frame.id, setting, hob::Lane::gpu, 1.5);
    (void)goblin.measure(frame.id, setting, hob::Lane::frame, 1.5, hob::Sample::hitch);
    (void)goblin.measure_total(frame.id, hob::Lane::gpu, 9);
    (void)goblin.set_work(setting, 2);
    (void)goblin.set_value(setting, 0, setting.choice());
    (void)goblin.set_ready(setting, 0, frame.feasible);
    hob::SettingOptions how;
    how.trim = true;
    (void)goblin.add("t", std::vector<hob::Option>{hob::option(1)}, how);
    (void)goblin.add("k", callbacks(), {}, how);
    hob::Axis resolution, samples;
    resolution.values = resolution.works = {1, 2, 3};
    samples.values = {0, 1};
    auto combined = goblin.add_product("p", {resolution, samples}, how);
    const hob::Product product = value(combined);
    auto at = product.choice_at({product.index(0), product.index_of(1, 1)});
    (void)goblin.pin(product, value(at));
    (void)goblin.set_range(setting, 0);
    (void)goblin.set_enabled(setting, frame.changes > frame.strategy);
    (void)goblin.set_switch_scale(0.5);
    (void)goblin.open_window(60, 0.5);
    auto why = goblin.reason(setting);
    const hob::Reason reason = value(why);
    (void)goblin.applied(reason.since, setting, reason.why == HOB_WHY_BEST ? reason.from : reason.to);
    (void)reason.text.size();
    hob::StrategyOptions half;
    half.gpu_ms = 33.3;
    half.incentive = -5;
    auto strategy = goblin.add_strategy(half);
    (void)goblin.set_strategy(value(strategy), half);
    (void)goblin.set_strategy_value(value(strategy), setting, 0, 2);
    (void)goblin.set_strategy_work(value(strategy), setting, 0.5);
    auto net = goblin.strategy_net(value(strategy));
    (void)goblin.set_value(setting, 0, value(net));
    (void)goblin.estimate(setting, 0, hob::Lane::video_memory);
    (void)goblin.applied(frame.id, setting, 0);
    auto estimated = goblin.estimate(setting, 0);
    const hob::Estimate estimate = value(estimated);
    (void)goblin.set_value(setting, 0, estimate.mean);
    (void)goblin.statistics();
    (void)goblin.set_past_profile(profile);
    (void)goblin.load_profile("{}");
    (void)goblin.save_profile();
    (void)goblin.record([](std::string_view bytes) { (void)bytes.size(); });
    (void)goblin.stop_recording();
    auto report = hob::replay("");
    (void)value(report).different;
    (void)goblin.capi();
    (void)static_cast<const hob::Goblin&>(goblin).capi();
    (void)goblin.remove(setting);
}

}  // namespace

void uses_wrapper();

void uses_wrapper() {
    hob::GoblinOptions options;
    options.gpu_ms = 16.6;
    auto created = hob::Goblin::create(options);
    auto profile = hob::Profile::create();
    uses_profile(value(profile));
    hob::ProgramCacheOptions cache_options;
    cache_options.files = std::make_shared<Files>();
    uses_program_cache(cache_options, hob::ProgramKey());
    uses_executor(HOB_EXECUTOR_DESC_INIT);
    uses_goblin(value(created), value(profile));
    hob::ProgramKey key;
    key.stage(HOB_SHADER_STAGE_COMPUTE, "").attribute("a", 0).defines("").extra("").feedback(0, {"v"});
    auto name = key.fingerprint();
    auto parts = key.parts();
    auto environment = hob::environment_id(HOB_ENVIRONMENT_INIT);
    (void)hob::hex(value(name)).size();
    (void)(value(name) == value(name) && value(name) != value(name) && value(name) < value(name));
    (void)(value(parts).size() + value(environment));
#if HOB_EXCEPTIONS
    try {
        hob::Goblin goblin(options);
        hob::Goblin moved = std::move(goblin);
        moved = hob::Goblin(options);
        hob::Profile owned;
        hob::Executor executor;
        executor = hob::Executor(hob_executor_desc(HOB_EXECUTOR_DESC_INIT));
        uses_goblin(moved, owned);
    } catch (const hob::Error& error) {
        (void)error.code();
    }
#else
    if (!created) (void)created.failure().sentence.size();
    if (!created->update()) (void)created->update().failure().code;
    if (!created->set_work(hob::Setting(), 1)) (void)created->capi();
#endif
}
