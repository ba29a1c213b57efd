//! Terminal escapes and control characters.

use crate::text::is_obeyed;
use std::borrow::Cow;

/// What cleaning a line found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Found {
    pub escapes: bool,
    pub control: bool,
}

/// Removes terminal escapes (ECMA-48 CSI, OSC and their kin, also with the escape byte shown as `^[` or lost in a
/// paste) and control characters.
///
/// PyTorch 2.3 prints the index of a GPU as a raw byte (`GPU \0 has a total capacity of`; the format of a `DeviceIndex`
/// in CUDACachingAllocator.cpp): a control character in that place becomes the number that it is.
pub(super) fn clean(text: &str) -> (Cow<'_, str>, Found) {
    let mut found = Found::default();
    let bare_colours = has_bare_colours(text);
    let needs_work = bare_colours
        || text.contains("^[[")
        || text.chars().any(|c| (c != '\t' && is_obeyed(c)) || c == '\u{a0}')
        || text.contains(" \t has");
    if !needs_work {
        return (Cow::Borrowed(text), found);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        if c == '\u{1b}' {
            found.escapes = true;
            rest = &after[escape_length(after)..];
            continue;
        }
        if c == '^' && after.starts_with("[[") {
            found.escapes = true;
            rest = &after[1..];
            rest = &rest[escape_length(rest)..];
            continue;
        }
        if bare_colours
            && c == '['
            && let Some(length) = colour_length(after)
        {
            found.escapes = true;
            rest = &after[length..];
            continue;
        }
        match c {
            '\t' if !names_a_device(&out, after) => out.push('\t'),
            '\0'..='\u{1f}' if names_a_device(&out, after) || (c != '\t' && after_device_word(&out)) => {
                out.push_str(&u32::from(c).to_string());
                found.control = true;
            }
            '\u{a0}' => out.push(' '),
            _ if c.is_control() => found.control = true,
            _ if is_obeyed(c) => {}
            _ => out.push(c),
        }
        rest = after;
    }
    (Cow::Owned(out), found)
}

/// True when a line end at this place is no line end but the index of GPU 10 or 13 in a PyTorch 2.3 message.
pub(super) fn is_device_index(before: &[u8], after: &[u8]) -> bool {
    before.ends_with(b"GPU ") && after.starts_with(b" has a total cap")
}

fn after_device_word(out: &str) -> bool {
    out.ends_with("GPU ") || out.ends_with("device ")
}

fn names_a_device(out: &str, after: &str) -> bool {
    out.ends_with("GPU ") && after.starts_with(" has a total cap")
}

/// Byte order marks and zero-width blanks that web pages and editors leave in a paste.
/// Length in bytes of the rest of an escape sequence, behind the escape byte.
fn escape_length(after: &str) -> usize {
    let bytes = after.as_bytes();
    match bytes.first() {
        Some(b'[') => {
            let parameters = bytes.iter().skip(1).take_while(|b| (0x20..=0x3f).contains(*b)).count();
            let end = 1 + parameters;
            end + usize::from(bytes.get(end).is_some_and(|b| (0x40..=0x7e).contains(b)))
        }
        // Strings end with BEL or ESC \; any other escape aborts them, and one that never ends must not swallow the
        // line.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => match memchr::memchr2(0x07, 0x1b, bytes) {
            Some(at) if bytes.get(at) == Some(&0x07) => at + 1,
            Some(at) if bytes.get(at + 1) == Some(&b'\\') => at + 2,
            _ => 1,
        },
        Some(b'(' | b')' | b'*' | b'+' | b'#' | b'%') => {
            1 + usize::from(bytes.get(1).is_some_and(|b| (0x20..=0x7e).contains(b)))
        }
        Some(0x30..=0x7e) => 1,
        _ => 0,
    }
}

/// Colour sequences whose escape byte was lost on the way, as `[36m(worker pid=7)[0m`. A reset proves them.
fn has_bare_colours(text: &str) -> bool {
    text.contains("[0m") || text.contains("[39m")
}

/// Length of `36m` or `1;31m` behind a bracket.
fn colour_length(after: &str) -> Option<usize> {
    let bytes = after.as_bytes();
    let digits = bytes.iter().take(12).take_while(|b| b.is_ascii_digit() || **b == b';').count();
    (digits > 0 && bytes.get(digits) == Some(&b'm')).then_some(digits + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_go_and_text_stays() {
        for (dirty, text) in [
            ("\u{1b}[1;31mRuntimeError\u{1b}[0m: CUDA", "RuntimeError: CUDA"),
            ("\u{1b}]8;;file:///a.py\u{7}a.py\u{1b}]8;;\u{7}:12", "a.py:12"),
            ("\u{1b}]0;title\u{1b}\\text", "text"),
            ("\u{1b}]never ends", "never ends"),
            ("^[[33mwarn^[[0m", "warn"),
            ("[36m(Worker pid=7)[0m loss", "(Worker pid=7) loss"),
            ("\u{1b}(Bplain\u{1b}[K", "plain"),
            ("50%\u{1b}[A\u{1b}", "50%"),
        ] {
            let (cleaned, found) = clean(dirty);
            assert_eq!(cleaned, text);
            assert!(found.escapes, "{dirty:?}");
        }
    }

    #[test]
    fn what_only_looks_like_an_escape_stays() {
        for text in ["[rank0] x[3m] ^[ab]", "tensor[0]\tdone", "[W1121 10:00:00] GPU 0\t has"] {
            assert_eq!(clean(text), (Cow::Borrowed(text), Found::default()));
        }
    }

    #[test]
    fn raw_device_index_becomes_its_number() {
        for (byte, number) in [('\0', "0"), ('\u{1}', "1"), ('\t', "9"), ('\n', "10"), ('\r', "13")] {
            let text = format!("GPU {byte} has a total capacity of 79.15 GiB");
            assert_eq!(clean(&text).0, format!("GPU {number} has a total capacity of 79.15 GiB"));
        }
        assert_eq!(clean("a\0b\u{8}c\u{7f}").0, "abc");
    }
}
