#include "driver.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

#ifndef _WIN32
#include <sys/resource.h>
#endif

namespace program_cache_gl {

using namespace trials;

namespace {

constexpr int target_side = 64;

Accident next_accident = Accident::none;
decltype(Gl::ProgramBinary) real_program_binary = nullptr;

/// Replaces the driver's function. To all callers an accident looks like a crash of the driver.
void program_binary_with_accidents(GLuint program, GLenum format, const void* binary, GLsizei size) {
    if (next_accident != Accident::none) die(next_accident);
    real_program_binary(program, format, binary, size);
}

std::string text_of(const Gl& gl, GLenum name) {
    const unsigned char* text = gl.GetString(name);
    return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

bool is_linked(const Gl& gl, GLuint program) {
    GLint linked = 0;
    gl.GetProgramiv(program, GL_LINK_STATUS, &linked);
    return linked != 0;
}

/// The types of samplers as the Khronos registry numbers them: in five ranges.
bool is_sampler(GLenum type) {
    constexpr GLenum ranges[][2] = {
        {0x8B5D, 0x8B64}, {0x8DC0, 0x8DC5}, {0x8DC9, 0x8DD8}, {0x900C, 0x900F}, {0x9108, 0x910D}};
    return std::any_of(std::begin(ranges), std::end(ranges),
                       [type](const GLenum(&range)[2]) { return type >= range[0] && type <= range[1]; });
}

} // namespace

void die(Accident accident) {
#ifndef _WIN32
    const rlimit no_core_file{0, 0};
    setrlimit(RLIMIT_CORE, &no_core_file);
    if (accident == Accident::kill) std::raise(SIGKILL);
#endif
    std::abort();
}

void Driver::prepare(Accident accident) { next_accident = accident; }

Driver::Driver(const std::string& device, bool needs_binaries) {
    std::string reason;
    context = make_gl_context(device, false, reason);
    if (!context) throw std::runtime_error("no GL: " + reason);
    if (needs_binaries && !context->has_program_binaries)
        throw std::runtime_error("this GL driver gives out no program binaries (GL_NUM_PROGRAM_BINARY_FORMATS is 0); "
                                 "with Mesa, MESA_SHADER_CACHE_DISABLE must not be set");
    real_program_binary = context->gl.ProgramBinary;
    context->gl.ProgramBinary = program_binary_with_accidents;
    make_target();
}

Driver::~Driver() = default;

void Driver::make_target() {
    const Gl& gl = context->gl;
    GLuint array = 0, framebuffer = 0, color = 0;
    gl.GenVertexArrays(1, &array);
    gl.BindVertexArray(array);
    gl.GenTextures(1, &color);
    gl.BindTexture(GL_TEXTURE_2D, color);
    gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, target_side, target_side, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    gl.GenFramebuffers(1, &framebuffer);
    gl.BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, color, 0);
    gl.Viewport(0, 0, target_side, target_side);
    gl.BindTexture(GL_TEXTURE_2D, 0);
    if (gl.CheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        throw std::runtime_error("this GL driver refuses a plain framebuffer");
}

Environment Driver::environment() const {
    const Gl& gl = context->gl;
    return {context->is_es, text_of(gl, GL_VENDOR), text_of(gl, GL_RENDERER),
            text_of(gl, GL_VERSION)};
}

GLuint Driver::make_shader(GLenum stage) const { return context->gl.CreateShader(stage); }

GLuint Driver::make_program(std::initializer_list<GLuint> shaders) const {
    const Gl& gl = context->gl;
    const GLuint program = gl.CreateProgram();
    for (const GLuint shader : shaders) gl.AttachShader(program, shader);
    if (context->has_program_binaries) gl.ProgramParameteri(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, 1);
    return program;
}

bool Driver::compile(GLuint shader, std::string_view source) const {
    const Gl& gl = context->gl;
    const GLchar* text = source.data();
    const GLint size = static_cast<GLint>(source.size());
    gl.ShaderSource(shader, 1, &text, &size);
    gl.CompileShader(shader);
    GLint compiled = 0;
    gl.GetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    return compiled != 0;
}

bool Driver::link(GLuint program) const {
    context->gl.LinkProgram(program);
    return is_linked(context->gl, program);
}

bool Driver::load(GLuint program, const Binary& binary) const {
    const Gl& gl = context->gl;
    gl.ProgramBinary(program, binary.format, binary.data, static_cast<GLsizei>(binary.size));
    if (is_linked(gl, program)) return true;
    gl.GetError(); // an unknown format also raises an error
    return false;
}

GLuint Driver::build(const Program& source) const {
    const GLuint vertex = make_shader(GL_VERTEX_SHADER), fragment = make_shader(GL_FRAGMENT_SHADER);
    GLuint program = 0;
    if (compile(vertex, source.vertex) && compile(fragment, source.fragment)) {
        program = make_program({vertex, fragment});
        if (!link(program)) {
            discard(program);
            program = 0;
        }
    }
    for (const GLuint shader : {vertex, fragment}) discard_shader(shader);
    return program;
}

bool Driver::binary_of(GLuint program, GLenum& format, std::vector<std::uint8_t>& bytes) const {
    const Gl& gl = context->gl;
    GLint size = 0;
    gl.GetProgramiv(program, GL_PROGRAM_BINARY_LENGTH, &size);
    bytes.resize(static_cast<std::size_t>(std::max(size, 0)));
    GLsizei written = 0;
    if (size > 0) gl.GetProgramBinary(program, size, &written, &format, bytes.data());
    bytes.resize(static_cast<std::size_t>(std::max(written, 0)));
    return !bytes.empty() && gl.GetError() == GL_NO_ERROR;
}

std::vector<Sampler> Driver::samplers_of(GLuint program) const {
    const Gl& gl = context->gl;
    GLint count = 0, longest = 0;
    gl.GetProgramiv(program, GL_ACTIVE_UNIFORMS, &count);
    gl.GetProgramiv(program, GL_ACTIVE_UNIFORM_MAX_LENGTH, &longest);
    std::vector<GLchar> name(static_cast<std::size_t>(std::max(longest, 1)));
    std::vector<Sampler> samplers;
    std::vector<GLenum> types; // samplers of different types may not share a unit
    for (GLint i = 0; i < count; ++i) {
        GLint elements = 0;
        GLenum type = 0;
        gl.GetActiveUniform(program, static_cast<GLuint>(i), static_cast<GLsizei>(name.size()), nullptr, &elements,
                            &type, name.data());
        if (!is_sampler(type)) continue;
        const auto known = std::find(types.begin(), types.end(), type);
        const auto unit = static_cast<std::int32_t>(known - types.begin());
        if (known == types.end()) types.push_back(type);
        samplers.push_back({gl.GetUniformLocation(program, name.data()), unit, elements});
    }
    return samplers;
}

void Driver::draw(GLuint program, const std::vector<Sampler>& samplers) const {
    const Gl& gl = context->gl;
    gl.UseProgram(program);
    std::vector<GLint> units;
    for (const Sampler& sampler : samplers) {
        units.assign(static_cast<std::size_t>(sampler.count), sampler.unit);
        gl.Uniform1iv(sampler.location, sampler.count, units.data());
    }
    gl.DrawArrays(GL_TRIANGLES, 0, 3);
    gl.Finish();
    gl.UseProgram(0);
    if (const GLenum error = gl.GetError(); error != GL_NO_ERROR)
        throw std::runtime_error("the GL driver refuses to draw (error " + std::to_string(error) + ")");
}

void Driver::discard(GLuint program) const { context->gl.DeleteProgram(program); }
void Driver::discard_shader(GLuint shader) const { context->gl.DeleteShader(shader); }

} // namespace program_cache_gl
