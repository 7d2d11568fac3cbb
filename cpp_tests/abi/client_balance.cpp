// A balance of a client that was compiled with other headers than its library. MIT OR Apache-2.0.
#include "client.h"

#include <string>

namespace abi {

#if __has_include(<hobgoblin/balance.h>)

void drive_balance() {
    Guarded<hob_balance_desc> desc;
    desc->strategy_count = 3;
    hob_balance* balance = nullptr;
    CHECK_OK(hob_balance_create(desc.get(), &balance));
    std::string recording;
    const auto write = [](void* to, const void* data, size_t size) {
        static_cast<std::string*>(to)->append(static_cast<const char*>(data), size);
    };
    CHECK_OK(hob_balance_start_recording(balance, write, &recording, nullptr));
    for (int n = 0; n < 30; ++n) {
        uint32_t strategy = 99;
        CHECK_OK(hob_balance_choose(balance, &strategy));
        CHECK_OK(hob_balance_measure(balance, strategy, 3e6 - 1e6 * strategy));
    }
    Guarded<hob_balance_statistics> statistics;
    CHECK_OK(hob_balance_get_statistics(balance, 2, statistics.get()));
    statistics.check();
    CHECK(statistics->is_fastest == 1 && statistics->chosen == statistics->measured);
    CHECK_OK(hob_balance_stop_recording(balance));
    CHECK_OK(hob_balance_restart(balance));
    Guarded<hob_balance_replay_report> report;
    CHECK_OK(hob_balance_replay(recording.data(), recording.size(), UINT64_MAX, nullptr, report.get()));
    report.check();
    CHECK(report->end == HOB_BALANCE_REPLAY_END_COMPLETE && report->choices == 30 && report->different == 0);
    CHECK(hob_balance_strategy_count(balance) == 3);
    hob_balance_destroy(balance);
}

#else

void drive_balance() {}

#endif

}  // namespace abi
