// GPU timer queries in flight: a timestamp at the start of a frame and one after each pass, read when they have
// arrived.
//
// Timestamps rather than pairs of GL_TIME_ELAPSED: a pass is what lies between two of them, so the parts add up to the
// whole by construction.
#pragma once

#include <array>
#include <chrono>
#include <deque>

#include "../common/gl_api.h"
#include "renderer.h"

namespace frame_budget {

using namespace example;

class GlTimer {
public:
    explicit GlTimer(GlContext& context);

    void begin(const FrameTag& tag);
    void after(PassIndex pass);
    void end();

    /// The oldest frame that is known by now.
    bool poll(FrameTimes& times);

private:
    static constexpr std::size_t frames_in_flight = 4;
    static constexpr std::size_t most_marks = pass_count + 2;

    struct Frame {
        FrameTag tag;
        std::array<GLuint, most_marks> queries{};
        std::array<std::size_t, most_marks> passes{}; ///< The pass that ended at this mark; pass_count for none.
        std::size_t marks = 0;
        double wall_ms = 0;
    };

    void mark(std::size_t pass);
    void flush_software();
    void read_oldest();

    GlContext& context;
    std::array<Frame, frames_in_flight> ring;
    std::size_t oldest = 0, in_flight = 0;
    std::deque<FrameTimes> arrived;
    std::chrono::steady_clock::time_point frame_start;
};

} // namespace frame_budget
