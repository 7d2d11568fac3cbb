//! Instances with known optima, and the file that the independent check reads.

use std::io::{Read, Write};
use std::path::Path;

use hobgoblin::knapsack::{Candidate, Economy, Solution};
use serde_json::{Value, json};

use crate::scenario::{Instance, Kind};

/// All instances of a file with the value of their optimum; `None` if nothing fits.
pub fn read(path: &Path, kind: Kind) -> Result<Vec<(Instance, Option<f64>)>, String> {
    let name = path.display();
    let file = std::fs::File::open(path).map_err(|error| format!("{name}: {error}"))?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).map_err(|error| format!("{name}: {error}"))?;
    let document: Value = serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
    let instances = document["instances"].as_array().ok_or_else(|| format!("{name}: no instances"))?;
    Ok(instances.iter().map(|instance| question(instance, kind)).collect())
}

fn question(instance: &Value, kind: Kind) -> (Instance, Option<f64>) {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let mean = if kind.sigmas == 0.0 { "burden" } else { "mean" };
    let candidate = |option: &Value| Candidate {
        value: number(&option["value"]),
        mean: number(&option[mean]),
        variance: if kind.sigmas == 0.0 { 0.0 } else { number(&option["variance"]) },
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let settings =
        list(&instance["settings"]).into_iter().map(|options| list(&options).iter().map(candidate).collect());
    let answer = &instance["optimum"][kind.name];
    let question = Instance {
        name: format!("shipped {} seed {}", kind.name, instance["seed"]),
        settings: settings.collect(),
        economy: Economy { capacity: number(&instance["capacity"]), sigmas: kind.sigmas },
    };
    (question, (number(&answer["status"]) != 0.0).then(|| number(&answer["best"])))
}

/// Writes instances with our answers, for `tools/check_knapsack.py`.
pub struct Dump(Vec<Value>);

impl Dump {
    pub fn new() -> Self {
        Self(Vec::new())
    }

    pub fn add(&mut self, instance: &Instance, solution: &Solution, choices: &[u16]) {
        let option =
            |o: &Candidate| json!([o.value, if o.mean.is_finite() { json!(o.mean) } else { json!(null) }, o.variance]);
        let settings: Vec<Vec<_>> =
            instance.settings.iter().map(|options| options.iter().map(option).collect()).collect();
        self.0.push(json!({
            "name": instance.name,
            "settings": settings,
            "capacity": instance.economy.capacity,
            "sigmas": instance.economy.sigmas,
            "choices": choices,
            "feasible": solution.feasible,
            "proven": solution.proven,
            "value": solution.value,
            "burden": solution.burden,
            "upper_bound": solution.upper_bound,
            "price": solution.price,
        }));
    }

    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        let mut file = std::fs::File::create(path)?;
        writeln!(file, "{}", json!({ "format": "hobgoblin knapsack answers 1", "answers": self.0 }))
    }
}
