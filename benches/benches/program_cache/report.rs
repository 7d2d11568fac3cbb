//! Targets, and whether they are met.

use serde_json::{Value, json};

pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// What was found, held against what is wanted.
pub struct Target {
    what: String,
    found: f64,
    wanted: f64,
    met: bool,
}

impl Target {
    pub fn at_least(what: impl Into<String>, found: f64, wanted: f64) -> Self {
        Self { what: what.into(), found, wanted, met: found >= wanted }
    }

    pub fn at_most(what: impl Into<String>, found: f64, wanted: f64) -> Self {
        Self { what: what.into(), found, wanted, met: found <= wanted }
    }

    pub fn json(&self) -> Value {
        json!({ "what": self.what, "found": self.found, "wanted": self.wanted, "met": self.met })
    }

    pub fn print(&self) {
        let met = if self.met { "met" } else { "MISSED" };
        println!("{:56} {:9.3}  wanted {:7.2}  {met}", self.what, self.found, self.wanted);
    }
}
