#include "api/world.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

namespace api {

namespace {

const hob_option options[] = {{0, 1, 0, 0}, {5, 2, 0, 0}};
const double values[] = {0, 5}, works[] = {1, 2};
const hob_product_axis axes[] = {{values, works, 2, 0}, {values, nullptr, 2, 1}};
const char source[] = "void main() {}";
const hob_program_stage stage = {HOB_SHADER_STAGE_COMPUTE, 0, source, sizeof source - 1};
const char binary_bytes[] = "binary";
/// A cache of pipelines, which tests/common/cpp.rs copies from tests/fixtures.
const unsigned char pipeline_cache[] = {
#include "api/pipeline_cache.inc"
};
const hob_pipeline_shader pipeline_shader = {HOB_SHADER_STAGE_COMPUTE, {1, 2, 3}};
const hob_pipeline_vertex_buffer vertex_buffers[] = {{0, 12, 0}, {1, 4, 1}};
const hob_pipeline_vertex_attribute vertex_attributes[] = {{0, 0, 0, 106}, {1, 1, 0, 37}};
const hob_pipeline_color_target color_targets[] = {
    {44, 15, 1, HOB_PIPELINE_BLEND_FACTOR_ONE, HOB_PIPELINE_BLEND_FACTOR_ONE, HOB_PIPELINE_BLEND_OP_ADD,
     HOB_PIPELINE_BLEND_FACTOR_ONE, HOB_PIPELINE_BLEND_FACTOR_ZERO, HOB_PIPELINE_BLEND_OP_MAX}};
const hob_pipeline_shader_group shader_groups[] = {
    {HOB_PIPELINE_SHADER_GROUP_KIND_GENERAL, 0, 0, 0, 0},
    {HOB_PIPELINE_SHADER_GROUP_KIND_PROCEDURAL, 0, UINT32_MAX, 1, 2}};
const std::string json = R"({"task":[[1,1,0],[2,3,0.5]]})";
/// A recording with only a header.
const std::string recording("HOBREC\r\n\2\0\0\0\0\0\0\0", 16);

const hob_fingerprint& program_key() {
    static const hob_fingerprint key = [] {
        hob_fingerprint made = {};
        MUST_OK(hob_fingerprint_hash_bytes("program", 7, &made));
        return made;
    }();
    return key;
}

/// A recording of a balance: its options and one choice.
const std::string& balance_recording() {
    static const std::string bytes = [] {
        std::string made;
        const auto write = [](void* to, const void* data, size_t size) {
            static_cast<std::string*>(to)->append(static_cast<const char*>(data), size);
        };
        hob_balance* balance = nullptr;
        MUST_OK(hob_balance_create(nullptr, &balance));
        MUST_OK(hob_balance_start_recording(balance, write, &made, nullptr));
        uint32_t strategy = 0;
        MUST_OK(hob_balance_choose(balance, &strategy));
        hob_balance_destroy(balance);
        return made;
    }();
    return bytes;
}

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

/// The encoded state of a kind of pipelines. `encode` is the encode function.
template <class State, class Encode>
std::string encoded(World& world, State state, Encode encode) {
    world.fill(state);
    size_t size = 0;
    MUST_OK(encode(&state, nullptr, 0, &size));
    std::string bytes(size, '\0');
    MUST_OK(encode(&state, &bytes[0], size, &size));
    return bytes;
}

/// A bundle with one program, built once per process.
const std::string& bundle(const World& world) {
    static std::string made;
    if (made.empty()) {
        hob_program_cache* cache = nullptr;
        MUST_OK(hob_program_cache_create(nullptr, &cache));
        hob_program program = HOB_PROGRAM_INIT;
        program.data = binary_bytes;
        program.size = sizeof binary_bytes;
        MUST_OK(hob_program_cache_put(cache, &program_key(), &program));
        const std::string path = world.directory() + "/bundle";
        MUST_OK(hob_program_cache_write_bundle(cache, hob_str_from(path.c_str()), HOB_BUNDLE_CONTENTS_ALL, nullptr));
        hob_program_cache_destroy(cache);
        made = contents(path);
        MUST(!made.empty());
    }
    return made;
}

}  // namespace

void give_up(const char* file, int line, const char* what) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s:%d: %s\n    last error: %s\n", file, line, what, hob_last_error());
    std::abort();
}

World::World(const std::string& directory) : directory_(directory) {
    (void)bundle(*this);
    graphics_ = encoded(*this, hob_pipeline_graphics_state(HOB_PIPELINE_GRAPHICS_STATE_INIT), hob_pipeline_encode_graphics);
    compute_ = encoded(*this, hob_pipeline_compute_state(HOB_PIPELINE_COMPUTE_STATE_INIT), hob_pipeline_encode_compute);
    ray_tracing_ =
        encoded(*this, hob_pipeline_ray_tracing_state(HOB_PIPELINE_RAY_TRACING_STATE_INIT), hob_pipeline_encode_ray_tracing);
    std::ofstream(directory_ + "/profile") << json;
    std::ofstream(directory_ + "/pipelines", std::ios::binary)
        .write(reinterpret_cast<const char*>(pipeline_cache), sizeof pipeline_cache);
    (void)balance_recording();
    balance_ = static_cast<hob_balance*>(make(Of<hob_balance>()));
    fresh_balance_ = static_cast<hob_balance*>(make(Of<hob_balance>()));
    executor_ = static_cast<hob_executor*>(make(Of<hob_executor>()));
    profile_ = static_cast<hob_profile*>(make(Of<hob_profile>()));
    knapsack_ = static_cast<hob_knapsack*>(make(Of<hob_knapsack>()));
    goblin_ = static_cast<hob_goblin*>(make(Of<hob_goblin>()));
    cache_ = static_cast<hob_program_cache*>(make(Of<hob_program_cache>()));
    manager_ = static_cast<hob_program_manager*>(make(Of<hob_program_manager>()));
    pipelines_ = static_cast<hob_pipeline_library*>(make(Of<hob_pipeline_library>()));
    graph_ = static_cast<hob_graph*>(make(Of<hob_graph>()));
    eye_ = static_cast<hob_perception*>(make(Of<hob_perception>()));
    hob_goblin_desc bare = HOB_GOBLIN_DESC_INIT;
    fill(bare);
    MUST_OK(hob_goblin_create(&bare, &fresh_goblin_));
    make_children();
    write_pipeline_files();
}

World::~World() {
    hob_perception_destroy(eye_);
    hob_graph_destroy(baked_);
    hob_graph_destroy(graph_);
    hob_pipeline_library_destroy(pipelines_);
    hob_program_manager_destroy(manager_);
    hob_program_cache_destroy(cache_);
    hob_goblin_destroy(fresh_goblin_);
    hob_goblin_destroy(goblin_);
    hob_knapsack_destroy(resources_);
    hob_knapsack_destroy(knapsack_);
    hob_profile_destroy(profile_);
    hob_executor_destroy(executor_);
    hob_balance_destroy(fresh_balance_);
    hob_balance_destroy(balance_);
}

void World::make_children() {
    hob_setting_desc setting = HOB_SETTING_DESC_INIT;
    fill(setting);
    setting.id = HOB_STR("setting");
    setting.user_data = this;
    setting.get_options = &get_options;
    MUST_OK(hob_goblin_add_setting(goblin_, &setting, &setting_));
    hob_product_desc product = HOB_PRODUCT_DESC_INIT;
    fill(product);
    MUST_OK(hob_goblin_add_product(goblin_, &product, &product_));
    hob_strategy_desc strategy = HOB_STRATEGY_DESC_INIT;
    fill(strategy);
    uint32_t number = 0;
    MUST_OK(hob_goblin_add_strategy(goblin_, &strategy, &number));
    MUST_OK(hob_goblin_update(goblin_, nullptr));

    hob_knapsack_desc desc = HOB_KNAPSACK_DESC_INIT;
    desc.resource_count = 2;
    MUST_OK(hob_knapsack_create(&desc, &resources_));
    const hob_knapsack_resource capacities[] = {{10, 0}, {10, 0}};
    MUST_OK(hob_knapsack_solve_resources(resources_, capacities, sizeof capacities[0], 2, nullptr, nullptr));

    hob_program program = HOB_PROGRAM_INIT;
    fill(program);
    MUST_OK(hob_program_cache_put(cache_, &program_key(), &program));
    hob_program_key_desc described = HOB_PROGRAM_KEY_DESC_INIT;
    fill(described);
    MUST_OK(hob_program_cache_describe(cache_, &program_key(), &described));
    MUST_OK(hob_program_cache_begin_use(cache_, &program_key(), &use_));
    MUST_OK(hob_program_manager_add_shader(manager_, HOB_SHADER_STAGE_COMPUTE, this, &shader_));
    MUST_OK(hob_program_manager_set_source(manager_, shader_, source, sizeof source));
    MUST_OK(hob_program_manager_compile(manager_, shader_, nullptr, nullptr));

    hob_pipeline_desc pipeline = HOB_PIPELINE_DESC_INIT;
    fill(pipeline);
    hob_fingerprint key = {};
    MUST_OK(hob_pipeline_library_add(pipelines_, &pipeline, 1000, &key));
    MUST_OK(hob_pipeline_library_add_group(pipelines_, &key, sizeof key, 1, &group_));

    for (hob_node_id& id : nodes_) {
        hob_node_desc node = HOB_NODE_DESC_INIT;
        fill(node);
        MUST_OK(hob_graph_add_node(graph_, &node, &id));
    }
    MUST_OK(hob_graph_connect(graph_, nodes_[0], 1, nodes_[1], 1));
    MUST_OK(hob_graph_evaluate(graph_, nullptr, nullptr, nullptr));
    MUST_OK(hob_graph_bake(graph_, nullptr, 0, 0, &baked_));
    make_perception();
}

/// Sums bytes of its region.
static hob_result perceive(void*, hob_cognition_call* call) {
    const auto* const pixels = static_cast<const unsigned char*>(call->inputs[0].pixels);
    if (pixels != nullptr) call->value.number = pixels[0];
    return HOB_RESULT_OK;
}

void World::fill(hob_cognition_desc& desc) {
    desc.perceive = &perceive;
    desc.flags = HOB_COGNITION_PURE;
}

/// Room for any image whose sides and stride World::most allows. Overlays are drawn into it, so each thread has its own.
static thread_local unsigned char canvas[64 * 64 * 4 + 64];

void World::fill(hob_frame& frame) {
    frame.pixels = frame.chroma = canvas;
    frame.width = frame.height = 32;
}

void World::fill(hob_image& image) {
    image.pixels = image.chroma = canvas;
    image.width = image.height = is_about("overlay") ? 32 : 8;  // the frame's size
}

void World::fill(hob_perception_pipeline_desc& desc) {
    static thread_local hob_perception_step step;
    step = {cognition_, {1, 1, 4, 4}, nullptr, 0, 0, 0};
    desc.steps = &step;
    desc.step_stride = sizeof step;
    desc.step_count = 1;
}

void World::make_perception() {
    hob_cognition_desc cognition = HOB_COGNITION_DESC_INIT;
    fill(cognition);
    MUST_OK(hob_perception_add_cognition(eye_, &cognition, &cognition_));
    hob_perception_pipeline_desc pipeline = HOB_PERCEPTION_PIPELINE_DESC_INIT;
    fill(pipeline);
    MUST_OK(hob_perception_add_pipeline(eye_, &pipeline, &eye_pipeline_));
    hob_operator_desc operation = HOB_OPERATOR_DESC_INIT;
    hob_cognition_id crop = {0, 0};
    MUST_OK(hob_perception_add_operator(eye_, &operation, &crop));
    const hob_perception_step step = {crop, {0, 0, 8, 8}, nullptr, 0, 0, 0};
    pipeline.steps = &step;
    MUST_OK(hob_perception_add_pipeline(eye_, &pipeline, &eye_image_));
    hob_frame frame = HOB_FRAME_INIT;
    fill(frame);
    for (int number = 0; number < 2; ++number) MUST_OK(hob_perception_begin_frame(eye_, &frame, nullptr));
}

void* World::make(Of<hob_perception>) {
    hob_perception* made = nullptr;
    MUST_OK(hob_perception_create(nullptr, &made));
    return made;
}

bool World::poison(hob_perception* perception) {
    hob_frame frame = HOB_FRAME_INIT;
    fill(frame);
    MUST_OK(hob_fault_arm(HOB_STR("perception.frame"), 0));
    return hob_perception_begin_frame(perception, &frame, nullptr) == HOB_RESULT_PANIC;
}

bool World::inside(hob_perception* perception, void (*run)(void*), void* data) {
    hob_cognition_desc desc = HOB_COGNITION_DESC_INIT;
    fill(desc);
    hob_cognition_id cognition = {0, 0};
    Memory::call_inside(run, data);
    (void)hob_perception_add_cognition(perception, &desc, &cognition);
    MUST(Memory::end_inside());
    return true;
}

void* World::make(Of<hob_executor>) {
    hob_executor* made = nullptr;
    MUST_OK(hob_executor_create(nullptr, &made));
    return made;
}

void* World::make(Of<hob_goblin>) {
    hob_goblin_desc desc = HOB_GOBLIN_DESC_INIT;
    fill(desc);
    hob_goblin* made = nullptr;
    MUST_OK(hob_goblin_create(&desc, &made));
    return made;
}

void* World::make(Of<hob_knapsack>) {
    hob_knapsack_desc desc = HOB_KNAPSACK_DESC_INIT;
    fill(desc);
    hob_knapsack* made = nullptr;
    MUST_OK(hob_knapsack_create(&desc, &made));
    return made;
}

void* World::make(Of<hob_profile>) {
    hob_profile* made = nullptr;
    MUST_OK(hob_profile_create(nullptr, &made));
    MUST_OK(hob_profile_load(made, json.data(), json.size()));
    return made;
}

void* World::make(Of<hob_program_cache>) {
    hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
    fill(desc);
    hob_program_cache* made = nullptr;
    MUST_OK(hob_program_cache_create(&desc, &made));
    return made;
}

void* World::make(Of<hob_balance>) {
    hob_balance* made = nullptr;
    MUST_OK(hob_balance_create(nullptr, &made));
    return made;
}

void* World::make(Of<hob_program_manager>) {
    hob_program_callbacks driver = HOB_PROGRAM_CALLBACKS_INIT;
    fill(driver);
    hob_program_manager* made = nullptr;
    MUST_OK(hob_program_manager_create(cache_, &driver, &made));
    return made;
}

void* World::make(Of<hob_pipeline_library>) {
    hob_pipeline_library_desc desc = HOB_PIPELINE_LIBRARY_DESC_INIT;
    fill(desc);
    hob_pipeline_library* made = nullptr;
    MUST_OK(hob_pipeline_library_create(&desc, &made));
    return made;
}

bool World::poison(hob_balance* balance) {
    MUST_OK(hob_fault_arm(HOB_STR("balance.restart"), 0));
    return hob_balance_restart(balance) == HOB_RESULT_PANIC;
}

void* World::make(Of<hob_graph>) {
    hob_graph* made = nullptr;
    MUST_OK(hob_graph_create(nullptr, &made));
    return made;
}

bool World::poison(hob_graph* graph) {
    MUST_OK(hob_fault_arm(HOB_STR("graph.evaluate"), 0));
    return hob_graph_evaluate(graph, nullptr, nullptr, nullptr) == HOB_RESULT_PANIC;
}

bool World::poison(hob_goblin* goblin) {
    MUST_OK(hob_fault_arm(HOB_STR("goblin.decide"), 0));
    return hob_goblin_decide(goblin, nullptr) == HOB_RESULT_PANIC;
}

bool World::poison(hob_knapsack* knapsack) {
    MUST_OK(hob_fault_arm(HOB_STR("knapsack.clear"), 0));
    return hob_knapsack_clear(knapsack) == HOB_RESULT_PANIC;
}

bool World::poison(hob_profile* profile) {
    MUST_OK(hob_fault_arm(HOB_STR("profile.clear"), 0));
    return hob_profile_clear(profile) == HOB_RESULT_PANIC;
}

bool World::poison(hob_program_manager* manager) {
    hob_shader_id shader = {0, 0};
    MUST_OK(hob_program_manager_add_shader(manager, HOB_SHADER_STAGE_COMPUTE, this, &shader));
    const std::string unknown = "source " + std::to_string(++sources_);
    MUST_OK(hob_program_manager_set_source(manager, shader, unknown.data(), unknown.size()));
    MUST_OK(hob_fault_arm(HOB_STR("program_manager.compile"), 0));
    return hob_program_manager_compile(manager, shader, nullptr, nullptr) == HOB_RESULT_PANIC;
}

void World::call_back() {
    // Several threads may only read `run_`.
    if (run_ != nullptr) std::exchange(run_, nullptr)(data_);
}

uint32_t World::get_options(void* self, hob_option* to, uint32_t capacity) {
    static_cast<World*>(self)->call_back();
    if (capacity >= 2) std::memcpy(to, options, sizeof options);
    return 2;
}

uint32_t World::compile(void* self, void*, uint32_t, const void*, size_t) {
    static_cast<World*>(self)->call_back();
    return 0;
}

uint32_t World::binary(void*, void*, hob_program* binary) {
    binary->data = binary_bytes;
    binary->size = sizeof binary_bytes;
    return 0;
}

bool World::inside(hob_balance* balance, void (*run)(void*), void* data) {
    Memory::call_inside(run, data);
    (void)hob_balance_start_recording(balance, [](void*, const void*, size_t) {}, nullptr, nullptr);
    MUST(Memory::end_inside());
    (void)hob_balance_stop_recording(balance);
    return true;
}

bool World::inside(hob_goblin* goblin, void (*run)(void*), void* data) {
    run_ = run;
    data_ = data;
    (void)hob_goblin_decide(goblin, nullptr);
    MUST(run_ == nullptr);
    return true;
}

bool World::inside(hob_program_manager* manager, void (*run)(void*), void* data) {
    const std::string unknown = "source " + std::to_string(++sources_);
    MUST_OK(hob_program_manager_set_source(manager, shader_, unknown.data(), unknown.size()));
    run_ = run;
    data_ = data;
    (void)hob_program_manager_compile(manager, shader_, nullptr, nullptr);
    MUST(run_ == nullptr);
    return true;
}

bool World::inside(hob_knapsack* knapsack, void (*run)(void*), void* data) {
    Memory::call_inside(run, data);
    (void)hob_knapsack_reserve(knapsack, 100, 1000);
    MUST(Memory::end_inside());
    return true;
}

bool World::inside(hob_graph* graph, void (*run)(void*), void* data) {
    hob_node_desc desc = HOB_NODE_DESC_INIT;
    fill(desc);
    hob_node_id node = {0, 0};
    Memory::call_inside(run, data);
    (void)hob_graph_add_node(graph, &desc, &node);
    MUST(Memory::end_inside());
    return true;
}

bool World::inside(hob_profile* profile, void (*run)(void*), void* data) {
    Memory::call_inside(run, data);
    (void)hob_profile_load(profile, json.data(), json.size());
    MUST(Memory::end_inside());
    return true;
}

void World::fill(hob_fingerprint& key) {
    key = program_key();
}

void World::fill(hob_knapsack_solve_desc& desc) {
    // With several resources, each has a capacity of its own.
    if (!is_about("resource")) desc.capacity = 10;
    desc.node_limit = 1000;
}

void World::fill(hob_node_desc& desc) {
    desc.evaluate = [](void*, hob_node_call* call) {
        call->outputs[0].number = call->inputs[0].number + 1;
        return HOB_VERDICT_DONE;
    };
    desc.type_name = HOB_STR("type");
    desc.input_count = desc.output_count = 2;
    desc.flags = HOB_NODE_SINK;
}

void World::fill(hob_node_id& id) {
    const bool is_link = is_about("graph_connect");
    id = nodes_[(is_link && is_target_) || is_about("disconnect") ? 1 : 0];
    is_target_ = is_link && !is_target_;
}

void World::fill(hob_pipeline_desc& desc) {
    desc.kind = HOB_PIPELINE_KIND_COMPUTE;
    desc.schema = 1;
    desc.shaders = &pipeline_shader;
    desc.shader_stride = sizeof pipeline_shader;
    desc.shader_count = 1;
}

void World::write_pipeline_files() {
    const char* names[] = {"/run.rec.hobpipe", "/keys.csv", "/run.hobstable", "/expanded.hobstable", "/built.hobpipe"};
    for (int at = 0; at < 5; ++at) {
        pipeline_paths_[at] = directory_ + names[at];
        pipeline_files_[at] = hob_str_of(pipeline_paths_[at].data(), pipeline_paths_[at].size());
    }
    std::remove(pipeline_paths_[0].c_str());
    hob_pipeline_library_desc desc = HOB_PIPELINE_LIBRARY_DESC_INIT;
    fill(desc);
    desc.recording = pipeline_files_[0];
    hob_pipeline_library* library = nullptr;
    MUST_OK(hob_pipeline_library_create(&desc, &library));
    hob_pipeline_desc pipeline = HOB_PIPELINE_DESC_INIT;
    fill(pipeline);
    pipeline.kind = HOB_PIPELINE_KIND_GRAPHICS;
    hob_fingerprint key = {};
    MUST_OK(hob_pipeline_library_add(library, &pipeline, 1000, &key));
    MUST(hob_pipeline_library_use(library, &key) == HOB_PIPELINE_STATE_READY);
    hob_pipeline_library_destroy(library);
    std::ofstream(pipeline_paths_[1]) << "hash,stage,key\n" << "010203" << std::string(34, '0') << ",5,\"Shader,Compute\"\n";
    hob_pipeline_expand_desc expand = HOB_PIPELINE_EXPAND_DESC_INIT;
    fill(expand);
    expand.out = pipeline_files_[2];
    MUST_OK(hob_pipeline_expand(&expand, nullptr));
}

void World::fill(hob_pipeline_build_desc& desc) {
    desc.api = HOB_GRAPHICS_API_VULKAN;
    desc.project = HOB_STR("game");
    desc.format = HOB_STR("spirv");
    desc.version = HOB_STR("1.1");
    desc.stable = &pipeline_files_[2];
    desc.stable_stride = sizeof(hob_str);
    desc.stable_count = 1;
    desc.keys = &pipeline_files_[1];
    desc.key_stride = sizeof(hob_str);
    desc.key_count = 1;
    desc.out = pipeline_files_[4];
}

void World::fill(hob_pipeline_dimension& dimension) {
    const unsigned number = fields_++ % 64;
    std::string& name = field_names_[number];
    name = std::to_string(number);
    dimension = {hob_str_of(name.data(), name.size()), 4, 0};
}

void World::fill(hob_pipeline_expand_desc& desc) {
    desc.recordings = &pipeline_files_[0];
    desc.recording_stride = sizeof(hob_str);
    desc.recording_count = 1;
    desc.keys = &pipeline_files_[1];
    desc.key_stride = sizeof(hob_str);
    desc.key_count = 1;
    desc.out = pipeline_files_[3];
}

void World::fill(hob_pipeline_graphics_state& state) {
    state.vertex_buffers = vertex_buffers;
    state.vertex_buffer_stride = sizeof vertex_buffers[0];
    state.vertex_buffer_count = 2;
    state.attributes = vertex_attributes;
    state.attribute_stride = sizeof vertex_attributes[0];
    state.attribute_count = 2;
    state.color_targets = color_targets;
    state.color_target_stride = sizeof color_targets[0];
    state.color_target_count = 1;
}

void World::fill(hob_pipeline_ray_tracing_state& state) {
    state.groups = shader_groups;
    state.group_stride = sizeof shader_groups[0];
    state.group_count = 2;
}

void World::fill(hob_pipeline_library_desc& desc) {
    desc.api = HOB_GRAPHICS_API_VULKAN;
    desc.project = HOB_STR("game");
    desc.format = HOB_STR("spirv");
    desc.version = HOB_STR("1.0");
    desc.disk_limit = 1 << 20;
    desc.compile = [](void*, const hob_pipeline_job*) -> uint32_t { return HOB_PIPELINE_BUILT_READY; };
}

void World::fill(hob_product_desc& desc) {
    desc.id = HOB_STR("product");
    desc.axes = axes;
    desc.axis_stride = sizeof axes[0];
    desc.axis_count = 2;
}

void World::fill(hob_program& program) {
    program.data = binary_bytes;
    program.size = sizeof binary_bytes;
    program.build_us = 1000;
}

void World::fill(hob_program_cache_desc& desc) {
    desc.memory_limit = desc.disk_limit = desc.waiting_limit = 1 << 20;
    desc.described_keys = 8;
}

void World::fill(hob_program_callbacks& callbacks) {
    callbacks.user_data = this;
    callbacks.compile = &compile;
    callbacks.link = [](void*, void*) -> uint32_t { return 0; };
    callbacks.load = [](void*, void*, const hob_blob*) -> uint32_t { return 0; };
    callbacks.get_binary = &binary;
}

void World::fill(hob_program_key_desc& desc) {
    desc.stages = &stage;
    desc.stage_stride = sizeof stage;
    desc.stage_count = 1;
    desc.attribute_stride = sizeof(hob_attribute_binding);
    desc.varying_stride = sizeof(hob_str);
}

void World::fill(hob_program_link_desc& desc) {
    desc.shaders = &shader_;
    desc.shader_count = 1;
}

void World::fill(hob_setting_desc& desc) {
    desc.id = HOB_STR("late");
    desc.options = options;
    desc.option_stride = sizeof options[0];
    desc.option_count = 2;
}

void* World::handle(const std::string& type) {
    const std::map<std::string, void*> owned = {
        {"hob_balance", balance_},   {"hob_executor", executor_}, {"hob_profile", profile_},     {"hob_goblin", goblin_},
        {"hob_knapsack", knapsack_}, {"hob_program_cache", cache_}, {"hob_program_manager", manager_},
        {"hob_pipeline_library", pipelines_}, {"hob_graph", graph_}, {"hob_perception", eye_},
    };
    // A recording must begin before all other calls. Resources need a knapsack that has some.
    if (type == "hob_balance" && is_about("record")) return fresh_balance_;
    if (type == "hob_goblin" && is_about("record")) return fresh_goblin_;
    if (type == "hob_graph" && is_about("get_copy")) return baked_;
    if (type == "hob_knapsack" && is_about("resource")) return resources_;
    const auto found = owned.find(type);
    if (found == owned.end()) give_up(__FILE__, __LINE__, ("World::handle has no " + type).c_str());
    return found->second;
}

int64_t World::number(const std::string& name) const {
    // All other numbers are 1.
    static const std::map<std::string, int64_t> numbers = {
        {"axis", 0}, {"decision_id", static_cast<int64_t>(HOB_DECISION_LATEST)}, {"index", 0}, {"lane", 0}, {"resource", 0},
        {"max_bytes", 1 << 20}, {"memory_limit", 1 << 20}, {"disk_limit", 1 << 20}, {"limit", 1 << 20}, {"timeout_us", 1000000},
    };
    const auto found = numbers.find(name);
    return found == numbers.end() ? 1 : found->second;
}

uint64_t World::most(const std::string& name) {
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    if (has("node")) return 5000;
    if (has("threads") || has("concurrency")) return 2;
    if (has("timeout") || has("budget")) return 2000;
    if (has("blocks")) return 100;
    // The memory behind images.
    if (has("width") || has("height")) return 64;
    return has("history") ? 1000 : UINT64_MAX;
}

hob_str World::text(const std::string& name) const {
    static thread_local std::string kept;
    if (name == "path") {
        kept = directory_ + (is_about("write")         ? "/written"
                             : is_about("bundle")      ? "/bundle"
                             : is_about("pipeline")    ? "/pipelines"
                                                       : "/profile");
    } else {
        kept = name == "id" && is_about("profile") ? "task" : name == "name" && is_about("mask_field") ? "0" : name;
    }
    return hob_str_of(kept.data(), kept.size());
}

const std::string& World::bytes() const {
    static const std::string some = "some bytes";
    if (is_about("bundle")) return bundle(*this);
    if (is_about("balance_replay")) return balance_recording();
    if (is_about("replay")) return recording;
    static const std::string pipelines(reinterpret_cast<const char*>(pipeline_cache), sizeof pipeline_cache);
    if (is_about("decode_compute")) return compute_;
    if (is_about("decode_ray") || is_about("decode_shader_groups")) return ray_tracing_;
    static const std::string graph = "{\"hobgoblin_graph\": 1}";
    if (is_about("graph_load")) return graph;
    if (is_about("pipeline_decode")) return graphics_;
    if (is_about("pipeline")) return pipelines;
    return is_about("profile") ? json : some;
}

void World::reset_hooks() {
    MUST_OK(hob_set_log_hook(nullptr));
    MUST_OK(hob_set_clock_hook(nullptr));
    MUST_OK(hob_set_zone_hook(nullptr));
    MUST_OK(hob_fault_arm(HOB_STR(""), 0));
}

}  // namespace api
