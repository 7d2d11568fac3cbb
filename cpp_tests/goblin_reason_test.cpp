// goblin.h: the reasons for choices, as data and as text.
#include <functional>
#include <string>
#include <string_view>

#include "support.h"

using namespace support;

namespace {

/// A known ladder, and the reasons given for its choice.
struct Case {
    Goblin goblin;
    hob_setting_id setting;

    explicit Case(double limit, double patience = 1) {
        Budget budget = exact(limit);
        budget.desc.patience = patience;
        goblin = make_goblin(budget);
        Knowledge().add("s", {1, 4, 10}).give(goblin.get());
        setting = add_array(goblin.get(), "s", {0, 5, 8});
    }
    void limit(double milliseconds) const {
        hob_goblin_desc desc = HOB_GOBLIN_DESC_INIT;
        ENSURE_OK(hob_goblin_get_desc(goblin.get(), &desc));
        desc.lanes[HOB_LANE_GPU].limit = milliseconds;
        ENSURE_OK(hob_goblin_set_desc(goblin.get(), &desc));
    }
    hob_reason after_frames(int count) const {
        for (int n = 0; n < count; ++n) (void)update(goblin.get());
        return reason(goblin.get(), setting);
    }
    std::string text() const { return reason_text(goblin.get(), setting); }
};

}  // namespace

TEST("goblin: a reason exists before the first decision and for a setting without samples") {
    const Goblin goblin = make_goblin(16);
    const hob_setting_id setting = add_array(goblin.get(), "s", {0, 1});
    ENSURE(reason(goblin.get(), setting).why == HOB_WHY_UNDECIDED);
    ENSURE(reason_text(goblin.get(), setting) == "0: nothing was decided yet");
    (void)update(goblin.get());
    const hob_reason found = reason(goblin.get(), setting);
    ENSURE(found.why == HOB_WHY_UNKNOWN && found.from == 0 && found.to == 0 && found.since == 0);
    ENSURE(reason_text(goblin.get(), setting) == "0: its burdens are unknown, so it has its default");
}

TEST("goblin: the reason of a raised or lowered choice names the old option, the decision and the headroom") {
    const Case one(3);
    ENSURE(one.after_frames(5).why == HOB_WHY_BEST);
    ENSURE(one.text() == "0: part of the best choice that fits; headroom 2.00");
    one.limit(6);
    hob_reason found = one.after_frames(20);
    ENSURE(found.why == HOB_WHY_RAISED && found.from == 0 && found.to == 1 && found.since > 5 && found.since <= 25);
    ENSURE(close(found.headroom, 5));
    ENSURE(one.text() == "raised from 0 to 1 in decision " + std::to_string(found.since) + ": the headroom was 5.00");
    one.limit(3);
    const uint64_t now = update(one.goblin.get()).id;
    found = reason(one.goblin.get(), one.setting);
    ENSURE(found.why == HOB_WHY_LOWERED && found.from == 1 && found.to == 0 && found.since == now);
    ENSURE(close(found.headroom, -1));
    ENSURE(one.text() == "lowered from 1 to 0 in decision " + std::to_string(now) + ": the excess was 1.00");
    ENSURE(one.after_frames(10).since == now && reason(one.goblin.get(), one.setting).why == HOB_WHY_LOWERED);
}

TEST("goblin: the reason of a choice lowered for another setting names that cause") {
    const Case one(6);
    Knowledge().add("s", {1, 4, 10}).add("rival", {1, 4}).give(one.goblin.get());
    const hob_setting_id rival = add_array(one.goblin.get(), "rival", {0, 1});
    ENSURE(one.after_frames(20).to == 1);
    ENSURE_OK(hob_goblin_set_value(one.goblin.get(), rival, 1, 50));
    const hob_reason found = one.after_frames(200);
    ENSURE(found.why == HOB_WHY_LOWERED && found.to == 0 && found.headroom >= 0);
    const std::string decision = std::to_string(found.since);
    ENSURE(one.text() == "lowered from 1 to 0 in decision " + decision + " for more value elsewhere");
    ENSURE(reason(one.goblin.get(), rival).why == HOB_WHY_RAISED);
}

TEST("goblin: the reason of a held choice names the value that waiting forgoes") {
    const Case one(100, 50);
    const hob_reason found = one.after_frames(30);
    ENSURE(found.why == HOB_WHY_HELD && found.to == 0 && close(found.gain, 8));
    ENSURE(one.text() == "held at 0: a better choice gains 8.000 a frame and has not paid for the change yet");
}

TEST("goblin: the reason of a trial names the option to return to") {
    const Goblin goblin = make_goblin(16);
    const hob_setting_id setting = add_array(goblin.get(), "s", {0, 1});
    hob_reason found = HOB_REASON_INIT;
    for (int n = 0; n < 50 && found.why != HOB_WHY_TRIAL; ++n) {
        const hob_decision decision = update(goblin.get());
        ENSURE_OK(hob_goblin_measure(goblin.get(), HOB_DECISION_LATEST, setting, HOB_LANE_GPU, 1, HOB_SAMPLE_QUALITY_OK));
        found = reason(goblin.get(), setting);
        ENSURE((found.why == HOB_WHY_TRIAL) == (decision.trial_count == 1));
    }
    ENSURE(found.why == HOB_WHY_TRIAL && found.from == 0 && found.to == 1);
    ENSURE(reason_text(goblin.get(), setting) == "1 on trial, to measure its cost");
}

TEST("goblin: pins, ranges and disabled settings have reasons") {
    const Case one(100);
    hob_goblin* const goblin = one.goblin.get();
    ENSURE_OK(hob_goblin_pin(goblin, one.setting, 1));
    ENSURE(one.after_frames(20).why == HOB_WHY_PINNED && one.text() == "1: pinned");
    ENSURE_OK(hob_goblin_set_range(goblin, one.setting, 0, 1));
    ENSURE(one.after_frames(20).why == HOB_WHY_LIMITED);
    ENSURE(one.text() == "1: the allowed range excludes a better option");
    ENSURE_OK(hob_goblin_set_range(goblin, one.setting, 0, UINT32_MAX));
    ENSURE_OK(hob_goblin_set_ready(goblin, one.setting, 2, 0));
    ENSURE(one.after_frames(20).why == HOB_WHY_NOT_READY && one.text() == "1: a better option is not ready");
    ENSURE_OK(hob_goblin_set_enabled(goblin, one.setting, 0));
    ENSURE(reason(goblin, one.setting).why == HOB_WHY_DISABLED && reason(goblin, one.setting).to == 1);
    ENSURE(one.after_frames(1).why == HOB_WHY_DISABLED && one.text() == "disabled");
    ENSURE_OK(hob_goblin_set_enabled(goblin, one.setting, 1));
    ENSURE_OK(hob_goblin_set_ready(goblin, one.setting, 2, 1));
    ENSURE(one.after_frames(40).why == HOB_WHY_RAISED);
}

TEST("goblin: the reason of an infeasible decision names the excess") {
    const Case one(0.25);
    const hob_reason found = one.after_frames(3);
    ENSURE(found.why == HOB_WHY_NOTHING_FITS && found.to == 0 && close(found.headroom, -0.75));
    ENSURE(one.text() == "0: nothing fits; the excess is 0.75 with the lightest options");
}

TEST("goblin: trim settings and strategies have reasons") {
    const Case one(100);
    const auto options = worth({0, 1});
    hob_setting_desc desc = described("trim", options);
    desc.flags = HOB_SETTING_TRIM;
    Knowledge().add("s", {1, 4, 10}).add("trim", {1, 2}).give(one.goblin.get());
    const hob_setting_id trim = add_setting(one.goblin.get(), desc);
    (void)one.after_frames(20);
    ENSURE(reason(one.goblin.get(), trim).why == HOB_WHY_TRIM && reason(one.goblin.get(), trim).to == 1);
    ENSURE(reason_text(one.goblin.get(), trim).find("1: takes up the slack; headroom 88.00") == 0);

    hob_strategy_desc other = HOB_STRATEGY_DESC_INIT;
    other.lanes[HOB_LANE_GPU].limit = 8;
    other.incentive = 1000;
    uint32_t strategy = 0;
    ENSURE_OK(hob_goblin_add_strategy(one.goblin.get(), &other, &strategy));
    const hob_decision decision = update(one.goblin.get());
    const hob_reason found = reason(one.goblin.get(), one.setting);
    ENSURE(decision.strategy == strategy && found.why == HOB_WHY_STRATEGY && found.from == 2 && found.to == 1);
    ENSURE(one.text() == "1: the strategy changed in decision " + std::to_string(decision.id));
}

TEST("goblin: a reason's text needs exactly the reported buffer size") {
    const Case one(6);
    (void)one.after_frames(20);
    const std::string text = one.text();
    std::string room(text.size() + 3, '\x7e');
    size_t size = 0;
    ENSURE(hob_goblin_get_reason_text(one.goblin.get(), one.setting, room.data(), text.size(), &size) ==
           HOB_RESULT_BUFFER_TOO_SMALL);
    ENSURE(size == text.size() + 1 && room == std::string(text.size() + 3, '\x7e'));
    ENSURE_OK(hob_goblin_get_reason_text(one.goblin.get(), one.setting, room.data(), size, nullptr));
    ENSURE(std::string_view(room.data()) == text && room.substr(size) == "\x7e\x7e");
}

TEST("goblin: a callback can read the reason of the choice that it receives") {
    struct Told {
        const hob_goblin* goblin = nullptr;
        hob_setting_id setting = {0, 0};
        uint32_t why = 99, to = 99;
    } told;
    const Goblin goblin = make_goblin(16);
    Knowledge().add("s", {1, 2}).give(goblin.get());
    const auto options = worth({0, 1});
    hob_setting_desc desc = described("s", options);
    desc.user_data = &told;
    desc.set_choice = [](void* self, uint32_t, uint64_t) {
        Told& here = *static_cast<Told*>(self);
        hob_reason found = HOB_REASON_INIT;
        EXPECT(hob_goblin_get_reason(here.goblin, here.setting, &found) == HOB_RESULT_OK);
        here.why = found.why;
        here.to = found.to;
    };
    told.goblin = goblin.get();
    told.setting = add_setting(goblin.get(), desc);
    for (int n = 0; n < 20; ++n) (void)update(goblin.get());
    ENSURE(told.why == HOB_WHY_RAISED && told.to == 1);
}
