#include "options.h"

#include <stdexcept>

#include "../common/arguments.h"

namespace patch {

using namespace trials;

const char* const usage =
    R"(patch: generative pictures from a graph that is edited while it runs

cargo run --release -p hobgoblin-trials --bin patch -- [options]

A clock, oscillators, a palette and an expensive generator make a picture in every frame. Only what changed is
evaluated, and the generator only while its clouds show. A script turns, rewires, inserts and removes nodes. Then the
patch is baked: a graph without the nodes that the user could set gives the same pictures. Other evaluators and
executors repeat the run in small. A table says for each node how often it ran, and why it ran last or did not.

  --frames N         pictures of the 8 seconds, at least 24 (default: 192)
  --size WxH         size of a picture (default: 480x270)
  --out DIR          write all pictures as PNG, a sheet with nine of them, and drawings of both graphs for Graphviz
  --baked            write the baked graph's pictures, from the frame on in which the patch is baked
  --evaluator WHICH  auto, lazy, list, bitset or parallel (default: auto)
  --threads N        evaluate with an executor of N further threads, 0 to 15 (default: without an executor)
  --no-compare       do not repeat the run with other evaluators
  --json FILE        write all results
  --help             print this

The exit status is 0 when all targets are met. Ctrl-C ends the run; the results so far are printed.
)";

namespace {

Size size_of(const std::string& text) {
    const std::size_t cross = text.find('x');
    if (cross == std::string::npos)
        throw std::runtime_error("--size wants something like 640x360, not \"" + text + "\"");
    const double width = positive_number("--size", text.substr(0, cross)),
                 height = positive_number("--size", text.substr(cross + 1));
    if (width < 16 || height < 16 || width > 4096 || height > 4096)
        throw std::runtime_error("--size wants sides from 16 to 4096, not \"" + text + "\"");
    return {static_cast<int>(width), static_cast<int>(height)};
}

hob_evaluator evaluator_of(const std::string& text) {
    for (const hob_evaluator evaluator : {HOB_EVALUATOR_AUTO, HOB_EVALUATOR_LAZY, HOB_EVALUATOR_LIST,
                                          HOB_EVALUATOR_BITSET, HOB_EVALUATOR_PARALLEL})
        if (text_of({evaluator, -1}) == text) return evaluator;
    throw std::runtime_error("--evaluator wants auto, lazy, list, bitset or parallel, not \"" + text + "\"");
}

int threads_of(const std::size_t count) {
    if (count > 15) throw std::runtime_error("--threads wants 15 at most");
    return static_cast<int>(count);
}

} // namespace

Options parse_options(int count, char** values) {
    Options options;
    Arguments arguments(count, values);
    while (arguments.next()) {
        const std::string& flag = arguments.flag();
        if (flag == "--help" || flag == "-h") options.help = true;
        else if (flag == "--frames") options.frames = static_cast<int>(arguments.count());
        else if (flag == "--size") options.size = size_of(arguments.value());
        else if (flag == "--out") options.directory = arguments.value();
        else if (flag == "--baked") options.shows_baked = true;
        else if (flag == "--evaluator") options.method.evaluator = evaluator_of(arguments.value());
        else if (flag == "--threads") options.method.threads = threads_of(arguments.count());
        else if (flag == "--no-compare") options.compares = false;
        else if (flag == "--json") options.json_file = arguments.value();
        else throw std::runtime_error("unknown option \"" + flag + "\" (see --help)");
    }
    if (options.frames < 24) throw std::runtime_error("--frames wants 24 at least: the script has 12 parts");
    return options;
}

} // namespace patch
