//! Byte quantities: parsing and printing without losing a digit, and what a printed figure can stand for.
//!
//! Programs print memory rounded: `64.12 MiB` is any number of bytes that rounds to it. [`Figure`] keeps the printed
//! value together with its half-width, [`Interval`] carries the uncertainty through arithmetic.

mod numeral;

pub use numeral::{Locale, Numeral, numeral};

use crate::evidence::Span;
use std::fmt;

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;
pub const GIB: u64 = 1 << 30;
pub const TIB: u64 = 1 << 40;

/// A number of bytes that prints in binary units with two decimals, in the largest unit of which it is one, rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.0;
        // What would round to 1024.00 of a unit is 1.00 of the next.
        let below = |unit: u64| (n as f64 / unit as f64 * 100.0).round() < 102_400.0;
        let text = if n < KIB {
            format!("{n} B")
        } else if below(KIB) {
            format!("{:.2} KiB", n as f64 / KIB as f64)
        } else if below(MIB) {
            format!("{:.2} MiB", n as f64 / MIB as f64)
        } else if below(GIB) {
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

/// An amount in as many digits as its error leaves: `4.15 GiB`, `≈ 676 MiB`; `≤ 26 MiB` of what may be nothing at all.
pub fn about(amount: Interval) -> String {
    let (width, middle) = (amount.half_width(), amount.middle());
    if amount.low <= 0 && amount.high > 0 {
        return format!("≤ {}", rounded(amount.high as f64, 0));
    }
    if i128::from(width).saturating_mul(200) <= middle.abs() {
        return signed(middle);
    }
    format!("≈ {}{}", if middle < 0 { "-" } else { "" }, rounded(middle.abs() as f64, width))
}

/// A size with no more decimals than its error, half a width in bytes, leaves.
pub fn rounded(bytes: f64, half_width: u64) -> String {
    let (unit, name, decimals) = digits(bytes, half_width);
    format!("{:.decimals$} {name}", bytes / unit as f64)
}

/// The unit of a size in bytes and how many decimals its error leaves.
pub fn digits(bytes: f64, half_width: u64) -> (u64, &'static str, usize) {
    let (unit, name) = match bytes {
        b if b >= TIB as f64 => (TIB, "TiB"),
        b if b >= GIB as f64 => (GIB, "GiB"),
        b if b >= MIB as f64 => (MIB, "MiB"),
        b if b >= KIB as f64 => (KIB, "KiB"),
        _ => (1, "B"),
    };
    let error = half_width as f64 / unit as f64;
    let decimals = if unit == 1 || error > 0.1 {
        0
    } else if error > 0.01 {
        1
    } else {
        2
    };
    (unit, name, decimals)
}

/// A count with its thousands apart: `6,738,415,616`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
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

/// Words for units, the longest that share a beginning first: their power of 1024, and whether they say so themselves.
/// `Go`, `Мо` and their like are what translated programs print.
const WORDS: [(&str, u32, bool); 65] = [
    ("kibibytes", 1, true),
    ("mebibytes", 2, true),
    ("gibibytes", 3, true),
    ("kilobytes", 1, false),
    ("megabytes", 2, false),
    ("gigabytes", 3, false),
    ("terabytes", 4, false),
    ("kilobyte", 1, false),
    ("megabyte", 2, false),
    ("gigabyte", 3, false),
    ("kbytes", 1, false),
    ("mbytes", 2, false),
    ("gbytes", 3, false),
    ("kbyte", 1, false),
    ("mbyte", 2, false),
    ("gbyte", 3, false),
    ("megs", 2, false),
    ("gigs", 3, false),
    ("meg", 2, false),
    ("gig", 3, false),
    ("octets", 0, false),
    ("bytes", 0, false),
    ("byte", 0, false),
    ("байта", 0, false),
    ("байт", 0, false),
    ("字节", 0, false),
    ("字節", 0, false),
    ("바이트", 0, false),
    ("バイト", 0, false),
    ("кбайт", 1, false),
    ("мбайт", 2, false),
    ("гбайт", 3, false),
    ("киб", 1, true),
    ("миб", 2, true),
    ("гиб", 3, true),
    ("кб", 1, false),
    ("мб", 2, false),
    ("гб", 3, false),
    ("тб", 4, false),
    ("kib", 1, true),
    ("mib", 2, true),
    ("gib", 3, true),
    ("tib", 4, true),
    ("pib", 5, true),
    ("eib", 6, true),
    ("kio", 1, true),
    ("mio", 2, true),
    ("gio", 3, true),
    ("kb", 1, false),
    ("mb", 2, false),
    ("gb", 3, false),
    ("tb", 4, false),
    ("pb", 5, false),
    ("eb", 6, false),
    ("ki", 1, true),
    ("mi", 2, true),
    ("gi", 3, true),
    ("ti", 4, true),
    ("ko", 1, false),
    ("mo", 2, false),
    ("go", 3, false),
    ("k", 1, false),
    ("m", 2, false),
    ("g", 3, false),
    ("t", 4, false),
];

/// The multiplier of a unit word, or `None` for a word that is no unit. Case does not matter.
pub fn unit(word: &str, base: Base) -> Option<u64> {
    let lower = word.to_lowercase();
    if matches!(lower.as_str(), "" | "b") {
        return Some(1);
    }
    let (_, power, binary) = WORDS.iter().find(|(word, ..)| *word == lower)?;
    multiplier(*power, *binary || base == Base::Binary)
}

fn multiplier(power: u32, binary: bool) -> Option<u64> {
    if binary { 1u64.checked_shl(10 * power) } else { 1000u64.checked_pow(power) }
}

/// The unit that `text` begins with: its multiplier with a base of 1024 and its word. A single letter, and a word that
/// is also the beginning of others (`Go`), must end there; after the others the next word may follow without a blank. A
/// rate (`GB/s`) is no unit of memory.
pub fn unit_in_front(text: &str) -> Option<(u64, &str)> {
    // Most of what stands behind a number is a mark.
    text.chars().next().filter(|first| first.is_alphabetic())?;
    let length_of = |word: &str| {
        let mut there = text.char_indices();
        for c in word.chars() {
            let (_, given) = there.next()?;
            if given != c && given.to_lowercase().next() != Some(c) {
                return None;
            }
        }
        Some(there.offset())
    };
    let ends = |length: usize| !text[length..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let (length, power) = WORDS
        .iter()
        .filter_map(|(word, power, _)| {
            let length = length_of(word)?;
            let clear = word.chars().count() > 2 || word.ends_with(['b', 'б']);
            (clear || ends(length)).then_some((length, *power))
        })
        .chain((text.starts_with(['B', 'b']) && ends(1)).then_some((1, 0)))
        .next()?;
    let rest = &text[length..];
    if rest.starts_with("/s") || rest.starts_with("ps") {
        return None;
    }
    Some((multiplier(power, true)?, &text[..length]))
}

/// A number times a unit, in bytes and exactly: `round(number × unit)`. Nothing where it does not fit 64 bits, or where
/// the number can be read in two ways and the unit does not tell which: counts of bytes and kB have no fraction.
fn product(number: Numeral, unit: u64) -> Option<Size> {
    let number = if unit <= 1024 { number.grouped() } else { number };
    if number.ambiguous {
        return None;
    }
    let scale = 10u128.checked_pow(number.decimals)?;
    if unit == 1 && !number.digits.is_multiple_of(scale) {
        return None;
    }
    let scaled = number.digits.checked_mul(u128::from(unit))?;
    let bytes = scaled.checked_add(scale / 2)? / scale;
    let half_width = if unit == 1 { 0 } else { u128::from(unit).div_ceil(2 * scale) };
    Some(Size { bytes: u64::try_from(bytes).ok()?, half_width: u64::try_from(half_width).ok()? })
}

/// Parses a number (`64.12`, `47,53`, `1,234,567`, `512.`) times a unit into bytes; see [`size_in`].
pub fn size(number: &str, unit_word: &str, base: Base) -> Option<Size> {
    size_in(number, unit_word, base, Locale::Unknown)
}

/// Parses a number of a text with this locale times a unit into bytes, exactly: the result is `round(number × unit)`.
/// `None` when it is no number, can be read in two ways, the unit is unknown, or the result does not fit 64 bits.
pub fn size_in(number: &str, unit_word: &str, base: Base, locale: Locale) -> Option<Size> {
    let number = number.trim().trim_end_matches(['.', ',']);
    let fraction = number.starts_with('.').then(|| format!("0{number}"));
    let number = fraction.as_deref().unwrap_or(number);
    let numeral = numeral(number, locale).filter(|numeral| numeral.length == number.len())?;
    product(numeral, unit(unit_word.trim(), base)?)
}

/// Parses `4.15 GiB`, `300MiB`, `128 MB`, `1024 bytes` as one string; see [`size_in`].
pub fn parse(text: &str, base: Base) -> Option<Size> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(text.len());
    size(text[..split].trim(), &text[split..], base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_shows_no_digit_that_its_error_swallows() {
        assert_eq!(about(Interval::exactly(4_456_028_570)), "4.15 GiB");
        assert_eq!(about(Interval::between(697_932_183, 719_407_023)), "≈ 676 MiB");
        assert_eq!(about(Interval::between(-5, 26_843_548)), "≤ 25.60 MiB");
    }

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
    fn a_size_is_printed_in_the_largest_unit_of_which_it_is_one() {
        let printed =
            [1023, 1024, MIB - 1, MIB, GIB - 1, GIB, GIB + GIB / 100, 1024 * GIB].map(|n| Bytes(n).to_string());
        let want = ["1023 B", "1.00 KiB", "1.00 MiB", "1.00 MiB", "1.00 GiB", "1.00 GiB", "1.01 GiB", "1.00 TiB"];
        assert_eq!(printed, want);
        assert!((0..40).all(|shift| !Bytes((1u64 << shift) * 1023 / 1024).to_string().starts_with("1024.")));
    }
}
