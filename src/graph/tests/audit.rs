//! The audit of annotations.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::*;
use crate::testing::scaled;

/// A net of 60 honest nodes, and its frame counter. Node `at` is named by its number.
fn honest(seed: u64) -> (Net, Arc<AtomicU64>, Vec<Id>) {
    let mut net = Net::new(Evaluator::Bitset);
    let frame = Arc::new(AtomicU64::new(0));
    let time = {
        let frame = frame.clone();
        net.add("time", Class::Volatile, &[], move |_| frame.load(Relaxed) as f64)
    };
    let user = net.input("user", 1.0);
    let mut nodes = vec![time, user];
    for at in 0..60u64 {
        let pick = |salt: u64| (seed.wrapping_mul(31).wrapping_add(at * 7 + salt * 13) % (at + 2)) as usize;
        // All depend on time, directly or not.
        let first = nodes[pick(1)];
        let inputs = [if first == user { time } else { first }, nodes[pick(2)]];
        nodes.push(net.pure("node", &inputs, |inputs| (inputs[0] + 2.0 * inputs[1]) % 1000.0));
    }
    for &node in &nodes[30..] {
        net.sink(node);
    }
    (net, frame, nodes)
}

/// Frames until the audit finds `node`, and the share of extra runs; at most 200 frames.
fn frames_until_found(net: &mut Net, frame: &AtomicU64, node: Id) -> (Option<u64>, f64) {
    net.graph.set_audit(0.02).unwrap();
    let mut runs = 0;
    let found = (1..=200).find(|&at| {
        frame.store(at, Relaxed);
        runs += net.evaluate().evaluated;
        for finding in net.graph.findings() {
            assert_eq!(finding.node, node, "an honest node is accused");
        }
        !net.graph.findings().is_empty()
    });
    (found, net.graph.audit_runs() as f64 / runs as f64)
}

#[test]
fn audit_finds_liars_and_hidden_links_within_200_frames() {
    let mut slowest = 0;
    for seed in 0..u64::from(scaled(250)) {
        for is_link in [false, true] {
            let (mut net, frame, nodes) = honest(seed);
            let source = nodes[2 + (seed % 50) as usize];
            let hidden = frame.clone();
            // It depends on time, which its class denies, or on a node that none of its inputs names.
            let period = 1 + seed % 10;
            let liar = net.pure("liar", &[source], move |inputs| {
                let frame = hidden.load(Relaxed);
                let hidden = if is_link { frame / period % 2 } else { frame / period };
                inputs[0] + hidden as f64 / 16.0
            });
            net.sink(liar);
            let (found, share) = frames_until_found(&mut net, &frame, liar);
            slowest = slowest.max(found.unwrap_or_else(|| panic!("seed {seed}, {is_link}: not found")));
            assert!(share <= 0.02 + 1e-9, "{share}");
        }
    }
    println!("the slowest took {slowest} frames");
}

#[test]
fn audit_accuses_no_honest_node_and_changes_no_count() {
    for seed in 0..20 {
        let (mut net, frame, nodes) = honest(seed);
        let (mut plain, plain_frame, plain_nodes) = honest(seed);
        net.graph.set_audit(0.5).unwrap();
        for at in 0..100 {
            frame.store(at, Relaxed);
            plain_frame.store(at, Relaxed);
            assert_eq!(net.evaluate(), plain.evaluate());
        }
        assert!(net.graph.findings().is_empty());
        assert!(net.graph.audit_runs() > 0);
        for (&node, &plain_node) in nodes.iter().zip(&plain_nodes) {
            assert_eq!((net.runs(node), net.number(node)), (plain.runs(plain_node), plain.number(plain_node)));
        }
    }
}

#[test]
fn share_of_an_audit_is_checked() {
    let mut net = Net::new(Evaluator::Auto);
    for share in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(net.graph.set_audit(share).unwrap_err().sentence().contains("must be 0 to 1"));
    }
    net.graph.set_audit(0.0).unwrap();
    assert!(net.graph.findings().is_empty());
}
