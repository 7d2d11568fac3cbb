// The GL driver, with its program calls as plain functions, and with accidents on request.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache.h"

namespace program_cache_gl {

using trials::GLenum;
using trials::GLuint;

/// A uniform that samples a texture: the trial sets it before a draw.
struct Sampler {
    std::int32_t location = 0, unit = 0, count = 0;
};

enum class Accident { none, kill, abort };

class Driver {
public:
    /// Throws std::runtime_error without a GL driver, or without program binaries if `needs_binaries` is set.
    Driver(const std::string& device, bool needs_binaries);
    ~Driver();

    const trials::GlContext& gl_context() const { return *context; }
    trials::GlContext& gl_context() { return *context; }
    Environment environment() const;

    GLuint make_shader(GLenum stage) const;
    GLuint make_program(std::initializer_list<GLuint> shaders = {}) const;
    /// These three return whether the driver succeeded.
    /// The next accident happens inside the last of them.
    bool compile(GLuint shader, std::string_view source) const;
    bool link(GLuint program) const;
    bool load(GLuint program, const Binary& binary) const;

    /// Compiles and links; 0 when the driver refuses.
    GLuint build(const Program& program) const;
    /// Reads a program's binary; false when the driver gives none.
    bool binary_of(GLuint program, GLenum& format, std::vector<std::uint8_t>& bytes) const;
    std::vector<Sampler> samplers_of(GLuint program) const;
    /// Draws a triangle and waits for it: drivers finish compiling here.
    void draw(GLuint program, const std::vector<Sampler>& samplers) const;
    void discard(GLuint program) const;
    void discard_shader(GLuint shader) const;

    /// Makes the next `load` kill the process below glProgramBinary, as if the driver had crashed.
    static void prepare(Accident accident);

private:
    void make_target();

    std::unique_ptr<trials::GlContext> context;
};

/// Ends this process at once.
void die(Accident accident);

} // namespace program_cache_gl
