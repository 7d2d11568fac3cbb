// A Vulkan device without linking to Vulkan: the loader is opened at run time, a device is chosen, and every function
// is looked up by name. No window system is involved.
#pragma once

#include <string>
#include <vector>

#include "vk_api.h"

namespace trials {

/// The description that a device and its driver give of themselves.
struct Identity {
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceIDProperties ids;
    VkPhysicalDeviceDriverProperties driver;
    VkPhysicalDeviceShaderObjectPropertiesEXT shader_objects;
    bool has_shader_objects = false;

    /// Example: "llvmpipe (...), llvmpipe Mesa 25.0.7".
    std::string description() const;
};

/// A trial's requirements of a device.
struct VulkanNeeds {
    const char* application;
    VkFlags queue = VK_QUEUE_COMPUTE_BIT;
    bool dynamic_rendering = false; ///< Needs Vulkan 1.3.
};

class Vulkan {
public:
    /// Opens the device `wanted`: "auto", or a number of `list`.
    /// With "auto" a graphics card takes precedence over a software device. Throws std::runtime_error without such a
    /// device.
    Vulkan(const std::string& wanted, const VulkanNeeds& needs);
    ~Vulkan();
    Vulkan(const Vulkan&) = delete;
    Vulkan& operator=(const Vulkan&) = delete;

    /// This machine's devices with Vulkan 1.2, a line each.
    static std::vector<std::string> list();

    const Identity& identity() const { return self; }
    /// The index of a memory type among `kinds` (one bit each) that the host can access.
    std::uint32_t host_memory(std::uint32_t kinds) const;
    /// The index of the first memory type among `kinds`, which drivers list the best first.
    static std::uint32_t any_memory(std::uint32_t kinds);

    Vk api;
    VkDevice device = nullptr;
    VkQueue queue = nullptr;
    std::uint32_t queue_family = 0;

private:
    void make_device(const VulkanNeeds& needs);

    VkInstance instance = nullptr;
    VkPhysicalDevice physical = nullptr;
    Identity self;
};

/// Throws std::runtime_error when a driver call has failed.
void check(VkResult result, const char* call);

} // namespace trials
