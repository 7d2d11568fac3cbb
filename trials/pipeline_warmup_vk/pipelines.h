// The trial's interface to the library. pipelines.cpp holds the code that a host has to write: the compile callback, and
// the map from keys to the driver's objects.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <hobgoblin/hobgoblin.hpp>

#include "renderer.h"

namespace pipeline_warmup_vk {

inline constexpr const char* project = "pipeline_warmup_vk";
inline constexpr const char* shader_format = "spirv";

/// The driver's name and version.
std::string driver_of(const Identity& identity);
/// The description of a driver, to which bans belong.
/// It holds pointers to both arguments.
hob_environment environment_of(const Identity& identity, const std::string& driver);

struct PipelinesOptions {
    std::string directory;  ///< Of the user's cache; empty: none.
    std::string recording;  ///< A new file; empty: none.
    bool warms_up = true;   ///< Whether a build includes a first draw.
};

class Pipelines {
public:
    /// Throws hob::Error when the library refuses the options.
    Pipelines(const Vulkan& vulkan, const Renderer& renderer, const Scene& scene, const PipelinesOptions& options);
    ~Pipelines();
    Pipelines(const Pipelines&) = delete;
    Pipelines& operator=(const Pipelines&) = delete;

    const hob::PipelineLibrary& library() const { return *pipelines; }
    /// Builds a pipeline on this thread, because no cache has it.
    void build_now(const ScenePipeline& pipeline);
    /// Ends all compiles, and writes what waits to be kept.
    /// Throws std::runtime_error when it cannot be kept.
    void finish();
    /// The driver's object; null: it is not built.
    VkPipeline find(const hob::Fingerprint& key) const;

    std::size_t built() const { return count; }
    double create_ms() const { return static_cast<double>(create_us) / 1000; }
    double first_draw_ms() const { return static_cast<double>(first_draw_us) / 1000; }

private:
    hob_pipeline_built compile(const hob_pipeline_job& job);
    bool build(const hob::Fingerprint& key, const std::string& state, const std::vector<hob_pipeline_shader>& shaders);

    const Renderer& renderer;
    const Scene& scene;
    bool warms_up;
    mutable std::mutex mutex;
    std::map<hob::Fingerprint, VkPipeline> objects;
    std::atomic<std::size_t> count{0};
    std::atomic<std::uint64_t> create_us{0}, first_draw_us{0};
    // The last members are destroyed first: no callback runs after that.
    std::unique_ptr<hob::Executor> executor;
    std::unique_ptr<hob::PipelineLibrary> pipelines;
};

} // namespace pipeline_warmup_vk
