#include "progress.h"

#include <cstdio>

#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

namespace trials {

Progress::Progress() {
#ifdef _WIN32
    is_terminal = _isatty(_fileno(stderr)) != 0;
#else
    is_terminal = isatty(STDERR_FILENO) != 0;
#endif
}

void Progress::show(const std::string& stage, double part_done, const std::string& detail) {
    const auto now = std::chrono::steady_clock::now();
    if (is_terminal) {
        if (now - last_shown < std::chrono::milliseconds(100)) return;
        std::fprintf(stderr, "\r\033[K%s %3.0f %%  %s", stage.c_str(), part_done * 100, detail.c_str());
        std::fflush(stderr);
        is_dirty = true;
    } else {
        const int tenth = static_cast<int>(part_done * 10);
        if (tenth == last_tenth && stage == last_stage) return;
        std::fprintf(stderr, "%s %3d %%\n", stage.c_str(), tenth * 10);
        last_tenth = tenth;
        last_stage = stage;
    }
    last_shown = now;
}

void Progress::clear() {
    if (is_dirty) std::fprintf(stderr, "\r\033[K");
    is_dirty = false;
}

} // namespace trials
