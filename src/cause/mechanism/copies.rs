//! The same thing twice in memory.

use super::{Mechanism, Reading};
use crate::incident::context::Clue;
use crate::text;

/// The log shows the same load more than once.
pub const LOADED_TWICE: Mechanism = Mechanism {
    id: "loaded-twice",
    levels: &["same-lines"],
    read: |incident| {
        let span = incident.context.clues.get(&Clue::LoadedTwice)?;
        Some(
            Reading::new(
                "same-lines",
                text!(en: "the log shows it loaded more than once", zh: "日志显示被加载了不止一次"),
            )
            .at(*span),
        )
    },
};

#[cfg(test)]
mod tests {
    use super::super::level;
    use super::*;
    use crate::cause::trial::torch;

    #[test]
    fn equal_lines_of_a_load() {
        let mut incident = torch(&[]);
        assert_eq!(level(&LOADED_TWICE, &incident), None);
        incident.context.clues.insert(Clue::LoadedTwice, crate::evidence::Span::lines(2, 9));
        assert_eq!(level(&LOADED_TWICE, &incident), Some("same-lines"));
    }
}
