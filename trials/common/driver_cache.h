// The driver's own cache.
#pragma once

#include <string>

namespace trials {

/// Gives this process's driver an empty cache in `directory`, except on Windows.
/// The usual cache would make every run but the first look warm.
void give_driver_empty_cache(const std::string& directory);

/// Switches the caches of Mesa's and NVIDIA's drivers off in this process, except on Windows.
/// For trials that need no binaries of the driver.
void switch_driver_cache_off();

} // namespace trials
