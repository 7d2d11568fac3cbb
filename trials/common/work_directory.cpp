#include "work_directory.h"

#include <filesystem>
#include <random>
#include <stdexcept>

namespace trials {

namespace fs = std::filesystem;

WorkDirectory::WorkDirectory(const std::string& given, const std::string& name) : directory(given) {
    if (!given.empty()) return;
    std::random_device random;
    for (int attempt = 0; attempt < 100 && !is_own; ++attempt) {
        directory = (fs::temp_directory_path() / (name + "-" + std::to_string(random()))).string();
        is_own = fs::create_directory(directory);
    }
    if (!is_own) throw std::runtime_error("no temporary directory can be made");
}

WorkDirectory::~WorkDirectory() {
    std::error_code ignored; // an anti-virus or a profiler may still hold a file: not a failure
    if (is_own) fs::remove_all(directory, ignored);
}

} // namespace trials
