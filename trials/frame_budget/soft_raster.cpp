#include "soft_raster.h"

namespace frame_budget {

void SoftRaster::set_up(const std::vector<SoftBatch>& batches, const SoftView& view, int width, int height) {
    half_width = 0.5f * static_cast<float>(width);
    half_height = 0.5f * static_cast<float>(height);
    chunks.resize(threads.count() * 4);
    threads.run(static_cast<int>(chunks.size()), [&](int chunk) {
        std::vector<Triangle>& out = chunks[static_cast<std::size_t>(chunk)];
        out.clear();
        for (const SoftBatch& batch : batches)
            for (std::size_t i = static_cast<std::size_t>(chunk); i < batch.instances.size(); i += chunks.size())
                set_up_instance(*batch.mesh, batch.instances[i], view, out);
    });
}

void SoftRaster::set_up_instance(const Mesh& mesh, const Instance& instance, const SoftView& view,
                                 std::vector<Triangle>& out) const {
    const auto rotate = [&](Vec3 p) {
        return Vec3{instance.turn_cos * p.x + instance.turn_sin * p.z, p.y,
                    instance.turn_cos * p.z - instance.turn_sin * p.x};
    };
    const float wind = view.sway * std::sin(view.seconds * 1.9f + instance.position.x * 0.2f + instance.turn_cos);
    for (std::size_t first = 0; first + 2 < mesh.size(); first += 3) {
        Triangle triangle;
        Vec3 center;
        bool is_outside = false;
        for (std::size_t corner = 0; corner < 3; ++corner) {
            const Vec3 local = mesh[first + corner].position;
            Vec3 world = rotate(local) * instance.scale + instance.position;
            world.x += wind * local.y * local.y;
            center = center + world * (1.0f / 3);
            if (view.mirrored) world.y = -world.y;
            const Vec4 clip = transform(view.projection, world);
            is_outside = is_outside || clip.w < near_plane; // nothing of the scene comes that near
            const float scale = 1 / clip.w;
            triangle.x[corner] = (clip.x * scale + 1) * half_width;
            triangle.y[corner] = (clip.y * scale + 1) * half_height;
            triangle.z[corner] = clip.z * scale * 0.5f + 0.5f;
        }
        if (is_outside || (view.mirrored && center.y < 0)) continue;
        const Vertex& vertex = mesh[first];
        const auto channel = [&](std::size_t i) {
            const float own = static_cast<float>(vertex.color[i]) / 255,
                        tint = static_cast<float>(instance.tint[i]) / 255;
            return vertex.color[3] > 0 ? own * tint : own;
        };
        const Vec3 away = center - view.eye;
        const float thick = dot(away, away) * 0.000022f;
        triangle.surface = {{channel(0), channel(1), channel(2)}, rotate(vertex.normal), thick / (1 + thick), 1};
        const float area = (triangle.x[1] - triangle.x[0]) * (triangle.y[2] - triangle.y[0]) -
                           (triangle.x[2] - triangle.x[0]) * (triangle.y[1] - triangle.y[0]);
        const bool is_back = (area < 0) != view.mirrored;
        if (area == 0 || (is_back && !view.two_sided)) continue;
        if (area < 0) {
            std::swap(triangle.x[1], triangle.x[2]);
            std::swap(triangle.y[1], triangle.y[2]);
            std::swap(triangle.z[1], triangle.z[2]);
        }
        out.push_back(triangle);
    }
}

void SoftRaster::draw(Plane<float>& depth, Plane<Surface>* surface, float offset_x, float offset_y) {
    const int bands = static_cast<int>(threads.count()) * 4;
    threads.run(bands, [&](int band) {
        const int low_row = depth.height * band / bands, high_row = depth.height * (band + 1) / bands;
        for (const std::vector<Triangle>& chunk : chunks)
            for (const Triangle& triangle : chunk)
                fill(triangle, depth, surface, offset_x, offset_y, low_row, high_row);
    });
}

void SoftRaster::fill(const Triangle& t, Plane<float>& depth, Plane<Surface>* surface, float offset_x, float offset_y,
                      int low_row, int high_row) {
    // Pixel (i, j) is sampled at (i + 0.5 + offset_x, j + 0.5 + offset_y).
    const float sample_x = 0.5f + offset_x, sample_y = 0.5f + offset_y;
    const auto [low_x, high_x] = std::minmax({t.x[0], t.x[1], t.x[2]});
    const auto [low_y, high_y] = std::minmax({t.y[0], t.y[1], t.y[2]});
    if (high_x < 0 || low_x > static_cast<float>(depth.width) || high_y < static_cast<float>(low_row) ||
        low_y > static_cast<float>(high_row))
        return;
    const int x0 = std::max(static_cast<int>(std::ceil(low_x - sample_x)), 0),
              x1 = std::min(static_cast<int>(std::floor(high_x - sample_x)), depth.width - 1);
    const int y0 = std::max(static_cast<int>(std::ceil(low_y - sample_y)), low_row),
              y1 = std::min(static_cast<int>(std::floor(high_y - sample_y)), high_row - 1);
    const float ax = t.x[1] - t.x[0], ay = t.y[1] - t.y[0], bx = t.x[2] - t.x[0], by = t.y[2] - t.y[0];
    const float inverse_area = 1 / (ax * by - bx * ay);
    for (int y = y0; y <= y1; ++y)
        for (int x = x0; x <= x1; ++x) {
            const float px = static_cast<float>(x) + sample_x - t.x[0], py = static_cast<float>(y) + sample_y - t.y[0];
            const float u = (px * by - bx * py) * inverse_area, v = (ax * py - px * ay) * inverse_area;
            if (u < 0 || v < 0 || u + v > 1) continue;
            const float z = t.z[0] + u * (t.z[1] - t.z[0]) + v * (t.z[2] - t.z[0]);
            const std::size_t index = depth.index(x, y);
            if (z < 0 || z >= depth.texels[index]) continue;
            depth.texels[index] = z;
            if (surface != nullptr) surface->texels[index] = t.surface;
        }
}

} // namespace frame_budget
