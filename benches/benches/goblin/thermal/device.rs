//! A device that warms up: an RC model of two stages, the die and the skin, and a clock that follows the temperature.
//!
//! The skin is slow (minutes), the die is a few seconds faster than it. Each stage is a thermal resistance and a
//! capacitance. Real devices are reported and controlled like this:
//!
//! * Android's `PowerManager.getThermalHeadroom(10)` extrapolates slow sensors, such as the skin's, 10 s ahead. 1 is the
//!   temperature of severe throttling. More than a call a second returns NaN.
//! * The Linux thermal governor `power_allocator` begins to cut power at a *switch-on* temperature, smoothly, and holds a
//!   *desired* one. Where that is not enough, the next trip point throttles hard.
//!
//! Energy per unit of work is constant here, so power is proportional to the busy share times the clock. Where voltage
//! falls with the clock, a slow clock is more efficient, and throttling costs less than here.

use crate::random::Random;
use crate::renderer::scene::RATE;

/// Properties of a device and its surroundings. Temperatures are in °C, power is relative to full load at full clock.
#[derive(Clone, Copy, Debug)]
pub struct Climate {
    pub name: &'static str,
    pub about: &'static str,
    /// Ambient temperature.
    pub ambient: f64,
    /// Ambient temperature from minute 10 to 20.
    pub ambient_later: f64,
}

/// All climates.
pub const CLIMATES: [Climate; 4] = [
    Climate { name: "cool", about: "18 °C: the clock does not fall", ambient: 18.0, ambient_later: 18.0 },
    Climate {
        name: "indoors",
        about: "26 °C: at full load the clock falls by a tenth, and the device never throttles",
        ambient: 26.0,
        ambient_later: 26.0,
    },
    Climate { name: "hot", about: "33 °C: at full load the device throttles", ambient: 33.0, ambient_later: 33.0 },
    Climate {
        name: "sun", about: "28 °C, from minute 10 to 20 in the sun: 34 °C", ambient: 28.0, ambient_later: 34.0
    },
];

/// Power of an idle device.
const IDLE: f64 = 0.2;
/// Rise of the die above the skin at power 1, and its time constant in seconds.
const DIE: (f64, f64) = (14.0, 6.0);
/// Rise of the skin above the surroundings at power 1, and its mean time constant in seconds.
const SKIN: (f64, f64) = (14.0, 180.0);
/// The clock begins to fall at this temperature of the die, by this share a degree, down to a lowest clock.
const SOFT: f64 = 46.0;
const FALL: f64 = 0.02;
const LOWEST_CLOCK: f64 = 0.5;
/// The device throttles at this temperature of the skin, until the skin is this much cooler.
const HARD: f64 = 43.0;
const RECOVERY: f64 = 0.5;
/// The factor on costs while it throttles, and the least seconds of it.
const THROTTLED: f64 = 1.6;
const LEAST_THROTTLE: f64 = 10.0;
/// Degrees of one unit of headroom, as on Android.
const UNIT: f64 = 30.0;
/// Samples of the skin, one a second, to which Android fits a line, and the seconds ahead.
const SAMPLES: usize = 30;
const AHEAD: f64 = 10.0;
/// Deviation and resolution of the skin's sensor.
const SENSOR: (f64, f64) = (0.05, 0.1);

/// The state of a device.
#[derive(Clone, Debug)]
pub struct Device {
    climate: Climate,
    random: Random,
    skin_seconds: f64,
    pub time: f64,
    pub skin: f64,
    /// The die above the skin.
    rise: f64,
    /// While it throttles: until then, at least.
    throttled_until: Option<f64>,
    pub throttles: u32,
    pub hottest: f64,
    /// The skin's sensor in the last seconds, the latest first.
    sensor: Vec<f64>,
}

impl Device {
    pub fn draw(climate: &Climate, seed: u64) -> Self {
        let mut random = Random::new(seed, 51);
        let skin_seconds = SKIN.1 * random.between(0.75, 1.25);
        let skin = climate.ambient + SKIN.0 * IDLE;
        Self {
            climate: *climate,
            random,
            skin_seconds,
            time: 0.0,
            skin,
            rise: DIE.0 * IDLE,
            throttled_until: None,
            throttles: 0,
            hottest: skin,
            sensor: Vec::new(),
        }
    }

    /// The factor on costs now: the inverse of the clock.
    pub fn factor(&self) -> f64 {
        let throttle = if self.throttled_until.is_some() { THROTTLED } else { 1.0 };
        throttle / clock(self.skin + self.rise)
    }

    /// A frame of this busy share.
    pub fn frame(&mut self, busy: f64) {
        let step = 1.0 / RATE as f64;
        let clock = 1.0 / self.factor();
        let power = IDLE + (1.0 - IDLE) * busy.min(1.0) * clock;
        self.rise += (DIE.0 * power - self.rise) * step / DIE.1;
        self.skin += self.pull(power) * step;
        let before = self.time.floor();
        self.time += step;
        if self.time.floor() > before {
            let read = self.skin + SENSOR.0 * self.random.normal();
            self.sensor.insert(0, (read / SENSOR.1).round() * SENSOR.1);
            self.sensor.truncate(SAMPLES);
        }
        self.hottest = self.hottest.max(self.skin);
        match self.throttled_until {
            None if self.skin > HARD => {
                self.throttled_until = Some(self.time + LEAST_THROTTLE);
                self.throttles += 1;
            }
            Some(until) if self.time > until && self.skin < HARD - RECOVERY => self.throttled_until = None,
            _ => {}
        }
    }

    /// Degrees a second at a power.
    fn pull(&self, power: f64) -> f64 {
        (ambient(&self.climate, self.time) + SKIN.0 * power - self.skin) / self.skin_seconds
    }

    /// Thermal headroom in 10 s, as Android's: 1 is the temperature at which the device throttles.
    pub fn headroom(&self) -> f64 {
        let Some(&latest) = self.sensor.first() else { return f64::NAN };
        let slope = if self.sensor.len() < 3 { 0.0 } else { -slope(&self.sensor) };
        ((latest + AHEAD * slope - HARD) / UNIT + 1.0).max(0.0)
    }

    /// Whether it throttles now.
    pub fn is_throttled(&self) -> bool {
        self.throttled_until.is_some()
    }

    /// The time constant of the skin.
    pub fn skin_seconds(&self) -> f64 {
        self.skin_seconds
    }
}

/// The slope of a line through values, by least squares.
fn slope(values: &[f64]) -> f64 {
    let middle = (values.len() - 1) as f64 / 2.0;
    let points = || values.iter().enumerate().map(|(at, &value)| (at as f64 - middle, value));
    points().map(|(x, y)| x * y).sum::<f64>() / points().map(|(x, _)| x * x).sum::<f64>()
}

/// The ambient temperature at a time.
fn ambient(climate: &Climate, time: f64) -> f64 {
    if (600.0..1200.0).contains(&time) { climate.ambient_later } else { climate.ambient }
}

/// The clock at a temperature of the die.
fn clock(die: f64) -> f64 {
    (1.0 - FALL * (die - SOFT).max(0.0)).max(LOWEST_CLOCK)
}

/// The steady state of the die for a skin temperature and a busy share: the clock, and the skin's target temperature.
pub fn steady(climate: &Climate, time: f64, skin: f64, busy: f64) -> (f64, f64) {
    let mut rise = DIE.0 * IDLE;
    let mut now = 1.0;
    let mut power = IDLE;
    for _ in 0..30 {
        now = clock(skin + rise);
        power = IDLE + (1.0 - IDLE) * busy.min(1.0) * now;
        rise = 0.5 * (rise + DIE.0 * power);
    }
    (now, ambient(climate, time) + SKIN.0 * power)
}

/// The hottest skin without throttling.
pub const LIMIT: f64 = HARD;
