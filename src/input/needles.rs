//! A search for many words in a little text that is ready at once: what a paste is read with.
//!
//! Every start of the program builds its searches anew, and a paste is shorter than the lists of words. `AhoCorasick`
//! spent 47 of the 188 million instructions of one `explain` on building five automata that then saw a few kilobytes;
//! here a word costs its copy and one entry by its first letters.

/// Letters at a word's beginning by which it is entered.
const LETTERS: usize = 4;
/// Bits of the table that says where no word can begin: 4 KiB.
const BITS: u32 = 15;
/// Lists of words.
const BUCKETS: u32 = 11;

/// Words, ready to be searched for all at once.
pub struct Needles {
    /// All words, one behind the other; `ends` tells where each ends.
    bytes: Vec<u8>,
    ends: Vec<u32>,
    any_case: bool,
    /// The words of [`LETTERS`] letters and more, and those of each smaller number.
    tables: Vec<Table>,
}

/// Words by their first letters.
struct Table {
    letters: usize,
    /// A bit for each hash of first letters.
    bits: Vec<u64>,
    /// Where each bucket begins in `numbers`; one more for the end.
    buckets: Vec<u32>,
    /// The words' numbers.
    numbers: Vec<u32>,
}

/// Where a word stands, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needle {
    /// The word's number, in the order in which they were given.
    pub number: usize,
    pub start: usize,
    pub end: usize,
}

impl Needle {
    pub fn length(self) -> usize {
        self.end - self.start
    }
}

impl Needles {
    /// Takes words that are found as they are written. One without letters is never found.
    pub fn new<W: AsRef<[u8]>>(words: impl IntoIterator<Item = W>) -> Needles {
        Needles::with_case(words, false)
    }

    /// Takes words that are found in small and in capital letters of ASCII.
    pub fn of_any_case<W: AsRef<[u8]>>(words: impl IntoIterator<Item = W>) -> Needles {
        Needles::with_case(words, true)
    }

    fn with_case<W: AsRef<[u8]>>(words: impl IntoIterator<Item = W>, any_case: bool) -> Needles {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        for word in words {
            bytes.extend_from_slice(word.as_ref());
            ends.push(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        }
        if any_case {
            bytes.make_ascii_lowercase();
        }
        let mut needles = Needles { bytes, ends, any_case, tables: Vec::new() };
        let tables = (1..=LETTERS).filter_map(|letters| Table::of(&needles, letters)).collect();
        needles.tables = tables;
        needles
    }

    fn word(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(number).and_then(|end| self.bytes.get(start as usize..*end as usize)).unwrap_or_default()
    }

    /// The words that stand at a place.
    fn at<'t>(&'t self, text: &'t [u8], start: usize) -> impl Iterator<Item = Needle> + 't {
        self.tables.iter().flat_map(move |table| table.at(text, start, self.any_case)).filter_map(move |number| {
            let number = *number as usize;
            let word = self.word(number);
            let there = text.get(start..start + word.len())?;
            let same = if self.any_case { there.eq_ignore_ascii_case(word) } else { there == word };
            same.then_some(Needle { number, start, end: start + word.len() })
        })
    }

    /// Every occurrence of every word, those that overlap too, in the order of their beginnings.
    pub fn all<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = Needle> + 't {
        (0..text.len()).flat_map(move |start| self.at(text, start))
    }

    /// The occurrences from left to right, at each place the longest word, none inside another.
    pub fn longest<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Needle> + 't {
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = (from..text.len()).find_map(|start| {
                self.at(text.as_bytes(), start).reduce(|most, next| if next.end > most.end { next } else { most })
            })?;
            from = found.end;
            Some(found)
        })
    }
}

impl Table {
    /// The words of so many letters, or at least so many if it is [`LETTERS`]; nothing if there are none.
    fn of(needles: &Needles, letters: usize) -> Option<Table> {
        let entries: Vec<(u32, u32)> = (0u32..)
            .zip(0..needles.ends.len())
            .map(|(number, place)| (number, needles.word(place)))
            .filter(|(_, word)| word.len().min(LETTERS) == letters)
            .filter_map(|(number, word)| Some((hash(word.get(..letters)?, false), number)))
            .collect();
        let mut bits = vec![0u64; 1 << (BITS - 6)];
        let mut buckets = vec![0u32; (1 << BUCKETS) + 1];
        for (hash, _) in &entries {
            if let Some(bits) = bits.get_mut((hash >> 6) as usize) {
                *bits |= 1 << (hash & 63);
            }
            if let Some(count) = buckets.get_mut(bucket(*hash) + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut buckets {
            sum += *start;
            *start = sum;
        }
        let mut next = buckets.clone();
        let mut numbers = vec![0; entries.len()];
        for (hash, number) in &entries {
            if let Some(next) = next.get_mut(bucket(*hash))
                && let Some(place) = numbers.get_mut(*next as usize)
            {
                *place = *number;
                *next += 1;
            }
        }
        (!entries.is_empty()).then_some(Table { letters, bits, buckets, numbers })
    }

    /// The words that may stand at a place.
    #[inline]
    fn at(&self, text: &[u8], start: usize, any_case: bool) -> &[u32] {
        let numbers = || {
            let hash = hash(text.get(start..start + self.letters)?, any_case);
            if self.bits.get((hash >> 6) as usize)? >> (hash & 63) & 1 == 0 {
                return None;
            }
            let (from, to) = (self.buckets.get(bucket(hash))?, self.buckets.get(bucket(hash) + 1)?);
            self.numbers.get(*from as usize..*to as usize)
        };
        numbers().unwrap_or_default()
    }
}

#[inline]
fn hash(letters: &[u8], any_case: bool) -> u32 {
    let letter = |byte: &u8| u32::from(if any_case { byte.to_ascii_lowercase() } else { *byte });
    letters.iter().fold(0, |key, byte| key << 8 | letter(byte)).wrapping_mul(0x9e37_79b9) >> (u32::BITS - BITS)
}

#[inline]
fn bucket(hash: u32) -> usize {
    (hash >> (BITS - BUCKETS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use aho_corasick::{AhoCorasick, MatchKind};
    use proptest::prelude::*;

    fn told(found: impl Iterator<Item = Needle>) -> Vec<(usize, usize, usize)> {
        let mut found: Vec<_> = found.map(|needle| (needle.start, needle.end, needle.number)).collect();
        found.sort_unstable();
        found
    }

    fn automaton(words: &[String], kind: MatchKind, any_case: bool) -> AhoCorasick {
        AhoCorasick::builder().match_kind(kind).ascii_case_insensitive(any_case).build(words).unwrap()
    }

    proptest! {
        /// The library says the same.
        #[test]
        fn what_is_found_is_what_an_automaton_finds(
            mut words in proptest::collection::vec("[abAB_é]{1,6}", 1..12),
            text in "[abAB_é ]{0,40}",
            any_case: bool,
        ) {
            // Of the same word twice each search may tell the one or the other.
            if any_case {
                words.iter_mut().for_each(|word| word.make_ascii_lowercase());
            }
            words.sort();
            words.dedup();
            let needles = Needles::with_case(&words, any_case);
            let of = |hit: aho_corasick::Match| (hit.start(), hit.end(), hit.pattern().as_usize());
            let mut all: Vec<_> =
                automaton(&words, MatchKind::Standard, any_case).find_overlapping_iter(&text).map(of).collect();
            all.sort_unstable();
            prop_assert_eq!(told(needles.all(text.as_bytes())), all);
            let longest: Vec<_> =
                automaton(&words, MatchKind::LeftmostLongest, any_case).find_iter(&text).map(of).collect();
            prop_assert_eq!(told(needles.longest(&text)), longest);
        }
    }

    #[test]
    fn nothing_is_found_of_nothing() {
        assert_eq!(told(Needles::new(Vec::<&str>::new()).all(b"text")), []);
        assert_eq!(told(Needles::new([""]).all(b"text")), []);
        assert_eq!(told(Needles::new(["text"]).longest("")), []);
        assert_eq!(told(Needles::new(["", "tex"]).all(b"text")), [(0, 3, 1)]);
    }
}
