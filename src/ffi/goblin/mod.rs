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
//! hob_setting_id shadows;
//! hob_goblin_add_array(goblin, HOB_STR("shadows"), values, 4, &shadows);
//!
//! for (;;) {
//!     hob_decision decision = HOB_DECISION_INIT;
//!     hob_goblin_update(goblin, &decision);
//!     double ms = render(hob_goblin_choice(goblin, shadows));
//!     /* when the GPU answers, usually frames later: */
//!     hob_goblin_measure(goblin, decision.id, shadows, HOB_LANE_GPU, ms, HOB_SAMPLE_OK);
//! }
//! ```
//!
//! Terms:
//! - Setting: something with several options, such as shadow quality. One option is chosen for each frame.
//! - Value: the worth of an option to the player, in any unit that all settings share.
//! - Burden: the cost of an option in one frame: milliseconds, or MiB of video memory.
//! - Lane: a resource with a limit of its own, such as GPU time or the game thread.
//! - Decision: the choices of one frame. Its id goes with the samples of that frame.
//! - Sample: one measured burden of a setting in one frame. It may arrive frames later.
//! - Total: the measured cost of a whole frame on a lane.
//! - Residual: the part of the totals that no setting accounts for.
//! - Trial: an option that is chosen for one frame to learn its burden.
//! - Task: the name under which burdens are learned and saved; the id of a setting.
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
