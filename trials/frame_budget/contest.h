// The same script for every contestant, in slices of half a second, in turn. Other load on the machine affects all of
// them alike.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "governors.h"

namespace frame_budget {

struct FrameRecord {
    float ms = 0;
    float value = 0;
    float update_us = 0; ///< Time for the decision itself.
    int changes = 0;     ///< Settings that differ from the frame before.
};

struct Contestant {
    std::string name;
    std::unique_ptr<Governor> governor;
    std::vector<FrameRecord> records; ///< Indexed by the script's frame.
    Choices last_choices{};
};

struct ContestOptions {
    int frame_count = 0;
    int slice_frames = 1;
    /// Called after each frame; returns false to stop.
    std::function<bool(double part_done, const std::string& contestant)> progress;
    /// Called when a frame's picture is ready; may be empty.
    std::function<void(std::size_t contestant, int frame)> after_frame;
};

/// Runs the script.
/// After a stop all contestants keep the frames until then.
void run_contest(Renderer& renderer, const Scene& scene, std::vector<Contestant>& contestants,
                 const ContestOptions& options);

} // namespace frame_budget
