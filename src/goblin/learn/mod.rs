//! Learning: the costs of options.
//!
//! Samples and totals come in with the decision of their frame ([`harvest`]). The room owns the estimates of every task
//! ([`task`]), the choices of recent decisions ([`history`]), and the corrections of forecasts ([`calibrate`], [`hold`]).
//! With totals only, a regression or a controller takes the place of samples ([`regression`], [`capacity`]).

pub mod calibrate;
pub mod capacity;
pub mod harvest;
pub mod history;
pub mod hold;
pub mod regression;
pub mod task;
