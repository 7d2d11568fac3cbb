// Draws into images off screen, and makes the pipelines for it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "scene.h"
#include "vk_graphics.h"

namespace pipeline_warmup_vk {

struct DrawCall {
    VkPipeline pipeline = nullptr;
    Factory factory = Factory::rock;
    std::array<float, 4> placement{};
};
using DrawList = std::array<std::vector<DrawCall>, pass_count>; ///< By pass.

/// Images, and commands that draw into them.
/// A thread has its own.
class Canvas {
public:
    Canvas(const Vulkan& vulkan, const VkGraphics& graphics, std::uint32_t width, std::uint32_t height);
    ~Canvas();
    Canvas(const Canvas&) = delete;
    Canvas& operator=(const Canvas&) = delete;

private:
    friend class Renderer;
    struct Image {
        VkImage image = nullptr;
        VkDeviceMemory memory = nullptr;
        VkImageView view = nullptr;
    };
    Image make_image(std::uint32_t format, VkFlags usage, VkFlags aspect) const;
    void release();

    const Vulkan& vulkan;
    const VkGraphics& graphics;
    std::uint32_t width, height;
    Image colour, depth, shadow;
    VkCommandPool pool = nullptr;
    VkCommandBuffer commands = nullptr;
    VkFence fence = nullptr;
};

class Renderer {
public:
    Renderer(const Vulkan& vulkan, const Scene& scene);
    ~Renderer();
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;

    /// Creates a pipeline from its description alone; null if the driver refuses. Threads: any.
    VkPipeline create(const State& state, const std::vector<const Shader*>& shaders) const;
    void destroy(VkPipeline pipeline) const;
    /// Draws one triangle with a pipeline, and waits. Drivers compile on at the first draw. Threads: any.
    void warm_up(const State& state, VkPipeline pipeline) const;
    /// Draws a frame, and waits for it.
    void draw(const DrawList& list) const;

private:
    struct Mesh {
        VkBuffer buffer = nullptr;
        VkDeviceMemory memory = nullptr;
    };
    void load_functions();
    void make_layout();
    Mesh make_mesh(Factory factory) const;
    VkShaderModule make_module(const Shader& shader) const;
    void record_pass(const Canvas& canvas, Pass pass, const std::vector<DrawCall>& calls, std::uint32_t vertices) const;
    void begin(const Canvas& canvas) const;
    void submit(const Canvas& canvas) const;
    void release();

    const Vulkan& vulkan;
    const Scene& scene;
    VkGraphics graphics;
    VkPipelineLayout layout = nullptr;
    std::array<Mesh, factories> meshes{};
    mutable std::mutex queue, warming;
    std::unique_ptr<Canvas> screen, small;
};

} // namespace pipeline_warmup_vk
