// The cache that a driver has of its own.
#pragma once

#include <string>

namespace example {

/// It would make every run but the first look warm: from here on this process's driver has an empty one, in `directory`.
void give_driver_empty_cache(const std::string& directory);

} // namespace example
