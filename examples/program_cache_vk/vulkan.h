// A Vulkan device without linking to Vulkan: the loader is opened at run time, a device is chosen, and every function is
// asked for by name. No window system is involved.
#pragma once

#include <string>
#include <vector>

#include "vk_api.h"

namespace program_cache_vk {

/// What a device and its driver say about themselves.
struct Identity {
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceIDProperties ids;
    VkPhysicalDeviceDriverProperties driver;
    VkPhysicalDeviceShaderObjectPropertiesEXT shader_objects;
    bool has_shader_objects = false;

    /// "llvmpipe (...), llvmpipe Mesa 25.0.7".
    std::string description() const;
};

class Vulkan {
public:
    /// `wanted` is "auto", which takes a graphics card before a software device, or a number of `list`. Throws
    /// std::runtime_error when there is no such device.
    explicit Vulkan(const std::string& wanted);
    ~Vulkan();
    Vulkan(const Vulkan&) = delete;
    Vulkan& operator=(const Vulkan&) = delete;

    /// The devices of this machine that have Vulkan 1.2, a line each.
    static std::vector<std::string> list();

    const Identity& identity() const { return self; }
    /// The kind of memory that is among `kinds`, one bit each, and that the host sees.
    std::uint32_t host_memory(std::uint32_t kinds) const;

    Vk api;
    VkDevice device = nullptr;
    VkQueue queue = nullptr;
    std::uint32_t queue_family = 0;

private:
    void make_device();

    VkInstance instance = nullptr;
    VkPhysicalDevice physical = nullptr;
    Identity self;
};

/// Throws std::runtime_error when a call of the driver failed.
void check(VkResult result, const char* call);

} // namespace program_cache_vk
