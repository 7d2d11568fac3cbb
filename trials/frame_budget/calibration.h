// The needs of this machine, measured before the run in short interleaved stretches. They determine the budget, the
// fixed configuration, and the order of the threshold governor's ladder. The goblin gets the
// budget, the antialiasing factors and the cost of a change, but no option's cost. Only the renderer knows the cost of
// a change: it does not show in a setting's passes.
#pragma once

#include <functional>

#include "burdens.h"

namespace frame_budget {

/// Two weights of the scene; costs in between are interpolated.
enum WeightIndex : std::size_t { light, heavy, weight_count };

struct Calibration {
    std::array<std::array<std::array<double, max_options>, setting_count>, weight_count> option_ms{};
    std::array<double, weight_count> rest_ms{};
    double mist_ms = 0;
    AntialiasingFactors antialiasing_factors{};
    SwitchBurdens switch_ms{}; ///< Added to the frame in which a setting changes.

    // Whole frames: measured, not summed up. The script's worst frame has the mist over the heavy scene.
    std::array<double, weight_count> lowest_ms{}, highest_ms{};
    double lowest_worst_ms = 0, highest_worst_ms = 0;

    /// The predicted cost of a frame: the sum of its parts.
    double predicted_ms(const Choices& choices, const Weight& weight) const;

    /// A third of the way from the lowest configuration's worst frame to the highest configuration's.
    double derived_budget_ms() const { return lowest_worst_ms + (highest_worst_ms - lowest_worst_ms) / 3; }
};

/// Measures this machine; the result is incomplete if `progress` returns false to stop.
/// `progress` gets the part done, 0 .. 1.
Calibration calibrate(Renderer& renderer, const Scene& scene, const std::function<bool(double)>& progress);

/// All steps from the lowest configuration to the highest, one option at a time, best value per millisecond first.
std::vector<Choices> ladder_by_value(const Calibration& calibration);

/// The highest step of a ladder that is predicted to be late in at most `late_part` of the script's frames.
std::size_t highest_step_within(const std::vector<Choices>& ladder, const Calibration& calibration, double budget_ms,
                                double late_part, Script script);

} // namespace frame_budget
