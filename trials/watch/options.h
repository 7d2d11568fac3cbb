// The command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace watch {

/// A number on the screen, which ends at a right edge.
struct Field {
    std::string name;
    std::uint32_t right, top;
};

struct Options {
    std::string clip, labels, glyphs;
    std::uint32_t width = 320, height = 200, glyph_rows = 14;
    std::vector<Field> fields{{"ammo", 44, 171}, {"health", 90, 171}, {"armor", 221, 171}};
    std::size_t frames = 0; ///< 0: all.
    std::uint32_t workers = 1, tolerance = 0, correlation = 0, repeats = 3, every = 10;
    double least_right = 99, least_answered = 90;
    std::string directory, json_file;
    bool help = false;

    bool is_exact() const { return tolerance == 0 && correlation == 0; }
};

extern const char* const usage;

/// Throws std::runtime_error with a message for the user.
Options parse_options(int count, char** arguments);

} // namespace watch
