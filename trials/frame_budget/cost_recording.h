// Recorded costs of this renderer on this machine, for the replayed contest (cargo bench -p hobgoblin-bench --bench
// contest). A recording has the cost of every pass at every option and several amounts of work, the work of some
// scripts, and the noise of a long continuous run. docs/formats.md describes the file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "burdens.h"

namespace frame_budget {

struct CostRequest {
    std::vector<Script> scripts;
    int rounds = 2;          ///< Measurements of each configuration; the file has their medians.
    int noise_frames = 3600; ///< Frames of the continuous run.
    /// Gets the part done, 0 .. 1; returns false to stop.
    std::function<bool(double)> progress;
};

/// Measures the costs of this machine.
/// Returns the text of a recording; empty after a stop.
std::string record_costs(Renderer& renderer, const Scene& scene, const CostRequest& request);

} // namespace frame_budget
