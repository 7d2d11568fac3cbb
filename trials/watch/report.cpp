#include "report.h"

#include <algorithm>
#include <cstdio>

#include "../common/fields.h"
#include "../common/files.h"

namespace watch {

using namespace trials;

namespace {

const char* name_of(hob_perception_choice choice) {
    return choice == HOB_PERCEPTION_CHOICE_ALWAYS ? "always" : choice == HOB_PERCEPTION_CHOICE_NEVER ? "never" : "automatic";
}

template <class Visit> void each_label(const Labels& answers, const Labels& labels, Visit visit) {
    for (std::size_t field = 0; field < labels.size(); ++field)
        for (std::size_t frame = 0; frame < answers[field].size(); ++frame)
            if (labels[field][frame] != no_label) visit(answers[field][frame], labels[field][frame]);
}

} // namespace

Row row_of(const Method& method, const Run& run, const Labels& labels) {
    Row row;
    row.prefetch = name_of(method.prefetch);
    row.graft = name_of(method.graft);
    row.workers = method.workers;
    each_label(run.answers, labels, [&](std::int64_t answer, std::int64_t label) {
        ++row.labels;
        row.right += answer == label ? 1 : 0;
    });
    const hob_perception_statistics& all = run.statistics;
    row.frames_per_second = static_cast<double>(all.frames) / std::max(run.seconds, 1e-9);
    row.runs = all.runs;
    row.operations = all.operations;
    row.compared_bytes = all.compared_bytes;
    row.grafts = all.grafts;
    row.prefetched_runs = all.prefetch_runs;
    return row;
}

std::string table_of(const std::vector<Row>& rows) {
    char line[300];
    std::snprintf(line, sizeof line, "%-9s  %-9s %7s %13s %10s %7s %9s %8s %12s %14s\n", "prefetch", "graft", "workers",
                  "labels right", "frames/s", "runs", "prefetched", "grafts", "operations", "compared bytes");
    std::string table = line;
    for (const Row& row : rows) {
        const std::string right = row.labels == 0 ? "-" : std::to_string(row.right) + "/" + std::to_string(row.labels);
        std::snprintf(line, sizeof line, "%-9s  %-9s %7zu %13s %10.0f %7zu %10zu %8zu %12zu %14zu\n", row.prefetch.c_str(),
                      row.graft.c_str(), row.workers, right.c_str(), row.frames_per_second, row.runs, row.prefetched_runs,
                      row.grafts, row.operations, row.compared_bytes);
        table += line;
    }
    return table;
}

Agreement agreement_of(std::size_t frames, const Labels& answers, const Labels& labels) {
    Agreement row;
    row.frames = frames;
    each_label(answers, labels, [&](std::int64_t answer, std::int64_t label) {
        ++row.labels;
        row.answered += answer == no_label ? 0 : 1;
        row.right += answer == label ? 1 : 0;
    });
    std::size_t delays = 0, answered_changes = 0;
    for (std::size_t field = 0; field < labels.size(); ++field) {
        const auto& of = labels[field];
        for (std::size_t at = 1; at < answers[field].size(); ++at) {
            if (of[at] == of[at - 1] || of[at] == no_label) continue;
            ++row.changes;
            std::size_t until = at;
            while (until < answers[field].size() && of[until] == of[at] && answers[field][until] != of[at]) ++until;
            if (until == answers[field].size() || of[until] != of[at]) {
                ++row.missed_changes;
                continue;
            }
            ++answered_changes;
            delays += until - at;
            row.longest_delay = std::max(row.longest_delay, until - at);
        }
    }
    row.mean_delay = static_cast<double>(delays) / static_cast<double>(std::max<std::size_t>(answered_changes, 1));
    return row;
}

std::string table_of(const std::vector<Agreement>& rows) {
    std::string table = "frames that agree   answered      right   changes  missed  frames late: mean  most\n";
    for (const Agreement& row : rows) {
        char line[200];
        std::snprintf(line, sizeof line, "%17zu %8.2f %% %8.2f %% %9zu %7zu %18.2f %5zu\n", row.frames,
                      row.answered_percent(), row.right_percent(), row.changes, row.missed_changes, row.mean_delay,
                      row.longest_delay);
        table += line;
    }
    return table;
}

void write_results(const std::string& path, const Results& results) {
    write_file(path, "{\"rows\": " + to_json_lines(results.rows) + ",\n\"agreements\": " +
                         to_json_lines(results.agreements) + ",\n\"targets\": " + to_json_lines(results.targets) +
                         ",\n\"statistics\": " + results.statistics + "}\n");
}

} // namespace watch
