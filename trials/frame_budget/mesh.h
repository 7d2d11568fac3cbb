// Meshes made by formula: flat-shaded triangle lists with a colour per face. Every kind of object comes in four levels
// of detail.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "math.h"

namespace frame_budget {

/// Linear albedo, 8 bits a channel.
/// In a vertex, alpha 255 lets the instance's tint multiply it; alpha 0 leaves it unchanged.
using Color = std::array<std::uint8_t, 4>;

inline Color color_of(Vec3 rgb, bool tinted = false) {
    const auto byte = [](float x) { return static_cast<std::uint8_t>(std::lround(std::clamp(x, 0.0f, 1.0f) * 255)); };
    return {byte(rgb.x), byte(rgb.y), byte(rgb.z), static_cast<std::uint8_t>(tinted ? 255 : 0)};
}

struct Vertex {
    Vec3 position;
    Vec3 normal;
    Color color;
};
static_assert(sizeof(Vertex) == 28, "the vertex layout is told to GL byte by byte");

using Mesh = std::vector<Vertex>;

enum class Kind : std::uint8_t { conifer, broadleaf, rock, house, balloon };
inline constexpr std::size_t kind_count = 5;
inline constexpr std::size_t level_count = 4;

/// An object about one unit high that stands on the origin.
/// Level 0 is a handful of triangles.
Mesh make_object_mesh(Kind kind, std::size_t level);

/// One tuft: a few blades, and on top a petal in the instance's tint.
Mesh make_grass_mesh();

/// A grid over [low_x, high_x] x [low_z, high_z] at the given heights, coloured by height and slope.
struct GroundExtent {
    float low_x, high_x, low_z, high_z;
    int columns, rows;
};
Mesh make_ground_mesh(const GroundExtent& extent, const std::function<float(float x, float z)>& height);

/// A flat grid at height 0; the lighting pass shades it as water.
Mesh make_water_mesh(const GroundExtent& extent);

} // namespace frame_budget
