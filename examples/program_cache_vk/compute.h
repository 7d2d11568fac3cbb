// What the example does with a Vulkan device: makes compute shaders from their source or from binaries, runs them, asks
// the driver for what is worth keeping, and has accidents to order.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels.h"
#include "vulkan.h"

namespace program_cache_vk {

/// What the driver made of a kernel: a pipeline or a shader object. Neither: it did not take it.
struct Loaded {
    VkPipeline pipeline;
    VkShaderEXT shader;
    explicit operator bool() const { return pipeline || shader; }
};

class Compute {
public:
    explicit Compute(const Vulkan& vulkan);
    ~Compute();
    Compute(const Compute&) = delete;
    Compute& operator=(const Compute&) = delete;

    /// Begins the VkPipelineCache through which pipelines are made, with the data of an earlier one or without. False when
    /// the driver does not take the data.
    bool begin_pipeline_cache(const void* data, std::size_t size);
    /// What the VkPipelineCache holds by now.
    std::vector<std::uint8_t> pipeline_cache_data() const;
    Loaded build_pipeline(const Kernel& kernel) const;

    Loaded build_shader(const Kernel& kernel) const;
    /// The process dies in here if `dies_in_driver` was called.
    Loaded load_shader(const void* binary, std::size_t size) const;
    std::vector<std::uint8_t> binary_of(const Loaded& loaded) const;
    void dies_in_driver() { dies = true; }

    /// Runs it over some numbers, waits, and says whether it has computed what it must: drivers finish their compiling
    /// here.
    bool run(const Loaded& loaded, const Kernel& kernel) const;
    void discard(const Loaded& loaded) const;

private:
    void make_layout();
    void make_buffer();
    void make_commands();
    void release();
    Loaded create_shader(std::uint32_t code_type, const void* code, std::size_t size) const;

    const Vulkan& vulkan;
    const Vk& api;
    VkDevice device;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkDescriptorPool descriptors;
    VkDescriptorSet set;
    VkBuffer buffer;
    VkDeviceMemory memory;
    std::uint32_t* numbers = nullptr;
    VkPipelineCache pipelines;
    VkCommandPool pool;
    VkCommandBuffer commands = nullptr;
    VkFence fence;
    bool dies = false;
};

} // namespace program_cache_vk
