// The few vectors and matrices that the trial needs. Matrices are column-major, as in GL; +y is up.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace frame_budget {

struct Vec3 {
    float x = 0, y = 0, z = 0;
};

inline Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec3 operator*(Vec3 a, Vec3 b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
inline Vec3 operator*(Vec3 a, float s) { return {a.x * s, a.y * s, a.z * s}; }
inline float dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vec3 cross(Vec3 a, Vec3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline float length(Vec3 a) { return std::sqrt(dot(a, a)); }
inline Vec3 normalize(Vec3 a) { return a * (1.0f / length(a)); }
inline float mix(float a, float b, float t) { return a + (b - a) * t; }
inline Vec3 mix(Vec3 a, Vec3 b, float t) { return a + (b - a) * t; }
inline float smoothstep(float low, float high, float x) {
    const float t = std::clamp((x - low) / (high - low), 0.0f, 1.0f);
    return t * t * (3 - 2 * t);
}

struct Vec4 {
    float x = 0, y = 0, z = 0, w = 0;
};

inline Vec4 mix(Vec4 a, Vec4 b, float t) {
    return {mix(a.x, b.x, t), mix(a.y, b.y, t), mix(a.z, b.z, t), mix(a.w, b.w, t)};
}

struct Mat4 {
    std::array<float, 16> m{};
};

inline Mat4 operator*(const Mat4& a, const Mat4& b) {
    Mat4 product;
    for (std::size_t column = 0; column < 4; ++column)
        for (std::size_t row = 0; row < 4; ++row)
            for (std::size_t k = 0; k < 4; ++k) product.m[column * 4 + row] += a.m[k * 4 + row] * b.m[column * 4 + k];
    return product;
}

/// Transforms a point (w = 1) to homogeneous clip space.
inline Vec4 transform(const Mat4& a, Vec3 p) {
    const auto& m = a.m;
    return {m[0] * p.x + m[4] * p.y + m[8] * p.z + m[12], m[1] * p.x + m[5] * p.y + m[9] * p.z + m[13],
            m[2] * p.x + m[6] * p.y + m[10] * p.z + m[14], m[3] * p.x + m[7] * p.y + m[11] * p.z + m[15]};
}

inline Mat4 perspective(float tan_half_height, float aspect, float near_plane, float far_plane) {
    Mat4 p;
    p.m[0] = 1 / (tan_half_height * aspect);
    p.m[5] = 1 / tan_half_height;
    p.m[10] = (far_plane + near_plane) / (near_plane - far_plane);
    p.m[11] = -1;
    p.m[14] = 2 * far_plane * near_plane / (near_plane - far_plane);
    return p;
}

inline Mat4 orthographic(float half_width, float half_height, float near_plane, float far_plane) {
    Mat4 p;
    p.m[0] = 1 / half_width;
    p.m[5] = 1 / half_height;
    p.m[10] = 2 / (near_plane - far_plane);
    p.m[14] = (far_plane + near_plane) / (near_plane - far_plane);
    p.m[15] = 1;
    return p;
}

/// World to view space for an eye with this orthonormal basis, looking along `forward`.
inline Mat4 view_from(Vec3 eye, Vec3 right, Vec3 up, Vec3 forward) {
    Mat4 v;
    v.m = {right.x, up.x, -forward.x, 0, right.y,          up.y,          -forward.y,        0,
           right.z, up.z, -forward.z, 0, -dot(right, eye), -dot(up, eye), dot(forward, eye), 1};
    return v;
}

} // namespace frame_budget
