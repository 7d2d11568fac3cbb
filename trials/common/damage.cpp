#include "damage.h"

#include <filesystem>
#include <functional>
#include <random>

#include "files.h"

namespace trials {

namespace fs = std::filesystem;

namespace {

std::size_t change_files(const std::string& directory, const std::function<std::size_t(std::string&)>& change) {
    std::size_t changes = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
        if (!entry.is_regular_file() || entry.file_size() == 0) continue;
        std::string bytes = read_file(entry.path().string());
        changes += change(bytes);
        write_file(entry.path().string(), bytes);
    }
    return changes;
}

std::size_t below(std::mt19937& random, std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
}

} // namespace

void copy_directory(const std::string& from, const std::string& to) {
    fs::copy(from, to, fs::copy_options::recursive);
}

std::size_t flip_bits(const std::string& directory, std::uint32_t seed, std::size_t bytes_per_flip) {
    std::mt19937 random(seed);
    return change_files(directory, [&](std::string& bytes) {
        const std::size_t flips = bytes.size() / bytes_per_flip + 1;
        for (std::size_t i = 0; i < flips; ++i)
            bytes[below(random, bytes.size())] ^= static_cast<char>(1 << below(random, 8));
        return flips;
    });
}

std::vector<std::uint8_t> spoiled(const void* data, std::size_t size) {
    const auto* const bytes = static_cast<const std::uint8_t*>(data);
    std::vector<std::uint8_t> copy(bytes, bytes + size);
    if (!copy.empty()) copy[size / 2] ^= 0x10;
    return copy;
}

std::size_t cut_files(const std::string& directory, std::uint32_t seed) {
    std::mt19937 random(seed);
    return change_files(directory, [&](std::string& bytes) {
        bytes.resize(below(random, bytes.size()));
        return std::size_t{1};
    });
}

} // namespace trials
