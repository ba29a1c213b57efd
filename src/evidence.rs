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

/// Why a value is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Why {
    /// The input does not say.
    #[default]
    NotPrinted,
    /// The message breaks off before it, or the writer left it out.
    Cut,
    /// It was printed, but cannot be a size: an underflow (2^64 − x) or a value a driver reports as "not available".
    Underflow,
    /// This kind of failure has no such value.
    NotApplicable,
}

impl Why {
    pub fn text(self) -> Text {
        match self {
            Why::NotPrinted => text_of("not printed in the log", "日志中没有打印"),
            Why::Cut => text_of("the message breaks off before it", "报错信息在此之前被截断"),
            Why::Underflow => text_of("printed as an underflow, so unknown", "打印值为下溢，视为未知"),
            Why::NotApplicable => text_of("does not apply here", "此处不适用"),
        }
    }
}

fn text_of(en: &str, zh: &str) -> Text {
    Text::new(en, zh)
}

/// A value with the place where it was seen, or the reason why it is unknown. Unknown is never 0 and never a guess.
#[derive(Debug, Clone, PartialEq)]
pub enum Known<T> {
    Seen(T, Span),
    Unknown(Why),
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Known::Unknown(Why::NotPrinted)
    }
}

impl<T> Known<T> {
    pub fn get(&self) -> Option<&T> {
        match self {
            Known::Seen(value, _) => Some(value),
            Known::Unknown(_) => None,
        }
    }

    pub fn span(&self) -> Option<Span> {
        match self {
            Known::Seen(_, at) => Some(*at),
            Known::Unknown(_) => None,
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
