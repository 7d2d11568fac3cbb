// hobgoblin.hpp: move-only owners, failures as exceptions and as results, and callbacks that throw.
#include <hobgoblin/hobgoblin.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support.h"

namespace {

hob::Goblin make(double gpu_ms) {
    hob::GoblinOptions options;
    options.gpu_ms = gpu_ms;
    return hob::Goblin(options);
}

/// An exception that a callback throws.
struct Thrown : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The message of the exception that the call throws. Empty: no exception.
template <class Call>
std::string thrown_by(const Call& call) {
    try {
        (void)call();
    } catch (const Thrown& thrown) {
        return thrown.what();
    }
    return {};
}

/// The code of the hob::Error that the call throws.
template <class Call>
hob_result code_of(const Call& call) {
    try {
        (void)call();
    } catch (const hob::Error& error) {
        ENSURE(std::string(error.what()) == hob_last_error());
        return error.code();
    }
    return HOB_RESULT_OK;
}

uint32_t setting_count(const hob::Goblin& goblin) {
    return goblin.statistics().setting_count;
}

}  // namespace

TEST("hpp: versions and names of results are those of the library") {
    ENSURE(hob::library_version() == HOB_VERSION && hob::is_compatible());
    ENSURE(std::string(hob::result_name(HOB_RESULT_BUSY)) == "HOB_RESULT_BUSY");
    const hob::Executor executor = hob::Executor::create_pool(2);
    ENSURE(executor.memory_used() > sizeof(void*));
    hob_environment environment = HOB_ENVIRONMENT_INIT;
    environment.driver = HOB_STR("4.5 Mesa");
    const auto parts = hob::environment_parts(environment);
    ENSURE(std::any_of(parts.begin(), parts.end(),
                       [](const hob_fingerprint_part& part) { return part.kind == HOB_ENVIRONMENT_PART_DRIVER; }));
    const hob::ProgramCache cache;
    cache.bind_egl();
    hob_egl_blob_set("key", 3, "value", 5);
    char value[5];
    ENSURE(hob_egl_blob_get("key", 3, value, 5) == 5 && std::string(value, 5) == "value");
}

TEST("hpp: a renderer stays inside its budget") {
    auto goblin = make(6);
    const auto shadows = goblin.add("shadows", {0, 4, 6});
    const auto fog = goblin.add_binary("fog", 1);
    for (int n = 0; n < 300; ++n) {
        const hob::Decision frame = goblin.update();
        ENSURE(frame.id == static_cast<uint64_t>(n) + 1 && frame.feasible == 1);
        goblin.measure(frame.id, shadows, hob::Lane::gpu, 1 + 2.0 * shadows.choice());
        goblin.measure(frame.id, fog, hob::Lane::gpu, 1 + fog.choice());
    }
    ENSURE(shadows.choice() == 1 && fog.choice() == 1);
    const hob::Estimate estimate = goblin.estimate(shadows, 1);
    ENSURE(support::close(estimate.mean, 3) && estimate.source == HOB_ESTIMATE_SOURCE_RECENT && estimate.count > 100);
}

TEST("hpp: a callback may destroy its goblin and throw") {
    auto holder = std::make_unique<hob::Goblin>(make(6));
    hob::Callbacks callbacks;
    callbacks.set_choice = [&](uint32_t, uint64_t) {
        holder.reset();
        throw std::runtime_error("gone");
    };
    (void)holder->add("suicidal", std::move(callbacks), {hob::option(0), hob::option(1)});
    bool thrown = false;
    try {
        (void)holder->update();
    } catch (const std::runtime_error& error) {
        thrown = std::string(error.what()) == "gone";
    }
    ENSURE(thrown && holder == nullptr);
}

TEST("hpp: a failed call throws its code and its message") {
    ENSURE(code_of([] { return make(std::nan("")); }) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(code_of([] {
               hob::GoblinOptions options;
               hob_goblin_tuning tuning = HOB_GOBLIN_TUNING_INIT;
               tuning.sigmas = 101;
               options.desc.tuning = &tuning;
               return hob::Goblin(options);
           }) == HOB_RESULT_INVALID_ARGUMENT);
    auto goblin = make(16);
    ENSURE(code_of([&] { return goblin.add("", {0, 1}); }) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(code_of([&] {
               goblin.remove(hob::Setting());
               return 0;
           }) == HOB_RESULT_NOT_FOUND);
    ENSURE(code_of([&] {
               goblin.load_profile("{");
               return 0;
           }) == HOB_RESULT_MALFORMED);
    hob::Profile profile;
    ENSURE(code_of([&] {
               profile.scale(0);
               return 0;
           }) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob::Setting().choice() == 0);
}

TEST("hpp: an exception from a callback is rethrown after the C call has returned") {
    hob::Callbacks callbacks;
    bool armed = false;
    callbacks.set_choice = [&](uint32_t, uint64_t) {
        if (!armed) throw Thrown("from set_choice");
    };
    callbacks.measure = [&](hob_sample&) -> bool {
        if (armed) throw Thrown("from measure");
        return false;
    };
    auto goblin = make(16);
    const auto setting = goblin.add("s", callbacks, {hob::option(0), hob::option(1)});
    ENSURE(thrown_by([&] { return goblin.update(); }) == "from set_choice");
    armed = true;
    ENSURE(thrown_by([&] { return goblin.update(); }) == "from measure");
    armed = false;
    ENSURE(goblin.update().id == 3);  // the decisions took place, and each exception is thrown once
    ENSURE(setting.choice() == 0);
}

TEST("hpp: the first of several exceptions is rethrown") {
    hob::Callbacks first, second;
    first.set_choice = [](uint32_t, uint64_t) { throw Thrown("first"); };
    second.set_choice = [](uint32_t, uint64_t) { throw Thrown("second"); };
    auto goblin = make(16);
    goblin.add("a", first, {hob::option(0)});
    goblin.add("b", second, {hob::option(0)});
    ENSURE(thrown_by([&] { return goblin.update(); }) == "first");
    ENSURE(thrown_by([&] { return goblin.update(); }).empty());
}

TEST("hpp: a setting whose callback throws while it is added is not added") {
    auto goblin = make(16);
    hob::Callbacks callbacks;
    const auto alive = std::make_shared<int>(0);
    callbacks.get_options = [alive](std::vector<hob::Option>&) { throw Thrown("from options"); };
    ENSURE(thrown_by([&] { return goblin.add("s", callbacks); }) == "from options");
    callbacks.get_options = nullptr;
    callbacks.get_default_choice = [alive]() -> uint32_t { throw Thrown("from get_default_choice"); };
    ENSURE(thrown_by([&] { return goblin.add("s", callbacks, {hob::option(0)}); }) == "from get_default_choice");
    callbacks.get_default_choice = nullptr;
    ENSURE(setting_count(goblin) == 0 && alive.use_count() == 1);
}

TEST("hpp: after an exception from the options callback the old options stay") {
    bool armed = false;
    hob::Callbacks callbacks;
    callbacks.get_options = [&](std::vector<hob::Option>& options) {
        options.push_back(hob::option(7));
        if (armed) throw Thrown("half way");
        options.push_back(hob::option(9));
    };
    auto goblin = make(16);
    goblin.add("s", callbacks);
    ENSURE(goblin.update().value == 7);
    armed = true;
    ENSURE(thrown_by([&] { return goblin.update(); }) == "half way");
    armed = false;
    ENSURE(goblin.update().id > 0 && goblin.decision_details().highest_value == 9);
}

TEST("hpp: a callback that updates its goblin gets BUSY") {
    auto goblin = make(16);
    hob::Callbacks callbacks;
    callbacks.set_choice = [&](uint32_t, uint64_t) { (void)goblin.update(); };
    goblin.add("s", callbacks, {hob::option(0)});
    ENSURE(code_of([&] { return goblin.update(); }) == HOB_RESULT_BUSY);
    ENSURE(goblin.update().id == 2);
}

TEST("hpp: the choice of an older decision can be read") {
    auto goblin = make(16);
    const auto setting = goblin.add("s", {0, 1});
    goblin.pin(setting, 1);
    const uint64_t first = goblin.update().id;
    goblin.pin(setting, 0);
    const uint64_t second = goblin.update().id;
    ENSURE(goblin.choice_of(first, setting) == 1 && goblin.choice_of(second, setting) == 0);
    ENSURE(goblin.try_choice_of(second + 1, setting).code() == HOB_RESULT_NOT_FOUND);
    uint32_t choices[1] = {9};
    ENSURE(goblin.choices(first, choices, 1) == first && choices[0] == 1);
    ENSURE(goblin.choices(HOB_DECISION_LATEST, choices, 1) == second && choices[0] == 0);
}

TEST("hpp: a setting owns its callbacks until it is removed") {
    const auto alive = std::make_shared<int>(0);
    hob::Callbacks callbacks;
    callbacks.set_choice = [alive](uint32_t, uint64_t) {};
    {
        auto goblin = make(16);
        const auto one = goblin.add("one", callbacks, {hob::option(0)});
        goblin.add("two", callbacks, {hob::option(0)});
        ENSURE(alive.use_count() == 4);
        goblin.remove(one);
        ENSURE(alive.use_count() == 3);
        ENSURE(code_of([&] { return goblin.add("", callbacks); }) == HOB_RESULT_INVALID_ARGUMENT);
        ENSURE(alive.use_count() == 3);
    }
    ENSURE(alive.use_count() == 2);
}

TEST("hpp: settings stay valid when their goblin is moved") {
    int told = 0;
    hob::Callbacks callbacks;
    callbacks.set_choice = [&](uint32_t, uint64_t) {
        ++told;
        throw Thrown("after the move");
    };
    auto first = make(16);
    const auto setting = first.add("s", callbacks, {hob::option(0), hob::option(1)});
    hob::Goblin second = std::move(first);
    ENSURE(thrown_by([&] { return second.update(); }) == "after the move");
    ENSURE(told == 1 && setting.choice() == 0);
    second = make(8);
    ENSURE(second.update().id == 1 && second.decision_details().lanes[HOB_LANE_GPU].capacity == 8);
    std::vector<hob::Goblin> several;
    for (int n = 0; n < 10; ++n) several.push_back(make(16));
    for (auto& goblin : several) ENSURE(goblin.update().id == 1);
}

TEST("hpp: a call on a moved-from goblin fails") {
    auto first = make(16);
    const hob::Goblin second = std::move(first);
    ENSURE(code_of([&] { return first.update(); }) == HOB_RESULT_INVALID_ARGUMENT);  // NOLINT: on purpose
    ENSURE(code_of([&] { return first.add("s", {0, 1}); }) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(second.capi() != nullptr && first.capi() == nullptr);
}

TEST("hpp: a profile can be copied from goblin to goblin") {
    auto first = make(100);
    const auto setting = first.add("s", {0, 1});
    for (int n = 0; n < 100; ++n) {
        const auto frame = first.update();
        first.measure(frame.id, setting, hob::Lane::gpu, 1 + setting.choice());
        first.measure_total(frame.id, hob::Lane::gpu, 5);
    }
    hob::Profile profile;
    profile.load(first.save_profile());
    profile.scale(2);
    const std::string path = support::scratch_file("hpp.json");
    profile.save_file(path);
    hob::Profile again;
    again.load_file(path);
    again.merge(profile);
    auto second = make(100);
    second.set_past_profile(again);
    const auto known = second.add("s", {0, 1});
    ENSURE(support::close(second.estimate(known, 1).mean, 4));
    auto third = make(100);
    third.load_profile(again.save());
    ENSURE(third.save_profile() == again.save());
}

TEST("hpp: lanes, floors, windows and reasons are wrapped") {
    hob::GoblinOptions options;
    options.gpu_ms = 16;
    options.game_thread_ms = 8;
    hob::Goblin goblin(options);
    hob::SettingOptions how;
    how.default_choice = 1;
    how.switch_burden = 0.5;
    const auto setting = goblin.add("s", {hob::option(0), hob::option(1), hob::option(2)}, how);
    const hob::Decision frame = goblin.update();
    ENSURE(setting.choice() == 1 && frame.change_count == 0 && frame.strategy == 0);
    ENSURE(goblin.decision_details().lanes[HOB_LANE_GAME_THREAD].capacity == 8 &&
           goblin.decision_details().lanes[HOB_LANE_RENDER_THREAD].capacity == 0);
    const hob::Reason unknown = goblin.reason(setting);
    ENSURE(unknown.why == HOB_WHY_UNKNOWN && unknown.to == 1 && goblin.reason_text(setting).find("unknown") != std::string::npos);
    goblin.measure(frame.id, setting, hob::Lane::game_thread, 3);
    ENSURE(goblin.estimate(setting, 1, hob::Lane::game_thread).mean == 3);
    goblin.pin(setting, 2);
    goblin.update();
    ENSURE(setting.choice() == 2 && goblin.reason(setting).why == HOB_WHY_PINNED);
    goblin.set_range(setting, 0);
    goblin.set_enabled(setting, false);
    ENSURE(goblin.update().id == 3 && goblin.decision_details().setting_count == 0 && goblin.reason_text(setting) == "disabled");
    goblin.set_switch_scale(0);
    goblin.open_trial_window(10, 1);
    ENSURE(code_of([&] {
               goblin.set_range(setting, 3);
               return 0;
           }) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(code_of([&] { return goblin.reason(hob::Setting()); }) == HOB_RESULT_NOT_FOUND);
}

TEST("hpp: a product returns the index of each axis") {
    auto goblin = make(5);
    hob::Axis resolution, samples;
    resolution.values = {0, 5, 8};
    resolution.works = {1, 2, 4};
    samples.values = {0, 2};
    samples.default_index = 1;
    const hob::Product product = goblin.add_product("picture", {resolution, samples});
    ENSURE(product.index(0) == 0 && product.index(1) == 1);
    for (int n = 0; n < 300; ++n) {
        const hob::Decision frame = goblin.update();
        goblin.measure(frame.id, product, hob::Lane::gpu, resolution.works[product.index(0)] * (1 + product.index(1)));
    }
    ENSURE(product.index(0) == 2 && product.index(1) == 0);  // 4 of 5 ms for 8; 4 ms for 5 + 2 is the next best
    goblin.pin(product, product.choice_at({1, 1}));
    goblin.update();
    ENSURE(product.index(0) == 1 && product.index(1) == 1 && product.index_of(product.choice(), 1) == 1);
    resolution.works.pop_back();
    bool refused = false;
    try {
        goblin.add_product("lame", {resolution, samples});
    } catch (const hob::Error& error) {
        refused = error.code() == HOB_RESULT_INVALID_ARGUMENT;
    }
    ENSURE(refused && setting_count(goblin) == 1);
    ENSURE(code_of([&] { return goblin.add_product("none", {}); }) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(code_of([&] { return product.choice_at({1}); }) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob::Product().index(1) == 0);
}

TEST("hpp: strategies are added, changed and chosen") {
    hob::GoblinOptions options;
    options.gpu_ms = 16;
    options.patience = -1;
    hob::Goblin goblin(options);
    const auto setting = goblin.add("s", {0, 5});
    goblin.load_profile(R"({"s":[[1000,2,0],[1000,20,0]]})");
    hob::StrategyOptions half;
    half.gpu_ms = 33;
    half.incentive = -6;
    const uint32_t strategy = goblin.add_strategy(half);
    ENSURE(strategy == 1 && goblin.update().strategy == 0 && goblin.strategy_net(strategy) == -1);
    half.incentive = -2;
    goblin.set_strategy(strategy, half);
    ENSURE(goblin.update().strategy == 1 && setting.choice() == 1 && goblin.strategy_net(strategy) == 3);
    goblin.set_strategy_value(strategy, setting, 1, 1);
    ENSURE(goblin.update().strategy == 0);
    goblin.set_strategy_work(strategy, setting, 0.5);
    goblin.set_strategy_work(strategy, setting, 1, 0.5);
    ENSURE(code_of([&] { return goblin.strategy_net(2); }) == HOB_RESULT_NOT_FOUND);
}

TEST("hpp: a goblin takes ownership of a C handle") {
    const hob_goblin_desc desc = support::gpu_budget(12);
    hob_goblin* raw = nullptr;
    ENSURE_OK(hob_goblin_create(&desc, &raw));
    hob::Goblin goblin(raw);
    ENSURE(goblin.capi() == raw && goblin.update().id == 1 && goblin.decision_details().lanes[HOB_LANE_GPU].capacity == 12);
}

TEST("hpp: a recording is written piece by piece, and an exception from its callback is rethrown") {
    std::string tape;
    bool is_full = false;
    hob::Goblin goblin = make(16);
    goblin.start_recording([&](std::string_view bytes) {
        if (is_full) throw Thrown("the disk is full");
        tape.append(bytes);
    });
    (void)goblin.add("s", {0, 1});
    (void)goblin.update();
    goblin.stop_recording();
    const hob_replay_report report = hob::replay(tape);
    ENSURE(report.end == HOB_REPLAY_END_COMPLETE && report.decisions == 1 && report.different == 0);
    ENSURE(code_of([] { return hob::replay("nothing"); }) == HOB_RESULT_MALFORMED);
    ENSURE(code_of([&] { goblin.start_recording([](std::string_view) {}); return 0; }) == HOB_RESULT_UNSUPPORTED);

    hob::Goblin other = make(16);
    other.start_recording([&](std::string_view) {
        if (is_full) throw Thrown("the disk is full");
    });
    is_full = true;
    ENSURE(thrown_by([&] { return other.update(); }) == "the disk is full");
    is_full = false;
    ENSURE(thrown_by([&] { return other.update(); }).empty());
}

TEST("hpp: starting and stopping a goblin's recording rethrow its exception, also in the try_ form") {
    hob::Goblin goblin = make(16);
    const auto full = [](std::string_view) { throw Thrown("the disk is full"); };
    // The goblin records all the same.
    ENSURE(thrown_by([&] { return goblin.try_start_recording(full); }) == "the disk is full");
    ENSURE(goblin.try_start_recording(full).code() == HOB_RESULT_UNSUPPORTED);
    ENSURE(thrown_by([&] { return goblin.try_stop_recording(); }) == "the disk is full");
    ENSURE(goblin.try_stop_recording() && goblin.update().id == 1);
}

TEST("hpp: an executor runs loops and tasks of any callable") {
    const auto executor = hob::Executor::create_pool(2);
    std::vector<int> ran(100);
    executor.parallel_for(100, [&](uint32_t block) { ++ran[block]; });
    executor.parallel_for(
        100,
        [&](uint32_t block, uint32_t worker) {
            EXPECT(worker < 3);
            ++ran[block];
        },
        HOB_PRIORITY_HIGH, "loop");
    for (const int count : ran) ENSURE(count == 2);
    auto owned = std::make_unique<int>(7);
    int seen = 0;
    executor.post([&seen, held = std::move(owned)] { seen = *held; }, HOB_PRIORITY_LOW, "task");
    executor.wait_idle();
    ENSURE(seen == 7 && executor.statistics().ran == 1);
}

TEST("hpp: an exception from a block is rethrown when the loop has ended") {
    hob_executor_desc desc = HOB_EXECUTOR_DESC_INIT;
    desc.pool_threads = 3;
    const hob::Executor pool(desc), alone;
    for (const hob::Executor* executor : {&pool, &alone}) {
        for (const uint32_t bad : {0u, 5u, 99u}) {
            ENSURE(thrown_by([&] {
                       executor->parallel_for(100, [&](uint32_t block) {
                           if (block == bad) throw Thrown("block " + std::to_string(block));
                       });
                       return 0;
                   }) == "block " + std::to_string(bad));
        }
        ENSURE(thrown_by([&] {
                   executor->parallel_for(100, [](uint32_t) { throw Thrown("all"); });
                   return 0;
               }) == "all");
        executor->parallel_for(3, [](uint32_t) {});
    }
}

TEST("hpp: an exception from a task is rethrown by the next pump") {
    const auto alive = std::make_shared<int>(0);
    {
        hob::Executor executor;
        executor.post([alive] { throw Thrown("from a task"); });
        executor.post([alive] {});
        ENSURE(alive.use_count() == 3);
        ENSURE(thrown_by([&] { return executor.pump(); }) == "from a task");
        ENSURE(alive.use_count() == 1 && executor.pump() == 0);
        executor.post([alive] { throw Thrown("again"); });
        ENSURE(thrown_by([&] {
                   executor.wait_idle();
                   return 0;
               }) == "again");
        executor.post([alive] {});
        ENSURE(alive.use_count() == 2);
        const hob::Executor moved = std::move(executor);
        ENSURE(code_of([&] { return executor.pump(); }) == HOB_RESULT_INVALID_ARGUMENT);  // NOLINT: on purpose
        ENSURE(moved.statistics().waiting == 1);
    }
    ENSURE(alive.use_count() == 1);
    ENSURE(code_of([] { return hob::Executor::create_pool(64); }) == HOB_RESULT_INVALID_ARGUMENT);
}

TEST("hpp: a try_ form returns the failure that the other form throws") {
    auto goblin = make(16);
    const auto missing = goblin.try_remove(hob::Setting());
    ENSURE(!missing && missing.code() == HOB_RESULT_NOT_FOUND && missing.message() == std::string(hob_last_error()));
    const hob::Failure copied = missing.failure();
    ENSURE(code_of([&] { return goblin.add("", {0, 1}); }) == HOB_RESULT_INVALID_ARGUMENT);
    // The message is a copy: the later failure has not changed it.
    ENSURE(std::string(copied.message()) == missing.message() && copied.message() != std::string(hob_last_error()));
    const auto setting = goblin.try_add("s", {0, 1});
    ENSURE(setting && setting.code() == HOB_RESULT_OK && std::string(setting.message()).empty());
    ENSURE(goblin.try_estimate(*setting, 9).value_or(hob::Estimate()).count == 0);
    ENSURE(goblin.try_update()->id == 1 && goblin.try_save_profile()->size() > 1);
    hob::GoblinOptions options;
    options.desc.max_settings = 0;
    options.desc.history = 70000;
    const auto refused = hob::Goblin::try_create(options);
    ENSURE(!refused && refused.code() == HOB_RESULT_INVALID_ARGUMENT && refused.message()[0] != '\0');
    const std::string longer(600, 'x');
    ENSURE(std::string(hob::Failure(HOB_RESULT_IO, longer).message()) == longer.substr(0, 511));
}

TEST("hpp: parameters are read and replaced") {
    hob::GoblinOptions options;
    options.gpu_ms = 6;
    options.overrun_probability = 0.02;
    options.desc.patience = 2;
    options.desc.history = 100;
    hob::Goblin goblin(options);
    hob_goblin_desc desc = goblin.desc();
    ENSURE(desc.lanes[HOB_LANE_GPU].limit == 6 && desc.overrun_probability == 0.02 && desc.patience == 2);
    ENSURE(desc.history == 100);
    options.patience = -1;
    options.gpu_ms = 8;
    goblin.set_desc(options.capi());
    desc = goblin.desc();
    ENSURE(desc.lanes[HOB_LANE_GPU].limit == 8 && desc.patience < 0 && desc.history == 100);
    desc.overrun_probability = 0.9;
    ENSURE(goblin.try_set_desc(desc).code() == HOB_RESULT_INVALID_ARGUMENT);
    hob_goblin_tuning tuning = goblin.tuning();
    tuning.sigmas = 2;
    goblin.set_tuning(tuning);
    ENSURE(goblin.tuning().sigmas == 2);
}

TEST("hpp: an update collects samples and decides") {
    auto goblin = make(16);
    int measured = 0;
    hob::Callbacks callbacks;
    callbacks.measure = [&](hob_sample& measurement) {
        measurement.burden = 3;
        return measured++ % 2 == 0;
    };
    const auto setting = goblin.add("s", callbacks, {hob::option(5)});
    ENSURE(goblin.decide().id == 1 && measured == 0);
    goblin.collect_samples();
    ENSURE(measured == 2 && goblin.statistics().samples == 1 && goblin.estimate(setting, 0).mean == 3);
    ENSURE(goblin.decide().id == 2 && measured == 2);
    goblin.set_options(setting, {hob::option(7), hob::option(8)});
    ENSURE(goblin.decide().id == 3 && goblin.decision_details().highest_value == 8);
    ENSURE(goblin.try_set_options(hob::Setting(), {hob::option(1)}).code() == HOB_RESULT_NOT_FOUND);
}

TEST("hpp: tasks of a profile are read, replaced and removed") {
    hob::Profile profile;
    profile.set_task("b", {{4, 2.5, 0.5}, {0, 0, 0}});
    profile.set_task("a", {{1, 7, 0}});
    ENSURE(profile.task_count() == 2 && profile.memory_used() > 0);
    ENSURE(profile.task(0).id == "a" && profile.task(1).id == "b" && profile.task(1).option_count == 2);
    const hob::Estimate estimate = profile.estimate("b", 0);
    ENSURE(estimate.mean == 2.5 && estimate.deviation == 0.5 && estimate.count == 4);
    ENSURE(estimate.source == HOB_ESTIMATE_SOURCE_PAST && profile.estimate("b", 1).source == HOB_ESTIMATE_SOURCE_BLIND);
    ENSURE(profile.try_task(2).code() == HOB_RESULT_NOT_FOUND);
    profile.remove_task("b");
    ENSURE(profile.task_count() == 1 && profile.try_remove_task("b").code() == HOB_RESULT_NOT_FOUND);
    profile.clear();
    ENSURE(profile.task_count() == 0);
}
