// hobgoblin/balance.hpp: experimental: a choice among strategies by measured time. Part of hobgoblin.hpp. MIT OR
// Apache-2.0.
//
//     hob::Balance balance(2);                             // 0: everything, 1: only what changed
//     const uint32_t strategy = balance.choose();
//     const double start = now_ns();
//     if (strategy == 0) update_everything(); else update_changes();
//     balance.measure(strategy, now_ns() - start);
#ifndef HOBGOBLIN_BALANCE_HPP
#define HOBGOBLIN_BALANCE_HPP

#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "balance.h"
#include "base.hpp"

HOB_NAMESPACE_BEGIN

/// Chooses among strategies for the same work.
/// See hob_balance. An exception of a recording's `write` is rethrown by the call that ran it, also by its try_ form.
/// While the balance is destroyed it is dropped.
class Balance {
public:
#if HOB_EXCEPTIONS
    /// A count that does not fit is refused. A template, because a literal 0 could also be a null handle.
    template <class Count, class = std::enable_if_t<std::is_convertible_v<Count, uint32_t>>>
    explicit Balance(Count strategy_count) : Balance(try_create(count_of(static_cast<long long>(strategy_count))).value()) {}
    explicit Balance(const hob_balance_desc& desc) : Balance(try_create(desc).value()) {}
#endif
    static Result<Balance> try_create(uint32_t strategy_count) {
        hob_balance_desc desc = HOB_BALANCE_DESC_INIT;
        // 0 would mean the default.
        desc.strategy_count = strategy_count == 0 ? UINT32_MAX : strategy_count;
        return try_create(desc);
    }
    static Result<Balance> try_create(const hob_balance_desc& desc) {
        hob_balance* balance = nullptr;
        const hob_result code = hob_balance_create(&desc, &balance);
        return detail::result_of(code, Balance(balance));
    }
    /// Repeats the first `most_calls` calls of a recording; see hob_balance_replay. `report` may be nullptr.
    static Result<Balance> try_replay(std::string_view recording, hob_balance_replay_report* report = nullptr,
                                      uint64_t most_calls = UINT64_MAX) {
        hob_balance* balance = nullptr;
        if (report != nullptr) *report = detail::sized<hob_balance_replay_report>();
        const hob_result code = hob_balance_replay(recording.data(), recording.size(), most_calls, &balance, report);
        return detail::result_of(code, Balance(balance));
    }
    /// Takes ownership of a C handle.
    explicit Balance(hob_balance* balance) noexcept : balance_(balance) {}

    /// Chooses the strategy for the next piece of work.
    Result<uint32_t> try_choose() {
        uint32_t strategy = 0;
        const hob_result code = with_callbacks([&] { return hob_balance_choose(capi(), &strategy); });
        return detail::result_of(code, std::move(strategy));
    }
    /// Reports how long a piece of work took with a strategy, in nanoseconds.
    Result<void> try_measure(uint32_t strategy, double duration_ns) {
        return detail::result_of(with_callbacks([&] { return hob_balance_measure(capi(), strategy, duration_ns); }));
    }
    /// Forgets all durations, for a new scene.
    Result<void> try_restart() {
        return detail::result_of(with_callbacks([&] { return hob_balance_restart(capi()); }));
    }
    /// A strategy as it was measured.
    Result<hob_balance_statistics> try_statistics(uint32_t strategy) const {
        return detail::filled_by(detail::sized<hob_balance_statistics>(), [&](hob_balance_statistics* statistics) {
            return hob_balance_get_statistics(capi(), strategy, statistics);
        });
    }
    /// The number of strategies.
    uint32_t strategy_count() const noexcept { return hob_balance_strategy_count(capi()); }

    /// Records all calls for replay(): calls `write(std::string_view bytes)` with each piece.
    /// Call it right after the creation or restart(). After the last piece, when it is stopped or the balance is
    /// destroyed, `write` is destroyed. Rethrows an exception of `write`, after which the recording goes on.
    template <class Write>
    Result<void> try_start_recording(Write write) {
        if (!pending_) pending_ = std::make_shared<detail::Pending>();
        using Tape = detail::Tape<Write>;
        auto tape = std::make_unique<Tape>(Tape{std::move(write), pending_});
        return detail::result_of(with_callbacks([&] {
            const hob_result started = hob_balance_start_recording(capi(), &Tape::take, tape.get(), &Tape::release);
            if (started == HOB_RESULT_OK) (void)tape.release();  // the balance owns it and calls Tape::release
            return started;
        }));
    }
    /// Writes the end of the recording. Rethrows an exception of `write`; the recording has ended then.
    Result<void> try_stop_recording() {
        return detail::result_of(with_callbacks([&] { return hob_balance_stop_recording(capi()); }));
    }

#if HOB_EXCEPTIONS
    // The throwing forms.
    static Balance replay(std::string_view recording, hob_balance_replay_report* report = nullptr,
                          uint64_t most_calls = UINT64_MAX) {
        return try_replay(recording, report, most_calls).value();
    }
    uint32_t choose() { return try_choose().value(); }
    void measure(uint32_t strategy, double duration_ns) { try_measure(strategy, duration_ns).value(); }
    void restart() { try_restart().value(); }
    hob_balance_statistics statistics(uint32_t strategy) const { return try_statistics(strategy).value(); }
    template <class Write>
    void start_recording(Write write) {
        try_start_recording(std::move(write)).value();
    }
    void stop_recording() { try_stop_recording().value(); }
#endif

    hob_balance* capi() noexcept { return balance_.get(); }
    const hob_balance* capi() const noexcept { return balance_.get(); }

private:
    static uint32_t count_of(long long count) noexcept {
        return count < 0 || count > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(count);
    }

    /// Makes a C call that may write a recording, and rethrows the exception of `write`.
    template <class Call>
    hob_result with_callbacks(const Call& call) {
        const auto pending = pending_;  // a callback may destroy or move this object
        const hob_result code = call();
        if (pending) pending->rethrow();
        return code;
    }

    struct Destroy {
        void operator()(hob_balance* balance) const noexcept { hob_balance_destroy(balance); }
    };
    std::unique_ptr<hob_balance, Destroy> balance_;
    // Shared with the recording. Null until one is started.
    std::shared_ptr<detail::Pending> pending_;
};

HOB_NAMESPACE_END

#endif  // HOBGOBLIN_BALANCE_HPP
