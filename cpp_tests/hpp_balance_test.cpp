// balance.hpp: choices, results without exceptions, and recordings.
#include <hobgoblin/balance.hpp>

#include <stdexcept>
#include <string>

#include "support.h"

TEST("hpp: a balance chooses the fastest strategy") {
    hob::Balance balance(2);
    for (int n = 0; n < 100; ++n) {
        const uint32_t strategy = balance.choose();
        balance.measure(strategy, strategy == 0 ? 4e6 : 1e6);
    }
    ENSURE(balance.choose() == 1 && balance.statistics(1).is_fastest == 1 && balance.strategy_count() == 2);
    ENSURE(balance.try_measure(2, 1).code() == HOB_RESULT_NOT_FOUND);
    ENSURE(balance.try_measure(0, -1).code() == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(balance.try_statistics(2).code() == HOB_RESULT_NOT_FOUND);
    balance.restart();
    ENSURE(balance.statistics(1).mean_ns == 0);
    ENSURE(!hob::Balance::try_create(0) && !hob::Balance::try_create(65));
    hob_balance_desc desc = HOB_BALANCE_DESC_INIT;
    desc.strategy_count = 5;
    ENSURE(hob::Balance(desc).strategy_count() == 5);
}

TEST("hpp: a balance takes counts of any integer type, and refuses those out of range") {
    ENSURE(hob::Balance(3).strategy_count() == 3 && hob::Balance(3u).strategy_count() == 3);
    ENSURE(hob::Balance(std::size_t{3}).strategy_count() == 3 && hob::Balance(uint8_t{3}).strategy_count() == 3);
    const auto refused = [](auto count) {
        try {
            const hob::Balance balance(count);
            return false;
        } catch (const hob::Error& error) {
            return error.code() == HOB_RESULT_INVALID_ARGUMENT;
        }
    };
    ENSURE(refused(-1) && refused(65) && refused((1ll << 32) + 2) && refused(UINT64_MAX));
    bool zero_was_refused = false;
    try {
        const hob::Balance none(0);
    } catch (const hob::Error& error) {
        zero_was_refused = error.code() == HOB_RESULT_INVALID_ARGUMENT;
    }
    ENSURE(zero_was_refused);
    ENSURE(hob::Balance(nullptr).strategy_count() == 0);
}

TEST("hpp: a recorded balance replays to the same choices") {
    std::string tape;
    {
        hob::Balance balance(2);
        balance.start_recording([&](std::string_view bytes) { tape += bytes; });
        hob::Balance moved = std::move(balance);
        for (int n = 0; n < 300; ++n) moved.measure(moved.choose(), 1e6 + n);
    }
    hob_balance_replay_report report = HOB_BALANCE_REPLAY_REPORT_INIT;
    const hob::Balance again = hob::Balance::replay(tape, &report);
    ENSURE(report.end == HOB_BALANCE_REPLAY_END_COMPLETE && report.choices == 300 && report.different == 0);
    ENSURE(again.statistics(0).chosen + again.statistics(1).chosen == 300);
    ENSURE(hob::Balance::replay(tape, nullptr, 5).statistics(0).chosen == 2);
    ENSURE(hob::Balance::try_replay("no").code() == HOB_RESULT_MALFORMED);
}

TEST("hpp: an exception of a balance's recording is thrown by the call that ran it") {
    hob::Balance balance(2);
    int pieces = 0;
    balance.start_recording([&](std::string_view) {
        if (++pieces == 3) throw std::runtime_error("disk full");
    });
    bool was_thrown = false;
    for (int n = 0; n < 2000 && !was_thrown; ++n) {
        try {
            (void)balance.choose();
        } catch (const std::runtime_error& error) {
            was_thrown = std::string(error.what()) == "disk full";
        }
    }
    ENSURE(was_thrown && balance.try_choose());
    balance.stop_recording();
}

TEST("hpp: starting and stopping a balance's recording rethrow its exception, also in the try_ form") {
    hob::Balance balance(2);
    bool fails = true;
    const auto write = [&](std::string_view) {
        if (fails) throw std::runtime_error("disk full");
    };
    const auto throws = [](auto call) {
        try {
            (void)call();
            return false;
        } catch (const std::runtime_error& error) {
            return std::string(error.what()) == "disk full";
        }
    };
    // The balance records all the same.
    ENSURE(throws([&] { return balance.try_start_recording(write); }));
    ENSURE(balance.try_start_recording(write).code() == HOB_RESULT_UNSUPPORTED);
    ENSURE(throws([&] { return balance.try_stop_recording(); }));
    balance.restart();
    fails = false;
    ENSURE(balance.try_start_recording(write) && balance.try_stop_recording());
}
