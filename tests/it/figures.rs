//! The figures of a message as one word each, and the short form in which tests write what they expect.

use oomdoc::dialect::Facts;

/// The sizes and the device: `requested=4456448`, `device=0`.
pub fn of(facts: &Facts) -> Vec<String> {
    let sizes = facts.sizes.iter().map(|(fact, figure)| {
        let name = fact.id().trim_end_matches("_bytes");
        format!("{name}={}", figure.bytes)
    });
    sizes.chain(facts.device.value().map(|index| format!("device={index}"))).collect()
}

/// `requested=4.25MiB device=0 x?` as [`of`] writes it, sorted. What has no unit stands as it is.
pub fn expected(text: &str) -> Vec<String> {
    let mut all: Vec<String> = text
        .split_whitespace()
        .map(|field| {
            let Some((name, value)) = field.split_once('=') else { return field.to_string() };
            let unit = value.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
            let factor = match unit {
                "" if value.contains('.') => 1.0,
                "" => return field.to_string(),
                "B" => 1.0,
                "KiB" => 1024.0,
                "MiB" => 1024.0 * 1024.0,
                "GiB" => 1024.0 * 1024.0 * 1024.0,
                _ => panic!("{unit}"),
            };
            let number: f64 = value[..value.len() - unit.len()].parse().expect("a number");
            let bytes = if unit.is_empty() { number } else { (number * factor).round() };
            format!("{name}={bytes}")
        })
        .collect();
    all.sort();
    all
}
