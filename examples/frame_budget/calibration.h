// What this machine needs, measured before the contest in short interleaved stretches: the budget is derived from it,
// the candidates for "best fixed configuration" are chosen with it, the threshold governor's ladder is ordered by it.
// The goblin gets none of it but what a change costs: that is the renderer's to know, it cannot be seen in a pass.
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
    SwitchBurdens switch_ms{}; ///< On the frame in which a setting changes.

    // Whole frames, measured, not summed up. With the mist over the heavy scene: the script's worst.
    std::array<double, weight_count> lowest_ms{}, highest_ms{};
    double lowest_worst_ms = 0, highest_worst_ms = 0;

    /// The sum of the parts.
    double predicted_ms(const Choices& choices, const Weight& weight) const;

    /// A third of the way from what the lowest configuration needs at worst to what the highest needs at worst.
    double derived_budget_ms() const { return lowest_worst_ms + (highest_worst_ms - lowest_worst_ms) / 3; }
};

/// `progress` is told the part done, 0 .. 1; it returns false to stop (the result is then incomplete).
Calibration calibrate(Renderer& renderer, const Scene& scene, const std::function<bool(double)>& progress);

/// What each option costs, at both weights, as text.
std::string describe(const Calibration& calibration);

/// All steps from the lowest configuration to the highest, one option at a time, best value per millisecond first.
std::vector<Choices> ladder_by_value(const Calibration& calibration);

/// Up to three different fixed configurations, each with the highest value that is predicted to be late in at most
/// `late_part` of the script's frames: at the predicted cost, and with 6 % and 12 % to spare.
std::vector<Choices> promising_configurations(const Calibration& calibration, double budget_ms, double late_part);

} // namespace frame_budget
