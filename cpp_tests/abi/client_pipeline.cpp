// Pipelines of a client that was compiled with other headers than its library. MIT OR Apache-2.0.
#include "client.h"

namespace abi {

#if __has_include(<hobgoblin/pipeline.h>)

namespace {

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

hob_pipeline_library* create(Driver& driver, const char* directory) {
    Guarded<hob_pipeline_library_desc> desc;
    CHECK(desc->mode == HOB_PIPELINE_MODE_FAST);
    desc->project = text("game");
    desc->format = text("spirv");
    desc->version = text("1.0");
    desc->directory = text(directory);
    desc->user_data = &driver;
    desc->compile = &Driver::compile;
    desc->release = &Driver::release;
    hob_pipeline_library* library = nullptr;
    CHECK_OK(hob_pipeline_library_create(desc.get(), &library));
    return library;
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
    hob_pipeline_library* library = create(driver, "pipelines");
    CHECK_OK(hob_pipeline_library_add(library, pipeline.get(), 3000, &key));
    hob_pipeline_library_destroy(library);

    library = create(driver, "pipelines");
    CHECK(hob_pipeline_library_wait(library, &key, UINT64_MAX) == HOB_PIPELINE_STATE_READY);
    CHECK(hob_pipeline_library_use(library, &key) == HOB_PIPELINE_STATE_READY);
    Guarded<hob_pipeline_statistics> statistics;
    CHECK_OK(hob_pipeline_library_get_statistics(library, statistics.get()));
    CHECK(statistics->opened == 1 && statistics->ready_at_first_use == 1 && statistics->memory_used > 0);
    hob_pipeline_library_destroy(library);
    CHECK(driver.compiled == 1 && driver.released == 2);
}

#else

// The headers are older than pipelines.
void drive_pipeline() {}

#endif

}  // namespace abi
