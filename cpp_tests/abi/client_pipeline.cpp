// Pipelines of a client that was compiled with other headers than its library. MIT OR Apache-2.0.
#include "client.h"

#include <string>

namespace abi {

#if __has_include(<hobgoblin/pipeline.h>)

namespace {

/// A path in the client's own directory.
std::string inside(const char* name) {
    const char* const scratch = std::getenv("HOB_SCRATCH");
    CHECK(scratch != nullptr);
    return std::string(scratch) + "/" + name;
}

struct Driver {
    uint32_t compiled = 0, released = 0;

    static uint32_t compile(void* self, const hob_pipeline_job* job) {
        CHECK(job->schema == 7 && job->state_size == 5 && std::memcmp(job->state, "state", 5) == 0);
        CHECK(job->shader_count == 1 && job->shaders[0].stage == HOB_SHADER_STAGE_COMPUTE && job->shaders[0].hash[19] == 9);
        CHECK(job->kind == HOB_PIPELINE_KIND_COMPUTE);
        ++static_cast<Driver*>(self)->compiled;
        return HOB_PIPELINE_BUILT_READY;
    }
    static void release(void* self) { ++static_cast<Driver*>(self)->released; }
};

const hob_pipeline_dimension fields[] = {{HOB_STR_INIT("quality"), 2, 0}, {HOB_STR_INIT("level"), 6, 0}};

hob_pipeline_library* create(Driver& driver, const std::string& directory, const std::string& recording = "") {
    Guarded<hob_pipeline_library_desc> desc;
    desc->dimensions = fields;
    desc->dimension_stride = sizeof *fields;
    desc->dimension_count = 2;
    CHECK(desc->mode == HOB_PIPELINE_MODE_FAST);
    desc->project = text("game");
    desc->format = text("spirv");
    desc->version = text("1.0");
    desc->directory = text(directory.c_str());
    desc->recording = text(recording.c_str());
    desc->user_data = &driver;
    desc->compile = &Driver::compile;
    desc->release = &Driver::release;
    hob_pipeline_library* library = nullptr;
    CHECK_OK(hob_pipeline_library_create(desc.get(), &library));
    return library;
}

/// States of the library's own schema come back as they were. Headers that are older lack them.
void drive_states() {
#ifdef HOB_PIPELINE_SCHEMA_OWN
    const hob_pipeline_vertex_buffer buffer = {0, 12, 0};
    const hob_pipeline_vertex_attribute attribute = {3, 0, 0, 106};
    Guarded<hob_pipeline_graphics_state> graphics;
    CHECK(graphics->topology == HOB_PIPELINE_TOPOLOGY_TRIANGLE_LIST && graphics->sample_count == 1);
    graphics->vertex_buffers = &buffer;
    graphics->vertex_buffer_count = 1;
    graphics->attributes = &attribute;
    graphics->attribute_count = 1;
    char bytes[4096];
    size_t size = 0, count = 0;
    CHECK_OK(hob_pipeline_encode_graphics(graphics.get(), bytes, sizeof bytes, &size));
    Guarded<hob_pipeline_graphics_state> again;
    CHECK_OK(hob_pipeline_decode_graphics(bytes, size, again.get()));
    CHECK(again->attribute_count == 1 && again->vertex_buffer_count == 1 && again->sample_mask == UINT32_MAX);
    hob_pipeline_vertex_attribute read = {0, 0, 0, 0};
    CHECK_OK(hob_pipeline_decode_vertex_attributes(bytes, size, &read, sizeof read, 1, &count));
    CHECK(count == 1 && read.location == 3 && read.format == 106);
    hob_pipeline_vertex_buffer buffer_read = {9, 9, 9};
    CHECK_OK(hob_pipeline_decode_vertex_buffers(bytes, size, &buffer_read, sizeof buffer_read, 1, &count));
    CHECK(count == 1 && buffer_read.stride == 12);
    CHECK_OK(hob_pipeline_decode_color_targets(bytes, size, nullptr, 0, 0, &count));
    CHECK(count == 0);

    Guarded<hob_pipeline_compute_state> compute;
    compute->workgroup[2] = 4;
    CHECK_OK(hob_pipeline_encode_compute(compute.get(), bytes, sizeof bytes, &size));
    CHECK_OK(hob_pipeline_decode_compute(bytes, size, compute.get()));
    CHECK(compute->workgroup[2] == 4);

    const hob_pipeline_shader_group group = {HOB_PIPELINE_SHADER_GROUP_KIND_GENERAL, 1, 0, 0, 0};
    Guarded<hob_pipeline_ray_tracing_state> rays;
    rays->groups = &group;
    rays->group_count = 1;
    CHECK_OK(hob_pipeline_encode_ray_tracing(rays.get(), bytes, sizeof bytes, &size));
    CHECK_OK(hob_pipeline_decode_ray_tracing(bytes, size, rays.get()));
    CHECK(rays->group_count == 1 && rays->max_recursion_depth == 1);
    hob_pipeline_shader_group group_read = {HOB_PIPELINE_SHADER_GROUP_KIND_TRIANGLES, 0, 0, 0, 0};
    CHECK_OK(hob_pipeline_decode_shader_groups(bytes, size, &group_read, sizeof group_read, 1, &count));
    CHECK(count == 1 && group_read.kind == group.kind && group_read.general == 1);
#endif
}

/// A recording becomes a cache. Headers that are older lack the calls.
void drive_files(const hob_pipeline_desc* pipeline) {
#ifdef HOB_PIPELINE_BUILD_NO_COMPUTE
    Driver driver;
    const std::string run = inside("run.rec.hobpipe"), key_file = inside("keys.csv"), stable_file = inside("run.hobstable");
    const std::string cache_file = inside("game.hobpipe");
    hob_pipeline_library* library = create(driver, "", run);
    hob_fingerprint key;
    CHECK_OK(hob_pipeline_library_add(library, pipeline, 3000, &key));
    hob_pipeline_library_destroy(library);
    std::FILE* csv = std::fopen(key_file.c_str(), "w");
    CHECK(csv != nullptr);
    std::fprintf(csv, "%040d,5,\"a,b\"\n", 9);
    std::fclose(csv);
    const hob_str recording = text(run.c_str()), keys = text(key_file.c_str());
    Guarded<hob_pipeline_expand_desc> expand;
    expand->recordings = &recording;
    expand->recording_count = 1;
    expand->keys = &keys;
    expand->key_count = 1;
    expand->out = text(stable_file.c_str());
    Guarded<hob_pipeline_expand_report> expanded;
    CHECK_OK(hob_pipeline_expand(expand.get(), expanded.get()));
    CHECK(expanded->pipelines == 1 && expanded->stable == 1 && expanded->bytes > 0);
    Guarded<hob_pipeline_build_desc> build;
    build->project = text("game");
    build->format = text("spirv");
    build->keys = &keys;
    build->key_count = 1;
    build->out = text(cache_file.c_str());
    Guarded<hob_pipeline_build_report> built;
    CHECK_OK(hob_pipeline_build(build.get(), built.get()));
    CHECK(built->compute == 1 && built->added_compute == 1 && built->bytes > 0);

    std::string bytes(built->bytes, ' ');
    std::FILE* cache = std::fopen(cache_file.c_str(), "rb");
    CHECK(cache != nullptr && std::fread(&bytes[0], 1, bytes.size(), cache) == bytes.size());
    std::fclose(cache);
    library = create(driver, "");
    uint64_t entries = 0;
    CHECK_OK(hob_pipeline_library_open_cache(library, text(cache_file.c_str()), &entries));
    CHECK(entries == 1);
    CHECK_OK(hob_pipeline_library_open_cache_bytes(library, bytes.data(), bytes.size(), &entries));
    CHECK(entries == 1);
    Guarded<hob_pipeline_statistics> statistics;
    CHECK_OK(hob_pipeline_library_get_statistics(library, statistics.get()));
    CHECK(statistics->opened == 1);
    hob_pipeline_library_destroy(library);
#else
    (void)pipeline;
#endif
}

/// Masks, modes, and a group whose pipeline is needed, compiled and forgotten.
void drive_frames(hob_pipeline_library* library, const hob_fingerprint& key) {
    hob_pipeline_mask mask = {{0, 0, 0, 0}};
    CHECK_OK(hob_pipeline_set_mask_field(fields, sizeof *fields, 2, nullptr, text("level"), 17, &mask));
    CHECK(mask.words[0] == 17 << 2);
    uint32_t remaining = 9, count = 9;
    CHECK_OK(hob_pipeline_library_get_remaining_of(library, &mask, &remaining));
    CHECK(remaining == 0);
    CHECK_OK(hob_pipeline_library_set_masks(library, &mask, nullptr));
    CHECK_OK(hob_pipeline_library_set_mode(library, HOB_PIPELINE_MODE_PAUSED));
    CHECK(hob_pipeline_library_get_mode(library) == HOB_PIPELINE_MODE_PAUSED);

    hob_pipeline_group_id group = {0, 0};
    CHECK_OK(hob_pipeline_library_add_group(library, &key, sizeof key, 1, &group));
    CHECK(hob_pipeline_library_decide(library, group, HOB_PIPELINE_POLICY_SUBSTITUTE, 0) == HOB_PIPELINE_DECISION_SUBSTITUTE);
    CHECK(hob_pipeline_library_request(library, &key, 0) == HOB_PIPELINE_STATE_QUEUED);
    CHECK_OK(hob_pipeline_library_begin_frame(library, 0));
    CHECK_OK(hob_pipeline_library_compile(library, UINT64_MAX, &count));
    CHECK(count == 1 && hob_pipeline_library_get_state(library, &key) == HOB_PIPELINE_STATE_READY);
    CHECK(hob_pipeline_library_decide(library, group, HOB_PIPELINE_POLICY_SKIP, 0) == HOB_PIPELINE_DECISION_DRAW);

    uint64_t forgotten = 9;
    CHECK_OK(hob_pipeline_library_forget(library, nullptr, &forgotten));
    CHECK(forgotten == 1);
    CHECK_OK(hob_pipeline_library_get_remaining(library, &remaining));
    CHECK(remaining == 0 && hob_pipeline_library_get_state(library, &key) == HOB_PIPELINE_STATE_UNSELECTED);
    CHECK_OK(hob_pipeline_library_remove_group(library, group));
    CHECK_OK(hob_pipeline_library_flush(library));
    size_t size = 9;
    CHECK_OK(hob_pipeline_library_get_problem(library, nullptr, 0, &size));
    CHECK(size == 0);
}

}  // namespace

void drive_pipeline() {
    const hob_pipeline_shader shader = {HOB_SHADER_STAGE_COMPUTE,
                                        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9}};
    Guarded<hob_pipeline_desc> pipeline;
    pipeline->kind = HOB_PIPELINE_KIND_COMPUTE;
    pipeline->schema = 7;
    pipeline->state = "state";
    pipeline->state_size = 5;
    pipeline->shaders = &shader;
    pipeline->shader_count = 1;
    Driver driver;
    hob_fingerprint key;
    hob_pipeline_library* library = create(driver, inside("pipelines"));
    CHECK_OK(hob_pipeline_library_add(library, pipeline.get(), 3000, &key));
    hob_pipeline_library_destroy(library);

    hob_fingerprint same;
    CHECK_OK(hob_pipeline_get_key(pipeline.get(), &same));
    CHECK(std::memcmp(&key, &same, sizeof key) == 0);
    library = create(driver, inside("pipelines"));
    drive_frames(library, key);
    CHECK(hob_pipeline_library_wait(library, &key, UINT64_MAX) == HOB_PIPELINE_STATE_READY);
    CHECK(hob_pipeline_library_use(library, &key) == HOB_PIPELINE_STATE_READY);
    Guarded<hob_pipeline_statistics> statistics;
    CHECK_OK(hob_pipeline_library_get_statistics(library, statistics.get()));
    CHECK(statistics->opened == 1 && statistics->ready_at_first_use == 1 && statistics->memory_used > 0);
    hob_pipeline_library_destroy(library);
    CHECK(driver.compiled == 2 && driver.released == 2);
    drive_states();
    drive_files(pipeline.get());
}

#else

// The headers are older than pipelines.
void drive_pipeline() {}

#endif

}  // namespace abi
