// One progress line on stderr: rewritten in place on a terminal, a line per tenth of the way in a log file.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "interrupt.h"

namespace trials {

class Progress {
public:
    Progress();
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(const std::string& stage, double part_done, const std::string& detail = {});
    /// Clears the line, so that something else can be printed.
    void clear();
    bool on_terminal() const { return is_terminal; }

private:
    std::chrono::steady_clock::time_point last_shown;
    std::string last_stage;
    int last_tenth = -1;
    bool is_terminal = false, is_dirty = false;
};

/// Calls `visit` with each element and its index until Ctrl-C; whether Ctrl-C was pressed.
/// On a terminal, a progress line names the element.
template <typename All, typename Visit> bool visit_all(const std::string& stage, const All& all, const Visit& visit) {
    Progress progress;
    for (std::size_t i = 0; i < all.size() && !interrupted(); ++i) {
        if (progress.on_terminal())
            progress.show(stage, static_cast<double>(i) / static_cast<double>(all.size()), all[i].name);
        visit(all[i], i);
    }
    return interrupted();
}

} // namespace trials
