// A client of the C headers, as a game ships it. It fills every versioned struct and drives every room. tests/abi compiles
// it with the previous headers, and with headers in which every versioned struct has one field more than in the library.
#include "client.h"

#include <string>

using namespace abi;

namespace {

#define HOB_CHECK_INIT(name) { const Guarded<name> value; value.check(); }
void init_every_struct() { HOB_VERSIONED_STRUCTS(HOB_CHECK_INIT) }
#undef HOB_CHECK_INIT

struct Hooks {
    int lines = 0, zones = 0, allocations = 0;
    uint64_t now = 0;
};

/// Set before the first handle and cleared after the last.
void set_hooks(Hooks& hooks) {
    Guarded<hob_allocator_hook> allocator;
    allocator->user_data = &hooks;
    allocator->allocate = [](void* self, size_t size, size_t alignment) -> void* {
        ++static_cast<Hooks*>(self)->allocations;
        const size_t least = alignment < sizeof(void*) ? sizeof(void*) : alignment;
        return std::aligned_alloc(least, (size + least - 1) / least * least);
    };
    allocator->free = [](void* self, void* memory, size_t, size_t) {
        --static_cast<Hooks*>(self)->allocations;
        std::free(memory);
    };
    // A build without the feature has no such hook.
    const hob_result set = hob_set_allocator_hook(allocator.get());
    CHECK(set == HOB_RESULT_OK || set == HOB_RESULT_UNSUPPORTED);
    Guarded<hob_log_hook> log;
    log->user_data = &hooks;
    log->write = [](void* self, hob_log_level, hob_str) { ++static_cast<Hooks*>(self)->lines; };
    CHECK_OK(hob_set_log_hook(log.get()));
    Guarded<hob_clock_hook> clock;
    clock->user_data = &hooks;
    clock->now_ns = [](void* self) { return static_cast<Hooks*>(self)->now += 1000; };
    CHECK_OK(hob_set_clock_hook(clock.get()));
    Guarded<hob_zone_hook> zone;
    zone->user_data = &hooks;
    zone->begin = [](void* self, const char*) { ++static_cast<Hooks*>(self)->zones; };
    zone->end = [](void*) {};
    CHECK_OK(hob_set_zone_hook(zone.get()));
}

void clear_hooks() {
    CHECK_OK(hob_set_log_hook(nullptr));
    CHECK_OK(hob_set_clock_hook(nullptr));
    CHECK_OK(hob_set_zone_hook(nullptr));
    const hob_result cleared = hob_set_allocator_hook(nullptr);
    CHECK(cleared == HOB_RESULT_OK || cleared == HOB_RESULT_UNSUPPORTED);
}

void drive_profile() {
    Guarded<hob_profile_desc> desc;
    hob_profile* profile = nullptr;
    CHECK_OK(hob_profile_create(desc.get(), &profile));
    const hob_profile_option options[] = {{10, 1, 0.5}, {10, 2, 0.25}};
    CHECK_OK(hob_profile_set_task(profile, text("water"), options, sizeof options[0], 2));
    Guarded<hob_estimate> estimate;
    CHECK_OK(hob_profile_get_estimate(profile, text("water"), 1, estimate.get()));
    estimate.check();
    CHECK(estimate->count == 10 && estimate->mean == 2 && estimate->deviation == 0.25);
    size_t size = 0;
    CHECK_OK(hob_profile_save(profile, nullptr, 0, &size));
    std::string json(size, '\0');
    CHECK_OK(hob_profile_save(profile, &json[0], json.size(), &size));
    CHECK_OK(hob_profile_load(profile, json.data(), json.size()));
    CHECK(hob_profile_task_count(profile) == 1);
    hob_profile_destroy(profile);
}

void drive_knapsack() {
    Guarded<hob_knapsack_desc> desc;
    hob_knapsack* knapsack = nullptr;
    CHECK_OK(hob_knapsack_create(desc.get(), &knapsack));
    const hob_knapsack_option options[] = {{1, 1, 0}, {5, 4, 0}};
    uint32_t index = 99;
    CHECK_OK(hob_knapsack_add_setting(knapsack, options, sizeof options[0], 2, &index));
    CHECK_OK(hob_knapsack_add_setting(knapsack, options, sizeof options[0], 2, &index));
    CHECK(index == 1);
    Guarded<hob_knapsack_solve_desc> solve;
    solve->capacity = 5;
    Guarded<hob_knapsack_solution> solution;
    CHECK_OK(hob_knapsack_solve(knapsack, solve.get(), solution.get()));
    solution.check();
    CHECK(solution->feasible == 1 && solution->value == 6 && solution->mean == 5);
    uint16_t choices[2] = {9, 9};
    CHECK_OK(hob_knapsack_choices(knapsack, choices, 2, nullptr));
    CHECK(choices[0] + choices[1] == 1);
    hob_knapsack_destroy(knapsack);
}

void drive_resources() {
    Guarded<hob_knapsack_desc> desc;
    desc->resource_count = 2;
    hob_knapsack* knapsack = nullptr;
    CHECK_OK(hob_knapsack_create(desc.get(), &knapsack));
    const double values[] = {1, 5};
    const hob_knapsack_weight weights[] = {{1, 0}, {1, 0}, {4, 0}, {2, 0}};
    CHECK_OK(hob_knapsack_add_setting_resources(knapsack, values, sizeof values[0], weights, 2 * sizeof weights[0], 2, nullptr));
    const hob_knapsack_resource resources[] = {{5, 0}, {5, 0}};
    Guarded<hob_knapsack_solve_desc> solve;
    Guarded<hob_knapsack_solution> solution;
    CHECK_OK(hob_knapsack_solve_resources(knapsack, resources, sizeof resources[0], 2, solve.get(), solution.get()));
    CHECK(solution->value == 5);
    Guarded<hob_knapsack_usage> usage;
    CHECK_OK(hob_knapsack_get_resource_usage(knapsack, 1, usage.get()));
    usage.check();
    CHECK(usage->mean == 2);
    hob_knapsack_destroy(knapsack);
}

void drive_executor() {
    Guarded<hob_executor_desc> desc;
    desc->pool_threads = 1;
    hob_executor* executor = nullptr;
    CHECK_OK(hob_executor_create(desc.get(), &executor));
    uint32_t blocks[16] = {};
    const auto body = [](void* all, uint32_t block, uint32_t) { static_cast<uint32_t*>(all)[block] = block + 1; };
    CHECK_OK(hob_executor_parallel_for(executor, 16, body, blocks, HOB_PRIORITY_NORMAL, text("blocks")));
    for (uint32_t n = 0; n < 16; ++n) CHECK(blocks[n] == n + 1);
    int ran = 0;
    const auto run = [](void* count) { ++*static_cast<int*>(count); };
    CHECK_OK(hob_executor_post(executor, run, &ran, nullptr, HOB_PRIORITY_NORMAL, text("task")));
    Guarded<hob_executor_statistics> statistics;
    CHECK_OK(hob_executor_get_statistics(executor, statistics.get()));
    statistics.check();
    CHECK(statistics->waiting == 1 && statistics->ran == 0);
    CHECK_OK(hob_executor_pump(executor, UINT64_MAX, nullptr));
    CHECK(ran == 1);
    hob_executor_destroy(executor);
}

void drive_fingerprint() {
    hob_program_stage stages[2] = {};
    stages[0].stage = HOB_SHADER_STAGE_VERTEX;
    stages[1].stage = HOB_SHADER_STAGE_FRAGMENT;
    stages[0].source = stages[1].source = "void main() {}";
    stages[0].size = stages[1].size = 14;
    hob_attribute_binding attribute = {};
    attribute.name = text("position");
    Guarded<hob_program_key_desc> desc;
    desc->stages = stages;
    desc->stage_stride = sizeof stages[0];
    desc->stage_count = 2;
    desc->attributes = &attribute;
    desc->attribute_stride = sizeof attribute;
    desc->attribute_count = 1;
    hob_fingerprint one = {}, other = {};
    CHECK_OK(hob_fingerprint_hash_program(desc.get(), &one));
    attribute.location = 1;
    CHECK_OK(hob_fingerprint_hash_program(desc.get(), &other));
    CHECK(hob_fingerprint_equal(&one, &one) == 1 && hob_fingerprint_equal(&one, &other) == 0);
    hob_fingerprint_part parts[8] = {};
    size_t count = 0;
    CHECK_OK(hob_fingerprint_get_program_parts(desc.get(), parts, sizeof parts[0], 8, &count));
    CHECK(count == 3 && parts[0].kind == HOB_PROGRAM_PART_STAGE && parts[0].size > 0);
    Guarded<hob_environment> environment;
    uint64_t id = 0, same = 0;
    CHECK_OK(hob_environment_get_id(environment.get(), &id));
    CHECK_OK(hob_environment_get_id(environment.get(), &same));
    environment->driver = text("driver 1");
    uint64_t another = 0;
    CHECK_OK(hob_environment_get_id(environment.get(), &another));
    CHECK(id == same && id != another);
}

}  // namespace

int main() {
    CHECK(hob_abi_version() == HOB_ABI_VERSION);
    Hooks hooks;
    init_every_struct();
    set_hooks(hooks);
    drive_profile();
    drive_knapsack();
    drive_resources();
    drive_balance();
    drive_executor();
    drive_fingerprint();
    drive_goblin();
    drive_program_cache();
    drive_pipeline();
    drive_graph();
    drive_perception();
    clear_hooks();
    CHECK(hooks.allocations == 0 && hooks.zones > 0 && hooks.now > 0);
    std::puts("every room works");
}
