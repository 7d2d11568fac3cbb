// Balances: choices by durations, invalid input, statistics, restarts, recordings and their replay.
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support.h"

using namespace support;

namespace {

constexpr double ms = 1e6;  // nanoseconds

Balance make_balance(uint32_t strategies, hob_balance_policy policy = HOB_BALANCE_POLICY_ACCOUNTS) {
    hob_balance_desc desc = HOB_BALANCE_DESC_INIT;
    desc.strategy_count = strategies;
    desc.policy = policy;
    hob_balance* balance = nullptr;
    ENSURE_OK(hob_balance_create(&desc, &balance));
    return Balance(balance);
}

uint32_t choose(hob_balance* balance) {
    uint32_t strategy = 99;
    ENSURE_OK(hob_balance_choose(balance, &strategy));
    ENSURE(strategy < hob_balance_strategy_count(balance));
    return strategy;
}

hob_balance_statistics statistics(const hob_balance* balance, uint32_t strategy) {
    hob_balance_statistics found = HOB_BALANCE_STATISTICS_INIT;
    ENSURE_OK(hob_balance_get_statistics(balance, strategy, &found));
    return found;
}

/// Pieces of work that take these milliseconds. Returns the choices.
std::vector<uint32_t> work(hob_balance* balance, const std::vector<double>& durations_ms, int pieces) {
    std::vector<uint32_t> choices;
    for (int n = 0; n < pieces; ++n) {
        choices.push_back(choose(balance));
        ENSURE_OK(hob_balance_measure(balance, choices.back(), durations_ms[choices.back()] * ms));
    }
    return choices;
}

/// A receiver of recordings.
struct Tape {
    std::string bytes;
    int released = 0;
    /// Called from inside write, if set.
    std::function<void()> inside;

    hob_result record(hob_balance* balance) { return hob_balance_start_recording(balance, &take, this, &release); }

    static void take(void* self, const void* data, size_t size) {
        Tape& tape = *static_cast<Tape*>(self);
        EXPECT(tape.released == 0 && size > 0);
        tape.bytes.append(static_cast<const char*>(data), size);
        if (tape.inside) tape.inside();
    }
    static void release(void* self) { ++static_cast<Tape*>(self)->released; }
};

hob_balance_replay_report replayed(const std::string& recording, uint64_t most_calls = UINT64_MAX) {
    hob_balance_replay_report report = HOB_BALANCE_REPLAY_REPORT_INIT;
    ENSURE_OK(hob_balance_replay(recording.data(), recording.size(), most_calls, nullptr, &report));
    return report;
}

}  // namespace

TEST("balance: the fastest strategy is used, and a newly faster one soon") {
    const Balance balance = make_balance(3);
    ENSURE(work(balance.get(), {3, 2, 4}, 6) == (std::vector<uint32_t>{0, 1, 2, 0, 1, 2}));
    (void)work(balance.get(), {3, 2, 4}, 1000);
    ENSURE(statistics(balance.get(), 1).share > 0.9 && statistics(balance.get(), 1).is_fastest == 1);
    ENSURE(std::fabs(statistics(balance.get(), 1).mean_ns - 2 * ms) < 1);
    (void)work(balance.get(), {3, 9, 4}, 40);
    ENSURE(statistics(balance.get(), 0).is_fastest == 1 && statistics(balance.get(), 1).is_fastest == 0);
    ENSURE(statistics(balance.get(), 1).changes == 1);
}

TEST("balance: statistics add up") {
    const Balance balance = make_balance(2);
    ENSURE(statistics(balance.get(), 0).mean_ns == 0 && statistics(balance.get(), 0).share == 0);
    (void)work(balance.get(), {2, 3}, 500);
    const hob_balance_statistics one = statistics(balance.get(), 0), other = statistics(balance.get(), 1);
    ENSURE(one.chosen + other.chosen == 500 && one.measured == one.chosen && other.measured == other.chosen);
    ENSURE(std::fabs(one.share + other.share - 1) < 1e-12 && one.deviation_ns < 1 && one.ignored == 0);
    hob_balance_statistics none = HOB_BALANCE_STATISTICS_INIT;
    ENSURE(hob_balance_get_statistics(balance.get(), 2, &none) == HOB_RESULT_NOT_FOUND && last_error_has("there are 2"));
    ENSURE(none.chosen == 0 && hob_balance_strategy_count(balance.get()) == 2 && hob_balance_strategy_count(nullptr) == 0);
}

TEST("balance: a restart forgets durations and keeps counts") {
    const Balance balance = make_balance(2);
    (void)work(balance.get(), {1, 5}, 300);
    const uint64_t chosen = statistics(balance.get(), 0).chosen;
    ENSURE_OK(hob_balance_restart(balance.get()));
    ENSURE(statistics(balance.get(), 0).mean_ns == 0 && statistics(balance.get(), 0).is_fastest == 0);
    ENSURE(statistics(balance.get(), 0).chosen == chosen);
    ENSURE(work(balance.get(), {5, 1}, 6) == (std::vector<uint32_t>{0, 1, 0, 1, 1, 1}));
}

TEST("balance: durations may come late, and for pieces that were not chosen") {
    const Balance balance = make_balance(2);
    std::vector<uint32_t> late;
    for (size_t n = 0; n < 400; ++n) {
        late.push_back(choose(balance.get()));
        if (n >= 3) ENSURE_OK(hob_balance_measure(balance.get(), late[n - 3], (late[n - 3] == 0 ? 4 : 1) * ms));
    }
    ENSURE(late.back() == 1 && statistics(balance.get(), 1).is_fastest == 1);
    const Balance unused = make_balance(2);
    for (int n = 0; n < 10; ++n) ENSURE_OK(hob_balance_measure(unused.get(), 1, 1 * ms));
    ENSURE(statistics(unused.get(), 1).measured == 10 && statistics(unused.get(), 1).chosen == 0);
}

TEST("balance: invalid durations are refused, and 0 and hours are ignored") {
    const Balance balance = make_balance(2);
    const double infinity = std::numeric_limits<double>::infinity();
    for (const double bad : {std::nan(""), -1.0, infinity, -infinity, -1e-300}) {
        ENSURE(hob_balance_measure(balance.get(), 1, bad) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("duration_ns"));
    }
    for (const double absurd : {0.0, -0.0, 1e-320, 3.7e12, 1e300}) ENSURE_OK(hob_balance_measure(balance.get(), 1, absurd));
    ENSURE(statistics(balance.get(), 1).ignored == 10 && statistics(balance.get(), 1).measured == 0);
    for (const uint32_t unknown : {2u, 63u, 64u, UINT32_MAX}) {
        ENSURE(hob_balance_measure(balance.get(), unknown, 1 * ms) == HOB_RESULT_NOT_FOUND && last_error_has("there are 2"));
    }
    ENSURE(std::string(hob_balance_last_error(balance.get())).find("there are 2") != std::string::npos);
    ENSURE(hob_balance_choose(balance.get(), nullptr) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("out_strategy"));
    (void)work(balance.get(), {2, 1}, 100);
    ENSURE(statistics(balance.get(), 1).is_fastest == 1);
}

TEST("balance: invalid descs are refused") {
    hob_balance* none = nullptr;
    const auto refused = [&](const std::function<void(hob_balance_desc&)>& spoil, const char* part) {
        hob_balance_desc desc = HOB_BALANCE_DESC_INIT;
        spoil(desc);
        ENSURE(hob_balance_create(&desc, &none) == HOB_RESULT_INVALID_ARGUMENT && none == nullptr && last_error_has(part));
    };
    for (const uint32_t count : {65u, 1000u, UINT32_MAX}) refused([&](auto& desc) { desc.strategy_count = count; }, "1 to 64");
    for (const double share : {-0.1, 1.1, std::nan("")}) refused([&](auto& desc) { desc.trial_share = share; }, "share of trials");
    const uint32_t no_policy = 2;
    refused([&](auto& desc) { std::memcpy(&desc.policy, &no_policy, sizeof no_policy); }, "policy 2");
    refused([](auto& desc) { desc.strategy_count = 3, desc.policy = HOB_BALANCE_POLICY_TABLE; }, "table");
    hob_balance_desc reserved = HOB_BALANCE_DESC_INIT;
    reserved.reserved = 1;
    ENSURE(hob_balance_create(&reserved, &none) == HOB_RESULT_UNSUPPORTED && none == nullptr);
    hob_balance_desc zeroed = {};
    zeroed.struct_size = sizeof zeroed;
    ENSURE_OK(hob_balance_create(&zeroed, &none));
    const Balance balance(none);
    ENSURE(hob_balance_strategy_count(none) == 2);
}

TEST("balance: 1 and 64 strategies work") {
    const Balance one = make_balance(1);
    for (const uint32_t choice : work(one.get(), {1}, 50)) ENSURE(choice == 0);
    const Balance many = make_balance(HOB_BALANCE_MAX_STRATEGIES);
    std::vector<double> durations(HOB_BALANCE_MAX_STRATEGIES, 2);
    durations[63] = 1;
    (void)work(many.get(), durations, 2000);
    ENSURE(statistics(many.get(), 63).is_fastest == 1 && statistics(many.get(), 63).share > 0.5);
    for (uint32_t n = 0; n < HOB_BALANCE_MAX_STRATEGIES; ++n) ENSURE(statistics(many.get(), n).chosen >= 2);
}

TEST("balance: the table tries both strategies at its shares") {
    const Balance balance = make_balance(2, HOB_BALANCE_POLICY_TABLE);
    (void)work(balance.get(), {1, 4}, 4000);
    const double share = static_cast<double>(statistics(balance.get(), 1).chosen) / 4000;
    ENSURE(share > 0.035 && share < 0.07);
}

TEST("balance: a recording replays to the same choices and the same balance") {
    Tape tape;
    Balance balance = make_balance(3);
    ENSURE_OK(tape.record(balance.get()));
    ENSURE(tape.bytes.size() == 46 && tape.bytes.compare(0, 8, "HOBBAL\r\n") == 0);
    ENSURE(tape.record(balance.get()) == HOB_RESULT_UNSUPPORTED && last_error_has("recorded already"));
    (void)work(balance.get(), {3, 2, 4}, 300);
    ENSURE(hob_balance_measure(balance.get(), 0, -1) == HOB_RESULT_INVALID_ARGUMENT);
    (void)work(balance.get(), {1, 2, 4}, 300);
    ENSURE_OK(hob_balance_stop_recording(balance.get()));
    ENSURE_OK(hob_balance_stop_recording(balance.get()));
    ENSURE(tape.released == 1);
    const hob_balance_replay_report report = replayed(tape.bytes);
    ENSURE(report.end == HOB_BALANCE_REPLAY_END_COMPLETE && report.bytes == tape.bytes.size());
    ENSURE(report.calls == 1201 && report.choices == 600 && report.different == 0 && report.first_different == 0);
    ENSURE(report.library_version == hob_version());

    hob_balance* again = nullptr;
    ENSURE_OK(hob_balance_replay(tape.bytes.data(), tape.bytes.size(), UINT64_MAX, &again, nullptr));
    const Balance owner(again);
    for (uint32_t n = 0; n < 3; ++n) {
        ENSURE(statistics(again, n).mean_ns == statistics(balance.get(), n).mean_ns);
        ENSURE(statistics(again, n).chosen == statistics(balance.get(), n).chosen);
        ENSURE(statistics(again, n).ignored == (n == 0 ? 1u : 0u));
    }
    ENSURE(work(again, {1, 2, 4}, 100) == work(balance.get(), {1, 2, 4}, 100));
    ENSURE(replayed(tape.bytes, 7).end == HOB_BALANCE_REPLAY_END_STOPPED && replayed(tape.bytes, 7).choices == 4);
}

TEST("balance: a recording begins at creation or a restart, and a killed one is truncated") {
    Tape late, tape;
    const Balance balance = make_balance(2);
    (void)choose(balance.get());
    ENSURE(late.record(balance.get()) == HOB_RESULT_UNSUPPORTED && last_error_has("must be complete"));
    ENSURE(late.bytes.empty() && late.released == 0);
    ENSURE_OK(hob_balance_restart(balance.get()));
    ENSURE_OK(tape.record(balance.get()));
    (void)work(balance.get(), {1, 2}, 1000);
    const hob_balance_replay_report killed = replayed(tape.bytes);
    ENSURE(killed.end == HOB_BALANCE_REPLAY_END_TRUNCATED && killed.different == 0 && killed.choices > 890);
    tape.bytes[tape.bytes.size() / 2] ^= 1;
    ENSURE(replayed(tape.bytes).end == HOB_BALANCE_REPLAY_END_DAMAGED);
    hob_balance_replay_report report = HOB_BALANCE_REPLAY_REPORT_INIT;
    ENSURE(hob_balance_replay("HOBREC", 6, 1, nullptr, &report) == HOB_RESULT_MALFORMED);
    // A process that was killed before the first full block.
    ENSURE(replayed(tape.bytes.substr(0, 46)).end == HOB_BALANCE_REPLAY_END_TRUNCATED);
    ENSURE(hob_balance_replay(tape.bytes.data(), 45, 1, nullptr, &report) == HOB_RESULT_MALFORMED);
    ENSURE(last_error_has("cut off"));
    tape.bytes[13] ^= 1;
    ENSURE(hob_balance_replay(tape.bytes.data(), tape.bytes.size(), 1, nullptr, &report) == HOB_RESULT_MALFORMED);
    ENSURE(last_error_has("damaged"));
    ENSURE(hob_balance_start_recording(balance.get(), nullptr, nullptr, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(last_error_has("write is NULL"));
}

TEST("balance: inside a recording's write the balance is busy, and destroy waits for the call") {
    Tape tape;
    Balance balance = make_balance(2);
    hob_balance* const raw = balance.get();
    int calls = 0;
    tape.inside = [&] {
        if (!balance) return;  // the last piece comes from the destruction
        uint32_t strategy = 0;
        hob_balance_statistics found = HOB_BALANCE_STATISTICS_INIT;
        EXPECT(hob_balance_choose(raw, &strategy) == HOB_RESULT_BUSY);
        EXPECT(hob_balance_measure(raw, 0, 1) == HOB_RESULT_BUSY && hob_balance_restart(raw) == HOB_RESULT_BUSY);
        EXPECT(hob_balance_stop_recording(raw) == HOB_RESULT_BUSY);
        EXPECT(hob_balance_get_statistics(raw, 0, &found) == HOB_RESULT_BUSY && hob_balance_strategy_count(raw) == 0);
        if (++calls == 2) hob_balance_destroy(balance.release());
    };
    ENSURE_OK(tape.record(raw));
    uint32_t strategy = 0;
    for (int n = 0; n < 2000 && balance; ++n) ENSURE_OK(hob_balance_choose(raw, &strategy));
    ENSURE(!balance && tape.released == 1);
    ENSURE(replayed(tape.bytes).end == HOB_BALANCE_REPLAY_END_COMPLETE);
}
