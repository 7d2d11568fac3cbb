// From what was measured to what each setting is charged with.
//
// Every pass has its own timer and most passes belong to one setting, so most of this is a table. The one that shares
// is antialiasing: with several samples per pixel all the geometry passes take longer. A factor measured beforehand
// splits their time into what they would have cost without (charged to their own settings) and the rest (charged to
// antialiasing). Whatever happens, the parts of a frame add up to its measured time: what no setting is charged with is
// a fixed burden, "rest".
#pragma once

#include <array>

#include "renderer.h"

namespace frame_budget {

struct Burdens {
    std::array<double, setting_count> setting_ms{};
    double mist_ms = 0; ///< The heavy effect: nobody's choice, but known to be there.
    double rest_ms = 0;
    double change_ms = 0; ///< Memory that a change took, once: no setting's in the long run, and not the rest's.

    double total_ms() const;
};

/// `antialiasing_factor`: by how much the geometry passes grow with the option's samples, per option.
using AntialiasingFactors = std::array<double, max_options>;

Burdens burdens_of(const FrameTimes& times, const AntialiasingFactors& antialiasing_factors);

/// The settings whose change takes memory.
inline constexpr std::array<SettingIndex, 3> settings_that_take_memory{resolution, antialiasing, shadows};

/// What changing each setting costs, once.
using SwitchBurdens = std::array<double, setting_count>;

/// How much work a frame means for a setting's passes, in units of about one, known before it is drawn. Cost over work
/// is nearly constant, so what was learned on a light frame holds for a heavy one.
double work_of(SettingIndex setting, const SceneFrame& frame);
double mist_work_of(const Weight& weight);

} // namespace frame_budget
