//! Which versions of PyTorch can have printed a wording.
//!
//! Established by running the allocators of 16 releases (2.0.1 … 2.15.0) and from the strings of older wheels.

use crate::dialect::Versions;

type Version = (u16, u16);

/// A range of versions that gets narrower with each feature seen.
#[derive(Debug, Clone, Copy, Default)]
pub struct Range {
    from: Option<Version>,
    to: Option<Version>,
}

impl Range {
    /// Narrows to what overlaps with `from ..= to`. A feature that contradicts what was seen before is ignored: the
    /// wrapping program, not PyTorch, chose one of the two.
    pub fn narrow(&mut self, from: Option<Version>, to: Option<Version>) {
        let lower = self.from.max(from);
        let upper = match (self.to, to) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        if let (Some(lower), Some(upper)) = (lower, upper)
            && lower > upper
        {
            return;
        }
        *self = Range { from: lower, to: upper };
    }

    pub fn since(&mut self, from: Version) {
        self.narrow(Some(from), None);
    }

    pub fn until(&mut self, to: Version) {
        self.narrow(None, Some(to));
    }

    pub fn between(&mut self, from: Version, to: Version) {
        self.narrow(Some(from), Some(to));
    }

    /// The range, if anything was learned.
    pub fn learned(self) -> Option<Versions> {
        (self.from.is_some() || self.to.is_some()).then_some(Versions { from: self.from, to: self.to })
    }
}

/// Exception classes as they stand in front of a message, without blanks, the longest first.
const CLASSES: [&str; 6] = [
    "torch.cuda.OutOfMemoryError:",
    "torch.OutOfMemoryError:",
    "torch.AcceleratorError:",
    "torch.distributed.DistBackendError:",
    "OutOfMemoryError:",
    "RuntimeError:",
];

/// The exception class that `before`, the squeezed text in front of a message, ends with, and where it starts.
/// Dots between the two, by which a writer left something out, do no harm.
pub fn class(before: &str) -> (Option<&'static str>, usize) {
    let bare = before.trim_end_matches(['.', '…']);
    match CLASSES.into_iter().find(|class| bare.ends_with(class)) {
        Some(class) => (Some(class), bare.len() - class.len()),
        None => (None, before.len()),
    }
}

/// Narrows by the class that an allocator's out-of-memory was raised as.
pub fn narrow_by_class(range: &mut Range, class: Option<&str>) {
    match class {
        Some("torch.OutOfMemoryError:") => range.since((2, 5)),
        Some("torch.cuda.OutOfMemoryError:") => range.between((1, 13), (2, 4)),
        Some("OutOfMemoryError:") => range.since((1, 13)),
        Some("RuntimeError:") => range.until((1, 12)),
        _ => {}
    }
}
