// The command line.
#pragma once

#include <cstddef>
#include <string>

namespace pipeline_warmup_vk {

struct Options {
    std::string device = "auto";
    std::string tool;      ///< The program `hob`.
    std::string directory; ///< Keeps all files; empty: a temporary one.
    std::string json_file;
    std::size_t frames_per_area = 120;
    double fps = 30;
    bool loading_screens = false; ///< In the second run, one before each area.
    bool compares = false;        ///< Two more runs, without groups and without a first draw in the build.
    bool judges_time = true;      ///< Whether the frames over budget are a target.
    bool list_devices = false, help = false;

    // One run, in this process.
    std::string step;        ///< Its name; empty: the whole trial.
    std::string recording;   ///< Records to this new file.
    std::string keys_file;   ///< Gets the key map of the build as CSV.
    std::string cache_file;  ///< The shipped cache.
    std::string user_directory;
    std::string loading = "none"; ///< Loading screens: "none", "first", "each" or "all".
    std::size_t build = 1;
    bool sees_secrets = false, uses_groups = true, warms_up = true;
    bool is_builder = false;         ///< Of `hob pipelines replay`.
    std::string crash_key, hang_key; ///< Its planted faults; empty: none.
    std::string result_file; ///< Destination of the result; empty: a row on stdout.

    double budget_ms() const { return 1000 / fps; }
};

extern const char* const usage;

/// Throws std::runtime_error with a message for the user.
Options parse_options(int count, char** arguments);

} // namespace pipeline_warmup_vk
