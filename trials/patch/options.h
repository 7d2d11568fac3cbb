// The command line.
#pragma once

#include <string>

#include "show.h"

namespace patch {

struct Options {
    int frames = 192;
    Size size{480, 270};
    Method method;
    std::string directory, json_file;
    bool shows_baked = false, compares = true;
    bool help = false;
};

extern const char* const usage;

/// Throws std::runtime_error with a message for the user.
Options parse_options(int count, char** arguments);

} // namespace patch
