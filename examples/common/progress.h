// One line on stderr that says what is going on: rewritten in place on a terminal, a line per tenth of the way in a log
// file.
#pragma once

#include <chrono>
#include <string>

namespace example {

class Progress {
public:
    Progress();
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(const std::string& stage, double part_done, const std::string& detail = {});
    /// Wipes the line, so that something else can be printed.
    void clear();
    bool on_terminal() const { return is_terminal; }

private:
    std::chrono::steady_clock::time_point last_shown;
    std::string last_stage;
    int last_tenth = -1;
    bool is_terminal = false, is_dirty = false;
};

} // namespace example
