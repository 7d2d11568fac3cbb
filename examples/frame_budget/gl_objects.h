// Programs, textures and framebuffers: the plain work of making them, with errors as exceptions.
#pragma once

#include <array>
#include <initializer_list>
#include <string>

#include "../common/gl_api.h"

namespace frame_budget {

using namespace example;

struct GlTexture {
    GLuint id = 0;
    int width = 0, height = 0;
};

/// `bind_to` gives texture units to sampler names, `blocks[0]` is the frame's constants at binding 0.
GLuint make_program(const GlContext& context, const std::string& vertex, const std::string& fragment);

/// `format` is GL_RGBA8, GL_R8, GL_RGBA16F or GL_DEPTH_COMPONENT24.
GlTexture make_texture(const Gl& gl, GLenum format, int width, int height, GLenum filter, const void* pixels = nullptr);

/// Colours in order, and a depth texture if its id is not 0.
GLuint make_framebuffer(const Gl& gl, std::initializer_list<GlTexture> colors, GlTexture depth = {});

/// Gives a texture of that format another size, and forgets what was in it.
void resize_texture(const Gl& gl, GlTexture& texture, GLenum format, int width, int height);

/// Two colours and depth with several samples per pixel.
struct GlMultisampled {
    GLuint framebuffer = 0;
    std::array<GLuint, 3> buffers{};
};

/// As small as can be, until it is resized.
GlMultisampled make_multisampled_framebuffer(const Gl& gl);
void resize_multisampled(const Gl& gl, const GlMultisampled& target, int samples, int width, int height);

} // namespace frame_budget
