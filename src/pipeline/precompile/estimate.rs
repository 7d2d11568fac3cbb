//! Expected build times: recorded ones, scaled to this machine, or the mean of the kind.

use crate::pipeline::PipelineKind;

#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    builds: u64,
    took_us: u64,
    /// Of builds with a recorded time.
    compared_us: u64,
    recorded_us: u64,
}

/// Measured build times by kind of pipeline.
#[derive(Debug, Default)]
pub struct Estimates([Kind; PipelineKind::ALL.len()]);

impl Estimates {
    /// Add a measured build. `recorded_us` 0: no time was recorded.
    pub fn add(&mut self, kind: PipelineKind, recorded_us: u64, took_us: u64) {
        let kind = &mut self.0[kind as usize];
        kind.builds += 1;
        kind.took_us = kind.took_us.saturating_add(took_us);
        if recorded_us > 0 {
            kind.recorded_us = kind.recorded_us.saturating_add(recorded_us);
            kind.compared_us = kind.compared_us.saturating_add(took_us);
        }
    }

    /// The expected time of a build in microseconds. 0: unknown.
    pub fn expected_us(&self, kind: PipelineKind, recorded_us: u64) -> u64 {
        let kind = &self.0[kind as usize];
        match recorded_us {
            0 => kind.took_us.checked_div(kind.builds).unwrap_or(0),
            recorded if kind.recorded_us == 0 => recorded,
            recorded => (u128::from(recorded) * u128::from(kind.compared_us) / u128::from(kind.recorded_us))
                .try_into()
                .unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_times_are_scaled_to_this_machine() {
        let (graphics, compute) = (PipelineKind::Graphics, PipelineKind::Compute);
        let mut estimates = Estimates::default();
        assert_eq!((estimates.expected_us(graphics, 0), estimates.expected_us(graphics, 500)), (0, 500));
        estimates.add(graphics, 1000, 3000);
        estimates.add(graphics, 0, 9000);
        assert_eq!((estimates.expected_us(graphics, 0), estimates.expected_us(graphics, 500)), (6000, 1500));
        assert_eq!(estimates.expected_us(compute, 500), 500);
    }
}
