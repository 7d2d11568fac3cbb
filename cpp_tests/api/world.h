// A world to call the C API in: one live object of each handle type, and a valid value for each type of parameter.
//
// A new type of the headers without an overload here is a compile error that points to this file. MIT OR Apache-2.0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/memory.h"
#include "api/types.h"

// Present only in builds with the feature fault-injection, and in no header.
extern "C" hob_result hob_fault_arm(hob_str point, uint32_t passes);

namespace api {

template <class T>
constexpr bool is_known = false;

class World {
public:
    /// Files go to `directory`, which must exist.
    explicit World(const std::string& directory);
    World(const World&) = delete;
    World& operator=(const World&) = delete;
    ~World();

    // Creates an object of a handle type. The caller destroys it.
    void* make(Of<hob_balance>);
    void* make(Of<hob_executor>);
    void* make(Of<hob_goblin>);
    void* make(Of<hob_knapsack>);
    void* make(Of<hob_profile>);
    void* make(Of<hob_program_cache>);
    void* make(Of<hob_program_manager>);
    void* make(Of<hob_pipeline_library>);
    void* make(Of<hob_graph>);
    void* make(Of<hob_perception>);
    template <class T>
    void* make(Of<T>) {
        static_assert(is_known<T>, "a new handle type: add make, poison and inside to cpp_tests/api/world.h");
        return nullptr;
    }

    // Lets an exclusive call on a handle end in a panic. Returns false if no call can.
    bool poison(hob_balance* balance);
    bool poison(hob_goblin* goblin);
    bool poison(hob_knapsack* knapsack);
    bool poison(hob_profile* profile);
    bool poison(hob_program_manager* manager);
    bool poison(hob_graph* graph);
    bool poison(hob_perception* perception);
    bool poison(hob_executor*) { return false; }
    bool poison(hob_program_cache*) { return false; }
    bool poison(hob_pipeline_library*) { return false; }

    // Calls `run(data)` from inside an exclusive call on a handle. Returns false if no exclusive call can run a hook.
    // Also false if the hook runs while the value is borrowed, because const calls are then busy, too.
    bool inside(hob_balance* balance, void (*run)(void*), void* data);
    bool inside(hob_goblin* goblin, void (*run)(void*), void* data);
    bool inside(hob_knapsack* knapsack, void (*run)(void*), void* data);
    bool inside(hob_profile* profile, void (*run)(void*), void* data);
    bool inside(hob_program_manager* manager, void (*run)(void*), void* data);
    bool inside(hob_graph* graph, void (*run)(void*), void* data);
    bool inside(hob_perception* perception, void (*run)(void*), void* data);
    bool inside(hob_executor*, void (*)(void*), void*) { return false; }
    bool inside(hob_program_cache*, void (*)(void*), void*) { return false; }
    bool inside(hob_pipeline_library*, void (*)(void*), void*) { return false; }

    // Input structs: each comes from its init function, or is zero.
    void fill(hob_allocator_hook& hook) { hook = Memory::hook(); }
    void fill(hob_balance_desc& desc) { desc.seed = 1; }
    void fill(hob_clock_hook&) {}
    void fill(hob_cognition_desc& desc);
    void fill(hob_environment&) {}
    void fill(hob_evaluation_desc&) {}
    void fill(hob_executor_desc&) {}
    void fill(hob_fingerprint& key);
    void fill(hob_frame& frame);
    void fill(hob_goblin_desc& desc) {
        desc.lanes[HOB_LANE_GPU].limit = 16;
        desc.max_settings = 64;
        desc.changes_per_second = 2;
        desc.decisions_per_second = 30;
    }
    void fill(hob_goblin_tuning&) {}
    void fill(hob_graph_desc&) {}
    void fill(hob_image& image);
    void fill(hob_knapsack_desc& desc) { desc.memory_limit = 1 << 20; }
    void fill(hob_knapsack_option& option) { option = {1, 1, 0}; }
    void fill(hob_knapsack_resource& resource) { resource = {10, 0}; }
    void fill(hob_knapsack_solve_desc& desc);
    void fill(hob_knapsack_weight& weight) { weight = {1, 0}; }
    void fill(hob_log_hook& hook) { hook.write = [](void*, hob_log_level, hob_str) {}; }
    void fill(hob_node_desc& desc);
    void fill(hob_operator_desc& desc) { desc.kind = HOB_OPERATOR_THRESHOLD; }
    void fill(hob_option& option) { option = {1, 1, 0, 0}; }
    void fill(hob_perception_desc&) {}
    void fill(hob_perception_pipeline_desc& desc);
    void fill(hob_perception_question& question) { question = {eye_pipeline_, 1, 0}; }
    void fill(hob_pipeline_build_desc& desc);
    void fill(hob_pipeline_compute_state& state) { state.workgroup[0] = 8; }
    void fill(hob_pipeline_desc& desc);
    void fill(hob_pipeline_dimension& dimension);
    void fill(hob_pipeline_expand_desc& desc);
    void fill(hob_pipeline_graphics_state& state);
    void fill(hob_pipeline_library_desc& desc);
    void fill(hob_pipeline_mask& mask) { mask = {{1, 0, 0, 0}}; }
    void fill(hob_pipeline_ray_tracing_state& state);
    void fill(hob_problem_callback& callback) { callback.report = [](void*, hob_str) {}; }
    void fill(hob_product_desc& desc);
    void fill(hob_profile_desc&) {}
    void fill(hob_profile_option& option) { option = {1, 1, 0}; }
    void fill(hob_program& program);
    void fill(hob_program_cache_desc& desc);
    void fill(hob_program_callbacks& callbacks);
    void fill(hob_program_key_desc& desc);
    void fill(hob_program_link_desc& desc);
    void fill(hob_setting_desc& desc);
    void fill(hob_strategy_desc& desc) { desc.lanes[HOB_LANE_GPU].limit = 20; }
    void fill(hob_value& value) { value = hob_value_of_number(3); }
    void fill(hob_zone_hook&) {}
    // Ids of children.
    void fill(hob_setting_id& id) { id = is_about("product") ? product_ : setting_; }
    void fill(hob_shader_id& id) { id = shader_; }
    void fill(hob_use_id& id) { id = use_; }
    void fill(hob_pipeline_group_id& id) { id = group_; }
    void fill(hob_node_id& id);
    void fill(hob_cognition_id& id) { id = cognition_; }
    void fill(hob_perception_pipeline_id& id) { id = is_about("image") ? eye_image_ : eye_pipeline_; }
    template <class T>
    void fill(T&) {
        static_assert(is_known<T>, "a new struct that goes in: add a fill that makes it valid to cpp_tests/api/world.h");
    }

    // Structs that hold data of the library.
    void done(hob_blob& blob) { hob_blob_release(&blob); }
    template <class T>
    void done(T&) {}

    /// Sets the function that later arguments are for.
    void is_for(const char* function) { function_ = function; }
    /// Whether the function's name contains `part`.
    bool is_about(const char* part) const { return std::strstr(function_, part) != nullptr; }

    /// The object of a handle type. Some functions need another object than this world's default.
    void* handle(const std::string& type);
    int64_t number(const std::string& name) const;
    double real(const std::string&) const { return 1; }
    /// Bytes from one element to the next. Weights come in pairs, side by side.
    size_t stride(const std::string& name, size_t element) const { return name == "weights_stride" ? 2 * element : element; }
    hob_str text(const std::string& name) const;
    /// Upper limit for a parameter or field of this name.
    ///
    /// A call within it takes neither minutes nor all threads of the machine.
    static uint64_t most(const std::string& name);
    /// Calls `run(data)` from inside the next callback. NULL: cancels that.
    void on_callback(void (*run)(void*), void* data) {
        run_ = run;
        data_ = data;
    }
    /// Input bytes.
    const std::string& bytes() const;

    /// The directory for files.
    const std::string& directory() const { return directory_; }
    /// Restores every hook except the allocator's.
    static void reset_hooks();

private:
    static uint32_t get_options(void* self, hob_option* options, uint32_t capacity);
    static uint32_t compile(void* self, void* shader, uint32_t stage, const void* source, size_t size);
    static uint32_t binary(void* self, void* program, hob_program* binary);
    void make_children();
    void make_perception();
    void call_back();

    std::string directory_;
    /// Files of pipelines: a recording, a key map, a stable file, and those that calls write.
    void write_pipeline_files();
    std::string pipeline_paths_[5];
    hob_str pipeline_files_[5] = {};
    /// Names of mask fields: "0" to "63".
    std::string field_names_[64];
    unsigned fields_ = 0;
    /// Encoded states of pipelines.
    std::string graphics_, compute_, ray_tracing_;
    const char* function_ = "";
    hob_balance *balance_ = nullptr, *fresh_balance_ = nullptr;
    hob_executor* executor_ = nullptr;
    hob_profile* profile_ = nullptr;
    hob_goblin *goblin_ = nullptr, *fresh_goblin_ = nullptr;
    hob_knapsack *knapsack_ = nullptr, *resources_ = nullptr;
    hob_program_cache* cache_ = nullptr;
    hob_program_manager* manager_ = nullptr;
    hob_pipeline_library* pipelines_ = nullptr;
    hob_graph *graph_ = nullptr, *baked_ = nullptr;
    hob_perception* eye_ = nullptr;
    hob_cognition_id cognition_ = {0, 0};
    /// One with a value, and one with an image.
    hob_perception_pipeline_id eye_pipeline_ = {0, 0}, eye_image_ = {0, 0};
    hob_setting_id setting_ = {0, 0}, product_ = {0, 0};
    hob_shader_id shader_ = {0, 0};
    hob_use_id use_ = {0, 0};
    hob_pipeline_group_id group_ = {0, 0};
    /// Two nodes: output 1 of the first one is linked to input 1 of the second one.
    hob_node_id nodes_[2] = {};
    bool is_target_ = false;
    uint32_t sources_ = 0;
    void (*run_)(void*) = nullptr;
    void* data_ = nullptr;
};

/// Ends the program with a message: a call that must work failed.
[[noreturn]] void give_up(const char* file, int line, const char* what);

}  // namespace api

#define MUST(...) ((__VA_ARGS__) ? void() : ::api::give_up(__FILE__, __LINE__, #__VA_ARGS__))
#define MUST_OK(...) MUST((__VA_ARGS__) == HOB_RESULT_OK)
