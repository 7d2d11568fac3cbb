//! Instructions per node of an evaluation through the C API, counted by callgrind, compared with a hand-written loop.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod cost;

use std::path::Path;

const NODES: f64 = 16_384.0;
const FRAMES: u64 = 4;
/// Shape, number of hob_evaluator, its name, and the limit of instructions per node: the count of 2026-11-27 and 10 %.
/// The target is 3 x the loop.
const LIMITS: [(&str, &str, &str, f64); 6] = [
    ("chain", "3", "bitset", 105.0),
    ("chain", "2", "list", 403.0),
    ("chain", "1", "lazy", 745.0),
    ("levels", "3", "bitset", 115.0),
    ("levels", "2", "list", 440.0),
    ("levels", "1", "lazy", 955.0),
];

/// Shape, number of its nodes and links, and the limit of instructions per node or link for building the graph, its plan,
/// the first frame and its end.
const BUILD_LIMITS: [(&str, f64, f64); 2] = [("chain", 32_769.0, 987.0), ("levels", 49_025.0, 829.0)];

/// Small graph, and the limit of instructions of a frame with one changed input, its call of hob_graph_set_input included;
/// of `idle`, nothing has changed. The count of 2026-11-29 and 5 %.
const SMALL_LIMITS: [(&str, f64); 4] = [("idle", 181.0), ("avoidable", 843.0), ("diamond", 1790.0), ("fan-in", 1475.0)];
/// Frames that are not counted, in which the graph learns, and those that are: of these one run of 64 is timed.
const SMALL_FRAMES: (u64, u64) = (200, 1280);

/// Instructions of a run with this number of frames.
fn instructions(program: &Path, shape: &str, evaluator: &str, frames: u64) -> u64 {
    cost::instructions(program, &[shape, evaluator, &frames.to_string()])
}

/// Instructions per node of a frame in which all nodes run. Three frames are not counted: the first one makes the plan, and
/// the graph learns from the others that most nodes run.
fn per_node(program: &Path, shape: &str, evaluator: &str) -> f64 {
    let (few, many) = (instructions(program, shape, evaluator, 3), instructions(program, shape, evaluator, 3 + FRAMES));
    (many - few) as f64 / FRAMES as f64 / NODES
}

#[test]
fn run_of_a_node_through_c_takes_few_instructions() {
    let Some(program) = cost::program("graph") else { return };
    let floors = ["chain", "levels"].map(|shape| (shape, per_node(&program, shape, "loop")));
    let mut too_many = Vec::new();
    for (shape, evaluator, name, most) in LIMITS {
        let floor = floors.iter().find(|(of, _)| *of == shape).map_or(f64::NAN, |(_, floor)| *floor);
        let count = per_node(&program, shape, evaluator);
        eprintln!("{shape}, {name}: {count:.0} instructions per node, {:.1} x the loop's {floor:.0}", count / floor);
        if count > most {
            too_many.push(format!("{shape}, {name}: {count:.0}, at most {most:.0}"));
        }
    }
    for (shape, units, most) in BUILD_LIMITS {
        let of = |evaluator, frames| instructions(&program, shape, evaluator, frames) as f64;
        let (start, built, ran) = (of("loop", 0), of("3", 0), of("3", 1));
        let (build, count) = ((built - start) / units, (ran - start) / units);
        eprintln!("{shape}: {build:.0} instructions per node and link to build, {count:.0} with plan and first frame");
        if count > most {
            too_many.push(format!("{shape}, build and first frame: {count:.0}, at most {most:.0}"));
        }
    }
    for (shape, most) in SMALL_LIMITS {
        let (start, counted) = SMALL_FRAMES;
        let of = |frames| instructions(&program, shape, "0", frames) as f64;
        let count = (of(start + counted) - of(start)) / counted as f64;
        eprintln!("{shape}: {count:.0} instructions per frame");
        if count > most {
            too_many.push(format!("{shape}: {count:.0} per frame, at most {most:.0}"));
        }
    }
    assert!(too_many.is_empty(), "{too_many:?}");
}
