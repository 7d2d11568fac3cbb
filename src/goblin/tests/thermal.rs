//! A device that warms up: its costs rise slowly, and it throttles when it is too hot.

use super::*;

const SECOND: u64 = 60;
const LIMIT: f64 = 12.0;
/// Value and cost of an option in proportion to those of other settings.
const STEPS: [f64; 6] = [3.0, 1.0, 2.0, 0.5, 0.75, 1.25];

/// A machine whose costs rise with its heat. The load heats it, and at a heat of 1 it throttles.
struct Device {
    machine: Machine,
    heat: f64,
    /// The heat that full load leads to, and the seconds in which it changes.
    full_load: f64,
    seconds: f64,
    throttled: u64,
    hottest: f64,
}

impl Device {
    fn new(goblin: &mut Goblin, full_load: f64) -> Self {
        let mut machine = Machine::new(0);
        for (at, steps) in STEPS.into_iter().enumerate() {
            let options: Vec<(f64, f64)> =
                (0..5).map(|step| (f64::from(step).sqrt() * steps, 0.2 + 0.5 * f64::from(step) * steps)).collect();
            machine.add(goblin, &format!("setting {at}"), &options);
        }
        Self { machine, heat: 0.3, full_load, seconds: 120.0, throttled: 0, hottest: 0.0 }
    }

    /// A frame; costs are 1 to 1.15 times as much, by heat, and 1.5 times as much while it throttles.
    fn frame(&mut self, goblin: &mut Goblin, limit: f64) -> (Decision, f64) {
        let decision = goblin.update().unwrap();
        let is_throttled = self.heat >= 1.0;
        let factor = (1.0 + 0.15 * self.heat) * if is_throttled { 1.5 } else { 1.0 };
        let mut total = 0.0;
        for at in 0..self.machine.costs.len() {
            let (id, costs) = &self.machine.costs[at];
            let burden = costs[choice(goblin, *id)] * factor * (0.97 + 0.06 * self.machine.noise.next());
            total += burden;
            goblin.measure(*id, &sample(decision.id, burden)).unwrap();
        }
        let target = self.full_load * total / factor / limit * 1.15;
        self.heat += (target - self.heat) / (self.seconds * SECOND as f64);
        self.throttled += u64::from(is_throttled);
        self.hottest = self.hottest.max(self.heat);
        (decision, total)
    }
}

/// Eight minutes. Returns the device, the mean value in the last four, and the decisions with another capacity.
fn run(full_load: f64, reports: bool) -> (Device, f64, Vec<u64>) {
    let mut goblin = Goblin::new(&Config { overrun_probability: 0.01, ..config(LIMIT) }).unwrap();
    let mut device = Device::new(&mut goblin, full_load);
    let (mut value, mut capacity, mut moved) = (0.0, LIMIT, Vec::new());
    for frame in 0..480 * SECOND {
        if reports && frame % SECOND == 0 {
            goblin.set_thermal_headroom(0, device.heat).unwrap();
        }
        let (decision, _) = device.frame(&mut goblin, LIMIT);
        value += if frame >= 240 * SECOND { decision.chosen.value } else { 0.0 };
        if decision.capacity[GPU] != capacity {
            capacity = decision.capacity[GPU];
            moved.push(decision.id);
        }
    }
    (device, value / (240 * SECOND) as f64, moved)
}

/// The greatest value of options with this total cost, by trying all.
fn best_value(device: &Device, capacity: f64) -> f64 {
    let mut totals = vec![(0.0, 0.0)];
    for (at, (_, costs)) in device.machine.costs.iter().enumerate() {
        let with = |(value, total): (f64, f64)| {
            costs.iter().enumerate().map(move |(step, cost)| (value + (step as f64).sqrt() * STEPS[at], total + cost))
        };
        totals = totals.into_iter().flat_map(with).filter(|(_, total)| *total <= capacity).collect();
    }
    totals.into_iter().map(|(value, _)| value).fold(0.0, f64::max)
}

#[test]
fn reported_headroom_keeps_a_hot_device_below_throttling() {
    let (without, ..) = run(1.4, false);
    assert!(without.throttled > 0, "the device throttles at full load");
    let (device, value, moved) = run(1.4, true);
    assert_eq!(device.throttled, 0, "{}", device.hottest);
    // At a heat of 1, full load leads to 1.4, and costs are 1.15 times as much.
    let best = best_value(&device, LIMIT / 1.4 / 1.15);
    assert!(value >= 0.97 * best, "{value} of {best}");
    assert!(moved.windows(2).all(|pair| pair[1] - pair[0] >= 10 * SECOND), "{moved:?}");
}

#[test]
fn devices_that_heat_up_quickly_stay_below_throttling_as_well() {
    for seconds in [20.0, 40.0, 60.0] {
        let mut goblin = Goblin::new(&Config { overrun_probability: 0.01, ..config(LIMIT) }).unwrap();
        let mut device = Device::new(&mut goblin, 2.0);
        device.seconds = seconds;
        // The regulator learns how quickly it answers.
        let (learning, frames) = (180 * SECOND, 600 * SECOND);
        for frame in 0..learning + frames {
            if frame == learning {
                device.throttled = 0;
            }
            if frame % SECOND == 0 {
                goblin.set_thermal_headroom(0, device.heat).unwrap();
            }
            device.frame(&mut goblin, LIMIT);
        }
        assert!(device.throttled <= frames / 50, "{} of {frames} frames, {seconds} s", device.throttled);
    }
}

#[test]
fn reported_headroom_changes_nothing_on_a_cool_device() {
    let (cool, value, moved) = run(0.8, true);
    assert_eq!((cool.throttled, moved.len()), (0, 0));
    assert_eq!(value, run(0.8, false).1);
}

#[test]
fn limit_is_whole_again_a_minute_after_the_last_report() {
    let mut goblin = Goblin::new(&config(LIMIT)).unwrap();
    let mut device = Device::new(&mut goblin, 1.4);
    let mut capacity = |goblin: &mut Goblin| device.frame(goblin, LIMIT).0.capacity[GPU];
    for _ in 0..30 {
        goblin.set_thermal_headroom(0, 1.2).unwrap();
        (0..SECOND).for_each(|_| _ = capacity(&mut goblin));
    }
    assert!(capacity(&mut goblin) < LIMIT);
    (0..58 * SECOND).for_each(|_| _ = capacity(&mut goblin));
    assert!(capacity(&mut goblin) < LIMIT);
    (0..2 * SECOND).for_each(|_| _ = capacity(&mut goblin));
    assert_eq!(capacity(&mut goblin), LIMIT);
}

#[test]
fn heat_of_one_lane_limits_no_other_lane() {
    let mut goblin = Goblin::new(&{
        let mut config = config(LIMIT);
        config.limits[1] = LIMIT;
        config
    })
    .unwrap();
    add(&mut goblin, "setting", &[0.0, 1.0]);
    for _ in 0..40 {
        goblin.set_thermal_headroom(1, 1.5).unwrap();
        (0..SECOND).for_each(|_| _ = goblin.update().unwrap());
    }
    let decision = goblin.update().unwrap();
    assert_eq!(decision.capacity[0], LIMIT);
    assert!(decision.capacity[1] < LIMIT);
}

/// The changes and the late frames of 70 and 110 s in which all costs rise by 15 % times `rise`.
fn with_slow_rise(rise: f64) -> (usize, u32) {
    let mut goblin = Goblin::new(&Config { overrun_probability: 0.01, ..config(LIMIT) }).unwrap();
    let mut device = Device::new(&mut goblin, 0.0);
    (device.heat, device.seconds) = (0.0, 1e12);
    let (mut changed, mut late) = (0, 0);
    for frame in 0..170 * SECOND {
        if frame == 60 * SECOND {
            // A trial is a change, too, but not for the drift.
            goblin.configure(&Config { trial_limit: 0, ..*goblin.config() }).unwrap();
        }
        let (decision, total) = device.frame(&mut goblin, LIMIT);
        if frame >= 60 * SECOND {
            // The heat is only a factor on costs here.
            device.heat += rise / 110.0 / SECOND as f64;
            late += u32::from(total > LIMIT);
        }
        changed += usize::from(frame >= 100 * SECOND && decision.changes > 0);
    }
    (changed, late)
}

/// Without a forecast of the drift, choices change in 10 decisions of a run, in the mean.
#[test]
fn slow_rise_of_all_costs_changes_choices_at_most_every_ten_seconds() {
    let rises = [0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0];
    let mut changes = 0;
    for rise in rises {
        let (changed, late) = with_slow_rise(rise);
        assert!((1..=7).contains(&changed), "{rise}: {changed} times in 70 s");
        assert!(f64::from(late) <= 0.012 * (110 * SECOND) as f64, "{rise}: {late} late frames");
        changes += changed;
    }
    assert!(changes <= 5 * rises.len(), "{changes} times in all runs");
}
