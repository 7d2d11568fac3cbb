//! The goblin keeps a frame inside its budget: settings in, choices out, every frame.
//!
//! It learns what each option of each quality setting costs, and picks the options of greatest total value that fit.
//!
//! ```c
//! hob_goblin_desc desc = HOB_GOBLIN_DESC_INIT;
//! desc.lanes[HOB_LANE_GPU].limit = 16.6;                  /* milliseconds */
//! desc.overrun_probability = 0.01;                        /* one frame in a hundred may be late */
//! hob_goblin *goblin = NULL;
//! if (hob_goblin_create(&desc, &goblin) != HOB_RESULT_OK) fail(hob_last_error());
//!
//! const double values[] = {0, 4, 6, 7};                   /* off, low, medium, high */
//! hob_setting_id shadows = {0, 0};
//! if (hob_goblin_add_array(goblin, HOB_STR("shadows"), values, 4, &shadows) != HOB_RESULT_OK)
//!     fail(hob_last_error());
//!
//! struct { uint64_t decision_id; gpu_timer timer; } frames[4];         /* in flight on the GPU */
//! for (unsigned n = 0;; ++n) {
//!     if (n >= 4) {                                       /* the timer of four frames ago has its result */
//!         double ms = read_timer(frames[n % 4].timer);
//!         hob_goblin_measure(goblin, frames[n % 4].decision_id, shadows, HOB_LANE_GPU, ms, HOB_SAMPLE_QUALITY_OK);
//!     }
//!     hob_decision decision = HOB_DECISION_INIT;
//!     if (hob_goblin_update(goblin, &decision) != HOB_RESULT_OK) log(hob_last_error());
//!     frames[n % 4].decision_id = decision.id;
//!     frames[n % 4].timer = draw_shadows(hob_goblin_choice(goblin, shadows));
//! }
//! ```
//!
//! Terms:
//! - Setting: something with several options, such as shadow quality. One option is chosen for each frame.
//! - Value: the worth of an option to the player, in any unit that all settings share. Higher is better; values add up.
//! - Burden: the cost of an option in one frame: milliseconds, or MiB of video memory.
//! - Lane: a resource that can have a limit of its own, such as GPU time or the game thread. With a limit it is
//!   governed.
//! - First lane: the lane with a limit that has the lowest number of hob_lane.
//! - Decision: the choices of one frame. Pass its id with the samples of that frame.
//! - Sample: one measured burden of a setting in one frame. It may arrive frames later.
//! - Total: the measured cost of a whole frame on a lane.
//! - Residual: the part of the totals that no setting accounts for.
//! - Learning phase: the first 18 seconds of a setting with samples; see hob_goblin_desc.changes_per_second.
//! - Trial: an option that is chosen to learn its burden: for a frame, and after the learning phase for up to a second.
//! - Task: the name under which burdens are learned and saved; the id of a setting.
//! - Strategy: an alternative set of limits, such as those of 30 frames a second.
//! - Product: one setting that stands for all combinations of several.
//! - Sigmas: the safety margin, in standard deviations of the total burden.
//! - Voluntary change: one for more value or for a trial, while the present choices still fit. All others are forced.
//! - Trim: a setting that takes up the last slack of every frame, such as dynamic resolution.

pub mod ids;
pub mod create;
pub mod frame;
pub mod setting_desc;
pub mod setting;
pub mod tuning;
pub mod control;
pub mod query;
pub mod profile;
pub mod product;
pub mod strategy;
pub mod record;

mod cell;
