//! PyTorch: every text by which a device's memory is reported to have run out, from 0.4 to 2.15.
//!
//! One file per kind of text: [`allocator`] the caching allocators' message (CUDA, HIP, XPU, NPU), [`malloc_async`] the
//! six lines of the cudaMallocAsync backend, [`mps`] Apple's, [`library`] errors of CUDA, cuBLAS, cuDNN and NCCL that
//! hide an out-of-memory, [`harmless`] what only sounds like one. [`writeup`] reads figures that a person listed below
//! a message, [`wording`] narrows the versions that can have printed a text.

pub mod allocator;
mod harmless;
pub mod library;
mod malloc_async;
mod mps;
mod wording;
mod writeup;

use super::joined::{Joined, Printed};
use super::{Dialect, Event, Fact, Facts, Sign};
use crate::domain::Program;
use crate::input::{Document, Line};

/// The family's reader.
pub const DIALECT: Dialect = Dialect {
    name: "pytorch",
    triggers: &[
        "out of memory",
        "Tried to allocate",
        "OutOfMemory",
        " capac",
        "Allocation on device",
        "Invalid buffer size",
        "ALLOC_FAILED",
        "STATUS_NOT_INITIALIZED",
        "CUDACachingAllocator.cpp",
        "libnvidia-ml.so.1",
        "CUDA calloc",
        "OUT_OF_",
        "cudaErrorMemoryAllocation",
        "device-side assert",
        "illegal memory access",
        "no kernel image",
        "failed with OOM",
        "valid cuDNN algorithm",
    ],
    read,
};

fn read(document: &Document, position: usize) -> Option<Event> {
    let line = document.lines.get(position)?;
    mps::read(document, position)
        .or_else(|| malloc_async::read(document, position))
        .or_else(|| allocator::read(document, position))
        .or_else(|| harmless::read(line))
        .or_else(|| library::read(document, position).filter(|event| event.program == Program::Pytorch))
        .map(|mut event| {
            event.rank = line.rank;
            if windows_nearby(document, position) {
                event.sign(Sign::Windows);
            }
            event
        })
}

/// At most this many lines belong to one message.
const LONGEST_MESSAGE: usize = 16;

/// Of a very long line this many bytes in front of a message are kept, for its exception class.
const CONTEXT: usize = 1 << 10;

/// The line at `position` and those after it that can belong to the same message, as one text: it ends before a line
/// that begins something else. Lines of other ranks in between are passed over.
/// Of a very long line only the part from shortly before `hit` (a byte offset) on is taken.
fn window(document: &Document, position: usize, hit: usize) -> Joined {
    let lines = document.lines.get(position..).unwrap_or_default();
    let rank = lines.first().and_then(|line| line.rank);
    let same_rank = move |line: &&Line| line.rank == rank || line.rank.is_none() || rank.is_none();
    let message = lines
        .iter()
        .take(LONGEST_MESSAGE * 4)
        .filter(same_rank)
        .take(LONGEST_MESSAGE)
        .enumerate()
        .take_while(|(i, line)| *i == 0 || !begins_something_else(&line.text))
        .map(|(_, line)| line);
    Joined::of(message, hit.saturating_sub(CONTEXT)).within(document)
}

/// True for a line that can't continue an allocator's message: a traceback, a frame, the next exception.
fn begins_something_else(line: &str) -> bool {
    let line = line.trim_start();
    if [
        "Traceback (",
        "File \"",
        "During handling of",
        "The above exception",
        "raise ",
        "[rank",
        "Exception raised from",
    ]
    .iter()
    .any(|start| line.starts_with(start))
    {
        return true;
    }
    // `RuntimeError: …`, `torch.OutOfMemoryError: …`: the first word ends in `Error:` and the like.
    let word = line.split(char::is_whitespace).next().unwrap_or_default();
    ["Error:", "Exception:", "Warning:", "Interrupt:"].iter().any(|end| word.ends_with(end))
}

/// Reads the fields of one message from its joined text and remembers how far the message reaches.
struct Reader<'a> {
    text: &'a Joined,
    /// The part of the squeezed text that is this message's.
    from: usize,
    to: usize,
    /// The end of the last field found.
    reached: usize,
    facts: Facts,
}

impl<'a> Reader<'a> {
    fn new(text: &'a Joined, from: usize, to: usize) -> Reader<'a> {
        Reader { text, from, to, reached: from, facts: Facts::default() }
    }

    /// Where `words` (without blanks) start within the message.
    fn find(&self, words: &str) -> Option<usize> {
        self.text.find(words, self.from).filter(|at| at + words.len() <= self.to)
    }

    fn has(&self, words: &str) -> bool {
        self.find(words).is_some()
    }

    fn reach(&mut self, offset: usize) {
        self.reached = self.reached.max(offset.min(self.to));
    }

    fn keep(&mut self, fact: Fact, printed: Printed) {
        match printed {
            Printed::Size(figure) => self.facts.note(fact, figure),
            Printed::Unreadable(at) => {
                self.facts.unreadable.entry(fact).or_insert(at);
            }
        }
    }

    /// Takes the size that follows `words` for `fact`.
    fn size_after(&mut self, fact: Fact, words: &str) -> bool {
        let Some(at) = self.find(words).map(|at| at + words.len()) else { return false };
        let Some((printed, end)) = self.text.size_at(at, crate::units::Base::Binary) else { return false };
        if end > self.to {
            return false;
        }
        self.keep(fact, printed);
        self.reach(end);
        true
    }

    /// Takes the size that stands right before `words` for `fact`, trying each place where the words stand.
    fn size_before(&mut self, fact: Fact, words: &str) -> bool {
        let mut from = self.from;
        while let Some(at) = self.text.find(words, from).filter(|at| at + words.len() <= self.to) {
            if let Some((printed, start)) = self.text.size_before(at, crate::units::Base::Binary)
                && start >= self.from
            {
                self.keep(fact, printed);
                self.reach(at + words.len());
                return true;
            }
            from = at + words.len();
        }
        false
    }

    /// Takes the closing marks right after the last field into the message.
    fn close(&mut self) {
        let rest = self.text.squeezed.get(self.reached..self.to).unwrap_or_default();
        let marks = rest.bytes().take_while(|b| matches!(b, b'.' | b')' | b';')).count();
        self.reach(self.reached + marks);
    }

    /// True where the writer left something out: `...` or `…` between the message's words.
    fn elided(&self) -> bool {
        self.text.squeezed.get(self.from..self.reached).is_some_and(|text| text.contains("...") || text.contains('…'))
    }
}

/// The most that is kept of a message.
const LONGEST_TEXT: usize = 1000;

/// True when a path or word within the twenty lines before the failure tells of Windows.
fn windows_nearby(document: &Document, position: usize) -> bool {
    let from = position.saturating_sub(20);
    document.lines.get(from..=position).unwrap_or_default().iter().any(|line| {
        line.text.match_indices(":\\").any(|(at, _)| {
            at > 0
                && line.text.as_bytes()[at - 1].is_ascii_uppercase()
                && (at < 2 || !line.text.as_bytes()[at - 2].is_ascii_alphanumeric())
        })
    })
}
