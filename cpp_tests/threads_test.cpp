// Const calls may run on several threads at once. Calls that change a handle are refused while another call is inside.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "goblin_calls.h"
#include "support.h"

using namespace support;

namespace {

/// A gate that any thread can open, once.
class Gate {
public:
    void open() {
        const std::lock_guard<std::mutex> lock(mutex_);
        is_open_ = true;
        changed_.notify_all();
    }
    void wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return is_open_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_open_ = false;
};

/// Runs `work` on `count` threads and joins them.
template <class Work>
void on_threads(int count, const Work& work) {
    std::vector<std::thread> threads;
    for (int n = 0; n < count; ++n) threads.emplace_back([&work, n] { work(n); });
    for (auto& thread : threads) thread.join();
}

/// A setting that stays inside set_choice until the test releases it.
struct Sleeper {
    Gate inside, go_on;

    hob_setting_desc desc() {
        hob_setting_desc desc = HOB_SETTING_DESC_INIT;
        desc.id = HOB_STR("sleeper");
        static const hob_option options[] = {{0, 0, 0, 0}, {1, 0, 0, 0}};
        desc.options = options;
        desc.option_count = 2;
        desc.default_choice = 1;
        desc.user_data = this;
        desc.set_choice = [](void* self, uint32_t, uint64_t) {
            static_cast<Sleeper*>(self)->inside.open();
            static_cast<Sleeper*>(self)->go_on.wait();
        };
        return desc;
    }
};

}  // namespace

TEST("threads: const functions can be called from several threads at once") {
    const Goblin goblin = make_goblin(4);
    Household household(goblin.get(), 5, 3);
    for (int n = 0; n < 200; ++n) (void)household.frame();
    const Profile profile = make_profile(R"({"a":[[1,1,0]],"b":[[2,3,0]]})");
    const std::string json = saved(goblin.get()), profile_json = saved(profile.get());
    const auto choices = household.choices();
    on_threads(4, [&](int) {
        for (int n = 0; n < harness::scaled(500); ++n) {
            EXPECT(household.choices() == choices);
            hob_estimate found = HOB_ESTIMATE_INIT;
            EXPECT(hob_goblin_get_estimate(goblin.get(), household.settings()[0], 1, HOB_LANE_GPU, &found) ==
                   HOB_RESULT_OK);
            std::string text(json.size(), '\0');
            EXPECT(hob_goblin_save_profile(goblin.get(), text.data(), text.size(), nullptr) == HOB_RESULT_OK);
            EXPECT(text == json);
            std::string other(profile_json.size(), '\0');
            EXPECT(hob_profile_save(profile.get(), other.data(), other.size(), nullptr) == HOB_RESULT_OK);
            EXPECT(other == profile_json && hob_profile_task_count(profile.get()) == 2);
        }
    });
}

TEST("threads: a second thread gets BUSY during a call, except for choices") {
    Sleeper sleeper;
    const Goblin goblin = make_goblin(16);
    const hob_setting_id setting = add_setting(goblin.get(), sleeper.desc());
    std::thread inside([&] { EXPECT(hob_goblin_update(goblin.get(), nullptr) == HOB_RESULT_OK); });
    sleeper.inside.wait();
    expect_all(exclusive_calls(setting), goblin.get(), HOB_RESULT_BUSY);
    EXPECT(last_error_has("another thread"));
    EXPECT(hob_goblin_remove_setting(goblin.get(), setting) == HOB_RESULT_BUSY);
    expect_all(const_calls(setting), goblin.get(), HOB_RESULT_BUSY);
    EXPECT(hob_goblin_memory_used(goblin.get()) == 0);
    uint32_t choice = 99;
    EXPECT(hob_goblin_choice_of(goblin.get(), HOB_DECISION_LATEST, setting, &choice) == HOB_RESULT_OK && choice == 1);
    EXPECT(hob_goblin_choice(goblin.get(), setting) == 1);
    hob_goblin_destroy(goblin.get());
    EXPECT(last_error_has("destroy it after that call"));
    sleeper.go_on.open();
    inside.join();
    expect_all(exclusive_calls(setting), goblin.get(), HOB_RESULT_OK);
}

TEST("threads: a render thread reads choices while other threads measure and update") {
    const Goblin goblin = make_goblin(16);
    std::vector<hob_setting_id> settings;
    for (const char* id : {"a", "b", "c"}) {
        const auto options = worth({0, 1, 2});
        hob_setting_desc desc = described(id, options);
        desc.default_choice = 1;
        settings.push_back(add_setting(goblin.get(), desc));
        ENSURE_OK(hob_goblin_set_range(goblin.get(), settings.back(), 1, 2));
    }
    std::atomic<bool> done{false};
    uint64_t reads = 0, lowest = 0;
    std::thread render([&] {
        for (; !done || reads == 0; ++reads) {
            for (const hob_setting_id setting : settings) lowest += hob_goblin_choice(goblin.get(), setting) == 0;
        }
    });
    for (int n = 0; n < harness::scaled(20000); ++n) {
        EXPECT(hob_goblin_update(goblin.get(), nullptr) == HOB_RESULT_OK);
        for (const hob_setting_id setting : settings) {
            EXPECT(hob_goblin_measure(goblin.get(), HOB_DECISION_LATEST, setting, HOB_LANE_GPU, 1, HOB_SAMPLE_QUALITY_OK) == HOB_RESULT_OK);
        }
    }
    done = true;
    render.join();
    ENSURE(reads > 0 && lowest == 0);
}

TEST("threads: goblins on different threads are independent") {
    std::vector<std::vector<uint32_t>> choices(4);
    on_threads(4, [&](int n) {
        const hob_goblin_desc desc = gpu_budget(4);
        hob_goblin* raw = nullptr;
        EXPECT(hob_goblin_create(&desc, &raw) == HOB_RESULT_OK);
        const Goblin goblin(raw);
        hob_setting_id setting = {0, 0};
        const double values[] = {0, 1, 3};
        EXPECT(hob_goblin_add_array(raw, HOB_STR("s"), values, 3, &setting) == HOB_RESULT_OK);
        for (int frame = 0; frame < 300; ++frame) {
            EXPECT(hob_goblin_update(raw, nullptr) == HOB_RESULT_OK);
            const uint32_t choice = hob_goblin_choice(raw, setting);
            choices[static_cast<size_t>(n)].push_back(choice);
            EXPECT(hob_goblin_measure(raw, HOB_DECISION_LATEST, setting, HOB_LANE_GPU, 1.0 + choice, HOB_SAMPLE_QUALITY_OK) == HOB_RESULT_OK);
        }
    });
    for (const auto& one : choices) ENSURE(one == choices[0] && one.size() == 300);
}

TEST("threads: each thread has its own last error") {
    ENSURE(hob_profile_scale(nullptr, 1) == HOB_RESULT_INVALID_ARGUMENT);
    const std::string mine = hob_last_error();
    std::thread([] {
        EXPECT(std::string(hob_last_error()).empty());
        EXPECT(hob_goblin_collect_samples(nullptr) == HOB_RESULT_INVALID_ARGUMENT);
        EXPECT(last_error_has("hob_goblin"));
    }).join();
    ENSURE(hob_last_error() == mine && last_error_has("hob_profile"));
}

TEST("threads: a handle's last error can be read on another thread after the call") {
    const Goblin goblin = make_goblin(16);
    std::thread([&] { EXPECT(hob_goblin_remove_setting(goblin.get(), {0, 0}) == HOB_RESULT_NOT_FOUND); }).join();
    ENSURE(std::string(hob_goblin_last_error(goblin.get())).find("no such setting") != std::string::npos);
}

TEST("threads: hooks can be replaced while other threads use them") {
    const Hooks cleared_at_the_end;
    std::atomic<bool> done{false};
    std::thread exchanging([&] {
        hob_clock_hook one = HOB_CLOCK_HOOK_INIT, two = HOB_CLOCK_HOOK_INIT;
        static int first, second;
        one.user_data = &first;
        one.now_ns = [](void* self) {
            EXPECT(self == &first);
            return uint64_t{1};
        };
        two.user_data = &second;
        two.now_ns = [](void* self) {
            EXPECT(self == &second);
            return uint64_t{2};
        };
        while (!done) {
            EXPECT(hob_set_clock_hook(&one) == HOB_RESULT_OK);
            EXPECT(hob_set_clock_hook(&two) == HOB_RESULT_OK);
            EXPECT(hob_set_clock_hook(nullptr) == HOB_RESULT_OK);
        }
    });
    const Goblin goblin = make_goblin(16);
    for (int n = 0; n < harness::scaled(20000); ++n) ENSURE(update_details(goblin.get()).elapsed_ns <= 1);
    done = true;
    exchanging.join();
}
