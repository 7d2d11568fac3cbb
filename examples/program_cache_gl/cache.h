// All that the example wants of the library, in the example's own words. cache.cpp is the only file that includes the
// library's headers: it is what a host has to write.
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

/// What the driver said about itself. A binary is only ever given back to the environment that made it.
struct Environment {
    bool is_es = false;
    std::string vendor, device, driver;
};

struct Key {
    std::array<std::uint8_t, 32> bytes{};
};

/// A program's binary and what the host needs to know of the program, as bytes that somebody else owns.
struct Binary {
    std::uint32_t format = 0;
    const void* data = nullptr;
    std::size_t size = 0;
    const void* reflection = nullptr;
    std::size_t reflection_size = 0;
};

enum class Answer {
    hit,      ///< It was there and the driver took it.
    rejected, ///< It was there and the driver did not take it. It is not there any more.
    miss,     ///< It was not there.
    banned    ///< The process died twice inside the driver with it: compile from source, from now on.
};

/// What the driver did with a binary.
enum class Taken { no, loaded, drawn };

class Cache {
public:
    /// Throws std::runtime_error when the directory cannot be used.
    Cache(const std::string& directory, const Environment& environment);
    ~Cache();
    Cache(const Cache&) = delete;
    Cache& operator=(const Cache&) = delete;

    /// Waits until everything that is on disk for this environment is in memory: a loading screen's work.
    void load();

    Key key_of(const Program& program) const;

    /// If there is a binary for `key`, calls `driver_takes` with it. A process that dies in there leaves a strike. Only what
    /// has drawn is known to be good.
    Answer use(const Key& key, const std::function<Taken(const Binary&)>& driver_takes);

    /// Keeps a binary that took `build_us` to make.
    void put(const Key& key, const Binary& binary, std::uint64_t build_us);

    /// Waits until everything that was put is written.
    void flush();

    /// Makes this the cache behind `egl_set` and `egl_get`, until it is destroyed.
    void bind_egl();
    static const example::EglSetBlob egl_set;
    static const example::EglGetBlob egl_get;

private:
    friend class Manager;
    struct Handle;
    std::unique_ptr<Handle> handle;
};

/// What a manager has done of a driver. Each says whether it was done; all are called by what the manager is told to do.
struct ManagedDriver {
    std::function<bool(example::GLuint shader, std::string_view source)> compile;
    std::function<bool(example::GLuint program)> link;
    std::function<bool(example::GLuint program, const Binary& binary)> load;
    /// Of a linked program. The bytes stay until the next call.
    std::function<bool(example::GLuint program, Binary& binary)> binary;
};

/// The other way to use a cache: it decides when to compile, to link and to load.
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

    /// What the driver's functions are given for it is `object`.
    Shader add(bool is_vertex, example::GLuint object, const std::string& source);
    /// `put_off`: it is known to compile, and is compiled once a program needs it.
    Compiled compile(Shader shader);
    Linked link(example::GLuint program, Shader vertex, Shader fragment);
    /// The program that was linked last was drawn with, and nothing bad happened. Before the next link, if at all.
    void drawn();

private:
    struct Handle;
    std::unique_ptr<Handle> handle;
};

} // namespace program_cache_gl
