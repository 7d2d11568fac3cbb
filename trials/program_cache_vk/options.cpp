#include "options.h"

#include <algorithm>
#include <stdexcept>

#include "../common/arguments.h"

namespace program_cache_vk {

const char* const usage =
    R"(program_cache_vk: compute shaders on this machine's Vulkan driver. What it gives out of its work is kept, and whatever
happens, a new process computes the same: shader objects are not compiled again, pipelines as far as the driver's
VkPipelineCache holds them.

cargo run --release -p hobgoblin-trials --bin program_cache_vk -- [options]

  --kernels N         how many of the built-in compute shaders (default: 48)
  --run N             run the first N of them too, timed apart; drivers compile on there (default: 8)
  --cache DIR         keep the cache in DIR, which must be empty or absent, for steps of your own (default: thrown away)
  --quick             times are shown but no target: for busy machines
  --device WHICH      auto, or the number of a Vulkan device (default: auto, which takes a graphics card first)
  --list-devices      print the Vulkan devices and leave
  --json FILE         write all results
  --help              print this and leave

One step in this process, with --cache:
  --step NAME         go through all kernels once and print the row
  --pipelines         make pipelines through a VkPipelineCache, not shader objects (VK_EXT_shader_object)
  --driver-name TEXT  tell the cache that this is what the driver says of itself
  --spoil WHAT        change what comes from the cache before it is checked and the driver sees it: "bit" flips a bit of a
                      shader's binary; "vendor", "device", "uuid" and "version" change that in the data of the
                      VkPipelineCache, "cut" leaves 31 bytes
  --die-in-driver NAME
                      SIGKILL inside the driver call that loads the kernel NAME, or makes its pipeline

Each step is a process of its own with an empty cache of the driver's own, so that nothing but ours is warm. The exit
status is 0 when all targets are met. Ctrl-C ends the trial; what there is so far is printed.
)";

namespace {

void check(const Options& options) {
    if (options.kernels == 0) throw std::runtime_error("--kernels wants one at least");
    if (options.runs == 0) throw std::runtime_error("--run wants one at least");
    const bool is_step = !options.step.empty();
    if (is_step && options.cache_directory.empty())
        throw std::runtime_error("--step wants --cache, the directory to run on");
    if (!is_step && (options.pipelines || !options.driver_name.empty() || !options.spoil.empty() || !options.dies_at.empty()))
        throw std::runtime_error("--pipelines, --driver-name, --spoil and --die-in-driver are for a --step");
    const std::vector<std::string> of_pipelines{"vendor", "device", "uuid", "version", "cut"}, of_shaders{"bit"};
    const std::vector<std::string>& known = options.pipelines ? of_pipelines : of_shaders;
    if (!options.spoil.empty() && std::find(known.begin(), known.end(), options.spoil) == known.end())
        throw std::runtime_error("--spoil " + options.spoil + (options.pipelines ? " is not for" : " is only for") +
                                 " pipelines, or unknown (see --help)");
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
        else if (flag == "--pipelines") options.pipelines = true;
        else if (flag == "--kernels") options.kernels = arguments.count();
        else if (flag == "--run") options.runs = arguments.count();
        else if (flag == "--cache") options.cache_directory = arguments.value();
        else if (flag == "--device") options.device = arguments.value();
        else if (flag == "--json") options.json_file = arguments.value();
        else if (flag == "--step") options.step = arguments.value();
        else if (flag == "--driver-name") options.driver_name = arguments.value();
        else if (flag == "--spoil") options.spoil = arguments.value();
        else if (flag == "--die-in-driver") options.dies_at = arguments.value();
        else if (flag == "--result") options.result_file = arguments.value();
        else if (flag == "--work") options.work_directory = arguments.value();
        else throw std::runtime_error("unknown option \"" + flag + "\" (see --help)");
    }
    check(options);
    return options;
}

} // namespace program_cache_vk
