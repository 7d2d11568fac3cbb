#include "gl_timer.h"

namespace frame_budget {

GlTimer::GlTimer(GlContext& gl_context) : context(gl_context) {
    for (Frame& frame : ring) context.gl.GenQueries(static_cast<GLsizei>(most_marks), frame.queries.data());
}

void GlTimer::mark(std::size_t pass) {
    Frame& frame = ring[(oldest + in_flight) % frames_in_flight];
    frame.passes[frame.marks] = pass;
    context.gl.QueryCounter(frame.queries[frame.marks++], GL_TIMESTAMP);
}

void GlTimer::flush_software() {
    // A software rasteriser collects draws and timestamps, and works on them later. Make it work at the end of each
    // pass. Otherwise this pass's work would count as the next one's.
    if (context.is_software) context.gl.Finish();
}

void GlTimer::begin(const FrameTag& tag) {
    if (in_flight == frames_in_flight) read_oldest();
    frame_start = std::chrono::steady_clock::now();
    Frame& frame = ring[(oldest + in_flight) % frames_in_flight];
    frame.tag = tag;
    frame.marks = 0;
    mark(pass_count);
    flush_software();
}

void GlTimer::after(PassIndex pass) {
    mark(pass);
    flush_software();
}

void GlTimer::end() {
    mark(pass_count);
    flush_software();
    if (!context.is_software) context.gl.Flush();
    const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - frame_start;
    ring[(oldest + in_flight) % frames_in_flight].wall_ms = wall.count();
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
    GLuint64 first = 0, previous = 0;
    for (std::size_t i = 0; i < frame.marks; ++i) {
        GLuint64 now = 0;
        context.gl.GetQueryObjectui64v(frame.queries[i], GL_QUERY_RESULT, &now);
        if (i == 0) first = now;
        else if (frame.passes[i] < pass_count)
            times.pass_ms[frame.passes[i]] += static_cast<double>(now - previous) * 1e-6;
        previous = now;
    }
    if (context.is_es) { // reading the flag also resets it
        GLint is_disjoint = 0;
        context.gl.GetIntegerv(GL_GPU_DISJOINT, &is_disjoint);
        times.is_disjoint = is_disjoint != 0;
    }
    times.total_ms = context.is_software ? frame.wall_ms : static_cast<double>(previous - first) * 1e-6;
    arrived.push_back(times);
    oldest = (oldest + 1) % frames_in_flight;
    --in_flight;
}

} // namespace frame_budget
