// A PNG writer without compression: pictures to look at, not to keep.
#pragma once

#include <string>

#include "renderer.h"

namespace frame_budget {

/// Throws std::runtime_error when the file cannot be written.
void write_png(const std::string& path, const Image& image);

} // namespace frame_budget
