// The results: accuracy, work and time of each way, and of each number of frames that must agree.
#pragma once

#include <string>
#include <vector>

#include "../common/verdict.h"
#include "watcher.h"

namespace watch {

/// A way to compute, and what it did.
struct Row {
    std::string prefetch, graft;
    std::size_t workers = 1, right = 0, labels = 0;
    double frames_per_second = 0;
    std::size_t runs = 0, operations = 0, compared_bytes = 0, grafts = 0, prefetched_runs = 0;

    template <typename Self, typename Visit> static void visit_fields(Self& row, Visit&& visit) {
        visit("prefetch", row.prefetch);
        visit("graft", row.graft);
        visit("workers", row.workers);
        visit("right", row.right);
        visit("labels", row.labels);
        visit("frames_per_second", row.frames_per_second);
        visit("runs", row.runs);
        visit("operations", row.operations);
        visit("compared_bytes", row.compared_bytes);
        visit("grafts", row.grafts);
        visit("prefetched_runs", row.prefetched_runs);
    }
    std::size_t work() const { return operations + compared_bytes; }
};

Row row_of(const Method& method, const Run& run, const Labels& labels);
std::string table_of(const std::vector<Row>& rows);

/// How good answers are if so many frames must agree.
struct Agreement {
    std::size_t frames = 1, labels = 0, answered = 0, right = 0, changes = 0;
    /// Frames from a new label to the first answer with it.
    double mean_delay = 0;
    std::size_t longest_delay = 0, missed_changes = 0;

    template <typename Self, typename Visit> static void visit_fields(Self& row, Visit&& visit) {
        visit("frames", row.frames);
        visit("labels", row.labels);
        visit("answered", row.answered);
        visit("right", row.right);
        visit("changes", row.changes);
        visit("mean_delay", row.mean_delay);
        visit("longest_delay", row.longest_delay);
        visit("missed_changes", row.missed_changes);
    }
    double right_percent() const { return answered == 0 ? 0 : 100.0 * static_cast<double>(right) / static_cast<double>(answered); }
    double answered_percent() const { return labels == 0 ? 0 : 100.0 * static_cast<double>(answered) / static_cast<double>(labels); }
};

Agreement agreement_of(std::size_t frames, const Labels& answers, const Labels& labels);
std::string table_of(const std::vector<Agreement>& rows);

struct Results {
    std::vector<Row> rows;
    std::vector<Agreement> agreements;
    std::vector<trials::Target> targets;
    std::string statistics; ///< JSON of the library, of the automatic run.
};

/// Throws std::runtime_error when the file cannot be written.
void write_results(const std::string& path, const Results& results);

} // namespace watch
