// The result of one step.
#pragma once

#include <cstddef>
#include <string>

namespace program_cache_gl {

struct StepResult {
    std::string name;
    std::string vendor, device, driver; ///< As the driver names them.
    std::size_t programs = 0;
    std::size_t compiles = 0, hits = 0, misses = 0, rejects = 0, bans = 0;
    std::size_t shaders = 0, shader_compiles = 0; ///< Distinct shaders, and compiled ones. With the manager only.
    std::size_t refused = 0; ///< Programs that this driver does not compile or link: counted nowhere else, nor timed.
    std::size_t wrong = 0;   ///< Hits with other bytes than the compiler's.
    std::size_t draws = 0;
    std::size_t blob_sets = 0, blob_gets = 0, blob_hits = 0; ///< The driver's own calls, in the EGL mode.
    double open_ms = 0;   ///< Opening the cache, and waiting until it has read everything.
    double cache_ms = 0;  ///< A host's work for the cache, without opening it.
    double driver_ms = 0; ///< Compiling, linking, loading.
    double draw_ms = 0;   ///< First draws.
    std::string banned;   ///< The names of the banned programs.
    std::string died;     ///< How the process ended, if it failed. Nothing else is known then.
    std::size_t interrupted = 0;

    double link_ms() const { return cache_ms + driver_ms; }
    std::size_t usable() const { return programs - refused; }

    template <typename Self, typename Visit> static void visit_fields(Self& result, Visit&& visit) {
        visit("name", result.name);
        visit("vendor", result.vendor);
        visit("device", result.device);
        visit("driver", result.driver);
        visit("programs", result.programs);
        visit("compiles", result.compiles);
        visit("hits", result.hits);
        visit("misses", result.misses);
        visit("rejects", result.rejects);
        visit("bans", result.bans);
        visit("shaders", result.shaders);
        visit("shader_compiles", result.shader_compiles);
        visit("refused", result.refused);
        visit("wrong", result.wrong);
        visit("draws", result.draws);
        visit("blob_sets", result.blob_sets);
        visit("blob_gets", result.blob_gets);
        visit("blob_hits", result.blob_hits);
        visit("open_ms", result.open_ms);
        visit("cache_ms", result.cache_ms);
        visit("driver_ms", result.driver_ms);
        visit("draw_ms", result.draw_ms);
        visit("banned", result.banned);
        visit("died", result.died);
        visit("interrupted", result.interrupted);
    }
};

} // namespace program_cache_gl
