//! Messages that were packed into a string: JSON, a Python literal, an HTML page.

use super::scan::Literals;

/// A packed message may hold other packed messages: a log line in JSON in a log line. Deeper nesting is not seen in
/// logs.
const DEPTH: usize = 3;
/// Most lines that one line is unpacked into; what follows stays on the last.
const MOST_PIECES: usize = 16_384;

/// Unpacks a line into the lines it holds, or returns nothing when it holds no escapes.
///
/// `\n` also stands in Windows paths (`C:\new`), so escapes count only in a line that carries a failure's text, or in a
/// quoted string with several line ends; and never inside a path.
pub(super) fn undo(line: &str, literals: &Literals) -> Option<Vec<String>> {
    let mut text = entities(line);
    for _ in 0..DEPTH {
        let current = text.as_deref().unwrap_or(line);
        if !is_packed(current, literals) {
            break;
        }
        match unpack(current) {
            Some(unpacked) => text = Some(unpacked),
            None => break,
        }
    }
    let text = text?;
    if !text.contains(['\n', '\r']) {
        return Some(vec![text]);
    }
    let mut pieces: Vec<String> = Vec::new();
    let mut rest = text.as_str();
    while pieces.len() + 1 < MOST_PIECES
        && let Some(at) = line_end(rest)
    {
        pieces.push(rest[..at].to_string());
        let crlf = rest[at..].starts_with("\r\n");
        rest = &rest[at + if crlf { 2 } else { 1 }..];
    }
    pieces.push(rest.to_string());
    Some(pieces)
}

fn line_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr2_iter(b'\n', b'\r', bytes)
        .find(|at| !super::terminal::is_device_index(&bytes[..*at], &bytes[at + 1..]))
}

fn is_packed(line: &str, literals: &Literals) -> bool {
    if memchr::memchr(b'\\', line.as_bytes()).is_none() {
        return false;
    }
    let bytes = line.as_bytes();
    let (mut ends, mut plain_ends, mut unicode) = (0usize, 0usize, 0usize);
    let mut path = PathTracker::default();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte != b'\\' || path.inside() {
            path.step(byte);
            at += 1;
            continue;
        }
        let slashes = bytes[at..].iter().take_while(|b| **b == b'\\').count();
        match bytes.get(at + slashes) {
            Some(b'n') => {
                ends += 1;
                let word_before = at > 0 && bytes[at - 1].is_ascii_alphanumeric();
                let word_after = bytes.get(at + slashes + 1).is_some_and(u8::is_ascii_lowercase);
                plain_ends += usize::from(!(word_before && word_after));
            }
            Some(b'u') if hex(line, at + slashes + 1, 4).is_some() => unicode += 1,
            _ => {}
        }
        for _ in 0..slashes {
            path.step(b'\\');
        }
        at += slashes;
    }
    let quoted = line.contains(['"', '\'']);
    (ends >= 2 && plain_ends >= 1 && quoted)
        || unicode >= 2
        || (unicode >= 1 && quoted)
        || ((ends >= 1 || line.contains("\\\"")) && literals.any(line.as_bytes()))
}

/// Follows the word that is being read, to tell the backslashes of a Windows path.
#[derive(Default)]
struct PathTracker {
    last: [u8; 2],
    inside: bool,
}

impl PathTracker {
    fn step(&mut self, byte: u8) {
        if byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b',' | b'(' | b')' | b'<' | b'>') {
            *self = PathTracker::default();
            return;
        }
        // `C:\` begins a path when what follows is no escaped quote.
        if byte != b'\\' && self.last == [b':', b'\\'] {
            self.inside = true;
        }
        self.last = [self.last[1], byte];
    }

    fn inside(&self) -> bool {
        self.inside || self.last == [b':', b'\\']
    }
}

/// Undoes one level of escapes.
fn unpack(line: &str) -> Option<String> {
    let mut out = String::with_capacity(line.len());
    let mut changed = false;
    let mut path_start: Option<usize> = None;
    let (mut word, mut read) = (0, 0);
    let mut rest = line;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        // Where the word begins that the backslash stands in: looked for only in what is new.
        if let Some(at) = out[read..].rfind(|c: char| c.is_ascii_whitespace() || "\"',()<>".contains(c)) {
            word = read + at + 1;
        }
        read = out.len();
        let drive = path_start == Some(word)
            || (out.len() == word + 2
                && out.ends_with(':')
                && out.as_bytes()[word].is_ascii_alphabetic()
                && !rest.starts_with(['"', '\\']));
        if drive {
            path_start = Some(word);
            out.push('\\');
            continue;
        }
        let mut used = 1;
        match rest.as_bytes().first() {
            Some(b'n') => out.push('\n'),
            Some(b'r') => out.push('\r'),
            Some(b't') => out.push('\t'),
            Some(quote @ (b'"' | b'\'' | b'/' | b'\\')) => out.push(char::from(*quote)),
            Some(b'u') => match utf16_escape(rest) {
                Some((c, length)) => {
                    out.push(c);
                    used = length;
                }
                None => {
                    out.push('\\');
                    used = 0;
                }
            },
            Some(b'x') => {
                let bytes = byte_escapes(rest);
                match std::str::from_utf8(&bytes) {
                    Ok(text) if !bytes.is_empty() => {
                        out.push_str(text);
                        used = bytes.len() * 4 - 1;
                    }
                    // Kept as they are, and not looked at again one by one.
                    _ => {
                        out.push('\\');
                        let length = (bytes.len() * 4).saturating_sub(1);
                        out.push_str(rest.get(..length).unwrap_or_default());
                        rest = rest.get(length..).unwrap_or_default();
                        used = 0;
                    }
                }
            }
            _ => {
                out.push('\\');
                used = 0;
            }
        }
        changed |= used > 0;
        rest = rest.get(used..).unwrap_or_default();
    }
    out.push_str(rest);
    changed.then_some(out)
}

/// The number that `digits` hexadecimal digits at a place spell.
fn hex(text: &str, at: usize, digits: usize) -> Option<u32> {
    let spelled = text.get(at..at.checked_add(digits)?)?;
    if !spelled.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(spelled, 16).ok()
}

/// `uXXXX` behind a backslash, with the second half of a surrogate pair; the character and the bytes that it takes.
fn utf16_escape(rest: &str) -> Option<(char, usize)> {
    let first = hex(rest, 1, 4)?;
    if (0xd800..0xdc00).contains(&first) {
        let low = rest.get(5..7).filter(|mark| *mark == "\\u").and_then(|_| hex(rest, 7, 4));
        return Some(match low {
            Some(low @ 0xdc00..0xe000) => {
                let code = 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00);
                (char::from_u32(code).unwrap_or('\u{fffd}'), 11)
            }
            _ => ('\u{fffd}', 5),
        });
    }
    Some((char::from_u32(first).unwrap_or('\u{fffd}'), 5))
}

/// The bytes of `xE4\xB8\xAD`, as Python prints a bytes literal; the first backslash is already taken.
fn byte_escapes(rest: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut at = 0;
    while let Some(value) = hex(rest, at + 1, 2).and_then(|value| u8::try_from(value).ok()) {
        bytes.push(value);
        if rest.get(at + 3..at + 5) != Some("\\x") {
            break;
        }
        at += 4;
    }
    bytes
}

/// Replaces HTML entities; nothing when there are none.
fn entities(line: &str) -> Option<String> {
    let mut text: Option<String> = None;
    // `&amp;gt;` stands in pages that were escaped twice.
    for _ in 0..2 {
        match decode_entities(text.as_deref().unwrap_or(line)) {
            Some(decoded) => text = Some(decoded),
            None => break,
        }
    }
    text
}

fn decode_entities(line: &str) -> Option<String> {
    const LONGEST: usize = 8;
    memchr::memchr(b'&', line.as_bytes())?;
    let mut out = String::with_capacity(line.len());
    let mut changed = false;
    let mut rest = line;
    while let Some(at) = memchr::memchr(b'&', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let window = &rest.as_bytes()[..rest.len().min(LONGEST + 1)];
        let entity = memchr::memchr(b';', window).and_then(|end| Some((entity(rest.get(..end)?)?, end + 1)));
        match entity {
            Some((c, used)) => {
                out.push(c);
                rest = &rest[used..];
                changed = true;
            }
            None => out.push('&'),
        }
    }
    out.push_str(rest);
    changed.then_some(out)
}

fn entity(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => hex(digits, 0, digits.len())?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undone(line: &str) -> Vec<String> {
        undo(line, &Literals::new(["out of memory"])).unwrap_or_else(|| vec![line.to_string()])
    }

    #[test]
    fn json_message_is_split_into_its_lines() {
        assert_eq!(
            undone(
                r#"{"message": "Traceback (most recent call last):\n  File \"t.py\", line 3\nRuntimeError: CUDA out of memory."}"#
            ),
            [
                r#"{"message": "Traceback (most recent call last):"#,
                r#"  File "t.py", line 3"#,
                r#"RuntimeError: CUDA out of memory."}"#
            ]
        );
    }

    #[test]
    fn nested_escapes_are_undone_level_by_level() {
        assert_eq!(
            undone(r#"{"log":"{\"msg\":\"CUDA out of memory\\nTried\"}\n"}"#),
            [r#"{"log":"{"msg":"CUDA out of memory"#, r#"Tried"}"#, r#""}"#]
        );
    }

    #[test]
    fn unicode_escapes_become_characters() {
        assert_eq!(undone(r#"{"m": "\u663e\u5b58 \ud83d\udd0d"}"#), [r#"{"m": "显存 🔍"}"#]);
        assert_eq!(undone(r"out of memory b'\xe6\x98\xbe\xe5\xad\x98\n'"), ["out of memory b'显存", "'"]);
    }

    #[test]
    fn windows_paths_are_no_line_ends() {
        for line in [
            r#"  File "D:\users\n\new\ndarray.py", line 3, out of memory"#,
            r#"  File "lib\numpy\ndarray.py""#,
            r"C:\new\table.csv",
            r#"plain "text" with one \n in it"#,
        ] {
            assert_eq!(undone(line), [line]);
        }
    }

    #[test]
    fn entities_become_their_characters() {
        assert_eq!(undone("&gt;&gt; &quot;a&quot; &amp;lt;b&#39; &unknown; & c"), ["\u{3e}> \"a\" <b' &unknown; & c"]);
    }
}
