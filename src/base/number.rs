//! Doubles as text and back, exactly, in little code.
//!
//! The standard library's ways are several times as fast and take 33 KB, of which 10 are a table of powers of five.
//! These work with whole numbers of any size: reading divides with remainder, writing is the free-format algorithm of
//! Burger and Dybvig, "Printing Floating-Point Numbers Quickly and Accurately" (1996). Nothing here allocates.

use std::cmp::Ordering;
use std::fmt::{self, Write};

/// Enough to tell on which side of the middle between two doubles a number is: 767 would do.
const MOST_DIGITS: usize = 780;
/// As many bits as 10^(MOST_DIGITS + 330) has, and some.
const WORDS: usize = 120;

/// The double nearest to a number that JSON's grammar allows; of two equally near the one with the even mantissa.
pub fn parse(token: &str) -> f64 {
    let (negative, token) = token.strip_prefix('-').map_or((false, token), |rest| (true, rest));
    let (decimals, power) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
    let mut number = Whole::of(0);
    let (mut digits, mut places, mut after_point) = (0, 0_i64, false);
    for byte in decimals.bytes() {
        if byte == b'.' {
            after_point = true;
            continue;
        }
        let digit = u32::from(byte.wrapping_sub(b'0'));
        places -= i64::from(after_point);
        if digits < MOST_DIGITS {
            number.multiply_add(10, digit);
            digits += usize::from(digits > 0 || digit > 0);
        } else {
            // Any digit beyond only says that the number is not exactly in the middle; one that is odd is not.
            places += 1;
            number.words[0] |= u32::from(digit > 0);
        }
    }
    let magnitude = nearest(number, digits, places.saturating_add(whole_power(power)));
    if negative { -magnitude } else { magnitude }
}

/// An exponent; what is too large for any double stays too large.
fn whole_power(power: &str) -> i64 {
    let (sign, digits) = match power.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, power.strip_prefix('+').unwrap_or(power)),
    };
    let far = 1 << 48;
    sign * digits.bytes().fold(0, |sum, byte| (10 * sum + i64::from(byte.wrapping_sub(b'0'))).min(far))
}

/// `number`, which has so many digits, times ten to the `power`.
fn nearest(mut number: Whole, digits: usize, power: i64) -> f64 {
    let magnitude = digits as i64 + power;
    if digits == 0 || magnitude < -330 {
        return 0.0;
    }
    if magnitude > 310 {
        return f64::INFINITY;
    }
    if number.bits() <= 53 && power.abs() <= 22 {
        // Both are doubles, so that there is one rounding only.
        let number = (u64::from(number.words[1]) << 32 | u64::from(number.words[0])) as f64;
        let ten_to_the = (0..power.abs()).fold(1.0, |product, _| 10.0 * product);
        return if power < 0 { number / ten_to_the } else { number * ten_to_the };
    }
    let mut divisor = Whole::of(1);
    (if power < 0 { &mut divisor } else { &mut number }).multiply_by_power_of_ten(power.unsigned_abs() as u32);
    // Their quotient is brought between 1 and 2.
    let mut exponent = number.bits() as i32 - divisor.bits() as i32;
    number.shift(exponent.min(0).unsigned_abs());
    divisor.shift(exponent.max(0) as u32);
    if number.compare(&divisor).is_lt() {
        number.shift(1);
        exponent -= 1;
    }
    if exponent > 1023 {
        return f64::INFINITY;
    }
    let precision = 53 - (-1022 - exponent).max(0);
    let mut mantissa = 0_u64;
    for _ in 0..precision {
        mantissa *= 2;
        if number.compare(&divisor).is_ge() {
            number.subtract(&divisor);
            mantissa += 1;
        }
        number.shift(1);
    }
    if precision >= 0 {
        // What is left, over twice the divisor, is the part of a unit that was cut off.
        let up = match number.compare(&divisor) {
            Ordering::Less => false,
            Ordering::Equal => mantissa % 2 == 1,
            Ordering::Greater => true,
        };
        mantissa += u64::from(up);
    }
    // The leading bit of a normal number adds 1 to the exponent field, and so does a carry out of the mantissa.
    let field = (exponent + 1022).max(0) as u64;
    f64::from_bits((field << 52) + mantissa)
}

/// As `f64::clamp`, whose panic would print numbers in the standard library's way.
#[inline]
pub fn clamp(x: f64, from: f64, to: f64) -> f64 {
    debug_assert!(from <= to);
    if x < from {
        from
    } else if x > to {
        to
    } else {
        x
    }
}

/// Shown with the fewest digits that read back as the same number, and no long rows of zeros; with a precision, with so
/// many decimals.
#[derive(Clone, Copy)]
pub struct Number(pub f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.abs();
        if let Some(decimals) = f.precision().filter(|&decimals| decimals < 10 && magnitude < 1e9) {
            let power = 10_u64.pow(decimals as u32);
            let units = (magnitude * power as f64).round_ties_even() as u64;
            let sign = if self.0.is_sign_negative() { "-" } else { "" };
            return write!(f, "{sign}{}.{:0decimals$}", units / power, units % power);
        }
        self.write(f, magnitude == 0.0 || (1e-4..1e16).contains(&magnitude))
    }
}

impl fmt::LowerExp for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, false)
    }
}

impl Number {
    fn write(self, f: &mut fmt::Formatter<'_>, plainly: bool) -> fmt::Result {
        if self.0.is_nan() {
            return f.write_str("NaN");
        }
        if self.0.is_sign_negative() {
            f.write_char('-')?;
        }
        if self.0.is_infinite() {
            return f.write_str("inf");
        }
        let (digits, count, point) = shortest(self.0.abs());
        let digits = std::str::from_utf8(&digits[..count]).unwrap_or_default();
        if !plainly {
            let (first, rest) = digits.split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            return write!(f, "{first}{dot}{rest}e{}", point - 1);
        }
        match usize::try_from(point) {
            Err(_) | Ok(0) => {
                f.write_str("0.")?;
                (point..0).try_for_each(|_| f.write_char('0'))?;
                f.write_str(digits)
            }
            Ok(point) if point < count => {
                let (whole, rest) = digits.split_at(point);
                write!(f, "{whole}.{rest}")
            }
            Ok(point) => {
                f.write_str(digits)?;
                (count..point).try_for_each(|_| f.write_char('0'))
            }
        }
    }
}

/// The digits of a finite number not below 0, how many they are, and how many of them stand before the point.
fn shortest(number: f64) -> ([u8; 18], usize, i32) {
    let mut digits = [b'0'; 18];
    if number == 0.0 {
        return (digits, 1, 1);
    }
    let bits = number.to_bits();
    let (field, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let mantissa = if field == 0 { fraction } else { fraction | 1 << 52 };
    let exponent = field.max(1) - 1075;
    let (raised, lowered) = (exponent.max(0) as u32, exponent.min(0).unsigned_abs());
    // Below a power of two the neighbour is half as far away as above it.
    let uneven = u32::from(fraction == 0 && field > 1);
    // `rest` / `scale` is the number; `above` and `below` are, over the same, half the ways to its neighbours.
    let (mut rest, mut scale) = (Whole::of(mantissa), Whole::of(2 << uneven));
    let (mut above, mut below) = (Whole::of(1 << uneven), Whole::of(1));
    rest.shift(raised + 1 + uneven);
    scale.shift(lowered);
    above.shift(raised);
    below.shift(raised);
    let is_even = mantissa % 2 == 0;
    // A decimal exponent that is right or too low by 1.
    let binary = exponent + mantissa.ilog2() as i32;
    let mut point = (binary * 1233) >> 12;
    scale.multiply_by_power_of_ten(point.max(0) as u32);
    for part in [&mut rest, &mut above, &mut below] {
        part.multiply_by_power_of_ten(point.min(0).unsigned_abs());
    }
    let reaches = |rest: &Whole, above: &Whole, scale: &Whole| {
        let mut sum = *rest;
        sum.add(above);
        let order = sum.compare(scale);
        order.is_gt() || (is_even && order.is_eq())
    };
    while reaches(&rest, &above, &scale) {
        scale.multiply_add(10, 0);
        point += 1;
    }
    let mut count = 0;
    loop {
        for part in [&mut rest, &mut above, &mut below] {
            part.multiply_add(10, 0);
        }
        let mut digit = b'0';
        while rest.compare(&scale).is_ge() {
            rest.subtract(&scale);
            digit += 1;
        }
        let low = rest.compare(&below);
        let low = low.is_lt() || (is_even && low.is_eq());
        let high = reaches(&rest, &above, &scale);
        if low || high {
            rest.shift(1);
            digit += u8::from(high && (!low || rest.compare(&scale).is_ge()));
        }
        digits[count] = digit;
        count += 1;
        if low || high || count == digits.len() {
            return (digits, count, point);
        }
    }
}

/// A whole number not below 0.
#[derive(Clone, Copy)]
struct Whole {
    /// The lowest first.
    words: [u32; WORDS],
    /// Words from here on are 0, the one before is not.
    count: usize,
}

impl Whole {
    fn of(number: u64) -> Self {
        let mut whole = Self { words: [0; WORDS], count: 2 };
        whole.words[0] = number as u32;
        whole.words[1] = (number >> 32) as u32;
        whole.trim();
        whole
    }

    fn trim(&mut self) {
        while self.count > 0 && self.words[self.count - 1] == 0 {
            self.count -= 1;
        }
    }

    /// Bits from the highest that is set.
    fn bits(&self) -> u32 {
        self.count.checked_sub(1).map_or(0, |last| 32 * last as u32 + 32 - self.words[last].leading_zeros())
    }

    fn multiply_add(&mut self, factor: u32, summand: u32) {
        let mut carry = u64::from(summand);
        for word in &mut self.words[..self.count] {
            carry += u64::from(*word) * u64::from(factor);
            *word = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.words[self.count] = carry as u32;
            self.count += 1;
        }
    }

    #[inline(never)]
    fn multiply_by_power_of_ten(&mut self, power: u32) {
        (0..power / 9).for_each(|_| self.multiply_add(1_000_000_000, 0));
        self.multiply_add(10_u32.pow(power % 9), 0);
    }

    /// Times two to the `bits`.
    #[inline(never)]
    fn shift(&mut self, bits: u32) {
        let words = (bits / 32) as usize;
        if words > 0 && self.count > 0 {
            self.words.copy_within(..self.count, words);
            self.words[..words].fill(0);
            self.count += words;
        }
        self.multiply_add(1 << (bits % 32), 0);
    }

    #[inline(never)]
    fn compare(&self, other: &Self) -> Ordering {
        let words = |whole: &Self| whole.count;
        words(self)
            .cmp(&words(other))
            .then_with(|| self.words[..self.count].iter().rev().cmp(other.words[..other.count].iter().rev()))
    }

    fn add(&mut self, other: &Self) {
        let mut carry = 0;
        self.count = self.count.max(other.count) + 1;
        for (word, other) in self.words[..self.count].iter_mut().zip(&other.words) {
            carry += u64::from(*word) + u64::from(*other);
            *word = carry as u32;
            carry >>= 32;
        }
        self.trim();
    }

    /// Take away what is no greater.
    #[inline(never)]
    fn subtract(&mut self, other: &Self) {
        let mut borrow = 0;
        for (word, other) in self.words[..self.count].iter_mut().zip(&other.words) {
            let difference = i64::from(*word) - i64::from(*other) + borrow;
            *word = difference as u32;
            borrow = difference >> 32;
        }
        self.trim();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As the standard library shows it.
    fn expected(x: f64) -> String {
        if x == 0.0 || (1e-4..1e16).contains(&x.abs()) { format!("{x}") } else { format!("{x:e}") }
    }

    fn check_both_ways(x: f64) {
        assert_eq!(Number(x).to_string(), expected(x));
        assert_eq!(format!("{:e}", Number(x)), format!("{x:e}"));
        for text in [format!("{x:e}"), format!("{x}"), format!("{x:.30e}"), format!("{x:.3}"), format!("{x:.900e}")] {
            assert_eq!(parse(&text).to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
    }

    /// What is exactly between two doubles, and a hair beside it.
    fn check_middle(x: f64) {
        // 53 bits and one more; exact in 1100 decimals.
        let middle = format!("{:.1100}", x).replace("-", "");
        let next = format!("{:.1100}", f64::from_bits(x.to_bits() + 1));
        let sum: Vec<u8> = {
            let (a, b): (Vec<u8>, Vec<u8>) = (middle.bytes().rev().collect(), next.bytes().rev().collect());
            let mut carry = 0;
            let mut digits: Vec<u8> = (0..a.len().max(b.len()))
                .map(|at| match (a.get(at).copied().unwrap_or(b'0'), b.get(at).copied().unwrap_or(b'0')) {
                    (b'.', _) => b'.',
                    (one, other) => {
                        carry += one - b'0' + other - b'0';
                        let digit = carry % 10;
                        carry /= 10;
                        digit + b'0'
                    }
                })
                .collect();
            digits.push(carry + b'0');
            digits.reverse();
            digits
        };
        // Half the sum, in decimals.
        let mut carry = 0;
        let half: String = sum
            .iter()
            .map(|&byte| {
                if byte == b'.' {
                    return '.';
                }
                let now = 10 * carry + (byte - b'0');
                carry = now % 2;
                char::from(now / 2 + b'0')
            })
            .collect();
        let half = half.trim_start_matches('0');
        let half = if half.starts_with('.') { format!("0{half}5") } else { format!("{half}5") };
        for text in [half[..half.len() - 1].to_owned(), format!("{half}1")] {
            assert_eq!(parse(&text).to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
    }

    #[test]
    fn corners_are_read_and_written_exactly() {
        for x in [0.0, -0.0, 1.0, 0.1, 0.3, 1e9, 1e-9, 1e15, 1e16, 1e22, 1e23, 9007199254740993.0, 5e-324, 1e-308] {
            check_both_ways(x);
        }
        for x in [f64::MAX, f64::MIN_POSITIVE, f64::EPSILON, 2.225_073_858_507_201e-308, 123456.0, 9.5e-5, 4.35, 0.5] {
            check_both_ways(x);
            check_both_ways(-x);
        }
        for field in 0..2047_u64 {
            check_both_ways(f64::from_bits(field << 52));
            check_both_ways(f64::from_bits((field << 52) + 1));
            check_both_ways(f64::from_bits((field << 52) + (1 << 52) - 1));
        }
        for text in ["1e400", "1e-400", "2e-324", "3e-324", "1.7976931348623158e308", "1.7976931348623159e308", "0e999"]
        {
            assert_eq!(parse(text).to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
        for text in ["1e99999999999999999999", "1e-99999999999999999999", "0.0e99999999999999999999", "-0.000E+5"] {
            assert_eq!(parse(text).to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
        let long = format!("0.{}1", "0".repeat(2000));
        assert_eq!(parse(&format!("{long}e2001")), 1.0);
        assert_eq!(parse(&format!("1{}e-2000", "0".repeat(2000))), 1.0);
        assert_eq!(parse(&"9".repeat(400)), f64::INFINITY);
        assert_eq!(Number(f64::NAN).to_string(), "NaN");
        assert_eq!(Number(f64::NEG_INFINITY).to_string(), "-inf");
    }

    #[test]
    fn a_precision_is_a_number_of_decimals() {
        for (x, shown) in [(0.0, "0.00"), (1.004, "1.00"), (-2.5, "-2.50"), (12.999, "13.00"), (0.125, "0.12")] {
            assert_eq!(format!("{:.2}", Number(x)), shown);
            assert_eq!(format!("{x:.2}"), shown);
        }
    }

    proptest! {
        #[test]
        fn every_double_is_read_and_written_exactly(bits in any::<u64>()) {
            let x = f64::from_bits(bits);
            if x.is_finite() {
                check_both_ways(x);
            }
        }

        #[test]
        fn usual_numbers_are_read_and_written_exactly(x in 0.0..1e4_f64, whole in 0..1_000_000_u32) {
            check_both_ways(x);
            check_both_ways(f64::from(whole) / 1000.0);
        }

        #[test]
        fn what_is_in_the_middle_is_rounded_to_even(bits in 1..0x7fe0_0000_0000_0000_u64) {
            check_middle(f64::from_bits(bits));
        }

        #[test]
        fn any_digits_are_read_exactly(text in "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?") {
            prop_assert_eq!(parse(&text).to_bits(), text.parse::<f64>().unwrap().to_bits());
        }
    }
}
