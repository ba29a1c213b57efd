//! Numbers as programs print them: with a point or a comma before the decimals, with or without marks between groups of
//! three digits, in hexadecimal, with an exponent. What can be read in two ways is not read.

/// The mark that a text puts before decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locale {
    /// `47.53`, and `1,234` for a thousand.
    Point,
    /// `47,53`, and `1.234` for a thousand.
    Comma,
    /// Nothing in the text shows it. A lone point is taken for decimals, as programs print it unless told otherwise.
    Unknown,
}

/// A number at the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numeral {
    /// Bytes that it takes.
    pub length: usize,
    /// Its digits as one whole number, to be divided by 10 to the power of `decimals`.
    pub digits: u128,
    pub decimals: u32,
    /// `12,345` or a `1.234` where decimals have a comma: a thousand or a fraction, which only the unit or the text
    /// around can tell. `digits` and `decimals` are those of the fraction.
    pub ambiguous: bool,
}

/// More digits than this are no count of bytes.
const MOST_DIGITS: usize = 34;
/// More decimals than this carry nothing: 2^-64 of a TiB is far below a byte.
const MOST_DECIMALS: usize = 18;

impl Numeral {
    /// The value, if it is a whole number: of an ambiguous one the thousands.
    pub fn whole(&self) -> Option<u64> {
        let scale = 10u128.pow(self.decimals);
        let whole = if self.ambiguous { self.digits } else { self.digits / scale };
        (self.ambiguous || self.digits.is_multiple_of(scale))
            .then_some(whole)
            .and_then(|whole| u64::try_from(whole).ok())
    }

    /// The same with the marks read as groups of three digits.
    pub fn grouped(self) -> Numeral {
        if self.ambiguous { Numeral { decimals: 0, ambiguous: false, ..self } } else { self }
    }

    /// The same, read as a text of this locale prints it.
    fn in_locale(self, locale: Locale, comma: bool) -> Numeral {
        match (self.ambiguous, locale, comma) {
            (false, ..) | (_, Locale::Unknown, _) => self,
            (_, Locale::Point, true) | (_, Locale::Comma, false) => self.grouped(),
            _ => Numeral { ambiguous: false, ..self },
        }
    }
}

/// The number that `text` begins with. Nothing where it begins with something else or with what is no number, such as a
/// version of three parts.
pub fn numeral(text: &str, locale: Locale) -> Option<Numeral> {
    let bytes = text.as_bytes();
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        let digits = u128::from_str_radix(hex.get(..end)?, 16).ok()?;
        return Some(Numeral { length: end + 2, digits, decimals: 0, ambiguous: false });
    }
    if !bytes.first()?.is_ascii_digit() {
        return None;
    }
    // The groups of digits and the marks between them; a mark that no digit follows ends a clause.
    let mut groups: Vec<(usize, usize)> = Vec::new();
    let mut marks: Vec<char> = Vec::new();
    let mut at = 0;
    loop {
        let end = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        groups.push((at, end));
        let Some(mark) = text[end..].chars().next() else { break };
        let next = end + mark.len_utf8();
        let is_mark = matches!(mark, '.' | ',' | '_' | '\'' | '’' | '\u{a0}' | '\u{202f}' | '\u{2009}');
        if !is_mark || !bytes.get(next).is_some_and(u8::is_ascii_digit) || groups.len() > MOST_DIGITS {
            break;
        }
        marks.push(mark);
        at = next;
    }
    if marks.is_empty()
        && let Some(number) = grouped_by_blanks(text, groups.first()?.1)
    {
        return Some(number);
    }
    let three = |groups: &[(usize, usize)]| groups.iter().all(|(from, to)| to - from == 3);
    let first = groups.first()?;
    let starts_group = first.1 - first.0 <= 3;
    // Which of the marks are groups, and whether the last one stands before decimals.
    let (used, decimal, ambiguous) = match marks.as_slice() {
        [] => (0, false, false),
        [mark @ (',' | '.')] => {
            let could_group = starts_group && three(&groups[1..]) && bytes[0] != b'0';
            match mark {
                ',' => (1, true, could_group),
                _ => (1, true, could_group && locale == Locale::Comma),
            }
        }
        [.., last] => {
            let inner = &marks[..marks.len() - 1];
            let last_group = groups.len() - 1;
            if marks.iter().all(|mark| mark == last) {
                if starts_group && three(&groups[1..]) {
                    (marks.len(), false, false)
                } else if *last == '.' {
                    return None;
                } else {
                    (0, false, false)
                }
            } else if matches!(last, '.' | ',')
                && inner.windows(2).all(|pair| pair[0] == pair[1])
                && !inner.contains(last)
                && starts_group
                && three(&groups[1..last_group])
            {
                (marks.len(), true, false)
            } else {
                (0, false, false)
            }
        }
    };
    let last = groups.get(used)?;
    let mut decimals = if decimal { (last.1 - last.0).min(MOST_DECIMALS) } else { 0 };
    let mut digits = String::new();
    for (i, (from, to)) in groups.iter().take(used + 1).enumerate() {
        let to = if decimal && i == used { from + decimals } else { *to };
        digits.push_str(&text[*from..to]);
    }
    if digits.trim_start_matches('0').len() > MOST_DIGITS {
        return None;
    }
    let mut digits: u128 = digits.parse().ok()?;
    let mut length = last.1;
    if let Some((power, taken)) = exponent(&text[length..]) {
        length += taken;
        let shift = power.unsigned_abs() as usize;
        if power < 0 {
            decimals += shift;
        } else {
            let spent = shift.min(decimals);
            decimals -= spent;
            digits = digits.checked_mul(10u128.checked_pow((shift - spent) as u32)?)?;
        }
        if decimals > MOST_DIGITS {
            return None;
        }
    }
    let comma = marks.first() == Some(&',');
    Some(Numeral { length, digits, decimals: decimals as u32, ambiguous }.in_locale(locale, comma))
}

/// `1 234 567`: groups of three digits behind single blanks, two of them at least, for one may be another number.
/// `first` is where the first group ends.
fn grouped_by_blanks(text: &str, first: usize) -> Option<Numeral> {
    if !(1..=3).contains(&first) || text.starts_with('0') {
        return None;
    }
    let mut end = first;
    let digits_at = |at: usize| text.as_bytes().iter().skip(at).take_while(|byte| byte.is_ascii_digit()).count();
    while text[end..].starts_with(' ') && digits_at(end + 1) == 3 {
        end += 4;
    }
    if end < first + 8 {
        return None;
    }
    let mut number: String = text[..end].chars().filter(char::is_ascii_digit).collect();
    let mut decimals = 0;
    if text[end..].starts_with(['.', ',']) {
        decimals = digits_at(end + 1).min(MOST_DECIMALS);
        number.push_str(&text[end + 1..end + 1 + decimals]);
        end += if decimals > 0 { 1 + digits_at(end + 1) } else { 0 };
    }
    if number.len() > MOST_DIGITS {
        return None;
    }
    Some(Numeral { length: end, digits: number.parse().ok()?, decimals: decimals as u32, ambiguous: false })
}

/// The power of ten that a text begins with, such as `e+09`, and the bytes that it takes.
fn exponent(text: &str) -> Option<(i32, usize)> {
    let rest = text.strip_prefix(['e', 'E'])?;
    let (negative, signed) = match rest.as_bytes().first()? {
        b'-' => (true, 1),
        b'+' => (false, 1),
        _ => (false, 0),
    };
    let digits = rest.get(signed..)?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let power: i32 = digits.get(..end).filter(|digits| (1..=2).contains(&digits.len()))?.parse().ok()?;
    Some((if negative { -power } else { power }, 1 + signed + end))
}

impl Locale {
    /// The locale of a text by its numbers that are followed by a unit of more than a byte: one that shows both is told
    /// by neither.
    pub fn of(text: &str) -> Locale {
        let bytes = text.as_bytes();
        let (mut point, mut comma) = (false, false);
        let mut at = 0;
        while let Some(start) = bytes.get(at..).and_then(|rest| rest.iter().position(u8::is_ascii_digit)) {
            let from = at + start;
            let run = bytes[from..].iter().take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b',')).count();
            at = from + run;
            let marks: Vec<usize> =
                bytes[from..at].iter().enumerate().filter(|(_, b)| !b.is_ascii_digit()).map(|(i, _)| i).collect();
            let Some(last) = marks.last().copied().filter(|last| last + 1 < run) else { continue };
            let unit = super::unit_in_front(text[at..].trim_start()).is_some_and(|(unit, _)| unit > 1);
            let mark = bytes[from + last];
            let behind = run - last - 1;
            let mixed = marks.iter().any(|i| bytes[from + i] != mark);
            // `12,431,951 MB`: what stands between groups is not what stands before decimals.
            let ends = marks.iter().skip(1).copied().chain([run]);
            let groups = marks.len() > 1 && !mixed && marks.iter().zip(ends).all(|(a, b)| b - a == 4);
            if unit && groups {
                point |= mark == b',';
                comma |= mark == b'.';
            }
            if unit
                && (mixed && marks.iter().filter(|i| bytes[from + **i] == mark).count() == 1
                    || marks.len() == 1 && behind != 3)
            {
                point |= mark == b'.';
                comma |= mark == b',';
            }
        }
        match (point, comma) {
            (true, false) => Locale::Point,
            (false, true) => Locale::Comma,
            _ => Locale::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(u128, u32, usize)> {
        numeral(text, Locale::Unknown).filter(|n| !n.ambiguous).map(|n| (n.digits, n.decimals, n.length))
    }

    #[test]
    fn a_comma_followed_by_other_than_three_digits_stands_before_decimals() {
        assert_eq!(read("47,53 GiB"), Some((4753, 2, 5)));
        assert_eq!(read("2,00 MiB"), Some((200, 2, 4)));
        assert_eq!(read("0,125 GiB"), Some((125, 3, 5)));
        assert_eq!(read("64.12, 3"), Some((6412, 2, 5)));
        assert_eq!(read("1.234,56 MiB"), Some((123_456, 2, 8)));
    }

    #[test]
    fn groups_of_three_digits_are_one_number() {
        for text in ["1,234,567", "1.234.567", "1_234_567", "1'234'567", "1\u{202f}234\u{202f}567"] {
            assert_eq!(read(text).map(|n| (n.0, n.1)), Some((1_234_567, 0)), "{text}");
        }
        assert_eq!(read("1,234.56 MiB").map(|n| (n.0, n.1)), Some((123_456, 2)));
        assert_eq!(read("1_048_576").map(|n| n.0), Some(1 << 20));
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_ambiguous_until_the_text_tells() {
        let twelve = |locale| numeral("12,345 MiB", locale).unwrap();
        assert!(twelve(Locale::Unknown).ambiguous);
        assert_eq!((twelve(Locale::Point).digits, twelve(Locale::Point).decimals), (12345, 0));
        assert_eq!((twelve(Locale::Comma).digits, twelve(Locale::Comma).decimals), (12345, 3));
        assert_eq!(numeral("15.263 GiB", Locale::Unknown).map(|n| (n.decimals, n.ambiguous)), Some((3, false)));
        assert_eq!(numeral("15.263 MiB", Locale::Comma).map(|n| (n.decimals, n.ambiguous)), Some((0, false)));
        assert_eq!(numeral("524,284kB", Locale::Unknown).and_then(|n| n.whole()), Some(524_284));
    }

    #[test]
    fn hexadecimal_exponents_and_what_is_no_number() {
        assert_eq!(read("0x1000 bytes"), Some((4096, 0, 6)));
        assert_eq!(read("1.5e+09"), Some((1_500_000_000, 0, 7)));
        assert_eq!(read("2.1.0"), None);
        assert_eq!(read("724 383 005 bytes"), Some((724_383_005, 0, 11)));
        assert_eq!(read("7 024 383,25 MB"), Some((702_438_325, 2, 12)));
        assert_eq!(read("12 345 of"), Some((12, 0, 2)));
        assert_eq!(read("nan"), None);
        assert_eq!(read("1e400"), Some((1, 0, 1)));
        assert_eq!(read(&"9".repeat(60)), None);
    }

    #[test]
    fn a_text_shows_its_locale_in_the_figures_with_units() {
        assert_eq!(Locale::of("needs 47,53 GiB of 79,10 GiB"), Locale::Comma);
        assert_eq!(Locale::of("needs 12,345 MiB of 79.1GiB, pid 4,1"), Locale::Point);
        assert_eq!(Locale::of("needs 12,345 MiB"), Locale::Unknown);
        assert_eq!(Locale::of("needs 12,431,951 MiB of 75,000 MiB"), Locale::Point);
        assert_eq!(Locale::of("needs 12.431.951 KiB of 75.000 MiB"), Locale::Comma);
        assert_eq!(Locale::of("1,5 GiB or 1.5 GiB"), Locale::Unknown);
    }
}
