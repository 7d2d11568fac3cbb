// The same renderer without GL: the passes of shaders.h in plain C++ on all cores, for a machine that has only a
// compiler. Each pass is timed by the wall clock. The picture is smaller by default and in places simpler: no clouds,
// fog by the triangle. Geometry is in soft_renderer.cpp, light in soft_shading.cpp.
#pragma once

#include <deque>

#include "clock.h"
#include "renderer.h"
#include "soft_raster.h"

namespace frame_budget {

class SoftRenderer final : public Renderer {
public:
    SoftRenderer(const Scene& the_scene, int width, int height, bool use_processor_time);
    std::string description() const override;
    std::string clock() const override {
        return use_processor_time ? processor_clock : "wall time of a frame and of its passes";
    }
    float aspect() const override { return static_cast<float>(output.width) / static_cast<float>(output.height); }
    void prepare(const Choices& choices) override { adapt(choices); }
    void render(const SceneFrame& scene_frame, const Choices& choices, const FrameTag& tag) override;
    bool poll(FrameTimes& oldest) override;
    void finish() override {}
    Image read_image() override;

private:
    void end_pass(PassIndex pass);
    /// Allocates the memory for these choices; whether a size has changed.
    bool adapt(const Choices& choices);
    std::vector<SoftBatch> object_batches(bool only_visible, int detail_amount) const;
    void draw_shadows(int size);
    void draw_geometry(const Choices& choices);
    void draw_mirror();

    void draw_occlusion(int taps);
    void draw_light();
    void draw_mist(int steps);
    void draw_glow(int quality);
    void draw_composite(int glow_quality);
    void blur_bloom(int reach);

    Vec3 ray_at(float u, float v) const;
    Vec3 position_at(float u, float v) const;
    Vec3 noise_at(float u, float v) const { return noise.linear(u - std::floor(u), v - std::floor(v)); }
    float sunlight_at(Vec3 world, Vec3 normal) const;
    Vec3 air(Vec3 direction) const;
    Vec3 light_at(float u, float v) const;
    Vec3 water_at(Vec3 world, Vec3 direction, float u, float v, float shine) const;

    /// Fills a plane with `texel(u, v)` at the middle of each texel.
    template <typename T, typename Texel> void cover(Plane<T>& plane, const Texel& texel) {
        threads.run(plane.height, [&](int y) {
            for (int x = 0; x < plane.width; ++x)
                plane.at(x, y) = texel((static_cast<float>(x) + 0.5f) / static_cast<float>(plane.width),
                                       (static_cast<float>(y) + 0.5f) / static_cast<float>(plane.height));
        });
    }

    const Scene& scene;
    SoftThreads threads;
    SoftRaster raster;
    Vec3 sun;
    Mat4 sun_projection;
    std::array<std::array<Mesh, level_count>, kind_count> meshes;
    Mesh grass_mesh = make_grass_mesh();

    // A feature that is off has neutral planes of one texel: lighting costs the same with and without.
    GeometryPlanes geometry, one_sample, mirror;
    Plane<float> shadow, raw_open, open;
    Plane<Vec3> noise, light, bloom, spare, rays, output;
    Plane<Vec4> mist; ///< Light and transmittance.

    // The sizes of the allocated memory.
    int shadow_size = 0, percent = 0, samples = 0;

    // The frame being drawn.
    const SceneFrame* frame = nullptr;
    SoftView view;
    FrameTimes times;
    bool use_processor_time;
    double pass_start = 0;
    std::deque<FrameTimes> finished;
};

} // namespace frame_budget
