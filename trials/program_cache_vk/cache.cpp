// The library in use: all the code that a host has to write. A key per shader, a use from before the driver call to
// after the first run, and a put after a compile.
#include "cache.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace program_cache_vk {

namespace {

constexpr std::uint64_t patience_us = 60'000'000; // for the disk: this program has nothing else to do

hob_environment environment_of(const Identity& identity, const std::string& driver) {
    hob_environment environment = HOB_ENVIRONMENT_INIT;
    environment.api = HOB_GRAPHICS_API_VULKAN;
    environment.vendor_id = identity.properties.vendorID;
    environment.device_id = identity.properties.deviceID;
    environment.driver_version = identity.properties.driverVersion;
    std::copy(std::begin(identity.ids.deviceUUID), std::end(identity.ids.deviceUUID), environment.device_uuid);
    std::copy(std::begin(identity.ids.driverUUID), std::end(identity.ids.driverUUID), environment.driver_uuid);
    environment.device = {identity.properties.deviceName, SIZE_MAX};
    environment.driver = {driver.data(), driver.size()};
    environment.build = HOB_STR("program_cache_vk 1"); // a host that changes its shaders' meaning changes this
    return environment;
}

/// The driver's identity beyond the other fields of hob_environment: a driver takes a binary only if all of it is the
/// same. The UUIDs identify most drivers, but not all. Mesa 22's software driver has the same UUID in every build, and
/// reports its version as text.
std::string driver_of(const Identity& identity, const std::string& name) {
    std::string text = name.empty() ? std::string(identity.driver.driverName) + " " + identity.driver.driverInfo : name;
    const auto add = [&](const std::uint8_t (&uuid)[16]) {
        static const char digits[] = "0123456789abcdef";
        text += ' ';
        for (const std::uint8_t byte : uuid) text += {digits[byte >> 4], digits[byte & 15]};
    };
    add(identity.properties.pipelineCacheUUID);
    if (identity.has_shader_objects) {
        add(identity.shader_objects.shaderBinaryUUID);
        text += " " + std::to_string(identity.shader_objects.shaderBinaryVersion);
    }
    return text;
}

hob::ProgramCache make_cache(const std::string& directory, const Identity& identity, const std::string& driver_name) {
    const std::string driver = driver_of(identity, driver_name);
    hob::ProgramCacheOptions options;
    options.directory = directory;
    options.environment = environment_of(identity, driver);
    return hob::ProgramCache(options);
}

/// VkPipelineCacheHeaderVersionOne.
struct Header {
    std::uint32_t size, version, vendor_id, device_id;
    std::uint8_t uuid[16];
};

} // namespace

bool is_pipeline_cache_of(const Identity& identity, std::string_view data) {
    Header header;
    if (data.size() < sizeof header) return false;
    std::memcpy(&header, data.data(), sizeof header);
    const VkPhysicalDeviceProperties& device = identity.properties;
    return header.size >= sizeof header && header.size <= data.size() && header.version == 1 &&
           header.vendor_id == device.vendorID && header.device_id == device.deviceID &&
           std::equal(std::begin(header.uuid), std::end(header.uuid), std::begin(device.pipelineCacheUUID));
}

Cache::Cache(const std::string& directory, const Identity& identity, const std::string& driver_name)
    : cache(make_cache(directory, identity, driver_name)) {}

void Cache::load() const { cache.wait_idle(patience_us); }

hob::Fingerprint Cache::pipeline_cache_key() { return hob::fingerprint("VkPipelineCache"); }

hob::Fingerprint Cache::key_of(const Kernel& kernel) {
    const std::string_view source(reinterpret_cast<const char*>(kernel.words.data()),
                                  kernel.words.size() * sizeof kernel.words[0]);
    return hob::ProgramKey().stage(HOB_SHADER_STAGE_COMPUTE, source).fingerprint();
}

Found Cache::find(const hob::Fingerprint& key) const {
    Found found;
    found.blob = cache.get(key);
    found.is_banned = found.blob.is_banned();
    if (found.blob) found.use = cache.begin_use(key);
    return found;
}

void Cache::put(const hob::Fingerprint& key, std::string_view bytes, std::uint64_t build_us) const {
    hob::Program program;
    program.data = bytes;
    program.build_us = build_us;
    cache.put(key, program);
}

void Cache::flush() const { cache.flush(patience_us); }

} // namespace program_cache_vk
