// All that the example wants of the library. cache.cpp is what a host has to write: with hobgoblin.hpp, and on top of it
// the care that a VkPipelineCache wants.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <hobgoblin/hobgoblin.hpp>

#include "kernels.h"
#include "vulkan.h"

namespace program_cache_vk {

enum class Answer {
    hit,      ///< It was there and the driver took it.
    rejected, ///< It was there and the driver, or the check before it, did not take it. It is not there any more.
    miss,     ///< It was not there.
    banned    ///< The process died twice inside the driver with it: compile from source, from now on.
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

    /// If there are bytes for `key`, calls `driver_takes` with them. A process that dies in there leaves a strike. The bytes
    /// are where Vulkan wants a shader's binary: at a multiple of 16.
    Answer use(const hob::Fingerprint& key, const std::function<bool(std::string_view)>& driver_takes) const;

    /// Keeps bytes that took `build_us` to make.
    void put(const hob::Fingerprint& key, const std::vector<std::uint8_t>& bytes, std::uint64_t build_us) const;

    /// Waits until everything that was put is written.
    void flush() const;

private:
    hob::ProgramCache cache;
};

/// Whether these are the data of a VkPipelineCache of this very device and driver. A driver may do anything when it is
/// given data that were changed or are another's, and some do: nothing else is to be handed to it.
bool is_pipeline_cache_of(const Identity& identity, std::string_view data);

} // namespace program_cache_vk
