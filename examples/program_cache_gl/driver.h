// The GL driver, with its program calls as plain functions, and with accidents to order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache.h"

namespace program_cache_gl {

using example::GLenum;
using example::GLuint;

/// A uniform that samples a texture: what the example must know of a program before it can draw with it.
struct Sampler {
    std::int32_t location = 0, unit = 0, count = 0;
};

enum class Accident { none, kill, abort };

class Driver {
public:
    /// Throws std::runtime_error when there is no GL driver, or none that gives out program binaries.
    Driver(const std::string& device, bool needs_binaries);
    ~Driver();

    const example::GlContext& gl_context() const { return *context; }
    example::GlContext& gl_context() { return *context; }
    Environment environment() const;

    GLuint make_shader(GLenum stage) const;
    GLuint make_program(std::initializer_list<GLuint> shaders = {}) const;
    /// These three say whether the driver did it. The next accident happens inside the last.
    bool compile(GLuint shader, std::string_view source) const;
    bool link(GLuint program) const;
    bool load(GLuint program, const Binary& binary) const;

    /// Compiles and links. 0 when the driver refuses.
    GLuint build(const Program& program) const;
    /// False when the driver gives none.
    bool binary_of(GLuint program, GLenum& format, std::vector<std::uint8_t>& bytes) const;
    std::vector<Sampler> samplers_of(GLuint program) const;
    /// Draws a triangle and waits for it: drivers finish their compiling here.
    void draw(GLuint program, const std::vector<Sampler>& samplers) const;
    void discard(GLuint program) const;
    void discard_shader(GLuint shader) const;

    /// The process will die in the next `load`, below glProgramBinary, as if the driver had done it.
    static void prepare(Accident accident);

private:
    void make_target();

    std::unique_ptr<example::GlContext> context;
};

/// Ends this process without another word.
void die(Accident accident);

} // namespace program_cache_gl
