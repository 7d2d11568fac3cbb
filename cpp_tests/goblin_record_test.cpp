// Recording and replaying runs: the replay makes the same choices, up to the end of the intact recording.
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "allocator.h"
#include "goblin_calls.h"
#include "malloc_count.h"
#include "support.h"

using namespace support;

namespace {

/// A receiver of recordings.
struct Tape {
    std::string bytes;
    int written = 0, released = 0;
    /// Called from inside write, if set.
    std::function<void()> inside;

    hob_result record(hob_goblin* goblin) { return hob_goblin_start_recording(goblin, &take, this, &release); }

    static void take(void* self, const void* data, size_t size) {
        Tape& tape = *static_cast<Tape*>(self);
        EXPECT(tape.released == 0 && size > 0);
        ++tape.written;
        tape.bytes.append(static_cast<const char*>(data), size);
        if (tape.inside) tape.inside();
    }
    static void release(void* self) { ++static_cast<Tape*>(self)->released; }
};

hob_replay_report replayed(const std::string& recording) {
    hob_replay_report report = HOB_REPLAY_REPORT_INIT;
    ENSURE_OK(hob_goblin_replay(recording.data(), recording.size(), &report));
    return report;
}

}  // namespace

TEST("goblin: a recorded run replays to the same choices") {
    Tape tape;
    {
        const Goblin goblin = make_goblin(16);
        ENSURE_OK(tape.record(goblin.get()));
        ENSURE(tape.bytes.size() == 16 && tape.bytes.compare(0, 8, "HOBREC\r\n") == 0);
        Household household(goblin.get(), 12, 5);
        for (int n = 0; n < 300; ++n) (void)household.frame();
        // All other calls that change the goblin.
        for (const Call& call : exclusive_calls(household.settings()[0])) {
            if (std::strcmp(call.name, "stop_recording") != 0) (void)call.make(goblin.get());
        }
        ENSURE_OK(hob_goblin_remove_setting(goblin.get(), household.settings()[3]));
        (void)update(goblin.get());
        ENSURE(tape.released == 0);
    }
    ENSURE(tape.released == 1);
    const hob_replay_report report = replayed(tape.bytes);
    ENSURE(report.end == HOB_REPLAY_END_COMPLETE && report.bytes == tape.bytes.size());
    ENSURE(report.decisions == 303 && report.calls > 300 * 12);
    ENSURE(report.different == 0 && report.first_different == 0 && report.setting.index1 == 0);
    ENSURE(report.library_version == hob_version());
}

TEST("goblin: settings in the callback style are recorded by their callback results") {
    Tape tape;
    {
        const Goblin goblin = make_goblin(16);
        ENSURE_OK(tape.record(goblin.get()));
        hob_setting_desc desc = HOB_SETTING_DESC_INIT;
        desc.id = HOB_STR("talker");
        desc.option_stride = sizeof(hob_option);
        static uint32_t frame;
        frame = 0;
        desc.get_options = [](void*, hob_option* into, uint32_t room) {
            const uint32_t count = frame < 40 ? 3 : 2;
            for (uint32_t n = 0; n < count && count <= room; ++n) into[n].value = n + 0.1 * (frame % 7);
            return count;
        };
        desc.measure = [](void*, hob_sample* into) {
            into->burden = 2.0 + 0.1 * (frame % 5);
            return frame++ % 2;
        };
        (void)add_setting(goblin.get(), desc);
        for (int n = 0; n < 100; ++n) (void)update(goblin.get());
    }
    const hob_replay_report report = replayed(tape.bytes);
    ENSURE(report.end == HOB_REPLAY_END_COMPLETE && report.decisions == 100 && report.different == 0);
}

TEST("goblin: a recording begins at creation and is stopped once") {
    Tape tape, late;
    const Goblin goblin = make_goblin(16);
    ENSURE_OK(hob_goblin_stop_recording(goblin.get()));  // no recording was active
    ENSURE_OK(tape.record(goblin.get()));
    ENSURE(late.record(goblin.get()) == HOB_RESULT_UNSUPPORTED && last_error_has("recorded already"));
    (void)update(goblin.get());
    ENSURE_OK(hob_goblin_stop_recording(goblin.get()));
    ENSURE(tape.released == 1);
    const int written = tape.written;
    (void)update(goblin.get());
    ENSURE_OK(hob_goblin_stop_recording(goblin.get()));
    ENSURE(tape.written == written && tape.released == 1);
    ENSURE(replayed(tape.bytes).end == HOB_REPLAY_END_COMPLETE && replayed(tape.bytes).decisions == 1);
    ENSURE(late.record(goblin.get()) == HOB_RESULT_UNSUPPORTED && last_error_has("a recording must be complete"));
    ENSURE(late.written == 0 && late.released == 0);
}

TEST("callbacks: inside a recording's write the goblin is busy") {
    Tape tape;
    Goblin goblin = make_goblin(16);
    const hob_setting_id none = {1, 0};
    tape.inside = [&] {
        expect_all(exclusive_calls(none), goblin.get(), HOB_RESULT_BUSY);
        expect_all(const_calls(none), goblin.get(), HOB_RESULT_BUSY);
        ENSURE(hob_goblin_choice(goblin.get(), none) == 0 && hob_goblin_memory_used(goblin.get()) == 0);
    };
    ENSURE_OK(tape.record(goblin.get()));
    (void)update(goblin.get());
    (void)add_array(goblin.get(), "s", {0, 1});
    (void)update(goblin.get());
    ENSURE(tape.written == 3);
    // Destruction is allowed, and takes effect when the call returns.
    tape.inside = [&] {
        hob_goblin_destroy(goblin.release());
        tape.inside = nullptr;
    };
    ENSURE_OK(hob_goblin_update(goblin.get(), nullptr));
    ENSURE(tape.released == 1 && replayed(tape.bytes).end == HOB_REPLAY_END_COMPLETE);
    ENSURE(replayed(tape.bytes).decisions == 3);
}

TEST("memory: recording a frame does not allocate") {
    Tape tape;
    tape.bytes.reserve(1 << 20);
    const Goblin goblin = make_goblin(16);
    ENSURE_OK(tape.record(goblin.get()));
    Household household(goblin.get(), 20, 4);
    for (int n = 0; n < 200; ++n) (void)household.frame();
    const std::vector<uint32_t> choices = household.choices();
    const uint64_t before = malloc_calls();
    for (int n = 0; n < 100; ++n) {
        for (const hob_setting_id setting : household.settings()) {
            ENSURE_OK(hob_goblin_measure(goblin.get(), HOB_DECISION_LATEST, setting, HOB_LANE_GPU, 0.5, HOB_SAMPLE_QUALITY_OK));
        }
        ENSURE_OK(hob_goblin_update(goblin.get(), nullptr));
    }
    ENSURE(malloc_calls() == before);
}

TEST("memory: a recording that cannot be allocated does not begin and owns nothing") {
    HostAllocator host;
    Tape tape;
    const Goblin goblin = make_goblin(16);
    host.fail_at(0, true);
    const hob_result result = tape.record(goblin.get());
    host.heal();
    ENSURE(result == HOB_RESULT_OUT_OF_MEMORY && tape.released == 0 && tape.written == 0);
    ENSURE_OK(tape.record(goblin.get()));
}

TEST("bad_input: invalid and truncated recordings are rejected") {
    hob_replay_report report = HOB_REPLAY_REPORT_INIT;
    const std::string zeros(64, '\0');
    ENSURE(hob_goblin_replay(nullptr, 5, &report) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("data"));
    ENSURE(hob_goblin_replay(zeros.data(), zeros.size(), nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_goblin_replay(zeros.data(), zeros.size(), &report) == HOB_RESULT_MALFORMED);
    ENSURE(last_error_has("not a recording"));
    ENSURE(hob_goblin_replay(nullptr, 0, &report) == HOB_RESULT_MALFORMED && last_error_has("0 bytes"));

    Tape tape;
    {
        const Goblin goblin = make_goblin(16);
        ENSURE_OK(tape.record(goblin.get()));
        Household household(goblin.get(), 3, 3);
        for (int n = 0; n < 8; ++n) (void)household.frame();
    }
    const size_t size = tape.bytes.size();
    for (size_t cut = 16; cut < size; ++cut) {
        const hob_replay_report found = replayed(tape.bytes.substr(0, cut));
        ENSURE(found.end == HOB_REPLAY_END_TRUNCATED && found.bytes <= cut && found.different == 0);
    }
    for (size_t at = 16; at < size; ++at) {
        std::string damaged = tape.bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
        const hob_replay_report found = replayed(damaged);
        ENSURE(found.end == HOB_REPLAY_END_DAMAGED || found.end == HOB_REPLAY_END_TRUNCATED);
        ENSURE(found.bytes <= at && found.different == 0);
    }
    std::string newer = tape.bytes;
    newer[8] = 9;
    ENSURE(hob_goblin_replay(newer.data(), size, &report) == HOB_RESULT_UNSUPPORTED && last_error_has("format 9"));
}
