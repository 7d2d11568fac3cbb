// Runs this same program with other arguments: a new process knows only the data on the disk.
#pragma once

#include <string>
#include <vector>

namespace trials {

/// Runs `self` and waits for it; returns an empty text on success, else how it ended.
/// `environment` holds NAME=VALUE entries that extend or replace this process's own.
std::string run_self(const std::string& self, const std::vector<std::string>& arguments,
                     const std::vector<std::string>& environment);

} // namespace trials
