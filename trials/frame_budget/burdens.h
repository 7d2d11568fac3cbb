// The cost of each setting, from the measured passes.
//
// Every pass has its own timer and most passes belong to one setting, so most of this is a table. Antialiasing is the
// exception: with several samples per pixel all the geometry passes take longer. A factor measured beforehand splits
// their time: the part without antialiasing is charged to their own settings, the rest to antialiasing. The parts of a
// frame always add up to its measured time: time that belongs to no setting is a fixed burden, "rest".
#pragma once

#include <array>

#include "renderer.h"

namespace frame_budget {

struct Burdens {
    std::array<double, setting_count> setting_ms{};
    double mist_ms = 0; ///< The heavy effect: not a setting, but known to be there.
    double rest_ms = 0;
    double change_ms = 0; ///< One-time cost of memory for a change: part of no setting, nor of the rest.

    double total_ms() const;
};

/// The growth of the geometry passes with the samples of each antialiasing option, as a factor.
using AntialiasingFactors = std::array<double, max_options>;

Burdens burdens_of(const FrameTimes& times, const AntialiasingFactors& antialiasing_factors);

/// The settings whose change allocates memory.
inline constexpr std::array<SettingIndex, 3> settings_that_take_memory{resolution, antialiasing, shadows};

/// The one-time cost of changing each setting, in ms.
using SwitchBurdens = std::array<double, setting_count>;

/// The work of a setting's passes in a frame, in units of about one, known before the frame is drawn.
/// Cost over work is nearly constant, so costs learned on a light frame hold for a heavy one.
double work_of(SettingIndex setting, const SceneFrame& frame);
double mist_work_of(const Weight& weight);

} // namespace frame_budget
