// program_cache_gl.cpp: a program cache in front of real OpenGL program binaries, in C++17.
//
// The first run compiles all programs and stores the binaries of glGetProgramBinary. The second run loads them with
// glProgramBinary and compiles none. A new driver or a refused binary costs a compile. A program that ends the process
// twice inside the driver is banned: a use is open from before glProgramBinary until its first frame is finished.
//
// EGL and OpenGL ES 3 are found at run time, without a window (Debian: libegl1 libgles2 libgl1-mesa-dri). Build and run
// it in the repository:
//
//     cargo build --release
//     c++ -std=c++17 -Iinclude examples/program_cache_gl.cpp -o program_cache_gl -Ltarget/release -lhobgoblin -ldl
//     LD_LIBRARY_PATH=target/release ./program_cache_gl [DIRECTORY]          (default: program_cache_gl.cache)

#include <hobgoblin/hobgoblin.hpp>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

#include <dlfcn.h>

namespace {

// The part of EGL and OpenGL ES that this file needs. With EGL/egl.h and GLES3/gl3.h these declarations are not needed.
using GLenum = unsigned int;
using GLuint = GLenum;
using GLint = int;
constexpr GLenum GL_TRIANGLES = 4, GL_VENDOR = 0x1F00, GL_RENDERER = 0x1F01, GL_VERSION = 0x1F02,
                 GL_FRAGMENT_SHADER = 0x8B30, GL_VERTEX_SHADER = 0x8B31, GL_LINK_STATUS = 0x8B82,
                 GL_PROGRAM_BINARY_RETRIEVABLE_HINT = 0x8257, GL_PROGRAM_BINARY_LENGTH = 0x8741,
                 GL_NUM_PROGRAM_BINARY_FORMATS = 0x87FE;
constexpr GLint EGL_EXTENSIONS = 0x3055, EGL_NONE = 0x3038, EGL_SURFACE_TYPE = 0x3033, EGL_PBUFFER_BIT = 1,
                EGL_RENDERABLE_TYPE = 0x3040, EGL_OPENGL_ES3_BIT = 0x40, EGL_WIDTH = 0x3057, EGL_HEIGHT = 0x3056,
                EGL_CONTEXT_MAJOR_VERSION = 0x3098;
constexpr GLenum EGL_OPENGL_ES_API = 0x30A0, EGL_PLATFORM_SURFACELESS_MESA = 0x31DD;

// X(return type, name, arguments)
#define EGL_FUNCTIONS(X)                                                                                               \
    X(const char*, eglQueryString, (void*, GLint)) X(unsigned, eglInitialize, (void*, GLint*, GLint*))                 \
    X(void*, eglGetPlatformDisplayEXT, (GLenum, void*, const GLint*)) X(void*, eglGetDisplay, (void*))                 \
    X(unsigned, eglChooseConfig, (void*, const GLint*, void**, GLint, GLint*)) X(unsigned, eglBindAPI, (GLenum))       \
    X(void*, eglCreateContext, (void*, void*, void*, const GLint*)) X(unsigned, eglTerminate, (void*))                 \
    X(void*, eglCreatePbufferSurface, (void*, void*, const GLint*))                                                    \
    X(unsigned, eglMakeCurrent, (void*, void*, void*, void*))
#define GL_FUNCTIONS(X)                                                                                                \
    X(const char*, glGetString, (GLenum)) X(void, glGetIntegerv, (GLenum, GLint*)) X(void, glFinish, ())               \
    X(GLuint, glCreateShader, (GLenum)) X(void, glShaderSource, (GLuint, GLint, const char* const*, const GLint*))     \
    X(void, glCompileShader, (GLuint)) X(void, glDeleteShader, (GLuint)) X(GLuint, glCreateProgram, ())                \
    X(void, glDeleteProgram, (GLuint)) X(void, glAttachShader, (GLuint, GLuint)) X(void, glLinkProgram, (GLuint))      \
    X(void, glUseProgram, (GLuint)) X(void, glGetProgramiv, (GLuint, GLenum, GLint*))                                  \
    X(void, glProgramParameteri, (GLuint, GLenum, GLint)) X(void, glDrawArrays, (GLenum, GLint, GLint))                \
    X(void, glProgramBinary, (GLuint, GLenum, const void*, GLint))                                                     \
    X(void, glGetProgramInfoLog, (GLuint, GLint, GLint*, char*))                                                       \
    X(void, glGetProgramBinary, (GLuint, GLint, GLint*, GLenum*, void*))

/// A context of OpenGL ES 3 without a window, and its functions.
struct Gl {
#define DECLARE(result, name, arguments) result(*name) arguments = nullptr;
    EGL_FUNCTIONS(DECLARE)
    GL_FUNCTIONS(DECLARE)
#undef DECLARE

    Gl() {
        void* const egl = dlopen("libEGL.so.1", RTLD_NOW); // stays loaded: drivers handle unloading badly
        if (egl == nullptr) throw std::runtime_error("there is no libEGL.so.1 (Debian: libegl1 libgl1-mesa-dri)");
        void* (*address)(const char*) = nullptr;
        assign(address, dlsym(egl, "eglGetProcAddress"), "eglGetProcAddress");
#define LOAD(result, name, arguments) assign(name, dlsym(egl, #name) ? dlsym(egl, #name) : address(#name), #name);
        EGL_FUNCTIONS(LOAD)
        const char* const extensions = eglQueryString(nullptr, EGL_EXTENSIONS);
        const bool has_surfaceless = extensions && std::strstr(extensions, "EGL_MESA_platform_surfaceless");
        display = has_surfaceless ? eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr)
                                  : eglGetDisplay(nullptr);
        const GLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_NONE};
        const GLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
        const GLint size[] = {EGL_WIDTH, 64, EGL_HEIGHT, 64, EGL_NONE};
        void* config = nullptr;
        GLint count = 0;
        if (eglInitialize(display, nullptr, nullptr) == 0 || eglBindAPI(EGL_OPENGL_ES_API) == 0 ||
            eglChooseConfig(display, wanted, &config, 1, &count) == 0 || count == 0)
            throw std::runtime_error("EGL offers no OpenGL ES 3");
        void* const context = eglCreateContext(display, config, nullptr, version);
        void* const surface = eglCreatePbufferSurface(display, config, size);
        if (!context || !surface || !eglMakeCurrent(display, surface, surface, context))
            throw std::runtime_error("EGL makes no context");
        GL_FUNCTIONS(LOAD)
#undef LOAD
    }
    Gl(const Gl&) = delete;
    ~Gl() { eglMakeCurrent(display, nullptr, nullptr, nullptr), eglTerminate(display); }

    bool is_linked(GLuint program) const {
        GLint linked = 0;
        glGetProgramiv(program, GL_LINK_STATUS, &linked);
        return linked != 0;
    }

private:
    template <class Function> static void assign(Function& function, void* address, const char* name) {
        if (address == nullptr) throw std::runtime_error(std::string("the driver lacks ") + name);
        std::memcpy(&function, &address, sizeof address);
    }
    void* display = nullptr;
};

const std::string vertex = "#version 300 es\n"
                           "void main() { gl_Position = vec4(gl_VertexID & 1, gl_VertexID >> 1, 0, 1); }";

std::string fragment(int rounds) {
    std::string text = "#version 300 es\nprecision highp float; out vec4 color; void main() { vec4 c = gl_FragCoord;";
    for (int i = 0; i < rounds; ++i) text += "c = sin(c.yzwx * " + std::to_string(i) + ".5) + c;\n";
    return text + "color = c; }";
}

/// Compiles and links a program from source.
void compile(const Gl& gl, GLuint program, const std::string& fragment_source) {
    for (const GLenum stage : {GL_VERTEX_SHADER, GL_FRAGMENT_SHADER}) {
        const char* const source = stage == GL_VERTEX_SHADER ? vertex.c_str() : fragment_source.c_str();
        const GLuint shader = gl.glCreateShader(stage);
        gl.glShaderSource(shader, 1, &source, nullptr);
        gl.glCompileShader(shader);
        gl.glAttachShader(program, shader);
        gl.glDeleteShader(shader); // when the program is deleted
    }
    gl.glProgramParameteri(program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, 1);
    gl.glLinkProgram(program);
    if (gl.is_linked(program)) return;
    char log[1024] = ""; // with the errors of its shaders
    gl.glGetProgramInfoLog(program, sizeof log, nullptr, log);
    throw std::runtime_error(std::string("a program does not link: ") + log);
}

/// Stores the binary of a linked program.
void store(const Gl& gl, const hob::ProgramCache& cache, const hob::Fingerprint& key, GLuint program, long long us) {
    GLint size = 0;
    gl.glGetProgramiv(program, GL_PROGRAM_BINARY_LENGTH, &size);
    std::string binary(static_cast<std::size_t>(size), '\0');
    hob::Program built;
    gl.glGetProgramBinary(program, size, &size, &built.format, binary.data());
    built.data = std::string_view(binary).substr(0, static_cast<std::size_t>(size));
    built.build_us = static_cast<std::uint64_t>(us); // programs that took longer are evicted later
    if (!built.data.empty()) cache.put(key, built);
}

void run(const std::string& directory) {
    const Gl gl;
    GLint formats = 0;
    gl.glGetIntegerv(GL_NUM_PROGRAM_BINARY_FORMATS, &formats);
    if (formats == 0) throw std::runtime_error("this driver returns no program binaries");
    hob::ProgramCacheOptions options;
    options.directory = directory;
    options.environment.api = HOB_GRAPHICS_API_OPENGL_ES;
    options.environment.vendor = hob_str_from(gl.glGetString(GL_VENDOR));
    options.environment.device = hob_str_from(gl.glGetString(GL_RENDERER));
    options.environment.driver = hob_str_from(gl.glGetString(GL_VERSION));
    const hob::ProgramCache cache{options};
    cache.wait_idle(); // behind a loading screen: reads all programs

    int compiled = 0, refused = 0, count = 0;
    for (int rounds = 4; rounds <= 64; rounds += 4, ++count) {
        const std::string source = fragment(rounds);
        hob::ProgramKey parts;
        parts.stage(HOB_SHADER_STAGE_VERTEX, vertex).stage(HOB_SHADER_STAGE_FRAGMENT, source);
        const hob::Fingerprint key = parts.fingerprint();
        const GLuint program = gl.glCreateProgram();
        const hob::Blob binary = cache.get(key); // from memory, without a copy
        hob::ProgramUse use = binary ? cache.begin_use(key) : hob::ProgramUse();
        const std::string_view data = binary.data();
        if (use) gl.glProgramBinary(program, binary.format(), data.data(), static_cast<GLint>(data.size()));
        if (!use || !gl.is_linked(program)) {
            refused += use ? 1 : 0;
            use.end(HOB_USE_OUTCOME_REJECTED); // removes the binary, before the next one is put
            const auto start = std::chrono::steady_clock::now();
            compile(gl, program, source);
            const auto time = std::chrono::steady_clock::now() - start;
            store(gl, cache, key, program, std::chrono::duration_cast<std::chrono::microseconds>(time).count());
            ++compiled;
        }
        gl.glUseProgram(program);
        gl.glDrawArrays(GL_TRIANGLES, 0, 3);
        gl.glFinish(); // in an engine: the fence of the frame
        use.end();     // the first frame is finished
        gl.glDeleteProgram(program);
    }
    cache.flush(); // reports a failed write; the destructor cannot
    std::printf("%d programs: %d compiled, %d refused by the driver\n", count, compiled, refused);
}

} // namespace

int main(int argument_count, char** arguments) {
    try {
        run(argument_count > 1 ? arguments[1] : "program_cache_gl.cache");
    } catch (const std::exception& error) { // hob::Error carries the library's sentence
        std::fprintf(stderr, "program_cache_gl: %s\n", error.what());
        return 1;
    }
}
