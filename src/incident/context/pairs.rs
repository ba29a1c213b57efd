//! `key: value`, `key=value`, `--key value`, `'key': value`: the one shape in which nearly every program dumps its
//! settings.

/// A key with the value that stands after it on the same line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair<'a> {
    /// The key as written, with its dots, slashes and hyphens but without leading hyphens.
    pub key: &'a str,
    /// The value without quotes, up to the next separator; `true` for a flag without a value.
    pub value: &'a str,
    /// The line from the value's first byte on, for values that have a unit behind a space.
    pub rest: &'a str,
    /// Hyphens in front of the key, 0 … 2: a command-line option has one or two.
    pub hyphens: u8,
    /// Byte position of the key in the line.
    pub start: usize,
}

/// The entry of a table that a line is: `key    value`, `key ........ value`, `| key | value |`.
pub(super) fn entry(text: &str) -> Option<Pair<'_>> {
    let mark = |c: char| matches!(c, '|' | '│' | '┃');
    let framed = text.trim().starts_with(mark);
    let inner = text.trim().trim_matches(mark).trim();
    let end = inner.find(|c: char| !c.is_ascii() || !in_key(c as u8))?;
    let (key, after) = inner.split_at(end);
    let value = after.trim_start_matches(|c: char| c == ' ' || c == '\t' || c == '.' || framed && mark(c));
    let gap = &after[..after.len() - value.len()];
    let leader = !gap.contains('.') || gap.contains("..");
    let gapped = gap.len() >= 2 && framed == gap.contains(mark) && leader;
    let single = !value.is_empty() && !value.contains([' ', '\t', '|', '│', '┃']);
    (gapped && single && key.starts_with(|c: char| c.is_ascii() && starts_key(c as u8))).then(|| {
        let start = key.as_ptr().addr() - text.as_ptr().addr();
        let plain = value.trim_matches(['\'', '"']).trim_end_matches(',');
        Pair { key, value: plain, rest: value, hyphens: 0, start }
    })
}

/// Finds the pairs of one line, left to right.
pub(super) fn pairs(text: &str) -> Pairs<'_> {
    Pairs { text, at: 0 }
}

pub(super) struct Pairs<'a> {
    text: &'a str,
    at: usize,
}

fn starts_key(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn in_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/')
}

/// Skips bytes of a set.
fn skip(bytes: &[u8], mut at: usize, set: &[u8]) -> usize {
    while bytes.get(at).is_some_and(|b| set.contains(b)) {
        at += 1;
    }
    at
}

impl<'a> Iterator for Pairs<'a> {
    type Item = Pair<'a>;

    fn next(&mut self) -> Option<Pair<'a>> {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            let start = self.at;
            if !starts_key(bytes[start]) || start > 0 && bytes[start - 1].is_ascii_alphanumeric() {
                self.at += 1;
                continue;
            }
            let mut end = start;
            while end < bytes.len() && in_key(bytes[end]) {
                end += 1;
            }
            self.at = end;
            let hyphens = bytes[..start].iter().rev().take(2).take_while(|b| **b == b'-').count() as u8;
            // `memory(GiB)` keeps its unit.
            if bytes.get(end) == Some(&b'(')
                && let Some(close) = bytes[end..].iter().take(6).position(|b| *b == b')')
                && matches!(bytes.get(end + close + 1), Some(b'\'' | b'"' | b':' | b'='))
            {
                end += close + 1;
            }
            // `batch 8 x 512 tokens`: a count with its size is no place in a series of batches.
            if self.text[start..end].eq_ignore_ascii_case("batch")
                && let Some((value, rest)) = self.counted(end)
            {
                return Some(Pair { key: &self.text[start..end], value, rest, hyphens, start });
            }
            if let Some((value, rest)) = self.value_after(end, hyphens) {
                // The value is read again for pairs of its own: `env X=1 python`, `cmd='--batch 4'`.
                return Some(Pair { key: &self.text[start..end], value, rest, hyphens, start });
            }
        }
        None
    }
}

impl<'a> Pairs<'a> {
    /// The number behind a key, where a size follows it: ` 8 x 512`.
    fn counted(&self, end: usize) -> Option<(&'a str, &'a str)> {
        let rest = self.text.get(end..)?.strip_prefix(' ')?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (count, behind) = rest.split_at(digits);
        let size = behind.trim_start().strip_prefix(['x', '×'])?.trim_start();
        (digits > 0 && size.starts_with(|c: char| c.is_ascii_digit())).then_some((count, rest))
    }

    /// The value after a key that ends at `end`, if one follows.
    fn value_after(&self, end: usize, hyphens: u8) -> Option<(&'a str, &'a str)> {
        let bytes = self.text.as_bytes();
        let after_quote = skip(bytes, end, b"'\"`*");
        let after_quote = skip(bytes, after_quote, b"]");
        let separator = skip(bytes, after_quote, b" \t");
        match bytes.get(separator) {
            Some(b'=' | b':') => {
                let from = skip(bytes, separator, b"=:");
                Some(self.value_at(skip(bytes, from, b" \t*")))
            }
            // The full-width colon of Chinese text, three bytes of UTF-8.
            Some(0xEF) if self.text[separator..].starts_with('：') => {
                Some(self.value_at(skip(bytes, separator + 3, b" \t*")))
            }
            // `'--batch', '64'` of a list, `setdefault("X", "y")`.
            Some(b',') if after_quote > end => {
                let next = skip(bytes, separator + 1, b" \t");
                let quoted = matches!(bytes.get(next), Some(b'\'' | b'"'));
                (quoted && bytes.get(next + 1) != Some(&b'-')).then(|| self.value_at(next))
            }
            Some(_) if hyphens > 0 && separator > end => {
                if bytes[separator] == b'-' && bytes.get(separator + 1).is_some_and(|b| !b.is_ascii_digit())
                    || bytes[separator] == b'\\'
                {
                    Some(("true", ""))
                } else {
                    Some(self.value_at(separator))
                }
            }
            None if hyphens == 2 => Some(("true", "")),
            _ => None,
        }
    }

    fn value_at(&self, from: usize) -> (&'a str, &'a str) {
        let rest = &self.text[from..];
        let bytes = rest.as_bytes();
        let close = match bytes.first() {
            Some(quote @ (b'\'' | b'"' | b'`')) => Some((*quote, 1)),
            Some(b'[') => Some((b']', 0)),
            _ => None,
        };
        if let Some((closing, inset)) = close
            && let Some(length) = bytes[1..].iter().position(|b| *b == closing)
        {
            let end = if inset == 1 { length + 1 } else { length + 2 };
            return (&rest[inset..end], rest);
        }
        let end =
            rest.find([' ', '\t', ',', ';', ')', ']', '}', '|', '`', '\'', '"', '，', '（']).unwrap_or(rest.len());
        (rest[..end].trim_end_matches(['.', '*']), rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        pairs(text).map(|p| (p.key.to_string(), p.value.to_string())).collect()
    }

    fn has(text: &str, key: &str, value: &str) {
        assert!(read(text).contains(&(key.into(), value.into())), "{:?}", read(text));
    }

    #[test]
    fn every_way_of_dumping_settings_is_read() {
        has("python a.py --batch-size 16 --fp16 --lr 1e-4", "batch-size", "16");
        has("python a.py --batch-size 16 --fp16 --lr 1e-4", "fp16", "true");
        has("torchrun --nproc_per_node=8 x.py", "nproc_per_node", "8");
        has("['/bin/python', '-u', 'x.py', '--micro_batch', '2', '--bf16']", "micro_batch", "2");
        has("Namespace(batch_size=16, data='x', workers=8)", "workers", "8");
        has("    \"train_micro_batch_size_per_gpu\": 4,", "train_micro_batch_size_per_gpu", "4");
        has("{'loss': 1.1, 'memory(GiB)': 61.79}", "memory(GiB)", "61.79");
        has(
            "os.environ['PYTORCH_ALLOC_CONF'] = 'expandable_segments:True'",
            "PYTORCH_ALLOC_CONF",
            "expandable_segments:True",
        );
        has("device: [0, 1, 2]", "device", "[0, 1, 2]");
        has("**当前**：`batch=64`", "batch", "64");
        has("#SBATCH --mem=48Gb", "mem", "48Gb");
    }
}
