// The results: numbers per contestant, as a table for people and as JSON for programs.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "contest.h"

namespace frame_budget {

struct Summary {
    std::string name;
    std::size_t frames = 0;         ///< After the warm-up.
    double late_percent = 0;        ///< Frames over budget, after the warm-up.
    double warmup_late_percent = 0; ///< Frames over budget, in the warm-up.
    double worst_ms = 0, p50_ms = 0, p95_ms = 0, p99_ms = 0;
    double mean_value = 0;
    double changes_per_second = 0; ///< Settings changed per second of frame time.
    double update_us = 0, update_p99_us = 0;
};

/// Summarises a contestant; the first `warmup_frames` appear in `warmup_late_percent` alone.
Summary summarize(const Contestant& contestant, std::size_t warmup_frames, double budget_ms);

void print_table(std::ostream& out, const std::vector<Summary>& summaries, double budget_ms);

struct RunFacts {
    std::string renderer, clock;
    double budget_ms = 0;
    std::uint32_t seed = 0;
    int frame_count = 0;
    std::size_t warmup_frames = 0;
    bool interrupted = false;
};

/// Throws std::runtime_error when the file cannot be written.
void write_json(const std::string& path, const RunFacts& facts, const std::vector<Summary>& summaries,
                const std::vector<Contestant>& contestants);

} // namespace frame_budget
