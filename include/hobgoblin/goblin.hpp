// hobgoblin/goblin.hpp: settings in, choices out, every frame. Part of hobgoblin.hpp. MIT OR Apache-2.0.
#ifndef HOBGOBLIN_GOBLIN_HPP
#define HOBGOBLIN_GOBLIN_HPP

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "goblin.h"
#include "profile.hpp"

HOB_NAMESPACE_BEGIN

/// See hob_lane.
enum class Lane : uint32_t {
    gpu = HOB_LANE_GPU,
    frame = HOB_LANE_FRAME,
    game_thread = HOB_LANE_GAME_THREAD,
    render_thread = HOB_LANE_RENDER_THREAD,
    video_memory = HOB_LANE_VIDEO_MEMORY,
    user0 = HOB_LANE_USER0,
    user1 = HOB_LANE_USER1,
    user2 = HOB_LANE_USER2,
};

/// See hob_sample.
enum class Sample : uint32_t {
    ok = HOB_SAMPLE_OK,
    capped = HOB_SAMPLE_CAPPED,
    hitch = HOB_SAMPLE_HITCH,
    paused = HOB_SAMPLE_PAUSED,
};

using Option = hob_option;

/// An option that is worth `value`.
inline Option option(double value, double relative_burden = 0) noexcept {
    return Option{value, relative_burden, 0, 0};
}

/// What one option costs.
struct Estimate {
    double mean = 0;
    double deviation = 0;
    uint64_t count = 0;
    hob_estimate_source source = HOB_ESTIMATE_SOURCE_BLIND;
};

namespace detail {

/// The limits that were touched; NaN is for the library to refuse.
template <class Options>
void put_limits(const Options& options, hob_lane_desc (&lanes)[HOB_LANE_COUNT]) noexcept {
    const auto put = [&](uint32_t lane, double limit) {
        if (limit != std::numeric_limits<double>::infinity()) lanes[lane].limit = limit;
    };
    put(HOB_LANE_GPU, options.gpu_ms);
    put(HOB_LANE_FRAME, options.frame_ms);
    put(HOB_LANE_GAME_THREAD, options.game_thread_ms);
    put(HOB_LANE_RENDER_THREAD, options.render_thread_ms);
    put(HOB_LANE_VIDEO_MEMORY, options.video_memory_mib);
}

}  // namespace detail

/// A C++ view of hob_goblin_desc, for the fields most programs set; for the others start from `desc`.
struct GoblinOptions {
    /// Budget of each lane; infinite: not governed.
    double gpu_ms = std::numeric_limits<double>::infinity();
    double frame_ms = std::numeric_limits<double>::infinity();
    double game_thread_ms = std::numeric_limits<double>::infinity();
    double render_thread_ms = std::numeric_limits<double>::infinity();
    double video_memory_mib = std::numeric_limits<double>::infinity();
    /// Share of frames that may be over the limit; 0: `sigmas` says.
    double overrun_probability = 0;
    double sigmas = 3;
    /// Everything else.
    hob_goblin_desc desc = HOB_GOBLIN_DESC_INIT;
};

/// A strategy: other limits for the same settings; see hob_strategy_desc.
struct StrategyOptions {
    /// Budget of each lane; infinite: not governed.
    double gpu_ms = std::numeric_limits<double>::infinity();
    double frame_ms = std::numeric_limits<double>::infinity();
    double game_thread_ms = std::numeric_limits<double>::infinity();
    double render_thread_ms = std::numeric_limits<double>::infinity();
    double video_memory_mib = std::numeric_limits<double>::infinity();
    /// What it is worth beside its choices.
    double incentive = 0;
    /// Everything else.
    hob_strategy_desc desc = HOB_STRATEGY_DESC_INIT;
};

/// How a setting is chosen; see hob_setting_desc.
struct SettingOptions {
    uint32_t default_choice = 0;
    /// What is lost on the frame in which it changes.
    double switch_burden = 0;
    /// A fine ladder that takes up the last slack of every frame.
    bool trim = false;
};

/// One of the choices that make a product; see hob_product_axis.
struct Axis {
    std::vector<double> values;
    /// By what each index multiplies the burden; empty: that is measured.
    std::vector<double> works;
    uint32_t default_index = 0;
};

/// Why a choice is what it is; see hob_reason.
struct Reason {
    hob_why why = HOB_WHY_UNDECIDED;
    uint32_t from = 0;
    uint32_t to = 0;
    uint64_t since = 0;
    double headroom = 0;
    double gain = 0;
    /// As a sentence.
    std::string text;
};

/// A decision; see hob_decision.
struct Frame {
    uint64_t id = 0;
    bool feasible = false;
    double value = 0;
    double gap = 0;
    uint32_t trials = 0;
    uint32_t changes = 0;
    uint32_t strategy = 0;
    hob_decision decision = HOB_DECISION_INIT;
};

/// Names a setting and reads its choice. A plain handle: copy it freely; it is stale when the setting or the goblin is
/// gone (of the goblin, the host must keep track).
class Setting {
public:
    Setting() = default;
    Setting(const hob_goblin* goblin, hob_setting_id id) noexcept : goblin_(goblin), id_(id) {}

    /// What the latest decision gave it.
    uint32_t choice() const noexcept { return goblin_ ? hob_goblin_choice(goblin_, id_) : 0; }
    hob_setting_id id() const noexcept { return id_; }

protected:
    const hob_goblin* goblin_ = nullptr;

private:
    hob_setting_id id_ = {0, 0};
};

/// A setting whose options are combinations: of which index of each axis, it tells.
class Product : public Setting {
public:
    using Setting::Setting;

    /// Where the latest choice stands on an axis.
    uint32_t index(uint32_t axis) const noexcept { return index_of(choice(), axis); }
    /// Where any choice stands on an axis.
    uint32_t index_of(uint32_t choice, uint32_t axis) const noexcept {
        return goblin_ ? hob_goblin_product_index(goblin_, id(), choice, axis) : 0;
    }
    /// The choice that stands at these indices, one for each axis.
    Outcome<uint32_t> choice_at(const std::vector<uint32_t>& indices) const {
        uint32_t choice = 0;
        const hob_result result = hob_goblin_product_choice(goblin_, id(), indices.data(),
                                                            static_cast<uint32_t>(indices.size()), &choice);
        if (result != HOB_RESULT_OK) return detail::fail<uint32_t>(result);
        return choice;
    }
};

/// The callback style of settings; see hob_setting_desc. Leave empty what is not needed.
struct Callbacks {
    std::function<void(std::vector<Option>&)> options;
    std::function<uint32_t()> choice_default;
    std::function<void(uint32_t choice, uint64_t decision_id)> choice_set;
    /// Fill in and return true; false when there is no measurement.
    std::function<bool(hob_measurement&)> measure;
};

/// Keeps a frame inside its budget.
class Goblin {
public:
#if HOB_EXCEPTIONS
    explicit Goblin(const GoblinOptions& options) : Goblin(create(options)) {}
#endif
    static Outcome<Goblin> create(const GoblinOptions& options) {
        hob_goblin_desc desc = options.desc;
        // What was not touched here is as `desc` says.
        const GoblinOptions untouched;
        detail::put_limits(options, desc.lanes);
        if (options.overrun_probability != untouched.overrun_probability)
            desc.overrun_probability = options.overrun_probability;
        if (options.sigmas != untouched.sigmas) desc.sigmas = options.sigmas;
        hob_goblin* goblin = nullptr;
        const hob_result result = hob_goblin_create(&desc, &goblin);
        if (result != HOB_RESULT_OK) return detail::fail<Goblin>(result);
        return Goblin(goblin);
    }
    /// Own a C handle.
    explicit Goblin(hob_goblin* goblin) : goblin_(goblin), pending_(std::make_shared<detail::Pending>()) {}

    /// A setting with options of these values; option 0 is chosen until something is known.
    Outcome<Setting> add(std::string_view id, const std::vector<double>& values) {
        hob_setting_id setting = {0, 0};
        return added(hob_goblin_add_array(goblin_.get(), detail::text(id), values.data(),
                                          static_cast<uint32_t>(values.size()), &setting),
                     setting);
    }
    Outcome<Setting> add(std::string_view id, std::initializer_list<double> values) {
        return add(id, std::vector<double>(values));
    }
    /// A setting with these options.
    Outcome<Setting> add(std::string_view id, const std::vector<Option>& options, uint32_t default_choice = 0) {
        SettingOptions how;
        how.default_choice = default_choice;
        return add(id, options, how);
    }
    Outcome<Setting> add(std::string_view id, const std::vector<Option>& options, const SettingOptions& how) {
        const hob_setting_desc desc = described(id, options, how);
        hob_setting_id setting = {0, 0};
        return added(hob_goblin_add_setting(goblin_.get(), &desc, &setting), setting);
    }
    /// A setting that speaks through callbacks; `options` are for one without callbacks.options.
    Outcome<Setting> add(std::string_view id, Callbacks callbacks, const std::vector<Option>& options = {},
                         const SettingOptions& how = {}) {
        auto box = std::make_unique<Box>(Box{std::move(callbacks), pending_, {}, {}});
        hob_setting_desc desc = described(id, options, how);
        desc.user_data = box.get();
        desc.release = &Box::release;
        if (box->callbacks.options) desc.options_get = &Box::options_get;
        if (box->callbacks.choice_default) desc.choice_default = &Box::choice_default;
        if (box->callbacks.choice_set) desc.choice_set = &Box::choice_set;
        if (box->callbacks.measure) desc.measure = &Box::measure;
        hob_setting_id setting = {0, 0};
        hob_goblin* const goblin = goblin_.get();
        const auto pending = pending_;  // a callback may destroy or move this object
        const hob_result result = hob_goblin_add_setting(goblin, &desc, &setting);
        if (result == HOB_RESULT_OK) (void)box.release();  // the goblin's now; Box::release takes it back
        // Nobody would learn its id.
        if (result == HOB_RESULT_OK && pending && pending->waits()) (void)hob_goblin_remove_setting(goblin, setting);
        if (pending) pending->rethrow();
        if (result != HOB_RESULT_OK) return detail::fail<Setting>(result);
        return Setting(goblin, setting);
    }
    /// Off (0), or on (1) and worth `value`.
    Outcome<Setting> add_binary(std::string_view id, double value) {
        hob_setting_id setting = {0, 0};
        return added(hob_goblin_add_binary(goblin_.get(), detail::text(id), value, &setting), setting);
    }
    /// What there is no choice about but costs something.
    Outcome<Setting> add_fixed_burden(std::string_view id) {
        hob_setting_id setting = {0, 0};
        return added(hob_goblin_add_fixed_burden(goblin_.get(), detail::text(id), &setting), setting);
    }
    /// What there is no choice about but is worth something.
    Outcome<Setting> add_fixed_incentive(std::string_view id, double value) {
        hob_setting_id setting = {0, 0};
        return added(hob_goblin_add_fixed_incentive(goblin_.get(), detail::text(id), value, &setting), setting);
    }
    /// Related choices whose burdens are no sum, such as resolution and samples, as one setting; see hob_product_desc.
    Outcome<Product> add_product(std::string_view id, const std::vector<Axis>& axes, const SettingOptions& how = {}) {
        std::vector<hob_product_axis> views;
        for (const Axis& axis : axes) {
            // Works of another number are for the library to refuse, which cannot count them.
            if (!axis.works.empty() && axis.works.size() != axis.values.size())
                return detail::refuse<Product>("an axis needs as many works as values, or none");
            views.push_back({axis.values.data(), axis.works.empty() ? nullptr : axis.works.data(),
                             static_cast<uint32_t>(axis.values.size()), axis.default_index});
        }
        hob_product_desc desc = HOB_PRODUCT_DESC_INIT;
        desc.id = detail::text(id);
        desc.axes = views.data();
        desc.axis_stride = sizeof(hob_product_axis);
        desc.axis_count = static_cast<uint32_t>(views.size());
        desc.switch_burden = how.switch_burden;
        desc.flags = how.trim ? HOB_SETTING_TRIM : 0;
        hob_setting_id setting = {0, 0};
        const hob_result result = hob_goblin_add_product(goblin_.get(), &desc, &setting);
        if (result != HOB_RESULT_OK) return detail::fail<Product>(result);
        return Product(goblin_.get(), setting);
    }
    Outcome<void> remove(Setting setting) {
        const auto pending = pending_;  // a release may destroy or move this object
        const hob_result result = hob_goblin_remove_setting(goblin_.get(), setting.id());
        if (pending) pending->rethrow();
        return detail::check(result);
    }

    /// Once a frame: take in what was measured, and decide.
    Outcome<Frame> update() {
        Frame frame;
        const auto pending = pending_;  // a callback may destroy or move this object
        const hob_result result = hob_goblin_update(goblin_.get(), &frame.decision);
        if (pending) pending->rethrow();
        if (result != HOB_RESULT_OK) return detail::fail<Frame>(result);
        frame.id = frame.decision.id;
        frame.feasible = frame.decision.feasible != 0;
        frame.value = frame.decision.value;
        frame.gap = frame.decision.gap;
        frame.trials = frame.decision.trial_count;
        frame.changes = frame.decision.change_count;
        frame.strategy = frame.decision.strategy;
        return frame;
    }
    /// What a setting's choice cost in the frame of that decision.
    Outcome<void> measure(uint64_t decision_id, Setting setting, Lane lane, double burden, Sample sample = Sample::ok) {
        return detail::check(hob_goblin_measure(goblin_.get(), decision_id, setting.id(), static_cast<uint32_t>(lane),
                                                burden, static_cast<uint32_t>(sample)));
    }
    /// What the whole frame of that decision cost.
    Outcome<void> measure_total(uint64_t decision_id, Lane lane, double burden, Sample sample = Sample::ok) {
        return detail::check(hob_goblin_measure_total(goblin_.get(), decision_id, static_cast<uint32_t>(lane), burden,
                                                      static_cast<uint32_t>(sample)));
    }
    /// How much a setting has to do from now on; burdens are learned per unit of it.
    Outcome<void> set_work(Setting setting, double work) {
        return detail::check(hob_goblin_set_work(goblin_.get(), setting.id(), work));
    }
    Outcome<void> set_value(Setting setting, uint32_t option, double value) {
        return detail::check(hob_goblin_set_value(goblin_.get(), setting.id(), option, value));
    }
    Outcome<void> set_ready(Setting setting, uint32_t option, bool ready) {
        return detail::check(hob_goblin_set_ready(goblin_.get(), setting.id(), option, ready ? 1 : 0));
    }
    /// Allow only the options from a floor to a ceiling.
    Outcome<void> set_range(Setting setting, uint32_t first, uint32_t last = UINT32_MAX) {
        return detail::check(hob_goblin_set_range(goblin_.get(), setting.id(), first, last));
    }
    /// Allow only one option; set_range(setting, 0) allows all again.
    Outcome<void> pin(Setting setting, uint32_t option) {
        return detail::check(hob_goblin_pin(goblin_.get(), setting.id(), option));
    }
    /// Take a setting out of decisions, or back in.
    Outcome<void> set_enabled(Setting setting, bool enabled) {
        return detail::check(hob_goblin_set_enabled(goblin_.get(), setting.id(), enabled ? 1 : 0));
    }
    /// Multiply what changes cost: below 1 while they are hard to notice.
    Outcome<void> set_switch_scale(double scale) {
        return detail::check(hob_goblin_set_switch_scale(goblin_.get(), scale));
    }
    /// For so many decisions more may be tried, and frames may be over each limit by `share` of it.
    Outcome<void> open_window(uint32_t decisions, double share) {
        return detail::check(hob_goblin_open_window(goblin_.get(), decisions, share));
    }
    /// Why a setting's choice is what it is.
    Outcome<Reason> reason(Setting setting) const {
        hob_reason found = HOB_REASON_INIT;
        char text[256] = "";
        hob_result result = hob_goblin_get_reason(goblin_.get(), setting.id(), &found);
        if (result == HOB_RESULT_OK)
            result = hob_goblin_reason_text(goblin_.get(), setting.id(), text, sizeof text, nullptr);
        if (result != HOB_RESULT_OK) return detail::fail<Reason>(result);
        return Reason{static_cast<hob_why>(found.why), found.from, found.to, found.since, found.headroom, found.gain, text};
    }

    /// Add a strategy; its number. Number 0 is what the goblin was made with.
    Outcome<uint32_t> add_strategy(const StrategyOptions& options) {
        const hob_strategy_desc desc = described(options);
        uint32_t strategy = 0;
        const hob_result result = hob_goblin_add_strategy(goblin_.get(), &desc, &strategy);
        if (result != HOB_RESULT_OK) return detail::fail<uint32_t>(result);
        return strategy;
    }
    Outcome<void> set_strategy(uint32_t strategy, const StrategyOptions& options) {
        const hob_strategy_desc desc = described(options);
        return detail::check(hob_goblin_set_strategy(goblin_.get(), strategy, &desc));
    }
    /// What an option is worth under a strategy other than 0.
    Outcome<void> set_strategy_value(uint32_t strategy, Setting setting, uint32_t option, double value) {
        return detail::check(hob_goblin_set_strategy_value(goblin_.get(), strategy, setting.id(), option, value));
    }
    /// By what a setting's work is multiplied under a strategy other than 0.
    Outcome<void> set_strategy_work(uint32_t strategy, Setting setting, double factor) {
        return detail::check(hob_goblin_set_strategy_work(goblin_.get(), strategy, setting.id(), factor));
    }
    /// The net value of a strategy's best choice in the last decision.
    Outcome<double> strategy_net(uint32_t strategy) const {
        double net = 0;
        const hob_result result = hob_goblin_strategy_net(goblin_.get(), strategy, &net);
        if (result != HOB_RESULT_OK) return detail::fail<double>(result);
        return net;
    }

    /// The host used another choice in the frame of that decision.
    Outcome<void> applied(uint64_t decision_id, Setting setting, uint32_t choice) {
        return detail::check(hob_goblin_applied(goblin_.get(), decision_id, setting.id(), choice));
    }
    /// What an option is expected to cost on a lane now.
    Outcome<Estimate> estimate(Setting setting, uint32_t option, Lane lane = Lane::gpu) const {
        hob_estimate found = HOB_ESTIMATE_INIT;
        const hob_result result =
            hob_goblin_estimate(goblin_.get(), setting.id(), option, static_cast<uint32_t>(lane), &found);
        if (result != HOB_RESULT_OK) return detail::fail<Estimate>(result);
        return Estimate{found.mean, found.deviation, found.count, static_cast<hob_estimate_source>(found.source)};
    }
    Outcome<hob_goblin_statistics> statistics() const {
        hob_goblin_statistics found = HOB_GOBLIN_STATISTICS_INIT;
        const hob_result result = hob_goblin_get_statistics(goblin_.get(), &found);
        if (result != HOB_RESULT_OK) return detail::fail<hob_goblin_statistics>(result);
        return found;
    }
    /// Use what a past run knew, perhaps on another machine.
    Outcome<void> set_past_profile(const Profile& profile) {
        return detail::check(hob_goblin_set_past_profile(goblin_.get(), profile.capi()));
    }
    Outcome<void> load_profile(std::string_view json) {
        return detail::check(hob_goblin_load_profile(goblin_.get(), json.data(), json.size()));
    }
    Outcome<std::string> save_profile() const {
        size_t size = 0;
        hob_result result = hob_goblin_save_profile(goblin_.get(), nullptr, 0, &size);
        std::string json(size, '\0');
        if (result == HOB_RESULT_OK) result = hob_goblin_save_profile(goblin_.get(), json.data(), size, &size);
        if (result != HOB_RESULT_OK) return detail::fail<std::string>(result);
        return json;
    }

    /// Give the run, from here on, to `write` piece by piece, so that replay() can repeat it; right after creation. What
    /// `write` throws is thrown on by this call or by the next update; what it throws last, when the goblin is
    /// destroyed, is lost.
    Outcome<void> record(std::function<void(std::string_view)> write) {
        if (!write) return detail::refuse<void>("a recording needs somebody who takes it");
        auto tape = std::make_unique<Tape>(Tape{std::move(write), pending_});
        const auto pending = pending_;  // it may destroy or move this object
        const hob_result result = hob_goblin_record(goblin_.get(), &Tape::take, tape.get(), &Tape::release);
        if (result == HOB_RESULT_OK) (void)tape.release();  // the goblin's now; Tape::release takes it back
        if (pending) pending->rethrow();
        return detail::check(result);
    }
    /// Write the end of the recording. There can be no other.
    Outcome<void> stop_recording() {
        const auto pending = pending_;
        const hob_result result = hob_goblin_record(goblin_.get(), nullptr, nullptr, nullptr);
        if (pending) pending->rethrow();
        return detail::check(result);
    }

    hob_goblin* capi() noexcept { return goblin_.get(); }
    const hob_goblin* capi() const noexcept { return goblin_.get(); }

private:
    /// What a recording owns.
    struct Tape {
        std::function<void(std::string_view)> write;
        std::shared_ptr<detail::Pending> pending;

        static void release(void* user_data) noexcept { delete static_cast<Tape*>(user_data); }
        static void take(void* user_data, const void* data, size_t size) noexcept {
            Tape& tape = *static_cast<Tape*>(user_data);
            tape.pending->guard([&] { tape.write(std::string_view(static_cast<const char*>(data), size)); });
        }
    };

    /// What a callback-style setting owns.
    struct Box {
        Callbacks callbacks;
        std::shared_ptr<detail::Pending> pending;
        std::vector<Option> options;
        std::vector<Option> fresh;

        static Box& of(void* user_data) noexcept { return *static_cast<Box*>(user_data); }
        static void release(void* user_data) noexcept { delete static_cast<Box*>(user_data); }
        static uint32_t options_get(void* user_data, hob_option* into, uint32_t capacity) noexcept {
            Box& box = of(user_data);
            box.pending->guard([&] {
                // Into a second list: on a throw the options of the last time stand. Both keep their memory.
                box.fresh.clear();
                box.callbacks.options(box.fresh);
                box.options.swap(box.fresh);
            });
            const auto count = static_cast<uint32_t>(box.options.size());
            if (count <= capacity) {
                for (uint32_t n = 0; n < count; ++n) into[n] = box.options[n];
            }
            return count;
        }
        static uint32_t choice_default(void* user_data) noexcept {
            uint32_t choice = 0;
            of(user_data).pending->guard([&] { choice = of(user_data).callbacks.choice_default(); });
            return choice;
        }
        static void choice_set(void* user_data, uint32_t choice, uint64_t decision_id) noexcept {
            of(user_data).pending->guard([&] { of(user_data).callbacks.choice_set(choice, decision_id); });
        }
        static uint32_t measure(void* user_data, hob_measurement* measurement) noexcept {
            bool there_is = false;
            of(user_data).pending->guard([&] { there_is = of(user_data).callbacks.measure(*measurement); });
            return there_is ? 1 : 0;
        }
    };

    struct Destroy {
        void operator()(hob_goblin* goblin) const noexcept { hob_goblin_destroy(goblin); }
    };

    static hob_setting_desc described(std::string_view id, const std::vector<Option>& options,
                                      const SettingOptions& how) noexcept {
        hob_setting_desc desc = HOB_SETTING_DESC_INIT;
        desc.id = detail::text(id);
        desc.options = options.data();
        desc.option_stride = sizeof(Option);
        desc.option_count = static_cast<uint32_t>(options.size());
        desc.default_choice = how.default_choice;
        desc.switch_burden = how.switch_burden;
        desc.flags = how.trim ? HOB_SETTING_TRIM : 0;
        return desc;
    }
    static hob_strategy_desc described(const StrategyOptions& options) noexcept {
        hob_strategy_desc desc = options.desc;
        detail::put_limits(options, desc.lanes);
        if (options.incentive != 0) desc.incentive = options.incentive;
        return desc;
    }
    Outcome<Setting> added(hob_result result, hob_setting_id id) {
        if (result != HOB_RESULT_OK) return detail::fail<Setting>(result);
        return Setting(goblin_.get(), id);
    }
    std::unique_ptr<hob_goblin, Destroy> goblin_;
    // Shared with the settings, and with the calls that are running.
    std::shared_ptr<detail::Pending> pending_;
};

/// Repeat a recorded run and compare every decision. A recording that is cut off or damaged, and choices that differ, are
/// answers; a failure is only what is no recording at all.
inline Outcome<hob_replay_report> replay(std::string_view recording) {
    hob_replay_report report = HOB_REPLAY_REPORT_INIT;
    const hob_result result = hob_replay(recording.data(), recording.size(), &report);
    if (result != HOB_RESULT_OK) return detail::fail<hob_replay_report>(result);
    return report;
}

HOB_NAMESPACE_END

#endif  // HOBGOBLIN_GOBLIN_HPP
