//! Experimental: Chooses among strategies for the same work by measured time.
//!
//! A host has several ways to do the same work, such as a full pass or one over what changed. Which is fastest depends
//! on the scene. A balance uses the fastest one, and tries the others now and then, because they may have become
//! faster.
//!
//! ```c
//! hob_balance_desc desc = HOB_BALANCE_DESC_INIT;
//! desc.strategy_count = 2;                            /* 0: everything, 1: only what changed */
//! hob_balance *balance = NULL;
//! if (hob_balance_create(&desc, &balance) != HOB_RESULT_OK) fail(hob_last_error());
//!
//! /* for each piece of work, such as a frame: */
//! uint32_t strategy = 0;
//! hob_balance_choose(balance, &strategy);
//! const double start = now_ns();
//! if (strategy == 0) update_everything(); else update_changes();
//! hob_balance_measure(balance, strategy, now_ns() - start);
//!
//! hob_balance_destroy(balance);
//! ```
//!
//! Terms:
//! - Strategy: one way to do the work. Strategies are counted from 0.
//! - Piece of work: the work of one choice, with one duration. The more alike pieces are, the sooner a balance knows.
//! - Trial: a choice of a strategy that is not known to be the fastest.
//! - Share of trials: the part of the time that trials may cost, in the long run.

mod record;

use std::ffi::c_char;

use hobgoblin_macros::{entry, opaque, open_enum, versioned};

use super::base::guard;
use super::base::handle;
use super::base::result::hob_result;
use super::base::structs::Versioned;
use super::base::user_data::UserData;
use crate::balance::{Balance, MAX_STRATEGIES, Options, Policy, Recorded};
use crate::base::{Code, error};

// == Experimental: Create and destroy ==

/// Durations of strategies, and the next choice.
/// A handle: see "Handles" in base.h.
#[opaque(BalanceCell, tag = b"hobbalan")]
pub struct hob_balance {
    _private: [u8; 0],
}

/// A balance.
pub struct BalanceCell {
    pub recorded: Recorded,
    /// User data of the recording. Released after the balance, which writes the end of the recording.
    pub recording: Option<UserData>,
}

impl BalanceCell {
    pub fn new(balance: Balance) -> Self {
        Self { recorded: Recorded::new(balance), recording: None }
    }
}

/// Most strategies of a balance.
pub const HOB_BALANCE_MAX_STRATEGIES: u32 = 64;
const _: () = assert!(HOB_BALANCE_MAX_STRATEGIES as usize == MAX_STRATEGIES);

/// How a balance chooses.
#[open_enum]
#[repr(C)]
pub enum hob_balance_policy {
    /// The fastest strategy. Trials are paid from `trial_share`: one that takes little longer is tried often, one that
    /// takes four times as long about every 200 pieces of work.
    Accounts = 0,
    /// At random, for two strategies, by the means of their last 20 durations.
    /// The share of the faster one is 50 %, or 75, 90 or 95 % if the other takes 1.15, 1.3 or 1.5 times as long. It
    /// costs 15 % beside a strategy that takes four times as long, and turns slowly.
    Table = 1,
}

/// Parameters of a balance.
#[versioned(size = 32, last = seed)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_balance_desc {
    /// sizeof(hob_balance_desc).
    pub struct_size: u32,
    /// Number of strategies: 1 to HOB_BALANCE_MAX_STRATEGIES. Default: 2, which HOB_BALANCE_POLICY_TABLE requires.
    #[default(2)]
    pub strategy_count: u32,
    /// How it chooses. Default: HOB_BALANCE_POLICY_ACCOUNTS.
    pub policy: hob_balance_policy,
    /// Must be 0.
    pub reserved: u32,
    /// Share of the time that trials may cost: above 0, up to 1. Default: 0.015. Lower: a strategy that becomes the
    /// fastest is found later. HOB_BALANCE_POLICY_TABLE ignores it.
    #[default(Options::TRIAL_SHARE)]
    pub trial_share: f64,
    /// Seed of the random numbers. 0 is a value, and the default. The same seed and calls give the same choices.
    pub seed: u64,
}

/// Creates a balance.
/// `desc` may be NULL: two strategies. On success `*out_balance` is the caller's to destroy. Later calls allocate
/// nothing, but for hob_balance_start_recording. Threads: any.
#[entry(any, nullable(desc), experimental)]
#[must_use]
pub extern "C" fn hob_balance_create(desc: *const hob_balance_desc, out_balance: *mut *mut hob_balance) -> hob_result {
    let desc = desc.unwrap_or_else(hob_balance_desc::defaults);
    let policy = match desc.policy.check("policy")? {
        hob_balance_policy::Table => Policy::Table,
        _ => Policy::Accounts,
    };
    let balance = Balance::new(Options {
        strategies: desc.strategy_count as usize,
        policy,
        trial_share: desc.trial_share,
        seed: desc.seed,
    })?;
    out_balance.write(handle::create(BalanceCell::new(balance))?);
    Ok(())
}

/// Destroys a balance; NULL is allowed.
/// It ends a recording. Threads: no call on it may run on another thread. Callbacks: `write` and `release` of the
/// recording.
#[entry(destroy, experimental)]
pub extern "C" fn hob_balance_destroy(balance: *mut hob_balance) {}

// == Experimental: Choose and measure ==

/// Chooses the strategy for the next piece of work.
/// In the beginning and after hob_balance_restart, each strategy is chosen twice. A choice need not be measured.
/// Threads: exclusive. Callbacks: `write` of a recording.
#[entry(exclusive, hot, experimental)]
pub extern "C" fn hob_balance_choose(balance: *mut hob_balance, out_strategy: *mut u32) -> hob_result {
    out_strategy.write(balance.with(|cell| cell.recorded.choose()) as u32);
    Ok(())
}

/// Reports how long a piece of work took with a strategy, in nanoseconds.
/// Durations may come late and in any order, as those of a GPU do. They need not be of chosen pieces. A duration of 0
/// or of more than an hour is ignored and counted: HOB_RESULT_OK. HOB_RESULT_INVALID_ARGUMENT: it is negative or not
/// finite; it is counted, too. HOB_RESULT_NOT_FOUND: there is no such strategy. Threads: exclusive. Callbacks: `write`
/// of a recording.
///
///     hob_balance_measure(balance, strategy, gpu_ms * 1e6);
#[entry(exclusive, hot, experimental)]
pub extern "C" fn hob_balance_measure(balance: *mut hob_balance, strategy: u32, duration_ns: f64) -> hob_result {
    let measured = balance.with(|cell| cell.recorded.measure(strategy as usize, duration_ns / 1e9));
    match measured {
        Err(why) if why.code() == Code::InvalidArgument => {
            Err(error!(InvalidArgument, "invalid duration_ns {duration_ns}: it must be finite, and at least 0"))
        }
        measured => measured.map(|_| ()),
    }
}

/// Forgets all durations, for a new scene: each strategy is chosen twice, as in the beginning.
/// Counts of the statistics stay. Durations of earlier pieces that come later count for the new scene.
///
/// A balance also finds changes by itself. A strategy in use that becomes slower shows within about 12 pieces of work.
/// Another one that becomes the fastest shows only in its next trials. If it took 1.3 times as long before, that is
/// after about 10 pieces; 4 times: 100; 8 times: 270. Durations that vary by 30 % make it 5 to 13 times as many.
/// Threads: exclusive. Callbacks: `write` of a recording.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_balance_restart(balance: *mut hob_balance) -> hob_result {
    balance.with(|cell| cell.recorded.restart());
    Ok(())
}

// == Experimental: Statistics ==

/// A strategy as it was measured.
/// An answer: set struct_size, or begin with HOB_BALANCE_STATISTICS_INIT.
#[versioned(size = 64, last = deviation_ns)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_balance_statistics {
    /// sizeof(hob_balance_statistics).
    pub struct_size: u32,
    /// 1 if it is the fastest strategy as far as is known. 0 for all strategies until one is measured.
    pub is_fastest: u32,
    /// Pieces of work for which it was chosen.
    pub chosen: u64,
    /// Durations that count.
    pub measured: u64,
    /// Durations that were ignored: negative, 0, not finite, or more than an hour.
    pub ignored: u64,
    /// How often its durations changed, as with the scene.
    pub changes: u64,
    /// Its share of the last 128 choices since the last restart: 0 to 1.
    pub share: f64,
    /// Mean of its recent durations, in nanoseconds. 0: none since the last restart.
    /// Single long durations count little until there are dozens of durations.
    pub mean_ns: f64,
    /// Their standard deviation without single long ones, in nanoseconds.
    pub deviation_ns: f64,
}

/// Gets what is known of a strategy.
/// HOB_RESULT_NOT_FOUND: there is no such strategy. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_balance_get_statistics(
    balance: *const hob_balance,
    strategy: u32,
    out_statistics: *mut hob_balance_statistics,
) -> hob_result {
    let known = balance.recorded.strategy(strategy as usize)?;
    out_statistics.write(hob_balance_statistics {
        is_fastest: u32::from(balance.recorded.balance().fastest() == Some(strategy as usize)),
        chosen: known.chosen,
        measured: known.measured,
        ignored: known.ignored,
        changes: known.changes,
        share: known.share,
        mean_ns: known.mean * 1e9,
        deviation_ns: known.deviation * 1e9,
        ..hob_balance_statistics::defaults()
    });
    Ok(())
}

/// Returns the number of strategies; 0 for an invalid handle.
/// Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_balance_strategy_count(balance: *const hob_balance) -> u32 {
    Ok(balance.recorded.balance().strategies() as u32)
}

/// Returns the sentence of this handle's last failed exclusive call.
/// It is empty if none has failed, and valid until the next failure. Threads: shared.
#[entry(handle, or = guard::last_error(), experimental)]
pub extern "C" fn hob_balance_last_error(balance: *const hob_balance) -> *const c_char {
    Ok(balance.last_error())
}
