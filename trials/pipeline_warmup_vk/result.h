// The result of one run.
#pragma once

#include <cstddef>
#include <string>

namespace pipeline_warmup_vk {

struct StepResult {
    std::string name;
    std::string device; ///< The device and its driver, as they name themselves.
    std::size_t frames = 0;
    std::size_t opened = 0;     ///< Pipelines of the shipped cache.
    std::size_t first_uses = 0; ///< Different pipelines of objects in view.
    std::size_t ready = 0;      ///< Of these: ready in the frame of the first use.
    std::size_t late = 0;       ///< Of these: in a cache, but not ready then.
    std::size_t unknown = 0;    ///< Of these: in no cache, and so built in the frame.
    std::size_t built = 0;      ///< Builds of the driver, in frames and ahead.
    std::size_t failed = 0;     ///< Builds that the driver refused.
    std::size_t hidden = 0;     ///< Objects in view that were not drawn, summed over the frames.
    std::size_t partial = 0;    ///< Objects that were drawn in only some of their passes, summed over the frames.
    std::size_t over_budget = 0; ///< Frames.
    std::size_t miscounted = 0; ///< Counts of hob_pipeline_statistics that differ from these.
    double worst_ms = 0, mean_ms = 0; ///< Of the frames.
    double loading_ms = 0;      ///< Loading screens.
    double create_ms = 0;       ///< vkCreateGraphicsPipelines, with the shader modules, of all builds.
    double first_draw_ms = 0;   ///< The first draws of all builds.
    std::string died;           ///< How the process ended, if it failed. Nothing else is known then.
    std::size_t interrupted = 0;

    double ready_percent() const {
        return first_uses > 0 ? 100 * static_cast<double>(ready) / static_cast<double>(first_uses) : 0;
    }

    template <typename Self, typename Visit> static void visit_fields(Self& result, Visit&& visit) {
        visit("name", result.name);
        visit("device", result.device);
        visit("frames", result.frames);
        visit("opened", result.opened);
        visit("first_uses", result.first_uses);
        visit("ready", result.ready);
        visit("late", result.late);
        visit("unknown", result.unknown);
        visit("built", result.built);
        visit("failed", result.failed);
        visit("hidden", result.hidden);
        visit("partial", result.partial);
        visit("over_budget", result.over_budget);
        visit("miscounted", result.miscounted);
        visit("worst_ms", result.worst_ms);
        visit("mean_ms", result.mean_ms);
        visit("loading_ms", result.loading_ms);
        visit("create_ms", result.create_ms);
        visit("first_draw_ms", result.first_draw_ms);
        visit("died", result.died);
        visit("interrupted", result.interrupted);
    }
};

} // namespace pipeline_warmup_vk
