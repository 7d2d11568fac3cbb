//! The value of a `hob_knapsack`: the solver for one resource or for several, and the memory limit.

use crate::base::{Error, Result, error};
use crate::knapsack::several::{Answer, Several, Weight};
use crate::knapsack::{Candidate, Knapsack, NO_CHOICE};

/// The memory limit of a knapsack whose desc has none: 1 GiB, which is about four million options of one resource.
pub const DEFAULT_MEMORY_LIMIT: u64 = 1 << 30;

/// A knapsack and the limit it was created with.
pub struct KnapsackCell {
    pub solver: Solver,
    memory_limit: u64,
}

/// The solver for one resource or for several.
#[allow(clippy::large_enum_variant)] // a handle is one piece of memory, taken fallibly
pub enum Solver {
    One { knapsack: Knapsack, scratch: Vec<Candidate> },
    Several(SeveralCell),
}

/// The knapsack of several resources, copies of its input, and the last answer.
pub struct SeveralCell {
    pub several: Several,
    pub resources: usize,
    pub values: Vec<f64>,
    pub weights: Vec<Weight>,
    pub answer: Option<Answer>,
}

impl SeveralCell {
    fn new(resources: usize) -> Result<Self> {
        let mut several = Several::new();
        several.clear(resources)?;
        Ok(Self { several, resources, values: Vec::new(), weights: Vec::new(), answer: None })
    }

    fn reserve(&mut self, settings: usize, options: usize) -> Result<()> {
        let of_one_setting = options.min(usize::from(NO_CHOICE));
        self.values.try_reserve(of_one_setting)?;
        self.weights.try_reserve(of_one_setting * self.resources)?;
        self.several.reserve(settings, options, self.resources)
    }
}

impl KnapsackCell {
    /// Creates a knapsack. If `resource_count` is 0, it has one resource and uses the exact solver.
    pub fn new(resource_count: u32, memory_limit: u64) -> Result<Self> {
        let solver = match resource_count {
            0 => Solver::One { knapsack: Knapsack::new(), scratch: Vec::new() },
            count => Solver::Several(SeveralCell::new(count as usize)?),
        };
        Ok(Self { solver, memory_limit })
    }

    pub fn one(&mut self) -> Result<(&mut Knapsack, &mut Vec<Candidate>)> {
        match &mut self.solver {
            Solver::One { knapsack, scratch } => Ok((knapsack, scratch)),
            Solver::Several(_) => Err(error!(
                Unsupported,
                "this knapsack has a resource_count: use hob_knapsack_add_setting_resources and \
                 hob_knapsack_solve_resources"
            )),
        }
    }

    pub fn several(&mut self) -> Result<&mut SeveralCell> {
        match &mut self.solver {
            Solver::Several(cell) => Ok(cell),
            Solver::One { .. } => Err(without_resources()),
        }
    }

    pub fn choices(&self) -> &[u16] {
        match &self.solver {
            Solver::One { knapsack, .. } => knapsack.choices(),
            Solver::Several(cell) => cell.several.choices(),
        }
    }

    /// Settings and options.
    pub fn counts(&self) -> (usize, usize) {
        match &self.solver {
            Solver::One { knapsack, .. } => (knapsack.setting_count(), knapsack.option_count()),
            Solver::Several(cell) => (cell.several.setting_count(), cell.several.option_count()),
        }
    }

    pub fn memory_used(&self) -> usize {
        let held = match &self.solver {
            Solver::One { knapsack, scratch } => knapsack.memory_used() + scratch.capacity() * size_of::<Candidate>(),
            Solver::Several(cell) => {
                let of_values = cell.values.capacity() * size_of::<f64>();
                cell.several.memory_used() + of_values + cell.weights.capacity() * size_of::<Weight>()
            }
        };
        size_of::<Self>() + held
    }

    /// Upper bounds of the bytes of a setting, of an option and of the solver itself.
    fn rates(&self) -> (usize, usize, usize) {
        match &self.solver {
            Solver::One { .. } => (256, 256, 0),
            Solver::Several(cell) => (768, 320 + 128 * cell.resources, 40_000),
        }
    }

    pub fn reserve(&mut self, settings: usize, options: usize) -> Result<()> {
        self.check_memory(settings, options)?;
        match &mut self.solver {
            Solver::One { knapsack, scratch } => {
                scratch.try_reserve(options.min(usize::from(NO_CHOICE)))?;
                knapsack.reserve(settings, options)
            }
            Solver::Several(cell) => cell.reserve(settings, options),
        }
    }

    fn check_memory(&self, settings: usize, options: usize) -> Result<()> {
        let (per_setting, per_option, fixed) = self.rates();
        let of_settings = settings.saturating_mul(per_setting).saturating_add(fixed);
        let wanted = options.saturating_mul(per_option).saturating_add(of_settings);
        let wanted = wanted.saturating_add(self.memory_used());
        if wanted as u64 > self.memory_limit {
            return Err(error!(
                LimitExceeded,
                "this may take {wanted} bytes in all, beyond the memory limit of {}: raise memory_limit in \
                 hob_knapsack_desc",
                self.memory_limit
            ));
        }
        Ok(())
    }

    /// Checks that a setting of `count` options may be added.
    pub fn check_room(&self, count: u32) -> Result<()> {
        if count > u32::from(NO_CHOICE) {
            return Err(error!(LimitExceeded, "{count} options: a setting can have at most {NO_CHOICE}"));
        }
        let (settings, options) = self.counts();
        self.check_memory(settings + 1, options + count as usize)
    }
}

/// The error of a call that needs a resource_count.
pub fn without_resources() -> Error {
    error!(Unsupported, "this knapsack has no resource_count: set it in hob_knapsack_desc when creating")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Code;

    #[test]
    fn reserving_10_gib_fails_below_the_memory_limit() {
        let options = (10 << 30) / 256;
        for resource_count in [0, 2] {
            let mut knapsack = KnapsackCell::new(resource_count, DEFAULT_MEMORY_LIMIT).unwrap();
            let error = knapsack.reserve(1, options).unwrap_err();
            assert_eq!(error.code(), Code::LimitExceeded);
            assert!(error.sentence().ends_with("raise memory_limit in hob_knapsack_desc"), "{error}");
            assert!(knapsack.memory_used() < 1 << 20, "nothing was taken");
            knapsack.reserve(1000, 10_000).unwrap();
            let mut raised = KnapsackCell::new(resource_count, u64::MAX).unwrap();
            raised.check_memory(1, options).unwrap();
            raised.reserve(1000, 10_000).unwrap();
        }
    }
}
