// The trial's own interface to the library. cache.cpp is the only file that includes the library's headers: it holds
// the code that a host has to write.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "../common/gl_api.h"
#include "corpus.h"

namespace program_cache_gl {

/// The driver's description of itself.
/// A binary is only given back to the environment that made it.
struct Environment {
    bool is_es = false;
    std::string vendor, device, driver;
};

struct Key {
    std::array<std::uint8_t, 32> bytes{};
};

/// A program's binary and the host's data about the program, as borrowed bytes.
struct Binary {
    std::uint32_t format = 0;
    const void* data = nullptr;
    std::size_t size = 0;
    const void* reflection = nullptr;
    std::size_t reflection_size = 0;
};

enum class Answer {
    hit,      ///< Found, and the driver took it.
    rejected, ///< Found, but the driver refused it. The cache has removed it.
    miss,     ///< Not found.
    banned    ///< The process died twice inside the driver with it: compile from source from now on.
};

/// The driver's progress with a binary.
enum class Taken { no, loaded, drawn };

class Cache {
public:
    /// Throws std::runtime_error when the directory cannot be used.
    Cache(const std::string& directory, const Environment& environment);
    ~Cache();
    Cache(const Cache&) = delete;
    Cache& operator=(const Cache&) = delete;

    /// Waits until every entry on disk for this environment is in memory, as a loading screen would.
    void load();

    Key key_of(const Program& program) const;

    /// Calls `driver_takes` with the binary for `key`, if there is one.
    /// A process that dies inside the call leaves a strike. Only a draw proves that a binary is good.
    Answer use(const Key& key, const std::function<Taken(const Binary&)>& driver_takes);

    /// Keeps a binary whose build took `build_us`.
    void put(const Key& key, const Binary& binary, std::uint64_t build_us);

    /// Waits until every binary that was put is written.
    void flush();

    /// Makes this the cache behind `egl_set` and `egl_get`, until it is destroyed.
    void bind_egl();
    static const trials::EglSetBlob egl_set;
    static const trials::EglGetBlob egl_get;

private:
    friend class Manager;
    struct Handle;
    std::unique_ptr<Handle> handle;
};

/// The driver calls that a manager makes.
/// Each returns whether it succeeded. The manager's own functions make all of these calls.
struct ManagedDriver {
    std::function<bool(trials::GLuint shader, std::string_view source)> compile;
    std::function<bool(trials::GLuint program)> link;
    std::function<bool(trials::GLuint program, const Binary& binary)> load;
    /// Reads the binary of a linked program; the bytes stay valid until the next call.
    std::function<bool(trials::GLuint program, Binary& binary)> binary;
};

/// The other way to use a cache: the manager decides when to compile, to link and to load.
class Manager {
public:
    Manager(const Cache& cache, ManagedDriver driver);
    ~Manager();
    Manager(const Manager&) = delete;
    Manager& operator=(const Manager&) = delete;

    enum class Compiled { now, put_off, never };
    enum class Linked { from_cache, from_sources, never };
    struct Shader {
        std::uint32_t index = 0, generation = 0;
    };

    /// Adds a shader, which the driver's functions receive as `object`.
    Shader add(bool is_vertex, trials::GLuint object, const std::string& source);
    /// Compiles a shader, or puts it off.
    /// `put_off`: it is known to compile, and is compiled once a program needs it.
    Compiled compile(Shader shader);
    Linked link(trials::GLuint program, Shader vertex, Shader fragment);
    /// Reports a successful draw with the program that was linked last.
    /// Call it before the next link, if at all.
    void drawn();

private:
    struct Handle;
    std::unique_ptr<Handle> handle;
};

} // namespace program_cache_gl
