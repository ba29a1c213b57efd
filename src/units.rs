//! Byte quantities: parsing and printing without losing a digit, and what a printed figure can stand for.
//!
//! Programs print memory rounded: `64.12 MiB` is any number of bytes that rounds to it. [`Figure`] keeps the printed
//! value together with its half-width, [`Interval`] carries the uncertainty through arithmetic.

use crate::evidence::Span;
use std::fmt;

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;
pub const GIB: u64 = 1 << 30;
pub const TIB: u64 = 1 << 40;

/// A number of bytes that prints with the thresholds of PyTorch (`c10/core/Allocator.h`, `format_size`), so that a figure reads as in the log:
/// binary units, two decimals, the unit changing only above 1024 of the smaller one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.0;
        let text = if n <= KIB {
            format!("{n} B")
        } else if n <= MIB {
            format!("{:.2} KiB", n as f64 / KIB as f64)
        } else if n <= GIB {
            format!("{:.2} MiB", n as f64 / MIB as f64)
        } else if n <= 1024 * GIB {
            format!("{:.2} GiB", n as f64 / GIB as f64)
        } else {
            format!("{:.2} TiB", n as f64 / TIB as f64)
        };
        f.pad(&text)
    }
}

/// Prints a signed amount of bytes, `-` in front when negative.
pub fn signed(bytes: i128) -> String {
    let magnitude = Bytes(bytes.unsigned_abs().min(u64::MAX as u128) as u64);
    if bytes < 0 { format!("-{magnitude}") } else { magnitude.to_string() }
}

/// A share of 1 as a percentage without decimals: `0.834` is `83 %`. What is not all is never printed as 100 %, what is
/// something never as 0.
pub fn percent(share: f64) -> String {
    let whole = (share * 100.0).round();
    if share > 0.0 && whole < 1.0 {
        "<1 %".into()
    } else if share < 1.0 && whole >= 100.0 {
        ">99 %".into()
    } else {
        format!("{whole:.0} %")
    }
}

/// A figure as a program printed it: its value in bytes, how far the true value may lie from it, and where it stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figure {
    /// The printed value in bytes: `round(number × unit)`.
    pub bytes: u64,
    /// Half of the last printed digit, in bytes, rounded up; 0 where the program printed plain bytes.
    pub half_width: u64,
    /// Where it was printed.
    pub at: Span,
}

impl Figure {
    pub fn interval(&self) -> Interval {
        Interval {
            low: self.bytes as i128 - self.half_width as i128,
            high: self.bytes as i128 + self.half_width as i128,
        }
    }
}

/// A closed range of bytes, signed so that differences can be told from underflows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    pub low: i128,
    pub high: i128,
}

impl Interval {
    pub fn exactly(bytes: u64) -> Interval {
        Interval { low: bytes as i128, high: bytes as i128 }
    }

    pub fn between(low: i128, high: i128) -> Interval {
        Interval { low: low.min(high), high: low.max(high) }
    }

    /// The middle of the range.
    pub fn middle(&self) -> i128 {
        self.low + (self.high - self.low) / 2
    }

    /// The middle as an unsigned count, 0 when it is negative. For drawing and ranking, not for deciding.
    pub fn middle_bytes(&self) -> u64 {
        self.middle().clamp(0, u64::MAX as i128) as u64
    }

    /// Half of its width.
    pub fn half_width(&self) -> u64 {
        ((self.high - self.low) / 2).clamp(0, u64::MAX as i128) as u64
    }

    /// True when the whole range lies at or above `other`'s whole range.
    pub fn surely_at_least(&self, other: Interval) -> bool {
        self.low >= other.high
    }

    /// The part of the range that is not negative.
    pub fn at_least_zero(&self) -> Interval {
        Interval { low: self.low.max(0), high: self.high.max(0) }
    }

    pub fn scale(&self, factor: f64) -> Interval {
        Interval::between((self.low as f64 * factor) as i128, (self.high as f64 * factor) as i128)
    }
}

impl std::ops::Add for Interval {
    type Output = Interval;
    fn add(self, other: Interval) -> Interval {
        Interval { low: self.low + other.low, high: self.high + other.high }
    }
}

impl std::ops::Sub for Interval {
    type Output = Interval;
    fn sub(self, other: Interval) -> Interval {
        Interval { low: self.low - other.high, high: self.high - other.low }
    }
}

impl std::iter::Sum for Interval {
    fn sum<I: Iterator<Item = Interval>>(parts: I) -> Interval {
        parts.fold(Interval::exactly(0), |a, b| a + b)
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.half_width();
        // A width that does not show at two decimals of the value would only be noise.
        if (width as i128) * 200 <= self.middle().abs() {
            f.pad(&signed(self.middle()))
        } else {
            f.pad(&format!("{} … {}", signed(self.low), signed(self.high)))
        }
    }
}

/// How a program means `KB`, `MB`, `GB` without an `i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// 1 GB = 2^30 (PyTorch MPS, Ray, Paddle, the kernel's kB).
    Binary,
    /// 1 GB = 10^9 (Dask's limits, Kubernetes' `M`).
    Decimal,
}

/// A parsed size before it is given a place: value in bytes and half of its last digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub bytes: u64,
    pub half_width: u64,
}

impl Size {
    pub fn at(self, at: Span) -> Figure {
        Figure { bytes: self.bytes, half_width: self.half_width, at }
    }
}

/// The multiplier of a unit word, or `None` for a word that is no unit. Case matters only for a lone `b`.
pub fn unit(word: &str, base: Base) -> Option<u64> {
    let lower = word.to_ascii_lowercase();
    let (power, binary) = match lower.as_str() {
        "" | "b" | "byte" | "bytes" => return Some(1),
        "k" | "kb" => (1, base == Base::Binary),
        "m" | "mb" => (2, base == Base::Binary),
        "g" | "gb" => (3, base == Base::Binary),
        "t" | "tb" => (4, base == Base::Binary),
        "ki" | "kib" => (1, true),
        "mi" | "mib" => (2, true),
        "gi" | "gib" => (3, true),
        "ti" | "tib" => (4, true),
        _ => return None,
    };
    Some(if binary { 1u64 << (10 * power) } else { 1000u64.pow(power) })
}

/// A decimal point.
pub const POINT: &[char] = &['.'];
/// A decimal point, and the comma between groups of digits.
pub const GROUPED: &[char] = &['.', ','];

/// The number that `text` begins with, and how far its digits and `marks` reach: marks behind the last digit end a
/// clause.
/// The number is empty where `text` begins with something else.
pub fn number_in_front<'a>(text: &'a str, marks: &[char]) -> (&'a str, usize) {
    let end = text.find(|c: char| !(c.is_ascii_digit() || marks.contains(&c))).unwrap_or(text.len());
    (text[..end].trim_end_matches(marks), end)
}

/// Parses a decimal number (`64.12`, `1,234,567`, `512.`) times a unit into bytes, exactly: the result is
/// `round(number × unit)`. `None` when it is no number, the unit is unknown, or the result does not fit 64 bits.
pub fn size(number: &str, unit_word: &str, base: Base) -> Option<Size> {
    let unit = unit(unit_word.trim(), base)? as u128;
    let digits: String = number.chars().filter(|c| *c != ',' && !c.is_whitespace()).collect();
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    if whole.is_empty() && fraction.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    // More decimals than this carry nothing: 2^-64 of a TiB is far below a byte.
    let fraction = &fraction[..fraction.len().min(18)];
    let scale = 10u128.pow(fraction.len() as u32);
    let mantissa: u128 = format!("0{whole}{fraction}").parse().ok()?;
    let scaled = mantissa.checked_mul(unit)?;
    let bytes = (scaled + scale / 2) / scale;
    let half_width = if unit == 1 { 0 } else { unit.div_ceil(2 * scale) };
    Some(Size { bytes: u64::try_from(bytes).ok()?, half_width: half_width as u64 })
}

/// Parses `4.15 GiB`, `300MiB`, `128 MB`, `1024 bytes` as one string; see [`size`].
pub fn parse(text: &str, base: Base) -> Option<Size> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',' || c == ' ')).unwrap_or(text.len());
    size(text[..split].trim(), &text[split..], base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_figures_round_to_the_nearest_byte() {
        assert_eq!(size("64.12", "MiB", Base::Binary).unwrap().bytes, 67_234_693);
        assert_eq!(size("4.15", "GiB", Base::Binary).unwrap().half_width, 5_368_710);
        assert_eq!(parse("1024 bytes", Base::Binary), Some(Size { bytes: 1024, half_width: 0 }));
        assert_eq!(parse("755,914,244,096 bytes", Base::Binary).unwrap().bytes, 755_914_244_096);
        assert_eq!(parse("500MB", Base::Decimal).unwrap().bytes, 500_000_000);
        assert_eq!(size("17179869184.00", "GiB", Base::Binary), None);
        assert_eq!(parse("lots", Base::Binary), None);
    }

    #[test]
    fn sizes_print_as_pytorch_prints_them() {
        assert_eq!(Bytes(1024).to_string(), "1024 B");
        assert_eq!(Bytes(MIB).to_string(), "1024.00 KiB");
        assert_eq!(Bytes(GIB).to_string(), "1024.00 MiB");
        assert_eq!(Bytes(GIB + 1).to_string(), "1.00 GiB");
    }
}
