// A panic inside the library: the host survives, receives the location, and continues with the last good answers.
#include <cstdio>
#include <string>
#include <unistd.h>

#include "goblin_calls.h"
#include "support.h"

using namespace support;

namespace {

/// Lets the point panic after that many more passes.
void arm(std::string_view point, uint32_t passes = 0) {
    ENSURE_OK(hob_fault_arm(str(point), passes));
}

/// Captures stderr while it exists.
class Stderr {
public:
    Stderr() : file_(std::tmpfile()), saved_(dup(STDERR_FILENO)) {
        ENSURE(file_ != nullptr && saved_ >= 0);
        std::fflush(stderr);
        ENSURE(dup2(fileno(file_), STDERR_FILENO) >= 0);
    }
    Stderr(const Stderr&) = delete;
    Stderr& operator=(const Stderr&) = delete;
    ~Stderr() {
        restore();
        std::fclose(file_);
    }

    /// Bytes written so far. Ends the capture.
    long written() {
        restore();
        std::fseek(file_, 0, SEEK_END);
        return std::ftell(file_);
    }

private:
    void restore() {
        if (saved_ < 0) return;
        std::fflush(stderr);
        (void)dup2(saved_, STDERR_FILENO);
        (void)close(saved_);
        saved_ = -1;
    }

    std::FILE* file_;
    int saved_;
};

struct Released {
    int count = 0;

    hob_setting_desc desc(const std::vector<hob_option>& options) {
        hob_setting_desc desc = described("s", options);
        desc.user_data = this;
        desc.release = [](void* self) { ++static_cast<Released*>(self)->count; };
        desc.set_choice = [](void*, uint32_t, uint64_t) {};
        return desc;
    }
};

/// A goblin in use panics at the point. From then on it is poisoned.
void survives_a_panic_at(const char* point) {
    Released released[3];
    const auto options = worth({0, 5});
    std::vector<hob_setting_id> settings;
    {
        const Goblin goblin = make_goblin(16);
        for (Released& one : released) settings.push_back(add_setting(goblin.get(), one.desc(options)));
        for (int n = 0; n < 100; ++n) {
            (void)update(goblin.get());
            for (const hob_setting_id setting : settings) {
                ENSURE_OK(hob_goblin_measure(goblin.get(), HOB_DECISION_LATEST, setting, HOB_LANE_GPU, 1, HOB_SAMPLE_QUALITY_OK));
            }
        }
        for (const hob_setting_id setting : settings) {
            ENSURE(hob_goblin_choice(goblin.get(), setting) == 1);
            ENSURE_OK(hob_goblin_set_value(goblin.get(), setting, 1, -5));  // so that choices change and are reported
        }
        const uint64_t decisions = statistics(goblin.get()).decisions;
        const std::string knowledge = saved(goblin.get());

        Stderr captured;
        arm(point);
        hob_decision decision = HOB_DECISION_INIT;
        const hob_result result = hob_goblin_update(goblin.get(), &decision);
        ENSURE(captured.written() == 0);
        ENSURE(result == HOB_RESULT_PANIC && decision.id == 0);
        ENSURE(last_error_has("internal error at ") && last_error_has(".rs:") && last_error_has(point));
        const std::string sentence = hob_last_error();
        ENSURE(sentence == hob_goblin_last_error(goblin.get()));

        expect_all(exclusive_calls(settings[0]), goblin.get(), HOB_RESULT_POISONED);
        ENSURE(hob_goblin_remove_setting(goblin.get(), settings[0]) == HOB_RESULT_POISONED);
        ENSURE(hob_last_error() == sentence);
        expect_all(const_calls(settings[0]), goblin.get(), HOB_RESULT_OK);
        ENSURE(saved(goblin.get()) == knowledge);
        const bool had_decided = statistics(goblin.get()).decisions == decisions + 1;
        for (const hob_setting_id setting : settings) {
            ENSURE(hob_goblin_choice(goblin.get(), setting) == (had_decided ? 0u : 1u));
        }
        for (const Released& one : released) ENSURE(one.count == 0);
    }
    for (const Released& one : released) ENSURE(one.count == 1);
    const Goblin fresh = make_goblin(16);
    ENSURE(update(fresh.get()).id == 1);
}

}  // namespace

TEST("panic: a panic during a decision poisons the goblin") {
    survives_a_panic_at("goblin.decide");
}

TEST("panic: a panic after a callback poisons the goblin") {
    survives_a_panic_at("goblin.set_choice");
}

TEST("panic: a panic in one handle does not affect others") {
    const Goblin broken = make_goblin(16), fine = make_goblin(16);
    arm("goblin.decide");
    ENSURE(hob_goblin_decide(broken.get(), nullptr) == HOB_RESULT_PANIC);
    for (int n = 0; n < 10; ++n) ENSURE_OK(hob_goblin_update(fine.get(), nullptr));
    ENSURE(hob_goblin_decide(broken.get(), nullptr) == HOB_RESULT_POISONED);
}

TEST("panic: a panic in a goblin used by another goblin's callback poisons only the first") {
    struct Host {
        hob_goblin* inner;
        hob_result result;
    };
    const Goblin outer = make_goblin(16), inner = make_goblin(16);
    Host host = {inner.get(), HOB_RESULT_OK};
    const auto options = worth({0});
    hob_setting_desc desc = described("s", options);
    desc.user_data = &host;
    desc.set_choice = [](void* self, uint32_t, uint64_t) {
        auto& the_host = *static_cast<Host*>(self);
        // The outer decision has already passed the point. The next pass belongs to the inner one.
        EXPECT(hob_fault_arm(HOB_STR("goblin.decide"), 0) == HOB_RESULT_OK);
        the_host.result = hob_goblin_update(the_host.inner, nullptr);
    };
    (void)add_setting(outer.get(), desc);
    ENSURE_OK(hob_goblin_update(outer.get(), nullptr));
    ENSURE(host.result == HOB_RESULT_PANIC);
    ENSURE_OK(hob_goblin_update(outer.get(), nullptr));
    ENSURE(hob_goblin_update(inner.get(), nullptr) == HOB_RESULT_POISONED);
}

TEST("panic: a goblin destroyed inside the panicking call is still freed") {
    struct Host {
        hob_goblin* goblin;
        int released;
    };
    Host host = {make_goblin(16).release(), 0};
    const auto options = worth({0});
    hob_setting_desc desc = described("s", options);
    desc.user_data = &host;
    desc.release = [](void* self) { ++static_cast<Host*>(self)->released; };
    desc.set_choice = [](void* self, uint32_t, uint64_t) { hob_goblin_destroy(static_cast<Host*>(self)->goblin); };
    (void)add_setting(host.goblin, desc);
    arm("goblin.set_choice");
    ENSURE(hob_goblin_update(host.goblin, nullptr) == HOB_RESULT_PANIC);
    ENSURE(host.released == 1);
}

TEST("panic: any number of panics is contained") {
    for (int n = 0; n < 200; ++n) {
        const Goblin goblin = make_goblin(16);
        arm("goblin.decide", 1);
        ENSURE_OK(hob_goblin_update(goblin.get(), nullptr));
        ENSURE(hob_goblin_update(goblin.get(), nullptr) == HOB_RESULT_PANIC);
    }
    arm("");
    const Goblin goblin = make_goblin(16);
    ENSURE_OK(hob_goblin_update(goblin.get(), nullptr));
}
