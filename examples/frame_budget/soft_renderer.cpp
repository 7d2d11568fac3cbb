// The same renderer without GL: the passes of shaders.h in plain C++ on all cores, for a machine that has nothing but a
// compiler. Each pass is timed by the wall clock. The picture is smaller by default and in places simpler: no clouds,
// fog by the triangle.
#include <chrono>
#include <deque>

#include "noise.h"
#include "renderer.h"
#include "soft_raster.h"

namespace frame_budget {

namespace {

using Clock = std::chrono::steady_clock;

constexpr Vec3 sun_light{3.4f, 2.25f, 1.25f};
constexpr std::array<std::array<float, 2>, 4> sample_offsets{
    {{-0.125f, -0.375f}, {0.375f, -0.125f}, {-0.375f, 0.125f}, {0.125f, 0.375f}}};

/// Seen by the lake and by the sun, objects are always the same, whatever `detail` says.
constexpr int coarsest = 0;

float saturate(float x) { return std::clamp(x, 0.0f, 1.0f); }

Vec3 ambient_light(Vec3 normal) {
    return mix(Vec3{0.26f, 0.20f, 0.12f}, Vec3{0.40f, 0.52f, 0.78f}, normal.y * 0.5f + 0.5f);
}

class SoftRenderer final : public Renderer {
public:
    SoftRenderer(const Scene& the_scene, int width, int height);
    std::string description() const override;
    std::string clock() const override { return "wall time of a frame and of its passes"; }
    float aspect() const override { return static_cast<float>(output.width) / static_cast<float>(output.height); }
    void render(const SceneFrame& scene_frame, const Choices& choices, const FrameTag& tag) override;
    bool poll(FrameTimes& oldest) override;
    void finish() override {}
    Image read_image() override;

private:
    void end_pass(PassIndex pass);
    std::vector<SoftBatch> object_batches(bool only_visible, int detail_amount) const;
    void draw_shadows(int size);
    void draw_geometry(const Choices& choices);
    void draw_occlusion(int taps);
    void draw_mirror();
    void draw_mist(int steps);
    void draw_glow(int quality);
    void blur(int reach);
    Vec3 light_at(int x, int y) const;
    Vec3 water_at(Vec3 world, Vec3 direction, float u, float v, float shine) const;
    Vec3 composite_at(float u, float v, const Choices& choices) const;

    /// Fills a plane with `texel(u, v)` at the middle of each texel.
    template <typename T, typename Texel> void cover(Plane<T>& plane, const Texel& texel);

    Vec3 air(Vec3 direction) const;
    Vec3 ray_at(float u, float v) const;
    Vec3 position_at(float u, float v) const;
    float ahead_of(float depth) const {
        return near_plane * far_plane / (far_plane - depth * (far_plane - near_plane));
    }
    float sunlight_at(Vec3 world, Vec3 normal) const;
    Vec3 noise_at(float u, float v) const { return noise.linear(u - std::floor(u), v - std::floor(v)); }

    const Scene& scene;
    SoftThreads threads;
    SoftRaster raster;
    Vec3 sun;
    Mat4 sun_projection;
    std::array<std::array<Mesh, level_count>, kind_count> meshes;
    Mesh grass_mesh = make_grass_mesh();

    Plane<float> shadow, raw_open, open, mist_clear;
    Plane<Vec3> noise, light, mist_light, bloom, spare, rays, output;
    GeometryPlanes geometry, one_sample, mirror;

    const SceneFrame* frame = nullptr; // the one being drawn
    SoftView view;
    bool has_shadows = false, has_occlusion = false, has_mirror = false;
    FrameTimes times;
    Clock::time_point pass_start;
    std::deque<FrameTimes> finished;
};

SoftRenderer::SoftRenderer(const Scene& the_scene, int width, int height)
    : scene(the_scene), raster(threads), sun(scene.sun_direction()), sun_projection(scene.sun_projection()) {
    output.resize(width, height);
    const std::vector<std::uint8_t> texels = make_noise_texture();
    noise.resize(noise_texture_size, noise_texture_size);
    for (std::size_t i = 0; i < noise.texels.size(); ++i)
        noise.texels[i] =
            Vec3{static_cast<float>(texels[i * 4]), static_cast<float>(texels[i * 4 + 1]), 0} * (1.0f / 255);
    for (std::size_t kind = 0; kind < kind_count; ++kind)
        for (std::size_t level = 0; level < level_count; ++level)
            meshes[kind][level] = make_object_mesh(static_cast<Kind>(kind), level);
}

std::string SoftRenderer::description() const {
    return "built-in software renderer, " + std::to_string(threads.count()) + " threads, " +
           std::to_string(output.width) + "x" + std::to_string(output.height);
}

bool SoftRenderer::poll(FrameTimes& oldest) {
    if (finished.empty()) return false;
    oldest = finished.front();
    finished.pop_front();
    return true;
}

void SoftRenderer::end_pass(PassIndex pass) {
    const auto now = Clock::now();
    times.pass_ms[pass] += std::chrono::duration<double, std::milli>(now - pass_start).count();
    pass_start = now;
}

template <typename T, typename Texel> void SoftRenderer::cover(Plane<T>& plane, const Texel& texel) {
    threads.run(plane.height, [&](int y) {
        for (int x = 0; x < plane.width; ++x)
            plane.at(x, y) = texel((static_cast<float>(x) + 0.5f) / static_cast<float>(plane.width),
                                   (static_cast<float>(y) + 0.5f) / static_cast<float>(plane.height));
    });
}

void SoftRenderer::render(const SceneFrame& scene_frame, const Choices& choices, const FrameTag& tag) {
    const auto start = pass_start = Clock::now();
    frame = &scene_frame;
    times = {};
    times.tag = tag;
    const Camera& c = frame->camera;
    view = {perspective(c.tan_half_height, aspect(), near_plane, far_plane) *
                view_from(c.position, c.right, c.up, c.forward),
            c.position,
            0,
            frame->time,
            false,
            false};
    has_shadows = amount(choices, shadows) > 0;
    has_occlusion = amount(choices, occlusion) > 0;
    has_mirror = amount(choices, reflections) > 0;

    if (has_shadows) draw_shadows(amount(choices, shadows));
    draw_geometry(choices);
    if (has_occlusion) draw_occlusion(amount(choices, occlusion));
    if (has_mirror) draw_mirror();
    light.resize(geometry.depth.width, geometry.depth.height);
    threads.run(light.height, [this](int y) {
        for (int x = 0; x < light.width; ++x) light.at(x, y) = light_at(x, y);
    });
    end_pass(pass_lighting);
    if (frame->weight.mist > 0) draw_mist(mist_step_count(frame->weight.mist));
    if (amount(choices, glow) > 0) draw_glow(amount(choices, glow));
    cover(output, [&](float u, float v) { return composite_at(u, v, choices); });
    end_pass(pass_composite);
    times.total_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    finished.push_back(times);
}

std::vector<SoftBatch> SoftRenderer::object_batches(bool only_visible, int detail_amount) const {
    std::vector<SoftBatch> batches;
    for (const auto& levels : meshes)
        for (const Mesh& mesh : levels) batches.push_back({&mesh, {}});
    const auto add = [&](std::uint32_t object, std::size_t level) {
        batches[static_cast<std::size_t>(scene.objects[object].kind) * level_count + level].instances.push_back(
            scene.instance_of(object, *frame));
    };
    if (only_visible)
        for (const Visible& visible : frame->visible) add(visible.object, mesh_level(detail_amount, visible.distance));
    else
        for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(frame->weight.objects); ++i)
            if (scene.objects[i].kind != Kind::balloon) add(i, coarsest);
    return batches;
}

void SoftRenderer::draw_shadows(int size) {
    shadow.resize(size, size);
    std::fill(shadow.texels.begin(), shadow.texels.end(), 1.0f);
    SoftView from_sun = view;
    from_sun.projection = sun_projection;
    from_sun.sway = 0.10f;
    from_sun.two_sided = true;
    raster.set_up(object_batches(false, coarsest), from_sun, size, size);
    raster.draw(shadow, nullptr, 0, 0);
    end_pass(pass_shadow);
}

void SoftRenderer::draw_geometry(const Choices& choices) {
    const int percent = amount(choices, resolution), samples = amount(choices, antialiasing),
              tufts = amount(choices, grass);
    const int width = std::max(output.width * percent / 100, 1), height = std::max(output.height * percent / 100, 1);
    const auto clear = [&](GeometryPlanes& planes) {
        planes.depth.resize(width, height);
        planes.surface.resize(width, height);
        std::fill(planes.depth.texels.begin(), planes.depth.texels.end(), 1.0f);
        std::fill(planes.surface.texels.begin(), planes.surface.texels.end(), Surface{});
    };
    const std::vector<SoftBatch> ground{{&scene.ground, {{{0, 0, 0}, 1, 1, 0, {}}}}};
    const auto grass_count = std::min(static_cast<std::size_t>(tufts), scene.tufts.size());
    const std::vector<SoftBatch> lawn{
        {&grass_mesh, {scene.tufts.begin(), scene.tufts.begin() + static_cast<std::ptrdiff_t>(grass_count)}}};
    const auto draw_all = [&](GeometryPlanes& planes, std::array<float, 2> offset) {
        const auto draw = [&](const std::vector<SoftBatch>& batches, float sway, bool two_sided, PassIndex pass) {
            SoftView with_wind = view;
            with_wind.sway = sway;
            with_wind.two_sided = two_sided;
            raster.set_up(batches, with_wind, width, height);
            raster.draw(planes.depth, &planes.surface, offset[0], offset[1]);
            end_pass(pass);
        };
        clear(planes);
        draw(ground, 0, false, pass_ground);
        draw(object_batches(true, amount(choices, detail)), 0.10f, false, pass_objects);
        if (grass_count > 0) draw(lawn, 0.16f, true, pass_grass);
    };
    if (samples == 1) return draw_all(geometry, {0, 0});
    clear(geometry);
    for (int s = 0; s < samples; ++s) { // each sample is a picture of its own, and the geometry buffer their mean
        draw_all(one_sample, sample_offsets[static_cast<std::size_t>(s)]);
        if (s == 0) geometry.depth.texels = one_sample.depth.texels;
        const float part = 1.0f / static_cast<float>(samples);
        threads.run(height, [&](int y) {
            for (int x = 0; x < width; ++x) {
                const Surface& from = one_sample.surface.at(x, y);
                Surface& to = geometry.surface.at(x, y);
                to = {to.albedo + from.albedo * part, to.normal + from.normal * part, to.fog + from.fog * part,
                      to.coverage + from.coverage * part};
            }
        });
        end_pass(pass_resolve);
    }
}

Vec3 SoftRenderer::ray_at(float u, float v) const {
    const Camera& c = frame->camera;
    return c.forward + c.right * (c.tan_half_height * aspect() * (u * 2 - 1)) +
           c.up * (c.tan_half_height * (v * 2 - 1));
}

Vec3 SoftRenderer::position_at(float u, float v) const {
    return frame->camera.position + ray_at(u, v) * ahead_of(geometry.depth.nearest(u, v));
}

void SoftRenderer::draw_occlusion(int taps) {
    raw_open.resize(output.width / 2, output.height / 2);
    open.resize(raw_open.width, raw_open.height);
    const float tan_y = frame->camera.tan_half_height, tan_x = tan_y * aspect();
    cover(raw_open, [&](float u, float v) {
        const Vec3 here = position_at(u, v), normal = geometry.surface.nearest(u, v).normal;
        const float ahead = dot(here - frame->camera.position, frame->camera.forward);
        const int cell = static_cast<int>(u * static_cast<float>(raw_open.width)) % 4 +
                         4 * (static_cast<int>(v * static_cast<float>(raw_open.height)) % 4);
        float angle = static_cast<float>(cell) * 2.39996f, sum = 0;
        for (int i = 0; i < taps; ++i) {
            const float along = 0.75f / ahead * (static_cast<float>(i) + 0.5f) / static_cast<float>(taps);
            angle += 2.39996f;
            const Vec3 to = position_at(saturate(u + std::cos(angle) * along / tan_x),
                                        saturate(v + std::sin(angle) * along / tan_y)) -
                            here;
            const float distance2 = dot(to, to);
            sum += std::max(dot(to, normal) - 0.02f - 0.002f * ahead, 0.0f) / std::sqrt(distance2 + 0.05f) *
                   std::max(1 - distance2 * 0.25f, 0.0f);
        }
        return std::max(1 - 2.6f * sum / static_cast<float>(taps), 0.0f);
    });
    cover(open, [this](float u, float v) { // the mean of 4 x 4 texels
        const float x = 1.0f / static_cast<float>(raw_open.width), y = 1.0f / static_cast<float>(raw_open.height);
        return 0.25f * (raw_open.linear(u - 1.5f * x, v - 1.5f * y) + raw_open.linear(u + 0.5f * x, v - 1.5f * y) +
                        raw_open.linear(u - 1.5f * x, v + 0.5f * y) + raw_open.linear(u + 0.5f * x, v + 0.5f * y));
    });
    end_pass(pass_occlusion);
}

void SoftRenderer::draw_mirror() {
    mirror.depth.resize(output.width / 2, output.height / 2);
    mirror.surface.resize(mirror.depth.width, mirror.depth.height);
    std::fill(mirror.depth.texels.begin(), mirror.depth.texels.end(), 1.0f);
    std::fill(mirror.surface.texels.begin(), mirror.surface.texels.end(), Surface{});
    std::vector<SoftBatch> batches = object_batches(true, coarsest);
    batches.push_back({&scene.ground, {{{0, 0, 0}, 1, 1, 0, {}}}});
    SoftView upside_down = view;
    upside_down.mirrored = true;
    raster.set_up(batches, upside_down, mirror.depth.width, mirror.depth.height);
    raster.draw(mirror.depth, &mirror.surface, 0, 0);
    end_pass(pass_mirror);
}

float SoftRenderer::sunlight_at(Vec3 world, Vec3 normal) const {
    if (!has_shadows) return 1;
    const float texel = 1.0f / static_cast<float>(shadow.width);
    const Vec4 clip = transform(sun_projection, world + normal * (0.06f + 90 * texel));
    if (std::abs(clip.x) >= 1 || std::abs(clip.y) >= 1) return 1;
    const float u = clip.x * 0.5f + 0.5f, v = clip.y * 0.5f + 0.5f, depth = clip.z * 0.5f + 0.5f - 2.5f * texel;
    float lit = 0;
    for (float dx : {-0.5f, 0.5f})
        for (float dy : {-0.8f, 0.8f}) lit += shadow.nearest(u + dx * texel, v + dy * texel) < depth ? 0.0f : 0.25f;
    return lit;
}

Vec3 SoftRenderer::air(Vec3 direction) const {
    const float towards = std::max(dot(direction, sun), 0.0f), towards4 = towards * towards * towards * towards;
    const Vec3 horizon = mix(Vec3{0.42f, 0.52f, 0.70f}, Vec3{1.30f, 0.72f, 0.36f}, towards4);
    const Vec3 color = mix(horizon, Vec3{0.09f, 0.24f, 0.56f}, 1 - std::exp(-saturate(direction.y) * 4.2f));
    return color +
           Vec3{0.9f, 0.50f, 0.22f} * (0.20f * towards4 * towards4 * towards4 + 0.55f * std::pow(towards, 90.0f));
}

Vec3 SoftRenderer::water_at(Vec3 world, Vec3 direction, float u, float v, float shine) const {
    const float time = frame->time;
    const Vec3 ripple = noise_at(world.x * 0.055f + time * 0.011f, world.z * 0.055f) +
                        noise_at(world.x * 0.1265f, world.z * 0.1705f - time * 0.017f) - Vec3{1, 1, 0};
    const Vec3 normal = normalize({ripple.x * 0.14f, 1, ripple.y * 0.14f});
    const Vec3 reflected = direction - normal * (2 * dot(direction, normal));
    const float steep = 1 + std::min(direction.y, 0.0f), fresnel = 0.04f + 0.96f * steep * steep * steep * steep;
    Vec3 color = mix(Vec3{0.10f, 0.11f, 0.08f}, air(reflected), smoothstep(0.02f, 0.22f, reflected.y));
    float glint = std::pow(std::max(dot(reflected, sun), 0.0f), 220.0f);
    if (has_mirror) {
        const Surface& shore = mirror.surface.nearest(u + ripple.x * 0.008f, v + ripple.y * 0.035f);
        const Vec3 lit = shore.albedo * (sun_light * (0.65f * std::max(dot(shore.normal, sun), 0.0f)) +
                                         ambient_light(shore.normal) * 0.9f);
        color = mix(color, mix(lit, Vec3{0.62f, 0.52f, 0.50f}, shore.fog), shore.coverage);
        glint *= 1 - shore.coverage;
    }
    return mix(Vec3{0.012f, 0.045f, 0.055f} * (0.6f + 0.4f * shine), color, fresnel) * (0.75f + 0.25f * shine) +
           sun_light * (1.3f * glint * shine);
}

Vec3 SoftRenderer::light_at(int x, int y) const {
    const float u = (static_cast<float>(x) + 0.5f) / static_cast<float>(light.width),
                v = (static_cast<float>(y) + 0.5f) / static_cast<float>(light.height);
    const Vec3 ray = ray_at(u, v), direction = normalize(ray);
    const Surface& surface = geometry.surface.at(x, y);
    const Vec3 sky = air(direction) + Vec3{18, 13, 8} * smoothstep(0.99945f, 0.99975f, dot(direction, sun));
    if (surface.coverage <= 0) return sky;
    const Vec3 albedo = surface.albedo * (1 / surface.coverage),
               normal = normalize(surface.normal + Vec3{0, 0.001f, 0});
    const Vec3 world = frame->camera.position + ray * ahead_of(geometry.depth.at(x, y));
    const float shine = sunlight_at(world, normal), facing = dot(normal, sun);
    const float free = has_occlusion ? open.linear(u, v) : 1;
    Vec3 color =
        albedo * (sun_light * ((std::max(facing, 0.0f) + 0.10f * std::max(facing * 0.5f + 0.5f, 0.0f)) * shine) +
                  ambient_light(normal) * (free * (0.35f + 0.65f * free)));
    if (std::abs(world.y) < 0.25f && normal.y > 0.9985f) color = water_at(world, direction, u, v, shine);
    const Vec3 haze = air({direction.x, std::max(direction.y, 0.0f) * 0.5f + 0.02f, direction.z}) * 0.86f;
    return mix(sky, mix(color, haze, surface.fog / surface.coverage), surface.coverage);
}

void SoftRenderer::draw_mist(int steps) {
    mist_light.resize(output.width / 3, output.height / 3);
    mist_clear.resize(mist_light.width, mist_light.height);
    threads.run(mist_light.height, [&](int y) {
        for (int x = 0; x < mist_light.width; ++x) {
            const float u = (static_cast<float>(x) + 0.5f) / static_cast<float>(mist_light.width),
                        v = (static_cast<float>(y) + 0.5f) / static_cast<float>(mist_light.height);
            const Vec3 ray = ray_at(u, v);
            const float ahead = std::min(ahead_of(geometry.depth.nearest(u, v)), 150.0f),
                        length_in_mist = std::max(ahead - 14, 0.0f) / static_cast<float>(steps);
            const float towards = std::max(dot(normalize(ray), sun), 0.0f);
            const Vec3 bright = mix(Vec3{0.42f, 0.46f, 0.55f}, Vec3{2.6f, 1.7f, 0.95f}, towards * towards * towards);
            const float offset = static_cast<float>((x % 4 + 4 * (y % 4)) * 7 % 16) / 16;
            float clear = 1;
            Vec3 sum;
            for (int i = 0; i < steps; ++i) {
                const Vec3 world =
                    frame->camera.position +
                    ray * (14 + (ahead - 14) * (static_cast<float>(i) + offset) / static_cast<float>(steps));
                const float thick =
                    noise_at(world.x * 0.011f + frame->time * 0.004f, world.z * 0.011f + frame->time * 0.0025f).x +
                    0.10f - 0.045f * world.y;
                const float absorbed =
                    1 - std::exp(-smoothstep(0.30f, 0.75f, thick) * frame->weight.mist * 0.030f * length_in_mist);
                sum = sum + mix(Vec3{0.22f, 0.27f, 0.36f}, bright, sunlight_at(world, {})) * (clear * absorbed);
                clear *= 1 - absorbed;
            }
            mist_light.at(x, y) = sum;
            mist_clear.at(x, y) = clear;
        }
    });
    end_pass(pass_mist);
}

void SoftRenderer::blur(int reach) {
    constexpr std::array<float, 4> weights{0.30f, 0.20f, 0.10f, 0.05f};
    const auto pass = [&](const Plane<Vec3>& from, Plane<Vec3>& to, int across, int down) {
        threads.run(to.height, [&](int y) {
            for (int x = 0; x < to.width; ++x) {
                Vec3 sum;
                for (int i = -3; i <= 3; ++i)
                    sum = sum + from.at(std::clamp(x + i * across, 0, to.width - 1),
                                        std::clamp(y + i * down, 0, to.height - 1)) *
                                    weights[static_cast<std::size_t>(std::abs(i))];
                to.at(x, y) = sum;
            }
        });
    };
    pass(bloom, spare, reach, 0);
    pass(spare, bloom, 0, reach);
}

void SoftRenderer::draw_glow(int quality) {
    for (Plane<Vec3>* plane : {&bloom, &spare, &rays}) plane->resize(output.width / 4, output.height / 4);
    cover(bloom, [this](float u, float v) {
        const Vec3 c = light.linear(u, v);
        return Vec3{saturate((c.x - 1.2f) / 6) * 6, saturate((c.y - 1.2f) / 6) * 6, saturate((c.z - 1.2f) / 6) * 6};
    });
    if (quality > 1) {
        const Camera& c = frame->camera;
        const float ahead = dot(sun, c.forward), tan_y = c.tan_half_height;
        const float sun_u = 0.5f + 0.5f * dot(sun, c.right) / (ahead * tan_y * aspect()),
                    sun_v = 0.5f + 0.5f * dot(sun, c.up) / (ahead * tan_y);
        cover(rays, [&](float u, float v) {
            Vec3 sum;
            float weight = 1;
            for (int i = 1; i <= 24; ++i, weight *= 0.955f) {
                const float along = 0.92f * static_cast<float>(i) / 24, at_u = mix(u, sun_u, along),
                            at_v = mix(v, sun_v, along);
                if (at_u >= 0 && at_u <= 1 && at_v >= 0 && at_v <= 1) sum = sum + bloom.nearest(at_u, at_v) * weight;
            }
            return sum * (1.0f / 24);
        });
    }
    for (int reach : {1, 2}) blur(reach);
    end_pass(pass_glow);
}

Vec3 SoftRenderer::composite_at(float u, float v, const Choices& choices) const {
    Vec3 color = light.linear(u, v);
    if (frame->weight.mist > 0) color = color * mist_clear.linear(u, v) + mist_light.linear(u, v);
    if (amount(choices, glow) > 0) color = color + bloom.linear(u, v) * 0.35f;
    if (amount(choices, glow) > 1) color = color + rays.linear(u, v) * Vec3{0.80f, 0.60f, 0.42f};
    const float from_middle = (u - 0.5f) * (u - 0.5f) + (v - 0.5f) * (v - 0.5f);
    color = color * ((1 - 0.55f * from_middle) * 0.92f);
    const auto tone = [](float c) {
        return std::sqrt(saturate(c * (2.51f * c + 0.03f) / (c * (2.43f * c + 0.59f) + 0.14f)));
    };
    return {tone(color.x), tone(color.y), tone(color.z)};
}

Image SoftRenderer::read_image() {
    Image image{output.width, output.height, {}};
    for (int y = output.height - 1; y >= 0; --y)
        for (int x = 0; x < output.width; ++x)
            for (float channel : {output.at(x, y).x, output.at(x, y).y, output.at(x, y).z})
                image.rgb.push_back(static_cast<std::uint8_t>(std::lround(channel * 255)));
    return image;
}

} // namespace

std::unique_ptr<Renderer> make_soft_renderer(const Scene& scene, const RendererOptions& options) {
    const bool is_given = options.width > 0;
    return std::make_unique<SoftRenderer>(scene, is_given ? options.width : 320, is_given ? options.height : 180);
}

} // namespace frame_budget
