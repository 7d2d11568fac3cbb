// Runs of this very program with other arguments: a new process knows only what is on the disk.
#pragma once

#include <string>
#include <vector>

namespace example {

/// Waits for it. Empty when it ended well, else how it ended. `environment` has NAME=VALUE in addition to this
/// process's own.
std::string run_self(const std::string& self, const std::vector<std::string>& arguments,
                     const std::vector<std::string>& environment);

} // namespace example
