// Frames, labels and glyphs from files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options.h"
#include "png_reader.h"

namespace watch {

/// Frames of one size.
/// Each has 4 bytes a pixel: blue, green, red, and one that is ignored.
struct Clip {
    std::uint32_t width = 0, height = 0;
    std::vector<std::vector<std::uint8_t>> frames;
};

/// Throws std::runtime_error with a message for the user, as all functions here.
Clip load_clip(const Options& options);

/// By field and frame: the number on the screen.
/// `no_label`: it is not known.
using Labels = std::vector<std::vector<std::int64_t>>;
constexpr std::int64_t no_label = -1;

/// Empty without a file.
Labels load_labels(const Options& options, std::size_t frames);

/// A picture of a digit.
/// Pixels with 0 in the mask are not compared.
struct Glyph {
    std::uint32_t digit, width, height;
    std::vector<std::uint8_t> pixels, mask;
};

/// The first row of pictures, or all of them.
std::vector<Glyph> load_glyphs(const Options& options);

} // namespace watch
