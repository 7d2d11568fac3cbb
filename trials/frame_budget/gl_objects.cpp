#include "gl_objects.h"

#include <stdexcept>
#include <vector>

#include "shaders.h"

namespace frame_budget {

namespace {

void check_framebuffer(const Gl& gl) {
    if (const GLenum status = gl.CheckFramebufferStatus(GL_FRAMEBUFFER); status != GL_FRAMEBUFFER_COMPLETE)
        throw std::runtime_error("this GL driver refuses a framebuffer (status " + std::to_string(status) + ")");
}

GLuint compile(const GlContext& context, GLenum stage, const std::string& body) {
    const Gl& gl = context.gl;
    const std::string version =
        context.is_es ? "#version 310 es\nprecision highp float;\nprecision highp int;\n" : "#version 330 core\n";
    const std::string text = version + shaders::common + body;
    const GLchar* source = text.c_str();
    const GLuint shader = gl.CreateShader(stage);
    gl.ShaderSource(shader, 1, &source, nullptr);
    gl.CompileShader(shader);
    GLint compiled = 0;
    gl.GetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    if (compiled == 0) {
        std::vector<GLchar> log(4096);
        gl.GetShaderInfoLog(shader, static_cast<GLsizei>(log.size()), nullptr, log.data());
        throw std::runtime_error("a shader does not compile:\n" + std::string(log.data()) + "\n" + body);
    }
    return shader;
}

/// Leaves the texture bound.
void fill_texture(const Gl& gl, GlTexture& texture, GLenum format, int width, int height, const void* pixels) {
    gl.BindTexture(GL_TEXTURE_2D, texture.id);
    const bool is_depth = format == GL_DEPTH_COMPONENT24;
    const GLenum channels = is_depth ? GL_DEPTH_COMPONENT : format == GL_R8 ? GL_RED : GL_RGBA;
    const GLenum type = is_depth ? GL_UNSIGNED_INT : format == GL_RGBA16F ? GL_HALF_FLOAT : GL_UNSIGNED_BYTE;
    gl.TexImage2D(GL_TEXTURE_2D, 0, static_cast<GLint>(format), width, height, 0, channels, type, pixels);
    texture.width = width;
    texture.height = height;
}

} // namespace

GLuint make_program(const GlContext& context, const std::string& vertex, const std::string& fragment) {
    const Gl& gl = context.gl;
    const GLuint program = gl.CreateProgram();
    for (GLuint shader : {compile(context, GL_VERTEX_SHADER, vertex), compile(context, GL_FRAGMENT_SHADER, fragment)}) {
        gl.AttachShader(program, shader);
        gl.DeleteShader(shader); // the program keeps it alive
    }
    gl.LinkProgram(program);
    GLint linked = 0;
    gl.GetProgramiv(program, GL_LINK_STATUS, &linked);
    if (linked == 0) {
        std::vector<GLchar> log(4096);
        gl.GetProgramInfoLog(program, static_cast<GLsizei>(log.size()), nullptr, log.data());
        throw std::runtime_error("a program does not link:\n" + std::string(log.data()));
    }
    constexpr GLuint not_used = 0xFFFFFFFFu;
    if (const GLuint block = gl.GetUniformBlockIndex(program, "Frame"); block != not_used)
        gl.UniformBlockBinding(program, block, 0);
    return program;
}

void resize_texture(const Gl& gl, GlTexture& texture, GLenum format, int width, int height) {
    fill_texture(gl, texture, format, width, height, nullptr);
}

GlTexture make_texture(const Gl& gl, GLenum format, int width, int height, GLenum filter, const void* pixels) {
    GlTexture texture;
    gl.GenTextures(1, &texture.id);
    fill_texture(gl, texture, format, width, height, pixels);
    for (GLenum name : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
        gl.TexParameteri(GL_TEXTURE_2D, name, static_cast<GLint>(filter));
    for (GLenum name : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
        gl.TexParameteri(GL_TEXTURE_2D, name, static_cast<GLint>(GL_CLAMP_TO_EDGE));
    return texture;
}

GLuint make_framebuffer(const Gl& gl, std::initializer_list<GlTexture> colors, GlTexture depth) {
    GLuint framebuffer = 0;
    gl.GenFramebuffers(1, &framebuffer);
    gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    std::vector<GLenum> attachments;
    for (const GlTexture& color : colors) {
        attachments.push_back(GL_COLOR_ATTACHMENT0 + static_cast<GLenum>(attachments.size()));
        gl.FramebufferTexture2D(GL_FRAMEBUFFER, attachments.back(), GL_TEXTURE_2D, color.id, 0);
    }
    if (depth.id != 0) gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, depth.id, 0);
    if (attachments.empty()) attachments.push_back(GL_NONE);
    gl.DrawBuffers(static_cast<GLsizei>(attachments.size()), attachments.data());
    if (colors.size() == 0) gl.ReadBuffer(GL_NONE);
    check_framebuffer(gl);
    return framebuffer;
}

GlMultisampled make_multisampled_framebuffer(const Gl& gl) {
    GlMultisampled target;
    gl.GenFramebuffers(1, &target.framebuffer);
    gl.GenRenderbuffers(static_cast<GLsizei>(target.buffers.size()), target.buffers.data());
    resize_multisampled(gl, target, 1, 1, 1);
    gl.BindFramebuffer(GL_FRAMEBUFFER, target.framebuffer);
    const GLenum attachments[] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT0 + 1, GL_DEPTH_ATTACHMENT};
    for (std::size_t i = 0; i < target.buffers.size(); ++i)
        gl.FramebufferRenderbuffer(GL_FRAMEBUFFER, attachments[i], GL_RENDERBUFFER, target.buffers[i]);
    gl.DrawBuffers(2, attachments);
    check_framebuffer(gl);
    return target;
}

void resize_multisampled(const Gl& gl, const GlMultisampled& target, int samples, int width, int height) {
    constexpr GLenum formats[] = {GL_RGBA8, GL_RGBA8, GL_DEPTH_COMPONENT24};
    for (std::size_t i = 0; i < target.buffers.size(); ++i) {
        gl.BindRenderbuffer(GL_RENDERBUFFER, target.buffers[i]);
        gl.RenderbufferStorageMultisample(GL_RENDERBUFFER, samples, formats[i], width, height);
    }
}

} // namespace frame_budget
