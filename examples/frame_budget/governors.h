// The contestants: who decides what the next frame is drawn with.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "burdens.h"

namespace frame_budget {

struct Decision {
    Choices choices{};
    std::uint64_t id = 0; ///< Comes back with the frame's times.
};

class Governor {
public:
    virtual ~Governor() = default;
    virtual Decision decide(const SceneFrame& frame) = 0;
    /// The times of one of this governor's own frames, in order, whenever they are known.
    virtual void learn(const FrameTimes& times) = 0;
    /// What it has learned, to be kept in a file; empty when it keeps nothing.
    virtual std::string profile() const { return {}; }
};

/// The same choices whatever happens.
std::unique_ptr<Governor> make_fixed_governor(const Choices& choices);

/// What most engines have: a ladder of configurations, one step down when a frame was late, one step up after a quiet
/// second. "Quiet" means that no frame took more than 90 % of the budget, and a step is judged by a frame that was
/// drawn with it, so this one does not fall down the stairs because of late news.
std::unique_ptr<Governor> make_threshold_governor(std::vector<Choices> ladder, std::size_t first_step,
                                                  double budget_ms);

struct GoblinOptions {
    double budget_ms = 0;
    AntialiasingFactors factors{};
    SwitchBurdens switch_ms{};
    std::string profile;     ///< What an earlier run has learned, or empty.
    std::string record_file; ///< Where the run is written down, or empty.
};

/// The library.
std::unique_ptr<Governor> make_goblin_governor(const GoblinOptions& options);

/// Repeats a run that was written down, without a renderer: prints whether the library makes the same choices again, or
/// where it does not. Whether they are, and the recording is whole.
bool replay_recording(const std::string& file);

} // namespace frame_budget
