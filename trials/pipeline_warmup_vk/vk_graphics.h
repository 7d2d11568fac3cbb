// The part of Vulkan 1.3 that draws, declared by hand as in common/vk_api.h.
#pragma once

#include "../common/vulkan.h"

namespace pipeline_warmup_vk {

using namespace trials; // NOLINT: all names of Vulkan begin with Vk

using VkImage = VkObject<32>*;
using VkImageView = VkObject<33>*;

inline constexpr VkFlags VK_SHADER_STAGE_VERTEX_BIT = 1, VK_SHADER_STAGE_FRAGMENT_BIT = 0x10, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT = 0x80,
                         VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT = 0x10, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT = 0x20,
                         VK_IMAGE_ASPECT_COLOR_BIT = 1, VK_IMAGE_ASPECT_DEPTH_BIT = 2, VK_CULL_MODE_FRONT_BIT = 1,
                         VK_CULL_MODE_BACK_BIT = 2, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT = 0x8000,
                         VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT = 1, VK_ACCESS_ATTACHMENTS = 0x80 | 0x100 | 0x200 | 0x400,
                         VK_COLOR_COMPONENTS_RGBA = 15;
inline constexpr std::uint32_t VK_FORMAT_R8G8B8A8_UNORM = 37, VK_FORMAT_R32_SFLOAT = 100, VK_FORMAT_D16_UNORM = 124,
                               VK_FORMAT_D32_SFLOAT = 126, VK_IMAGE_TYPE_2D = 1, VK_IMAGE_LAYOUT_UNDEFINED = 0,
                               VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL = 2,
                               VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL = 3, VK_ATTACHMENT_LOAD_OP_LOAD = 0,
                               VK_ATTACHMENT_LOAD_OP_CLEAR = 1, VK_PIPELINE_BIND_POINT_GRAPHICS = 0,
                               VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST = 3, VK_COMPARE_OP_LESS_OR_EQUAL = 3,
                               VK_DYNAMIC_STATE_VIEWPORT = 0, VK_DYNAMIC_STATE_SCISSOR = 1, VK_BLEND_FACTOR_ONE = 1,
                               VK_BLEND_FACTOR_SRC_ALPHA = 6, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA = 7;

struct VkSubresourceRange { VkFlags aspectMask = 0; std::uint32_t baseMipLevel = 0, levelCount = 1, baseArrayLayer = 0, layerCount = 1; };
struct VkImageCreateInfo : VkTyped<14> {
    VkFlags flags = 0;
    std::uint32_t imageType = VK_IMAGE_TYPE_2D, format = 0, width = 0, height = 0, depth = 1, mipLevels = 1, arrayLayers = 1,
                  samples = 1, tiling = 0;
    VkFlags usage = 0;
    std::uint32_t sharingMode = 0, queueFamilyIndexCount = 0;
    const std::uint32_t* pQueueFamilyIndices = nullptr;
    std::uint32_t initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;
};
struct VkImageViewCreateInfo : VkTyped<15> {
    VkFlags flags = 0;
    VkImage image = nullptr;
    std::uint32_t viewType = VK_IMAGE_TYPE_2D, format = 0, components[4] = {};
    VkSubresourceRange subresourceRange;
};
struct VkImageMemoryBarrier : VkTyped<45> {
    VkFlags srcAccessMask = 0, dstAccessMask = VK_ACCESS_ATTACHMENTS;
    std::uint32_t oldLayout = VK_IMAGE_LAYOUT_UNDEFINED, newLayout = 0, srcQueueFamilyIndex = ~0u, dstQueueFamilyIndex = ~0u;
    VkImage image = nullptr;
    VkSubresourceRange subresourceRange;
};

struct VkRenderingAttachmentInfo : VkTyped<1000044001> {
    VkImageView imageView = nullptr;
    std::uint32_t imageLayout = 0, resolveMode = 0;
    VkImageView resolveImageView = nullptr;
    std::uint32_t resolveImageLayout = 0, loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, storeOp = 0;
    float clearValue[4] = {};
};
struct VkRect2D { std::int32_t x = 0, y = 0; std::uint32_t width = 0, height = 0; };
struct VkViewport { float x = 0, y = 0, width = 0, height = 0, minDepth = 0, maxDepth = 1; };
struct VkRenderingInfo : VkTyped<1000044000> {
    VkFlags flags = 0;
    VkRect2D renderArea;
    std::uint32_t layerCount = 1, viewMask = 0, colorAttachmentCount = 0;
    const VkRenderingAttachmentInfo* pColorAttachments = nullptr;
    const VkRenderingAttachmentInfo* pDepthAttachment = nullptr;
    const VkRenderingAttachmentInfo* pStencilAttachment = nullptr;
};

struct VkPushConstantRange { VkFlags stageFlags = VK_SHADER_STAGE_VERTEX_BIT; std::uint32_t offset = 0, size = 16; };
struct VkVertexInputBindingDescription { std::uint32_t binding = 0, stride = 0, inputRate = 0; };
struct VkVertexInputAttributeDescription { std::uint32_t location = 0, binding = 0, format = 0, offset = 0; };
struct VkPipelineVertexInputStateCreateInfo : VkTyped<19> {
    VkFlags flags = 0;
    std::uint32_t vertexBindingDescriptionCount = 1;
    const VkVertexInputBindingDescription* pVertexBindingDescriptions = nullptr;
    std::uint32_t vertexAttributeDescriptionCount = 0;
    const VkVertexInputAttributeDescription* pVertexAttributeDescriptions = nullptr;
};
struct VkPipelineInputAssemblyStateCreateInfo : VkTyped<20> {
    VkFlags flags = 0;
    std::uint32_t topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    VkBool32 primitiveRestartEnable = 0;
};
struct VkPipelineViewportStateCreateInfo : VkTyped<22> {
    VkFlags flags = 0;
    std::uint32_t viewportCount = 1;
    const VkViewport* pViewports = nullptr;
    std::uint32_t scissorCount = 1;
    const VkRect2D* pScissors = nullptr;
};
struct VkPipelineRasterizationStateCreateInfo : VkTyped<23> {
    VkFlags flags = 0;
    VkBool32 depthClampEnable = 0, rasterizerDiscardEnable = 0;
    std::uint32_t polygonMode = 0;
    VkFlags cullMode = 0;
    std::uint32_t frontFace = 0;
    VkBool32 depthBiasEnable = 0;
    float depthBiasConstantFactor = 0, depthBiasClamp = 0, depthBiasSlopeFactor = 0, lineWidth = 1;
};
struct VkPipelineMultisampleStateCreateInfo : VkTyped<24> {
    VkFlags flags = 0;
    std::uint32_t rasterizationSamples = 1;
    VkBool32 sampleShadingEnable = 0;
    float minSampleShading = 0;
    const std::uint32_t* pSampleMask = nullptr;
    VkBool32 alphaToCoverageEnable = 0, alphaToOneEnable = 0;
};
struct VkPipelineDepthStencilStateCreateInfo : VkTyped<25> {
    VkFlags flags = 0;
    VkBool32 depthTestEnable = 1, depthWriteEnable = 1;
    std::uint32_t depthCompareOp = VK_COMPARE_OP_LESS_OR_EQUAL;
    VkBool32 depthBoundsTestEnable = 0, stencilTestEnable = 0;
    std::uint32_t front[7] = {}, back[7] = {};
    float minDepthBounds = 0, maxDepthBounds = 1;
};
struct VkPipelineColorBlendAttachmentState {
    VkBool32 blendEnable = 0;
    std::uint32_t srcColorBlendFactor = 0, dstColorBlendFactor = 0, colorBlendOp = 0, srcAlphaBlendFactor = 0,
                  dstAlphaBlendFactor = 0, alphaBlendOp = 0;
    VkFlags colorWriteMask = VK_COLOR_COMPONENTS_RGBA;
};
struct VkPipelineColorBlendStateCreateInfo : VkTyped<26> {
    VkFlags flags = 0;
    VkBool32 logicOpEnable = 0;
    std::uint32_t logicOp = 0, attachmentCount = 0;
    const VkPipelineColorBlendAttachmentState* pAttachments = nullptr;
    float blendConstants[4] = {};
};
struct VkPipelineDynamicStateCreateInfo : VkTyped<27> {
    VkFlags flags = 0;
    std::uint32_t dynamicStateCount = 0;
    const std::uint32_t* pDynamicStates = nullptr;
};
struct VkPipelineRenderingCreateInfo : VkTyped<1000044002> {
    std::uint32_t viewMask = 0, colorAttachmentCount = 0;
    const std::uint32_t* pColorAttachmentFormats = nullptr;
    std::uint32_t depthAttachmentFormat = 0, stencilAttachmentFormat = 0;
};
struct VkGraphicsPipelineCreateInfo : VkTyped<28> {
    VkFlags flags = 0;
    std::uint32_t stageCount = 0;
    const VkPipelineShaderStageCreateInfo* pStages = nullptr;
    const VkPipelineVertexInputStateCreateInfo* pVertexInputState = nullptr;
    const VkPipelineInputAssemblyStateCreateInfo* pInputAssemblyState = nullptr;
    const void* pTessellationState = nullptr;
    const VkPipelineViewportStateCreateInfo* pViewportState = nullptr;
    const VkPipelineRasterizationStateCreateInfo* pRasterizationState = nullptr;
    const VkPipelineMultisampleStateCreateInfo* pMultisampleState = nullptr;
    const VkPipelineDepthStencilStateCreateInfo* pDepthStencilState = nullptr;
    const VkPipelineColorBlendStateCreateInfo* pColorBlendState = nullptr;
    const VkPipelineDynamicStateCreateInfo* pDynamicState = nullptr;
    VkPipelineLayout layout = nullptr;
    const void* renderPass = nullptr;
    std::uint32_t subpass = 0;
    VkPipeline basePipelineHandle = nullptr;
    std::int32_t basePipelineIndex = -1;
};

static_assert(sizeof(VkImageCreateInfo) == 88 && sizeof(VkImageViewCreateInfo) == 80 && sizeof(VkImageMemoryBarrier) == 72 &&
                  sizeof(VkRenderingAttachmentInfo) == 72 && sizeof(VkRenderingInfo) == 72 &&
                  sizeof(VkPipelineVertexInputStateCreateInfo) == 48 && sizeof(VkPipelineRasterizationStateCreateInfo) == 64 &&
                  sizeof(VkPipelineMultisampleStateCreateInfo) == 48 && sizeof(VkPipelineDepthStencilStateCreateInfo) == 104 &&
                  sizeof(VkPipelineColorBlendStateCreateInfo) == 56 && sizeof(VkPipelineRenderingCreateInfo) == 40 &&
                  sizeof(VkGraphicsPipelineCreateInfo) == 144,
              "as in C");

// X(return type, name without the vk, arguments)
#define WARMUP_VK_FUNCTIONS(X)                                                                                             \
    X(VkResult, CreateImage, (VkDevice, const VkImageCreateInfo*, const void*, VkImage*))                                   \
    X(void, DestroyImage, (VkDevice, VkImage, const void*))                                                                 \
    X(void, GetImageMemoryRequirements, (VkDevice, VkImage, VkMemoryRequirements*))                                         \
    X(VkResult, BindImageMemory, (VkDevice, VkImage, VkDeviceMemory, VkDeviceSize))                                         \
    X(VkResult, CreateImageView, (VkDevice, const VkImageViewCreateInfo*, const void*, VkImageView*))                       \
    X(void, DestroyImageView, (VkDevice, VkImageView, const void*))                                                         \
    X(VkResult, CreateGraphicsPipelines, (VkDevice, VkPipelineCache, std::uint32_t, const VkGraphicsPipelineCreateInfo*,    \
                                          const void*, VkPipeline*))                                                        \
    X(void, CmdBeginRendering, (VkCommandBuffer, const VkRenderingInfo*))                                                   \
    X(void, CmdEndRendering, (VkCommandBuffer))                                                                             \
    X(void, CmdSetViewport, (VkCommandBuffer, std::uint32_t, std::uint32_t, const VkViewport*))                             \
    X(void, CmdSetScissor, (VkCommandBuffer, std::uint32_t, std::uint32_t, const VkRect2D*))                                \
    X(void, CmdBindVertexBuffers, (VkCommandBuffer, std::uint32_t, std::uint32_t, const VkBuffer*, const VkDeviceSize*))    \
    X(void, CmdPushConstants, (VkCommandBuffer, VkPipelineLayout, VkFlags, std::uint32_t, std::uint32_t, const void*))      \
    X(void, CmdDraw, (VkCommandBuffer, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t))

struct VkGraphics {
#define WARMUP_DECLARE(result, name, arguments) result(*name) arguments = nullptr;
    WARMUP_VK_FUNCTIONS(WARMUP_DECLARE)
#undef WARMUP_DECLARE
};

} // namespace pipeline_warmup_vk
