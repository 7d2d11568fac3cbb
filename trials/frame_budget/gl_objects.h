// Programs, textures and framebuffers: helper functions that throw on errors.
#pragma once

#include <array>
#include <initializer_list>
#include <string>

#include "../common/gl_api.h"

namespace frame_budget {

using namespace trials;

struct GlTexture {
    GLuint id = 0;
    int width = 0, height = 0;
};

/// Compiles and links a program, and binds the uniform block `Frame`, if used, to binding 0.
GLuint make_program(const GlContext& context, const std::string& vertex, const std::string& fragment);

/// `format` is GL_RGBA8, GL_R8, GL_RGBA16F or GL_DEPTH_COMPONENT24.
GlTexture make_texture(const Gl& gl, GLenum format, int width, int height, GLenum filter, const void* pixels = nullptr);

/// Attaches the colours in order, and a depth texture if its id is not 0.
GLuint make_framebuffer(const Gl& gl, std::initializer_list<GlTexture> colors, GlTexture depth = {});

/// Resizes a texture of that format, and discards its content.
void resize_texture(const Gl& gl, GlTexture& texture, GLenum format, int width, int height);

/// Two colours and depth with several samples per pixel.
struct GlMultisampled {
    GLuint framebuffer = 0;
    std::array<GLuint, 3> buffers{};
};

/// Makes the smallest buffers; `resize_multisampled` enlarges them.
GlMultisampled make_multisampled_framebuffer(const Gl& gl);
void resize_multisampled(const Gl& gl, const GlMultisampled& target, int samples, int width, int height);

} // namespace frame_budget
