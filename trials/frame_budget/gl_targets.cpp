#include "gl_targets.h"

#include <algorithm>

#include "noise.h"
#include "settings.h"

namespace frame_budget {

namespace {

GlTarget color_target(const Gl& gl, GLenum format, int width, int height) {
    const GlTexture texture = make_texture(gl, format, std::max(width, 1), std::max(height, 1), GL_LINEAR);
    return {texture, make_framebuffer(gl, {texture})};
}

/// A feature whose replacement is filled with the neutral value `nothing`.
GlFeature feature(const Gl& gl, GLenum format, int width, int height, Vec4 nothing) {
    const GlTarget off = color_target(gl, format, width, height);
    gl.ClearColor(nothing.x, nothing.y, nothing.z, nothing.w);
    gl.Clear(GL_COLOR_BUFFER_BIT);
    return {color_target(gl, format, width, height), off.texture};
}

GlTarget shadow_map(const Gl& gl, int size) {
    const GlTexture map = make_texture(gl, GL_DEPTH_COMPONENT24, size, size, GL_LINEAR);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, static_cast<GLint>(GL_COMPARE_REF_TO_TEXTURE));
    const GlTarget target{map, make_framebuffer(gl, {}, map)};
    gl.Clear(GL_DEPTH_BUFFER_BIT);
    return target;
}

} // namespace

GlTargets::GlTargets(const Gl& the_gl, int width, int height) : gl(the_gl), full_width(width), full_height(height) {
    surface = make_texture(gl, GL_RGBA8, width, height, GL_NEAREST);
    shape = make_texture(gl, GL_RGBA8, width, height, GL_NEAREST);
    depth = make_texture(gl, GL_DEPTH_COMPONENT24, width, height, GL_NEAREST);
    geometry = make_framebuffer(gl, {surface, shape}, depth);
    multisampled = make_multisampled_framebuffer(gl);
    shadow = {shadow_map(gl, 1), shadow_map(gl, settings[shadows].options[1].amount).texture};

    light = color_target(gl, GL_RGBA16F, width, height);
    raw_occlusion = color_target(gl, GL_R8, width / 2, height / 2);
    occlusion = feature(gl, GL_R8, width / 2, height / 2, {1, 1, 1, 1});
    mirror = feature(gl, GL_RGBA16F, width / 2, height / 2, {0, 0, 0, 0});
    const GlTexture mirrored = mirror.on.texture;
    mirror.on.framebuffer = make_framebuffer(
        gl, {mirrored}, make_texture(gl, GL_DEPTH_COMPONENT24, mirrored.width, mirrored.height, GL_NEAREST));
    raw_mist = color_target(gl, GL_RGBA16F, width / 3, height / 3);
    mist = feature(gl, GL_RGBA16F, width / 3, height / 3, {0, 0, 0, 1});
    raw_bloom = color_target(gl, GL_RGBA16F, width / 4, height / 4);
    bloom = feature(gl, GL_RGBA16F, width / 4, height / 4, {0, 0, 0, 0});
    rays = feature(gl, GL_RGBA16F, width / 4, height / 4, {0, 0, 0, 0});
    output = color_target(gl, GL_RGBA8, width, height);

    noise = make_texture(gl, GL_RGBA8, noise_texture_size, noise_texture_size, GL_LINEAR, make_noise_texture().data());
    for (GLenum name : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
        gl.TexParameteri(GL_TEXTURE_2D, name, static_cast<GLint>(GL_REPEAT));
    gl.ClearColor(0, 0, 0, 0);
}

bool GlTargets::adapt(int percent, int shadow_size, int samples) {
    const int width = std::max(full_width * percent / 100, 1), height = std::max(full_height * percent / 100, 1);
    const bool other_inner = width != inner_width() || height != inner_height();
    const bool other_samples = samples != current_samples || (samples > 1 && other_inner);
    // A map that is not drawn shrinks to the smallest size.
    const bool other_shadow = shadow_size != current_shadow_size;
    current_samples = samples;
    current_shadow_size = shadow_size;
    if (other_inner) {
        resize_texture(gl, surface, GL_RGBA8, width, height);
        resize_texture(gl, shape, GL_RGBA8, width, height);
        resize_texture(gl, depth, GL_DEPTH_COMPONENT24, width, height);
        resize_texture(gl, light.texture, GL_RGBA16F, width, height);
    }
    if (other_samples)
        resize_multisampled(gl, multisampled, samples, samples > 1 ? width : 1, samples > 1 ? height : 1);
    if (other_shadow) {
        const int size = std::max(shadow_size, 1);
        resize_texture(gl, shadow.on.texture, GL_DEPTH_COMPONENT24, size, size);
    }
    // Clears new memory: drivers wipe old content at the first use, which is this one.
    const auto clear = [this](GLuint framebuffer, GLbitfield what) {
        gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
        gl.Clear(what);
    };
    if (other_inner) {
        clear(geometry, GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        clear(light.framebuffer, GL_COLOR_BUFFER_BIT);
    }
    if (other_samples) clear(multisampled.framebuffer, GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    if (other_shadow) clear(shadow.on.framebuffer, GL_DEPTH_BUFFER_BIT);
    return other_inner || other_samples || other_shadow;
}

} // namespace frame_budget
