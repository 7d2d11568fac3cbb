// The players: each governor decides the choices for the next frame.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "burdens.h"

namespace frame_budget {

struct Decision {
    Choices choices{};
    std::uint64_t id = 0; ///< Returned with the frame's times.
};

class Governor {
public:
    virtual ~Governor() = default;
    virtual Decision decide(const SceneFrame& frame) = 0;
    /// Receives the times of one of this governor's own frames, in order, once they are known.
    virtual void learn(const FrameTimes& times) = 0;
    /// The learned state, to be kept in a file; empty for a governor without one.
    virtual std::string profile() const { return {}; }
};

/// A governor with the same choices in every frame.
std::unique_ptr<Governor> make_fixed_governor(const Choices& choices);

/// The governor of most engines: a ladder of configurations.
/// It steps down when a frame was late, and up after a quiet second. "Quiet" means that no frame took more than 90 % of
/// the budget. It judges a step only by frames drawn with it, so delayed times do not cause further steps down.
std::unique_ptr<Governor> make_threshold_governor(std::vector<Choices> ladder, std::size_t first_step,
                                                  double budget_ms);

struct GoblinOptions {
    double budget_ms = 0;
    AntialiasingFactors factors{};
    SwitchBurdens switch_ms{};
    std::string profile;     ///< The learned state of an earlier run, or empty.
    std::string record_file; ///< Destination of the recording, or empty.
};

/// The governor that uses the library.
std::unique_ptr<Governor> make_goblin_governor(const GoblinOptions& options);

/// Replays a recorded run without a renderer.
/// Prints whether the library makes the same choices again, or the first difference. Returns whether all choices are
/// the same and the recording is complete.
bool replay_recording(const std::string& file);

} // namespace frame_budget
