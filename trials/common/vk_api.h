// The part of Vulkan 1.3 and of VK_EXT_shader_object that trials share, declared by hand. They build on a machine
// without Vulkan headers and link to no Vulkan library. Constants and layouts are those of the Khronos registry.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trials {

template <int> struct VkObject; // never defined: a distinct type for each kind of object
using VkInstance = VkObject<0>*;
using VkPhysicalDevice = VkObject<1>*;
using VkDevice = VkObject<2>*;
using VkQueue = VkObject<3>*;
using VkCommandBuffer = VkObject<4>*;
// These are pointers on systems of 64 bits, and numbers elsewhere. Only 64 bits are supported.
static_assert(sizeof(void*) == 8, "these declarations are for systems of 64 bits");
using VkBuffer = VkObject<5>*;
using VkDeviceMemory = VkObject<6>*;
using VkDescriptorSetLayout = VkObject<7>*;
using VkDescriptorPool = VkObject<8>*;
using VkDescriptorSet = VkObject<9>*;
using VkPipelineLayout = VkObject<10>*;
using VkPipelineCache = VkObject<11>*;
using VkPipeline = VkObject<12>*;
using VkShaderModule = VkObject<13>*;
using VkShaderEXT = VkObject<14>*;
using VkCommandPool = VkObject<15>*;
using VkFence = VkObject<16>*;

using VkFlags = std::uint32_t;
using VkBool32 = std::uint32_t;
using VkDeviceSize = std::uint64_t;
using VkResult = std::int32_t;

inline constexpr VkResult VK_SUCCESS = 0, VK_INCOMPLETE = 5, VK_INCOMPATIBLE_SHADER_BINARY_EXT = 1000482000,
                          VK_ERROR_INCOMPATIBLE_DRIVER = -9;
inline constexpr std::uint32_t VK_API_VERSION_1_2 = 1u << 22 | 2u << 12, VK_API_VERSION_1_3 = 1u << 22 | 3u << 12;
inline constexpr VkFlags VK_QUEUE_GRAPHICS_BIT = 1, VK_QUEUE_COMPUTE_BIT = 2, VK_SHADER_STAGE_COMPUTE_BIT = 0x20, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT = 0x20,
                         VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT = 2, VK_MEMORY_PROPERTY_HOST_COHERENT_BIT = 4,
                         VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT = 2, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT = 1,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT = 0x800, VK_PIPELINE_STAGE_HOST_BIT = 0x4000,
                         VK_ACCESS_HOST_READ_BIT = 0x2000, VK_ACCESS_SHADER_WRITE_BIT = 0x40,
                         VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT = 1,
                         VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT = 2;
inline constexpr std::uint32_t VK_DESCRIPTOR_TYPE_STORAGE_BUFFER = 7, VK_PIPELINE_BIND_POINT_COMPUTE = 1,
                               VK_SHADER_CODE_TYPE_BINARY_EXT = 0, VK_SHADER_CODE_TYPE_SPIRV_EXT = 1,
                               VK_PHYSICAL_DEVICE_TYPE_CPU = 4;
inline constexpr VkDeviceSize VK_WHOLE_SIZE = ~VkDeviceSize{0};

/// The first 16 bytes of every struct with a type.
/// A C++ compiler lays out the members after them as a C compiler does.
template <std::uint32_t type> struct VkTyped {
    std::uint32_t sType = type;
    const void* pNext = nullptr;
};

struct VkApplicationInfo : VkTyped<0> {
    const char* pApplicationName = nullptr;
    std::uint32_t applicationVersion = 0;
    const char* pEngineName = nullptr;
    std::uint32_t engineVersion = 0, apiVersion = VK_API_VERSION_1_3;
};
struct VkInstanceCreateInfo : VkTyped<1> {
    VkFlags flags = 0;
    const VkApplicationInfo* pApplicationInfo = nullptr;
    std::uint32_t enabledLayerCount = 0;
    const char* const* ppEnabledLayerNames = nullptr;
    std::uint32_t enabledExtensionCount = 0;
    const char* const* ppEnabledExtensionNames = nullptr;
};

struct VkPhysicalDeviceProperties {
    std::uint32_t apiVersion = 0, driverVersion = 0, vendorID = 0, deviceID = 0, deviceType = 0;
    char deviceName[256] = {};
    std::uint8_t pipelineCacheUUID[16] = {};
    std::uint64_t limitsAndSparse[66] = {}; // 528 unused bytes
};
static_assert(sizeof(VkPhysicalDeviceProperties) == 824, "as in C");
struct VkPhysicalDeviceProperties2 : VkTyped<1000059001> { VkPhysicalDeviceProperties properties; };
struct VkPhysicalDeviceIDProperties : VkTyped<1000071004> {
    std::uint8_t deviceUUID[16] = {}, driverUUID[16] = {}, deviceLUID[8] = {};
    std::uint32_t deviceNodeMask = 0;
    VkBool32 deviceLUIDValid = 0;
};
struct VkPhysicalDeviceDriverProperties : VkTyped<1000196000> {
    std::uint32_t driverID = 0;
    char driverName[256] = {}, driverInfo[256] = {};
    std::uint8_t conformanceVersion[4] = {};
};
struct VkPhysicalDeviceShaderObjectPropertiesEXT : VkTyped<1000482001> {
    std::uint8_t shaderBinaryUUID[16] = {};
    std::uint32_t shaderBinaryVersion = 0;
};
struct VkPhysicalDeviceShaderObjectFeaturesEXT : VkTyped<1000482000> { VkBool32 shaderObject = 0; };
struct VkPhysicalDeviceDynamicRenderingFeatures : VkTyped<1000044003> { VkBool32 dynamicRendering = 0; };
struct VkPhysicalDeviceFeatures2 : VkTyped<1000059000> { VkBool32 features[55] = {}; };
struct VkExtensionProperties {
    char extensionName[256] = {};
    std::uint32_t specVersion = 0;
};
struct VkQueueFamilyProperties {
    VkFlags queueFlags = 0;
    std::uint32_t queueCount = 0, timestampValidBits = 0, minImageTransferGranularity[3] = {};
};
struct VkPhysicalDeviceMemoryProperties {
    std::uint32_t memoryTypeCount = 0;
    struct { VkFlags propertyFlags; std::uint32_t heapIndex; } memoryTypes[32] = {};
    std::uint32_t memoryHeapCount = 0;
    struct { VkDeviceSize size; VkFlags flags; } memoryHeaps[16] = {};
};

struct VkDeviceQueueCreateInfo : VkTyped<2> {
    VkFlags flags = 0;
    std::uint32_t queueFamilyIndex = 0, queueCount = 1;
    const float* pQueuePriorities = nullptr;
};
struct VkDeviceCreateInfo : VkTyped<3> {
    VkFlags flags = 0;
    std::uint32_t queueCreateInfoCount = 1;
    const VkDeviceQueueCreateInfo* pQueueCreateInfos = nullptr;
    std::uint32_t enabledLayerCount = 0;
    const char* const* ppEnabledLayerNames = nullptr;
    std::uint32_t enabledExtensionCount = 0;
    const char* const* ppEnabledExtensionNames = nullptr;
    const void* pEnabledFeatures = nullptr;
};

struct VkBufferCreateInfo : VkTyped<12> {
    VkFlags flags = 0;
    VkDeviceSize size = 0;
    VkFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    std::uint32_t sharingMode = 0, queueFamilyIndexCount = 0;
    const std::uint32_t* pQueueFamilyIndices = nullptr;
};
struct VkMemoryRequirements {
    VkDeviceSize size = 0, alignment = 0;
    std::uint32_t memoryTypeBits = 0;
};
struct VkMemoryAllocateInfo : VkTyped<5> {
    VkDeviceSize allocationSize = 0;
    std::uint32_t memoryTypeIndex = 0;
};

struct VkDescriptorSetLayoutBinding {
    std::uint32_t binding = 0, descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, descriptorCount = 1;
    VkFlags stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    const void* pImmutableSamplers = nullptr;
};
struct VkDescriptorSetLayoutCreateInfo : VkTyped<32> {
    VkFlags flags = 0;
    std::uint32_t bindingCount = 0;
    const VkDescriptorSetLayoutBinding* pBindings = nullptr;
};
struct VkDescriptorPoolSize { std::uint32_t type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, descriptorCount = 1; };
struct VkDescriptorPoolCreateInfo : VkTyped<33> {
    VkFlags flags = 0;
    std::uint32_t maxSets = 1, poolSizeCount = 0;
    const VkDescriptorPoolSize* pPoolSizes = nullptr;
};
struct VkDescriptorSetAllocateInfo : VkTyped<34> {
    VkDescriptorPool descriptorPool = nullptr;
    std::uint32_t descriptorSetCount = 1;
    const VkDescriptorSetLayout* pSetLayouts = nullptr;
};
struct VkDescriptorBufferInfo {
    VkBuffer buffer = nullptr;
    VkDeviceSize offset = 0, range = VK_WHOLE_SIZE;
};
struct VkWriteDescriptorSet : VkTyped<35> {
    VkDescriptorSet dstSet = nullptr;
    std::uint32_t dstBinding = 0, dstArrayElement = 0, descriptorCount = 1,
                  descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    const void* pImageInfo = nullptr;
    const VkDescriptorBufferInfo* pBufferInfo = nullptr;
    const void* pTexelBufferView = nullptr;
};
struct VkPipelineLayoutCreateInfo : VkTyped<30> {
    VkFlags flags = 0;
    std::uint32_t setLayoutCount = 1;
    const VkDescriptorSetLayout* pSetLayouts = nullptr;
    std::uint32_t pushConstantRangeCount = 0;
    const void* pPushConstantRanges = nullptr;
};

struct VkPipelineCacheCreateInfo : VkTyped<17> {
    VkFlags flags = 0;
    std::size_t initialDataSize = 0;
    const void* pInitialData = nullptr;
};
struct VkShaderModuleCreateInfo : VkTyped<16> {
    VkFlags flags = 0;
    std::size_t codeSize = 0;
    const std::uint32_t* pCode = nullptr;
};
struct VkPipelineShaderStageCreateInfo : VkTyped<18> {
    VkFlags flags = 0, stage = VK_SHADER_STAGE_COMPUTE_BIT;
    VkShaderModule module = nullptr;
    const char* pName = "main";
    const void* pSpecializationInfo = nullptr;
};
struct VkComputePipelineCreateInfo : VkTyped<29> {
    VkFlags flags = 0;
    VkPipelineShaderStageCreateInfo stage;
    VkPipelineLayout layout = nullptr;
    VkPipeline basePipelineHandle = nullptr;
    std::int32_t basePipelineIndex = -1;
};
struct VkPipelineCreationFeedback {
    VkFlags flags = 0;
    std::uint64_t duration = 0;
};
struct VkPipelineCreationFeedbackCreateInfo : VkTyped<1000192000> {
    VkPipelineCreationFeedback* pPipelineCreationFeedback = nullptr;
    std::uint32_t pipelineStageCreationFeedbackCount = 0;
    VkPipelineCreationFeedback* pPipelineStageCreationFeedbacks = nullptr;
};
struct VkShaderCreateInfoEXT : VkTyped<1000482002> {
    VkFlags flags = 0, stage = VK_SHADER_STAGE_COMPUTE_BIT, nextStage = 0;
    std::uint32_t codeType = VK_SHADER_CODE_TYPE_SPIRV_EXT;
    std::size_t codeSize = 0;
    const void* pCode = nullptr;
    const char* pName = "main";
    std::uint32_t setLayoutCount = 1;
    const VkDescriptorSetLayout* pSetLayouts = nullptr;
    std::uint32_t pushConstantRangeCount = 0;
    const void* pPushConstantRanges = nullptr;
    const void* pSpecializationInfo = nullptr;
};

struct VkCommandPoolCreateInfo : VkTyped<39> {
    VkFlags flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    std::uint32_t queueFamilyIndex = 0;
};
struct VkCommandBufferAllocateInfo : VkTyped<40> {
    VkCommandPool commandPool = nullptr;
    std::uint32_t level = 0, commandBufferCount = 1;
};
struct VkCommandBufferBeginInfo : VkTyped<42> {
    VkFlags flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    const void* pInheritanceInfo = nullptr;
};
struct VkMemoryBarrier : VkTyped<46> {
    VkFlags srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT, dstAccessMask = VK_ACCESS_HOST_READ_BIT;
};
struct VkFenceCreateInfo : VkTyped<8> { VkFlags flags = 0; };
struct VkSubmitInfo : VkTyped<4> {
    std::uint32_t waitSemaphoreCount = 0;
    const void* pWaitSemaphores = nullptr;
    const VkFlags* pWaitDstStageMask = nullptr;
    std::uint32_t commandBufferCount = 1;
    const VkCommandBuffer* pCommandBuffers = nullptr;
    std::uint32_t signalSemaphoreCount = 0;
    const void* pSignalSemaphores = nullptr;
};

static_assert(sizeof(VkInstanceCreateInfo) == 64 && sizeof(VkDeviceCreateInfo) == 72 && sizeof(VkBufferCreateInfo) == 56 &&
                  sizeof(VkWriteDescriptorSet) == 64 && sizeof(VkComputePipelineCreateInfo) == 96 &&
                  sizeof(VkShaderCreateInfoEXT) == 96 && sizeof(VkSubmitInfo) == 72 &&
                  sizeof(VkPhysicalDeviceMemoryProperties) == 520 && sizeof(VkPhysicalDeviceDriverProperties) == 536,
              "as in C");

// X(return type, name without the vk, arguments)
#define TRIALS_VK_INSTANCE_FUNCTIONS(X)                                                                                    \
    X(void, DestroyInstance, (VkInstance, const void*))                                                                     \
    X(VkResult, EnumeratePhysicalDevices, (VkInstance, std::uint32_t*, VkPhysicalDevice*))                                  \
    X(void, GetPhysicalDeviceProperties, (VkPhysicalDevice, VkPhysicalDeviceProperties*))                                   \
    X(void, GetPhysicalDeviceProperties2, (VkPhysicalDevice, VkPhysicalDeviceProperties2*))                                 \
    X(void, GetPhysicalDeviceFeatures2, (VkPhysicalDevice, VkPhysicalDeviceFeatures2*))                                     \
    X(void, GetPhysicalDeviceQueueFamilyProperties, (VkPhysicalDevice, std::uint32_t*, VkQueueFamilyProperties*))           \
    X(void, GetPhysicalDeviceMemoryProperties, (VkPhysicalDevice, VkPhysicalDeviceMemoryProperties*))                       \
    X(VkResult, EnumerateDeviceExtensionProperties,                                                                         \
      (VkPhysicalDevice, const char*, std::uint32_t*, VkExtensionProperties*))                                              \
    X(VkResult, CreateDevice, (VkPhysicalDevice, const VkDeviceCreateInfo*, const void*, VkDevice*))                        \
    X(void*, GetDeviceProcAddr, (VkDevice, const char*))

#define TRIALS_VK_DEVICE_FUNCTIONS(X)                                                                                      \
    X(void, DestroyDevice, (VkDevice, const void*))                                                                         \
    X(void, GetDeviceQueue, (VkDevice, std::uint32_t, std::uint32_t, VkQueue*))                                             \
    X(VkResult, CreateBuffer, (VkDevice, const VkBufferCreateInfo*, const void*, VkBuffer*))                                \
    X(void, DestroyBuffer, (VkDevice, VkBuffer, const void*))                                                               \
    X(void, GetBufferMemoryRequirements, (VkDevice, VkBuffer, VkMemoryRequirements*))                                       \
    X(VkResult, AllocateMemory, (VkDevice, const VkMemoryAllocateInfo*, const void*, VkDeviceMemory*))                      \
    X(void, FreeMemory, (VkDevice, VkDeviceMemory, const void*))                                                            \
    X(VkResult, BindBufferMemory, (VkDevice, VkBuffer, VkDeviceMemory, VkDeviceSize))                                       \
    X(VkResult, MapMemory, (VkDevice, VkDeviceMemory, VkDeviceSize, VkDeviceSize, VkFlags, void**))                         \
    X(VkResult, CreateDescriptorSetLayout,                                                                                  \
      (VkDevice, const VkDescriptorSetLayoutCreateInfo*, const void*, VkDescriptorSetLayout*))                              \
    X(void, DestroyDescriptorSetLayout, (VkDevice, VkDescriptorSetLayout, const void*))                                     \
    X(VkResult, CreateDescriptorPool, (VkDevice, const VkDescriptorPoolCreateInfo*, const void*, VkDescriptorPool*))        \
    X(void, DestroyDescriptorPool, (VkDevice, VkDescriptorPool, const void*))                                               \
    X(VkResult, AllocateDescriptorSets, (VkDevice, const VkDescriptorSetAllocateInfo*, VkDescriptorSet*))                   \
    X(void, UpdateDescriptorSets, (VkDevice, std::uint32_t, const VkWriteDescriptorSet*, std::uint32_t, const void*))       \
    X(VkResult, CreatePipelineLayout, (VkDevice, const VkPipelineLayoutCreateInfo*, const void*, VkPipelineLayout*))        \
    X(void, DestroyPipelineLayout, (VkDevice, VkPipelineLayout, const void*))                                               \
    X(VkResult, CreatePipelineCache, (VkDevice, const VkPipelineCacheCreateInfo*, const void*, VkPipelineCache*))           \
    X(VkResult, GetPipelineCacheData, (VkDevice, VkPipelineCache, std::size_t*, void*))                                     \
    X(void, DestroyPipelineCache, (VkDevice, VkPipelineCache, const void*))                                                 \
    X(VkResult, CreateShaderModule, (VkDevice, const VkShaderModuleCreateInfo*, const void*, VkShaderModule*))              \
    X(void, DestroyShaderModule, (VkDevice, VkShaderModule, const void*))                                                   \
    X(VkResult, CreateComputePipelines, (VkDevice, VkPipelineCache, std::uint32_t, const VkComputePipelineCreateInfo*,      \
                                         const void*, VkPipeline*))                                                         \
    X(void, DestroyPipeline, (VkDevice, VkPipeline, const void*))                                                           \
    X(VkResult, CreateCommandPool, (VkDevice, const VkCommandPoolCreateInfo*, const void*, VkCommandPool*))                 \
    X(void, DestroyCommandPool, (VkDevice, VkCommandPool, const void*))                                                     \
    X(VkResult, AllocateCommandBuffers, (VkDevice, const VkCommandBufferAllocateInfo*, VkCommandBuffer*))                   \
    X(VkResult, BeginCommandBuffer, (VkCommandBuffer, const VkCommandBufferBeginInfo*))                                     \
    X(VkResult, EndCommandBuffer, (VkCommandBuffer))                                                                        \
    X(void, CmdBindPipeline, (VkCommandBuffer, std::uint32_t, VkPipeline))                                                  \
    X(void, CmdBindDescriptorSets, (VkCommandBuffer, std::uint32_t, VkPipelineLayout, std::uint32_t, std::uint32_t,         \
                                    const VkDescriptorSet*, std::uint32_t, const std::uint32_t*))                           \
    X(void, CmdDispatch, (VkCommandBuffer, std::uint32_t, std::uint32_t, std::uint32_t))                                    \
    X(void, CmdPipelineBarrier, (VkCommandBuffer, VkFlags, VkFlags, VkFlags, std::uint32_t, const VkMemoryBarrier*,         \
                                 std::uint32_t, const void*, std::uint32_t, const void*))                                   \
    X(VkResult, CreateFence, (VkDevice, const VkFenceCreateInfo*, const void*, VkFence*))                                   \
    X(VkResult, WaitForFences, (VkDevice, std::uint32_t, const VkFence*, VkBool32, std::uint64_t))                          \
    X(VkResult, ResetFences, (VkDevice, std::uint32_t, const VkFence*))                                                     \
    X(void, DestroyFence, (VkDevice, VkFence, const void*))                                                                 \
    X(VkResult, QueueSubmit, (VkQueue, std::uint32_t, const VkSubmitInfo*, VkFence))                                        \
    X(VkResult, DeviceWaitIdle, (VkDevice))

// VK_EXT_shader_object: a missing function is not an error.
#define TRIALS_VK_EXTENSION_FUNCTIONS(X)                                                                                   \
    X(VkResult, CreateShadersEXT, (VkDevice, std::uint32_t, const VkShaderCreateInfoEXT*, const void*, VkShaderEXT*))       \
    X(void, DestroyShaderEXT, (VkDevice, VkShaderEXT, const void*))                                                         \
    X(VkResult, GetShaderBinaryDataEXT, (VkDevice, VkShaderEXT, std::size_t*, void*))                                       \
    X(void, CmdBindShadersEXT, (VkCommandBuffer, std::uint32_t, const VkFlags*, const VkShaderEXT*))

struct Vk {
    void* (*GetInstanceProcAddr)(VkInstance, const char*) = nullptr;
    VkResult (*CreateInstance)(const VkInstanceCreateInfo*, const void*, VkInstance*) = nullptr;
#define TRIALS_DECLARE(result, name, arguments) result(*name) arguments = nullptr;
    TRIALS_VK_INSTANCE_FUNCTIONS(TRIALS_DECLARE)
    TRIALS_VK_DEVICE_FUNCTIONS(TRIALS_DECLARE)
    TRIALS_VK_EXTENSION_FUNCTIONS(TRIALS_DECLARE)
#undef TRIALS_DECLARE
};

} // namespace trials
