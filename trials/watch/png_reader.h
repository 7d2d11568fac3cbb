// A PNG reader for 8 bits a channel without interlacing: gray, RGB, palette, with or without alpha.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace watch {

/// Pixels of blue, green, red and alpha, without gaps.
struct Picture {
    std::uint32_t width = 0, height = 0;
    std::vector<std::uint8_t> pixels;
};

extern const char png_signature[8];

/// Reads the PNG that begins at `at`, and moves `at` behind it.
/// Throws std::runtime_error if it is broken or of another kind.
Picture read_png(const std::string& bytes, std::size_t& at);

} // namespace watch
