// Whole files as strings.
#pragma once

#include <string>

namespace example {

/// Empty when there is no such file.
std::string read_file(const std::string& path);

/// Throws std::runtime_error when the file cannot be written.
void write_file(const std::string& path, const std::string& text);

/// For what is written at the end of long work: throws std::runtime_error when it could not be. An empty path is fine.
void expect_writable(const std::string& path);

} // namespace example
