#include "renderer.h"

#include <cstring>
#include <random>
#include <stdexcept>

namespace pipeline_warmup_vk {

namespace {

constexpr std::uint32_t screen_width = 320, screen_height = 180, small_size = 64;
constexpr std::uint32_t vertices = 6 * 64; // a grid of 8 x 8 squares
constexpr std::uint64_t patience_ns = 60'000'000'000;

VkFlags cull_of(Cull cull) {
    return cull == Cull::front ? VK_CULL_MODE_FRONT_BIT : cull == Cull::back ? VK_CULL_MODE_BACK_BIT : 0;
}

VkPipelineColorBlendAttachmentState blend_of(Blend blend) {
    VkPipelineColorBlendAttachmentState state;
    state.blendEnable = blend != Blend::opaque;
    state.srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA;
    state.dstColorBlendFactor = blend == Blend::additive ? VK_BLEND_FACTOR_ONE : VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
    state.srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE;
    return state;
}

/// Formats of 1 to 4 floats are three numbers apart.
std::uint32_t format_of(std::uint32_t components) { return VK_FORMAT_R32_SFLOAT + 3 * (components - 1); }

} // namespace

// ---- Canvas ----

Canvas::Canvas(const Vulkan& the_vulkan, const VkGraphics& the_graphics, std::uint32_t the_width, std::uint32_t the_height)
    : vulkan(the_vulkan), graphics(the_graphics), width(the_width), height(the_height) {
    try {
        colour = make_image(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, VK_IMAGE_ASPECT_COLOR_BIT);
        depth = make_image(VK_FORMAT_D32_SFLOAT, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, VK_IMAGE_ASPECT_DEPTH_BIT);
        shadow = make_image(VK_FORMAT_D16_UNORM, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, VK_IMAGE_ASPECT_DEPTH_BIT);
        VkCommandPoolCreateInfo desc;
        desc.queueFamilyIndex = vulkan.queue_family;
        check(vulkan.api.CreateCommandPool(vulkan.device, &desc, nullptr, &pool), "vkCreateCommandPool");
        VkCommandBufferAllocateInfo wanted;
        wanted.commandPool = pool;
        check(vulkan.api.AllocateCommandBuffers(vulkan.device, &wanted, &commands), "vkAllocateCommandBuffers");
        const VkFenceCreateInfo fence_desc;
        check(vulkan.api.CreateFence(vulkan.device, &fence_desc, nullptr, &fence), "vkCreateFence");
    } catch (...) {
        release();
        throw;
    }
}

Canvas::~Canvas() { release(); }

void Canvas::release() {
    vulkan.api.DestroyFence(vulkan.device, fence, nullptr);
    vulkan.api.DestroyCommandPool(vulkan.device, pool, nullptr);
    for (const Image& image : {colour, depth, shadow}) {
        graphics.DestroyImageView(vulkan.device, image.view, nullptr);
        graphics.DestroyImage(vulkan.device, image.image, nullptr);
        vulkan.api.FreeMemory(vulkan.device, image.memory, nullptr);
    }
}

Canvas::Image Canvas::make_image(std::uint32_t format, VkFlags usage, VkFlags aspect) const {
    Image made;
    VkImageCreateInfo desc;
    desc.format = format;
    desc.width = width;
    desc.height = height;
    desc.usage = usage;
    check(graphics.CreateImage(vulkan.device, &desc, nullptr, &made.image), "vkCreateImage");
    VkMemoryRequirements needs;
    graphics.GetImageMemoryRequirements(vulkan.device, made.image, &needs);
    VkMemoryAllocateInfo wanted;
    wanted.allocationSize = needs.size;
    wanted.memoryTypeIndex = vulkan.any_memory(needs.memoryTypeBits);
    check(vulkan.api.AllocateMemory(vulkan.device, &wanted, nullptr, &made.memory), "vkAllocateMemory");
    check(graphics.BindImageMemory(vulkan.device, made.image, made.memory, 0), "vkBindImageMemory");
    VkImageViewCreateInfo view;
    view.image = made.image;
    view.format = format;
    view.subresourceRange.aspectMask = aspect;
    check(graphics.CreateImageView(vulkan.device, &view, nullptr, &made.view), "vkCreateImageView");
    return made;
}

// ---- Pipelines ----

Renderer::Renderer(const Vulkan& the_vulkan, const Scene& the_scene) : vulkan(the_vulkan), scene(the_scene) {
    load_functions();
    try {
        make_layout();
        for (std::uint32_t factory = 0; factory < factories; ++factory)
            meshes[factory] = make_mesh(static_cast<Factory>(factory));
        screen = std::make_unique<Canvas>(vulkan, graphics, screen_width, screen_height);
        small = std::make_unique<Canvas>(vulkan, graphics, small_size, small_size);
    } catch (...) {
        release();
        throw;
    }
}

Renderer::~Renderer() { release(); }

void Renderer::release() {
    (void)vulkan.api.DeviceWaitIdle(vulkan.device);
    screen.reset();
    small.reset();
    for (const Mesh& mesh : meshes) {
        vulkan.api.DestroyBuffer(vulkan.device, mesh.buffer, nullptr);
        vulkan.api.FreeMemory(vulkan.device, mesh.memory, nullptr);
    }
    vulkan.api.DestroyPipelineLayout(vulkan.device, layout, nullptr);
}

void Renderer::load_functions() {
    const auto load = [&](auto& function, const char* name) {
        void* const address = vulkan.api.GetDeviceProcAddr(vulkan.device, name);
        if (address == nullptr) throw std::runtime_error(std::string("the Vulkan device lacks ") + name);
        std::memcpy(&function, &address, sizeof function);
    };
#define WARMUP_LOAD(result, name, arguments) load(graphics.name, "vk" #name);
    WARMUP_VK_FUNCTIONS(WARMUP_LOAD)
#undef WARMUP_LOAD
}

void Renderer::make_layout() {
    const VkPushConstantRange placement;
    VkPipelineLayoutCreateInfo desc;
    desc.setLayoutCount = 0;
    desc.pushConstantRangeCount = 1;
    desc.pPushConstantRanges = &placement;
    check(vulkan.api.CreatePipelineLayout(vulkan.device, &desc, nullptr, &layout), "vkCreatePipelineLayout");
}

/// A grid from -1 to 1 in x and y. The attributes beside the position are noise.
Renderer::Mesh Renderer::make_mesh(Factory factory) const {
    constexpr int side = 8, corners[6][2] = {{0, 0}, {1, 0}, {0, 1}, {0, 1}, {1, 0}, {1, 1}};
    std::vector<float> floats;
    std::mt19937 random(static_cast<std::uint32_t>(factory));
    std::size_t more = 0;
    for (const Attribute& attribute : attributes_of(factory)) more += attribute.components;
    for (int square = 0; square < side * side; ++square)
        for (const auto& corner : corners) {
            const int x = square % side + corner[0], y = square / side + corner[1];
            floats.insert(floats.end(), {2.0f * static_cast<float>(x) / side - 1, 2.0f * static_cast<float>(y) / side - 1, 0});
            for (std::size_t i = 3; i < more; ++i) floats.push_back(static_cast<float>(random() % 256) / 255);
        }
    Mesh mesh;
    VkBufferCreateInfo desc;
    desc.size = floats.size() * sizeof(float);
    desc.usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT;
    check(vulkan.api.CreateBuffer(vulkan.device, &desc, nullptr, &mesh.buffer), "vkCreateBuffer");
    VkMemoryRequirements needs;
    vulkan.api.GetBufferMemoryRequirements(vulkan.device, mesh.buffer, &needs);
    VkMemoryAllocateInfo wanted;
    wanted.allocationSize = needs.size;
    wanted.memoryTypeIndex = vulkan.host_memory(needs.memoryTypeBits);
    check(vulkan.api.AllocateMemory(vulkan.device, &wanted, nullptr, &mesh.memory), "vkAllocateMemory");
    check(vulkan.api.BindBufferMemory(vulkan.device, mesh.buffer, mesh.memory, 0), "vkBindBufferMemory");
    void* mapped = nullptr;
    check(vulkan.api.MapMemory(vulkan.device, mesh.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    std::memcpy(mapped, floats.data(), floats.size() * sizeof(float));
    return mesh;
}

VkShaderModule Renderer::make_module(const Shader& shader) const {
    VkShaderModuleCreateInfo desc;
    desc.codeSize = shader.words.size() * sizeof shader.words[0];
    desc.pCode = shader.words.data();
    VkShaderModule module = nullptr;
    check(vulkan.api.CreateShaderModule(vulkan.device, &desc, nullptr, &module), "vkCreateShaderModule");
    return module;
}

VkPipeline Renderer::create(const State& state, const std::vector<const Shader*>& shaders) const {
    VkVertexInputBindingDescription binding;
    binding.stride = state.stride * static_cast<std::uint32_t>(sizeof(float));
    std::vector<VkVertexInputAttributeDescription> attributes;
    std::uint32_t offset = 0;
    for (const Attribute& attribute : state.attributes) {
        attributes.push_back({attribute.location, 0, format_of(attribute.components), offset});
        offset += attribute.components * static_cast<std::uint32_t>(sizeof(float));
    }
    VkPipelineVertexInputStateCreateInfo input;
    input.pVertexBindingDescriptions = &binding;
    input.vertexAttributeDescriptionCount = static_cast<std::uint32_t>(attributes.size());
    input.pVertexAttributeDescriptions = attributes.data();
    const VkPipelineInputAssemblyStateCreateInfo assembly;
    const VkPipelineViewportStateCreateInfo viewport;
    VkPipelineRasterizationStateCreateInfo raster;
    raster.cullMode = cull_of(state.cull);
    raster.depthBiasEnable = state.pass == Pass::shadow;
    raster.depthBiasConstantFactor = 2;
    const VkPipelineMultisampleStateCreateInfo samples;
    VkPipelineDepthStencilStateCreateInfo depth;
    depth.depthWriteEnable = state.blend == Blend::opaque;
    const VkPipelineColorBlendAttachmentState attachment = blend_of(state.blend);
    VkPipelineColorBlendStateCreateInfo blend;
    blend.attachmentCount = state.pass == Pass::main;
    blend.pAttachments = &attachment;
    const std::uint32_t dynamic_states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    VkPipelineDynamicStateCreateInfo dynamic;
    dynamic.dynamicStateCount = 2;
    dynamic.pDynamicStates = dynamic_states;
    VkPipelineRenderingCreateInfo formats;
    formats.colorAttachmentCount = state.pass == Pass::main;
    formats.pColorAttachmentFormats = &VK_FORMAT_R8G8B8A8_UNORM;
    formats.depthAttachmentFormat = state.pass == Pass::shadow ? VK_FORMAT_D16_UNORM : VK_FORMAT_D32_SFLOAT;

    std::vector<VkPipelineShaderStageCreateInfo> stages;
    for (const Shader* shader : shaders) {
        VkPipelineShaderStageCreateInfo stage;
        stage.stage = shader->stage == HOB_SHADER_STAGE_VERTEX ? VK_SHADER_STAGE_VERTEX_BIT : VK_SHADER_STAGE_FRAGMENT_BIT;
        stage.module = make_module(*shader);
        stages.push_back(stage);
    }
    VkGraphicsPipelineCreateInfo desc;
    desc.pNext = &formats;
    desc.stageCount = static_cast<std::uint32_t>(stages.size());
    desc.pStages = stages.data();
    desc.pVertexInputState = &input;
    desc.pInputAssemblyState = &assembly;
    desc.pViewportState = &viewport;
    desc.pRasterizationState = &raster;
    desc.pMultisampleState = &samples;
    desc.pDepthStencilState = &depth;
    desc.pColorBlendState = &blend;
    desc.pDynamicState = &dynamic;
    desc.layout = layout;
    VkPipeline pipeline = nullptr;
    const VkResult result = graphics.CreateGraphicsPipelines(vulkan.device, nullptr, 1, &desc, nullptr, &pipeline);
    for (const VkPipelineShaderStageCreateInfo& stage : stages)
        vulkan.api.DestroyShaderModule(vulkan.device, stage.module, nullptr);
    return result == VK_SUCCESS ? pipeline : nullptr;
}

void Renderer::destroy(VkPipeline pipeline) const { vulkan.api.DestroyPipeline(vulkan.device, pipeline, nullptr); }

// ---- Drawing ----

void Renderer::begin(const Canvas& canvas) const {
    const VkCommandBufferBeginInfo begin;
    check(vulkan.api.BeginCommandBuffer(canvas.commands, &begin), "vkBeginCommandBuffer");
    VkImageMemoryBarrier barriers[3];
    const Canvas::Image* const images[3] = {&canvas.colour, &canvas.depth, &canvas.shadow};
    for (std::size_t i = 0; i < 3; ++i) {
        barriers[i].newLayout =
            i == 0 ? VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL : VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
        barriers[i].image = images[i]->image;
        barriers[i].subresourceRange.aspectMask = i == 0 ? VK_IMAGE_ASPECT_COLOR_BIT : VK_IMAGE_ASPECT_DEPTH_BIT;
    }
    vulkan.api.CmdPipelineBarrier(canvas.commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT, 0, 0,
                                  nullptr, 0, nullptr, 3, barriers);
}

void Renderer::record_pass(const Canvas& canvas, Pass pass, const std::vector<DrawCall>& calls, std::uint32_t count) const {
    VkMemoryBarrier written;
    written.srcAccessMask = written.dstAccessMask = VK_ACCESS_ATTACHMENTS;
    vulkan.api.CmdPipelineBarrier(canvas.commands, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT, VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT, 0, 1,
                                  &written, 0, nullptr, 0, nullptr);
    VkRenderingAttachmentInfo colour, depth;
    colour.imageView = canvas.colour.view;
    colour.imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    depth.imageView = pass == Pass::shadow ? canvas.shadow.view : canvas.depth.view;
    depth.imageLayout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
    depth.loadOp = pass == Pass::main ? VK_ATTACHMENT_LOAD_OP_LOAD : VK_ATTACHMENT_LOAD_OP_CLEAR;
    depth.clearValue[0] = 1;
    VkRenderingInfo rendering;
    rendering.renderArea.width = canvas.width;
    rendering.renderArea.height = canvas.height;
    rendering.colorAttachmentCount = pass == Pass::main;
    rendering.pColorAttachments = &colour;
    rendering.pDepthAttachment = &depth;
    VkViewport viewport;
    viewport.width = static_cast<float>(canvas.width);
    viewport.height = static_cast<float>(canvas.height);
    graphics.CmdBeginRendering(canvas.commands, &rendering);
    graphics.CmdSetViewport(canvas.commands, 0, 1, &viewport);
    graphics.CmdSetScissor(canvas.commands, 0, 1, &rendering.renderArea);
    for (const DrawCall& call : calls) {
        const VkDeviceSize start = 0;
        vulkan.api.CmdBindPipeline(canvas.commands, VK_PIPELINE_BIND_POINT_GRAPHICS, call.pipeline);
        graphics.CmdBindVertexBuffers(canvas.commands, 0, 1, &meshes[static_cast<std::size_t>(call.factory)].buffer, &start);
        graphics.CmdPushConstants(canvas.commands, layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof call.placement,
                                  call.placement.data());
        graphics.CmdDraw(canvas.commands, count, 1, 0, 0);
    }
    graphics.CmdEndRendering(canvas.commands);
}

void Renderer::submit(const Canvas& canvas) const {
    check(vulkan.api.EndCommandBuffer(canvas.commands), "vkEndCommandBuffer");
    VkSubmitInfo submit;
    submit.pCommandBuffers = &canvas.commands;
    {
        const std::lock_guard<std::mutex> lock(queue);
        check(vulkan.api.QueueSubmit(vulkan.queue, 1, &submit, canvas.fence), "vkQueueSubmit");
    }
    check(vulkan.api.WaitForFences(vulkan.device, 1, &canvas.fence, 1, patience_ns), "vkWaitForFences");
    check(vulkan.api.ResetFences(vulkan.device, 1, &canvas.fence), "vkResetFences");
}

void Renderer::warm_up(const State& state, VkPipeline pipeline) const {
    Factory factory = Factory::rock;
    for (std::uint32_t i = 0; i < factories; ++i) {
        std::size_t floats = 0;
        for (const Attribute& attribute : attributes_of(static_cast<Factory>(i))) floats += attribute.components;
        if (floats == state.stride) factory = static_cast<Factory>(i);
    }
    const std::lock_guard<std::mutex> lock(warming);
    begin(*small);
    // A depth image that is loaded must have been cleared before.
    if (state.pass == Pass::main) record_pass(*small, Pass::depth, {}, 0);
    record_pass(*small, state.pass, {{pipeline, factory, {0, 0, 1, 0.5f}}}, vertices);
    submit(*small);
}

void Renderer::draw(const DrawList& list) const {
    begin(*screen);
    for (std::size_t pass = 0; pass < pass_count; ++pass)
        record_pass(*screen, static_cast<Pass>(pass), list[pass], vertices);
    submit(*screen);
}

} // namespace pipeline_warmup_vk
