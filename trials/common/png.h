// A PNG writer without compression: pictures to look at, not to keep.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trials {

/// Writes `rgb`, of 8 bits a channel, top row first.
/// Throws std::runtime_error when the file cannot be written.
void write_png(const std::string& path, int width, int height, const std::vector<std::uint8_t>& rgb);

} // namespace trials
