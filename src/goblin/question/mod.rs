//! The question of a frame: which options there are, and what each is worth and costs.
//!
//! The room owns the settings as the host describes them ([`setting`], [`product`]), and the strategies ([`strategy`]).
//! It turns them and the estimates into a multiple-choice knapsack ([`formulate`]).

pub mod formulate;
pub mod product;
pub mod setting;
pub mod settings;
pub mod strategy;
