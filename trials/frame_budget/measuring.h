// Measures configurations in turn, so that the drift of the machine favours none of them.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "burdens.h"

namespace frame_budget {

/// A configuration at an amount of work, and its measured frames.
struct Stretch {
    SceneFrame frame;
    Choices choices{};
    std::vector<FrameTimes> samples;
};

struct Effort {
    int fewest_rounds = 0, most_rounds = 0;
    double enough_seconds = 0; ///< Afterwards only the fewest rounds are finished.
    int frames = 2;            ///< Of each visit; the first one only warms the caches.
};

/// Visits every configuration once a round, every round in another order.
/// `progress` gets the part done, 0 .. 1, and returns false to stop. Returns whether all rounds are complete.
bool measure(Renderer& renderer, std::vector<Stretch>& stretches, const Effort& effort,
             const std::function<bool(double)>& progress);

/// The cost of changing each setting: the median over its options.
/// Measured on frames that change each option to the next.
SwitchBurdens measure_changes(Renderer& renderer, const SceneFrame& frame);

/// The median; 0 without values.
inline double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

} // namespace frame_budget
