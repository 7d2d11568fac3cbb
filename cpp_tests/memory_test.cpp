// Memory: frames allocate nothing, nothing leaks, and running out of memory is a result.
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "allocator.h"
#include "malloc_count.h"
#include "support.h"

using namespace support;

namespace {

/// Allocations since the last reset, by every available count.
class Counter {
public:
    explicit Counter(const HostAllocator& host) : host_(host) { reset(); }
    void reset() {
        hooked_ = host_.calls();
        wrapped_ = malloc_calls();
    }
    uint64_t hooked() const { return host_.calls() - hooked_; }
    uint64_t wrapped() const { return malloc_calls() - wrapped_; }

private:
    const HostAllocator& host_;
    uint64_t hooked_ = 0, wrapped_ = 0;
};

constexpr size_t setting_count = 20;
constexpr uint32_t options_each = 4;
constexpr size_t late = 3;

/// Cost of an option in this frame. It has no memory and no state.
double burden_of(size_t setting, uint32_t choice, uint64_t frame) {
    const double jitter = static_cast<double>((frame * 7 + setting * 13) % 101) / 1000;
    return (0.2 + 0.1 * choice * static_cast<double>(1 + setting % 5)) * (0.95 + jitter);
}

/// An earlier frame, for late samples.
struct Frame {
    uint64_t decision = 0;
    double burdens[setting_count] = {};
};

/// A host in the plain style.
class Plain {
public:
    explicit Plain(hob_goblin* goblin) : goblin_(goblin) {
        for (size_t n = 0; n < setting_count; ++n) {
            settings_[n] = add_array(goblin, "s" + std::to_string(n), {0, 1, 3, 4.0 + static_cast<double>(n)});
        }
    }

    bool frame(uint64_t number) {
        bool ok = true;
        Frame& oldest = frames_[number % late];
        for (size_t n = 0; n < setting_count && oldest.decision != 0; ++n) {
            ok &= hob_goblin_measure(goblin_, oldest.decision, settings_[n], HOB_LANE_GPU, oldest.burdens[n],
                                     HOB_SAMPLE_QUALITY_OK) == HOB_RESULT_OK;
        }
        hob_decision decision = HOB_DECISION_INIT;
        ok &= hob_goblin_update(goblin_, &decision) == HOB_RESULT_OK;
        oldest.decision = decision.id;
        for (size_t n = 0; n < setting_count; ++n) {
            oldest.burdens[n] = burden_of(n, hob_goblin_choice(goblin_, settings_[n]), number);
        }
        return ok;
    }

private:
    hob_goblin* goblin_;
    hob_setting_id settings_[setting_count];
    Frame frames_[late];
};

/// A host in the callback style.
class Talking {
public:
    explicit Talking(hob_goblin* goblin) : goblin_(goblin) {
        for (size_t n = 0; n < setting_count; ++n) {
            Setting& setting = settings_[n];
            setting.host = this;
            setting.index = n;
            const std::string id = "s" + std::to_string(n);
            hob_setting_desc desc = described(id, {});
            desc.user_data = &setting;
            desc.get_options = [](void*, hob_option* into, uint32_t) {
                for (uint32_t option = 0; option < options_each; ++option) into[option].value = option * 1.5;
                return options_each;
            };
            desc.set_choice = [](void* self, uint32_t choice, uint64_t) {
                static_cast<Setting*>(self)->choice = choice;
            };
            desc.measure = [](void* self, hob_sample* into) {
                return static_cast<Setting*>(self)->measure(*into);
            };
            (void)add_setting(goblin, desc);
        }
    }

    bool frame(uint64_t number) {
        number_ = number;
        hob_decision decision = HOB_DECISION_INIT;
        const bool ok = hob_goblin_update(goblin_, &decision) == HOB_RESULT_OK;
        for (Setting& setting : settings_) {
            setting.pending[number % late] = {decision.id, burden_of(setting.index, setting.choice, number)};
        }
        return ok;
    }

private:
    struct Sample {
        uint64_t decision = 0;
        double burden = 0;
    };
    struct Setting {
        Talking* host = nullptr;
        size_t index = 0;
        uint32_t choice = 0;
        Sample pending[late];

        uint32_t measure(hob_sample& into) {
            Sample& oldest = pending[host->number_ % late];
            if (oldest.decision == 0) return 0;
            into.decision_id = oldest.decision;
            into.burden = oldest.burden;
            oldest.decision = 0;
            return 1;
        }
    };

    hob_goblin* goblin_;
    uint64_t number_ = 0;
    Setting settings_[setting_count];
};

template <class Style>
void takes_no_memory_in_half_a_million_frames() {
    HostAllocator host;
    {
        const Goblin goblin = make_goblin(9);
        Style style(goblin.get());
        uint64_t number = 0;
        bool ok = style.frame(number++);
        Counter counter(host);
        const auto frames = static_cast<uint64_t>(harness::scaled(500000));
        for (; number <= frames; ++number) ok &= style.frame(number);
        ENSURE(counter.hooked() == 0);
        ENSURE(counter.wrapped() == 0);
        ENSURE(ok && statistics(goblin.get()).decisions == frames + 1 && statistics(goblin.get()).refused == 0);
        ENSURE(statistics(goblin.get()).samples >= (frames - late) * setting_count);
    }
    ENSURE(host.live_blocks() == 0 && host.mistakes() == 0);
}

}  // namespace

TEST("memory: half a million frames in the plain style do not allocate") {
    takes_no_memory_in_half_a_million_frames<Plain>();
}

TEST("memory: half a million frames in the callback style do not allocate") {
    takes_no_memory_in_half_a_million_frames<Talking>();
}

namespace {

/// A goblin with every kind of feature in use.
class Rich {
public:
    explicit Rich(hob_burdens burdens) {
        hob_goblin_desc desc = gpu_budget(20);
        desc.lanes[HOB_LANE_GAME_THREAD].limit = 14;
        desc.lanes[HOB_LANE_VIDEO_MEMORY].limit = 30;
        desc.burdens = burdens;
        goblin_ = make_goblin(desc);
        const double values[] = {0, 3, 5}, works[] = {1, 1.5, 2};
        const hob_product_axis axes[] = {{values, works, 3, 0}, {values, nullptr, 3, 0}};
        hob_product_desc product = HOB_PRODUCT_DESC_INIT;
        product.id = HOB_STR("product");
        product.axes = axes;
        product.axis_count = 2;
        product.relative_burden = 1;
        settings_.push_back({0, 0});
        ENSURE_OK(hob_goblin_add_product(goblin_.get(), &product, &settings_.back()));
        const std::vector<hob_option> options = {{0, 1, 0, 0}, {2, 2, 0, 0}, {4, 4, 0, 0}};
        for (const char* id : {"a", "b", "c", "trim"}) {
            hob_setting_desc setting = described(id, options);
            setting.switch_burden = 0.5;
            setting.flags = std::string_view(id) == "trim" ? HOB_SETTING_TRIM : 0;
            settings_.push_back(add_setting(goblin_.get(), setting));
        }
        hob_strategy_desc other = HOB_STRATEGY_DESC_INIT;
        other.lanes[HOB_LANE_GPU].limit = 33;
        uint32_t strategy = 0;
        ENSURE_OK(hob_goblin_add_strategy(goblin_.get(), &other, &strategy));
        ENSURE_OK(hob_goblin_set_strategy_value(goblin_.get(), strategy, settings_[1], 2, 3));
        ENSURE_OK(hob_goblin_set_strategy_work(goblin_.get(), strategy, settings_[2], 0.5));
    }

    bool frame(uint64_t number) {
        hob_goblin* const goblin = goblin_.get();
        hob_decision decision = HOB_DECISION_INIT;
        bool ok = hob_goblin_set_work(goblin, settings_[1], 1 + 0.5 * dice_.share()) == HOB_RESULT_OK;
        if (number % 100 == 0) ok &= hob_goblin_open_trial_window(goblin, 20, 0.5) == HOB_RESULT_OK;
        if (number % 150 == 0) ok &= hob_goblin_pin(goblin, settings_[2], 1) == HOB_RESULT_OK;
        if (number % 150 == 9) ok &= hob_goblin_set_range(goblin, settings_[2], 0, 9) == HOB_RESULT_OK;
        if (number % 170 == 0) ok &= hob_goblin_set_enabled(goblin, settings_[3], number % 340 == 0) == HOB_RESULT_OK;
        ok &= hob_goblin_update(goblin, &decision) == HOB_RESULT_OK;
        hob_decision_details details = HOB_DECISION_DETAILS_INIT;
        ok &= hob_goblin_get_decision(goblin, &details) == HOB_RESULT_OK;
        double total = 1;
        for (const hob_setting_id setting : settings_) {
            const uint32_t choice = hob_goblin_choice(goblin, setting);
            const double burden = (1 + choice) * (0.9 + 0.2 * dice_.share());
            total += burden;
            for (const hob_lane lane : {HOB_LANE_GPU, HOB_LANE_GAME_THREAD, HOB_LANE_VIDEO_MEMORY})
                if (details.setting_count == settings_.size())
                    ok &= hob_goblin_measure(goblin, HOB_DECISION_LATEST, setting, lane, burden, HOB_SAMPLE_QUALITY_OK) == HOB_RESULT_OK;
            hob_reason reason = HOB_REASON_INIT;
            char text[256];
            ok &= hob_goblin_get_reason(goblin, setting, &reason) == HOB_RESULT_OK;
            ok &= hob_goblin_get_reason_text(goblin, setting, text, sizeof text, nullptr) == HOB_RESULT_OK;
        }
        return ok && hob_goblin_measure_total(goblin, HOB_DECISION_LATEST, HOB_LANE_GPU, total, HOB_SAMPLE_QUALITY_OK) == HOB_RESULT_OK;
    }

private:
    Goblin goblin_;
    std::vector<hob_setting_id> settings_;
    Dice dice_{41};
};

}  // namespace

TEST("memory: frames with lanes, strategies, products, trim, windows and reasons do not allocate") {
    for (const hob_burdens burdens : {HOB_BURDENS_LEARNED, HOB_BURDENS_RELATIVE, HOB_BURDENS_TOTALS}) {
        HostAllocator host;
        {
            Rich rich(burdens);
            bool ok = rich.frame(1);
            Counter counter(host);
            for (uint64_t number = 2; number < static_cast<uint64_t>(harness::scaled(20000)); ++number)
                ok &= rich.frame(number);
            ENSURE(counter.hooked() == 0 && counter.wrapped() == 0);
            ENSURE(ok);
        }
        ENSURE(host.live_blocks() == 0 && host.mistakes() == 0);
    }
}

TEST("memory: errors leak no memory") {
    HostAllocator host;
    const Goblin goblin = make_goblin(16);
    (void)update(goblin.get());
    const int64_t before = host.live_bytes();
    for (int n = 0; n < 100; ++n) {
        ENSURE(hob_goblin_measure(goblin.get(), 99, {1, 0}, HOB_LANE_GPU, 1, HOB_SAMPLE_QUALITY_OK) == HOB_RESULT_NOT_FOUND);
        ENSURE(hob_goblin_collect_samples(nullptr) == HOB_RESULT_INVALID_ARGUMENT);
        ENSURE(hob_goblin_measure(goblin.get(), HOB_DECISION_LATEST, {0, 0}, HOB_LANE_GPU, -1, HOB_SAMPLE_QUALITY_OK) ==
               HOB_RESULT_INVALID_ARGUMENT);
    }
    ENSURE(host.live_bytes() == before);
}

TEST("memory: only creation and the start of a recording of a balance allocate") {
    HostAllocator host;
    hob_balance* raw = nullptr;
    ENSURE_OK(hob_balance_create(nullptr, &raw));
    const Balance balance(raw);
    static size_t recorded;
    recorded = 0;
    const auto write = [](void*, const void*, size_t size) { recorded += size; };
    ENSURE_OK(hob_balance_start_recording(raw, write, nullptr, nullptr));
    const Counter counter(host);
    for (int n = 0; n < 2000; ++n) {
        uint32_t strategy = 0;
        ENSURE_OK(hob_balance_choose(raw, &strategy));
        ENSURE_OK(hob_balance_measure(raw, strategy, 1e6 * (1 + strategy)));
        if (n % 500 == 0) ENSURE_OK(hob_balance_restart(raw));
    }
    ENSURE(counter.hooked() == 0 && counter.wrapped() == 0 && recorded > 18000);
}

TEST("memory: a reserved knapsack does not allocate") {
    HostAllocator host;
    const Knapsack knapsack = make_knapsack();
    ENSURE_OK(hob_knapsack_reserve(knapsack.get(), 50, 200));
    hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
    desc.capacity = 60;
    desc.sigmas = 2;
    desc.node_limit = 4096;
    Dice dice(23);
    const Counter counter(host);
    for (int n = 0; n < harness::scaled(200); ++n) {
        ENSURE_OK(hob_knapsack_clear(knapsack.get()));
        for (int setting = 0; setting < 50; ++setting) {
            hob_knapsack_option options[4];
            for (auto& option : options) option = {dice.share(), 2 * dice.share(), 0.1 * dice.share()};
            ENSURE_OK(hob_knapsack_add_setting(knapsack.get(), options, sizeof options[0], 4, nullptr));
        }
        ENSURE_OK(hob_knapsack_solve(knapsack.get(), &desc, nullptr));
        uint16_t choices[50];
        ENSURE_OK(hob_knapsack_choices(knapsack.get(), choices, 50, nullptr));
    }
    ENSURE(counter.hooked() == 0 && counter.wrapped() == 0);
}

TEST("memory: handles report the memory that they hold") {
    HostAllocator host;
    const auto says = [&](size_t reported) {
        // Allocator labels, rounding and the handle itself add a little. The reported size is never far below the true
        // one.
        const auto held = static_cast<double>(host.live_bytes());
        return static_cast<double>(reported) <= held * 1.05 && static_cast<double>(reported) >= held * 0.9 - 2000;
    };
    {
        const Goblin goblin = make_goblin(4);
        Household household(goblin.get(), 30, 5);
        for (int n = 0; n < 50; ++n) (void)household.frame();
        ENSURE(says(hob_goblin_memory_used(goblin.get())));
    }
    ENSURE(host.live_bytes() == 0);
    {
        const Profile profile = make_profile();
        const hob_profile_option options[20] = {};
        for (int n = 0; n < 100; ++n) {
            ENSURE_OK(hob_profile_set_task(profile.get(), str(std::to_string(n)), options, sizeof options[0], 20));
        }
        ENSURE(says(hob_profile_memory_used(profile.get())));
    }
    {
        const Knapsack knapsack = make_knapsack();
        ENSURE_OK(hob_knapsack_reserve(knapsack.get(), 1000, 10000));
        ENSURE(says(hob_knapsack_memory_used(knapsack.get())));
    }
    ENSURE(host.live_bytes() == 0);
}

namespace {

// An allocation fails at the nth call, for every n.

/// Makes calls, and repeats a call that ran out of memory.
///
/// The repeated call must work, and the failed one must have changed nothing.
class Persistent {
public:
    explicit Persistent(HostAllocator& host) : host_(host) {}

    template <class Call>
    void operator()(const Call& call) {
        hob_result result = call();
        if (result == HOB_RESULT_OUT_OF_MEMORY) {
            ENSURE(host_.has_failed() && last_error_has("out of memory"));
            host_.heal();
            result = call();
        }
        ENSURE_OK(result);
    }

private:
    HostAllocator& host_;
};

/// A callback-style setting whose number of options changes.
struct Growing {
    uint32_t count = 2;
    int released = 0;

    hob_setting_desc desc() {
        hob_setting_desc desc = HOB_SETTING_DESC_INIT;
        desc.user_data = this;
        desc.get_id = [](void*, hob_str* out) { *out = HOB_STR("growing"); };
        desc.get_options = [](void* self, hob_option* into, uint32_t room) {
            const uint32_t wanted = static_cast<Growing*>(self)->count;
            for (uint32_t n = 0; n < wanted && wanted <= room; ++n) into[n].value = n;
            return wanted;
        };
        desc.release = [](void* self) { ++static_cast<Growing*>(self)->released; };
        return desc;
    }
};

const std::string past = R"({"a":[[90,2,0.2],[90,8,0.4]],"growing":[[9,1,0],[9,2,0]],"x":[[1,1,1]]})";

void use_goblin(Persistent& persist, std::string& seen) {
    Growing growing;
    {
        hob_goblin* raw = nullptr;
        hob_goblin_desc desc = gpu_budget(9);
        persist([&] { return hob_goblin_create(&desc, &raw); });
        const Goblin goblin(raw);
        hob_setting_id a = {0, 0}, b = {0, 0}, c = {0, 0}, d = {0, 0}, e = {0, 0}, g = {0, 0};
        const double values[] = {0, 2, 5};
        const auto options = worth({0, 7});
        const hob_setting_desc plain = described("plain", options), talking = growing.desc();
        persist([&] { return hob_goblin_load_profile(raw, past.data(), past.size()); });
        persist([&] { return hob_goblin_add_array(raw, HOB_STR("a"), values, 2, &a); });
        persist([&] { return hob_goblin_add_binary(raw, HOB_STR("b"), 3, &b); });
        persist([&] { return hob_goblin_add_fixed_burden(raw, HOB_STR("c"), &c); });
        persist([&] { return hob_goblin_add_fixed_incentive(raw, HOB_STR("d"), 3, &d); });
        persist([&] { return hob_goblin_add_setting(raw, &plain, &e); });
        persist([&] { return hob_goblin_add_setting(raw, &talking, &g); });
        const auto frames = [&](int count, std::initializer_list<hob_setting_id> settings) {
            for (int n = 0; n < count; ++n) {
                hob_decision decision = HOB_DECISION_INIT;
                persist([&] { return hob_goblin_update(raw, &decision); });
                for (const hob_setting_id one : settings) {
                    const double burden = 1 + hob_goblin_choice(raw, one);
                    persist([&] { return hob_goblin_measure(raw, HOB_DECISION_LATEST, one, HOB_LANE_GPU, burden, HOB_SAMPLE_QUALITY_OK); });
                    seen += std::to_string(hob_goblin_choice(raw, one));
                }
                persist([&] { return hob_goblin_measure_total(raw, HOB_DECISION_LATEST, HOB_LANE_GPU, 5, HOB_SAMPLE_QUALITY_OK); });
                seen += std::to_string(decision.value) + " ";
            }
        };
        frames(5, {a, b, c, e, g});
        const double works[] = {1, 2};
        const hob_product_axis axes[] = {{values, works, 2, 0}, {values, nullptr, 3, 0}};
        hob_product_desc product = HOB_PRODUCT_DESC_INIT;
        product.id = HOB_STR("product");
        product.axes = axes;
        product.axis_count = 2;
        hob_setting_id p = {0, 0};
        persist([&] { return hob_goblin_add_product(raw, &product, &p); });
        hob_strategy_desc other = HOB_STRATEGY_DESC_INIT;
        other.lanes[HOB_LANE_GPU].limit = 20;
        other.lanes[HOB_LANE_GAME_THREAD].limit = 20;
        other.incentive = -3;
        uint32_t strategy = 0;
        persist([&] { return hob_goblin_add_strategy(raw, &other, &strategy); });
        persist([&] { return hob_goblin_set_strategy_value(raw, strategy, a, 1, 3); });
        persist([&] { return hob_goblin_set_strategy_work(raw, strategy, a, 0.5); });
        persist([&] { return hob_goblin_pin(raw, p, 1); });
        frames(5, {a, b, c, e, g, p});
        seen += reason_text(raw, p);
        persist([&] { return hob_goblin_remove_setting(raw, p); });
        growing.count = 40;
        frames(3, {a, b, c, e, g});
        growing.count = 1;
        frames(3, {a, b, c, e, g});
        persist([&] { return hob_goblin_add_array(raw, HOB_STR("b"), values, 2, &d); });
        persist([&] { return hob_goblin_set_options(raw, a, options.data(), sizeof options[0], 1); });
        persist([&] { return hob_goblin_set_options(raw, a, options.data(), sizeof options[0], 2); });
        persist([&] { return hob_goblin_remove_setting(raw, b); });
        desc.history = 200;
        persist([&] { return hob_goblin_set_desc(raw, &desc); });
        frames(5, {a, c, d, e, g});
        size_t size = 0;
        persist([&] { return hob_goblin_save_profile(raw, nullptr, 0, &size); });
        std::string json(size, '\0');
        persist([&] { return hob_goblin_save_profile(raw, json.data(), json.size(), &size); });
        seen += json;
        hob_estimate found = HOB_ESTIMATE_INIT;
        persist([&] { return hob_goblin_get_estimate(raw, a, 1, HOB_LANE_GPU, &found); });
        seen += std::to_string(found.mean);
        ENSURE(growing.released == 0);
    }
    ENSURE(growing.released == 1);
}

void use_profiles(Persistent& persist, std::string& seen) {
    hob_profile *raw = nullptr, *raw_other = nullptr;
    persist([&] { return hob_profile_create(nullptr, &raw); });
    const Profile profile(raw);
    persist([&] { return hob_profile_create(nullptr, &raw_other); });
    const Profile other(raw_other);
    const hob_profile_option options[] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    persist([&] { return hob_profile_load(raw, past.data(), past.size()); });
    persist([&] { return hob_profile_set_task(raw_other, HOB_STR("a"), options, sizeof options[0], 2); });
    persist([&] { return hob_profile_set_task(raw_other, HOB_STR("x"), options, sizeof options[0], 3); });
    persist([&] { return hob_profile_set_task(raw_other, HOB_STR("new"), options, sizeof options[0], 3); });
    persist([&] { return hob_profile_merge(raw, raw_other); });
    persist([&] { return hob_profile_scale(raw, 2); });
    persist([&] { return hob_profile_remove_task(raw, HOB_STR("growing")); });
    seen += saved(raw);
    const std::string path = scratch_file("oom.json");
    persist([&] { return hob_profile_save_file(raw, str(path)); });
    persist([&] { return hob_profile_load_file(raw_other, str(path)); });
    seen += saved(raw_other);
    const hob_goblin_desc desc = gpu_budget(9);
    hob_goblin* raw_goblin = nullptr;
    persist([&] { return hob_goblin_create(&desc, &raw_goblin); });
    const Goblin goblin(raw_goblin);
    hob_setting_id setting = {0, 0};
    persist([&] { return hob_goblin_add_binary(raw_goblin, HOB_STR("a"), 1, &setting); });
    persist([&] { return hob_goblin_set_past_profile(raw_goblin, raw); });
    hob_estimate found = HOB_ESTIMATE_INIT;
    persist([&] { return hob_goblin_get_estimate(raw_goblin, setting, 1, HOB_LANE_GPU, &found); });
    seen += std::to_string(found.mean);
    persist([&] { return hob_profile_clear(raw); });
}

void use_knapsack(Persistent& persist, std::string& seen) {
    hob_knapsack* raw = nullptr;
    persist([&] { return hob_knapsack_create(nullptr, &raw); });
    const Knapsack knapsack(raw);
    Dice dice(29);
    hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
    desc.capacity = 12;
    desc.sigmas = 1;
    for (int round = 0; round < 3; ++round) {
        persist([&] { return hob_knapsack_clear(raw); });
        if (round == 1) persist([&] { return hob_knapsack_reserve(raw, 40, 160); });
        for (int n = 0; n < 10 * (round + 1); ++n) {
            hob_knapsack_option options[4];
            for (auto& option : options) option = {dice.share(), dice.share(), 0.1 * dice.share()};
            persist([&] { return hob_knapsack_add_setting(raw, options, sizeof options[0], 4, nullptr); });
        }
        hob_knapsack_solution solution = HOB_KNAPSACK_SOLUTION_INIT;
        persist([&] { return hob_knapsack_solve(raw, &desc, &solution); });
        uint16_t choices[40];
        uint32_t count = 0;
        persist([&] { return hob_knapsack_choices(raw, choices, 40, &count); });
        for (uint32_t n = 0; n < count; ++n) seen += std::to_string(choices[n]);
        seen += std::to_string(solution.value) + " ";
    }
}

using Scenario = void (*)(Persistent&, std::string&);

/// Runs the scenario with a failure at every allocation. Every run must see the same results.
void survives_every_failure(Scenario scenario, bool and_all_after) {
    std::string expected;
    bool failed = true;
    for (uint64_t n = 0; failed; ++n) {
        HostAllocator host;
        // No allocation fails in the first run.
        if (n > 0) host.fail_at(n - 1, and_all_after);
        std::string seen;
        {
            Persistent persist(host);
            scenario(persist, seen);
        }
        failed = n == 0 || host.has_failed();
        if (n == 0) expected = seen;
        ENSURE(seen == expected);
        ENSURE(host.live_blocks() == 0 && host.live_bytes() == 0 && host.mistakes() == 0);
        ENSURE(n < 100000);
    }
}

}  // namespace

TEST("memory: a goblin is unchanged after any one failed allocation") {
    survives_every_failure(&use_goblin, false);
}

TEST("memory: a goblin survives out-of-memory from any allocation on") {
    survives_every_failure(&use_goblin, true);
}

TEST("memory: profiles are unchanged after any one failed allocation") {
    survives_every_failure(&use_profiles, false);
}

TEST("memory: profiles survive out-of-memory from any allocation on") {
    survives_every_failure(&use_profiles, true);
}

TEST("memory: a knapsack is unchanged after any one failed allocation") {
    survives_every_failure(&use_knapsack, false);
}

TEST("memory: a knapsack survives out-of-memory from any allocation on") {
    survives_every_failure(&use_knapsack, true);
}

TEST("memory: a panic leaks no memory") {
    HostAllocator host;
    for (int n = 0; n < 10; ++n) {
        const Goblin goblin = make_goblin(16);
        (void)add_array(goblin.get(), "s", {0, 1});
        ENSURE_OK(hob_fault_arm(HOB_STR("goblin.decide"), 0));
        ENSURE(hob_goblin_update(goblin.get(), nullptr) == HOB_RESULT_PANIC);
    }
    ENSURE(host.live_blocks() == 0 && host.mistakes() == 0 && host.calls() > 0);
}
