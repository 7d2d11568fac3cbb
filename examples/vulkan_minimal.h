// vulkan_minimal.h: the part of Vulkan 1.0 that program_cache_vk.cpp uses, so that it builds without Vulkan's headers.
//
// Names, layouts and numbers are those of the Khronos registry, for systems of 64 bits. In your own code use
// vulkan/vulkan.h instead: the example compiles with it unchanged.
#pragma once

#include <stddef.h>
#include <stdint.h>

static_assert(sizeof(void*) == 8, "all handles are pointers here");

#define VK_HANDLE(name) typedef struct name##_T* name
VK_HANDLE(VkInstance);
VK_HANDLE(VkPhysicalDevice);
VK_HANDLE(VkDevice);
VK_HANDLE(VkQueue);
VK_HANDLE(VkCommandBuffer);
VK_HANDLE(VkCommandPool);
VK_HANDLE(VkPipelineCache);
VK_HANDLE(VkPipelineLayout);
VK_HANDLE(VkPipeline);
VK_HANDLE(VkShaderModule);
VK_HANDLE(VkFence);
#define VK_NULL_HANDLE nullptr

typedef uint32_t VkFlags;
enum VkResult { VK_ERROR_UNKNOWN = -13, VK_SUCCESS = 0 };
enum VkPipelineBindPoint { VK_PIPELINE_BIND_POINT_COMPUTE = 1 };
enum VkShaderStageFlagBits { VK_SHADER_STAGE_COMPUTE_BIT = 0x20 };
enum VkQueueFlagBits { VK_QUEUE_COMPUTE_BIT = 2 };
enum VkStructureType {
    VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO = 1,
    VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO = 2,
    VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO = 3,
    VK_STRUCTURE_TYPE_SUBMIT_INFO = 4,
    VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO = 16,
    VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO = 17,
    VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO = 18,
    VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO = 29,
    VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO = 30,
    VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO = 39,
    VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO = 40,
    VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO = 42,
};

#define VK_INFO(name, ...)    \
    struct name {             \
        VkStructureType sType; \
        const void* pNext;    \
        __VA_ARGS__           \
    }
VK_INFO(VkInstanceCreateInfo, VkFlags flags; const void* pApplicationInfo; uint32_t enabledLayerCount;
        const char* const* ppEnabledLayerNames; uint32_t enabledExtensionCount;
        const char* const* ppEnabledExtensionNames;);
VK_INFO(VkDeviceQueueCreateInfo, VkFlags flags; uint32_t queueFamilyIndex; uint32_t queueCount;
        const float* pQueuePriorities;);
VK_INFO(VkDeviceCreateInfo, VkFlags flags; uint32_t queueCreateInfoCount;
        const VkDeviceQueueCreateInfo* pQueueCreateInfos; uint32_t enabledLayerCount;
        const char* const* ppEnabledLayerNames; uint32_t enabledExtensionCount;
        const char* const* ppEnabledExtensionNames; const void* pEnabledFeatures;);
VK_INFO(VkPipelineCacheCreateInfo, VkFlags flags; size_t initialDataSize; const void* pInitialData;);
VK_INFO(VkShaderModuleCreateInfo, VkFlags flags; size_t codeSize; const uint32_t* pCode;);
VK_INFO(VkPipelineLayoutCreateInfo, VkFlags flags; uint32_t setLayoutCount; const void* pSetLayouts;
        uint32_t pushConstantRangeCount; const void* pPushConstantRanges;);
VK_INFO(VkPipelineShaderStageCreateInfo, VkFlags flags; VkShaderStageFlagBits stage; VkShaderModule module;
        const char* pName; const void* pSpecializationInfo;);
VK_INFO(VkComputePipelineCreateInfo, VkFlags flags; VkPipelineShaderStageCreateInfo stage; VkPipelineLayout layout;
        VkPipeline basePipelineHandle; int32_t basePipelineIndex;);
VK_INFO(VkCommandPoolCreateInfo, VkFlags flags; uint32_t queueFamilyIndex;);
VK_INFO(VkCommandBufferAllocateInfo, VkCommandPool commandPool; uint32_t level; uint32_t commandBufferCount;);
VK_INFO(VkCommandBufferBeginInfo, VkFlags flags; const void* pInheritanceInfo;);
VK_INFO(VkSubmitInfo, uint32_t waitSemaphoreCount; const void* pWaitSemaphores; const VkFlags* pWaitDstStageMask;
        uint32_t commandBufferCount; const VkCommandBuffer* pCommandBuffers; uint32_t signalSemaphoreCount;
        const void* pSignalSemaphores;);
static_assert(sizeof(VkDeviceCreateInfo) == 72 && sizeof(VkComputePipelineCreateInfo) == 96, "as in C");

struct VkPhysicalDeviceProperties {
    uint32_t apiVersion, driverVersion, vendorID, deviceID, deviceType;
    char deviceName[256];
    uint8_t pipelineCacheUUID[16];
    uint64_t limitsAndSparseProperties[66];
};
struct VkQueueFamilyProperties {
    VkFlags queueFlags;
    uint32_t queueCount, timestampValidBits, minImageTransferGranularity[3];
};

#define VK_FUNCTION(result, name, ...) typedef result (*PFN_##name)(__VA_ARGS__)
VK_FUNCTION(void*, vkGetInstanceProcAddr, VkInstance, const char*);
VK_FUNCTION(VkResult, vkCreateInstance, const VkInstanceCreateInfo*, const void*, VkInstance*);
VK_FUNCTION(void, vkDestroyInstance, VkInstance, const void*);
VK_FUNCTION(VkResult, vkEnumeratePhysicalDevices, VkInstance, uint32_t*, VkPhysicalDevice*);
VK_FUNCTION(void, vkGetPhysicalDeviceProperties, VkPhysicalDevice, VkPhysicalDeviceProperties*);
VK_FUNCTION(void, vkGetPhysicalDeviceQueueFamilyProperties, VkPhysicalDevice, uint32_t*, VkQueueFamilyProperties*);
VK_FUNCTION(VkResult, vkCreateDevice, VkPhysicalDevice, const VkDeviceCreateInfo*, const void*, VkDevice*);
VK_FUNCTION(void, vkDestroyDevice, VkDevice, const void*);
VK_FUNCTION(void, vkGetDeviceQueue, VkDevice, uint32_t, uint32_t, VkQueue*);
VK_FUNCTION(VkResult, vkCreatePipelineCache, VkDevice, const VkPipelineCacheCreateInfo*, const void*, VkPipelineCache*);
VK_FUNCTION(VkResult, vkGetPipelineCacheData, VkDevice, VkPipelineCache, size_t*, void*);
VK_FUNCTION(void, vkDestroyPipelineCache, VkDevice, VkPipelineCache, const void*);
VK_FUNCTION(VkResult, vkCreateShaderModule, VkDevice, const VkShaderModuleCreateInfo*, const void*, VkShaderModule*);
VK_FUNCTION(void, vkDestroyShaderModule, VkDevice, VkShaderModule, const void*);
VK_FUNCTION(VkResult, vkCreatePipelineLayout, VkDevice, const VkPipelineLayoutCreateInfo*, const void*,
            VkPipelineLayout*);
VK_FUNCTION(void, vkDestroyPipelineLayout, VkDevice, VkPipelineLayout, const void*);
VK_FUNCTION(VkResult, vkCreateComputePipelines, VkDevice, VkPipelineCache, uint32_t, const VkComputePipelineCreateInfo*,
            const void*, VkPipeline*);
VK_FUNCTION(void, vkDestroyPipeline, VkDevice, VkPipeline, const void*);
VK_FUNCTION(VkResult, vkCreateCommandPool, VkDevice, const VkCommandPoolCreateInfo*, const void*, VkCommandPool*);
VK_FUNCTION(void, vkDestroyCommandPool, VkDevice, VkCommandPool, const void*);
VK_FUNCTION(VkResult, vkAllocateCommandBuffers, VkDevice, const VkCommandBufferAllocateInfo*, VkCommandBuffer*);
VK_FUNCTION(VkResult, vkBeginCommandBuffer, VkCommandBuffer, const VkCommandBufferBeginInfo*);
VK_FUNCTION(VkResult, vkEndCommandBuffer, VkCommandBuffer);
VK_FUNCTION(void, vkCmdBindPipeline, VkCommandBuffer, VkPipelineBindPoint, VkPipeline);
VK_FUNCTION(void, vkCmdDispatch, VkCommandBuffer, uint32_t, uint32_t, uint32_t);
VK_FUNCTION(VkResult, vkQueueSubmit, VkQueue, uint32_t, const VkSubmitInfo*, VkFence);
VK_FUNCTION(VkResult, vkQueueWaitIdle, VkQueue);
