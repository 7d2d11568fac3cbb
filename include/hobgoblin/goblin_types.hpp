// hobgoblin/goblin_types.hpp: options, settings and callbacks of a goblin. Part of goblin.hpp. MIT OR Apache-2.0.
#ifndef HOBGOBLIN_GOBLIN_TYPES_HPP
#define HOBGOBLIN_GOBLIN_TYPES_HPP

#include <cstdint>
#include <functional>
#include <vector>

#include "base.hpp"
#include "goblin.h"

HOB_NAMESPACE_BEGIN

/// A resource of a frame; see hob_lane.
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

/// The quality of a sample; see hob_sample_quality.
enum class SampleQuality : uint32_t {
    ok = HOB_SAMPLE_QUALITY_OK,
    capped = HOB_SAMPLE_QUALITY_CAPPED,
    hitch = HOB_SAMPLE_QUALITY_HITCH,
    paused = HOB_SAMPLE_QUALITY_PAUSED,
};

/// One option of a setting; see hob_option.
using Option = hob_option;

/// An option with a value, and with a relative burden for HOB_BURDENS_RELATIVE and HOB_BURDENS_TOTALS.
inline Option option(double value, double relative_burden = 0) noexcept {
    return Option{value, relative_burden, 0, 0};
}

/// The explanation of a choice, as data; see hob_reason.
using Reason = hob_reason;

/// The answer of one decision; see hob_decision.
struct Decision : hob_decision {
    Decision() noexcept : hob_decision(detail::sized<hob_decision>()) {}
};

/// The parameters that most programs set.
/// All others are fields of `desc`, and of the hob_goblin_tuning to which `desc.tuning` points; see hob_goblin_desc.
struct GoblinOptions {
    /// Limits: milliseconds, and MiB of video memory. 0: as in `desc`, which has no limit by default.
    double gpu_ms = 0;
    /// Limit of HOB_LANE_FRAME.
    double frame_ms = 0;
    /// Limit of HOB_LANE_GAME_THREAD.
    double game_thread_ms = 0;
    /// Limit of HOB_LANE_RENDER_THREAD.
    double render_thread_ms = 0;
    /// Limit of HOB_LANE_VIDEO_MEMORY, in MiB.
    double video_memory_mib = 0;
    /// Share of frames that may be late, such as 0.01. 0: as in `desc`.
    double overrun_probability = 0;
    /// How long an improvement must persist before it is applied. Negative: at once. 0: as in `desc`, 1 by default.
    double patience = 0;
    /// Most visible changes a second. HUGE_VAL: no limit. 0: as in `desc`, 1 by default.
    double changes_per_second = 0;
    /// All other parameters.
    hob_goblin_desc desc = HOB_GOBLIN_DESC_INIT;

    /// The C struct: `desc` with the fields above.
    hob_goblin_desc capi() const noexcept;
};

/// A strategy: other limits for the same settings.
/// All other parameters are fields of `desc`; see hob_strategy_desc.
struct StrategyOptions {
    /// Limits: milliseconds, and MiB of video memory. 0: as in `desc`, which has no limit by default.
    double gpu_ms = 0;
    /// Limit of HOB_LANE_FRAME.
    double frame_ms = 0;
    /// Limit of HOB_LANE_GAME_THREAD.
    double game_thread_ms = 0;
    /// Limit of HOB_LANE_RENDER_THREAD.
    double render_thread_ms = 0;
    /// Limit of HOB_LANE_VIDEO_MEMORY, in MiB.
    double video_memory_mib = 0;
    /// Value that is added to that of the choices. 0: as in `desc`, 0 by default.
    double incentive = 0;
    /// All other parameters.
    hob_strategy_desc desc = HOB_STRATEGY_DESC_INIT;

    /// The C struct: `desc` with the fields above.
    hob_strategy_desc capi() const noexcept;
};

/// Parameters of a setting beside its options; see hob_setting_desc.
struct SettingOptions {
    /// The choice while nothing is known of the setting.
    uint32_t default_choice = 0;
    /// Cost of a change on the frame that makes it, in the unit of the first lane with a limit.
    double switch_burden = 0;
    /// Marks a fine ladder that uses the last slack of every frame, such as a dynamic resolution.
    bool trim = false;
};

/// One axis of a product setting; see hob_product_axis.
struct Axis {
    /// The value of each index.
    std::vector<double> values;
    /// The factor of each index on the burden. Empty: the burden of each index is measured.
    std::vector<double> works;
    /// The index while nothing is known of the setting.
    uint32_t default_index = 0;
};

namespace detail {

/// Copies the limits that are not 0.
template <class Options>
void put_limits(const Options& options, hob_lane_desc (&lanes)[HOB_LANE_COUNT]) noexcept {
    if (options.gpu_ms != 0) lanes[HOB_LANE_GPU].limit = options.gpu_ms;
    if (options.frame_ms != 0) lanes[HOB_LANE_FRAME].limit = options.frame_ms;
    if (options.game_thread_ms != 0) lanes[HOB_LANE_GAME_THREAD].limit = options.game_thread_ms;
    if (options.render_thread_ms != 0) lanes[HOB_LANE_RENDER_THREAD].limit = options.render_thread_ms;
    if (options.video_memory_mib != 0) lanes[HOB_LANE_VIDEO_MEMORY].limit = options.video_memory_mib;
}

}  // namespace detail

inline hob_goblin_desc GoblinOptions::capi() const noexcept {
    hob_goblin_desc made = desc;
    detail::put_limits(*this, made.lanes);
    if (overrun_probability != 0) made.overrun_probability = overrun_probability;
    if (patience != 0) made.patience = patience;
    if (changes_per_second != 0) made.changes_per_second = changes_per_second;
    return made;
}

inline hob_strategy_desc StrategyOptions::capi() const noexcept {
    hob_strategy_desc made = desc;
    detail::put_limits(*this, made.lanes);
    if (incentive != 0) made.incentive = incentive;
    return made;
}

/// A handle of a setting.
/// Copies are cheap. It must not be used after its goblin is destroyed.
class Setting {
public:
    /// No setting. Its choice is 0.
    Setting() = default;
    /// A setting that was added through the C API.
    Setting(const hob_goblin* goblin, hob_setting_id id) noexcept : goblin_(goblin), id_(id) {}

    /// The choice of the latest decision. 0 if the setting was removed.
    uint32_t choice() const noexcept { return goblin_ ? hob_goblin_choice(goblin_, id_) : 0; }
    /// The C id.
    hob_setting_id id() const noexcept { return id_; }

protected:
    /// NULL: no setting.
    const hob_goblin* goblin_ = nullptr;

private:
    hob_setting_id id_ = {0, 0};
};

/// A setting whose options are the combinations of several axes.
class Product : public Setting {
public:
    using Setting::Setting;

    /// The index of the latest choice on an axis.
    uint32_t index(uint32_t axis) const noexcept { return index_of(choice(), axis); }
    /// The index of any choice on an axis.
    uint32_t index_of(uint32_t choice, uint32_t axis) const noexcept {
        return goblin_ ? hob_goblin_product_index(goblin_, id(), choice, axis) : 0;
    }
    /// The choice with these indices, one for each axis.
    Result<uint32_t> try_choice_at(ArrayView<uint32_t> indices) const {
        return detail::filled_by(uint32_t{0}, [&](uint32_t* choice) {
            return hob_goblin_get_product_choice(goblin_, id(), indices.data(), indices.count(), choice);
        });
    }
#if HOB_EXCEPTIONS
    uint32_t choice_at(ArrayView<uint32_t> indices) const { return try_choice_at(indices).value(); }
#endif
};

/// The callbacks of a setting; see hob_setting_desc.
/// Each can be empty.
struct Callbacks {
    /// Fills in the options, in a vector that is empty: when the setting is added and before each decision.
    std::function<void(std::vector<Option>&)> get_options;
    /// Returns the default choice when the setting is added.
    std::function<uint32_t()> get_default_choice;
    /// Receives a choice that has changed.
    std::function<void(uint32_t choice, uint64_t decision_id)> set_choice;
    /// Fills in a sample and returns true, or returns false if there is no sample.
    std::function<bool(hob_sample&)> measure;
};

HOB_NAMESPACE_END

#endif  // HOBGOBLIN_GOBLIN_TYPES_HPP
