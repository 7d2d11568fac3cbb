// What happens to bytes: bits flip, ends are cut off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace example {

void copy_directory(const std::string& from, const std::string& to);

/// Flips one random bit per `bytes_per_flip` bytes, in all files. How many that were.
std::size_t flip_bits(const std::string& directory, std::uint32_t seed, std::size_t bytes_per_flip);

/// A copy with a bit flipped in the middle.
std::vector<std::uint8_t> spoiled(const void* data, std::size_t size);

/// Cuts each file off at a random place.
std::size_t cut_files(const std::string& directory, std::uint32_t seed);

} // namespace example
