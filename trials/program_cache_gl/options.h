// The command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver.h"

namespace program_cache_gl {

struct Options {
    std::string shader_directory; ///< Empty: the built-in programs.
    std::string cache_directory;  ///< Empty: a temporary one.
    std::string device = "auto";
    std::string json_file;
    std::vector<std::string> other_driver; ///< NAME=VALUE, for the process that runs on another driver.
    std::size_t draws = 4, damaged_runs = 6;
    std::uint32_t seed = 7;
    bool judges_time = true; ///< Whether the gain in time is a target.
    bool egl_blob_cache = false, list_devices = false, help = false;

    // One step, run in this process.
    std::string step;          ///< Its name; empty: the whole trial.
    std::string vendor_name, device_name, driver_name; ///< Empty: the driver's own.
    std::string binaries_file; ///< Checksums of all binaries from the compiler; empty: no checks.
    std::string result_file;   ///< Destination of the result; empty: a row on stdout.
    std::string work_directory;
    Accident accident = Accident::none;
    std::string accident_at;             ///< The name of the program at which the process dies.
    bool accident_outside_driver = false;
    bool managed = false;   ///< Use the library's manager, which makes the driver calls.
    std::string edited;     ///< The name of a program whose fragment shader gets another line.
    bool spoil = false; ///< Damage each binary between the cache and the driver.
};

extern const char* const usage;

/// Throws std::runtime_error with a message for the user.
Options parse_options(int count, char** arguments);

} // namespace program_cache_gl
