// Value noise: the shape of the hills, and a small tileable texture for clouds, ripples and mist.
#pragma once

#include <cstdint>
#include <vector>

#include "math.h"

namespace frame_budget {

/// One of 65536 levels per lattice point, 0 .. 1.
inline float lattice_noise(int x, int z) {
    std::uint32_t h = static_cast<std::uint32_t>(x) * 374761393u + static_cast<std::uint32_t>(z) * 668265263u;
    h = (h ^ (h >> 13)) * 1274126177u;
    return static_cast<float>((h ^ (h >> 16)) & 0xffffu) / 65535.0f;
}

/// Smooth between the lattice points; repeats every `period` of them (a power of two).
inline float value_noise(float x, float z, int period = 1 << 20) {
    const float fx = std::floor(x), fz = std::floor(z);
    const int mask = period - 1, x0 = static_cast<int>(fx) & mask, z0 = static_cast<int>(fz) & mask;
    const int x1 = (x0 + 1) & mask, z1 = (z0 + 1) & mask;
    const float u = smoothstep(0, 1, x - fx), v = smoothstep(0, 1, z - fz);
    return mix(mix(lattice_noise(x0, z0), lattice_noise(x1, z0), u),
               mix(lattice_noise(x0, z1), lattice_noise(x1, z1), u), v);
}

inline constexpr int noise_texture_size = 256;

/// RGBA texels, tileable: two independent sums of octaves in red and green.
inline std::vector<std::uint8_t> make_noise_texture() {
    std::vector<std::uint8_t> texels;
    texels.reserve(static_cast<std::size_t>(noise_texture_size) * noise_texture_size * 4);
    for (int y = 0; y < noise_texture_size; ++y)
        for (int x = 0; x < noise_texture_size; ++x)
            for (int channel = 0; channel < 4; ++channel) {
                float sum = 0, weight = 0.5f;
                for (int period = 8; period <= 128; period *= 2, weight *= 0.5f) {
                    const float scale = static_cast<float>(period) / noise_texture_size;
                    const float shift = static_cast<float>((channel & 1) * 37); // whole lattice steps: still tileable
                    sum += weight *
                           value_noise(static_cast<float>(x) * scale + shift, static_cast<float>(y) * scale, period);
                }
                // The sum of the octaves stays near the middle: stretch it over the whole range.
                texels.push_back(static_cast<std::uint8_t>(255 * smoothstep(0.15f, 0.82f, sum)));
            }
    return texels;
}

} // namespace frame_budget
