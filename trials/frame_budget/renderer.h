// The interface of a renderer: it draws a frame with given choices, and some frames later returns the time of each pass
// of that frame. gl_renderer.cpp (EGL and GL) and soft_renderer.cpp (plain C++ threads) implement it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scene.h"
#include "settings.h"

namespace frame_budget {

/// The passes, in the order in which they run.
/// Each is timed on its own.
enum PassIndex : std::size_t {
    pass_change,    ///< Memory for the targets of a changed choice: shadows, resolution, antialiasing.
    pass_shadow,    ///< Depth from the sun. Driven by `shadows`, and by the number of objects.
    pass_ground,    ///< Terrain into the geometry buffer.
    pass_objects,   ///< Houses, trees, rocks. Driven by `detail`, and by the objects in view.
    pass_grass,     ///< Driven by `grass`.
    pass_resolve,   ///< Many samples to one. Driven by `antialiasing`.
    pass_occlusion, ///< Ambient occlusion into a buffer of a fixed size. Driven by `occlusion`.
    pass_mirror, ///< Hills and objects upside down, for the lake. Driven by `reflections`, and by the objects in view.
    pass_lighting,  ///< Sun, sky, water, fog for every pixel. Driven by `resolution`.
    pass_mist,      ///< The heavy effect: sunlit mist, marched through the shadow map. The scene's script decides.
    pass_glow,      ///< Driven by `glow`.
    pass_composite, ///< To the output's size, tone mapped.
    pass_count
};
inline constexpr std::array<const char*, pass_count> pass_names{
    "change", "shadow", "ground", "objects", "grass", "resolve", "occlusion", "mirror", "lighting", "mist", "glow", "composite"};

/// As `FrameTag::contestant`: the frame belongs to no one.
inline constexpr std::size_t picture_only = ~std::size_t{0};

/// The identity of a frame: travels with the timer queries and returns with their results.
struct FrameTag {
    std::size_t contestant = 0;
    int index = 0;
    std::uint64_t decision = 0;
    Choices choices{};
};

struct FrameTimes {
    FrameTag tag;
    double total_ms = 0;
    bool is_disjoint = false; ///< The GPU's clock jumped (it slept, or changed its speed): the times are invalid.
    std::array<double, pass_count> pass_ms{}; ///< 0 for a pass that did not run. Their sum is at most the total.
};

struct Image {
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgb; ///< Top row first.
};

/// Stronger mist takes more steps, in four sizes of march: its cost is in proportion to them.
inline constexpr std::array<int, 4> mist_steps{6, 12, 18, 24};
inline int mist_step_count(float mist) {
    return mist <= 0 ? 0 : mist_steps[std::min<std::size_t>(static_cast<std::size_t>(mist * 4), mist_steps.size() - 1)];
}

class Renderer {
public:
    virtual ~Renderer() = default;
    virtual std::string description() const = 0;
    virtual std::string clock() const = 0; ///< The source of `total_ms`, in words.
    virtual float aspect() const = 0;      ///< Width over height.
    /// Allocates the memory for these choices now, outside a timed frame.
    virtual void prepare(const Choices& choices) = 0;
    virtual void render(const SceneFrame& frame, const Choices& choices, const FrameTag& tag) = 0;
    /// Takes the oldest frame whose times have arrived, in order; false without one.
    virtual bool poll(FrameTimes& times) = 0;
    /// Waits until all frames are done, so that `poll` can hand out the rest.
    virtual void finish() = 0;
    virtual Image read_image() = 0; ///< The last frame's picture.
};

struct RendererOptions {
    int width = 0, height = 0; ///< Both 0: the renderer's own choice.
    std::string device = "auto";
    bool only_es = false;
    bool use_processor_time = false; ///< Without a graphics card: instead of wall time.
};

/// Returns nullptr and a reason without a suitable EGL driver.
std::unique_ptr<Renderer> make_gl_renderer(const Scene& scene, const RendererOptions& options, std::string& reason);
std::unique_ptr<Renderer> make_soft_renderer(const Scene& scene, const RendererOptions& options);

} // namespace frame_budget
