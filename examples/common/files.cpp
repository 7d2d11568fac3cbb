#include "files.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace example {

std::string read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out << text;
    if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

void expect_writable(const std::string& path) {
    if (!path.empty() && !std::ofstream(path, std::ios::binary | std::ios::app))
        throw std::runtime_error("cannot write " + path);
}

} // namespace example
