// What the example does with a Vulkan device: makes compute shaders from their source or from binaries, runs them, asks
// the driver for what is worth keeping, and has accidents to order.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "bytes.h"
#include "kernels.h"
#include "vulkan.h"

namespace program_cache_vk {

/// What the driver made of a kernel: a pipeline or a shader object. Neither: it did not take it.
class Loaded {
public:
    explicit Loaded(const Vulkan& the_vulkan) : vulkan(&the_vulkan) {}
    Loaded(Loaded&& other) noexcept
        : pipeline(std::exchange(other.pipeline, nullptr)), shader(std::exchange(other.shader, nullptr)),
          was_cached(other.was_cached), vulkan(other.vulkan) {}
    ~Loaded();
    explicit operator bool() const { return pipeline != nullptr || shader != nullptr; }

    VkPipeline pipeline = nullptr;
    VkShaderEXT shader = nullptr;
    bool was_cached = false; ///< As the driver tells of a pipeline: it was in the VkPipelineCache.

private:
    const Vulkan* vulkan;
};

class Compute {
public:
    explicit Compute(const Vulkan& vulkan);
    ~Compute();
    Compute(const Compute&) = delete;
    Compute& operator=(const Compute&) = delete;

    /// Begins the VkPipelineCache through which pipelines are made, with the data of an earlier one or without. Whether the
    /// driver takes data it does not tell: what is not its own must not come here.
    void begin_pipeline_cache(std::string_view data);
    /// What the VkPipelineCache holds by now.
    Bytes pipeline_cache_data() const;
    Loaded build_pipeline(const Kernel& kernel) const;

    Loaded build_shader(const Kernel& kernel) const;
    Loaded load_shader(std::string_view binary) const;
    Bytes binary_of(const Loaded& loaded) const;

    /// The process dies in the next `build_pipeline` or `load_shader`, as if the driver had done it.
    void dies_in_driver() { dies = true; }

    /// Runs it over some numbers, waits, and says whether it has computed what it must: drivers finish their compiling
    /// here.
    bool run(const Loaded& loaded, const Kernel& kernel) const;

private:
    void make_layout();
    void make_buffer();
    void make_commands();
    void release();
    Loaded create_shader(std::uint32_t code_type, const void* code, std::size_t size) const;
    void die_if_told() const;

    const Vulkan& vulkan;
    const Vk& api;
    VkDevice device;
    VkDescriptorSetLayout set_layout = nullptr;
    VkPipelineLayout layout = nullptr;
    VkDescriptorPool descriptors = nullptr;
    VkDescriptorSet set = nullptr;
    VkBuffer buffer = nullptr;
    VkDeviceMemory memory = nullptr;
    std::uint32_t* numbers = nullptr;
    VkPipelineCache pipelines = nullptr;
    VkCommandPool pool = nullptr;
    VkCommandBuffer commands = nullptr;
    VkFence fence = nullptr;
    bool dies = false;
};

} // namespace program_cache_vk
