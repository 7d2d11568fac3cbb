// main.cpp OLD NEW ROUNDS ONLY text|json: compares the speed of two shared libraries, for tools/compare_builds.sh.
//
// Each round runs every workload with both libraries; the next round takes the libraries in the other order. A row has
// the median time of a call with each library, and the median and quartiles of the ratios NEW/OLD of the rounds. ONLY
// selects the workloads whose names contain it; an empty ONLY selects all.
//
// Exit status: 0 if the results are equal, 1 if they differ, 2 for an error.

#include "workloads.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Row {
    Workload workload;
    std::array<std::vector<double>, 2> us = {}; ///< By library, then by round.
    std::array<double, 2> results = {};         ///< By library, of the first round that differs, or else of the last.

    bool is_same() const { return results[0] == results[1]; }
};

struct Arguments {
    std::array<const char*, 2> paths;
    unsigned rounds;
    std::string only;
    bool json;
};

Arguments parse(int count, char** words) {
    if (count != 6) throw std::invalid_argument("expected arguments: OLD NEW ROUNDS ONLY text|json");
    const unsigned long rounds = std::stoul(words[3]);
    if (rounds < 1 || rounds > 100000) throw std::invalid_argument("invalid number of rounds: must be 1 to 100000");
    return {{words[1], words[2]}, static_cast<unsigned>(rounds), words[4], words[5] == std::string("json")};
}

std::vector<Row> select_rows(const std::string& only) {
    std::vector<Row> rows;
    std::string names;
    for (auto& workload : all_workloads()) {
        names += std::string("\n    ") + workload.name;
        if (std::string(workload.name).find(only) != std::string::npos) rows.push_back({workload});
    }
    if (rows.empty()) throw std::invalid_argument("no workload has this name: " + only + "; the workloads are" + names);
    return rows;
}

void run_round(const std::array<Library, 2>& libraries, std::size_t first, Row& row) {
    std::array<double, 2> results{};
    for (const std::size_t i : {first, 1 - first}) {
        const Sample sample = row.workload.run(libraries[i]);
        row.us[i].push_back(sample.us_per_call);
        results[i] = sample.result;
    }
    if (row.is_same()) row.results = results;
}

/// The value below which `part` of the values lie, from 0 to 1.
double quantile(std::vector<double> values, double part) {
    std::sort(values.begin(), values.end());
    const double position = part * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (values[above] - values[below]) * (position - static_cast<double>(below));
}

std::vector<double> ratios(const Row& row) {
    std::vector<double> result;
    for (std::size_t round = 0; round < row.us[0].size(); ++round)
        result.push_back(row.us[1][round] / row.us[0][round]);
    return result;
}

void print(const Row& row, bool json) {
    const auto ratio = ratios(row);
    const char* const format =
        json ? "{\"workload\":\"%s\",\"old_us\":%.6g,\"new_us\":%.6g,\"ratio\":%.4f,\"quartiles\":[%.4f,%.4f],"
             : "%-32s %10.4f %10.4f   %.3f (%.3f to %.3f)\n";
    std::printf(format, row.workload.name, quantile(row.us[0], 0.5), quantile(row.us[1], 0.5), quantile(ratio, 0.5),
        quantile(ratio, 0.25), quantile(ratio, 0.75));
    if (json) std::printf("\"same_results\":%s}\n", row.is_same() ? "true" : "false");
}

/// Returns whether all results are equal.
bool report(const std::vector<Row>& rows, bool json) {
    if (!json) std::printf("%-32s %10s %10s   ratio NEW/OLD (quartiles)\n", "workload", "OLD us", "NEW us");
    for (const auto& row : rows) print(row, json);
    bool all_same = true;
    for (const auto& row : rows) {
        if (row.is_same()) continue;
        all_same = false;
        std::fprintf(json ? stderr : stdout, "results differ: %s: OLD %.17g, NEW %.17g\n", row.workload.name,
            row.results[0], row.results[1]);
    }
    return all_same;
}

int compare(const Arguments& arguments) {
    std::vector<Row> rows = select_rows(arguments.only);
    const std::array<Library, 2> libraries{Library(arguments.paths[0]), Library(arguments.paths[1])};
    for (unsigned round = 0; round < arguments.rounds; ++round)
        for (auto& row : rows) run_round(libraries, round % 2, row);
    return report(rows, arguments.json) ? 0 : 1;
}

} // namespace

int main(int count, char** words) {
    try {
        return compare(parse(count, words));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "compare_builds: %s\n", error.what());
        return 2;
    }
}
