//! The work of a solve so far, and its limit.

/// Work done and allowed, in nodes.
#[derive(Debug, Default)]
pub(super) struct Budget {
    pub spent: u64,
    pub limit: u64,
}

impl Budget {
    /// Charge these nodes. Returns whether any budget remains.
    pub fn charge(&mut self, nodes: u64) -> bool {
        self.spent = self.spent.saturating_add(nodes);
        self.spent < self.limit
    }

    /// Charge a pass over this many options.
    pub fn charge_pass(&mut self, options: usize) {
        self.charge(pass(options));
    }

    /// Allow at least this many nodes more.
    pub fn leave(&mut self, nodes: u64) {
        self.limit = self.limit.max(self.spent.saturating_add(nodes));
    }

    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.spent)
    }
}

/// Nodes of a pass over this many options.
pub(super) fn pass(options: usize) -> u64 {
    1 + options as u64 / 64
}
