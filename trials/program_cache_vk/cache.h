// The trial's interface to the library. cache.cpp holds the code that a host has to write: calls to hobgoblin.hpp,
// and the checks that a VkPipelineCache needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <hobgoblin/hobgoblin.hpp>

#include "kernels.h"
#include "vulkan_names.h"

namespace program_cache_vk {

/// The cache's entry for a key, about to be given to the driver.
/// A process that dies during its lifetime leaves a strike.
class Found {
public:
    enum class Answer {
        hit,   ///< Found.
        miss,  ///< Not found.
        banned ///< The process died twice inside the driver with it: compile from source from now on.
    };
    Answer answer() const { return is_banned ? Answer::banned : blob ? Answer::hit : Answer::miss; }
    /// The entry's bytes, which begin at a multiple of 16, as Vulkan requires of a shader's binary.
    std::string_view bytes() const { return blob.data(); }

    /// Ends the use: the driver has run the result without a problem.
    void accept() { end(HOB_USE_OUTCOME_OK); }
    /// Ends the use: the entry is invalid, and the cache removes it.
    void reject() { end(HOB_USE_OUTCOME_REJECTED); }

private:
    friend class Cache;
    void end(hob_use_outcome outcome) {
        if (use) use.end(outcome);
    }

    hob::Blob blob;
    hob::ProgramUse use; ///< Ends as unused without a call of `accept` or `reject`.
    bool is_banned = false;
};

class Cache {
public:
    /// Throws std::runtime_error when the directory cannot be used.
    /// `driver_name` replaces the driver's own version text, unless it is empty.
    Cache(const std::string& directory, const Identity& identity, const std::string& driver_name);

    /// Waits until every entry on disk for this environment is in memory, as a loading screen would.
    void load() const;

    /// The key of the one entry that holds the whole VkPipelineCache.
    static hob::Fingerprint pipeline_cache_key();
    static hob::Fingerprint key_of(const Kernel& kernel);

    Found find(const hob::Fingerprint& key) const;

    /// Keeps bytes whose build took `build_us`.
    void put(const hob::Fingerprint& key, std::string_view bytes, std::uint64_t build_us) const;

    /// Waits until all bytes that were put are written.
    void flush() const;

private:
    hob::ProgramCache cache;
};

/// Whether `data` belong to a VkPipelineCache of this same device and driver.
/// Never hand other data to a driver: with changed or foreign data it may do anything, and some drivers do.
bool is_pipeline_cache_of(const Identity& identity, std::string_view data);

} // namespace program_cache_vk
