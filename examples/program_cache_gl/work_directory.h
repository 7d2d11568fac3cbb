// A directory to work in.
#pragma once

#include <string>

namespace program_cache_gl {

/// `given`, or a new directory among the temporary files, which is removed in the end.
class WorkDirectory {
public:
    explicit WorkDirectory(const std::string& given);
    ~WorkDirectory();
    WorkDirectory(const WorkDirectory&) = delete;
    WorkDirectory& operator=(const WorkDirectory&) = delete;
    const std::string& path() const { return directory; }

private:
    std::string directory;
    bool is_own = false;
};

} // namespace program_cache_gl
