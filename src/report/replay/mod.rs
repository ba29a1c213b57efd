//! Reports of `oomdoc replay`, one file per format.

pub mod html;
pub mod json;
pub mod markdown;
pub mod terminal;
pub(super) mod wording;

use super::Style;

/// How much is shown, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Holders to list.
    pub top: usize,
    pub style: Style,
}
