// hobgoblin/goblin.hpp: settings in, choices out, every frame. Part of hobgoblin.hpp. MIT OR Apache-2.0.
//
//     for (;;) {
//         const hob::Decision decision = goblin.update();
//         timers.push({decision.id, render(shadows.choice())});       // a GPU timer, with its frame's decision
//         while (timers.front().is_ready()) {                         // that of a frame some time ago
//             goblin.measure(timers.front().decision_id, shadows, hob::Lane::gpu, timers.front().milliseconds());
//             timers.pop();
//         }
//     }
#ifndef HOBGOBLIN_GOBLIN_HPP
#define HOBGOBLIN_GOBLIN_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "goblin.h"
#include "goblin_types.hpp"
#include "profile.hpp"

HOB_NAMESPACE_BEGIN

/// Keeps a frame inside its budget; see hob_goblin.
class Goblin {
public:
#if HOB_EXCEPTIONS
    explicit Goblin(const GoblinOptions& options) : Goblin(try_create(options).value()) {}
    explicit Goblin(const hob_goblin_desc& desc) : Goblin(try_create(desc).value()) {}
#endif
    static Result<Goblin> try_create(const GoblinOptions& options) { return try_create(options.capi()); }
    static Result<Goblin> try_create(const hob_goblin_desc& desc) {
        hob_goblin* goblin = nullptr;
        const hob_result code = hob_goblin_create(&desc, &goblin);
        return detail::result_of(code, Goblin(goblin));
    }
    /// Takes ownership of a C handle.
    explicit Goblin(hob_goblin* goblin) : goblin_(goblin), pending_(std::make_shared<detail::Pending>()) {}

    // Each frame.

    /// Collects samples and decides. Call it once a frame. Allocates as hob_goblin_update does; callbacks may allocate.
    Result<Decision> try_update() {
        Decision frame;
        const hob_result code = with_callbacks([&] { return hob_goblin_update(capi(), &frame); });
        return detail::result_of(code, frame);
    }
    /// The first half of an update: runs the measure callbacks and takes in the samples.
    Result<void> try_collect_samples() {
        return detail::result_of(with_callbacks([&] { return hob_goblin_collect_samples(capi()); }));
    }
    /// The second half of an update: estimates, solves and publishes the choices.
    Result<Decision> try_decide() {
        Decision frame;
        const hob_result code = with_callbacks([&] { return hob_goblin_decide(capi(), &frame); });
        return detail::result_of(code, frame);
    }
    /// Reports the cost of a setting's choice in the frame of a decision.
    Result<void> try_measure(uint64_t decision_id, Setting setting, Lane lane, double burden,
                             SampleQuality quality = SampleQuality::ok) {
        return detail::result_of(hob_goblin_measure(capi(), decision_id, setting.id(), static_cast<hob_lane>(lane),
                                                    burden, static_cast<hob_sample_quality>(quality)));
    }
    /// Reports the cost of the whole frame of a decision.
    Result<void> try_measure_total(uint64_t decision_id, Lane lane, double burden,
                                   SampleQuality quality = SampleQuality::ok) {
        return detail::result_of(hob_goblin_measure_total(capi(), decision_id, static_cast<hob_lane>(lane), burden,
                                                          static_cast<hob_sample_quality>(quality)));
    }
    /// Reports that the host used another choice in the frame of a decision.
    Result<void> try_report_applied(uint64_t decision_id, Setting setting, uint32_t choice) {
        return detail::result_of(hob_goblin_report_applied(capi(), decision_id, setting.id(), choice));
    }
    /// Sets how much work a setting has from now on. Burdens are learned per unit of work.
    Result<void> try_set_work(Setting setting, double work) {
        return detail::result_of(hob_goblin_set_work(capi(), setting.id(), work));
    }

    // Settings.

    /// Adds a setting with options of these values.
    Result<Setting> try_add(std::string_view id, ArrayView<double> values) {
        return added<Setting>([&](hob_setting_id* setting) {
            return hob_goblin_add_array(capi(), detail::text(id), values.data(), values.count(), setting);
        });
    }
    /// The same for a braced list.
    Result<Setting> try_add(std::string_view id, std::initializer_list<double> values) {
        return try_add(id, ArrayView<double>(values));
    }
    /// Adds a setting with these options.
    Result<Setting> try_add(std::string_view id, ArrayView<Option> options, const SettingOptions& how = {}) {
        const hob_setting_desc desc = described(id, options, how);
        return added<Setting>(
            [&](hob_setting_id* setting) { return hob_goblin_add_setting(capi(), &desc, setting); });
    }
    /// Adds a setting with callbacks. Without `callbacks.get_options` it has the options given here.
    Result<Setting> try_add(std::string_view id, Callbacks callbacks, ArrayView<Option> options = {},
                            const SettingOptions& how = {}) {
        auto box = std::make_unique<Box>(Box{std::move(callbacks), pending_, {}, {}});
        hob_setting_desc desc = described(id, options, how);
        desc.user_data = box.get();
        desc.release = &Box::release;
        if (box->callbacks.get_options) desc.get_options = &Box::get_options;
        if (box->callbacks.get_default_choice) desc.get_default_choice = &Box::get_default_choice;
        if (box->callbacks.set_choice) desc.set_choice = &Box::set_choice;
        if (box->callbacks.measure) desc.measure = &Box::measure;
        hob_setting_id setting = {0, 0};
        hob_goblin* const goblin = capi();
        const auto pending = pending_;  // a callback may destroy or move this object
        const hob_result code = hob_goblin_add_setting(goblin, &desc, &setting);
        if (code == HOB_RESULT_OK) (void)box.release();  // the goblin owns it and calls Box::release
        // After an exception the caller would not learn the id.
        if (code == HOB_RESULT_OK && pending && pending->has_exception())
            (void)hob_goblin_remove_setting(goblin, setting);
        if (pending) pending->rethrow();
        return detail::result_of(code, Setting(goblin, setting));
    }
    /// Adds a setting that is off (0) or on (1). On has the value `value`.
    Result<Setting> try_add_binary(std::string_view id, double value) {
        return added<Setting>([&](hob_setting_id* setting) {
            return hob_goblin_add_binary(capi(), detail::text(id), value, setting);
        });
    }
    /// Adds a setting that is off (0) or on (1), with a value and a default.
    Result<Setting> try_add_binary(std::string_view id, double value_off, double value_on, bool on_by_default = false) {
        return added<Setting>([&](hob_setting_id* setting) {
            return hob_goblin_add_binary_with_default(capi(), detail::text(id), value_off, value_on,
                                                      on_by_default ? 1 : 0, setting);
        });
    }
    /// Adds a setting with options of these values. `default_choice` is used while nothing is known of the setting.
    Result<Setting> try_add(std::string_view id, ArrayView<double> values, uint32_t default_choice) {
        return added<Setting>([&](hob_setting_id* setting) {
            return hob_goblin_add_array_with_default(capi(), detail::text(id), values.data(), values.count(),
                                                     default_choice, setting);
        });
    }
    /// Adds a setting with one option that has a cost, such as the rest of the frame, and perhaps a value.
    Result<Setting> try_add_fixed_burden(std::string_view id, double value = 0) {
        return added<Setting>([&](hob_setting_id* setting) {
            return hob_goblin_add_fixed_burden_with_value(capi(), detail::text(id), value, setting);
        });
    }
    /// Adds a setting with one option that has a value and no cost.
    Result<Setting> try_add_fixed_incentive(std::string_view id, double value) {
        return added<Setting>([&](hob_setting_id* setting) {
            return hob_goblin_add_fixed_incentive(capi(), detail::text(id), value, setting);
        });
    }
    /// Adds a product setting, such as resolution and samples per pixel; see hob_product_desc.
    Result<Product> try_add_product(std::string_view id, ArrayView<Axis> axes, const SettingOptions& how = {}) {
        constexpr std::size_t most_axes = 16;
        hob_product_axis views[most_axes] = {};
        if (axes.size() > most_axes) return detail::invalid("invalid axes: a product has 1 to 16");
        for (std::size_t n = 0; n < axes.size(); ++n) {
            const Axis& axis = axes.data()[n];
            // The library cannot count the works.
            if (!axis.works.empty() && axis.works.size() != axis.values.size())
                return detail::invalid("invalid axis: expected as many works as values, or no works");
            views[n] = {axis.values.data(), axis.works.empty() ? nullptr : axis.works.data(),
                        ArrayView<double>(axis.values).count(), axis.default_index};
        }
        hob_product_desc desc = HOB_PRODUCT_DESC_INIT;
        desc.id = detail::text(id);
        desc.axes = views;
        desc.axis_stride = sizeof(hob_product_axis);
        desc.axis_count = axes.count();
        desc.switch_burden = how.switch_burden;
        desc.flags = how.trim ? HOB_SETTING_TRIM : 0;
        return added<Product>(
            [&](hob_setting_id* setting) { return hob_goblin_add_product(capi(), &desc, setting); });
    }
    /// Removes a setting and destroys its callbacks. Its learned burdens stay, for a later setting with the same id.
    Result<void> try_remove(Setting setting) {
        return detail::result_of(with_callbacks([&] { return hob_goblin_remove_setting(capi(), setting.id()); }));
    }
    /// Replaces the options of a setting. A different number of options drops its learned burdens.
    Result<void> try_set_options(Setting setting, ArrayView<Option> options) {
        return detail::result_of(
            hob_goblin_set_options(capi(), setting.id(), options.data(), sizeof(Option), options.count()));
    }
    /// Sets the value of one option.
    Result<void> try_set_value(Setting setting, uint32_t option, double value) {
        return detail::result_of(hob_goblin_set_value(capi(), setting.id(), option, value));
    }
    /// Sets whether an option can be chosen now.
    Result<void> try_set_ready(Setting setting, uint32_t option, bool ready) {
        return detail::result_of(hob_goblin_set_ready(capi(), setting.id(), option, ready ? 1 : 0));
    }

    // Control.

    /// Allows only the options from `first` to `last`. `first` 0 without `last` allows all.
    Result<void> try_set_range(Setting setting, uint32_t first, uint32_t last = UINT32_MAX) {
        return detail::result_of(hob_goblin_set_range(capi(), setting.id(), first, last));
    }
    /// Allows only one option. set_range(setting, 0) allows all again.
    Result<void> try_pin(Setting setting, uint32_t option) {
        return detail::result_of(hob_goblin_pin(capi(), setting.id(), option));
    }
    /// Excludes a setting from decisions, or includes it again.
    Result<void> try_set_enabled(Setting setting, bool enabled) {
        return detail::result_of(hob_goblin_set_enabled(capi(), setting.id(), enabled ? 1 : 0));
    }
    /// Sets the factor on the cost of changes. Below 1 while changes are hard to notice.
    Result<void> try_set_switch_scale(double scale) {
        return detail::result_of(hob_goblin_set_switch_scale(capi(), scale));
    }
    /// Sets the factor on the cost of one setting's changes. The factor on all changes also applies.
    Result<void> try_set_switch_scale(Setting setting, double scale) {
        return detail::result_of(hob_goblin_set_setting_switch_scale(capi(), setting.id(), scale));
    }
    /// Reports the thermal headroom of a lane's device: 0 is cool, at 1 it throttles.
    Result<void> try_set_thermal_headroom(hob_lane lane, double headroom) {
        return detail::result_of(hob_goblin_set_thermal_headroom(capi(), lane, headroom));
    }
    /// Allows more trials for some decisions. Frames with trials may exceed each limit by `share` of it.
    Result<void> try_open_trial_window(uint32_t decisions, double share) {
        return detail::result_of(hob_goblin_open_trial_window(capi(), decisions, share));
    }
    /// The parameters in force.
    Result<hob_goblin_desc> try_desc() const {
        return detail::filled_by(detail::sized<hob_goblin_desc>(),
                                 [&](hob_goblin_desc* desc) { return hob_goblin_get_desc(capi(), desc); });
    }
    /// Replaces the parameters. Estimates stay; see hob_goblin_set_desc.
    Result<void> try_set_desc(const hob_goblin_desc& desc) {
        return detail::result_of(hob_goblin_set_desc(capi(), &desc));
    }
    /// The tuning in force; see hob_goblin_tuning.
    Result<hob_goblin_tuning> try_tuning() const {
        return detail::filled_by(detail::sized<hob_goblin_tuning>(),
                                 [&](hob_goblin_tuning* tuning) { return hob_goblin_get_tuning(capi(), tuning); });
    }
    /// Replaces the tuning.
    Result<void> try_set_tuning(const hob_goblin_tuning& tuning) {
        return detail::result_of(hob_goblin_set_tuning(capi(), &tuning));
    }

    /// Adds a strategy and returns its number. Number 0 is the goblin's own desc.
    Result<uint32_t> try_add_strategy(const StrategyOptions& options) {
        const hob_strategy_desc desc = options.capi();
        return detail::filled_by(uint32_t{0}, [&](uint32_t* strategy) {
            return hob_goblin_add_strategy(capi(), &desc, strategy);
        });
    }
    /// Replaces the limits and the incentive of a strategy.
    Result<void> try_set_strategy(uint32_t strategy, const StrategyOptions& options) {
        const hob_strategy_desc desc = options.capi();
        return detail::result_of(hob_goblin_set_strategy(capi(), strategy, &desc));
    }
    /// Sets the value of an option under a strategy other than 0.
    Result<void> try_set_strategy_value(uint32_t strategy, Setting setting, uint32_t option, double value) {
        return detail::result_of(hob_goblin_set_strategy_value(capi(), strategy, setting.id(), option, value));
    }
    /// Sets the factor on a setting's work under a strategy other than 0.
    Result<void> try_set_strategy_work(uint32_t strategy, Setting setting, double factor) {
        return detail::result_of(hob_goblin_set_strategy_work(capi(), strategy, setting.id(), factor));
    }
    /// Sets a factor on the work of one option under a strategy other than 0, in addition to that of the setting.
    Result<void> try_set_strategy_work(uint32_t strategy, Setting setting, uint32_t option, double factor) {
        return detail::result_of(
            hob_goblin_set_strategy_option_work(capi(), strategy, setting.id(), option, factor));
    }

    // Queries.

    /// The choice of a setting in any decision that `history` remembers.
    Result<uint32_t> try_choice_of(uint64_t decision_id, Setting setting) const {
        return detail::filled_by(uint32_t{0}, [&](uint32_t* choice) {
            return hob_goblin_choice_of(capi(), decision_id, setting.id(), choice);
        });
    }
    /// All choices of one decision, or of HOB_DECISION_LATEST; see hob_goblin_choices. From any thread.
    /// The choice of a setting is at setting.id().index1 - 1. Returns the id of the decision.
    Result<uint64_t> try_choices(uint64_t decision_id, uint32_t* choices, uint32_t capacity) const {
        return detail::filled_by(uint64_t{0}, [&](uint64_t* decision) {
            return hob_goblin_choices(capi(), decision_id, choices, capacity, nullptr, decision);
        });
    }
    /// The latest decision in full, with the burdens of each lane.
    Result<hob_decision_details> try_decision_details() const {
        return detail::filled_by(detail::sized<hob_decision_details>(), [&](hob_decision_details* details) {
            return hob_goblin_get_decision(capi(), details);
        });
    }
    /// The explanation of a setting's choice, as data.
    Result<Reason> try_reason(Setting setting) const {
        return detail::filled_by(detail::sized<Reason>(), [&](Reason* reason) {
            return hob_goblin_get_reason(capi(), setting.id(), reason);
        });
    }
    /// The explanation of a setting's choice, as a sentence.
    Result<std::string> try_reason_text(Setting setting) const {
        char buffer[256] = "";  // always enough
        const hob_result code =
            hob_goblin_get_reason_text(capi(), setting.id(), buffer, sizeof buffer, nullptr);
        return detail::result_of(code, std::string(buffer));
    }
    /// The expected cost of an option on a lane in the next frame.
    Result<Estimate> try_estimate(Setting setting, uint32_t option, Lane lane = Lane::gpu) const {
        return detail::filled_by(detail::sized<Estimate>(), [&](Estimate* estimate) {
            return hob_goblin_get_estimate(capi(), setting.id(), option, static_cast<hob_lane>(lane), estimate);
        });
    }
    /// The net value of a strategy's best choice in the last decision.
    Result<double> try_strategy_net(uint32_t strategy) const {
        return detail::filled_by(0.0,
                                 [&](double* net) { return hob_goblin_get_strategy_net(capi(), strategy, net); });
    }
    /// Counts of samples and totals, and the memory in use.
    Result<hob_goblin_statistics> try_statistics() const {
        return detail::filled_by(detail::sized<hob_goblin_statistics>(), [&](hob_goblin_statistics* statistics) {
            return hob_goblin_get_statistics(capi(), statistics);
        });
    }
    /// Bytes that the goblin holds.
    std::size_t memory_used() const noexcept { return hob_goblin_memory_used(capi()); }

    // Profiles and recordings.

    /// Uses the estimates of a past run, also of one on another machine.
    Result<void> try_set_past_profile(const Profile& profile) {
        return detail::result_of(hob_goblin_set_past_profile(capi(), profile.capi()));
    }
    /// The same from the JSON of save_profile().
    Result<void> try_load_profile(std::string_view json) {
        return detail::result_of(hob_goblin_load_profile(capi(), json.data(), json.size()));
    }
    /// The estimates as JSON.
    Result<std::string> try_save_profile() const {
        return detail::read_all<std::string>([&](char* buffer, std::size_t capacity, std::size_t* size) {
            return hob_goblin_save_profile(capi(), buffer, capacity, size);
        });
    }
    /// Records the run for replay(): calls `write(std::string_view bytes)` with each piece.
    /// Call it right after creation.
    ///
    /// An exception from `write` is rethrown by the call that ran it, also by its try_ form; the recording goes on. An
    /// exception while the goblin is destroyed is dropped.
    template <class Write>
    Result<void> try_start_recording(Write write) {
        using Tape = detail::Tape<Write>;
        auto tape = std::make_unique<Tape>(Tape{std::move(write), pending_});
        const hob_result code = with_callbacks([&] {
            const hob_result started =
                hob_goblin_start_recording(capi(), &Tape::take, tape.get(), &Tape::release);
            if (started == HOB_RESULT_OK) (void)tape.release();  // the goblin owns it and calls Tape::release
            return started;
        });
        return detail::result_of(code);
    }
    /// Writes the end of the recording. The goblin cannot record again. Rethrows an exception of `write`; the recording
    /// has ended then.
    Result<void> try_stop_recording() {
        return detail::result_of(
            with_callbacks([&] { return hob_goblin_stop_recording(capi()); }));
    }

#if HOB_EXCEPTIONS
    // The throwing forms.
    Decision update() { return try_update().value(); }
    void collect_samples() { try_collect_samples().value(); }
    Decision decide() { return try_decide().value(); }
    void measure(uint64_t decision_id, Setting setting, Lane lane, double burden,
                 SampleQuality quality = SampleQuality::ok) {
        try_measure(decision_id, setting, lane, burden, quality).value();
    }
    void measure_total(uint64_t decision_id, Lane lane, double burden, SampleQuality quality = SampleQuality::ok) {
        try_measure_total(decision_id, lane, burden, quality).value();
    }
    void report_applied(uint64_t decision_id, Setting setting, uint32_t choice) {
        try_report_applied(decision_id, setting, choice).value();
    }
    void set_work(Setting setting, double work) { try_set_work(setting, work).value(); }

    Setting add(std::string_view id, ArrayView<double> values) { return try_add(id, values).value(); }
    Setting add(std::string_view id, std::initializer_list<double> values) { return try_add(id, values).value(); }
    Setting add(std::string_view id, ArrayView<Option> options, const SettingOptions& how = {}) {
        return try_add(id, options, how).value();
    }
    Setting add(std::string_view id, Callbacks callbacks, ArrayView<Option> options = {},
                const SettingOptions& how = {}) {
        return try_add(id, std::move(callbacks), options, how).value();
    }
    Setting add(std::string_view id, ArrayView<double> values, uint32_t default_choice) {
        return try_add(id, values, default_choice).value();
    }
    Setting add_binary(std::string_view id, double value) { return try_add_binary(id, value).value(); }
    Setting add_binary(std::string_view id, double value_off, double value_on, bool on_by_default = false) {
        return try_add_binary(id, value_off, value_on, on_by_default).value();
    }
    Setting add_fixed_burden(std::string_view id, double value = 0) { return try_add_fixed_burden(id, value).value(); }
    Setting add_fixed_incentive(std::string_view id, double value) {
        return try_add_fixed_incentive(id, value).value();
    }
    Product add_product(std::string_view id, ArrayView<Axis> axes, const SettingOptions& how = {}) {
        return try_add_product(id, axes, how).value();
    }
    void remove(Setting setting) { try_remove(setting).value(); }
    void set_options(Setting setting, ArrayView<Option> options) { try_set_options(setting, options).value(); }
    void set_value(Setting setting, uint32_t option, double value) { try_set_value(setting, option, value).value(); }
    void set_ready(Setting setting, uint32_t option, bool ready) { try_set_ready(setting, option, ready).value(); }

    void set_range(Setting setting, uint32_t first, uint32_t last = UINT32_MAX) {
        try_set_range(setting, first, last).value();
    }
    void pin(Setting setting, uint32_t option) { try_pin(setting, option).value(); }
    void set_enabled(Setting setting, bool enabled) { try_set_enabled(setting, enabled).value(); }
    void set_switch_scale(double scale) { try_set_switch_scale(scale).value(); }
    void set_switch_scale(Setting setting, double scale) { try_set_switch_scale(setting, scale).value(); }
    void set_thermal_headroom(hob_lane lane, double headroom) { try_set_thermal_headroom(lane, headroom).value(); }
    void open_trial_window(uint32_t decisions, double share) { try_open_trial_window(decisions, share).value(); }
    hob_goblin_desc desc() const { return try_desc().value(); }
    void set_desc(const hob_goblin_desc& desc) { try_set_desc(desc).value(); }
    hob_goblin_tuning tuning() const { return try_tuning().value(); }
    void set_tuning(const hob_goblin_tuning& tuning) { try_set_tuning(tuning).value(); }

    uint32_t add_strategy(const StrategyOptions& options) { return try_add_strategy(options).value(); }
    void set_strategy(uint32_t strategy, const StrategyOptions& options) {
        try_set_strategy(strategy, options).value();
    }
    void set_strategy_value(uint32_t strategy, Setting setting, uint32_t option, double value) {
        try_set_strategy_value(strategy, setting, option, value).value();
    }
    void set_strategy_work(uint32_t strategy, Setting setting, double factor) {
        try_set_strategy_work(strategy, setting, factor).value();
    }
    void set_strategy_work(uint32_t strategy, Setting setting, uint32_t option, double factor) {
        try_set_strategy_work(strategy, setting, option, factor).value();
    }

    uint32_t choice_of(uint64_t decision_id, Setting setting) const {
        return try_choice_of(decision_id, setting).value();
    }
    uint64_t choices(uint64_t decision_id, uint32_t* choices, uint32_t capacity) const {
        return try_choices(decision_id, choices, capacity).value();
    }
    hob_decision_details decision_details() const { return try_decision_details().value(); }
    Reason reason(Setting setting) const { return try_reason(setting).value(); }
    std::string reason_text(Setting setting) const { return try_reason_text(setting).value(); }
    Estimate estimate(Setting setting, uint32_t option, Lane lane = Lane::gpu) const {
        return try_estimate(setting, option, lane).value();
    }
    double strategy_net(uint32_t strategy) const { return try_strategy_net(strategy).value(); }
    hob_goblin_statistics statistics() const { return try_statistics().value(); }

    void set_past_profile(const Profile& profile) { try_set_past_profile(profile).value(); }
    void load_profile(std::string_view json) { try_load_profile(json).value(); }
    std::string save_profile() const { return try_save_profile().value(); }
    template <class Write>
    void start_recording(Write write) {
        try_start_recording(std::move(write)).value();
    }
    void stop_recording() { try_stop_recording().value(); }
#endif

    hob_goblin* capi() noexcept { return goblin_.get(); }
    const hob_goblin* capi() const noexcept { return goblin_.get(); }

private:
    /// Makes a C call that may run callbacks, and rethrows their exception.
    template <class Call>
    hob_result with_callbacks(const Call& call) {
        const auto pending = pending_;  // a callback may destroy or move this object
        const hob_result code = call();
        if (pending) pending->rethrow();
        return code;
    }
    /// Makes a C call that adds a setting.
    template <class Handle, class Call>
    Result<Handle> added(const Call& call) {
        hob_setting_id setting = {0, 0};
        const hob_result code = call(&setting);
        return detail::result_of(code, Handle(capi(), setting));
    }
    static hob_setting_desc described(std::string_view id, ArrayView<Option> options,
                                      const SettingOptions& how) noexcept {
        hob_setting_desc desc = HOB_SETTING_DESC_INIT;
        desc.id = detail::text(id);
        desc.options = options.data();
        desc.option_stride = sizeof(Option);
        desc.option_count = options.count();
        desc.default_choice = how.default_choice;
        desc.switch_burden = how.switch_burden;
        desc.flags = how.trim ? HOB_SETTING_TRIM : 0;
        return desc;
    }

    /// The state of a setting with callbacks.
    struct Box {
        Callbacks callbacks;
        std::shared_ptr<detail::Pending> pending;
        std::vector<Option> options;
        std::vector<Option> fresh;

        static Box& of(void* user_data) noexcept { return *static_cast<Box*>(user_data); }
        static void release(void* user_data) noexcept { delete static_cast<Box*>(user_data); }
        static uint32_t get_options(void* user_data, hob_option* into, uint32_t capacity) noexcept {
            Box& box = of(user_data);
            box.pending->guard([&] {
                // Two lists: after an exception the old options stay. Both keep their memory.
                box.fresh.clear();
                box.callbacks.get_options(box.fresh);
                box.options.swap(box.fresh);
            });
            const uint32_t count = ArrayView<Option>(box.options).count();
            if (count <= capacity) {
                for (uint32_t n = 0; n < count; ++n) into[n] = box.options[n];
            }
            return count;
        }
        static uint32_t get_default_choice(void* user_data) noexcept {
            uint32_t choice = 0;
            of(user_data).pending->guard([&] { choice = of(user_data).callbacks.get_default_choice(); });
            return choice;
        }
        static void set_choice(void* user_data, uint32_t choice, uint64_t decision_id) noexcept {
            of(user_data).pending->guard([&] { of(user_data).callbacks.set_choice(choice, decision_id); });
        }
        static uint32_t measure(void* user_data, hob_sample* measurement) noexcept {
            bool has_measurement = false;
            of(user_data).pending->guard([&] { has_measurement = of(user_data).callbacks.measure(*measurement); });
            return has_measurement ? 1 : 0;
        }
    };

    struct Destroy {
        void operator()(hob_goblin* goblin) const noexcept { hob_goblin_destroy(goblin); }
    };
    std::unique_ptr<hob_goblin, Destroy> goblin_;
    // Shared with the settings and with the calls that are running.
    std::shared_ptr<detail::Pending> pending_;
};

/// Repeats a recorded run and compares every decision.
/// Differences, and a truncated or damaged recording, are reported and are not failures.
inline Result<hob_replay_report> try_replay(std::string_view recording) {
    return detail::filled_by(detail::sized<hob_replay_report>(), [&](hob_replay_report* report) {
        return hob_goblin_replay(recording.data(), recording.size(), report);
    });
}
#if HOB_EXCEPTIONS
inline hob_replay_report replay(std::string_view recording) { return try_replay(recording).value(); }
#endif

HOB_NAMESPACE_END

#endif  // HOBGOBLIN_GOBLIN_HPP
