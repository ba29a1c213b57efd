//! `BufferAssignment OOM Debugging`: XLA's account of one program's buffers, and its largest ones at the peak.

use super::Voice;
use crate::dialect::Facts;
use crate::dialect::field::{after, leading_size, size_after};
use crate::domain::Number;
use crate::evidence::Span;
use crate::units::Base;

/// The lines of the account, by the words they end in front of the figure with.
const LINES: [(&str, Number); 6] = [
    ("parameter allocation:", Number::Parameter),
    ("constant allocation:", Number::Constant),
    ("maybe_live_out allocation:", Number::Output),
    ("preallocated temp allocation:", Number::Temp),
    ("total fragmentation:", Number::ProgramFragmentation),
    ("total allocation:", Number::ProgramTotal),
];

/// What the account adds up to.
#[derive(Debug, Default)]
pub struct Account {
    pub seen: bool,
    numbers: Vec<(Number, f64, Span)>,
    largest: Option<(f64, Span)>,
    peak_buffers: bool,
}

impl Account {
    /// Reads a line of the account.
    pub fn read(&mut self, text: &str, at: Span) -> Option<Voice> {
        if text.contains("BufferAssignment OOM Debugging") || text.contains("BufferAssignment stats:") {
            self.seen = true;
            // The exception often stands on the same line.
            return (!text.contains("llocate ")).then_some(Voice::Account);
        }
        if let Some(rest) = after(text, "an't reduce memory use below ") {
            let budget = leading_size(rest, Base::Binary);
            let need = size_after(rest, "only reduced to ", Base::Binary);
            if let (Some(budget), Some(need)) = (budget, need) {
                self.numbers.push((Number::RematerializationBudget, budget.bytes as f64, at));
                self.numbers.push((Number::RematerializationNeed, need.bytes as f64, at));
            }
            return None;
        }
        if !self.seen {
            return None;
        }
        for (label, name) in LINES {
            if let Some(size) = size_after(text, label, Base::Binary) {
                self.numbers.push((name, size.bytes as f64, at));
                return Some(Voice::Account);
            }
        }
        if text.trim_start().starts_with("Peak buffers:") {
            self.peak_buffers = true;
            return Some(Voice::Account);
        }
        if self.peak_buffers {
            let line = text.trim();
            if let Some(rest) = line.strip_prefix("Size:") {
                if let Some(size) = leading_size(rest.trim(), Base::Binary)
                    && self.largest.is_none_or(|(known, _)| size.bytes as f64 > known)
                {
                    self.largest = Some((size.bytes as f64, at));
                }
                return Some(Voice::Account);
            }
            let parts = [
                "Buffer ",
                "Operator:",
                "XLA Label:",
                "Shape:",
                "Entry Parameter Subshape",
                "====",
                "Allocation type:",
            ];
            if parts.iter().any(|part| line.starts_with(part)) {
                return Some(Voice::Account);
            }
        }
        None
    }

    pub fn finish(&self, facts: &mut Facts) {
        for (number, value, at) in &self.numbers {
            facts.numbers.entry(*number).or_insert((*value, *at));
        }
        if let Some(largest) = self.largest {
            facts.numbers.entry(Number::LargestBuffer).or_insert(largest);
        }
    }
}
