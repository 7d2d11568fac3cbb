// The code that a host writes: a perception with a pipeline for each number, one frame after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <hobgoblin/perception.hpp>

#include "clip.h"

namespace watch {

/// How a perception computes.
struct Method {
    hob_perception_choice prefetch = HOB_PERCEPTION_CHOICE_MEASURED, graft = HOB_PERCEPTION_CHOICE_MEASURED;
    std::uint32_t workers = 1;
};

constexpr std::uint32_t most_agreement = 4;

/// Reads the numbers of frames.
class Watcher {
public:
    Watcher(const Options& options, const std::vector<Glyph>& glyphs, const Method& method);

    void show(const Clip& clip, std::size_t frame);
    /// The number of a field, if the last `agreement` frames agree on one.
    /// `no_label`: they do not, or it has no digits.
    std::int64_t read(std::size_t field, std::uint32_t agreement);
    hob_perception_statistics statistics() const { return eye.statistics(); }
    std::string json() const { return eye.save_json(); }
    /// The frame as RGB, with the overlay over it.
    std::vector<std::uint8_t> overlay(const Clip& clip, std::size_t frame) const;

private:
    hob::Perception eye;
    std::unique_ptr<hob::Executor> executor;
    std::vector<hob_perception_pipeline_id> pipelines;
};

/// The answers of a run over all frames.
struct Run {
    /// By field and frame.
    Labels answers;
    /// As `answers`, for agreement of 2 frames and more.
    std::vector<Labels> agreed;
    double seconds = 0;
    hob_perception_statistics statistics{};
    std::string json;
};

/// Watches all frames.
/// Asks for agreement only if `with_agreement`. `after_frame` may be empty; it is not timed. Ends early on Ctrl-C.
Run run(const Options& options, const Clip& clip, const std::vector<Glyph>& glyphs, const Method& method,
        bool with_agreement, const std::function<void(const Watcher&, std::size_t)>& after_frame = {});

} // namespace watch
