// The results: numbers per player, as a table for people and as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "demonstration.h"

namespace frame_budget {

struct Summary {
    std::string name;
    std::size_t frames = 0;
    double late_percent = 0; ///< Frames over budget.
    double worst_ms = 0, p50_ms = 0, p95_ms = 0, p99_ms = 0;
    double mean_value = 0;
    /// Per second of frame time in each half of the run, without the resolution. The goblin learns in the first half.
    double changes_per_second[2] = {};
    double resolutions_per_second = 0; ///< The same for the resolution, in the whole run.
    double update_us = 0, update_p99_us = 0;
};

Summary summarize(const Player& player, double budget_ms);

/// A table with a line for the head and one for each player.
std::string table_of(const std::vector<Summary>& summaries);

struct RunFacts {
    std::string renderer, clock;
    double budget_ms = 0;
    std::uint32_t seed = 0;
    bool interrupted = false;
};

/// Throws std::runtime_error when the file cannot be written.
void write_json(const std::string& path, const RunFacts& facts, const std::vector<Summary>& summaries,
                const std::vector<Player>& players);

} // namespace frame_budget
