#include "report.h"

#include <cstdio>
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

Summary summarize(const Player& player, double budget_ms) {
    Summary summary;
    summary.name = player.name;
    summary.frames = player.records.size();
    if (summary.frames == 0) return summary;
    std::vector<float> times, updates;
    double seconds = 0, resolutions = 0, late = 0, value = 0;
    double half_seconds[2] = {}, half_changes[2] = {};
    for (const FrameRecord& record : player.records) {
        const std::size_t half = 2 * times.size() < summary.frames ? 0 : 1;
        half_seconds[half] += static_cast<double>(record.ms) / 1000;
        half_changes[half] += record.changes;
        times.push_back(record.ms);
        updates.push_back(record.update_us);
        seconds += static_cast<double>(record.ms) / 1000;
        resolutions += record.new_resolution ? 1 : 0;
        late += static_cast<double>(record.ms) > budget_ms ? 1 : 0;
        value += static_cast<double>(record.value);
    }
    std::sort(times.begin(), times.end());
    std::sort(updates.begin(), updates.end());
    const double frames = static_cast<double>(summary.frames);
    summary.late_percent = 100 * late / frames;
    summary.mean_value = value / frames;
    summary.worst_ms = quantile(times, 1);
    summary.p50_ms = quantile(times, 0.5);
    summary.p95_ms = quantile(times, 0.95);
    summary.p99_ms = quantile(times, 0.99);
    for (const std::size_t half : {0, 1})
        summary.changes_per_second[half] = half_seconds[half] > 0 ? half_changes[half] / half_seconds[half] : 0;
    summary.resolutions_per_second = seconds > 0 ? resolutions / seconds : 0;
    summary.update_us = quantile(updates, 0.5);
    summary.update_p99_us = quantile(updates, 0.99);
    return summary;
}

std::string table_of(const std::vector<Summary>& summaries) {
    char line[256];
    std::string table;
    std::snprintf(line, sizeof line, "%-10s %7s %8s %8s %8s %8s %7s %13s %12s %14s\n", "", "frames", "late", "p50 ms",
                  "p99 ms", "worst ms", "value", "changes/s", "resolution/s", "update us");
    table += line;
    for (const Summary& s : summaries) {
        std::snprintf(line, sizeof line, "%-10s %7zu %7.1f%% %8.1f %8.1f %8.1f %7.1f %5.2f / %5.2f %12.2f %6.1f /%6.1f\n",
                      s.name.c_str(), s.frames, s.late_percent, s.p50_ms, s.p99_ms, s.worst_ms, s.mean_value,
                      s.changes_per_second[0], s.changes_per_second[1], s.resolutions_per_second, s.update_us, s.update_p99_us);
        table += line;
    }
    return table;
}

void write_json(const std::string& path, const RunFacts& facts, const std::vector<Summary>& summaries,
                const std::vector<Player>& players) {
    std::ostringstream out;
    const auto number = json_number;
    out << "{\n\"renderer\": " << json_string(facts.renderer) << ",\n\"clock\": " << json_string(facts.clock)
        << ",\n\"budget_ms\": " << number(facts.budget_ms) << ",\n\"seed\": " << facts.seed
        << ",\n\"highest_value\": " << number(static_cast<double>(value_of(highest_choices)))
        << ",\n\"interrupted\": " << (facts.interrupted ? "true" : "false") << ",\n\"players\": [";
    for (std::size_t i = 0; i < summaries.size(); ++i) {
        const Summary& s = summaries[i];
        out << (i > 0 ? ",\n" : "\n") << "{\"name\": " << json_string(s.name)
            << ", \"frames\": " << s.frames << ", \"late_percent\": " << number(s.late_percent)
            << ", \"worst_ms\": " << number(s.worst_ms) << ", \"p50_ms\": " << number(s.p50_ms)
            << ", \"p95_ms\": " << number(s.p95_ms) << ", \"p99_ms\": " << number(s.p99_ms)
            << ", \"mean_value\": " << number(s.mean_value)
            << ", \"changes_per_second\": [" << number(s.changes_per_second[0]) << ","
            << number(s.changes_per_second[1]) << "]"
            << ", \"resolutions_per_second\": " << number(s.resolutions_per_second)
            << ", \"update_us\": " << number(s.update_us) << ", \"update_p99_us\": " << number(s.update_p99_us);
        for (const bool values : {false, true}) {
            out << ",\n \"" << (values ? "value" : "ms") << "\": [";
            const char* separator = "";
            for (const FrameRecord& record : players[i].records) {
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
