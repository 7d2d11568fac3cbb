// pipeline.h and pipeline.hpp: requests, masks of named fields, and pipelines that are compiled again.
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <hobgoblin/pipeline.hpp>

#include "program_cache_support.h"

using namespace support;

namespace {

const hob_pipeline_dimension dimensions[] = {{HOB_STR_INIT("quality"), 2, 0}, {HOB_STR_INIT("level"), 6, 0}};

hob_pipeline_mask masked(uint64_t quality, uint64_t level) {
    const hob_pipeline_mask none = {{0, 0, 0, 0}};
    return hob::set_mask_field(dimensions, hob::set_mask_field(dimensions, none, "quality", quality), "level", level);
}

/// A pipeline with one shader and no state.
hob::Pipeline pipeline(uint8_t number) {
    hob::Pipeline made;
    made.schema = 1;
    made.shaders = {{HOB_SHADER_STAGE_COMPUTE, {number}}};
    made.kind = HOB_PIPELINE_KIND_COMPUTE;
    return made;
}

hob::PipelineLibraryOptions options_in(const Directory& directory) {
    hob::PipelineLibraryOptions options;
    options.project = "game";
    options.format = "spirv";
    options.version = "1.0";
    options.directory = directory.inside("pipelines");
    options.compile = [](const hob_pipeline_job& job) {
        return job.shaders[0].hash[0] == 13 ? HOB_PIPELINE_BUILT_FAILED : HOB_PIPELINE_BUILT_READY;
    };
    options.desc.dimensions = dimensions;
    options.desc.dimension_stride = sizeof dimensions[0];
    options.desc.dimension_count = 2;
    return options;
}

/// Writes a user's cache: the pipelines 0 to 5 with quality 1 and 2, the odd ones in level 5, the others in level 4.
void write_cache(const Directory& directory) {
    const hob::PipelineLibrary library(options_in(directory));
    for (uint8_t number = 0; number < 6; ++number) {
        library.set_masks(masked(1 + number / 3, 4 + number % 2));
        library.add(pipeline(number));
    }
}

}  // namespace

TEST("pipeline: fields of a mask are set by name") {
    hob_pipeline_mask mask = {{UINT64_MAX, 1, 2, 3}};
    const size_t stride = sizeof dimensions[0];
    ENSURE_OK(hob_pipeline_set_mask_field(dimensions, stride, 2, nullptr, HOB_STR("level"), 17, &mask));
    ENSURE(mask.words[0] == 17 << 2 && mask.words[3] == 0);
    ENSURE_OK(hob_pipeline_set_mask_field(dimensions, 0, 2, &mask, HOB_STR("quality"), 3, &mask));
    ENSURE(mask.words[0] == (17 << 2 | 3));
    ENSURE(hob_pipeline_set_mask_field(dimensions, stride, 2, &mask, HOB_STR("quality"), 4, &mask) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(std::strstr(hob_last_error(), "'quality' needs more than 2 bits") != nullptr);
    ENSURE(hob_pipeline_set_mask_field(dimensions, stride, 2, &mask, HOB_STR("api"), 1, &mask) == HOB_RESULT_NOT_FOUND);
    ENSURE(mask.words[0] == (17 << 2 | 3));
    ENSURE(hob::try_set_mask_field({}, mask, "quality", 1).code() == HOB_RESULT_NOT_FOUND);
    const std::vector<hob_pipeline_dimension> many(65, dimensions[0]);
    ENSURE(hob::try_set_mask_field(many, mask, "quality", 1).code() == HOB_RESULT_LIMIT_EXCEEDED);
    const hob_pipeline_dimension repeated[] = {dimensions[0], dimensions[0]};
    ENSURE(hob::try_set_mask_field(repeated, mask, "quality", 1).code() == HOB_RESULT_INVALID_ARGUMENT);
}

TEST("pipeline: named fields are compared one by one, and remaining pipelines are counted by mask") {
    const Directory directory;
    write_cache(directory);
    auto options = options_in(directory);
    options.mask = masked(1, 4);
    const hob::PipelineLibrary library(options);
    ENSURE(library.statistics().opened == 6);
    // As plain bits, quality 1 would also be a part of 3, and level 4 of 5.
    ENSURE(library.remaining() == 2 && library.remaining_of(masked(3, 0)) == 0);
    ENSURE(library.remaining_of(masked(0, 4)) == 3 && library.remaining_of(masked(2, 5)) == 2);
    ENSURE(library.remaining_of(masked(0, 0)) == 6);
    library.begin_frame();
    ENSURE(library.compile() == 2 && library.remaining_of(masked(0, 0)) == 4);
    uint32_t remaining = 0;
    const hob_pipeline_mask level = masked(0, 5);
    ENSURE_OK(hob_pipeline_library_get_remaining_of(library.capi(), &level, &remaining));
    ENSURE(remaining == 3);
    // The masks of another set of fields have another meaning.
    options.desc.dimension_count = 1;
    options.mask = masked(1, 0);
    const hob::PipelineLibrary other(options);
    ENSURE(other.statistics().opened == 0);
    ENSURE(other.problem().find("quality:2 level:6, and not quality:2") != std::string::npos);
    const hob_pipeline_mask beyond = masked(1, 4);
    ENSURE(hob_pipeline_library_set_masks(other.capi(), &beyond, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_pipeline_library_set_masks(other.capi(), &options.mask, &beyond) == HOB_RESULT_INVALID_ARGUMENT);
}

TEST("pipeline: a request waits for another thread, and forgotten pipelines are compiled again") {
    const Directory directory;
    write_cache(directory);
    const hob::PipelineLibrary library(options_in(directory));
    library.set_mode(HOB_PIPELINE_MODE_PAUSED);
    const hob::Fingerprint key = pipeline(3).key(), unknown = pipeline(99).key();
    ENSURE(library.request(unknown, UINT64_MAX) == HOB_PIPELINE_STATE_UNKNOWN);
    ENSURE(hob_pipeline_library_request(library.capi(), &key, 0) == HOB_PIPELINE_STATE_QUEUED);
    std::thread worker([&] {
        while (library.compile() == 0) std::this_thread::yield();
    });
    ENSURE(library.request(key, UINT64_MAX) == HOB_PIPELINE_STATE_READY);
    worker.join();
    ENSURE(!library.forget(unknown) && library.forget(key) && !library.forget(key));
    ENSURE(library.state(key) == HOB_PIPELINE_STATE_QUEUED && library.wait(key) == HOB_PIPELINE_STATE_READY);
    ENSURE(library.forget_all() == 1 && library.state(key) == HOB_PIPELINE_STATE_QUEUED);
    const hob::Fingerprint refused = library.add(pipeline(13));
    uint64_t count = 9;
    ENSURE_OK(hob_pipeline_library_forget(library.capi(), &refused, &count));
    ENSURE(count == 1 && library.wait(refused) == HOB_PIPELINE_STATE_FAILED);
    ENSURE_OK(hob_pipeline_library_forget(library.capi(), nullptr, nullptr));
    ENSURE(library.state(refused) == HOB_PIPELINE_STATE_FAILED && library.forget(refused));
}

TEST("pipeline: unknown graphics APIs and versions that are too long are refused") {
    const Directory directory;
    auto options = options_in(directory);
    options.desc.api = 8;
    ENSURE(hob::PipelineLibrary::try_create(options).code() == HOB_RESULT_INVALID_ARGUMENT);
    options.desc.api = HOB_GRAPHICS_API_USER;
    ENSURE(hob::PipelineLibrary::try_create(options).code() == HOB_RESULT_OK);
    options.version.assign(70000, '1');
    const auto refused = hob::PipelineLibrary::try_create(options);
    ENSURE(refused.code() == HOB_RESULT_LIMIT_EXCEEDED && std::strstr(refused.message(), "version") != nullptr);
    hob_pipeline_build_desc build = HOB_PIPELINE_BUILD_DESC_INIT;
    const std::string out = directory.inside("built");
    build.project = HOB_STR("game");
    build.format = HOB_STR("spirv");
    build.out = str(out);
    build.api = 63;
    ENSURE(hob_pipeline_build(&build, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
}
