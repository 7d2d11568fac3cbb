// pipeline.h and pipeline.hpp: pipelines of a running game, over a driver that only counts.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <hobgoblin/pipeline.hpp>

#include "allocator.h"
#include "malloc_count.h"
#include "program_cache_support.h"

using namespace support;

namespace {

/// A pipeline whose state is one number.
struct Described {
    std::string state;
    hob::Pipeline pipeline;

    explicit Described(uint32_t number) : state(reinterpret_cast<const char*>(&number), sizeof number) {
        pipeline.schema = 1;
        pipeline.state = state;
        hob_pipeline_shader shader = {HOB_SHADER_STAGE_VERTEX, {}};
        std::memcpy(shader.hash, &number, sizeof number);
        pipeline.shaders = {shader};
    }
    Described(const Described&) = delete;
    Described& operator=(const Described&) = delete;
};

hob::Fingerprint key_of(uint32_t number) { return Described(number).pipeline.key(); }

/// Counts the compiles of each pipeline by its number.
struct Driver {
    std::mutex mutex;
    std::map<uint32_t, int> compiled;
    std::atomic<int> completions{0};

    hob_pipeline_built compile(const hob_pipeline_job& job) {
        uint32_t number = 0;
        ENSURE(job.state_size == sizeof number && job.shader_count == 1 && job.schema == 1);
        std::memcpy(&number, job.state, sizeof number);
        ENSURE(key_of(number) == hob::Fingerprint{job.key});
        const std::lock_guard<std::mutex> lock(mutex);
        ++compiled[number];
        if (number == 666) throw std::runtime_error("the driver threw");
        return number == 13 ? HOB_PIPELINE_BUILT_FAILED : HOB_PIPELINE_BUILT_READY;
    }
};

hob::PipelineLibraryOptions options_for(Driver& driver, const std::string& directory = {}) {
    hob::PipelineLibraryOptions options;
    options.project = "game";
    options.format = "spirv";
    options.version = "1.0";
    options.directory = directory;
    options.compile = [&driver](const hob_pipeline_job& job) { return driver.compile(job); };
    options.completed = [&driver] { ++driver.completions; };
    return options;
}

/// A run of a game that uses these pipelines, and builds those that no cache has.
void play(const hob::PipelineLibrary& library, uint32_t first, uint32_t last) {
    for (uint32_t number = first; number < last; ++number) {
        const Described described(number);
        const hob::Fingerprint key = described.pipeline.key();
        if (library.use(key) == HOB_PIPELINE_STATE_UNKNOWN) ENSURE(library.add(described.pipeline, 2000) == key);
    }
}

}  // namespace

TEST("pipeline: every part of a description changes its key") {
    const Described base(1);
    std::vector<hob::Fingerprint> keys = {base.pipeline.key(), key_of(2)};
    for (int part = 0; part < 5; ++part) {
        hob::Pipeline other = base.pipeline;
        if (part == 0) other.kind = HOB_PIPELINE_KIND_COMPUTE;
        if (part == 1) other.schema = 2;
        if (part == 2) other.state = "other";
        if (part == 3) other.shaders[0].stage = HOB_SHADER_STAGE_FRAGMENT;
        if (part == 4) other.shaders.push_back(other.shaders[0]);
        keys.push_back(other.key());
    }
    for (std::size_t one = 0; one < keys.size(); ++one)
        for (std::size_t other = 0; other < one; ++other) ENSURE(!(keys[one] == keys[other]));
}

TEST("pipeline: invalid descriptions are refused with a sentence") {
    hob::Pipeline none = Described(1).pipeline;
    none.state = {};
    none.shaders.clear();
    ENSURE(none.try_key().code() == HOB_RESULT_INVALID_ARGUMENT);
    Described described(1);
    described.pipeline.schema = 0;
    const auto other = described.pipeline.try_key();
    ENSURE(other.code() == HOB_RESULT_UNSUPPORTED || other.code() == HOB_RESULT_MALFORMED);
    described.pipeline.state = {};
    const auto empty = described.pipeline.try_key();
    ENSURE(empty.code() == HOB_RESULT_MALFORMED && std::strstr(empty.message(), "schema is 0"));
    described.pipeline.schema = 1;
    described.pipeline.shaders.assign(1025, described.pipeline.shaders[0]);
    ENSURE(described.pipeline.try_key().code() == HOB_RESULT_LIMIT_EXCEEDED);
    const std::string large(1025 * 1024, 'x');
    Described heavy(1);
    heavy.pipeline.state = large;
    ENSURE(heavy.pipeline.try_key().code() == HOB_RESULT_LIMIT_EXCEEDED);
}

TEST("pipeline: states of the library's own schema come back as they were, and equal ones have equal keys") {
    hob::GraphicsState state;
    state.desc.topology = HOB_PIPELINE_TOPOLOGY_TRIANGLE_STRIP;
    state.desc.depth_bias = -1.5;
    state.desc.depth_test = state.desc.depth_write = state.desc.stencil_test = 1;
    state.desc.depth_compare = HOB_PIPELINE_COMPARE_GREATER;
    state.desc.stencil_back.pass = HOB_PIPELINE_STENCIL_OP_REPLACE;
    state.desc.layout = 7;
    state.vertex_buffers = {{1, 12, 0}, {0, 4, 1}};
    state.attributes = {{2, 0, 0, 37}, {0, 1, 0, 106}};
    hob_pipeline_color_target target = {44, 15, 1, HOB_PIPELINE_BLEND_FACTOR_ONE, HOB_PIPELINE_BLEND_FACTOR_SOURCE_ALPHA,
                                        HOB_PIPELINE_BLEND_OP_ADD, HOB_PIPELINE_BLEND_FACTOR_ONE,
                                        HOB_PIPELINE_BLEND_FACTOR_ZERO, HOB_PIPELINE_BLEND_OP_MAX};
    state.color_targets = {target};
    const std::string bytes = state.encode();
    const hob::GraphicsState again = hob::GraphicsState::decode(bytes);
    ENSURE(again.encode() == bytes);
    ENSURE(again.desc.topology == state.desc.topology && again.desc.depth_bias == -1.5 && again.desc.layout == 7);
    ENSURE(again.desc.stencil_back.pass == HOB_PIPELINE_STENCIL_OP_REPLACE && again.desc.sample_count == 1);
    ENSURE(again.desc.depth_write == 1 && again.desc.depth_compare == HOB_PIPELINE_COMPARE_GREATER);
    ENSURE(again.attributes.size() == 2 && again.attributes[0].format == 106 && again.attributes[1].location == 2);
    ENSURE(again.vertex_buffers.size() == 2 && again.vertex_buffers[0].step_rate == 1);
    ENSURE(again.color_targets.size() == 1 && std::memcmp(&again.color_targets[0], &target, sizeof target) == 0);

    hob::Pipeline pipeline = Described(1).pipeline;
    pipeline.schema = HOB_PIPELINE_SCHEMA_OWN;
    pipeline.state = bytes;
    const hob::Fingerprint key = pipeline.key();
    std::swap(state.attributes[0], state.attributes[1]);
    const std::string swapped = state.encode();
    pipeline.state = swapped;
    ENSURE(pipeline.key() == key);
    state.color_targets[0].blend = 0;
    std::string opaque = state.encode();
    state.color_targets[0].source_color = HOB_PIPELINE_BLEND_FACTOR_ZERO;
    ENSURE(state.encode() == opaque);
    pipeline.state = opaque;
    ENSURE(!(pipeline.key() == key));
    opaque.push_back('\0');
    pipeline.state = opaque;
    ENSURE(pipeline.try_key().code() == HOB_RESULT_MALFORMED);
    pipeline.state = bytes;
    pipeline.kind = HOB_PIPELINE_KIND_COMPUTE;
    ENSURE(std::strstr(pipeline.try_key().message(), "of a graphics pipeline"));
}

TEST("pipeline: compute and ray-tracing states come back as they were") {
    hob::ComputeState compute;
    compute.desc.workgroup[1] = 8;
    compute.desc.host_state = 9;
    const hob::ComputeState read = hob::ComputeState::decode(compute.encode());
    ENSURE(read.desc.workgroup[1] == 8 && read.desc.host_state == 9 && read.desc.layout == 0);

    hob::RayTracingState rays;
    const uint32_t none = UINT32_MAX;
    rays.groups = {{HOB_PIPELINE_SHADER_GROUP_KIND_GENERAL, 0, 5, 6, 7},
                   {HOB_PIPELINE_SHADER_GROUP_KIND_TRIANGLES, 0, 0, none, 0}};
    const std::string bytes = rays.encode();
    const hob::RayTracingState again = hob::RayTracingState::decode(bytes);
    ENSURE(again.encode() == bytes && again.groups.size() == 2 && again.desc.max_attribute_size == 8);
    ENSURE(again.groups[0].any_hit == none && again.groups[1].closest_hit == 0 && again.groups[1].general == none);
    hob::Pipeline pipeline = Described(1).pipeline;
    pipeline.kind = HOB_PIPELINE_KIND_RAY_TRACING;
    pipeline.schema = HOB_PIPELINE_SCHEMA_OWN;
    pipeline.state = bytes;
    ENSURE(pipeline.try_key().code() == HOB_RESULT_OK);
    rays.groups[1].any_hit = 1;
    const std::string outside = rays.encode();
    pipeline.state = outside;
    ENSURE(std::strstr(pipeline.try_key().message(), "names shader 1, and the pipeline has 1"));
    rays.groups[0].general = none;
    ENSURE(rays.try_encode().code() == HOB_RESULT_INVALID_ARGUMENT);
}

TEST("pipeline: invalid states are refused with a sentence, and buffers that are too small stay unchanged") {
    hob::GraphicsState state;
    state.attributes = {{3, 5, 0, 37}};
    const auto missing = state.try_encode();
    ENSURE(missing.code() == HOB_RESULT_INVALID_ARGUMENT && std::strstr(missing.message(), "vertex buffer slot 5"));
    state.attributes.clear();
    state.desc.cull = static_cast<hob_pipeline_cull_mode>(3);
    ENSURE(std::strstr(state.try_encode().message(), "cull 3 is not a cull mode"));
    state.desc.cull = HOB_PIPELINE_CULL_MODE_BACK;
    state.desc.depth_clamp = 2;
    ENSURE(std::strstr(state.try_encode().message(), "depth_clamp is 2: pass 0 or 1"));
    state.desc.depth_clamp = 0;
    state.color_targets.resize(9);
    ENSURE(state.try_encode().code() == HOB_RESULT_LIMIT_EXCEEDED);
    state.color_targets.resize(1);
    const std::string bytes = state.encode();
    const hob_pipeline_graphics_state desc = state.capi();
    std::string small(bytes.size() - 1, 'x');
    std::size_t size = 0;
    ENSURE(hob_pipeline_encode_graphics(&desc, &small[0], small.size(), &size) == HOB_RESULT_BUFFER_TOO_SMALL);
    ENSURE(size == bytes.size() && small == std::string(bytes.size() - 1, 'x'));
    ENSURE(hob::GraphicsState::try_decode("no state").code() == HOB_RESULT_UNSUPPORTED);
    ENSURE(hob::GraphicsState::try_decode("").code() == HOB_RESULT_MALFORMED);
    ENSURE(hob::ComputeState::try_decode(bytes).code() == HOB_RESULT_MALFORMED);
    ENSURE(hob::RayTracingState::try_decode(bytes).code() == HOB_RESULT_MALFORMED);
    hob_pipeline_color_target target;
    std::size_t count = 0;
    ENSURE(hob_pipeline_decode_color_targets(bytes.data(), bytes.size(), &target, sizeof target, 0, &count) ==
           HOB_RESULT_BUFFER_TOO_SMALL);
    ENSURE(count == 1 && hob_pipeline_decode_vertex_buffers(bytes.data(), bytes.size(), nullptr, 0, 0, &count) == HOB_RESULT_OK);
    ENSURE(count == 0 && hob_pipeline_decode_vertex_attributes(bytes.data(), bytes.size(), nullptr, 0, 0, &count) == HOB_RESULT_OK);
    ENSURE(count == 0 && hob_pipeline_decode_shader_groups(bytes.data(), bytes.size(), nullptr, 0, 0, &count) == HOB_RESULT_MALFORMED);
}

TEST("pipeline: a state of the library's own schema reaches the compile callback") {
    hob::GraphicsState state;
    state.desc.layout = 42;
    state.desc.cull = HOB_PIPELINE_CULL_MODE_BACK;
    const std::string bytes = state.encode();
    hob::Pipeline pipeline = Described(1).pipeline;
    pipeline.schema = HOB_PIPELINE_SCHEMA_OWN;
    pipeline.state = bytes;
    const Directory directory;
    Driver driver;
    auto options = options_for(driver, directory.inside("pipelines"));
    hob::PipelineLibrary(options).add(pipeline, 1000);
    uint64_t seen = 0;
    options.compile = [&](const hob_pipeline_job& job) {
        const std::string_view given(static_cast<const char*>(job.state), job.state_size);
        ENSURE(job.schema == HOB_PIPELINE_SCHEMA_OWN);
        const hob::GraphicsState read = hob::GraphicsState::decode(given);
        if (read.desc.cull == HOB_PIPELINE_CULL_MODE_BACK) seen = read.desc.layout;
        return HOB_PIPELINE_BUILT_READY;
    };
    const hob::PipelineLibrary library(options);
    library.begin_frame();
    ENSURE(library.compile() == 1 && seen == 42);
}

TEST("pipeline: the first run builds, the second one precompiles") {
    const Directory directory;
    Driver driver;
    {
        const hob::PipelineLibrary library(options_for(driver, directory.inside("pipelines")));
        play(library, 0, 40);
        const hob_pipeline_statistics first = library.statistics();
        ENSURE(first.unknown == 40 && first.opened == 0 && first.hitch_ms == 80);
    }
    ENSURE(driver.compiled.empty());
    const hob::PipelineLibrary library(options_for(driver, directory.inside("pipelines")));
    ENSURE(library.remaining() == 40);
    library.begin_frame();
    while (library.compile() > 0) library.begin_frame();
    ENSURE(library.remaining() == 0 && driver.completions == 1 && driver.compiled.size() == 40);
    play(library, 0, 40);
    const hob_pipeline_statistics second = library.statistics();
    // The driver refuses one.
    ENSURE(second.opened == 40 && second.used == 40 && second.ready_at_first_use == 39 && second.failed == 1);
    ENSURE(second.missed == 1 && second.unknown == 0 && second.hitch_ms == 0 && second.memory_used > 0);
    ENSURE(library.use(key_of(13)) == HOB_PIPELINE_STATE_FAILED && library.problem().empty());
}

TEST("pipeline: a pipeline that is needed now is compiled first, in every mode") {
    const Directory directory;
    Driver driver;
    play(hob::PipelineLibrary(options_for(driver, directory.inside("pipelines"))), 100, 160);
    auto options = options_for(driver, directory.inside("pipelines"));
    options.desc.mode = HOB_PIPELINE_MODE_PAUSED;
    const hob::PipelineLibrary library(std::move(options));
    ENSURE(library.mode() == HOB_PIPELINE_MODE_PAUSED);
    library.begin_frame();
    ENSURE(library.compile() == 0);
    ENSURE(library.use(key_of(150)) == HOB_PIPELINE_STATE_QUEUED && library.compile() == 1);
    ENSURE(library.use(key_of(150)) == HOB_PIPELINE_STATE_READY);
    ENSURE(library.wait(key_of(151)) == HOB_PIPELINE_STATE_READY && driver.compiled.size() == 2);
    ENSURE(library.wait(key_of(1)) == HOB_PIPELINE_STATE_UNKNOWN);
    library.set_mode(HOB_PIPELINE_MODE_BACKGROUND);
    library.begin_frame();
    ENSURE(library.compile() == 1);
}

TEST("pipeline: masks select what is compiled, also by the host's comparison") {
    const Directory directory;
    Driver driver;
    {
        const hob::PipelineLibrary library(options_for(driver, directory.inside("pipelines")));
        for (uint32_t level = 1; level <= 3; ++level) {
            library.set_masks(hob::pipeline_mask(level));
            play(library, 100 * level, 100 * level + 10);
        }
    }
    auto options = options_for(driver, directory.inside("pipelines"));
    options.mask = hob::pipeline_mask(1);
    {
        // (mask & 1) == 1: the levels 1 and 3.
        const hob::PipelineLibrary library(options);
        ENSURE(library.remaining() == 20 && library.state(key_of(200)) == HOB_PIPELINE_STATE_UNSELECTED);
        library.set_masks(hob::pipeline_mask(3), hob::pipeline_mask(1));
        ENSURE(library.remaining() == 10);
    }
    options.compare = [](const hob_pipeline_mask& mask, const hob_pipeline_mask& current) {
        return mask.words[0] == current.words[0];
    };
    const hob::PipelineLibrary library(std::move(options));
    ENSURE(library.remaining() == 10 && library.state(key_of(100)) == HOB_PIPELINE_STATE_QUEUED);
}

TEST("pipeline: an object of several passes is drawn whole or not at all") {
    const Directory directory;
    Driver driver;
    play(hob::PipelineLibrary(options_for(driver, directory.inside("pipelines"))), 0, 3);
    const hob::PipelineLibrary library(options_for(driver, directory.inside("pipelines")));
    const hob_pipeline_group_id group = library.add_group({key_of(0), key_of(1), key_of(7)});
    ENSURE(library.decide(group) == HOB_PIPELINE_DECISION_SKIP);
    ENSURE(library.compile() == 2);
    ENSURE(library.decide(group, HOB_PIPELINE_POLICY_SUBSTITUTE) == HOB_PIPELINE_DECISION_SUBSTITUTE);
    ENSURE(library.decide(group, HOB_PIPELINE_POLICY_WAIT, 1000) == HOB_PIPELINE_DECISION_SKIP);
    library.add(Described(7).pipeline);
    ENSURE(library.decide(group) == HOB_PIPELINE_DECISION_DRAW);
    const hob_pipeline_statistics counts = library.statistics();
    ENSURE(counts.groups_skipped == 1 && counts.groups_substituted == 1 && counts.groups_timed_out == 1);
    library.remove_group(group);
    ENSURE(library.try_remove_group(group).code() == HOB_RESULT_NOT_FOUND);
    ENSURE(library.decide(group) == HOB_PIPELINE_DECISION_SKIP);
}

TEST("pipeline: the background compiles, and an exception of the driver reaches a later call") {
    const Directory directory;
    Driver driver;
    {
        const hob::PipelineLibrary library(options_for(driver, directory.inside("pipelines")));
        play(library, 100, 120);
        library.add(Described(666).pipeline);
    }
    const hob::Executor executor = hob::Executor::create_pool(1);
    auto options = options_for(driver, directory.inside("pipelines"));
    options.executor = &executor;
    const hob::PipelineLibrary library(std::move(options));
    while (library.remaining() > 0) {
        library.begin_frame();
        std::this_thread::yield();
    }
    executor.wait_idle();
    ENSURE(library.state(key_of(666)) == HOB_PIPELINE_STATE_FAILED && driver.compiled.size() == 21);
    bool has_thrown = false;
    try {
        library.flush();
    } catch (const std::runtime_error&) {
        has_thrown = true;
    }
    ENSURE(has_thrown);
    library.flush();
}

TEST("pipeline: a library that is switched off does nothing, and its files are for one version") {
    const Directory directory;
    Driver driver;
    play(hob::PipelineLibrary(options_for(driver, directory.inside("pipelines"))), 0, 5);
    auto options = options_for(driver, directory.inside("pipelines"));
    options.desc.flags = HOB_PIPELINE_DISABLED;
    {
        const hob::PipelineLibrary off(options);
        ENSURE(off.use(key_of(0)) == HOB_PIPELINE_STATE_UNKNOWN && off.remaining() == 0);
        off.begin_frame();
        ENSURE(off.add(Described(9).pipeline) == key_of(9) && off.compile() == 0);
        ENSURE(off.decide(off.add_group({key_of(0)})) == HOB_PIPELINE_DECISION_DRAW);
        off.flush();
        ENSURE(off.statistics().opened == 0);
    }
    options.desc.flags = 0;
    options.version = "2.0";
    ENSURE(hob::PipelineLibrary(options).remaining() == 0);
    options.version = "1.0";
    ENSURE(hob::PipelineLibrary(options).remaining() == 5);
    options.project = "a/b";
    ENSURE(hob::PipelineLibrary::try_create(options).code() == HOB_RESULT_INVALID_ARGUMENT);
    options.project = "game";
    options.desc.flags = 1u << 30;
    ENSURE(hob::PipelineLibrary::try_create(options).code() == HOB_RESULT_UNSUPPORTED);
}

TEST("pipeline: frames of two threads allocate nothing and agree") {
    HostAllocator host;
    Driver driver;
    const hob::PipelineLibrary library(options_for(driver));
    play(library, 0, 50);
    std::vector<hob::Fingerprint> keys;
    for (uint32_t number = 0; number < 50; ++number) keys.push_back(key_of(number));
    std::atomic<int> ready{0};
    const auto frames = [&] {
        for (int frame = 0; frame < harness::scaled(1000); ++frame) {
            ENSURE_OK(hob_pipeline_library_begin_frame(library.capi(), 1000));
            for (const hob::Fingerprint& key : keys) ready += library.use(key) == HOB_PIPELINE_STATE_READY;
        }
    };
    frames();
    const uint64_t before = host.calls(), wrapped = malloc_calls();
    frames();
    ENSURE(host.calls() == before && malloc_calls() == wrapped);
    std::thread other(frames);
    frames();
    other.join();
    ENSURE(host.calls() == before);
    ENSURE(ready == 4 * 50 * harness::scaled(1000) && library.statistics().unknown == 50);
}

TEST("pipeline: a host in C encodes and decodes states, and zeros mean the defaults") {
    hob_pipeline_graphics_state graphics, zeros = {};
    ENSURE_OK(hob_pipeline_graphics_state_init(&graphics, sizeof graphics));
    ENSURE(graphics.stencil_front.read_mask == 255 && graphics.stencil_back.compare == HOB_PIPELINE_COMPARE_ALWAYS);
    zeros.struct_size = sizeof zeros;
    zeros.topology = HOB_PIPELINE_TOPOLOGY_TRIANGLE_LIST;
    char bytes[2][4096];
    std::size_t sizes[2] = {};
    ENSURE_OK(hob_pipeline_encode_graphics(&graphics, bytes[0], sizeof bytes[0], &sizes[0]));
    ENSURE_OK(hob_pipeline_encode_graphics(&zeros, bytes[1], sizeof bytes[1], &sizes[1]));
    ENSURE(sizes[0] == sizes[1] && std::memcmp(bytes[0], bytes[1], sizes[0]) == 0);
    ENSURE_OK(hob_pipeline_decode_graphics(bytes[0], sizes[0], &graphics));
    ENSURE(graphics.sample_mask == UINT32_MAX && graphics.color_targets == nullptr);

    hob_pipeline_compute_state compute;
    ENSURE_OK(hob_pipeline_compute_state_init(&compute, sizeof compute));
    compute.layout = 5;
    ENSURE_OK(hob_pipeline_encode_compute(&compute, bytes[0], sizeof bytes[0], &sizes[0]));
    compute.layout = 0;
    ENSURE_OK(hob_pipeline_decode_compute(bytes[0], sizes[0], &compute));
    ENSURE(sizes[0] == 34 && compute.layout == 5);

    hob_pipeline_ray_tracing_state rays;
    ENSURE_OK(hob_pipeline_ray_tracing_state_init(&rays, sizeof rays));
    const hob_pipeline_shader_group group = {HOB_PIPELINE_SHADER_GROUP_KIND_TRIANGLES, 0, UINT32_MAX, 3, 0};
    rays.groups = &group;
    rays.group_count = 1;
    ENSURE_OK(hob_pipeline_encode_ray_tracing(&rays, bytes[0], sizeof bytes[0], &sizes[0]));
    ENSURE_OK(hob_pipeline_decode_ray_tracing(bytes[0], sizes[0], &rays));
    hob_pipeline_shader_group read = {};
    ENSURE(sizes[0] == 43 && rays.group_count == 1);
    ENSURE_OK(hob_pipeline_decode_shader_groups(bytes[0], sizes[0], &read, sizeof read, 1, nullptr));
    ENSURE(read.closest_hit == UINT32_MAX && read.any_hit == 3 && read.kind == HOB_PIPELINE_SHADER_GROUP_KIND_TRIANGLES);
}

TEST("pipeline: a host in C goes the whole way") {
    const Directory directory;
    const std::string path = directory.inside("pipelines");
    hob_pipeline_desc pipeline;
    ENSURE_OK(hob_pipeline_desc_init(&pipeline, sizeof pipeline));
    const hob_pipeline_shader shader = {HOB_SHADER_STAGE_USER, {4}};
    pipeline.kind = HOB_PIPELINE_KIND_RAY_TRACING;
    pipeline.schema = 3;
    pipeline.shaders = &shader;
    pipeline.shader_count = 1;
    hob_fingerprint key = {}, added = {};
    ENSURE_OK(hob_pipeline_get_key(&pipeline, &key));

    hob_pipeline_library_desc desc;
    ENSURE_OK(hob_pipeline_library_desc_init(&desc, sizeof desc));
    ENSURE(desc.mode == HOB_PIPELINE_MODE_FAST && desc.workers == 1 && desc.ban_at == 2 && desc.max_age_seconds == 30 * 24 * 3600);
    int compiled = 0;
    desc.project = HOB_STR("game");
    desc.format = HOB_STR("dxil");
    desc.directory = str(path);
    desc.user_data = &compiled;
    desc.compile = [](void* count, const hob_pipeline_job* job) -> uint32_t {
        hob_pipeline_job expected;
        ENSURE_OK(hob_pipeline_job_init(&expected, sizeof expected));
        ENSURE(job->struct_size >= expected.struct_size && job->kind == HOB_PIPELINE_KIND_RAY_TRACING);
        return (*static_cast<int*>(count))++ == 0 ? HOB_PIPELINE_BUILT_CANCELLED : HOB_PIPELINE_BUILT_READY;
    };
    hob_pipeline_library* library = nullptr;
    for (int run = 0; run < 2; ++run) {
        ENSURE_OK(hob_pipeline_library_create(&desc, &library));
        if (run == 0) {
            ENSURE(hob_pipeline_library_use(library, &key) == HOB_PIPELINE_STATE_UNKNOWN);
            ENSURE_OK(hob_pipeline_library_add(library, &pipeline, 7000, &added));
            ENSURE(hob_fingerprint_equal(&key, &added));
            ENSURE_OK(hob_pipeline_library_flush(library));
            hob_pipeline_library_destroy(library);
        }
    }
    uint32_t remaining = 0, count = 0;
    ENSURE_OK(hob_pipeline_library_get_remaining(library, &remaining));
    ENSURE(remaining == 1 && hob_pipeline_library_get_state(library, &key) == HOB_PIPELINE_STATE_QUEUED);
    ENSURE_OK(hob_pipeline_library_set_mode(library, HOB_PIPELINE_MODE_PRECOMPILE));
    ENSURE(hob_pipeline_library_get_mode(library) == HOB_PIPELINE_MODE_PRECOMPILE);
    const hob_pipeline_mask none = {{0, 0, 0, 0}};
    ENSURE_OK(hob_pipeline_library_set_masks(library, &none, nullptr));
    // The first compile is cancelled, which ends the call.
    ENSURE_OK(hob_pipeline_library_begin_frame(library, 1000000));
    ENSURE_OK(hob_pipeline_library_compile(library, UINT64_MAX, &count));
    ENSURE(count == 0 && compiled == 1);
    ENSURE_OK(hob_pipeline_library_compile(library, UINT64_MAX, &count));
    ENSURE(count == 1 && compiled == 2);
    ENSURE(hob_pipeline_library_wait(library, &key, 0) == HOB_PIPELINE_STATE_READY);
    ENSURE(hob_pipeline_library_use(library, &key) == HOB_PIPELINE_STATE_READY);
    hob_pipeline_group_id group = {0, 0};
    ENSURE_OK(hob_pipeline_library_add_group(library, &key, 0, 1, &group));
    ENSURE(hob_pipeline_library_decide(library, group, HOB_PIPELINE_POLICY_SKIP, 0) == HOB_PIPELINE_DECISION_DRAW);
    ENSURE_OK(hob_pipeline_library_remove_group(library, group));
    hob_pipeline_statistics statistics;
    ENSURE_OK(hob_pipeline_statistics_init(&statistics, sizeof statistics));
    ENSURE_OK(hob_pipeline_library_get_statistics(library, &statistics));
    ENSURE(statistics.opened == 1 && statistics.ready == 1 && statistics.remaining == 0);
    size_t size = 1;
    ENSURE_OK(hob_pipeline_library_get_problem(library, nullptr, 0, &size));
    ENSURE(size == 0);
    hob_pipeline_library_destroy(library);
    hob_pipeline_library_destroy(nullptr);
}

TEST("pipeline: a library is not destroyed by its own compile") {
    Driver driver;
    const Directory directory;
    play(hob::PipelineLibrary(options_for(driver, directory.inside("pipelines"))), 0, 1);
    auto options = options_for(driver, directory.inside("pipelines"));
    hob_pipeline_library* handle = nullptr;
    bool was_refused = false;
    options.compile = [&](const hob_pipeline_job&) {
        hob_pipeline_library_destroy(handle);
        was_refused = std::strstr(hob_last_error(), "inside a compile") != nullptr;
        return HOB_PIPELINE_BUILT_READY;
    };
    hob::PipelineLibrary library(std::move(options));
    handle = library.capi();
    ENSURE(library.compile() == 0);
    library.begin_frame();
    ENSURE(library.compile() == 1 && was_refused);
}

TEST("pipeline: a run is recorded in a file of its own, and other files are no cache") {
    const Directory directory;
    Driver driver;
    auto options = options_for(driver);
    options.recording = directory.inside("run.rec.hobpipe");
    {
        const hob::PipelineLibrary library(options);
        play(library, 0, 20);
        library.flush();
        ENSURE(hob::PipelineLibrary::try_create(options).code() == HOB_RESULT_IO);
        const auto wrong = library.try_open_cache(options.recording);
        ENSURE(wrong.code() == HOB_RESULT_MALFORMED || wrong.code() == HOB_RESULT_UNSUPPORTED);
        ENSURE(std::strstr(wrong.message(), "a recording") != nullptr);
        ENSURE(library.try_open_cache(directory.inside("missing")).code() == HOB_RESULT_IO);
        ENSURE(library.try_open_cache("").code() == HOB_RESULT_INVALID_ARGUMENT);
        ENSURE(library.try_open_cache_bytes("no cache").code() == HOB_RESULT_MALFORMED);
    }
    uint64_t count = 1;
    const hob::PipelineLibrary library(options_for(driver));
    ENSURE(hob_pipeline_library_open_cache(library.capi(), HOB_STR("missing"), &count) == HOB_RESULT_IO);
    ENSURE(hob_pipeline_library_open_cache_bytes(library.capi(), "", 0, &count) == HOB_RESULT_MALFORMED);
}

TEST("pipeline: destroy calls release before it returns, also while the executor works") {
    struct Host {
        std::atomic<int> calls{0}, released{0};
    };
    hob_executor* executor = nullptr;
    ENSURE_OK(hob_executor_create_pool(1, &executor));
    for (uint32_t round = 0; round < 200; ++round) {
        const Directory directory;
        const std::string path = directory.inside("pipelines");
        Host host;
        hob_pipeline_library_desc desc = HOB_PIPELINE_LIBRARY_DESC_INIT;
        desc.project = HOB_STR("game");
        desc.format = HOB_STR("spirv");
        desc.directory = hob_str_of(path.data(), path.size());
        desc.executor = executor;
        desc.user_data = &host;
        desc.compile = [](void* data, const hob_pipeline_job*) -> uint32_t {
            ++static_cast<Host*>(data)->calls;
            return HOB_PIPELINE_BUILT_READY;
        };
        desc.release = [](void* data) { ++static_cast<Host*>(data)->released; };
        hob_pipeline_library* library = nullptr;
        ENSURE_OK(hob_pipeline_library_create(&desc, &library));
        for (uint32_t number = 0; number < round % 8; ++number) {
            const Described described(number);
            const hob_pipeline_desc pipeline = described.pipeline.capi();
            hob_fingerprint key;
            ENSURE_OK(hob_pipeline_library_add(library, &pipeline, 1000, &key));
        }
        hob_pipeline_library_destroy(library);
        ENSURE(host.released == 1);
    }
    hob_executor_destroy(executor);
}

TEST("pipeline: recordings become the cache of a build whose shaders have changed") {
    const Directory directory;
    Driver driver;
    const auto file = [&](const char* name) { return directory.inside(name); };
    const std::string recording = file("run.rec.hobpipe"), old_keys = file("old.csv"), new_keys = file("new.csv"),
                      stable = file("run.hobstable"), cache = file("game.hobpipe");
    auto options = options_for(driver);
    options.recording = recording;
    play(hob::PipelineLibrary(options), 0, 20);
    // The shader of number n is n + 100 in the next build, which lacks the last two.
    const auto write_keys = [](const std::string& path, uint32_t added, uint32_t count) {
        std::FILE* csv = std::fopen(path.c_str(), "w");
        ENSURE(csv != nullptr);
        for (uint32_t number = 0; number < count; ++number)
            std::fprintf(csv, "%02x%038d,0,\"Material%u,Vertex\"\n", number + added, 0, number);
        ENSURE(std::fclose(csv) == 0);
    };
    write_keys(old_keys, 0, 20);
    write_keys(new_keys, 100, 18);
    const auto view = [](const std::string& path) { return hob_str_of(path.data(), path.size()); };
    const hob_str recordings[] = {view(recording), view(recording)}, old_map[] = {view(old_keys)},
                  new_map[] = {view(new_keys)}, files[] = {view(stable)};
    const auto expanded = hob::expand_pipelines(recordings, old_map, stable);
    ENSURE(expanded.recordings == 1 && expanded.repeated == 1 && expanded.pipelines == 20 && expanded.stable == 20);
    ENSURE(expanded.unresolved == 0 && expanded.damaged == 0 && expanded.truncated == 0 && expanded.bytes > 1000);

    hob_pipeline_build_desc build = HOB_PIPELINE_BUILD_DESC_INIT;
    build.project = HOB_STR("game");
    build.format = HOB_STR("spirv");
    build.version = HOB_STR("1.1");
    build.out = view(cache);
    const auto built = hob::build_pipelines(build, files, new_map);
    ENSURE(built.key_lines == 18 && built.files == 1 && built.stable == 20 && built.rejected == 2 && built.merged == 18);
    ENSURE(built.different == 18 && built.graphics == 18 && built.compute == 0 && built.skipped == 0 && built.bytes > 1000);
    ENSURE(hob::PipelineLibrary(options_for(driver)).open_cache(cache) == 18);

    // No input is written, whatever its name is.
    const std::string link = file("link"), same = file("same");
    std::filesystem::create_symlink(recording, link);
    std::filesystem::create_hard_link(old_keys, same);
    for (const std::string& out : {recording, link, old_keys, same}) {
        const auto size = std::filesystem::file_size(out);
        const auto refused = hob::try_expand_pipelines(recordings, old_map, out);
        ENSURE(refused.code() == HOB_RESULT_INVALID_ARGUMENT && std::strstr(refused.message(), "is the input") != nullptr);
        ENSURE(std::filesystem::file_size(out) == size);
    }
    for (const std::string& out : {stable, new_keys}) {
        const auto size = std::filesystem::file_size(out);
        build.out = view(out);
        ENSURE(hob::try_build_pipelines(build, files, new_map).code() == HOB_RESULT_INVALID_ARGUMENT);
        ENSURE(std::filesystem::file_size(out) == size);
    }

    // Two threads that write one file both write a whole one, also with the longest names.
    constexpr std::size_t lengths[] = {8, 252, 253, 254, 255};
    for (const std::size_t length : lengths) {
        const std::string shared = file(std::string(length, 'x').c_str());
        for (int round = 0; round < 10; ++round) {
            const auto work = [&] {
                auto desc = build;
                desc.out = view(shared);
                ENSURE(hob::build_pipelines(desc, files, new_map).bytes == built.bytes);
                ENSURE(hob::PipelineLibrary(options_for(driver)).open_cache(shared) == 18);
            };
            std::thread other(work);
            work();
            other.join();
            ENSURE(std::filesystem::file_size(shared) == built.bytes);
        }
    }

    // A line that is too long is named with its file.
    const std::string long_line = file("long.csv");
    std::FILE* text = std::fopen(long_line.c_str(), "w");
    ENSURE(text != nullptr && std::fputs(std::string(70000, 'a').c_str(), text) >= 0 && std::fclose(text) == 0);
    const hob_str long_map[] = {view(long_line)};
    const auto too_long = hob::try_expand_pipelines(recordings, long_map, file("other"));
    ENSURE(too_long.code() == HOB_RESULT_LIMIT_EXCEEDED && std::strstr(too_long.message(), "long.csv") != nullptr);

    // A refusal has a sentence, and leaves the cache as it was.
    build.out = view(cache);
    build.project = HOB_STR("other");
    const auto skipped = hob::try_build_pipelines(build, files, new_map);
    ENSURE(skipped.code() == HOB_RESULT_NOT_FOUND && std::strstr(skipped.message(), "'other'") != nullptr);
    build.flags = 4;
    ENSURE(hob_pipeline_build(&build, nullptr) == HOB_RESULT_UNSUPPORTED);
    build.flags = HOB_PIPELINE_BUILD_NO_COMPUTE | HOB_PIPELINE_BUILD_NO_SANITISING;
    build.out = HOB_STR("");
    ENSURE(hob_pipeline_build(&build, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob::try_expand_pipelines({}, old_map, stable).code() == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob::try_expand_pipelines(files, old_map, stable).code() == HOB_RESULT_UNSUPPORTED);
    const std::string missing = file("missing.csv");
    const hob_str no_map[] = {view(missing)}, empty[] = {HOB_STR("")};
    ENSURE(hob::try_expand_pipelines(recordings, no_map, stable).code() == HOB_RESULT_IO);
    ENSURE(hob::try_expand_pipelines(empty, old_map, stable).code() == HOB_RESULT_INVALID_ARGUMENT);
    std::FILE* csv = std::fopen(missing.c_str(), "w");
    ENSURE(csv != nullptr && std::fputs("no key map", csv) >= 0 && std::fclose(csv) == 0);
    ENSURE(hob::try_expand_pipelines(recordings, no_map, stable).code() == HOB_RESULT_MALFORMED);
    hob_pipeline_expand_desc expand = HOB_PIPELINE_EXPAND_DESC_INIT;
    ENSURE_OK(hob_pipeline_expand_desc_init(&expand, sizeof expand));
    ENSURE_OK(hob_pipeline_build_desc_init(&build, sizeof build));
    hob_pipeline_expand_report expand_report = expanded;
    hob_pipeline_build_report build_report = built;
    ENSURE_OK(hob_pipeline_expand_report_init(&expand_report, sizeof expand_report));
    ENSURE_OK(hob_pipeline_build_report_init(&build_report, sizeof build_report));
    ENSURE(build.combinations == 64 && expand.key_count == 0 && expand_report.stable == 0 && build_report.merged == 0);
    expand.recordings = recordings;
    expand.recording_count = std::size_t(1) << 21;
    expand.out = view(stable);
    ENSURE(hob_pipeline_expand(&expand, nullptr) == HOB_RESULT_LIMIT_EXCEEDED);
    ENSURE(hob::PipelineLibrary(options_for(driver)).open_cache(cache) == 18);
}

TEST("pipeline: a comparison cannot call the library, and a directory that is a file is no failure") {
    const Directory directory;
    Driver driver;
    play(hob::PipelineLibrary(options_for(driver, directory.inside("pipelines"))), 0, 1);
    auto options = options_for(driver, directory.inside("pipelines"));
    hob_pipeline_library* handle = nullptr;
    int refusals = 0;
    options.compare = [&](const hob_pipeline_mask&, const hob_pipeline_mask&) {
        if (handle != nullptr) {
            refusals += hob_pipeline_library_flush(handle) == HOB_RESULT_BUSY && last_error_has("comparison");
            hob_pipeline_library_destroy(handle);
        }
        return true;
    };
    {
        hob::PipelineLibrary library(options);
        handle = library.capi();
        library.set_masks(hob::pipeline_mask(3));
        handle = nullptr;
        ENSURE(refusals > 0 && library.remaining() == 1);
    }
    options.directory = directory.inside("file");
    std::FILE* file = std::fopen(options.directory.c_str(), "w");
    ENSURE(file != nullptr && std::fclose(file) == 0);
    const hob::PipelineLibrary library(options);
    ENSURE(!library.problem().empty());
    play(library, 0, 5);
    const auto flushed = library.try_flush();
    ENSURE(flushed.code() == HOB_RESULT_IO && library.problem() == flushed.message());
    options.desc.flags = HOB_PIPELINE_READ_ONLY;
    options.directory = directory.inside("pipelines");
    const hob::PipelineLibrary reader(options);
    play(reader, 0, 5);
    reader.flush();
    ENSURE(reader.statistics().opened == 1 && reader.problem().empty());
}
