//! The job's output as far as it is kept: its beginning and its end.

/// Bytes kept of the beginning and of the end.
const HEAD: usize = 1 << 20;
const TAIL: usize = 4 << 20;

/// Bytes of one look that go into a record.
const RECORDED: usize = 8 << 10;

/// Bytes looked at for what they tell of steps.
const FRESH: usize = 4 * RECORDED;

/// Filled by the relays, which wait for nobody: all that is done with it under the lock is copying.
#[derive(Default)]
pub struct Tape {
    head: Vec<u8>,
    /// The newest, over and over: the oldest of it stands at `next` once it is full.
    ring: Vec<u8>,
    next: usize,
    /// Bytes that came, and how many of them had come when somebody looked last.
    all: u64,
    looked_at: u64,
}

impl Tape {
    pub fn push(&mut self, bytes: &[u8]) {
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(bytes.get(..room).unwrap_or_default());
        self.all += bytes.len() as u64;
        let mut bytes = bytes.get(bytes.len().saturating_sub(TAIL)..).unwrap_or_default();
        if self.ring.capacity() == 0 {
            // Untouched pages cost nothing.
            self.ring.reserve_exact(TAIL);
        }
        let (grown, over) = bytes.split_at(TAIL.saturating_sub(self.ring.len()).min(bytes.len()));
        self.ring.extend_from_slice(grown);
        bytes = over;
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at((TAIL - self.next).min(bytes.len()));
            if let Some(place) = self.ring.get_mut(self.next..self.next + now.len()) {
                place.copy_from_slice(now);
            }
            self.next = (self.next + now.len()) % TAIL;
            bytes = later;
        }
    }

    /// What came since the last call, the newest where it is much.
    pub fn take_fresh(&mut self) -> Vec<u8> {
        let fresh = usize::try_from(self.all - self.looked_at).unwrap_or(usize::MAX).min(FRESH);
        self.looked_at = self.all;
        let (older, newer) = self.tail();
        let of_newer = newer.get(newer.len().saturating_sub(fresh)..).unwrap_or_default();
        let of_older = older.get(older.len().saturating_sub(fresh - of_newer.len())..).unwrap_or_default();
        [of_older, of_newer].concat()
    }

    /// The ring in the order of time.
    fn tail(&self) -> (&[u8], &[u8]) {
        let (newer, older) = self.ring.split_at(self.next.min(self.ring.len()));
        (older, newer)
    }

    /// Everything kept.
    pub fn text(&self) -> String {
        let before = self.all - self.ring.len() as u64;
        let head = self.head.get(..usize::try_from(before).unwrap_or(usize::MAX).min(self.head.len()));
        let mut bytes = head.unwrap_or_default().to_vec();
        if before > bytes.len() as u64 {
            bytes.extend_from_slice("\n[…]\n".as_bytes());
        }
        let (older, newer) = self.tail();
        bytes.extend_from_slice(older);
        bytes.extend_from_slice(newer);
        String::from_utf8_lossy(&bytes).into_owned()
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
    fn whatever_comes_in_which_pieces_the_same_is_kept() {
        let all: Vec<u8> = (0..TAIL + HEAD + 70_000).map(|i| (i % 251) as u8).collect();
        for (length, piece) in [(100, 7), (TAIL, TAIL), (TAIL + 5, 4096), (TAIL + HEAD, 1 << 20), (all.len(), 65_537)] {
            let mut tape = Tape::default();
            let all = &all[..length];
            for piece in all.chunks(piece) {
                tape.push(piece);
                let fresh = tape.take_fresh();
                assert!(piece.ends_with(&fresh) && fresh.len() == piece.len().min(FRESH), "{length}");
            }
            let (older, newer) = tape.tail();
            assert_eq!([older, newer].concat(), all[length.saturating_sub(TAIL)..], "{length}");
            assert_eq!(tape.text().contains("[…]"), length > TAIL + HEAD, "{length}");
        }
        let mut at_once = Tape::default();
        at_once.push(&all);
        at_once.push(b"end");
        let (older, newer) = at_once.tail();
        assert!([older, newer].concat().ends_with(b"end") && newer.len() == 3);
    }

    #[test]
    fn what_was_drawn_over_is_left_out() {
        assert_eq!(collapsed(b"a\r\n 1%\r 2%\r 3%\nend"), "a\n 3%\nend");
    }
}
