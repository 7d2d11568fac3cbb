//! Graphs as C source, compared with the graph frame by frame.

use std::fmt::Write as _;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::model::Random;
use super::*;
use crate::base::Text;
use crate::testing::scaled;

const NAN: u64 = 0x7ff8_0000_0000_0000;

/// The function of all nodes of a random graph, in Rust and in C. It writes garbage before it asks or fails.
#[derive(Clone, Copy)]
struct Formula {
    salt: u64,
    is_volatile: bool,
    may_fail: bool,
    lazy: u64,
}

fn read(value: Value) -> u64 {
    let number = value.as_number();
    let quarters = if number.is_nan() { 13 } else { (number * 4.0) as u64 };
    quarters + value.0[1]
}

fn quarters(count: u64) -> u64 {
    (count as f64 * 0.25).to_bits()
}

impl Formula {
    fn run(&self, call: &mut Call<'_>, tick: u64) -> Verdict {
        let strict = call.inputs.iter().enumerate().filter(|(at, _)| self.lazy >> at & 1 == 0);
        let mut sum = self.salt + strict.map(|(at, &input)| (at as u64 + 1) * read(input)).sum::<u64>();
        if self.is_volatile {
            sum += tick;
        }
        call.outputs[0] = Value([777, 99]);
        let lazy: Vec<u64> = (0..64).filter(|at| self.lazy >> at & 1 != 0).collect();
        for _ in 0..if lazy.is_empty() { 0 } else { sum % 3 } {
            let at = lazy[(sum / 3) as usize % lazy.len()];
            let wanted = 1 << at | if sum % 7 < 2 { 1 << lazy[0] } else { 0 };
            if wanted & !call.available != 0 {
                return Verdict::Need(wanted | if sum.is_multiple_of(2) { !self.lazy } else { 0 });
            }
            sum += 1 + read(call.inputs[at as usize]);
        }
        if self.may_fail && sum.is_multiple_of(13) {
            return Verdict::Need(!self.lazy | call.available);
        }
        if self.may_fail && sum.is_multiple_of(5) {
            *call.failure = Text::format(format_args!("sum {sum}"));
            return Verdict::Failed;
        }
        let first = if sum.is_multiple_of(11) { NAN } else { quarters(sum % 7) };
        call.outputs[0] = Value([first, sum / 7 % 2]);
        call.outputs[1] = Value([quarters(sum / 3 % 4), sum / 12 % 3 % 2]);
        Verdict::Done
    }
}

const FORMULA: &str = r#"
#include <stdio.h>
typedef struct formula_data { uint64_t salt, is_volatile, may_fail, lazy, runs; } formula_data;
static uint64_t tick;
static uint64_t quarters_of(const hob_value *value) {
    const double number = value->number;
    return (number != number ? 13 : (uint64_t)(number * 4)) + value->words[1];
}
static void write_to(hob_value *value, int is_nan, uint64_t quarters, uint64_t second) {
    value->number = (double)quarters * 0.25;
    if (is_nan) value->words[0] = (uint64_t)0x7ff8 << 48;
    value->words[1] = second;
}
hob_verdict formula(void *user_data, hob_node_call *call) {
    formula_data *data = (formula_data *)user_data;
    uint64_t sum = data->salt, lazy[64], count = 0;
    for (uint32_t i = 0; i < call->input_count; ++i)
        if (!(data->lazy >> i & 1)) sum += (i + 1) * quarters_of(&call->inputs[i]);
    if (data->is_volatile) sum += tick;
    call->outputs[0].words[0] = 777; call->outputs[0].words[1] = 99;
    for (uint32_t i = 0; i < 64; ++i) if (data->lazy >> i & 1) lazy[count++] = i;
    for (uint64_t rest = count ? sum % 3 : 0; rest > 0; --rest) {
        const uint64_t at = lazy[sum / 3 % count];
        const uint64_t wanted = (uint64_t)1 << at | (sum % 7 < 2 ? (uint64_t)1 << lazy[0] : 0);
        if (wanted & ~call->available) {
            call->need = wanted | (sum % 2 == 0 ? ~data->lazy : 0);
            return HOB_VERDICT_NEED;
        }
        sum += 1 + quarters_of(&call->inputs[at]);
    }
    if (data->may_fail && sum % 13 == 0) {
        ++data->runs;
        call->need = ~data->lazy | call->available;
        return HOB_VERDICT_NEED;
    }
    ++data->runs;
    if (data->may_fail && sum % 5 == 0) {
        snprintf(call->message, call->message_capacity, "sum %d", (int)sum);
        return HOB_VERDICT_FAILED;
    }
    write_to(&call->outputs[0], sum % 11 == 0, sum % 7, sum / 7 % 2);
    write_to(&call->outputs[1], 0, sum / 3 % 4, sum / 12 % 3 % 2);
    return HOB_VERDICT_DONE;
}
"#;

const WARNINGS: [&str; 5] = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow"];

/// Compiles C with more arguments, after `WARNINGS`. `None` without a compiler.
pub fn compile(name: &str, source: &str, arguments: &[&str]) -> Option<std::path::PathBuf> {
    let folder = std::env::temp_dir().join(format!("hob_emit_{}_{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, program) = (folder.join("emitted.c"), folder.join("emitted"));
    std::fs::write(&file, source).unwrap();
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/include");
    let compiled = Command::new("cc")
        .args(["-I", include])
        .args(WARNINGS)
        .args(arguments)
        .arg("-o")
        .args([&program, &file])
        .output()
        .ok()?;
    assert!(compiled.status.success(), "{}{}", file.display(), String::from_utf8_lossy(&compiled.stderr));
    Some(program)
}

/// Runs a program on a stack of so many KiB, and removes it. Returns its output.
pub fn run(program: &std::path::Path, stack_kib: u32) -> String {
    let command = format!("ulimit -s {stack_kib} && exec '{}'", program.display());
    let output = Command::new("sh").args(["-c", &command]).output().unwrap();
    assert!(output.status.success(), "{:?} {}", output.status, String::from_utf8_lossy(&output.stderr));
    std::fs::remove_dir_all(program.parent().unwrap()).unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// A random graph, with all cut-offs that C source can have.
struct Case {
    graph: Graph<Closure>,
    formulas: Vec<(Id, Formula)>,
    tick: Arc<AtomicU64>,
}

impl Case {
    fn new(random: &mut Random) -> Self {
        let mut case = Self { graph: Graph::new().unwrap(), formulas: Vec::new(), tick: Arc::default() };
        let mut nodes = Vec::new();
        for _ in 0..4 + random.below(24) {
            nodes.push(case.add(random));
            for _ in 0..3 {
                case.connect(random, &nodes);
            }
        }
        case
    }

    fn output(random: &mut Random) -> Output {
        let cutoff = match random.below(8) {
            0 | 1 => Cutoff::Epsilon(0.25 * random.below(3) as f64),
            2 => Cutoff::Epsilon(f64::INFINITY),
            3 | 4 => Cutoff::Generation,
            5 => Cutoff::Never,
            _ => Cutoff::Bytes,
        };
        Output { cutoff, initial: Self::value(random), ..Output::default() }
    }

    fn value(random: &mut Random) -> Value {
        match random.below(12) {
            0 => Value([NAN, 0]),
            quarter => Value([quarters(quarter as u64 / 3), random.below(2) as u64]),
        }
    }

    fn add(&mut self, random: &mut Random) -> Id {
        let is_input = random.chance(20);
        let inputs: Vec<Input> = (0..if is_input { 0 } else { random.below(5) })
            .map(|_| Input { lazy: random.chance(30), hold: random.chance(35), default: Self::value(random) })
            .collect();
        let lazy = inputs.iter().enumerate().filter(|(_, pin)| pin.lazy).map(|(at, _)| 1 << at).sum();
        let (is_volatile, may_fail) = (!is_input && random.chance(15), random.chance(35));
        let formula = Formula { salt: random.below(50) as u64, is_volatile, may_fail, lazy };
        let class = match (is_input, is_volatile) {
            (true, _) => Class::Input,
            (_, true) => Class::Volatile,
            _ => random.pick(&[Class::Pure, Class::Pure, Class::Pure, Class::Effect, Class::Constant]).unwrap(),
        };
        let name = random.pick(&["", "twin", "two words", "\u{e9}*/"]).unwrap();
        let outputs = [Self::output(random), Self::output(random)];
        let options = NodeOptions {
            name,
            kind: "formula",
            class,
            is_sink: random.chance(20),
            inputs: &inputs,
            outputs: &outputs,
        };
        let tick = self.tick.clone();
        let function = (!is_input).then(|| closure(move |call| formula.run(call, tick.load(Relaxed))).unwrap());
        let id = self.graph.add(&options, function).unwrap();
        if !is_input {
            self.formulas.push((id, formula));
        }
        id
    }

    fn connect(&mut self, random: &mut Random, nodes: &[Id]) {
        let (source, target) = (random.pick(nodes).unwrap(), random.pick(nodes).unwrap());
        let (output, input) = (random.below(2), random.below(5));
        // Pins that do not exist and cycles are refused.
        let _ = match random.chance(20) {
            true => self.graph.connect_feedback(source, output, target, input),
            false => self.graph.connect(source, output, target, input),
        };
    }

    fn evaluate(&mut self, random: &mut Random) -> Summary {
        self.tick.store(random.below(9) as u64, Relaxed);
        let evaluation = Evaluation { evaluator: random.pick(&EVALUATORS).unwrap(), ..Evaluation::default() };
        self.graph.evaluate(&Executor::inline(), evaluation).unwrap()
    }

    /// The same functions under the ids of a baked graph.
    fn baked(&self, share: usize, random: &mut Random) -> (Self, Vec<(Id, Id)>) {
        let is_kept: Vec<bool> = (0..64).map(|_| random.chance(share)).collect();
        let baked = self.graph.bake(|id| is_kept[id.index1 as usize], |function| Ok(function.clone())).unwrap();
        let formula = |&(old, new): &(Id, Id)| {
            self.formulas.iter().find(|(id, _)| *id == old).map(|&(_, formula)| (new, formula))
        };
        let formulas = baked.kept.iter().filter_map(formula).collect();
        (Self { graph: baked.graph, formulas, tick: self.tick.clone() }, baked.kept)
    }
}

/// Two texts: a function of C that prints frames of an emitted graph, and what `reference` has in them.
///
/// `nodes` are those of the source, by their ids in `reference`.
fn frames(prefix: &str, reference: &mut Case, nodes: &[Id], random: &mut Random) -> (String, String) {
    let (mut c, mut expected) = (format!("static void run_{prefix}(void) {{\n    static {prefix} g;\n"), String::new());
    writeln!(c, "    {prefix}_init(&g);").unwrap();
    for (number, id) in nodes.iter().enumerate() {
        if let Some((_, Formula { salt, is_volatile, may_fail, lazy })) =
            reference.formulas.iter().find(|(of, _)| of == id)
        {
            let data = format!("{{{salt}, {}, {}, {lazy}, 0}}", u8::from(*is_volatile), u8::from(*may_fail));
            writeln!(c, "    static formula_data data_{number} = {data}; g.user_data[{number}] = &data_{number};")
                .unwrap();
        }
    }
    let first_runs: Vec<u64> = nodes.iter().map(|&id| reference.graph.runs(id).unwrap()).collect();
    for _ in 0..7 {
        for _ in 0..random.below(4) {
            let Some(&id) = nodes.get(random.below(nodes.len().max(1))) else { continue };
            let number = nodes.iter().position(|other| *other == id).unwrap();
            let (pin, value) = (random.below(3), Case::value(random));
            if random.chance(20) {
                reference.graph.invalidate(id).unwrap();
                writeln!(c, "    {prefix}_invalidate(&g, {number});").unwrap();
            } else {
                let outcome = u8::from(reference.graph.set_input(id, pin, value).is_ok());
                let [first, second] = value.0;
                writeln!(c, "    {{ hob_value v = {{{{0, 0}}}}; v.words[0] = {first}u; v.words[1] = {second}u;")
                    .unwrap();
                writeln!(c, "    check({prefix}_set_input(&g, {number}, {pin}, &v) == HOB_RESULT_OK, {outcome}); }}")
                    .unwrap();
            }
        }
        let summary = reference.evaluate(random);
        writeln!(c, "    tick = {};", reference.tick.load(Relaxed)).unwrap();
        writeln!(c, "    check({prefix}_evaluate(&g) == g.broken, 1);").unwrap();
        writeln!(c, "    printf(\"{prefix} %d %d %d\\n\", (int)g.broken, (int)g.runs, (int)g.requests);").unwrap();
        writeln!(expected, "{prefix} {} {} {}", summary.broken, summary.evaluated, summary.requests).unwrap();
        for (number, &id) in nodes.iter().enumerate() {
            let graph = &reference.graph;
            let has_data = reference.formulas.iter().any(|(of, _)| *of == id);
            let runs = if has_data { format!("(int)data_{number}.runs") } else { "-1".into() };
            writeln!(c, "    {{ hob_value a, b; {prefix}_get_value(&g, {number}, 0, &a); {prefix}_get_value(&g, {number}, 1, &b);").unwrap();
            writeln!(
                c,
                "    print_node({prefix}_is_good(&g, {number}), {runs}, &a, &b, {prefix}_message(&g, {number})); }}"
            )
            .unwrap();
            let failure = graph.failure(id).unwrap();
            let message = failure.filter(|(source, _)| *source == id).map(|(_, message)| message).unwrap_or_default();
            let runs = if has_data { (graph.runs(id).unwrap() - first_runs[number]) as i64 } else { -1 };
            let [Value([a, b]), Value([c, d])] = [0, 1].map(|output| graph.value(id, output).unwrap());
            let is_good = u8::from(failure.is_none());
            writeln!(expected, "{is_good} {runs} {a:x} {b:x} {c:x} {d:x} {}", message.as_str()).unwrap();
        }
    }
    (c + "}\n", expected)
}

const CHECKS: &str = r#"
#include <stdlib.h>
static void check(int actual, int expected) { if (actual != expected) abort(); }
static void print_node(uint32_t is_good, int runs, const hob_value *a, const hob_value *b, const char *message) {
    printf("%d %d %llx %llx %llx %llx %s\n", (int)is_good, runs, (unsigned long long)a->words[0],
           (unsigned long long)a->words[1], (unsigned long long)b->words[0], (unsigned long long)b->words[1], message);
}
"#;

/// The source of a graph, with its frames: fresh, evaluated, or baked.
fn case(seed: u64) -> (String, String, String) {
    let (random, prefix) = (&mut Random(seed), format!("g{seed}"));
    let mut case = Case::new(random);
    for _ in 0..random.below(5) {
        case.evaluate(random);
    }
    let (mut reference, copies) = match seed % 3 {
        // Before its first evaluation.
        0 => {
            case = Case::new(random);
            let nodes = case.graph.emitted_nodes().unwrap();
            (None, nodes.into_iter().map(|id| (id, id)).collect())
        }
        // A graph that has run goes on like its copy with all nodes.
        1 => {
            case.evaluate(random);
            let (baked, copies) = case.baked(100, random);
            (Some(baked), copies)
        }
        _ => {
            case.evaluate(random);
            case = case.baked(30, random).0;
            let nodes = case.graph.emitted_nodes().unwrap();
            (None, nodes.into_iter().map(|id| (id, id)).collect())
        }
    };
    let source = case.graph.emit(&prefix).unwrap();
    let copy = |id: Id| copies.iter().find(|(old, _): &&(Id, Id)| *old == id).expect("it is kept").1;
    let nodes: Vec<Id> = case.graph.emitted_nodes().unwrap().into_iter().map(copy).collect();
    let (c, expected) = frames(&prefix, reference.as_mut().unwrap_or(&mut case), &nodes, random);
    (source, c, expected)
}

#[test]
fn emitted_source_gives_values_runs_and_failures_of_the_graph() {
    let first: u64 = std::env::var("HOB_GRAPH_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let cases = u64::from(scaled(120));
    const PER_PROGRAM: u64 = 60;
    for start in (first..first + cases).step_by(PER_PROGRAM as usize) {
        let (mut sources, mut functions, mut main, mut expected) = <(String, String, String, String)>::default();
        for seed in start..(start + PER_PROGRAM).min(first + cases) {
            let (source, c, frames) = case(seed);
            sources += &source;
            functions += &c;
            writeln!(main, "    run_g{seed}();").unwrap();
            expected += &frames;
        }
        let program = format!("{sources}{FORMULA}{CHECKS}{functions}int main(void) {{\n{main}    return 0;\n}}\n");
        let Some(program) = compile(&format!("random_{start}"), &program, &["-std=c99", "-fsanitize=undefined"]) else {
            return crate::testing::skip("there is no C compiler");
        };
        let printed = run(&program, 8192);
        let mut frame = "";
        for (printed, expected) in printed.lines().zip(expected.lines()) {
            if expected.starts_with('g') {
                frame = expected;
            }
            assert_eq!(printed, expected, "after {frame:?}");
        }
        assert_eq!(printed.lines().count(), expected.lines().count());
    }
}
