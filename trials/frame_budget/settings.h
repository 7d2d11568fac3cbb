// The settings table: all settings that the renderer can trade for time. Each option has an `amount` for the passes and
// a `value` to the eye. Options go from cheapest to best.
//
// The values are the host's taste, in points; a picture with everything at its best is worth 77. Each ladder is
// concave: the first step away from "off" is visible at once, the last one only to an observer who looks for it.
#pragma once

#include <array>
#include <cstddef>

namespace frame_budget {

enum SettingIndex : std::size_t {
    resolution,
    antialiasing,
    shadows,
    occlusion,
    reflections,
    glow,
    detail,
    grass,
    setting_count
};

inline constexpr std::size_t max_options = 11;

struct Option {
    const char* name;
    int amount; ///< Percent, samples, texels, taps, blur passes, mesh level, tufts: see the setting.
    float value;
};

struct Setting {
    const char* name;
    const char* what; ///< What `amount` counts.
    std::size_t option_count;
    std::array<Option, max_options> options;
};

inline constexpr std::array<Setting, setting_count> settings{{
    {"resolution",
     "percent of the output's width and height",
     11,
     {{{"50%", 50, 0},
       {"55%", 55, 3},
       {"60%", 60, 6},
       {"65%", 65, 8.5f},
       {"70%", 70, 11},
       {"75%", 75, 12.5f},
       {"80%", 80, 13.8f},
       {"85%", 85, 15},
       {"90%", 90, 16.2f},
       {"95%", 95, 17.2f},
       {"100%", 100, 18}}}},
    {"antialiasing", "samples per pixel of the geometry", 2, {{{"off", 1, 0}, {"4x", 4, 8}}}},
    {"shadows",
     "texels along the edge of the shadow map",
     4,
     {{{"off", 0, 0}, {"512", 512, 8}, {"1024", 1024, 11}, {"2048", 2048, 13}}}},
    {"occlusion",
     "depth samples per pixel of the occlusion buffer",
     4,
     {{{"off", 0, 0}, {"4", 4, 4}, {"8", 8, 6}, {"16", 16, 7}}}},
    {"reflections", "1: the lake mirrors the shore", 2, {{{"off", 0, 0}, {"on", 1, 7}}}},
    {"glow", "0, 1: bloom, 2: bloom and sun rays", 3, {{{"off", 0, 0}, {"bloom", 1, 4}, {"rays", 2, 7}}}},
    {"detail",
     "level of the objects' meshes",
     4,
     {{{"blocks", 0, 0}, {"low", 1, 5}, {"medium", 2, 8}, {"high", 3, 9}}}},
    {"grass",
     "tufts of grass and flowers",
     4,
     {{{"none", 0, 0}, {"sparse", 1200, 4}, {"meadow", 3600, 7}, {"lush", 9000, 8}}}},
}};

/// One option index per setting: the choices for a frame.
using Choices = std::array<std::size_t, setting_count>;

inline constexpr Choices lowest_choices{};

constexpr Choices make_highest_choices() {
    Choices choices{};
    for (std::size_t s = 0; s < setting_count; ++s) choices[s] = settings[s].option_count - 1;
    return choices;
}
inline constexpr Choices highest_choices = make_highest_choices();

constexpr int amount(const Choices& choices, SettingIndex s) { return settings[s].options[choices[s]].amount; }

constexpr float value_of(const Choices& choices) {
    float value = 0;
    for (std::size_t s = 0; s < setting_count; ++s) value += settings[s].options[choices[s]].value;
    return value;
}

} // namespace frame_budget
