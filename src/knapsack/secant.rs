//! Replaces the deviation by a linear function over an interval.
//!
//! Let the total deviation `t = sqrt(variance)` of an answer lie in `[lo, hi]`. There the square root is at least its
//! secant, `t >= (variance + lo * hi) / (lo + hi)`. So every answer of the interval that fits also satisfies
//! `mean + theta * variance <= room` with `theta = sigmas / (lo + hi)`. This is a scalar knapsack whose bound holds for
//! the interval. The tangent at the middle has the same slope. It gives the same scalar knapsack with a room smaller by
//! `spread`, which admits only answers that fit. `spread` is the greatest loss by the secant, and shrinks with the
//! square of the interval. Answers found outside the interval are checked against the true burden and accepted too.

use super::incumbent::Case;

/// Deviations from `lo` to `hi`. No answer in this interval is worth more than `bound`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    pub lo: f64,
    pub hi: f64,
    pub bound: f64,
}

/// A scalar knapsack: `mean + theta * variance <= room`, in the numbers of the reduced problem.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linear {
    pub theta: f64,
    pub room: f64,
    /// Overdrafts of the room up to this count as rounding.
    pub tolerance: f64,
    pub spread: f64,
    /// Steepest and shallowest price of variance at which answers of the interval trade it against mean, see
    /// [`super::lists`]. The steepest is kept as its inverse, because it may be infinite.
    pub theta_of_hi: f64,
    pub inverse_theta_of_lo: f64,
}

/// Ends are moved outwards by this fraction, so that rounding leaves no deviation outside.
const MARGIN: f64 = 1e-12;

/// The interval that holds every deviation that an answer can have.
pub(super) fn whole(case: &Case) -> Interval {
    let (limit, problem) = (case.limit, case.problem);
    if limit.sigmas == 0.0 {
        return Interval { lo: 0.0, hi: 0.0, bound: f64::INFINITY };
    }
    let lo = problem.base.variance.sqrt() * (1.0 - MARGIN);
    let most = (problem.base.variance + problem.variance_range).sqrt();
    // Means are at least the least ones, so the deviation can be at most this.
    let affordable = (limit.capacity + limit.tolerance - problem.base.mean) / limit.sigmas;
    let hi = most.min(affordable).max(lo) * (1.0 + MARGIN);
    Interval { lo, hi, bound: f64::INFINITY }
}

impl Linear {
    /// The tangent in the middle of the interval.
    pub fn tangent(&self) -> Self {
        Self { room: self.room - self.spread, spread: 0.0, ..*self }
    }
}

impl Interval {
    pub fn linear(&self, case: &Case) -> Linear {
        let (limit, base) = (case.limit, case.problem.base);
        let room = limit.capacity - base.mean;
        let tolerance = 0.5 * limit.tolerance;
        let sum = self.lo + self.hi;
        if limit.sigmas == 0.0 || sum == 0.0 {
            return Linear { theta: 0.0, room, tolerance, spread: 0.0, theta_of_hi: 0.0, inverse_theta_of_lo: 0.0 };
        }
        let theta = limit.sigmas / sum;
        let width = self.hi - self.lo;
        Linear {
            theta,
            room: room - theta * (base.variance + self.lo * self.hi),
            tolerance,
            spread: 0.25 * theta * width * width,
            theta_of_hi: 0.5 * limit.sigmas / self.hi,
            inverse_theta_of_lo: 2.0 * self.lo.max(0.0) / limit.sigmas,
        }
    }

    /// Whether a bound is known.
    pub fn is_relaxed(&self) -> bool {
        self.bound < f64::INFINITY
    }

    /// An interval of one deviation. Its linear constraint is a tangent, and admits only answers that fit.
    pub fn only(deviation: f64) -> Self {
        Self { lo: deviation, hi: deviation, bound: 0.0 }
    }

    /// Deviations no farther than `width` from this one. The secant has the slope of the tangent in the middle, to the
    /// last bit where rounding allows. It may begin below 0, where no deviation exists: a secant from there is also
    /// below the root.
    pub fn around(deviation: f64, width: f64) -> Self {
        let hi = deviation + width;
        Self { lo: deviation - (hi - deviation), hi, bound: 0.0 }
    }

    /// The rest of the interval below and above a part of it.
    pub fn without(&self, part: &Interval) -> [Option<Interval>; 2] {
        let rest = |lo: f64, hi: f64| (lo < hi).then_some(Interval { lo, hi, bound: self.bound });
        [rest(self.lo, part.lo.min(self.hi)), rest(part.hi.max(self.lo), self.hi)]
    }

    /// Parts of the interval, the most promising last. Usually a part of about `width` around `deviation`, and the rest
    /// on both sides. If the interval is not much wider than `width`, two parts, divided near `deviation` but not too
    /// near to an end.
    pub fn split(&self, deviation: f64, width: f64, bound: f64) -> [Option<Interval>; 3] {
        let part = |lo: f64, hi: f64| (lo < hi).then_some(Interval { lo, hi, bound });
        let whole = self.hi - self.lo;
        if width > 0.4 * whole {
            let middle = deviation.max(self.lo + 0.2 * whole).min(self.hi - 0.2 * whole);
            return [None, part(self.lo, middle), part(middle, self.hi)];
        }
        let width = width.max(1e-3 * whole);
        let deviation = deviation.max(self.lo + 0.5 * width).min(self.hi - 0.5 * width);
        let snap = |side: f64, end: f64| if (side - end).abs() < 0.25 * width { end } else { side };
        let left = snap(deviation - 0.5 * width, self.lo);
        let right = snap(deviation + 0.5 * width, self.hi);
        [part(self.lo, left), part(right, self.hi), part(left, right)]
    }

    /// Too narrow to split: rounding would dominate.
    pub fn is_narrow(&self) -> bool {
        self.hi - self.lo <= 1e-7 * self.hi
    }
}
