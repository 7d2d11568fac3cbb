#include "options.h"

#include <stdexcept>

#include "../common/arguments.h"

namespace pipeline_warmup_vk {

const char* const usage =
    R"(pipeline_warmup_vk: a scene with more than 150 graphics pipelines on this machine's Vulkan driver. The first run
records its pipelines, and hitches at each first use. `hob` makes a cache of the recording for the next build of the
game, whose shaders have other bytes. The second run compiles that cache's pipelines in the background. The third compiles
all behind a loading screen, with those that the second run added to the user's cache. A fourth one compiles nothing
ahead, so that objects wait for their passes. At last, `hob pipelines replay` compiles the cache in child processes. Two
pipelines kill and block their process there, and end in the ban list.

cargo run --release -p hobgoblin-trials --bin pipeline_warmup_vk -- [options]

  --frames N          frames in each of the 6 areas (default: 120)
  --fps N             frames a second: a frame's budget is 1000 / N ms (default: 30)
  --loading-screens   second run: a loading screen before each area, instead of the first one only
  --compare           two more runs: the fourth without ready groups, the second with builds without a first draw
  --quick             show times without a target: for busy machines
  --directory DIR     keep all files in DIR, which must be empty or missing (default: a temporary directory)
  --hob PROGRAM       the tool (default: cargo builds it)
  --device WHICH      auto, or the number of a Vulkan device (default: auto, which prefers a graphics card)
  --list-devices      print the Vulkan devices
  --json FILE         write all results
  --help              print this

One run in this process:
  --step NAME         go through the scene and print the row
  --record FILE       record the pipelines to this new file
  --keys FILE         write the shaders' stable keys as CSV
  --cache FILE        open this shipped cache
  --user DIR          use and extend the user's cache in DIR
  --loading WHICH     loading screens: none, first (area), each (area), or all (pipelines at the start) (default: none)
  --build N           the build of the game, which changes the bytes of all shaders (default: 1)
  --secrets           visit the areas in another order, with the objects that a recording does not see
  --no-groups         draw each pass of an object as soon as its pipeline is ready
  --no-first-draw     build pipelines without a first draw, although drivers compile on there

A builder for `hob pipelines replay` in this process (docs/replay.md):
  --builder           compile the pipelines that come on standard input, of the scene's --build
  --crash-at KEY      end by a signal at the pipeline with this key, as a faulty driver would
  --hang-at KEY       stop answering at the pipeline with this key

Each run is a process of its own, with the driver's own cache switched off. The exit status is 0 when all targets are
met. Ctrl-C ends the trial, which then prints the results so far.
)";

namespace {

void check(const Options& options) {
    if (options.frames_per_area < 20) throw std::runtime_error("--frames wants 20 at least: 14 objects appear in each area");
    if (options.fps > 1000) throw std::runtime_error("--fps wants 1000 at most");
    const std::string& loading = options.loading;
    if (loading != "none" && loading != "first" && loading != "each" && loading != "all")
        throw std::runtime_error("--loading wants none, first, each or all, not \"" + loading + "\"");
    const bool is_step = !options.step.empty();
    if (!options.is_builder && !(options.crash_key.empty() && options.hang_key.empty()))
        throw std::runtime_error("--crash-at and --hang-at are for a --builder");
    const bool has_step_options = !options.recording.empty() || !options.keys_file.empty() || !options.cache_file.empty() ||
                                  !options.user_directory.empty() || !options.result_file.empty() || loading != "none" ||
                                  options.sees_secrets || !options.uses_groups || !options.warms_up || options.build != 1;
    if (!is_step && has_step_options)
        throw std::runtime_error("--record, --keys, --cache, --user, --loading, --build, --secrets, --no-groups and "
                                 "--no-first-draw are for a --step");
    if (!is_step && !options.list_devices && !options.help && options.tool.empty())
        throw std::runtime_error("--hob wants the program hob: start the trial with cargo run, or build it with "
                                 "cargo build --release -p hobgoblin-cli");
}

} // namespace

Options parse_options(int count, char** values) {
    Options options;
    trials::Arguments arguments(count, values);
    while (arguments.next()) {
        const std::string& flag = arguments.flag();
        if (flag == "--help" || flag == "-h") options.help = true;
        else if (flag == "--list-devices") options.list_devices = true;
        else if (flag == "--quick") options.judges_time = false;
        else if (flag == "--loading-screens") options.loading_screens = true;
        else if (flag == "--compare") options.compares = true;
        else if (flag == "--frames") options.frames_per_area = arguments.count();
        else if (flag == "--fps") options.fps = arguments.positive_number();
        else if (flag == "--directory") options.directory = arguments.value();
        else if (flag == "--hob") options.tool = arguments.value();
        else if (flag == "--device") options.device = arguments.value();
        else if (flag == "--json") options.json_file = arguments.value();
        else if (flag == "--step") options.step = arguments.value();
        else if (flag == "--record") options.recording = arguments.value();
        else if (flag == "--keys") options.keys_file = arguments.value();
        else if (flag == "--cache") options.cache_file = arguments.value();
        else if (flag == "--user") options.user_directory = arguments.value();
        else if (flag == "--loading") options.loading = arguments.value();
        else if (flag == "--build") options.build = arguments.count();
        else if (flag == "--secrets") options.sees_secrets = true;
        else if (flag == "--builder") {
            options.is_builder = true;
            options.step = "builder";
        } else if (flag == "--crash-at") options.crash_key = arguments.value();
        else if (flag == "--hang-at") options.hang_key = arguments.value();
        else if (flag == "--no-groups") options.uses_groups = false;
        else if (flag == "--no-first-draw") options.warms_up = false;
        else if (flag == "--result") options.result_file = arguments.value();
        else throw std::runtime_error("unknown option \"" + flag + "\" (see --help)");
    }
    check(options);
    return options;
}

} // namespace pipeline_warmup_vk
