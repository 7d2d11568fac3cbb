// The command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scene.h"

namespace frame_budget {

struct Options {
    double budget_ms = 0; ///< 0: derived from the machine.
    double seconds = 40;
    int width = 0, height = 0;
    std::uint32_t seed = 7;
    std::string renderer = "auto"; ///< One of "auto", "gl", "gles", "software".
    std::string device = "auto";
    std::string png_directory, json_file, profile_file, record_file, replay_file, costs_file;
    std::vector<Script> scripts{Script::crowd};
    bool is_quick = false;
    bool list_devices = false, help = false;
};

extern const char* const usage;

/// Throws std::runtime_error with a message for the user.
Options parse_options(int count, char** arguments);

} // namespace frame_budget
