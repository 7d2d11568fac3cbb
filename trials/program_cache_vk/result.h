// The result of one step.
#pragma once

#include <cstddef>
#include <string>

namespace program_cache_vk {

struct StepResult {
    std::string name;
    std::string device; ///< The device and its driver, as they name themselves.
    std::size_t kernels = 0;
    std::size_t compiles = 0; ///< Of kernels.
    std::size_t hits = 0, misses = 0, rejects = 0, bans = 0; ///< Of kernels, or of the one VkPipelineCache.
    std::size_t kept_bytes = 0;  ///< Final size of the driver's VkPipelineCache data.
    std::size_t runs = 0, wrong = 0; ///< Kernels that ran, and kernels with a wrong result.
    double open_ms = 0;   ///< Opening the cache, and waiting until it has read everything.
    double cache_ms = 0;  ///< A host's work for the cache, without opening it.
    double driver_ms = 0; ///< Compiling and loading.
    double run_ms = 0;    ///< First runs.
    std::string banned;   ///< The names of the banned kernels.
    std::string died;     ///< How the process ended, if it failed. Nothing else is known then.
    std::size_t interrupted = 0;

    double load_ms() const { return cache_ms + driver_ms; }

    template <typename Self, typename Visit> static void visit_fields(Self& result, Visit&& visit) {
        visit("name", result.name);
        visit("device", result.device);
        visit("kernels", result.kernels);
        visit("compiles", result.compiles);
        visit("hits", result.hits);
        visit("misses", result.misses);
        visit("rejects", result.rejects);
        visit("bans", result.bans);
        visit("kept_bytes", result.kept_bytes);
        visit("runs", result.runs);
        visit("wrong", result.wrong);
        visit("open_ms", result.open_ms);
        visit("cache_ms", result.cache_ms);
        visit("driver_ms", result.driver_ms);
        visit("run_ms", result.run_ms);
        visit("banned", result.banned);
        visit("died", result.died);
        visit("interrupted", result.interrupted);
    }
};

} // namespace program_cache_vk
