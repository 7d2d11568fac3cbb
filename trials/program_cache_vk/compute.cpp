#include "compute.h"

#include <csignal>

namespace program_cache_vk {

namespace {

constexpr std::uint32_t groups = 4, number_count = groups * Kernel::group_size;
/// Reads data that may grow between two calls: repeats until they are complete.
template <typename Get> Bytes all_bytes(const Get& get, const char* call) {
    Bytes bytes;
    for (VkResult result = VK_INCOMPLETE; result == VK_INCOMPLETE;) {
        std::size_t size = 0;
        check(get(&size, nullptr), call);
        bytes.resize(size);
        result = get(&size, bytes.data());
        if (result != VK_INCOMPLETE) check(result, call);
        bytes.resize(size);
    }
    return bytes;
}

std::uint32_t number_at(std::uint32_t place) { return place * 0x9e3779b9u + 1; }

} // namespace

Loaded::~Loaded() {
    if (pipeline != nullptr) vulkan->api.DestroyPipeline(vulkan->device, pipeline, nullptr);
    if (shader != nullptr) vulkan->api.DestroyShaderEXT(vulkan->device, shader, nullptr);
}

Compute::Compute(const Vulkan& the_vulkan) : vulkan(the_vulkan), api(the_vulkan.api), device(the_vulkan.device) {
    try {
        make_layout();
        make_buffer();
        make_commands();
    } catch (...) {
        release();
        throw;
    }
}

Compute::~Compute() { release(); }

void Compute::release() {
    (void)api.DeviceWaitIdle(device);
    api.DestroyFence(device, fence, nullptr);
    api.DestroyCommandPool(device, pool, nullptr);
    api.DestroyPipelineCache(device, pipelines, nullptr);
    api.DestroyBuffer(device, buffer, nullptr);
    api.FreeMemory(device, memory, nullptr);
    api.DestroyDescriptorPool(device, descriptors, nullptr);
    api.DestroyPipelineLayout(device, layout, nullptr);
    api.DestroyDescriptorSetLayout(device, set_layout, nullptr);
}

void Compute::make_layout() {
    const VkDescriptorSetLayoutBinding binding;
    VkDescriptorSetLayoutCreateInfo set_desc;
    set_desc.bindingCount = 1;
    set_desc.pBindings = &binding;
    check(api.CreateDescriptorSetLayout(device, &set_desc, nullptr, &set_layout), "vkCreateDescriptorSetLayout");
    VkPipelineLayoutCreateInfo desc;
    desc.pSetLayouts = &set_layout;
    check(api.CreatePipelineLayout(device, &desc, nullptr, &layout), "vkCreatePipelineLayout");
}

void Compute::make_buffer() {
    VkBufferCreateInfo desc;
    desc.size = number_count * sizeof(std::uint32_t);
    check(api.CreateBuffer(device, &desc, nullptr, &buffer), "vkCreateBuffer");
    VkMemoryRequirements needs;
    api.GetBufferMemoryRequirements(device, buffer, &needs);
    VkMemoryAllocateInfo wanted;
    wanted.allocationSize = needs.size;
    wanted.memoryTypeIndex = vulkan.host_memory(needs.memoryTypeBits);
    check(api.AllocateMemory(device, &wanted, nullptr, &memory), "vkAllocateMemory");
    check(api.BindBufferMemory(device, buffer, memory, 0), "vkBindBufferMemory");
    void* mapped = nullptr;
    check(api.MapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    numbers = static_cast<std::uint32_t*>(mapped);

    const VkDescriptorPoolSize size;
    VkDescriptorPoolCreateInfo pool_desc;
    pool_desc.poolSizeCount = 1;
    pool_desc.pPoolSizes = &size;
    check(api.CreateDescriptorPool(device, &pool_desc, nullptr, &descriptors), "vkCreateDescriptorPool");
    VkDescriptorSetAllocateInfo sets;
    sets.descriptorPool = descriptors;
    sets.pSetLayouts = &set_layout;
    check(api.AllocateDescriptorSets(device, &sets, &set), "vkAllocateDescriptorSets");
    VkDescriptorBufferInfo info;
    info.buffer = buffer;
    VkWriteDescriptorSet write;
    write.dstSet = set;
    write.pBufferInfo = &info;
    api.UpdateDescriptorSets(device, 1, &write, 0, nullptr);
}

void Compute::make_commands() {
    VkCommandPoolCreateInfo desc;
    desc.queueFamilyIndex = vulkan.queue_family;
    check(api.CreateCommandPool(device, &desc, nullptr, &pool), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo wanted;
    wanted.commandPool = pool;
    check(api.AllocateCommandBuffers(device, &wanted, &commands), "vkAllocateCommandBuffers");
    const VkFenceCreateInfo fence_desc;
    check(api.CreateFence(device, &fence_desc, nullptr, &fence), "vkCreateFence");
}

void Compute::begin_pipeline_cache(std::string_view data) {
    VkPipelineCacheCreateInfo desc;
    desc.initialDataSize = data.size();
    desc.pInitialData = data.data();
    VkPipelineCache made = nullptr;
    check(api.CreatePipelineCache(device, &desc, nullptr, &made), "vkCreatePipelineCache");
    pipelines = made;
}

Bytes Compute::pipeline_cache_data() const {
    return all_bytes(
        [&](std::size_t* size, void* bytes) { return api.GetPipelineCacheData(device, pipelines, size, bytes); },
        "vkGetPipelineCacheData");
}

void Compute::die_if_told() const {
    if (dies) std::raise(SIGKILL);
}

Loaded Compute::build_pipeline(const Kernel& kernel) const {
    die_if_told();
    VkShaderModuleCreateInfo module_desc;
    module_desc.codeSize = kernel.words.size() * sizeof kernel.words[0];
    module_desc.pCode = kernel.words.data();
    VkPipelineCreationFeedback feedback;
    VkPipelineCreationFeedbackCreateInfo wants_feedback;
    wants_feedback.pPipelineCreationFeedback = &feedback;
    VkComputePipelineCreateInfo desc;
    if (vulkan.identity().properties.apiVersion >= VK_API_VERSION_1_3) desc.pNext = &wants_feedback;
    desc.layout = layout;
    check(api.CreateShaderModule(device, &module_desc, nullptr, &desc.stage.module), "vkCreateShaderModule");
    Loaded loaded(vulkan);
    const VkResult result = api.CreateComputePipelines(device, pipelines, 1, &desc, nullptr, &loaded.pipeline);
    api.DestroyShaderModule(device, desc.stage.module, nullptr);
    check(result, "vkCreateComputePipelines");
    constexpr VkFlags valid_hit =
        VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT | VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT;
    loaded.was_cached = (feedback.flags & valid_hit) == valid_hit;
    return loaded;
}

Loaded Compute::create_shader(std::uint32_t code_type, const void* code, std::size_t size) const {
    VkShaderCreateInfoEXT desc;
    desc.codeType = code_type;
    desc.codeSize = size;
    desc.pCode = code;
    desc.pSetLayouts = &set_layout;
    Loaded loaded(vulkan);
    const VkResult result = api.CreateShadersEXT(device, 1, &desc, nullptr, &loaded.shader);
    if (result != VK_INCOMPATIBLE_SHADER_BINARY_EXT) check(result, "vkCreateShadersEXT");
    return loaded;
}

Loaded Compute::build_shader(const Kernel& kernel) const {
    return create_shader(VK_SHADER_CODE_TYPE_SPIRV_EXT, kernel.words.data(), kernel.words.size() * sizeof kernel.words[0]);
}

Loaded Compute::load_shader(std::string_view binary) const {
    die_if_told();
    return create_shader(VK_SHADER_CODE_TYPE_BINARY_EXT, binary.data(), binary.size());
}

Bytes Compute::binary_of(const Loaded& loaded) const {
    return all_bytes(
        [&](std::size_t* size, void* bytes) { return api.GetShaderBinaryDataEXT(device, loaded.shader, size, bytes); },
        "vkGetShaderBinaryDataEXT");
}

bool Compute::run(const Loaded& loaded, const Kernel& kernel) const {
    for (std::uint32_t place = 0; place < number_count; ++place) numbers[place] = number_at(place);
    const VkCommandBufferBeginInfo begin;
    check(api.BeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    if (loaded.shader != nullptr) {
        const VkFlags stage = VK_SHADER_STAGE_COMPUTE_BIT;
        api.CmdBindShadersEXT(commands, 1, &stage, &loaded.shader);
    } else {
        api.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, loaded.pipeline);
    }
    api.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
    api.CmdDispatch(commands, groups, 1, 1);
    const VkMemoryBarrier written;
    api.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &written, 0,
                           nullptr, 0, nullptr);
    check(api.EndCommandBuffer(commands), "vkEndCommandBuffer");
    VkSubmitInfo submit;
    submit.pCommandBuffers = &commands;
    check(api.QueueSubmit(vulkan.queue, 1, &submit, fence), "vkQueueSubmit");
    check(api.WaitForFences(device, 1, &fence, 1, UINT64_MAX), "vkWaitForFences");
    check(api.ResetFences(device, 1, &fence), "vkResetFences");
    for (std::uint32_t place = 0; place < number_count; ++place)
        if (numbers[place] != kernel(number_at(place))) return false;
    return true;
}

} // namespace program_cache_vk
