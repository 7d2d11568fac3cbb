// The renderer on GL, with timed passes. All programs are made at the start. Memory that depends on a choice is
// allocated when the choice changes, in a pass of its own.
#include <map>
#include <stdexcept>

#include "gl_geometry.h"
#include "gl_targets.h"
#include "gl_timer.h"
#include "renderer.h"
#include "shaders.h"

namespace frame_budget {

namespace {

/// The uniform block `Frame` of shaders.h, std140.
struct FrameConstants {
    Mat4 view_projection, sun_projection;
    Vec4 eye, ray_right, ray_up, ray_forward, sun, inner, outer;
};
static_assert(sizeof(FrameConstants) == 2 * 64 + 7 * 16);

struct Size {
    int width, height;
};

Size default_size(const GlContext& context) { return context.is_software ? Size{480, 270} : Size{2560, 1440}; }

class GlRenderer final : public Renderer {
public:
    GlRenderer(std::unique_ptr<GlContext> gl_context, const Scene& the_scene, Size size, bool with_processor_time);
    std::string description() const override;
    std::string clock() const override;
    float aspect() const override { return static_cast<float>(output.width) / static_cast<float>(output.height); }
    void prepare(const Choices& choices) override {
        adapt(choices);
        gl.Finish();
    }
    void render(const SceneFrame& frame, const Choices& choices, const FrameTag& tag) override;
    bool poll(FrameTimes& times) override { return timer.poll(times); }
    void finish() override { gl.Finish(); }
    Image read_image() override;

private:
    /// Draws over the whole of `target`, reading `textures` in the order of the program's samplers.
    void cover(const GlTarget& target, GLuint program, std::initializer_list<GLuint> textures);
    GLuint screen_program(const std::string& fragment, std::initializer_list<const char*> samplers);
    bool adapt(const Choices& choices) {
        return targets.adapt(amount(choices, resolution), amount(choices, shadows), amount(choices, antialiasing));
    }
    void set_constants(const SceneFrame& frame);
    void draw_shadows(int size);
    void draw_geometry(int samples, int tufts);
    void resolve_samples();
    void draw_mirror();
    void draw_glow(int quality);

    std::unique_ptr<GlContext> context;
    const Gl& gl;
    const Scene& scene;
    Size output, inner;
    GlTargets targets;
    GlGeometry geometry;
    GlTimer timer;
    bool use_processor_time;
    GLuint empty_array = 0, constants = 0;
    GLuint geometry_program = 0, shadow_program = 0, mirror_program = 0, smooth_program = 0, lighting_program = 0,
           bright_program = 0, blur_program = 0, rays_program = 0, composite_program = 0;
    GLint geometry_sway = -1, shadow_sway = -1, mirror_sway = -1, blur_direction = -1;
    std::map<int, GLuint> occlusion_programs, mist_programs;
};

GlRenderer::GlRenderer(std::unique_ptr<GlContext> gl_context, const Scene& the_scene, Size size,
                       bool with_processor_time)
    : context(std::move(gl_context)), gl(context->gl), scene(the_scene), output(size), inner(size),
      targets(gl, size.width, size.height), geometry(gl, the_scene), timer(*context, with_processor_time),
      use_processor_time(with_processor_time && context->is_software) {
    gl.GenVertexArrays(1, &empty_array);
    gl.GenBuffers(1, &constants);
    gl.BindBufferBase(GL_UNIFORM_BUFFER, 0, constants);

    using namespace std::string_literals;
    const std::string sky = shaders::sky, position = shaders::position, sunlight = shaders::sunlight;
    geometry_program = make_program(*context, shaders::geometry_vertex, shaders::geometry_fragment);
    shadow_program = make_program(*context, shaders::geometry_vertex, shaders::depth_fragment);
    mirror_program = make_program(*context, shaders::geometry_vertex, shaders::mirror_fragment);
    mirror_sway = gl.GetUniformLocation(mirror_program, "sway");
    geometry_sway = gl.GetUniformLocation(geometry_program, "sway");
    shadow_sway = gl.GetUniformLocation(shadow_program, "sway");
    for (const Option& option : settings[occlusion].options)
        if (option.amount > 0)
            occlusion_programs[option.amount] = screen_program("#define TAPS "s + std::to_string(option.amount) +
                                                                   position + shaders::occlusion_fragment,
                                                               {"depth_map", "shape_map"});
    for (int steps : mist_steps)
        mist_programs[steps] = screen_program("#define STEPS "s + std::to_string(steps) + position +
                                                  "uniform sampler2D noise_map;\n" + sunlight + shaders::mist_fragment,
                                              {"depth_map", "noise_map", "shadow_map"});
    smooth_program = screen_program(shaders::smooth_fragment, {"source"});
    lighting_program = screen_program(
        sky + position + sunlight + shaders::lighting_fragment,
        {"depth_map", "surface_map", "shape_map", "occlusion_map", "shadow_map", "noise_map", "mirror_map"});
    bright_program = screen_program(shaders::bright_fragment, {"source"});
    blur_program = screen_program(shaders::blur_fragment, {"source"});
    blur_direction = gl.GetUniformLocation(blur_program, "direction");
    rays_program = screen_program(shaders::rays_fragment, {"source"});
    composite_program = screen_program(shaders::composite_fragment, {"light_map", "mist_map", "bloom_map", "rays_map"});
    if (const GLenum error = gl.GetError(); error != 0)
        throw std::runtime_error("GL error " + std::to_string(error) + " while preparing");
}

std::string GlRenderer::description() const {
    return context->description + ", " + std::to_string(output.width) + "x" + std::to_string(output.height);
}

std::string GlRenderer::clock() const {
    if (use_processor_time) return processor_clock;
    return context->is_software ? "wall time of a frame (the rasteriser is the CPU); passes by GL timestamps"
                                : "GPU time of a frame, by GL timestamps";
}

GLuint GlRenderer::screen_program(const std::string& fragment, std::initializer_list<const char*> samplers) {
    const GLuint program = make_program(*context, shaders::screen_vertex, fragment);
    gl.UseProgram(program);
    GLint unit = 0;
    for (const char* sampler : samplers) gl.Uniform1i(gl.GetUniformLocation(program, sampler), unit++);
    return program;
}

void GlRenderer::cover(const GlTarget& target, GLuint program, std::initializer_list<GLuint> textures) {
    gl.BindFramebuffer(GL_FRAMEBUFFER, target.framebuffer);
    gl.Viewport(0, 0, target.texture.width, target.texture.height);
    gl.UseProgram(program);
    GLenum unit = GL_TEXTURE0;
    for (GLuint texture : textures) {
        gl.ActiveTexture(unit++);
        gl.BindTexture(GL_TEXTURE_2D, texture);
    }
    gl.BindVertexArray(empty_array);
    gl.DrawArrays(GL_TRIANGLES, 0, 3);
}

void GlRenderer::set_constants(const SceneFrame& frame) {
    inner = {targets.inner_width(), targets.inner_height()};
    const Camera& c = frame.camera;
    const auto with = [](Vec3 v, float w) { return Vec4{v.x, v.y, v.z, w}; };
    const Vec3 sun = scene.sun_direction();
    const float sun_ahead = dot(sun, c.forward), tan_x = c.tan_half_height * aspect();
    FrameConstants block;
    block.view_projection = perspective(c.tan_half_height, aspect(), near_plane, far_plane) *
                            view_from(c.position, c.right, c.up, c.forward);
    block.sun_projection = scene.sun_projection();
    block.eye = with(c.position, frame.time);
    block.ray_right = with(c.right * tan_x, near_plane);
    block.ray_up = with(c.up * c.tan_half_height, far_plane);
    block.ray_forward = with(c.forward, frame.weight.mist);
    block.sun = with(sun, 0);
    block.inner = {static_cast<float>(inner.width), static_cast<float>(inner.height), 1, 1};
    block.outer = {static_cast<float>(output.width), static_cast<float>(output.height),
                   0.5f + 0.5f * dot(sun, c.right) / (sun_ahead * tan_x),
                   0.5f + 0.5f * dot(sun, c.up) / (sun_ahead * c.tan_half_height)};
    gl.BindBuffer(GL_UNIFORM_BUFFER, constants);
    gl.BufferData(GL_UNIFORM_BUFFER, sizeof block, &block, GL_STREAM_DRAW);
}

void GlRenderer::render(const SceneFrame& frame, const Choices& choices, const FrameTag& tag) {
    timer.begin(tag);
    const int shadow_size = amount(choices, shadows), taps = amount(choices, occlusion),
              glow_quality = amount(choices, glow);
    const bool has_mirror = amount(choices, reflections) > 0, has_mist = frame.weight.mist > 0;
    const auto pick = [](const GlFeature& feature, bool is_on) {
        return is_on ? feature.on.texture.id : feature.off.id;
    };
    if (adapt(choices)) timer.after(pass_change);
    geometry.prepare(frame, amount(choices, detail), shadow_size > 0, has_mirror);
    set_constants(frame);

    if (shadow_size > 0) draw_shadows(shadow_size);
    draw_geometry(amount(choices, antialiasing), amount(choices, grass));
    if (taps > 0) {
        cover(targets.raw_occlusion, occlusion_programs.at(taps), {targets.depth.id, targets.shape.id});
        cover(targets.occlusion.on, smooth_program, {targets.raw_occlusion.texture.id});
        timer.after(pass_occlusion);
    }
    if (has_mirror) draw_mirror();

    const GLuint depth = targets.depth.id, noise = targets.noise.id,
                 shadow_map = pick(targets.shadow, shadow_size > 0);
    cover(targets.light, lighting_program,
               {depth, targets.surface.id, targets.shape.id, pick(targets.occlusion, taps > 0), shadow_map, noise,
                pick(targets.mirror, has_mirror)});
    timer.after(pass_lighting);

    if (has_mist) {
        cover(targets.raw_mist, mist_programs.at(mist_step_count(frame.weight.mist)), {depth, noise, shadow_map});
        cover(targets.mist.on, smooth_program, {targets.raw_mist.texture.id});
        timer.after(pass_mist);
    }
    if (glow_quality > 0) draw_glow(glow_quality);
    cover(targets.output, composite_program,
          {targets.light.texture.id, pick(targets.mist, has_mist), pick(targets.bloom, glow_quality > 0),
           pick(targets.rays, glow_quality > 1)});
    timer.after(pass_composite);
    timer.end();
}

void GlRenderer::draw_shadows(int size) {
    gl.BindFramebuffer(GL_FRAMEBUFFER, targets.shadow.on.framebuffer);
    gl.Viewport(0, 0, size, size);
    gl.Enable(GL_DEPTH_TEST);
    gl.Clear(GL_DEPTH_BUFFER_BIT);
    gl.UseProgram(shadow_program);
    gl.Enable(GL_POLYGON_OFFSET_FILL);
    gl.PolygonOffset(1.5f, 2);
    gl.Uniform2f(shadow_sway, 0.10f, 1);
    geometry.draw_casters();
    gl.Disable(GL_POLYGON_OFFSET_FILL);
    gl.Disable(GL_DEPTH_TEST);
    timer.after(pass_shadow);
}

void GlRenderer::draw_geometry(int samples, int tufts) {
    gl.BindFramebuffer(GL_FRAMEBUFFER, samples > 1 ? targets.multisampled.framebuffer : targets.geometry);
    gl.Viewport(0, 0, inner.width, inner.height);
    gl.Scissor(0, 0, inner.width, inner.height);
    gl.Enable(GL_SCISSOR_TEST);
    gl.Clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    gl.Disable(GL_SCISSOR_TEST);
    gl.Enable(GL_DEPTH_TEST);
    gl.Enable(GL_CULL_FACE);
    gl.UseProgram(geometry_program);
    gl.Uniform2f(geometry_sway, 0, 0);
    geometry.draw_ground();
    timer.after(pass_ground);
    gl.Uniform2f(geometry_sway, 0.10f, 0);
    geometry.draw_objects();
    timer.after(pass_objects);
    gl.Disable(GL_CULL_FACE);
    if (tufts > 0) {
        gl.Uniform2f(geometry_sway, 0.16f, 0);
        geometry.draw_grass(tufts);
        timer.after(pass_grass);
    }
    gl.Disable(GL_DEPTH_TEST);
    if (samples > 1) {
        resolve_samples();
        timer.after(pass_resolve);
    }
}

void GlRenderer::resolve_samples() {
    gl.BindFramebuffer(GL_READ_FRAMEBUFFER, targets.multisampled.framebuffer);
    gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, targets.geometry);
    const auto blit = [this](GLbitfield what) {
        gl.BlitFramebuffer(0, 0, inner.width, inner.height, 0, 0, inner.width, inner.height, what, GL_NEAREST);
    };
    const GLenum first[] = {GL_COLOR_ATTACHMENT0, GL_NONE}, second[] = {GL_NONE, GL_COLOR_ATTACHMENT0 + 1},
                 both[] = {first[0], second[1]};
    gl.ReadBuffer(first[0]);
    gl.DrawBuffers(2, first);
    blit(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    gl.ReadBuffer(second[1]);
    gl.DrawBuffers(2, second);
    blit(GL_COLOR_BUFFER_BIT);
    gl.DrawBuffers(2, both);
}

void GlRenderer::draw_mirror() {
    gl.BindFramebuffer(GL_FRAMEBUFFER, targets.mirror.on.framebuffer);
    gl.Viewport(0, 0, targets.mirror.on.texture.width, targets.mirror.on.texture.height);
    gl.Clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    gl.Enable(GL_DEPTH_TEST);
    gl.Enable(GL_CULL_FACE);
    gl.CullFace(GL_FRONT); // a mirror turns triangles around
    gl.UseProgram(mirror_program);
    gl.Uniform2f(mirror_sway, 0, 2);
    geometry.draw_ground();
    gl.Uniform2f(mirror_sway, 0.10f, 2);
    geometry.draw_mirrored();
    gl.CullFace(GL_BACK);
    gl.Disable(GL_CULL_FACE);
    gl.Disable(GL_DEPTH_TEST);
    timer.after(pass_mirror);
}

void GlRenderer::draw_glow(int quality) {
    const GlTarget &bloom = targets.bloom.on, &between = targets.raw_bloom;
    cover(bloom, bright_program, {targets.light.texture.id});
    if (quality > 1) cover(targets.rays.on, rays_program, {bloom.texture.id});
    for (float reach : {1.0f, 2.4f}) {
        gl.UseProgram(blur_program);
        gl.Uniform2f(blur_direction, reach, 0);
        cover(between, blur_program, {bloom.texture.id});
        gl.Uniform2f(blur_direction, 0, reach);
        cover(bloom, blur_program, {between.texture.id});
    }
    timer.after(pass_glow);
}

Image GlRenderer::read_image() {
    const auto width = static_cast<std::size_t>(output.width), height = static_cast<std::size_t>(output.height);
    std::vector<std::uint8_t> rgba(width * height * 4);
    gl.BindFramebuffer(GL_FRAMEBUFFER, targets.output.framebuffer);
    gl.PixelStorei(GL_PACK_ALIGNMENT, 1);
    gl.ReadPixels(0, 0, output.width, output.height, GL_RGBA, GL_UNSIGNED_BYTE, rgba.data());
    Image image{output.width, output.height, std::vector<std::uint8_t>(width * height * 3)};
    for (std::size_t y = 0; y < height; ++y) // GL's first row is the lowest
        for (std::size_t x = 0; x < width; ++x)
            for (std::size_t channel = 0; channel < 3; ++channel)
                image.rgb[(y * width + x) * 3 + channel] = rgba[((height - 1 - y) * width + x) * 4 + channel];
    return image;
}

} // namespace

std::unique_ptr<Renderer> make_gl_renderer(const Scene& scene, const RendererOptions& options, std::string& reason) {
    std::unique_ptr<GlContext> context = make_gl_context(options.device, options.only_es, reason);
    if (!context) return nullptr;
    if (!context->has_timers) {
        reason = "the GL driver has no timer queries";
        return nullptr;
    }
    Size size = default_size(*context);
    if (options.width > 0) size = {options.width, options.height};
    return std::make_unique<GlRenderer>(std::move(context), scene, size, options.use_processor_time);
}

} // namespace frame_budget
