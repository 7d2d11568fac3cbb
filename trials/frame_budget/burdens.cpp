#include "burdens.h"

#include <numeric>

namespace frame_budget {

double Burdens::total_ms() const { return std::accumulate(setting_ms.begin(), setting_ms.end(), mist_ms + rest_ms + change_ms); }

Burdens burdens_of(const FrameTimes& times, const AntialiasingFactors& antialiasing_factors) {
    const auto& pass = times.pass_ms;
    const double factor = antialiasing_factors[times.tag.choices[antialiasing]];
    Burdens burdens;
    auto& setting = burdens.setting_ms;
    setting[resolution] = pass[pass_lighting] + pass[pass_ground] / factor;
    setting[detail] = pass[pass_objects] / factor;
    setting[grass] = pass[pass_grass] / factor;
    setting[antialiasing] =
        pass[pass_resolve] + (pass[pass_ground] + pass[pass_objects] + pass[pass_grass]) * (1 - 1 / factor);
    setting[shadows] = pass[pass_shadow];
    setting[occlusion] = pass[pass_occlusion];
    setting[reflections] = pass[pass_mirror];
    setting[glow] = pass[pass_glow];
    burdens.mist_ms = pass[pass_mist];
    burdens.change_ms = pass[pass_change];
    burdens.rest_ms = times.total_ms - burdens.total_ms(); // rest_ms is still 0 here
    return burdens;
}

// Affine in the number of objects: c + n. The constant c is the part of a pass that does not depend on objects
// (clearing a shadow map, drawing the hills). It follows from cost(300) : cost(3000) of each pass, measured on llvmpipe
// at 640x360: shadows 1.34 : 10.1 ms (1024), detail 0.94 : 6.59 (medium), reflections 2.29 : 4.66,
// antialiasing 3.7 : 6.1. Between the options of one setting c differs a little; the error is a tenth.
double work_of(SettingIndex setting, const SceneFrame& frame) {
    const double in_view = static_cast<double>(frame.visible.size()), all = frame.weight.objects;
    switch (setting) {
    case shadows: return (150 + all) / 1000;
    case detail: return (60 + in_view) / 1000;
    case reflections: return (1300 + in_view) / 1000;
    case antialiasing: return (1500 + in_view) / 1000;
    default: return 1;
    }
}

double mist_work_of(const Weight& weight) {
    return mist_step_count(weight.mist) / static_cast<double>(mist_steps.back());
}

} // namespace frame_budget
