#include "options.h"

#include <stdexcept>

#include "../common/arguments.h"

namespace program_cache_gl {

const char* const usage =
    R"(program_cache_gl: GLSL programs on this machine's GL driver, compiled once and never again, whatever happens

cargo run --release -p hobgoblin-trials --bin program_cache_gl -- [options]

  --shaders DIR       compile the pairs NAME.vert and NAME.frag of a directory, not the built-in programs
  --draw N            draw with the first N programs too, timed apart; drivers compile on there (default: 4)
  --cache DIR         keep the cache in DIR, which must be empty or absent, for steps of your own (default: thrown away)
  --damaged N         runs over a damaged cache (default: 6)
  --seed N            seed of the damage (default: 7)
  --quick             the same as --draw 1 --damaged 3, and times are shown but no target: for busy machines
  --device WHICH      auto, surfaceless, or the number of an EGL device (default: auto)
  --list-devices      print the EGL devices and leave
  --json FILE         write all results
  --other-driver NAME=VALUE
                      an environment variable that brings another GL driver, say LD_LIBRARY_PATH=/opt/mesa/lib: adds
                      runs on that driver; may be given several times
  --egl-blob-cache    instead of all this: let the driver keep its own shader cache in ours (EGL_ANDROID_blob_cache)
  --help              print this and leave

One step in this process, with --cache:
  --step NAME         go through all programs once and print the row
  --binaries FILE     a list of all binaries that the compiler ever gave; a hit that is not in it is wrong
  --vendor-name TEXT, --device-name TEXT, --driver-name TEXT
                      tell the cache that these are what the driver says of itself
  --managed           let the library's manager decide when to compile, to link and to load
  --edit NAME         with it: the fragment shader of the program NAME has a line more than before
  --spoil             damage each binary between the cache and the driver
  --die-in-driver NAME, --abort-in-driver NAME, --die-before NAME
                      SIGKILL or abort() inside the driver call that loads the program NAME; SIGKILL before it

Each step is a process of its own with an empty cache of the driver's own, so that nothing but ours is warm. The exit
status is 0 when all targets are met. Ctrl-C ends the trial; what there is so far is printed.
)";

namespace {

void set_accident(Options& options, Accident accident, bool outside_driver, const std::string& program) {
    options.accident = accident;
    options.accident_outside_driver = outside_driver;
    options.accident_at = program;
}

} // namespace

Options parse_options(int count, char** values) {
    Options options;
    trials::Arguments arguments(count, values);
    while (arguments.next()) {
        const std::string& flag = arguments.flag();
        if (flag == "--help" || flag == "-h") options.help = true;
        else if (flag == "--list-devices") options.list_devices = true;
        else if (flag == "--egl-blob-cache") options.egl_blob_cache = true;
        else if (flag == "--quick") options.draws = 1, options.damaged_runs = 3, options.judges_time = false;
        else if (flag == "--shaders") options.shader_directory = arguments.value();
        else if (flag == "--cache") options.cache_directory = arguments.value();
        else if (flag == "--device") options.device = arguments.value();
        else if (flag == "--json") options.json_file = arguments.value();
        else if (flag == "--draw") options.draws = arguments.count();
        else if (flag == "--damaged") options.damaged_runs = arguments.count();
        else if (flag == "--seed") options.seed = static_cast<std::uint32_t>(arguments.count());
        else if (flag == "--step") options.step = arguments.value();
        else if (flag == "--vendor-name") options.vendor_name = arguments.value();
        else if (flag == "--device-name") options.device_name = arguments.value();
        else if (flag == "--driver-name") options.driver_name = arguments.value();
        else if (flag == "--binaries") options.binaries_file = arguments.value();
        else if (flag == "--result") options.result_file = arguments.value();
        else if (flag == "--work") options.work_directory = arguments.value();
        else if (flag == "--managed") options.managed = true;
        else if (flag == "--edit") options.edited = arguments.value();
        else if (flag == "--spoil") options.spoil = true;
        else if (flag == "--die-in-driver") set_accident(options, Accident::kill, false, arguments.value());
        else if (flag == "--abort-in-driver") set_accident(options, Accident::abort, false, arguments.value());
        else if (flag == "--die-before") set_accident(options, Accident::kill, true, arguments.value());
        else if (flag == "--other-driver") {
            options.other_driver.push_back(arguments.value());
            if (options.other_driver.back().find('=') == std::string::npos)
                throw std::runtime_error("--other-driver wants NAME=VALUE, not \"" + options.other_driver.back() +
                                         "\"");
        } else throw std::runtime_error("unknown option \"" + flag + "\" (see --help)");
    }
    if (!options.step.empty() && options.cache_directory.empty())
        throw std::runtime_error("--step wants --cache, the directory to run on");
    return options;
}

} // namespace program_cache_gl
