// watch: reads numbers from the status bar of a game, and looks only at what changed. See --help (options.cpp).
//
// watcher.cpp has the code that a user of hob::Perception writes.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "../common/files.h"
#include "../common/interrupt.h"
#include "../common/png.h"
#include "../common/progress.h"
#include "options.h"
#include "report.h"

namespace watch {

using namespace trials;

namespace {

constexpr hob_perception_choice automatic = HOB_PERCEPTION_CHOICE_MEASURED;

/// Never and always, of prefetch and of graft, then the automatic choice.
std::vector<Method> methods_of(const Options& options) {
    std::vector<Method> methods;
    for (const auto prefetch : {HOB_PERCEPTION_CHOICE_NEVER, HOB_PERCEPTION_CHOICE_ALWAYS})
        for (const auto graft : {HOB_PERCEPTION_CHOICE_NEVER, HOB_PERCEPTION_CHOICE_ALWAYS})
            methods.push_back({prefetch, graft, options.workers});
    methods.push_back({automatic, automatic, options.workers});
    return methods;
}

/// Work per thousand of `least`.
std::string ratio(std::size_t work, std::size_t least) {
    char text[40];
    std::snprintf(text, sizeof text, "%.4f x", static_cast<double>(work) / static_cast<double>(std::max<std::size_t>(least, 1)));
    return text;
}

class Trial {
public:
    explicit Trial(const Options& the_options)
        : options(the_options), clip(load_clip(options)), labels(load_labels(options, clip.frames.size())),
          glyphs(load_glyphs(options)) {}

    bool play() {
        std::printf("%zu frames of %ux%u, %zu glyphs, %s\n\n", clip.frames.size(), clip.width, clip.height, glyphs.size(),
                    fit().c_str());
        compare_methods();
        if (!interrupted()) compare_workers();
        std::printf("%s\n", table_of(results.rows).c_str());
        if (!interrupted()) ask_for_agreement();
        if (interrupted()) std::puts("(interrupted: these are the results until then)");
        if (!options.json_file.empty()) write_results(options.json_file, results);
        return print_verdict(results.targets);
    }

private:
    std::string fit() const {
        if (options.is_exact()) return "exact";
        return options.correlation == 0 ? "tolerance " + std::to_string(options.tolerance)
                                        : "correlation of " + std::to_string(options.correlation) + " %";
    }

    /// The fastest of some runs. Their answers and counts must be equal, apart from those of the automatic choice.
    Run fastest(const Method& method) {
        Run best = run(options, clip, glyphs, method, false);
        for (std::uint32_t again = 1; again < options.repeats && !interrupted(); ++again) {
            Run other = run(options, clip, glyphs, method, false);
            is_same &= other.answers == best.answers;
            if (other.seconds < best.seconds) best = std::move(other);
        }
        return best;
    }

    void add(const Method& method, const Run& run) {
        results.rows.push_back(row_of(method, run, labels));
        if (answers.empty()) answers = run.answers;
        is_same &= run.answers == answers;
    }

    void compare_methods() {
        Progress progress;
        for (const Method& method : methods_of(options)) {
            if (interrupted()) return;
            progress.show("the clip", static_cast<double>(results.rows.size()) / 8);
            const Run found = fastest(method);
            add(method, found);
            results.statistics = found.json;
        }
        progress.clear();
        if (interrupted()) return;
        const auto& rows = results.rows;
        const auto less = [](const Row& one, const Row& other) { return one.work() < other.work(); };
        const std::size_t least = std::min_element(rows.begin(), rows.end() - 1, less)->work();
        results.targets.push_back({"the automatic choice does at most 3 % more work than the best fixed one",
                                   static_cast<double>(rows.back().work()) <= 1.03 * static_cast<double>(least),
                                   ratio(rows.back().work(), least)});
    }

    void compare_workers() {
        for (const std::uint32_t workers : {1u, 2u, 4u}) {
            if (workers == options.workers || interrupted()) continue;
            const Method method{HOB_PERCEPTION_CHOICE_ALWAYS, HOB_PERCEPTION_CHOICE_ALWAYS, workers};
            add(method, fastest(method));
        }
        if (interrupted()) return;
        results.targets.push_back({"all ways and all numbers of workers give the same answers", is_same,
                                   count(results.rows.size(), "ways")});
        if (labels.empty() || !options.is_exact()) return;
        std::size_t wrong = 0, all = 0;
        for (const Row& row : results.rows) {
            wrong += row.labels - row.right;
            all += row.labels;
        }
        results.targets.push_back({"every label is read exactly", wrong == 0 && all > 0,
                                   std::to_string(all - wrong) + " of " + std::to_string(all)});
    }

    void ask_for_agreement() {
        if (!options.directory.empty()) {
            std::error_code error;
            std::filesystem::create_directories(options.directory, error);
            if (error) throw std::runtime_error("cannot make the directory " + options.directory + ": " + error.message());
        }
        const Run found = run(options, clip, glyphs, {automatic, automatic, options.workers}, true,
                              [&](const Watcher& watcher, std::size_t frame) { draw(watcher, frame); });
        if (labels.empty() || interrupted()) return;
        auto& rows = results.agreements;
        rows.push_back(agreement_of(1, found.answers, labels));
        for (std::size_t i = 0; i < found.agreed.size(); ++i) rows.push_back(agreement_of(i + 2, found.agreed[i], labels));
        std::printf("%s\n", table_of(rows).c_str());
        if (options.is_exact()) return;
        const auto best = std::max_element(rows.begin() + 1, rows.end(), [](const Agreement& one, const Agreement& other) {
            return one.right_percent() < other.right_percent();
        });
        char text[200];
        std::snprintf(text, sizeof text, "%.2f %% of the answers with %zu frames, %.2f %% without agreement",
                      best->right_percent(), best->frames, rows[0].right_percent());
        results.targets.push_back({"agreement makes answers better, or all are right without it",
                                   best->right_percent() > rows[0].right_percent() || rows[0].right_percent() == 100, text});
        const auto is_good = [&](const Agreement& row) {
            return row.right_percent() >= options.least_right && row.answered_percent() >= options.least_answered;
        };
        std::snprintf(text, sizeof text, "with agreement, %.0f %% of the answers are right, and %.0f %% of the labels have one",
                      options.least_right, options.least_answered);
        const auto good = std::find_if(rows.begin() + 1, rows.end(), is_good);
        const bool has_good = good != rows.end();
        results.targets.push_back({text, has_good, has_good ? count(good->frames, "frames") : "with no number of frames"});
    }

    void draw(const Watcher& watcher, std::size_t frame) {
        if (options.directory.empty() || frame % options.every != 0) return;
        char name[40];
        std::snprintf(name, sizeof name, "overlay_%04zu.png", frame);
        write_png((std::filesystem::path(options.directory) / name).string(), static_cast<int>(clip.width),
                  static_cast<int>(clip.height), watcher.overlay(clip, frame));
    }

    const Options& options;
    Clip clip;
    Labels labels;
    std::vector<Glyph> glyphs;
    Results results;
    Labels answers;
    bool is_same = true;
};

/// Fills in the files that are beside this source.
void use_own_files(Options& options) {
    const auto folder = std::filesystem::path(__FILE__).parent_path() / "data";
    if (options.clip.empty()) {
        options.clip = (folder / "doom.pngs").string();
        if (options.labels.empty()) options.labels = (folder / "doom.csv").string();
    }
    if (options.glyphs.empty()) options.glyphs = (folder / "digits.png").string();
}

} // namespace

} // namespace watch

int main(int argument_count, char** arguments) {
    using namespace watch;
    try {
        Options options = parse_options(argument_count, arguments);
        if (options.help) {
            std::fputs(usage, stdout);
            return 0;
        }
        trials::watch_for_interrupt();
        trials::expect_writable(options.json_file);
        use_own_files(options);
        return Trial(options).play() ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "watch: %s\n", error.what());
        return 1;
    }
}
