#include "options.h"

#include "../common/arguments.h"

#include <stdexcept>

namespace frame_budget {

using namespace trials;

const char* const usage =
    R"(frame_budget: a small renderer that keeps its frames inside a budget, and a contest of who keeps them best

cargo run --release -p hobgoblin-trials --bin frame_budget -- [options]

  --budget MS       the frame's budget in milliseconds (default: derived from what this machine needs)
  --seconds S       length of the script at one frame per budget, for each contestant (default: 12)
  --quick           the same as --seconds 3, which is too short for a verdict
  --size WxH        size of the picture (default: 480x270, on a graphics card 2560x1440)
  --seed N          seed of the scene (default: 7)
  --renderer WHICH  auto, gl, gles or software; software is the built-in one, which auto takes when there is no GL
  --device WHICH    for GL: auto, surfaceless, or the number of an EGL device (default: auto)
  --list-devices    print the EGL devices and leave
  --png DIR         write pictures of some frames of the script, by contestant, and strips that compare them
  --json FILE       write all results, and each frame's time and value
  --profile FILE    what the goblin learns is kept there and used by the next run
  --record FILE     write down what the goblin was told and what it chose
  --replay FILE     repeat such a run, without drawing: does the goblin choose the same again?
  --help            print this and leave

Ctrl-C ends the contest; the results so far are printed.
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

} // namespace

Options parse_options(int count, char** values) {
    Options options;
    Arguments arguments(count, values);
    while (arguments.next()) {
        const std::string& flag = arguments.flag();
        if (flag == "--help" || flag == "-h") options.help = true;
        else if (flag == "--list-devices") options.list_devices = true;
        else if (flag == "--quick") options.seconds = 3;
        else if (flag == "--budget") options.budget_ms = arguments.positive_number();
        else if (flag == "--seconds") options.seconds = arguments.positive_number();
        else if (flag == "--seed") options.seed = static_cast<std::uint32_t>(arguments.positive_number());
        else if (flag == "--size") parse_size(arguments.value(), options);
        else if (flag == "--device") options.device = arguments.value();
        else if (flag == "--png") options.png_directory = arguments.value();
        else if (flag == "--json") options.json_file = arguments.value();
        else if (flag == "--profile") options.profile_file = arguments.value();
        else if (flag == "--record") options.record_file = arguments.value();
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
