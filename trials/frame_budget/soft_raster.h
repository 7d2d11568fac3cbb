// Triangles to pixels on the CPU: transformed and set up in chunks, then rasterised in bands of rows, both on all
// threads.
#pragma once

#include <limits>
#include <vector>

#include "scene.h"
#include "soft_threads.h"

namespace frame_budget {

template <typename T> struct Plane {
    int width = 0, height = 0;
    std::vector<T> texels;

    void resize(int new_width, int new_height) {
        width = new_width;
        height = new_height;
        texels.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    }
    std::size_t index(int x, int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
    }
    T& at(int x, int y) { return texels[index(x, y)]; }
    const T& at(int x, int y) const { return texels[index(x, y)]; }
    const T& nearest(float u, float v) const {
        return at(std::clamp(static_cast<int>(u * static_cast<float>(width)), 0, width - 1),
                  std::clamp(static_cast<int>(v * static_cast<float>(height)), 0, height - 1));
    }
    /// Bilinear, clamped at the edges.
    T linear(float u, float v) const {
        const float x = std::clamp(u * static_cast<float>(width) - 0.5f, 0.0f, static_cast<float>(width - 1));
        const float y = std::clamp(v * static_cast<float>(height) - 0.5f, 0.0f, static_cast<float>(height - 1));
        const int x0 = static_cast<int>(x), y0 = static_cast<int>(y), x1 = std::min(x0 + 1, width - 1),
                  y1 = std::min(y0 + 1, height - 1);
        return mix(mix(at(x0, y0), at(x1, y0), x - static_cast<float>(x0)),
                   mix(at(x0, y1), at(x1, y1), x - static_cast<float>(x0)), y - static_cast<float>(y0));
    }
};

/// A triangle's contribution to a pixel.
struct Surface {
    Vec3 albedo, normal;
    float fog = 0, coverage = 0;
};

struct GeometryPlanes {
    Plane<float> depth; ///< Depth from 0 to 1, as in GL.
    Plane<Surface> surface;
};

struct SoftBatch {
    const Mesh* mesh;
    std::vector<Instance> instances;
};

struct SoftView {
    Mat4 projection;
    Vec3 eye;
    float sway = 0, seconds = 0;
    bool mirrored = false, two_sided = false;
};

class SoftRaster {
public:
    explicit SoftRaster(SoftThreads& thread_pool) : threads(thread_pool) {}

    /// Transforms the batches' triangles for a target of this size.
    void set_up(const std::vector<SoftBatch>& batches, const SoftView& view, int width, int height);

    /// Draws the prepared triangles, moved by a part of a pixel (for the samples of antialiasing).
    /// Without `surface` it draws only depth.
    void draw(Plane<float>& depth, Plane<Surface>* surface, float offset_x, float offset_y);

private:
    struct Triangle {
        std::array<float, 3> x, y, z;
        Surface surface;
    };

    void set_up_instance(const Mesh& mesh, const Instance& instance, const SoftView& view,
                         std::vector<Triangle>& out) const;
    static void fill(const Triangle& triangle, Plane<float>& depth, Plane<Surface>* surface, float offset_x,
                     float offset_y, int low_row, int high_row);

    SoftThreads& threads;
    std::vector<std::vector<Triangle>> chunks;
    float half_width = 0, half_height = 0;
};

} // namespace frame_budget
