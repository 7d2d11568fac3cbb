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

GlTexture shadow_map(const Gl& gl, int size, const void* pixels) {
    const GlTexture map = make_texture(gl, GL_DEPTH_COMPONENT24, size, size, GL_LINEAR, pixels);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, static_cast<GLint>(GL_COMPARE_REF_TO_TEXTURE));
    return map;
}

} // namespace

GlTargets::GlTargets(const Gl& gl, int width, int height) {
    surface = make_texture(gl, GL_RGBA8, width, height, GL_NEAREST);
    shape = make_texture(gl, GL_RGBA8, width, height, GL_NEAREST);
    depth = make_texture(gl, GL_DEPTH_COMPONENT24, width, height, GL_NEAREST);
    geometry = make_framebuffer(gl, {surface, shape}, depth);
    for (const Option& option : settings[antialiasing].options)
        if (option.amount > 1) multisampled[option.amount] = make_multisampled_framebuffer(gl, option.amount, width, height);
    for (const Option& option : settings[shadows].options)
        if (option.amount > 0) {
            const GlTexture map = shadow_map(gl, option.amount, nullptr);
            shadow[option.amount] = {map, make_framebuffer(gl, {}, map)};
        }
    const GlTexture mirrored = make_texture(gl, GL_RGBA16F, std::max(width / 2, 1), std::max(height / 2, 1), GL_LINEAR);
    mirror = {mirrored, make_framebuffer(gl, {mirrored}, make_texture(gl, GL_DEPTH_COMPONENT24, mirrored.width, mirrored.height, GL_NEAREST))};
    light = color_target(gl, GL_RGBA16F, width, height);
    for (GlTarget& target : occlusion) target = color_target(gl, GL_R8, width / 2, height / 2);
    for (GlTarget& target : mist) target = color_target(gl, GL_RGBA16F, width / 3, height / 3);
    for (GlTarget& target : bright) target = color_target(gl, GL_RGBA16F, width / 4, height / 4);
    rays = color_target(gl, GL_RGBA16F, width / 4, height / 4);
    output = color_target(gl, GL_RGBA8, width, height);

    const std::uint32_t farthest = 0xFFFFFFFFu;
    const std::uint8_t white_texel[4] = {255, 255, 255, 255};
    const std::uint8_t clear_texel[4] = {0, 0, 0, 0};
    const std::uint8_t black_texel[4] = {0, 0, 0, 255}; // adds nothing, and as mist lets everything through
    no_shadow = shadow_map(gl, 1, &farthest);
    white = make_texture(gl, GL_RGBA8, 1, 1, GL_LINEAR, white_texel);
    black = make_texture(gl, GL_RGBA8, 1, 1, GL_LINEAR, black_texel);
    clear = make_texture(gl, GL_RGBA8, 1, 1, GL_LINEAR, clear_texel);
    noise = make_texture(gl, GL_RGBA8, noise_texture_size, noise_texture_size, GL_LINEAR, make_noise_texture().data());
    for (GLenum name : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T}) gl.TexParameteri(GL_TEXTURE_2D, name, static_cast<GLint>(GL_REPEAT));
}

} // namespace frame_budget
