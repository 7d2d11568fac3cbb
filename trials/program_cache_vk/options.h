// The command line.
#pragma once

#include <string>
#include <vector>

namespace program_cache_vk {

struct Options {
    std::string device = "auto";
    std::string cache_directory; ///< Empty: a temporary one.
    std::string json_file;
    std::size_t kernels = 48, runs = 8;
    bool judges_time = true; ///< Whether the gain in time is a target.
    bool list_devices = false, help = false;

    // One step, run in this process.
    std::string step;        ///< Its name; empty: the whole trial.
    bool pipelines = false;  ///< Through the VkPipelineCache; else as shader objects.
    std::string driver_name; ///< Empty: the driver's own version text.
    std::string spoil;       ///< The damage to bytes between the cache and the driver; empty: no damage.
    std::string dies_at;     ///< The name of the kernel in whose driver call the process is killed.
    std::string result_file; ///< Destination of the result; empty: a row on stdout.
    std::string work_directory;
};

extern const char* const usage;

/// Throws std::runtime_error with a message for the user.
Options parse_options(int count, char** arguments);

} // namespace program_cache_vk
