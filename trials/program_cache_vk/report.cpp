#include "report.h"

#include <cstdio>

namespace program_cache_vk {

void print_head() {
    std::printf("\n%-34s %8s %8s %6s %6s %7s %5s %8s %9s %9s %9s %12s\n", "", "kernels", "compiles", "hits", "misses",
                "rejects", "bans", "open ms", "cache ms", "driver ms", "= load ms", "first runs");
}

void print_row(const StepResult& r) {
    std::printf("%-34s ", r.name.c_str());
    if (!r.died.empty()) {
        std::printf("%s\n", r.died.c_str());
        return;
    }
    std::printf("%8zu %8zu %6zu %6zu %7zu %5zu %8.1f %9.1f %9.1f %9.1f", r.kernels, r.compiles, r.hits, r.misses, r.rejects,
                r.bans, r.open_ms, r.cache_ms, r.driver_ms, r.load_ms());
    if (r.runs > 0) std::printf(" %4zu: %6.1f", r.runs, r.run_ms);
    std::printf("%s\n", r.interrupted != 0 ? "  (interrupted)" : "");
    std::fflush(stdout);
}

} // namespace program_cache_vk
