//! Targets, and whether they are met.

use serde_json::{Value, json};

pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// A measured figure and its target.
pub struct Target {
    what: &'static str,
    found: f64,
    /// Lowest and highest figure of the rounds.
    range: Option<(f64, f64)>,
    wanted: f64,
    met: bool,
}

impl Target {
    pub fn at_least(what: &'static str, found: f64, wanted: f64) -> Self {
        Self { what, found, range: None, wanted, met: found >= wanted }
    }

    pub fn at_most(what: &'static str, found: f64, wanted: f64) -> Self {
        Self { what, found, range: None, wanted, met: found <= wanted }
    }

    pub fn of(mut self, range: &Value) -> Self {
        self.range = Some((number(&range[0]), number(&range[1])));
        self
    }

    pub fn json(&self) -> Value {
        json!({ "what": self.what, "found": self.found, "range": self.range, "wanted": self.wanted, "met": self.met })
    }

    pub fn print(&self) {
        let met = if self.met { "met" } else { "MISSED" };
        let range = self.range.map_or(String::new(), |(least, most)| format!("{least:.2} to {most:.2}"));
        println!("{:48} {:8.3}  wanted {:5.2}  {met:6}  {range}", self.what, self.found, self.wanted);
    }
}
