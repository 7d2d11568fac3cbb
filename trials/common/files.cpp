#include "files.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace trials {

std::string read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& path, const std::string& text) {
    // A file beside it is renamed over it, so that Ctrl-C in the middle leaves the old file or the new one.
    const std::string beside = path + ".part";
    std::ofstream out(beside, std::ios::binary);
    out << text;
    out.close();
    std::error_code error;
    if (out) std::filesystem::rename(beside, path, error);
    if (!out || error) throw std::runtime_error("cannot write " + path);
}

void expect_writable(const std::string& path) {
    if (path.empty()) return;
    // The file itself is not touched: Ctrl-C before the end must not leave an empty one.
    const std::string beside = path + ".part";
    if (std::filesystem::is_directory(path) || !std::ofstream(beside, std::ios::binary))
        throw std::runtime_error("cannot write " + path);
    std::filesystem::remove(beside);
}

} // namespace trials
