//! Names of programs that are in no list. `build.rs` makes the table of the well-known ones with it.

/// Identifiers of so few letters are abbreviations of many things.
pub const SHORT: usize = 3;

/// Longest name of a program that is in no list, in bytes. The kernel cuts names of tasks at 15.
const LONGEST: usize = 32;

/// The name of a program that is in no list: lower-case letters, digits, dots, hyphens and underscores.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    bytes: [u8; LONGEST],
    length: u8,
}

impl Name {
    /// A name made of a text: letters in lower case, other characters as one hyphen between those that stay, cut at 32
    /// bytes. Nothing where no letter or digit is left.
    pub fn new(text: &str) -> Option<Name> {
        let mut bytes = [0; LONGEST];
        let mut length = 0;
        let mut gap = false;
        for c in text.chars() {
            if !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')) {
                gap = length > 0;
                continue;
            }
            for b in gap.then_some(b'-').into_iter().chain([c.to_ascii_lowercase() as u8]) {
                if let Some(slot) = bytes.get_mut(length) {
                    *slot = b;
                    length += 1;
                }
            }
            gap = false;
            if length == LONGEST {
                break;
            }
        }
        let name = Name { bytes, length: length as u8 };
        name.as_str().contains(|c: char| c.is_ascii_alphanumeric()).then_some(name)
    }

    pub fn as_str(&self) -> &str {
        self.bytes.get(..usize::from(self.length)).and_then(|name| std::str::from_utf8(name).ok()).unwrap_or_default()
    }
}

impl std::fmt::Debug for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
