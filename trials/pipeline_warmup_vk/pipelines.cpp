#include "pipelines.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <stdexcept>

#include "../common/interrupt.h"

namespace pipeline_warmup_vk {

namespace {

std::uint64_t now_us() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(since).count());
}

} // namespace

std::string driver_of(const Identity& identity) {
    return std::string(identity.driver.driverName) + " " + identity.driver.driverInfo;
}

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
    return environment;
}

Pipelines::Pipelines(const Vulkan& vulkan, const Renderer& the_renderer, const Scene& the_scene, const PipelinesOptions& given)
    : renderer(the_renderer), scene(the_scene), warms_up(given.warms_up) {
    hob_executor_desc threads = HOB_EXECUTOR_DESC_INIT;
    threads.background = HOB_BACKGROUND_THREAD;
    executor = std::make_unique<hob::Executor>(threads);
    const Identity& identity = vulkan.identity();
    const std::string driver = driver_of(identity);
    hob::PipelineLibraryOptions options;
    options.project = project;
    options.format = shader_format;
    options.version = "1";
    options.directory = given.directory;
    options.recording = given.recording;
    options.environment = environment_of(identity, driver);
    options.executor = executor.get();
    options.compile = [this](const hob_pipeline_job& job) { return compile(job); };
    options.desc.api = HOB_GRAPHICS_API_VULKAN;
    options.desc.mode = HOB_PIPELINE_MODE_PAUSED; // until the loading screen
    pipelines = std::make_unique<hob::PipelineLibrary>(std::move(options));
}

Pipelines::~Pipelines() {
    pipelines.reset(); // waits for a compile that runs
    executor.reset();
    for (const auto& [key, object] : objects) renderer.destroy(object);
}

/// The library knows descriptions only: the state's bytes and the shaders' hashes are all that there is.
hob_pipeline_built Pipelines::compile(const hob_pipeline_job& job) {
    if (trials::interrupted()) return HOB_PIPELINE_BUILT_CANCELLED;
    if (job.schema != state_schema) return HOB_PIPELINE_BUILT_FAILED;
    const std::string state(static_cast<const char*>(job.state), job.state_size);
    const std::vector<hob_pipeline_shader> shaders(job.shaders, job.shaders + job.shader_count);
    return build(hob::Fingerprint{job.key}, state, shaders) ? HOB_PIPELINE_BUILT_READY : HOB_PIPELINE_BUILT_FAILED;
}

bool Pipelines::build(const hob::Fingerprint& key, const std::string& bytes, const std::vector<hob_pipeline_shader>& names) {
    std::vector<const Shader*> shaders;
    for (const hob_pipeline_shader& name : names) {
        shaders.push_back(scene.find_shader(name));
        if (shaders.back() == nullptr) return false; // a shader that this build does not have
    }
    const State state = State::from_bytes(bytes);
    const std::uint64_t begin = now_us();
    const VkPipeline object = renderer.create(state, shaders);
    if (object == nullptr) return false;
    const std::uint64_t created = now_us();
    if (warms_up) renderer.warm_up(state, object);
    create_us += created - begin;
    first_draw_us += now_us() - created;
    ++count;
    const std::lock_guard<std::mutex> lock(mutex);
    objects[key] = object; // the library never builds a key twice
    return true;
}

void Pipelines::build_now(const ScenePipeline& pipeline) {
    const std::uint64_t begin = now_us();
    if (!build(pipeline.key, pipeline.state, pipeline.shaders)) throw std::runtime_error("the driver refused a pipeline");
    pipelines->add(pipeline.described(), now_us() - begin);
}

void Pipelines::finish() {
    pipelines->set_mode(HOB_PIPELINE_MODE_PAUSED);
    executor->wait_idle();
    pipelines->flush();
    const std::string problem = pipelines->problem();
    if (!problem.empty()) throw std::runtime_error(problem);
}

VkPipeline Pipelines::find(const hob::Fingerprint& key) const {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = objects.find(key);
    return found == objects.end() ? nullptr : found->second;
}

} // namespace pipeline_warmup_vk
