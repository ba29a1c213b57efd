//! Values that know where they were seen, and statements that know what they rest on.

use crate::text::Text;

/// A range of lines of the input, 1-based and inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub first: u64,
    pub last: u64,
}

impl Span {
    pub fn line(number: u64) -> Span {
        Span { first: number, last: number }
    }

    pub fn lines(first: u64, last: u64) -> Span {
        Span { first, last: last.max(first) }
    }

    /// The place of a value that the user gave on the command line rather than the log: line 0, which no input has.
    pub const GIVEN: Span = Span { first: 0, last: 0 };

    /// True for a value that the user gave; see [`Span::GIVEN`].
    pub fn is_given(self) -> bool {
        self.last == 0
    }
}

/// A value with the place where it was seen. Unknown means that no text gives it, and is never 0 and never a guess;
/// a figure that is printed and can be no size is kept apart
/// ([`Facts::unreadable`](crate::dialect::Facts::unreadable)).
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Known<T> {
    Seen(T, Span),
    #[default]
    Unknown,
}

impl<T> Known<T> {
    pub fn get(&self) -> Option<&T> {
        match self {
            Known::Seen(value, _) => Some(value),
            Known::Unknown => None,
        }
    }

    pub fn span(&self) -> Option<Span> {
        match self {
            Known::Seen(_, at) => Some(*at),
            Known::Unknown => None,
        }
    }

    pub fn is_known(&self) -> bool {
        self.get().is_some()
    }

    /// Keeps the first value seen: later ones do not overwrite it.
    pub fn note(&mut self, value: T, at: Span) {
        if !self.is_known() {
            *self = Known::Seen(value, at);
        }
    }
}

impl<T: Copy> Known<T> {
    pub fn value(&self) -> Option<T> {
        self.get().copied()
    }
}

/// A place in a memory snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceEntry {
    /// The snapshot's path as given.
    pub source: String,
    /// Entry of the trace, counted from 0; `None` for the snapshot as a whole.
    pub event: Option<u32>,
}

/// One reason for or against a cause: what was seen, where, and how much it weighs.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The mechanism that was read, or how else it came about.
    pub id: &'static str,
    pub text: Text,
    /// The lines of the input that it rests on; empty for what follows from the absence of something.
    pub lines: Vec<u64>,
    /// The entry of a memory snapshot that it rests on.
    pub entry: Option<TraceEntry>,
    /// Natural-log odds: +1.1 makes the cause three times as likely, −1.1 a third as likely.
    pub weight: f64,
}

impl Evidence {
    pub fn new(id: &'static str, weight: f64, text: Text) -> Evidence {
        Evidence { id, text, lines: Vec::new(), entry: None, weight }
    }

    /// Adds the place it was seen at; a value that the user gave has none.
    pub fn at(mut self, span: Span) -> Evidence {
        if span.is_given() {
            return self;
        }
        for line in [span.first, span.last] {
            if !self.lines.contains(&line) {
                self.lines.push(line);
            }
        }
        self
    }

    /// Adds the entry of a memory snapshot.
    pub fn recorded(mut self, entry: TraceEntry) -> Evidence {
        self.entry = Some(entry);
        self
    }

    /// Adds the place of a known value; an unknown one adds nothing.
    pub fn seen<T>(self, value: &Known<T>) -> Evidence {
        match value.span() {
            Some(span) => self.at(span),
            None => self,
        }
    }
}
