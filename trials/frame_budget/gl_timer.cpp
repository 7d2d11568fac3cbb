#include "gl_timer.h"

namespace frame_budget {

GlTimer::GlTimer(GlContext& gl_context, bool with_processor_time)
    : context(gl_context), use_processor_time(with_processor_time && gl_context.is_software) {
    for (Frame& frame : ring) context.gl.GenQueries(static_cast<GLsizei>(most_marks), frame.queries.data());
}

void GlTimer::mark(std::size_t pass) {
    Frame& frame = ring[(oldest + in_flight) % frames_in_flight];
    frame.passes[frame.marks] = pass;
    context.gl.QueryCounter(frame.queries[frame.marks], GL_TIMESTAMP);
    // A software rasteriser collects draws and timestamps, and works on them later. Make it work at the end of each
    // pass. Otherwise this pass's work would count as the next one's.
    if (context.is_software) context.gl.Finish();
    if (use_processor_time) frame.processor_ms[frame.marks] = now_ms(true);
    ++frame.marks;
}

void GlTimer::begin(const FrameTag& tag) {
    if (in_flight == frames_in_flight) read_oldest();
    frame_start = now_ms(false);
    Frame& frame = ring[(oldest + in_flight) % frames_in_flight];
    frame.tag = tag;
    frame.marks = 0;
    mark(pass_count);
}

void GlTimer::after(PassIndex pass) {
    mark(pass);
}

void GlTimer::end() {
    mark(pass_count);
    if (!context.is_software) context.gl.Flush();
    ring[(oldest + in_flight) % frames_in_flight].wall_ms = now_ms(false) - frame_start;
    ++in_flight;
}

bool GlTimer::poll(FrameTimes& times) {
    while (in_flight > 0) {
        const Frame& frame = ring[oldest];
        GLuint is_there = 0;
        context.gl.GetQueryObjectuiv(frame.queries[frame.marks - 1], GL_QUERY_RESULT_AVAILABLE, &is_there);
        if (is_there == 0) break;
        read_oldest();
    }
    if (arrived.empty()) return false;
    times = arrived.front();
    arrived.pop_front();
    return true;
}

void GlTimer::read_oldest() {
    const Frame& frame = ring[oldest];
    FrameTimes times;
    times.tag = frame.tag;
    double first = 0, previous = 0;
    for (std::size_t i = 0; i < frame.marks; ++i) {
        GLuint64 nanoseconds = 0;
        context.gl.GetQueryObjectui64v(frame.queries[i], GL_QUERY_RESULT, &nanoseconds);
        const double now = use_processor_time ? frame.processor_ms[i] : static_cast<double>(nanoseconds) * 1e-6;
        if (i == 0) first = now;
        else if (frame.passes[i] < pass_count) times.pass_ms[frame.passes[i]] += now - previous;
        previous = now;
    }
    if (context.is_es) { // reading the flag also resets it
        GLint is_disjoint = 0;
        context.gl.GetIntegerv(GL_GPU_DISJOINT, &is_disjoint);
        times.is_disjoint = is_disjoint != 0;
    }
    times.total_ms = context.is_software && !use_processor_time ? frame.wall_ms : previous - first;
    arrived.push_back(times);
    oldest = (oldest + 1) % frames_in_flight;
    --in_flight;
}

} // namespace frame_budget
