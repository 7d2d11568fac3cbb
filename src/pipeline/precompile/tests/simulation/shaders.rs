//! Builds until every distinct shader is built.

use std::collections::HashSet;

use super::super::{Entry, Mode, Options, Order, Outcome, Pace, Paces, PipelineKey, Precompiler, ShaderHash};
use super::random::Random;

/// The result of building all pipelines.
#[derive(Clone, Copy, Debug, Default)]
pub struct Covered {
    pub pipelines: usize,
    /// Distinct shaders.
    pub shaders: usize,
    /// Builds until each shader was built once.
    pub builds: usize,
}

/// Pipelines of a vertex shader and a pixel shader. Few vertex shaders are used by many pipelines.
pub fn random_pairs(seed: u64) -> Vec<(u16, u16)> {
    let mut random = Random(seed);
    (0..3000).map(|_| ((300.0 * random.share().powi(3)) as u16, (900.0 * random.share().powi(2)) as u16)).collect()
}

fn hash(stage: u8, number: u16) -> ShaderHash {
    let mut hash = ShaderHash([stage; 20]);
    hash.0[..2].copy_from_slice(&number.to_le_bytes());
    hash
}

/// Build pipelines of two shaders each. Each fifth job is cancelled, and comes again.
pub fn cover(shaders_first: bool, pairs: &[(u16, u16)]) -> Covered {
    let pace = Pace { batch: 0, time_us: 0 };
    let paces = Paces { background: pace, ..Paces::default() };
    let options = Options { mode: Mode::Background, order: Order::File, paces, shaders_first, ..Options::default() };
    let precompiler = Precompiler::new(options).expect("memory");
    let shaders: Vec<[ShaderHash; 2]> = pairs.iter().map(|&(one, other)| [hash(1, one), hash(2, other)]).collect();
    let mut missing: HashSet<ShaderHash> = HashSet::new();
    for (number, shaders) in shaders.iter().enumerate() {
        missing.extend(shaders);
        let key = PipelineKey::of(&(number as u64).to_le_bytes());
        precompiler.add(&Entry { key, shaders, ..Entry::default() }).expect("memory");
    }
    let mut covered = Covered { shaders: missing.len(), ..Covered::default() };
    precompiler.step(None);
    while let Some(job) = precompiler.take() {
        if job.ticket % 5 == 0 {
            precompiler.finish(&job, Outcome::Cancelled, 0).expect("it runs");
            continue;
        }
        precompiler.finish(&job, Outcome::Ok, 1).expect("it runs");
        covered.pipelines += 1;
        covered.builds += usize::from(!missing.is_empty());
        shaders[job.index as usize].iter().for_each(|hash| _ = missing.remove(hash));
    }
    covered
}
