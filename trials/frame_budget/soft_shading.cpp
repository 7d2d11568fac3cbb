// The passes that work on pixels. shaders.h explains their formulas.
#include "soft_renderer.h"

namespace frame_budget {

namespace {

constexpr Vec3 sun_light{3.4f, 2.25f, 1.25f};

float saturate(float x) { return std::clamp(x, 0.0f, 1.0f); }

float ahead_of(float depth) { return near_plane * far_plane / (far_plane - depth * (far_plane - near_plane)); }

Vec3 ambient_light(Vec3 normal) {
    return mix(Vec3{0.26f, 0.20f, 0.12f}, Vec3{0.40f, 0.52f, 0.78f}, normal.y * 0.5f + 0.5f);
}

/// The index of a texel in the 4 x 4 dither pattern.
template <typename T> int cell_of(const Plane<T>& plane, float u, float v) {
    const int x = static_cast<int>(u * static_cast<float>(plane.width));
    const int y = static_cast<int>(v * static_cast<float>(plane.height));
    return x % 4 + 4 * (y % 4);
}

} // namespace

Vec3 SoftRenderer::ray_at(float u, float v) const {
    const Camera& c = frame->camera;
    return c.forward + c.right * (c.tan_half_height * aspect() * (u * 2 - 1)) +
           c.up * (c.tan_half_height * (v * 2 - 1));
}

Vec3 SoftRenderer::position_at(float u, float v) const {
    return frame->camera.position + ray_at(u, v) * ahead_of(geometry.depth.nearest(u, v));
}

float SoftRenderer::sunlight_at(Vec3 world, Vec3 normal) const {
    const float texel = 1.0f / static_cast<float>(shadow.width);
    const Vec4 clip = transform(sun_projection, world + normal * (0.06f + 90 * texel));
    if (std::abs(clip.x) >= 1 || std::abs(clip.y) >= 1) return 1;
    const float u = clip.x * 0.5f + 0.5f, v = clip.y * 0.5f + 0.5f, depth = clip.z * 0.5f + 0.5f - 2.5f * texel;
    float lit = 0;
    for (float across : {-0.5f, 0.5f})
        for (float down : {-0.8f, 0.8f})
            lit += shadow.nearest(u + across * texel, v + down * texel) < depth ? 0.0f : 0.25f;
    return lit;
}

Vec3 SoftRenderer::air(Vec3 direction) const {
    const float towards = std::max(dot(direction, sun), 0.0f), towards4 = towards * towards * towards * towards;
    const Vec3 horizon = mix(Vec3{0.42f, 0.52f, 0.70f}, Vec3{1.30f, 0.72f, 0.36f}, towards4);
    const Vec3 color = mix(horizon, Vec3{0.09f, 0.24f, 0.56f}, 1 - std::exp(-saturate(direction.y) * 4.2f));
    const float glare = 0.20f * towards4 * towards4 * towards4 + 0.55f * std::pow(towards, 90.0f);
    return color + Vec3{0.9f, 0.50f, 0.22f} * glare;
}

void SoftRenderer::draw_occlusion(int taps) {
    raw_open.resize(output.width / 2, output.height / 2);
    open.resize(raw_open.width, raw_open.height);
    const float tan_y = frame->camera.tan_half_height, tan_x = tan_y * aspect();
    cover(raw_open, [&](float u, float v) {
        const Vec3 here = position_at(u, v), normal = geometry.surface.nearest(u, v).normal;
        const float ahead = dot(here - frame->camera.position, frame->camera.forward);
        float angle = static_cast<float>(cell_of(raw_open, u, v)) * 2.39996f, sum = 0;
        for (int i = 0; i < taps; ++i) {
            const float along = 0.75f / ahead * (static_cast<float>(i) + 0.5f) / static_cast<float>(taps);
            angle += 2.39996f;
            const float at_u = saturate(u + std::cos(angle) * along / tan_x);
            const float at_v = saturate(v + std::sin(angle) * along / tan_y);
            const Vec3 to = position_at(at_u, at_v) - here;
            const float distance2 = dot(to, to), above = std::max(dot(to, normal) - 0.02f - 0.002f * ahead, 0.0f);
            sum += above / std::sqrt(distance2 + 0.05f) * std::max(1 - distance2 * 0.25f, 0.0f);
        }
        return std::max(1 - 2.6f * sum / static_cast<float>(taps), 0.0f);
    });
    cover(open, [this](float u, float v) { // the mean of 4 x 4 texels
        const float x = 1.0f / static_cast<float>(raw_open.width), y = 1.0f / static_cast<float>(raw_open.height);
        float sum = 0;
        for (float across : {-1.5f, 0.5f})
            for (float down : {-1.5f, 0.5f}) sum += raw_open.linear(u + across * x, v + down * y);
        return 0.25f * sum;
    });
    end_pass(pass_occlusion);
}

Vec3 SoftRenderer::water_at(Vec3 world, Vec3 direction, float u, float v, float shine) const {
    const float time = frame->time;
    const Vec3 ripple = noise_at(world.x * 0.055f + time * 0.011f, world.z * 0.055f) +
                        noise_at(world.x * 0.1265f, world.z * 0.1705f - time * 0.017f) - Vec3{1, 1, 0};
    const Vec3 normal = normalize({ripple.x * 0.14f, 1, ripple.y * 0.14f});
    const Vec3 reflected = direction - normal * (2 * dot(direction, normal));
    const float steep = 1 + std::min(direction.y, 0.0f), fresnel = 0.04f + 0.96f * steep * steep * steep * steep;
    Vec3 color = mix(Vec3{0.10f, 0.11f, 0.08f}, air(reflected), smoothstep(0.02f, 0.22f, reflected.y));
    const Surface& shore = mirror.surface.nearest(u + ripple.x * 0.008f, v + ripple.y * 0.035f);
    const float facing = std::max(dot(shore.normal, sun), 0.0f);
    const Vec3 lit = shore.albedo * (sun_light * (0.65f * facing) + ambient_light(shore.normal) * 0.9f);
    color = mix(color, mix(lit, Vec3{0.62f, 0.52f, 0.50f}, shore.fog), shore.coverage);
    const float glint = std::pow(std::max(dot(reflected, sun), 0.0f), 220.0f) * (1 - shore.coverage);
    const Vec3 deep = Vec3{0.012f, 0.045f, 0.055f} * (0.6f + 0.4f * shine);
    return mix(deep, color, fresnel) * (0.75f + 0.25f * shine) + sun_light * (1.3f * glint * shine);
}

Vec3 SoftRenderer::light_at(float u, float v) const {
    const Vec3 ray = ray_at(u, v), direction = normalize(ray);
    const Surface& surface = geometry.surface.nearest(u, v);
    const Vec3 sky = air(direction) + Vec3{18, 13, 8} * smoothstep(0.99945f, 0.99975f, dot(direction, sun));
    if (surface.coverage <= 0) return sky;
    const Vec3 albedo = surface.albedo * (1 / surface.coverage);
    const Vec3 normal = normalize(surface.normal + Vec3{0, 0.001f, 0});
    const Vec3 world = position_at(u, v);
    const float shine = sunlight_at(world, normal), facing = dot(normal, sun);
    const float free = open.linear(u, v);
    const float direct = std::max(facing, 0.0f) + 0.10f * std::max(facing * 0.5f + 0.5f, 0.0f);
    Vec3 color = albedo * (sun_light * (direct * shine) + ambient_light(normal) * (free * (0.35f + 0.65f * free)));
    if (std::abs(world.y) < 0.25f && normal.y > 0.9985f) color = water_at(world, direction, u, v, shine);
    const Vec3 haze = air({direction.x, std::max(direction.y, 0.0f) * 0.5f + 0.02f, direction.z}) * 0.86f;
    return mix(sky, mix(color, haze, surface.fog / surface.coverage), surface.coverage);
}

void SoftRenderer::draw_light() {
    light.resize(geometry.depth.width, geometry.depth.height);
    cover(light, [this](float u, float v) { return light_at(u, v); });
    end_pass(pass_lighting);
}

void SoftRenderer::draw_mist(int steps) {
    mist.resize(output.width / 3, output.height / 3);
    cover(mist, [&](float u, float v) {
        const Vec3 ray = ray_at(u, v);
        const float ahead = std::min(ahead_of(geometry.depth.nearest(u, v)), 150.0f);
        const float step_length = std::max(ahead - 14, 0.0f) / static_cast<float>(steps);
        const float towards = std::max(dot(normalize(ray), sun), 0.0f);
        const Vec3 sunny = mix(Vec3{0.42f, 0.46f, 0.55f}, Vec3{2.6f, 1.7f, 0.95f}, towards * towards * towards);
        const float offset = static_cast<float>(cell_of(mist, u, v) * 7 % 16) / 16;
        float clear = 1;
        Vec3 sum;
        for (int i = 0; i < steps; ++i) {
            const float along = (static_cast<float>(i) + offset) / static_cast<float>(steps);
            const Vec3 world = frame->camera.position + ray * (14 + (ahead - 14) * along);
            const float thick =
                noise_at(world.x * 0.011f + frame->time * 0.004f, world.z * 0.011f + frame->time * 0.0025f).x + 0.10f -
                0.045f * world.y;
            const float density = smoothstep(0.30f, 0.75f, thick) * frame->weight.mist * 0.030f;
            const float absorbed = 1 - std::exp(-density * step_length);
            sum = sum + mix(Vec3{0.22f, 0.27f, 0.36f}, sunny, sunlight_at(world, {})) * (clear * absorbed);
            clear *= 1 - absorbed;
        }
        return Vec4{sum.x, sum.y, sum.z, clear};
    });
    end_pass(pass_mist);
}

void SoftRenderer::blur_bloom(int reach) {
    constexpr std::array<float, 4> weights{0.30f, 0.20f, 0.10f, 0.05f};
    const auto blur = [&](const Plane<Vec3>& from, Plane<Vec3>& to, float across, float down) {
        const float x = across / static_cast<float>(to.width), y = down / static_cast<float>(to.height);
        cover(to, [&](float u, float v) {
            Vec3 sum = from.nearest(u, v) * weights[0];
            for (std::size_t i = 1; i < weights.size(); ++i) {
                const float far = static_cast<float>(i);
                sum = sum +
                      (from.nearest(u + x * far, v + y * far) + from.nearest(u - x * far, v - y * far)) * weights[i];
            }
            return sum;
        });
    };
    blur(bloom, spare, static_cast<float>(reach), 0);
    blur(spare, bloom, 0, static_cast<float>(reach));
}

void SoftRenderer::draw_glow(int quality) {
    for (Plane<Vec3>* plane : {&bloom, &spare, &rays}) plane->resize(output.width / 4, output.height / 4);
    const auto bright = [](float channel) { return std::clamp(channel - 1.2f, 0.0f, 4.8f); };
    cover(bloom, [&](float u, float v) {
        const Vec3 color = light.linear(u, v);
        return Vec3{bright(color.x), bright(color.y), bright(color.z)};
    });
    if (quality > 1) {
        const Camera& c = frame->camera;
        const float ahead = dot(sun, c.forward), tan_y = c.tan_half_height;
        const float sun_u = 0.5f + 0.5f * dot(sun, c.right) / (ahead * tan_y * aspect());
        const float sun_v = 0.5f + 0.5f * dot(sun, c.up) / (ahead * tan_y);
        cover(rays, [&](float u, float v) {
            Vec3 sum;
            float weight = 1;
            for (int i = 1; i <= 24; ++i, weight *= 0.955f) {
                const float along = 0.92f * static_cast<float>(i) / 24;
                const float at_u = mix(u, sun_u, along), at_v = mix(v, sun_v, along);
                const bool is_inside = at_u >= 0 && at_u <= 1 && at_v >= 0 && at_v <= 1;
                if (is_inside) sum = sum + bloom.nearest(at_u, at_v) * weight;
            }
            return sum * (1.0f / 24);
        });
    }
    for (int reach : {1, 2}) blur_bloom(reach);
    end_pass(pass_glow);
}

void SoftRenderer::draw_composite(int glow_quality) {
    cover(output, [&](float u, float v) {
        Vec3 color = light.linear(u, v);
        if (frame->weight.mist > 0) {
            const Vec4 veil = mist.linear(u, v);
            color = color * veil.w + Vec3{veil.x, veil.y, veil.z};
        }
        if (glow_quality > 0) color = color + bloom.linear(u, v) * 0.35f;
        if (glow_quality > 1) color = color + rays.linear(u, v) * Vec3{0.80f, 0.60f, 0.42f};
        const float off_middle = (u - 0.5f) * (u - 0.5f) + (v - 0.5f) * (v - 0.5f);
        color = color * ((1 - 0.55f * off_middle) * 0.92f);
        const auto tone = [](float c) {
            return std::sqrt(saturate(c * (2.51f * c + 0.03f) / (c * (2.43f * c + 0.59f) + 0.14f)));
        };
        return Vec3{tone(color.x), tone(color.y), tone(color.z)};
    });
    end_pass(pass_composite);
}

} // namespace frame_budget
