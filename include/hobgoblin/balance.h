// hobgoblin/balance.h: Experimental: Chooses among strategies for the same work by measured time.
//
// A host has several ways to do the same work, such as a full pass or one over what changed. Which is fastest depends
// on the scene. A balance uses the fastest one, and tries the others now and then, because they may have become
// faster.
//
//     hob_balance_desc desc = HOB_BALANCE_DESC_INIT;
//     desc.strategy_count = 2;                            /* 0: everything, 1: only what changed */
//     hob_balance *balance = NULL;
//     if (hob_balance_create(&desc, &balance) != HOB_RESULT_OK) fail(hob_last_error());
//
//     /* for each piece of work, such as a frame: */
//     uint32_t strategy = 0;
//     hob_balance_choose(balance, &strategy);
//     const double start = now_ns();
//     if (strategy == 0) update_everything(); else update_changes();
//     hob_balance_measure(balance, strategy, now_ns() - start);
//
//     hob_balance_destroy(balance);
//
// Terms:
// - Strategy: one way to do the work. Strategies are counted from 0.
// - Piece of work: the work of one choice, with one duration. The more alike pieces are, the sooner a balance knows.
// - Trial: a choice of a strategy that is not known to be the fastest.
// - Share of trials: the part of the time that trials may cost, in the long run.
//
// Generated from src/ffi/balance; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_BALANCE_H
#define HOBGOBLIN_BALANCE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Experimental: Create and destroy -------------------------------------------------------------------------------

/// Durations of strategies, and the next choice.
/// A handle: see "Handles" in base.h.
typedef struct hob_balance hob_balance;

/// Most strategies of a balance.
#define HOB_BALANCE_MAX_STRATEGIES 64

/// How a balance chooses.
typedef enum hob_balance_policy {
    /// The fastest strategy. Trials are paid from `trial_share`: one that takes little longer is tried often, one that
    /// takes four times as long about every 200 pieces of work.
    HOB_BALANCE_POLICY_ACCOUNTS = 0,
    /// At random, for two strategies, by the means of their last 20 durations.
    /// The share of the faster one is 50 %, or 75, 90 or 95 % if the other takes 1.15, 1.3 or 1.5 times as long. It
    /// costs 15 % beside a strategy that takes four times as long, and turns slowly.
    HOB_BALANCE_POLICY_TABLE = 1,
} hob_balance_policy;

/// Parameters of a balance.
typedef struct hob_balance_desc {
    /// sizeof(hob_balance_desc).
    uint32_t struct_size;
    /// Number of strategies: 1 to HOB_BALANCE_MAX_STRATEGIES. Default: 2, which HOB_BALANCE_POLICY_TABLE requires.
    uint32_t strategy_count;
    /// How it chooses. Default: HOB_BALANCE_POLICY_ACCOUNTS.
    hob_balance_policy policy;
    /// Must be 0.
    uint32_t reserved;
    /// Share of the time that trials may cost: above 0, up to 1. Default: 0.015. Lower: a strategy that becomes the
    /// fastest is found later. HOB_BALANCE_POLICY_TABLE ignores it.
    double trial_share;
    /// Seed of the random numbers. 0 is a value, and the default. The same seed and calls give the same choices.
    uint64_t seed;
} hob_balance_desc;

/// Creates a balance.
/// `desc` may be NULL: two strategies. On success `*out_balance` is the caller's to destroy. Later calls allocate
/// nothing, but for hob_balance_start_recording. Threads: any.
HOB_NODISCARD HOB_EXPERIMENTAL_API hob_result hob_balance_create(
    const hob_balance_desc *desc, hob_balance **out_balance);

/// Destroys a balance; NULL is allowed.
/// It ends a recording. Threads: no call on it may run on another thread. Callbacks: `write` and `release` of the
/// recording.
HOB_EXPERIMENTAL_API void hob_balance_destroy(hob_balance *balance);

// ---- Experimental: Choose and measure -------------------------------------------------------------------------------

/// Chooses the strategy for the next piece of work.
/// In the beginning and after hob_balance_restart, each strategy is chosen twice. A choice need not be measured.
/// Threads: exclusive. Callbacks: `write` of a recording.
HOB_EXPERIMENTAL_API hob_result hob_balance_choose(hob_balance *balance, uint32_t *out_strategy);

/// Reports how long a piece of work took with a strategy, in nanoseconds.
/// Durations may come late and in any order, as those of a GPU do. They need not be of chosen pieces. A duration of 0
/// or of more than an hour is ignored and counted: HOB_RESULT_OK. HOB_RESULT_INVALID_ARGUMENT: it is negative or not
/// finite; it is counted, too. HOB_RESULT_NOT_FOUND: there is no such strategy. Threads: exclusive. Callbacks: `write`
/// of a recording.
///
///     hob_balance_measure(balance, strategy, gpu_ms * 1e6);
HOB_EXPERIMENTAL_API hob_result hob_balance_measure(hob_balance *balance, uint32_t strategy, double duration_ns);

/// Forgets all durations, for a new scene: each strategy is chosen twice, as in the beginning.
/// Counts of the statistics stay. Durations of earlier pieces that come later count for the new scene.
///
/// A balance also finds changes by itself. A strategy in use that becomes slower shows within about 12 pieces of work.
/// Another one that becomes the fastest shows only in its next trials. If it took 1.3 times as long before, that is
/// after about 10 pieces; 4 times: 100; 8 times: 270. Durations that vary by 30 % make it 5 to 13 times as many.
/// Threads: exclusive. Callbacks: `write` of a recording.
HOB_EXPERIMENTAL_API hob_result hob_balance_restart(hob_balance *balance);

// ---- Experimental: Statistics ---------------------------------------------------------------------------------------

/// A strategy as it was measured.
/// An answer: set struct_size, or begin with HOB_BALANCE_STATISTICS_INIT.
typedef struct hob_balance_statistics {
    /// sizeof(hob_balance_statistics).
    uint32_t struct_size;
    /// 1 if it is the fastest strategy as far as is known. 0 for all strategies until one is measured.
    uint32_t is_fastest;
    /// Pieces of work for which it was chosen.
    uint64_t chosen;
    /// Durations that count.
    uint64_t measured;
    /// Durations that were ignored: negative, 0, not finite, or more than an hour.
    uint64_t ignored;
    /// How often its durations changed, as with the scene.
    uint64_t changes;
    /// Its share of the last 128 choices since the last restart: 0 to 1.
    double share;
    /// Mean of its recent durations, in nanoseconds. 0: none since the last restart.
    /// Single long durations count little until there are dozens of durations.
    double mean_ns;
    /// Their standard deviation without single long ones, in nanoseconds.
    double deviation_ns;
} hob_balance_statistics;

/// Gets what is known of a strategy.
/// HOB_RESULT_NOT_FOUND: there is no such strategy. Threads: shared.
HOB_EXPERIMENTAL_API hob_result hob_balance_get_statistics(
    const hob_balance *balance, uint32_t strategy, hob_balance_statistics *out_statistics);

/// Returns the number of strategies; 0 for an invalid handle.
/// Threads: shared.
HOB_NODISCARD HOB_EXPERIMENTAL_API uint32_t hob_balance_strategy_count(const hob_balance *balance);

/// Returns the sentence of this handle's last failed exclusive call.
/// It is empty if none has failed, and valid until the next failure. Threads: shared.
HOB_NODISCARD HOB_EXPERIMENTAL_API const char *hob_balance_last_error(const hob_balance *balance);

// ---- Experimental: Recordings ---------------------------------------------------------------------------------------

/// Records all calls from here on, so that hob_balance_replay can repeat them; docs/formats.md has the format.
/// Call it right after hob_balance_create or hob_balance_restart. After a choice or a duration, or while calls are
/// recorded, the result is HOB_RESULT_UNSUPPORTED.
///
/// `write` receives pieces that together are the recording: 46 bytes at once, then blocks of about 100 pieces of work.
/// The last one comes from hob_balance_stop_recording or hob_balance_destroy. A piece of work takes 10 bytes, and
/// allocates nothing. `release` may be NULL; it is called once, after the end.
///
/// Threads: exclusive. Callbacks: `write` runs inside the calls on this balance, on their thread. Inside it, shared and
/// exclusive functions on this balance return HOB_RESULT_BUSY, and hob_balance_destroy takes effect when the running
/// call returns.
HOB_EXPERIMENTAL_API hob_result hob_balance_start_recording(
    hob_balance *balance, void (*write)(void *user_data, const void *data, size_t size), void *user_data,
    void (*release)(void *user_data));

/// Ends the recording; without one it does nothing.
/// Another one can begin after hob_balance_restart. Threads: exclusive. Callbacks: `write`, then `release`.
HOB_EXPERIMENTAL_API hob_result hob_balance_stop_recording(hob_balance *balance);

/// Why a replay ended.
typedef enum hob_balance_replay_end {
    /// The whole recording was repeated.
    HOB_BALANCE_REPLAY_END_COMPLETE = 0,
    /// As many calls were repeated as were asked for.
    HOB_BALANCE_REPLAY_END_STOPPED = 1,
    /// The recording is cut off: its last block is incomplete or missing.
    HOB_BALANCE_REPLAY_END_TRUNCATED = 2,
    /// The bytes are not what was written.
    HOB_BALANCE_REPLAY_END_DAMAGED = 3,
} hob_balance_replay_end;

/// The outcome of a replay.
/// An answer: set struct_size, or begin with HOB_BALANCE_REPLAY_REPORT_INIT.
typedef struct hob_balance_replay_report {
    /// sizeof(hob_balance_replay_report).
    uint32_t struct_size;
    /// Why it ended.
    hob_balance_replay_end end;
    /// The byte at which it ended; the size of the recording if that is complete.
    uint64_t bytes;
    /// Calls repeated: choices, durations, also ignored ones, and restarts.
    uint64_t calls;
    /// Choices repeated.
    uint64_t choices;
    /// Choices of another strategy than recorded. 0: all are identical.
    uint64_t different;
    /// The call of the first of them, counted from 1; 0: none.
    uint64_t first_different;
    /// The recorded strategy of that call.
    uint32_t recorded;
    /// The replayed one.
    uint32_t replayed;
    /// The version of the library that recorded, as HOB_MAKE_VERSION. Another version may choose differently.
    uint32_t library_version;
    /// 0.
    uint32_t reserved;
} hob_balance_replay_report;

/// Repeats the first `most_calls` calls of a recording, and compares every choice; UINT64_MAX: all calls.
/// `*out_balance` receives a balance as the recorded one was after those calls, and `*out_report` the outcome; either
/// may be NULL. The balance is the caller's to destroy: look at its statistics, or go on with it. Its counts begin with
/// the recording.
///
/// A truncated or damaged recording is repeated up to that point. The result is HOB_RESULT_OK even then, and if choices
/// differ. The same build of the library makes the same choices; another may not. HOB_RESULT_MALFORMED: the bytes are
/// no recording, or its first 46 bytes are cut off or damaged. HOB_RESULT_UNSUPPORTED: the format of another version.
/// Threads: any.
///
///     hob_balance *balance = NULL;                        /* on the customer's machine, after 500 calls */
///     hob_balance_replay(data, size, 500, &balance, NULL);
///     hob_balance_get_statistics(balance, 0, &statistics);
HOB_EXPERIMENTAL_API hob_result hob_balance_replay(
    const void *data, size_t size, uint64_t most_calls, hob_balance **out_balance,
    hob_balance_replay_report *out_report);

// ---- Initialisers ---------------------------------------------------------------------------------------------------
//
// HOB_X_INIT is a hob_x with the library's defaults and this header's size: `hob_x value = HOB_X_INIT;`
// hob_x_init does the same for other languages: `size` is sizeof(hob_x).

HOB_EXPERIMENTAL_API hob_result hob_balance_desc_init(hob_balance_desc *value, uint32_t size);
static inline hob_balance_desc hob_balance_desc_default(void) {
    hob_balance_desc value;
    (void)hob_balance_desc_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_BALANCE_DESC_INIT (hob_balance_desc_default())

HOB_EXPERIMENTAL_API hob_result hob_balance_statistics_init(hob_balance_statistics *value, uint32_t size);
static inline hob_balance_statistics hob_balance_statistics_default(void) {
    hob_balance_statistics value;
    (void)hob_balance_statistics_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_BALANCE_STATISTICS_INIT (hob_balance_statistics_default())

HOB_EXPERIMENTAL_API hob_result hob_balance_replay_report_init(hob_balance_replay_report *value, uint32_t size);
static inline hob_balance_replay_report hob_balance_replay_report_default(void) {
    hob_balance_replay_report value;
    (void)hob_balance_replay_report_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_BALANCE_REPLAY_REPORT_INIT (hob_balance_replay_report_default())

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HOBGOBLIN_BALANCE_H
