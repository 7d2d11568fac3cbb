// patch: generative pictures from a graph that is edited while it runs. See --help (options.cpp).
//
// patch.cpp has the code that a user of hob::Graph writes: nodes from lambdas, with numbers and pictures as values.
#include <algorithm>
#include <cstdio>
#include <exception>

#include "../common/files.h"
#include "../common/interrupt.h"
#include "../common/progress.h"
#include "options.h"
#include "report.h"
#include "script.h"

namespace patch {

using namespace trials;

namespace {

/// The results of the run with one method, to compare with those of others.
struct Traces {
    std::vector<Picture> pictures;
    std::vector<std::uint64_t> runs; ///< By node.
    std::uint64_t blocks = 0;        ///< Given to the executor.
};

Traces trace(Size size, int frames, const Method& method) {
    Show show(size, frames, method);
    Traces traces;
    while (!interrupted() && show.next()) {
        traces.pictures.push_back(show.picture());
        if (const Picture* baked = show.baked_picture()) traces.pictures.push_back(*baked);
    }
    for (const Patch::Node& node : show.edited().nodes()) traces.runs.push_back(node.runs);
    traces.blocks = show.edited().graph().statistics().blocks;
    return traces;
}

/// Repeats the run in small with each evaluator, and with executors.
Target compare_methods(const Options& options) {
    const Method methods[] = {
        options.method,
        {HOB_EVALUATOR_AUTO, -1},    {HOB_EVALUATOR_LAZY, -1},   {HOB_EVALUATOR_LIST, -1},
        {HOB_EVALUATOR_BITSET, -1},  {HOB_EVALUATOR_AUTO, 0},    {HOB_EVALUATOR_AUTO, 1},
        {HOB_EVALUATOR_PARALLEL, 0}, {HOB_EVALUATOR_PARALLEL, 1}, {HOB_EVALUATOR_PARALLEL, 3},
    };
    const Size size{std::max(16, options.size.width / 4), std::max(16, options.size.height / 4)};
    Target target{"all evaluators and executors give the same frames and the same counts", true, ""};
    Progress progress;
    Traces first;
    std::size_t at = 0, blocks = 0;
    for (const Method& method : methods) {
        progress.show("other evaluators", static_cast<double>(at) / std::size(methods), text_of(method));
        Traces traces = trace(size, options.frames, method);
        if (interrupted()) break;
        blocks += traces.blocks;
        if (at++ == 0) {
            first = std::move(traces);
        } else if (traces.pictures != first.pictures || traces.runs != first.runs) {
            target.is_met = false;
            target.found += "not with " + text_of(method) + "; ";
        }
    }
    progress.clear();
    target.found += count(at == 0 ? 0 : at - 1, "runs at ") + std::to_string(size.width) + "x" +
                    std::to_string(size.height) + ", " + count(blocks, "blocks for executors");
    return target;
}

std::vector<Frame> play(const Options& options, Show& show) {
    Pictures pictures(options.directory, options.frames);
    Progress progress;
    std::vector<Frame> frames;
    while (!interrupted()) {
        const auto frame = show.next();
        if (!frame) break;
        for (const std::string& line : frame->edits) {
            progress.clear();
            std::printf("frame %3d, %.2f s: %s\n", frame->number, frame->seconds, line.c_str());
            std::fflush(stdout);
        }
        const Picture* const baked = options.shows_baked ? show.baked_picture() : nullptr;
        pictures.add(frame->number, baked != nullptr ? *baked : show.picture());
        frames.push_back(*frame);
        if (progress.on_terminal()) progress.show("the run", static_cast<double>(frames.size()) / options.frames);
    }
    progress.clear();
    pictures.finish(show.edited().graph().save_dot(), show.baked() != nullptr ? show.baked()->save_dot() : "");
    return frames;
}

/// The targets that the frames of the main run meet.
std::vector<Target> targets_of(const std::vector<Frame>& frames) {
    std::size_t hidden = 0, hidden_runs = 0, applied = 0, applied_runs = 0, baked = 0, equal = 0;
    for (const Frame& frame : frames) {
        (frame.is_applied ? applied : hidden) += 1;
        (frame.is_applied ? applied_runs : hidden_runs) += frame.data_runs;
        baked += frame.has_baked ? 1 : 0;
        equal += frame.is_baked_equal ? 1 : 0;
    }
    // A run that was interrupted may have no frames of a kind.
    std::vector<Target> targets;
    if (hidden > 0)
        targets.push_back({"the lazy generator and its source do not run while \"apply\" is false", hidden_runs == 0,
                           std::to_string(hidden_runs) + " runs in " + count(hidden, "frames")});
    if (applied > 0)
        targets.push_back({"both run once in each other frame", applied_runs == 2 * applied,
                           std::to_string(applied_runs) + " runs in " + count(applied, "frames")});
    if (baked > 0)
        targets.push_back({"the baked graph gives the same frames, byte for byte", equal == baked,
                           std::to_string(equal) + " of " + count(baked, "frames")});
    return targets;
}

void print_baked(const std::vector<Row>& rows, const std::vector<Frame>& frames, const Show& show) {
    if (show.baked() == nullptr) return;
    std::string stored, unused;
    for (const Row& row : rows)
        if (row.baked == "stored" || row.baked == "unused") {
            std::string& names = row.baked == "stored" ? stored : unused;
            names += (names.empty() ? "" : ", ") + row.name;
        }
    std::size_t runs = 0, baked_runs = 0, later = 0;
    for (const Frame& frame : frames) {
        if (!frame.has_baked || ++later == 1) continue;
        runs += frame.runs;
        baked_runs += frame.baked_runs;
    }
    std::printf("\nbaking removed these nodes and stored their values: %s\nand removed these, which no sink depends on: %s\n",
                stored.c_str(), unused.c_str());
    std::printf("a first frame takes %zu evaluations instead of %zu; the %zu frames after it take %zu, and %zu without "
                "baking\n",
                static_cast<std::size_t>(show.baked_first_runs()), static_cast<std::size_t>(show.whole_first_runs()),
                later - 1, baked_runs, runs);
}

bool run(const Options& options) {
    expect_writable(options.json_file);
    std::printf("%d frames of %dx%d, evaluator %s\n\n", options.frames, options.size.width, options.size.height,
                text_of(options.method).c_str());
    Show show(options.size, options.frames, options.method);
    Results results;
    results.frames = play(options, show);
    results.rows = show.rows();
    results.targets = targets_of(results.frames);
    if (options.compares && !interrupted()) results.targets.push_back(compare_methods(options));
    results.is_interrupted = interrupted();

    std::printf("\n%s", table_of(results.rows, show.baked() != nullptr).c_str());
    print_baked(results.rows, results.frames, show);
    if (!options.json_file.empty()) write_results(options.json_file, results);
    if (results.is_interrupted) std::puts("(interrupted: these are the frames until then)");
    return print_verdict(results.targets);
}

} // namespace

} // namespace patch

int main(int argument_count, char** arguments) {
    using namespace patch;
    try {
        const Options options = parse_options(argument_count, arguments);
        if (options.help) {
            std::fputs(usage, stdout);
            return 0;
        }
        trials::watch_for_interrupt();
        return run(options) ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "patch: %s\n", error.what());
        return 1;
    }
}
