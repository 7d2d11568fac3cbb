// All that the example wants of the library. cache.cpp is what a host has to write: with hobgoblin.hpp, and on top of it
// the care that a VkPipelineCache wants.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <hobgoblin/hobgoblin.hpp>

#include "kernels.h"
#include "vulkan.h"

namespace program_cache_vk {

/// What the cache has for a key, about to be given to the driver. A process that dies while this is there leaves a strike.
class Found {
public:
    enum class Answer {
        hit,   ///< It was there.
        miss,  ///< It was not there.
        banned ///< The process died twice inside the driver with it: compile from source, from now on.
    };
    Answer answer() const { return is_banned ? Answer::banned : blob ? Answer::hit : Answer::miss; }
    /// They begin at a multiple of 16, where Vulkan wants a shader's binary.
    std::string_view bytes() const { return blob.data(); }

    /// The driver has run what was made of it, and nothing bad happened.
    void accept() { end(HOB_USE_OUTCOME_OK); }
    /// It is no good: it is not to be there any more.
    void reject() { end(HOB_USE_OUTCOME_REJECTED); }

private:
    friend class Cache;
    void end(hob_use_outcome outcome) {
        if (use) use.end(outcome);
    }

    hob::Blob blob;
    hob::ProgramUse use; ///< Ends as unused unless one of the above is called.
    bool is_banned = false;
};

class Cache {
public:
    /// `driver_name` stands for what the driver says of its version, unless it is empty. Throws std::runtime_error when the
    /// directory cannot be used.
    Cache(const std::string& directory, const Identity& identity, const std::string& driver_name);

    /// Waits until everything that is on disk for this environment is in memory: a loading screen's work.
    void load() const;

    /// The one entry in which the whole VkPipelineCache is.
    static hob::Fingerprint pipeline_cache_key();
    static hob::Fingerprint key_of(const Kernel& kernel);

    Found find(const hob::Fingerprint& key) const;

    /// Keeps bytes that took `build_us` to make.
    void put(const hob::Fingerprint& key, std::string_view bytes, std::uint64_t build_us) const;

    /// Waits until everything that was put is written.
    void flush() const;

private:
    hob::ProgramCache cache;
};

/// Whether these are the data of a VkPipelineCache of this very device and driver. A driver may do anything when it is
/// given data that were changed or are another's, and some do: nothing else is to be handed to it.
bool is_pipeline_cache_of(const Identity& identity, std::string_view data);

} // namespace program_cache_vk
