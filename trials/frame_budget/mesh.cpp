#include "mesh.h"

namespace frame_budget {

namespace {

constexpr float pi = 3.14159265f;

struct Paint {
    Vec3 color;
    bool tinted;
};

class MeshBuilder {
public:
    Mesh mesh;

    void triangle(Vec3 a, Vec3 b, Vec3 c, Paint paint) {
        const Vec3 normal = cross(b - a, c - a);
        const float area = length(normal);
        if (area < 1e-9f) return; // the pole of a sphere, the tip of a cone
        for (Vec3 corner : {a, b, c})
            mesh.push_back({corner, normal * (1 / area), color_of(paint.color, paint.tinted)});
    }

    void quad(Vec3 a, Vec3 b, Vec3 c, Vec3 d, Paint paint) {
        triangle(a, b, c, paint);
        triangle(a, c, d, paint);
    }

    /// The side of a cone or cylinder around the y axis; `turn` rotates it, in parts of one side.
    void ring(int sides, float low_y, float low_radius, float high_y, float high_radius, float turn, Paint paint) {
        const auto corner = [&](int i, float y, float radius) {
            const float angle = 2 * pi * (static_cast<float>(i) + turn) / static_cast<float>(sides);
            return Vec3{std::cos(angle) * radius, y, -std::sin(angle) * radius};
        };
        for (int i = 0; i < sides; ++i)
            quad(corner(i, low_y, low_radius), corner(i + 1, low_y, low_radius), corner(i + 1, high_y, high_radius),
                 corner(i, high_y, high_radius), paint);
    }

    /// A sphere of latitude rings; each face's height is dented by `roughness`, so that it looks like leaves or stone.
    void ball(int sides, int rings, Vec3 center, Vec3 radius, float roughness,
              const std::function<Paint(int side, float y)>& paint) {
        const auto corner = [&](int side, int ring) {
            const float angle = 2 * pi * static_cast<float>(side) / static_cast<float>(sides);
            const float polar = pi * static_cast<float>(ring) / static_cast<float>(rings);
            const int wrapped = side % sides;
            const float dent = 1 + roughness * std::sin(static_cast<float>(wrapped * 5 + ring * 7));
            const Vec3 direction{std::sin(polar) * std::cos(angle), -std::cos(polar),
                                 -std::sin(polar) * std::sin(angle)};
            return center + direction * radius * dent;
        };
        for (int ring = 0; ring < rings; ++ring)
            for (int side = 0; side < sides; ++side) {
                const float y = (static_cast<float>(ring) + 0.5f) / static_cast<float>(rings);
                quad(corner(side, ring), corner(side + 1, ring), corner(side + 1, ring + 1), corner(side, ring + 1),
                     paint(side, y));
            }
    }

    void box(Vec3 low, Vec3 high, Paint paint) {
        const Vec3 a{low.x, low.y, high.z}, b{high.x, low.y, high.z}, c{high.x, low.y, low.z}, d = low;
        const Vec3 up{0, high.y - low.y, 0};
        quad(a, b, b + up, a + up, paint);
        quad(b, c, c + up, b + up, paint);
        quad(c, d, d + up, c + up, paint);
        quad(d, a, a + up, d + up, paint);
        quad(a + up, b + up, c + up, d + up, paint);
    }
};

void trunk(MeshBuilder& b, std::size_t level, float high, Paint bark) {
    if (level == 0)
        b.quad({-0.04f, 0, 0}, {0.04f, 0, 0}, {0.04f, high, 0}, {-0.04f, high, 0}, bark); // enough for its shadow
    else b.ring(level < 3 ? 4 : 6, 0, 0.045f, high, 0.035f, 0, bark);
}

Mesh conifer(std::size_t level) {
    MeshBuilder b;
    const int sides = std::array{4, 5, 7, 10}[level];
    const int tiers = std::array{1, 2, 3, 4}[level];
    trunk(b, level, 0.3f, {{0.16f, 0.09f, 0.05f}, false});
    for (int tier = 0; tier < tiers; ++tier) {
        const float from = static_cast<float>(tier) / static_cast<float>(tiers);
        const float to = static_cast<float>(tier + 1) / static_cast<float>(tiers);
        const float low_y = mix(0.16f, 0.9f, from), radius = mix(0.30f, 0.02f, from);
        const float high_y = tier + 1 == tiers ? 1.0f : mix(0.16f, 0.9f, to) + 0.1f;
        b.ring(sides, low_y, radius, high_y, tier + 1 == tiers ? 0.0f : radius * 0.22f, 0.5f * static_cast<float>(tier),
               {Vec3{0.9f, 0.95f, 0.9f} * mix(0.75f, 1.1f, from), true});
    }
    return b.mesh;
}

Mesh broadleaf(std::size_t level) {
    MeshBuilder b;
    const int sides = std::array{4, 5, 7, 10}[level];
    const int rings = std::array{2, 3, 5, 7}[level];
    trunk(b, level, 0.45f, {{0.20f, 0.12f, 0.07f}, false});
    const auto leaves = [](int, float y) { return Paint{Vec3{1, 1, 1} * mix(0.7f, 1.05f, y), true}; };
    const float roughness = level > 1 ? 0.09f : 0.0f;
    b.ball(sides, rings, {0, 0.64f, 0}, {0.33f, 0.36f, 0.33f}, roughness, leaves);
    if (level > 2) b.ball(7, 4, {0.17f, 0.5f, 0.1f}, {0.22f, 0.2f, 0.22f}, roughness, leaves);
    return b.mesh;
}

Mesh rock(std::size_t level) {
    MeshBuilder b;
    const auto stone = [](int, float) { return Paint{{1, 1, 1}, true}; };
    b.ball(std::array{4, 5, 6, 8}[level], std::array{2, 3, 4, 5}[level], {0, 0.2f, 0}, {0.7f, 0.5f, 0.6f},
           level > 0 ? 0.12f : 0, stone);
    return b.mesh;
}

Mesh house(std::size_t level) {
    MeshBuilder b;
    const Paint wall{{1, 1, 1}, true}, roof{{0.42f, 0.13f, 0.08f}, false}, window{{0.95f, 0.72f, 0.32f}, false},
        wood{{0.14f, 0.08f, 0.05f}, false};
    b.box({-0.5f, -0.3f, -0.38f}, {0.5f, 0.55f, 0.38f}, wall);
    const float eave = level > 0 ? 0.08f : 0.0f, y = level > 0 ? 0.5f : 0.55f;
    const Vec3 ridge_a{-0.5f - eave, 1, 0}, ridge_b{0.5f + eave, 1, 0};
    const Vec3 a{-0.5f - eave, y, 0.38f + eave}, c{0.5f + eave, y, 0.38f + eave};
    const Vec3 d{0.5f + eave, y, -0.38f - eave}, e{-0.5f - eave, y, -0.38f - eave};
    b.quad(a, c, ridge_b, ridge_a, roof);
    b.quad(d, e, ridge_a, ridge_b, roof);
    b.triangle(c, d, ridge_b, wall);
    b.triangle(e, a, ridge_a, wall);
    if (level > 0) b.box({0.18f, 0.6f, -0.24f}, {0.32f, 1.12f, -0.1f}, wall);
    if (level > 1) // windows and doors on both long sides
        for (float side : {-1.0f, 1.0f})
            for (int i = 0; i < (level > 2 ? 3 : 2); ++i) {
                const float x = -0.33f + 0.3f * static_cast<float>(i);
                const bool door = i == 1;
                b.box({x, door ? -0.1f : 0.2f, side * 0.39f - 0.01f}, {x + 0.16f, 0.4f, side * 0.39f + 0.01f},
                      door ? wood : window);
            }
    if (level > 2)
        for (float x : {-0.51f, 0.5f}) b.box({x, 0.2f, -0.1f}, {x + 0.01f, 0.42f, 0.1f}, window);
    return b.mesh;
}

Mesh balloon(std::size_t level) {
    MeshBuilder b;
    const int sides = std::array{6, 8, 12, 18}[level], rings = std::array{3, 5, 8, 12}[level];
    const auto stripes = [](int side, float) {
        return side % 2 == 0 ? Paint{{1, 1, 1}, true} : Paint{{0.9f, 0.85f, 0.72f}, false};
    };
    b.ball(sides, rings, {0, 0.62f, 0}, {0.34f, 0.38f, 0.34f}, 0, stripes);
    b.ring(sides, 0.12f, 0.07f, 0.34f, 0.2f, 0, {{0.9f, 0.85f, 0.72f}, false});
    b.box({-0.06f, 0, -0.06f}, {0.06f, 0.09f, 0.06f}, {{0.25f, 0.14f, 0.07f}, false});
    return b.mesh;
}

} // namespace

Mesh make_object_mesh(Kind kind, std::size_t level) {
    switch (kind) {
    case Kind::conifer: return conifer(level);
    case Kind::broadleaf: return broadleaf(level);
    case Kind::rock: return rock(level);
    case Kind::house: return house(level);
    case Kind::balloon: return balloon(level);
    }
    return {};
}

Mesh make_grass_mesh() {
    MeshBuilder b;
    for (int i = 0; i < 3; ++i) {
        const float angle = static_cast<float>(i) * 2.4f;
        const Vec3 out{std::cos(angle), 0, std::sin(angle)}, side{-out.z * 0.09f, 0, out.x * 0.09f};
        const float high = 0.7f + 0.3f * std::sin(static_cast<float>(i) * 1.7f);
        b.triangle(out * 0.12f - side, out * 0.12f + side, out * 0.4f + Vec3{0, high, 0},
                   {{0.13f, 0.23f, 0.045f}, false});
    }
    b.triangle({-0.12f, 0.9f, 0.08f}, {0.12f, 0.9f, 0.08f}, {0, 1.05f, -0.1f}, {{1, 1, 1}, true});
    // Grass is visible from both sides and has no thickness: light it like the ground below it.
    for (Vertex& vertex : b.mesh) vertex.normal = {0, 1, 0};
    return b.mesh;
}

Mesh make_water_mesh(const GroundExtent& extent) {
    MeshBuilder b;
    const auto corner = [&](int column, int row) {
        return Vec3{mix(extent.low_x, extent.high_x, static_cast<float>(column) / static_cast<float>(extent.columns)),
                    0, mix(extent.low_z, extent.high_z, static_cast<float>(row) / static_cast<float>(extent.rows))};
    };
    for (int row = 0; row < extent.rows; ++row)
        for (int column = 0; column < extent.columns; ++column)
            b.quad(corner(column, row + 1), corner(column + 1, row + 1), corner(column + 1, row), corner(column, row),
                   {{0.03f, 0.07f, 0.08f}, false});
    return b.mesh;
}

Mesh make_ground_mesh(const GroundExtent& extent, const std::function<float(float, float)>& height) {
    MeshBuilder b;
    const auto corner = [&](int column, int row) {
        const float x =
            mix(extent.low_x, extent.high_x, static_cast<float>(column) / static_cast<float>(extent.columns));
        const float z = mix(extent.low_z, extent.high_z, static_cast<float>(row) / static_cast<float>(extent.rows));
        return Vec3{x, height(x, z), z};
    };
    const auto face = [&](Vec3 p, Vec3 q, Vec3 r) {
        const Vec3 normal = normalize(cross(q - p, r - p)), middle = (p + q + r) * (1.0f / 3);
        const float speckle = 0.93f + 0.14f * std::abs(std::sin(middle.x * 12.9f + middle.z * 78.2f));
        const Vec3 sand{0.46f, 0.37f, 0.22f}, meadow{0.14f, 0.22f, 0.055f}, dry{0.27f, 0.26f, 0.09f},
            stone{0.17f, 0.15f, 0.15f}, snow{0.82f, 0.85f, 0.9f};
        Vec3 color = mix(meadow, dry, smoothstep(-0.4f, 0.9f, std::sin(middle.x * 0.11f) * std::cos(middle.z * 0.09f)));
        color = mix(sand, color, smoothstep(0.25f, 0.9f, middle.y));
        color = mix(stone, color, smoothstep(0.72f, 0.88f, normal.y));
        color = mix(color, snow, smoothstep(29, 33, middle.y + 9 * normal.y + 3 * speckle));
        b.triangle(p, q, r, {color * speckle, false});
    };
    for (int row = 0; row < extent.rows; ++row)
        for (int column = 0; column < extent.columns; ++column) {
            const Vec3 p = corner(column, row + 1), q = corner(column + 1, row + 1), r = corner(column + 1, row),
                       s = corner(column, row);
            if ((row + column) % 2 == 0) {
                face(p, q, r);
                face(p, r, s);
            } else {
                face(p, q, s);
                face(q, r, s);
            }
        }
    return b.mesh;
}

} // namespace frame_budget
