// hobgoblin/pipeline.hpp: pipelines, compiled before the frame that needs them. Part of hobgoblin.hpp. Experimental.
// MIT OR Apache-2.0.
//
//     hob::PipelineLibraryOptions options;
//     options.project = "game";
//     options.format = "spirv";
//     options.version = "1.2";
//     options.directory = "cache/pipelines";
//     options.compile = [&](const hob_pipeline_job& job) {
//         return renderer.build(job) ? HOB_PIPELINE_BUILT_READY : HOB_PIPELINE_BUILT_FAILED;
//     };
//     hob::PipelineLibrary library(options);
//
//     library.begin_frame();                                    // once a frame
//     if (library.use(key) == HOB_PIPELINE_STATE_READY) draw(key);
#ifndef HOBGOBLIN_PIPELINE_HPP
#define HOBGOBLIN_PIPELINE_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor.hpp"
#include "fingerprint.hpp"
#include "pipeline.h"
#include "store.hpp"

HOB_NAMESPACE_BEGIN

namespace detail {

/// Reads a list of encoded bytes into a vector of its size.
template <class Read, class Element>
hob_result read_list(Read read, std::string_view bytes, std::vector<Element>& list) noexcept {
    std::size_t count = 0;
    return read(bytes.data(), bytes.size(), list.empty() ? nullptr : list.data(), sizeof(Element), list.size(), &count);
}

}  // namespace detail

/// The state of a graphics pipeline in the library's own schema; see hob_pipeline_graphics_state.
/// The bytes of try_encode() are the state of a Pipeline with the schema HOB_PIPELINE_SCHEMA_OWN.
struct GraphicsState {
    /// All fields except the lists, which capi() sets.
    hob_pipeline_graphics_state desc = HOB_PIPELINE_GRAPHICS_STATE_INIT;
    /// Vertex buffers by slot.
    std::vector<hob_pipeline_vertex_buffer> vertex_buffers;
    /// Attributes by location.
    std::vector<hob_pipeline_vertex_attribute> attributes;
    /// Colour targets in order.
    std::vector<hob_pipeline_color_target> color_targets;

    /// The bytes of the state.
    Result<std::string> try_encode() const {
        const hob_pipeline_graphics_state state = capi();
        return detail::read_all<std::string>([&](char* buffer, std::size_t capacity, std::size_t* size) {
            return hob_pipeline_encode_graphics(&state, buffer, capacity, size);
        });
    }
    /// The state of encoded bytes, such as those of a hob_pipeline_job.
    static Result<GraphicsState> try_decode(std::string_view bytes) {
        GraphicsState state;
        hob_result code = hob_pipeline_decode_graphics(bytes.data(), bytes.size(), &state.desc);
        if (code != HOB_RESULT_OK) return detail::last_failure(code);
        state.vertex_buffers.resize(state.desc.vertex_buffer_count);
        state.attributes.resize(state.desc.attribute_count);
        state.color_targets.resize(state.desc.color_target_count);
        code = detail::read_list(hob_pipeline_decode_vertex_buffers, bytes, state.vertex_buffers);
        if (code == HOB_RESULT_OK) code = detail::read_list(hob_pipeline_decode_vertex_attributes, bytes, state.attributes);
        if (code == HOB_RESULT_OK) code = detail::read_list(hob_pipeline_decode_color_targets, bytes, state.color_targets);
        return detail::result_of(code, std::move(state));
    }
#if HOB_EXCEPTIONS
    std::string encode() const { return try_encode().value(); }
    static GraphicsState decode(std::string_view bytes) { return try_decode(bytes).value(); }
#endif
    /// The C struct. Valid until this object changes or is destroyed.
    hob_pipeline_graphics_state capi() const noexcept {
        hob_pipeline_graphics_state state = desc;
        state.vertex_buffers = vertex_buffers.data();
        state.vertex_buffer_stride = sizeof(hob_pipeline_vertex_buffer);
        state.vertex_buffer_count = vertex_buffers.size();
        state.attributes = attributes.data();
        state.attribute_stride = sizeof(hob_pipeline_vertex_attribute);
        state.attribute_count = attributes.size();
        state.color_targets = color_targets.data();
        state.color_target_stride = sizeof(hob_pipeline_color_target);
        state.color_target_count = color_targets.size();
        return state;
    }
};

/// The state of a compute pipeline in the library's own schema; see hob_pipeline_compute_state.
struct ComputeState {
    /// All fields.
    hob_pipeline_compute_state desc = HOB_PIPELINE_COMPUTE_STATE_INIT;

    /// The bytes of the state.
    Result<std::string> try_encode() const {
        return detail::read_all<std::string>([&](char* buffer, std::size_t capacity, std::size_t* size) {
            return hob_pipeline_encode_compute(&desc, buffer, capacity, size);
        });
    }
    /// The state of encoded bytes.
    static Result<ComputeState> try_decode(std::string_view bytes) noexcept {
        ComputeState state;
        const hob_result code = hob_pipeline_decode_compute(bytes.data(), bytes.size(), &state.desc);
        return detail::result_of(code, state);
    }
#if HOB_EXCEPTIONS
    std::string encode() const { return try_encode().value(); }
    static ComputeState decode(std::string_view bytes) { return try_decode(bytes).value(); }
#endif
};

/// The state of a ray-tracing pipeline in the library's own schema; see hob_pipeline_ray_tracing_state.
struct RayTracingState {
    /// All fields except the list, which capi() sets.
    hob_pipeline_ray_tracing_state desc = HOB_PIPELINE_RAY_TRACING_STATE_INIT;
    /// Shader groups in order.
    std::vector<hob_pipeline_shader_group> groups;

    /// The bytes of the state.
    Result<std::string> try_encode() const {
        const hob_pipeline_ray_tracing_state state = capi();
        return detail::read_all<std::string>([&](char* buffer, std::size_t capacity, std::size_t* size) {
            return hob_pipeline_encode_ray_tracing(&state, buffer, capacity, size);
        });
    }
    /// The state of encoded bytes.
    static Result<RayTracingState> try_decode(std::string_view bytes) {
        RayTracingState state;
        hob_result code = hob_pipeline_decode_ray_tracing(bytes.data(), bytes.size(), &state.desc);
        if (code != HOB_RESULT_OK) return detail::last_failure(code);
        state.groups.resize(state.desc.group_count);
        code = detail::read_list(hob_pipeline_decode_shader_groups, bytes, state.groups);
        return detail::result_of(code, std::move(state));
    }
#if HOB_EXCEPTIONS
    std::string encode() const { return try_encode().value(); }
    static RayTracingState decode(std::string_view bytes) { return try_decode(bytes).value(); }
#endif
    /// The C struct. Valid until this object changes or is destroyed.
    hob_pipeline_ray_tracing_state capi() const noexcept {
        hob_pipeline_ray_tracing_state state = desc;
        state.groups = groups.data();
        state.group_stride = sizeof(hob_pipeline_shader_group);
        state.group_count = groups.size();
        return state;
    }
};

/// The description of a pipeline; see hob_pipeline_desc.
/// Its bytes must stay valid as long as this object is used.
struct Pipeline {
    /// Graphics, compute or ray tracing.
    hob_pipeline_kind kind = HOB_PIPELINE_KIND_GRAPHICS;
    /// The layout of `state`: a number of the host, from 1 on, or HOB_PIPELINE_SCHEMA_OWN.
    uint32_t schema = HOB_PIPELINE_SCHEMA_OWN;
    /// The state, as bytes in this layout.
    std::string_view state;
    /// Its shaders, one for each stage.
    std::vector<hob_pipeline_shader> shaders;

    /// The key of the pipeline.
    Result<Fingerprint> try_key() const noexcept {
        const hob_pipeline_desc desc = capi();
        return detail::filled_by(Fingerprint(), [&](Fingerprint* key) { return hob_pipeline_get_key(&desc, key); });
    }
#if HOB_EXCEPTIONS
    Fingerprint key() const { return try_key().value(); }
#endif
    /// The C struct. Valid until this object changes or is destroyed.
    hob_pipeline_desc capi() const noexcept {
        hob_pipeline_desc desc = HOB_PIPELINE_DESC_INIT;
        desc.kind = kind;
        desc.schema = schema;
        desc.state = state.data();
        desc.state_size = state.size() < UINT32_MAX ? static_cast<uint32_t>(state.size()) : UINT32_MAX;
        desc.shaders = shaders.data();
        desc.shader_count = shaders.size();
        return desc;
    }
};

/// A usage mask of 64 bits.
inline hob_pipeline_mask pipeline_mask(uint64_t bits) noexcept { return hob_pipeline_mask{{bits, 0, 0, 0}}; }

/// Sets a field of a usage mask by its name; see hob_pipeline_set_mask_field.
inline Result<hob_pipeline_mask> try_set_mask_field(ArrayView<hob_pipeline_dimension> dimensions,
                                                    const hob_pipeline_mask& mask, std::string_view name,
                                                    uint64_t value) noexcept {
    hob_pipeline_mask changed = mask;
    const hob_result code = hob_pipeline_set_mask_field(dimensions.data(), sizeof(hob_pipeline_dimension),
                                                        dimensions.size(), &mask, detail::text(name), value, &changed);
    return detail::result_of(code, changed);
}
#if HOB_EXCEPTIONS
/// The throwing form.
inline hob_pipeline_mask set_mask_field(ArrayView<hob_pipeline_dimension> dimensions, const hob_pipeline_mask& mask,
                                        std::string_view name, uint64_t value) {
    return try_set_mask_field(dimensions, mask, name, value).value();
}
#endif

/// The options of a library.
/// All other parameters are fields of `desc`; see hob_pipeline_library_desc.
struct PipelineLibraryOptions {
    /// The name of the project. Must be set.
    std::string project;
    /// The format of the bytecode, such as "spirv". Must be set.
    std::string format;
    /// The version of the game.
    std::string version;
    /// Directory of the user's cache and of bans. Empty: nothing outlives the process.
    std::string directory;
    /// A new file that records this run. Empty: no recording.
    std::string recording;
    /// The driver and device.
    hob_environment environment = HOB_ENVIRONMENT_INIT;
    /// Compiles in its background. The library keeps it alive.
    const Executor* executor = nullptr;
    /// The file system of the directory. Empty: the operating system's.
    std::shared_ptr<FileSystem> files;
    /// A secret of at least 16 bytes. Empty: none.
    std::string secret;
    /// The first current mask; see hob_pipeline_library_set_masks.
    hob_pipeline_mask mask = {{0, 0, 0, 0}};
    /// The first precompile mask.
    hob_pipeline_mask precompile_mask = {{0, 0, 0, 0}};
    /// Compiles a pipeline, on any thread that works for the library. Must be set. If it throws, the pipeline counts as
    /// failed, and the next compile(), wait() or flush() rethrows.
    std::function<hob_pipeline_built(const hob_pipeline_job&)> compile;
    /// All selected pipelines were compiled, or have failed.
    std::function<void()> completed;
    /// Whether a mask of a pipeline, the first one, fits the current one. It must not throw.
    std::function<bool(const hob_pipeline_mask&, const hob_pipeline_mask&)> compare;
    /// All other parameters.
    hob_pipeline_library_desc desc = HOB_PIPELINE_LIBRARY_DESC_INIT;
};

/// The pipelines of a running game; see hob_pipeline_library.
/// Threads: any, several at once.
class PipelineLibrary {
public:
#if HOB_EXCEPTIONS
    explicit PipelineLibrary(PipelineLibraryOptions options) : PipelineLibrary(try_create(std::move(options)).value()) {}
#endif
    static Result<PipelineLibrary> try_create(PipelineLibraryOptions options) {
        if (!options.compile) return detail::invalid("missing callback: a pipeline library needs compile");
        auto pending = std::make_shared<detail::SharedPending>();
        auto box = std::make_unique<Box>(Box{std::move(options), pending});
        const PipelineLibraryOptions& given = box->options;
        hob_pipeline_library_desc desc = given.desc;
        desc.project = detail::text(given.project);
        desc.format = detail::text(given.format);
        desc.version = detail::text(given.version);
        desc.directory = detail::text(given.directory);
        desc.recording = detail::text(given.recording);
        if (desc.environment == nullptr) desc.environment = &given.environment;
        if (given.executor != nullptr) desc.executor = given.executor->capi();
        if (!given.secret.empty()) desc.secret = detail::text(given.secret);
        desc.mask = &given.mask;
        desc.precompile_mask = &given.precompile_mask;
        desc.user_data = box.get();
        desc.compile = &Box::compile;
        if (given.completed) desc.completed = &Box::completed;
        if (given.compare) desc.compare = &Box::compare;
        desc.release = &Box::release;
        std::unique_ptr<detail::HostFiles> files;
        hob_file_io io = HOB_FILE_IO_INIT;
        if (given.files != nullptr) {
            files.reset(new detail::HostFiles{given.files});
            io = files->io();
            desc.file_io = &io;
        }
        hob_pipeline_library* library = nullptr;
        const hob_result code = hob_pipeline_library_create(&desc, &library);
        if (code == HOB_RESULT_OK) {
            (void)box.release();    // the library owns both and calls their release
            (void)files.release();
        }
        return detail::result_of(code, PipelineLibrary(library, std::move(pending)));
    }

    /// Opens a cache that ships with the game. Returns its number of pipelines.
    Result<uint64_t> try_open_cache(std::string_view path) const noexcept {
        uint64_t count = 0;
        const hob_result code = hob_pipeline_library_open_cache(capi(), detail::text(path), &count);
        return detail::result_of(code, count);
    }
    /// Opens a cache in memory.
    Result<uint64_t> try_open_cache_bytes(std::string_view bytes) const noexcept {
        uint64_t count = 0;
        const hob_result code = hob_pipeline_library_open_cache_bytes(capi(), bytes.data(), bytes.size(), &count);
        return detail::result_of(code, count);
    }

    // The frame.

    /// Begins a frame: allows the next batch of compiles. `budget_us` replaces the mode's limit of time.
    Result<void> try_begin_frame(uint64_t budget_us = UINT64_MAX) const noexcept {
        return detail::result_of(hob_pipeline_library_begin_frame(capi(), budget_us));
    }
    /// Uses a pipeline in this frame. Only HOB_PIPELINE_STATE_READY can be drawn with.
    hob_pipeline_state use(const hob_fingerprint& key) const noexcept { return hob_pipeline_library_use(capi(), &key); }
    /// Adds a pipeline that the host has built itself. Returns its key.
    Result<Fingerprint> try_add(const Pipeline& pipeline, uint64_t build_us = 0) const {
        const hob_pipeline_desc desc = pipeline.capi();
        return detail::filled_by(Fingerprint(), [&](Fingerprint* key) {
            return hob_pipeline_library_add(capi(), &desc, build_us, key);
        });
    }
    /// Compiles pipelines on this thread for up to `timeout_us` microseconds. Returns how many.
    Result<uint32_t> try_compile(uint64_t timeout_us = UINT64_MAX) const {
        const auto pending = pending_;
        uint32_t count = 0;
        const hob_result code = hob_pipeline_library_compile(capi(), timeout_us, &count);
        pending->rethrow();
        return detail::result_of(code, count);
    }
    /// Waits up to `timeout_us` microseconds until a pipeline has a final state.
    hob_pipeline_state wait(const hob_fingerprint& key, uint64_t timeout_us = UINT64_MAX) const {
        const auto pending = pending_;
        const hob_pipeline_state state = hob_pipeline_library_wait(capi(), &key, timeout_us);
        pending->rethrow();
        return state;
    }
    /// Requests a pipeline, and waits up to `timeout_us` microseconds for other threads that compile it.
    hob_pipeline_state request(const hob_fingerprint& key, uint64_t timeout_us = 0) const {
        const auto pending = pending_;
        const hob_pipeline_state state = hob_pipeline_library_request(capi(), &key, timeout_us);
        pending->rethrow();
        return state;
    }
    /// The state of a pipeline, without a use.
    hob_pipeline_state state(const hob_fingerprint& key) const noexcept {
        return hob_pipeline_library_get_state(capi(), &key);
    }

    // Control.

    /// Sets how fast pipelines are compiled.
    Result<void> try_set_mode(hob_pipeline_mode mode) const noexcept {
        return detail::result_of(hob_pipeline_library_set_mode(capi(), mode));
    }
    /// The mode.
    hob_pipeline_mode mode() const noexcept { return hob_pipeline_library_get_mode(capi()); }
    /// Changes the masks, and selects again which pipelines are compiled ahead.
    Result<void> try_set_masks(const hob_pipeline_mask& mask,
                               const hob_pipeline_mask& precompile_mask = {{0, 0, 0, 0}}) const {
        return detail::result_of(hob_pipeline_library_set_masks(capi(), &mask, &precompile_mask));
    }
    /// The number of selected or requested pipelines that are not compiled yet.
    uint32_t remaining() const noexcept {
        uint32_t remaining = 0;
        (void)hob_pipeline_library_get_remaining(capi(), &remaining);
        return remaining;
    }
    /// The number of pipelines that are not compiled yet and that a mask selects, or would.
    Result<uint32_t> try_remaining_of(const hob_pipeline_mask& mask) const {
        uint32_t remaining = 0;
        const hob_result code = hob_pipeline_library_get_remaining_of(capi(), &mask, &remaining);
        return detail::result_of(code, remaining);
    }
    /// Compiles a pipeline again that is ready, failed or banned. True: it had such a state.
    Result<bool> try_forget(const hob_fingerprint& key) const noexcept {
        uint64_t count = 0;
        const hob_result code = hob_pipeline_library_forget(capi(), &key, &count);
        return detail::result_of(code, count > 0);
    }
    /// Compiles all pipelines again that are ready, for instance after the device was lost. Returns how many.
    Result<uint64_t> try_forget_all() const noexcept {
        uint64_t count = 0;
        const hob_result code = hob_pipeline_library_forget(capi(), nullptr, &count);
        return detail::result_of(code, count);
    }
    /// Writes what waits to be kept, and waits for the disk.
    Result<void> try_flush() const {
        const auto pending = pending_;
        const hob_result code = hob_pipeline_library_flush(capi());
        pending->rethrow();
        return detail::result_of(code);
    }
    /// Why pipelines are not kept or bans not remembered. Empty: no problem.
    Result<std::string> try_problem() const {
        return detail::read_all<std::string>([&](char* buffer, std::size_t capacity, std::size_t* size) {
            return hob_pipeline_library_get_problem(capi(), buffer, capacity, size);
        });
    }

    // Ready groups.

    /// Adds a group: the pipelines of one object.
    Result<hob_pipeline_group_id> try_add_group(ArrayView<hob_fingerprint> keys) const {
        hob_pipeline_group_id group = {0, 0};
        const hob_result code =
            hob_pipeline_library_add_group(capi(), keys.data(), sizeof(hob_fingerprint), keys.size(), &group);
        return detail::result_of(code, group);
    }
    /// Removes a group; its pipelines stay.
    Result<void> try_remove_group(hob_pipeline_group_id group) const {
        return detail::result_of(hob_pipeline_library_remove_group(capi(), group));
    }
    /// How to draw the object of a group in this frame.
    hob_pipeline_decision decide(hob_pipeline_group_id group, hob_pipeline_policy policy = HOB_PIPELINE_POLICY_SKIP,
                                 uint64_t timeout_us = 0) const noexcept {
        return hob_pipeline_library_decide(capi(), group, policy, timeout_us);
    }

    /// Counts of the library.
    Result<hob_pipeline_statistics> try_statistics() const {
        return detail::filled_by(detail::sized<hob_pipeline_statistics>(), [&](hob_pipeline_statistics* statistics) {
            return hob_pipeline_library_get_statistics(capi(), statistics);
        });
    }

#if HOB_EXCEPTIONS
    // The throwing forms.
    uint64_t open_cache(std::string_view path) const { return try_open_cache(path).value(); }
    uint64_t open_cache_bytes(std::string_view bytes) const { return try_open_cache_bytes(bytes).value(); }
    void begin_frame(uint64_t budget_us = UINT64_MAX) const { try_begin_frame(budget_us).value(); }
    Fingerprint add(const Pipeline& pipeline, uint64_t build_us = 0) const { return try_add(pipeline, build_us).value(); }
    uint32_t compile(uint64_t timeout_us = UINT64_MAX) const { return try_compile(timeout_us).value(); }
    void set_mode(hob_pipeline_mode mode) const { try_set_mode(mode).value(); }
    void set_masks(const hob_pipeline_mask& mask, const hob_pipeline_mask& precompile_mask = {{0, 0, 0, 0}}) const {
        try_set_masks(mask, precompile_mask).value();
    }
    uint32_t remaining_of(const hob_pipeline_mask& mask) const { return try_remaining_of(mask).value(); }
    bool forget(const hob_fingerprint& key) const { return try_forget(key).value(); }
    uint64_t forget_all() const { return try_forget_all().value(); }
    void flush() const { try_flush().value(); }
    std::string problem() const { return try_problem().value(); }
    hob_pipeline_group_id add_group(ArrayView<hob_fingerprint> keys) const { return try_add_group(keys).value(); }
    void remove_group(hob_pipeline_group_id group) const { try_remove_group(group).value(); }
    hob_pipeline_statistics statistics() const { return try_statistics().value(); }
#endif

    hob_pipeline_library* capi() noexcept { return library_.get(); }
    const hob_pipeline_library* capi() const noexcept { return library_.get(); }

private:
    /// The options with their callbacks, owned by the library.
    struct Box {
        PipelineLibraryOptions options;
        std::shared_ptr<detail::SharedPending> pending;

        static uint32_t compile(void* user_data, const hob_pipeline_job* job) noexcept {
            Box& box = *static_cast<Box*>(user_data);
            hob_pipeline_built built = HOB_PIPELINE_BUILT_FAILED;
            box.pending->guard([&] { built = box.options.compile(*job); });
            return static_cast<uint32_t>(built);
        }
        static void completed(void* user_data) noexcept {
            Box& box = *static_cast<Box*>(user_data);
            box.pending->guard([&] { box.options.completed(); });
        }
        static uint32_t compare(void* user_data, const hob_pipeline_mask* mask,
                                const hob_pipeline_mask* current) noexcept {
            return static_cast<Box*>(user_data)->options.compare(*mask, *current) ? 1 : 0;
        }
        static void release(void* user_data) noexcept { delete static_cast<Box*>(user_data); }
    };
    struct Destroy {
        void operator()(hob_pipeline_library* library) const noexcept { hob_pipeline_library_destroy(library); }
    };

    PipelineLibrary(hob_pipeline_library* library, std::shared_ptr<detail::SharedPending> pending) noexcept
        : library_(library), pending_(std::move(pending)) {}

    std::unique_ptr<hob_pipeline_library, Destroy> library_;
    std::shared_ptr<detail::SharedPending> pending_;
};

/// Expresses the pipelines of recordings in the stable keys of their shaders; see hob_pipeline_expand.
/// For build tools. `keys` are the key maps of the build that recorded. `out` is the stable file.
inline Result<hob_pipeline_expand_report> try_expand_pipelines(ArrayView<hob_str> recordings, ArrayView<hob_str> keys,
                                                               std::string_view out) noexcept {
    hob_pipeline_expand_desc desc = HOB_PIPELINE_EXPAND_DESC_INIT;
    desc.recordings = recordings.data();
    desc.recording_stride = sizeof(hob_str);
    desc.recording_count = recordings.size();
    desc.keys = keys.data();
    desc.key_stride = sizeof(hob_str);
    desc.key_count = keys.size();
    desc.out = detail::text(out);
    hob_pipeline_expand_report report = HOB_PIPELINE_EXPAND_REPORT_INIT;
    const hob_result code = hob_pipeline_expand(&desc, &report);
    return detail::result_of(code, report);
}

/// Makes the cache that ships with a build of the game; see hob_pipeline_build.
/// For build tools. The lists of `desc` are replaced by `stable`, the stable files, and `keys`, the key maps of this
/// build.
inline Result<hob_pipeline_build_report> try_build_pipelines(hob_pipeline_build_desc desc, ArrayView<hob_str> stable,
                                                             ArrayView<hob_str> keys) noexcept {
    desc.stable = stable.data();
    desc.stable_stride = sizeof(hob_str);
    desc.stable_count = stable.size();
    desc.keys = keys.data();
    desc.key_stride = sizeof(hob_str);
    desc.key_count = keys.size();
    hob_pipeline_build_report report = HOB_PIPELINE_BUILD_REPORT_INIT;
    const hob_result code = hob_pipeline_build(&desc, &report);
    return detail::result_of(code, report);
}

#if HOB_EXCEPTIONS
/// The throwing form.
inline hob_pipeline_expand_report expand_pipelines(ArrayView<hob_str> recordings, ArrayView<hob_str> keys,
                                                   std::string_view out) {
    return try_expand_pipelines(recordings, keys, out).value();
}
/// The throwing form.
inline hob_pipeline_build_report build_pipelines(const hob_pipeline_build_desc& desc, ArrayView<hob_str> stable,
                                                 ArrayView<hob_str> keys) {
    return try_build_pipelines(desc, stable, keys).value();
}
#endif

HOB_NAMESPACE_END

#endif  // HOBGOBLIN_PIPELINE_HPP
