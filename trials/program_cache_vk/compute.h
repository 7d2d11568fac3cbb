// The trial's work on a Vulkan device. It makes compute shaders from their source or from binaries, runs them, reads
// back the driver's data to keep, and has accidents on request.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "bytes.h"
#include "kernels.h"
#include "vulkan_names.h"

namespace program_cache_vk {

/// The driver's result for a kernel: a pipeline or a shader object.
/// Both are null if the driver refused.
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
    bool was_cached = false; ///< The driver's feedback on a pipeline: it was in the VkPipelineCache.

private:
    const Vulkan* vulkan;
};

class Compute {
public:
    explicit Compute(const Vulkan& vulkan);
    ~Compute();
    Compute(const Compute&) = delete;
    Compute& operator=(const Compute&) = delete;

    /// Begins the VkPipelineCache for pipelines, empty or with the data of an earlier one.
    /// The driver does not report whether it takes the data. Pass only data of this driver.
    void begin_pipeline_cache(std::string_view data);
    /// The current data of the VkPipelineCache.
    Bytes pipeline_cache_data() const;
    Loaded build_pipeline(const Kernel& kernel) const;

    Loaded build_shader(const Kernel& kernel) const;
    Loaded load_shader(std::string_view binary) const;
    Bytes binary_of(const Loaded& loaded) const;

    /// Makes the next `build_pipeline` or `load_shader` kill the process, as if the driver had crashed.
    void dies_in_driver() { dies = true; }

    /// Runs the kernel over some numbers and waits; whether the results are right.
    /// Drivers finish compiling here.
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
