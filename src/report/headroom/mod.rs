//! Reports of `oomdoc headroom`, one file per format.

pub mod json;
pub mod markdown;
mod plot;
pub mod terminal;
mod wording;

use super::Style;

/// What of an answer is shown, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    pub style: Style,
    /// Formulas with their figures.
    pub explain: bool,
}
