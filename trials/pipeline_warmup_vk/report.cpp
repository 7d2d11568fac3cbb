#include "report.h"

#include <cstdio>

namespace pipeline_warmup_vk {

void print_head() {
    std::printf("\n%-32s %6s %9s %8s %7s %5s %7s %6s %6s %7s %10s %9s %13s\n", "", "frames", "worst ms", "over", "ready", "late",
                "unknown", "hidden", "partial", "built", "loading ms", "create ms", "first draw ms");
}

void print_row(const StepResult& r) {
    std::printf("%-32s ", r.name.c_str());
    if (!r.died.empty()) {
        std::printf("%s\n", r.died.c_str());
        return;
    }
    std::printf("%6zu %9.1f %8zu %6.1f%% %5zu %7zu %6zu %6zu %7zu %10.0f %9.0f %13.0f%s\n", r.frames, r.worst_ms,
                r.over_budget, r.ready_percent(), r.late, r.unknown, r.hidden, r.partial, r.built, r.loading_ms, r.create_ms,
                r.first_draw_ms, r.interrupted != 0 ? "  (interrupted)" : "");
    std::fflush(stdout);
}

} // namespace pipeline_warmup_vk
