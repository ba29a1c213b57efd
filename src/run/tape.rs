//! The job's output as far as it is kept: its beginning and its end.

/// Bytes kept of the beginning and of the end.
const HEAD: usize = 1 << 20;
const TAIL: usize = 4 << 20;

/// Bytes a second that go into a record.
const RECORDED: usize = 8 << 10;

/// Filled by the relays, which wait for nobody: all that is done with it under the lock is copying.
#[derive(Default)]
pub struct Tape {
    head: Vec<u8>,
    /// Twice as long at most, so that it is moved seldom.
    tail: Vec<u8>,
    /// True where something between them is gone.
    cut: bool,
    /// What nobody has looked at yet; the newest where it is much.
    fresh: Vec<u8>,
}

impl Tape {
    pub fn push(&mut self, bytes: &[u8]) {
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        self.tail.extend_from_slice(rest);
        if self.tail.len() > 2 * TAIL {
            self.tail.drain(..self.tail.len() - TAIL);
            self.cut = true;
        }
        self.fresh.extend_from_slice(bytes.get(bytes.len().saturating_sub(4 * RECORDED)..).unwrap_or_default());
        if self.fresh.len() > 8 * RECORDED {
            self.fresh.drain(..self.fresh.len() - 4 * RECORDED);
        }
    }

    /// What came since the last call.
    pub fn take_fresh(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.fresh)
    }

    /// Everything kept.
    pub fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if self.cut {
            text.push_str("\n[…]\n");
        }
        text.push_str(&String::from_utf8_lossy(&self.tail));
        text
    }
}

/// For the record: of lines that were drawn over and over the last state, and no more than it takes.
pub fn collapsed(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.get(bytes.len().saturating_sub(RECORDED)..).unwrap_or_default());
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches(['\r', '\n']);
        out.push_str(body.rsplit('\r').next().unwrap_or(body));
        if line.ends_with('\n') {
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_bounded_and_keeps_both_ends() {
        let mut tape = Tape::default();
        tape.push(b"first\n");
        for _ in 0..1000 {
            tape.push(&[b'x'; 65_536]);
        }
        tape.push(b"\nlast\n");
        let text = tape.text();
        assert!(text.starts_with("first\n") && text.ends_with("\nlast\n") && text.contains("[…]"));
        assert!(text.len() <= HEAD + 2 * TAIL + 16);
        assert!(tape.take_fresh().len() <= 8 * RECORDED && tape.take_fresh().is_empty());
    }

    #[test]
    fn what_was_drawn_over_is_left_out() {
        assert_eq!(collapsed(b"a\r\n 1%\r 2%\r 3%\nend"), "a\n 3%\nend");
    }
}
