// GPU timer queries in flight: a timestamp at the start of a frame and one after each pass. The results are read after
// they have arrived.
//
// The queries are timestamps rather than pairs of GL_TIME_ELAPSED: a pass lies between two of them, so the parts add up
// to the whole by construction. On a software rasteriser the whole is wall time.
#pragma once

#include <array>
#include <deque>

#include "../common/gl_api.h"
#include "clock.h"
#include "renderer.h"

namespace frame_budget {

using namespace trials;

class GlTimer {
public:
    GlTimer(GlContext& context, bool use_processor_time);

    void begin(const FrameTag& tag);
    void after(PassIndex pass);
    void end();

    /// Takes the oldest frame with known times; false without one.
    bool poll(FrameTimes& times);

private:
    static constexpr std::size_t frames_in_flight = 4;
    static constexpr std::size_t most_marks = pass_count + 2;

    struct Frame {
        FrameTag tag;
        std::array<GLuint, most_marks> queries{};
        std::array<std::size_t, most_marks> passes{}; ///< The pass that ended at this mark; pass_count: no pass.
        std::array<double, most_marks> processor_ms{}; ///< Of a software rasteriser, at each mark.
        std::size_t marks = 0;
        double wall_ms = 0;
    };

    void mark(std::size_t pass);
    void read_oldest();

    GlContext& context;
    std::array<Frame, frames_in_flight> ring;
    std::size_t oldest = 0, in_flight = 0;
    std::deque<FrameTimes> arrived;
    bool use_processor_time;
    double frame_start = 0;
};

} // namespace frame_budget
