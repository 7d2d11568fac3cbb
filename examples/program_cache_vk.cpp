// program_cache_vk.cpp: a VkPipelineCache that outlives the process, in C++17.
//
// The data of the VkPipelineCache are one entry of a program cache, which checks them, separates drivers and devices,
// and survives crashes. The use of the entry is open from before the driver gets the data until the GPU has run the
// pipelines. If the process ends twice during a use, the data are banned, and the driver starts with an empty cache.
//
// The Vulkan loader is found at run time (Debian: libvulkan1 mesa-vulkan-drivers). Mesa's software driver keeps only a
// header of 32 bytes, so nothing gets faster there. Build and run it in the repository:
//
//     cargo build --release
//     c++ -std=c++17 -Iinclude examples/program_cache_vk.cpp -o program_cache_vk -Ltarget/release -lhobgoblin -ldl
//     LD_LIBRARY_PATH=target/release ./program_cache_vk [DIRECTORY]          (default: program_cache_vk.cache)

#include <hobgoblin/hobgoblin.hpp>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>
#include "vulkan_minimal.h" // or: #define VK_NO_PROTOTYPES, #include <vulkan/vulkan.h>

namespace {
void check(VkResult result, const char* call) {
    if (result != VK_SUCCESS) throw std::runtime_error(call + (" failed: VkResult " + std::to_string(result)));
}

/// A struct of Vulkan with its type. All other fields are 0.
template <class Info> Info make(VkStructureType type) {
    Info info = {};
    info.sType = type;
    return info;
}

#define VK(name) find<PFN_##name>(#name)
/// An instance and a device with a queue for compute shaders.
class Vulkan {
public:
    VkPhysicalDeviceProperties properties = {};
    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    uint32_t queue_family = 0;

    Vulkan() {
        void* const loader = dlopen("libvulkan.so.1", RTLD_NOW); // stays loaded: drivers handle unloading badly
        if (loader == nullptr) throw std::runtime_error("there is no libvulkan.so.1 (Debian: libvulkan1)");
        void* const entry = dlsym(loader, "vkGetInstanceProcAddr");
        std::memcpy(&get_address, &entry, sizeof entry);
        auto info = make<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
        check(VK(vkCreateInstance)(&info, nullptr, &instance), "vkCreateInstance");
        VkPhysicalDevice physical = VK_NULL_HANDLE;
        uint32_t count = 1; // VK_INCOMPLETE, if there are several: the first one serves
        (void)VK(vkEnumeratePhysicalDevices)(instance, &count, &physical);
        if (physical == VK_NULL_HANDLE) throw std::runtime_error("there is no device (Debian: mesa-vulkan-drivers)");
        VK(vkGetPhysicalDeviceProperties)(physical, &properties);
        std::vector<VkQueueFamilyProperties> families(count = 16);
        VK(vkGetPhysicalDeviceQueueFamilyProperties)(physical, &count, families.data());
        while (queue_family + 1 < count && !(families[queue_family].queueFlags & VK_QUEUE_COMPUTE_BIT)) ++queue_family;
        const float priority = 1;
        auto queues = make<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
        queues.queueFamilyIndex = queue_family;
        queues.queueCount = 1;
        queues.pQueuePriorities = &priority;
        auto device_info = make<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
        device_info.queueCreateInfoCount = 1;
        device_info.pQueueCreateInfos = &queues;
        check(VK(vkCreateDevice)(physical, &device_info, nullptr, &device), "vkCreateDevice");
        VK(vkGetDeviceQueue)(device, queue_family, 0, &queue);
    }
    Vulkan(const Vulkan&) = delete;
    ~Vulkan() {
        VK(vkDestroyDevice)(device, nullptr);
        VK(vkDestroyInstance)(instance, nullptr);
    }

    /// A function by name. The loader has all of them, except a few extensions.
    template <class Function> Function find(const char* name) const {
        const auto address = get_address(instance, name);
        Function function = nullptr;
        std::memcpy(&function, &address, sizeof address);
        return function;
    }

private:
    PFN_vkGetInstanceProcAddr get_address = nullptr;
    VkInstance instance = VK_NULL_HANDLE;
};

/// An empty compute shader in SPIR-V. The size of its groups makes the difference between the pipelines.
std::vector<uint32_t> shader(uint32_t group_size) {
    return {0x07230203, 0x00010000, 0, 5, 0, 0x20011, 1, 0x3000e, 0, 1, 0x5000f, 5, 1, 0x6e69616d, 0, 0x60010, 1, 17,
            group_size, 1, 1, 0x20013, 2, 0x30021, 3, 2, 0x50036, 2, 1, 0, 3, 0x200f8, 4, 0x100fd, 0x10038};
}

/// Makes all pipelines with the VkPipelineCache, and runs them once.
void run_pipelines(const Vulkan& vk, VkPipelineCache so_far) {
    auto layout_info = make<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    VkPipelineLayout layout = VK_NULL_HANDLE;
    check(vk.VK(vkCreatePipelineLayout)(vk.device, &layout_info, nullptr, &layout), "vkCreatePipelineLayout");
    auto pool_info = make<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    pool_info.queueFamilyIndex = vk.queue_family;
    VkCommandPool pool = VK_NULL_HANDLE;
    check(vk.VK(vkCreateCommandPool)(vk.device, &pool_info, nullptr, &pool), "vkCreateCommandPool");
    auto commands_info = make<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    commands_info.commandPool = pool;
    commands_info.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    check(vk.VK(vkAllocateCommandBuffers)(vk.device, &commands_info, &commands), "vkAllocateCommandBuffers");
    auto begin_info = make<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    check(vk.VK(vkBeginCommandBuffer)(commands, &begin_info), "vkBeginCommandBuffer");
    std::vector<VkPipeline> pipelines;
    for (uint32_t group_size = 1; group_size <= 128; group_size *= 2) {
        const std::vector<uint32_t> code = shader(group_size);
        auto module_info = make<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
        module_info.codeSize = code.size() * sizeof code[0];
        module_info.pCode = code.data();
        auto info = make<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
        info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
        info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
        info.stage.pName = "main";
        info.layout = layout;
        VkShaderModule& module = info.stage.module;
        check(vk.VK(vkCreateShaderModule)(vk.device, &module_info, nullptr, &module), "vkCreateShaderModule");
        VkPipeline& pipeline = pipelines.emplace_back();
        check(vk.VK(vkCreateComputePipelines)(vk.device, so_far, 1, &info, nullptr, &pipeline), "compute pipeline");
        vk.VK(vkDestroyShaderModule)(vk.device, module, nullptr);
        vk.VK(vkCmdBindPipeline)(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
        vk.VK(vkCmdDispatch)(commands, 1, 1, 1);
    }
    check(vk.VK(vkEndCommandBuffer)(commands), "vkEndCommandBuffer");
    auto submit = make<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    check(vk.VK(vkQueueSubmit)(vk.queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    check(vk.VK(vkQueueWaitIdle)(vk.queue), "vkQueueWaitIdle");
    for (const VkPipeline pipeline : pipelines) vk.VK(vkDestroyPipeline)(vk.device, pipeline, nullptr);
    vk.VK(vkDestroyCommandPool)(vk.device, pool, nullptr);
    vk.VK(vkDestroyPipelineLayout)(vk.device, layout, nullptr);
}

hob::ProgramCache make_cache(const Vulkan& vk, const std::string& directory) {
    hob::ProgramCacheOptions options;
    options.directory = directory;
    options.environment.api = HOB_GRAPHICS_API_VULKAN;
    options.environment.vendor_id = vk.properties.vendorID;
    options.environment.device_id = vk.properties.deviceID;
    options.environment.driver_version = vk.properties.driverVersion;
    std::memcpy(options.environment.driver_uuid, vk.properties.pipelineCacheUUID, 16); // another one: no data are found
    options.environment.device = hob_str_from(vk.properties.deviceName);
    hob::ProgramCache cache{options};
    cache.wait_idle(); // behind a loading screen: reads the directory
    return cache;
}

void run(const std::string& directory) {
    const Vulkan vk;
    const hob::ProgramCache cache = make_cache(vk, directory);
    const hob::Fingerprint key = hob::fingerprint("VkPipelineCache");
    const hob::Blob stored = cache.get(key);
    hob::ProgramUse use = stored ? cache.begin_use(key) : hob::ProgramUse(); // empty if the data are banned
    auto info = make<VkPipelineCacheCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO);
    info.initialDataSize = use ? stored.data().size() : 0;
    info.pInitialData = stored.data().data();
    VkPipelineCache pipelines = VK_NULL_HANDLE;
    const auto start = std::chrono::steady_clock::now();
    const auto create = [&] { return vk.VK(vkCreatePipelineCache)(vk.device, &info, nullptr, &pipelines); };
    if (use && create() != VK_SUCCESS) { // the driver refuses the data: start with an empty cache, and replace them
        use.end(HOB_USE_OUTCOME_REJECTED);
        info.initialDataSize = 0;
    }
    if (pipelines == VK_NULL_HANDLE) check(create(), "vkCreatePipelineCache");
    run_pipelines(vk, pipelines);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    use.end(); // the GPU has run all pipelines
    size_t size = 0;
    check(vk.VK(vkGetPipelineCacheData)(vk.device, pipelines, &size, nullptr), "vkGetPipelineCacheData");
    std::string data(size, '\0');
    check(vk.VK(vkGetPipelineCacheData)(vk.device, pipelines, &size, data.data()), "vkGetPipelineCacheData");
    data.resize(size); // the driver may have written fewer bytes
    vk.VK(vkDestroyPipelineCache)(vk.device, pipelines, nullptr);
    if (data != stored.data()) cache.put(key, {0, data, {}, {}, static_cast<uint64_t>(time.count() * 1000), 0});
    cache.flush(); // reports a failed write; the destructor cannot
    std::printf("%s\n", vk.properties.deviceName);
    std::printf("%zu bytes loaded, %zu kept, pipelines run in %.1f ms\n", info.initialDataSize, size, time.count());
}

} // namespace

int main(int argument_count, char** arguments) {
    try {
        run(argument_count > 1 ? arguments[1] : "program_cache_vk.cache");
        return 0;
    } catch (const std::exception& error) { // hob::Error carries the library's sentence
        std::fprintf(stderr, "program_cache_vk: %s\n", error.what());
        return 1;
    }
}
