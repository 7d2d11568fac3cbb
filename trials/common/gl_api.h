// The part of OpenGL 3.3 .. 4.5 / ES 3 and of EGL that the trials use, declared by hand. The trials build on a
// machine without GL headers and link to no GL library. Constants and signatures are those of the Khronos registry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trials {

using GLenum = unsigned int;
using GLuint = unsigned int;
using GLint = int;
using GLsizei = int;
using GLbitfield = unsigned int;
using GLboolean = unsigned char;
using GLfloat = float;
using GLchar = char;
using GLsizeiptr = std::ptrdiff_t;
using GLuint64 = std::uint64_t;

inline constexpr GLenum GL_DEPTH_BUFFER_BIT = 0x0100, GL_COLOR_BUFFER_BIT = 0x4000, GL_TRIANGLES = 0x0004, GL_NONE = 0,
                        GL_FRONT = 0x0404, GL_BACK = 0x0405, GL_CULL_FACE = 0x0B44, GL_DEPTH_TEST = 0x0B71,
                        GL_SCISSOR_TEST = 0x0C11, GL_PACK_ALIGNMENT = 0x0D05, GL_TEXTURE_2D = 0x0DE1,
                        GL_UNSIGNED_BYTE = 0x1401, GL_UNSIGNED_INT = 0x1405, GL_FLOAT = 0x1406, GL_HALF_FLOAT = 0x140B,
                        GL_DEPTH_COMPONENT = 0x1902, GL_RED = 0x1903, GL_RGBA = 0x1908, GL_RENDERER = 0x1F01,
                        GL_VERSION = 0x1F02, GL_NEAREST = 0x2600, GL_LINEAR = 0x2601, GL_TEXTURE_MAG_FILTER = 0x2800,
                        GL_TEXTURE_MIN_FILTER = 0x2801, GL_TEXTURE_WRAP_S = 0x2802, GL_TEXTURE_WRAP_T = 0x2803,
                        GL_REPEAT = 0x2901, GL_POLYGON_OFFSET_FILL = 0x8037, GL_RGBA8 = 0x8058,
                        GL_CLAMP_TO_EDGE = 0x812F, GL_DEPTH_COMPONENT24 = 0x81A6, GL_R8 = 0x8229, GL_TEXTURE0 = 0x84C0,
                        GL_QUERY_RESULT = 0x8866, GL_QUERY_RESULT_AVAILABLE = 0x8867, GL_ARRAY_BUFFER = 0x8892,
                        GL_STREAM_DRAW = 0x88E0, GL_STATIC_DRAW = 0x88E4, GL_TEXTURE_COMPARE_MODE = 0x884C,
                        GL_COMPARE_REF_TO_TEXTURE = 0x884E, GL_UNIFORM_BUFFER = 0x8A11, GL_FRAGMENT_SHADER = 0x8B30,
                        GL_VERTEX_SHADER = 0x8B31, GL_COMPILE_STATUS = 0x8B81, GL_LINK_STATUS = 0x8B82,
                        GL_RGBA16F = 0x881A, GL_READ_FRAMEBUFFER = 0x8CA8, GL_DRAW_FRAMEBUFFER = 0x8CA9,
                        GL_FRAMEBUFFER_COMPLETE = 0x8CD5, GL_COLOR_ATTACHMENT0 = 0x8CE0, GL_DEPTH_ATTACHMENT = 0x8D00,
                        GL_FRAMEBUFFER = 0x8D40, GL_RENDERBUFFER = 0x8D41, GL_TIMESTAMP = 0x8E28,
                        GL_GPU_DISJOINT = 0x8FBB, GL_NUM_EXTENSIONS = 0x821D, GL_EXTENSIONS = 0x1F03,
                        GL_NO_ERROR = 0, GL_VENDOR = 0x1F00,
                        GL_PROGRAM_BINARY_RETRIEVABLE_HINT = 0x8257, GL_PROGRAM_BINARY_LENGTH = 0x8741,
                        GL_NUM_PROGRAM_BINARY_FORMATS = 0x87FE, GL_ACTIVE_UNIFORMS = 0x8B86,
                        GL_ACTIVE_UNIFORM_MAX_LENGTH = 0x8B87;

// X(return type, name without the gl, arguments)
#define TRIALS_GL_FUNCTIONS(X)                                                                       \
    X(void, ActiveTexture, (GLenum))                                                                       \
    X(void, AttachShader, (GLuint, GLuint))                                                                \
    X(void, BindBuffer, (GLenum, GLuint))                                                                  \
    X(void, BindBufferBase, (GLenum, GLuint, GLuint))                                                      \
    X(void, BindFramebuffer, (GLenum, GLuint))                                                             \
    X(void, BindRenderbuffer, (GLenum, GLuint))                                                            \
    X(void, BindTexture, (GLenum, GLuint))                                                                 \
    X(void, BindVertexArray, (GLuint))                                                                     \
    X(void, BlitFramebuffer, (GLint, GLint, GLint, GLint, GLint, GLint, GLint, GLint, GLbitfield, GLenum)) \
    X(void, BufferData, (GLenum, GLsizeiptr, const void*, GLenum))                                         \
    X(GLenum, CheckFramebufferStatus, (GLenum))                                                            \
    X(void, Clear, (GLbitfield))                                                                           \
    X(void, ClearColor, (GLfloat, GLfloat, GLfloat, GLfloat))                                              \
    X(void, CompileShader, (GLuint))                                                                       \
    X(GLuint, CreateProgram, ())                                                                           \
    X(GLuint, CreateShader, (GLenum))                                                                      \
    X(void, CullFace, (GLenum))                                                                            \
    X(void, DeleteProgram, (GLuint))                                                                       \
    X(void, DeleteShader, (GLuint))                                                                        \
    X(void, Disable, (GLenum))                                                                             \
    X(void, DrawArrays, (GLenum, GLint, GLsizei))                                                          \
    X(void, DrawArraysInstanced, (GLenum, GLint, GLsizei, GLsizei))                                        \
    X(void, DrawBuffers, (GLsizei, const GLenum*))                                                         \
    X(void, Enable, (GLenum))                                                                              \
    X(void, EnableVertexAttribArray, (GLuint))                                                             \
    X(void, Finish, ())                                                                                    \
    X(void, Flush, ())                                                                                     \
    X(void, FramebufferRenderbuffer, (GLenum, GLenum, GLenum, GLuint))                                     \
    X(void, FramebufferTexture2D, (GLenum, GLenum, GLenum, GLuint, GLint))                                 \
    X(void, GenBuffers, (GLsizei, GLuint*))                                                                \
    X(void, GenFramebuffers, (GLsizei, GLuint*))                                                           \
    X(void, GenRenderbuffers, (GLsizei, GLuint*))                                                          \
    X(void, GenTextures, (GLsizei, GLuint*))                                                               \
    X(void, GenVertexArrays, (GLsizei, GLuint*))                                                           \
    X(void, GetActiveUniform, (GLuint, GLuint, GLsizei, GLsizei*, GLint*, GLenum*, GLchar*))               \
    X(GLenum, GetError, ())                                                                                \
    X(void, GetIntegerv, (GLenum, GLint*))                                                                 \
    X(void, GetProgramInfoLog, (GLuint, GLsizei, GLsizei*, GLchar*))                                       \
    X(void, GetProgramiv, (GLuint, GLenum, GLint*))                                                        \
    X(void, GetShaderInfoLog, (GLuint, GLsizei, GLsizei*, GLchar*))                                        \
    X(void, GetShaderiv, (GLuint, GLenum, GLint*))                                                         \
    X(const unsigned char*, GetString, (GLenum))                                                           \
    X(const unsigned char*, GetStringi, (GLenum, GLuint))                                                  \
    X(GLuint, GetUniformBlockIndex, (GLuint, const GLchar*))                                               \
    X(GLint, GetUniformLocation, (GLuint, const GLchar*))                                                  \
    X(void, LinkProgram, (GLuint))                                                                         \
    X(void, PixelStorei, (GLenum, GLint))                                                                  \
    X(void, PolygonOffset, (GLfloat, GLfloat))                                                             \
    X(void, ReadBuffer, (GLenum))                                                                          \
    X(void, ReadPixels, (GLint, GLint, GLsizei, GLsizei, GLenum, GLenum, void*))                           \
    X(void, RenderbufferStorageMultisample, (GLenum, GLsizei, GLenum, GLsizei, GLsizei))                   \
    X(void, Scissor, (GLint, GLint, GLsizei, GLsizei))                                                     \
    X(void, ShaderSource, (GLuint, GLsizei, const GLchar* const*, const GLint*))                           \
    X(void, TexImage2D, (GLenum, GLint, GLint, GLsizei, GLsizei, GLint, GLenum, GLenum, const void*))      \
    X(void, TexParameteri, (GLenum, GLenum, GLint))                                                        \
    X(void, Uniform1i, (GLint, GLint))                                                                     \
    X(void, Uniform1iv, (GLint, GLsizei, const GLint*))                                                    \
    X(void, Uniform2f, (GLint, GLfloat, GLfloat))                                                          \
    X(void, UniformBlockBinding, (GLuint, GLuint, GLuint))                                                 \
    X(void, UseProgram, (GLuint))                                                                          \
    X(void, VertexAttribDivisor, (GLuint, GLuint))                                                         \
    X(void, VertexAttribPointer, (GLuint, GLint, GLenum, GLboolean, GLsizei, const void*))                 \
    X(void, Viewport, (GLint, GLint, GLsizei, GLsizei))

// Timer queries: core in OpenGL 3.3, with the suffix EXT in OpenGL ES (EXT_disjoint_timer_query).
#define TRIALS_GL_TIMER_FUNCTIONS(X)                \
    X(void, GenQueries, (GLsizei, GLuint*))               \
    X(void, QueryCounter, (GLuint, GLenum))               \
    X(void, GetQueryObjectuiv, (GLuint, GLenum, GLuint*)) \
    X(void, GetQueryObjectui64v, (GLuint, GLenum, GLuint64*))

// Program binaries: OpenGL 4.1 and ES 3.0.
#define TRIALS_GL_BINARY_FUNCTIONS(X)                                              \
    X(void, GetProgramBinary, (GLuint, GLsizei, GLsizei*, GLenum*, void*))          \
    X(void, ProgramBinary, (GLuint, GLenum, const void*, GLsizei))                  \
    X(void, ProgramParameteri, (GLuint, GLenum, GLint))

struct Gl {
#define TRIALS_DECLARE(result, name, arguments) result(*name) arguments = nullptr;
    TRIALS_GL_FUNCTIONS(TRIALS_DECLARE)
    TRIALS_GL_TIMER_FUNCTIONS(TRIALS_DECLARE)
    TRIALS_GL_BINARY_FUNCTIONS(TRIALS_DECLARE)
#undef TRIALS_DECLARE
};

/// The two functions of EGL_ANDROID_blob_cache: no user data, called from any thread.
using EglSetBlob = void (*)(const void* key, std::ptrdiff_t key_size, const void* value, std::ptrdiff_t value_size);
using EglGetBlob = std::ptrdiff_t (*)(const void* key, std::ptrdiff_t key_size, void* value, std::ptrdiff_t value_size);

/// A current context and its functions.
/// The destructor destroys the context.
class GlContext {
public:
    virtual ~GlContext() = default;
    /// Whether the driver can keep its own shader cache through two host functions (EGL_ANDROID_blob_cache).
    virtual bool offers_blob_cache() const = 0;
    /// Gives the two functions to the driver; false when it refuses.
    /// A driver takes them once per display.
    virtual bool set_blob_cache(EglSetBlob set, EglGetBlob get) = 0;

    Gl gl;
    bool is_es = false;
    bool has_timers = false;          ///< Timer queries work.
    bool has_program_binaries = false; ///< The driver offers at least one binary format.
    bool is_software = false; ///< Rasterised by the CPU: wall time is GPU time.
    std::string description;  ///< Example: "OpenGL 4.5, llvmpipe (...), through EGL surfaceless".
};

/// Loads EGL and makes a context current on `device`.
/// `device` is "auto" (the first hardware device, else surfaceless), "surfaceless" or the number of an EGL device. The
/// context is OpenGL, or OpenGL ES where OpenGL is missing or `only_es` is set. On failure returns nullptr and sets
/// `reason`.
std::unique_ptr<GlContext> make_gl_context(const std::string& device, bool only_es, std::string& reason);

/// One line per EGL device.
std::vector<std::string> list_gl_devices();

} // namespace trials
