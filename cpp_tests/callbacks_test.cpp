// Settings in the callback style: the order of callbacks, their arguments, and the calls that a callback may make.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <utility>

#include "goblin_calls.h"
#include "support.h"

using namespace support;

namespace {

/// A setting with callbacks that the test sets and counts.
///
/// It is released at most once; `released` counts that.
class Talker {
public:
    std::function<uint32_t(hob_option*, uint32_t)> options;
    std::function<uint32_t()> default_choice;
    std::function<void(uint32_t, uint64_t)> take;
    std::function<uint32_t(hob_sample&)> measure;
    std::function<void()> at_release;
    std::string name;

    int asked = 0, told = 0, measured = 0, named = 0, released = 0;
    uint32_t choice = 99;
    uint64_t decision = 0;
    hob_setting_id id = {0, 0};

    Talker() = default;
    Talker(const Talker&) = delete;
    Talker& operator=(const Talker&) = delete;

    hob_setting_desc desc(std::string_view task, const std::vector<hob_option>& array) {
        hob_setting_desc desc = described(task, array);
        desc.user_data = this;
        desc.release = [](void* self) { of(self).on_release(); };
        desc.set_choice = [](void* self, uint32_t given, uint64_t frame) { of(self).on_choice(given, frame); };
        if (options)
            desc.get_options = [](void* self, hob_option* into, uint32_t room) { return of(self).on_ask(into, room); };
        if (default_choice) desc.get_default_choice = [](void* self) { return of(self).default_choice(); };
        if (measure) desc.measure = [](void* self, hob_sample* into) { return of(self).on_measure(*into); };
        if (!name.empty()) desc.get_id = [](void* self, hob_str* out) { of(self).on_name(out); };
        return desc;
    }

    void join(hob_goblin* goblin, std::string_view task, const std::vector<hob_option>& array = {}) {
        id = add_setting(goblin, desc(task, array));
    }

private:
    static Talker& of(void* self) { return *static_cast<Talker*>(self); }

    void on_release() {
        ++released;
        if (at_release) at_release();
    }
    void on_choice(uint32_t given, uint64_t frame) {
        EXPECT(released == 0);
        ++told;
        choice = given;
        decision = frame;
        if (take) take(given, frame);
    }
    uint32_t on_ask(hob_option* into, uint32_t room) {
        EXPECT(released == 0);
        ++asked;
        return options(into, room);
    }
    uint32_t on_measure(hob_sample& into) {
        EXPECT(released == 0);
        ++measured;
        return measure(into);
    }
    void on_name(hob_str* out) {
        ++named;
        *out = str(name);
    }
};

/// Returns options of these values, if there is room.
auto gives(std::vector<double>& values) {
    return [&values](hob_option* into, uint32_t room) {
        const auto count = static_cast<uint32_t>(values.size());
        for (uint32_t n = 0; n < count && count <= room; ++n) into[n].value = values[n];
        return count;
    };
}

/// Returns one sample per harvest.
auto measures_once(double burden) {
    return [burden, again = false](hob_sample& into) mutable {
        again = !again;
        into.burden = burden;
        return again ? 1u : 0u;
    };
}

}  // namespace

TEST("callbacks: the choice is reported after the first decision and after each change") {
    Talker talker;
    const Goblin goblin = make_goblin(16);
    talker.join(goblin.get(), "s", worth({0, 5}));
    ENSURE(talker.told == 0);
    const uint64_t first = update(goblin.get()).id;
    ENSURE(talker.told == 1 && talker.choice == 0 && talker.decision == first);
    for (int n = 0; n < 10; ++n) (void)update(goblin.get());
    ENSURE(talker.told == 1);
    for (int n = 0; n < 50 && talker.told == 1; ++n) {
        ENSURE_OK(hob_goblin_measure(goblin.get(), HOB_DECISION_LATEST, talker.id, HOB_LANE_GPU, 1, HOB_SAMPLE_QUALITY_OK));
        (void)update(goblin.get());
    }
    ENSURE(talker.told == 2 && talker.choice == 1);
    ENSURE(hob_goblin_choice(goblin.get(), talker.id) == 1);
}

TEST("callbacks: name, default and options come from callbacks") {
    std::vector<double> values = {1, 2, 3};
    Talker talker;
    talker.options = gives(values);
    talker.default_choice = [] { return 2u; };
    talker.name = "from a callback";
    const Goblin goblin = make_goblin(16);
    talker.join(goblin.get(), "");
    ENSURE(talker.named == 1 && talker.asked == 1);
    ENSURE(hob_goblin_choice(goblin.get(), talker.id) == 2);
    (void)update(goblin.get());
    ENSURE(talker.choice == 2 && talker.asked == 2);
    ENSURE_OK(hob_goblin_measure(goblin.get(), HOB_DECISION_LATEST, talker.id, HOB_LANE_GPU, 1, HOB_SAMPLE_QUALITY_OK));
    ENSURE(saved(goblin.get()).find("from a callback") != std::string::npos);
}

TEST("callbacks: a setting that has a name is not asked for one") {
    Talker talker;
    talker.name = "unused";
    const Goblin goblin = make_goblin(16);
    talker.join(goblin.get(), "used", worth({0}));
    ENSURE(talker.named == 0);
}

TEST("callbacks: values follow get_options from frame to frame") {
    std::vector<double> values = {0, 5};
    Talker talker;
    talker.options = gives(values);
    talker.measure = measures_once(1);
    const Goblin goblin = make_goblin(16);
    talker.join(goblin.get(), "s");
    for (int n = 0; n < 100; ++n) (void)update(goblin.get());
    ENSURE(talker.choice == 1);
    values[1] = -1;
    ENSURE(update(goblin.get()).value == 0);
    ENSURE(talker.choice == 0);
}

TEST("callbacks: the number of options can change, and a larger buffer is offered on request") {
    std::vector<double> values = {0, 5};
    Talker talker;
    talker.options = gives(values);
    const Goblin goblin = make_goblin(16);
    talker.join(goblin.get(), "s");
    for (const size_t count : {size_t{3}, size_t{1}, size_t{0}, size_t{16}, size_t{17}, size_t{1000}, size_t{2}}) {
        values.assign(count, 1.0);
        ENSURE_OK(hob_goblin_update(goblin.get(), nullptr));
        hob_estimate found = HOB_ESTIMATE_INIT;
        const auto last = static_cast<uint32_t>(count);
        ENSURE(count == 0 ||
               hob_goblin_get_estimate(goblin.get(), talker.id, last - 1, HOB_LANE_GPU, &found) == HOB_RESULT_OK);
        ENSURE(hob_goblin_get_estimate(goblin.get(), talker.id, last, HOB_LANE_GPU, &found) ==
               HOB_RESULT_INVALID_ARGUMENT);
    }
}

TEST("callbacks: the buffer of get_options is zeroed and uses the host's stride") {
    struct HostOption {
        hob_option option;
        uint64_t mine;
    };
    Talker talker;
    talker.options = [](hob_option* into, uint32_t room) {
        auto* options = reinterpret_cast<HostOption*>(into);
        for (uint32_t n = 0; n < room; ++n) {
            EXPECT(options[n].option.value == 0 && options[n].option.flags == 0 && options[n].mine == 0);
            options[n].mine = UINT64_MAX;
        }
        options[1].option.value = 7;
        return 2u;
    };
    talker.measure = measures_once(1);
    const Goblin goblin = make_goblin(16);
    hob_setting_desc desc = talker.desc("s", {});
    desc.option_stride = sizeof(HostOption);
    talker.id = add_setting(goblin.get(), desc);
    for (int n = 0; n < 10; ++n) (void)update(goblin.get());
    ENSURE(update_details(goblin.get()).highest_value == 7);
}

TEST("callbacks: invalid options fail the decision and keep the previous choices") {
    std::vector<double> values = {0, 5};
    Talker talker;
    const auto good = gives(values);
    talker.options = good;
    const Goblin goblin = make_goblin(16);
    talker.join(goblin.get(), "s");
    const uint64_t before = update(goblin.get()).id;
    const uint32_t choice = hob_goblin_choice(goblin.get(), talker.id);
    talker.options = [](hob_option*, uint32_t room) { return room + 70000; };
    ENSURE(hob_goblin_update(goblin.get(), nullptr) == HOB_RESULT_LIMIT_EXCEEDED);
    ENSURE(last_error_has("65535"));
    // A callback that always asks for one more option is soon refused, because the room doubles.
    talker.options = [](hob_option*, uint32_t room) { return room + 1; };
    talker.asked = 0;
    ENSURE(hob_goblin_update(goblin.get(), nullptr) == HOB_RESULT_LIMIT_EXCEEDED && talker.asked <= 20);
    values[1] = std::nan("");
    talker.options = good;
    ENSURE(hob_goblin_update(goblin.get(), nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(last_error_has("NaN"));
    talker.options = [](hob_option* into, uint32_t) {
        into[0].flags = 0xff00;
        return 1u;
    };
    ENSURE(hob_goblin_update(goblin.get(), nullptr) == HOB_RESULT_UNSUPPORTED);
    ENSURE(hob_goblin_choice(goblin.get(), talker.id) == choice && statistics(goblin.get()).decisions == before);
    values[1] = 5;
    talker.options = good;
    ENSURE(update(goblin.get()).id == before + 1);
}

TEST("callbacks: samples are read until the callback has no more, and invalid ones are counted and dropped") {
    int step = 0;
    Talker talker;
    talker.measure = [&](hob_sample& into) {
        EXPECT(into.struct_size == sizeof into && into.lane == HOB_LANE_GPU && into.decision_id == HOB_DECISION_LATEST);
        EXPECT(into.burden == 0 && into.quality == HOB_SAMPLE_QUALITY_OK);
        into.burden = 2;
        switch (step++) {
            case 0: break;
            case 1: into.burden = std::nan(""); break;
            case 2: into.burden = -1; break;
            case 3: into.burden = std::numeric_limits<double>::infinity(); break;
            case 4: into.decision_id = 999; break;
            case 5: set_number(into.lane, 8); break;
            case 6: set_number(into.quality, 4); break;
            case 7: into.lane = HOB_LANE_USER0; break;
            case 8: into.quality = HOB_SAMPLE_QUALITY_HITCH; break;
            case 9: into.decision_id = 0; break;
            default: return 0u;
        }
        return 1u;
    };
    const Goblin goblin = make_goblin(16);
    talker.join(goblin.get(), "s", worth({0, 1}));
    step = 99;
    (void)update(goblin.get());
    step = 0;
    (void)update(goblin.get());
    const hob_goblin_statistics found = statistics(goblin.get());
    ENSURE(found.samples == 1 && found.refused == 7 && found.ungoverned == 1 && found.flagged == 1);
    ENSURE(talker.measured == 12);
}

TEST("callbacks: an endless measure callback is called 64 times per collection") {
    Talker talker;
    talker.measure = [](hob_sample& into) {
        into.burden = 1;
        return 1u;
    };
    const Goblin goblin = make_goblin(16);
    talker.join(goblin.get(), "s", worth({0}));
    ENSURE_OK(hob_goblin_collect_samples(goblin.get()));
    ENSURE(talker.measured == 64);
}

TEST("callbacks: a late sample is booked on the decision that it names") {
    Talker talker;
    uint64_t quoted = 0;
    talker.measure = [&](hob_sample& into) {
        into.decision_id = quoted;
        into.burden = 3;
        return std::exchange(quoted, 0) != 0 ? 1u : 0u;
    };
    const Goblin goblin = make_goblin(16);
    talker.join(goblin.get(), "s", worth({0, 1}));
    for (int n = 0; n < 10; ++n) {
        const uint64_t id = update(goblin.get()).id;
        quoted = id > 3 ? id - 3 : 0;
    }
    (void)update(goblin.get());
    ENSURE(statistics(goblin.get()).samples == 7 && statistics(goblin.get()).refused == 0);
}

namespace {

enum class From { get_options, set_choice, measure };
constexpr From everywhere[] = {From::get_options, From::set_choice, From::measure};

/// Three settings. The middle one acts once, from inside one of its callbacks; its neighbours only record.
struct Neighbours {
    Talker before, actor, behind;

    void join(hob_goblin* goblin, From from, std::function<void()> what) {
        // Act after all settings are added, because adding calls get_options, too.
        const auto act = [this, what = std::move(what)] {
            if (std::exchange(armed_, false)) what();
        };
        switch (from) {
            case From::get_options:
                actor.options = [act](hob_option* into, uint32_t) {
                    into[1].value = 1;
                    act();
                    return 2u;
                };
                break;
            case From::set_choice: actor.take = [act](uint32_t, uint64_t) { act(); }; break;
            case From::measure:
                actor.measure = [act](hob_sample&) {
                    act();
                    return 1u;  // a live goblin would ask again
                };
                break;
        }
        before.join(goblin, "before", worth({0, 1}));
        actor.join(goblin, "actor", worth({0, 1}));
        behind.join(goblin, "behind", worth({0, 1}));
        armed_ = true;
    }

private:
    bool armed_ = false;
};

}  // namespace

TEST("callbacks: inside callbacks const functions work and all others are busy") {
    for (const From from : everywhere) {
        Neighbours settings;
        const Goblin goblin = make_goblin(16);
        bool ran = false;
        settings.join(goblin.get(), from, [&] {
            ran = true;
            expect_all(const_calls(settings.before.id), goblin.get(), HOB_RESULT_OK);
            expect_all(exclusive_calls(settings.before.id), goblin.get(), HOB_RESULT_BUSY);
            EXPECT(last_error_has("callbacks"));
            EXPECT(hob_goblin_choice(goblin.get(), settings.before.id) == 0);
            EXPECT(hob_goblin_memory_used(goblin.get()) > 0);
            EXPECT(hob_goblin_last_error(goblin.get())[0] == '\0');
        });
        ENSURE_OK(hob_goblin_update(goblin.get(), nullptr));
        ENSURE(ran);
        ENSURE_OK(hob_goblin_update(goblin.get(), nullptr));
        ENSURE(statistics(goblin.get()).setting_count == 3);
    }
}

TEST("callbacks: another goblin can be used from inside a callback") {
    const Goblin other = make_goblin(16);
    const hob_setting_id theirs = add_array(other.get(), "s", {0, 1});
    for (const From from : everywhere) {
        Neighbours settings;
        const Goblin goblin = make_goblin(16);
        settings.join(goblin.get(), from, [&] {
            EXPECT(hob_goblin_update(other.get(), nullptr) == HOB_RESULT_OK);
            EXPECT(hob_goblin_measure(other.get(), HOB_DECISION_LATEST, theirs, HOB_LANE_GPU, 1, HOB_SAMPLE_QUALITY_OK) == HOB_RESULT_OK);
        });
        ENSURE_OK(hob_goblin_update(goblin.get(), nullptr));
    }
    ENSURE(statistics(other.get()).samples == 3);
}

TEST("callbacks: a setting may remove itself from any of its callbacks") {
    for (const From from : everywhere) {
        Neighbours settings;
        const Goblin goblin = make_goblin(16);
        int seen = -1;
        settings.join(goblin.get(), from, [&] {
            EXPECT(hob_goblin_remove_setting(goblin.get(), settings.actor.id) == HOB_RESULT_OK);
            EXPECT(hob_goblin_remove_setting(goblin.get(), settings.actor.id) == HOB_RESULT_OK);
            EXPECT(settings.actor.released == 0);
            seen = settings.actor.asked + settings.actor.told + settings.actor.measured;
        });
        ENSURE_OK(hob_goblin_update(goblin.get(), nullptr));
        ENSURE(settings.actor.released == 1);
        ENSURE(settings.actor.asked + settings.actor.told + settings.actor.measured == seen);
        ENSURE(statistics(goblin.get()).setting_count == 2);
        ENSURE(hob_goblin_remove_setting(goblin.get(), settings.actor.id) == HOB_RESULT_NOT_FOUND);
        ENSURE_OK(hob_goblin_update(goblin.get(), nullptr));
        ENSURE(settings.actor.released == 1 && settings.before.released == 0 && settings.behind.released == 0);
    }
}

TEST("callbacks: a setting may remove another from any of its callbacks") {
    for (const From from : everywhere) {
        Neighbours settings;
        const Goblin goblin = make_goblin(16);
        settings.join(goblin.get(), from, [&] {
            EXPECT(hob_goblin_remove_setting(goblin.get(), settings.behind.id) == HOB_RESULT_OK);
            EXPECT(settings.behind.released == 0);
        });
        ENSURE_OK(hob_goblin_update(goblin.get(), nullptr));
        ENSURE(settings.behind.released == 1 && settings.behind.told == 0);
        ENSURE(statistics(goblin.get()).setting_count == 2);
    }
}

TEST("callbacks: all settings may be removed from inside any callback") {
    for (const From from : everywhere) {
        Neighbours settings;
        const Goblin goblin = make_goblin(16);
        settings.join(goblin.get(), from, [&] {
            for (const Talker* one : {&settings.before, &settings.actor, &settings.behind}) {
                EXPECT(hob_goblin_remove_setting(goblin.get(), one->id) == HOB_RESULT_OK);
            }
        });
        ENSURE_OK(hob_goblin_update(goblin.get(), nullptr));
        ENSURE(statistics(goblin.get()).setting_count == 0);
        ENSURE(settings.before.released == 1 && settings.actor.released == 1 && settings.behind.released == 1);
        ENSURE(update(goblin.get()).value == 0);
    }
}

TEST("callbacks: a removal takes effect even if the call then fails") {
    Talker talker, other;
    const Goblin goblin = make_goblin(16);
    bool armed = false;
    talker.options = [&](hob_option*, uint32_t) {
        if (armed) EXPECT(hob_goblin_remove_setting(goblin.get(), other.id) == HOB_RESULT_OK);
        return armed ? 100000u : 1u;
    };
    talker.join(goblin.get(), "s");
    other.join(goblin.get(), "other", worth({0}));
    armed = true;
    ENSURE(hob_goblin_update(goblin.get(), nullptr) == HOB_RESULT_LIMIT_EXCEEDED);
    ENSURE(other.released == 1 && statistics(goblin.get()).setting_count == 1);
}

TEST("callbacks: a setting may be removed while another is being added") {
    Talker old, fresh;
    const Goblin goblin = make_goblin(16);
    old.join(goblin.get(), "old", worth({0}));
    fresh.default_choice = [&] {
        EXPECT(hob_goblin_remove_setting(goblin.get(), old.id) == HOB_RESULT_OK);
        return 0u;
    };
    fresh.join(goblin.get(), "fresh", worth({0}));
    ENSURE(old.released == 1 && fresh.released == 0 && statistics(goblin.get()).setting_count == 1);
}

TEST("callbacks: release may call the library, and remove further settings") {
    Talker first, second, third;
    const Goblin goblin = make_goblin(16);
    for (Talker* one : {&first, &second, &third}) one->join(goblin.get(), "s", worth({0, 1}));
    first.at_release = [&] {
        expect_all(const_calls(second.id), goblin.get(), HOB_RESULT_OK);
        expect_all(exclusive_calls(second.id), goblin.get(), HOB_RESULT_BUSY);
        EXPECT(hob_goblin_remove_setting(goblin.get(), second.id) == HOB_RESULT_OK);
        EXPECT(second.released == 0);
    };
    second.at_release = [&] { EXPECT(hob_goblin_remove_setting(goblin.get(), third.id) == HOB_RESULT_OK); };
    (void)update(goblin.get());
    ENSURE_OK(hob_goblin_remove_setting(goblin.get(), first.id));
    ENSURE(first.released == 1 && second.released == 1 && third.released == 1);
    ENSURE(statistics(goblin.get()).setting_count == 0);
}

TEST("callbacks: destroying releases every setting once") {
    Talker talkers[5];
    {
        const Goblin goblin = make_goblin(16);
        for (Talker& one : talkers) one.join(goblin.get(), "s", worth({0}));
        ENSURE_OK(hob_goblin_remove_setting(goblin.get(), talkers[2].id));
        (void)update(goblin.get());
    }
    for (const Talker& one : talkers) ENSURE(one.released == 1);
}

TEST("callbacks: release sees its goblin as destroyed") {
    Talker talker;
    Goblin goblin = make_goblin(16);
    talker.join(goblin.get(), "s", worth({0, 1}));
    hob_goblin* const raw = goblin.get();
    talker.at_release = [&] {
        expect_all(const_calls(talker.id), raw, HOB_RESULT_INVALID_ARGUMENT);
        expect_all(exclusive_calls(talker.id), raw, HOB_RESULT_INVALID_ARGUMENT);
        hob_goblin_destroy(raw);
    };
    goblin.reset();
    ENSURE(talker.released == 1);
}

TEST("callbacks: a goblin may be destroyed from inside any callback") {
    for (const From from : everywhere) {
        Neighbours settings;
        Goblin goblin = make_goblin(16);
        settings.join(goblin.get(), from, [&] {
            hob_goblin_destroy(goblin.get());
            EXPECT(settings.before.released == 0 && settings.actor.released == 0);
        });
        hob_decision decision = HOB_DECISION_INIT;
        ENSURE_OK(hob_goblin_update(goblin.get(), &decision));
        (void)goblin.release();  // already destroyed
        ENSURE(decision.id == 1);
        ENSURE(settings.before.released == 1 && settings.actor.released == 1 && settings.behind.released == 1);
    }
}

TEST("callbacks: a failed add releases and adds nothing") {
    Talker talker;
    const Goblin goblin = make_goblin(16);
    const auto refused = [&](const hob_setting_desc& desc) {
        hob_setting_id id = {7, 7};
        ENSURE(hob_goblin_add_setting(goblin.get(), &desc, &id) == HOB_RESULT_INVALID_ARGUMENT);
        ENSURE(id.index1 == 7 && talker.released == 0 && statistics(goblin.get()).setting_count == 0);
    };
    const auto options = worth({0, 1});
    refused(talker.desc("", options));
    hob_setting_desc desc = talker.desc("s", options);
    desc.default_choice = 2;
    refused(desc);
    desc = talker.desc("s", options);
    desc.switch_burden = -1;
    refused(desc);
    const auto nonsense = worth({0, std::nan("")});
    refused(talker.desc("s", nonsense));
    talker.default_choice = [] { return 65536u; };
    refused(talker.desc("s", options));
}

TEST("callbacks: all callbacks run on the calling thread") {
    Talker talker;
    const auto here = std::this_thread::get_id();
    talker.take = [&](uint32_t, uint64_t) { EXPECT(std::this_thread::get_id() != here); };
    const Goblin goblin = make_goblin(16);
    talker.join(goblin.get(), "s", worth({0}));
    std::thread([&] { EXPECT(hob_goblin_update(goblin.get(), nullptr) == HOB_RESULT_OK); }).join();
    ENSURE(talker.told == 1);
}
