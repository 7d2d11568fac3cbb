#include "report.h"

#include <cstdio>

namespace program_cache_gl {

void print_head(bool egl_blob_cache) {
    if (egl_blob_cache)
        std::printf("\n%-34s %8s %8s %8s %8s %9s %9s %12s\n", "", "programs", "sets", "gets", "hits", "open ms",
                    "link ms", "first draw");
    else
        std::printf("\n%-34s %8s %8s %6s %6s %7s %5s %8s %9s %9s %9s %12s\n", "", "programs", "compiles", "hits",
                    "misses", "rejects", "bans", "open ms", "cache ms", "driver ms", "= link ms", "first draw");
}

void print_row(const StepResult& r, bool egl_blob_cache) {
    std::printf("%-34s ", r.name.c_str());
    if (!r.died.empty()) {
        std::printf("%s\n", r.died.c_str());
        return;
    }
    if (egl_blob_cache)
        std::printf("%8zu %8zu %8zu %8zu %9.1f %9.1f", r.usable(), r.blob_sets, r.blob_gets, r.blob_hits, r.open_ms,
                    r.driver_ms);
    else
        std::printf("%8zu %8zu %6zu %6zu %7zu %5zu %8.1f %9.1f %9.1f %9.1f", r.usable(), r.compiles, r.hits, r.misses,
                    r.rejects, r.bans, r.open_ms, r.cache_ms, r.driver_ms, r.link_ms());
    if (r.draws > 0) std::printf(" %4zu: %6.1f", r.draws, r.draw_ms);
    if (r.shaders > 0) std::printf("  (%zu of %zu shaders compiled)", r.shader_compiles, r.shaders);
    std::printf("%s\n", r.interrupted != 0 ? "  (interrupted)" : "");
    std::fflush(stdout);
}

} // namespace program_cache_gl
