// The rooms that work inside a frame. Nothing here allocates.
#include "frame_scenarios.h"

#include <atomic>
#include <cstdio>
#include <cstring>

extern "C" hob_result hob_fault_arm(hob_str point, uint32_t passes);

namespace no_memory {
namespace {

hob_str str(const char* text) {
    return hob_str_of(text, std::strlen(text));
}

const char past[] = R"({"a":[[90,2,0.2],[90,8,0.4]],"growing":[[9,1,0],[9,2,0]],"x":[[1,1,1]]})";

hob_goblin_desc budget(double milliseconds) {
    hob_goblin_desc desc = HOB_GOBLIN_DESC_INIT;
    desc.lanes[HOB_LANE_GPU].limit = milliseconds;
    return desc;
}

/// A setting with callbacks, whose number of options changes.
struct Growing {
    uint32_t options = 2;

    hob_setting_desc desc() {
        hob_setting_desc desc = HOB_SETTING_DESC_INIT;
        desc.user_data = this;
        desc.get_id = [](void*, hob_str* out) { *out = HOB_STR("growing"); };
        desc.get_options = [](void* self, hob_option* into, uint32_t room) {
            const uint32_t wanted = static_cast<Growing*>(self)->options;
            for (uint32_t n = 0; n < wanted && wanted <= room; ++n) into[n].value = n;
            return wanted;
        };
        desc.set_choice = [](void*, uint32_t, uint64_t) {};
        desc.measure = [](void*, hob_sample* into) {
            into->decision_id = HOB_DECISION_LATEST;
            into->burden = 1;
            return uint32_t{1};
        };
        return desc;
    }
};

void frames(Run& run, hob_goblin* goblin, int count, std::initializer_list<hob_setting_id> settings) {
    for (int n = 0; n < count; ++n) {
        run("update", [&] { return hob_goblin_update(goblin, nullptr); });
        for (const hob_setting_id setting : settings) {
            const double burden = 1 + hob_goblin_choice(goblin, setting);
            run("measure", [&] { return hob_goblin_measure(goblin, HOB_DECISION_LATEST, setting, HOB_LANE_GPU, burden, HOB_SAMPLE_QUALITY_OK); });
            char text[300];
            run("get_reason_text", [&] { return hob_goblin_get_reason_text(goblin, setting, text, sizeof text, nullptr); });
        }
        run("measure_total", [&] { return hob_goblin_measure_total(goblin, HOB_DECISION_LATEST, HOB_LANE_GPU, 5, HOB_SAMPLE_QUALITY_OK); });
    }
}

/// Receives a recording.
struct Tape {
    char bytes[65536];
    size_t size;

    static void take(void* self, const void* data, size_t size) {
        Tape& to = *static_cast<Tape*>(self);
        if (size > sizeof to.bytes - to.size) return;
        std::memcpy(to.bytes + to.size, data, size);
        to.size += size;
    }
};

}  // namespace

void play_goblin(Run& run) {
    Growing growing;
    hob_goblin* goblin = nullptr;
    hob_goblin_desc desc = budget(9);
    run("create", [&] { return hob_goblin_create(&desc, &goblin); });
    hob_setting_id a = {}, b = {}, c = {}, d = {}, g = {}, p = {};
    const double values[] = {0, 2, 5}, works[] = {1, 2};
    const hob_setting_desc talking = growing.desc();
    run("load_profile", [&] { return hob_goblin_load_profile(goblin, past, sizeof past - 1); });
    run("add_array", [&] { return hob_goblin_add_array(goblin, HOB_STR("a"), values, 2, &a); });
    run("add_binary", [&] { return hob_goblin_add_binary(goblin, HOB_STR("b"), 3, &b); });
    run("add_fixed_burden", [&] { return hob_goblin_add_fixed_burden(goblin, HOB_STR("c"), &c); });
    run("add_fixed_incentive", [&] { return hob_goblin_add_fixed_incentive(goblin, HOB_STR("d"), 3, &d); });
    run("add_setting", [&] { return hob_goblin_add_setting(goblin, &talking, &g); });
    frames(run, goblin, 3, {a, b, c});
    const hob_product_axis axes[] = {{values, works, 2, 0}, {values, nullptr, 3, 0}};
    hob_product_desc product = HOB_PRODUCT_DESC_INIT;
    product.id = HOB_STR("product");
    product.axes = axes;
    product.axis_count = 2;
    run("add_product", [&] { return hob_goblin_add_product(goblin, &product, &p); });
    hob_strategy_desc other = HOB_STRATEGY_DESC_INIT;
    other.lanes[HOB_LANE_GPU].limit = 20;
    other.lanes[HOB_LANE_GAME_THREAD].limit = 20;
    uint32_t strategy = 0;
    run("add_strategy", [&] { return hob_goblin_add_strategy(goblin, &other, &strategy); });
    run("set_strategy_value", [&] { return hob_goblin_set_strategy_value(goblin, strategy, a, 1, 3); });
    frames(run, goblin, 3, {a, b, c, p});
    growing.options = 40;
    frames(run, goblin, 2, {a, c});
    run("remove_setting", [&] { return hob_goblin_remove_setting(goblin, p); });
    desc.history = 200;
    run("set_desc", [&] { return hob_goblin_set_desc(goblin, &desc); });
    frames(run, goblin, 2, {a, b});
    char json[8192];
    size_t size = 0;
    run("save_profile", [&] { return hob_goblin_save_profile(goblin, json, sizeof json, &size); });
    run.heal();
    if (goblin != nullptr) {
        run.works("add_binary with memory", [&] { return hob_goblin_add_binary(goblin, HOB_STR("last"), 3, &b); });
        run.works("update with memory", [&] { return hob_goblin_update(goblin, nullptr); });
    }
    hob_goblin_destroy(goblin);
}

void play_recording(Run& run) {
    static Tape tape;
    tape.size = 0;
    hob_goblin* goblin = nullptr;
    const hob_goblin_desc desc = budget(9);
    run("create", [&] { return hob_goblin_create(&desc, &goblin); });
    run("start_recording", [&] { return hob_goblin_start_recording(goblin, &Tape::take, &tape, nullptr); });
    hob_setting_id a = {};
    const double values[] = {0, 2, 5};
    run("add_array", [&] { return hob_goblin_add_array(goblin, HOB_STR("a"), values, 3, &a); });
    frames(run, goblin, 5, {a});
    run("stop_recording", [&] { return hob_goblin_stop_recording(goblin); });
    hob_goblin_destroy(goblin);
    hob_replay_report report = HOB_REPLAY_REPORT_INIT;
    run("replay", [&] { return hob_goblin_replay(tape.bytes, tape.size, &report); }, {HOB_RESULT_MALFORMED});
    run.heal();
    if (tape.size > 0) run.works("replay with memory", [&] { return hob_goblin_replay(tape.bytes, tape.size, &report); });
}

void play_balance(Run& run) {
    static Tape tape;
    tape.size = 0;
    hob_balance *balance = nullptr, *again = nullptr;
    run("create", [&] { return hob_balance_create(nullptr, &balance); });
    run("start_recording", [&] { return hob_balance_start_recording(balance, &Tape::take, &tape, nullptr); });
    uint32_t strategy = 0;
    for (int n = 0; n < 20; ++n) {
        run("choose", [&] { return hob_balance_choose(balance, &strategy); });
        run("measure", [&] { return hob_balance_measure(balance, strategy, 1e6 * (1 + strategy)); });
    }
    run("restart", [&] { return hob_balance_restart(balance); });
    run("stop_recording", [&] { return hob_balance_stop_recording(balance); });
    const auto replay = [&] { return hob_balance_replay(tape.bytes, tape.size, UINT64_MAX, &again, nullptr); };
    run("replay", replay, {HOB_RESULT_MALFORMED});
    run.heal();
    hob_balance_destroy(again);
    again = nullptr;
    if (tape.size > 0) run.works("replay with memory", replay);
    if (balance != nullptr) run.works("choose with memory", [&] { return hob_balance_choose(balance, &strategy); });
    hob_balance_destroy(again);
    hob_balance_destroy(balance);
}

void play_knapsack(Run& run) {
    hob_knapsack *knapsack = nullptr, *several = nullptr;
    run("create", [&] { return hob_knapsack_create(nullptr, &knapsack); });
    hob_knapsack_desc desc = HOB_KNAPSACK_DESC_INIT;
    desc.resource_count = 2;
    run("create several", [&] { return hob_knapsack_create(&desc, &several); });
    run("reserve", [&] { return hob_knapsack_reserve(knapsack, 20, 60); });
    hob_knapsack_solve_desc solve = HOB_KNAPSACK_SOLVE_DESC_INIT;
    solve.capacity = 30;
    solve.sigmas = 2;
    const hob_knapsack_resource resources[] = {{30, 2}, {40, 0}};
    for (uint32_t setting = 0; setting < 30; ++setting) {
        const double step = 0.3 + 0.07 * (setting % 7);
        const double values[] = {0, 1 + step, 2 + step * step};
        const hob_knapsack_option options[] = {{values[0], 0.1, 0}, {values[1], step, 0.02}, {values[2], 2.5 * step, 0.1}};
        const hob_knapsack_weight weights[] = {{0.1, 0}, {1, 1}, {step, 0.02}, {1.5, 0}, {2.5 * step, 0.1}, {2, 0}};
        run("add_setting", [&] { return hob_knapsack_add_setting(knapsack, options, sizeof options[0], 3, nullptr); });
        run("add_setting_resources", [&] { return hob_knapsack_add_setting_resources(several, values, 0, weights, 0, 3, nullptr); });
    }
    run("solve", [&] { return hob_knapsack_solve(knapsack, &solve, nullptr); });
    run("solve_resources", [&] { return hob_knapsack_solve_resources(several, resources, sizeof resources[0], 2, nullptr, nullptr); });
    uint16_t choices[30];
    run("choices", [&] { return hob_knapsack_choices(knapsack, choices, 30, nullptr); });
    run.heal();
    if (knapsack != nullptr) run.works("solve with memory", [&] { return hob_knapsack_solve(knapsack, &solve, nullptr); });
    if (several != nullptr) {
        run.works("solve_resources with memory", [&] {
            return hob_knapsack_solve_resources(several, resources, sizeof resources[0], 2, nullptr, nullptr);
        });
    }
    hob_knapsack_destroy(knapsack);
    hob_knapsack_destroy(several);
}

void play_profile(Run& run) {
    hob_profile *profile = nullptr, *other = nullptr;
    run("create", [&] { return hob_profile_create(nullptr, &profile); });
    run("create another", [&] { return hob_profile_create(nullptr, &other); });
    const hob_profile_option options[] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    run("load", [&] { return hob_profile_load(profile, past, sizeof past - 1); });
    run("set_task", [&] { return hob_profile_set_task(other, HOB_STR("a"), options, sizeof options[0], 2); });
    run("set_task", [&] { return hob_profile_set_task(other, HOB_STR("new"), options, sizeof options[0], 3); });
    run("merge", [&] { return hob_profile_merge(profile, other); });
    run("scale", [&] { return hob_profile_scale(profile, 2); });
    char path[500];
    std::snprintf(path, sizeof path, "%s/profile.json", run.directory());
    run("save_file", [&] { return hob_profile_save_file(profile, str(path)); });
    run("load_file", [&] { return hob_profile_load_file(other, str(path)); }, {HOB_RESULT_IO});
    run("load_file that is missing", [&] {
        const hob_result result = hob_profile_load_file(other, HOB_STR("/no/such/file"));
        return result == HOB_RESULT_IO ? HOB_RESULT_OK : result;
    });
    char json[8192];
    run("save", [&] { return hob_profile_save(profile, json, sizeof json, nullptr); });
    run.heal();
    if (profile != nullptr) {
        run.works("save_file with memory", [&] { return hob_profile_save_file(profile, str(path)); });
        run.works("load_file with memory", [&] { return hob_profile_load_file(profile, str(path)); });
    }
    hob_profile_destroy(profile);
    hob_profile_destroy(other);
}

namespace {

std::atomic<uint32_t> bodies, tasks;

void body(void*, uint32_t, uint32_t) {
    ++bodies;
}

void task(void*) {
    ++tasks;
}

/// Loops and tasks on an executor that may be missing.
void use_executor(Run& run, hob_executor* executor) {
    if (executor == nullptr) return;
    const auto loop = [&] { return hob_executor_parallel_for(executor, 40, &body, nullptr, HOB_PRIORITY_NORMAL, HOB_STR("loop")); };
    bodies = tasks = 0;
    for (int n = 0; n < 3; ++n) {
        run("parallel_for", loop);
        run("post", [&] { return hob_executor_post(executor, &task, nullptr, &task, HOB_PRIORITY_LOW, HOB_STR("task")); });
        run("post", [&] { return hob_executor_post(executor, &task, nullptr, nullptr, HOB_PRIORITY_HIGH, HOB_STR("other")); });
    }
    run.expect("all blocks run", bodies == 3 * 40);
    run("pump", [&] { return hob_executor_pump(executor, 1000, nullptr); });
    run("wait_idle", [&] { return hob_executor_wait_idle(executor, UINT64_MAX); });
}

/// With memory, loops and tasks run.
void check_executor(Run& run, hob_executor* executor) {
    if (executor == nullptr) return;
    run.works("parallel_for with memory", [&] {
        return hob_executor_parallel_for(executor, 40, &body, nullptr, HOB_PRIORITY_NORMAL, HOB_STR("loop"));
    });
    const uint32_t before = tasks;
    run.works("post with memory", [&] { return hob_executor_post(executor, &task, nullptr, &task, HOB_PRIORITY_LOW, HOB_STR("task")); });
    run.works("wait_idle with memory", [&] { return hob_executor_wait_idle(executor, UINT64_MAX); });
    run.expect("a posted task runs, and its data is released", tasks == before + 2);
}

/// A job system that runs helpers at once, and tasks when its queue is served.
struct HostJobs {
    struct Post {
        void (*run)(void*);
        void* task;
    };
    Post posts[64];
    int count = 0;

    hob_executor_desc desc() {
        hob_executor_desc desc = HOB_EXECUTOR_DESC_INIT;
        desc.user_data = this;
        desc.enqueue = [](void*, void (*run)(void*), void* given, uint32_t, const char*) -> void* {
            run(given);
            return nullptr;
        };
        desc.finish = [](void*, void*) {};
        desc.background = HOB_BACKGROUND_HOST;
        desc.post = [](void* self, void (*run)(void*), void* given, uint32_t, const char*) {
            HostJobs& jobs = *static_cast<HostJobs*>(self);
            if (jobs.count < 64) jobs.posts[jobs.count++] = {run, given};
        };
        return desc;
    }
    void serve() {
        for (int n = 0; n < count; ++n) posts[n].run(posts[n].task);
        count = 0;
    }
};

}  // namespace

void play_executor(Run& run) {
    hob_executor *executor = nullptr, *pool = nullptr;
    hob_executor_desc desc = HOB_EXECUTOR_DESC_INIT;
    desc.pool_threads = 2;
    desc.background = HOB_BACKGROUND_THREAD;
    desc.flags = HOB_EXECUTOR_CALLING_THREAD_ONLY;
    run("create", [&] { return hob_executor_create(&desc, &executor); }, {HOB_RESULT_UNSUPPORTED});
    run("create_pool", [&] { return hob_executor_create_pool(2, &pool); }, {HOB_RESULT_UNSUPPORTED});
    for (hob_executor* one : {executor, pool}) use_executor(run, one);
    run.heal();
    for (hob_executor* one : {executor, pool}) check_executor(run, one);
    hob_executor_destroy(executor);
    hob_executor_destroy(pool);
}

void play_host_jobs(Run& run) {
    HostJobs jobs;
    hob_executor* executor = nullptr;
    const hob_executor_desc desc = jobs.desc();
    run("create", [&] { return hob_executor_create(&desc, &executor); });
    use_executor(run, executor);
    run.heal();
    check_executor(run, executor);
    jobs.serve();
    hob_executor_destroy(executor);
}

void play_panics(Run& run) {
    // A panic is the expected result. Its own message may need memory.
    const auto expect_panic = [&](const char* what, hob_result result) {
        run.expect(what, result == HOB_RESULT_PANIC);
        run.expect("the message is complete", std::strstr(hob_last_error(), "was armed") != nullptr);
    };
    const auto arm = [&](const char* point) { run("arm", [&] { return hob_fault_arm(str(point), 0); }); };
    hob_goblin* goblin = nullptr;
    const hob_goblin_desc desc = budget(9);
    run("create", [&] { return hob_goblin_create(&desc, &goblin); });
    if (goblin != nullptr) {
        arm("goblin.decide");
        expect_panic("update", hob_goblin_update(goblin, nullptr));
        run.expect("a poisoned handle says so", hob_goblin_update(goblin, nullptr) == HOB_RESULT_POISONED);
    }
    hob_goblin_destroy(goblin);

    hob_executor* executor = nullptr;
    hob_executor_desc pumped = HOB_EXECUTOR_DESC_INIT;
    run("create an executor", [&] { return hob_executor_create(&pumped, &executor); });
    if (executor != nullptr) {
        arm("executor.block");
        expect_panic("parallel_for", hob_executor_parallel_for(executor, 4, &body, nullptr, HOB_PRIORITY_NORMAL, HOB_STR("loop")));
        bool is_posted = false;
        run("post", [&] {
            const hob_result result = hob_executor_post(executor, &task, nullptr, nullptr, HOB_PRIORITY_LOW, HOB_STR("task"));
            is_posted = result == HOB_RESULT_OK;
            return result;
        });
        if (is_posted) {
            arm("executor.task");
            expect_panic("wait_idle", hob_executor_wait_idle(executor, UINT64_MAX));
        }
    }
    run.heal();
    hob_executor_destroy(executor);
}

}  // namespace no_memory
