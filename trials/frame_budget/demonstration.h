// The live run: governors draw the same frames, frame by frame in turn, so that other load on the machine affects all of
// them alike. The script goes by the clock: the run has a fixed length on every machine.
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
    float update_us = 0;      ///< Time for the decision itself.
    int changes = 0;          ///< Settings that differ from the frame before, without the resolution.
    bool new_resolution = false;
};

struct Player {
    std::string name;
    std::unique_ptr<Governor> governor;
    std::vector<FrameRecord> records; ///< By frame.
    Choices last_choices{};
};

struct DemonstrationOptions {
    std::vector<Script> scripts; ///< Played one after the other.
    double seconds = 0;
    /// Called after each frame of all players with the part done, 0 .. 1; returns false to stop.
    std::function<bool(double part_done)> progress;
    /// Called when a player's picture is ready.
    std::function<void(const SceneFrame& frame, std::size_t player, double part_done)> after_frame;
};

/// Plays the scripts.
/// After a stop all players keep the frames until then.
void demonstrate(Renderer& renderer, const Scene& scene, std::vector<Player>& players, const DemonstrationOptions& options);

} // namespace frame_budget
