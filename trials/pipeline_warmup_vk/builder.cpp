#include "builder.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#if !defined(_WIN32)
#include <unistd.h>
#endif

#include "../common/driver_cache.h"
#include "pipelines.h"

namespace pipeline_warmup_vk {

namespace {

constexpr std::string_view magic = "HOBBUILD";
constexpr std::uint32_t protocol = 1;
constexpr std::size_t longest_frame = 1073196, length_bytes = 4, key_bytes = 32;
enum Type : std::uint8_t { hello = 1, pipeline = 2, result = 2, refusal = 3 };

std::string little_endian(std::uint64_t number, std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(number >> 8 * i);
    return text;
}

std::string text_of(std::string_view text) { return little_endian(text.size(), 2) + std::string(text); }

/// Takes the parts of a frame.
class Parts {
public:
    explicit Parts(std::string_view frame) : rest(frame) {}

    std::string_view bytes(std::size_t count) {
        if (count > rest.size()) throw std::runtime_error("a frame of hob is too short");
        const std::string_view taken = rest.substr(0, count);
        rest.remove_prefix(count);
        return taken;
    }
    std::uint32_t number(std::size_t count) {
        std::uint32_t value = 0, shift = 0;
        for (const char byte : bytes(count)) {
            value |= std::uint32_t{static_cast<std::uint8_t>(byte)} << shift;
            shift += 8;
        }
        return value;
    }
    std::string text() { return std::string(bytes(number(2))); }

private:
    std::string_view rest;
};

/// Frames from standard input, and to standard output.
/// Text that a driver prints to standard output goes to standard error.
class Channel {
public:
    Channel() {
#if defined(_WIN32)
        throw std::runtime_error("the builder runs on POSIX systems");
#else
        output = fdopen(dup(STDOUT_FILENO), "wb");
        if (output == nullptr || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
            throw std::runtime_error("standard output cannot be used");
#endif
    }
    ~Channel() {
        if (output != nullptr) std::fclose(output);
    }
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    /// The next frame without its length; false at the end of the input.
    bool read(std::string& frame) {
        std::string length(length_bytes, '\0');
        if (std::fread(length.data(), 1, length_bytes, stdin) != length_bytes) return false;
        const std::size_t size = Parts(length).number(length_bytes);
        if (size == 0 || size > longest_frame) throw std::runtime_error("a frame of hob has an invalid length");
        frame.resize(size);
        return std::fread(frame.data(), 1, size, stdin) == size;
    }
    void write(Type type, const std::string& payload) {
        const std::string frame = little_endian(payload.size() + 1, length_bytes) + static_cast<char>(type) + payload;
        if (std::fwrite(frame.data(), 1, frame.size(), output) != frame.size() || std::fflush(output) != 0)
            throw std::runtime_error("hob does not read any more");
    }

private:
    std::FILE* output = nullptr;
};

/// Why the builder cannot serve a cache; empty: it can.
std::string objection(const std::string& frame) {
    Parts parts(frame);
    if (parts.number(1) != hello || parts.bytes(magic.size()) != magic) return "this is no hello of hob";
    const std::uint32_t version = parts.number(4), api = parts.number(4);
    const std::string its_project = parts.text(), its_format = parts.text();
    if (version != protocol) return "it speaks version " + std::to_string(protocol) + " of the protocol only";
    if (api != HOB_GRAPHICS_API_VULKAN) return "it compiles for Vulkan only";
    if (its_project != project || its_format != shader_format)
        return std::string("it has the shaders of ") + project + " (" + shader_format + ") only";
    return {};
}

class Builder {
public:
    Builder(const Options& the_options, const Vulkan& vulkan, const Scene& the_scene)
        : options(the_options), scene(the_scene), renderer(vulkan, the_scene) {}

    /// The payload of the result for the frame of a pipeline.
    std::string answer(const std::string& frame) const {
        Parts parts(frame);
        if (parts.number(1) != pipeline) throw std::runtime_error("a frame of hob is no pipeline");
        const std::string key(parts.bytes(key_bytes));
        break_at(key);
        const auto begin = std::chrono::steady_clock::now();
        const std::string reason = compile(parts);
        const auto took = std::chrono::steady_clock::now() - begin;
        const auto took_us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
        return key + static_cast<char>(!reason.empty()) + little_endian(static_cast<std::uint64_t>(took_us), 8) + text_of(reason);
    }

private:
    /// The planted faults stand for those of a driver.
    void break_at(const std::string& key) const {
        hob_fingerprint fingerprint;
        key.copy(reinterpret_cast<char*>(fingerprint.bytes), key_bytes);
        const std::string digits = hob::hex(fingerprint);
        if (digits == options.crash_key) std::abort();
        while (digits == options.hang_key) std::this_thread::sleep_for(std::chrono::hours(1));
    }

    /// Why a pipeline cannot be compiled; empty: it is ready.
    std::string compile(Parts& parts) const {
        const std::uint32_t kind = parts.number(1), schema = parts.number(4), count = parts.number(2);
        if (kind != HOB_PIPELINE_KIND_GRAPHICS || schema != state_schema) return "a state of an unknown schema";
        std::vector<const Shader*> shaders;
        for (std::uint32_t i = 0; i < count; ++i) {
            hob_pipeline_shader name{};
            name.stage = parts.number(4);
            parts.bytes(sizeof name.hash).copy(reinterpret_cast<char*>(name.hash), sizeof name.hash);
            shaders.push_back(scene.find_shader(name));
            if (shaders.back() == nullptr) return "a shader that this build does not have";
        }
        const State state = State::from_bytes(parts.bytes(parts.number(4)));
        const VkPipeline object = renderer.create(state, shaders);
        if (object == nullptr) return "the driver refused it";
        renderer.warm_up(state, object);
        renderer.destroy(object);
        return {};
    }

    const Options& options;
    const Scene& scene;
    Renderer renderer;
};

} // namespace

void run_builder(const Options& options) {
    Channel channel;
    std::string frame;
    if (!channel.read(frame)) throw std::runtime_error("hob sent no hello: see docs/replay.md");
    const std::string why = objection(frame);
    if (!why.empty()) {
        channel.write(refusal, text_of(why));
        return;
    }
    trials::switch_driver_cache_off();
    const Vulkan vulkan(options.device, {"pipeline_warmup_vk", VK_QUEUE_GRAPHICS_BIT, true});
    const Scene scene(static_cast<std::uint32_t>(options.build));
    const Builder builder(options, vulkan, scene);
    const std::string driver = driver_of(vulkan.identity());
    const std::uint64_t environment = hob::environment_id(environment_of(vulkan.identity(), driver));
    channel.write(hello, std::string(magic) + little_endian(protocol, 4) + little_endian(environment, 8) +
                             text_of(vulkan.identity().description()));
    while (channel.read(frame)) channel.write(result, builder.answer(frame));
}

} // namespace pipeline_warmup_vk
