#include "report.h"

#include <cstdio>
#include <ostream>
#include <sstream>

#include "../common/files.h"

namespace frame_budget {

namespace {

/// The nearest-rank quantile: a share of `part` of all values do not exceed it.
double quantile(const std::vector<float>& sorted, double part) {
    if (sorted.empty()) return 0;
    const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(sorted.size())));
    return static_cast<double>(sorted[std::min(std::max<std::size_t>(rank, 1), sorted.size()) - 1]);
}

double late_percent(const std::vector<FrameRecord>& records, std::size_t from, std::size_t to, double budget_ms) {
    std::size_t late = 0;
    for (std::size_t i = from; i < to; ++i) late += static_cast<double>(records[i].ms) > budget_ms ? 1 : 0;
    return to > from ? 100.0 * static_cast<double>(late) / static_cast<double>(to - from) : 0;
}

/// A double as JSON, short, the same in every locale.
std::string json_number(double value) {
    std::string text = std::to_string(value); // six decimals
    for (char& c : text)
        if (c == ',') c = '.';
    return text.substr(0, text.size() - 3);
}

std::string json_string(const std::string& text) {
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') out.push_back('\\');
        if (static_cast<unsigned char>(c) >= 0x20) out.push_back(c);
    }
    return out + "\"";
}

} // namespace

Summary summarize(const Contestant& contestant, std::size_t warmup_frames, double budget_ms) {
    const std::vector<FrameRecord>& records = contestant.records;
    const std::size_t first = std::min(warmup_frames, records.size());
    Summary summary;
    summary.name = contestant.name;
    summary.frames = records.size() - first;
    summary.late_percent = late_percent(records, first, records.size(), budget_ms);
    summary.warmup_late_percent = late_percent(records, 0, first, budget_ms);
    std::vector<float> times, updates;
    double seconds = 0, changes = 0;
    for (std::size_t i = first; i < records.size(); ++i) {
        times.push_back(records[i].ms);
        updates.push_back(records[i].update_us);
        seconds += static_cast<double>(records[i].ms) / 1000;
        changes += records[i].changes;
        summary.mean_value += static_cast<double>(records[i].value) / static_cast<double>(summary.frames);
    }
    std::sort(times.begin(), times.end());
    std::sort(updates.begin(), updates.end());
    summary.worst_ms = quantile(times, 1);
    summary.p50_ms = quantile(times, 0.5);
    summary.p95_ms = quantile(times, 0.95);
    summary.p99_ms = quantile(times, 0.99);
    summary.changes_per_second = seconds > 0 ? changes / seconds : 0;
    summary.update_us = quantile(updates, 0.5);
    summary.update_p99_us = quantile(updates, 0.99);
    return summary;
}

void print_table(std::ostream& out, const std::vector<Summary>& summaries, double budget_ms) {
    char line[256];
    std::snprintf(line, sizeof line, "%-30s %8s %9s %8s %8s %8s %8s %7s %9s %12s\n", "", "over", "first 2 s", "worst",
                  "p50", "p95", "p99", "mean", "changes", "update µs"); // the µ is two bytes
    out << line;
    std::snprintf(line, sizeof line, "%-30s %8s %9s %8s %8s %8s %8s %7s %9s %11s\n", "", "budget", "over", "ms", "ms",
                  "ms", "ms", "value", "per s", "p50 / p99");
    out << line;
    for (const Summary& s : summaries) {
        std::snprintf(line, sizeof line, "%-30s %7.1f%% %8.1f%% %8.1f %8.1f %8.1f %8.1f %7.2f %9.2f %5.1f /%5.1f\n",
                      s.name.c_str(), s.late_percent, s.warmup_late_percent, s.worst_ms, s.p50_ms, s.p95_ms, s.p99_ms,
                      s.mean_value, s.changes_per_second, s.update_us, s.update_p99_us);
        out << line;
    }
    std::snprintf(line, sizeof line,
                  "(budget %.2f ms; highest possible value %.0f; all columns but \"first 2 s\" leave the first two "
                  "seconds out)\n",
                  budget_ms, static_cast<double>(value_of(highest_choices)));
    out << line;
}

void write_json(const std::string& path, const RunFacts& facts, const std::vector<Summary>& summaries,
                const std::vector<Contestant>& contestants) {
    std::ostringstream out;
    const auto number = json_number;
    out << "{\n\"renderer\": " << json_string(facts.renderer) << ",\n\"clock\": " << json_string(facts.clock)
        << ",\n\"budget_ms\": " << number(facts.budget_ms) << ",\n\"seed\": " << facts.seed
        << ",\n\"frames\": " << facts.frame_count << ",\n\"warmup_frames\": " << facts.warmup_frames
        << ",\n\"highest_value\": " << number(static_cast<double>(value_of(highest_choices)))
        << ",\n\"interrupted\": " << (facts.interrupted ? "true" : "false") << ",\n\"contestants\": [";
    for (std::size_t i = 0; i < summaries.size(); ++i) {
        const Summary& s = summaries[i];
        out << (i > 0 ? ",\n" : "\n") << "{\"name\": " << json_string(s.name)
            << ", \"late_percent\": " << number(s.late_percent)
            << ", \"warmup_late_percent\": " << number(s.warmup_late_percent)
            << ", \"worst_ms\": " << number(s.worst_ms) << ", \"p50_ms\": " << number(s.p50_ms)
            << ", \"p95_ms\": " << number(s.p95_ms) << ", \"p99_ms\": " << number(s.p99_ms)
            << ", \"mean_value\": " << number(s.mean_value)
            << ", \"changes_per_second\": " << number(s.changes_per_second)
            << ", \"update_us\": " << number(s.update_us) << ", \"update_p99_us\": " << number(s.update_p99_us);
        for (const bool values : {false, true}) {
            out << ",\n \"" << (values ? "value" : "ms") << "\": [";
            const char* separator = "";
            for (const FrameRecord& record : contestants[i].records) {
                out << separator << number(static_cast<double>(values ? record.value : record.ms));
                separator = ",";
            }
            out << "]";
        }
        out << "}";
    }
    out << "\n]\n}\n";
    trials::write_file(path, out.str());
}

} // namespace frame_budget
