//! Instructions per pipeline of queries through the C API, counted by callgrind, beside an empty shared call.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod cost;

use std::path::Path;

const PIPELINES: f64 = 1024.0;
const ROUNDS: u64 = 4;
/// A call, and the limit of its instructions per pipeline: the count of 2026-11-26 and 10 %.
const LIMITS: [(&str, f64); 3] = [("query less an empty shared call", 66.0), ("query_many", 66.0), ("graft", 18.0)];

/// Instructions per pipeline of a round. The start of the program is not counted.
fn per_pipeline(program: &Path, call: &str) -> f64 {
    let of = |rounds: u64| cost::instructions(program, &[call, &rounds.to_string()]);
    (of(1 + ROUNDS) - of(1)) as f64 / ROUNDS as f64 / PIPELINES
}

#[test]
fn query_through_c_takes_few_instructions() {
    let Some(program) = cost::program("perception") else { return };
    let [shared, query, many, frame, graft] =
        ["shared", "query", "many", "frame", "graft"].map(|call| per_pipeline(&program, call));
    // The first queries of a frame take results over, and are else like the next ones.
    let counts = [query - shared, many, graft - frame - many];
    eprintln!("an empty shared call: {shared:.1} instructions");
    let mut too_many = Vec::new();
    for ((name, most), count) in LIMITS.iter().zip(counts) {
        eprintln!("{name}: {count:.1} instructions per pipeline");
        if count > *most {
            too_many.push(format!("{name}: {count:.1}, at most {most:.0}"));
        }
    }
    assert!(too_many.is_empty(), "{too_many:?}");
}
