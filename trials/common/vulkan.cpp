#include "vulkan.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#ifndef _WIN32
#include <dlfcn.h>
#endif

namespace trials {

namespace {

template <typename Function> void assign(Function& function, void* address) {
    static_assert(sizeof function == sizeof address, "function and object pointers have one size");
    std::memcpy(&function, &address, sizeof address);
}

/// The first function, through which all others are found. The loader stays loaded until the process ends: drivers
/// handle unloading badly.
void* entry_point() {
#ifdef _WIN32
    throw std::runtime_error("Vulkan is not looked for on Windows");
#else
    for (const char* name : {"libvulkan.so.1", "libvulkan.so"})
        if (void* const loader = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return dlsym(loader, "vkGetInstanceProcAddr");
    throw std::runtime_error("the Vulkan loader was not found (on Debian: apt-get install libvulkan1 mesa-vulkan-drivers)");
#endif
}

void load_instance(Vk& api, VkInstance& instance, const char* name) {
    assign(api.GetInstanceProcAddr, entry_point());
    if (api.GetInstanceProcAddr == nullptr) throw std::runtime_error("the Vulkan loader lacks vkGetInstanceProcAddr");
    assign(api.CreateInstance, api.GetInstanceProcAddr(nullptr, "vkCreateInstance"));
    VkApplicationInfo application;
    application.pApplicationName = name;
    VkInstanceCreateInfo desc;
    desc.pApplicationInfo = &application;
    const VkResult result = api.CreateInstance(&desc, nullptr, &instance);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
        throw std::runtime_error("no Vulkan driver is installed (on Debian: apt-get install mesa-vulkan-drivers)");
    check(result, "vkCreateInstance");
#define TRIALS_LOAD(result, name, arguments) assign(api.name, api.GetInstanceProcAddr(instance, "vk" #name));
    TRIALS_VK_INSTANCE_FUNCTIONS(TRIALS_LOAD)
#undef TRIALS_LOAD
}

std::vector<VkPhysicalDevice> devices_of(const Vk& api, VkInstance instance) {
    std::uint32_t count = 0;
    check(api.EnumeratePhysicalDevices(instance, &count, nullptr), "vkEnumeratePhysicalDevices");
    std::vector<VkPhysicalDevice> devices(count);
    if (count > 0) check(api.EnumeratePhysicalDevices(instance, &count, devices.data()), "vkEnumeratePhysicalDevices");
    devices.resize(count);
    const auto is_old = [&](VkPhysicalDevice device) {
        VkPhysicalDeviceProperties properties;
        api.GetPhysicalDeviceProperties(device, &properties);
        return properties.apiVersion < VK_API_VERSION_1_2; // before Vulkan 1.2 a device does not name its driver
    };
    devices.erase(std::remove_if(devices.begin(), devices.end(), is_old), devices.end());
    return devices;
}

bool offers_shader_objects(const Vk& api, VkPhysicalDevice device) {
    std::uint32_t count = 0;
    check(api.EnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr), "vkEnumerateDeviceExtensionProperties");
    std::vector<VkExtensionProperties> extensions(count);
    check(api.EnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data()),
          "vkEnumerateDeviceExtensionProperties");
    const auto is_it = [](const VkExtensionProperties& one) {
        return std::strcmp(one.extensionName, "VK_EXT_shader_object") == 0;
    };
    if (!std::any_of(extensions.begin(), extensions.end(), is_it)) return false;
    VkPhysicalDeviceShaderObjectFeaturesEXT feature;
    VkPhysicalDeviceFeatures2 features;
    features.pNext = &feature;
    api.GetPhysicalDeviceFeatures2(device, &features);
    return feature.shaderObject != 0;
}

Identity identity_of(const Vk& api, VkPhysicalDevice device) {
    Identity identity;
    VkPhysicalDeviceProperties2 all;
    all.pNext = &identity.ids;
    identity.ids.pNext = &identity.driver;
    identity.has_shader_objects = offers_shader_objects(api, device);
    if (identity.has_shader_objects) identity.driver.pNext = &identity.shader_objects;
    api.GetPhysicalDeviceProperties2(device, &all);
    identity.properties = all.properties;
    identity.ids.pNext = identity.driver.pNext = nullptr;
    return identity;
}

std::uint32_t family_of(const Vk& api, VkPhysicalDevice device, VkFlags queue) {
    std::uint32_t count = 0;
    api.GetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    api.GetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
    for (std::uint32_t family = 0; family < count; ++family)
        if ((families[family].queueFlags & queue) != 0) return family;
    throw std::runtime_error("the Vulkan device has no queue for graphics or for compute shaders: choose another device");
}

bool offers_dynamic_rendering(const Vk& api, VkPhysicalDevice device, std::uint32_t version) {
    if (version < VK_API_VERSION_1_3) return false;
    VkPhysicalDeviceDynamicRenderingFeatures feature;
    VkPhysicalDeviceFeatures2 features;
    features.pNext = &feature;
    api.GetPhysicalDeviceFeatures2(device, &features);
    return feature.dynamicRendering != 0;
}

std::size_t place_of(const Vk& api, const std::vector<VkPhysicalDevice>& devices, const std::string& wanted) {
    if (wanted == "auto") {
        for (std::size_t place = 0; place < devices.size(); ++place)
            if (identity_of(api, devices[place]).properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU) return place;
        if (devices.empty()) throw std::runtime_error("Vulkan 1.2 finds no device (on Debian: apt-get install mesa-vulkan-drivers)");
        return 0;
    }
    const bool is_number =
        !wanted.empty() && wanted.find_first_not_of("0123456789") == std::string::npos && wanted.size() < 4;
    const std::size_t place = is_number ? std::stoul(wanted) : devices.size();
    if (place >= devices.size())
        throw std::runtime_error("there is no Vulkan device \"" + wanted + "\" (" + std::to_string(devices.size()) +
                                 " found; see --list-devices)");
    return place;
}

} // namespace

void check(VkResult result, const char* call) {
    if (result != VK_SUCCESS)
        throw std::runtime_error(std::string(call) + " failed with VkResult " + std::to_string(result));
}

std::string Identity::description() const {
    return std::string(properties.deviceName) + ", " + driver.driverName + " " + driver.driverInfo;
}

Vulkan::Vulkan(const std::string& wanted, const VulkanNeeds& needs) {
    load_instance(api, instance, needs.application);
    try {
        const std::vector<VkPhysicalDevice> devices = devices_of(api, instance);
        physical = devices[place_of(api, devices, wanted)];
        self = identity_of(api, physical);
        make_device(needs);
    } catch (...) {
        api.DestroyInstance(instance, nullptr);
        throw;
    }
}

void Vulkan::make_device(const VulkanNeeds& needs) {
    queue_family = family_of(api, physical, needs.queue);
    if (needs.dynamic_rendering && !offers_dynamic_rendering(api, physical, self.properties.apiVersion))
        throw std::runtime_error("the Vulkan device lacks dynamic rendering (Vulkan 1.3): choose another device");
    const float priority = 1;
    VkDeviceQueueCreateInfo queues;
    queues.queueFamilyIndex = queue_family;
    queues.pQueuePriorities = &priority;
    VkDeviceCreateInfo desc;
    desc.pQueueCreateInfos = &queues;
    VkPhysicalDeviceShaderObjectFeaturesEXT feature;
    feature.shaderObject = 1;
    const char* const extension = "VK_EXT_shader_object";
    if (self.has_shader_objects) {
        desc.pNext = &feature;
        desc.enabledExtensionCount = 1;
        desc.ppEnabledExtensionNames = &extension;
    }
    VkPhysicalDeviceDynamicRenderingFeatures rendering;
    rendering.dynamicRendering = 1;
    if (needs.dynamic_rendering) {
        rendering.pNext = desc.pNext;
        desc.pNext = &rendering;
    }
    check(api.CreateDevice(physical, &desc, nullptr, &device), "vkCreateDevice");
#define TRIALS_LOAD(result, name, arguments) assign(api.name, api.GetDeviceProcAddr(device, "vk" #name));
    TRIALS_VK_DEVICE_FUNCTIONS(TRIALS_LOAD)
    if (self.has_shader_objects) { TRIALS_VK_EXTENSION_FUNCTIONS(TRIALS_LOAD) }
#undef TRIALS_LOAD
    api.GetDeviceQueue(device, queue_family, 0, &queue);
}

Vulkan::~Vulkan() {
    api.DestroyDevice(device, nullptr);
    api.DestroyInstance(instance, nullptr);
}

std::uint32_t Vulkan::host_memory(std::uint32_t kinds) const {
    constexpr VkFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties memory;
    api.GetPhysicalDeviceMemoryProperties(physical, &memory);
    for (std::uint32_t kind = 0; kind < memory.memoryTypeCount; ++kind)
        if ((kinds >> kind & 1) != 0 && (memory.memoryTypes[kind].propertyFlags & wanted) == wanted) return kind;
    throw std::runtime_error("the Vulkan device has no memory that the host sees");
}

std::uint32_t Vulkan::any_memory(std::uint32_t kinds) {
    for (std::uint32_t kind = 0; kind < 32; ++kind)
        if ((kinds >> kind & 1) != 0) return kind;
    throw std::runtime_error("the Vulkan driver offers no memory for an image");
}

std::vector<std::string> Vulkan::list() {
    Vk api;
    VkInstance instance = nullptr;
    load_instance(api, instance, "trials");
    std::vector<std::string> lines;
    for (VkPhysicalDevice device : devices_of(api, instance))
        lines.push_back(std::to_string(lines.size()) + "  " + identity_of(api, device).description());
    api.DestroyInstance(instance, nullptr);
    return lines;
}

} // namespace trials
