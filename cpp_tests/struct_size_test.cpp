// Structs that grow: calls of a client that is older or newer than the library.
#include <cctype>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "memory_files.h"
#include "support.h"

using namespace support;

namespace {

/// A struct of a newer header, with bytes behind it that no call may change.
template <class Struct>
struct Grown {
    Struct known;
    unsigned char tail[24];
    unsigned char beyond[16];

    static constexpr uint32_t size = sizeof(Struct) + sizeof tail;
};

constexpr unsigned char canary = 0xa5;

template <class Struct>
using Init = hob_result (*)(Struct*, uint32_t);

template <class Struct>
Grown<Struct> grown(Init<Struct> init) {
    Grown<Struct> value;
    std::memset(&value, canary, sizeof value);
    ENSURE_OK(init(&value.known, Grown<Struct>::size));
    ENSURE(value.known.struct_size == Grown<Struct>::size);
    for (const unsigned char byte : value.tail) ENSURE(byte == 0);
    for (const unsigned char byte : value.beyond) ENSURE(byte == canary);
    return value;
}

/// The size in the first header, for structs that have grown since.
template <class Struct>
constexpr uint32_t first_size = sizeof(Struct);
template <>
constexpr uint32_t first_size<hob_program_cache_desc> = 88;
template <>
constexpr uint32_t first_size<hob_goblin_desc> = 112;
template <>
constexpr uint32_t first_size<hob_reason> = 40;

/// Sizes that no header of this library has, and sizes that an unset field may hold.
template <class Struct>
constexpr uint32_t wrong_sizes[] = {0, 1, 4, first_size<Struct> - 1, 4097, 0xcccccccc, UINT32_MAX};

/// A struct of a program that was compiled with the first header. Its memory has exactly that size.
template <class Struct>
class Old {
public:
    explicit Old(Init<Struct> init) : bytes_(new unsigned char[first_size<Struct>]) {
        ENSURE_OK(init(get(), first_size<Struct>));
        uint32_t size = 0;
        std::memcpy(&size, bytes_.get(), sizeof size);
        ENSURE(size == first_size<Struct>);
    }
    Struct* get() const { return reinterpret_cast<Struct*>(bytes_.get()); }

private:
    std::unique_ptr<unsigned char[]> bytes_;
};

/// HOB_X_INIT of hob_x.
std::string macro_of(std::string name) {
    for (char& letter : name) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    return name + "_INIT";
}

template <class Struct>
void init_checks_its_arguments(const char* name, Init<Struct> init) {
    ENSURE(init(nullptr, sizeof(Struct)) == HOB_RESULT_INVALID_ARGUMENT && last_error_has(name));
    Struct value;
    std::memset(&value, canary, sizeof value);
    for (const uint32_t size : wrong_sizes<Struct>) {
        ENSURE(init(&value, size) == HOB_RESULT_INVALID_ARGUMENT && last_error_has(std::string(name) + "_init"));
    }
    unsigned char untouched[sizeof value];
    std::memset(untouched, canary, sizeof untouched);
    ENSURE(std::memcmp(&value, untouched, sizeof value) == 0);
}

/// Checks an input struct at every size, through `use`.
template <class Struct>
void is_read_at_every_size(
    const char* name, Init<Struct> init, const std::function<hob_result(const Struct*)>& use,
    const std::function<void(Struct&)>& fill = [](Struct&) {}) {
    init_checks_its_arguments(name, init);
    Grown<Struct> value = grown(init);
    fill(value.known);
    ENSURE_OK(use(&value.known));
    if (first_size<Struct> < sizeof(Struct)) ENSURE_OK(use(Old<Struct>(init).get()));
    for (size_t n = 0; n < sizeof value.tail; ++n) {
        value.tail[n] = 1;
        ENSURE(use(&value.known) == HOB_RESULT_UNSUPPORTED);
        ENSURE(last_error_has(name) && last_error_has("byte " + std::to_string(sizeof(Struct) + n)));
        value.tail[n] = 0;
    }
    for (const uint32_t size : wrong_sizes<Struct>) {
        value.known.struct_size = size;
        ENSURE(use(&value.known) == HOB_RESULT_INVALID_ARGUMENT);
        ENSURE(last_error_has(std::string(name) + ".struct_size is " + std::to_string(size)));
        ENSURE(last_error_has(macro_of(name)));
    }
    value.known.struct_size = sizeof(Struct);
    value.tail[0] = 1;  // not part of the struct at this size
    ENSURE_OK(use(&value.known));
}

/// Checks an output struct at every size, through `use`.
template <class Struct>
void is_written_at_every_size(const char* name, Init<Struct> init, const std::function<hob_result(Struct*)>& use) {
    init_checks_its_arguments(name, init);
    Grown<Struct> value = grown(init);
    std::memset(value.tail, canary, sizeof value.tail);
    ENSURE_OK(use(&value.known));
    ENSURE(value.known.struct_size == Grown<Struct>::size);
    ENSURE_OK(use(Old<Struct>(init).get()));
    for (const unsigned char byte : value.tail) ENSURE(byte == canary || byte == 0);
    for (const unsigned char byte : value.beyond) ENSURE(byte == canary);
    std::memset(value.tail, canary, sizeof value.tail);
    value.known.struct_size = sizeof(Struct);
    ENSURE_OK(use(&value.known));
    for (const unsigned char byte : value.tail) ENSURE(byte == canary);
    for (const uint32_t size : wrong_sizes<Struct>) {
        Struct before = value.known;
        before.struct_size = size;
        Struct after = before;
        ENSURE(use(&after) == HOB_RESULT_INVALID_ARGUMENT && last_error_has(macro_of(name)));
        ENSURE(std::memcmp(&before, &after, sizeof before) == 0);
    }
}

}  // namespace

TEST("struct_size: hooks accept every released size") {
    const Hooks cleared_at_the_end;
    is_read_at_every_size<hob_log_hook>("hob_log_hook", &hob_log_hook_init, &hob_set_log_hook);
    is_read_at_every_size<hob_clock_hook>("hob_clock_hook", &hob_clock_hook_init, &hob_set_clock_hook);
    is_read_at_every_size<hob_zone_hook>("hob_zone_hook", &hob_zone_hook_init, &hob_set_zone_hook);
}

TEST("struct_size: the allocator hook accepts every released size") {
    const Goblin alive = make_goblin(16);  // so that a hook that can be read is refused, not used
    is_read_at_every_size<hob_allocator_hook>(
        "hob_allocator_hook", &hob_allocator_hook_init,
        [](const hob_allocator_hook* hook) {
            const hob_result result = hob_set_allocator_hook(hook);
            return result == HOB_RESULT_BUSY ? HOB_RESULT_OK : result;
        },
        [](hob_allocator_hook& hook) {
            hook.allocate = [](void*, size_t, size_t) -> void* { return nullptr; };
            hook.free = [](void*, void*, size_t, size_t) {};
        });
}

TEST("struct_size: descs accept every released size") {
    is_read_at_every_size<hob_goblin_desc>("hob_goblin_desc", &hob_goblin_desc_init, [](const hob_goblin_desc* desc) {
        hob_goblin* goblin = nullptr;
        const hob_result result = hob_goblin_create(desc, &goblin);
        hob_goblin_destroy(goblin);
        return result;
    });
    is_read_at_every_size<hob_executor_desc>("hob_executor_desc", &hob_executor_desc_init,
                                             [](const hob_executor_desc* desc) {
                                                 hob_executor* executor = nullptr;
                                                 const hob_result result = hob_executor_create(desc, &executor);
                                                 hob_executor_destroy(executor);
                                                 return result;
                                             });
    is_read_at_every_size<hob_balance_desc>("hob_balance_desc", &hob_balance_desc_init,
                                            [](const hob_balance_desc* desc) {
                                                hob_balance* balance = nullptr;
                                                const hob_result result = hob_balance_create(desc, &balance);
                                                hob_balance_destroy(balance);
                                                return result;
                                            });
    is_read_at_every_size<hob_knapsack_desc>("hob_knapsack_desc", &hob_knapsack_desc_init,
                                             [](const hob_knapsack_desc* desc) {
                                                 hob_knapsack* knapsack = nullptr;
                                                 const hob_result result = hob_knapsack_create(desc, &knapsack);
                                                 hob_knapsack_destroy(knapsack);
                                                 return result;
                                             });
    is_read_at_every_size<hob_profile_desc>("hob_profile_desc", &hob_profile_desc_init,
                                            [](const hob_profile_desc* desc) {
                                                hob_profile* profile = nullptr;
                                                const hob_result result = hob_profile_create(desc, &profile);
                                                hob_profile_destroy(profile);
                                                return result;
                                            });
}

TEST("struct_size: call parameters accept every released size") {
    const Goblin goblin = make_goblin(16);
    is_read_at_every_size<hob_goblin_desc>("hob_goblin_desc", &hob_goblin_desc_init, [&](const hob_goblin_desc* desc) {
        return hob_goblin_set_desc(goblin.get(), desc);
    });
    is_read_at_every_size<hob_goblin_tuning>(
        "hob_goblin_tuning", &hob_goblin_tuning_init,
        [&](const hob_goblin_tuning* tuning) { return hob_goblin_set_tuning(goblin.get(), tuning); });
    is_read_at_every_size<hob_setting_desc>(
        "hob_setting_desc", &hob_setting_desc_init,
        [&](const hob_setting_desc* desc) {
            hob_setting_id id = {0, 0};
            return hob_goblin_add_setting(goblin.get(), desc, &id);
        },
        [](hob_setting_desc& desc) { desc.id = HOB_STR("s"); });
    const double values[] = {0, 1};
    const hob_product_axis axis = {values, nullptr, 2, 0};
    is_read_at_every_size<hob_product_desc>(
        "hob_product_desc", &hob_product_desc_init,
        [&](const hob_product_desc* desc) {
            hob_setting_id id = {0, 0};
            return hob_goblin_add_product(goblin.get(), desc, &id);
        },
        [&](hob_product_desc& desc) {
            desc.id = HOB_STR("p");
            desc.axes = &axis;
            desc.axis_count = 1;
        });
    uint32_t strategy = 0;
    const hob_strategy_desc fresh = HOB_STRATEGY_DESC_INIT;
    ENSURE_OK(hob_goblin_add_strategy(goblin.get(), &fresh, &strategy));
    is_read_at_every_size<hob_strategy_desc>(
        "hob_strategy_desc", &hob_strategy_desc_init,
        [&](const hob_strategy_desc* desc) { return hob_goblin_set_strategy(goblin.get(), strategy, desc); });
    const Knapsack knapsack = make_knapsack();
    is_read_at_every_size<hob_knapsack_solve_desc>(
        "hob_knapsack_solve_desc", &hob_knapsack_solve_desc_init,
        [&](const hob_knapsack_solve_desc* desc) { return hob_knapsack_solve(knapsack.get(), desc, nullptr); });
}

TEST("struct_size: resource usage is written only up to its size") {
    hob_knapsack_desc desc = HOB_KNAPSACK_DESC_INIT;
    desc.resource_count = 1;
    hob_knapsack* raw = nullptr;
    ENSURE_OK(hob_knapsack_create(&desc, &raw));
    const Knapsack knapsack(raw);
    const hob_knapsack_resource resource = {1, 0};
    ENSURE_OK(hob_knapsack_solve_resources(raw, &resource, sizeof resource, 1, nullptr, nullptr));
    is_written_at_every_size<hob_knapsack_usage>(
        "hob_knapsack_usage", &hob_knapsack_usage_init,
        [&](hob_knapsack_usage* usage) { return hob_knapsack_get_resource_usage(raw, 0, usage); });
}

TEST("struct_size: executor statistics are written only up to their size") {
    hob_executor* raw = nullptr;
    ENSURE_OK(hob_executor_create(nullptr, &raw));
    const Executor executor(raw);
    is_written_at_every_size<hob_executor_statistics>(
        "hob_executor_statistics", &hob_executor_statistics_init,
        [&](hob_executor_statistics* found) { return hob_executor_get_statistics(raw, found); });
}

TEST("struct_size: answers are written only up to their size") {
    const Goblin goblin = make_goblin(16);
    const hob_setting_id setting = add_array(goblin.get(), "s", {0, 1});
    is_written_at_every_size<hob_decision>("hob_decision", &hob_decision_init, [&](hob_decision* decision) {
        return hob_goblin_update(goblin.get(), decision);
    });
    const uint64_t decisions = statistics(goblin.get()).decisions;
    is_written_at_every_size<hob_decision>("hob_decision", &hob_decision_init, [&](hob_decision* decision) {
        return hob_goblin_decide(goblin.get(), decision);
    });
    ENSURE(statistics(goblin.get()).decisions == decisions + 3);  // refused calls made no decision
    is_written_at_every_size<hob_goblin_statistics>(
        "hob_goblin_statistics", &hob_goblin_statistics_init,
        [&](hob_goblin_statistics* found) { return hob_goblin_get_statistics(goblin.get(), found); });
    is_written_at_every_size<hob_replay_report>(
        "hob_replay_report", &hob_replay_report_init, [](hob_replay_report* report) {
            // Only a header.
            const unsigned char header[16] = {'H', 'O', 'B', 'R', 'E', 'C', '\r', '\n', 2};
            return hob_goblin_replay(header, sizeof header, report);
        });
    is_written_at_every_size<hob_reason>("hob_reason", &hob_reason_init, [&](hob_reason* found) {
        return hob_goblin_get_reason(goblin.get(), setting, found);
    });
    is_written_at_every_size<hob_goblin_desc>("hob_goblin_desc", &hob_goblin_desc_init, [&](hob_goblin_desc* desc) {
        return hob_goblin_get_desc(goblin.get(), desc);
    });
    is_written_at_every_size<hob_goblin_tuning>(
        "hob_goblin_tuning", &hob_goblin_tuning_init,
        [&](hob_goblin_tuning* tuning) { return hob_goblin_get_tuning(goblin.get(), tuning); });
    is_written_at_every_size<hob_decision_details>(
        "hob_decision_details", &hob_decision_details_init,
        [&](hob_decision_details* found) { return hob_goblin_get_decision(goblin.get(), found); });
    is_written_at_every_size<hob_estimate>("hob_estimate", &hob_estimate_init, [&](hob_estimate* found) {
        return hob_goblin_get_estimate(goblin.get(), setting, 0, HOB_LANE_GPU, found);
    });
    const Profile profile = make_profile(R"({"a":[[1,1,0]]})");
    is_written_at_every_size<hob_estimate>("hob_estimate", &hob_estimate_init, [&](hob_estimate* found) {
        return hob_profile_get_estimate(profile.get(), HOB_STR("a"), 0, found);
    });
    hob_balance* raw_balance = nullptr;
    ENSURE_OK(hob_balance_create(nullptr, &raw_balance));
    const Balance balance(raw_balance);
    is_written_at_every_size<hob_balance_statistics>(
        "hob_balance_statistics", &hob_balance_statistics_init,
        [&](hob_balance_statistics* found) { return hob_balance_get_statistics(raw_balance, 0, found); });
    std::string recording;
    ENSURE_OK(hob_balance_start_recording(
        raw_balance,
        [](void* to, const void* data, size_t size) {
            static_cast<std::string*>(to)->append(static_cast<const char*>(data), size);
        },
        &recording, nullptr));
    ENSURE_OK(hob_balance_stop_recording(raw_balance));
    is_written_at_every_size<hob_balance_replay_report>(
        "hob_balance_replay_report", &hob_balance_replay_report_init, [&](hob_balance_replay_report* report) {
            return hob_balance_replay(recording.data(), recording.size(), 1, nullptr, report);
        });
    const Knapsack knapsack = make_knapsack();
    is_written_at_every_size<hob_knapsack_solution>(
        "hob_knapsack_solution", &hob_knapsack_solution_init, [&](hob_knapsack_solution* solution) {
            const hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
            return hob_knapsack_solve(knapsack.get(), &desc, solution);
        });
}

TEST("struct_size: program and environment descs accept every released size") {
    const hob_program_stage stage = {HOB_SHADER_STAGE_COMPUTE, 0, nullptr, 0};
    is_read_at_every_size<hob_program_key_desc>(
        "hob_program_key_desc", &hob_program_key_desc_init,
        [](const hob_program_key_desc* desc) {
            hob_fingerprint fingerprint = {};
            return hob_fingerprint_hash_program(desc, &fingerprint);
        },
        [&](hob_program_key_desc& desc) {
            desc.stages = &stage;
            desc.stage_count = 1;
        });
    is_read_at_every_size<hob_environment>("hob_environment", &hob_environment_init,
                                           [](const hob_environment* environment) {
                                               uint64_t id = 0;
                                               return hob_environment_get_id(environment, &id);
                                           });
}

TEST("struct_size: program cache structs accept every released size") {
    is_read_at_every_size<hob_program_cache_desc>("hob_program_cache_desc", &hob_program_cache_desc_init,
                                                  [](const hob_program_cache_desc* desc) {
                                                      hob_program_cache* cache = nullptr;
                                                      const hob_result result = hob_program_cache_create(desc, &cache);
                                                      hob_program_cache_destroy(cache);
                                                      return result;
                                                  });
    hob_program_cache* cache = nullptr;
    ENSURE_OK(hob_program_cache_create(nullptr, &cache));
    const hob_fingerprint name = {};
    is_read_at_every_size<hob_program>("hob_program", &hob_program_init, [&](const hob_program* program) {
        return hob_program_cache_put(cache, &name, program);
    });
    is_written_at_every_size<hob_blob>("hob_blob", &hob_blob_init, [&](hob_blob* blob) {
        const hob_result result = hob_program_cache_get(cache, &name, blob);
        hob_blob_release(blob);
        return result;
    });
    is_written_at_every_size<hob_program_cache_statistics>(
        "hob_program_cache_statistics", &hob_program_cache_statistics_init,
        [&](hob_program_cache_statistics* found) { return hob_program_cache_get_statistics(cache, found); });
    is_written_at_every_size<hob_histogram>("hob_histogram", &hob_histogram_init, [&](hob_histogram* found) {
        return hob_program_cache_get_histogram(cache, HOB_PROGRAM_CACHE_MEASURE_BINARY_BYTES, found);
    });
    is_read_at_every_size<hob_problem_callback>(
        "hob_problem_callback", &hob_problem_callback_init,
        [&](const hob_problem_callback* callback) { return hob_program_cache_set_problem_callback(cache, callback); },
        [](hob_problem_callback& callback) { callback.report = [](void*, hob_str) {}; });
    hob_program_cache_destroy(cache);
}

TEST("struct_size: file hooks accept every released size") {
    is_read_at_every_size<hob_file_io>(
        "hob_file_io", &hob_file_io_init,
        [](const hob_file_io* io) {
            hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
            desc.file_io = io;
            hob_program_cache* cache = nullptr;
            const hob_result result = hob_program_cache_create(&desc, &cache);
            hob_program_cache_destroy(cache);
            return result;
        },
        [](hob_file_io& io) {
            static MemoryFiles files;
            const uint32_t size = io.struct_size;
            io = files.io();
            io.struct_size = size;
        });
}

TEST("struct_size: miss reports are written only up to their size") {
    hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
    desc.described_keys = 1;
    hob_program_cache* cache = nullptr;
    ENSURE_OK(hob_program_cache_create(&desc, &cache));
    const hob_program_stage stage = {HOB_SHADER_STAGE_COMPUTE, 0, nullptr, 0};
    hob_program_key_desc key = HOB_PROGRAM_KEY_DESC_INIT;
    key.stages = &stage;
    key.stage_count = 1;
    ENSURE_OK(hob_program_cache_describe(cache, nullptr, &key));
    is_written_at_every_size<hob_program_miss>("hob_program_miss", &hob_program_miss_init, [&](hob_program_miss* miss) {
        return hob_program_cache_explain_miss(cache, &key, miss);
    });
    hob_program_cache_destroy(cache);
}

TEST("struct_size: manager structs accept every released size") {
    hob_program_cache* cache = nullptr;
    ENSURE_OK(hob_program_cache_create(nullptr, &cache));
    const auto fill = [](hob_program_callbacks& driver) {
        driver.compile = [](void*, void*, uint32_t, const void*, size_t) -> uint32_t { return 0; };
        driver.link = [](void*, void*) -> uint32_t { return 0; };
        driver.load = [](void*, void*, const hob_blob*) -> uint32_t { return 0; };
    };
    is_read_at_every_size<hob_program_callbacks>(
        "hob_program_callbacks", &hob_program_callbacks_init,
        [&](const hob_program_callbacks* driver) {
            hob_program_manager* manager = nullptr;
            const hob_result result = hob_program_manager_create(cache, driver, &manager);
            hob_program_manager_destroy(manager);
            return result;
        },
        fill);
    hob_program_callbacks driver = HOB_PROGRAM_CALLBACKS_INIT;
    fill(driver);
    hob_program_manager* manager = nullptr;
    ENSURE_OK(hob_program_manager_create(cache, &driver, &manager));
    hob_shader_id shader = {0, 0};
    ENSURE_OK(hob_program_manager_add_shader(manager, HOB_SHADER_STAGE_COMPUTE, nullptr, &shader));
    ENSURE_OK(hob_program_manager_compile(manager, shader, nullptr, nullptr));
    const auto name_shader = [&](hob_program_link_desc& desc) {
        desc.shaders = &shader;
        desc.shader_count = 1;
    };
    is_read_at_every_size<hob_program_link_desc>(
        "hob_program_link_desc", &hob_program_link_desc_init,
        [&](const hob_program_link_desc* desc) {
            hob_link_result linked = HOB_LINK_RESULT_INIT;
            return hob_program_manager_link(manager, desc, &linked);
        },
        name_shader);
    is_written_at_every_size<hob_link_result>("hob_link_result", &hob_link_result_init,
                                                 [&](hob_link_result* linked) {
                                                     hob_program_link_desc desc = HOB_PROGRAM_LINK_DESC_INIT;
                                                     name_shader(desc);
                                                     return hob_program_manager_link(manager, &desc, linked);
                                                 });
    hob_program_manager_destroy(manager);
    hob_program_cache_destroy(cache);
}

TEST("struct_size: a measurement is initialised like any other struct") {
    hob_sample measurement = HOB_SAMPLE_INIT;
    ENSURE(measurement.struct_size == sizeof measurement && measurement.decision_id == HOB_DECISION_LATEST && measurement.burden == 0);
    ENSURE(hob_sample_init(&measurement, 3) == HOB_RESULT_INVALID_ARGUMENT);
}
