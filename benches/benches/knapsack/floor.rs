//! The floor: one scoring pass over all options, as fast as we can write it.
//!
//! Single precision. Groups of eight classes of similar size, with the options of a group interleaved. Eight classes
//! find their best option at once and without a branch. No solver can look at every option in less.

use crate::scenario::Instance;

const LANES: usize = 8;

#[derive(Clone, Copy)]
struct Row {
    value: [f32; LANES],
    mean: [f32; LANES],
    variance: [f32; LANES],
}

pub struct Floor {
    rows: Vec<Row>,
    ends: Vec<usize>,
}

impl Floor {
    pub fn new(instance: &Instance) -> Self {
        let mut order: Vec<_> = instance.settings.iter().filter(|options| !options.is_empty()).collect();
        order.sort_by_key(|options| std::cmp::Reverse(options.len()));
        let mut floor = Self { rows: Vec::new(), ends: Vec::new() };
        for group in order.chunks(LANES) {
            for level in 0..group[0].len() {
                let mut row = Row { value: [f32::NEG_INFINITY; LANES], mean: [0.0; LANES], variance: [0.0; LANES] };
                for (lane, options) in group.iter().enumerate() {
                    if let Some(option) = options.get(level) {
                        row.value[lane] = option.value as f32;
                        row.mean[lane] = option.mean as f32;
                        // Denormal numbers would make the floor slow.
                        row.variance[lane] = if option.variance < 1e-30 { 0.0 } else { option.variance as f32 };
                    }
                }
                floor.rows.push(row);
            }
            floor.ends.push(floor.rows.len());
        }
        floor
    }

    /// The sum over all classes of their best score.
    pub fn pass(&self, mean_price: f32, variance_price: f32) -> f32 {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { pass_avx2(self, mean_price, variance_price) };
        }
        pass(self, mean_price, variance_price)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn pass_avx2(floor: &Floor, mean_price: f32, variance_price: f32) -> f32 {
    pass(floor, mean_price, variance_price)
}

#[inline(always)]
#[allow(clippy::needless_range_loop)] // the compiler vectorises it lane by lane
fn pass(floor: &Floor, mean_price: f32, variance_price: f32) -> f32 {
    let mut sum = [0.0_f32; LANES];
    let mut start = 0;
    for &end in &floor.ends {
        let mut best = [f32::NEG_INFINITY; LANES];
        for row in &floor.rows[start..end] {
            for lane in 0..LANES {
                let score = row.value[lane] - mean_price * row.mean[lane] - variance_price * row.variance[lane];
                best[lane] = if score > best[lane] { score } else { best[lane] };
            }
        }
        for lane in 0..LANES {
            sum[lane] += if best[lane] > f32::NEG_INFINITY { best[lane] } else { 0.0 };
        }
        start = end;
    }
    sum.iter().sum()
}
