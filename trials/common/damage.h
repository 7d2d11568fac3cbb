// Damage to bytes: flipped bits and cut-off ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trials {

void copy_directory(const std::string& from, const std::string& to);

/// Flips a random bit per `bytes_per_flip` bytes of each file, and one more; returns the number of flips.
std::size_t flip_bits(const std::string& directory, std::uint32_t seed, std::size_t bytes_per_flip);

/// Returns a copy with a bit flipped in the middle.
std::vector<std::uint8_t> spoiled(const void* data, std::size_t size);

/// Cuts each file off at a random place; returns the number of files.
std::size_t cut_files(const std::string& directory, std::uint32_t seed);

} // namespace trials
