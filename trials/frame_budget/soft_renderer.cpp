#include "soft_renderer.h"

#include "noise.h"

namespace frame_budget {

namespace {

constexpr std::array<std::array<float, 2>, 4> sample_offsets{
    {{-0.125f, -0.375f}, {0.375f, -0.125f}, {-0.375f, 0.125f}, {0.125f, 0.375f}}};

/// The lake and the sun see the same objects at every `detail`.
constexpr int coarsest = 0;

const Instance as_it_is{{0, 0, 0}, 1, 1, 0, {}};

template <typename T> void clear(Plane<T>& plane, int width, int height, const T& value) {
    plane.resize(width, height);
    std::fill(plane.texels.begin(), plane.texels.end(), value);
}

void clear(GeometryPlanes& planes, int width, int height) {
    clear(planes.depth, width, height, 1.0f);
    clear(planes.surface, width, height, Surface{});
}

} // namespace

SoftRenderer::SoftRenderer(const Scene& the_scene, int width, int height, bool with_processor_time)
    : scene(the_scene), raster(threads), sun(scene.sun_direction()), sun_projection(scene.sun_projection()),
      use_processor_time(with_processor_time) {
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
    const double now = now_ms(use_processor_time);
    times.pass_ms[pass] += now - pass_start;
    pass_start = now;
}

bool SoftRenderer::adapt(const Choices& choices) {
    const int new_shadow_size = amount(choices, shadows), new_percent = amount(choices, resolution),
              new_samples = amount(choices, antialiasing);
    const bool other_shadow = new_shadow_size != shadow_size, other_inner = new_percent != percent,
               other_samples = new_samples != samples || (new_samples > 1 && other_inner);
    shadow_size = new_shadow_size;
    percent = new_percent;
    samples = new_samples;
    const int width = output.width * percent / 100, height = output.height * percent / 100;
    if (other_shadow) {
        shadow = {}; // freed first, so that the memory is new
        clear(shadow, shadow_size, shadow_size, 1.0f);
    }
    if (other_inner) {
        geometry = {};
        light = {};
        clear(geometry, width, height);
        light.resize(width, height);
    }
    if (other_samples) {
        one_sample = {};
        if (samples > 1) clear(one_sample, width, height);
    }
    return other_shadow || other_inner || other_samples;
}

void SoftRenderer::render(const SceneFrame& scene_frame, const Choices& choices, const FrameTag& tag) {
    const double start = pass_start = now_ms(use_processor_time);
    frame = &scene_frame;
    times = {};
    times.tag = tag;
    const Camera& c = frame->camera;
    view.projection = perspective(c.tan_half_height, aspect(), near_plane, far_plane) *
                      view_from(c.position, c.right, c.up, c.forward);
    view.eye = c.position;
    view.seconds = frame->time;

    if (adapt(choices)) end_pass(pass_change);
    clear(shadow, 1, 1, 1.0f);
    clear(open, 1, 1, 1.0f);
    clear(mirror, 1, 1);
    if (amount(choices, shadows) > 0) draw_shadows(amount(choices, shadows));
    draw_geometry(choices);
    if (amount(choices, occlusion) > 0) draw_occlusion(amount(choices, occlusion));
    if (amount(choices, reflections) > 0) draw_mirror();
    draw_light();
    if (frame->weight.mist > 0) draw_mist(mist_step_count(frame->weight.mist));
    if (amount(choices, glow) > 0) draw_glow(amount(choices, glow));
    draw_composite(amount(choices, glow));
    times.total_ms = now_ms(use_processor_time) - start;
    finished.push_back(times);
}

std::vector<SoftBatch> SoftRenderer::object_batches(bool only_visible, int detail_amount) const {
    std::vector<SoftBatch> batches;
    for (const auto& levels : meshes)
        for (const Mesh& mesh : levels) batches.push_back({&mesh, {}});
    const auto add = [&](std::uint32_t object, std::size_t level) {
        const auto kind = static_cast<std::size_t>(scene.objects[object].kind);
        batches[kind * level_count + level].instances.push_back(scene.instance_of(object, *frame));
    };
    if (only_visible)
        for (const Visible& visible : frame->visible) add(visible.object, mesh_level(detail_amount, visible.distance));
    else
        for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(frame->weight.objects); ++i)
            if (scene.objects[i].kind != Kind::balloon) add(i, coarsest);
    return batches;
}

void SoftRenderer::draw_shadows(int size) {
    clear(shadow, size, size, 1.0f);
    SoftView from_sun = view;
    from_sun.projection = sun_projection;
    from_sun.sway = 0.10f;
    from_sun.two_sided = true;
    raster.set_up(object_batches(false, coarsest), from_sun, size, size);
    raster.draw(shadow, nullptr, 0, 0);
    end_pass(pass_shadow);
}

void SoftRenderer::draw_geometry(const Choices& choices) {
    const int width = output.width * percent / 100, height = output.height * percent / 100;
    const auto tufts = std::min(static_cast<std::size_t>(amount(choices, grass)), scene.tufts.size());
    const std::vector<SoftBatch> ground{{&scene.ground, {as_it_is}}};
    const std::vector<SoftBatch> lawn{
        {&grass_mesh, {scene.tufts.begin(), scene.tufts.begin() + static_cast<std::ptrdiff_t>(tufts)}}};
    const auto draw_all = [&](GeometryPlanes& planes, float offset_x, float offset_y) {
        const auto draw = [&](const std::vector<SoftBatch>& batches, float sway, bool two_sided, PassIndex pass) {
            SoftView with_wind = view;
            with_wind.sway = sway;
            with_wind.two_sided = two_sided;
            raster.set_up(batches, with_wind, width, height);
            raster.draw(planes.depth, &planes.surface, offset_x, offset_y);
            end_pass(pass);
        };
        clear(planes, width, height);
        draw(ground, 0, false, pass_ground);
        draw(object_batches(true, amount(choices, detail)), 0.10f, false, pass_objects);
        if (tufts > 0) draw(lawn, 0.16f, true, pass_grass);
    };
    if (samples == 1) return draw_all(geometry, 0, 0);

    clear(geometry, width, height);
    const float part = 1.0f / static_cast<float>(samples);
    for (int s = 0; s < samples; ++s) { // each sample is a picture of its own; the geometry buffer is their mean
        const auto [offset_x, offset_y] = sample_offsets[static_cast<std::size_t>(s)];
        draw_all(one_sample, offset_x, offset_y);
        if (s == 0) geometry.depth.texels = one_sample.depth.texels;
        for (std::size_t i = 0; i < geometry.surface.texels.size(); ++i) {
            const Surface& from = one_sample.surface.texels[i];
            Surface& to = geometry.surface.texels[i];
            to = {to.albedo + from.albedo * part, to.normal + from.normal * part, to.fog + from.fog * part,
                  to.coverage + from.coverage * part};
        }
        end_pass(pass_resolve);
    }
}

void SoftRenderer::draw_mirror() {
    clear(mirror, output.width / 2, output.height / 2);
    std::vector<SoftBatch> batches = object_batches(true, coarsest);
    batches.push_back({&scene.ground, {as_it_is}});
    SoftView upside_down = view;
    upside_down.mirrored = true;
    raster.set_up(batches, upside_down, mirror.depth.width, mirror.depth.height);
    raster.draw(mirror.depth, &mirror.surface, 0, 0);
    end_pass(pass_mirror);
}

Image SoftRenderer::read_image() {
    Image image{output.width, output.height, {}};
    for (int y = output.height - 1; y >= 0; --y)
        for (int x = 0; x < output.width; ++x) {
            const Vec3 color = output.at(x, y);
            for (float channel : {color.x, color.y, color.z})
                image.rgb.push_back(static_cast<std::uint8_t>(std::lround(channel * 255)));
        }
    return image;
}

std::unique_ptr<Renderer> make_soft_renderer(const Scene& scene, const RendererOptions& options) {
    const bool is_given = options.width > 0;
    return std::make_unique<SoftRenderer>(scene, is_given ? options.width : 320, is_given ? options.height : 180,
                                          options.use_processor_time);
}

} // namespace frame_budget
