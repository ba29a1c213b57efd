//! A value read from this machine, or the reason why it could not be read.

use crate::text::Text;

/// Why a reading could not be taken. Reports print the reason in the place of the value: never 0, never nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    pub why: Text,
}

impl From<Text> for Unavailable {
    fn from(why: Text) -> Unavailable {
        Unavailable { why }
    }
}

/// A value that was read, or why it was not.
pub type Reading<T> = Result<T, Unavailable>;

/// A reading that could not be taken, with its reason in both languages.
pub fn unavailable<T>(en: impl Into<String>, zh: impl Into<String>) -> Reading<T> {
    Err(Text::new(en, zh).into())
}
