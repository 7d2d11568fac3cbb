// The edits of the patch while it runs.
#pragma once

#include <string>
#include <vector>

#include "patch.h"

namespace patch {

/// The length of the run.
/// Frames are evenly spaced moments of it.
inline constexpr double length_seconds = 8;

/// The script has that many parts of equal length.
inline constexpr int parts = 12;

/// From this part on, nobody edits the patch: it is baked after the part's first frame.
inline constexpr int baked_part = 10;

/// The first frame of a part.
inline int first_frame_of(int part, int frames) { return (part * frames + parts - 1) / parts; }

/// Makes the edits that are due before `frame`.
/// Returns a line about each.
std::vector<std::string> edit(Patch& patch, int frame, int frames);

} // namespace patch
