// The clock of a renderer on processors: wall time, or the processor time of the whole process.
#pragma once

#include <chrono>
#include <ctime>

namespace frame_budget {

/// Milliseconds since some point in time.
/// Processor time leaves out the time that other programs take, but for their use of shared caches and memory.
inline double now_ms(bool is_processor_time) {
    if (is_processor_time) return 1000.0 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline constexpr const char* processor_clock = "processor time of all threads, of a frame and of its passes";

} // namespace frame_budget
