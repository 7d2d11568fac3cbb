#include "options.h"

#include "../common/arguments.h"

#include <stdexcept>

namespace frame_budget {

using namespace trials;

const char* const usage =
    R"(frame_budget: a small renderer that keeps its frames inside a budget, with the goblin and without

cargo run --release -p hobgoblin-trials --bin frame_budget -- [options]

The goblin, a threshold governor and fixed settings draw the same frames in turn, and a table shows how they do. It is a
demonstration: its figures depend on the load of the machine. The contest that compares governors replays recorded costs:
cargo bench -p hobgoblin-bench --bench contest

  --budget MS       the frame's budget in milliseconds (default: derived from this machine's costs)
  --seconds S       length of the run (default: 40)
  --quick           the same as --seconds 5; with --record-costs one round and 200 frames
  --scenes LIST     what happens: crowd, walk, cuts, or several with commas between (default: crowd)
  --size WxH        size of the picture (default: 480x270, on a graphics card 2560x1440)
  --seed N          seed of the scene (default: 7)
  --renderer WHICH  auto, gl, gles or software; software is the built-in one, which auto takes when there is no GL
  --device WHICH    for GL: auto, surfaceless, or the number of an EGL device (default: auto)
  --list-devices    print the EGL devices and leave
  --png DIR         write pictures of some frames, and strips that compare the lowest, the goblin's and the highest
  --json FILE       write all results, and each frame's time and value
  --profile FILE    what the goblin learns is kept there and used by the next run
  --record FILE     write down the goblin's samples and choices
  --replay FILE     repeat such a run, without drawing: does the goblin choose the same again?
  --record-costs FILE
                    instead of the run: write the cost of every pass by option and work, the work of the scenes, and the
                    noise of a long run; the contest plays them (minutes)
  --help            print this and leave

Ctrl-C ends the run; the results so far are printed.
)";

namespace {

void parse_size(const std::string& text, Options& options) {
    const std::size_t cross = text.find('x');
    if (cross == std::string::npos)
        throw std::runtime_error("--size wants something like 640x360, not \"" + text + "\"");
    const double width = positive_number("--size", text.substr(0, cross)),
                 height = positive_number("--size", text.substr(cross + 1));
    if (width < 64 || height < 64 || width > 8192 || height > 8192)
        throw std::runtime_error("--size wants sides from 64 to 8192, not \"" + text + "\"");
    options.width = static_cast<int>(width);
    options.height = static_cast<int>(height);
}

void parse_scripts(const std::string& text, Options& options) {
    options.scripts.clear();
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find(',', start), text.size());
        const auto found = std::find(script_names.begin(), script_names.end(), text.substr(start, end - start));
        if (found == script_names.end())
            throw std::runtime_error("--scenes wants some of crowd, walk, cuts, with commas between, not \"" + text + "\"");
        options.scripts.push_back(static_cast<Script>(found - script_names.begin()));
        start = end + 1;
    }
}

} // namespace

Options parse_options(int count, char** values) {
    Options options;
    Arguments arguments(count, values);
    while (arguments.next()) {
        const std::string& flag = arguments.flag();
        if (flag == "--help" || flag == "-h") options.help = true;
        else if (flag == "--list-devices") options.list_devices = true;
        else if (flag == "--quick") options.is_quick = true, options.seconds = 5;
        else if (flag == "--budget") options.budget_ms = arguments.positive_number();
        else if (flag == "--seconds") options.seconds = arguments.positive_number();
        else if (flag == "--seed") options.seed = static_cast<std::uint32_t>(arguments.positive_number());
        else if (flag == "--size") parse_size(arguments.value(), options);
        else if (flag == "--device") options.device = arguments.value();
        else if (flag == "--png") options.png_directory = arguments.value();
        else if (flag == "--json") options.json_file = arguments.value();
        else if (flag == "--profile") options.profile_file = arguments.value();
        else if (flag == "--record") options.record_file = arguments.value();
        else if (flag == "--record-costs") options.costs_file = arguments.value();
        else if (flag == "--scenes") parse_scripts(arguments.value(), options);
        else if (flag == "--replay") options.replay_file = arguments.value();
        else if (flag == "--renderer") {
            options.renderer = arguments.value();
            if (options.renderer != "auto" && options.renderer != "gl" && options.renderer != "gles" &&
                options.renderer != "software")
                throw std::runtime_error("--renderer wants auto, gl, gles or software, not \"" + options.renderer +
                                         "\"");
        } else throw std::runtime_error("unknown option \"" + flag + "\" (see --help)");
    }
    return options;
}

} // namespace frame_budget
