#include "report.h"

#include <cstdio>
#include <sstream>

#include "../common/files.h"

namespace program_cache_gl {

namespace {

std::string quoted(const std::string& text) {
    std::string json = "\"";
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x20) continue;
        if (c == '"' || c == '\\') json += '\\';
        json += c;
    }
    return json + "\"";
}

std::string json_value(const std::string& text) { return quoted(text); }
std::string json_value(std::size_t count) { return std::to_string(count); }
std::string json_value(double ms) {
    char number[40];
    std::snprintf(number, sizeof number, "%.3f", ms);
    return number;
}

} // namespace

void print_head(bool egl_blob_cache) {
    if (egl_blob_cache)
        std::printf("\n%-34s %8s %8s %8s %8s %9s %9s %12s\n", "", "programs", "sets", "gets", "hits", "open ms",
                    "link ms", "first draw");
    else
        std::printf("\n%-34s %8s %8s %6s %6s %7s %5s %8s %9s %9s %9s %12s\n", "", "programs", "compiles", "hits",
                    "misses", "rejects", "bans", "open ms", "cache ms", "driver ms", "= link ms", "first draw");
}

void print_row(const StepResult& r, bool egl_blob_cache) {
    std::printf("%-34s ", r.name.c_str());
    if (!r.died.empty()) {
        std::printf("%s\n", r.died.c_str());
        return;
    }
    if (egl_blob_cache)
        std::printf("%8zu %8zu %8zu %8zu %9.1f %9.1f", r.usable(), r.blob_sets, r.blob_gets, r.blob_hits, r.open_ms,
                    r.driver_ms);
    else
        std::printf("%8zu %8zu %6zu %6zu %7zu %5zu %8.1f %9.1f %9.1f %9.1f", r.usable(), r.compiles, r.hits, r.misses,
                    r.rejects, r.bans, r.open_ms, r.cache_ms, r.driver_ms, r.link_ms());
    if (r.draws > 0) std::printf(" %4zu: %6.1f", r.draws, r.draw_ms);
    std::printf("%s\n", r.interrupted != 0 ? "  (interrupted)" : "");
    std::fflush(stdout);
}

bool print_verdict(const std::vector<Target>& targets) {
    bool all_met = true;
    std::printf("\nverdict:\n");
    for (const Target& target : targets) {
        std::printf("  %-94s %-4s %s\n", target.sentence.c_str(), target.is_met ? "yes" : "NO", target.found.c_str());
        all_met = all_met && target.is_met;
    }
    return all_met;
}

void write_json(const std::string& path, const std::vector<StepResult>& results, const std::vector<Target>& targets) {
    std::ostringstream out;
    out << "{\"steps\": [";
    const char* between = "\n";
    for (const StepResult& result : results) {
        out << between << "{";
        const char* comma = "";
        visit_fields(result, [&](const char* name, const auto& value) {
            out << comma << quoted(name) << ": " << json_value(value);
            comma = ", ";
        });
        out << "}";
        between = ",\n";
    }
    out << "\n],\n\"targets\": [";
    between = "\n";
    for (const Target& target : targets) {
        out << between << "{\"sentence\": " << quoted(target.sentence)
            << ", \"is_met\": " << (target.is_met ? "true" : "false") << ", \"found\": " << quoted(target.found) << "}";
        between = ",\n";
    }
    out << "\n]}\n";
    example::write_file(path, out.str());
}

} // namespace program_cache_gl
