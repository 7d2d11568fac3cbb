// Whole files as strings.
#pragma once

#include <string>

namespace trials {

/// The content of a file; empty when the file does not exist.
std::string read_file(const std::string& path);

/// Replaces the whole file at once.
/// Throws std::runtime_error when the file cannot be written.
void write_file(const std::string& path, const std::string& text);

/// Throws std::runtime_error when the file cannot be written.
/// Meant for the start of long work that ends with writing. An empty path is accepted.
void expect_writable(const std::string& path);

} // namespace trials
