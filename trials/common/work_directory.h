// A directory to work in.
#pragma once

#include <string>

namespace trials {

/// `given`, or a new temporary directory that is removed in the end.
/// The name of a new directory begins with `name`.
class WorkDirectory {
public:
    WorkDirectory(const std::string& given, const std::string& name);
    ~WorkDirectory();
    WorkDirectory(const WorkDirectory&) = delete;
    WorkDirectory& operator=(const WorkDirectory&) = delete;
    const std::string& path() const { return directory; }

private:
    std::string directory;
    bool is_own = false;
};

} // namespace trials
