//! Graphs that are edited while they run: one edit per frame, and new plans.

use hobgoblin_bench::random::Random;
use hobgoblin_bench::timing::{median, quantile, thread_nanoseconds};

use crate::c_api::{Api, Evaluator, Graph, NodeId, Pool};
use crate::shapes::Op;

const GROUPS: usize = 1000;
const GROUP_NODES: usize = 100;
const SEED: u64 = 1;

/// Groups of nodes. Each node reads two earlier nodes of its group, and the last one is a sink.
struct Edited<'a> {
    graph: Graph<'a>,
    /// The value of the group first.
    groups: Vec<Vec<NodeId>>,
    /// By node, after the first of its group: the two nodes that it reads.
    sources: Vec<Vec<[usize; 2]>>,
    /// Nodes that were inserted into a link: the group, the reader and its input, and the node.
    inserted: Vec<(usize, usize, usize, NodeId)>,
    op: Op,
    /// Edits are at the node in the middle of a group, so all reach the same number of nodes. Otherwise at any node.
    is_in_middle: bool,
}

impl<'a> Edited<'a> {
    fn new(api: &'a Api, op: Op, is_in_middle: bool, random: &mut Random) -> Self {
        let mut graph = Graph::new(api);
        let (mut groups, mut all_sources) = (Vec::new(), Vec::new());
        for number in 0..GROUPS {
            let mut nodes = vec![graph.add_input()];
            graph.set_input(nodes[0], number as u64 + 1);
            let mut sources = Vec::new();
            for at in 1..GROUP_NODES {
                let read = [random.below(at), at - 1];
                let node = graph.add(op, 2, &0);
                (0..2).for_each(|input| graph.connect(nodes[read[input]], node, input as u32));
                nodes.push(node);
                sources.push(read);
            }
            graph.set_sink(nodes[GROUP_NODES - 1]);
            groups.push(nodes);
            all_sources.push(sources);
        }
        Self { graph, groups, sources: all_sources, inserted: Vec::new(), op, is_in_middle }
    }

    /// Inserts a node into a link, removes such a node, or lets a node read another one.
    fn edit(&mut self, random: &mut Random) {
        let group = random.below(GROUPS);
        let reader = if self.is_in_middle { GROUP_NODES / 2 } else { 1 + random.below(GROUP_NODES - 1) };
        let kind = random.below(3);
        if kind == 0 && self.inserted.len() < 64 {
            let node = self.graph.add(Op::Sum, 1, &0);
            let source = self.groups[group][self.sources[group][reader - 1][0]];
            self.graph.connect(source, node, 0);
            self.graph.connect(node, self.groups[group][reader], 0);
            // The link may have had such a node already.
            self.inserted.push((group, reader, 0, node));
        } else if kind == 1 && !self.inserted.is_empty() {
            let (group, reader, input, node) = self.inserted.swap_remove(random.below(self.inserted.len()));
            let source = self.groups[group][self.sources[group][reader - 1][input]];
            self.graph.connect(source, self.groups[group][reader], input as u32);
            self.graph.remove(node);
        } else {
            let source = random.below(reader);
            self.sources[group][reader - 1][0] = source;
            self.graph.connect(self.groups[group][source], self.groups[group][reader], 0);
        }
    }

    /// Edits and evaluates so many times, and prints the times and counts of the frames.
    fn run(mut self, frames: usize, pool: Option<&Pool<'_>>, random: &mut Random) {
        for _ in 0..4 {
            self.graph.frame(pool);
            pool.inspect(|pool| pool.wait_idle());
        }
        let (mut edits, mut evaluations, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        let mut memory = Vec::new();
        for frame in 0..frames {
            edits.push(thread_nanoseconds(|| self.edit(random)) / 1e3);
            let mut summary = crate::c_api::Summary::default();
            evaluations.push(thread_nanoseconds(|| summary = self.graph.evaluate(Evaluator::Auto, pool)) / 1e3);
            seen.push((summary.runs + summary.examined_inputs) as f64);
            if frame + 1 == frames / 10 || frame + 1 == frames {
                pool.inspect(|pool| pool.wait_idle());
                memory.push(self.graph.statistics().memory_used);
            }
        }
        let sums: Vec<f64> = edits.iter().zip(&evaluations).map(|(edit, evaluation)| edit + evaluation).collect();
        let row = |samples: &[f64]| [median(samples), quantile(samples, 0.95), quantile(samples, 1.0)];
        let ([e, e95, _], [v, v95, _], [f, f95, f100], [n, n95, n100]) =
            (row(&edits), row(&evaluations), row(&sums), row(&seen));
        let name = match (self.op, self.is_in_middle) {
            (_, true) => "equal reach",
            (Op::Zero, _) => "equal values",
            _ => "other values",
        };
        let background = if pool.is_some() { "background thread" } else { "no executor" };
        println!(
            "{name}, {background:<18} edit {e:.2} / {e95:.2} us; frame {v:.2} / {v95:.2} us, {:.2} x; both {f:.2} / {f95:.2} us, \
             p95 is {:.2} x the median, most {f100:.0} us",
            v95 / v,
            f95 / f
        );
        println!(
            "{:<32} nodes run and inputs examined {n:.0} / {n95:.0}, most {n100:.0}; memory {} bytes, {:+} from edit {} to {frames}",
            "",
            memory[1],
            memory[1] as i64 - memory[0] as i64,
            frames / 10,
        );
        if !self.is_in_middle {
            print_by_reach(&seen, &sums);
        }
    }
}

/// Prints a fixed part and a part per node of the times of frames, and the spread of the times against their sum.
fn print_by_reach(seen: &[f64], times: &[f64]) {
    let (low, middle, high) = (quantile(seen, 0.25), median(seen), quantile(seen, 0.75));
    let times_where = |holds: &dyn Fn(f64) -> bool| -> Vec<f64> {
        seen.iter().zip(times).filter(|(count, _)| holds(**count)).map(|(_, time)| *time).collect()
    };
    let mean_count = |holds: &dyn Fn(f64) -> bool| {
        let counts: Vec<f64> = seen.iter().copied().filter(|count| holds(*count)).collect();
        counts.iter().sum::<f64>() / counts.len() as f64
    };
    let (is_low, is_high) = (|count: f64| count <= low, |count: f64| count >= high);
    let (below, above) = (median(&times_where(&is_low)), median(&times_where(&is_high)));
    let per_node = (above - below) / (mean_count(&is_high) - mean_count(&is_low));
    let fixed = below - per_node * mean_count(&is_low);
    let scaled: Vec<f64> = seen.iter().zip(times).map(|(count, time)| time / (fixed + per_node * count)).collect();
    let alike = times_where(&|count| (count - middle).abs() <= middle / 10.0);
    let spread = |samples: &[f64]| quantile(samples, 0.95) / median(samples);
    println!(
        "{:<32} {fixed:.2} us and {:.0} ns per node or input; p95 is {:.2} x the median of the time against that, and {:.2} x in \
         the {} frames whose count is within 10 % of the median",
        "",
        per_node * 1e3,
        spread(&scaled),
        spread(&alike),
        alike.len()
    );
}

/// Print the table of a graph that is edited in each frame.
pub fn print(api: &Api, frames: usize) {
    println!(
        "\n{} nodes, an edit in each of {frames} frames (insert, remove or rewire, seed {SEED}): p50 / p95 of processor time",
        GROUPS * GROUP_NODES
    );
    for (op, is_in_middle) in [(Op::Zero, false), (Op::Mix, false), (Op::Zero, true)] {
        let edited = || Edited::new(api, op, is_in_middle, &mut Random(SEED));
        edited().run(frames, None, &mut Random(SEED));
        let pool = Pool::new(api, 0);
        edited().run(frames, Some(&pool), &mut Random(SEED));
    }
}

/// MT19937 by Matsumoto and Nishimura.
struct Mersenne {
    state: [u32; 624],
    at: usize,
}

impl Mersenne {
    fn new(seed: u32) -> Self {
        let mut state = [seed; 624];
        for at in 1..624 {
            let before = state[at - 1];
            state[at] = (before ^ (before >> 30)).wrapping_mul(1_812_433_253).wrapping_add(at as u32);
        }
        Self { state, at: 624 }
    }

    fn next(&mut self) -> u32 {
        if self.at == 624 {
            for at in 0..624 {
                let mixed = (self.state[at] & 0x8000_0000) | (self.state[(at + 1) % 624] & 0x7FFF_FFFF);
                let twist = if mixed & 1 == 0 { 0 } else { 0x9908_B0DF };
                self.state[at] = self.state[(at + 397) % 624] ^ (mixed >> 1) ^ twist;
            }
            self.at = 0;
        }
        let mut bits = self.state[self.at];
        self.at += 1;
        bits ^= bits >> 11;
        bits ^= (bits << 7) & 0x9D2C_5680;
        bits ^= (bits << 15) & 0xEFC6_0000;
        bits ^ (bits >> 18)
    }

    fn below(&mut self, limit: usize) -> usize {
        ((u64::from(self.next()) * limit as u64) >> 32) as usize
    }
}

/// The network of OpenUSD's testVdfScheduling_Perf: 25,000 movers in a chain, each with a source of its own and a link
/// to a random mover before it. There are no masks here, so the pool is one value, and its 1,000 requests are one sink.
pub fn network(api: &Api, rebuilds: usize) {
    const MOVERS: usize = 25_000;
    let mut random = Mersenne::new(0);
    assert_eq!(random.next(), 2_357_136_044, "the first number of seed 0 is known");
    let mut graph = Graph::new(api);
    let mut movers: Vec<NodeId> = Vec::new();
    let build = thread_nanoseconds(|| {
        for at in 0..MOVERS {
            let source = graph.add(Op::Sum, 0, &0);
            let mover = graph.add(Op::Zero, 3, &0);
            graph.connect(source, mover, 0);
            if at > 0 {
                graph.connect(movers[random.below(at)], mover, 1);
                graph.connect(movers[at - 1], mover, 2);
            }
            movers.push(mover);
        }
        graph.set_sink(movers[MOVERS - 1]);
    });
    let first = thread_nanoseconds(|| _ = graph.evaluate(Evaluator::Bitset, None));
    let statistics = graph.statistics();
    let unit = (statistics.nodes + statistics.links) as f64;
    let mut samples = Vec::new();
    for _ in 0..rebuilds {
        let mover = 1 + random.below(MOVERS - 1);
        graph.connect(movers[random.below(mover)], movers[mover], 1);
        // The values stay equal, so at most one node runs beside the new plan.
        samples.push(thread_nanoseconds(|| assert!(graph.evaluate(Evaluator::Bitset, None).runs <= 1)) / unit);
    }
    println!(
        "\nnetwork of {} nodes and {} links, ns per node and link: build {:.1}, plan and first run {:.1}, new plan after an \
         edit {:.1} / {:.1} (p50 / p95 of {rebuilds}); target: at most 50",
        statistics.nodes,
        statistics.links,
        build / unit,
        first / unit,
        median(&samples),
        quantile(&samples, 0.95)
    );
}
