// Hosts unmask traps, flush denormals and round upwards. Inside the library none of these settings applies. Outside,
// all of them are unchanged.
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "float_support.h"
#include "memory_files.h"
#include "program_cache_support.h"

using namespace support;

#if defined(__x86_64__) && defined(__GLIBC__)

namespace {

/// Makes calls like a host, in a floating-point environment of its choice.
class Host {
public:
    explicit Host(bool is_hostile) : is_hostile_(is_hostile) {}

    /// Makes the call. The environment must be the same before and after.
    template <class Call>
    void operator()(const Call& call) const {
        if (is_hostile_) {
            const Hostile environment;
            check(call);
        } else {
            check(call);
        }
    }
    bool is_hostile() const { return is_hostile_; }

private:
    template <class Call>
    static void check(const Call& call) {
        const Environment before = Environment::now();
        const hob_result result = call();
        const bool same = before == Environment::now();
        EXPECT(same && result == HOB_RESULT_OK);
    }

    bool is_hostile_;
};

/// The observations of the callbacks.
struct Witness {
    bool expects_hostile = false;
    int calls = 0, wrong = 0;
    double value = 0;

    void see() {
        ++calls;
        if (Hostile::is_in_force() != expects_hostile) ++wrong;
    }

    hob_setting_desc desc(const std::vector<hob_option>& options) {
        hob_setting_desc desc = described("witness", options);
        desc.user_data = this;
        desc.release = [](void* self) { static_cast<Witness*>(self)->see(); };
        desc.get_options = [](void* self, hob_option* into, uint32_t) {
            static_cast<Witness*>(self)->see();
            into[1].value = static_cast<Witness*>(self)->value;
            return 2u;
        };
        desc.get_default_choice = [](void* self) {
            static_cast<Witness*>(self)->see();
            return 0u;
        };
        desc.set_choice = [](void* self, uint32_t, uint64_t) { static_cast<Witness*>(self)->see(); };
        desc.measure = [](void* self, hob_sample* into) {
            static_cast<Witness*>(self)->see();
            into->burden = 0.1;
            return static_cast<Witness*>(self)->calls % 2 == 0 ? 1u : 0u;
        };
        return desc;
    }
};

void append(std::vector<unsigned char>& all, const void* data, size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    all.insert(all.end(), bytes, bytes + size);
}

/// A run with inexact arithmetic everywhere and denormal burdens. Returns every bit of the results.
std::vector<unsigned char> run(const Host& host, Witness& witness) {
    std::vector<unsigned char> all;
    Goblin goblin;
    hob_goblin_desc desc = gpu_budget(3.3);
    desc.overrun_probability = 0.07;
    host([&] {
        hob_goblin* raw = nullptr;
        const hob_result result = hob_goblin_create(&desc, &raw);
        goblin.reset(raw);
        return result;
    });
    const std::vector<double> values = {0.1, 0.7, 1.9};
    hob_setting_id settings[4] = {};
    for (auto& setting : settings) {
        host([&] { return hob_goblin_add_array(goblin.get(), HOB_STR("task"), values.data(), 3, &setting); });
    }
    const auto options = worth({0, 1});
    const hob_setting_desc callback_style = witness.desc(options);
    hob_setting_id talking = {0, 0};
    host([&] { return hob_goblin_add_setting(goblin.get(), &callback_style, &talking); });
    Dice dice(17);
    for (int n = 0; n < 200; ++n) {
        hob_decision decision = HOB_DECISION_INIT;
        witness.value = dice.share();
        host([&] { return hob_goblin_update(goblin.get(), &decision); });
        append(all, &decision, sizeof decision);
        for (const hob_setting_id setting : settings) {
            const uint32_t choice = hob_goblin_choice(goblin.get(), setting);
            const double burden = n % 50 == 0 ? 3e-310 : (0.3 + choice) * (0.9 + 0.2 * dice.share());
            const double work = 1 + dice.share();
            host([&] { return hob_goblin_measure(goblin.get(), HOB_DECISION_LATEST, setting, HOB_LANE_GPU, burden, HOB_SAMPLE_QUALITY_OK); });
            host([&] { return hob_goblin_set_work(goblin.get(), setting, work); });
            append(all, &choice, sizeof choice);
        }
    }
    hob_goblin_statistics found = HOB_GOBLIN_STATISTICS_INIT;
    host([&] { return hob_goblin_get_statistics(goblin.get(), &found); });
    found.memory_used = 0;
    append(all, &found, sizeof found);
    std::string json(100000, '\0');
    size_t size = 0;
    host([&] { return hob_goblin_save_profile(goblin.get(), json.data(), json.size(), &size); });
    append(all, json.data(), size);
    const Profile profile = make_profile();
    host([&] { return hob_profile_load(profile.get(), json.data(), size); });
    host([&] { return hob_profile_scale(profile.get(), 1.1); });
    host([&] { return hob_profile_merge(profile.get(), profile.get()); });
    host([&] { return hob_profile_save(profile.get(), json.data(), json.size(), &size); });
    append(all, json.data(), size);
    host([&] {
        goblin.reset();
        return HOB_RESULT_OK;
    });
    return all;
}

}  // namespace

TEST("float: a hostile environment changes no bit of an answer and is restored for callbacks and the caller") {
    Witness at_home, abroad;
    abroad.expects_hostile = true;
    const auto expected = run(Host(false), at_home);
    const auto found = run(Host(true), abroad);
    ENSURE(found.size() == expected.size() && std::memcmp(found.data(), expected.data(), found.size()) == 0);
    ENSURE(abroad.calls == at_home.calls && abroad.calls > 400);
    ENSURE(abroad.wrong == 0 && at_home.wrong == 0);
}

TEST("float: knapsacks are solved in a hostile environment as in any other") {
    // Two knapsacks, because a second solve starts from the first result.
    const Knapsack at_home = make_knapsack(), abroad = make_knapsack();
    Dice dice(19);
    for (int n = 0; n < 40; ++n) {
        hob_knapsack_option options[4];
        for (auto& option : options) option = {dice.share(), dice.share(), 0.1 * dice.share()};
        ENSURE_OK(hob_knapsack_add_setting(at_home.get(), options, sizeof options[0], 4, nullptr));
        ENSURE_OK(hob_knapsack_add_setting(abroad.get(), options, sizeof options[0], 4, nullptr));
    }
    hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
    desc.capacity = 17.3;
    desc.sigmas = 2.1;
    hob_knapsack_solution expected = HOB_KNAPSACK_SOLUTION_INIT, found = HOB_KNAPSACK_SOLUTION_INIT;
    Host(false)([&] { return hob_knapsack_solve(at_home.get(), &desc, &expected); });
    Host(true)([&] { return hob_knapsack_solve(abroad.get(), &desc, &found); });
    ENSURE(std::memcmp(&expected, &found, sizeof found) == 0);
}

TEST("float: errors, panics and hooks keep the host's environment") {
    const Hooks cleared_at_the_end;
    static int wrong = 0;
    wrong = 0;
    hob_clock_hook clock = HOB_CLOCK_HOOK_INIT;
    clock.now_ns = [](void*) {
        wrong += Hostile::is_in_force() ? 0 : 1;
        return uint64_t{0};
    };
    ENSURE_OK(hob_set_clock_hook(&clock));
    const Goblin goblin = make_goblin(16);
    hob_result results[3] = {};
    bool unchanged = false;
    {
        const Hostile environment;
        const Environment before = Environment::now();
        results[0] = hob_goblin_decide(goblin.get(), nullptr);
        results[1] = hob_goblin_collect_samples(nullptr);
        (void)hob_fault_arm(HOB_STR("goblin.decide"), 0);
        results[2] = hob_goblin_decide(goblin.get(), nullptr);
        unchanged = before == Environment::now();
    }
    ENSURE(results[0] == HOB_RESULT_OK && results[1] == HOB_RESULT_INVALID_ARGUMENT && results[2] == HOB_RESULT_PANIC);
    ENSURE(unchanged && wrong == 0);
}

TEST("float: host file functions run in the host's environment, and library calls inside them do not") {
    static int calls = 0, wrong = 0;
    calls = wrong = 0;
    MemoryFiles files;
    files.on_call = [] {
        ++calls;
        wrong += Hostile::is_in_force() ? 0 : 1;
    };
    const hob_file_io io = files.io();
    hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
    desc.directory = HOB_STR("directory");
    desc.file_io = &io;
    const hob_fingerprint name = key("name");
    hob_program program = HOB_PROGRAM_INIT;
    program.data = "binary";
    program.size = 6;
    bool unchanged = false;
    {
        const Hostile environment;
        const Environment before = Environment::now();
        for (int round = 0; round < 2; ++round) {
            hob_program_cache* cache = nullptr;
            hob_use_id use = {};
            (void)hob_program_cache_create(&desc, &cache);
            (void)hob_program_cache_put(cache, &name, &program);
            (void)hob_program_cache_begin_use(cache, &name, &use);
            (void)hob_program_cache_end_use(cache, use, HOB_USE_OUTCOME_OK);
            (void)hob_program_cache_flush(cache, forever);
            hob_program_cache_destroy(cache);
        }
        unchanged = before == Environment::now();
    }
    ENSURE(unchanged && calls > 20 && wrong == 0 && files.releases() == 2 && files.left_open() == 0);
}

namespace {

/// Blocks that compare the environment with the caller's. Every seventh changes it and does not change it back.
struct WatchedLoop {
    const hob_executor* executor;
    unsigned expected = 0;
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> blocks{0}, elsewhere{0}, wrong{0};

    explicit WatchedLoop(const hob_executor* the_executor) : executor(the_executor) {}

    void see() {
        if (chosen_bits() != expected) ++wrong;
    }
    static void inner(void* self, uint32_t, uint32_t) { static_cast<WatchedLoop*>(self)->see(); }
    static void body(void* self, uint32_t block, uint32_t) {
        WatchedLoop& loop = *static_cast<WatchedLoop*>(self);
        loop.see();
        ++loop.blocks;
        if (std::this_thread::get_id() != loop.caller) ++loop.elsewhere;
        if (block % 5 == 0) {
            const hob_result result =
                hob_executor_parallel_for(loop.executor, 2, &inner, self, HOB_PRIORITY_NORMAL, HOB_STR("inner"));
            if (result != HOB_RESULT_OK) ++loop.wrong;
            loop.see();
        }
        if (block % 7 == 0) _mm_setcsr(block % 2 == 0 ? 0x1f80 : 0x7f80);
        std::this_thread::yield();
    }
    hob_result run() {
        return hob_executor_parallel_for(executor, 500, &body, this, HOB_PRIORITY_NORMAL, HOB_STR("watched"));
    }
};

/// A job system that starts a thread for each helper, and checks that the thread keeps its own environment.
struct ThreadPerJob {
    std::atomic<int> wrong{0};

    static void* enqueue(void* self, void (*run)(void*), void* task, uint32_t, const char*) {
        return new std::thread([=] {
            const unsigned before = _mm_getcsr();
            run(task);
            if (_mm_getcsr() != before) ++static_cast<ThreadPerJob*>(self)->wrong;
        });
    }
    static void finish(void*, void* ticket) {
        auto* const thread = static_cast<std::thread*>(ticket);
        thread->join();
        delete thread;
    }
};

}  // namespace

TEST("float: every block of a loop runs in the caller's environment on all threads") {
    ThreadPerJob jobs;
    hob_executor_desc desc = HOB_EXECUTOR_DESC_INIT;
    desc.user_data = &jobs;
    desc.max_concurrency = 3;
    desc.enqueue = &ThreadPerJob::enqueue;
    desc.finish = &ThreadPerJob::finish;
    hob_executor *pool = nullptr, *host = nullptr;
    ENSURE_OK(hob_executor_create_pool(3, &pool));
    ENSURE_OK(hob_executor_create(&desc, &host));
    for (const hob_executor* executor : {static_cast<hob_executor*>(nullptr), pool, host}) {
        for (const bool is_hostile : {false, true}) {
            WatchedLoop loop(executor);
            int rounds = 0, failures = 0, changes = 0;
            const auto run = [&] {
                loop.expected = chosen_bits();
                while (rounds < 20 || (executor != nullptr && loop.elsewhere < 100 && rounds < 5000)) {
                    const Environment before = Environment::now();
                    failures += loop.run() == HOB_RESULT_OK ? 0 : 1;
                    changes += before == Environment::now() ? 0 : 1;
                    ++rounds;
                }
            };
            if (is_hostile) {
                const Hostile environment;
                run();
            } else {
                run();
            }
            EXPECT(failures == 0 && changes == 0 && loop.wrong == 0);
            EXPECT(loop.blocks == 500 * rounds && (executor == nullptr) == (loop.elsewhere == 0));
        }
    }
    hob_executor_destroy(pool);
    hob_executor_destroy(host);
    ENSURE(jobs.wrong == 0);
}

#else

TEST("float: hostile environments") {
    harness::skip("only with x86-64 and glibc");
}

#endif
